//! A new snapshot: what changed, what is owed to the operator, what failed.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use super::toast;
use crate::engine::snapshot::{Snapshot, WatchRow};
use crate::session_key::SessionKey;
use crate::ui::index::{PairId, Picture, SessionId};
use crate::ui::message::{Effect, Timer};
use crate::ui::model::{Flash, Model, Pane, Tone};
use crate::ui::rows;
use crate::ui::selection::Selection;
use crate::ui::words;

/// How long a changed row stands out.
const FLASH: Duration = Duration::from_millis(900);

/// Takes in a snapshot. While paused only the header learns of it.
pub(super) fn accept(model: &mut Model, snapshot: &Arc<Snapshot>, effects: &mut Vec<Effect>) {
    if let Some(before) = model.live.replace(Arc::clone(snapshot)) {
        tell(model, &before, snapshot, effects);
    }
    if model.paused_at.is_none() {
        show(model, effects);
    }
}

/// Brings the picture up to the newest snapshot.
pub(super) fn show(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(live) = model.live.clone() else { return };
    let is_first = model.shown().revision == 0 && model.shown().at == 0;
    let next = model.picture.next(&live);
    let before = std::mem::replace(&mut model.picture, next);
    let (old, new) = (&before.snapshot, &live);
    if new.moved_on_from(old) && Arc::ptr_eq(&new.sessions, &old.sessions) && !is_first {
        return;
    }
    if !is_first {
        flash(model, &before, effects);
    }
    if before.snapshot.sessions.len() <= 1 {
        // Nobody chose among so few: the first of those that come is selected, and not the operator below all.
        model.main.sessions = Selection::default();
    }
    arrange(model);
}

/// Makes the rows anew, and selects the awaited session once it is there.
pub(super) fn arrange(model: &mut Model) {
    let main = &mut model.main;
    let awaited = main.awaited.as_ref().and_then(|key| model.picture.session(key));
    if let Some(session) = awaited {
        main.sessions.aim(SessionId::of(session));
        main.awaited = None;
        main.focus = Pane::Sessions;
    }
    rows::rebuild(main, &model.picture);
}

/// Marks the rows that differ from the picture before.
fn flash(model: &mut Model, before: &Picture, effects: &mut Vec<Effect>) {
    let (old, new) = (&before.snapshot, &model.picture.snapshot);
    let sessions = new
        .sessions
        .iter()
        .filter(|session| {
            before.session(&session.key).is_none_or(|earlier| {
                earlier.agent == session.agent
                    && (earlier.version != session.version
                        || earlier.messages != session.messages
                        || earlier.pending_notices != session.pending_notices)
            })
        })
        .map(SessionId::of)
        .collect();
    let newest = |snapshot: &Snapshot| snapshot.events.last().map(|row| row.event.sequence);
    let events_after = newest(old).filter(|last| Some(*last) < newest(new));
    let generation = model.main.flash.generation + 1;
    let flash = Flash { sessions, pairs: changed_pairs(old, new), events_after, generation };
    if !flash.sessions.is_empty() || !flash.pairs.is_empty() || flash.events_after.is_some() {
        model.main.flash = flash;
        effects.push(Effect::After(FLASH, Timer::Flash(generation)));
    }
}

/// Watches are in order, so one walk over both finds what differs.
fn changed_pairs(old: &Snapshot, new: &Snapshot) -> HashSet<PairId> {
    fn name(watch: &WatchRow) -> (&SessionKey, &SessionKey) {
        (&watch.cursor.watcher, &watch.cursor.target)
    }
    let mut earlier = old.watches.iter().peekable();
    let mut changed = HashSet::new();
    for watch in new.watches.iter() {
        while earlier.next_if(|other| name(other) < name(watch)).is_some() {}
        let is_same = earlier.peek().is_some_and(|other| {
            name(other) == name(watch)
                && other.cursor.seen == watch.cursor.seen
                && other.cursor.notified == watch.cursor.notified
                && other.cursor.material == watch.cursor.material
                && other.condition == watch.condition
        });
        if !is_same {
            changed.insert(PairId::of(watch));
        }
    }
    changed
}

/// Says what a person should not miss: a notice of their own, a failure.
fn tell(model: &mut Model, old: &Snapshot, new: &Snapshot, effects: &mut Vec<Effect>) {
    let fresh = new.problems.last().filter(|problem| old.problems.last() != Some(problem));
    if let Some(problem) = fresh {
        toast(model, effects, Tone::Error, &problem.message);
    }
    if new.moved_on_from(old) {
        return;
    }
    let operator = SessionKey::operator();
    let owed = |snapshot: &Snapshot| -> HashSet<SessionKey> {
        snapshot
            .notices
            .iter()
            .filter_map(|notice| snapshot.watches.get(notice.watch))
            .filter(|watch| watch.cursor.watcher == operator)
            .map(|watch| watch.cursor.target.clone())
            .collect()
    };
    let before = owed(old);
    let mut opened: Vec<SessionKey> =
        owed(new).into_iter().filter(|key| !before.contains(key)).collect();
    opened.sort_unstable();
    let Some(first) = opened.first() else { return };
    let more = match opened.len() {
        1 => String::new(),
        n => format!(" and {} more", n - 1),
    };
    let text = format!("notice for you: {}{more} changed", words::short_key(first));
    toast(model, effects, Tone::Note, &text);
    if model.setup.bell {
        effects.push(Effect::Bell);
    }
    if model.setup.desktop {
        effects.push(Effect::Notify(format!("tidings: {text}")));
    }
}

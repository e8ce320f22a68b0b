//! The actions of the main view.

use super::keys::step_of;
use super::{adopt, ask, delta, past, sheet, toast};
use crate::engine::live::Request;
use crate::engine::snapshot::WatchRow;
use crate::event::Sequence;
use crate::session_key::SessionKey;
use crate::ui::index::{PairId, SessionId};
use crate::ui::keymap::Action;
use crate::ui::layout;
use crate::ui::message::Effect;
use crate::ui::model::{Asked, Model, Pane, Selected, Tone};
use crate::ui::rows::{self, Branch};
use crate::ui::selection::Selection;
use crate::ui::sheet::Sort;
use crate::ui::sorting;
use crate::ui::words;

/// Carries out `action`.
pub(super) fn act(model: &mut Model, action: Action, effects: &mut Vec<Effect>) {
    if let Some(step) = step_of(action) {
        let pane = model.main.focus;
        let places = layout::main(model.area(), pane, model.main.is_zoomed).panes;
        let place = places[pane as usize];
        let height = place.map_or(1, |place| usize::from(layout::parts(pane, place).list.height));
        let index = step.from(model.main.index(pane), model.main.len(pane), height);
        if pane == Pane::Events {
            model.main.follow = index + 1 >= model.main.len(pane);
        }
        return go(model, pane, index);
    }
    match action {
        Action::NextPane => focus(model, 1),
        Action::PreviousPane => focus(model, 3),
        Action::Left => fold(model, true),
        Action::Right => fold(model, false),
        Action::Delta => open_delta(model, effects),
        Action::Watch => {
            let target = selected(model).map(|selected| selected.session);
            toggle_watch(model, target, effects);
        }
        Action::Adopt => adopt::open(model, effects),
        Action::Tick => tick(model, effects),
        Action::Filter => model.typing = true,
        Action::Pause => pause(model, effects),
        Action::Follow => follow(model, effects),
        Action::OutOfStep => {
            model.main.out_of_step = !model.main.out_of_step;
            rows::rebuild(&mut model.main, &model.picture);
        }
        Action::Sort => sort(model, Sort::next, effects),
        Action::SortReverse => {
            let turn = |sort: Sort, _| Sort { is_reversed: !sort.is_reversed, ..sort };
            sort(model, turn, effects);
        }
        Action::Zoom => model.main.is_zoomed = !model.main.is_zoomed,
        Action::Explain => {
            let pair = selected(model).and_then(|selected| selected.pair);
            sheet::explain(model, pair, effects);
        }
        _ => {}
    }
}

fn sort(model: &mut Model, change: impl Fn(Sort, usize) -> Sort, effects: &mut Vec<Effect>) {
    let pane = model.main.focus;
    let sort = change(model.main.sort(pane), sorting::columns(pane).len());
    model.main.sorts[pane as usize] = sort;
    rows::rebuild(&mut model.main, &model.picture);
    let order = match sorting::words(pane, sort) {
        order if order.is_empty() => "in their own order".to_owned(),
        order => order,
    };
    toast(model, effects, Tone::Done, &format!("sorted {order}"));
}

pub(super) fn go(model: &mut Model, pane: Pane, index: usize) {
    let main = &mut model.main;
    let all = &model.picture.snapshot;
    let len = main.len(pane);
    match pane {
        Pane::Sessions => {
            let before = main.sessions.key().cloned();
            let rows = &main.rows.sessions;
            main.sessions
                .go(index, len, |at| Some(SessionId::of(&all.sessions[rows.get(at)?.session])));
            if main.sessions.key() != before.as_ref() {
                main.watches = Selection::default();
                rows::rebuild_watches(main, &model.picture);
            }
        }
        Pane::Watches => {
            let rows = &main.rows.watches;
            main.watches.go(index, len, |at| {
                let line = rows.get(at)?;
                Some((PairId::of(&all.watches[line.watch]), line.is_incoming))
            });
        }
        Pane::Notices => {
            let rows = &main.rows.notices;
            main.notices.go(index, len, |at| {
                Some(PairId::of(&all.watches[all.notices[*rows.get(at)?].watch]))
            });
        }
        Pane::Events => {
            let rows = &main.rows.events;
            main.events.go(index, len, |at| Some(all.events[*rows.get(at)?].event.sequence));
        }
    }
}

/// Selects the session that the filter fits best: the tree's order says nothing about that.
pub(super) fn select_best(model: &mut Model) {
    let main = &model.main;
    let filter = main.filter(Pane::Sessions);
    if main.focus != Pane::Sessions || !filter.is_active() {
        return;
    }
    let rows = main.rows.sessions.iter().enumerate().filter(|(_, row)| !row.is_context);
    let scored = rows.map(|(at, row)| {
        let text = rows::session_text(&model.picture.snapshot.sessions[row.session]);
        (filter.score(&text), std::cmp::Reverse(at))
    });
    if let Some((_, std::cmp::Reverse(best))) = scored.max() {
        go(model, Pane::Sessions, best);
    }
}

fn focus(model: &mut Model, by: usize) {
    let at = (model.main.focus as usize + by) % Pane::ALL.len();
    model.main.focus = Pane::ALL[at];
}

/// Left and right: in the tree they fold and unfold, then go to the parent or the first child; elsewhere, and at the
/// ends of the tree, they go to the pane beside.
fn fold(model: &mut Model, is_left: bool) {
    let main = &mut model.main;
    let row = main.rows.sessions.get(main.sessions.index()).copied();
    let (Pane::Sessions, Some(row), Some(id)) = (main.focus, row, main.sessions.key().cloned())
    else {
        return focus(model, if is_left { 3 } else { 1 });
    };
    // A narrowed tree shows what passes wherever it stands: nothing is folded there.
    let is_open = row.branch == Branch::Open;
    match (is_left, is_open && !(is_left && main.is_narrowed(Pane::Sessions)), row.parent) {
        (true, true, _) => {
            main.folded.insert(id);
            rows::rebuild(main, &model.picture);
        }
        (true, false, Some(parent)) => go(model, Pane::Sessions, parent),
        (true, false, None) => {}
        (false, true, _) => {
            let child = main.sessions.index() + 1;
            go(model, Pane::Sessions, child);
        }
        (false, false, _) if row.branch == Branch::Folded => {
            main.folded.remove(&id);
            rows::rebuild(main, &model.picture);
        }
        (false, false, _) => focus(model, 1),
    }
}

/// What the keyboard is on.
pub(super) fn selected(model: &Model) -> Option<Selected> {
    let main = &model.main;
    let all = model.shown();
    match main.focus {
        Pane::Sessions => {
            let session = &all.sessions[main.rows.sessions.get(main.sessions.index())?.session];
            Some(Selected {
                session: session.key.clone(),
                agent: session.agent.clone(),
                pair: None,
                event: None,
            })
        }
        Pane::Watches => {
            let line = main.rows.watches.get(main.watches.index())?;
            Some(pair(model, &all.watches[line.watch]))
        }
        Pane::Notices => {
            let notice = &all.notices[*main.rows.notices.get(main.notices.index())?];
            Some(pair(model, all.watches.get(notice.watch)?))
        }
        Pane::Events => {
            let event = &all.events[*main.rows.events.get(main.events.index())?].event;
            Some(Selected {
                session: event.session.clone(),
                agent: event.agent.clone(),
                pair: None,
                event: Some(event.sequence),
            })
        }
    }
}

fn pair(model: &Model, watch: &WatchRow) -> Selected {
    Selected {
        session: watch.cursor.target.clone(),
        agent: model.picture.agent(&watch.cursor.target),
        pair: Some(PairId::of(watch)),
        event: None,
    }
}

fn open_delta(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(selected) = selected(model) else { return };
    let (since, origin) = since(model, &selected);
    delta::open(model, &selected, since, origin, effects);
}

/// From which version the changes of what is selected are asked for, and where it comes from.
pub(super) fn since(model: &Model, selected: &Selected) -> (Sequence, String) {
    let picture = &model.picture;
    let pair = selected.pair.as_ref().and_then(|pair| picture.pair(pair));
    if let Some(watch) = pair {
        let whose = words::short_key(&watch.cursor.watcher);
        (watch.cursor.seen, format!("last seen by {whose}"))
    } else if let Some(watch) = picture.operator_watch(&selected.session) {
        (watch.cursor.seen, "last seen by you".to_owned())
    } else {
        match picture.session(&selected.session).map(|session| session.pruned) {
            Some(pruned) if pruned > Sequence(0) => (pruned, "pruned through here".to_owned()),
            _ => (Sequence(0), "the beginning".to_owned()),
        }
    }
}

/// Watches `target` as the operator, or stops. What counts is what is so now, not what a held picture shows.
pub(super) fn toggle_watch(
    model: &mut Model,
    target: Option<SessionKey>,
    effects: &mut Vec<Effect>,
) {
    let Some(target) = target else { return };
    let operator = SessionKey::operator();
    if target == operator {
        return toast(model, effects, Tone::Note, "this is your own session; watch another one");
    }
    let watches = model.live.as_ref().map(|live| &live.watches);
    let is_watched = watches.is_some_and(|watches| {
        watches.iter().any(|row| row.cursor.watcher == operator && row.cursor.target == target)
    });
    let request = if is_watched { Request::Unwatch(target) } else { Request::Watch(target) };
    ask(model, effects, Asked::Other, request);
}

pub(super) fn tick(model: &mut Model, effects: &mut Vec<Effect>) {
    if model.asked.values().any(|asked| *asked == Asked::Tick) {
        return toast(model, effects, Tone::Note, "a tick is running already");
    }
    ask(model, effects, Asked::Tick, Request::Tick);
    toast(model, effects, Tone::Note, "looking at all adopted sessions…");
}

fn pause(model: &mut Model, effects: &mut Vec<Effect>) {
    if model.is_live() {
        model.paused_at = Some(model.now);
    } else {
        past::live(model, effects);
    }
}

fn follow(model: &mut Model, effects: &mut Vec<Effect>) {
    if model.past.is_some() {
        past::live(model, effects);
        model.main.follow = false;
    }
    model.main.follow = !model.main.follow;
    if model.main.follow {
        let last = model.main.len(Pane::Events).saturating_sub(1);
        go(model, Pane::Events, last);
    }
}

//! Making the snapshot: what the journal holds, joined with what only the engine knows.

use std::sync::Arc;

use super::EngineError;
use super::condition::{Facts, judge};
use super::observer::Observer;
use super::session_rows::session_rows;
use super::snapshot::{
    ACTIVITY_SLOT, ACTIVITY_SLOTS, EventRow, JournalRow, NoticeRow, Problem, Pulse, QueueRow, Role,
    SessionRow, Snapshot, WakeState, WatchRow,
};
use crate::clock::Millis;
use crate::event::Sequence;
use crate::journal::overview::{Head, LinkState, Overview};
use crate::journal::owner::{StoredPulse, StoredWake};
use crate::journal::pairs::{NumberedCursor, PairHistories};
use crate::journal::retention::RETENTION;
use crate::session_key::SessionKey;
use crate::upstream_link::UpstreamLink;
use crate::watch::Cursor;

/// The newest events that a snapshot holds.
pub(super) const EVENTS: usize = 500;

/// What only the process that makes a picture knows.
#[derive(Debug)]
pub(super) struct Known<'a> {
    pub(super) revision: u64,
    pub(super) role: Role,
    /// Whether some process owns the database.
    pub(super) owned: bool,
    pub(super) append_failures: u64,
    pub(super) queues: Vec<QueueRow>,
    pub(super) problems: &'a [Problem],
}

impl Observer<'_> {
    /// A picture of the present state.
    pub(super) fn picture(&mut self, known: Known<'_>) -> Result<Snapshot, EngineError> {
        let now = self.now;
        let activity_from = now - ACTIVITY_SLOT * i64::try_from(ACTIVITY_SLOTS).unwrap_or(0);
        let overview = self.reader.overview(self.histories, EVENTS, activity_from)?;
        self.reader.catch_up(self.histories)?;
        assemble(self, overview, known)
    }

    /// The monitor's pulse, where `links` sources of watched sessions are to be looked at and the oldest is known since `oldest`.
    /// It is overdue when nothing ticked for long.
    pub(super) fn pulse(
        &self,
        last: Option<StoredPulse>,
        links: usize,
        oldest: Option<Millis>,
    ) -> Pulse {
        let limit = self.settings.thresholds.tick_overdue;
        let since = last.map(|pulse| pulse.last_tick_at).max(oldest);
        let is_ours = !self.reader.is_foreign() && links > 0;
        let overdue_from = since.filter(|_| is_ours).map(|since| since.saturating_add(limit + 1));
        Pulse {
            last_tick_at: last.map(|pulse| pulse.last_tick_at),
            took: last.map(|pulse| pulse.took),
            next_tick_at: last.and_then(|pulse| pulse.next_tick_at),
            links,
            overdue: overdue_from.is_some_and(|from| self.now >= from),
            overdue_from,
        }
    }

    /// The watches, by watcher and target, and from when on time alone may have changed a condition.
    fn watches(
        &self,
        cursors: Vec<NumberedCursor>,
        ends: &[End<'_>],
    ) -> Result<(Vec<WatchRow>, Option<Millis>), EngineError> {
        let mut holds_until = None;
        let mut rows = Vec::with_capacity(cursors.len());
        for NumberedCursor { cursor, watcher, target } in cursors {
            let history = self.histories.of(watcher, target);
            let (watcher, target) = (&ends[watcher.place()], &ends[target.place()]);
            let pending_since =
                cursor.is_pending().then_some(history.opened_at.unwrap_or(cursor.updated_at));
            let facts = Facts {
                cursor: &cursor,
                head: target.head.map_or(Sequence(0), |head| head.last),
                lost: target.head.map_or(Sequence(0), |head| head.pruned),
                furthest_seen: history.furthest_seen,
                pending_since,
                watcher_seen_at: watcher.last_sign,
                turns_since: self.turns_since(&cursor, watcher.head)?,
                unknown: target.unknown.clone(),
                watcher_is_notifiable: watcher.is_notifiable,
                ambiguous: target.links.len() > 1,
            };
            let head = facts.head;
            let judgement = judge(&facts, &self.settings.thresholds, self.now);
            holds_until = earlier(holds_until, judgement.until);
            rows.push(WatchRow {
                head,
                state: cursor.state(),
                condition: judgement.condition,
                reason: judgement.reason,
                pending_since,
                wake: if self.reader.is_foreign() && cursor.is_pending() && !cursor.is_quiet() {
                    WakeState::Unknown
                } else {
                    wake_state(&cursor, watcher.wake, pending_since)
                },
                expires_at: cursor.updated_at.saturating_add(RETENTION),
                cursor,
            });
        }
        Ok((rows, holds_until))
    }

    /// How many turns the watcher took since the notice opened. Asked only when its own journal went on since then.
    fn turns_since(&self, cursor: &Cursor, own: Option<&Head>) -> Result<u64, EngineError> {
        if !cursor.is_pending() || own.is_none_or(|head| head.last <= cursor.notified) {
            return Ok(0);
        }
        Ok(self.reader.human_turns_after(&cursor.watcher, cursor.notified, self.until)?)
    }
}

/// Joins what was read with what only the process knows.
pub(super) fn assemble(
    observer: &mut Observer<'_>,
    mut overview: Overview,
    known: Known<'_>,
) -> Result<Snapshot, EngineError> {
    let now = observer.now;
    let sessions =
        session_rows(&mut overview, observer.histories, observer.reader.is_foreign(), now);
    let cursors = in_order(std::mem::take(&mut overview.cursors), observer.histories.keys());
    let mut ends = ends(&overview, &sessions, &cursors, observer.histories);
    let links = ends.iter().filter(|end| end.is_watched).map(|end| end.links.len()).sum();
    let oldest = overview.links.iter().map(|(link, _)| link.created_at).min();
    let pulse = observer.pulse(overview.pulse, links, oldest);
    for end in &mut ends {
        end.unknown = unknown(&end.links, &pulse);
    }
    let (watches, conditions_hold_until) = observer.watches(cursors, &ends)?;
    let notices = notice_rows(&watches, known.owned);
    let next_slot = (now.div_euclid(ACTIVITY_SLOT) + 1).saturating_mul(ACTIVITY_SLOT);
    let activity_moves = (!overview.activity.is_empty()).then_some(next_slot);
    Ok(Snapshot {
        revision: known.revision,
        at: now,
        holds_until: earlier(conditions_hold_until, activity_moves),
        role: known.role,
        source: observer.source(),
        is_owned: known.owned,
        is_past: false,
        journal: JournalRow {
            rows: overview.rows,
            min: overview.min,
            max: overview.max,
            append_failures: known.append_failures,
        },
        sessions: Arc::new(sessions),
        watches: Arc::new(watches),
        language: observer.settings.language,
        notices,
        queues: known.queues,
        events: overview
            .events
            .into_iter()
            .map(|(event, [notified, coalesced, suppressed])| EventRow {
                event,
                notified,
                coalesced,
                suppressed,
            })
            .collect(),
        pulse,
        problems: known.problems.to_vec(),
    })
}

fn earlier(one: Option<Millis>, other: Option<Millis>) -> Option<Millis> {
    one.into_iter().chain(other).min()
}

/// The cursors by watcher and target. Keys are compared once each, and cursors by the ranks of their keys.
fn in_order(mut cursors: Vec<NumberedCursor>, keys: &[SessionKey]) -> Vec<NumberedCursor> {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_unstable_by_key(|id| &keys[*id]);
    let mut ranks = vec![0; keys.len()];
    for (rank, id) in order.into_iter().enumerate() {
        ranks[id] = rank;
    }
    cursors.sort_unstable_by_key(|row| (ranks[row.watcher.place()], ranks[row.target.place()]));
    cursors
}

/// What is known of a session as one end of a watch.
#[derive(Debug, Clone, Default)]
struct End<'a> {
    /// Its head. A cursor knows no agent: of several heads of one key the one that its key names counts, else the newest.
    head: Option<&'a Head>,
    links: Vec<&'a (UpstreamLink, Option<LinkState>)>,
    wake: Option<&'a StoredWake>,
    /// When it last did something, as far as is known.
    last_sign: Option<Millis>,
    is_notifiable: bool,
    is_watched: bool,
    /// Why, as a target, it can't be judged.
    unknown: Option<Arc<str>>,
}

/// What is known of each session that has a number.
fn ends<'a>(
    overview: &'a Overview,
    sessions: &[SessionRow],
    cursors: &[NumberedCursor],
    histories: &mut PairHistories,
) -> Vec<End<'a>> {
    let mut number = |wake: &'a StoredWake| (histories.id(&wake.watcher), wake);
    let wakes: Vec<_> = overview.wakes.iter().map(&mut number).collect();
    let blank = |key: &SessionKey| End { is_notifiable: key.is_notifiable(), ..End::default() };
    let mut ends: Vec<End<'_>> = histories.keys().iter().map(blank).collect();
    for head in &overview.heads {
        let end = &mut ends[histories.id(&head.key).place()];
        end.head = Some(end.head.map_or(head, |known| preferred(known, head)));
    }
    for link in &overview.links {
        ends[histories.id(&link.0.session).place()].links.push(link);
    }
    for (watcher, wake) in wakes {
        ends[watcher.place()].wake = Some(wake);
    }
    for session in sessions {
        let end = &mut ends[histories.id(&session.key).place()];
        let last_event = session.last_event.as_ref().map(|event| event.occurred_at);
        end.last_sign = end.last_sign.max(session.last_turn_at).max(last_event);
    }
    for watch in cursors {
        ends[watch.target.place()].is_watched = true;
    }
    ends
}

/// Which of two heads of one key counts.
fn preferred<'a>(one: &'a Head, other: &'a Head) -> &'a Head {
    let is_named = |head: &Head| head.key.agent().is_some_and(|agent| head.agent.same_as(&agent));
    if (is_named(other), other.last) > (is_named(one), one.last) { other } else { one }
}

/// Why a target with a source can't be judged.
fn unknown(links: &[&(UpstreamLink, Option<LinkState>)], pulse: &Pulse) -> Option<Arc<str>> {
    let [(_, state)] = links else { return None };
    if let Some(state) = state
        .as_ref()
        .filter(|state| matches!(state.outcome.as_str(), "unreadable" | "blocked" | "unknown"))
    {
        let detail = state.detail.as_deref().unwrap_or("no more is known");
        return Some(format!("its source is {}: {detail}", state.outcome).into());
    }
    pulse.overdue.then(|| match pulse.last_tick_at {
        Some(_) => "the monitor's tick is overdue; is `tidings` or `tidings run` running?".into(),
        None => "the monitor never ticked; start `tidings` or `tidings run`".into(),
    })
}

fn wake_state(
    cursor: &Cursor,
    wake: Option<&StoredWake>,
    pending_since: Option<Millis>,
) -> WakeState {
    if cursor.is_quiet() {
        return WakeState::Never;
    }
    let (Some(wake), Some(since)) = (wake, pending_since) else { return WakeState::NotDue };
    if let Some(due_at) = wake.due_at {
        return WakeState::Coalescing(due_at);
    }
    match (wake.ended_at, wake.outcome.as_deref()) {
        (Some(at), Some("fired")) if at >= since => WakeState::Fired(at),
        (Some(at), Some(_)) if at >= since => {
            WakeState::Skipped(at, wake.outcome_reason.clone().unwrap_or_default())
        }
        _ => WakeState::NotDue,
    }
}

/// The pending notices, oldest first.
fn notice_rows(watches: &[WatchRow], owned: bool) -> Vec<NoticeRow> {
    let mut rows: Vec<_> = watches
        .iter()
        .enumerate()
        .filter(|(_, row)| row.cursor.is_pending())
        .map(|(watch, _)| NoticeRow { watch, queued: owned.then_some(true) })
        .collect();
    rows.sort_by_key(|notice| watches[notice.watch].pending_since);
    rows
}

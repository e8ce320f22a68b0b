//! Making the snapshot: what the journal holds, joined with what only the engine knows.

use std::collections::{HashMap, HashSet};

use super::condition::{Facts, judge};
use super::observer::Observer;
use super::session_rows::session_rows;
use super::snapshot::{
    ACTIVITY_SLOT, ACTIVITY_SLOTS, EventRow, JournalRow, NoticeRow, Problem, Pulse, QueueRow, Role,
    SessionRow, Snapshot, WakeState, WatchRow,
};
use super::{EngineError, notices};
use crate::clock::Millis;
use crate::event::Sequence;
use crate::journal::overview::{Head, LinkState, Overview};
use crate::journal::owner::StoredWake;
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
        let overview = self.reader.overview(EVENTS, activity_from)?;
        self.reader.catch_up(self.histories)?;
        assemble(self, overview, known)
    }

    /// The monitor's pulse. It is overdue when nothing ticked for long although some watched session has a source.
    fn pulse(&self, overview: &Overview, now: Millis) -> Pulse {
        let watched: HashSet<_> = overview.cursors.iter().map(|cursor| &cursor.target).collect();
        let links =
            overview.links.iter().filter(|(link, _)| watched.contains(&link.session)).count();
        let last = overview.pulse;
        let limit = self.settings.thresholds.tick_overdue;
        let oldest = overview.links.iter().map(|(link, _)| link.created_at).min();
        let since = last.map(|pulse| pulse.last_tick_at).max(oldest);
        Pulse {
            last_tick_at: last.map(|pulse| pulse.last_tick_at),
            took: last.map(|pulse| pulse.took),
            next_tick_at: last.and_then(|pulse| pulse.next_tick_at),
            links,
            overdue: !self.reader.is_foreign()
                && links > 0
                && since.is_some_and(|since| now - since > limit),
        }
    }

    fn watches(
        &self,
        overview: &Overview,
        sessions: &[SessionRow],
        pulse: &Pulse,
        now: Millis,
    ) -> Result<Vec<WatchRow>, EngineError> {
        let heads = Heads::of(overview);
        let by_key: HashMap<&SessionKey, &SessionRow> =
            sessions.iter().map(|row| (&row.key, row)).collect();
        let wakes: HashMap<&SessionKey, &StoredWake> =
            overview.wakes.iter().map(|wake| (&wake.watcher, wake)).collect();
        let mut linked: HashMap<&SessionKey, Vec<&(UpstreamLink, Option<LinkState>)>> =
            HashMap::new();
        for link in &overview.links {
            linked.entry(&link.0.session).or_default().push(link);
        }
        let mut rows = Vec::with_capacity(overview.cursors.len());
        for cursor in &overview.cursors {
            let links = linked.get(&cursor.target).map_or(&[][..], Vec::as_slice);
            let history = self.histories.of(&cursor.watcher, &cursor.target);
            let head = heads.of_target(&cursor.target);
            let pending_since =
                cursor.is_pending().then_some(history.opened_at.unwrap_or(cursor.updated_at));
            let facts = Facts {
                cursor,
                head: head.map_or(Sequence(0), |head| head.last),
                lost: head.map_or(Sequence(0), |head| head.pruned),
                furthest_seen: history.furthest_seen,
                pending_since,
                watcher_seen_at: by_key.get(&cursor.watcher).and_then(|row| last_sign(row)),
                turns_since: self.turns_since(cursor, heads.of_target(&cursor.watcher))?,
                unknown: unknown(links, pulse),
                ambiguous: links.len() > 1,
            };
            let (condition, because) = judge(&facts, &self.settings.thresholds, now);
            rows.push(WatchRow {
                head: facts.head,
                state: cursor.state(),
                condition,
                because,
                pending_since,
                wake: if self.reader.is_foreign() && cursor.is_pending() && !cursor.is_quiet() {
                    WakeState::Unknown
                } else {
                    wake_state(cursor, wakes.get(&cursor.watcher).copied(), pending_since)
                },
                expires_at: cursor.updated_at + crate::journal::retention::RETENTION,
                cursor: cursor.clone(),
            });
        }
        rows.sort_by(|a, b| {
            (&a.cursor.watcher, &a.cursor.target).cmp(&(&b.cursor.watcher, &b.cursor.target))
        });
        Ok(rows)
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
    overview: Overview,
    known: Known<'_>,
) -> Result<Snapshot, EngineError> {
    let now = observer.now;
    let pulse = observer.pulse(&overview, now);
    let sessions = session_rows(&overview, observer.reader.is_foreign(), now);
    let watches = observer.watches(&overview, &sessions, &pulse, now)?;
    let notices = notice_rows(observer.settings.language, &watches, known.owned);
    Ok(Snapshot {
        revision: known.revision,
        at: now,
        role: known.role,
        source: observer.source(),
        journal: JournalRow {
            rows: overview.rows,
            min: overview.min,
            max: overview.max,
            append_failures: known.append_failures,
        },
        sessions,
        watches,
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

/// The heads by key: a cursor knows no agent, so of several heads of one key the one that its key names counts, else the
/// newest.
struct Heads<'a>(HashMap<&'a SessionKey, Vec<&'a Head>>);

impl<'a> Heads<'a> {
    fn of(overview: &'a Overview) -> Self {
        let mut heads: HashMap<_, Vec<_>> = HashMap::new();
        for head in &overview.heads {
            heads.entry(&head.key).or_default().push(head);
        }
        Self(heads)
    }

    fn of_target(&self, key: &SessionKey) -> Option<&'a Head> {
        let heads = self.0.get(key)?;
        let named = key.agent();
        let own =
            heads.iter().find(|head| named.as_ref().is_some_and(|agent| head.agent.same_as(agent)));
        own.or_else(|| heads.iter().max_by_key(|head| head.last)).copied()
    }
}

/// When a session last did something, as far as is known.
fn last_sign(row: &SessionRow) -> Option<Millis> {
    row.last_turn_at.max(row.last_event.as_ref().map(|event| event.occurred_at))
}

/// Why a target with a source can't be judged.
fn unknown(links: &[&(UpstreamLink, Option<LinkState>)], pulse: &Pulse) -> Option<String> {
    let [(_, state)] = links else { return None };
    if let Some(state) = state
        .as_ref()
        .filter(|state| matches!(state.outcome.as_str(), "unreadable" | "blocked" | "unknown"))
    {
        let detail = state.detail.as_deref().unwrap_or("no more is known");
        return Some(format!("its source is {}: {detail}", state.outcome));
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
fn notice_rows(language: notices::Language, watches: &[WatchRow], owned: bool) -> Vec<NoticeRow> {
    let mut rows: Vec<_> = watches
        .iter()
        .enumerate()
        .filter(|(_, row)| row.cursor.is_pending())
        .map(|(watch, row)| NoticeRow {
            watch,
            text: notices::text(language, &row.cursor.target, row.cursor.seen),
            queued: owned.then_some(true),
        })
        .collect();
    rows.sort_by_key(|notice| watches[notice.watch].pending_since);
    rows
}

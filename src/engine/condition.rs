//! The condition of a pair: its state together with its reason (`ui.md`, "A watch is a consumer").

use std::sync::Arc;

use super::reason::Reason;
use crate::clock::{DAY, MINUTE, Millis, SECOND};
use crate::event::Sequence;
use crate::watch::{Condition, Cursor, PairState};

/// How long each condition takes (`decisions.md` 26).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thresholds {
    /// A pair is stalled from this many turns of its watcher without an acknowledgement.
    pub stalled_turns: u64,
    /// A watcher is stopped when it was silent for this long while a notice was open.
    pub stopped: Millis,
    /// A tick is overdue this long after the last one.
    pub tick_overdue: Millis,
    /// A watch is expiring when it was not touched for this long.
    pub expiring: Millis,
    /// A notice is young for this long.
    pub young: Millis,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            stalled_turns: 3,
            stopped: 30 * MINUTE,
            tick_overdue: 90 * SECOND,
            expiring: 25 * DAY,
            young: 5 * MINUTE,
        }
    }
}

/// What is known of a pair.
#[derive(Debug, Clone)]
pub struct Facts<'a> {
    /// The cursor.
    pub cursor: &'a Cursor,
    /// The target's state version.
    pub head: Sequence,
    /// Up to where the target's history is lost.
    pub lost: Sequence,
    /// The furthest that last seen ever was.
    pub furthest_seen: Sequence,
    /// When the open notice opened.
    pub pending_since: Option<Millis>,
    /// When the watcher last did something.
    pub watcher_seen_at: Option<Millis>,
    /// How many turns the watcher took since the notice opened.
    pub turns_since: u64,
    /// Why the target can't be judged, when a read failed or the tick is overdue.
    pub unknown: Option<Arc<str>>,
    /// Whether the watcher's key can hold notices at all.
    pub watcher_is_notifiable: bool,
    /// Whether the target is linked under two agents.
    pub ambiguous: bool,
}

/// What [`judge`] finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The condition.
    pub condition: Condition,
    /// Why.
    pub reason: Reason,
    /// From when on time alone may have changed the condition; `None` when only a write can.
    pub until: Option<Millis>,
}

impl Judgement {
    fn lasting(condition: Condition, reason: Reason) -> Self {
        Self { condition, reason, until: None }
    }
}

/// The condition of a pair at `now`, and why.
pub fn judge(facts: &Facts<'_>, thresholds: &Thresholds, now: Millis) -> Judgement {
    let cursor = facts.cursor;
    if let Some(sentence) = &facts.unknown {
        return Judgement::lasting(Condition::Unknown, Reason::Told(sentence.clone()));
    }
    if !facts.watcher_is_notifiable {
        return Judgement::lasting(Condition::Unnotifiable, Reason::BareWatcher);
    }
    if facts.ambiguous {
        return Judgement::lasting(Condition::Unnotifiable, Reason::TwoAgents);
    }
    if cursor.seen < facts.furthest_seen {
        let furthest_seen = facts.furthest_seen;
        return Judgement::lasting(Condition::Rewound, Reason::WentBack { furthest_seen });
    }
    if cursor.seen < facts.lost {
        return Judgement::lasting(Condition::Gap, Reason::Lost { up_to: facts.lost });
    }
    if cursor.is_pending() {
        judge_pending(facts, thresholds, now)
    } else {
        judge_settled(facts, thresholds, now)
    }
}

fn judge_pending(facts: &Facts<'_>, thresholds: &Thresholds, now: Millis) -> Judgement {
    let cursor = facts.cursor;
    if facts.turns_since >= thresholds.stalled_turns {
        return Judgement::lasting(Condition::Stalled, Reason::Turns(facts.turns_since));
    }
    let silent_since = facts.watcher_seen_at.max(facts.pending_since);
    let stops_at =
        silent_since.filter(|_| !cursor.is_quiet()).map(|at| at.saturating_add(thresholds.stopped));
    if let (Some(since), Some(stops_at)) = (silent_since, stops_at)
        && now >= stops_at
    {
        return Judgement::lasting(Condition::Stopped, Reason::SilentSince(since));
    }
    let (condition, reason) = if cursor.state() == PairState::Dirty {
        (Condition::Interleaved, Reason::Covers)
    } else if cursor.is_quiet() {
        (Condition::PendingQuiet, Reason::Quiet(facts.pending_since))
    } else {
        (Condition::Pending, Reason::Open(facts.pending_since))
    };
    Judgement { condition, reason, until: stops_at }
}

fn judge_settled(facts: &Facts<'_>, thresholds: &Thresholds, now: Millis) -> Judgement {
    let expires_soon_from = facts.cursor.updated_at.saturating_add(thresholds.expiring + 1);
    if now >= expires_soon_from {
        return Judgement::lasting(Condition::Expiring, Reason::Untouched);
    }
    let history_lag = facts.head.0.saturating_sub(facts.cursor.seen.0).max(0);
    Judgement {
        condition: Condition::InStep,
        reason: Reason::CaughtUp { history_lag },
        until: Some(expires_soon_from),
    }
}

/// A span in one unit, as people say it.
pub fn span(millis: Millis) -> String {
    let seconds = millis.max(0) / SECOND;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session_key::SessionKey;
    use crate::watch::Provenance;

    const NOW: Millis = 100 * DAY;

    fn cursor(seen: i64, notified: i64, material: i64) -> Cursor {
        Cursor {
            watcher: SessionKey::new("agent:main:main"),
            target: SessionKey::new("agent:main:subagent:child"),
            seen: Sequence(seen),
            notified: Sequence(notified),
            material: Sequence(material),
            provenance: Provenance::Explicit,
            updated_at: NOW - MINUTE,
        }
    }

    fn facts(cursor: &Cursor) -> Facts<'_> {
        Facts {
            cursor,
            head: cursor.material,
            lost: Sequence(0),
            furthest_seen: cursor.seen,
            pending_since: cursor.is_pending().then_some(NOW - 8 * SECOND),
            watcher_seen_at: None,
            turns_since: 0,
            unknown: None,
            watcher_is_notifiable: cursor.watcher.is_notifiable(),
            ambiguous: false,
        }
    }

    fn judged(facts: &Facts<'_>) -> Condition {
        judge(facts, &Thresholds::default(), NOW).condition
    }

    #[test]
    fn every_condition_has_its_facts() {
        let synced = cursor(5, 5, 5);
        assert_eq!(judged(&facts(&synced)), Condition::InStep);
        let open = cursor(5, 6, 6);
        assert_eq!(judged(&facts(&open)), Condition::Pending);
        assert_eq!(judged(&facts(&cursor(5, 6, 8))), Condition::Interleaved);
        let quiet = Cursor { provenance: Provenance::AmbientGroup, ..open.clone() };
        assert_eq!(judged(&facts(&quiet)), Condition::PendingQuiet);
        assert_eq!(judged(&Facts { turns_since: 2, ..facts(&open) }), Condition::Pending);
        assert_eq!(judged(&Facts { turns_since: 3, ..facts(&open) }), Condition::Stalled);
        let long_ago = Some(NOW - 30 * MINUTE);
        assert_eq!(judged(&Facts { pending_since: long_ago, ..facts(&open) }), Condition::Stopped);
        let alive =
            Facts { pending_since: long_ago, watcher_seen_at: Some(NOW - MINUTE), ..facts(&open) };
        assert_eq!(judged(&alive), Condition::Pending);
        assert_eq!(
            judged(&Facts { pending_since: long_ago, ..facts(&quiet) }),
            Condition::PendingQuiet
        );
        assert_eq!(judged(&Facts { lost: Sequence(5), ..facts(&open) }), Condition::Pending);
        assert_eq!(judged(&Facts { lost: Sequence(6), ..facts(&open) }), Condition::Gap);
        assert_eq!(
            judged(&Facts { furthest_seen: Sequence(6), ..facts(&open) }),
            Condition::Rewound
        );
        let idle = Cursor { updated_at: NOW - 25 * DAY, ..synced.clone() };
        assert_eq!(judged(&facts(&idle)), Condition::InStep);
        let idle = Cursor { updated_at: NOW - 25 * DAY - 1, ..synced };
        assert_eq!(judged(&facts(&idle)), Condition::Expiring);
        assert_eq!(judged(&Facts { ambiguous: true, ..facts(&open) }), Condition::Unnotifiable);
        let bare = Cursor { watcher: SessionKey::new("global"), ..open.clone() };
        assert_eq!(judged(&facts(&bare)), Condition::Unnotifiable);
        assert_eq!(
            judged(&Facts { unknown: Some("unreadable".into()), ..facts(&open) }),
            Condition::Unknown
        );
    }

    #[test]
    fn the_reason_has_the_numbers() {
        let because = |facts: &Facts<'_>, now| {
            judge(facts, &Thresholds::default(), now).reason.sentence(facts.cursor, now)
        };
        let dirty = cursor(11, 14, 19);
        assert_eq!(
            because(&facts(&dirty), NOW),
            "one notice covers 12–14; what came up to 19 will open exactly one more"
        );
        let settled = cursor(5, 5, 5);
        let late = Facts { head: Sequence(9), ..facts(&settled) };
        assert_eq!(because(&late, NOW), "caught up; history lag 4");
        let open = cursor(5, 6, 6);
        assert_eq!(because(&facts(&open), NOW), "notice open for 8 s");
        assert_eq!(because(&facts(&open), NOW + MINUTE), "notice open for 1 min");
    }

    #[test]
    fn a_judgement_says_until_when_it_holds() {
        let judged = |facts: &Facts<'_>, now| judge(facts, &Thresholds::default(), now);
        let open = cursor(5, 6, 6);
        let open = facts(&open);
        let until = judged(&open, NOW).until.unwrap();
        assert_eq!(judged(&open, until - 1).condition, Condition::Pending);
        let stopped = judged(&open, until);
        assert_eq!((stopped.condition, stopped.until), (Condition::Stopped, None));
        let settled = cursor(5, 5, 5);
        let settled = facts(&settled);
        let until = judged(&settled, NOW).until.unwrap();
        assert_eq!(judged(&settled, until - 1).condition, Condition::InStep);
        assert_eq!(judged(&settled, until).condition, Condition::Expiring);
        let quiet = Cursor { provenance: Provenance::AmbientGroup, ..cursor(5, 6, 6) };
        assert_eq!(judged(&facts(&quiet), NOW).until, None);
    }
}

//! The condition of a pair: its state together with its reason (`ui.md`, "A watch is a consumer").

use crate::clock::{DAY, MINUTE, Millis, SECOND};
use crate::event::Sequence;
use crate::journal::retention::RETENTION;
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
    pub unknown: Option<String>,
    /// Whether the target is linked under two agents.
    pub ambiguous: bool,
}

/// The condition of a pair at `now`, and its reason in a sentence.
pub fn judge(facts: &Facts<'_>, thresholds: &Thresholds, now: Millis) -> (Condition, String) {
    let cursor = facts.cursor;
    if let Some(reason) = &facts.unknown {
        return (Condition::Unknown, reason.clone());
    }
    if !cursor.watcher.is_notifiable() {
        return (
            Condition::Unnotifiable,
            "the watcher's key is not agent-qualified: journal only, by rule".into(),
        );
    }
    if facts.ambiguous {
        return (
            Condition::Unnotifiable,
            "the target is adopted under two agents: journal only, by rule".into(),
        );
    }
    if cursor.seen < facts.furthest_seen {
        let was = facts.furthest_seen;
        return (
            Condition::Rewound,
            format!("last seen was {was} and is {}: a reset, a restore, or a fault", cursor.seen),
        );
    }
    if cursor.seen < facts.lost {
        let lost = facts.lost;
        return (
            Condition::Gap,
            format!(
                "history up to {lost} is gone: changesSince will answer historyGap; refresh all"
            ),
        );
    }
    if cursor.is_pending() {
        judge_pending(facts, thresholds, now)
    } else {
        judge_settled(facts, thresholds, now)
    }
}

fn judge_pending(facts: &Facts<'_>, thresholds: &Thresholds, now: Millis) -> (Condition, String) {
    let cursor = facts.cursor;
    if facts.turns_since >= thresholds.stalled_turns {
        return (
            Condition::Stalled,
            format!(
                "the watcher took {} turns since, and the notice is still open",
                facts.turns_since
            ),
        );
    }
    let silent_since = facts.watcher_seen_at.max(facts.pending_since);
    if let Some(since) = silent_since
        && !cursor.is_quiet()
        && now - since >= thresholds.stopped
    {
        return (Condition::Stopped, format!("no sign of the watcher for {}", span(now - since)));
    }
    let open = facts
        .pending_since
        .map_or_else(|| "open".to_owned(), |since| format!("open for {}", span(now - since)));
    if cursor.state() == PairState::Dirty {
        let (first, last) = (cursor.notified, cursor.material);
        let covered = if cursor.seen.0 + 1 == first.0 {
            format!("{first}")
        } else {
            format!("{}–{first}", cursor.seen.0 + 1)
        };
        let reason = format!(
            "one notice covers {covered}; what came up to {last} will open exactly one more"
        );
        return (Condition::Interleaved, reason);
    }
    if cursor.is_quiet() {
        return (
            Condition::PendingQuiet,
            format!("not woken by design, waits for its next turn; {open}"),
        );
    }
    (Condition::Pending, format!("notice {open}"))
}

fn judge_settled(facts: &Facts<'_>, thresholds: &Thresholds, now: Millis) -> (Condition, String) {
    let idle = now - facts.cursor.updated_at;
    if idle > thresholds.expiring {
        let left = (RETENTION - idle).max(0);
        return (
            Condition::Expiring,
            format!("untouched for {}; this watch ends in {}", span(idle), span(left)),
        );
    }
    let history = (facts.head.0 - facts.cursor.seen.0).max(0);
    (
        Condition::InStep,
        if history == 0 { "caught up".into() } else { format!("caught up; history lag {history}") },
    )
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
            ambiguous: false,
        }
    }

    fn judged(facts: &Facts<'_>) -> Condition {
        judge(facts, &Thresholds::default(), NOW).0
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
        let dirty = cursor(11, 14, 19);
        let (_, because) = judge(&facts(&dirty), &Thresholds::default(), NOW);
        assert_eq!(
            because,
            "one notice covers 12–14; what came up to 19 will open exactly one more"
        );
        let late = Facts { head: Sequence(9), ..facts(&dirty) };
        let settled = cursor(5, 5, 5);
        assert_eq!(
            judge_settled(&Facts { cursor: &settled, ..late }, &Thresholds::default(), NOW).1,
            "caught up; history lag 4"
        );
    }
}

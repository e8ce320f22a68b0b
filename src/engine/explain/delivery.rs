//! Where an open notice is, and what became of one that was taken (rules 10 to 18).

use super::Verdict;
use super::facts::Facts;
use super::rules::Found;
use crate::clock::Millis;
use crate::engine::condition::span;
use crate::event::Sequence;
use crate::journal::ledger::{HISTORY_GAP, NOT_ACKNOWLEDGED, Step, TRUNCATED, Written};
use crate::journal::owner::StoredWake;
use crate::watch::Cursor;

/// The verdict on an event that reached the watcher's cursor.
pub(super) fn judge(facts: &Facts<'_>) -> Found {
    let Some(subject) = facts.subject else {
        return Found::new(Verdict::Unknown, "nothing is known of the pair");
    };
    if let Some(cursor) = facts.cursor.as_ref().filter(|cursor| subject > cursor.seen) {
        if subject > cursor.material {
            return Found::new(
                Verdict::Unknown,
                format!(
                    "event {subject} did not move the cursor, which stands at {}; the records don't say why",
                    cursor.material
                ),
            );
        }
        return coalesced(facts, cursor, subject).unwrap_or_else(|| open(facts, cursor));
    }
    told(facts, subject)
}

/// The acknowledgement that covers an event.
pub(super) fn acknowledgement<'f>(facts: &'f Facts<'_>, event: Sequence) -> Option<&'f Written> {
    let mut covering = None;
    for written in &facts.ledger {
        let entry = &written.entry;
        match entry.step {
            // A watch that begins anew at or past the event has not told it: what it stood at was no acknowledgement.
            Step::Registered | Step::Seeded if covering.is_none() => {
                let seed = entry.marks.map_or(Sequence(0), |marks| marks[0]);
                if seed >= event {
                    return None;
                }
            }
            Step::Acknowledged if covering.is_none() => {
                let seen = entry.marks.map_or(Sequence(0), |marks| marks[0]);
                if seen >= event {
                    covering = Some(written);
                }
            }
            _ => {}
        }
    }
    covering
}

/// Rule 10: a notice was open already.
fn coalesced(facts: &Facts<'_>, cursor: &Cursor, subject: Sequence) -> Option<Found> {
    let opening = opening(facts);
    let opener = match opening.map(|opening| (opening.entry.step, opening)) {
        Some((Step::FollowUp, _)) | None => cursor.notified,
        Some((_, opening)) => opening.entry.sequence.unwrap_or(cursor.notified),
    };
    if subject <= opener {
        return None;
    }
    let since = opening.map(|opening| opening.at).or_else(|| implied_since(facts, cursor));
    let ago = since.map_or_else(String::new, |since| format!(" for {}", span(facts.now - since)));
    let state = open(facts, cursor);
    let mut found = Found::new(
        Verdict::Coalesced,
        format!(
            "a notice about event {opener} was open{ago} already and covers event {subject}; {}",
            state.because
        ),
    );
    found.evidence = state.evidence;
    Some(
        found
            .with("openedBy", opener)
            .with_some("openSince", since)
            .with("delivery", state.verdict.as_str()),
    )
}

/// The step that opened the notice that is open now.
fn opening<'f>(facts: &'f Facts<'_>) -> Option<&'f Written> {
    let acknowledged =
        facts.ledger.iter().rposition(|written| written.entry.step == Step::Acknowledged);
    facts.ledger[acknowledged.map_or(0, |position| position + 1)..].iter().find(|written| {
        let entry = &written.entry;
        matches!(entry.step, Step::Queued | Step::FollowUp | Step::Swept)
            || entry.step == Step::Registered
                && entry.marks.is_some_and(|marks| marks[2] > marks[0])
    })
}

/// When the notice opened, by the event at which it is frozen.
fn implied_since(facts: &Facts<'_>, cursor: &Cursor) -> Option<Millis> {
    facts
        .events
        .iter()
        .find(|event| event.sequence == cursor.notified)
        .map(|event| event.occurred_at)
}

/// Rules 11 to 15: the notice is open.
fn open(facts: &Facts<'_>, cursor: &Cursor) -> Found {
    let opening = opening(facts);
    let since = opening.map(|opening| opening.at).or_else(|| implied_since(facts, cursor));
    let from = opening.map_or(0, |opening| opening.id);
    let found = match missing_line(facts, from) {
        Some(found) => found,
        None if cursor.is_quiet() => quiet(facts, cursor),
        None if facts.is_foreign => Found::new(
            Verdict::Unknown,
            "the cursor implies a notice; whether its line waits and a wake went out only that system's memory knows",
        ),
        None => woken(facts, since),
    };
    let evidence = found.with_some("openSince", since);
    if facts.is_foreign { evidence.with("implied", true) } else { evidence }
}

/// Rules 13 to 15: the line is not where it should be. Only a queue that does not follow the cursors can lose one.
fn missing_line(facts: &Facts<'_>, opened: i64) -> Option<Found> {
    if facts.here.line != Some(false) {
        return None;
    }
    let taken = facts.ledger.iter().rfind(|written| {
        written.id > opened
            && written.entry.step == Step::Drained
            && written.entry.note.as_deref() == Some(NOT_ACKNOWLEDGED)
    });
    Some(match taken {
        Some(taken) => Found::new(
            Verdict::TakenElsewhere,
            format!(
                "the line was taken {} ago and never acknowledged: whoever took it did not show it to a turn",
                span(facts.now - taken.at)
            ),
        )
        .with("takenAt", taken.at),
        None => Found::new(
            Verdict::Lost,
            "the notice is open and its line is gone: the process that held it ended, and no sweep brought it back",
        ),
    })
}

/// Rule 11: not woken by design.
fn quiet(facts: &Facts<'_>, cursor: &Cursor) -> Found {
    let class = if cursor.watcher.is_subagent() { "sub-agent" } else { "ambient" };
    let line = if facts.is_foreign { "its cursor implies a line" } else { "its line waits" };
    let last = facts
        .last_turn_at
        .map_or_else(String::new, |at| format!(", the last one was {} ago", span(facts.now - at)));
    Found::new(
        Verdict::Queued,
        format!(
            "{line} for the next turn of {}{last}; {class} watchers are not woken by design",
            cursor.watcher
        ),
    )
    .with("class", class)
    .with_some("lastTurnAt", facts.last_turn_at)
}

/// Rules 12 and 14: how far the wake is.
fn woken(facts: &Facts<'_>, since: Option<Millis>) -> Found {
    let watcher = &facts.question.watcher;
    let Some(wake) = &facts.wake else { return not_asked(facts) };
    if let Some(due_at) = wake.due_at {
        return if facts.here.owned {
            waits(facts, wake, due_at)
        } else {
            abandoned(facts, due_at)
        };
    }
    let ended = wake.ended_at.filter(|at| since.is_none_or(|since| *at >= since));
    match (ended, wake.outcome.as_deref()) {
        (Some(at), Some("fired")) => Found::new(
            Verdict::Queued,
            format!(
                "{watcher} was woken {} ago, and the notice waits for its next turn",
                span(facts.now - at)
            ),
        )
        .with("wake", "fired")
        .with("wakeAt", at),
        (Some(at), Some(_)) => {
            let reason = wake.outcome_reason.as_deref().unwrap_or("no reason is known");
            Found::new(
                Verdict::WakePending,
                format!(
                    "the wake was skipped {} ago ({reason}), and the notice waits for the next turn of {watcher}",
                    span(facts.now - at)
                ),
            )
            .with("wake", "skipped")
            .with("wakeAt", at)
            .with("skipReason", reason)
        }
        _ => not_asked(facts),
    }
}

fn waits(facts: &Facts<'_>, wake: &StoredWake, due_at: Millis) -> Found {
    let busy = facts
        .last(&[Step::WakeAsked, Step::WakeFired, Step::WakeSkipped])
        .filter(|written| written.entry.step == Step::WakeSkipped)
        .and_then(|written| written.entry.note.as_deref());
    let because = match busy {
        Some(reason) => format!("the watcher was busy ({reason})"),
        None => format!("more may come: the wake goes out in {}", span(due_at - facts.now)),
    };
    Found::new(Verdict::WakePending, because)
        .with("wake", if busy.is_some() { "retry" } else { "coalescing" })
        .with("wakeDueAt", due_at)
        .with("wakeReason", &wake.reason)
}

/// Rule 14: the owner that was to send the wake is gone.
fn abandoned(facts: &Facts<'_>, due_at: Millis) -> Found {
    Found::new(
        Verdict::Lost,
        format!(
            "the process that held the wake of {} ended before it sent it; the next owner's sweep brings it back: start `tidings run`",
            facts.question.watcher
        ),
    )
    .with("wakeDueAt", due_at)
}

fn not_asked(facts: &Facts<'_>) -> Found {
    let because = if facts.here.owned {
        "the notice waits; its wake is about to be asked for"
    } else {
        "the notice waits for the watcher's next turn, and nobody is woken: no `tidings` or `tidings run` owns the database"
    };
    Found::new(Verdict::WakePending, because)
        .with("wake", "not-asked")
        .with("owned", facts.here.owned)
}

/// Rules 16 to 18: the notice was taken.
fn told(facts: &Facts<'_>, subject: Sequence) -> Found {
    let watcher = &facts.question.watcher;
    let Some(acknowledged) = acknowledgement(facts, subject) else {
        return Found::new(
            Verdict::Unknown,
            if facts.is_foreign {
                format!(
                    "last seen is at or past event {subject}: {watcher} took a notice about it, or its watch began after it; that \
                     database does not say which"
                )
            } else {
                format!(
                    "last seen is at or past event {subject}, and the ledger no longer says how it came there"
                )
            },
        );
    };
    let at = acknowledged.at;
    let drained = facts.ledger.iter().rfind(|written| {
        written.entry.step == Step::Drained && written.id < acknowledged.id && written.at == at
    });
    let by = drained.and_then(|drained| drained.entry.note.as_deref());
    let how = by.map_or_else(String::new, |by| format!(" in {by}"));
    let told = format!("{watcher} took the notice{how} {} ago", span(facts.now - at));
    let with = |found: Found| found.with("acknowledgedAt", at).with_some("takenBy", by);
    if let Some(asked) = asked_after(facts, subject) {
        return with(reconciled(&told, asked, facts.now));
    }
    let later_turn = facts.last_turn_at.is_some_and(|turn| turn > at);
    if later_turn || facts.now - at >= facts.thresholds.young {
        return with(Found::new(
            Verdict::Unreconciled,
            format!("{told}, and no changesSince of it is known since"),
        ));
    }
    with(Found::new(Verdict::Acknowledged, format!("{told} and may still ask what changed")))
}

/// The first time the watcher asked for changes that include the event.
fn asked_after<'f>(facts: &'f Facts<'_>, subject: Sequence) -> Option<&'f Written> {
    let recorded = facts.event.as_ref().map_or(i64::MIN, |event| event.occurred_at);
    facts.ledger.iter().find(|written| {
        let entry = &written.entry;
        let includes = match entry.note.as_deref() {
            None | Some(HISTORY_GAP | TRUNCATED) => entry.sequence < Some(subject),
            // Read on the screen: the number is the version that was shown.
            Some(_) => entry.sequence >= Some(subject),
        };
        entry.step == Step::Reconciled && includes && written.at >= recorded
    })
}

fn reconciled(told: &str, asked: &Written, now: Millis) -> Found {
    let note = asked.entry.note.as_deref();
    let flaw = match note {
        Some(HISTORY_GAP) => {
            "; the answer had a history gap, so that the whole state had to be refreshed"
        }
        Some(TRUNCATED) => "; the answer was truncated and had to be continued",
        _ => "",
    };
    Found::new(
        Verdict::Reconciled,
        format!("{told} and asked what changed {} ago{flaw}", span(now - asked.at)),
    )
    .with("askedAt", asked.at)
    .with_some("askedSince", asked.entry.sequence)
    .with("historyGap", note == Some(HISTORY_GAP))
    .with("truncated", note == Some(TRUNCATED))
}

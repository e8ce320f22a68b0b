//! The timeline: the ledger's entries about a pair, the events of its target, and what follows from both.

use super::Moment;
use super::facts::Facts;
use crate::event::{Event, Sequence};
use crate::journal::ledger::{Step, Written};

/// Moments that a timeline holds: the newest.
const MOMENTS: usize = 200;

/// The pair's story, oldest first.
pub(super) fn timeline(facts: &Facts<'_>) -> Vec<Moment> {
    let spans = open_spans(facts);
    let mut moments: Vec<Moment> = Vec::new();
    for event in &facts.events {
        moments.push(moment_of(event));
        let is_covered =
            spans.iter().any(|(opener, last)| event.sequence > *opener && event.sequence <= *last);
        if is_covered && facts.is_material(event) && !facts.is_own(event) {
            moments.push(Moment { what: "coalesced", kind: None, note: None, ..moment_of(event) });
        }
    }
    moments.extend(facts.not_recorded.iter().chain(&facts.ledger).map(moment_of_entry));
    moments.extend(facts.failures.iter().map(|failure| Moment {
        at: failure.at,
        what: Step::AppendFailed.as_str(),
        sequence: None,
        kind: Some(failure.kind.clone()),
        marks: None,
        note: Some(failure.error.clone()),
    }));
    // Stable: at one time, events come before the steps that they caused, and those keep the order of the ledger.
    moments.sort_by_key(|moment| moment.at);
    moments.split_off(moments.len().saturating_sub(MOMENTS))
}

/// The spans in which a notice was open: after the event that opened it, up to the last one that it covers.
fn open_spans(facts: &Facts<'_>) -> Vec<(Sequence, Sequence)> {
    let mut spans = Vec::new();
    let mut opener: Option<Sequence> = None;
    for Written { entry, .. } in &facts.ledger {
        let material = entry.marks.map(|marks| marks[2]);
        match entry.step {
            Step::Queued => opener = opener.or(entry.sequence),
            Step::Registered if entry.marks.is_some_and(|marks| marks[2] > marks[0]) => {
                opener = entry.sequence;
            }
            Step::FollowUp => opener = material,
            Step::Acknowledged => {
                spans.extend(opener.take().zip(material));
            }
            Step::Seeded | Step::Expired | Step::Reset | Step::Deleted | Step::Unwatched => {
                opener = None;
            }
            _ => {}
        }
    }
    if let Some(cursor) = facts.cursor.as_ref().filter(|cursor| cursor.is_pending()) {
        let opener = opener.or_else(|| facts.is_foreign.then_some(cursor.notified));
        spans.extend(opener.map(|opener| (opener, cursor.material)));
    }
    spans
}

fn moment_of(event: &Event) -> Moment {
    Moment {
        at: event.occurred_at,
        what: "recorded",
        sequence: Some(event.sequence),
        kind: Some(event.kind.to_string()),
        marks: None,
        note: event.actor.as_ref().map(|actor| format!("{} {actor}", event.actor_type)),
    }
}

fn moment_of_entry(written: &Written) -> Moment {
    let entry = &written.entry;
    Moment {
        at: written.at,
        what: entry.step.as_str(),
        sequence: entry.sequence,
        kind: None,
        marks: entry.marks,
        note: entry.note.clone(),
    }
}

//! The rules in their order: the first that matches is the verdict.

use serde_json::{Map, Value, json};

use super::Verdict;
use super::delivery;
use super::facts::{Facts, begins_a_watch};
use super::near;
use crate::engine::condition::span;
use crate::event::{Event, Sequence};
use crate::journal::ledger::{Step, Written};
use crate::session_key::SessionKey;
use crate::watch::Cursor;

/// What a rule found.
pub(super) struct Found {
    pub(super) verdict: Verdict,
    pub(super) because: String,
    pub(super) evidence: Map<String, Value>,
}

impl Found {
    pub(super) fn new(verdict: Verdict, because: impl Into<String>) -> Self {
        Self { verdict, because: because.into(), evidence: Map::new() }
    }

    pub(super) fn with(mut self, name: &str, value: impl serde::Serialize) -> Self {
        self.evidence.insert(name.to_owned(), json!(value));
        self
    }

    pub(super) fn with_some(self, name: &str, value: Option<impl serde::Serialize>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }
}

/// The verdict.
pub(super) fn judge(facts: &Facts<'_>) -> Found {
    never_recorded(facts)
        .or_else(|| log_only(facts))
        .or_else(|| other_key(facts))
        .or_else(|| without_cursor(facts))
        .or_else(|| registered_after(facts))
        .or_else(|| self_caused(facts))
        .unwrap_or_else(|| delivery::judge(facts))
}

/// Rules 1 to 3: there is no such event.
fn never_recorded(facts: &Facts<'_>) -> Option<Found> {
    let target = &facts.question.target;
    let is_pending = facts.cursor.as_ref().is_some_and(Cursor::is_pending);
    if facts.question.event.is_none() && !is_pending {
        let newest = facts.events.last();
        if let Some(found) = failed(facts, newest) {
            return Some(found);
        }
        if let Some((written, owner)) = &facts.collapsed
            && written.entry.sequence > newest.map(|event| event.sequence)
        {
            return Some(collapsed(written, owner.as_ref()));
        }
    }
    let Some(subject) = facts.subject else {
        return Some(spelled_otherwise(facts).unwrap_or_else(|| nothing_recorded(facts)));
    };
    if facts.event.is_some() {
        return None;
    }
    if let Some((written, owner)) = &facts.collapsed {
        return Some(collapsed(written, owner.as_ref()));
    }
    if subject > facts.newest {
        return Some(
            Found::new(
                Verdict::NotRecorded,
                format!("no event has the number {subject} yet; the newest is {}", facts.newest),
            )
            .with("newest", facts.newest),
        );
    }
    if is_pending && facts.question.event.is_none() {
        return None;
    }
    if subject <= facts.lost {
        return Some(Found::new(
            Verdict::Unknown,
            format!(
                "event {subject} is gone: the history of {target} up to {} was pruned or deleted",
                facts.lost
            ),
        ));
    }
    Some(Found::new(
        Verdict::NotRecorded,
        format!(
            "the journal holds no event {subject}: it was given to none, or belonged to a session that was deleted"
        ),
    ))
}

/// Rule 2: recording failed, after the newest event that was recorded.
fn failed(facts: &Facts<'_>, newest: Option<&Event>) -> Option<Found> {
    let since = newest.map_or(i64::MIN, |event| event.occurred_at);
    let waiting = facts.failures.last().filter(|failure| failure.at >= since);
    if let Some(failure) = waiting {
        return Some(
            Found::new(
                Verdict::AppendFailed,
                format!(
                    "recording {} failed {} ago: {}",
                    failure.kind,
                    span(facts.now - failure.at),
                    failure.error
                ),
            )
            .with("failedAt", failure.at)
            .with("error", &failure.error)
            .with("waitedMillis", failure.waited),
        );
    }
    let written = facts
        .not_recorded
        .iter()
        .rfind(|written| written.entry.step == Step::AppendFailed && written.at >= since)?;
    let note = written.entry.note.as_deref().unwrap_or_default();
    Some(
        Found::new(
            Verdict::AppendFailed,
            format!("recording failed {} ago: {note}", span(facts.now - written.at)),
        )
        .with("failedAt", written.at)
        .with("error", note),
    )
}

/// Rule 3.
fn collapsed(written: &Written, owner: Option<&Event>) -> Found {
    let key = written.entry.note.as_deref().unwrap_or_default();
    let because = match owner {
        Some(owner) => format!(
            "it collapsed into event {} of {}, which owns the dedupe key {key}",
            owner.sequence, owner.session
        ),
        None => format!(
            "it collapsed into an earlier event with the dedupe key {key}, which is gone by now"
        ),
    };
    Found::new(Verdict::Collapsed, because)
        .with("dedupeKey", key)
        .with("collapsedAt", written.at)
        .with_some("firstEvent", owner.map(|owner| owner.sequence))
        .with_some("firstSession", owner.map(|owner| &owner.session))
}

/// Rule 1: nothing at all was recorded about the target.
fn nothing_recorded(facts: &Facts<'_>) -> Found {
    let target = &facts.question.target;
    let watchers = facts.around.iter().filter(|cursor| cursor.target == *target).count();
    let because = if !facts.knows_target && !facts.near_target.is_empty() {
        format!("nothing is known of {target}; did you mean {}?", named(&facts.near_target))
    } else if watchers == 0 && facts.parent.is_none() {
        format!(
            "nothing was recorded about {target}: it has neither a parent nor a watcher, and then the turns of people are not recorded"
        )
    } else {
        format!(
            "nothing was recorded about {target} since it is known: no producer reported a change"
        )
    };
    Found::new(Verdict::NotRecorded, because)
        .with("watchers", watchers)
        .with_some("parent", facts.parent.as_ref())
        .with("nearMisses", &facts.near_target)
}

/// Rule 4.
fn log_only(facts: &Facts<'_>) -> Option<Found> {
    let event = facts.event.as_ref()?;
    if event.session != facts.question.target
        || facts.is_material(event)
        || facts.delivery != [0; 3]
        || begins_a_watch(&event.kind) && began_with(facts, event)
    {
        return None;
    }
    Some(
        Found::new(
            Verdict::LogOnly,
            format!("{} is recorded for whoever asks and notifies nobody", event.kind),
        )
        .with("runEndNotifies", facts.run_end_notifies),
    )
}

/// Whether the watcher's cursor began with this spawn.
fn began_with(facts: &Facts<'_>, spawn: &Event) -> bool {
    facts.is_own(spawn)
        || facts.ledger.iter().any(|written| {
            written.entry.step == Step::Seeded && written.entry.sequence == Some(spawn.sequence)
        })
}

/// Rule 5: the event is on another key than the watched one.
fn other_key(facts: &Facts<'_>) -> Option<Found> {
    let (watcher, target) = (&facts.question.watcher, &facts.question.target);
    if let Some(event) = facts.event.as_ref().filter(|event| event.session != *target) {
        let how = if near::is_other_spelling(&event.session, target) {
            "another spelling, and so another session"
        } else {
            "another session"
        };
        return Some(
            Found::new(
                Verdict::OtherKey,
                format!("event {} is about {}: {how}", event.sequence, event.session),
            )
            .with("recordedOn", &event.session)
            .with("askedAbout", target),
        );
    }
    if facts.cursor.is_some() {
        return None;
    }
    let watched = facts.around.iter().find(|cursor| {
        cursor.watcher == *watcher && near::is_other_spelling(&cursor.target, target)
    })?;
    Some(
        Found::new(
            Verdict::OtherKey,
            format!(
                "{watcher} watches {}, and the event is about {target}: another spelling is another session",
                watched.target
            ),
        )
        .with("recordedOn", target)
        .with("watched", &watched.target),
    )
}

/// The same when nothing is recorded under the key that was asked about.
fn spelled_otherwise(facts: &Facts<'_>) -> Option<Found> {
    let target = &facts.question.target;
    let other = facts.near_target.iter().find(|near| near::is_other_spelling(near, target))?;
    Some(
        Found::new(
            Verdict::OtherKey,
            format!("nothing is recorded about {target}, but {other} is known: another spelling is another session"),
        )
        .with("askedAbout", target)
        .with("nearMisses", &facts.near_target),
    )
}

/// Rules 6 and 7.
fn without_cursor(facts: &Facts<'_>) -> Option<Found> {
    let watcher = &facts.question.watcher;
    if !watcher.is_notifiable() {
        return Some(
            Found::new(
                Verdict::NotQualified,
                format!(
                    "{watcher:?} can hold no notices: only a key of the form agent:<id>:<rest> can",
                    watcher = watcher.as_str()
                ),
            )
            .with("nearMisses", &facts.near_watcher),
        );
    }
    if facts.cursor.is_some() {
        return None;
    }
    if facts.subject.is_some_and(|subject| delivery::acknowledgement(facts, subject).is_some()) {
        return None;
    }
    Some(no_cursor(facts))
}

fn no_cursor(facts: &Facts<'_>) -> Found {
    let (watcher, target) = (&facts.question.watcher, &facts.question.target);
    let found = |because: String| {
        Found::new(Verdict::NoCursor, because)
            .with("nearWatchers", near_watchers(facts))
            .with("nearMisses", &facts.near_watcher)
    };
    let ended = facts.last(&[Step::Expired, Step::Reset, Step::Deleted, Step::Unwatched]);
    if let Some(ended) = ended {
        let how = match ended.entry.step {
            Step::Expired => "nothing touched it for 30 days",
            Step::Reset => "the watcher was reset",
            Step::Deleted => "one of the two was deleted",
            _ => "somebody ended it",
        };
        let ago = span(facts.now - ended.at);
        return found(format!("{watcher} watches {target} no longer: {how}, {ago} ago"))
            .with("ended", ended.entry.step.as_str())
            .with("endedAt", ended.at);
    }
    let near = near_watchers(facts);
    if let Some(near) = near.first() {
        return found(format!(
            "{watcher} never watched {target}; {near} does, in another spelling"
        ));
    }
    if watcher == target {
        return found(format!("{watcher} can't watch itself"));
    }
    found(if facts.is_foreign {
        format!(
            "{watcher} does not watch {target}; whether it ever did, that database does not say"
        )
    } else {
        format!("{watcher} never watched {target}; `tidings watch` begins a watch")
    })
}

/// Watchers of the target whose key is another spelling of the watcher's.
fn near_watchers(facts: &Facts<'_>) -> Vec<SessionKey> {
    let (watcher, target) = (&facts.question.watcher, &facts.question.target);
    facts
        .around
        .iter()
        .filter(|cursor| cursor.target == *target)
        .map(|cursor| &cursor.watcher)
        .filter(|other| near::is_other_spelling(other, watcher))
        .cloned()
        .collect()
}

/// Rule 8: the watch began at or after the event, and no earlier watch told it.
fn registered_after(facts: &Facts<'_>) -> Option<Found> {
    let event = facts.event.as_ref()?;
    let watcher = &facts.question.watcher;
    if delivery::acknowledgement(facts, event.sequence).is_some() {
        return None;
    }
    let found = |seed: Sequence, at: Option<i64>| {
        let when = at.map_or_else(String::new, |at| format!(", {} ago", span(facts.now - at)));
        Some(
            Found::new(
                Verdict::RegisteredAfter,
                format!(
                    "the watch of {watcher} began at version {seed}{when}: event {} came before that",
                    event.sequence
                ),
            )
            .with("seed", seed)
            .with_some("registeredAt", at),
        )
    };
    let begun = facts.last(&[Step::Registered, Step::Seeded]);
    if let Some(begun) = begun {
        let seed = begun.entry.marks.map_or(Sequence(0), |marks| marks[0]);
        return if event.sequence <= seed { found(seed, Some(begun.at)) } else { None };
    }
    let cursor =
        facts.cursor.as_ref().filter(|cursor| facts.is_foreign && event.sequence <= cursor.seen)?;
    let seed = facts.events.iter().find(|other| other.sequence == cursor.seen)?;
    // Last seen only ever moves to an event that was announced: one that announces nothing can only be where a watch began.
    let announces = facts.is_material(seed) && !facts.is_own(seed);
    if announces { None } else { found(cursor.seen, None) }
}

/// Rule 9.
fn self_caused(facts: &Facts<'_>) -> Option<Found> {
    let event = facts.event.as_ref().filter(|event| facts.is_own(event))?;
    Some(
        Found::new(
            Verdict::SelfCaused,
            format!(
                "{} caused event {} itself, and is not told of its own doings",
                facts.question.watcher, event.sequence
            ),
        )
        .with_some("actorId", event.actor.as_ref()),
    )
}

fn named(keys: &[SessionKey]) -> String {
    keys.iter().map(SessionKey::as_str).collect::<Vec<_>>().join(" or ")
}

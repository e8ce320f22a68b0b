//! Everything that bears on a question, read at once.

use serde_json::{Map, Value, json};

use super::near;
use super::{Here, Question};
use crate::clock::Millis;
use crate::engine::EngineError;
use crate::engine::condition::Thresholds;
use crate::engine::observer::Observer;
use crate::event::{Event, EventKind, Sequence};
use crate::journal::failures::AppendFailure;
use crate::journal::ledger::{Step, Written};
use crate::journal::owner::StoredWake;
use crate::session_key::SessionKey;
use crate::watch::Cursor;

/// How many entries of the ledger, and events of the target, are looked at.
const LOOKED_AT: usize = 2_000;

/// What bears on a question.
pub(super) struct Facts<'a> {
    pub(super) question: &'a Question,
    pub(super) here: Here,
    pub(super) now: Millis,
    pub(super) thresholds: &'a Thresholds,
    pub(super) run_end_notifies: bool,
    pub(super) is_foreign: bool,
    pub(super) cursor: Option<Cursor>,
    /// The cursors that the watcher holds, and those on the target.
    pub(super) around: Vec<Cursor>,
    /// The newest events of the target's key, oldest first.
    pub(super) events: Vec<Event>,
    /// The event that the answer is about.
    pub(super) subject: Option<Sequence>,
    /// That event, when the journal holds it, on whatever session.
    pub(super) event: Option<Event>,
    /// For how many watchers that event opened a notice, joined an open one, was their own.
    pub(super) delivery: [u32; 3],
    /// Entries about the pair and the watcher's wakes, oldest first.
    pub(super) ledger: Vec<Written>,
    /// Entries about events of the target that were not recorded, oldest first.
    pub(super) not_recorded: Vec<Written>,
    /// Failures that no ledger holds yet.
    pub(super) failures: Vec<AppendFailure>,
    /// The entry of an event that collapsed, under the number asked for, and the event that owns its dedupe key.
    pub(super) collapsed: Option<(Written, Option<Event>)>,
    pub(super) wake: Option<StoredWake>,
    /// The newest number that was ever given.
    pub(super) newest: Sequence,
    /// The target's state version, and up to where its history is lost.
    pub(super) head: Sequence,
    pub(super) lost: Sequence,
    pub(super) parent: Option<SessionKey>,
    /// When the watcher's last turn began.
    pub(super) last_turn_at: Option<Millis>,
    /// Keys near to the target's, and near to the watcher's.
    pub(super) near_target: Vec<SessionKey>,
    pub(super) near_watcher: Vec<SessionKey>,
    /// Whether anything but a question knows the target.
    pub(super) knows_target: bool,
}

impl<'a> Facts<'a> {
    pub(super) fn read(
        observer: &'a mut Observer<'_>,
        question: &'a Question,
        here: Here,
    ) -> Result<Self, EngineError> {
        let reader = &mut *observer.reader;
        let (watcher, target) = (&question.watcher, &question.target);
        let cursor = reader.cursor(watcher, target)?;
        let events = reader.newest_events_of(target, LOOKED_AT)?;
        let (head, lost) = reader.marks_of_key(target)?;
        let not_recorded = reader.ledger_of_target(target, LOOKED_AT)?;
        let subject = question.event.or_else(|| subject(cursor.as_ref(), &events));
        let event = subject.map(|subject| reader.event(subject)).transpose()?.flatten();
        let delivery = subject.map(|subject| reader.delivery(subject)).transpose()?;
        let collapsed = match question.event {
            Some(asked) => reader.collapsed_at(asked)?,
            None => not_recorded.iter().rfind(|w| w.entry.step == Step::Collapsed).cloned(),
        };
        let collapsed = match collapsed {
            Some(written) => {
                let key = written.entry.note.as_deref().unwrap_or_default();
                let owner = reader.event_of_dedupe_key(key)?;
                Some((written, owner))
            }
            None => None,
        };
        let known = reader.known_keys()?;
        Ok(Self {
            here,
            now: observer.now,
            thresholds: &observer.settings.thresholds,
            run_end_notifies: observer.settings.run_end_notifies,
            is_foreign: reader.is_foreign(),
            around: reader.cursors_around(watcher, target)?,
            subject,
            event,
            delivery: delivery.unwrap_or_default(),
            ledger: reader.ledger_of_pair(watcher, target, LOOKED_AT)?,
            failures: waiting(reader.waiting_failures()?, target, reader.is_foreign()),
            not_recorded,
            collapsed,
            wake: reader.wakes()?.into_iter().find(|wake| wake.watcher == *watcher),
            newest: reader.newest_number()?,
            head,
            lost,
            parent: reader.parent_of(target)?,
            last_turn_at: reader.last_turn_of(watcher)?,
            near_target: near::misses(target, &known),
            near_watcher: near::misses(watcher, &known),
            knows_target: known.contains(target),
            question,
            cursor,
            events,
        })
    }

    /// Whether an event reaches watchers at all.
    pub(super) fn is_material(&self, event: &Event) -> bool {
        event.kind.notifies(self.run_end_notifies)
    }

    /// Whether the watcher caused an event itself.
    pub(super) fn is_own(&self, event: &Event) -> bool {
        event.actor.as_deref() == Some(self.question.watcher.as_str())
    }

    /// The newest entry of one of these steps.
    pub(super) fn last(&self, steps: &[Step]) -> Option<&Written> {
        self.ledger.iter().rfind(|written| steps.contains(&written.entry.step))
    }

    /// What every answer rests on.
    pub(super) fn evidence(&self) -> Map<String, Value> {
        let mut evidence = Map::new();
        if let Some(cursor) = &self.cursor {
            evidence.insert("lastSeen".into(), json!(cursor.seen));
            evidence.insert("notified".into(), json!(cursor.notified));
            evidence.insert("material".into(), json!(cursor.material));
            evidence.insert("state".into(), json!(cursor.state()));
            evidence.insert("provenance".into(), json!(cursor.provenance));
        }
        evidence.insert("head".into(), json!(self.head));
        if self.lost.0 > 0 {
            evidence.insert("prunedThrough".into(), json!(self.lost));
        }
        if let Some(event) = &self.event {
            evidence.insert("kind".into(), json!(event.kind));
            evidence.insert("actorType".into(), json!(event.actor_type));
            if let Some(actor) = &event.actor {
                evidence.insert("actorId".into(), json!(actor));
            }
            evidence.insert("occurredAt".into(), json!(event.occurred_at));
        }
        if self.is_foreign {
            let unknown = ["ledger", "queue", "wakes", "turns", "reads"];
            evidence.insert("unknown".into(), json!(unknown));
        }
        evidence
    }
}

/// What matters most for a pair: what the open notice covers up to; else the first news that the watcher does not know of; else the
/// newest thing that it could have been told.
fn subject(cursor: Option<&Cursor>, events: &[Event]) -> Option<Sequence> {
    if let Some(cursor) = cursor.filter(|cursor| cursor.is_pending()) {
        return Some(cursor.material);
    }
    let seen = cursor.map_or(Sequence(0), |cursor| cursor.seen);
    let material = |event: &&Event| event.kind.notifies(false);
    let newest = events.last()?;
    let news = cursor.is_some() && newest.sequence > seen;
    let chosen = if news { newest } else { events.iter().rfind(material).unwrap_or(newest) };
    Some(chosen.sequence)
}

/// The failures about the target. Another system's file has none of ours beside it.
fn waiting(all: Vec<AppendFailure>, target: &SessionKey, is_foreign: bool) -> Vec<AppendFailure> {
    if is_foreign {
        return Vec::new();
    }
    all.into_iter().filter(|failure| failure.session == *target).collect()
}

/// Whether events of this kind begin a watch rather than announce something.
pub(super) fn begins_a_watch(kind: &EventKind) -> bool {
    *kind == EventKind::ChildSpawned
}

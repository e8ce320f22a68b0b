//! The picture as it was when an earlier event of the journal was the newest.

use std::collections::HashSet;
use std::sync::Arc;

use super::observer::Observer;
use super::picture::{EVENTS, Known, assemble};
use super::reason::Reason;
use super::snapshot::{ACTIVITY_SLOT, ACTIVITY_SLOTS, Role, Snapshot, WakeState};
use super::{Engine, EngineError};
use crate::event::Sequence;
use crate::session_key::SessionKey;
use crate::watch::Condition;

/// A picture of the past.
#[derive(Debug, Clone)]
pub struct Past {
    /// The event that was the newest.
    pub sequence: Sequence,
    /// The picture, taken when that event happened.
    pub snapshot: Snapshot,
    /// Watches that existed then, by watcher and target, of which nobody kept where they stood.
    pub not_kept: HashSet<(SessionKey, SessionKey)>,
}

impl Observer<'_> {
    /// The picture `steps` events before (negative) or after the event `from`, or at the journal's end on that side. `None` when
    /// the journal is empty.
    pub(super) fn past(&mut self, from: Sequence, steps: i64) -> Result<Option<Past>, EngineError> {
        let Some(sequence) = self.reader.neighbour(from, steps)? else { return Ok(None) };
        let span = ACTIVITY_SLOT * i64::try_from(ACTIVITY_SLOTS).unwrap_or(0);
        let Some(found) = self.reader.overview_at(sequence, EVENTS, span)? else {
            return Ok(None);
        };
        let mut histories = found.histories;
        let mut then = Observer {
            reader: &mut *self.reader,
            settings: self.settings,
            histories: &mut histories,
            now: found.at,
            until: sequence,
        };
        let known = Known {
            revision: 0,
            role: Role::Visitor,
            owned: false,
            append_failures: 0,
            queues: Vec::new(),
            problems: &[],
        };
        let mut snapshot = assemble(&mut then, found.overview, known)?;
        snapshot.is_past = true;
        for row in Arc::make_mut(&mut snapshot.watches) {
            row.wake = WakeState::Unknown;
            let pair = (row.cursor.watcher.clone(), row.cursor.target.clone());
            if found.not_kept.contains(&pair) {
                row.condition = Condition::Unknown;
                row.reason = Reason::NotKept;
            }
        }
        Ok(Some(Past { sequence, snapshot, not_kept: found.not_kept }))
    }
}

impl Engine {
    /// The picture `steps` events before (negative) or after the event `from`.
    pub fn past(&mut self, from: Sequence, steps: i64) -> Result<Option<Past>, EngineError> {
        self.observer().past(from, steps)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::clock::{ManualClock, SECOND};
    use crate::engine::commands::Address;
    use crate::engine::{Discipline, Settings};
    use crate::event::{ActorType, EventKind, NewEvent};
    use crate::journal::append::Gate;
    use crate::session_key::AgentId;

    fn turn(engine: &mut Engine, clock: &ManualClock, target: &str) {
        clock.advance(SECOND);
        let event = NewEvent::new(
            SessionKey::new(target),
            AgentId::main(),
            EventKind::HumanDirectMessage,
            ActorType::Human,
        );
        engine.record(&event, Gate::Open).unwrap();
    }

    /// What a picture says that can be compared with one of the past.
    fn told(snapshot: &Snapshot) -> Vec<String> {
        let watches = snapshot.watches.iter().map(|row| {
            let cursor = &row.cursor;
            let marks = [cursor.seen, cursor.notified, cursor.material];
            format!("{} {} {marks:?}", cursor.watcher, cursor.target)
        });
        let versions = snapshot
            .sessions
            .iter()
            .filter_map(|row| Some(format!("{} {}", row.key, row.version?)));
        watches.chain(versions).collect()
    }

    #[test]
    fn each_step_shows_what_was_so_then() {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::at(1_000_000_000_000));
        let mut engine = Engine::open(
            &folder.path().join("state.sqlite"),
            clock.clone(),
            Settings::default(),
            Discipline::InStep,
        )
        .unwrap();
        let (w, t) = ("agent:main:w", "agent:main:t");
        let watcher: Address = (SessionKey::new(w), AgentId::main());
        let mut taken: Vec<Snapshot> = Vec::new();
        turn(&mut engine, &clock, t);
        taken.push(engine.snapshot(1, Role::Owner, true, &[]).unwrap());
        clock.advance(SECOND);
        engine.watch(&watcher.0, &SessionKey::new(t), None).unwrap();
        for step in 0..8 {
            turn(&mut engine, &clock, t);
            if step == 2 || step == 4 {
                clock.advance(SECOND);
                engine.turn(&watcher).unwrap();
            }
            taken.push(engine.snapshot(1, Role::Owner, true, &[]).unwrap());
        }
        clock.advance(SECOND);
        engine.unwatch(&watcher.0, &SessionKey::new(t)).unwrap();
        turn(&mut engine, &clock, t);
        taken.push(engine.snapshot(1, Role::Owner, true, &[]).unwrap());

        let mut at = taken.last().unwrap().journal.max.unwrap();
        for earlier in taken.iter().rev().skip(1) {
            let past = engine.past(at, -1).unwrap().unwrap();
            assert_eq!(Some(past.sequence), earlier.journal.max);
            assert!(past.not_kept.is_empty());
            // The watch begins between the first two events, and ends between the last two.
            if past.sequence != Sequence(1) && past.sequence != Sequence(9) {
                assert_eq!(told(&past.snapshot), told(earlier), "at {}", past.sequence);
            }
            assert_eq!(past.snapshot.events.len(), earlier.events.len());
            at = past.sequence;
        }
        assert_eq!(engine.past(at, -5).unwrap().map(|past| past.sequence), None);
        assert_eq!(engine.past(at, 100).unwrap().unwrap().sequence, Sequence(10));
    }
}

//! The wakes' part of the loop: asking, sending out, writing down how it ended.

use super::{Internal, Runner};
use crate::clock::Millis;
use crate::engine::wakes::{Asked, COALESCE, WakeOutcome};
use crate::engine::{EngineError, waking};
use crate::journal::ledger::{Entry, Step};
use crate::journal::owner::StoredWake;
use crate::session_key::SessionKey;

impl Runner {
    pub(super) fn ask_wakes(&mut self, asked: &[Asked]) {
        let now = self.engine.now();
        let first: Vec<_> = asked.iter().filter(|asked| self.wakes.ask(asked, now)).collect();
        if first.is_empty() {
            return;
        }
        let due_at = Some(now + COALESCE);
        let wakes: Vec<_> = first.iter().map(|asked| stored(asked, due_at, None, now)).collect();
        let entries: Vec<_> = first
            .iter()
            .map(|asked| Entry::watcher(Step::WakeAsked, &asked.watcher).note(asked.reason.clone()))
            .collect();
        self.write_wakes(&wakes, &entries);
    }

    /// A wake is due. A watcher whose notices were taken meanwhile is left alone.
    pub(super) fn wake(&mut self, asked: Asked) {
        let owes =
            self.engine.queues().lines(&asked.watcher).iter().any(|line| line.target().is_some());
        if !owes {
            self.woken(&asked, &WakeOutcome::Skipped("taken".into()));
        } else if asked.watcher == SessionKey::operator() && self.options.screen {
            self.woken(&asked, &WakeOutcome::Fired);
        } else if self.options.wake_command.is_empty() {
            self.woken(&asked, &WakeOutcome::Skipped("no-handler".into()));
        } else {
            let (command, back) = (self.options.wake_command.clone(), self.internal.clone());
            std::thread::spawn(move || {
                let outcome = waking::wake(&command, &asked);
                let _ = back.send(Internal::Woken(asked, outcome));
            });
        }
    }

    pub(super) fn woken(&mut self, asked: &Asked, outcome: &WakeOutcome) {
        let now = self.engine.now();
        let (step, note, ended) = match outcome {
            WakeOutcome::Fired => (Step::WakeFired, asked.reason.clone(), Some(("fired", None))),
            WakeOutcome::Skipped(reason) => {
                (Step::WakeSkipped, reason.clone(), Some(("skipped", Some(reason.clone()))))
            }
            WakeOutcome::Busy(reason) => {
                (Step::WakeSkipped, format!("{reason}, tried again"), None)
            }
        };
        let entry = Entry::watcher(step, &asked.watcher).note(note);
        if ended.is_none() {
            self.wakes.retry(asked.clone(), now);
        }
        let due_at = self
            .wakes
            .waiting()
            .find(|(watcher, _)| **watcher == asked.watcher)
            .map(|(_, wake)| wake.due_at);
        self.write_wakes(&[stored(asked, due_at, ended, now)], &[entry]);
    }

    pub(super) fn write_wakes(&mut self, wakes: &[StoredWake], entries: &[Entry]) {
        let now = self.engine.now();
        let written =
            self.engine.journal_mut().write_wakes(wakes, entries, now).map_err(EngineError::from);
        self.report("could not write down a wake", written);
        self.dirty = true;
    }
}

/// A wake as it is stored; `ended` is how it ended and why.
fn stored(
    asked: &Asked,
    due_at: Option<Millis>,
    ended: Option<(&str, Option<String>)>,
    now: Millis,
) -> StoredWake {
    let (outcome, outcome_reason) =
        ended.map_or((None, None), |(outcome, reason)| (Some(outcome.to_owned()), reason));
    StoredWake {
        watcher: asked.watcher.clone(),
        reason: asked.reason.clone(),
        due_at,
        ended_at: outcome.is_some().then_some(now),
        outcome,
        outcome_reason,
    }
}

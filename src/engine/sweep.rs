//! The restart sweep, and keeping the queues in step with the cursors (`engine.md` 4.8, `decisions.md` 9).

use std::collections::HashSet;

use super::wakes::Asked;
use super::{Discipline, Engine, EngineError};
use crate::watch::Cursor;

/// What a sweep did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Pending notices that got their line back.
    pub requeued: usize,
    /// Pending notices of watchers that no longer exist.
    pub passed_over: usize,
}

impl Engine {
    /// The restart sweep: every pending notice of a living watcher gets its line and its wake, then retention runs.
    pub fn sweep(&mut self) -> Result<Swept, EngineError> {
        let now = self.now();
        let (swept, passed_over) = self.journal.sweep(now)?;
        for cursor in &swept {
            self.deliver_cursor(cursor);
        }
        if let Err(error) = self.journal.absorb_failures() {
            tracing::warn!(%error, "append failures were not taken into the ledger; the next sweep tries again");
        }
        let pruned = self.prune_now()?;
        self.follow_moved(&swept);
        if pruned.cursors > 0 {
            self.keep_in_step()?;
        }
        Ok(Swept { requeued: swept.len(), passed_over })
    }

    /// Makes the queues agree with the cursors, whoever moved them: exactly one line a pending cursor. A notice that another
    /// process opened, or one that more has come to, asks for its wake here.
    pub fn keep_in_step(&mut self) -> Result<(), EngineError> {
        if self.discipline == Discipline::Loose {
            return Ok(());
        }
        self.in_step_at = None;
        // Asked before the cursors are read: what is committed in between is looked at once more, and never missed.
        let version = self.journal.data_version()?;
        let pending = self.journal.pending_cursors()?;
        let mut asked: HashSet<_> = self.asked.iter().map(|asked| asked.watcher.clone()).collect();
        for cursor in self.queues.reconcile(&pending) {
            if !cursor.is_quiet() && asked.insert(cursor.watcher.clone()) {
                self.asked.push(Asked::about(&cursor.watcher, &cursor.target));
            }
        }
        self.in_step_at = Some(version);
        Ok(())
    }

    /// Makes the queues agree with the cursors that a command of this process has just moved. While no other process writes,
    /// no further cursor has to be looked at, however many are pending.
    pub(super) fn follow_moved<'a>(&mut self, moved: impl IntoIterator<Item = &'a Cursor>) {
        if self.discipline == Discipline::Loose {
            return;
        }
        for cursor in moved {
            self.queues.settle(cursor);
        }
        self.follow_others();
    }

    /// Makes the queues agree with the cursors if another process wrote between the last time they did and the command that has
    /// just been written.
    pub(super) fn follow_others(&mut self) {
        if self.discipline == Discipline::Loose {
            return;
        }
        if self.in_step_at != Some(self.journal.written_at()) {
            self.stay_in_step();
        }
    }

    /// The same for a command that wrote nothing.
    pub(super) fn look_around(&mut self) {
        let version = self.journal.data_version().ok();
        if self.discipline == Discipline::InStep
            && (version.is_none() || version != self.in_step_at)
        {
            self.stay_in_step();
        }
    }

    /// Makes the queues agree with the cursors after a command that has already succeeded: a failure here is reported and
    /// does not undo it.
    pub(super) fn stay_in_step(&mut self) {
        if let Err(error) = self.keep_in_step() {
            tracing::warn!(%error, "the queue could not be brought in step with the cursors; it is tried again");
        }
    }
}

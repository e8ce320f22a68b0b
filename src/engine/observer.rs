//! The observer: what reads a state database and judges it, ours or another system's, and writes nothing.

use super::picture::Known;
use super::snapshot::{Problem, QueueRow, Role, Snapshot, Source, WakeRow};
use super::{Engine, EngineError, Settings};
use crate::clock::Millis;
use crate::event::Sequence;
use crate::journal::Reader;
use crate::journal::pairs::PairHistories;

/// Reads a state database at one time, with one person's settings.
#[derive(Debug)]
pub struct Observer<'a> {
    pub(super) reader: &'a mut Reader,
    pub(super) settings: &'a Settings,
    pub(super) histories: &'a mut PairHistories,
    pub(super) now: Millis,
    /// The newest event that counts: the journal's last one, unless the past is looked at.
    pub(super) until: Sequence,
}

impl Observer<'_> {
    /// Whose database it is.
    pub(super) fn source(&self) -> Source {
        if self.reader.is_foreign() {
            Source::Attached { path: self.reader.path().to_owned() }
        } else {
            Source::Own
        }
    }
}

impl Engine {
    /// All wakes, those that wait first, by watcher.
    pub(super) fn wake_rows(&self) -> Result<Vec<WakeRow>, EngineError> {
        let mut rows: Vec<_> = self
            .journal
            .wakes()?
            .into_iter()
            .map(|wake| WakeRow {
                watcher: wake.watcher,
                reason: wake.reason,
                due_at: wake.due_at,
                ended_at: wake.ended_at,
                outcome: wake.outcome,
                outcome_reason: wake.outcome_reason,
            })
            .collect();
        rows.sort_by_key(|row| (row.due_at.is_none(), row.due_at));
        Ok(rows)
    }

    /// What looks at the state database of this engine.
    pub fn observer(&mut self) -> Observer<'_> {
        Observer {
            now: self.clock.now(),
            reader: self.journal.reader_mut(),
            settings: &self.settings,
            histories: &mut self.histories,
            until: Sequence(i64::MAX),
        }
    }

    /// A picture of the present state. `role` is what this process is to the database; `owned` whether some process owns it.
    pub fn snapshot(
        &mut self,
        revision: u64,
        role: Role,
        owned: bool,
        problems: &[Problem],
    ) -> Result<Snapshot, EngineError> {
        let append_failures = self.append_failures;
        let queues = self.queue_rows();
        self.observer().picture(Known { revision, role, owned, append_failures, queues, problems })
    }

    fn queue_rows(&self) -> Vec<QueueRow> {
        self.queues
            .sessions()
            .map(|(session, lines)| {
                let notices = lines.iter().filter(|line| line.target().is_some()).count();
                QueueRow {
                    session: session.clone(),
                    notices,
                    others: lines.len() - notices,
                    evicted: self.queues.evicted(session),
                }
            })
            .collect()
    }
}

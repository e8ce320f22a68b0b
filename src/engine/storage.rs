//! How full the state database is.

use super::observer::Observer;
use super::{Engine, EngineError};
use crate::clock::Millis;
use crate::journal::retention::{MAX_EVENTS, RETENTION};
use crate::journal::storage::Counts;

/// How full the state database is. Sizes are in bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Storage {
    /// The file.
    pub path: std::path::PathBuf,
    /// What its tables hold.
    pub counts: Counts,
    /// How many events are retained.
    pub rows: u64,
    /// How many may be.
    pub max_rows: u64,
    /// How long an event is kept, in milliseconds.
    pub kept_for: Millis,
    /// When retention last ran; `None` when never.
    pub last_prune_at: Option<Millis>,
    /// Appends of this process that failed.
    pub append_failures: u64,
    /// How long the write lock had to be waited for just now, in milliseconds; `None` where nothing may be written, or where it
    /// was not to be had.
    pub lock_wait: Option<Millis>,
    /// The size of the file; `None` when it can't be asked.
    pub file: Option<u64>,
    /// The size of the write-ahead log beside it; `None` when there is none.
    pub log: Option<u64>,
}

impl Observer<'_> {
    /// How full the state database is.
    pub(super) fn storage(&mut self, append_failures: u64) -> Result<Storage, EngineError> {
        let path = self.reader.path().to_owned();
        let size = |path: &std::path::Path| path.metadata().ok().map(|file| file.len());
        let mut log = path.clone().into_os_string();
        log.push("-wal");
        let (rows, _, _) = self.reader.extent()?;
        Ok(Storage {
            counts: self.reader.counts()?,
            rows,
            max_rows: u64::try_from(MAX_EVENTS).unwrap_or(0),
            kept_for: RETENTION,
            last_prune_at: Some(self.reader.last_prune()?).filter(|at| *at > 0),
            append_failures,
            lock_wait: None,
            file: size(&path),
            log: size(log.as_ref()),
            path,
        })
    }
}

impl Engine {
    /// How full the state database is, and how long its write lock has to be waited for.
    pub fn storage(&mut self) -> Result<Storage, EngineError> {
        let append_failures = self.append_failures;
        let lock_wait = self.journal.lock_wait().ok();
        let storage = self.observer().storage(append_failures)?;
        Ok(Storage { lock_wait, ..storage })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::clock::ManualClock;
    use crate::engine::{Discipline, Engine, Settings};

    #[test]
    fn the_wait_for_the_write_lock_is_told_beside_the_sizes() {
        let folder = tempfile::tempdir().unwrap();
        let db = folder.path().join("state.sqlite");
        let clock = Arc::new(ManualClock::at(1_000_000_000_000));
        let mut engine = Engine::open(&db, clock, Settings::default(), Discipline::InStep).unwrap();
        let storage = engine.storage().unwrap();
        assert!(storage.lock_wait.is_some());
        assert_eq!(storage.file, Some(db.metadata().unwrap().len()));
        assert_eq!((storage.rows, storage.last_prune_at), (0, None));
    }
}

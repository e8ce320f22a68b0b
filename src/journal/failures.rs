//! Events that could not be recorded: what the database can't hold at that moment waits in a small file beside it.
//!
//! A hook is a process of its own, so that its failure would be forgotten with it. The file has one line of JSON a failure and
//! holds no content; whoever next writes the database takes it into the ledger.

use std::fs::OpenOptions;
use std::io::{BufReader, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::{JournalError, Tried};
use super::ledger::{self, Entry, Step};
use super::{Journal, Reader};
use crate::clock::Millis;
use crate::session_key::SessionKey;

/// The file stops growing at this size, in bytes: then the first failures say enough.
const MAX_BYTES: u64 = 256 * 1024;

/// An event that could not be recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppendFailure {
    /// When.
    pub at: Millis,
    /// The session that the event was about.
    pub session: SessionKey,
    /// What had happened.
    pub kind: String,
    /// What went wrong.
    pub error: String,
    /// How long it was tried, in milliseconds: with a busy database the wait for its lock.
    pub waited: Millis,
}

impl AppendFailure {
    fn entry(&self) -> Entry {
        let note = format!("{}: {} (after {} ms)", self.kind, self.error, self.waited);
        Entry::target(Step::AppendFailed, &self.session).note(note)
    }
}

/// Where the failures of the database at `db` wait.
pub fn path(db: &Path) -> PathBuf {
    let mut name = db.as_os_str().to_owned();
    name.push(".failures");
    PathBuf::from(name)
}

/// Remembers a failure beside the database at `db`.
pub(super) fn note(db: &Path, failure: &AppendFailure) -> std::io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).mode(0o600).open(path(db))?;
    if file.metadata()?.len() >= MAX_BYTES {
        return Ok(());
    }
    let mut line = serde_json::to_vec(failure)?;
    line.push(b'\n');
    file.write_all(&line)
}

/// Reads the failures that wait in `file`; lines that are none are passed over.
fn waiting(file: &Path) -> std::io::Result<Vec<AppendFailure>> {
    let file = match std::fs::File::open(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        file => file?,
    };
    let mut text = Vec::new();
    BufReader::new(file).take(2 * MAX_BYTES).read_to_end(&mut text)?;
    Ok(text
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect())
}

impl Reader {
    /// The failures that no ledger holds yet, oldest first.
    pub fn waiting_failures(&self) -> Result<Vec<AppendFailure>, JournalError> {
        let path = path(&self.path);
        waiting(&path).map_err(|source| JournalError::Io { tried: "read", path, source })
    }
}

impl Journal {
    /// Remembers a failure. When even that fails, a warning is all that is left.
    pub fn note_failure(&self, failure: &AppendFailure) {
        if let Err(error) = note(&self.path, failure) {
            tracing::warn!(%error, "an append failure could not be written down beside the state database");
        }
    }

    /// Takes the failures that wait into the ledger. Returns how many.
    pub fn absorb_failures(&mut self) -> Result<usize, JournalError> {
        let from = path(&self.path);
        if !from.exists() {
            return Ok(0);
        }
        let mut taken = from.as_os_str().to_owned();
        taken.push(".taken");
        let taken = PathBuf::from(taken);
        let io = |path: &Path| {
            let path = path.to_owned();
            move |source| JournalError::Io { tried: "take the append failures from", path, source }
        };
        // The write lock keeps others from taking them, too; renamed, the file gets no more lines while it is read.
        let transaction = self.write()?;
        let failures = match std::fs::rename(&from, &taken) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
            renamed => renamed.and_then(|()| waiting(&taken)).map_err(io(&from))?,
        };
        for failure in &failures {
            ledger::write(&transaction, &failure.entry(), failure.at)?;
        }
        transaction.commit().tried("write append failures to the ledger")?;
        std::fs::remove_file(&taken).map_err(io(&taken))?;
        Ok(failures.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_wait_beside_the_database_and_go_to_the_ledger_once() {
        let folder = tempfile::tempdir().unwrap();
        let db = folder.path().join("state.sqlite");
        let mut journal = Journal::open(&db, 1).unwrap();
        let failure = AppendFailure {
            at: 5,
            session: SessionKey::new("agent:main:x"),
            kind: "goal_changed".into(),
            error: "database is locked".into(),
            waited: 5_000,
        };
        journal.note_failure(&failure);
        journal.note_failure(&AppendFailure { at: 6, ..failure.clone() });
        std::fs::OpenOptions::new()
            .append(true)
            .open(path(&db))
            .and_then(|mut file| file.write_all(b"not a line of ours\n"))
            .unwrap();
        assert_eq!(journal.waiting_failures().unwrap().len(), 2);
        assert_eq!(journal.absorb_failures().unwrap(), 2);
        assert_eq!(journal.absorb_failures().unwrap(), 0);
        assert!(journal.waiting_failures().unwrap().is_empty());
        let written = journal.ledger_of_target(&failure.session, 10).unwrap();
        assert_eq!(written.iter().map(|written| written.at).collect::<Vec<_>>(), [5, 6]);
        assert_eq!(
            written[0].entry.note.as_deref(),
            Some("goal_changed: database is locked (after 5000 ms)")
        );
    }

    #[test]
    fn the_file_stops_growing() {
        let folder = tempfile::tempdir().unwrap();
        let db = folder.path().join("state.sqlite");
        std::fs::write(path(&db), vec![b'x'; usize::try_from(MAX_BYTES).unwrap()]).unwrap();
        let session = SessionKey::new("agent:main:x");
        let failure =
            AppendFailure { at: 5, session, kind: "k".into(), error: "e".into(), waited: 0 };
        note(&db, &failure).unwrap();
        assert_eq!(path(&db).metadata().unwrap().len(), MAX_BYTES);
    }
}

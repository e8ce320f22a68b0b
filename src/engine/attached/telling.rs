//! Alerts over an attached database. What is open is remembered in a folder of our own, so that another monitor neither opens it
//! again nor forgets to close it; of several monitors on one database, one tells.

use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};

use crate::engine::alerting::tell_aside;
use crate::engine::alerts::{AlertRule, Alerts};
use crate::engine::lock::OwnerLock;
use crate::engine::snapshot::{Problem, Snapshot};
use crate::journal::alerts::StoredAlert;

/// Problems that are kept for the screen.
const PROBLEMS: usize = 50;

/// Looks for alerts in the pictures of an attached database, and tells them.
#[derive(Debug)]
pub(super) struct Telling {
    rules: Vec<AlertRule>,
    /// `None` while another process tells.
    alerts: Option<Alerts>,
    memory: Option<Memory>,
    failed: (Sender<String>, Receiver<String>),
    problems: Vec<Problem>,
}

/// What is open, in a file that goes by the path of the attached database.
#[derive(Debug)]
struct Memory {
    path: PathBuf,
    lock: Option<OwnerLock>,
}

impl Telling {
    /// Alerts by these rules over the database at `db`, remembered in `folder`; without one only in memory.
    pub(super) fn new(rules: Vec<AlertRule>, folder: Option<&Path>, db: &Path) -> Self {
        let memory = folder.map(|folder| {
            let db = fs::canonicalize(db).unwrap_or_else(|_| db.to_owned());
            let name = blake3::hash(db.as_os_str().as_encoded_bytes()).to_hex();
            Memory { path: folder.join(format!("{}.json", &name[..16])), lock: None }
        });
        Self { rules, alerts: None, memory, failed: channel(), problems: Vec::new() }
    }

    /// Looks at a picture and tells what is to be told, unless another process does.
    pub(super) fn look(&mut self, snapshot: &Snapshot) {
        let failed: Vec<_> = self.failed.1.try_iter().collect();
        for message in failed {
            self.problem(message, snapshot);
        }
        if self.rules.is_empty() {
            return;
        }
        if self.alerts.is_none() {
            let open = match self.memory.as_mut().map(Memory::take) {
                None => Vec::new(),
                Some(Ok(Some(open))) => open,
                Some(Ok(None)) => return,
                Some(Err(error)) => {
                    self.forget(&error, snapshot);
                    Vec::new()
                }
            };
            self.alerts = Some(Alerts::new(self.rules.clone(), &open));
        }
        let Some(alerts) = &mut self.alerts else { return };
        let told = alerts.look(snapshot);
        if told.is_empty() {
            return;
        }
        let open = alerts.open();
        if let Some(Err(error)) = self.memory.as_ref().map(|memory| memory.write(&open)) {
            self.forget(&error, snapshot);
        }
        let back = self.failed.0.clone();
        tell_aside(&self.rules, told, move |failed| {
            let _ = back.send(failed);
        });
    }

    /// What could not be told or remembered.
    pub(super) fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Goes on without a memory: alerts are told all the same.
    fn forget(&mut self, error: &std::io::Error, snapshot: &Snapshot) {
        if let Some(memory) = self.memory.take() {
            let path = memory.path.display();
            self.problem(
                format!("which alerts are open can't be remembered in {path}: {error}"),
                snapshot,
            );
        }
    }

    fn problem(&mut self, message: String, snapshot: &Snapshot) {
        tracing::warn!("{message}");
        self.problems.push(Problem { at: snapshot.at, message });
        if self.problems.len() > PROBLEMS {
            self.problems.remove(0);
        }
    }
}

impl Memory {
    /// Becomes the one that tells, and reads what is open; `None` while another process is it.
    fn take(&mut self) -> Result<Option<Vec<StoredAlert>>, std::io::Error> {
        if let Some(folder) = self.path.parent() {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let Some(lock) = OwnerLock::take(&self.path)? else { return Ok(None) };
        self.lock = Some(lock);
        match fs::read(&self.path) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Some(Vec::new())),
            Err(error) => Err(error),
        }
    }

    /// Writes what is open in place of what was, whole or not at all.
    fn write(&self, open: &[StoredAlert]) -> Result<(), std::io::Error> {
        let new = self.path.with_extension("new");
        let mut options = fs::OpenOptions::new();
        let file = options.write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        serde_json::to_writer(&file, open)?;
        fs::rename(&new, &self.path)
    }
}

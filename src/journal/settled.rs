//! Database files that nobody has open: they can be read without a trace beside them.
//!
//! To read a database with a write-ahead log, SQLite makes the log and its index beside it when they are missing, and who may
//! only read can't take them away again. While the log is missing or empty, the file alone holds everything. It is then read as
//! if it never changed, and whoever read it asks afterwards whether that was so.

use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::examine::beside;

/// A write that is younger than this may have the same time as the next one: file systems count time in steps.
const STEP: Duration = Duration::from_secs(2);

/// How a file was when it was opened while nobody else had it open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Settled {
    path: PathBuf,
    /// Device, number, length, and when it was written, in seconds and nanoseconds.
    state: [i128; 5],
}

impl Settled {
    /// Looks whether the database at `path` can be read without a trace: its log holds nothing, no index says that somebody has it
    /// open, and it was not written just now.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let file = path.metadata().ok()?;
        #[expect(
            clippy::disallowed_methods,
            reason = "the file's time is the system's, whatever time a scenario plays"
        )]
        let age = SystemTime::now().duration_since(file.modified().ok()?).ok()?;
        let has_index = beside(path, "-shm").symlink_metadata().is_ok();
        let is_settled = age > STEP && !has_index && !log_holds_something(path);
        is_settled.then(|| Self { path: path.to_owned(), state: state(&file) })
    }

    /// Whether the file is as it was: then everything read since then was of one moment.
    pub(super) fn holds(&self) -> bool {
        !log_holds_something(&self.path)
            && self.path.metadata().is_ok_and(|file| state(&file) == self.state)
    }

    /// The address by which SQLite takes no lock and makes no file.
    pub(super) fn address(&self) -> String {
        let mut address = String::from("file:");
        for byte in self.path.as_os_str().as_bytes() {
            match byte {
                b'/' | b'.' | b'-' | b'_' => address.push(char::from(*byte)),
                byte if byte.is_ascii_alphanumeric() => address.push(char::from(*byte)),
                byte => address.push_str(&format!("%{byte:02X}")),
            }
        }
        address + "?immutable=1"
    }
}

fn log_holds_something(path: &Path) -> bool {
    match beside(path, "-wal").symlink_metadata() {
        Ok(log) => log.len() > 0,
        Err(error) => error.kind() != std::io::ErrorKind::NotFound,
    }
}

fn state(file: &Metadata) -> [i128; 5] {
    [
        file.dev().into(),
        file.ino().into(),
        file.len().into(),
        file.mtime().into(),
        file.mtime_nsec().into(),
    ]
}

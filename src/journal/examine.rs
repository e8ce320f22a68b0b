//! Looking at our state database as a file: what is wrong with it, without opening it for writing.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};

use super::error::{JournalError, Tried};
use super::{Journal, Reader, schema};
use crate::clock::Millis;

/// What a look at the file found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Examined {
    /// Whether it is a state database of ours, of whatever version.
    pub is_ours: bool,
    /// Its schema version.
    pub version: i64,
    /// The newest schema version that this program knows.
    pub known: i64,
    /// `ok`, or what SQLite's own check found first.
    pub integrity: String,
    /// The size of the database, in bytes.
    pub bytes: u64,
    /// The size of its write-ahead log, in bytes.
    pub log_bytes: u64,
    /// The newest time that stands in it, or why it can't be read.
    pub newest_at: Result<Option<Millis>, String>,
    /// The process that last wrote itself down as the owner, or why it can't be read.
    pub owner: Result<Option<u32>, String>,
}

/// Looks at the file.
pub fn examine(path: &Path) -> Result<Examined, JournalError> {
    let connection = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )
    .tried("open the state database")?;
    connection.busy_timeout(Duration::from_secs(1)).tried("set the time to wait for writers")?;
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, Option<i64>>(0));
    let id = match number("PRAGMA application_id") {
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::NotADatabase) => {
            return Err(JournalError::NotADatabase { path: path.to_owned() });
        }
        id => id.tried("read whose database the file is")?,
    };
    let version = number("PRAGMA user_version").tried("read the schema version")?.unwrap_or(0);
    let known = schema::known_version();
    let integrity = connection
        .query_row("PRAGMA integrity_check(1)", [], |row| row.get::<_, String>(0))
        .unwrap_or_else(|error| error.to_string());
    let is_ours = id == Some(schema::APPLICATION_ID);
    let read = |sql: &str| {
        if is_ours && version == known {
            number(sql).map_err(|error| error.to_string())
        } else {
            Err("this program can't read its schema".to_owned())
        }
    };
    let newest = "SELECT max(coalesce((SELECT max(updated_at) FROM session_state_heads), 0), \
                  coalesce((SELECT max(occurred_at) FROM session_state_events), 0), \
                  coalesce((SELECT max(updated_at) FROM session_watch_cursors), 0), \
                  coalesce((SELECT last_tick_at FROM tidings_pulse), 0))";
    let owner = "SELECT (SELECT process_id FROM tidings_owner)";
    let size = |path: &Path| path.metadata().map_or(0, |file| file.len());
    Ok(Examined {
        is_ours,
        version,
        known,
        bytes: size(path),
        log_bytes: size(&beside(path, "-wal")),
        newest_at: read(newest).map(|at| at.filter(|at| *at > 0)),
        owner: read(owner).map(|owner| owner.and_then(|owner| u32::try_from(owner).ok())),
        integrity,
    })
}

/// The file beside a database with this ending.
pub fn beside(db: &Path, ending: &str) -> PathBuf {
    let mut name = db.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

impl Journal {
    /// How long the write lock has to be waited for just now, in milliseconds. Nothing is written.
    pub fn lock_wait(&mut self) -> Result<Millis, JournalError> {
        let began = Instant::now();
        drop(self.write()?);
        Ok(i64::try_from(began.elapsed().as_millis()).unwrap_or(i64::MAX))
    }
}

impl Reader {
    /// Appends that failed since `since`, as the ledger and the file beside the database say.
    pub fn append_failures_since(&self, since: Millis) -> Result<u64, JournalError> {
        let absorbed = self.count_steps(super::ledger::Step::AppendFailed, since)?;
        let waiting = self.waiting_failures()?.into_iter().filter(|failure| failure.at >= since);
        Ok(absorbed + u64::try_from(waiting.count()).unwrap_or(u64::MAX))
    }
}

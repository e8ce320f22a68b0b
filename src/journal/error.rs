//! What can go wrong with the state database.

use std::path::PathBuf;

/// A failure of the state database. Each message is one line that says what was tried, on what, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// SQLite refused or failed.
    #[error("could not {tried}: {source}{}", advice(source))]
    Sqlite {
        /// What was tried.
        tried: &'static str,
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
    },
    /// The database at a path could not be opened.
    #[error("{}: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What failed.
        source: Box<JournalError>,
    },
    /// A folder or file could not be made.
    #[error("could not {tried} {}: {source}", path.display())]
    Io {
        /// What was tried.
        tried: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The file is no SQLite database.
    #[error("{} is not a SQLite database; nothing was changed; name another file with --db", path.display())]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },
    /// The database belongs to another program.
    #[error(
        "{} is another program's database; nothing was changed; name another file with --db (another system's state \
         database is read with --attach)",
        path.display()
    )]
    NotOurs {
        /// The file.
        path: PathBuf,
    },
    /// The database was written by a newer version.
    #[error("{} has schema version {found}, this program knows {known}; nothing was changed; use a newer tidings", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version found.
        found: i64,
        /// The newest version known.
        known: i64,
    },
    /// Another system's database can't be read.
    #[error("could not attach to {}: {reason}", path.display())]
    Attach {
        /// The file.
        path: PathBuf,
        /// Why, and what to do.
        reason: String,
    },
    /// A value can't be stored.
    #[error("{0}")]
    Refused(String),
}

impl JournalError {
    /// Whether another writer held the database for longer than the busy time-out.
    pub fn is_busy(&self) -> bool {
        if let Self::Open { source, .. } = self {
            return source.is_busy();
        }
        matches!(self, Self::Sqlite { source, .. }
            if matches!(source.sqlite_error_code(), Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked)))
    }
}

/// What to do about a failure of SQLite, when that can be said.
fn advice(error: &rusqlite::Error) -> &'static str {
    use rusqlite::{Error, ErrorCode};
    if let Error::IntegralValueOutOfRange(..) = error {
        return "; no time and no sequence is that far away: a fault, or somebody's hand, wrote it, and only a copy from before helps";
    }
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => {
            "; free some space and try again, nothing that was recorded before is lost"
        }
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            "; the file is damaged: bring back a copy of it, or name another file"
        }
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            "; the file and its folder have to be readable and writable for you"
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "; another process has been writing for long, try again"
        }
        _ => "",
    }
}

/// Names what was tried when SQLite fails.
pub(super) trait Tried<T> {
    /// The result with `tried` in its error.
    fn tried(self, tried: &'static str) -> Result<T, JournalError>;
}

impl<T> Tried<T> for Result<T, rusqlite::Error> {
    fn tried(self, tried: &'static str) -> Result<T, JournalError> {
        self.map_err(|source| JournalError::Sqlite { tried, source })
    }
}

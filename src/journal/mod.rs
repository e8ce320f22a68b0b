//! Journal: the durable truth, and the only SQL of the project.
//!
//! A [`Journal`] is one connection to the state database. Each method that writes is one short `BEGIN IMMEDIATE`
//! transaction; no method knows of screens, queues or other programs' files. Time comes in as a parameter.
//!
//! | file | holds |
//! | --- | --- |
//! | [`schema`] | opening, migration, permissions |
//! | [`append`] | recording an event: insert, head, cursors, one transaction |
//! | [`cursors`] | watching, acknowledging, the sweep, reset, delete |
//! | [`changes`] | `changesSince` and versions |
//! | [`retention`] | pruning |
//! | [`upstream_links`] | links, markers, streaks, counted records, facts |
//! | [`own_texts`] | hashes of what was put into a session |
//! | [`sessions`] | the registry of sessions |
//! | [`inbox`] | messages and goals, the two places that hold text |
//! | [`ledger`] | the steps of each notice |
//! | [`owner`] | the owner, the pulse, wakes |
//! | [`overview`] | what a snapshot is made of |

pub mod append;
pub mod changes;
pub mod cursors;
mod error;
pub mod inbox;
pub mod ledger;
pub mod overview;
pub mod own_texts;
pub mod owner;
pub mod retention;
mod rows;
pub mod schema;
pub mod sessions;
pub mod upstream_links;

use std::path::{Path, PathBuf};

use rusqlite::{Connection, Transaction, TransactionBehavior};

pub use error::JournalError;
use error::Tried;

use crate::clock::Millis;

/// One connection to the state database.
#[derive(Debug)]
pub struct Journal {
    connection: Connection,
    path: PathBuf,
    /// Whether run ends notify explicit watchers (`run_end_notifies`); off by default.
    run_end_notifies: bool,
}

impl Journal {
    /// Opens the state database at `path`, makes it when it is not there, and migrates an older one.
    ///
    /// # Errors
    /// Refuses, untouched, what is no database, another program's, or from a newer version.
    pub fn open(path: &Path, now: Millis) -> Result<Self, JournalError> {
        let connection = schema::open(path, now)?;
        Ok(Self { connection, path: path.to_owned(), run_end_notifies: false })
    }

    /// Lets run ends notify watchers, as the option `run_end_notifies` asks.
    pub fn set_run_end_notifies(&mut self, on: bool) {
        self.run_end_notifies = on;
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A number that moves when another connection commits.
    pub fn data_version(&self) -> Result<i64, JournalError> {
        self.connection
            .prepare_cached("PRAGMA data_version")
            .and_then(|mut statement| statement.query_row([], |row| row.get(0)))
            .tried("ask whether the state database changed")
    }

    /// SQLite's own check of the whole file: `ok`, or what is wrong.
    pub fn integrity_check(&self) -> Result<String, JournalError> {
        self.connection
            .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
            .tried("check the state database")
    }

    /// Begins a write transaction: the write lock is taken at once, so that it can't fail half-way.
    fn write(&mut self) -> Result<Transaction<'_>, JournalError> {
        self.connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .tried("begin a write on the state database (another process may be holding it)")
    }

    /// Begins a read transaction: everything read in it is of one moment.
    fn read(&mut self) -> Result<Transaction<'_>, JournalError> {
        self.connection
            .transaction_with_behavior(TransactionBehavior::Deferred)
            .tried("read the state database")
    }
}

//! Journal: the durable truth, and the only SQL of the project.
//!
//! A [`Journal`] is one connection to our state database. Each method that writes is one short `BEGIN IMMEDIATE`
//! transaction; no method knows of screens, queues or other programs' files. Time comes in as a parameter. What reads is the
//! [`Reader`] in it, which can also be had over a state database that another system owns.
//!
//! | file | holds |
//! | --- | --- |
//! | [`schema`] | opening, migration, permissions |
//! | [`attached`] | opening another system's state database, strictly read-only |
//! | [`append`] | recording an event: insert, head, cursors, one transaction |
//! | [`cursors`] | watching, acknowledging, the sweep, reset, delete |
//! | [`changes`] | `changesSince` and versions |
//! | [`retention`] | pruning |
//! | [`upstream_links`] | links, markers, streaks, counted records, facts |
//! | [`own_texts`] | hashes of what was put into a session |
//! | [`sessions`] | the registry of sessions |
//! | [`inbox`] | messages and goals, the two places that hold text |
//! | [`ledger`] | the steps of each notice |
//! | [`examine`] | looking at our state database as a file |
//! | [`failures`] | events that could not be recorded |
//! | [`alerts`] | alerts that are open |
//! | [`owner`] | the owner, the pulse, wakes |
//! | [`overview`] | what a snapshot is made of |
//! | [`pairs`] | sessions by number, and what the ledger tells about pairs |
//! | [`past`] | the same as it was at an earlier number |
//! | `settled` | files that nobody has open, which are read without a trace |
//! | [`storage`] | how full the tables are |

pub mod alerts;
pub mod append;
pub mod attached;
pub mod changes;
pub mod cursors;
mod error;
pub mod examine;
pub mod failures;
pub mod inbox;
pub mod ledger;
pub mod overview;
pub mod own_texts;
pub mod owner;
pub mod pairs;
pub mod past;
pub mod retention;
mod rows;
pub mod schema;
pub mod sessions;
mod settled;
pub mod storage;
pub mod upstream_links;

use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, Transaction, TransactionBehavior};

pub use error::JournalError;
use error::Tried;

use crate::clock::Millis;
use settled::Settled;

/// One connection to a state database, to read from. Nothing that it offers writes.
#[derive(Debug)]
pub struct Reader {
    connection: Connection,
    path: PathBuf,
    whose: Whose,
    /// How the file was when it was opened as one that nobody else has open.
    settled: Option<Settled>,
}

/// Whose state database it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    Ours,
    /// Another system's: it has the four shared tables, and in place of ours there are empty ones.
    Foreign,
}

/// One connection to our state database, to read and write.
#[derive(Debug)]
pub struct Journal {
    reader: Reader,
    /// Whether run ends notify explicit watchers (`run_end_notifies`); off by default.
    run_end_notifies: bool,
    /// [`Reader::data_version`] as it was in the last write.
    written_at: i64,
}

impl Deref for Journal {
    type Target = Reader;

    fn deref(&self) -> &Reader {
        &self.reader
    }
}

impl DerefMut for Journal {
    fn deref_mut(&mut self) -> &mut Reader {
        &mut self.reader
    }
}

impl Reader {
    /// Reads a state database that another system owns (`--attach`): strictly read-only, whatever its version.
    ///
    /// # Errors
    /// Says in one line why it can't be read: not there, no database, damaged, without the four tables, or in a folder that
    /// doesn't let it be read while its owner writes.
    pub fn attach(path: &Path) -> Result<Self, JournalError> {
        let settled = Settled::of(path);
        Self::attach_as(path, settled)
    }

    /// The same for a file that is in use, whatever it looks like.
    pub fn attach_in_use(path: &Path) -> Result<Self, JournalError> {
        Self::attach_as(path, None)
    }

    fn attach_as(path: &Path, settled: Option<Settled>) -> Result<Self, JournalError> {
        let (connection, is_ours) = attached::open(path, settled.as_ref())?;
        let whose = if is_ours { Whose::Ours } else { Whose::Foreign };
        Ok(Self { connection, path: path.to_owned(), whose, settled })
    }

    /// Whether everything read so far was of a state that the file really had. A file that nobody had open is read without locks;
    /// when somebody writes it meanwhile, what was read counts for nothing, and it has to be attached anew.
    pub fn is_steady(&self) -> bool {
        self.settled.as_ref().is_none_or(Settled::holds)
    }

    /// Whether the database is another system's, so that what only that system's memory knows is unknown.
    pub fn is_foreign(&self) -> bool {
        self.whose == Whose::Foreign
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A number that moves when another connection commits.
    pub fn data_version(&self) -> Result<i64, JournalError> {
        data_version(&self.connection)
    }

    /// SQLite's own check of the whole file: `ok`, or what is wrong.
    pub fn integrity_check(&self) -> Result<String, JournalError> {
        self.connection
            .query_row("PRAGMA main.integrity_check(1)", [], |row| row.get(0))
            .tried("check the state database")
    }

    /// Reads at one moment, whatever others commit meanwhile. For what is asked often: its own statements are prepared once.
    fn at_one_moment<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        let run = |sql| self.connection.prepare_cached(sql).and_then(|mut run| run.execute([]));
        run("BEGIN").tried("read the state database")?;
        let found = read(&self.connection);
        run("COMMIT").tried("read the state database")?;
        found
    }

    /// Begins a read transaction: everything read in it is of one moment.
    fn read(&mut self) -> Result<Transaction<'_>, JournalError> {
        self.connection
            .transaction_with_behavior(TransactionBehavior::Deferred)
            .tried("read the state database")
    }
}

impl Journal {
    /// Opens the state database at `path`, makes it when it is not there, and migrates an older one.
    ///
    /// # Errors
    /// Refuses, untouched, what is no database, another program's, or from a newer version.
    pub fn open(path: &Path, now: Millis) -> Result<Self, JournalError> {
        let connection = schema::open(path, now)?;
        let reader =
            Reader { connection, path: path.to_owned(), whose: Whose::Ours, settled: None };
        Ok(Self { reader, run_end_notifies: false, written_at: 0 })
    }

    /// [`Reader::data_version`] as it was in this connection's last write: whatever others had committed by then, that write saw.
    pub fn written_at(&self) -> i64 {
        self.written_at
    }

    /// What reads.
    pub fn reader_mut(&mut self) -> &mut Reader {
        &mut self.reader
    }

    /// Lets run ends notify watchers, as the option `run_end_notifies` asks.
    pub fn set_run_end_notifies(&mut self, on: bool) {
        self.run_end_notifies = on;
    }

    /// Begins a write transaction: the write lock is taken at once, so that it can't fail half-way.
    fn write(&mut self) -> Result<Transaction<'_>, JournalError> {
        let transaction = self
            .reader
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .tried("begin a write on the state database (another process may be holding it)")?;
        self.written_at = data_version(&transaction)?;
        Ok(transaction)
    }
}

fn data_version(connection: &Connection) -> Result<i64, JournalError> {
    connection
        .prepare_cached("PRAGMA data_version")
        .and_then(|mut statement| statement.query_row([], |row| row.get(0)))
        .tried("ask whether the state database changed")
}

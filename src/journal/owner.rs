//! What the owner alone knows and others want to see: who it is, its pulse, its wakes.

use rusqlite::{Connection, params};

use super::error::{JournalError, Tried};
use super::ledger::{self, Entry};
use super::rows;
use super::upstream_links::write_state_of_probed;
use super::{Journal, Reader};
use crate::clock::Millis;
use crate::session_key::SessionKey;
use crate::upstream_link::UpstreamLink;

/// The monitor's pulse as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredPulse {
    /// When the last tick ended.
    pub last_tick_at: Millis,
    /// How long it took, in milliseconds.
    pub took: Millis,
    /// When the next one is due; `None` after a tick outside the schedule.
    pub next_tick_at: Option<Millis>,
    /// How many links it looked at.
    pub links: i64,
}

/// A watcher's wake as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredWake {
    /// Who is to be woken.
    pub watcher: SessionKey,
    /// Why: `session-state:` and the target of the latest request.
    pub reason: String,
    /// When it goes out, while it waits.
    pub due_at: Option<Millis>,
    /// When the last one ended.
    pub ended_at: Option<Millis>,
    /// How: `fired` or `skipped`.
    pub outcome: Option<String>,
    /// Why it was skipped.
    pub outcome_reason: Option<String>,
}

impl Reader {
    /// The process that last wrote itself down as the owner.
    pub fn owner(&self) -> Result<Option<u32>, JournalError> {
        self.connection
            .prepare_cached("SELECT process_id FROM tidings_owner")
            .and_then(|mut statement| statement.query_map([], |row| row.get(0))?.next().transpose())
            .tried("read who the owner is")
    }

    /// The monitor's pulse.
    pub fn pulse(&self) -> Result<Option<StoredPulse>, JournalError> {
        self.connection
            .prepare_cached("SELECT last_tick_at, took, next_tick_at, links FROM tidings_pulse")
            .and_then(|mut statement| {
                statement
                    .query_map([], |row| {
                        Ok(StoredPulse {
                            last_tick_at: row.get(0)?,
                            took: row.get(1)?,
                            next_tick_at: row.get(2)?,
                            links: row.get(3)?,
                        })
                    })?
                    .next()
                    .transpose()
            })
            .tried("read the monitor's pulse")
    }

    /// All wakes.
    pub fn wakes(&self) -> Result<Vec<StoredWake>, JournalError> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT watcher_key, reason, due_at, ended_at, outcome, outcome_reason FROM tidings_wakes ORDER BY watcher_key",
            )
            .tried("read the wakes")?;
        let found = statement
            .query_map([], |row| {
                Ok(StoredWake {
                    watcher: rows::key(row, 0)?,
                    reason: row.get(1)?,
                    due_at: row.get(2)?,
                    ended_at: row.get(3)?,
                    outcome: row.get(4)?,
                    outcome_reason: row.get(5)?,
                })
            })
            .and_then(Iterator::collect);
        found.tried("read the wakes")
    }
}

impl Journal {
    /// Writes down that the process `process_id` is the owner.
    pub fn set_owner(&mut self, process_id: u32, now: Millis) -> Result<(), JournalError> {
        self.connection
            .execute(
                "INSERT INTO tidings_owner (id, process_id, since) VALUES (1, ?1, ?2) \
                 ON CONFLICT (id) DO UPDATE SET process_id = ?1, since = ?2",
                params![process_id, now],
            )
            .map(drop)
            .tried("write down the owner")
    }

    /// Writes down that the process `process_id` is the owner no longer.
    pub fn clear_owner(&mut self, process_id: u32) -> Result<(), JournalError> {
        self.connection
            .execute("DELETE FROM tidings_owner WHERE process_id = ?1", [process_id])
            .map(drop)
            .tried("write down that the owner left")
    }

    /// Writes down that a tick ended, and that `quiet` links had nothing new, in one transaction.
    pub fn end_tick(
        &mut self,
        pulse: &StoredPulse,
        quiet: &[UpstreamLink],
        now: Millis,
    ) -> Result<(), JournalError> {
        let transaction = self.write()?;
        for link in quiet {
            write_state_of_probed(&transaction, link, "quiet", None, None, now)?;
        }
        transaction
            .execute(
                "INSERT INTO tidings_pulse (id, last_tick_at, took, next_tick_at, links) VALUES (1, ?1, ?2, ?3, ?4) \
                 ON CONFLICT (id) DO UPDATE SET last_tick_at = ?1, took = ?2, next_tick_at = coalesce(?3, next_tick_at), links = ?4",
                params![pulse.last_tick_at, pulse.took, pulse.next_tick_at, pulse.links],
            )
            .tried("write the monitor's pulse")?;
        transaction.commit().tried("write the monitor's pulse")
    }

    /// Writes wakes, with the ledger entries that go with them, in one transaction.
    pub fn write_wakes(
        &mut self,
        wakes: &[StoredWake],
        entries: &[Entry],
        now: Millis,
    ) -> Result<(), JournalError> {
        let transaction = self.write()?;
        for wake in wakes {
            write_wake(&transaction, wake)?;
        }
        for entry in entries {
            ledger::write(&transaction, entry, now)?;
        }
        transaction.commit().tried("write wakes")
    }
}

/// Writes a wake; how the last one ended stays until the next one has.
fn write_wake(connection: &Connection, wake: &StoredWake) -> Result<(), JournalError> {
    connection
        .prepare_cached(
            "INSERT INTO tidings_wakes (watcher_key, reason, due_at, ended_at, outcome, outcome_reason) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
             ON CONFLICT (watcher_key) DO UPDATE SET reason = ?2, due_at = ?3, ended_at = coalesce(?4, ended_at), \
             outcome = coalesce(?5, outcome), outcome_reason = iif(?5 IS NULL, outcome_reason, ?6)",
        )
        .and_then(|mut statement| {
            statement.execute(params![
                wake.watcher.as_str(),
                wake.reason,
                wake.due_at,
                wake.ended_at,
                wake.outcome,
                wake.outcome_reason
            ])
        })
        .map(drop)
        .tried("write a wake")
}

//! Alerts that are open, so that the next owner neither opens them again nor forgets to close them.

use rusqlite::params;
use serde::{Deserialize, Serialize};

use super::error::{JournalError, Tried};
use super::{Journal, Reader, rows};
use crate::clock::Millis;
use crate::session_key::SessionKey;

/// An alert that is open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredAlert {
    /// The name of its rule.
    pub rule: String,
    /// Who watches.
    pub watcher: SessionKey,
    /// Who is watched.
    pub target: SessionKey,
    /// Since when the pair is bad.
    pub since: Millis,
    /// When it was last told.
    pub told_at: Millis,
}

impl Reader {
    /// The alerts that are open.
    pub fn alerts(&self) -> Result<Vec<StoredAlert>, JournalError> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT rule, watcher_key, target_key, since, told_at FROM tidings_alerts ORDER BY rule, watcher_key, target_key",
            )
            .tried("read the open alerts")?;
        let found = statement
            .query_map([], |row| {
                Ok(StoredAlert {
                    rule: row.get(0)?,
                    watcher: rows::key(row, 1)?,
                    target: rows::key(row, 2)?,
                    since: row.get(3)?,
                    told_at: row.get(4)?,
                })
            })
            .and_then(Iterator::collect);
        found.tried("read the open alerts")
    }
}

impl Journal {
    /// Writes down which alerts are open, in place of those that were.
    pub fn set_alerts(&mut self, open: &[StoredAlert]) -> Result<(), JournalError> {
        let transaction = self.write()?;
        let tried = "write down the open alerts";
        transaction.execute("DELETE FROM tidings_alerts", []).tried(tried)?;
        for alert in open {
            transaction
                .execute(
                    "INSERT INTO tidings_alerts (rule, watcher_key, target_key, since, told_at) VALUES (?1, ?2, ?3, ?4, ?5)",
                    params![
                        alert.rule,
                        alert.watcher.as_str(),
                        alert.target.as_str(),
                        alert.since,
                        alert.told_at
                    ],
                )
                .tried(tried)?;
        }
        transaction.commit().tried(tried)
    }
}

//! What the tables hold, counted for the person who watches over the file.

use super::error::{JournalError, Tried};
use super::{Reader, rows};
use crate::clock::Millis;

/// How full the tables are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// When the oldest retained event happened.
    pub oldest_at: Option<Millis>,
    /// How many sessions have a state version.
    pub heads: u64,
    /// How many of them have no retained event any more.
    pub heads_without_rows: u64,
    /// How many cursors there are.
    pub cursors: u64,
    /// How many entries the ledger holds.
    pub ledger: u64,
    /// How many messages wait.
    pub messages: u64,
    /// The size of the database without what is free inside it, in bytes.
    pub used: u64,
    /// What is free inside the file, in bytes.
    pub free: u64,
}

impl Reader {
    /// Counts what the tables hold.
    pub fn counts(&self) -> Result<Counts, JournalError> {
        let sql = "SELECT (SELECT min(occurred_at) FROM session_state_events), (SELECT count(*) FROM session_state_heads), \
                   (SELECT count(*) FROM session_state_heads h WHERE NOT EXISTS (SELECT 1 FROM session_state_events e \
                   WHERE e.session_key = h.session_key AND e.agent_id = h.agent_id)), \
                   (SELECT count(*) FROM session_watch_cursors), (SELECT count(*) FROM tidings_ledger), \
                   (SELECT count(*) FROM tidings_inbox)";
        let counts = self.connection.query_row(sql, [], |row| {
            Ok(Counts {
                oldest_at: rows::some_time(row, 0)?,
                heads: row.get(1)?,
                heads_without_rows: row.get(2)?,
                cursors: row.get(3)?,
                ledger: row.get(4)?,
                messages: row.get(5)?,
                ..Counts::default()
            })
        });
        let pages =
            |pragma: &str| self.connection.query_row(pragma, [], |row| row.get::<_, u64>(0));
        counts
            .and_then(|counts| {
                let page = pages("PRAGMA main.page_size")?;
                let free = pages("PRAGMA main.freelist_count")?.saturating_mul(page);
                let whole = pages("PRAGMA main.page_count")?.saturating_mul(page);
                Ok(Counts { used: whole.saturating_sub(free), free, ..counts })
            })
            .tried("count what the tables hold")
    }
}

#[cfg(test)]
mod tests {
    use crate::event::{ActorType, EventKind, NewEvent};
    use crate::journal::Journal;
    use crate::journal::append::Gate;
    use crate::session_key::{AgentId, SessionKey};

    #[test]
    fn heads_whose_events_are_gone_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(&folder.path().join("state.sqlite"), 1_000).unwrap();
        for (key, at) in [("agent:main:old", 1_000), ("agent:main:new", 3_000_000_000)] {
            let event = NewEvent {
                occurred_at: Some(at),
                ..NewEvent::new(
                    SessionKey::new(key),
                    AgentId::main(),
                    EventKind::Created,
                    ActorType::System,
                )
            };
            journal.append(&event, Gate::Open, at).unwrap();
        }
        journal.prune(3_000_000_000).unwrap();
        let counts = journal.counts().unwrap();
        assert_eq!((counts.heads, counts.heads_without_rows), (2, 1));
        assert_eq!(counts.oldest_at, Some(3_000_000_000));
        assert!(counts.used > 0);
    }
}

//! Retention: 30 days and 50,000 events (`engine.md` 7). Watermarks are stamped before rows go, so that a reader is told.

use rusqlite::{Transaction, params};

use super::cursors::end_where;
use super::error::{JournalError, Tried};
use super::ledger::Step;
use super::{Journal, Reader};
use crate::clock::{DAY, HOUR, Millis};

/// Events, cursors and waiting messages live this long.
pub const RETENTION: Millis = 30 * DAY;
/// The most events that stay after a prune.
pub const MAX_EVENTS: i64 = 50_000;
/// Unless forced, pruning waits this long (strictly) after the last time.
pub const PRUNE_INTERVAL: Millis = HOUR;

/// What a prune took away.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Events that were too old or too many.
    pub events: usize,
    /// Cursors that nobody touched.
    pub cursors: usize,
}

impl Reader {
    /// When retention last ran, 0 when never: shared by all processes.
    pub fn last_prune(&self) -> Result<Millis, JournalError> {
        self.connection
            .prepare_cached(
                "SELECT coalesce(max(value), 0) FROM tidings_meta WHERE name = 'last_prune_at'",
            )
            .and_then(|mut statement| statement.query_row([], |row| row.get(0)))
            .tried("read when retention last ran")
    }
}

impl Journal {
    /// Forgets when retention last ran, as a new process of the original would.
    pub fn forget_last_prune(&mut self) -> Result<(), JournalError> {
        self.connection
            .execute("DELETE FROM tidings_meta WHERE name = 'last_prune_at'", [])
            .map(drop)
            .tried("forget when retention last ran")
    }

    /// One retention pass, in one transaction.
    pub fn prune(&mut self, now: Millis) -> Result<Pruned, JournalError> {
        let transaction = self.write()?;
        let cutoff = now - RETENTION;
        let mut events = prune_events(&transaction, "occurred_at < ?1", cutoff, now)?;
        let mut ledger_cutoff = cutoff;
        if let Some(last) = overflow(&transaction)? {
            events += prune_events(&transaction, "sequence <= ?1", last, now)?;
            ledger_cutoff = ledger_cutoff.max(oldest(&transaction)?);
        }
        let cursors = end_where(&transaction, "updated_at < ?1", [cutoff], Step::Expired, now)?;
        let messages = prune_own(&transaction, cutoff, ledger_cutoff)?;
        transaction
            .execute(
                "INSERT INTO tidings_meta (name, value) VALUES ('last_prune_at', ?1) \
                 ON CONFLICT (name) DO UPDATE SET value = max(value, ?1)",
                [now],
            )
            .tried("remember when retention ran")?;
        transaction.commit().tried("prune the journal")?;
        if messages > 0 {
            self.forget_bytes();
        }
        Ok(Pruned { events, cursors })
    }
}

/// Stamps the watermark of each head that is about to lose events, then deletes them. Heads are never made here. The plus signs
/// keep SQLite from walking the whole journal in the order of the groups, when mostly no event has to go.
fn prune_events(
    transaction: &Transaction<'_>,
    condition: &str,
    bound: i64,
    now: Millis,
) -> Result<usize, JournalError> {
    let stamp = format!(
        "UPDATE session_state_heads SET pruned_max_sequence = going.last, updated_at = ?2 FROM \
         (SELECT session_key, agent_id, max(sequence) AS last FROM session_state_events WHERE {condition} \
         GROUP BY +session_key, +agent_id) AS going \
         WHERE session_state_heads.session_key = going.session_key AND session_state_heads.agent_id = going.agent_id \
         AND pruned_max_sequence < going.last"
    );
    transaction.execute(&stamp, params![bound, now]).tried("stamp pruned watermarks")?;
    transaction
        .execute(&format!("DELETE FROM session_state_events WHERE {condition}"), [bound])
        .tried("prune events")
}

/// The highest sequence that has to go so that [`MAX_EVENTS`] stay. Counting first costs less than walking to an offset
/// that mostly is not there.
fn overflow(transaction: &Transaction<'_>) -> Result<Option<i64>, JournalError> {
    let span: i64 = transaction
        .query_row(
            "SELECT coalesce((SELECT sequence FROM session_state_events ORDER BY sequence DESC LIMIT 1) - \
             (SELECT sequence FROM session_state_events ORDER BY sequence LIMIT 1) + 1, 0)",
            [],
            |row| row.get(0),
        )
        .tried("measure the journal")?;
    if span <= MAX_EVENTS {
        return Ok(None);
    }
    transaction
        .prepare_cached(
            "SELECT sequence FROM session_state_events ORDER BY sequence DESC LIMIT 1 OFFSET ?1",
        )
        .and_then(|mut statement| {
            statement.query_map([MAX_EVENTS], |row| row.get(0))?.next().transpose()
        })
        .tried("measure the journal")
}

/// When the oldest retained event happened.
fn oldest(transaction: &Transaction<'_>) -> Result<Millis, JournalError> {
    transaction
        .query_row(
            "SELECT occurred_at FROM session_state_events ORDER BY sequence LIMIT 1",
            [],
            |row| row.get(0),
        )
        .tried("measure the journal")
}

/// Our own tables keep no more than the journal does: the ledger and the deliveries go with its events, a message that
/// nobody took after 30 days. The ledger grows in order of time, so the first entry to stay bounds those that go. Gives back how
/// many messages went.
fn prune_own(
    transaction: &Transaction<'_>,
    cutoff: Millis,
    ledger_cutoff: Millis,
) -> Result<usize, JournalError> {
    let run = |sql: &str, bound| {
        transaction.execute(sql, [bound]).tried("prune the ledger and old messages")
    };
    run(
        "DELETE FROM tidings_ledger WHERE id < coalesce((SELECT id FROM tidings_ledger WHERE at >= ?1 ORDER BY id LIMIT 1), \
         9223372036854775807)",
        ledger_cutoff,
    )?;
    let messages = run("DELETE FROM tidings_inbox WHERE sent_at < ?1", cutoff)?;
    transaction
        .execute(
            "DELETE FROM tidings_deliveries WHERE sequence < \
             coalesce((SELECT sequence FROM session_state_events ORDER BY sequence LIMIT 1), 9223372036854775807)",
            [],
        )
        .tried("prune the ledger")?;
    Ok(messages)
}

//! The two places that hold text: messages until they are taken, goals until they are cleared (`decisions.md` 8). `secure_delete`
//! wipes what is deleted, and the write-ahead log is emptied each time that a text goes, so that no bytes stay.

use rusqlite::params;

use super::cursors::{Acknowledged, acknowledge_in};
use super::error::{JournalError, Tried};
use super::ledger::{self, Entry, Step};
use super::own_texts::{OwnTextHash, add_own_texts_in};
use super::{Journal, rows};
use crate::clock::Millis;
use crate::session_key::{AgentId, SessionKey};
use crate::watch::Cursor;

/// The longest message, in bytes.
pub const MAX_MESSAGE: usize = 64 * 1024;

/// A message as its receiver takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who sent it.
    pub sender: SessionKey,
    /// What it says.
    pub body: String,
    /// When it was sent.
    pub sent_at: Millis,
}

/// What a turn of a session takes.
#[derive(Debug, Clone, Default)]
pub struct Taken {
    /// The cursors whose notices it takes, as they were before, in the order in which they were made.
    pub notices: Vec<Cursor>,
    /// The messages, oldest first.
    pub messages: Vec<Message>,
    /// What acknowledging did.
    pub acknowledged: Vec<Acknowledged>,
}

/// What happened to a goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GoalChange {
    /// There was none.
    Created,
    /// Its objective is another now.
    ObjectiveChanged,
    /// Its status is another now.
    StatusChanged,
    /// It is gone.
    Cleared,
    /// Nothing changed.
    Unchanged,
    /// There is none that could change.
    Missing,
}

impl Journal {
    /// Puts a message into a session's inbox.
    ///
    /// # Errors
    /// Refuses one longer than [`MAX_MESSAGE`].
    pub fn send(
        &mut self,
        sender: &SessionKey,
        receiver: &SessionKey,
        body: &str,
        now: Millis,
    ) -> Result<(), JournalError> {
        if body.len() > MAX_MESSAGE {
            return Err(JournalError::Refused(format!(
                "a message is at most {MAX_MESSAGE} bytes, this one is {}; send a shorter one, or the path of a file",
                body.len()
            )));
        }
        self.connection
            .execute(
                "INSERT INTO tidings_inbox (receiver_key, sender_key, body, sent_at) VALUES (?1, ?2, ?3, ?4)",
                params![receiver.as_str(), sender.as_str(), body, now],
            )
            .map(drop)
            .tried("deliver a message")
    }

    /// Begins a turn of a session: takes its messages and acknowledges its open notices in one transaction. `own` makes the
    /// hashes of what the turn puts into the session; those of the newest `keep` turns stay.
    pub fn take_turn(
        &mut self,
        session: &SessionKey,
        own: impl FnOnce(&Taken) -> Vec<OwnTextHash>,
        keep: usize,
        now: Millis,
    ) -> Result<Taken, JournalError> {
        let transaction = self.write()?;
        let mut taken = Taken {
            notices: pending_of(&transaction, session)?,
            messages: messages_of(&transaction, session)?,
            acknowledged: Vec::new(),
        };
        transaction
            .execute("DELETE FROM tidings_inbox WHERE receiver_key = ?1", [session.as_str()])
            .tried("take the messages of a session")?;
        let targets: Vec<_> = taken.notices.iter().map(|cursor| cursor.target.clone()).collect();
        let turn: Option<i64> = transaction
            .query_row(
                "SELECT max(turns) + 1 FROM tidings_sessions WHERE session_key = ?1",
                [session.as_str()],
                |row| row.get(0),
            )
            .tried("number a turn")?;
        for target in &targets {
            let entry = Entry::pair(Step::Drained, session, target);
            ledger::write(&transaction, &entry.note(format!("turn {}", turn.unwrap_or(1))), now)?;
        }
        taken.acknowledged = acknowledge_in(&transaction, session, &targets, now)?;
        let hashes = own(&taken);
        add_own_texts_in(&transaction, session, &hashes, keep, now)?;
        transaction
            .execute(
                "UPDATE tidings_sessions SET turns = turns + 1, last_turn_at = ?2 WHERE session_key = ?1",
                params![session.as_str(), now],
            )
            .tried("remember a turn")?;
        transaction.commit().tried("begin a turn")?;
        if !taken.messages.is_empty() {
            self.forget_bytes();
        }
        Ok(taken)
    }

    /// Empties the write-ahead log, so that no bytes stay of a text that is gone; texts that still wait are in the database
    /// then. The text is gone for every reader already, so a failure is only reported: a caller that has taken a message
    /// must not lose it for that.
    pub(super) fn forget_bytes(&self) {
        let emptied = self
            .connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0))
            .tried("empty the write-ahead log");
        match emptied {
            Ok(false) => {}
            Ok(true) => tracing::warn!(
                "another process kept the write-ahead log in use; the next text that goes empties it"
            ),
            Err(error) => {
                tracing::warn!(%error, "the next text that goes empties the write-ahead log");
            }
        }
    }

    /// Sets the objective of a session's goal.
    pub fn set_goal(
        &mut self,
        session: &SessionKey,
        agent: &AgentId,
        objective: &str,
        now: Millis,
    ) -> Result<GoalChange, JournalError> {
        let stored = self.goal(session, agent, "objective")?;
        let change = match stored {
            None => GoalChange::Created,
            Some(stored) if stored == objective => return Ok(GoalChange::Unchanged),
            Some(_) => GoalChange::ObjectiveChanged,
        };
        self.connection
            .execute(
                "INSERT INTO tidings_goals (session_key, agent_id, objective, status, updated_at) VALUES (?1, ?2, ?3, 'active', ?4) \
                 ON CONFLICT (session_key, agent_id) DO UPDATE SET objective = ?3, updated_at = ?4",
                params![session.as_str(), agent.as_str(), objective, now],
            )
            .tried("set a goal")?;
        if change == GoalChange::ObjectiveChanged {
            self.forget_bytes();
        }
        Ok(change)
    }

    /// Sets the status of a session's goal.
    pub fn set_goal_status(
        &mut self,
        session: &SessionKey,
        agent: &AgentId,
        status: &str,
        now: Millis,
    ) -> Result<GoalChange, JournalError> {
        match self.goal(session, agent, "status")? {
            None => return Ok(GoalChange::Missing),
            Some(stored) if stored == status => return Ok(GoalChange::Unchanged),
            Some(_) => {}
        }
        self.connection
            .execute(
                "UPDATE tidings_goals SET status = ?3, updated_at = ?4 WHERE session_key = ?1 AND agent_id = ?2",
                params![session.as_str(), agent.as_str(), status, now],
            )
            .tried("set the status of a goal")?;
        Ok(GoalChange::StatusChanged)
    }

    /// Clears a session's goal.
    pub fn clear_goal(
        &mut self,
        session: &SessionKey,
        agent: &AgentId,
    ) -> Result<GoalChange, JournalError> {
        let cleared = self
            .connection
            .execute(
                "DELETE FROM tidings_goals WHERE session_key = ?1 AND agent_id = ?2",
                [session.as_str(), agent.as_str()],
            )
            .tried("clear a goal")?;
        if cleared == 0 {
            return Ok(GoalChange::Missing);
        }
        self.forget_bytes();
        Ok(GoalChange::Cleared)
    }

    /// One text column of a goal.
    fn goal(
        &self,
        session: &SessionKey,
        agent: &AgentId,
        column: &str,
    ) -> Result<Option<String>, JournalError> {
        self.connection
            .prepare_cached(&format!(
                "SELECT {column} FROM tidings_goals WHERE session_key = ?1 AND agent_id = ?2"
            ))
            .and_then(|mut statement| {
                statement
                    .query_map([session.as_str(), agent.as_str()], |row| row.get(0))?
                    .next()
                    .transpose()
            })
            .tried("read a goal")
    }
}

fn pending_of(
    connection: &rusqlite::Connection,
    watcher: &SessionKey,
) -> Result<Vec<Cursor>, JournalError> {
    let sql = format!(
        "SELECT {} FROM session_watch_cursors WHERE watcher_session_key = ?1 AND material_sequence > last_seen_sequence \
         ORDER BY rowid",
        rows::CURSOR
    );
    let mut statement =
        connection.prepare_cached(&sql).tried("read the open notices of a session")?;
    let found = statement.query_map([watcher.as_str()], rows::cursor).and_then(Iterator::collect);
    found.tried("read the open notices of a session")
}

fn messages_of(
    connection: &rusqlite::Connection,
    receiver: &SessionKey,
) -> Result<Vec<Message>, JournalError> {
    let mut statement = connection
        .prepare_cached("SELECT sender_key, body, sent_at FROM tidings_inbox WHERE receiver_key = ?1 ORDER BY id")
        .tried("read the messages of a session")?;
    let found = statement
        .query_map([receiver.as_str()], |row| {
            Ok(Message { sender: rows::key(row, 0)?, body: row.get(1)?, sent_at: row.get(2)? })
        })
        .and_then(Iterator::collect);
    found.tried("read the messages of a session")
}

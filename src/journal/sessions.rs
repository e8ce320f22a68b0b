//! The registry of sessions: which exist, as verbs, adoption and hooks named them. The sweep asks it who lives.

use std::collections::HashSet;

use rusqlite::{Connection, params};

use super::error::{JournalError, Tried};
use super::{Journal, Reader};
use crate::clock::Millis;
use crate::session_key::{AgentId, SessionKey};

/// What is known of a session beside its key. Absent fields leave what is stored as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionFacts {
    /// The session that spawned it.
    pub parent: Option<SessionKey>,
    /// A title for people.
    pub title: Option<String>,
    /// The harness that runs it.
    pub harness: Option<String>,
    /// The harness's own id of it.
    pub session_id: Option<String>,
}

/// Registers a session inside the caller's transaction or connection.
pub(super) fn register(
    connection: &Connection,
    session: &SessionKey,
    agent: &AgentId,
    facts: &SessionFacts,
    now: Millis,
) -> Result<(), JournalError> {
    connection
        .prepare_cached(
            "INSERT INTO tidings_sessions (session_key, agent_id, parent_key, title, harness, session_id, created_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) \
             ON CONFLICT (session_key) DO UPDATE SET parent_key = coalesce(?3, parent_key), title = coalesce(?4, title), \
             harness = coalesce(?5, harness), session_id = coalesce(?6, session_id) \
             WHERE (?3 IS NOT NULL AND parent_key IS NOT ?3) OR (?4 IS NOT NULL AND title IS NOT ?4) \
             OR (?5 IS NOT NULL AND harness IS NOT ?5) OR (?6 IS NOT NULL AND session_id IS NOT ?6)",
        )
        .and_then(|mut statement| {
            statement.execute(params![
                session.as_str(),
                agent.as_str(),
                facts.parent.as_ref().map(SessionKey::as_str),
                facts.title,
                facts.harness,
                facts.session_id,
                now
            ])
        })
        .map(drop)
        .tried("register a session")
}

/// Remembers that a session's run ended, inside the caller's transaction or connection.
pub(super) fn end_session(
    connection: &Connection,
    session: &SessionKey,
    now: Millis,
) -> Result<(), JournalError> {
    connection
        .execute(
            "UPDATE tidings_sessions SET ended_at = ?2 WHERE session_key = ?1",
            params![session.as_str(), now],
        )
        .map(drop)
        .tried("remember that a session ended")
}

impl Reader {
    /// Whether a session is known: registered, or with a head, a link, or a cursor on either side.
    pub fn knows(&self, session: &SessionKey) -> Result<bool, JournalError> {
        self.connection
            .prepare_cached(
                "SELECT 1 WHERE EXISTS (SELECT 1 FROM tidings_sessions WHERE session_key = ?1) \
                 OR EXISTS (SELECT 1 FROM session_state_heads WHERE session_key = ?1) \
                 OR EXISTS (SELECT 1 FROM session_upstream_links WHERE session_key = ?1) \
                 OR EXISTS (SELECT 1 FROM session_watch_cursors WHERE watcher_session_key = ?1) \
                 OR EXISTS (SELECT 1 FROM session_watch_cursors WHERE target_session_key = ?1)",
            )
            .and_then(|mut statement| statement.exists([session.as_str()]))
            .tried("look a session up")
    }

    /// Every key that something knows: the registry, a head, a link, or a cursor on either side.
    pub fn known_keys(&self) -> Result<HashSet<SessionKey>, JournalError> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT session_key FROM tidings_sessions UNION SELECT session_key FROM session_state_heads \
                 UNION SELECT session_key FROM session_upstream_links UNION SELECT watcher_session_key FROM session_watch_cursors \
                 UNION SELECT target_session_key FROM session_watch_cursors",
            )
            .tried("read the keys of all sessions")?;
        let found =
            statement.query_map([], |row| super::rows::key(row, 0)).and_then(Iterator::collect);
        found.tried("read the keys of all sessions")
    }

    /// When a session's last turn began, as far as is known.
    pub fn last_turn_of(&self, session: &SessionKey) -> Result<Option<Millis>, JournalError> {
        self.connection
            .prepare_cached("SELECT max(last_turn_at) FROM tidings_sessions WHERE session_key = ?1")
            .and_then(|mut statement| statement.query_row([session.as_str()], |row| row.get(0)))
            .tried("look up the last turn of a session")
    }

    /// The session that spawned `session`, when that is known.
    pub fn parent_of(&self, session: &SessionKey) -> Result<Option<SessionKey>, JournalError> {
        self.connection
            .prepare_cached("SELECT parent_key FROM tidings_sessions WHERE session_key = ?1")
            .and_then(|mut statement| {
                statement
                    .query_map([session.as_str()], |row| row.get::<_, Option<String>>(0))?
                    .next()
                    .transpose()
            })
            .map(|parent| parent.flatten().map(SessionKey::new))
            .tried("look up the parent of a session")
    }

    /// Whether some event carries this run id.
    pub fn knows_run(&self, run: &str) -> Result<bool, JournalError> {
        self.connection
            .prepare_cached(
                "SELECT 1 FROM session_state_events WHERE dedupe_key = 'child-spawned:' || ?1",
            )
            .and_then(|mut statement| statement.exists([run]))
            .tried("look a run up")
    }
}

impl Journal {
    /// Registers a session, or adds to what is known of it.
    pub fn register_session(
        &mut self,
        session: &SessionKey,
        agent: &AgentId,
        facts: &SessionFacts,
        now: Millis,
    ) -> Result<(), JournalError> {
        register(&self.connection, session, agent, facts, now)
    }

    /// Takes a session out of the registry; its journal stays.
    pub fn drop_session(&mut self, session: &SessionKey) -> Result<(), JournalError> {
        self.connection
            .execute("DELETE FROM tidings_sessions WHERE session_key = ?1", [session.as_str()])
            .map(drop)
            .tried("take a session out of the registry")
    }

    /// Remembers that a session's run ended.
    pub fn end_session(&mut self, session: &SessionKey, now: Millis) -> Result<(), JournalError> {
        end_session(&self.connection, session, now)
    }
}

//! `changesSince` and versions (`engine.md` 5.3). Reading moves nothing.

use rusqlite::{Connection, params};

use super::error::{JournalError, Tried};
use super::{Reader, rows};
use crate::event::{Changes, Event, EventKind, Sequence};
use crate::session_key::{AgentId, SessionKey};

/// The most events that one answer holds.
pub const PAGE: usize = 200;

/// The state version of a session, 0 when it never had an event.
pub(super) fn head(
    connection: &Connection,
    session: &SessionKey,
    agent: &AgentId,
) -> Result<Sequence, JournalError> {
    connection
        .prepare_cached("SELECT last_sequence FROM session_state_heads WHERE session_key = ?1 AND agent_id = ?2")
        .and_then(|mut statement| {
            statement.query_map([session.as_str(), agent.as_str()], |row| rows::sequence(row, 0))?.next().transpose()
        })
        .map(Option::unwrap_or_default)
        .tried("read a state version")
}

impl Reader {
    /// The state version of a session, 0 when it never had an event.
    pub fn version(&self, session: &SessionKey, agent: &AgentId) -> Result<Sequence, JournalError> {
        head(&self.connection, session, agent)
    }

    /// What changed in a session after `after`: at most `limit` events (1 to [`PAGE`]), oldest first, all read at one moment.
    pub fn changes(
        &self,
        session: &SessionKey,
        agent: &AgentId,
        after: Sequence,
        limit: usize,
    ) -> Result<Changes, JournalError> {
        let limit = limit.clamp(1, PAGE);
        let (marks, mut events) = self.at_one_moment(|connection| {
            let marks = marks(connection, session, agent)?;
            let events = if after < marks.head {
                after_in(connection, session, agent, after, limit + 1)?
            } else {
                Vec::new()
            };
            Ok((marks, events))
        })?;
        let truncated = events.len() > limit;
        events.truncate(limit);
        Ok(Changes {
            events,
            truncated,
            earliest: marks.lowest.unwrap_or(if marks.head.0 > 0 {
                Sequence(marks.head.0 + 1)
            } else {
                Sequence(0)
            }),
            history_gap: after < marks.lost,
            version: marks.head,
        })
    }

    /// Events of all sessions, or of one, after `after`, oldest first; of the given kinds when there are any.
    pub fn events_after(
        &self,
        after: Sequence,
        session: Option<&SessionKey>,
        kinds: &[EventKind],
        limit: usize,
    ) -> Result<Vec<Event>, JournalError> {
        let sql = format!(
            "SELECT {} FROM session_state_events WHERE sequence > ?1 AND (?2 IS NULL OR session_key = ?2) ORDER BY sequence",
            rows::EVENT
        );
        let mut statement = self.connection.prepare_cached(&sql).tried("read events")?;
        let found = statement
            .query_map(params![after.0, session.map(SessionKey::as_str)], rows::event)
            .tried("read events")?
            .filter(|event| {
                kinds.is_empty() || event.as_ref().map_or(true, |event| kinds.contains(&event.kind))
            })
            .take(limit)
            .collect::<rusqlite::Result<_>>();
        found.tried("read events")
    }
}

impl Reader {
    /// An event by its number, of whatever session.
    pub fn event(&self, sequence: Sequence) -> Result<Option<Event>, JournalError> {
        self.one_event("sequence = ?1", sequence.0)
    }

    /// The event that owns a dedupe key.
    pub fn event_of_dedupe_key(&self, key: &str) -> Result<Option<Event>, JournalError> {
        self.one_event("dedupe_key = ?1", key)
    }

    fn one_event(
        &self,
        condition: &str,
        value: impl rusqlite::ToSql,
    ) -> Result<Option<Event>, JournalError> {
        let sql = format!("SELECT {} FROM session_state_events WHERE {condition}", rows::EVENT);
        self.connection
            .prepare_cached(&sql)
            .and_then(|mut statement| statement.query_map([value], rows::event)?.next().transpose())
            .tried("read an event")
    }

    /// The newest events under a key, whatever their agent, oldest first.
    pub fn newest_events_of(
        &self,
        session: &SessionKey,
        limit: usize,
    ) -> Result<Vec<Event>, JournalError> {
        let sql = format!(
            "SELECT {} FROM session_state_events WHERE session_key = ?1 ORDER BY sequence DESC LIMIT ?2",
            rows::EVENT
        );
        let mut statement =
            self.connection.prepare_cached(&sql).tried("read the events of a session")?;
        let mut found: Vec<_> = statement
            .query_map(
                params![session.as_str(), i64::try_from(limit).unwrap_or(i64::MAX)],
                rows::event,
            )
            .and_then(Iterator::collect)
            .tried("read the events of a session")?;
        found.reverse();
        Ok(found)
    }

    /// The state version under a key, and up to where its history is lost to pruning or deletion, over all its agents.
    pub fn marks_of_key(&self, session: &SessionKey) -> Result<(Sequence, Sequence), JournalError> {
        self.connection
            .prepare_cached(
                "SELECT (SELECT coalesce(max(last_sequence), 0) FROM session_state_heads WHERE session_key = ?1), \
                 max((SELECT coalesce(max(pruned_max_sequence), 0) FROM session_state_heads WHERE session_key = ?1), \
                 (SELECT coalesce(max(last_sequence), 0) FROM tidings_tombstones WHERE session_key = ?1))",
            )
            .and_then(|mut statement| {
                statement.query_row([session.as_str()], |row| {
                    Ok((rows::sequence(row, 0)?, rows::sequence(row, 1)?))
                })
            })
            .tried("read the watermarks of a session")
    }

    /// The newest number that was ever given, whether its event is retained or not.
    pub fn newest_number(&self) -> Result<Sequence, JournalError> {
        self.connection
            .prepare_cached(
                "SELECT max((SELECT coalesce(max(sequence), 0) FROM session_state_events), \
                 (SELECT coalesce(max(seq), 0) FROM main.sqlite_sequence WHERE name = 'session_state_events'))",
            )
            .and_then(|mut statement| statement.query_row([], |row| rows::sequence(row, 0)))
            .tried("read the newest number")
    }
}

/// The watermarks of a session: its head, and up to where its history is lost to pruning or deletion.
struct Marks {
    head: Sequence,
    lost: Sequence,
    /// The lowest number that it retains.
    lowest: Option<Sequence>,
}

fn marks(
    connection: &Connection,
    session: &SessionKey,
    agent: &AgentId,
) -> Result<Marks, JournalError> {
    connection
        .prepare_cached(
            "SELECT coalesce(max(last_sequence), 0), max(coalesce(max(pruned_max_sequence), 0), \
             coalesce((SELECT last_sequence FROM tidings_tombstones WHERE session_key = ?1 AND agent_id = ?2), 0)), \
             (SELECT sequence FROM session_state_events WHERE session_key = ?1 AND agent_id = ?2 ORDER BY sequence LIMIT 1) \
             FROM session_state_heads WHERE session_key = ?1 AND agent_id = ?2",
        )
        .and_then(|mut statement| {
            statement.query_row([session.as_str(), agent.as_str()], |row| {
                Ok(Marks {
                    head: rows::sequence(row, 0)?,
                    lost: rows::sequence(row, 1)?,
                    lowest: row.get::<_, Option<i64>>(2)?.map(Sequence),
                })
            })
        })
        .tried("read the watermarks of a session")
}

fn after_in(
    connection: &Connection,
    session: &SessionKey,
    agent: &AgentId,
    after: Sequence,
    limit: usize,
) -> Result<Vec<Event>, JournalError> {
    let mut statement = connection
        .prepare_cached(
            "SELECT sequence, session_id, kind, actor_type, actor_id, run_id, occurred_at, summary, payload_json \
             FROM session_state_events WHERE session_key = ?1 AND agent_id = ?2 AND sequence > ?3 ORDER BY sequence LIMIT ?4",
        )
        .tried("read the changes of a session")?;
    let parameters = params![
        session.as_str(),
        agent.as_str(),
        after.0,
        i64::try_from(limit).unwrap_or(i64::MAX)
    ];
    let mut events = Vec::with_capacity(limit);
    let mut read = || {
        let mut rows = statement.query(parameters)?;
        while let Some(row) = rows.next()? {
            events.push(rows::event_of(row, session.clone(), agent.clone())?);
        }
        Ok(())
    };
    read().tried("read the changes of a session")?;
    Ok(events)
}

//! What a snapshot is made of: everything a surface may show, read at one moment.

use std::collections::HashMap;

use rusqlite::{Connection, params};

use super::error::{JournalError, Tried};
use super::owner::{StoredPulse, StoredWake};
use super::pairs::{NumberedCursor, PairHistories, PairHistory};
use super::sessions::SessionFacts;
use super::{Reader, rows};
use crate::clock::Millis;
use crate::event::{Event, Sequence};
use crate::session_key::{AgentId, SessionKey};
use crate::upstream_link::UpstreamLink;

/// Everything a snapshot needs.
#[derive(Debug)]
pub struct Overview {
    /// How many events are retained.
    pub rows: u64,
    /// The lowest retained number.
    pub min: Option<Sequence>,
    /// The highest retained number.
    pub max: Option<Sequence>,
    /// The registry.
    pub registered: Vec<Registered>,
    /// All heads.
    pub heads: Vec<Head>,
    /// All cursors, in no order.
    pub cursors: Vec<NumberedCursor>,
    /// All links with what the monitor last found.
    pub links: Vec<(UpstreamLink, Option<LinkState>)>,
    /// The newest event of each session.
    pub last_events: HashMap<(SessionKey, AgentId), Event>,
    /// The newest events, oldest first, with what became of them: queued, coalesced, suppressed.
    pub events: Vec<(Event, [u32; 3])>,
    /// Times of events since `activity_from`, by session.
    pub activity: Vec<(SessionKey, AgentId, Millis)>,
    /// Messages that wait, by receiver.
    pub messages: HashMap<SessionKey, usize>,
    /// Sessions with a goal.
    pub goals: Vec<(SessionKey, AgentId)>,
    /// All wakes.
    pub wakes: Vec<StoredWake>,
    /// The monitor's pulse.
    pub pulse: Option<StoredPulse>,
    /// The process that last wrote itself down as the owner.
    pub owner: Option<u32>,
}

/// A session of the registry.
#[derive(Debug, Clone)]
pub struct Registered {
    /// Its key.
    pub key: SessionKey,
    /// Its owner.
    pub agent: AgentId,
    /// What is known of it.
    pub facts: SessionFacts,
    /// When its last turn began.
    pub last_turn_at: Option<Millis>,
    /// When it ended.
    pub ended_at: Option<Millis>,
}

/// A head.
#[derive(Debug, Clone)]
pub struct Head {
    /// The session.
    pub key: SessionKey,
    /// Its owner.
    pub agent: AgentId,
    /// Its state version.
    pub last: Sequence,
    /// Its pruned watermark.
    pub pruned: Sequence,
    /// When the row last changed.
    pub updated_at: Millis,
}

/// What the monitor last found behind a link.
#[derive(Debug, Clone)]
pub struct LinkState {
    /// In a word.
    pub outcome: String,
    /// More about it.
    pub detail: Option<String>,
    /// When.
    pub outcome_at: Millis,
    /// How often in a row the source was missing.
    pub missing_streak: u8,
}

impl Reader {
    /// All heads, by session and agent.
    pub fn heads(&self) -> Result<Vec<Head>, JournalError> {
        heads(&self.connection)
    }

    /// How many events are retained, and the lowest and highest of their numbers.
    pub fn extent(&self) -> Result<(u64, Option<Sequence>, Option<Sequence>), JournalError> {
        extent(&self.connection)
    }

    /// Reads everything at one moment: the newest `events` events, activity since `activity_from`. Sessions are numbered as in
    /// `histories`.
    pub fn overview(
        &mut self,
        histories: &mut PairHistories,
        events: usize,
        activity_from: Millis,
    ) -> Result<Overview, JournalError> {
        let owner = self.owner()?;
        let pulse = self.pulse()?;
        let wakes = self.wakes()?;
        let transaction = self.read()?;
        let (rows, min, max) = extent(&transaction)?;
        let overview = Overview {
            rows,
            min,
            max,
            registered: registered(&transaction)?,
            heads: heads(&transaction)?,
            cursors: collect(
                &transaction,
                &format!("SELECT {} FROM session_watch_cursors", rows::CURSOR),
                [],
                |row| histories.cursor_in(row),
            )?,
            links: links(&transaction)?,
            last_events: last_events(&transaction)?,
            events: newest(&transaction, events)?,
            activity: collect(
                &transaction,
                "SELECT session_key, agent_id, occurred_at FROM session_state_events WHERE occurred_at >= ?1",
                [activity_from],
                |row| Ok((histories.key_in(row, 0)?, rows::agent(row, 1)?, rows::time(row, 2)?)),
            )?,
            messages: collect(
                &transaction,
                "SELECT receiver_key, count(*) FROM tidings_inbox GROUP BY receiver_key",
                [],
                |row| Ok((rows::key(row, 0)?, row.get(1)?)),
            )?
            .into_iter()
            .collect(),
            goals: collect(
                &transaction,
                "SELECT session_key, agent_id FROM tidings_goals",
                [],
                |row| Ok((rows::key(row, 0)?, rows::agent(row, 1)?)),
            )?,
            wakes,
            pulse,
            owner,
        };
        transaction.finish().tried("read the state")?;
        Ok(overview)
    }

    /// Reads what the ledger holds since `histories` was last brought up to date. Another system has no ledger: what its
    /// cursors and events imply takes its place.
    pub fn catch_up(&self, histories: &mut PairHistories) -> Result<(), JournalError> {
        if self.is_foreign() {
            return self.imply(histories);
        }
        let sql = "SELECT watcher_key, target_key, coalesce(max(last_seen), 0), \
                   max(iif(step IN ('queued', 'follow-up'), at, NULL)), max(id) FROM tidings_ledger \
                   WHERE id > ?1 AND watcher_key IS NOT NULL AND target_key IS NOT NULL GROUP BY target_key, watcher_key";
        let found = collect(&self.connection, sql, [histories.read_up_to], |row| {
            let history =
                PairHistory { furthest_seen: rows::sequence(row, 2)?, opened_at: row.get(3)? };
            let (watcher, target) = (histories.id_in(row, 0)?, histories.id_in(row, 1)?);
            Ok((watcher, target, history, row.get::<_, i64>(4)?))
        })?;
        for (watcher, target, history, id) in found {
            let known = histories.entry(watcher, target);
            known.furthest_seen = known.furthest_seen.max(history.furthest_seen);
            known.opened_at = known.opened_at.max(history.opened_at);
            histories.read_up_to = histories.read_up_to.max(id);
        }
        Ok(())
    }

    /// A notice of another system opened with the event at which it is frozen.
    fn imply(&self, histories: &mut PairHistories) -> Result<(), JournalError> {
        let sql = "SELECT c.watcher_session_key, c.target_session_key, c.last_seen_sequence, e.occurred_at \
                   FROM session_watch_cursors c LEFT JOIN session_state_events e ON e.sequence = c.notified_sequence \
                   AND c.material_sequence > c.last_seen_sequence";
        let found = collect(&self.connection, sql, [], |row| {
            let (watcher, target) = (histories.id_in(row, 0)?, histories.id_in(row, 1)?);
            Ok((watcher, target, rows::sequence(row, 2)?, rows::some_time(row, 3)?))
        })?;
        for (watcher, target, seen, opened_at) in found {
            let known = histories.entry(watcher, target);
            known.furthest_seen = known.furthest_seen.max(seen);
            known.opened_at = opened_at;
        }
        Ok(())
    }

    /// What became of a material event: queued, coalesced, suppressed.
    pub fn delivery(&self, sequence: Sequence) -> Result<[u32; 3], JournalError> {
        self.connection
            .prepare_cached(
                "SELECT queued, coalesced, suppressed FROM tidings_deliveries WHERE sequence = ?1",
            )
            .and_then(|mut statement| {
                statement
                    .query_map([sequence.0], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]))?
                    .next()
                    .transpose()
            })
            .map(Option::unwrap_or_default)
            .tried("read what became of an event")
    }

    /// How many human turns the journal holds for a session after `after`, up to `until`.
    pub fn human_turns_after(
        &self,
        session: &SessionKey,
        after: Sequence,
        until: Sequence,
    ) -> Result<u64, JournalError> {
        self.connection
            .prepare_cached(
                "SELECT coalesce(sum(iif(json_valid(payload_json), coalesce(payload_json ->> '$.turns', 1), 1)), 0) \
                 FROM session_state_events WHERE session_key = ?1 AND sequence > ?2 AND sequence <= ?3 AND kind = 'human_direct_message'",
            )
            .and_then(|mut statement| statement.query_row(params![session.as_str(), after.0, until.0], |row| row.get(0)))
            .tried("count the turns of a session")
    }
}

pub(super) fn collect<T>(
    connection: &Connection,
    sql: &str,
    parameters: impl rusqlite::Params,
    row: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, JournalError> {
    let mut statement = connection.prepare_cached(sql).tried("read the state")?;
    let found = statement.query_map(parameters, row).and_then(Iterator::collect);
    found.tried("read the state")
}

fn extent(
    connection: &Connection,
) -> Result<(u64, Option<Sequence>, Option<Sequence>), JournalError> {
    connection
        .prepare_cached(
            "SELECT (SELECT count(*) FROM session_state_events), (SELECT min(sequence) FROM session_state_events), \
             (SELECT max(sequence) FROM session_state_events)",
        )
        .and_then(|mut statement| {
            statement.query_row([], |row| {
                let number = |column| row.get::<_, Option<i64>>(column).map(|number| number.map(Sequence));
                Ok((row.get(0)?, number(1)?, number(2)?))
            })
        })
        .tried("measure the journal")
}

fn heads(connection: &Connection) -> Result<Vec<Head>, JournalError> {
    let sql = "SELECT session_key, agent_id, last_sequence, pruned_max_sequence, updated_at FROM session_state_heads \
               ORDER BY session_key, agent_id";
    collect(connection, sql, [], |row| {
        Ok(Head {
            key: rows::key(row, 0)?,
            agent: rows::agent(row, 1)?,
            last: rows::sequence(row, 2)?,
            pruned: rows::sequence(row, 3)?,
            updated_at: rows::time(row, 4)?,
        })
    })
}

fn registered(connection: &Connection) -> Result<Vec<Registered>, JournalError> {
    let sql = "SELECT session_key, agent_id, parent_key, title, harness, session_id, last_turn_at, ended_at FROM tidings_sessions \
               ORDER BY session_key";
    collect(connection, sql, [], |row| {
        Ok(Registered {
            key: rows::key(row, 0)?,
            agent: rows::agent(row, 1)?,
            facts: SessionFacts {
                parent: row.get::<_, Option<String>>(2)?.map(SessionKey::new),
                title: row.get(3)?,
                harness: row.get(4)?,
                session_id: row.get(5)?,
            },
            last_turn_at: row.get(6)?,
            ended_at: row.get(7)?,
        })
    })
}

fn links(connection: &Connection) -> Result<Vec<(UpstreamLink, Option<LinkState>)>, JournalError> {
    let links = collect(
        connection,
        &format!(
            "SELECT {} FROM session_upstream_links ORDER BY session_key, agent_id",
            rows::LINK
        ),
        [],
        rows::link,
    )?;
    let sql = "SELECT session_key, agent_id, outcome, detail, outcome_at, missing_streak FROM tidings_link_states";
    let mut states: HashMap<_, _> = collect(connection, sql, [], |row| {
        let state = LinkState {
            outcome: row.get(2)?,
            detail: row.get(3)?,
            outcome_at: row.get(4)?,
            missing_streak: row.get(5)?,
        };
        Ok(((rows::key(row, 0)?, rows::agent(row, 1)?), state))
    })?
    .into_iter()
    .collect();
    Ok(links
        .into_iter()
        .map(|link| {
            let state = states.remove(&(link.session.clone(), link.agent.clone()));
            (link, state)
        })
        .collect())
}

fn last_events(
    connection: &Connection,
) -> Result<HashMap<(SessionKey, AgentId), Event>, JournalError> {
    let columns = rows::EVENT
        .split(", ")
        .map(|column| format!("e.{}", column.trim()))
        .collect::<Vec<_>>()
        .join(", ");
    let sql = format!(
        "SELECT {columns} FROM session_state_heads h JOIN session_state_events e ON e.sequence = h.last_sequence \
         AND e.session_key = h.session_key"
    );
    Ok(collect(connection, &sql, [], rows::event)?
        .into_iter()
        .map(|event| ((event.session.clone(), event.agent.clone()), event))
        .collect())
}

fn newest(connection: &Connection, limit: usize) -> Result<Vec<(Event, [u32; 3])>, JournalError> {
    newest_up_to(connection, Sequence(i64::MAX), limit)
}

/// The newest events up to `last`, oldest first, with what became of each.
pub(super) fn newest_up_to(
    connection: &Connection,
    last: Sequence,
    limit: usize,
) -> Result<Vec<(Event, [u32; 3])>, JournalError> {
    let columns = rows::EVENT
        .split(", ")
        .map(|column| format!("e.{}", column.trim()))
        .collect::<Vec<_>>()
        .join(", ");
    let sql = format!(
        "SELECT coalesce(d.queued, 0), coalesce(d.coalesced, 0), coalesce(d.suppressed, 0), {columns} FROM session_state_events e \
         LEFT JOIN tidings_deliveries d ON d.sequence = e.sequence WHERE e.sequence <= ?2 ORDER BY e.sequence DESC LIMIT ?1"
    );
    let mut events =
        collect(connection, &sql, [i64::try_from(limit).unwrap_or(i64::MAX), last.0], |row| {
            Ok((rows::event_at(row, 3)?, [row.get(0)?, row.get(1)?, row.get(2)?]))
        })?;
    events.reverse();
    Ok(events)
}

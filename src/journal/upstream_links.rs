//! Upstream links, their markers and what the monitor found behind them (`upstream.md` 1.3, 2.4 to 2.7, 6).

use rusqlite::{Connection, Transaction, params};
use serde_json::Value;

use super::append::{Appended, Gate, append_in};
use super::cursors::is_watched;
use super::error::{JournalError, Tried};
use super::sessions::{SessionFacts, end_session, register};
use super::{Journal, Reader, rows};
use crate::clock::Millis;
use crate::event::NewEvent;
use crate::session_key::{AgentId, SessionKey};
use crate::upstream_link::{NewLink, UpstreamLink};

/// The source is declared missing at this many misses in a row.
pub const MISSING_THRESHOLD: u8 = 3;

/// A hash of a foreign record's id, as the upstream part makes it.
pub type RecordHash = [u8; 16];

/// What became of an outcome that was to be settled.
#[derive(Debug)]
pub enum Settled {
    /// The marker moved, and the event about human turns was recorded if there was one, and those about facts that were new.
    Moved(Appended, Vec<Appended>),
    /// The link is no longer the one that was probed: nothing was written.
    LinkChanged,
    /// Nobody watches the session any more: nothing was written, so that the same turns are found again.
    Unwatched,
    /// The source was missing again: how often in a row. At the threshold the event was recorded and the link is gone.
    Missing(u8, Appended),
}

/// What a probe found, to be settled in one transaction.
#[derive(Debug)]
pub struct Settlement<'a> {
    /// The link as it was probed.
    pub link: &'a UpstreamLink,
    /// The marker to move to.
    pub marker: &'a Value,
    /// The thread and the ref to follow to, when the source moved.
    pub moved_to: Option<(&'a str, &'a Value)>,
    /// Hashes of the records that would count as turns, in order; `None` for one without an id.
    pub turns: &'a [Option<RecordHash>],
    /// What else happened, in order.
    pub facts: &'a [NewFact],
    /// The outcome in a word, and more about it.
    pub outcome: (&'a str, Option<String>),
}

/// Something that a source tells beside human turns, to be recorded unless it was before.
#[derive(Debug, Clone)]
pub struct NewFact {
    /// By which it is counted once.
    pub record: RecordHash,
    /// The event.
    pub event: NewEvent,
    /// What is known of the session that the event is about, when that is not the link's own: it is registered.
    pub child: Option<SessionFacts>,
    /// Whether that session has ended with it.
    pub ends: bool,
}

impl Reader {
    /// All links, by session and agent.
    pub fn links(&self) -> Result<Vec<UpstreamLink>, JournalError> {
        links_where(&self.connection, "TRUE ORDER BY session_key, agent_id")
    }

    /// The link of a session.
    pub fn link(
        &self,
        session: &SessionKey,
        agent: &AgentId,
    ) -> Result<Option<UpstreamLink>, JournalError> {
        link_of(&self.connection, session, agent)
    }

    /// The links whose session has a watcher, by catalog and session; and those left out because their key is linked under two
    /// agents, which the cursors, knowing only the key, can't tell apart.
    pub fn watched_links(&self) -> Result<(Vec<UpstreamLink>, Vec<UpstreamLink>), JournalError> {
        let all = links_where(
            &self.connection,
            "session_key IN (SELECT target_session_key FROM session_watch_cursors) ORDER BY catalog_id, session_key",
        )?;
        let mut uses = std::collections::HashMap::new();
        for link in &all {
            *uses.entry(link.session.clone()).or_insert(0_u32) += 1;
        }
        Ok(all.into_iter().partition(|link| uses[&link.session] == 1))
    }
}

impl Journal {
    /// Writes the link of an adopted session; true when there was none. The same source keeps its marker; another one starts at
    /// the given marker. Refs are compared as values, so that the order of their fields means nothing.
    pub fn put_link(&mut self, link: &NewLink, now: Millis) -> Result<bool, JournalError> {
        let transaction = self.write()?;
        let stored = link_of(&transaction, &link.session, &link.agent)?;
        let same_source = stored.as_ref().is_some_and(|stored| {
            stored.host == link.host
                && stored.thread == link.thread
                && stored.kind == link.kind
                && stored.reference_json() == link.reference
        });
        let is_new = stored.is_none();
        let text = |value: &Option<Value>| value.as_ref().map(Value::to_string);
        let (marker, scanned_at) = match &stored {
            Some(stored) if same_source => (stored.marker.clone(), stored.scanned_at),
            _ => (text(&link.marker), None),
        };
        let reference = match stored {
            Some(stored) if same_source => stored.reference,
            _ => text(&link.reference),
        };
        transaction
            .execute(
                "INSERT INTO session_upstream_links (session_key, agent_id, catalog_id, host_id, thread_id, upstream_kind, \
                 upstream_ref_json, last_marker_json, last_scanned_at, created_at, updated_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?10) \
                 ON CONFLICT (session_key, agent_id) DO UPDATE SET catalog_id = ?3, host_id = ?4, thread_id = ?5, \
                 upstream_kind = ?6, upstream_ref_json = ?7, last_marker_json = ?8, last_scanned_at = ?9, updated_at = ?10",
                params![
                    link.session.as_str(),
                    link.agent.as_str(),
                    link.catalog,
                    link.host,
                    link.thread,
                    link.kind,
                    reference,
                    marker,
                    scanned_at,
                    now
                ],
            )
            .tried("write an upstream link")?;
        transaction.commit().tried("write an upstream link")?;
        Ok(is_new)
    }

    /// Moves a link's marker; false when there is no such link, or it was updated since `expected_updated_at`.
    pub fn set_marker(
        &mut self,
        session: &SessionKey,
        agent: &AgentId,
        marker: &Value,
        expected_updated_at: Option<Millis>,
        now: Millis,
    ) -> Result<bool, JournalError> {
        self.connection
            .execute(
                "UPDATE session_upstream_links SET last_marker_json = ?3, last_scanned_at = ?4, updated_at = ?4 \
                 WHERE session_key = ?1 AND agent_id = ?2 AND (?5 IS NULL OR updated_at = ?5)",
                params![session.as_str(), agent.as_str(), marker.to_string(), now, expected_updated_at],
            )
            .map(|rows| rows > 0)
            .tried("move an upstream marker")
    }

    /// Deletes a link; false when there was none.
    pub fn delete_link(
        &mut self,
        session: &SessionKey,
        agent: &AgentId,
    ) -> Result<bool, JournalError> {
        let transaction = self.write()?;
        let deleted = remove_link(&transaction, session, agent)?;
        transaction.commit().tried("delete an upstream link")?;
        Ok(deleted)
    }

    /// Settles what a probe read: records the turns that were not counted before and moves the marker, in one transaction.
    /// `event` makes the event for a number of turns; it is not asked when nothing counts.
    pub fn settle_read(
        &mut self,
        settlement: &Settlement<'_>,
        event: impl FnOnce(u32) -> NewEvent,
        now: Millis,
    ) -> Result<Settled, JournalError> {
        let run_end_notifies = self.run_end_notifies;
        let link = settlement.link;
        let transaction = self.write()?;
        if link_of(&transaction, &link.session, &link.agent)?.as_ref() != Some(link) {
            return Ok(Settled::LinkChanged);
        }
        if !settlement.facts.is_empty() && !is_watched(&transaction, &link.session)? {
            return Ok(Settled::Unwatched);
        }
        let mut turns = 0;
        for record in settlement.turns {
            turns += u32::from(count_record(&transaction, link, record.as_ref(), now)?);
        }
        let mut appended = Appended::default();
        if turns > 0 {
            let mut event = event(turns);
            appended = append_in(&transaction, &event, Gate::Watched, run_end_notifies, now)?;
            if appended.deduped {
                // The marker moves with the event, so these turns were never recorded: the key is that of an earlier file
                // at the same place, which ended at the same byte.
                event.dedupe = event.dedupe.map(|key| format!("{key}:{}", link.updated_at));
                appended = append_in(&transaction, &event, Gate::Watched, run_end_notifies, now)?;
            }
            if appended.is_shut_out() {
                return Ok(Settled::Unwatched);
            }
        }
        let mut facts = Vec::new();
        for fact in settlement.facts {
            facts.extend(record_fact(&transaction, link, fact, run_end_notifies, now)?);
        }
        let (thread, reference) = settlement.moved_to.unzip();
        transaction
            .execute(
                "UPDATE session_upstream_links SET last_marker_json = ?3, last_scanned_at = ?4, updated_at = ?4, \
                 thread_id = coalesce(?5, thread_id), upstream_ref_json = coalesce(?6, upstream_ref_json) \
                 WHERE session_key = ?1 AND agent_id = ?2",
                params![
                    link.session.as_str(),
                    link.agent.as_str(),
                    settlement.marker.to_string(),
                    now,
                    thread,
                    reference.map(Value::to_string)
                ],
            )
            .tried("move an upstream marker")?;
        let (outcome, detail) = &settlement.outcome;
        let outcome = if *outcome == "activity" && turns == 0 { "quiet" } else { outcome };
        write_state(&transaction, link, outcome, detail.as_deref(), None, now)?;
        transaction.commit().tried("settle an upstream outcome")?;
        Ok(Settled::Moved(appended, facts))
    }

    /// Settles a miss: one more in the streak, which belongs to this source and this row; at the threshold, the event is
    /// recorded and the link goes, in one transaction. `reason` is what is known of how the source went.
    pub fn settle_missing(
        &mut self,
        link: &UpstreamLink,
        event: &NewEvent,
        reason: Option<&str>,
        now: Millis,
    ) -> Result<Settled, JournalError> {
        let run_end_notifies = self.run_end_notifies;
        let transaction = self.write()?;
        if link_of(&transaction, &link.session, &link.agent)?.as_ref() != Some(link) {
            clear_streak(&transaction, link)?;
            transaction.commit().tried("settle an upstream outcome")?;
            return Ok(Settled::LinkChanged);
        }
        let streak = (streak(&transaction, link)? + 1).min(MISSING_THRESHOLD);
        if streak < MISSING_THRESHOLD {
            write_state(&transaction, link, "missing", reason, Some(streak), now)?;
            transaction.commit().tried("settle an upstream outcome")?;
            return Ok(Settled::Missing(streak, Appended::default()));
        }
        let appended = append_in(&transaction, event, Gate::Open, run_end_notifies, now)?;
        remove_link(&transaction, &link.session, &link.agent)?;
        transaction.commit().tried("settle an upstream outcome")?;
        Ok(Settled::Missing(streak, appended))
    }

    /// Remembers an outcome that moves nothing, unless the link is no longer the one that was probed. A source that was reached,
    /// if only to be unreadable, ends a streak of misses when `ends_streak` says so.
    pub fn write_outcome(
        &mut self,
        link: &UpstreamLink,
        outcome: &str,
        detail: Option<&str>,
        ends_streak: bool,
        now: Millis,
    ) -> Result<(), JournalError> {
        let transaction = self.write()?;
        let streak = if ends_streak { None } else { Some(streak(&transaction, link)?) };
        write_state_of_probed(&transaction, link, outcome, detail, streak, now)?;
        transaction.commit().tried("remember an upstream outcome")
    }

    /// Clears the streaks of misses of sources that nobody watches: they are not checked any more, so what comes later does not
    /// follow on them.
    pub fn clear_unwatched_streaks(&mut self) -> Result<(), JournalError> {
        const UNWATCHED: &str = "missing_streak > 0 AND session_key NOT IN (SELECT target_session_key FROM session_watch_cursors)";
        let any = self
            .connection
            .prepare_cached(&format!("SELECT 1 FROM tidings_link_states WHERE {UNWATCHED} LIMIT 1"))
            .and_then(|mut statement| statement.exists([]))
            .tried("look for streaks that nobody watches")?;
        if any {
            self.connection
                .execute(
                    &format!(
                        "UPDATE tidings_link_states SET missing_streak = 0, streak_source = NULL WHERE {UNWATCHED}"
                    ),
                    [],
                )
                .tried("clear streaks that nobody watches")?;
        }
        Ok(())
    }
}

fn link_of(
    connection: &Connection,
    session: &SessionKey,
    agent: &AgentId,
) -> Result<Option<UpstreamLink>, JournalError> {
    let sql = format!(
        "SELECT {} FROM session_upstream_links WHERE session_key = ?1 AND agent_id = ?2",
        rows::LINK
    );
    connection
        .prepare_cached(&sql)
        .and_then(|mut statement| {
            statement.query_map([session.as_str(), agent.as_str()], rows::link)?.next().transpose()
        })
        .tried("read an upstream link")
}

fn links_where(
    connection: &Connection,
    condition: &str,
) -> Result<Vec<UpstreamLink>, JournalError> {
    let sql = format!("SELECT {} FROM session_upstream_links WHERE {condition}", rows::LINK);
    let mut statement = connection.prepare_cached(&sql).tried("read upstream links")?;
    let found = statement.query_map([], rows::link).and_then(Iterator::collect);
    found.tried("read upstream links")
}

fn remove_link(
    transaction: &Transaction<'_>,
    session: &SessionKey,
    agent: &AgentId,
) -> Result<bool, JournalError> {
    let pair = params![session.as_str(), agent.as_str()];
    transaction
        .execute("DELETE FROM tidings_link_states WHERE session_key = ?1 AND agent_id = ?2", pair)
        .tried("delete an upstream link")?;
    transaction
        .execute(
            "DELETE FROM session_upstream_links WHERE session_key = ?1 AND agent_id = ?2",
            pair,
        )
        .map(|rows| rows > 0)
        .tried("delete an upstream link")
}

/// Counts a record once: not when this session counted it, and not when it is a copy of a record counted in another thread.
/// Two sessions on one thread each count it. A record without an id always counts.
fn count_record(
    transaction: &Transaction<'_>,
    link: &UpstreamLink,
    record: Option<&RecordHash>,
    now: Millis,
) -> Result<bool, JournalError> {
    let Some(record) = record else { return Ok(true) };
    let known = transaction
        .prepare_cached(
            "SELECT 1 FROM tidings_counted_records WHERE record_hash = ?1 AND (session_key = ?2 OR thread_id <> ?3) LIMIT 1",
        )
        .and_then(|mut statement| statement.exists(params![record, link.session.as_str(), link.thread]))
        .tried("ask whether a record was counted")?;
    if known {
        return Ok(false);
    }
    transaction
        .prepare_cached(
            "INSERT INTO tidings_counted_records (record_hash, session_key, thread_id, counted_at) VALUES (?1, ?2, ?3, ?4)",
        )
        .and_then(|mut statement| statement.execute(params![record, link.session.as_str(), link.thread, now]))
        .tried("remember that a record was counted")?;
    Ok(true)
}

/// Records a fact unless it was before: registers the session that it is about, and appends its event.
fn record_fact(
    transaction: &Transaction<'_>,
    link: &UpstreamLink,
    fact: &NewFact,
    run_end_notifies: bool,
    now: Millis,
) -> Result<Option<Appended>, JournalError> {
    if !count_record(transaction, link, Some(&fact.record), now)? {
        return Ok(None);
    }
    let event = &fact.event;
    if let Some(child) = &fact.child {
        register(transaction, &event.session, &event.agent, child, now)?;
    }
    let appended = append_in(transaction, event, Gate::Open, run_end_notifies, now)?;
    if fact.ends {
        end_session(transaction, &event.session, now)?;
    }
    Ok(Some(appended))
}

/// How often in a row this source was missing. A streak of another source, or from before the link was refreshed, is none.
fn streak(connection: &Connection, link: &UpstreamLink) -> Result<u8, JournalError> {
    connection
        .prepare_cached(
            "SELECT missing_streak FROM tidings_link_states WHERE session_key = ?1 AND agent_id = ?2 AND streak_source = ?3 \
             AND streak_link_updated_at = ?4",
        )
        .and_then(|mut statement| {
            let parameters = params![link.session.as_str(), link.agent.as_str(), link.source16(), link.updated_at];
            statement.query_map(parameters, |row| row.get(0))?.next().transpose()
        })
        .map(Option::unwrap_or_default)
        .tried("read a missing streak")
}

fn clear_streak(transaction: &Transaction<'_>, link: &UpstreamLink) -> Result<(), JournalError> {
    transaction
        .execute(
            "UPDATE tidings_link_states SET missing_streak = 0, streak_source = NULL WHERE session_key = ?1 AND agent_id = ?2",
            params![link.session.as_str(), link.agent.as_str()],
        )
        .map(drop)
        .tried("clear a missing streak")
}

/// Writes the outcome of a probe that moved nothing. A link that was deleted or changed during the probe is left alone: what
/// was found is not about it.
pub(super) fn write_state_of_probed(
    transaction: &Transaction<'_>,
    link: &UpstreamLink,
    outcome: &str,
    detail: Option<&str>,
    streak: Option<u8>,
    now: Millis,
) -> Result<(), JournalError> {
    if link_of(transaction, &link.session, &link.agent)?.as_ref() != Some(link) {
        return Ok(());
    }
    write_state(transaction, link, outcome, detail, streak, now)
}

/// Writes an outcome; `streak` of misses, none when the source was reached.
fn write_state(
    connection: &Connection,
    link: &UpstreamLink,
    outcome: &str,
    detail: Option<&str>,
    streak: Option<u8>,
    now: Millis,
) -> Result<(), JournalError> {
    let streak = streak.filter(|streak| *streak > 0);
    connection
        .prepare_cached(
            "INSERT INTO tidings_link_states (session_key, agent_id, outcome, detail, outcome_at, missing_streak, streak_source, \
             streak_link_updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) \
             ON CONFLICT (session_key, agent_id) DO UPDATE SET outcome = ?3, detail = ?4, outcome_at = ?5, missing_streak = ?6, \
             streak_source = ?7, streak_link_updated_at = ?8",
        )
        .and_then(|mut statement| {
            statement.execute(params![
                link.session.as_str(),
                link.agent.as_str(),
                outcome,
                detail,
                now,
                streak.unwrap_or(0),
                streak.map(|_| link.source16()),
                streak.map(|_| link.updated_at),
            ])
        })
        .map(drop)
        .tried("remember an upstream outcome")
}

//! Cursors: watching, acknowledging, the sweep, reset and delete (`engine.md` 3.3, 4.8, 6, 8).

use rusqlite::{Connection, Transaction, params};

use super::error::{JournalError, Tried};
use super::ledger::{self, Entry, Step};
use super::{Journal, Reader, rows};
use crate::clock::Millis;
use crate::event::Sequence;
use crate::session_key::{AgentId, SessionKey};
use crate::watch::{Cursor, Provenance};

/// What a registration did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Registration {
    /// A cursor was made at the target's head.
    Made,
    /// An ambient cursor became explicit.
    Promoted,
    /// The cursor was there; nothing changed.
    Unchanged,
}

/// What acknowledging one pair did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acknowledged {
    /// The cursor as it is now.
    pub cursor: Cursor,
    /// Whether more had happened, so that exactly one more notice opens, since the cursor's last seen.
    pub follow_up: bool,
}

/// What a deletion took away.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Deleted {
    /// Events of the session.
    pub events: usize,
    /// Cursors that it held or that were on it.
    pub cursors: usize,
    /// Messages that waited for it.
    pub messages: usize,
    /// Whether it had an upstream link.
    pub link: bool,
}

/// Whether some cursor targets the session.
pub(super) fn is_watched(
    connection: &Connection,
    target: &SessionKey,
) -> Result<bool, JournalError> {
    connection
        .prepare_cached("SELECT 1 FROM session_watch_cursors WHERE target_session_key = ?1 LIMIT 1")
        .and_then(|mut statement| statement.exists([target.as_str()]))
        .tried("ask whether a session is watched")
}

fn cursor_of(
    connection: &Connection,
    watcher: &SessionKey,
    target: &SessionKey,
) -> Result<Option<Cursor>, JournalError> {
    let sql = format!(
        "SELECT {} FROM session_watch_cursors WHERE watcher_session_key = ?1 AND target_session_key = ?2",
        rows::CURSOR
    );
    connection
        .prepare_cached(&sql)
        .and_then(|mut statement| {
            statement
                .query_map([watcher.as_str(), target.as_str()], rows::cursor)?
                .next()
                .transpose()
        })
        .tried("read a cursor")
}

fn cursors_where(
    connection: &Connection,
    condition: &str,
    parameters: impl rusqlite::Params,
) -> Result<Vec<Cursor>, JournalError> {
    let sql = format!(
        "SELECT {} FROM session_watch_cursors WHERE {condition} ORDER BY rowid",
        rows::CURSOR
    );
    let mut statement = connection.prepare_cached(&sql).tried("read cursors")?;
    let found = statement.query_map(parameters, rows::cursor).and_then(Iterator::collect);
    found.tried("read cursors")
}

impl Reader {
    /// Whether some cursor targets the session.
    pub fn is_watched(&self, target: &SessionKey) -> Result<bool, JournalError> {
        is_watched(&self.connection, target)
    }

    /// All cursors, in the order in which they were made.
    pub fn cursors(&self) -> Result<Vec<Cursor>, JournalError> {
        cursors_where(&self.connection, "TRUE", [])
    }

    /// The cursor of a pair.
    pub fn cursor(
        &self,
        watcher: &SessionKey,
        target: &SessionKey,
    ) -> Result<Option<Cursor>, JournalError> {
        cursor_of(&self.connection, watcher, target)
    }

    /// The cursors that `watcher` holds, and those on `target`.
    pub fn cursors_around(
        &self,
        watcher: &SessionKey,
        target: &SessionKey,
    ) -> Result<Vec<Cursor>, JournalError> {
        cursors_where(
            &self.connection,
            "(watcher_session_key = ?1 OR target_session_key = ?2)",
            [watcher.as_str(), target.as_str()],
        )
    }

    /// All cursors with an open notice, in the order in which they were made.
    pub fn pending_cursors(&self) -> Result<Vec<Cursor>, JournalError> {
        cursors_where(&self.connection, "material_sequence > last_seen_sequence", [])
    }

    /// The targets of a watcher's ambient cursors, sorted.
    pub fn ambient_targets(&self, watcher: &SessionKey) -> Result<Vec<SessionKey>, JournalError> {
        let found = cursors_where(
            &self.connection,
            "watcher_session_key = ?1 AND provenance = 'ambient-group'",
            [watcher.as_str()],
        )?;
        let mut targets: Vec<_> = found.into_iter().map(|cursor| cursor.target).collect();
        targets.sort();
        Ok(targets)
    }
}

impl Journal {
    /// Registers a watch. A new cursor starts at the head of (target, agent), so that nothing old is announced; an existing one
    /// keeps its position, and only an ambient one that is now asked for explicitly changes its provenance.
    pub fn register(
        &mut self,
        watcher: &SessionKey,
        target: &SessionKey,
        agent: &AgentId,
        provenance: Provenance,
        now: Millis,
    ) -> Result<Registration, JournalError> {
        let transaction = self.write()?;
        let registration = match cursor_of(&transaction, watcher, target)? {
            None => {
                let head = super::changes::head(&transaction, target, agent)?;
                insert(&transaction, watcher, target, head, provenance, now)?;
                Registration::Made
            }
            Some(cursor)
                if cursor.provenance == Provenance::AmbientGroup
                    && provenance == Provenance::Explicit =>
            {
                promote(&transaction, watcher, target)?;
                let entry = Entry::pair(Step::Promoted, watcher, target);
                let entry = entry.marks(cursor.seen, cursor.notified, cursor.material);
                ledger::write(&transaction, &entry, now)?;
                Registration::Promoted
            }
            Some(_) => Registration::Unchanged,
        };
        transaction.commit().tried("register a watch")?;
        Ok(registration)
    }

    /// Ends a watch; false when there was none.
    pub fn unwatch(
        &mut self,
        watcher: &SessionKey,
        target: &SessionKey,
        now: Millis,
    ) -> Result<bool, JournalError> {
        let transaction = self.write()?;
        let ended = end_where(
            &transaction,
            "watcher_session_key = ?1 AND target_session_key = ?2",
            [watcher.as_str(), target.as_str()],
            Step::Unwatched,
            now,
        )?;
        transaction.commit().tried("end a watch")?;
        Ok(ended > 0)
    }

    /// Acknowledges the open notices of `watcher` on `targets`, each once; targets without a cursor are passed over.
    pub fn acknowledge(
        &mut self,
        watcher: &SessionKey,
        targets: &[SessionKey],
        now: Millis,
    ) -> Result<Vec<Acknowledged>, JournalError> {
        if targets.is_empty() {
            return Ok(Vec::new());
        }
        let transaction = self.write()?;
        let acknowledged = acknowledge_in(&transaction, watcher, targets, now)?;
        transaction.commit().tried("acknowledge notices")?;
        Ok(acknowledged)
    }

    /// A turn of `watcher` took its lines about `targets`: acknowledges them, each once.
    pub fn drain(
        &mut self,
        watcher: &SessionKey,
        targets: &[SessionKey],
        now: Millis,
    ) -> Result<Vec<Acknowledged>, JournalError> {
        if targets.is_empty() {
            return Ok(Vec::new());
        }
        let transaction = self.write()?;
        for target in targets {
            ledger::write(&transaction, &Entry::pair(Step::Drained, watcher, target), now)?;
        }
        let acknowledged = acknowledge_in(&transaction, watcher, targets, now)?;
        transaction.commit().tried("acknowledge notices")?;
        Ok(acknowledged)
    }

    /// Acknowledges a pair until last seen reaches `shown`: what was just read opens nothing (`decisions.md` 19).
    pub fn acknowledge_up_to(
        &mut self,
        watcher: &SessionKey,
        target: &SessionKey,
        shown: Sequence,
        now: Millis,
    ) -> Result<Option<Acknowledged>, JournalError> {
        let transaction = self.write()?;
        let mut last = None;
        while let Some(cursor) = cursor_of(&transaction, watcher, target)?
            && cursor.is_pending()
            && cursor.seen < shown
        {
            last = acknowledge_in(&transaction, watcher, std::slice::from_ref(target), now)?.pop();
        }
        if last.is_some() {
            let entry = Entry::pair(Step::Reconciled, watcher, target).at_event(shown);
            ledger::write(&transaction, &entry.note("read on the screen"), now)?;
        }
        transaction.commit().tried("acknowledge notices")?;
        Ok(last)
    }

    /// The restart sweep: freezes each pending cursor of a watcher that still exists at its newest material event, so that one
    /// line covers all. The others stay untouched. Returns the cursors swept, in the order in which they were made, and how
    /// many were passed over.
    pub fn sweep(&mut self, now: Millis) -> Result<(Vec<Cursor>, usize), JournalError> {
        // The plus sign keeps SQLite in the order in which the cursors were made, so that nothing has to be sorted.
        const LIVING: &str = "material_sequence > last_seen_sequence \
                              AND +watcher_session_key IN (SELECT session_key FROM tidings_sessions)";
        let transaction = self.write()?;
        let pending: usize = transaction
            .query_row(
                "SELECT count(*) FROM session_watch_cursors WHERE material_sequence > last_seen_sequence",
                [],
                |row| row.get(0),
            )
            .tried("sweep pending notices")?;
        let freeze = format!(
            "UPDATE session_watch_cursors SET notified_sequence = material_sequence, updated_at = ?1 WHERE {LIVING}"
        );
        transaction.execute(&freeze, [now]).tried("sweep pending notices")?;
        let swept = cursors_where(&transaction, LIVING, [])?;
        ledger::write_swept(&transaction, LIVING, now)?;
        transaction.commit().tried("sweep pending notices")?;
        let passed_over = pending - swept.len();
        Ok((swept, passed_over))
    }

    /// Resets a session: the cursors that it holds go; history, heads and others' cursors on it stay.
    pub fn reset(&mut self, session: &SessionKey, now: Millis) -> Result<usize, JournalError> {
        let transaction = self.write()?;
        let ended = end_where(
            &transaction,
            "watcher_session_key = ?1",
            [session.as_str()],
            Step::Reset,
            now,
        )?;
        transaction.commit().tried("reset a session")?;
        Ok(ended)
    }

    /// Deletes a session of an agent: its events, head, link, waiting messages and goal, and all cursors that it holds or that
    /// are on it. A tombstone keeps its last sequence. `forget` also takes it out of the registry.
    pub fn delete(
        &mut self,
        session: &SessionKey,
        agent: &AgentId,
        forget: bool,
        now: Millis,
    ) -> Result<Deleted, JournalError> {
        let transaction = self.write()?;
        let pair = params![session.as_str(), agent.as_str()];
        let run = |sql: &str, parameters: &[&dyn rusqlite::ToSql]| {
            transaction.execute(sql, parameters).tried("delete a session")
        };
        let ended = end_where(
            &transaction,
            "watcher_session_key = ?1 OR target_session_key = ?1",
            [session.as_str()],
            Step::Deleted,
            now,
        )?;
        run(
            "INSERT INTO tidings_tombstones (session_key, agent_id, last_sequence, deleted_at) \
             SELECT session_key, agent_id, last_sequence, ?3 FROM session_state_heads WHERE session_key = ?1 AND agent_id = ?2 \
             ON CONFLICT (session_key, agent_id) DO UPDATE \
             SET last_sequence = max(last_sequence, excluded.last_sequence), deleted_at = ?3",
            params![session.as_str(), agent.as_str(), now],
        )?;
        let deleted = Deleted {
            events: run(
                "DELETE FROM session_state_events WHERE session_key = ?1 AND agent_id = ?2",
                pair,
            )?,
            cursors: ended,
            messages: run(
                "DELETE FROM tidings_inbox WHERE receiver_key = ?1",
                params![session.as_str()],
            )?,
            link: run(
                "DELETE FROM session_upstream_links WHERE session_key = ?1 AND agent_id = ?2",
                pair,
            )? > 0,
        };
        run("DELETE FROM session_state_heads WHERE session_key = ?1 AND agent_id = ?2", pair)?;
        run("DELETE FROM tidings_link_states WHERE session_key = ?1 AND agent_id = ?2", pair)?;
        let goals =
            run("DELETE FROM tidings_goals WHERE session_key = ?1 AND agent_id = ?2", pair)?;
        if forget {
            run("DELETE FROM tidings_sessions WHERE session_key = ?1", params![session.as_str()])?;
        }
        for sql in [
            "DELETE FROM tidings_wakes WHERE watcher_key = ?1",
            "DELETE FROM tidings_own_texts WHERE session_key = ?1",
            "DELETE FROM tidings_counted_records WHERE session_key = ?1",
        ] {
            run(sql, params![session.as_str()])?;
        }
        transaction.commit().tried("delete a session")?;
        if deleted.messages + goals > 0 {
            self.forget_bytes();
        }
        Ok(deleted)
    }
}

fn insert(
    transaction: &Transaction<'_>,
    watcher: &SessionKey,
    target: &SessionKey,
    head: Sequence,
    provenance: Provenance,
    now: Millis,
) -> Result<(), JournalError> {
    transaction
        .prepare_cached(
            "INSERT INTO session_watch_cursors (watcher_session_key, target_session_key, last_seen_sequence, notified_sequence, \
             material_sequence, provenance, updated_at) VALUES (?1, ?2, ?3, ?3, ?3, ?4, ?5)",
        )
        .and_then(|mut statement| {
            statement.execute(params![watcher.as_str(), target.as_str(), head.0, provenance.as_str(), now])
        })
        .tried("register a watch")?;
    let entry = Entry::pair(Step::Registered, watcher, target)
        .marks(head, head, head)
        .note(provenance.as_str());
    ledger::write(transaction, &entry, now)
}

fn promote(
    transaction: &Transaction<'_>,
    watcher: &SessionKey,
    target: &SessionKey,
) -> Result<(), JournalError> {
    transaction
        .prepare_cached(
            "UPDATE session_watch_cursors SET provenance = 'explicit' WHERE watcher_session_key = ?1 AND target_session_key = ?2",
        )
        .and_then(|mut statement| statement.execute([watcher.as_str(), target.as_str()]))
        .map(drop)
        .tried("make an ambient watch explicit")
}

/// Last seen moves to the frozen notified, and notified to the newest material event: jumping to the head would lose an
/// event that lands between queueing and draining.
pub(super) fn acknowledge_in(
    transaction: &Transaction<'_>,
    watcher: &SessionKey,
    targets: &[SessionKey],
    now: Millis,
) -> Result<Vec<Acknowledged>, JournalError> {
    let mut acknowledged = Vec::with_capacity(targets.len());
    for (i, target) in targets.iter().enumerate() {
        if targets[..i].contains(target) {
            continue;
        }
        let Some(mut cursor) = cursor_of(transaction, watcher, target)? else { continue };
        let follow_up = cursor.material > cursor.notified;
        cursor.seen = cursor.notified;
        cursor.notified = cursor.notified.max(cursor.material);
        cursor.updated_at = now;
        set_marks(transaction, &cursor)?;
        let step = Entry::pair(Step::Acknowledged, watcher, target).marks(
            cursor.seen,
            cursor.notified,
            cursor.material,
        );
        ledger::write(transaction, &step, now)?;
        if follow_up {
            let step = Entry { step: Step::FollowUp, ..step };
            ledger::write(transaction, &step, now)?;
        }
        acknowledged.push(Acknowledged { cursor, follow_up });
    }
    Ok(acknowledged)
}

fn set_marks(transaction: &Transaction<'_>, cursor: &Cursor) -> Result<(), JournalError> {
    transaction
        .prepare_cached(
            "UPDATE session_watch_cursors SET last_seen_sequence = ?3, notified_sequence = ?4, updated_at = ?5 \
             WHERE watcher_session_key = ?1 AND target_session_key = ?2",
        )
        .and_then(|mut statement| {
            statement.execute(params![
                cursor.watcher.as_str(),
                cursor.target.as_str(),
                cursor.seen.0,
                cursor.notified.0,
                cursor.updated_at
            ])
        })
        .map(drop)
        .tried("acknowledge a notice")
}

/// Deletes the cursors that `condition` names, with an entry for each that says how it ended.
pub(super) fn end_where(
    transaction: &Transaction<'_>,
    condition: &str,
    parameters: impl rusqlite::Params + Clone,
    step: Step,
    now: Millis,
) -> Result<usize, JournalError> {
    for cursor in cursors_where(transaction, condition, parameters.clone())? {
        let entry = Entry::pair(step, &cursor.watcher, &cursor.target).marks(
            cursor.seen,
            cursor.notified,
            cursor.material,
        );
        ledger::write(transaction, &entry, now)?;
    }
    transaction
        .execute(&format!("DELETE FROM session_watch_cursors WHERE {condition}"), parameters)
        .tried("end watches")
}

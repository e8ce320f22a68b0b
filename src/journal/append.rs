//! Recording an event: one transaction that inserts it, raises the head and moves the cursors (`engine.md` 3.1).

use rusqlite::{Transaction, params};
use serde_json::Value;

use super::error::{JournalError, Tried};
use super::ledger::{self, Entry, Step};
use super::{Journal, rows};
use crate::clock::{DAY, Millis};
use crate::event::{Event, EventKind, NewEvent, Sequence};
use crate::session_key::SessionKey;
use crate::watch::Provenance;

/// What became of an event that was to be recorded.
#[derive(Debug, Clone, Default)]
pub struct Appended {
    /// The event; after a dedupe hit the row that owns the key, which may be another session's. `None` when the gate was
    /// shut, or when the existing row is not to be found under an empty key.
    pub event: Option<Event>,
    /// Whether an earlier event owns the dedupe key, so that nothing changed.
    pub deduped: bool,
    /// The notices to queue, in watcher order.
    pub notices: Vec<Notice>,
    /// Watchers who caused the event themselves, so that nothing is owed to them.
    pub suppressed: Vec<SessionKey>,
    /// Watchers whom a spawn put in step with itself.
    pub seeded: Vec<SessionKey>,
}

impl Appended {
    /// Whether the gate was shut, so that nothing was even tried.
    pub fn is_shut_out(&self) -> bool {
        self.event.is_none() && !self.deduped
    }
}

/// A line to queue for a watcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// For whom.
    pub watcher: SessionKey,
    /// Which session changed.
    pub target: SessionKey,
    /// The watcher's last seen: the text asks for changes since here.
    pub since: Sequence,
    /// Whether this event opened the notice; otherwise the open one covers it.
    pub opened: bool,
    /// Whether the cursor is ambient: its line replaces older ones and asks for no wake.
    pub ambient: bool,
}

/// When an event is recorded at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// Always.
    Open,
    /// Only when some cursor targets the session at the moment of writing.
    Watched,
}

/// A registered watcher as the append step reads it.
struct Registered {
    row: i64,
    watcher: SessionKey,
    seen: Sequence,
    notified: Sequence,
    ambient: bool,
}

impl Journal {
    /// Records `event` at `now`, if `gate` lets it.
    pub fn append(
        &mut self,
        event: &NewEvent,
        gate: Gate,
        now: Millis,
    ) -> Result<Appended, JournalError> {
        if gate == Gate::Watched && !self.is_watched(&event.session)? {
            // Without the write lock: turns that nobody watches must cost nobody a wait. The gate is asked again inside.
            return Ok(Appended::default());
        }
        let run_end_notifies = self.run_end_notifies;
        let transaction = self.write()?;
        let appended = append_in(&transaction, event, gate, run_end_notifies, now)?;
        transaction.commit().tried("record an event")?;
        Ok(appended)
    }
}

/// The append step inside a transaction that the caller commits.
pub(super) fn append_in(
    transaction: &Transaction<'_>,
    event: &NewEvent,
    gate: Gate,
    run_end_notifies: bool,
    now: Millis,
) -> Result<Appended, JournalError> {
    if gate == Gate::Watched && !super::cursors::is_watched(transaction, &event.session)? {
        return Ok(Appended::default());
    }
    let occurred_at = event.occurred_at.map_or(now, |at| at.clamp(now - DAY, now));
    let Some(sequence) = insert(transaction, event, occurred_at)? else {
        write_collapsed(transaction, event, now)?;
        return Ok(Appended {
            event: owner_of(transaction, event.dedupe.as_deref())?,
            deduped: true,
            ..Appended::default()
        });
    };
    raise_head(transaction, event, sequence, now)?;
    let mut appended =
        Appended { event: Some(recorded(event, sequence, occurred_at)), ..Appended::default() };
    if event.kind == EventKind::ChildSpawned {
        seed(transaction, event, sequence, now)?;
        appended.seeded = named(event).cloned().collect();
    } else if event.kind.notifies(run_end_notifies) {
        notify(transaction, event, sequence, now, &mut appended)?;
    }
    Ok(appended)
}

/// Inserts the event row; `None` when its dedupe key is taken. A taken key consumes a number, as in the original.
fn insert(
    transaction: &Transaction<'_>,
    event: &NewEvent,
    occurred_at: Millis,
) -> Result<Option<Sequence>, JournalError> {
    let payload = event.payload.as_ref().filter(|payload| is_truthy(payload)).map(Value::to_string);
    let inserted = transaction
        .prepare_cached(
            "INSERT INTO session_state_events (dedupe_key, session_key, session_id, agent_id, kind, actor_type, actor_id, run_id, \
             occurred_at, summary, payload_json) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) \
             ON CONFLICT (dedupe_key) DO NOTHING",
        )
        .and_then(|mut statement| {
            statement.execute(params![
                event.dedupe,
                event.session.as_str(),
                event.session_id,
                event.agent.as_str(),
                event.kind.as_str(),
                event.actor_type.as_str(),
                event.actor,
                event.run,
                occurred_at,
                event.summary,
                payload,
            ])
        })
        .tried("record an event")?;
    Ok((inserted > 0).then(|| Sequence(transaction.last_insert_rowid())))
}

/// Writes that the event collapsed into an earlier one, under the number that it consumed.
fn write_collapsed(
    transaction: &Transaction<'_>,
    event: &NewEvent,
    now: Millis,
) -> Result<(), JournalError> {
    let consumed = transaction
        .prepare_cached("SELECT seq FROM sqlite_sequence WHERE name = 'session_state_events'")
        .and_then(|mut statement| statement.query_row([], |row| row.get(0)))
        .map(Sequence)
        .tried("read the number that an event consumed")?;
    let entry = Entry::target(Step::Collapsed, &event.session).at_event(consumed);
    ledger::write(transaction, &entry.note(event.dedupe.clone().unwrap_or_default()), now)
}

/// JSON truth: what the original stores of a payload.
fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        _ => true,
    }
}

/// The event that owns a dedupe key. The empty key blocks a second event but finds none, as in the original.
fn owner_of(
    transaction: &Transaction<'_>,
    dedupe: Option<&str>,
) -> Result<Option<Event>, JournalError> {
    let Some(dedupe) = dedupe.filter(|key| !key.is_empty()) else { return Ok(None) };
    let sql = format!("SELECT {} FROM session_state_events WHERE dedupe_key = ?1", rows::EVENT);
    transaction
        .prepare_cached(&sql)
        .and_then(|mut statement| statement.query_row([dedupe], rows::event))
        .map(Some)
        .tried("read the event that owns a dedupe key")
}

/// The event as the journal now holds it.
fn recorded(event: &NewEvent, sequence: Sequence, occurred_at: Millis) -> Event {
    let filled = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    Event {
        sequence,
        session: event.session.clone(),
        session_id: filled(&event.session_id),
        agent: event.agent.clone(),
        kind: event.kind.clone(),
        actor_type: event.actor_type.clone(),
        actor: filled(&event.actor),
        run: filled(&event.run),
        occurred_at,
        summary: event.summary.clone().unwrap_or_default(),
        payload: event.payload.clone().filter(Value::is_object),
    }
}

fn raise_head(
    transaction: &Transaction<'_>,
    event: &NewEvent,
    sequence: Sequence,
    now: Millis,
) -> Result<(), JournalError> {
    transaction
        .prepare_cached(
            "INSERT INTO session_state_heads (session_key, agent_id, last_sequence, updated_at) VALUES (?1, ?2, ?3, ?4) \
             ON CONFLICT (session_key, agent_id) DO UPDATE SET last_sequence = ?3, updated_at = ?4",
        )
        .and_then(|mut statement| statement.execute(params![event.session.as_str(), event.agent.as_str(), sequence.0, now]))
        .map(drop)
        .tried("raise a state version")
}

/// A spawn puts each watcher that the producer names in step with the spawn itself.
fn seed(
    transaction: &Transaction<'_>,
    event: &NewEvent,
    sequence: Sequence,
    now: Millis,
) -> Result<(), JournalError> {
    for watcher in named(event) {
        transaction
            .prepare_cached(
                "INSERT INTO session_watch_cursors (watcher_session_key, target_session_key, last_seen_sequence, notified_sequence, \
                 material_sequence, updated_at) VALUES (?1, ?2, ?3, ?3, ?3, ?4) \
                 ON CONFLICT (watcher_session_key, target_session_key) DO UPDATE SET last_seen_sequence = ?3, \
                 notified_sequence = ?3, material_sequence = ?3, provenance = 'explicit', updated_at = ?4",
            )
            .and_then(|mut statement| statement.execute(params![watcher.as_str(), event.session.as_str(), sequence.0, now]))
            .tried("seed a cursor")?;
        let entry = Entry::pair(Step::Seeded, watcher, &event.session).at_event(sequence);
        ledger::write(transaction, &entry.marks(sequence, sequence, sequence), now)?;
    }
    Ok(())
}

/// The watchers that the producer names, each once, without those that can't hold a notice.
fn named(event: &NewEvent) -> impl Iterator<Item = &SessionKey> {
    let watchers = &event.watchers;
    watchers
        .iter()
        .enumerate()
        .filter(|(i, key)| key.is_notifiable() && !watchers[..*i].contains(key))
        .map(|(_, key)| key)
}

/// Moves the cursors of everybody who watches the session, but of whoever caused the event.
fn notify(
    transaction: &Transaction<'_>,
    event: &NewEvent,
    sequence: Sequence,
    now: Millis,
    appended: &mut Appended,
) -> Result<(), JournalError> {
    let registered = registered(transaction, &event.session)?;
    let caused = |watcher: &SessionKey| event.actor.as_deref() == Some(watcher.as_str());
    for watcher in named(event) {
        if caused(watcher) {
            appended.suppressed.push(watcher.clone());
            continue;
        }
        let notice = match registered.iter().find(|row| row.watcher == *watcher) {
            Some(row) => row.notice(event),
            None => insert_named(transaction, watcher, event, sequence, now)?,
        };
        appended.notices.push(notice);
    }
    let first_registered = appended.notices.len();
    let mut passed_over = 0;
    for row in &registered {
        if !row.watcher.is_notifiable() {
            passed_over += 1;
        } else if caused(&row.watcher) {
            if !appended.suppressed.contains(&row.watcher) {
                appended.suppressed.push(row.watcher.clone());
            }
        } else if !appended.notices[..first_registered]
            .iter()
            .any(|notice| notice.watcher == row.watcher)
        {
            appended.notices.push(row.notice(event));
        }
    }
    if passed_over == 0 {
        move_all(transaction, event, sequence, now)?;
    } else {
        for row in
            registered.iter().filter(|row| row.watcher.is_notifiable() && !caused(&row.watcher))
        {
            move_one(transaction, row.row, sequence, now)?;
        }
    }
    write_delivery(transaction, event, sequence, now, appended)
}

impl Registered {
    fn notice(&self, event: &NewEvent) -> Notice {
        Notice {
            watcher: self.watcher.clone(),
            target: event.session.clone(),
            since: self.seen,
            opened: self.notified == self.seen,
            ambient: self.ambient,
        }
    }
}

/// The cursors on a session, in the order in which they were made. `UPDATE … RETURNING` would promise no order.
fn registered(
    transaction: &Transaction<'_>,
    target: &SessionKey,
) -> Result<Vec<Registered>, JournalError> {
    let mut statement = transaction
        .prepare_cached(
            "SELECT rowid, watcher_session_key, last_seen_sequence, notified_sequence, provenance FROM session_watch_cursors \
             WHERE target_session_key = ?1 ORDER BY rowid",
        )
        .tried("read the watchers of a session")?;
    let found = statement
        .query_map([target.as_str()], |row| {
            Ok(Registered {
                row: row.get(0)?,
                watcher: rows::key(row, 1)?,
                seen: rows::sequence(row, 2)?,
                notified: rows::sequence(row, 3)?,
                ambient: Provenance::from_name(row.get_ref(4)?.as_str()?)
                    == Provenance::AmbientGroup,
            })
        })
        .and_then(Iterator::collect);
    found.tried("read the watchers of a session")
}

/// Gives a watcher that the producer names its first cursor: it has seen nothing, so it is asked to read from 0.
fn insert_named(
    transaction: &Transaction<'_>,
    watcher: &SessionKey,
    event: &NewEvent,
    sequence: Sequence,
    now: Millis,
) -> Result<Notice, JournalError> {
    transaction
        .prepare_cached(
            "INSERT INTO session_watch_cursors (watcher_session_key, target_session_key, last_seen_sequence, notified_sequence, \
             material_sequence, updated_at) VALUES (?1, ?2, 0, ?3, ?3, ?4)",
        )
        .and_then(|mut statement| statement.execute(params![watcher.as_str(), event.session.as_str(), sequence.0, now]))
        .tried("register a watcher that the producer named")?;
    let entry = Entry::pair(Step::Registered, watcher, &event.session)
        .at_event(sequence)
        .note("named by the producer");
    ledger::write(transaction, &entry.marks(Sequence(0), sequence, sequence), now)?;
    Ok(Notice {
        watcher: watcher.clone(),
        target: event.session.clone(),
        since: Sequence(0),
        opened: true,
        ambient: false,
    })
}

/// Moves all cursors on the session by one statement. An open notice stays frozen where it is.
fn move_all(
    transaction: &Transaction<'_>,
    event: &NewEvent,
    sequence: Sequence,
    now: Millis,
) -> Result<(), JournalError> {
    transaction
        .prepare_cached(
            "UPDATE session_watch_cursors SET \
             notified_sequence = iif(notified_sequence = last_seen_sequence, ?2, notified_sequence), \
             material_sequence = ?2, updated_at = ?3 \
             WHERE target_session_key = ?1 AND watcher_session_key IS NOT ?4",
        )
        .and_then(|mut statement| statement.execute(params![event.session.as_str(), sequence.0, now, event.actor]))
        .map(drop)
        .tried("move the cursors of a session")
}

fn move_one(
    transaction: &Transaction<'_>,
    row: i64,
    sequence: Sequence,
    now: Millis,
) -> Result<(), JournalError> {
    transaction
        .prepare_cached(
            "UPDATE session_watch_cursors SET \
             notified_sequence = iif(notified_sequence = last_seen_sequence, ?2, notified_sequence), \
             material_sequence = ?2, updated_at = ?3 WHERE rowid = ?1",
        )
        .and_then(|mut statement| statement.execute(params![row, sequence.0, now]))
        .map(drop)
        .tried("move a cursor")
}

/// Writes what became of the event: one row with the counts, and a ledger entry for each notice that it opened.
fn write_delivery(
    transaction: &Transaction<'_>,
    event: &NewEvent,
    sequence: Sequence,
    now: Millis,
    appended: &Appended,
) -> Result<(), JournalError> {
    let queued = appended.notices.iter().filter(|notice| notice.opened).count();
    let coalesced = appended.notices.len() - queued;
    let suppressed = appended.suppressed.len();
    if queued + coalesced + suppressed == 0 {
        return Ok(());
    }
    ledger::write_delivery(transaction, sequence, queued, coalesced, suppressed)?;
    if queued > 0 {
        ledger::write_queued(transaction, &event.session, sequence, now)?;
    }
    for watcher in &appended.suppressed {
        ledger::write(
            transaction,
            &Entry::pair(Step::Suppressed, watcher, &event.session).at_event(sequence),
            now,
        )?;
    }
    Ok(())
}

//! The ledger: the steps in the life of each watch and notice, kept as long as the journal.
//!
//! What opens or ends something has an entry for its pair. An event that only joins open notices has no entry a watcher,
//! which would make a burst cost a row a watcher: its row in the deliveries says for how many notices it did, and which
//! those are follows from the entries around it.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::error::{JournalError, Tried};
use super::rows;
use super::{Journal, Reader};
use crate::clock::Millis;
use crate::event::{Changes, Sequence};
use crate::session_key::SessionKey;

/// The note of an answer whose beginning is lost.
pub const HISTORY_GAP: &str = "history gap";
/// The note of an answer that goes on after its last event.
pub const TRUNCATED: &str = "truncated";
/// The note of a line that was taken while its notice stayed open.
pub const NOT_ACKNOWLEDGED: &str = "taken without acknowledging";

/// A step in the life of a watch or a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// A cursor was made.
    Registered,
    /// A spawn put a cursor in step.
    Seeded,
    /// An ambient watch became an explicit one.
    Promoted,
    /// A notice opened.
    Queued,
    /// The watcher caused the event itself.
    Suppressed,
    /// A line was pushed out of a full queue.
    Evicted,
    /// A wake was asked for.
    WakeAsked,
    /// A wake went out.
    WakeFired,
    /// A wake could not go out.
    WakeSkipped,
    /// A turn took the line.
    Drained,
    /// The notice was acknowledged.
    Acknowledged,
    /// More had happened: exactly one more notice opened.
    FollowUp,
    /// The sweep brought the line back after a restart.
    Swept,
    /// The watch ended: untouched for 30 days.
    Expired,
    /// The watch ended: its watcher was reset.
    Reset,
    /// The watch ended: one side was deleted.
    Deleted,
    /// The watch ended: somebody asked for it.
    Unwatched,
    /// The watcher asked what changed since a version.
    Reconciled,
    /// An event was not recorded, because an earlier one owns its dedupe key.
    Collapsed,
    /// An event could not be recorded.
    AppendFailed,
}

impl Step {
    const ALL: [(Self, &'static str); 20] = [
        (Self::Registered, "registered"),
        (Self::Seeded, "seeded"),
        (Self::Promoted, "promoted"),
        (Self::Queued, "queued"),
        (Self::Suppressed, "suppressed"),
        (Self::Evicted, "evicted"),
        (Self::WakeAsked, "wake-asked"),
        (Self::WakeFired, "wake-fired"),
        (Self::WakeSkipped, "wake-skipped"),
        (Self::Drained, "drained"),
        (Self::Acknowledged, "acknowledged"),
        (Self::FollowUp, "follow-up"),
        (Self::Swept, "swept"),
        (Self::Expired, "expired"),
        (Self::Reset, "reset"),
        (Self::Deleted, "deleted"),
        (Self::Unwatched, "unwatched"),
        (Self::Reconciled, "reconciled"),
        (Self::Collapsed, "collapsed"),
        (Self::AppendFailed, "append-failed"),
    ];

    /// The word for it, as stored and printed.
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(step, _)| *step == self).map_or("", |(_, word)| word)
    }

    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, word)| *word == name).map(|(step, _)| *step)
    }
}

/// An entry of the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// What happened.
    pub step: Step,
    /// The watcher concerned.
    pub watcher: Option<SessionKey>,
    /// The target concerned.
    pub target: Option<SessionKey>,
    /// The event that caused it.
    pub sequence: Option<Sequence>,
    /// Last seen, notified and material after the step.
    pub marks: Option<[Sequence; 3]>,
    /// A reason or further fact, never content.
    pub note: Option<String>,
}

/// An entry as it was read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Its number; rises.
    pub id: i64,
    /// When it was written.
    pub at: Millis,
    /// What it says.
    pub entry: Entry,
}

impl Entry {
    /// An entry about a pair.
    pub fn pair(step: Step, watcher: &SessionKey, target: &SessionKey) -> Self {
        Self {
            step,
            watcher: Some(watcher.clone()),
            target: Some(target.clone()),
            sequence: None,
            marks: None,
            note: None,
        }
    }

    /// An entry about a watcher and all its watches, such as a wake.
    pub fn watcher(step: Step, watcher: &SessionKey) -> Self {
        Self {
            step,
            watcher: Some(watcher.clone()),
            target: None,
            sequence: None,
            marks: None,
            note: None,
        }
    }

    /// An entry about a target and whatever watches it.
    pub(super) fn target(step: Step, target: &SessionKey) -> Self {
        Self {
            step,
            watcher: None,
            target: Some(target.clone()),
            sequence: None,
            marks: None,
            note: None,
        }
    }

    pub(super) fn at_event(mut self, sequence: Sequence) -> Self {
        self.sequence = Some(sequence);
        self
    }

    pub(super) fn marks(mut self, seen: Sequence, notified: Sequence, material: Sequence) -> Self {
        self.marks = Some([seen, notified, material]);
        self
    }

    /// The entry with a reason or further fact.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }
}

/// Writes one entry inside the caller's transaction.
pub(super) fn write(
    connection: &Connection,
    entry: &Entry,
    now: Millis,
) -> Result<(), JournalError> {
    let key = |key: &Option<SessionKey>| key.as_ref().map(|key| key.as_str().to_owned());
    let mark = |which: usize| entry.marks.map(|marks| marks[which].0);
    connection
        .prepare_cached(
            "INSERT INTO tidings_ledger (at, step, watcher_key, target_key, sequence, last_seen, notified, material, note) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )
        .and_then(|mut statement| {
            statement.execute(params![
                now,
                entry.step.as_str(),
                key(&entry.watcher),
                key(&entry.target),
                entry.sequence.map(|sequence| sequence.0),
                mark(0),
                mark(1),
                mark(2),
                entry.note,
            ])
        })
        .map(drop)
        .tried("write to the ledger")
}

/// Writes an entry for each cursor on `target` whose notice the event `sequence` opened, by one statement.
pub(super) fn write_queued(
    connection: &Connection,
    target: &SessionKey,
    sequence: Sequence,
    now: Millis,
) -> Result<(), JournalError> {
    connection
        .prepare_cached(
            "INSERT INTO tidings_ledger (at, step, watcher_key, target_key, sequence, last_seen, notified, material) \
             SELECT ?3, 'queued', watcher_session_key, target_session_key, ?2, last_seen_sequence, notified_sequence, \
             material_sequence FROM session_watch_cursors WHERE target_session_key = ?1 AND notified_sequence = ?2 ORDER BY rowid",
        )
        .and_then(|mut statement| statement.execute(params![target.as_str(), sequence.0, now]))
        .map(drop)
        .tried("write to the ledger")
}

/// Writes an entry for each cursor that `condition` names, by one statement: the sweep brought its line back.
pub(super) fn write_swept(
    connection: &Connection,
    condition: &str,
    now: Millis,
) -> Result<(), JournalError> {
    let sql = format!(
        "INSERT INTO tidings_ledger (at, step, watcher_key, target_key, last_seen, notified, material) \
         SELECT ?1, 'swept', watcher_session_key, target_session_key, last_seen_sequence, notified_sequence, material_sequence \
         FROM session_watch_cursors WHERE {condition} ORDER BY rowid"
    );
    connection.execute(&sql, [now]).map(drop).tried("write to the ledger")
}

/// Writes what became of a material event.
pub(super) fn write_delivery(
    connection: &Connection,
    sequence: Sequence,
    queued: usize,
    coalesced: usize,
    suppressed: usize,
) -> Result<(), JournalError> {
    connection
        .prepare_cached("INSERT INTO tidings_deliveries (sequence, queued, coalesced, suppressed) VALUES (?1, ?2, ?3, ?4)")
        .and_then(|mut statement| {
            statement.execute(params![
                sequence.0,
                i64::try_from(queued).unwrap_or(i64::MAX),
                i64::try_from(coalesced).unwrap_or(i64::MAX),
                i64::try_from(suppressed).unwrap_or(i64::MAX)
            ])
        })
        .map(drop)
        .tried("write what became of an event")
}

impl Reader {
    /// Entries after the one numbered `after`, oldest first, at most `limit`.
    pub fn ledger_after(&self, after: i64, limit: usize) -> Result<Vec<Written>, JournalError> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT id, at, step, watcher_key, target_key, sequence, last_seen, notified, material, note FROM tidings_ledger \
                 WHERE id > ?1 ORDER BY id LIMIT ?2",
            )
            .tried("read the ledger")?;
        let found = statement
            .query_map(params![after, i64::try_from(limit).unwrap_or(i64::MAX)], written)
            .and_then(Iterator::collect::<rusqlite::Result<Vec<_>>>)
            .tried("read the ledger")?;
        Ok(found.into_iter().flatten().collect())
    }

    /// The newest entries about a pair, its watcher's wakes among them, oldest first, at most `limit`.
    pub fn ledger_of_pair(
        &self,
        watcher: &SessionKey,
        target: &SessionKey,
        limit: usize,
    ) -> Result<Vec<Written>, JournalError> {
        self.newest_entries(
            "(target_key = ?1 AND watcher_key = ?2) OR (target_key IS NULL AND watcher_key = ?2)",
            &[target, watcher],
            limit,
        )
    }

    /// The newest entries about a session as a target, whoever watches it, that concern no watcher: events that were not recorded.
    pub fn ledger_of_target(
        &self,
        target: &SessionKey,
        limit: usize,
    ) -> Result<Vec<Written>, JournalError> {
        self.newest_entries("target_key = ?1 AND watcher_key IS NULL", &[target], limit)
    }

    /// The entry of an event that was not recorded because it collapsed into an earlier one, by the number that it consumed.
    pub fn collapsed_at(&self, sequence: Sequence) -> Result<Option<Written>, JournalError> {
        self.connection
            .query_row(
                "SELECT id, at, step, watcher_key, target_key, sequence, last_seen, notified, material, note FROM tidings_ledger \
                 WHERE step = 'collapsed' AND sequence = ?1",
                [sequence.0],
                written,
            )
            .optional()
            .map(Option::flatten)
            .tried("read the ledger")
    }

    fn newest_entries(
        &self,
        condition: &str,
        keys: &[&SessionKey],
        limit: usize,
    ) -> Result<Vec<Written>, JournalError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let sql = format!(
            "SELECT id, at, step, watcher_key, target_key, sequence, last_seen, notified, material, note FROM tidings_ledger \
             WHERE {condition} ORDER BY id DESC LIMIT {limit}"
        );
        let mut statement = self.connection.prepare_cached(&sql).tried("read the ledger")?;
        let keys = rusqlite::params_from_iter(keys.iter().map(|key| key.as_str()));
        let mut found: Vec<_> = statement
            .query_map(keys, written)
            .and_then(Iterator::collect::<rusqlite::Result<Vec<_>>>)
            .tried("read the ledger")?
            .into_iter()
            .flatten()
            .collect();
        found.reverse();
        Ok(found)
    }

    /// How many entries of a step were written since `since`.
    pub fn count_steps(&self, step: Step, since: Millis) -> Result<u64, JournalError> {
        self.connection
            .query_row(
                "SELECT count(*) FROM tidings_ledger WHERE step = ?1 AND at >= ?2",
                params![step.as_str(), since],
                |row| row.get(0),
            )
            .tried("count the entries of the ledger")
    }

    /// How many entries of each step the ledger holds, in order of their words.
    pub fn steps(&self) -> Result<Vec<(Step, u64)>, JournalError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT step, count(*) FROM tidings_ledger GROUP BY step ORDER BY step")
            .tried("count the entries of the ledger")?;
        let found = statement
            .query_map([], |row| Ok((Step::from_name(row.get_ref(0)?.as_str()?), row.get(1)?)))
            .and_then(Iterator::collect::<rusqlite::Result<Vec<_>>>)
            .tried("count the entries of the ledger")?;
        Ok(found.into_iter().filter_map(|(step, count)| Some((step?, count))).collect())
    }

    /// The number of the newest entry, 0 when there is none.
    pub fn ledger_end(&self) -> Result<i64, JournalError> {
        self.connection
            .query_row("SELECT coalesce(max(id), 0) FROM tidings_ledger", [], |row| row.get(0))
            .tried("read the ledger")
    }
}

impl Journal {
    /// Writes that `caller` asked what changed in `target` after a version, and what of the answer was not exact.
    pub fn write_reconciled(
        &mut self,
        caller: &SessionKey,
        target: &SessionKey,
        after: Sequence,
        answer: &Changes,
        now: Millis,
    ) -> Result<(), JournalError> {
        let entry = Entry::pair(Step::Reconciled, caller, target).at_event(after);
        let told = match (answer.history_gap, answer.truncated) {
            (true, _) => Some(HISTORY_GAP),
            (false, true) => Some(TRUNCATED),
            (false, false) => None,
        };
        self.write_ledger(&[Entry { note: told.map(str::to_owned), ..entry }], now)
    }

    /// Writes entries that no other write of the journal goes with.
    pub fn write_ledger(&mut self, entries: &[Entry], now: Millis) -> Result<(), JournalError> {
        if entries.is_empty() {
            return Ok(());
        }
        let transaction = self.write()?;
        for entry in entries {
            write(&transaction, entry, now)?;
        }
        transaction.commit().tried("write to the ledger")
    }
}

/// An entry from its row; `None` for a step that this version does not know.
fn written(row: &rusqlite::Row<'_>) -> rusqlite::Result<Option<Written>> {
    let Some(step) = Step::from_name(row.get_ref(2)?.as_str()?) else { return Ok(None) };
    let key = |column| row.get::<_, Option<String>>(column).map(|key| key.map(SessionKey::new));
    let marks = match row.get::<_, Option<i64>>(6)? {
        Some(_) => {
            Some([rows::sequence(row, 6)?, rows::sequence(row, 7)?, rows::sequence(row, 8)?])
        }
        None => None,
    };
    Ok(Some(Written {
        id: row.get(0)?,
        at: row.get(1)?,
        entry: Entry {
            step,
            watcher: key(3)?,
            target: key(4)?,
            sequence: row.get::<_, Option<i64>>(5)?.map(Sequence),
            marks,
            note: row.get(9)?,
        },
    }))
}

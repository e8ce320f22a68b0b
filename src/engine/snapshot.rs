//! The snapshot: one immutable picture of everything a surface may show. The screen and the read verbs render it.

use std::path::PathBuf;
use std::sync::Arc;

use super::notices::{self, Language};
use super::reason::Reason;
use crate::clock::Millis;
use crate::event::{Event, Sequence};
use crate::session_key::{AgentId, SessionKey};
use crate::watch::{Condition, Cursor, PairState};

/// A picture of the state at one moment. Long lists are shared with the picture before where nothing in them changed.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// Rises with each picture of one process.
    pub revision: u64,
    /// When it was taken.
    pub at: Millis,
    /// From when on time alone may have changed a condition or the activity in it, the pulse apart; `None` when only a write can.
    pub holds_until: Option<Millis>,
    /// What this process is to the database.
    pub role: Role,
    /// Whose database it is.
    pub source: Source,
    /// Whether some process is known to own the database.
    pub is_owned: bool,
    /// Whether it shows an earlier state. Nobody keeps what links, wakes and queues were then.
    pub is_past: bool,
    /// The journal as a whole.
    pub journal: JournalRow,
    /// All sessions, by key and agent.
    pub sessions: Arc<Vec<SessionRow>>,
    /// All watches, by watcher and target.
    pub watches: Arc<Vec<WatchRow>>,
    /// The language of notices.
    pub language: Language,
    /// Pending notices: the watches of `watches` that owe one, oldest first.
    pub notices: Vec<NoticeRow>,
    /// The queues of pending lines that this process holds, by session. Empty where only another process knows.
    pub queues: Vec<QueueRow>,
    /// The newest events, oldest first.
    pub events: Vec<EventRow>,
    /// The upstream monitor's pulse.
    pub pulse: Pulse,
    /// Failures since the process started that somebody should see, oldest first.
    pub problems: Vec<Problem>,
}

impl Snapshot {
    /// Whether another system owns the database: what its memory holds is unknown.
    pub fn is_attached(&self) -> bool {
        matches!(self.source, Source::Attached { .. })
    }

    /// The line that waits for the watcher of `notice`; empty when `notice` is of another picture.
    pub fn text_of(&self, notice: &NoticeRow) -> String {
        let cursor = self.watches.get(notice.watch).map(|watch| &watch.cursor);
        cursor.map_or_else(String::new, |cursor| {
            notices::text(self.language, &cursor.target, cursor.seen)
        })
    }

    /// Whether this picture moved on from `other`, or the other way round, and has the same watches, notices and events. Sessions
    /// are the same, too, when they are shared.
    pub fn moved_on_from(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.watches, &other.watches)
    }

    /// Whether the picture still tells what is so at `now`, if nothing was written since: time changes conditions, too, and a
    /// clock that was put back may take a change back.
    pub(super) fn holds_at(&self, now: Millis) -> bool {
        let comes = self.pulse.overdue_from.filter(|_| !self.pulse.overdue);
        now >= self.at && self.holds_until.into_iter().chain(comes).all(|until| now < until)
    }
}

/// What a process is to the database.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Role {
    /// A one-shot command, or not known yet.
    #[default]
    Visitor,
    /// It holds the lock, and runs the monitor, the wakes and the sweep.
    Owner,
    /// Another process does.
    Viewer {
        /// That process's id, when it is known.
        owner: Option<u32>,
    },
}

/// Whose state database a picture is of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Source {
    /// Ours.
    #[default]
    Own,
    /// Another system's, read from the outside: its queue, its wakes and its monitor are unknown, and notices are what its
    /// cursors imply.
    Attached {
        /// The file.
        path: PathBuf,
    },
}

/// The journal as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JournalRow {
    /// How many events are retained.
    pub rows: u64,
    /// The lowest retained number.
    pub min: Option<Sequence>,
    /// The highest retained number.
    pub max: Option<Sequence>,
    /// Appends that failed in this process.
    pub append_failures: u64,
}

/// One session.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionRow {
    /// Its key.
    pub key: SessionKey,
    /// Its owner.
    pub agent: AgentId,
    /// The session that spawned it.
    pub parent: Option<SessionKey>,
    /// A title for people, from outside: clean it for display.
    pub title: Option<String>,
    /// The harness that runs it, when it was adopted or a hook named it.
    pub harness: Option<String>,
    /// The state version; `None` without logged changes.
    pub version: Option<Sequence>,
    /// The pruned watermark.
    pub pruned: Sequence,
    /// The newest retained event.
    pub last_event: Option<Event>,
    /// Events in each of the last [`ACTIVITY_SLOTS`] spans of [`ACTIVITY_SLOT`], oldest first. Spans begin where a clock shows a
    /// multiple of their length; the last one is under way.
    pub activity: [u16; ACTIVITY_SLOTS],
    /// Cursors on it.
    pub watchers: usize,
    /// Cursors it holds.
    pub watching: usize,
    /// Notices that it, as a watcher, has not taken.
    pub pending_notices: usize,
    /// Messages that wait for its next turn.
    pub messages: usize,
    /// Whether a goal is set.
    pub has_goal: bool,
    /// When its last turn began, as far as known.
    pub last_turn_at: Option<Millis>,
    /// When it ended, if it did.
    pub ended_at: Option<Millis>,
    /// Its foreign source.
    pub upstream: Option<LinkRow>,
}

/// How many slots [`SessionRow::activity`] has.
pub const ACTIVITY_SLOTS: usize = 12;
/// How long one slot is: five minutes.
pub const ACTIVITY_SLOT: Millis = 5 * crate::clock::MINUTE;

/// The foreign source of a session, and what the monitor last found there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkRow {
    /// Which catalog probes it.
    pub catalog: String,
    /// Where the source lives.
    pub host: String,
    /// The foreign session's own id.
    pub thread: String,
    /// What the ref and the marker mean.
    pub kind: String,
    /// The file, when the ref names one.
    pub path: Option<String>,
    /// How far it has been read, in bytes, when the marker says so.
    pub offset: Option<u64>,
    /// The last outcome in words: `quiet`, `activity`, `echo`, `busy`, `missing`, `blocked`, `ambiguous`, `unreadable`, `replaced`,
    /// `unknown`.
    pub outcome: String,
    /// More about the outcome, for people.
    pub detail: Option<String>,
    /// When that outcome was found.
    pub outcome_at: Option<Millis>,
    /// How often in a row the source was missing, 0 to 3.
    pub missing_streak: u8,
    /// When the marker last moved.
    pub scanned_at: Option<Millis>,
    /// When the session was adopted.
    pub created_at: Millis,
}

/// One watch.
#[derive(Debug, Clone, PartialEq)]
pub struct WatchRow {
    /// The cursor.
    pub cursor: Cursor,
    /// The target's state version, 0 when none.
    pub head: Sequence,
    /// What the watermarks say.
    pub state: PairState,
    /// What that means.
    pub condition: Condition,
    /// Why.
    pub reason: Reason,
    /// When the open notice opened, as far as known.
    pub pending_since: Option<Millis>,
    /// How the watcher gets, or got, to know.
    pub wake: WakeState,
    /// When the watch ends unless it is touched.
    pub expires_at: Millis,
}

impl WatchRow {
    /// Why the pair is in its condition, in one sentence, with spans as they are at `now`.
    pub fn because(&self, now: Millis) -> String {
        self.reason.sentence(&self.cursor, now)
    }

    /// What is owed to the watcher: material − last seen.
    pub fn actionable_lag(&self) -> i64 {
        self.cursor.material.0.saturating_sub(self.cursor.seen.0).max(0)
    }

    /// What the journal holds beyond last seen, harmless events included: head − last seen.
    pub fn history_lag(&self) -> i64 {
        self.head.0.saturating_sub(self.cursor.seen.0).max(0)
    }
}

/// The wake of a watcher.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum WakeState {
    /// None was asked for.
    #[default]
    NotDue,
    /// It waits for more to come, until the given time.
    Coalescing(Millis),
    /// It went out at the given time.
    Fired(Millis),
    /// It could not go out: when, and why.
    Skipped(Millis, String),
    /// This watcher is never woken: a sub-agent or an ambient watch.
    Never,
    /// Only the system that owns the database knows.
    Unknown,
}

/// One pending notice.
#[derive(Debug, Clone, PartialEq)]
pub struct NoticeRow {
    /// Where the pair stands in [`Snapshot::watches`].
    pub watch: usize,
    /// Whether the line is known to be queued; `None` when no owner runs, or only another system knows.
    pub queued: Option<bool>,
}

/// The queue of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueRow {
    /// The session.
    pub session: SessionKey,
    /// Notices that wait. They never make room for others.
    pub notices: usize,
    /// Other lines that wait, at most [`CAPACITY`](super::queue::CAPACITY).
    pub others: usize,
    /// Lines that were pushed out since the process started.
    pub evicted: u64,
}

/// The wake of one watcher: one that waits, or how the last one ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WakeRow {
    /// Who is to be woken.
    pub watcher: SessionKey,
    /// Why: the target of the latest request.
    pub reason: String,
    /// When it goes out, while it waits.
    pub due_at: Option<Millis>,
    /// When the last one ended.
    pub ended_at: Option<Millis>,
    /// How: `fired` or `skipped`.
    pub outcome: Option<String>,
    /// Why it was skipped.
    pub outcome_reason: Option<String>,
}

/// One event and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct EventRow {
    /// The event.
    pub event: Event,
    /// Watchers for whom it opened a notice.
    pub notified: u32,
    /// Watchers whose open notice covers it.
    pub coalesced: u32,
    /// Watchers who caused it themselves.
    pub suppressed: u32,
}

/// The upstream monitor's pulse, as the owner last wrote it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pulse {
    /// When the last tick ended.
    pub last_tick_at: Option<Millis>,
    /// How long it took, in milliseconds.
    pub took: Option<Millis>,
    /// When the next one is due.
    pub next_tick_at: Option<Millis>,
    /// How many links it looked at.
    pub links: usize,
    /// Whether it is overdue.
    pub overdue: bool,
    /// From when on it is, if none comes; `None` when it can't be.
    pub overdue_from: Option<Millis>,
}

/// A failure that somebody should see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// When.
    pub at: Millis,
    /// What was tried, on what, and what to do; one line.
    pub message: String,
}

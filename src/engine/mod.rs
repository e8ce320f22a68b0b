//! Engine: turns commands into journal writes, notices and wakes.
//!
//! An [`Engine`] holds what the durable tables do not: the queues of pending lines and the wakes. It does nothing by itself;
//! [`live`] runs one on a thread of its own, with the monitor and the sweep, and `script` and the verbs call the same methods.
//!
//! | file | holds |
//! | --- | --- |
//! | [`commands`] | recording, the producers, watching, sending, turns, reset and delete |
//! | [`adoption`] | adopting foreign sessions |
//! | [`monitor`], [`probing`] | the upstream monitor's tick, and asking the providers |
//! | [`notices`], [`queue`] | the line that a watcher finds, and where it waits |
//! | [`wakes`] | one coalesced wake a watcher |
//! | [`sweep`] | bringing the queue back after a restart, and in step with the cursors |
//! | [`observer`] | what reads a state database, ours or another system's |
//! | [`snapshot`], [`picture`], [`condition`], [`reason`] | the one picture that every surface renders, and how it is made |
//! | `facts` | what a source tells beside human turns, as events |
//! | `file_events` | which folders are listened to for which links |
//! | [`attached`] | another system's state database, looked at live |
//! | [`past`], [`storage`] | the picture at an earlier event, and how full the database is |
//! | [`explain`] | why a watcher was, or was not, told |
//! | [`findings`], [`check`], [`metrics`] | what a picture means: lints, one verdict, numbers for graphs |
//! | [`alerts`], [`alerting`] | pairs that are bad for too long, and telling somebody |
//! | [`doctor`] | what is wrong with the state, the lock, the clock, the terminal |
//! | [`feed`] | everything that is decided, as a stream |
//! | [`lock`], [`live`] | who the owner is, and the running engine |

pub mod adoption;
pub mod alerting;
pub mod alerts;
pub mod attached;
mod beside;
pub mod check;
pub mod commands;
pub mod condition;
mod continuing;
pub mod doctor;
mod error;
pub mod explain;
mod facts;
pub mod feed;
mod file_events;
pub mod findings;
pub mod live;
pub mod lock;
pub mod metrics;
pub mod monitor;
pub mod notices;
pub mod observer;
pub mod past;
pub mod picture;
pub mod probing;
pub mod queue;
mod quiet;
pub mod reason;
mod runner;
mod session_rows;
pub mod snapshot;
pub mod storage;
pub mod sweep;
pub mod wakes;
mod waking;

use std::path::Path;
use std::sync::Arc;

pub use error::EngineError;

use crate::clock::{Clock, Millis};
use crate::journal::append::{Appended, Notice};
use crate::journal::pairs::PairHistories;
use crate::journal::retention::{PRUNE_INTERVAL, Pruned};
use crate::journal::{Journal, JournalError};
use crate::session_key::SessionKey;
use crate::upstream_link::UpstreamLink;
use crate::watch::{Cursor, Provenance};
use notices::Language;
use queue::Queues;
use wakes::Asked;

/// How the queues relate to the cursors (`decisions.md` 9).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Discipline {
    /// As in the original: a line and its cursor may part. For `script`.
    Loose,
    /// Exactly one line a pending cursor, after each command and each change by another process.
    InStep,
}

/// What a person may set about an engine.
#[derive(Debug, Clone, Copy, Default)]
pub struct Settings {
    /// The language of notices.
    pub language: Language,
    /// Whether run ends notify explicit watchers.
    pub run_end_notifies: bool,
    /// How long each condition of a pair takes.
    pub thresholds: condition::Thresholds,
}

/// The engine over one state database.
#[derive(Debug)]
pub struct Engine {
    journal: Journal,
    clock: Arc<dyn Clock>,
    settings: Settings,
    discipline: Discipline,
    queues: Queues,
    /// Wake requests since they were last taken, in order.
    asked: Vec<Asked>,
    /// The database's version when the queues last agreed with all cursors; `None` when they may not.
    in_step_at: Option<i64>,
    /// When retention is known to have run last; the database may know of a later time.
    last_prune: Millis,
    /// Links that the tick under way found quiet.
    quiet: Vec<UpstreamLink>,
    /// What the ledger tells about pairs, up to the last picture.
    histories: PairHistories,
    append_failures: u64,
    /// Whether failures of this process wait to be taken into the ledger.
    failures_wait: bool,
}

impl Engine {
    /// An engine over the state database at `path`, which is made when it is not there.
    pub fn open(
        path: &Path,
        clock: Arc<dyn Clock>,
        settings: Settings,
        discipline: Discipline,
    ) -> Result<Self, EngineError> {
        let mut journal = Journal::open(path, clock.now())?;
        journal.set_run_end_notifies(settings.run_end_notifies);
        let mut engine = Self {
            journal,
            clock,
            settings,
            discipline,
            queues: Queues::new(settings.language),
            asked: Vec::new(),
            in_step_at: None,
            last_prune: 0,
            quiet: Vec::new(),
            histories: PairHistories::default(),
            append_failures: 0,
            failures_wait: false,
        };
        engine.keep_in_step()?;
        engine.asked.clear();
        Ok(engine)
    }

    /// The present.
    pub fn now(&self) -> Millis {
        self.clock.now()
    }

    /// The state database.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// The state database, for what no command covers. Whoever moves cursors there calls [`Engine::keep_in_step`] afterwards.
    pub fn journal_mut(&mut self) -> &mut Journal {
        &mut self.journal
    }

    /// The queues of pending lines.
    pub fn queues(&self) -> &Queues {
        &self.queues
    }

    /// The queues, to take from and add to them without acknowledging anything. The next command brings them in step again.
    pub fn queues_mut(&mut self) -> &mut Queues {
        self.in_step_at = None;
        &mut self.queues
    }

    /// Takes the wake requests made since they were last taken, in order.
    pub fn take_asked(&mut self) -> Vec<Asked> {
        std::mem::take(&mut self.asked)
    }

    /// How many appends failed.
    pub fn append_failures(&self) -> u64 {
        self.append_failures
    }

    /// What follows an event that was recorded: notices and wakes in watcher order, retention when it is due.
    fn follow(&mut self, appended: &Appended) {
        if let Some(event) = &appended.event {
            for Notice { watcher, target, since, ambient, .. } in &appended.notices {
                self.queues.add_notice(watcher, target, *since, event.sequence, *ambient);
                self.ask_wake(watcher, target, *ambient);
            }
            if self.discipline == Discipline::InStep {
                for watcher in &appended.seeded {
                    self.queues.forget(watcher, &event.session);
                }
            }
        }
        if self.prune_if_due() {
            self.stay_in_step();
        } else {
            self.follow_others();
        }
    }

    /// Queues the notice of a cursor that is pending, since its last seen, and asks for the wake.
    fn deliver_cursor(&mut self, cursor: &Cursor) {
        let Cursor { watcher, target, seen, material, .. } = cursor;
        let ambient = cursor.provenance == Provenance::AmbientGroup;
        self.queues.add_notice(watcher, target, *seen, *material, ambient);
        self.ask_wake(watcher, target, ambient);
    }

    /// Asks for a wake. Who watches ambiently and sub-agents are never woken: they find the line at their next turn.
    fn ask_wake(&mut self, watcher: &SessionKey, target: &SessionKey, ambient: bool) {
        if !ambient && !watcher.is_subagent() {
            self.asked.push(Asked::about(watcher, target));
        }
    }

    /// Runs retention when it is due, and says whether it ran. A failure is reported and changes nothing for the caller.
    fn prune_if_due(&mut self) -> bool {
        let now = self.now();
        if now - self.last_prune <= PRUNE_INTERVAL {
            return false;
        }
        let pruned = self.journal.last_prune().and_then(|last| {
            self.last_prune = last.max(self.last_prune);
            let due = now - self.last_prune > PRUNE_INTERVAL;
            if due { self.prune_now().map(|_| true) } else { Ok(false) }
        });
        pruned.unwrap_or_else(|error| {
            tracing::warn!(%error, "retention failed; it is tried again after the next event");
            false
        })
    }

    fn prune_now(&mut self) -> Result<Pruned, JournalError> {
        let now = self.now();
        let pruned = self.journal.prune(now)?;
        self.last_prune = self.last_prune.max(now);
        Ok(pruned)
    }

    /// Runs retention now.
    pub fn prune(&mut self) -> Result<(), EngineError> {
        self.prune_now()?;
        self.keep_in_step()
    }
}

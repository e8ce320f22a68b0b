//! The loop of the live engine: requests, changes by other processes, the monitor, the wakes, and who the owner is.
//!
//! Nothing in it waits for a file or another program: probes, listings and wake commands run on threads of their own and come
//! back as [`Internal`] messages.

mod alerting;
mod requests;
mod rounds;
mod ticking;
mod touching;
mod wake_up;

use std::collections::{HashMap, VecDeque};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot, watch};

use super::alerts::Alerts;
use super::feed::{Feed, FeedItem, Outlet};
use super::live::{Asked as Question, LiveOptions, Reply, Schedule};
use super::lock::{OwnerLock, is_owned};
use super::probing::InFlight;
use super::snapshot::{Problem, Role, Snapshot};
use super::wakes::{Asked, WakeOutcome, Wakes};
use super::{Discipline, Engine, EngineError};
use crate::clock::{MINUTE, Millis};
use crate::upstream::{Baseline, Continuation, Finding, Listing, Probe, UpstreamError};
use rounds::{Round, RoundNumber};
use ticking::Tick;
use touching::Touching;

/// How often the loop looks for what other processes wrote and for what is due.
const POLL: Duration = Duration::from_millis(150);
/// How often a viewer tries to become the owner.
const TRY_LOCK: Duration = Duration::from_secs(1);
/// How often the loop makes sure that the file of the state database is still there.
const LOOK_AT_FILE: Duration = Duration::from_secs(1);
/// A picture that time has changed is made anew this often at most, and this often while alerts look at it.
const REFRESH: Duration = Duration::from_secs(5);
/// Problems that are kept for the screen.
const PROBLEMS: usize = 50;

type Answer = oneshot::Sender<Result<Reply, String>>;

/// What comes back from other threads.
enum Internal {
    Found(RoundNumber, Box<(Probe, Finding)>),
    Probed(RoundNumber),
    Touched,
    Continued(Vec<(&'static str, Continuation)>),
    Woken(Asked, WakeOutcome),
    NotTold(String),
    Listed(Result<Listing, UpstreamError>, Answer),
    /// What was found, whether the operator is to watch it, and who asked.
    Baseline(Result<Box<Baseline>, UpstreamError>, bool, Answer),
}

/// The live engine while it runs.
pub(in crate::engine) struct Runner {
    options: LiveOptions,
    engine: Engine,
    lock: Option<OwnerLock>,
    role: Role,
    wakes: Wakes,
    alerts: Alerts,
    in_flight: InFlight,
    rounds: HashMap<RoundNumber, Round>,
    last_round: RoundNumber,
    tick: Option<Tick>,
    touching: Touching,
    started_at: Millis,
    next_tick_at: Millis,
    tried_lock: Instant,
    data_version: i64,
    /// Which file the state database was when it was opened.
    file: Option<(u64, u64)>,
    looked_at_file: Instant,
    feed: Feed,
    feed_out: Outlet,
    snapshots: watch::Sender<Arc<Snapshot>>,
    revision: u64,
    pictured: Instant,
    dirty: bool,
    problems: VecDeque<Problem>,
    internal: mpsc::UnboundedSender<Internal>,
    internal_in: mpsc::UnboundedReceiver<Internal>,
}

impl Runner {
    /// Opens the state database, tries to become the owner, and publishes the first picture.
    pub(super) fn open(
        options: LiveOptions,
        snapshots: watch::Sender<Arc<Snapshot>>,
        feed_out: mpsc::Sender<(Millis, FeedItem)>,
    ) -> Result<Self, EngineError> {
        let engine =
            Engine::open(&options.db, options.clock.clone(), options.settings, Discipline::InStep)?;
        let feed = engine.feed_from_here()?;
        let (internal, internal_in) = mpsc::unbounded_channel();
        let now = engine.now();
        let mut runner = Self {
            data_version: engine.journal().data_version()?,
            engine,
            lock: None,
            role: Role::Visitor,
            wakes: Wakes::default(),
            alerts: Alerts::default(),
            in_flight: InFlight::default(),
            rounds: HashMap::new(),
            last_round: 0,
            tick: None,
            touching: Touching::default(),
            started_at: now,
            next_tick_at: options.schedule.next_after(now, now),
            tried_lock: Instant::now(),
            file: identity(&options.db),
            looked_at_file: Instant::now(),
            feed,
            feed_out: Outlet::new(feed_out),
            snapshots,
            revision: 0,
            pictured: Instant::now(),
            dirty: true,
            problems: VecDeque::new(),
            internal,
            internal_in,
            options,
        };
        runner.try_lock();
        runner.dirty = false;
        runner.publish()?;
        Ok(runner)
    }

    /// Runs until it is told to stop.
    pub(super) fn run(
        mut self,
        mut requests: mpsc::Receiver<Question>,
        mut stopped: watch::Receiver<bool>,
    ) {
        let runtime = match tokio::runtime::Builder::new_current_thread().enable_time().build() {
            Ok(runtime) => runtime,
            Err(error) => {
                tracing::error!(%error, "the engine has no runtime");
                return;
            }
        };
        if self.lock.is_some() {
            self.begin_to_own();
        }
        runtime.block_on(async {
            let mut poll = tokio::time::interval(POLL);
            poll.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            loop {
                tokio::select! {
                    biased;
                    _ = stopped.changed() => break,
                    Some((request, answer)) = requests.recv() => self.answer(request, answer),
                    Some(message) = self.internal_in.recv() => self.take(message),
                    () = at(self.touching.due) => self.probe_touched(),
                    _ = poll.tick() => self.poll(),
                }
                self.after_each();
            }
        });
        self.leave();
    }

    /// What is looked at regularly: the lock, other processes, the monitor, the wakes.
    fn poll(&mut self) {
        if self.looked_at_file.elapsed() >= LOOK_AT_FILE {
            self.looked_at_file = Instant::now();
            self.look_at_file();
            self.look_at_lock();
        }
        if self.lock.is_none() && self.tried_lock.elapsed() >= TRY_LOCK {
            self.try_to_own();
        }
        match self.engine.journal().data_version() {
            Ok(version) if version != self.data_version => {
                self.data_version = version;
                self.dirty = true;
                let kept = self.engine.keep_in_step();
                self.report("could not follow what another process wrote", kept);
                self.follow_folders();
            }
            Ok(_) => {}
            Err(error) => {
                self.problem(format!("could not look for changes by other processes: {error}"));
            }
        }
        self.look_for_lost_folders();
        let now = self.engine.now();
        if self.lock.is_some() {
            let Schedule { first, period } = self.options.schedule;
            if self.next_tick_at - now > first.max(period) {
                // The clock was put back; waiting for it to come forward again would stop the monitor for as long.
                self.started_at = now;
                self.next_tick_at = self.options.schedule.next_after(now, now);
            }
            if now >= self.next_tick_at {
                self.next_tick_at = self.options.schedule.next_after(self.started_at, now);
                self.begin_tick(None);
            }
            for asked in self.wakes.due(now) {
                self.wake(asked);
            }
        }
        if self.pictured.elapsed() >= REFRESH.max(self.pictured_in() * 100) {
            let holds = self.snapshots.borrow().holds_at(now);
            self.dirty |= !holds || !self.alerts.rules().is_empty();
        }
    }

    /// SQLite goes on with a file that was deleted or replaced under it, and everything written would be lost with it.
    fn look_at_file(&mut self) {
        let now = identity(&self.options.db);
        let db = self.options.db.display();
        if now.is_none() {
            self.problem(format!(
                "the state database {db} is gone; what happens from now on is lost: stop, put the file back and start again"
            ));
        } else if now != self.file {
            self.problem(format!(
                "another file lies at {db} than the one that was opened; what happens from now on is lost: stop and start again"
            ));
        }
    }

    /// A lock whose file was deleted keeps nobody out. Whoever holds one is the owner no longer, unless nobody else became one.
    fn look_at_lock(&mut self) {
        if self.lock.as_ref().is_none_or(OwnerLock::is_in_place) {
            return;
        }
        self.lock = None;
        self.wakes = Wakes::default();
        self.touching = Touching::default();
        self.problem(format!(
            "the owner's lock {} was deleted or replaced while this process held it; it is not the owner any more unless it gets it again",
            OwnerLock::path(&self.options.db).display()
        ));
        self.try_to_own();
    }

    /// How long the last picture took, as far as the snapshot tells: large states are pictured less often.
    fn pictured_in(&self) -> Duration {
        let rows = self.snapshots.borrow().watches.len() + self.snapshots.borrow().sessions.len();
        Duration::from_micros(u64::try_from(rows).unwrap_or(u64::MAX).saturating_mul(2))
    }

    /// After each message: wakes that were asked for, the feed, the picture.
    fn after_each(&mut self) {
        let asked = self.engine.take_asked();
        if self.lock.is_some() {
            self.ask_wakes(&asked);
        }
        if !self.dirty {
            return;
        }
        self.dirty = false;
        if let Err(error) = self.publish() {
            self.problem(format!("could not read the state: {error}"));
            self.publish_problems();
        }
        self.forward_feed();
    }

    fn publish(&mut self) -> Result<(), EngineError> {
        self.revision += 1;
        let owned = self.lock.is_some() || is_owned(&self.options.db);
        let problems: Vec<_> = self.problems.iter().cloned().collect();
        let snapshot = self.engine.snapshot(self.revision, self.role.clone(), owned, &problems)?;
        self.pictured = Instant::now();
        self.show(snapshot);
        Ok(())
    }

    fn show(&mut self, mut snapshot: Snapshot) {
        if self.lock.is_some() {
            snapshot.pulse.next_tick_at = Some(self.next_tick_at);
        }
        self.look_for_alerts(&snapshot);
        self.snapshots.send_replace(Arc::new(snapshot));
    }

    /// Shows the problems beside the last picture that could be made.
    fn publish_problems(&mut self) {
        self.revision += 1;
        let mut snapshot = Snapshot::clone(&self.snapshots.borrow());
        snapshot.revision = self.revision;
        snapshot.role = self.role.clone();
        snapshot.problems = self.problems.iter().cloned().collect();
        self.snapshots.send_replace(Arc::new(snapshot));
    }

    /// Forwards everything that is new, however much another process wrote at once.
    fn forward_feed(&mut self) {
        while !self.feed_out.is_closed() {
            match self.engine.read_feed(&mut self.feed) {
                Ok(items) if items.is_empty() => return,
                Ok(items) => {
                    for item in items {
                        self.tell(item);
                    }
                }
                Err(error) => {
                    self.problem(format!("could not read what happened: {error}"));
                    return;
                }
            }
        }
    }

    /// Puts an item into the feed.
    fn tell(&mut self, item: FeedItem) {
        self.feed_out.tell(item, self.engine.now());
    }

    /// Tells a failure. One that goes on is told once in a while, not at each look.
    fn problem(&mut self, message: String) {
        let now = self.engine.now();
        let is_last = self.problems.back().is_some_and(|last| last.message == message);
        if is_last
            || self.problems.iter().any(|known| known.message == message && now - known.at < MINUTE)
        {
            return;
        }
        tracing::warn!("{message}");
        self.tell(FeedItem::Error(message.clone()));
        self.problems.push_back(Problem { at: now, message });
        if self.problems.len() > PROBLEMS {
            self.problems.pop_front();
        }
        self.dirty = true;
    }

    fn report(&mut self, what: &str, result: Result<(), EngineError>) {
        if let Err(error) = result {
            self.problem(format!("{what}: {error}"));
        }
    }

    /// Tries to become the owner.
    fn try_to_own(&mut self) {
        self.try_lock();
        if self.lock.is_some() {
            self.begin_to_own();
        }
    }

    /// Does what a new owner does first. It sweeps: what was pending gets its line and its wake.
    fn begin_to_own(&mut self) {
        let owned = self
            .engine
            .journal_mut()
            .set_owner(std::process::id(), self.started_at)
            .map_err(EngineError::from);
        self.report("could not write down that this process is the owner", owned);
        self.take_over_alerts();
        let swept = self.engine.sweep().map(drop);
        self.report("could not sweep pending notices", swept);
        self.tell(FeedItem::Owner(Role::Owner));
        self.dirty = true;
    }

    /// Tries to take the owner's lock. Who gets it listens from then on: nothing may happen unheard meanwhile.
    fn try_lock(&mut self) {
        self.tried_lock = Instant::now();
        match OwnerLock::take(&self.options.db) {
            Ok(Some(lock)) => {
                self.lock = Some(lock);
                self.role = Role::Owner;
                let now = self.engine.now();
                self.started_at = now;
                self.next_tick_at = self.options.schedule.next_after(now, now);
                self.listen();
                self.dirty = true;
            }
            Ok(None) => {
                let role = Role::Viewer { owner: self.engine.journal().owner().ok().flatten() };
                if self.role != role {
                    self.role = role.clone();
                    self.tell(FeedItem::Owner(role));
                    self.dirty = true;
                }
            }
            Err(error) => self.problem(format!(
                "could not take the owner's lock {}: {error}; no monitor runs here",
                OwnerLock::path(&self.options.db).display()
            )),
        }
    }

    fn leave(mut self) {
        if self.lock.is_some()
            && let Err(error) = self.engine.journal_mut().clear_owner(std::process::id())
        {
            tracing::warn!(%error, "could not write down that the owner left");
        }
    }

    fn take(&mut self, message: Internal) {
        match message {
            Internal::Found(round, answered) => {
                let (probe, finding) = *answered;
                self.found(round, &probe, finding);
            }
            Internal::Probed(round) => self.probed(round),
            Internal::Touched => self.woken_by_file(),
            Internal::Continued(found) => {
                for (catalog, continuation) in &found {
                    self.continued(catalog, continuation);
                }
            }
            Internal::Woken(asked, outcome) => self.woken(&asked, &outcome),
            Internal::NotTold(failed) => self.problem(failed),
            Internal::Listed(listed, answer) => {
                let _ = answer.send(self.not_adopted(listed));
            }
            Internal::Baseline(found, watch, answer) => {
                let adopted = self.adopt(found, watch);
                self.follow_folders();
                self.dirty = true;
                let _ = answer.send(adopted.map_err(|error| error.to_string()));
            }
        }
    }
}

/// Waits until then; for ever without a time.
async fn at(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due.into()).await,
        None => std::future::pending().await,
    }
}

/// Device and number of the file at `path`; `None` when there is none.
fn identity(path: &Path) -> Option<(u64, u64)> {
    path.metadata().ok().map(|meta| (meta.dev(), meta.ino()))
}

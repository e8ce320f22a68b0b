//! Another system's state database, looked at from the outside: nothing is written, and what only that system's memory knows is
//! unknown.

mod feeding;
mod telling;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, watch};

use super::alerts::AlertRule;
use super::commands::{Address, known_address};
use super::feed::{FeedItem, Outlet};
use super::live::{Asked as Question, Reply, Request};
use super::observer::Observer;
use super::picture::Known;
use super::reason::Reason;
use super::snapshot::{Problem, Role, Snapshot};
use super::{EngineError, Settings};
use crate::clock::{Clock, Millis};
use crate::event::{Changes, Sequence};
use crate::journal::Reader;
use crate::journal::changes::PAGE;
use crate::journal::pairs::PairHistories;
use crate::watch::Condition;
use feeding::Feeding;
use telling::Telling;

/// How often the file is asked whether its owner wrote.
const POLL: Duration = Duration::from_millis(150);
/// A picture that time has changed is made anew this often at most, and this often while alerts look at it.
const REFRESH: Duration = Duration::from_secs(5);

/// After a picture, reading rests for this many times as long as it took.
const REST: u32 = 10;

/// What a writing request is answered.
pub const READ_ONLY: &str = "this is another system's state database, attached read-only; do it there, or start tidings without --attach";

/// Another system's state database.
#[derive(Debug)]
pub struct Attached {
    reader: Reader,
    clock: Arc<dyn Clock>,
    settings: Settings,
    histories: PairHistories,
}

impl Attached {
    /// Attaches to the state database at `path`.
    ///
    /// # Errors
    /// One line that says why it can't be read.
    pub fn open(
        path: &Path,
        clock: Arc<dyn Clock>,
        settings: Settings,
    ) -> Result<Self, EngineError> {
        let histories = PairHistories::default();
        Ok(Self { reader: Reader::attach(path)?, clock, settings, histories })
    }

    /// Reads; once more as from a file in use when it was taken for one that nobody writes, and somebody did.
    ///
    /// # Errors
    /// What `read` says, or why the file can't be read any more.
    pub fn steadily<T>(
        &mut self,
        read: impl Fn(&mut Self) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let found = read(self);
        if self.reader.is_steady() {
            return found;
        }
        self.reader = Reader::attach_in_use(self.reader.path())?;
        self.histories = PairHistories::default();
        read(self)
    }

    /// What looks at it. Whoever reads through it does so [`Attached::steadily`].
    pub fn observer(&mut self) -> Observer<'_> {
        Observer {
            now: self.clock.now(),
            reader: &mut self.reader,
            settings: &self.settings,
            histories: &mut self.histories,
            until: Sequence(i64::MAX),
        }
    }

    /// The state database.
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// A picture of its present state.
    pub fn snapshot(
        &mut self,
        revision: u64,
        problems: &[Problem],
    ) -> Result<Snapshot, EngineError> {
        self.steadily(|attached| {
            attached.observer().picture(Known {
                revision,
                role: Role::Visitor,
                owned: false,
                append_failures: 0,
                queues: Vec::new(),
                problems,
            })
        })
    }

    /// What changed in a session after a version.
    pub fn changes(
        &mut self,
        session: &Address,
        after: Sequence,
        limit: usize,
    ) -> Result<Changes, EngineError> {
        self.steadily(|attached| {
            Ok(attached.reader.changes(&session.0, &session.1, after, limit)?)
        })
    }

    /// The session and owner that a key names, if anything knows that session.
    pub fn known_address(
        &mut self,
        key: &str,
        agent: Option<&str>,
    ) -> Result<Address, EngineError> {
        self.steadily(|attached| known_address(&attached.reader, key, agent))
    }
}

/// How an attached database is looked at live.
#[derive(Debug, Clone)]
pub struct AttachOptions {
    /// The state database.
    pub path: PathBuf,
    /// Where time comes from.
    pub clock: Arc<dyn Clock>,
    /// What a person may set.
    pub settings: Settings,
    /// What to alert about.
    pub alerts: Vec<AlertRule>,
    /// The folder of our own in which it is remembered which alerts are open; without one they are open for this process alone.
    pub remember_in: Option<PathBuf>,
}

/// The loop that looks at an attached database.
pub(super) struct Watching {
    options: AttachOptions,
    /// `None` while it can't be read.
    attached: Option<Attached>,
    data_version: i64,
    file: Option<FileIdentity>,
    snapshots: watch::Sender<Arc<Snapshot>>,
    revision: u64,
    pictured: Instant,
    /// How long the last picture took: a large state is pictured less often, so that its owner hardly ever meets a reader.
    took: Duration,
    read_at: Millis,
    problem: Option<Problem>,
    telling: Telling,
    feeding: Feeding,
}

/// Tells a file from another one put in its place.
type FileIdentity = (u64, u64);

fn identity(path: &Path) -> Option<FileIdentity> {
    use std::os::unix::fs::MetadataExt;
    path.metadata().ok().map(|file| (file.dev(), file.ino()))
}

impl Watching {
    /// Attaches, and publishes the first picture.
    pub(super) fn open(
        options: AttachOptions,
        snapshots: watch::Sender<Arc<Snapshot>>,
        feed: mpsc::Sender<(Millis, FeedItem)>,
    ) -> Result<Self, EngineError> {
        let (rules, folder) = (options.alerts.clone(), options.remember_in.as_deref());
        let mut watching = Self {
            attached: None,
            data_version: 0,
            file: None,
            snapshots,
            revision: 0,
            pictured: Instant::now(),
            took: Duration::ZERO,
            read_at: options.clock.now(),
            problem: None,
            telling: Telling::new(rules, folder, &options.path),
            feeding: Feeding::new(Outlet::new(feed)),
            options,
        };
        watching.attach()?;
        watching.publish()?;
        Ok(watching)
    }

    /// Looks until it is told to stop.
    pub(super) fn run(
        mut self,
        mut requests: mpsc::Receiver<Question>,
        mut stopped: watch::Receiver<bool>,
    ) {
        let runtime = match tokio::runtime::Builder::new_current_thread().enable_time().build() {
            Ok(runtime) => runtime,
            Err(error) => {
                tracing::error!(%error, "the attached database is not looked at: there is no runtime");
                return;
            }
        };
        runtime.block_on(async {
            let mut poll = tokio::time::interval(POLL);
            poll.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            loop {
                tokio::select! {
                    biased;
                    _ = stopped.changed() => break,
                    Some((request, answer)) = requests.recv() => {
                        let _ = answer.send(self.answer(&request));
                    }
                    _ = poll.tick() => self.poll(),
                }
            }
        });
    }

    fn attach(&mut self) -> Result<(), EngineError> {
        let path = &self.options.path;
        self.file = identity(path);
        let attached = Attached::open(path, self.options.clock.clone(), self.options.settings)?;
        self.data_version = attached.reader.data_version()?;
        self.attached = Some(attached);
        Ok(())
    }

    fn poll(&mut self) {
        if let Err(error) = self.look() {
            self.attached = None;
            self.lost(error.to_string());
        }
    }

    /// Publishes a picture when the owner wrote, when the file is another one, or when time went on.
    fn look(&mut self) -> Result<(), EngineError> {
        let replaced = self.file != identity(&self.options.path);
        let steady = self.attached.as_ref().is_some_and(|attached| attached.reader.is_steady());
        if replaced || !steady {
            self.attached = None;
            self.attach()?;
            return self.publish();
        }
        let Some(attached) = &self.attached else { return Ok(()) };
        let version = attached.reader.data_version()?;
        let since = self.pictured.elapsed();
        let holds = self.options.alerts.is_empty()
            && self.snapshots.borrow().holds_at(self.options.clock.now());
        let holds = holds || since < REFRESH;
        let idle = version == self.data_version && holds;
        if idle || since < self.took * REST {
            return Ok(());
        }
        self.data_version = version;
        self.publish()
    }

    fn publish(&mut self) -> Result<(), EngineError> {
        let Some(attached) = &mut self.attached else { return Ok(()) };
        let began = Instant::now();
        let snapshot = attached.snapshot(self.revision + 1, self.telling.problems())?;
        self.feeding.forward(attached.reader(), snapshot.at)?;
        self.revision += 1;
        self.read_at = snapshot.at;
        self.problem = None;
        self.pictured = Instant::now();
        self.took = self.pictured - began;
        self.telling.look(&snapshot);
        self.snapshots.send_replace(Arc::new(snapshot));
        Ok(())
    }

    /// Says that the database can't be read: the last picture stays, and each pair in it is unknown from now on.
    fn lost(&mut self, message: String) {
        if self.problem.as_ref().is_some_and(|problem| problem.message == message)
            && self.pictured.elapsed() < REFRESH
        {
            return;
        }
        let now = self.options.clock.now();
        if self.problem.as_ref().is_none_or(|problem| problem.message != message) {
            self.feeding.failed(&message, now);
        }
        let at = self.problem.take().map_or(now, |problem| problem.at);
        let problem = Problem { at, message };
        let mut snapshot = Snapshot::clone(&self.snapshots.borrow());
        self.revision += 1;
        snapshot.revision = self.revision;
        snapshot.at = now;
        snapshot.problems = vec![problem.clone()];
        for row in Arc::make_mut(&mut snapshot.watches) {
            row.condition = Condition::Unknown;
            row.reason = Reason::CantBeRead { since: self.read_at };
        }
        self.problem = Some(problem);
        self.pictured = Instant::now();
        self.telling.look(&snapshot);
        self.snapshots.send_replace(Arc::new(snapshot));
    }

    fn answer(&mut self, request: &Request) -> Result<Reply, String> {
        let Some(attached) = &mut self.attached else {
            let problem = self.problem.as_ref().map_or("", |problem| &problem.message);
            return Err(format!("the attached database can't be read: {problem}"));
        };
        let answer = match request {
            Request::Changes { session, agent, after } => attached
                .changes(&(session.clone(), agent.clone()), *after, PAGE)
                .map(Reply::Changes),
            Request::Storage => {
                let storage = attached.steadily(|attached| attached.observer().storage(0));
                storage.map(|storage| Reply::Storage(Box::new(storage)))
            }
            Request::Explain(question) => {
                let answer = attached.steadily(|attached| attached.observer().explain(question));
                answer.map(|answer| Reply::Explained(Box::new(answer)))
            }
            Request::Past { from, steps } => {
                let past = attached.steadily(|attached| attached.observer().past(*from, *steps));
                past.map(|past| Reply::Past(past.map(Arc::new)))
            }
            _ => return Err(READ_ONLY.into()),
        };
        answer.map_err(|error| error.to_string())
    }
}

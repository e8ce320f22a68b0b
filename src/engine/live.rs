//! The live engine: a thread that runs an [`Engine`](super::Engine) with the monitor, the wakes and the sweep, and the handle
//! by which surfaces talk to it.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::sync::{mpsc, oneshot, watch};

use super::alerts::AlertRule;
use super::attached::{AttachOptions, Watching};
use super::explain::{Explanation, Question};
use super::feed::FeedItem;
use super::past::Past;
use super::runner::Runner;
use super::snapshot::{Snapshot, WakeRow};
use super::storage::Storage;
use super::{EngineError, Settings};
use crate::clock::{Clock, MINUTE, Millis, SECOND};
use crate::event::{Changes, Sequence};
use crate::session_key::{AgentId, SessionKey};
use crate::upstream::{Listing, Provider};

/// Requests that may wait; a surface that asks more waits itself.
const REQUESTS: usize = 64;
/// Feed items that may wait to be read; what comes beyond is dropped, counted and said.
const FEED: usize = 8_192;

/// How a live engine runs.
#[derive(Debug, Clone)]
pub struct LiveOptions {
    /// The state database.
    pub db: PathBuf,
    /// Where time comes from.
    pub clock: Arc<dyn Clock>,
    /// What a person may set about the engine.
    pub settings: Settings,
    /// The catalogs.
    pub providers: Vec<Arc<dyn Provider>>,
    /// The program that wakes a watcher, with its arguments; without one, a wake ends skipped.
    pub wake_command: Vec<String>,
    /// Whether a person sees the notices: then the operator's wake is the notice on the screen.
    pub screen: bool,
    /// Whether file events make the monitor look at once at what was touched, between its ticks.
    pub file_events: bool,
    /// When the monitor ticks.
    pub schedule: Schedule,
    /// What to alert about.
    pub alerts: Vec<AlertRule>,
}

/// When the monitor ticks, in milliseconds after its start (`upstream.md` 2.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    /// The first tick.
    pub first: Millis,
    /// Each later tick is at a multiple of this.
    pub period: Millis,
}

impl Default for Schedule {
    fn default() -> Self {
        Self { first: 15 * SECOND, period: MINUTE }
    }
}

impl Schedule {
    /// The first tick after `now`, for a monitor that started at `started`.
    pub(super) fn next_after(self, started: Millis, now: Millis) -> Millis {
        let first = started + self.first;
        if now < first {
            return first;
        }
        started + ((now - started) / self.period + 1) * self.period
    }
}

/// A running live engine.
#[derive(Debug)]
pub struct Live {
    handle: Handle,
    feed: Option<mpsc::Receiver<(Millis, FeedItem)>>,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Live {
    /// Starts an engine on a thread of its own. The first snapshot is there when this returns.
    ///
    /// # Errors
    /// The state database can't be opened, or no thread can be had.
    pub fn start(options: LiveOptions) -> Result<Self, EngineError> {
        let (feed_in, feed) = mpsc::channel(FEED);
        let mut live =
            Self::spawn(move |snapshots| Runner::open(options, snapshots, feed_in), Runner::run)?;
        live.feed = Some(feed);
        Ok(live)
    }

    /// Looks at another system's state database on a thread of its own, strictly read-only: requests that write are refused, and
    /// the feed has the events that its owner records. The first snapshot is there when this returns.
    ///
    /// # Errors
    /// The state database can't be read, or no thread can be had.
    pub fn attach(options: AttachOptions) -> Result<Self, EngineError> {
        let (feed_in, feed) = mpsc::channel(FEED);
        let mut live = Self::spawn(
            move |snapshots| Watching::open(options, snapshots, feed_in),
            Watching::run,
        )?;
        live.feed = Some(feed);
        Ok(live)
    }

    /// Opens something on a thread of its own and runs it there.
    fn spawn<T>(
        open: impl FnOnce(watch::Sender<Arc<Snapshot>>) -> Result<T, EngineError> + Send + 'static,
        run: impl FnOnce(T, mpsc::Receiver<Asked>, watch::Receiver<bool>) + Send + 'static,
    ) -> Result<Self, EngineError> {
        let (requests, asked) = mpsc::channel(REQUESTS);
        let (snapshots_in, snapshots) = watch::channel(Arc::new(Snapshot::default()));
        let (stop, stopped) = watch::channel(false);
        let (opened_in, opened) = std::sync::mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("engine".into())
            .spawn(move || match open(snapshots_in) {
                Ok(running) => {
                    let _ = opened_in.send(Ok(()));
                    run(running, asked, stopped);
                }
                Err(error) => {
                    let _ = opened_in.send(Err(error));
                }
            })
            .map_err(|error| {
                EngineError::Refused(format!("no thread could be started for the engine: {error}"))
            })?;
        opened.recv().map_err(|_| {
            EngineError::Refused("the engine ended while it started; the log says why".into())
        })??;
        let handle = Handle::new(requests, snapshots);
        Ok(Self { handle, feed: None, stop, thread: Some(thread) })
    }

    /// How to talk to it.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// The feed, with the time of each item: everything that is decided from the start on. It can be taken once; dropped, nothing
    /// is collected any more.
    pub fn feed(&mut self) -> Option<mpsc::Receiver<(Millis, FeedItem)>> {
        self.feed.take()
    }

    /// Stops it and waits until it has stopped: the lock is free then.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = self.stop.send(true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What a surface may ask of the live engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// What changed in a session after a version: one page, at most 200 events.
    Changes {
        /// The session.
        session: SessionKey,
        /// Its owner.
        agent: AgentId,
        /// The version, 0 or more.
        after: Sequence,
    },
    /// The operator watches a session.
    Watch(SessionKey),
    /// The operator no longer watches a session.
    Unwatch(SessionKey),
    /// The operator has read a session's changes up to the version shown.
    Acknowledge {
        /// The session.
        target: SessionKey,
        /// The version shown.
        shown: Sequence,
    },
    /// One monitor pass now.
    Tick,
    /// The foreign sessions of this machine that are not adopted.
    Catalog,
    /// Adopt the foreign session with this thread id or path; nobody watches it yet.
    AdoptOnly {
        /// The catalog.
        catalog: String,
        /// Thread id or path.
        wanted: String,
    },
    /// Forget the foreign source of a session; the session stays.
    Forget {
        /// The session.
        session: SessionKey,
        /// Its owner.
        agent: AgentId,
    },
    /// How long the files behind the links are now.
    Sizes,
    /// All wakes, those that wait and how the last ones ended.
    Wakes,
    /// How full the state database is.
    Storage,
    /// Why a watcher was, or was not, told.
    Explain(Question),
    /// The picture `steps` events before (negative) or after an event.
    Past {
        /// The event from which to count.
        from: Sequence,
        /// How many events further.
        steps: i64,
    },
    /// Adopt the foreign session with this thread id or path, and watch it as the operator.
    Adopt {
        /// The catalog.
        catalog: String,
        /// Thread id or path.
        wanted: String,
    },
}

/// What the live engine answers.
#[derive(Debug, Clone)]
pub enum Reply {
    /// To [`Request::Changes`].
    Changes(Changes),
    /// To [`Request::Catalog`].
    Catalog(Listing),
    /// To [`Request::Adopt`] and [`Request::AdoptOnly`]: the session's key.
    Adopted(SessionKey),
    /// To [`Request::Sizes`], in bytes, by session and owner; a file that can't be looked at is left out.
    Sizes(Vec<(SessionKey, AgentId, u64)>),
    /// To [`Request::Wakes`].
    Wakes(Vec<WakeRow>),
    /// To [`Request::Storage`].
    Storage(Box<Storage>),
    /// To [`Request::Explain`].
    Explained(Box<Explanation>),
    /// To [`Request::Past`]; `None` when the journal is empty.
    Past(Option<Arc<Past>>),
    /// To the others: a sentence about what was done.
    Done(String),
}

/// A request with the place for its answer: a reply, or one line that says what failed and what to do.
pub type Asked = (Request, oneshot::Sender<Result<Reply, String>>);

/// How a surface talks to the live engine. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Handle {
    requests: mpsc::Sender<Asked>,
    snapshots: watch::Receiver<Arc<Snapshot>>,
}

impl Handle {
    /// A handle over the two ends. Tests put their own engine behind it.
    pub fn new(requests: mpsc::Sender<Asked>, snapshots: watch::Receiver<Arc<Snapshot>>) -> Self {
        Self { requests, snapshots }
    }

    /// The snapshots, newest only.
    pub fn snapshots(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.snapshots.clone()
    }

    /// Asks, and waits for the answer. The error is one line for people.
    pub async fn ask(&self, request: Request) -> Result<Reply, String> {
        let gone = || "the engine has stopped; quit and start again".to_owned();
        let (answer, answered) = oneshot::channel();
        self.requests.send((request, answer)).await.map_err(|_| gone())?;
        answered.await.map_err(|_| gone())?
    }
}

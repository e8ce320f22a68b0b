//! A running engine and what it takes to wait for what it does.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;
use tidings::clock::{ManualClock, Millis};
use tidings::engine::commands::DirectMessage;
use tidings::engine::feed::FeedItem;
use tidings::engine::live::{Handle, Live, LiveOptions, Reply, Request, Schedule};
use tidings::engine::snapshot::{Snapshot, WakeState};
use tidings::engine::{Discipline, Engine, Settings};
use tidings::event::ActorType;
use tidings::journal::ledger::Step;
use tidings::session_key::SessionKey;
use tidings::upstream::claude::{ClaudeProvider, MAX_ROW_BYTES};
use tidings::upstream::{Baseline, CatalogEntry, Finding, Listing, Probe, Provider, UpstreamError};
use tokio::runtime::Runtime;

/// The present when a test begins.
pub(crate) const NOW: Millis = 1_784_203_200_000;

/// Nothing here takes long; what has not happened after this never will.
const DEADLINE: Duration = Duration::from_secs(30);

/// A database and transcripts in a temporary folder, and a clock.
pub(crate) struct Stage {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) providers: Vec<Arc<dyn Provider>>,
    pub(crate) wake_command: Vec<String>,
    pub(crate) screen: bool,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap().join("claude");
        Self {
            clock: Arc::new(ManualClock::at(NOW)),
            providers: vec![Arc::new(ClaudeProvider::new(home, MAX_ROW_BYTES))],
            wake_command: Vec::new(),
            screen: false,
            folder,
        }
    }

    pub(crate) fn db(&self) -> PathBuf {
        self.folder.path().join("state.sqlite")
    }

    pub(crate) fn start(&self) -> Running {
        let mut live = Live::start(LiveOptions {
            db: self.db(),
            clock: self.clock.clone(),
            settings: Settings::default(),
            providers: self.providers.clone(),
            wake_command: self.wake_command.clone(),
            screen: self.screen,
            file_events: false,
            schedule: Schedule::default(),
            alerts: Vec::new(),
        })
        .unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let feed = live.feed().unwrap();
        Running { handle: live.handle(), live, feed, told: Vec::new(), runtime, pokes: 0 }
    }

    /// Another connection, as another process would have.
    pub(crate) fn other(&self) -> Engine {
        Engine::open(&self.db(), self.clock.clone(), Settings::default(), Discipline::InStep)
            .unwrap()
    }

    /// A transcript with `content`.
    pub(crate) fn transcript(&self, thread: &str, content: &str) -> PathBuf {
        let folder = self.folder.path().join("claude/projects/-work");
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join(format!("{thread}.jsonl"));
        fs::write(&path, content).unwrap();
        path
    }

    /// Moves the clock to `after` milliseconds after the beginning.
    pub(crate) fn at(&self, after: Millis) {
        self.clock.set(NOW + after);
    }

    /// Another process records an event, and `running`, an owner, has noticed and looked at the clock since: whatever was due
    /// has begun when this returns. Only that look asks for this wake.
    pub(crate) fn poke(&self, running: &mut Running) {
        running.pokes += 1;
        let poker = SessionKey::new(format!("agent:main:poker-{}", running.pokes));
        let poked = SessionKey::new(format!("agent:main:poked-{}", running.pokes));
        let mut other = self.other();
        other.watch(&poker, &poked, None).unwrap();
        record(&mut other, &poked);
        running.hear_step(Step::WakeAsked, &poker);
    }
}

/// An item of the feed.
#[derive(Debug)]
struct Told {
    at: Millis,
    item: FeedItem,
    is_heard: bool,
}

/// A running engine.
pub(crate) struct Running {
    pub(crate) live: Live,
    pub(crate) handle: Handle,
    feed: tokio::sync::mpsc::Receiver<(Millis, FeedItem)>,
    told: Vec<Told>,
    runtime: Runtime,
    pokes: u32,
}

impl Running {
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        self.handle.snapshots().borrow().clone()
    }

    /// Asks, and waits for the answer.
    pub(crate) fn ask(&self, request: Request) -> Result<Reply, String> {
        let asked = format!("{request:?}");
        self.runtime
            .block_on(async { tokio::time::timeout(DEADLINE, self.handle.ask(request)).await })
            .unwrap_or_else(|_| panic!("no answer to {asked}"))
    }

    /// Waits for a snapshot.
    pub(crate) fn wait_for(
        &self,
        what: &str,
        mut is_it: impl FnMut(&Snapshot) -> bool,
    ) -> Arc<Snapshot> {
        let mut snapshots = self.handle.snapshots();
        let deadline = Instant::now() + DEADLINE;
        loop {
            let snapshot = snapshots.borrow_and_update().clone();
            if is_it(&snapshot) {
                return snapshot;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let changed = self
                .runtime
                .block_on(async { tokio::time::timeout(left, snapshots.changed()).await });
            assert!(
                matches!(changed, Ok(Ok(()))),
                "never seen: {what}; problems: {:?}",
                snapshot.problems
            );
        }
    }

    /// Waits for an item of the feed that was not heard before, whatever comes before it.
    pub(crate) fn hear(
        &mut self,
        what: &str,
        mut is_it: impl FnMut(&FeedItem) -> bool,
    ) -> FeedItem {
        let deadline = Instant::now() + DEADLINE;
        let mut looked_at = 0;
        loop {
            while let Some(told) = self.told.get_mut(looked_at) {
                looked_at += 1;
                if !told.is_heard && is_it(&told.item) {
                    told.is_heard = true;
                    return told.item.clone();
                }
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let (at, item) = self
                .runtime
                .block_on(async { tokio::time::timeout(left, self.feed.recv()).await })
                .ok()
                .flatten()
                .unwrap_or_else(|| panic!("never told: {what}; told: {:?}", self.told));
            self.told.push(Told { at, item, is_heard: false });
        }
    }

    /// Everything that was told so far.
    pub(crate) fn told(&mut self) -> impl Iterator<Item = (Millis, &FeedItem)> {
        while let Ok((at, item)) = self.feed.try_recv() {
            self.told.push(Told { at, item, is_heard: false });
        }
        self.told.iter().map(|told| (told.at, &told.item))
    }

    /// Waits for a tick to end.
    pub(crate) fn hear_tick(&mut self) {
        self.hear("a tick", |item| matches!(item, FeedItem::Tick(_)));
    }

    /// When ticks ended so far, in milliseconds after the beginning.
    pub(crate) fn ticks(&mut self) -> Vec<Millis> {
        self.told()
            .filter(|(_, item)| matches!(item, FeedItem::Tick(_)))
            .map(|(at, _)| at - NOW)
            .collect()
    }

    /// Waits for a step of a watcher; its note.
    pub(crate) fn hear_step(&mut self, step: Step, watcher: &SessionKey) -> String {
        let item = self.hear(step.as_str(), |item| {
            matches!(item, FeedItem::Step(written)
                if written.entry.step == step && written.entry.watcher.as_ref() == Some(watcher))
        });
        let FeedItem::Step(written) = item else { panic!("not a step") };
        written.entry.note.unwrap_or_default()
    }

    /// The wake of a watcher.
    pub(crate) fn wake(&self, watcher: &SessionKey) -> WakeState {
        let snapshot = self.snapshot();
        snapshot
            .watches
            .iter()
            .find(|row| row.cursor.watcher == *watcher)
            .map(|row| row.wake.clone())
            .unwrap()
    }

    pub(crate) fn stop(self) {
        self.live.stop();
    }
}

/// Records a human turn of `session` through a connection of its own, as another process would.
pub(crate) fn record(engine: &mut Engine, session: &SessionKey) {
    let recorded = engine
        .direct_message(DirectMessage {
            session: session.clone(),
            agent: session.agent().unwrap(),
            actor_type: ActorType::Human,
            actor: None,
            channel: "test".into(),
            parent: None,
            run: None,
            dedupe: None,
            payload: None,
            occurred_at: None,
        })
        .unwrap();
    assert!(recorded.event.is_some(), "somebody watches it");
}

pub(crate) fn append(path: &Path, row: &str) {
    OpenOptions::new().append(true).open(path).unwrap().write_all(row.as_bytes()).unwrap();
}

/// A typed prompt with its line end.
pub(crate) fn prompt(uuid: &str) -> String {
    let row = json!({
        "type": "user",
        "message": {"role": "user", "content": "words"},
        "uuid": uuid,
        "timestamp": jiff::Timestamp::from_millisecond(NOW).unwrap().to_string(),
        "origin": {"kind": "human"},
        "promptSource": "typed",
    });
    format!("{row}\n")
}

/// A provider whose every probe hangs until it is let go, and then finds nothing.
#[derive(Debug)]
pub(crate) struct Hanging {
    entered: Mutex<Sender<()>>,
    released: Mutex<Receiver<Finding>>,
}

/// The other end of a [`Hanging`].
pub(crate) struct Gate {
    entered: Receiver<()>,
    release: Sender<Finding>,
}

/// The catalog of a [`Hanging`].
pub(crate) const HANGING: &str = "hanging";

impl Hanging {
    pub(crate) fn new() -> (Arc<Self>, Gate) {
        let (entering, entered) = mpsc::channel();
        let (release, released) = mpsc::channel();
        let provider = Self { entered: Mutex::new(entering), released: Mutex::new(released) };
        (Arc::new(provider), Gate { entered, release })
    }
}

impl Gate {
    /// Waits until a probe hangs.
    pub(crate) fn wait(&self) {
        self.entered.recv_timeout(DEADLINE).expect("a probe begins");
    }

    /// Lets one probe go, with its answer.
    pub(crate) fn release(&self, finding: Finding) {
        self.release.send(finding).unwrap();
    }
}

impl Provider for Hanging {
    fn catalog(&self) -> &'static str {
        HANGING
    }

    fn probe(&self, _: &Probe) -> Finding {
        let _ = self.entered.lock().unwrap().send(());
        self.released.lock().unwrap().recv().unwrap_or(Finding::Quiet)
    }

    fn list(&self) -> Result<Listing, UpstreamError> {
        Ok(Listing::default())
    }

    fn baseline(&self, wanted: &str) -> Result<Baseline, UpstreamError> {
        Ok(Baseline {
            entry: CatalogEntry {
                catalog: HANGING.into(),
                thread: wanted.into(),
                path: PathBuf::from("/nowhere"),
                title: None,
                project: None,
                version: None,
                entry_point: None,
                modified_at: NOW,
                size: 0,
            },
            host: "gateway:local".into(),
            kind: HANGING.into(),
            reference: json!({ "place": wanted }),
            marker: json!({ "offset": 0 }),
        })
    }

    fn root(&self) -> &Path {
        Path::new("/nowhere")
    }
}

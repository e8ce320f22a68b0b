//! Transcripts in a temporary folder, an engine that runs live over them, and processes that write them.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tidings::clock::SystemClock;
use tidings::engine::feed::FeedItem;
use tidings::engine::live::{Live, LiveOptions, Reply, Request, Schedule};
use tidings::engine::{Discipline, Engine, Settings};
use tidings::event::{EventKind, Sequence};
use tidings::session_key::{AgentId, SessionKey};
use tidings::upstream::claude::ClaudeProvider;
use tokio::sync::mpsc;

/// A condition that has not come true after this never will.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

/// A schedule that never ticks while a test runs.
pub(crate) const NEVER: Schedule = Schedule { first: 3_600_000, period: 3_600_000 };
/// A schedule that ticks all the time.
pub(crate) const OFTEN: Schedule = Schedule { first: 50, period: 50 };

pub(crate) fn prompt(id: usize) -> String {
    format!(
        "{{\"type\":\"user\",\"uuid\":\"u{id}\",\"origin\":{{\"kind\":\"human\"}},\"message\":{{\"role\":\"user\",\"content\":\"ZXQ{id}\"}}}}\n"
    )
}

pub(crate) fn prompt_at(id: usize, at: jiff::Timestamp) -> String {
    prompt(id).replacen('{', &format!("{{\"timestamp\":\"{at}\","), 1)
}

/// A row that no person wrote.
pub(crate) const NOISE: &str = "{\"type\":\"mode\",\"mode\":\"normal\"}\n";

pub(crate) struct House {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) root: PathBuf,
}

impl House {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("claude/projects/-p")).unwrap();
        Self { folder, root }
    }

    pub(crate) fn db(&self) -> PathBuf {
        self.folder.path().join("state.sqlite")
    }

    pub(crate) fn claude(&self) -> PathBuf {
        self.root.join("claude")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.root.join("claude/projects/-p")
    }

    /// A transcript with one old row.
    pub(crate) fn transcript(&self, thread: &str) -> PathBuf {
        let path = self.project().join(format!("{thread}.jsonl"));
        fs::write(&path, NOISE).unwrap();
        path
    }

    /// Adopts it and watches it.
    pub(crate) fn adopt(&self, path: &Path) -> SessionKey {
        let provider = ClaudeProvider::new(self.claude(), 1 << 20);
        let mut engine = self.engine();
        let session = engine.adopt(&provider, path.to_str().unwrap(), None).unwrap().session;
        engine.watch(&SessionKey::new("agent:main:main"), &session, None).unwrap();
        session
    }

    fn engine(&self) -> Engine {
        let (clock, settings) = (Arc::new(SystemClock), Settings::default());
        Engine::open(&self.db(), clock, settings, Discipline::InStep).unwrap()
    }

    /// How many human turns the journal holds.
    pub(crate) fn turns(&self) -> u64 {
        let kinds = [EventKind::HumanDirectMessage];
        let engine = self.engine();
        let events = engine.journal().events_after(Sequence(0), None, &kinds, 1_000).unwrap();
        let turns = |payload: &serde_json::Value| payload["turns"].as_u64().unwrap();
        events.iter().map(|event| event.payload.as_ref().map_or(1, turns)).sum()
    }

    pub(crate) fn marker(&self, session: &SessionKey) -> serde_json::Value {
        let link = self.engine().journal().link(session, &AgentId::main()).unwrap();
        link.unwrap().marker_json().unwrap()
    }

    pub(crate) fn live(&self, file_events: bool, schedule: Schedule) -> Running {
        let mut live = Live::start(LiveOptions {
            db: self.db(),
            clock: Arc::new(SystemClock),
            settings: Settings::default(),
            providers: vec![Arc::new(ClaudeProvider::new(self.claude(), 1 << 20))],
            wake_command: Vec::new(),
            screen: false,
            file_events,
            schedule,
            alerts: Vec::new(),
        })
        .unwrap();
        let feed = live.feed().unwrap();
        Running { live, feed }
    }
}

pub(crate) struct Running {
    pub(crate) live: Live,
    feed: mpsc::Receiver<(i64, FeedItem)>,
}

impl Running {
    /// The next item of the feed for which `wanted` gives something.
    pub(crate) fn until<T>(&mut self, mut wanted: impl FnMut(&FeedItem) -> Option<T>) -> T {
        let began = Instant::now();
        loop {
            match self.feed.try_recv() {
                Ok((_, item)) => {
                    if let Some(found) = wanted(&item) {
                        return found;
                    }
                }
                Err(mpsc::error::TryRecvError::Empty) => {
                    assert!(began.elapsed() < DEADLINE, "it never came");
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(mpsc::error::TryRecvError::Disconnected) => panic!("the engine ended"),
            }
        }
    }

    /// Waits until `count` human turns of a session are recorded; a window's event stands for several.
    pub(crate) fn until_turns(&mut self, session: &SessionKey, count: u64) {
        let mut seen = 0;
        self.until(|item| {
            seen += turns_of(item, session);
            assert!(seen <= count, "a turn was counted twice");
            (seen == count).then_some(())
        });
    }

    pub(crate) fn until_kind(&mut self, kind: &EventKind) {
        self.until(|item| match item {
            FeedItem::Recorded(row) => (row.event.kind == *kind).then_some(()),
            _ => None,
        });
    }

    /// Waits until the picture shows this outcome of a session's link, with these words in its detail.
    pub(crate) fn until_outcome(&self, session: &SessionKey, outcome: &str, detail: &str) {
        let (snapshots, began) = (self.live.handle().snapshots(), Instant::now());
        let is_shown = || {
            let snapshot = snapshots.borrow();
            let link =
                snapshot.sessions.iter().find(|row| row.key == *session)?.upstream.as_ref()?;
            let said = link.detail.as_deref().unwrap_or_default();
            (link.outcome == outcome && said.contains(detail)).then_some(())
        };
        while is_shown().is_none() {
            assert!(began.elapsed() < DEADLINE, "never {outcome}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub(crate) fn ask(&self, request: Request) -> Reply {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(self.live.handle().ask(request)).unwrap()
    }
}

pub(crate) fn turns_of(item: &FeedItem, session: &SessionKey) -> u64 {
    let FeedItem::Recorded(row) = item else { return 0 };
    let event = &row.event;
    if event.kind != EventKind::HumanDirectMessage || event.session != *session {
        return 0;
    }
    event.payload.as_ref().map_or(1, |payload| payload["turns"].as_u64().unwrap())
}

/// A process that appends to a file what it is told to.
pub(crate) struct Writer {
    child: Child,
    pipe: Option<ChildStdin>,
}

impl Writer {
    pub(crate) fn start(path: &Path) -> Self {
        let file = fs::OpenOptions::new().append(true).open(path).unwrap();
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(file).spawn().unwrap();
        let pipe = child.stdin.take();
        Self { child, pipe }
    }

    pub(crate) fn write(&mut self, rows: &str) {
        self.pipe.as_mut().unwrap().write_all(rows.as_bytes()).unwrap();
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.pipe.take());
        let _ = self.child.wait();
    }
}

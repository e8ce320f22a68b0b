//! A state database, a clock that stands still, transcripts in a temporary folder, and a provider that answers as it is told.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tidings::clock::ManualClock;
use tidings::engine::adoption::Adopted;
use tidings::engine::monitor::LinkOutcome;
use tidings::engine::snapshot::{Role, SessionRow, Snapshot};
use tidings::engine::{Discipline, Engine, Settings};
use tidings::event::{Event, EventKind, Sequence};
use tidings::session_key::{AgentId, SessionKey};
use tidings::upstream::claude::ClaudeProvider;
use tidings::upstream::{
    Baseline, CatalogEntry, Finding, Listing, Probe, Provider, RecordId, Turn, UpstreamError,
    Window,
};
use tidings::upstream_link::UpstreamLink;

/// The present when a test begins.
pub(crate) const NOW: i64 = 1_784_203_200_000;
pub(crate) const MIB: usize = 1024 * 1024;
pub(crate) const MAX: u64 = 64 * 1024 * 1024;

/// No turns at all.
pub(crate) const NONE: [u64; 0] = [];

/// The catalog of the provider that answers as it is told.
pub(crate) const FAKE: &str = "fake";

/// Who watches, unless a test says otherwise.
pub(crate) fn watcher() -> SessionKey {
    SessionKey::new("agent:main:main")
}

/// An engine with everything around it.
pub(crate) struct Bench {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) engine: Engine,
    pub(crate) fake: Arc<Fake>,
    pub(crate) claude: Arc<ClaudeProvider>,
    pub(crate) providers: Vec<Arc<dyn Provider>>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::at(NOW));
        let engine = open(&folder.path().join("state.sqlite"), &clock);
        let fake = Fake::new(FAKE);
        let root = folder.path().canonicalize().unwrap().join("claude");
        let claude = Arc::new(ClaudeProvider::new(root, MAX));
        let providers: Vec<Arc<dyn Provider>> = vec![claude.clone(), fake.clone()];
        Self { folder, clock, engine, fake, claude, providers }
    }

    /// Another connection to the same database, as another process would have.
    pub(crate) fn second(&self) -> Engine {
        open(&self.folder.path().join("state.sqlite"), &self.clock)
    }

    /// Ends the engine and starts another, as a new process would.
    pub(crate) fn restart(&mut self) {
        self.engine = self.second();
    }

    /// The database for statements of a test's own.
    pub(crate) fn sql(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.folder.path().join("state.sqlite")).unwrap()
    }

    /// Makes writes fail: `when` is the trigger's `BEFORE …` and its condition.
    pub(crate) fn break_writes(&self, when: &str) {
        self.sql()
            .execute_batch(&format!(
                "CREATE TRIGGER broken BEFORE {when} BEGIN SELECT RAISE(ABORT, 'broken on purpose'); END"
            ))
            .unwrap();
    }

    pub(crate) fn mend_writes(&self) {
        self.sql().execute_batch("DROP TRIGGER broken").unwrap();
    }

    /// Adopts a thread of the fake catalog and watches it.
    pub(crate) fn adopt_fake(&mut self, thread: &str) -> SessionKey {
        let fake = self.fake.clone();
        self.adopt(&*fake, thread)
    }

    /// Adopts a transcript and watches it.
    pub(crate) fn adopt_file(&mut self, path: &Path) -> SessionKey {
        let claude = self.claude.clone();
        self.adopt(&*claude, path.to_str().unwrap())
    }

    fn adopt(&mut self, provider: &dyn Provider, wanted: &str) -> SessionKey {
        let Adopted { session, .. } = self.engine.adopt(provider, wanted, None).unwrap();
        self.watch(&session);
        session
    }

    pub(crate) fn watch(&mut self, session: &SessionKey) {
        self.engine.watch(&watcher(), session, None).unwrap();
    }

    /// A tick, a minute later.
    pub(crate) fn tick(&mut self) -> Vec<LinkOutcome> {
        self.clock.advance(60_000);
        self.engine.tick(&self.providers, None).unwrap()
    }

    /// A tick over one link.
    pub(crate) fn tick_one(&mut self) -> LinkOutcome {
        let mut outcomes = self.tick();
        assert_eq!(outcomes.len(), 1, "{outcomes:?}");
        outcomes.remove(0)
    }

    pub(crate) fn link(&self, session: &SessionKey) -> UpstreamLink {
        self.find_link(session).expect("a link")
    }

    pub(crate) fn find_link(&self, session: &SessionKey) -> Option<UpstreamLink> {
        self.engine.journal().link(session, &session.agent().unwrap()).unwrap()
    }

    pub(crate) fn offset(&self, session: &SessionKey) -> u64 {
        self.link(session).marker_json().unwrap()["offset"].as_u64().unwrap()
    }

    pub(crate) fn events(&self, session: &SessionKey, kind: &EventKind) -> Vec<Event> {
        self.engine
            .journal()
            .events_after(Sequence(0), Some(session), std::slice::from_ref(kind), 100_000)
            .unwrap()
    }

    /// How many turns each human event of a session stands for.
    pub(crate) fn turns(&self, session: &SessionKey) -> Vec<u64> {
        self.events(session, &EventKind::HumanDirectMessage)
            .iter()
            .map(|event| {
                event.payload.as_ref().map_or(1, |payload| payload["turns"].as_u64().unwrap())
            })
            .collect()
    }

    pub(crate) fn snapshot(&mut self) -> Snapshot {
        self.engine.snapshot(1, Role::Visitor, false, &[]).unwrap()
    }

    pub(crate) fn row(&mut self, session: &SessionKey) -> SessionRow {
        let snapshot = self.snapshot();
        snapshot.sessions.iter().find(|row| row.key == *session).expect("a session").clone()
    }

    pub(crate) fn streak(&mut self, session: &SessionKey) -> u8 {
        self.row(session).upstream.expect("a link").missing_streak
    }

    /// How many notices wait for a watcher.
    pub(crate) fn notices(&self, watcher: &SessionKey) -> usize {
        self.engine.queues().lines(watcher).len()
    }

    /// The path of a transcript, with its folders made.
    pub(crate) fn path(&self, thread: &str) -> PathBuf {
        self.place(&format!("projects/-work/{thread}.jsonl"))
    }

    /// A place below the config folder, with its folders made.
    pub(crate) fn place(&self, below: &str) -> PathBuf {
        let path = self.folder.path().canonicalize().unwrap().join("claude").join(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    /// A transcript with `content`, adopted and watched.
    pub(crate) fn transcript(&mut self, thread: &str, content: &str) -> (PathBuf, SessionKey) {
        let path = self.path(thread);
        fs::write(&path, content).unwrap();
        let session = self.adopt_file(&path);
        (path, session)
    }
}

pub(crate) fn open(db: &Path, clock: &Arc<ManualClock>) -> Engine {
    Engine::open(db, clock.clone(), Settings::default(), Discipline::InStep).unwrap()
}

pub(crate) fn append(path: &Path, bytes: impl AsRef<[u8]>) {
    OpenOptions::new().append(true).open(path).unwrap().write_all(bytes.as_ref()).unwrap();
}

/// A typed prompt with its line end, `at` milliseconds after the present when a test begins.
pub(crate) fn prompt(uuid: &str, at: i64, words: &str) -> String {
    let time = jiff::Timestamp::from_millisecond(NOW + at).unwrap();
    let row = json!({
        "type": "user",
        "message": {"role": "user", "content": words},
        "uuid": uuid,
        "timestamp": time.to_string(),
        "isSidechain": false,
        "origin": {"kind": "human"},
        "promptSource": "typed",
    });
    format!("{row}\n")
}

/// An assistant's row of exactly `bytes` bytes with its line end.
pub(crate) fn answer(bytes: usize) -> String {
    let row = |words: &str| {
        format!(
            "{{\"type\":\"assistant\",\"message\":{{\"role\":\"assistant\",\"content\":\"{words}\"}}}}\n"
        )
    };
    row(&"x".repeat(bytes - row("").len()))
}

/// What the fake provider reads: turns by record id, up to an offset.
pub(crate) fn read(ids: &[&str], offset: u64) -> Finding {
    Finding::Read(window(ids, offset))
}

pub(crate) fn window(ids: &[&str], offset: u64) -> Window {
    Window {
        turns: ids.iter().map(|id| Turn { id: Some(RecordId::of(id)), at: NOW }).collect(),
        echoes: 0,
        malformed: 0,
        next_marker: json!({ "offset": offset }),
        dedupe_id: offset.to_string(),
        replaced: None,
        more: false,
        ..Window::default()
    }
}

type During = Box<dyn FnOnce(&Probe) + Send>;

/// A provider that answers as it is told, by thread; quiet when it is not.
pub(crate) struct Fake {
    catalog: &'static str,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    answers: HashMap<String, VecDeque<Finding>>,
    asked: Vec<Probe>,
    during: Option<During>,
    reference: Option<Value>,
}

impl Fake {
    pub(crate) fn new(catalog: &'static str) -> Arc<Self> {
        Arc::new(Self { catalog, state: Mutex::default() })
    }

    /// Adds answers to the next probes of a thread.
    pub(crate) fn answers(&self, thread: &str, findings: impl IntoIterator<Item = Finding>) {
        let mut state = self.state.lock().unwrap();
        state.answers.entry(thread.to_owned()).or_default().extend(findings);
    }

    /// Does something while the next probe is under way.
    pub(crate) fn during(&self, act: impl FnOnce(&Probe) + Send + 'static) {
        self.state.lock().unwrap().during = Some(Box::new(act));
    }

    /// The threads that were asked for since the last call, with the probes.
    pub(crate) fn asked(&self) -> Vec<Probe> {
        std::mem::take(&mut self.state.lock().unwrap().asked)
    }

    /// The ref that the next adoptions find.
    pub(crate) fn moved_to(&self, reference: Value) {
        self.state.lock().unwrap().reference = Some(reference);
    }
}

impl fmt::Debug for Fake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.catalog)
    }
}

impl Provider for Fake {
    fn catalog(&self) -> &'static str {
        self.catalog
    }

    fn probe(&self, probe: &Probe) -> Finding {
        let (finding, during) = {
            let mut state = self.state.lock().unwrap();
            state.asked.push(probe.clone());
            let answers = state.answers.get_mut(&probe.link.thread);
            (answers.and_then(VecDeque::pop_front), state.during.take())
        };
        if let Some(act) = during {
            act(probe);
        }
        finding.unwrap_or(Finding::Quiet)
    }

    fn list(&self) -> Result<Listing, UpstreamError> {
        Ok(Listing::default())
    }

    fn baseline(&self, wanted: &str) -> Result<Baseline, UpstreamError> {
        if wanted == "nowhere" {
            return Err(UpstreamError::NotFound {
                catalog: self.catalog.into(),
                wanted: wanted.into(),
            });
        }
        let reference = self.state.lock().unwrap().reference.clone();
        Ok(Baseline {
            entry: CatalogEntry {
                catalog: self.catalog.into(),
                thread: wanted.into(),
                path: PathBuf::from("/nowhere"),
                title: None,
                project: None,
                version: None,
                entry_point: None,
                modified_at: NOW,
                size: 4,
            },
            host: "gateway:local".into(),
            kind: "fake".into(),
            reference: reference.unwrap_or_else(|| json!({ "place": wanted })),
            marker: json!({ "offset": 4 }),
        })
    }

    fn root(&self) -> &Path {
        Path::new("/nowhere")
    }
}

/// The address of a session.
pub(crate) fn address(session: &SessionKey) -> (SessionKey, AgentId) {
    (session.clone(), session.agent().unwrap())
}

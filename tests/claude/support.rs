//! A state database, a clock that stands still, and transcripts in a temporary folder.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tidings::clock::ManualClock;
use tidings::engine::monitor::LinkOutcome;
use tidings::engine::{Discipline, Engine, Settings};
use tidings::event::{Event, EventKind, Sequence};
use tidings::session_key::{AgentId, SessionKey};
use tidings::upstream::Provider;
use tidings::upstream::claude::ClaudeProvider;
use tidings::upstream_link::UpstreamLink;

/// The present when a test begins: 2026-07-16T12:00:00Z.
pub(crate) const NOW: i64 = 1_784_203_200_000;

pub(crate) struct House {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) engine: Engine,
    pub(crate) providers: Vec<Arc<dyn Provider>>,
    provider: Arc<ClaudeProvider>,
}

impl House {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::at(NOW));
        let engine = Engine::open(
            &folder.path().join("state.sqlite"),
            clock.clone(),
            Settings::default(),
            Discipline::InStep,
        )
        .unwrap();
        let root = folder.path().canonicalize().unwrap().join("claude");
        fs::create_dir_all(root.join("projects/-p")).unwrap();
        let provider = Arc::new(ClaudeProvider::new(root, 64 << 20));
        Self { folder, clock, engine, providers: vec![provider.clone()], provider }
    }

    /// Forgets what the provider keeps in memory, as a new process would.
    pub(crate) fn restart(&mut self) {
        let root = self.provider.root().parent().unwrap().to_owned();
        self.provider = Arc::new(ClaudeProvider::new(root, 64 << 20));
        self.providers = vec![self.provider.clone()];
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        let path = self.provider.root().canonicalize().unwrap().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    /// A transcript of the project `-p` with these rows.
    pub(crate) fn transcript(&self, thread: &str, rows: &[String]) -> PathBuf {
        let path = self.path(&format!("-p/{thread}.jsonl"));
        fs::write(&path, rows.concat()).unwrap();
        path
    }

    pub(crate) fn adopt(&mut self, path: &Path) -> SessionKey {
        let provider = self.provider.clone();
        let session = self.engine.adopt(&*provider, path.to_str().unwrap(), None).unwrap().session;
        self.engine.watch(&SessionKey::new("agent:main:main"), &session, None).unwrap();
        session
    }

    /// A tick a minute later, over one link.
    pub(crate) fn tick(&mut self) -> LinkOutcome {
        let mut outcomes = self.tick_all();
        assert_eq!(outcomes.len(), 1, "{outcomes:?}");
        outcomes.remove(0)
    }

    pub(crate) fn tick_all(&mut self) -> Vec<LinkOutcome> {
        self.clock.advance(60_000);
        self.engine.tick(&self.providers, None).unwrap()
    }

    pub(crate) fn link(&self, session: &SessionKey) -> UpstreamLink {
        self.engine.journal().link(session, &AgentId::main()).unwrap().expect("a link")
    }

    pub(crate) fn events(&self, kind: &EventKind) -> Vec<Event> {
        self.engine
            .journal()
            .events_after(Sequence(0), None, std::slice::from_ref(kind), 100_000)
            .unwrap()
    }

    pub(crate) fn sql(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.folder.path().join("state.sqlite")).unwrap()
    }

    /// Nothing of what was planted lies in the state's files.
    pub(crate) fn assert_private(&self) {
        for name in ["state.sqlite", "state.sqlite-wal"] {
            let bytes = fs::read(self.folder.path().join(name)).unwrap_or_default();
            assert!(!bytes.windows(3).any(|window| window == b"ZXQ"), "{name} holds words");
        }
    }
}

pub(crate) fn append(path: &Path, rows: &[String]) {
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(rows.concat().as_bytes()).unwrap();
}

fn time(at: i64) -> String {
    jiff::Timestamp::from_millisecond(at).unwrap().to_string()
}

/// A typed prompt, `after` milliseconds after [`NOW`].
pub(crate) fn prompt(uuid: &str, after: i64) -> String {
    let at = time(NOW + after);
    format!(
        "{{\"type\":\"user\",\"uuid\":\"{uuid}\",\"timestamp\":\"{at}\",\"origin\":{{\"kind\":\"human\"}},\"message\":{{\"role\":\"user\",\"content\":\"ZXQ {uuid}\"}}}}\n"
    )
}

pub(crate) fn compaction(uuid: &str, after: i64) -> String {
    let at = time(NOW + after);
    format!(
        "{{\"type\":\"system\",\"subtype\":\"compact_boundary\",\"content\":\"ZXQ\",\"uuid\":\"{uuid}\",\"timestamp\":\"{at}\"}}\n"
    )
}

pub(crate) fn continued_in(thread: &str) -> String {
    format!("{{\"type\":\"continued-in\",\"continuedInSessionId\":\"{thread}\"}}\n")
}

/// A record of a sub-agent, `after` milliseconds after [`NOW`]: what it was told, or with a reason to stop what it answered.
pub(crate) fn agent_row(stop_reason: Option<&str>, after: i64) -> String {
    let at = time(NOW + after);
    match stop_reason {
        None => format!(
            "{{\"type\":\"user\",\"isSidechain\":true,\"timestamp\":\"{at}\",\"message\":{{\"role\":\"user\",\"content\":\"ZXQ\"}}}}\n"
        ),
        Some(reason) => format!(
            "{{\"type\":\"assistant\",\"isSidechain\":true,\"timestamp\":\"{at}\",\"message\":{{\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":\"ZXQ\"}}],\"stop_reason\":\"{reason}\"}}}}\n"
        ),
    }
}

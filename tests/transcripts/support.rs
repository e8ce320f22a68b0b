//! A config folder in a temporary place, and links into it.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tidings::session_key::{AgentId, SessionKey};
use tidings::upstream::claude::ClaudeProvider;
use tidings::upstream::echo::{OwnTexts, TextHash};
use tidings::upstream::{Cause, Finding, Probe, Provider, Turn, Window};
use tidings::upstream_link::UpstreamLink;

pub(crate) const MAX: u64 = 64 * 1024 * 1024;

/// When the files of these tests are adopted: before all their rows, unless a test says otherwise.
pub(crate) const ADOPTED: i64 = 1_000;

/// A config folder.
pub(crate) struct Place {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) provider: ClaudeProvider,
}

impl Place {
    pub(crate) fn new(max_row_bytes: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        Self { folder, provider: ClaudeProvider::new(root, max_row_bytes) }
    }

    /// The real path of `path` below the config folder, with its folders made.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        let path = self.folder.path().canonicalize().unwrap().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    /// A session's file with `content`, and a link that has read nothing of it.
    pub(crate) fn session(&self, content: &[u8]) -> Link<'_> {
        let path = self.path("projects/-w/5d7c0f5e-0000-4000-8000-000000000001.jsonl");
        fs::write(&path, content).unwrap();
        self.link(&path, &json!({"offset": 0}))
    }

    pub(crate) fn link(&self, path: &Path, marker: &Value) -> Link<'_> {
        let link = UpstreamLink {
            session: SessionKey::new("agent:main:claude:t"),
            agent: AgentId::main(),
            catalog: "claude".into(),
            host: "gateway:local".into(),
            thread: "t".into(),
            kind: "claude-cli".into(),
            reference: Some(json!({"filePath": path.to_str().unwrap()}).to_string()),
            marker: Some(marker.to_string()),
            scanned_at: None,
            created_at: ADOPTED,
            updated_at: ADOPTED,
        };
        let probe = Probe { link, own_texts: OwnTexts::default(), cause: Cause::Tick, held: None };
        Link { provider: &self.provider, path: path.to_owned(), probe }
    }
}

/// A link, whose marker moves as the engine would move it.
pub(crate) struct Link<'a> {
    provider: &'a ClaudeProvider,
    pub(crate) path: PathBuf,
    pub(crate) probe: Probe,
}

impl Link<'_> {
    pub(crate) fn own_texts(&mut self, texts: &[&str]) {
        let hashes = texts.iter().filter_map(|text| TextHash::of(text)).collect();
        self.probe.own_texts = OwnTexts::new(hashes);
    }

    /// Probes once and moves the marker.
    pub(crate) fn probe(&mut self) -> Finding {
        let finding = self.provider.probe(&self.probe);
        if let Finding::Read(window) = &finding {
            self.probe.link.marker = Some(window.next_marker.to_string());
        }
        finding
    }

    /// Probes once; there must be something to read.
    pub(crate) fn window(&mut self) -> Window {
        match self.probe() {
            Finding::Read(window) => window,
            other => panic!("nothing read: {other:?}"),
        }
    }

    /// Probes until nothing is new; all turns met.
    pub(crate) fn drain(&mut self) -> Vec<Turn> {
        let mut turns = Vec::new();
        while let Finding::Read(window) = self.probe() {
            turns.extend(window.turns);
        }
        turns
    }

    pub(crate) fn marker(&self) -> Value {
        self.probe.link.marker_json().unwrap()
    }

    pub(crate) fn offset(&self) -> u64 {
        self.marker()["offset"].as_u64().unwrap()
    }

    pub(crate) fn append(&self, bytes: &[u8]) {
        OpenOptions::new().append(true).open(&self.path).unwrap().write_all(bytes).unwrap();
    }

    /// Sets the time of the file's last change, in milliseconds.
    pub(crate) fn touch(&self, at: u64) {
        let file = File::options().write(true).open(&self.path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_millis(at)).unwrap();
    }
}

/// A typed prompt with its line end, `at` milliseconds after the epoch.
pub(crate) fn prompt(uuid: &str, at: i64, words: &str) -> String {
    let time = jiff::Timestamp::from_millisecond(at).unwrap();
    let row = json!({
        "isSidechain": false,
        "type": "user",
        "message": {"role": "user", "content": words},
        "uuid": uuid,
        "timestamp": time.to_string(),
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

//! A Codex home in a temporary place, and links into it.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tidings::session_key::{AgentId, SessionKey};
use tidings::upstream::codex::CodexProvider;
use tidings::upstream::codex::scan::scan;
use tidings::upstream::echo::{OwnTexts, TextHash};
use tidings::upstream::files::scan::{ScanRow, ScanTotal};
use tidings::upstream::{Baseline, Cause, Finding, Probe, Provider, Turn, Window};
use tidings::upstream_link::UpstreamLink;

pub(crate) const MAX: u64 = 64 * 1024 * 1024;

/// When the threads of these tests are adopted: before all their rows, unless a test says otherwise.
pub(crate) const ADOPTED: i64 = 1_000;

/// A Codex home.
pub(crate) struct Home {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) provider: CodexProvider,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self::limited(MAX)
    }

    pub(crate) fn limited(max_row_bytes: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let provider = CodexProvider::new(folder.path().canonicalize().unwrap(), max_row_bytes);
        Self { folder, provider }
    }

    /// A program that was started anew: it knows nothing.
    pub(crate) fn fresh(&self) -> CodexProvider {
        CodexProvider::new(self.folder.path().canonicalize().unwrap(), MAX)
    }

    /// The real path of `path` below the home, with its folders made.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        let path = self.folder.path().canonicalize().unwrap().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    /// A file with `content` below the home.
    pub(crate) fn file(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(path);
        fs::write(&path, content).unwrap();
        path
    }

    /// A link to the thread of the file at `path`, of which nothing was read.
    pub(crate) fn link(&self, path: &Path, thread: &str) -> Link<'_> {
        let home = self.folder.path().canonicalize().unwrap();
        let reference = json!({"codexHome": home.to_str().unwrap(), "threadId": thread});
        self.linked(&reference, &json!({"offset": 0, "path": path.to_str().unwrap()}), thread)
    }

    /// The link that adopting makes.
    pub(crate) fn adopt(&self, wanted: &str) -> Link<'_> {
        let Baseline { entry, reference, marker, .. } = self.provider.baseline(wanted).unwrap();
        self.linked(&reference, &marker, &entry.thread)
    }

    fn linked(&self, reference: &Value, marker: &Value, thread: &str) -> Link<'_> {
        let link = UpstreamLink {
            session: SessionKey::new(format!("agent:main:codex:{thread}")),
            agent: AgentId::main(),
            catalog: "codex".into(),
            host: "gateway:local".into(),
            thread: thread.into(),
            kind: "codex-rollout".into(),
            reference: Some(reference.to_string()),
            marker: Some(marker.to_string()),
            scanned_at: None,
            created_at: ADOPTED,
            updated_at: ADOPTED,
        };
        Link {
            provider: &self.provider,
            probe: Probe { link, own_texts: OwnTexts::default(), cause: Cause::Tick, held: None },
        }
    }
}

/// Whether the thread is certainly not there, whatever is known of it.
pub(crate) fn is_missing(finding: &Finding) -> bool {
    matches!(finding, Finding::Missing | Finding::Gone(_))
}

/// A link, whose marker moves as the engine would move it.
pub(crate) struct Link<'a> {
    provider: &'a CodexProvider,
    pub(crate) probe: Probe,
}

impl Link<'_> {
    pub(crate) fn own_texts(&mut self, texts: &[&str]) {
        let hashes = texts.iter().filter_map(|text| TextHash::of(text)).collect();
        self.probe.own_texts = OwnTexts::new(hashes);
    }

    /// Probes once and moves the marker.
    pub(crate) fn probe(&mut self) -> Finding {
        self.probe_with(self.provider)
    }

    /// The same by another program.
    pub(crate) fn probe_with(&mut self, provider: &CodexProvider) -> Finding {
        let finding = provider.probe(&self.probe);
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

    /// How many turns are new.
    pub(crate) fn new_turns(&mut self) -> usize {
        self.drain().len()
    }

    pub(crate) fn marker(&self) -> Value {
        self.probe.link.marker_json().unwrap()
    }

    pub(crate) fn offset(&self) -> u64 {
        self.marker()["offset"].as_u64().unwrap()
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.marker()["path"].as_str().unwrap().into()
    }
}

pub(crate) fn append(path: &Path, bytes: impl AsRef<[u8]>) {
    OpenOptions::new().append(true).open(path).unwrap().write_all(bytes.as_ref()).unwrap();
}

/// Writes the file anew with other words in it.
pub(crate) fn reword(path: &Path, from: &str, to: &str) {
    let text = String::from_utf8(fs::read(path).unwrap()).unwrap();
    fs::write(path, text.replace(from, to)).unwrap();
}

/// Sets the time of a file's last change, in milliseconds.
pub(crate) fn touch(path: &Path, at: u64) {
    let file = File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_millis(at)).unwrap();
}

/// What Codex does to a thread that was idle for long: the compressed file takes the plain one's place.
pub(crate) fn compress(path: &Path) -> PathBuf {
    let packed = pack(path);
    fs::remove_file(path).unwrap();
    packed
}

/// The same before the plain file goes.
pub(crate) fn pack(path: &Path) -> PathBuf {
    let packed = PathBuf::from(format!("{}.zst", path.display()));
    write_at_once(&packed, &zstd::encode_all(&fs::read(path).unwrap()[..], 3).unwrap());
    packed
}

/// What Codex does before it writes to such a thread again.
pub(crate) fn unpack(packed: &Path) -> PathBuf {
    let path = packed.with_extension("");
    write_at_once(&path, &zstd::decode_all(File::open(packed).unwrap()).unwrap());
    fs::remove_file(packed).unwrap();
    path
}

fn write_at_once(path: &Path, bytes: &[u8]) {
    let aside = path.with_extension("tmp");
    fs::write(&aside, bytes).unwrap();
    fs::rename(aside, path).unwrap();
}

pub(crate) fn scanned(path: &Path, from: u64, max_row_bytes: u64) -> (Vec<ScanRow>, ScanTotal) {
    let mut rows = Vec::new();
    let total = scan(path, from, max_row_bytes, &mut |row| rows.push(row)).unwrap();
    (rows, total)
}

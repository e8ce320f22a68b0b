//! Upstream: reads other programs' files and says what happened there.
//!
//! Nothing here writes to those files, follows a link out of their root, or keeps a word of what people typed. The engine
//! calls a [`Provider`] for each catalog; nothing here knows the engine or the journal.

pub mod claude;
pub mod codex;
pub mod echo;
pub mod files;
mod shape;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use crate::clock::Millis;
use crate::upstream_link::UpstreamLink;
use echo::OwnTexts;

/// One read-only question about one link.
#[derive(Debug, Clone)]
pub struct Probe {
    /// The link as it was listed.
    pub link: UpstreamLink,
    /// What `tidings` itself put into that session lately.
    pub own_texts: OwnTexts,
    /// What made it be asked.
    pub cause: Cause,
    /// The source's file, opened when it was touched: it may be another one by the time that it is read.
    pub held: Option<Held>,
}

/// A file that was opened when it was touched. What it holds can be read though it was deleted meanwhile.
#[derive(Debug, Clone)]
pub struct Held(Arc<File>);

impl Held {
    /// Opens the file at `path` without waiting; `None` when it can't be read, or is no regular file.
    pub fn open(path: &Path) -> Option<Self> {
        files::place::open(path).ok().map(|(file, _)| Self(Arc::new(file)))
    }
}

/// What made a probe be asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Cause {
    /// A tick.
    #[default]
    Tick,
    /// Something was written to the source, or to what belongs to it: that is looked at even when the source is quiet.
    Touched,
    /// Another thread says that it goes on from this one.
    Continued {
        /// The other thread's id.
        thread: String,
    },
}

/// A hash of a foreign record's own id, by which a turn is counted once whatever file it is copied to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RecordId(pub [u8; 16]);

impl RecordId {
    /// The hash of `id`.
    pub fn of(id: &str) -> Self {
        let mut out = [0; 16];
        out.copy_from_slice(&blake3::hash(id.as_bytes()).as_bytes()[..16]);
        Self(out)
    }
}

/// One human turn that a probe found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// The record's own id; `None` for records that have none (they count wherever they are met).
    pub id: Option<RecordId>,
    /// When it was typed or taken up.
    pub at: Millis,
}

/// What a probe found.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    /// Nothing new.
    Quiet,
    /// Nothing new; but there is something to say.
    QuietBut(String),
    /// Nothing new, and the harness put the source away: archived it or compressed it. It is still followed.
    Archived,
    /// The source was read forward.
    Read(Window),
    /// The source is certainly not there.
    Missing,
    /// The same, and something is known of what was there.
    Gone(Absence),
    /// The session goes on somewhere else, and nothing says for certain that it is to be followed there. What is known.
    Elsewhere(String),
    /// A row is longer than the limit: the marker stays before it.
    Blocked {
        /// Bytes known of the row so far.
        bytes: u64,
        /// Where the row begins, in bytes.
        offset: u64,
    },
    /// The source could not be read, and it is not known whether it is there.
    Unreadable(String),
    /// The ref or the marker makes no sense.
    Invalid(String),
}

/// What is said when a source was put away since it was last read, and is followed to where it lies now.
pub const ARCHIVED: &str = "archived";

/// What is known of a source that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Absence {
    /// When it was last written, as far as it was seen.
    pub last_written: Millis,
    /// The harness deletes what was not written for this long; `None` for one that deletes nothing.
    pub kept: Option<Millis>,
    /// Up to which byte it was read, unless it is known that it ended there.
    pub read_to: Option<u64>,
}

/// Something beside human turns that a source tells of its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// By which it is counted once, like a turn.
    pub id: RecordId,
    /// When it happened.
    pub at: Millis,
    /// What happened.
    pub what: FactKind,
}

/// What a source tells beside human turns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FactKind {
    /// The history was compacted.
    Compacted {
        /// The harness's own id of that.
        operation: String,
    },
    /// A sub-agent was started.
    ChildSpawned {
        /// The harness's own id of it.
        run: String,
        /// Which kind of sub-agent it is; never what it was told.
        kind: Option<String>,
    },
    /// A sub-agent's run ended.
    RunEnded {
        /// The harness's own id of it.
        run: String,
        /// How.
        how: RunEnd,
    },
}

/// How a sub-agent's run ended, as far as its transcript shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunEnd {
    /// It came to its end.
    Completed,
    /// It ended with an error.
    Failed,
    /// Somebody stopped it.
    Cancelled,
}

/// Two threads of which one goes on from the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Continuation {
    /// The thread that ended there.
    pub from: String,
    /// The one that goes on.
    pub to: String,
}

/// Where a session goes on.
#[derive(Debug, Clone, PartialEq)]
pub enum GoesOn {
    /// Its source moved: the link follows together with the marker.
    Moved {
        /// The thread's id there.
        thread: String,
        /// The ref to it.
        reference: Value,
    },
    /// Somewhere else, where it is not followed. What is known.
    Elsewhere(String),
}

/// One stretch of a source that was read to its end.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Window {
    /// Human turns, oldest first. Ids counted before are the engine's to drop.
    pub turns: Vec<Turn>,
    /// How many rows were echoes of own texts.
    pub echoes: u32,
    /// How many rows were not readable as records; they are passed over and counted.
    pub malformed: u32,
    /// Where to go on.
    pub next_marker: Value,
    /// Names the end of this stretch in the dedupe key.
    pub dedupe_id: String,
    /// Said when the source turned out to be another file than before (truncated, replaced, recreated), or, with [`ARCHIVED`],
    /// to have been put away.
    pub replaced: Option<String>,
    /// Whether more lies behind this window.
    pub more: bool,
    /// What else happened, oldest first. Ids counted before are the engine's to drop.
    pub facts: Vec<Fact>,
    /// Said when the session goes on at another place than the link's.
    pub goes_on: Option<Box<GoesOn>>,
    /// From which thread this one goes on, when its beginning was read and says so for certain.
    pub continues: Option<Box<Continuation>>,
    /// More that is worth saying, said as long as it holds.
    pub note: Option<String>,
}

/// Where changes show that a source is worth a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The file that is the source.
    pub file: PathBuf,
    /// Folders that belong to it, each below or beside the file. They may not be there yet.
    pub folders: Vec<PathBuf>,
    /// A folder of folders by year, month and day, in the newest of which a file may come that goes on from the source.
    pub by_date: Option<PathBuf>,
}

/// A foreign session of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogEntry {
    /// The catalog, for example `claude`.
    pub catalog: String,
    /// The foreign session's own id.
    pub thread: String,
    /// The file.
    pub path: PathBuf,
    /// A title for people: the harness's own, cut to 200 characters; not cleaned for display.
    pub title: Option<String>,
    /// The folder that the session works in.
    pub project: Option<String>,
    /// The harness's version.
    pub version: Option<String>,
    /// By which of its programs the harness says that the session runs, in its own word, known here or not.
    pub entry_point: Option<String>,
    /// Last change of the file.
    pub modified_at: Millis,
    /// Size of the file in bytes.
    pub size: u64,
}

/// What a walk over a catalog found, and what it passed over and why.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// The sessions, newest first.
    pub entries: Vec<CatalogEntry>,
    /// What was passed over: path and reason.
    pub skipped: Vec<(PathBuf, String)>,
}

/// What adoption needs to know about a foreign session.
#[derive(Debug, Clone)]
pub struct Baseline {
    /// The session.
    pub entry: CatalogEntry,
    /// Where it lives, for example `gateway:local`.
    pub host: String,
    /// What ref and marker mean, for example `claude-cli`.
    pub kind: String,
    /// Where it is.
    pub reference: Value,
    /// Where reading starts: the present end.
    pub marker: Value,
}

/// Why a foreign session can't be adopted or scanned.
#[derive(Debug, thiserror::Error)]
pub enum UpstreamError {
    /// No such session.
    #[error(
        "no {catalog} session matches \"{wanted}\"; `tidings catalog` lists them, and the path of a transcript will do"
    )]
    NotFound {
        /// The catalog that was searched.
        catalog: String,
        /// What was asked for.
        wanted: String,
    },
    /// A prefix that several sessions share.
    #[error("\"{wanted}\" matches {count} {catalog} sessions; give more of the id")]
    Ambiguous {
        /// The catalog that was searched.
        catalog: String,
        /// What was asked for.
        wanted: String,
        /// How many match.
        count: usize,
    },
    /// The file is not what it has to be.
    #[error("{}: {reason}", path.display())]
    Unsuitable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// Reading failed.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// A catalog: knows one harness's files.
pub trait Provider: Send + Sync + std::fmt::Debug {
    /// The catalog id, for example `claude`.
    fn catalog(&self) -> &'static str;

    /// Answers one probe. Must not write anything. May block: the engine bounds it.
    fn probe(&self, probe: &Probe) -> Finding;

    /// Where changes show that a link is worth a probe; `None` when its source is no file. By default the `filePath` of its
    /// ref, or where a source may move, the `path` of its marker.
    fn places(&self, link: &UpstreamLink) -> Option<Places> {
        let path = |json: Option<Value>, name| Some(json?.get(name)?.as_str()?.to_owned());
        let file = path(link.reference_json(), "filePath")
            .or_else(|| path(link.marker_json(), "path"))
            .map(PathBuf::from)?;
        file.is_absolute().then(|| Places { file, folders: Vec::new(), by_date: None })
    }

    /// From which thread the session in this file goes on, when the file says so for certain.
    fn continues(&self, _path: &Path) -> Option<Continuation> {
        None
    }

    /// Lists the foreign sessions of this machine.
    fn list(&self) -> Result<Listing, UpstreamError>;

    /// Finds the session that `wanted` names, by path, id or unique prefix, and where it ends now.
    fn baseline(&self, wanted: &str) -> Result<Baseline, UpstreamError>;

    /// The folder whose sessions are listed.
    fn root(&self) -> &Path;
}

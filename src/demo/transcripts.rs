//! The demo's transcripts: real files, in the shape that Claude Code writes, with nothing in them that anybody wrote.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::clock::Millis;

/// The transcripts below one config folder.
#[derive(Debug)]
pub(super) struct Transcripts {
    project: PathBuf,
    written: u64,
}

impl Transcripts {
    /// Makes the folders below `home`.
    pub(super) fn new(home: &Path) -> io::Result<Self> {
        let project = home.join("projects").join("-demo");
        fs::create_dir_all(&project)?;
        Ok(Self { project, written: 0 })
    }

    /// Where the transcript of a thread lies.
    pub(super) fn path(&self, thread: &str) -> PathBuf {
        self.project.join(format!("{thread}.jsonl"))
    }

    /// Begins a transcript that has a title.
    pub(super) fn begin(&self, thread: &str, title: &str) -> io::Result<()> {
        self.append(
            thread,
            &json!({ "type": "custom-title", "customTitle": title, "sessionId": thread }),
        )
    }

    /// A person typed.
    pub(super) fn prompt(&mut self, thread: &str, at: Millis) -> io::Result<()> {
        self.written += 1;
        let time = jiff::Timestamp::from_millisecond(at).unwrap_or_default();
        let row = json!({
            "type": "user",
            "message": { "role": "user", "content": "…" },
            "uuid": format!("{thread}-{}", self.written),
            "timestamp": time.to_string(),
            "isSidechain": false,
            "origin": { "kind": "human" },
            "promptSource": "typed",
            "turnOrigin": "human",
            "sessionId": thread,
            "cwd": "/demo",
            "version": "2.1.332",
        });
        self.append(thread, &row)
    }

    /// Dates a transcript, so that what is shown of it does not depend on the real time.
    pub(super) fn date(&self, thread: &str, at: Millis) -> io::Result<()> {
        let since = Duration::from_millis(u64::try_from(at).unwrap_or(0));
        File::options()
            .append(true)
            .open(self.path(thread))?
            .set_modified(SystemTime::UNIX_EPOCH + since)
    }

    /// Puts a link where the transcript was: it is not followed, so it can't be read.
    pub(super) fn hide(&self, thread: &str) -> io::Result<()> {
        let path = self.path(thread);
        let aside = path.with_extension("aside");
        fs::rename(&path, &aside)?;
        std::os::unix::fs::symlink(&aside, &path)
    }

    /// Puts the transcript back.
    pub(super) fn show(&self, thread: &str) -> io::Result<()> {
        let path = self.path(thread);
        fs::rename(path.with_extension("aside"), &path)
    }

    fn append(&self, thread: &str, row: &Value) -> io::Result<()> {
        let mut file = OpenOptions::new().create(true).append(true).open(self.path(thread))?;
        file.write_all(format!("{row}\n").as_bytes())
    }
}

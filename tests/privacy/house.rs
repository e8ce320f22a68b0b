//! A place to plant words in, and the search for them.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use tidings::clock::{Clock, SystemClock};
use tidings::engine::{Discipline, Engine, Settings};

/// A word that stands nowhere else in the world, and says where it was planted.
pub(crate) fn word(planted: &str) -> String {
    format!("zq{}{:016x}", planted, RandomState::new().hash_one(planted))
}

/// A state folder, a folder of transcripts, a log, and everything that was said.
pub(crate) struct House {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) said: Vec<(String, String)>,
    /// Words of transcripts and of other texts that may be nowhere.
    pub(crate) secret: Vec<String>,
}

impl House {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("claude/projects/-work")).unwrap();
        fs::create_dir(folder.path().join("state")).unwrap();
        Self { folder, said: Vec::new(), secret: Vec::new() }
    }

    pub(crate) fn db(&self) -> PathBuf {
        self.folder.path().join("state/state.sqlite")
    }

    pub(crate) fn transcript(&self, name: &str) -> PathBuf {
        self.folder.path().join("claude/projects/-work").join(name)
    }

    pub(crate) fn secret(&mut self, planted: &str) -> String {
        self.secret.push(word(planted));
        self.secret.last().unwrap().clone()
    }

    pub(crate) fn engine(&self) -> Engine {
        open(self, Arc::new(SystemClock))
    }

    pub(crate) fn heard(&mut self, from: impl Into<String>, said: impl Into<String>) {
        self.said.push((from.into(), said.into()));
    }

    /// Runs the program; stdout is kept, too, but for verbs whose output is the text.
    pub(crate) fn run(&mut self, arguments: &[&str], stdin: &str, keeps_stdout: bool) -> String {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tidings"))
            .args(["-v", "--db"])
            .arg(self.db())
            .args(arguments)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.path().join("home"))
            .env("XDG_STATE_HOME", self.folder.path().join("state"))
            .env("CLAUDE_CONFIG_DIR", self.folder.path().join("claude"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        self.heard(format!("{arguments:?} stderr"), String::from_utf8(output.stderr).unwrap());
        if keeps_stdout {
            self.heard(format!("{arguments:?} stdout"), stdout.clone());
        }
        stdout
    }

    /// Where any of `words` stands: in what was said, or in a file that is no transcript.
    pub(crate) fn places(&self, words: &[String]) -> BTreeSet<String> {
        let said = self.said.iter().map(|(from, said)| (from.clone(), said.as_bytes().to_vec()));
        let mut files = Vec::new();
        collect(self.folder.path(), &mut files);
        let written = files
            .into_iter()
            .filter(|path| !path.starts_with(self.folder.path().join("claude")))
            .map(|path| {
                let name = path.strip_prefix(self.folder.path()).unwrap();
                (name.display().to_string(), bytes_of(&path))
            });
        said.chain(written)
            .flat_map(|(place, bytes)| {
                let planted = planted_in(&bytes);
                let found = words.iter().filter(|word| planted.contains(word.as_bytes()));
                found.map(|word| format!("{word} in {place}")).collect::<Vec<_>>()
            })
            .collect()
    }

    pub(crate) fn nowhere(&self, words: &[String]) {
        assert_eq!(self.places(words), BTreeSet::new());
    }

    /// In the database or its write-ahead log, and nowhere else.
    pub(crate) fn only_in_the_database(&self, planted: &str) {
        let places = self.places(&[planted.to_owned()]);
        assert!(!places.is_empty(), "the search does not even find what waits");
        for place in places {
            let place = place.split_once(" in ").unwrap().1.to_owned();
            let names = ["state/state.sqlite", "state/state.sqlite-wal"];
            assert!(names.contains(&place.as_str()), "{place}");
        }
    }
}

pub(crate) fn open(house: &House, clock: Arc<dyn Clock>) -> Engine {
    Engine::open(&house.db(), clock, Settings::default(), Discipline::InStep).unwrap()
}

pub(crate) fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}

/// The bytes of a file, read by another process: one that closes a file of its own open database gives away SQLite's locks on
/// it.
pub(crate) fn bytes_of(path: &Path) -> Vec<u8> {
    Command::new("cat").arg(path).output().unwrap().stdout
}

/// Everything in `bytes` that looks like a [`word`], in lower case.
pub(crate) fn planted_in(bytes: &[u8]) -> HashSet<Vec<u8>> {
    let starts = bytes.windows(2).enumerate().filter(|(_, pair)| pair.eq_ignore_ascii_case(b"zq"));
    starts
        .flat_map(|(start, _)| {
            let rest = &bytes[start..];
            let length =
                rest.iter().take(64).take_while(|byte| byte.is_ascii_alphanumeric()).count();
            (18..=length).map(|end| rest[..end].to_ascii_lowercase())
        })
        .collect()
}

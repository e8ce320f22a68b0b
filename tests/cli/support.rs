//! A home of its own for each test, and running the binary in it.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// Nothing that is waited for takes this long, unless it never comes.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

/// Folders of a person who never used the program.
pub(crate) struct Home {
    folder: TempDir,
}

/// What one run of the binary did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    /// Where the state lies by default.
    pub(crate) fn db(&self) -> PathBuf {
        self.path("state/tidings/state.sqlite")
    }

    /// Writes the default config.
    pub(crate) fn write_config(&self, text: &str) {
        let folder = self.path("config/tidings");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("config.toml"), text).unwrap();
    }

    pub(crate) fn command<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
    ) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tidings"));
        command
            .args(arguments)
            .env_clear()
            .env("HOME", self.folder.path())
            .env("XDG_STATE_HOME", self.path("state"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("XDG_CACHE_HOME", self.path("cache"))
            .env("CODEX_HOME", self.path("codex"))
            .env("CLAUDE_CONFIG_DIR", self.path("claude"))
            .env("TMPDIR", std::env::temp_dir())
            .env("TZ", "UTC")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Ran {
        Ran::of(self.command(arguments).spawn().unwrap())
    }

    /// Runs the binary with `input` on stdin.
    pub(crate) fn pipe<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
        input: &[u8],
    ) -> Ran {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        // A script that stops early closes its end: that is no failure of the test.
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let ran = Ran::of(child);
        writer.join().unwrap();
        ran
    }

    /// Runs the binary, which has to do it.
    pub(crate) fn ok(&self, line: &str) -> String {
        let ran = self.run(words(line));
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{line}: {ran:?}");
        ran.stdout
    }

    /// The one JSON document that the binary prints, without `formatVersion`.
    pub(crate) fn json(&self, line: &str) -> Value {
        document(&self.ok(&format!("{line} --json")))
    }

    /// The same as text, with times replaced by 0: what is compared is order, names and values.
    pub(crate) fn shape(&self, line: &str) -> String {
        let mut value = self.json(line);
        timeless(&mut value);
        value.to_string()
    }

    /// Runs the binary, which has to refuse with `code`: one line on stderr, and with `--json` a document that says the same.
    pub(crate) fn refused(&self, code: i32, line: &str) -> String {
        let ran = self.run(words(line));
        assert_eq!((ran.code, ran.stdout.as_str()), (code, ""), "{line}: {ran:?}");
        let said = one_line(&ran.stderr).to_owned();
        let with_json = self.run(words(line).chain(["--json"]));
        assert_eq!(with_json.code, code, "{line} --json");
        let document = document(&with_json.stdout);
        assert_eq!(document["ok"], false, "{line}");
        assert_eq!(document["error"]["message"], said.as_str(), "{line}");
        assert!(document["error"]["code"].is_string(), "{line}");
        said
    }
}

impl Ran {
    pub(crate) fn of(child: Child) -> Self {
        let output = child.wait_with_output().unwrap();
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// The words of a command line; `'…'` keeps spaces.
pub(crate) fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split('\'').enumerate().flat_map(|(number, part)| {
        let quoted = number % 2 == 1;
        let words: Vec<_> = if quoted { vec![part] } else { part.split_whitespace().collect() };
        words
    })
}

/// What stands on stderr after the name of the program; it has to be one line.
pub(crate) fn one_line(stderr: &str) -> &str {
    let line = stderr.strip_prefix("tidings: ").and_then(|line| line.strip_suffix('\n'));
    line.filter(|line| !line.contains('\n') && !line.is_empty())
        .unwrap_or_else(|| panic!("not one line of ours: {stderr:?}"))
}

/// Reads one line of JSON, which has to carry its version as the last field.
pub(crate) fn document(line: &str) -> Value {
    let text = line.strip_suffix('\n').unwrap_or(line);
    assert!(!text.contains('\n') && text.ends_with(",\"formatVersion\":1}"), "{line}");
    let mut value: Value = serde_json::from_str(text).unwrap();
    value.as_object_mut().unwrap().shift_remove("formatVersion");
    value
}

/// Replaces times of this century by 0.
fn timeless(value: &mut Value) {
    match value {
        Value::Number(number) if number.as_i64() > Some(1_600_000_000_000) => *value = 0.into(),
        Value::Array(items) => items.iter_mut().for_each(timeless),
        Value::Object(fields) => fields.values_mut().for_each(timeless),
        _ => {}
    }
}

/// Asks until the answer is yes.
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < DEADLINE, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A binary that streams lines.
pub(crate) struct Stream {
    pub(crate) child: Child,
    lines: Receiver<String>,
}

impl Stream {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines() {
                if line.is_err() || sender.send(line.unwrap_or_default()).is_err() {
                    break;
                }
            }
        });
        Self { child, lines }
    }

    /// The next line that is `wanted`; those before it are passed over.
    pub(crate) fn wait_for(&self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let begin = Instant::now();
        loop {
            let left = DEADLINE.saturating_sub(begin.elapsed());
            let line = self
                .lines
                .recv_timeout(left)
                .unwrap_or_else(|error| panic!("no line that is {what}: {error}"));
            let value = document(&line);
            if wanted(&value) {
                return value;
            }
        }
    }

    /// Waits until the process is the owner.
    pub(crate) fn wait_until_owner(&self) {
        self.wait_for("owner", |line| line["event"] == "owner" && line["role"] == "owner");
    }

    /// Sends a signal and waits for the end: exit code and stderr.
    pub(crate) fn end(self, signal: rustix::process::Signal) -> (i32, String) {
        let process = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(process, signal).unwrap();
        self.wait()
    }

    /// Waits for the end: exit code and stderr.
    pub(crate) fn wait(self) -> (i32, String) {
        let ran = Ran::of(self.child);
        (ran.code, ran.stderr)
    }
}

/// Whether any file below `folder` holds `text`.
pub(crate) fn any_file_holds(folder: &Path, text: &str) -> Option<PathBuf> {
    for entry in folder.read_dir().unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            if let Some(found) = any_file_holds(&path, text) {
                return Some(found);
            }
        } else if std::fs::read(&path)
            .unwrap()
            .windows(text.len())
            .any(|window| window == text.as_bytes())
        {
            return Some(path);
        }
    }
    None
}

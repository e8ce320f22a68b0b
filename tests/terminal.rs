//! The real program in a real terminal: the main story, and the terminal as it was found, however the program ends.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "attached/support.rs"]
#[allow(dead_code, reason = "each test program uses its own part of this")]
mod foreign;
#[path = "terminal/pty.rs"]
mod pty;
#[path = "terminal/stories.rs"]
mod stories;

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use foreign::{Foreign, beside, real};
use portable_pty::CommandBuilder;
use pty::Session;
use rustix::process::Signal;
use serde_json::json;
use tidings::clock::{Clock, Millis, SystemClock};
use tidings::engine::live::Handle;
use tidings::engine::snapshot::Snapshot;
use tidings::ui;

const THREAD: &str = "5d7c0f5e-0000-4000-8000-000000000001";
const SIZE: (u16, u16) = (120, 40);

/// A home folder with one session of Claude Code in it.
struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        let home = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(home.transcript().parent().unwrap()).unwrap();
        home.prompt("00000000-0000-4000-8000-000000000001");
        home
    }

    fn transcript(&self) -> PathBuf {
        self.folder.path().join(format!(".claude/projects/-w-tidepool/{THREAD}.jsonl"))
    }

    /// A person types a prompt in the foreign session.
    fn prompt(&self, uuid: &str) {
        let row = json!({
            "isSidechain": false,
            "type": "user",
            "message": {"role": "user", "content": "words of a person"},
            "uuid": uuid,
            "timestamp": jiff::Timestamp::now().to_string(),
            "origin": {"kind": "human"},
            "promptSource": "typed",
            "turnOrigin": "human",
            "entrypoint": "cli",
            "cwd": "/w/tidepool",
            "sessionId": THREAD,
        });
        let mut file =
            OpenOptions::new().create(true).append(true).open(self.transcript()).unwrap();
        writeln!(file, "{row}").unwrap();
    }

    fn command(&self, program: &str) -> CommandBuilder {
        let mut command = CommandBuilder::new(program);
        command.env_clear();
        command.env("HOME", self.folder.path());
        command.env("PATH", "/usr/bin:/bin");
        command.env("TERM", "xterm-256color");
        command.env("TZ", "UTC");
        command.env("LANG", "C.UTF-8");
        command.cwd(self.folder.path());
        command
    }

    /// Runs a verb to its end.
    fn verb(&self, arguments: &[&str]) {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_tidings"));
        command.args(arguments).env_clear().env("HOME", self.folder.path());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    }

    fn config(&self, text: &str) {
        let folder = self.folder.path().join(".config/tidings");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("config.toml"), text).unwrap();
    }

    fn tidings(&self) -> Session {
        let session = Session::start(self.command(env!("CARGO_BIN_EXE_tidings")), SIZE);
        session.shows(&["● owner", "No sessions yet."]);
        session
    }
}

#[test]
fn from_the_first_look_to_an_acknowledged_notice() {
    let home = Home::new();
    let mut screen = home.tidings();
    screen.press("a");
    screen.shows(&["Adopt a session of this machine", &THREAD[..8]]);
    screen.press("\r");
    screen.shows(&["adopted claude:5d7c0f5e", "you watch it now"]);
    screen.press("\x1b");
    screen.shows(&["Sessions 2", "✓ in step"]);

    home.prompt("00000000-0000-4000-8000-000000000002");
    screen.press("t");
    screen.shows(&["notice for you: claude:5d7c0f5e", "v2", "human", "pending 1"]);
    assert!(!screen.text().contains("words of a person"));

    screen.press("\r");
    screen.shows(&["human_direct_message", "#2"]);
    screen.press("\r");
    screen.shows(&["read up to #2", "pending 0"]);
    screen.press("\x1b");
    screen.shows(&["✓ in step"]);
    screen.press("q");
    assert_eq!(screen.ends(), 0);
    screen.is_given_back();
}

#[test]
fn a_notice_for_the_operator_reaches_the_desktop_and_a_key_can_not_end_its_message() {
    let home = Home::new();
    let config = home.folder.path().join(".config/tidings");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("config.toml"), "[ui]\ndesktop = true\n").unwrap();
    let target = "agent:main:x\u{7}\u{1b}]0;evil\u{1b}\\\u{202e}\u{9c}\u{9d}9;y\n";
    let verb = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tidings"));
        let status = command
            .args(arguments)
            .env_clear()
            .env("HOME", home.folder.path())
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert!(status.success());
    };
    verb(&["watch", "agent:operator:main", target]);
    let session = Session::start(home.command(env!("CARGO_BIN_EXE_tidings")), SIZE);
    session.shows(&["● owner", "✓ in step"]);
    verb(&["record", "human_direct_message", target, "--actor-type", "human"]);
    let message = session.receives(b"\x1b]9;", 0x07);
    let message = String::from_utf8(message).unwrap();
    assert_eq!(
        message,
        "tidings: notice for you: x␇␛]0;evil␛\\\\u{202e}\\u{9c}\\u{9d}9;y␊ changed"
    );
    assert!(!message.chars().any(char::is_control));
    session.shows(&["notice for you"]);
}

#[test]
fn another_systems_database_is_shown_and_stays_as_it_is() {
    for foreign in std::iter::once(Foreign::newest().keep()).chain(real()) {
        let home = Home::new();
        foreign::settle(&foreign.path);
        let (before, files) = (fs::read(&foreign.path).unwrap(), beside(&foreign.path));
        let mut command = home.command(env!("CARGO_BIN_EXE_tidings"));
        command.args(["--attach", foreign.path.to_str().unwrap()]);
        let mut session = Session::start(command, SIZE);
        session.shows(&["attached, read-only", "subagent:", "tick unknown"]);
        session.press("w");
        session.shows(&["attached read-only"]);
        session.press("<");
        session.shows(&["REWOUND"]);
        session.press("\x1b");
        session.lacks("REWOUND");
        for (key, view) in [
            ("g", "› graph"),
            ("F", "› findings"),
            ("u", "› upstream"),
            ("Q", "› queue"),
            ("s", "› storage"),
        ] {
            session.press(key);
            session.shows(&[view]);
        }
        session.press("q");
        assert_eq!(session.ends(), 0);
        assert_eq!(fs::read(&foreign.path).unwrap(), before, "{}", foreign.path.display());
        assert_eq!(beside(&foreign.path), files, "nothing is left beside it");
    }
}

#[test]
fn sizes_from_tiny_to_large_are_followed() {
    let home = Home::new();
    let mut screen = home.tidings();
    screen.resize(20, 5);
    screen.shows(&["needs 40×10"]);
    screen.resize(200, 60);
    screen.shows(&["● owner", "No sessions yet."]);
    for columns in (41..140).step_by(3) {
        screen.resize(columns, columns / 3);
    }
    screen.resize(80, 24);
    screen.shows(&["● owner", "No sessions yet."]);
    screen.press("\x03");
    assert_eq!(screen.ends(), 0);
    screen.is_given_back();
}

#[test]
fn a_signal_to_end_gives_the_terminal_back() {
    for (signal, code) in [(Signal::TERM, 0), (Signal::INT, 0), (Signal::HUP, 129)] {
        let home = Home::new();
        let mut screen = home.tidings();
        assert!(screen.is_taken());
        screen.signal(signal);
        assert_eq!(screen.ends(), code, "{signal:?}");
        screen.is_given_back();
    }
}

#[test]
fn a_suspended_screen_gives_the_terminal_to_the_shell_and_comes_back() {
    let home = Home::new();
    let mut command = home.command("/bin/sh");
    command.arg("-i");
    command.env("PS1", "ready> ");
    let mut shell = Session::start(command, SIZE);
    shell.shows(&["ready> "]);
    shell.press(&format!("{}\n", env!("CARGO_BIN_EXE_tidings")));
    shell.shows(&["● owner", "No sessions yet."]);
    shell.press("\x1a");
    shell.lacks("● owner");
    shell.press("stty -a; echo told\n");
    shell.shows(&["\ntold\n", " icanon", " echo "]);
    assert!(!shell.is_taken());
    shell.press("fg\n");
    shell.shows(&["● owner", "No sessions yet."]);
    shell.press("q");
    shell.lacks("● owner");
    shell.press("exit\n");
    shell.ends();
    shell.is_given_back();
}

/// A clock that fails once it is told to.
#[derive(Debug, Default)]
struct Broken(AtomicBool);

impl Clock for Broken {
    fn now(&self) -> Millis {
        assert!(!self.0.load(Ordering::SeqCst), "the clock is broken");
        SystemClock.now()
    }
}

/// The part of a process of its own: a screen whose clock breaks when the process is told so by a signal.
fn screen_that_panics() {
    let clock = Arc::new(Broken::default());
    let (requests, _asked) = tokio::sync::mpsc::channel(1);
    let (_in, snapshots) = tokio::sync::watch::channel(Arc::new(Snapshot::default()));
    let options = ui::Options {
        theme: ui::theme::Theme::dark(),
        keys: std::collections::BTreeMap::new(),
        clock: Arc::clone(&clock) as Arc<dyn Clock>,
        zone: jiff::tz::TimeZone::UTC,
        title: None,
        bell: false,
        desktop: false,
        mouse: false,
        ascii: false,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut told =
            tokio::signal::unix::signal(tokio::signal::unix::SignalKind::user_defined1()).unwrap();
        tokio::spawn(async move {
            told.recv().await;
            clock.0.store(true, Ordering::SeqCst);
        });
        ui::run(Handle::new(requests, snapshots), options).await.unwrap();
    });
}

#[test]
fn a_panic_gives_the_terminal_back_and_is_told() {
    const PART: &str = "TIDINGS_TEST_PART";
    if std::env::var_os(PART).is_some() {
        return screen_that_panics();
    }
    let home = Home::new();
    let mut command = home.command(std::env::current_exe().unwrap().to_str().unwrap());
    command.args(["--exact", "a_panic_gives_the_terminal_back_and_is_told", "--nocapture"]);
    command.env(PART, "screen");
    let mut screen = Session::start(command, SIZE);
    screen.shows(&["starting"]);
    assert!(screen.is_taken());
    screen.signal(Signal::USR1);
    assert_ne!(screen.ends(), 0);
    screen.is_given_back();
    screen.shows(&["the clock is broken"]);
}

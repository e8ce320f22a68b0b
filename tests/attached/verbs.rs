//! The verbs over an attached database: the real program, whose writing verbs refuse.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Foreign, Real, beside, real};

const READING: [&[&str]; 11] = [
    &["sessions"],
    &["watches"],
    &["watches", "agent:main:main"],
    &["notices"],
    &["queue"],
    &["findings"],
    &["explain", "--watcher", "agent:main:main", "--target", "agent:main:subagent:KEY"],
    &["wait", "--since", "0", "--kind", "goal_changed"],
    &[
        "check",
        "--warn-pending-age",
        "9999d",
        "--max-pending-age",
        "9999d",
        "--warn-untouched",
        "9999d",
        "--max-untouched",
        "9999d",
    ],
    &["doctor"],
    &["status", "agent:main:subagent:KEY", "--changes-since", "0"],
];

const WRITING: [&[&str]; 13] = [
    &["record", "goal_changed", "agent:main:x", "--actor-type", "human"],
    &["spawn", "agent:main:main", "agent:main:subagent:x", "--run", "r"],
    &["finish", "agent:main:subagent:KEY", "--run", "r", "--outcome", "ok"],
    &["goal", "agent:main:x", "clear"],
    &["compacted", "agent:main:x", "--operation", "o"],
    &["watch", "agent:main:main", "agent:main:x"],
    &["unwatch", "agent:main:main", "agent:main:subagent:KEY"],
    &["send", "agent:main:main", "agent:main:subagent:KEY", "words"],
    &["turn", "agent:main:main"],
    &["reset", "agent:main:main"],
    &["delete", "agent:main:subagent:KEY"],
    &["tick"],
    &["status", "agent:main:subagent:KEY", "--changes-since", "0", "--as", "agent:main:main"],
];

fn tidings(home: &Path, arguments: &[&str], child: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tidings"))
        .args(arguments.iter().map(|argument| argument.replace("KEY", child)))
        .env_clear()
        .env("HOME", home)
        .output()
        .unwrap()
}

fn attached(home: &Path, path: &Path, arguments: &[&str], child: &str) -> Output {
    let all: Vec<_> =
        ["--attach", path.to_str().unwrap()].iter().chain(arguments).copied().collect();
    tidings(home, &all, child)
}

fn every_verb(path: &Path, child: &str) {
    let home = tempfile::tempdir().unwrap();
    let (before, files) = (std::fs::read(path).unwrap(), beside(path));
    for arguments in READING {
        let with_json: Vec<_> = arguments.iter().copied().chain(["--json"]).collect();
        let output = attached(home.path(), path, &with_json, child);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(document["formatVersion"], 1);
        assert!(attached(home.path(), path, arguments, child).status.success());
        assert_eq!(std::fs::read(path).unwrap(), before, "{arguments:?} on {}", path.display());
    }
    let metrics = attached(home.path(), path, &["metrics"], child);
    assert!(String::from_utf8(metrics.stdout).unwrap().contains("tidings_pending_notices "));
    for arguments in WRITING {
        let output = attached(home.path(), path, arguments, child);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("attached read-only") && said.lines().count() == 1, "{said}");
        assert_eq!(std::fs::read(path).unwrap(), before, "{arguments:?} on {}", path.display());
    }
    assert_eq!(beside(path), files, "nothing is left beside it");
    let own = home.path().join(".local/state/tidings/state.sqlite");
    assert!(!own.exists(), "no state of our own is made");
}

#[test]
fn reading_verbs_read_and_writing_verbs_refuse() {
    let foreign = Foreign::newest();
    foreign.settle();
    every_verb(&foreign.path(), "a");
    for Real { path, .. } in &real() {
        every_verb(path, "wk-1");
    }
}

#[test]
fn what_only_the_other_system_knows_is_unknown_or_implied() {
    let foreign = Foreign::newest();
    let home = tempfile::tempdir().unwrap();
    let json = |arguments: &[&str]| -> Value {
        serde_json::from_slice(&attached(home.path(), &foreign.path(), arguments, "a").stdout)
            .unwrap()
    };
    let notices = json(&["notices", "--json"]);
    let wakes: Vec<_> =
        notices["notices"].as_array().unwrap().iter().map(|notice| &notice["wake"]).collect();
    assert_eq!(wakes, ["unknown", "never", "never", "unknown"]);
    assert!(notices["notices"][0].get("queued").is_none());
    let queues = json(&["queue", "--json"]);
    assert!(queues["queues"].as_array().unwrap().iter().all(|queue| queue["implied"] == true));
    assert!(queues["queues"][0].get("evicted").is_none());
}

#[test]
fn auto_looks_in_the_usual_place_and_the_config_may_ask_for_it() {
    let home = tempfile::tempdir().unwrap();
    let missing = tidings(home.path(), &["--attach", "auto", "sessions"], "");
    assert_eq!(missing.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&missing.stderr).contains(".openclaw/state/openclaw.sqlite"));

    let folder = home.path().join(".openclaw/state");
    std::fs::create_dir_all(&folder).unwrap();
    let foreign = Foreign::newest();
    std::fs::copy(foreign.path(), folder.join("openclaw.sqlite")).unwrap();
    let found = tidings(home.path(), &["--attach", "auto", "sessions"], "");
    assert!(String::from_utf8_lossy(&found.stdout).contains("agent:main:subagent:a"));

    let config = home.path().join("config.toml");
    std::fs::write(&config, "attach = \"~/.openclaw/state/openclaw.sqlite\"").unwrap();
    let config = config.to_str().unwrap();
    let found = tidings(home.path(), &["--config", config, "sessions"], "");
    assert!(String::from_utf8_lossy(&found.stdout).contains("agent:main:subagent:a"), "{found:?}");
    let own = home.path().join("own.sqlite");
    let own =
        tidings(home.path(), &["--config", config, "--db", own.to_str().unwrap(), "sessions"], "");
    assert!(!String::from_utf8_lossy(&own.stdout).contains("agent:main:subagent:a"));
}

#[test]
fn run_prints_what_the_owner_records_and_tells_alerts_without_writing() {
    let foreign = Foreign::newest();
    foreign.settle();
    let home = tempfile::tempdir().unwrap();
    let told = home.path().join("told");
    let config = home.path().join("config.toml");
    std::fs::write(
        &config,
        format!(
            "[[alerts]]\nname = \"stuck\"\nconditions = [\"pending\", \"interleaved\", \"stopped\"]\nlonger_than = \"1m\"\n\
             watcher = \"agent:main:main\"\ntarget = \"agent:main:subagent:a\"\n\
             command = [\"/bin/sh\", \"-c\", \"echo $TIDINGS_ALERT_TURN $TIDINGS_TARGET >> {}\"]\n",
            told.display()
        ),
    )
    .unwrap();
    let path = foreign.path();
    let mut run = Command::new(env!("CARGO_BIN_EXE_tidings"))
        .args(["--attach", path.to_str().unwrap(), "--config", config.to_str().unwrap()])
        .args(["run", "--json"])
        .env_clear()
        .env("HOME", home.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(run.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    let first = next();
    assert_eq!((&first["event"], &first["role"]), (&"owner".into(), &"visitor".into()));
    foreign.change(
        "INSERT INTO session_state_events (session_key, agent_id, kind, actor_type, occurred_at, summary)
         VALUES ('agent:main:subagent:a', 'main', 'goal_changed', 'human', 1784160008000, 'goal updated')",
    );
    let event = next();
    assert_eq!((&event["event"], &event["sequence"]), (&"recorded".into(), &9.into()));
    assert!(event.get("notified").is_none(), "only that system knows whom it notified");
    let began = Instant::now();
    while std::fs::read(&told).unwrap_or_default() != b"opened agent:main:subagent:a\n" {
        assert!(began.elapsed() < Duration::from_secs(20), "never told");
        std::thread::yield_now();
    }
    let id = rustix::process::Pid::from_child(&run);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    assert!(run.wait().unwrap().success());
    assert!(!home.path().join(".local/state/tidings/state.sqlite").exists());
}

#[test]
fn what_cannot_be_read_is_one_line_and_exit_1() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("broken.sqlite");
    std::fs::write(&path, "these are very secret words, and no database at all; they are long enough to have a header in them").unwrap();
    for arguments in [&["sessions"][..], &["sessions", "--json"]] {
        let output = attached(home.path(), &path, arguments, "");
        assert_eq!(output.status.code(), Some(1));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("not a SQLite database") && said.lines().count() == 1, "{said}");
        assert!(!said.contains("secret"));
    }
}

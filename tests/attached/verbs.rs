//! The verbs over an attached database: the real program, whose writing verbs refuse.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Foreign, Real, beside, real, settle};

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

const WRITING: [&[&str]; 14] = [
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
    &["adopt", "x"],
    &["status", "agent:main:subagent:KEY", "--changes-since", "0", "--as", "agent:main:main"],
];

const TRANSCRIPT: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/inputs/claude/cc-hostile-titles-and-scripts.jsonl");

/// Verbs that print something else than one document, or end in another way: with this exit code.
const OTHERS: [(&[&str], i32); 11] = [
    (&["metrics"], 0),
    (&["catalog"], 0),
    (&["run", "--for", "400ms"], 0),
    (&["run", "--for", "400ms", "--json"], 0),
    (&["alerts", "test"], 1),
    (&["scan", "--harness", "claude", TRANSCRIPT], 0),
    (&["script", "-"], 0),
    (&["demo"], 2),
    (&["schema", "sessions"], 0),
    (&["completions", "bash"], 0),
    (&["man"], 0),
];

fn tidings(home: &Path, arguments: &[&str], child: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tidings"))
        .args(arguments.iter().map(|argument| argument.replace("KEY", child)))
        .env_clear()
        .env("HOME", home)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn attached(home: &Path, path: &Path, arguments: &[&str], child: &str) -> Output {
    let all: Vec<_> =
        ["--attach", path.to_str().unwrap()].iter().chain(arguments).copied().collect();
    tidings(home, &all, child)
}

/// Follows until the first event was printed, and interrupts it.
fn follow(home: &Path, path: &Path) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tidings"))
        .args(["--attach", path.to_str().unwrap(), "follow", "--since", "0"])
        .env_clear()
        .env("HOME", home)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    assert!(stdout.read_line(&mut String::new()).unwrap() > 0);
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    child.wait_with_output().unwrap()
}

/// Runs every verb over the database at `path`, and calls `looks` after each with what was run.
fn every_verb(home: &Path, path: &Path, child: &str, looks: impl Fn(&[&str])) {
    let mut ran = BTreeSet::from(["follow"]);
    for arguments in READING {
        ran.insert(arguments[0]);
        let with_json: Vec<_> = arguments.iter().copied().chain(["--json"]).collect();
        let output = attached(home, path, &with_json, child);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(document["formatVersion"], 1);
        looks(&with_json);
        assert!(attached(home, path, arguments, child).status.success());
        looks(arguments);
    }
    for arguments in WRITING {
        ran.insert(arguments[0]);
        let output = attached(home, path, arguments, child);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("attached read-only") && said.lines().count() == 1, "{said}");
        looks(arguments);
    }
    for (arguments, code) in OTHERS {
        ran.insert(arguments[0]);
        let output = attached(home, path, arguments, child);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {output:?}");
        looks(arguments);
    }
    assert_eq!(follow(home, path).status.code(), Some(130));
    looks(&["follow"]);
    let all = <tidings::cli::Cli as clap::CommandFactory>::command();
    let all: BTreeSet<_> = all.get_subcommands().map(clap::Command::get_name).collect();
    assert_eq!(ran, all, "every verb is run");
}

/// Runs every verb over a database that nobody has open.
fn leave_no_trace(path: &Path, child: &str) {
    let home = tempfile::tempdir().unwrap();
    let (before, files) = (std::fs::read(path).unwrap(), beside(path));
    every_verb(home.path(), path, child, |ran| {
        assert_eq!(std::fs::read(path).unwrap(), before, "{ran:?} on {}", path.display());
        assert_eq!(beside(path), files, "{ran:?} leaves nothing beside it");
    });
    let own = home.path().join(".local/state/tidings/state.sqlite");
    assert!(!own.exists(), "no state of our own is made");
}

#[test]
fn reading_verbs_read_and_writing_verbs_refuse() {
    let foreign = Foreign::newest();
    foreign.settle();
    leave_no_trace(&foreign.path(), "a");
    for Real { path, .. } in &real() {
        leave_no_trace(path, "wk-1");
    }
}

/// An owner that was killed leaves its log, with what it had not moved into the database yet. The index beside it is SQLite's own,
/// and any reader may make it anew; the database and its log are the owner's.
#[test]
fn what_a_killed_owner_left_is_read_and_stays_as_it_is() {
    let home = tempfile::tempdir().unwrap();
    for keeps_index in [true, false] {
        let foreign = Foreign::newest();
        let owner = foreign.writer();
        owner
            .execute_batch(
                "PRAGMA wal_autocheckpoint = 0;
                 UPDATE session_watch_cursors SET last_seen_sequence = 3 WHERE target_session_key LIKE '%:a';
                 INSERT INTO session_state_heads (session_key, agent_id, last_sequence, updated_at)
                   VALUES ('agent:main:late', 'main', 8, 1784160008000);",
            )
            .unwrap();
        // What lies on the disk at this moment is what it would leave if it were killed.
        let left = tempfile::tempdir().unwrap();
        let path = left.path().join("openclaw.sqlite");
        let log = path.with_extension("sqlite-wal");
        std::fs::copy(foreign.path(), &path).unwrap();
        std::fs::copy(foreign.path().with_extension("sqlite-wal"), &log).unwrap();
        if keeps_index {
            let index = path.with_extension("sqlite-shm");
            std::fs::copy(foreign.path().with_extension("sqlite-shm"), index).unwrap();
        }
        settle(&path);
        let before = [&path, &log].map(|file| std::fs::read(file).unwrap());
        assert!(before[1].len() > 4_096, "the log is filled");
        every_verb(home.path(), &path, "a", |ran| {
            let now = [&path, &log].map(|file| std::fs::read(file).unwrap());
            assert!(now == before, "{ran:?} changed the database or its log");
        });
        let sessions = attached(home.path(), &path, &["sessions"], "");
        assert!(String::from_utf8_lossy(&sessions.stdout).contains("agent:main:late"));
        // Its owner finds all of it when it starts again.
        let again = rusqlite::Connection::open(&path).unwrap();
        let seen = "SELECT last_seen_sequence FROM session_watch_cursors WHERE target_session_key LIKE '%:subagent:a'";
        assert_eq!(again.query_row(seen, [], |row| row.get::<_, i64>(0)).unwrap(), 3);
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
    let sessions = json(&["sessions", "--json"]);
    let mut links =
        sessions["sessions"].as_array().unwrap().iter().filter_map(|row| row.get("upstream"));
    let link = links.next().unwrap();
    assert!(link["outcome"] == "unknown" && link.get("missingStreak").is_none(), "{link}");
    let queues = json(&["queue", "--json"]);
    assert!(queues["queues"].as_array().unwrap().iter().all(|queue| queue["implied"] == true));
    assert!(queues["queues"][0].get("evicted").is_none());
    let text = attached(home.path(), &foreign.path(), &["queue"], "a").stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("(implied)") && !text.contains("/20"), "{text}");
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

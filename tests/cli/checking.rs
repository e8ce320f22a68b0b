//! Each threshold of `check`, crossed in both directions by what is done: its line and its exit code.

use std::sync::Arc;
use std::time::Duration;

use tidings::clock::SystemClock;
use tidings::engine::{Discipline, Engine, Settings};
use tidings::event::{ActorType, EventKind, NewEvent};
use tidings::journal::append::Gate;
use tidings::session_key::{AgentId, SessionKey};

use super::foreign::Foreign;
use super::support::{Home, words};

const W: &str = "agent:main:main";
const T: &str = "agent:main:subagent:child";
const THREAD: &str = "7f3a0000-0000-4000-8000-000000000001";

fn judged(home: &Home, options: &str, code: i32, says: &str) {
    let ran = home.run(words(&format!("check {options}")));
    assert_eq!(ran.code, code, "check {options}: {ran:?}");
    let word = ["OK", "WARNING", "CRITICAL", "UNKNOWN"][usize::try_from(code).unwrap()];
    assert!(ran.stdout.starts_with(&format!("TIDINGS {word} - ")), "{ran:?}");
    assert!(ran.stdout.contains(says), "check {options}: {} does not say {says:?}", ran.stdout);
    assert_eq!((ran.stdout.lines().count(), ran.stderr.as_str()), (1, ""), "{ran:?}");
}

fn record(home: &Home) {
    home.ok(&format!("record human_direct_message {T} --actor-type human"));
}

/// Lets more than the shortest time pass that a bound can have.
fn pass_a_moment() {
    std::thread::sleep(Duration::from_millis(5));
}

#[test]
fn the_age_of_a_notice() {
    let home = Home::new();
    home.ok(&format!("watch {W} {T}"));
    judged(&home, "--max-pending-age 1ms", 0, "nothing is owed");
    record(&home);
    pass_a_moment();
    judged(&home, "", 0, "oldest notice");
    judged(&home, "--warn-pending-age 1ms", 1, "pending_age=");
    judged(&home, "--max-pending-age 1ms", 2, "oldest notice");
    home.ok(&format!("turn {W}"));
    judged(&home, "--max-pending-age 1ms", 0, "nothing is owed");
}

#[test]
fn lag_of_what_is_old() {
    let home = Home::new();
    home.ok(&format!("watch {W} {T}"));
    for _ in 0..3 {
        record(&home);
    }
    judged(&home, "--max-lag 1", 0, "lag=0");
    home.write_config("[conditions]\nyoung = \"1ms\"\n[check]\nwarn_lag = 3\n");
    pass_a_moment();
    judged(&home, "", 1, "actionable lag 3");
    judged(&home, "--max-lag 3", 2, "actionable lag 3");
    judged(&home, "--warn-lag 4", 0, "lag=3;4;;0");
    home.ok(&format!("turn {W}"));
    pass_a_moment();
    judged(&home, "", 0, "lag=2;3;;0");
}

#[test]
fn a_watch_that_nothing_touched() {
    let home = Home::new();
    judged(&home, "--max-untouched 1ms", 0, "0 watches");
    home.ok(&format!("watch {W} {T}"));
    pass_a_moment();
    judged(&home, "", 0, "untouched=");
    judged(&home, "--warn-untouched 1ms", 1, "ends in");
    judged(&home, "--max-untouched 1ms", 2, "ends in");
    home.ok(&format!("unwatch {W} {T}"));
    judged(&home, "--max-untouched 1ms", 0, "0 watches");
}

fn transcript(home: &Home, rows: &[String]) -> std::path::PathBuf {
    let folder = home.path("claude/projects/-p");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{THREAD}.jsonl"));
    std::fs::write(&path, rows.concat()).unwrap();
    path
}

fn prompt(number: usize, words: &str) -> String {
    format!(
        "{{\"type\":\"user\",\"uuid\":\"u{number}\",\"sessionId\":\"{THREAD}\",\"timestamp\":\"2026-07-01T00:00:00Z\",\
         \"origin\":{{\"kind\":\"human\"}},\"message\":{{\"role\":\"user\",\"content\":\"{words}\"}}}}\n"
    )
}

#[test]
fn the_tick_and_a_source_that_is_missing() {
    let home = Home::new();
    let path = transcript(&home, &[prompt(1, "x")]);
    home.ok(&format!("adopt {THREAD} --watch-as {W}"));
    judged(&home, "", 3, "has not ticked yet");
    home.ok("tick");
    pass_a_moment();
    judged(&home, "", 0, "tick_age=");
    judged(&home, "--warn-tick-age 1ms", 1, "last tick");
    judged(&home, "--max-tick-age 1ms", 2, "last tick");
    judged(&home, "--max-missing 1", 0, "missing=0;;1;0");

    let bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    home.ok("tick");
    judged(&home, "", 1, "is missing 1/3");
    judged(&home, "--max-missing 1", 2, "is missing 1/3");
    judged(&home, "--warn-missing 2", 0, "missing=1;2;2;0");
    home.ok("tick");
    judged(&home, "", 2, "is missing 2/3");
    std::fs::write(&path, bytes).unwrap();
    home.ok("tick");
    judged(&home, "", 0, "missing=0;1;2;0");
}

#[test]
fn a_source_that_is_blocked() {
    let home = Home::new();
    home.write_config("[upstream]\nmax_row_bytes = 600\n");
    let path = transcript(&home, &[prompt(1, "x")]);
    home.ok(&format!("adopt {THREAD} --watch-as {W}"));
    home.ok("tick");
    judged(&home, "", 0, "blocked_age=0.000s");
    std::fs::write(&path, [prompt(1, "x"), prompt(2, &"y".repeat(2_000))].concat()).unwrap();
    home.ok("tick");
    judged(&home, "", 1, "is blocked for");
    pass_a_moment();
    judged(&home, "--max-blocked-age 1ms", 2, "is blocked for");
    // Below its bounds it is no fault, but what the source did meanwhile is not known.
    judged(&home, "--warn-blocked-age 1h --max-blocked-age 2h", 3, "nothing can be said");
    home.write_config("");
    home.ok("tick");
    judged(&home, "--max-blocked-age 1ms", 0, "blocked_age=0.000s");
}

#[test]
fn appends_that_failed() {
    let home = Home::new();
    record(&home);
    judged(&home, "", 0, "append_failures=0");
    let break_or_mend = |from: &str, to: &str| {
        rusqlite::Connection::open(home.db())
            .unwrap()
            .execute_batch(&format!(
                "ALTER TABLE session_state_events RENAME COLUMN {from} TO {to}"
            ))
            .unwrap();
    };
    break_or_mend("summary", "gone");
    home.refused(1, &format!("record goal_changed {T} --actor-type human"));
    break_or_mend("gone", "summary");
    judged(&home, "", 1, "2 appends failed within an hour");
    judged(&home, "--max-append-failures 2", 2, "2 appends failed");
    judged(&home, "--warn-append-failures 3", 0, "append_failures=2;3;10;0");
}

#[test]
fn a_write_lock_that_is_held() {
    let home = Home::new();
    record(&home);
    let while_held = |options: &str, code: i32| {
        let holder = rusqlite::Connection::open(home.db()).unwrap();
        holder.execute_batch("BEGIN IMMEDIATE").unwrap();
        std::thread::scope(|scope| {
            let checking = scope.spawn(|| judged(&home, options, code, "lock_wait="));
            std::thread::sleep(Duration::from_millis(700));
            holder.execute_batch("ROLLBACK").unwrap();
            checking.join().unwrap();
        });
    };
    while_held("--warn-lock-wait 200ms", 1);
    while_held("--max-lock-wait 200ms", 2);
    while_held("--warn-lock-wait 1h --max-lock-wait 2h", 0);
    judged(&home, "--warn-lock-wait 200ms", 0, "lock_wait=");
}

#[test]
fn a_journal_that_fills() {
    let home = Home::new();
    record(&home);
    judged(&home, "--max-journal-fill 1", 0, "journal_fill=0%;;1;0");
    let mut engine =
        Engine::open(&home.db(), Arc::new(SystemClock), Settings::default(), Discipline::InStep)
            .unwrap();
    let event = NewEvent::new(
        SessionKey::new(T),
        AgentId::main(),
        EventKind::GoalChanged,
        ActorType::Human,
    );
    for _ in 0..999 {
        engine.record(&event, Gate::Open).unwrap();
    }
    judged(&home, "", 0, "journal_fill=2%;120;200;0");
    judged(&home, "--warn-journal-fill 2", 1, "1000 of 50000 events");
    judged(&home, "--warn-journal-fill 1 --max-journal-fill 2", 2, "1000 of 50000 events");
    judged(&home, "--warn-journal-fill 3", 0, "journal_fill=2%;3;200;0");
}

#[test]
fn what_cannot_be_read_or_only_its_owner_knows_is_unknown() {
    let home = Home::new();
    let foreign = Foreign::newest();
    let over = |path: &std::path::Path, options: &str, code: i32, says: &str| {
        judged(&home, &format!("--attach {} {options}", path.display()), code, says);
    };
    let lenient = "--max-pending-age 9999d --warn-pending-age 9998d --max-untouched 9999d --warn-untouched 9998d";
    over(&foreign.path(), lenient, 0, "oldest notice");
    for option in [
        "max-tick-age 1h",
        "warn-missing 1",
        "max-blocked-age 1h",
        "max-lock-wait 1s",
        "warn-append-failures 1",
    ] {
        over(
            &foreign.path(),
            &format!("{lenient} --{option}"),
            3,
            "only the system that owns the database knows",
        );
    }
    // What is bad weighs more than what is unknown.
    over(&foreign.path(), "--max-pending-age 1ms --max-tick-age 1h", 2, "tick_age is unknown");
    over(&home.path("nowhere.sqlite"), "", 3, "there is no such file");
    std::fs::write(home.path("garbage.sqlite"), [b'x'; 4_096]).unwrap();
    over(&home.path("garbage.sqlite"), "", 3, "not a SQLite database");
}

#[test]
fn the_config_says_the_bounds_and_the_options_win() {
    let home = Home::new();
    home.ok(&format!("watch {W} {T}"));
    record(&home);
    pass_a_moment();
    home.write_config("[check]\nwarn_pending_age = \"1ms\"\n");
    judged(&home, "", 1, "oldest notice");
    judged(&home, "--warn-pending-age 30m", 0, "pending_age=");
    home.write_config("[check]\nmax_pending_age = \"1ms\"\nwarn_journal_fill = 7\n");
    judged(&home, "", 2, "journal_fill=0%;7;200;0");
    judged(&home, "--warn-pending-age 30m --max-pending-age 1h", 0, "pending_age=");
    home.write_config("[check]\nmax_odd = 1\n");
    assert!(home.refused(2, "sessions").contains("check.max_odd"));
}

//! Files that nobody has open are read without a trace, and whatever is written meanwhile is seen.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tidings::engine::live::Live;
use tidings::event::Sequence;
use tidings::session_key::AgentId;

use crate::support::{Foreign, Real, attach, beside, key, options, pair, real};

const MAIN: &str = "agent:main:main";
const A: &str = "agent:main:subagent:a";
const ACKNOWLEDGE: &str =
    "UPDATE session_watch_cursors SET last_seen_sequence = 4, notified_sequence = 4
    WHERE target_session_key = 'agent:main:subagent:a'";
const RECORD: &str = "INSERT INTO session_state_events (session_key, agent_id, kind, actor_type, occurred_at, summary)
    VALUES ('agent:main:subagent:a', 'main', 'goal_changed', 'human', 1784160008000, 'goal updated')";

fn seen(attached: &mut tidings::engine::attached::Attached) -> Sequence {
    pair(&attached.snapshot(1, &[]).unwrap(), MAIN, A).cursor.seen
}

#[test]
fn looking_leaves_nothing_beside_a_file_that_nobody_has_open() {
    let foreign = Foreign::newest();
    foreign.settle();
    let before = std::fs::read(foreign.path()).unwrap();
    {
        let mut attached = foreign.attach();
        assert!(attached.reader().is_foreign());
        attached.snapshot(1, &[]).unwrap();
        attached.changes(&(key(A), AgentId::main()), Sequence(0), 200).unwrap();
        assert_eq!(beside(&foreign.path()), ["openclaw.sqlite"], "not even while it looks");
    }
    // A log that is empty says no more than none.
    std::fs::write(foreign.path().with_extension("sqlite-wal"), "").unwrap();
    foreign.attach().snapshot(1, &[]).unwrap();
    assert_eq!(beside(&foreign.path()), ["openclaw.sqlite", "openclaw.sqlite-wal"]);
    assert_eq!(std::fs::read(foreign.path()).unwrap(), before);
}

#[test]
fn a_name_that_means_something_in_an_address_is_only_a_name() {
    let folder = tempfile::tempdir().unwrap();
    let foreign = Foreign::newest();
    let path = folder.path().join("a?immutable=0#b%20 c\u{fc}.sqlite");
    std::fs::copy(foreign.path(), &path).unwrap();
    crate::support::settle(&path);
    assert_eq!(attach(&path).unwrap().snapshot(1, &[]).unwrap().watches.len(), 6);
    assert_eq!(beside(&path).len(), 1);
}

#[test]
fn the_real_files_are_watched_and_nothing_is_left_beside_them() {
    for Real { path, .. } in &real() {
        let before = std::fs::read(path).unwrap();
        let live = Live::attach(options(path.clone())).unwrap();
        std::thread::sleep(Duration::from_millis(400));
        live.stop();
        assert_eq!(beside(path).len(), 1, "{:?}", beside(path));
        assert_eq!(std::fs::read(path).unwrap(), before);
    }
}

#[test]
fn what_is_written_after_it_was_opened_is_read() {
    let foreign = Foreign::newest();
    foreign.settle();
    let mut attached = foreign.attach();
    assert_eq!(seen(&mut attached), Sequence(1));
    foreign.change(ACKNOWLEDGE);
    assert!(!attached.reader().is_steady());
    assert_eq!(seen(&mut attached), Sequence(4));
    // And what is only in a log so far.
    let foreign = Foreign::newest();
    foreign.settle();
    let mut attached = foreign.attach();
    let owner = foreign.writer();
    owner.execute_batch(ACKNOWLEDGE).unwrap();
    assert_eq!(seen(&mut attached), Sequence(4));
}

#[test]
fn what_an_owner_writes_that_starts_later_appears() {
    let foreign = Foreign::newest();
    foreign.settle();
    let live = Live::attach(options(foreign.path())).unwrap();
    let snapshots = live.handle().snapshots();
    let appears = |what: Sequence| {
        let began = Instant::now();
        while pair(&snapshots.borrow(), MAIN, A).cursor.seen != what {
            assert!(began.elapsed() < Duration::from_secs(20), "never seen");
            std::thread::yield_now();
        }
    };
    appears(Sequence(1));
    let owner = foreign.writer();
    owner.execute_batch(ACKNOWLEDGE).unwrap();
    appears(Sequence(4));
    owner.execute_batch("UPDATE session_watch_cursors SET last_seen_sequence = 3").unwrap();
    appears(Sequence(3));
    drop(live);
}

#[test]
fn following_a_file_that_nobody_had_open_misses_nothing() {
    let foreign = Foreign::newest();
    foreign.settle();
    let home = tempfile::tempdir().unwrap();
    let mut follow = Command::new(env!("CARGO_BIN_EXE_tidings"))
        .args(["--attach", foreign.path().to_str().unwrap(), "--json", "follow", "--since", "7"])
        .env_clear()
        .env("HOME", home.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(follow.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    assert_eq!(next()["sequence"], 8);
    foreign.change(RECORD);
    assert_eq!(next()["sequence"], 9);
    foreign.change(RECORD);
    assert_eq!(next()["sequence"], 10);
    follow.kill().unwrap();
    follow.wait().unwrap();
}

//! Alerts of a live owner: told by a program, and gone on with by the next owner.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tidings::clock::{MINUTE, ManualClock};
use tidings::engine::Settings;
use tidings::engine::alerts::AlertRule;
use tidings::engine::attached::AttachOptions;
use tidings::engine::live::{Live, LiveOptions, Schedule};
use tidings::watch::Condition;

use crate::common::{T, W, World, address, human_turn};
use crate::foreign::{Foreign, NOW};

const PATIENCE: Duration = Duration::from_secs(20);

/// Pairs with an open notice that is ten minutes old; what is told goes to a file.
fn stuck(told: &Path) -> AlertRule {
    let script = format!("echo $TIDINGS_ALERT_TURN $TIDINGS_CONDITION >> {}", told.display());
    AlertRule {
        name: "stuck".into(),
        conditions: vec![Condition::Pending, Condition::Interleaved, Condition::Stopped],
        longer_than: 10 * MINUTE,
        repeat: 240 * MINUTE,
        watcher: None,
        target: None,
        command: vec!["sh".into(), "-c".into(), script],
        desktop: false,
    }
}

fn owner(world: &World, told: &Path) -> Live {
    Live::start(LiveOptions {
        file_events: false,
        db: world.db(),
        clock: world.clock.clone(),
        settings: Settings::default(),
        providers: Vec::new(),
        wake_command: Vec::new(),
        screen: false,
        schedule: Schedule::default(),
        alerts: vec![stuck(told)],
    })
    .unwrap()
}

fn wait_for(told: &Path, lines: &[&str]) {
    let began = Instant::now();
    loop {
        let text = std::fs::read(told).unwrap_or_default();
        let text = String::from_utf8(text).unwrap();
        if text.lines().eq(lines.iter().copied()) {
            return;
        }
        assert!(began.elapsed() < PATIENCE, "told {text:?}, not {lines:?}");
        std::thread::yield_now();
    }
}

#[test]
fn an_alert_opens_once_and_another_owner_closes_it() {
    let mut world = World::in_step();
    let folder = tempfile::tempdir().unwrap();
    let told = folder.path().join("told");
    world.watch(W, T);
    world.record(&human_turn(T));
    world.clock.advance(10 * MINUTE);
    let live = owner(&world, &told);
    wait_for(&told, &["opened pending"]);
    live.stop();
    let live = owner(&world, &told);
    world.record(&human_turn(T));
    let mut snapshots = live.handle().snapshots();
    let began = Instant::now();
    while snapshots.borrow_and_update().watches[0].condition != Condition::Interleaved {
        assert!(began.elapsed() < PATIENCE);
        std::thread::yield_now();
    }
    for _ in 0..2 {
        world.engine().turn(&address(W)).unwrap();
    }
    wait_for(&told, &["opened pending", "closed in step"]);
    live.stop();
}

#[test]
fn a_program_that_is_not_there_is_a_problem_that_is_shown() {
    let mut world = World::in_step();
    world.watch(W, T);
    world.record(&human_turn(T));
    world.clock.advance(10 * MINUTE);
    let mut live = owner(&world, Path::new("/nowhere/told"));
    drop(live.feed());
    let snapshots = live.handle().snapshots();
    let began = Instant::now();
    while !snapshots.borrow().problems.iter().any(|problem| problem.message.contains("stuck")) {
        assert!(began.elapsed() < PATIENCE, "{:?}", snapshots.borrow().problems);
        std::thread::yield_now();
    }
    live.stop();
}

/// An attached monitor that alerts about one pair only, and remembers in `memory`.
fn attached(foreign: &Foreign, at: &Arc<ManualClock>, told: &Path, memory: &Path) -> Live {
    let key = |text: &str| Some(crate::common::key(text));
    let (watcher, target) = (key(W), key("agent:main:subagent:a"));
    Live::attach(AttachOptions {
        path: foreign.path(),
        clock: at.clone(),
        settings: Settings::default(),
        alerts: vec![AlertRule { watcher, target, ..stuck(told) }],
        remember_in: Some(memory.to_owned()),
    })
    .unwrap()
}

#[test]
fn alerts_over_an_attached_database_open_once_repeat_and_close() {
    let foreign = Foreign::newest();
    let folder = tempfile::tempdir().unwrap();
    let (told, memory) = (folder.path().join("told"), folder.path().join("memory"));
    let clock = Arc::new(ManualClock::at(NOW));
    let before = std::fs::read(foreign.path()).unwrap();
    let live = attached(&foreign, &clock, &told, &memory);
    assert!(!told.exists(), "the notice is a minute old");
    clock.advance(10 * MINUTE);
    foreign.change("UPDATE session_state_heads SET updated_at = updated_at");
    wait_for(&told, &["opened interleaved"]);
    // A second monitor on the same database does not tell it, too, and goes on when the first one ends.
    let second = attached(&foreign, &clock, &told, &memory);
    live.stop();
    clock.advance(240 * MINUTE);
    foreign.change("UPDATE session_state_heads SET updated_at = updated_at");
    wait_for(&told, &["opened interleaved", "repeated stopped"]);
    second.stop();
    assert_eq!(std::fs::read(foreign.path()).unwrap(), before, "updates that change nothing");
    let third = attached(&foreign, &clock, &told, &memory);
    foreign.change(
        "UPDATE session_watch_cursors SET last_seen_sequence = material_sequence, notified_sequence = material_sequence",
    );
    wait_for(&told, &["opened interleaved", "repeated stopped", "closed in step"]);
    third.stop();
}

#[test]
fn an_attached_database_that_is_lost_neither_opens_nor_closes_an_alert() {
    let foreign = Foreign::newest();
    foreign.change("PRAGMA journal_mode = DELETE");
    let folder = tempfile::tempdir().unwrap();
    let (told, memory) = (folder.path().join("told"), folder.path().join("memory"));
    let clock = Arc::new(ManualClock::at(NOW + 10 * MINUTE));
    let live = attached(&foreign, &clock, &told, &memory);
    wait_for(&told, &["opened interleaved"]);
    let whole = std::fs::read(foreign.path()).unwrap();
    std::fs::remove_file(foreign.path()).unwrap();
    let snapshots = live.handle().snapshots();
    let until = |what: &str, holds: &dyn Fn() -> bool| {
        let began = Instant::now();
        while !holds() {
            assert!(began.elapsed() < PATIENCE, "never {what}");
            std::thread::yield_now();
        }
    };
    until("lost", &|| !snapshots.borrow().problems.is_empty());
    std::fs::write(foreign.path(), whole).unwrap();
    until("back", &|| snapshots.borrow().problems.is_empty());
    live.stop();
    wait_for(&told, &["opened interleaved"]);
}

#[test]
fn alerts_that_cannot_be_remembered_are_told_all_the_same_and_that_is_shown() {
    let foreign = Foreign::newest();
    let folder = tempfile::tempdir().unwrap();
    let told = folder.path().join("told");
    let memory = folder.path().join("no folder");
    std::fs::write(&memory, "a file lies in its place").unwrap();
    let clock = Arc::new(ManualClock::at(NOW + 10 * MINUTE));
    let live = attached(&foreign, &clock, &told, &memory);
    wait_for(&told, &["opened interleaved"]);
    foreign.change("UPDATE session_state_heads SET updated_at = updated_at");
    let snapshots = live.handle().snapshots();
    let began = Instant::now();
    let is_shown = |word: &str| {
        snapshots.borrow().problems.iter().any(|problem| problem.message.contains(word))
    };
    while !is_shown("can't be remembered") {
        assert!(began.elapsed() < PATIENCE);
        std::thread::yield_now();
    }
    live.stop();
}

//! Alerts of a live owner: told by a program, and gone on with by the next owner.

use std::path::Path;
use std::time::{Duration, Instant};

use tidings::clock::MINUTE;
use tidings::engine::Settings;
use tidings::engine::alerts::AlertRule;
use tidings::engine::live::{Live, LiveOptions, Schedule};
use tidings::watch::Condition;

use crate::common::{T, W, World, address, human_turn};

const PATIENCE: Duration = Duration::from_secs(20);

fn owner(world: &World, told: &Path) -> Live {
    let script = format!("echo $TIDINGS_ALERT_TURN $TIDINGS_CONDITION >> {}", told.display());
    Live::start(LiveOptions {
        file_events: false,
        db: world.db(),
        clock: world.clock.clone(),
        settings: Settings::default(),
        providers: Vec::new(),
        wake_command: Vec::new(),
        screen: false,
        schedule: Schedule::default(),
        alerts: vec![AlertRule {
            name: "stuck".into(),
            conditions: vec![Condition::Pending, Condition::Interleaved, Condition::Stopped],
            longer_than: 10 * MINUTE,
            repeat: 240 * MINUTE,
            watcher: None,
            target: None,
            command: vec!["sh".into(), "-c".into(), script],
            desktop: false,
        }],
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

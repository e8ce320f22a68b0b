//! Who the owner is: one of several live engines on one database.

use std::os::unix::fs::MetadataExt;
use std::process::Command;

use tidings::engine::feed::FeedItem;
use tidings::engine::live::Request;
use tidings::engine::lock::{OwnerLock, is_owned};
use tidings::engine::snapshot::{Role, WakeState};
use tidings::journal::ledger::Step;
use tidings::journal::sessions::SessionFacts;
use tidings::session_key::SessionKey;

use crate::support::{NOW, Stage, record};

fn target() -> SessionKey {
    SessionKey::new("agent:main:worker")
}

#[test]
fn a_second_engine_is_a_viewer_and_takes_over() {
    let stage = Stage::new();
    let mut owner = stage.start();
    let mut viewer = stage.start();
    assert_eq!(owner.snapshot().role, Role::Owner);
    let role = Role::Viewer { owner: Some(std::process::id()) };
    viewer.wait_for("the name of the owner", |snapshot| snapshot.role == role);

    owner.ask(Request::Watch(target())).unwrap();
    let watcher = SessionKey::new("agent:main:main");
    let mut other = stage.other();
    let address = other.address(watcher.as_str(), None).unwrap();
    other.register(&address, &SessionFacts::default()).unwrap();
    other.watch(&watcher, &target(), None).unwrap();
    record(&mut other, &target());
    let seen = viewer.wait_for("what others wrote", |snapshot| snapshot.notices.len() == 2);
    assert_eq!(seen.notices[0].queued, Some(true), "an owner runs");

    stage.at(15_000);
    owner.hear_tick();
    stage.at(60_000);
    owner.hear_tick();
    owner.hear_step(Step::WakeSkipped, &watcher);
    stage.at(61_000);
    viewer.ask(Request::Tick).unwrap();
    viewer.hear_tick();

    owner.stop();
    viewer.wait_for("the take-over", |snapshot| snapshot.role == Role::Owner);
    viewer.hear("the take-over", |item| matches!(item, FeedItem::Owner(Role::Owner)));
    viewer.hear_step(Step::Swept, &watcher);
    viewer.wait_for("the wake of the sweep", |snapshot| {
        snapshot.watches.iter().any(|row| {
            row.cursor.watcher == watcher && row.wake == WakeState::Coalescing(NOW + 81_000)
        })
    });
    stage.at(76_000);
    viewer.hear_tick();
    assert_eq!(viewer.ticks(), [61_000, 76_000], "a viewer ticks only when it is asked to");
}

#[test]
fn notices_that_were_pending_before_are_swept_at_the_start() {
    let stage = Stage::new();
    let watcher = SessionKey::new("agent:main:main");
    let mut other = stage.other();
    let address = other.address(watcher.as_str(), None).unwrap();
    other.register(&address, &SessionFacts::default()).unwrap();
    other.watch(&watcher, &target(), None).unwrap();
    record(&mut other, &target());
    drop(other);
    let mut running = stage.start();
    assert_eq!(running.snapshot().notices.len(), 1, "in the first snapshot");
    running.hear_step(Step::Swept, &watcher);
    running.hear_step(Step::WakeAsked, &watcher);
}

#[test]
fn of_two_owners_one_after_the_other_both_tick() {
    let stage = Stage::new();
    for round in 0..2 {
        let mut running = stage.start();
        assert_eq!(running.snapshot().role, Role::Owner, "round {round}");
        stage.clock.advance(15_000);
        running.hear_tick();
        running.stop();
    }
    assert_eq!(stage.other().journal().owner().unwrap(), None);
}

/// A process that opens its database twice must not lose SQLite's locks on it: else another process that ends takes itself for
/// the last one, and removes the write-ahead log under this one.
#[test]
fn a_second_connection_gives_no_locks_away() {
    let stage = Stage::new();
    let running = stage.start();
    running.ask(Request::Watch(target())).unwrap();
    drop(stage.other());
    let wal = stage.folder.path().join("state.sqlite-wal");
    let before = wal.metadata().unwrap();
    let other_process = Command::new(env!("CARGO_BIN_EXE_tidings"))
        .args(["--db", stage.db().to_str().unwrap(), "watches"])
        .env("HOME", stage.folder.path())
        .env("XDG_CONFIG_HOME", stage.folder.path())
        .output()
        .unwrap();
    assert!(other_process.status.success(), "{other_process:?}");
    assert_eq!(wal.metadata().expect("the log is still there").ino(), before.ino());
    record(&mut stage.other(), &target());
    running.wait_for("what came after it", |snapshot| snapshot.notices.len() == 1);
    assert!(running.snapshot().problems.is_empty(), "{:?}", running.snapshot().problems);
}

#[test]
fn an_owner_whose_lock_was_deleted_gives_way_to_the_next_one() {
    let stage = Stage::new();
    let first = stage.start();
    let lock = OwnerLock::path(&stage.db());
    std::fs::remove_file(&lock).unwrap();
    let second = stage.start();
    assert_eq!(second.snapshot().role, Role::Owner, "nothing keeps it out");
    let given_up = first.wait_for("the first to give up", |snapshot| {
        matches!(snapshot.role, Role::Viewer { .. }) && !snapshot.problems.is_empty()
    });
    assert!(given_up.problems[0].message.contains("was deleted or replaced"));
    second.stop();
    first.wait_for("the take-over", |snapshot| snapshot.role == Role::Owner);
    // With nobody else there, it takes it again.
    std::fs::remove_file(&lock).unwrap();
    first.wait_for("the problem", |snapshot| {
        snapshot.problems.len() == 1 && snapshot.role == Role::Owner && is_owned(&stage.db())
    });
}

//! Each threshold of `check`: below it all is well, at it it is not.

use std::sync::Arc;

use tidings::clock::{DAY, HOUR, MINUTE, Millis, SECOND};
use tidings::engine::check::{Bounds, Limits, Readings, Report, Status, check};
use tidings::engine::commands::RunOutcome;

use crate::common::{NW, START, T, W, World, address, human_turn};
use crate::findings::{link, picture};
use crate::foreign::Foreign;

fn judged(world: &mut World, readings: Readings, limits: &Limits) -> Report {
    check(&picture(world), &readings, limits)
}

/// The status of one reading.
fn status(report: &Report, name: &str) -> Option<Status> {
    report.judged.iter().find(|judged| judged.name == name).map(|judged| judged.status)
}

fn at(world: &mut World, after: Millis, name: &str) -> Option<Status> {
    world.clock.set(START + after);
    let report = judged(world, Readings::default(), &Limits::default());
    status(&report, name)
}

#[test]
fn the_age_of_what_is_owed_counts_and_not_how_much() {
    let mut world = World::in_step();
    for n in 0..100 {
        let target = format!("agent:main:subagent:{n}");
        world.watch(W, &target);
        world.record(&human_turn(&target));
    }
    let fresh = judged(&mut world, Readings::default(), &Limits::default());
    assert_eq!(fresh.status, Status::Ok, "{}", fresh.line());
    assert_eq!(at(&mut world, 15 * MINUTE - 1, "pending_age"), Some(Status::Ok));
    assert_eq!(at(&mut world, 15 * MINUTE, "pending_age"), Some(Status::Warning));
    assert_eq!(at(&mut world, HOUR, "pending_age"), Some(Status::Critical));
    world.engine().turn(&address(W)).unwrap();
    assert_eq!(at(&mut world, HOUR, "pending_age"), Some(Status::Ok));
}

#[test]
fn a_watcher_that_ended_is_owed_nothing() {
    let mut world = World::in_step();
    world.engine().spawn(&address(W), &address(NW), "r").unwrap();
    world.watch(NW, T);
    world.record(&human_turn(T));
    assert_eq!(at(&mut world, HOUR, "pending_age"), Some(Status::Critical));
    world.engine().finish(&address(NW), "r", RunOutcome::Ok).unwrap();
    assert_eq!(at(&mut world, HOUR, "pending_age"), Some(Status::Ok));
}

#[test]
fn lag_counts_only_once_its_notice_is_old() {
    let mut world = World::in_step();
    world.watch(W, T);
    for _ in 0..5 {
        world.record(&human_turn(T));
    }
    let limits = Limits {
        lag: Bounds { warning: Some(4), critical: Some(6) },
        pending_age: Bounds::default(),
        ..Limits::default()
    };
    assert_eq!(judged(&mut world, Readings::default(), &limits).status, Status::Ok);
    world.clock.advance(5 * MINUTE);
    let report = judged(&mut world, Readings::default(), &limits);
    assert_eq!((report.status, status(&report, "lag")), (Status::Warning, Some(Status::Warning)));
    world.record(&human_turn(T));
    assert_eq!(judged(&mut world, Readings::default(), &limits).status, Status::Critical);
}

#[test]
fn the_tick_is_unknown_then_well_then_late() {
    let mut world = World::in_step();
    world.watch(W, T);
    assert_eq!(at(&mut world, 0, "tick_age"), None, "no source, no tick to wait for");
    link(&mut world, T, "main");
    assert_eq!(at(&mut world, 0, "tick_age"), Some(Status::Unknown));
    assert_eq!(at(&mut world, 2 * MINUTE, "tick_age"), Some(Status::Critical), "it never came");
    world.clock.set(START);
    world.engine().tick(&[], None).unwrap();
    assert_eq!(at(&mut world, 90 * SECOND - 1, "tick_age"), Some(Status::Ok));
    assert_eq!(at(&mut world, 90 * SECOND, "tick_age"), Some(Status::Warning));
    assert_eq!(at(&mut world, 5 * MINUTE, "tick_age"), Some(Status::Critical));
}

#[test]
fn a_watch_that_nothing_touches() {
    let mut world = World::in_step();
    world.watch(W, T);
    assert_eq!(at(&mut world, 25 * DAY - 1, "untouched"), Some(Status::Ok));
    assert_eq!(at(&mut world, 25 * DAY, "untouched"), Some(Status::Warning));
    assert_eq!(at(&mut world, 29 * DAY, "untouched"), Some(Status::Critical));
}

#[test]
fn failures_lock_waits_and_the_fill() {
    let mut world = World::in_step();
    let limits = Limits::default();
    for (failures, expected) in [(0, Status::Ok), (1, Status::Warning), (10, Status::Critical)] {
        let readings = Readings { append_failures: Some(failures), lock_wait: None };
        assert_eq!(judged(&mut world, readings, &limits).status, expected);
    }
    for (wait, expected) in [(999, Status::Ok), (1_000, Status::Warning), (4_000, Status::Critical)]
    {
        let readings = Readings { append_failures: None, lock_wait: Some(wait) };
        assert_eq!(judged(&mut world, readings, &limits).status, expected);
    }
    world.watch(W, T);
    for _ in 0..500 {
        world.record(&human_turn(W));
    }
    for (bound, expected) in [(2, Status::Ok), (1, Status::Critical)] {
        let fill = Bounds { warning: None, critical: Some(bound) };
        let limits = Limits { journal_fill: fill, ..limits };
        assert_eq!(judged(&mut world, Readings::default(), &limits).status, expected);
    }
}

#[test]
fn failures_of_other_processes_are_counted() {
    let mut world = World::in_step();
    world
        .sql()
        .execute_batch("ALTER TABLE session_state_events RENAME COLUMN summary TO gone")
        .unwrap();
    let mut other = world.another();
    assert!(other.record(&human_turn(T), tidings::journal::append::Gate::Open).is_err());
    drop(other);
    world
        .sql()
        .execute_batch("ALTER TABLE session_state_events RENAME COLUMN gone TO summary")
        .unwrap();
    let count =
        |world: &mut World, since| world.engine().journal().append_failures_since(since).unwrap();
    assert_eq!((count(&mut world, START), count(&mut world, START + 1)), (1, 0));
    world.engine().sweep().unwrap();
    assert_eq!(count(&mut world, START), 1, "the sweep took it into the ledger");
    assert!(world.engine().journal().waiting_failures().unwrap().is_empty());
}

#[test]
fn another_systems_state_is_judged_by_what_is_known_of_it() {
    let foreign = Foreign::newest();
    let mut report = check(
        &foreign.attach().snapshot(1, &[]).unwrap(),
        &Readings::default(),
        &Limits::default(),
    );
    assert_eq!(report.status, Status::Ok, "{}", report.line());
    for name in ["tick_age", "missing", "blocked_age", "append_failures", "lock_wait"] {
        assert_eq!(status(&report, name), None, "{name} is not ours to judge");
    }
    report.require(&["pending_age"], "nobody knows");
    assert_eq!(report.status, Status::Ok, "it was judged");
    report.require(&["tick_age"], "nobody knows");
    assert_eq!(
        (report.status, status(&report, "tick_age")),
        (Status::Unknown, Some(Status::Unknown))
    );
    assert!(report.line().contains("tick_age is unknown: nobody knows"), "{}", report.line());
}

#[test]
fn of_what_nothing_can_be_said_is_not_ok() {
    let mut world = World::in_step();
    world.watch(W, T);
    let mut snapshot = picture(&mut world);
    Arc::make_mut(&mut snapshot.watches)[0].condition = tidings::watch::Condition::Unknown;
    let report = check(&snapshot, &Readings::default(), &Limits::default());
    assert_eq!((report.status, report.status.exit_code()), (Status::Unknown, 3));
}

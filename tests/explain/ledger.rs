//! Each step of the ledger, written by what is done, with who, when and where the cursor stands.

use tidings::clock::DAY;
use tidings::event::{EventKind, Sequence};
use tidings::journal::append::Gate;
use tidings::journal::ledger::Written;

use crate::common::{G, NW, START, T, W, World, address, by, event, human_turn, key, once};
use crate::own::{owner, until_wake};

/// The newest entry of a step.
fn last(world: &mut World, step: &str) -> Written {
    let entries = world.engine().journal().ledger_after(0, 10_000).unwrap();
    entries.into_iter().rfind(|written| written.entry.step.as_str() == step).unwrap()
}

/// Watcher, target, event and marks of the newest entry of a step, which was written now.
fn step(world: &mut World, step: &str) -> (String, String, i64, [i64; 3]) {
    let written = last(world, step);
    assert_eq!(written.at, world.engine().now(), "{step}");
    let entry = written.entry;
    let text = |key: Option<tidings::session_key::SessionKey>| {
        key.map_or_else(String::new, |key| key.to_string())
    };
    (
        text(entry.watcher),
        text(entry.target),
        entry.sequence.map_or(0, |sequence| sequence.0),
        entry.marks.map_or([0; 3], |marks| marks.map(|mark| mark.0)),
    )
}

fn about(
    watcher: &str,
    target: &str,
    event: i64,
    marks: [i64; 3],
) -> (String, String, i64, [i64; 3]) {
    (watcher.to_owned(), target.to_owned(), event, marks)
}

#[test]
fn the_life_of_a_notice_is_written_step_by_step() {
    let mut world = World::in_step();
    world.watch(W, T);
    assert_eq!(step(&mut world, "registered"), about(W, T, 0, [0, 0, 0]));
    world.clock.advance(1);
    world.record(&human_turn(T));
    assert_eq!(step(&mut world, "queued"), about(W, T, 1, [0, 1, 1]));
    world.clock.advance(1);
    world.record(&by(event(T, EventKind::GoalChanged), W));
    assert_eq!(step(&mut world, "suppressed").2, 2);
    world.record(&human_turn(T));
    world.clock.advance(1);
    world.engine().turn(&address(W)).unwrap();
    assert_eq!(step(&mut world, "drained").0, W);
    assert_eq!(step(&mut world, "acknowledged"), about(W, T, 0, [1, 3, 3]));
    assert_eq!(step(&mut world, "follow-up"), about(W, T, 0, [1, 3, 3]));
    world.clock.advance(1);
    world.engine().changes_for(&key(W), &address(T), Sequence(1), 200).unwrap();
    assert_eq!(step(&mut world, "reconciled"), about(W, T, 1, [0; 3]));
    world.clock.advance(1);
    world.exists(W);
    world.engine().sweep().unwrap();
    assert_eq!(step(&mut world, "swept"), about(W, T, 0, [1, 3, 3]));
}

#[test]
fn how_watches_begin_and_end_is_written() {
    let mut world = World::in_step();
    world.engine().spawn(&address(W), &address(NW), "r").unwrap();
    assert_eq!(step(&mut world, "seeded"), about(W, NW, 1, [1, 1, 1]));
    world.engine().watch_ambient(&address(G), Some("group"), None).unwrap();
    world.clock.advance(1);
    world.watch(W, G);
    assert_eq!(step(&mut world, "promoted").1, G);
    world.watch(W, T);
    world.clock.advance(1);
    world.engine().unwatch(&key(W), &key(T)).unwrap();
    assert_eq!(step(&mut world, "unwatched").1, T);
    world.watch("agent:ops:main", T);
    world.clock.advance(1);
    world.engine().reset(&key("agent:ops:main")).unwrap();
    assert_eq!(step(&mut world, "reset").0, "agent:ops:main");
    world.clock.advance(1);
    world.engine().delete(&key(NW), &address(NW).1).unwrap();
    let (watcher, target, ..) = step(&mut world, "deleted");
    assert_eq!((watcher.as_str(), target.as_str()), (W, NW));
    world.clock.advance(30 * DAY);
    world.watch(NW, T);
    world.clock.advance(1);
    world.engine().prune().unwrap();
    assert_eq!(step(&mut world, "expired").1, G);
}

#[test]
fn what_was_not_recorded_or_did_not_fit_is_written() {
    let mut world = World::in_step();
    world.watch(W, T);
    world.record(&once(human_turn(T), "same"));
    world.record(&once(human_turn(T), "same"));
    let collapsed = last(&mut world, "collapsed").entry;
    assert_eq!((collapsed.target, collapsed.note.as_deref()), (Some(key(T)), Some("same")));
    for n in 0..21 {
        world.engine().enqueue_other(&key(W), &format!("line {n}"), None).unwrap();
    }
    assert_eq!(step(&mut world, "evicted").0, W);
    let rename = |world: &World, from: &str, to: &str| {
        let sql = format!("ALTER TABLE session_state_events RENAME COLUMN {from} TO {to}");
        world.sql().execute_batch(&sql).unwrap();
    };
    rename(&world, "summary", "gone");
    assert!(world.engine().record(&human_turn(T), Gate::Open).is_err());
    rename(&world, "gone", "summary");
    world.record(&human_turn(T));
    let failed = last(&mut world, "append-failed");
    assert_eq!((failed.at, failed.entry.target), (START, Some(key(T))));
}

#[test]
fn wakes_are_written_with_the_reason_for_which_they_were_skipped() {
    let mut world = World::in_step();
    world.exists(W);
    world.watch(W, T);
    let live = owner(&world, &[]);
    world.record(&human_turn(T));
    until_wake(&mut world, "coalescing");
    assert_eq!(step(&mut world, "wake-asked").0, W);
    world.clock.advance(20_000);
    until_wake(&mut world, "skipped");
    assert_eq!(last(&mut world, "wake-skipped").entry.note.as_deref(), Some("no-handler"));
    live.stop();
    // The next owner's sweep asks again.
    let live = owner(&world, &["true"]);
    until_wake(&mut world, "coalescing");
    world.clock.advance(20_000);
    until_wake(&mut world, "fired");
    assert_eq!(step(&mut world, "wake-fired").0, W);
    live.stop();
}

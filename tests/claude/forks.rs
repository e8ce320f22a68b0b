//! Forks: copies of another session's records are not the fork's own, whenever it was adopted.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use tidings::event::EventKind;

use super::support::{House, NOW, append, compaction, prompt};

/// A session that was written before the adoption of its fork.
fn parent(house: &House) -> Vec<String> {
    let rows = vec![prompt("one", -3_000), compaction("c", -2_500), prompt("two", -2_000)];
    let path = house.transcript("parent", &rows);
    let written =
        SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(NOW).unwrap() - 2_000);
    fs::File::options().write(true).open(path).unwrap().set_modified(written).unwrap();
    rows
}

#[test]
fn a_fork_that_is_adopted_while_its_copies_are_written_counts_only_its_own_prompts() {
    for at_adoption in 0..3 {
        let mut house = House::new();
        let copies = parent(&house);
        let fork = house.transcript("fork", &copies[..at_adoption]);
        house.adopt(&fork);
        for copy in &copies[at_adoption..] {
            append(&fork, std::slice::from_ref(copy));
            let outcome = house.tick();
            assert_eq!((outcome.outcome.as_str(), outcome.human_turns), ("quiet", 0));
        }
        // The prompt that began the fork was typed before there was a file to adopt, and one was taken up mid-turn.
        append(&fork, &[prompt("own", -500), prompt("later", 1_000)]);
        assert_eq!(house.tick().human_turns, 2, "{at_adoption}");
        append(&fork, &[compaction("own", 2_000)]);
        house.tick();
        assert_eq!(house.events(&EventKind::Compacted).len(), 1);
        house.assert_private();
    }
}

#[test]
fn the_session_that_was_forked_keeps_what_its_fork_holds_copies_of() {
    let mut house = House::new();
    let original = house.transcript("original", &[prompt("one", -3_000)]);
    house.adopt(&original);
    // Typed before the adoption and written after it, and forked before anybody looked.
    append(&original, &[prompt("late", -10)]);
    make_younger(&house, &original);
    assert_eq!(house.tick().human_turns, 1);
}

/// Makes a fork of `original`; the clock of the file system has to have moved on by then.
fn make_younger(house: &House, original: &Path) {
    let born = |path: &Path| path.metadata().unwrap().created().unwrap();
    let fork = house.path("-p/fork.jsonl");
    loop {
        fs::copy(original, &fork).unwrap();
        if born(&fork) > born(original) {
            return;
        }
        fs::remove_file(&fork).unwrap();
    }
}

#[test]
fn what_cannot_be_looked_up_counts() {
    let mut house = House::new();
    let rows = parent(&house);
    let fork = house.transcript("fork", &[]);
    house.adopt(&fork);
    fs::remove_file(house.path("-p/parent.jsonl")).unwrap();
    append(&fork, &rows);
    assert_eq!(house.tick().human_turns, 2);
}

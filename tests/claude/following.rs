//! Where a session goes on: followed when that is certain, said when it is not.

use std::fs;
use std::time::{Duration, SystemTime};

use tidings::event::EventKind;

use super::support::{House, append, continued_in, prompt};

fn turns(house: &House) -> u64 {
    let events = house.events(&EventKind::HumanDirectMessage);
    events
        .iter()
        .map(|event| event.payload.as_ref().map_or(1, |payload| payload["turns"].as_u64().unwrap()))
        .sum()
}

#[test]
fn a_moved_project_folder_is_followed_and_counts_nothing_twice() {
    let mut house = House::new();
    let path = house.transcript("a", &[prompt("old", -1)]);
    let session = house.adopt(&path);
    append(&path, &[prompt("one", 1)]);
    assert_eq!(house.tick().outcome, "activity");
    append(&path, &[prompt("two", 2)]);
    let there = house.path("-elsewhere/a.jsonl");
    fs::rename(&path, &there).unwrap();
    let outcome = house.tick();
    assert_eq!((outcome.outcome.as_str(), outcome.human_turns), ("activity", 1));
    assert!(outcome.detail.unwrap().contains("moved"));
    let reference = house.link(&session).reference_json().unwrap();
    assert_eq!(reference["filePath"], there.to_str().unwrap());
    assert_eq!(house.tick().outcome, "quiet");
    fs::rename(&there, &path).unwrap();
    assert_eq!(house.tick().outcome, "moved");
    append(&path, &[prompt("three", 3)]);
    assert_eq!(house.tick().outcome, "activity");
    assert_eq!(turns(&house), 3);
    assert_eq!(house.events(&EventKind::UpstreamMissing).len(), 0);
    house.assert_private();
}

#[test]
fn a_file_that_was_copied_away_is_read_on_and_not_again() {
    let mut house = House::new();
    let path = house.transcript("a", &[prompt("old", -1)]);
    house.adopt(&path);
    let there = house.path("-elsewhere/a.jsonl");
    fs::copy(&path, &there).unwrap();
    fs::remove_file(&path).unwrap();
    append(&there, &[prompt("one", 1)]);
    let outcome = house.tick();
    assert_eq!((outcome.outcome.as_str(), outcome.human_turns), ("activity", 1));
}

#[test]
fn another_file_of_that_name_is_said_and_not_followed() {
    let mut house = House::new();
    let path = house.transcript("a", &[prompt("old", -1)]);
    let session = house.adopt(&path);
    fs::write(house.path("-elsewhere/a.jsonl"), prompt("other", 1)).unwrap();
    assert_eq!(house.tick().outcome, "quiet");
    fs::remove_file(&path).unwrap();
    for _ in 0..4 {
        let outcome = house.tick();
        assert_eq!(outcome.outcome, "continued elsewhere");
        assert!(outcome.detail.unwrap().contains("-elsewhere/a.jsonl"));
    }
    assert_eq!(house.link(&session).reference_json().unwrap()["filePath"], path.to_str().unwrap());
    assert_eq!(turns(&house), 0);
}

#[test]
fn a_session_that_says_where_it_is_continued_is_followed_there() {
    let mut house = House::new();
    let path = house.transcript("a", &[prompt("old", -1)]);
    let session = house.adopt(&path);
    append(&path, &[prompt("one", 1), continued_in("b")]);
    let outcome = house.tick();
    assert_eq!((outcome.outcome.as_str(), outcome.human_turns), ("activity", 1));
    let outcome = house.tick();
    assert_eq!(outcome.outcome, "continued elsewhere");
    assert!(outcome.detail.unwrap().contains("goes on as b"));
    // What the new file repeats counts no more than what is older than the adoption.
    let new = house.transcript("b", &[prompt("old", -1), prompt("one", 1), prompt("two", 120_000)]);
    let outcome = house.tick();
    assert_eq!((outcome.outcome.as_str(), outcome.human_turns), ("activity", 1));
    assert_eq!(house.link(&session).thread, "b");
    append(&new, &[prompt("three", 130_000)]);
    assert_eq!(house.tick().human_turns, 1);
    assert_eq!(turns(&house), 3);
}

#[test]
fn a_session_that_was_adopted_itself_is_not_followed_to() {
    let mut house = House::new();
    let path = house.transcript("a", &[prompt("old", -1)]);
    let new = house.transcript("b", &[prompt("other", -1)]);
    let session = house.adopt(&path);
    house.adopt(&new);
    append(&path, &[continued_in("b")]);
    append(&new, &[prompt("two", 2)]);
    for _ in 0..2 {
        let outcomes = house.tick_all();
        let of_old = outcomes.iter().find(|outcome| outcome.session == session).unwrap();
        assert_eq!(of_old.outcome, "continued elsewhere");
    }
    assert_eq!(house.link(&session).thread, "a");
    assert_eq!(turns(&house), 1);
}

#[test]
fn what_is_known_of_a_transcript_that_is_gone_is_said() {
    for (days, want) in [(40, "was not written for 40 days"), (2, "somebody else removed")] {
        let mut house = House::new();
        let path = house.transcript("a", &[prompt("old", -1)]);
        let written = SystemTime::UNIX_EPOCH
            + Duration::from_millis(u64::try_from(super::support::NOW).unwrap())
            - Duration::from_secs(days * 86_400);
        fs::File::options().write(true).open(&path).unwrap().set_modified(written).unwrap();
        house.adopt(&path);
        fs::remove_file(&path).unwrap();
        let outcome = house.tick();
        assert_eq!(outcome.outcome, "missing");
        let detail = outcome.detail.unwrap();
        assert!(detail.starts_with("1/3; ") && detail.contains(want), "{detail}");
    }
}

/// The rows by which a session says that it began when another was cleared.
fn cleared(own: &str, old: &str) -> [String; 2] {
    let command = format!(
        "{{\"type\":\"user\",\"rowSource\":\"local\",\"sessionId\":\"{own}\",\"message\":{{\"role\":\"user\",\"content\":\"<command-name>/clear</command-name>\"}}}}\n"
    );
    let program =
        format!("{{\"type\":\"attachment\",\"sessionId\":\"{own}\",\"session_id\":\"{old}\"}}\n");
    [command, program]
}

#[test]
fn a_cleared_session_is_found_by_a_tick_alone_and_nothing_unread_of_the_old_one_is_lost() {
    for unread in [0, 1] {
        let mut house = House::new();
        let path = house.transcript("old", &[prompt("a", -1)]);
        house.adopt(&path);
        assert_eq!(house.tick().outcome, "quiet");
        let later: Vec<_> = (0..unread).map(|id| prompt(&format!("later{id}"), 1)).collect();
        append(&path, &later);
        let [command, program] = cleared("new", "old");
        let new = house.transcript("new", &[command]);
        assert_eq!(house.tick().human_turns, unread);
        append(&path, &later.iter().map(|row| row.replace("later", "after")).collect::<Vec<_>>());
        append(&new, &[program]);
        let outcome = house.tick();
        assert_eq!(outcome.human_turns, unread);
        assert!(outcome.detail.unwrap().contains("goes on as new"));
        for _ in 0..2 {
            let outcome = house.tick();
            assert_eq!(outcome.outcome, "continued elsewhere");
            assert!(outcome.detail.unwrap().contains("goes on as new"));
        }
        append(&path, &[prompt("resumed", 5)]);
        let before = SystemTime::UNIX_EPOCH
            + Duration::from_millis(u64::try_from(super::support::NOW).unwrap() - 60_000);
        fs::File::options().write(true).open(&new).unwrap().set_modified(before).unwrap();
        assert_eq!(house.tick().human_turns, 1);
        assert_eq!(house.tick().outcome, "quiet", "it was taken up again");
        assert_eq!(turns(&house), 2 * u64::from(unread) + 1);
    }
}

#[test]
fn a_cleared_session_is_found_by_a_tick_though_the_one_that_it_goes_on_as_is_adopted() {
    for rows_at_adoption in 0..3 {
        let mut house = House::new();
        let path = house.transcript("old", &[prompt("a", -1)]);
        let old = house.adopt(&path);
        house.tick();
        let rows = cleared("new", "old");
        let other = house.transcript("new", &rows[..rows_at_adoption]);
        house.adopt(&other);
        if rows_at_adoption < 2 {
            house.tick_all();
        }
        for row in &rows[rows_at_adoption..] {
            append(&other, std::slice::from_ref(row));
        }
        for _ in 0..3 {
            let outcomes = house.tick_all();
            let of_old = outcomes.iter().find(|outcome| outcome.session == old).unwrap();
            assert_eq!(of_old.outcome, "continued elsewhere", "{rows_at_adoption}");
            assert!(of_old.detail.as_ref().unwrap().contains("goes on as new"));
        }
    }
}

#[test]
fn what_a_deleted_transcript_may_have_held_unread_is_said_as_long_as_it_is_not_known() {
    let mut house = House::new();
    let path = house.transcript("a", &[prompt("old", -1)]);
    let read_to = path.metadata().unwrap().len();
    house.adopt(&path);
    append(&path, &[prompt("lost", 1)]);
    fs::remove_file(&path).unwrap();
    let want = format!("behind byte {read_to}");
    let outcome = house.tick();
    assert_eq!((outcome.outcome.as_str(), outcome.human_turns), ("missing", 0));
    assert!(outcome.detail.unwrap().contains(&want));
    house.transcript("a", &[prompt("next", 2)]);
    let outcome = house.tick();
    assert_eq!((outcome.outcome.as_str(), outcome.human_turns), ("activity", 1));
    assert!(outcome.detail.unwrap().contains(&want));
    append(&path, &[prompt("third", 3)]);
    for (word, turns) in [("activity", 1), ("quiet", 0), ("quiet", 0)] {
        let outcome = house.tick();
        assert_eq!((outcome.outcome.as_str(), outcome.human_turns), (word, turns));
        assert!(outcome.detail.unwrap().contains(&want));
    }
    fs::remove_file(&path).unwrap();
    house.transcript("a", &[]);
    let outcome = house.tick();
    assert_eq!(outcome.outcome, "replaced");
    let detail = outcome.detail.unwrap();
    assert!(detail.contains("behind byte") && !detail.contains(&want), "{detail}");
}

#[test]
fn a_session_that_was_followed_and_is_adopted_again_by_its_first_id_is_followed_again() {
    for goes_on_here in [false, true] {
        let mut house = House::new();
        let path = house.transcript("a", &[prompt("old", -1)]);
        let session = house.adopt(&path);
        append(&path, &[continued_in("b")]);
        let new = house.transcript("b", &[prompt("old", -1), prompt("one", 60_000)]);
        assert_eq!(house.tick().human_turns, 1);
        assert_eq!(house.link(&session).thread, "b");
        if goes_on_here {
            append(&path, &[prompt("taken up again", 90_000)]);
        }
        assert_eq!(house.adopt(&path), session);
        assert_eq!(house.link(&session).thread, "a");
        append(&new, &[prompt("two", 120_000)]);
        let (turns_there, thread) = if goes_on_here { (0, "a") } else { (1, "b") };
        assert_eq!(house.tick().human_turns, turns_there);
        assert_eq!(house.link(&session).thread, thread);
        assert_eq!(house.tick().human_turns, 0);
        assert_eq!(turns(&house), 1 + u64::from(turns_there));
    }
}

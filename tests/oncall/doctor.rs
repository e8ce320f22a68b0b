//! What the doctor says of terminals, homes and files that are no state.

use tidings::clock::HOUR;
use tidings::engine::doctor::{Check, Health, Terminal, attached, homes, state, terminal};

use crate::common::{START, T, World, human_turn};
use crate::foreign::Foreign;

fn modern() -> Terminal {
    Terminal {
        is_terminal: true,
        term: Some("xterm-256color".into()),
        color_term: Some("truecolor".into()),
        no_color: false,
        locale: Some("en_GB.UTF-8".into()),
        size: Some((120, 40)),
    }
}

/// The worst that is said of a terminal, all of it in words, and whether each fault says how to mend it.
fn said(it: &Terminal) -> (Health, String) {
    let checks = terminal(it);
    let bad = checks.iter().find(|check| check.health != Health::Ok);
    let all: Vec<_> = checks.iter().map(|check| check.found.as_str()).collect();
    assert!(checks.iter().all(|check| check.mend.is_some() == (check.health != Health::Ok)));
    (bad.map_or(Health::Ok, |check| check.health), all.join("; "))
}

#[test]
fn terminals_are_described_by_what_they_can_do() {
    for (color_term, term, no_color, words) in [
        (Some("truecolor"), "xterm-256color", false, "true colour"),
        (Some("24bit"), "foot", false, "true colour"),
        (None, "screen-256color", false, "256 colours"),
        (None, "linux", false, "16 colours"),
        (Some("truecolor"), "xterm", true, "NO_COLOR"),
    ] {
        let it = Terminal {
            color_term: color_term.map(str::to_owned),
            term: Some(term.into()),
            no_color,
            ..modern()
        };
        let (health, found) = said(&it);
        assert!(health == Health::Ok && found.contains(words), "{found}");
    }
    assert_eq!(said(&Terminal::default()).0, Health::Ok, "verbs need none");
}

#[test]
fn terminals_that_lack_something_are_named_with_what_to_do() {
    for term in [None, Some(""), Some("dumb")] {
        let it = Terminal { term: term.map(str::to_owned), ..modern() };
        assert_eq!(said(&it).0, Health::Fault, "{term:?}");
    }
    for locale in [None, Some("C"), Some("de_DE.ISO-8859-1")] {
        let it = Terminal { locale: locale.map(str::to_owned), ..modern() };
        let (health, found) = said(&it);
        assert!(health == Health::Warning && found.contains("not UTF-8"), "{found}");
    }
    for (size, health) in [
        ((80, 24), Health::Ok),
        ((79, 24), Health::Warning),
        ((80, 23), Health::Warning),
        ((0, 0), Health::Ok),
    ] {
        assert_eq!(said(&Terminal { size: Some(size), ..modern() }).0, health, "{size:?}");
    }
}

#[test]
fn homes_that_are_there_missing_and_unreadable() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let checks = homes(&[
        ("claude", folder.path().to_owned()),
        ("codex", folder.path().join("none")),
        ("codex", file),
    ]);
    let health: Vec<_> = checks.iter().map(|check| check.health).collect();
    assert_eq!(health, [Health::Ok, Health::Warning, Health::Fault]);
    let [nowhere] = &homes(&[])[..] else { panic!("one line that no home is known") };
    assert!(nowhere.health == Health::Warning && nowhere.mend.is_some(), "{nowhere:?}");
}

fn of<'a>(checks: &'a [Check], name: &str) -> &'a Check {
    checks.iter().find(|check| check.name == name).unwrap()
}

#[test]
fn a_file_that_is_no_database_and_a_clock_that_was_put_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.sqlite");
    std::fs::write(&path, [b'x'; 4096]).unwrap();
    let checks = state(&path, START);
    assert_eq!(of(&checks, "state").health, Health::Fault);
    assert!(of(&checks, "state").found.contains("not a SQLite database"));

    let mut world = World::in_step();
    world.record(&human_turn(T));
    assert_eq!(of(&state(&world.db(), START), "clock").health, Health::Ok);
    let checks = state(&world.db(), START - HOUR);
    assert_eq!(of(&checks, "clock").health, Health::Warning);
    assert!(of(&checks, "clock").found.contains("1 h"), "{}", of(&checks, "clock").found);
}

#[test]
fn another_systems_database_is_looked_at_for_its_clock_and_its_log() {
    let foreign = Foreign::newest();
    let looked = || attached(&foreign.path(), &foreign.attach().snapshot(1, &[]).unwrap());
    let checks = looked();
    assert!(of(&checks, "state").found.contains("8 events, 6 watches"));
    assert_eq!((of(&checks, "clock").health, of(&checks, "log").health), (Health::Ok, Health::Ok));
    foreign.change("UPDATE session_watch_cursors SET updated_at = updated_at + 7200000");
    assert_eq!(of(&looked(), "clock").health, Health::Warning);
}

#[test]
fn an_event_from_the_future_is_a_clock_that_was_put_back() {
    let mut world = World::in_step();
    world.record(&human_turn(T));
    world
        .sql()
        .execute_batch("UPDATE session_state_events SET occurred_at = occurred_at + 7200000")
        .unwrap();
    let checks = state(&world.db(), START);
    assert!(of(&checks, "clock").found.contains("2 h"), "{}", of(&checks, "clock").found);
}

#[test]
fn what_a_database_does_not_tell_is_unknown_and_not_well() {
    let mut world = World::in_step();
    world.record(&human_turn(T));
    world.sql().execute_batch("DROP TABLE tidings_owner; DROP TABLE tidings_pulse").unwrap();
    let checks = state(&world.db(), START);
    for name in ["clock", "owner"] {
        assert_eq!(of(&checks, name).health, Health::Unknown, "{}", of(&checks, name).found);
    }

    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("state.sqlite");
    std::fs::write(&empty, "").unwrap();
    let said = |checks: &[Check]| (of(checks, "state").health, of(checks, "state").found.clone());
    let (health, found) = said(&state(&empty, START));
    assert!(health == Health::Ok && found.contains("is empty"), "{found}");
    let (health, found) = said(&state(folder.path(), START));
    assert!(health == Health::Fault && found.contains("is a folder"), "{found}");
}

/// Only where `/proc` tells of a process what a signal can't.
#[cfg(target_os = "linux")]
#[test]
fn an_owner_that_ended_and_was_not_waited_for_lives_no_more() {
    let mut world = World::in_step();
    let mut owner =
        std::process::Command::new("/bin/cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
    world.engine().journal_mut().set_owner(owner.id(), START).unwrap();
    let said = |world: &World| of(&state(&world.db(), START), "owner").found.clone();
    assert!(said(&world).contains("does not hold the lock"), "{}", said(&world));
    drop(owner.stdin.take());
    let began = std::time::Instant::now();
    while !said(&world).contains("the lock is stale") {
        assert!(began.elapsed().as_secs() < 20, "{}", said(&world));
        std::thread::yield_now();
    }
    owner.wait().unwrap();
}

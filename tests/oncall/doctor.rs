//! What the doctor says of terminals, homes and files that are no state.

use tidings::clock::HOUR;
use tidings::engine::doctor::{Check, Health, Terminal, homes, state, terminal};

use crate::common::{START, T, World, human_turn};

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
    for (size, health) in
        [((80, 24), Health::Ok), ((79, 24), Health::Warning), ((80, 23), Health::Warning)]
    {
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

//! Databases that somebody damaged or made up: no panic, and one short line when they can't be read.

use std::fs;
use std::path::Path;

use tidings::clock::DAY;
use tidings::engine::check::{Limits, Readings, check};
use tidings::engine::explain::Question;
use tidings::engine::findings::findings;
use tidings::event::Sequence;
use tidings::session_key::SessionKey;

use crate::support::{Foreign, attach, key};

/// Reads everything that a surface shows. The error is what a person sees.
fn read_all(path: &Path) -> Result<usize, String> {
    let said = |error: &dyn std::fmt::Display| {
        let error = error.to_string();
        assert!(!error.contains('\n') && error.len() < 1_000, "{error:?}");
        error
    };
    let mut attached = attach(path).map_err(|error| said(&error))?;
    let snapshot = attached.snapshot(1, &[]).map_err(|error| said(&error))?;
    findings(&snapshot);
    check(&snapshot, &Readings::default(), &Limits::default()).line();
    for row in snapshot.watches.iter() {
        let (watcher, target) = (row.cursor.watcher.clone(), row.cursor.target.clone());
        let question = Question { watcher, target, event: None };
        let explained = attached.observer().explain(&question).map_err(|error| said(&error))?;
        assert!(!explained.because.is_empty());
    }
    for row in snapshot.sessions.iter() {
        let session = (row.key.clone(), row.agent.clone());
        attached.changes(&session, Sequence(0), 200).map_err(|error| said(&error))?;
    }
    attached.reader().events_after(Sequence(0), None, &[], 10).map_err(|error| said(&error))?;
    Ok(snapshot.watches.len())
}

/// A database in one file, and its bytes.
fn whole() -> (Foreign, Vec<u8>) {
    let foreign = Foreign::newest();
    foreign.change("PRAGMA journal_mode = DELETE");
    let bytes = fs::read(foreign.path()).unwrap();
    (foreign, bytes)
}

#[test]
fn a_file_that_is_cut_off_anywhere_is_one_line() {
    let (foreign, whole) = whole();
    let mut refused = 0;
    for length in (0..whole.len()).step_by(509) {
        fs::write(foreign.path(), &whole[..length]).unwrap();
        refused += usize::from(read_all(&foreign.path()).is_err());
        assert_eq!(fs::read(foreign.path()).unwrap(), whole[..length], "cut at {length}");
    }
    assert!(refused * 10 > whole.len() / 509 * 9, "{refused} were refused");
    fs::write(foreign.path(), &whole).unwrap();
    assert_eq!(read_all(&foreign.path()), Ok(6));
}

#[test]
fn bytes_that_were_changed_by_chance_make_no_panic() {
    let (foreign, whole) = whole();
    let mut random: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut next = |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        usize::try_from(random >> 16).unwrap() % below
    };
    let mut read = 0;
    for round in 0..600 {
        let mut bytes = whole.clone();
        for _ in 0..=round % 12 {
            bytes[next(whole.len())] = u8::try_from(next(256)).unwrap();
        }
        fs::write(foreign.path(), &bytes).unwrap();
        read += usize::from(read_all(&foreign.path()).is_ok());
        assert_eq!(fs::read(foreign.path()).unwrap(), bytes);
    }
    assert!((1..600).contains(&read), "{read} of 600 could be read");
}

/// The four tables again, without a constraint or a type.
const LOOSE: &str = "
    CREATE TABLE e AS SELECT * FROM session_state_events; DROP TABLE session_state_events;
    ALTER TABLE e RENAME TO session_state_events;
    CREATE TABLE h AS SELECT * FROM session_state_heads; DROP TABLE session_state_heads;
    ALTER TABLE h RENAME TO session_state_heads;
    CREATE TABLE c AS SELECT * FROM session_watch_cursors; DROP TABLE session_watch_cursors;
    ALTER TABLE c RENAME TO session_watch_cursors;
    CREATE TABLE l AS SELECT * FROM session_upstream_links; DROP TABLE session_upstream_links;
    ALTER TABLE l RENAME TO session_upstream_links;";

const COLUMNS: [(&str, &[&str]); 4] = [
    (
        "session_state_events",
        &["sequence", "session_key", "agent_id", "kind", "actor_type", "occurred_at", "summary"],
    ),
    (
        "session_state_heads",
        &["session_key", "agent_id", "last_sequence", "pruned_max_sequence", "updated_at"],
    ),
    (
        "session_watch_cursors",
        &[
            "watcher_session_key",
            "target_session_key",
            "last_seen_sequence",
            "notified_sequence",
            "material_sequence",
            "provenance",
            "updated_at",
        ],
    ),
    (
        "session_upstream_links",
        &[
            "session_key",
            "agent_id",
            "catalog_id",
            "host_id",
            "thread_id",
            "upstream_ref_json",
            "last_marker_json",
            "last_scanned_at",
            "created_at",
            "updated_at",
        ],
    ),
];

#[test]
fn values_of_any_kind_in_any_column_make_no_panic() {
    let values = [
        "NULL",
        "'words that nobody may see'",
        "''",
        "x'ff00fe'",
        "CAST(x'ff61fe' AS TEXT)",
        "1.5e300",
        "9223372036854775807",
        "-9223372036854775808",
        "-1",
    ];
    for (table, columns) in COLUMNS {
        for column in columns {
            for value in values {
                let foreign = Foreign::newest();
                foreign.change(LOOSE);
                foreign.change(&format!("UPDATE {table} SET {column} = {value}"));
                if let Err(error) = read_all(&foreign.path()) {
                    assert!(!error.contains("nobody may see"), "{error}");
                }
            }
        }
    }
}

#[test]
fn keys_of_two_megabytes_are_shown_or_refused_in_one_line() {
    let foreign = Foreign::newest();
    foreign.change(
        "UPDATE session_watch_cursors SET watcher_session_key = 'agent:main:' || printf('%.*c', 2000000, 'k')
         WHERE target_session_key = 'agent:main:subagent:a'",
    );
    let mut attached = foreign.attach();
    let snapshot = attached.snapshot(1, &[]).unwrap();
    let long = SessionKey::new(format!("agent:main:{}", "k".repeat(2_000_000)));
    assert!(snapshot.watches.iter().any(|row| row.cursor.watcher == long));
    let question = Question { watcher: long, target: key("agent:main:subagent:a"), event: None };
    attached.observer().explain(&question).unwrap();
}

#[test]
fn triggers_of_the_file_are_never_run() {
    let foreign = Foreign::newest();
    foreign.change(
        "CREATE TABLE trap (x);
         CREATE TRIGGER spring AFTER UPDATE ON session_state_heads BEGIN INSERT INTO trap VALUES (1); END;
         CREATE TRIGGER pit AFTER INSERT ON session_state_events BEGIN DELETE FROM session_state_heads; END;
         PRAGMA journal_mode = DELETE;",
    );
    let before = fs::read(foreign.path()).unwrap();
    assert_eq!(read_all(&foreign.path()), Ok(6));
    assert_eq!(fs::read(foreign.path()).unwrap(), before);
}

#[test]
fn times_far_away_do_not_overflow() {
    for at in [i64::MIN, i64::MIN + DAY, -1, i64::MAX - DAY, i64::MAX] {
        let foreign = Foreign::newest();
        foreign.change(&format!(
            "UPDATE session_state_events SET occurred_at = {at}; UPDATE session_state_heads SET updated_at = {at};
             UPDATE session_watch_cursors SET updated_at = {at};
             UPDATE session_upstream_links SET updated_at = {at}, created_at = {at}, last_scanned_at = {at}"
        ));
        match read_all(&foreign.path()) {
            Ok(watches) => assert_eq!((at, watches), (-1, 6)),
            Err(error) => assert!(
                at != -1 && error.contains("no time and no sequence is that far"),
                "{error}"
            ),
        }
    }
}

//! Databases that can't be read: one clear line each, and nothing is touched.

use std::fs;

use crate::support::{Foreign, attach};

fn refused(foreign: &Foreign, words: &[&str]) {
    let before = fs::read(foreign.path()).ok();
    let error = foreign.error();
    for word in words {
        assert!(error.contains(word), "{error:?} does not say {word:?}");
    }
    assert!(error.contains(&foreign.path().display().to_string()), "{error:?} names no file");
    assert_eq!(fs::read(foreign.path()).ok(), before);
}

#[test]
fn what_is_no_database_says_so() {
    let folder = tempfile::tempdir().unwrap();
    assert!(attach(folder.path()).unwrap_err().contains("it is a folder"));
    let path = folder.path().join("x");
    assert!(attach(&path).unwrap_err().contains("there is no such file"));
    assert!(!path.exists(), "looking makes nothing");
    fs::write(&path, "").unwrap();
    assert!(attach(&path).unwrap_err().contains("empty or cut off"));
    fs::write(&path, [b'x'; 4096]).unwrap();
    assert!(attach(&path).unwrap_err().contains("not a SQLite database"));
    assert_eq!(fs::read(&path).unwrap(), [b'x'; 4096]);
}

#[test]
fn missing_tables_and_columns_are_named() {
    let foreign = Foreign::newest();
    foreign.change("ALTER TABLE session_watch_cursors DROP COLUMN material_sequence");
    refused(&foreign, &["session_watch_cursors", "material_sequence"]);
    foreign.change("DROP TABLE session_watch_cursors; DROP TABLE session_upstream_links");
    refused(&foreign, &["no table session_watch_cursors, session_upstream_links"]);
}

#[test]
fn a_view_in_place_of_a_table_is_not_run() {
    let foreign = Foreign::newest();
    foreign.change(
        "DROP TABLE session_state_heads;
         CREATE VIEW session_state_heads AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
         SELECT 'k' AS session_key, 'main' AS agent_id, i AS last_sequence, 0 AS pruned_max_sequence, 0 AS updated_at FROM n;",
    );
    refused(&foreign, &["no table session_state_heads"]);
}

#[test]
fn cut_off_and_damaged_files_say_so() {
    let foreign = Foreign::newest();
    foreign.change("PRAGMA journal_mode = DELETE");
    let whole = fs::read(foreign.path()).unwrap();
    fs::write(foreign.path(), &whole[..whole.len() / 2]).unwrap();
    refused(&foreign, &["damaged or cut off"]);
    fs::write(foreign.path(), &whole[..60]).unwrap();
    refused(&foreign, &["empty or cut off"]);
    let mut damaged = whole.clone();
    damaged[100..].fill(0xa5);
    fs::write(foreign.path(), &damaged).unwrap();
    refused(&foreign, &["damaged"]);
}

#[test]
fn damage_in_a_page_that_is_read_later_is_an_error_and_not_an_empty_picture() {
    let foreign = Foreign::newest();
    foreign.change("PRAGMA journal_mode = DELETE");
    let mut bytes = fs::read(foreign.path()).unwrap();
    bytes[4096..].fill(0xa5);
    fs::write(foreign.path(), &bytes).unwrap();
    let error = match attach(&foreign.path()) {
        Ok(mut attached) => attached.snapshot(1, &[]).unwrap_err().to_string(),
        Err(error) => error,
    };
    assert!(error.contains("malformed"), "{error}");
}

#[test]
fn values_of_the_wrong_type_are_an_error_that_holds_no_value() {
    let foreign = Foreign::newest();
    foreign.change(
        "DROP TABLE session_state_heads;
         CREATE TABLE session_state_heads (session_key, agent_id, last_sequence, pruned_max_sequence, updated_at);
         INSERT INTO session_state_heads VALUES ('agent:main:x', 'main', 'very secret words', x'00', 0);",
    );
    let error = foreign.attach().snapshot(1, &[]).unwrap_err().to_string();
    assert!(!error.contains("secret") && !error.contains('\n'), "{error}");
}

#[test]
fn a_huge_value_is_an_error() {
    let foreign = Foreign::newest();
    foreign.change("UPDATE session_state_events SET summary = printf('%.*c', 40000000, 'x') WHERE sequence = 8");
    let error = foreign.attach().snapshot(1, &[]).unwrap_err().to_string();
    assert!(error.contains("too big") && error.len() < 500, "{error}");
}

#[test]
fn a_folder_that_lets_no_index_be_made_is_one_clear_line() {
    let foreign = Foreign::newest();
    // A link that leads nowhere, in the index's place, stops any user, root included.
    std::os::unix::fs::symlink("/nowhere/index", foreign.path().with_extension("sqlite-shm"))
        .unwrap();
    refused(&foreign, &["-shm", "can neither be opened nor made"]);
}

#[test]
fn a_write_that_was_interrupted_is_left_to_its_owner() {
    let foreign = Foreign::newest();
    foreign.change("PRAGMA journal_mode = DELETE");
    let writer = foreign.writer();
    writer
        .execute_batch(
            "PRAGMA cache_size = 1; BEGIN; UPDATE session_state_heads SET updated_at = 1;
             CREATE TABLE filler (x); INSERT INTO filler SELECT randomblob(9000) FROM session_state_events;",
        )
        .unwrap();
    let copy = tempfile::tempdir().unwrap();
    let journal = foreign.path().with_extension("sqlite-journal");
    fs::copy(foreign.path(), copy.path().join("x.sqlite")).unwrap();
    fs::copy(journal, copy.path().join("x.sqlite-journal")).unwrap();
    let error = attach(&copy.path().join("x.sqlite")).unwrap_err();
    assert!(error.contains("interrupted"), "{error}");
}

//! A state database that goes away or can't be read: a problem in the snapshot, and no end of the engine.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;

use tidings::engine::live::Request;
use tidings::event::Sequence;
use tidings::session_key::{AgentId, SessionKey};

use crate::support::{Running, Stage};

fn wait_for_problem(running: &Running, words: &str) {
    let snapshot = running.wait_for(words, |snapshot| {
        snapshot.problems.iter().any(|problem| problem.message.contains(words))
    });
    assert!(snapshot.problems.iter().all(|problem| !problem.message.contains('\n')));
}

#[test]
fn a_database_that_vanishes_is_said() {
    let stage = Stage::new();
    let running = stage.start();
    fs::remove_file(stage.db()).unwrap();
    wait_for_problem(&running, "is gone");
    // It goes on with what it has, and answers.
    let _ = running.ask(Request::Watch(SessionKey::new("agent:main:worker")));
    running.ask(Request::Catalog).unwrap();
    running.stop();
}

#[test]
fn another_file_in_its_place_is_said() {
    let stage = Stage::new();
    let running = stage.start();
    let other = stage.folder.path().join("other");
    fs::write(&other, "no database at all").unwrap();
    fs::rename(&other, stage.db()).unwrap();
    wait_for_problem(&running, "another file");
    running.ask(Request::Catalog).unwrap();
    running.stop();
}

#[test]
fn a_state_that_can_not_be_read_is_said_beside_the_last_picture() {
    let stage = Stage::new();
    let running = stage.start();
    let target = SessionKey::new("agent:main:worker");
    running.ask(Request::Watch(target.clone())).unwrap();
    running.wait_for("the watch", |snapshot| snapshot.watches.len() == 1);
    let sql = rusqlite::Connection::open(stage.db()).unwrap();
    sql.execute_batch("ALTER TABLE session_state_heads RENAME TO hidden").unwrap();
    wait_for_problem(&running, "could not read the state");
    assert_eq!(running.snapshot().watches.len(), 1, "the last picture stays");
    let request = Request::Changes { session: target, agent: AgentId::main(), after: Sequence(0) };
    assert!(running.ask(request).unwrap_err().contains("could not"));
    assert_eq!(running.snapshot().problems.len(), 1, "what goes on is said once");

    sql.execute_batch("ALTER TABLE hidden RENAME TO session_state_heads").unwrap();
    running.ask(Request::Watch(SessionKey::new("agent:main:second"))).unwrap();
    running.wait_for("a new picture", |snapshot| snapshot.watches.len() == 2);
}

#[test]
fn a_database_that_becomes_garbage_is_said() {
    let stage = Stage::new();
    let running = stage.start();
    let sql = rusqlite::Connection::open(stage.db()).unwrap();
    sql.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    // The engine reads again when something was written, and nothing can be begun once there is garbage.
    sql.execute_batch("BEGIN IMMEDIATE; CREATE TABLE another_one (x)").unwrap();
    let file = OpenOptions::new().write(true).open(stage.db()).unwrap();
    let length = usize::try_from(file.metadata().unwrap().len()).unwrap();
    file.write_all_at(&vec![0x5a; length], 0).unwrap();
    sql.execute_batch("COMMIT").unwrap();
    wait_for_problem(&running, "could not");
    running.ask(Request::Catalog).unwrap_err();
    running.stop();
}

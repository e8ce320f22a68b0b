//! What is read, and that nothing is written.

use tidings::engine::snapshot::{Source, WakeState};
use tidings::event::{EventKind, Sequence};
use tidings::journal::attached::usual_place;
use tidings::session_key::AgentId;
use tidings::watch::{Condition, PairState, Provenance};

use crate::support::{Foreign, Real, VERSIONS, attach, key, pair, real};

const MAIN: &str = "agent:main:main";
const A: &str = "agent:main:subagent:a";

#[test]
fn each_version_gives_the_same_picture_but_for_what_it_lacks() {
    for version in &VERSIONS {
        let foreign = Foreign::new(version);
        let mut attached = foreign.attach();
        let snapshot = attached.snapshot(1, &[]).unwrap();
        assert_eq!(snapshot.source, Source::Attached { path: foreign.path() });
        assert_eq!((snapshot.journal.rows, snapshot.journal.max), (8, Some(Sequence(8))));
        let a = snapshot.sessions.iter().find(|row| row.key.as_str() == A).unwrap();
        assert_eq!((a.version, a.watchers, a.watching), (Some(Sequence(4)), 1, 1));
        assert_eq!(a.last_event.as_ref().unwrap().kind, EventKind::GoalChanged);

        let dirty = pair(&snapshot, MAIN, A);
        assert_eq!((dirty.state, dirty.condition), (PairState::Dirty, Condition::Interleaved));
        assert_eq!(dirty.pending_since, Some(1_784_160_003_000), "the event at which it is frozen");
        assert_eq!((dirty.actionable_lag(), dirty.history_lag()), (3, 3));
        let settled = pair(&snapshot, MAIN, "agent:main:subagent:b");
        assert_eq!((settled.condition, settled.history_lag()), (Condition::InStep, 3));

        let room = pair(&snapshot, MAIN, "agent:main:telegram:group:room");
        let knows_provenance = version.user_version > 6;
        let expected =
            if knows_provenance { Provenance::AmbientGroup } else { Provenance::Explicit };
        assert_eq!(room.cursor.provenance, expected);
        let wake = if knows_provenance { WakeState::Never } else { WakeState::Unknown };
        assert_eq!(room.wake, wake, "only the other system knows of its wakes");
        assert_eq!(pair(&snapshot, A, "agent:main:subagent:a:subagent:c").wake, WakeState::Never);

        assert_eq!(snapshot.notices.len(), 4);
        assert!(snapshot.notices.iter().all(|notice| notice.queued.is_none()));
        let link = snapshot.sessions.iter().find_map(|row| row.upstream.as_ref()).unwrap();
        assert_eq!((link.offset, link.path.as_deref()), (Some(99), Some("/x/t.jsonl")));
        assert_eq!(link.outcome, "unknown");
        assert!(!snapshot.pulse.overdue, "another system's monitor is not ours to call overdue");
        assert_eq!(
            pair(&snapshot, "agent:ops:main", "agent:main:claude:t").condition,
            Condition::Pending
        );
    }
}

#[test]
fn deltas_and_events_are_exact() {
    let foreign = Foreign::newest();
    let mut attached = foreign.attach();
    let session = (key(A), AgentId::main());
    let changes = attached.changes(&session, Sequence(1), 200).unwrap();
    let numbers: Vec<_> = changes.events.iter().map(|event| event.sequence.0).collect();
    assert_eq!((numbers, changes.version, changes.history_gap), (vec![3, 4], Sequence(4), false));
    foreign.change("UPDATE session_state_heads SET pruned_max_sequence = 3");
    assert!(attached.changes(&session, Sequence(1), 200).unwrap().history_gap);
    let after = attached.reader().events_after(Sequence(5), None, &[], 10).unwrap();
    assert_eq!(after.len(), 3);
    assert!(after[1].payload.is_none(), "a payload that is no object counts as none");
    assert!(attached.known_address(A, None).is_ok());
    assert!(attached.known_address("agent:main:nobody", None).is_err());
}

#[test]
fn a_newer_schema_with_more_columns_and_without_a_rowid_is_read() {
    let foreign = Foreign::newest();
    foreign.change(
        "ALTER TABLE session_state_events ADD COLUMN colour TEXT;
         CREATE TABLE c2 (shape BLOB, watcher_session_key TEXT, target_session_key TEXT, last_seen_sequence INTEGER,
           notified_sequence INTEGER, material_sequence INTEGER, provenance TEXT, updated_at INTEGER,
           PRIMARY KEY (watcher_session_key, target_session_key)) WITHOUT ROWID;
         INSERT INTO c2 SELECT x'00', watcher_session_key, target_session_key, last_seen_sequence, notified_sequence,
           material_sequence, provenance, updated_at FROM session_watch_cursors;
         DROP TABLE session_watch_cursors; ALTER TABLE c2 RENAME TO session_watch_cursors; PRAGMA user_version = 99;",
    );
    assert_eq!(foreign.attach().snapshot(1, &[]).unwrap().watches.len(), 6);
}

#[test]
fn columns_that_only_help_may_be_missing() {
    let foreign = Foreign::newest();
    foreign.change(
        "DROP INDEX session_state_events_by_session;
         ALTER TABLE session_state_events DROP COLUMN payload_json; ALTER TABLE session_state_events DROP COLUMN run_id;
         ALTER TABLE session_state_heads DROP COLUMN pruned_max_sequence;
         ALTER TABLE session_upstream_links DROP COLUMN last_scanned_at;",
    );
    let snapshot = foreign.attach().snapshot(1, &[]).unwrap();
    assert_eq!((snapshot.sessions.len(), snapshot.events.len()), (7, 8));
}

#[test]
fn the_file_stays_as_it_is_to_the_byte() {
    let foreign = Foreign::newest();
    let before = std::fs::read(foreign.path()).unwrap();
    {
        let mut attached = foreign.attach();
        attached.snapshot(1, &[]).unwrap();
        attached.reader().integrity_check().unwrap();
        attached.reader().cursors().unwrap();
    }
    assert_eq!(std::fs::read(foreign.path()).unwrap(), before);
}

#[test]
fn an_unfinished_log_of_another_process_is_neither_applied_nor_removed() {
    let foreign = Foreign::newest();
    let writer = foreign.writer();
    writer
        .execute_batch(
            "PRAGMA wal_autocheckpoint = 0; UPDATE session_state_heads SET updated_at = 5",
        )
        .unwrap();
    let log = foreign.path().with_extension("sqlite-wal");
    let before = (std::fs::read(foreign.path()).unwrap(), std::fs::read(&log).unwrap());
    // A process that was killed leaves its log behind: here it is copied beside a copy of the database.
    let copy = tempfile::tempdir().unwrap();
    let path = copy.path().join("openclaw.sqlite");
    std::fs::write(&path, &before.0).unwrap();
    std::fs::write(copy.path().join("openclaw.sqlite-wal"), &before.1).unwrap();
    drop(writer);
    {
        let attached = attach(&path).unwrap();
        assert!(attached.reader().heads().unwrap().iter().all(|head| head.updated_at == 5));
    }
    assert_eq!(std::fs::read(&path).unwrap(), before.0);
    assert_eq!(std::fs::read(copy.path().join("openclaw.sqlite-wal")).unwrap(), before.1);
}

#[test]
fn the_real_files_are_read_and_stay_as_they_are() {
    for Real { path, .. } in &real() {
        let before = std::fs::read(path).unwrap();
        let mut attached = attach(path).unwrap();
        let snapshot = attached.snapshot(1, &[]).unwrap();
        assert_eq!((snapshot.journal.rows, snapshot.watches.len()), (51, 13), "{}", path.display());
        assert!(!snapshot.notices.is_empty());
        drop(attached);
        assert_eq!(std::fs::read(path).unwrap(), before, "{}", path.display());
    }
}

#[test]
fn the_usual_place_is_below_the_state_folder_or_the_home_folder() {
    let place = |state: Option<&str>, home: Option<&str>| {
        usual_place(state.map(AsRef::as_ref), home.map(AsRef::as_ref))
            .map(|path| path.display().to_string())
    };
    assert_eq!(place(Some("/s"), Some("/h")).as_deref(), Some("/s/state/openclaw.sqlite"));
    assert_eq!(place(None, Some("/h")).as_deref(), Some("/h/.openclaw/state/openclaw.sqlite"));
    assert_eq!(place(Some(""), Some("/h")).as_deref(), Some("/h/.openclaw/state/openclaw.sqlite"));
    assert_eq!(place(None, None), None);
}

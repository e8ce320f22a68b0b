//! 11.6: what changed since.

use std::io::{Seek, SeekFrom, Write};

use serde_json::json;
use tidings::clock::DAY;
use tidings::engine::commands::RunOutcome;
use tidings::engine::commands::public_payload;
use tidings::engine::{Discipline, Engine, Settings};
use tidings::event::{EventKind, NewEvent, Sequence};
use tidings::script::Player;
use tidings::script::operation::Step;

use crate::common::{T, W, World, address, either, event, human_turn, key};

#[test]
fn case_98_the_changes_come_oldest_first() {
    either(|mut world| {
        for sequence in [2, 4, 5] {
            world.material_at(sequence, T);
        }
        let changes = world.changes(T, 0);
        assert_eq!(world.numbers(T, 0), [2, 4, 5]);
        assert_eq!((changes.version, changes.earliest), (Sequence(5), Sequence(2)));
        assert!(!changes.truncated && !changes.history_gap);
        assert_eq!(world.numbers(T, 2), [4, 5]);
    });
}

#[test]
fn case_99_and_100_nothing_is_new_at_the_head_or_beyond() {
    either(|mut world| {
        world.material_at(5, T);
        for since in [5, 6, 1_000] {
            let changes = world.changes(T, since);
            assert!(
                changes.events.is_empty() && !changes.truncated && !changes.history_gap,
                "{since}"
            );
            assert_eq!(changes.version, Sequence(5));
        }
    });
}

#[test]
fn case_101_and_102_an_answer_holds_200_events_and_says_when_there_are_more() {
    either(|mut world| {
        for _ in 0..200 {
            world.record(&human_turn(T));
        }
        let changes = world.changes(T, 0);
        assert_eq!((changes.events.len(), changes.truncated), (200, false));
        world.record(&human_turn(T));
        let first = world.changes(T, 0);
        assert_eq!((first.events.len(), first.truncated), (200, true));
        assert_eq!(first.events[0].sequence, Sequence(1));
        let rest = world.changes(T, first.events[199].sequence.0);
        assert_eq!((rest.events.len(), rest.truncated), (1, false));
        assert_eq!(rest.events[0].sequence, Sequence(201));
    });
}

#[test]
fn case_103_the_limit_is_floored_and_kept_between_1_and_200() {
    let mut player = Player::new(Settings::default()).unwrap();
    let mut play =
        |line: String| player.play(&Step::parse(&line).unwrap(), "line").unwrap().unwrap();
    play(format!(
        r#"{{"op":"bulk_record","at":1,"sessions":["{T}"],"agent":"main","kind":"compacted","actor_type":"system","summary":"s","count":300,"step":0}}"#
    ));
    for (limit, rows) in [("0", 1), ("-3", 1), ("2.9", 2), ("500", 200)] {
        let seen = play(format!(
            r#"{{"op":"changes","at":1,"session":"{T}","agent":"main","after":0,"limit":{limit}}}"#
        ));
        assert_eq!(seen["ret"]["events"].as_array().unwrap().len(), rows, "{limit}");
        assert_eq!(seen["ret"]["truncated"], json!(true), "{limit}");
    }
}

#[test]
fn case_104_a_gap_is_what_lies_before_the_pruned_watermark() {
    either(|mut world| {
        world.material_at(30, T);
        world.clock.advance(30 * DAY + 1);
        world.engine().prune().unwrap();
        world.material_at(40, T);
        for (since, gap) in [(29, true), (30, false), (31, false)] {
            let changes = world.changes(T, since);
            assert_eq!(changes.history_gap, gap, "{since}");
            assert_eq!(changes.events.len(), 1, "{since}");
        }
    });
}

#[test]
fn case_105_and_106_a_distance_between_numbers_is_no_gap() {
    either(|mut world| {
        world.material_at(90, T);
        world.material_at(91, T);
        assert!(!world.changes(T, 0).history_gap);
        world.sql().execute("DELETE FROM session_state_events WHERE sequence = 90", []).unwrap();
        let changes = world.changes(T, 0);
        assert!(!changes.history_gap);
        assert_eq!(changes.earliest, Sequence(91));
    });
}

#[test]
fn case_107_and_108_the_earliest_number_when_nothing_is_retained() {
    either(|mut world| {
        world.material_at(50, T);
        world.clock.advance(30 * DAY + 1);
        world.engine().prune().unwrap();
        assert_eq!(world.changes(T, 50).earliest, Sequence(51));
        let never = world.changes("agent:main:never", 0);
        assert_eq!((never.version, never.earliest), (Sequence(0), Sequence(0)));
        assert!(!never.history_gap && never.events.is_empty());
    });
}

#[test]
fn case_111_and_112_a_payload_shows_only_what_an_answer_may_hold() {
    let shown = |payload| {
        public_payload(&tidings::event::Event {
            sequence: Sequence(1),
            session: key(T),
            session_id: None,
            agent: tidings::session_key::AgentId::main(),
            kind: EventKind::Adopted,
            actor_type: tidings::event::ActorType::Human,
            actor: None,
            run: None,
            occurred_at: 0,
            summary: String::new(),
            payload: Some(payload),
        })
        .map(serde_json::Value::Object)
    };
    for (given, want) in [
        (json!({ "catalogId": "claude", "hostId": "gateway:local" }), None),
        (json!({ "outcome": "cancelled", "x": 1 }), Some(json!({ "outcome": "cancelled" }))),
        (json!({ "outcome": "fine", "channel": "", "turns": 0 }), None),
        (
            json!({ "channel": "claude", "turns": 2 }),
            Some(json!({ "channel": "claude", "turns": 2 })),
        ),
        (json!({ "turns": 1.5 }), None),
        (json!({ "turns": -1, "outcome": 1 }), None),
    ] {
        assert_eq!(shown(given.clone()), want, "{given}");
    }
    either(|mut world| {
        world.engine().finish(&address(T), "run", RunOutcome::Cancelled).unwrap();
        let event = world.changes(T, 0).events.remove(0);
        assert_eq!(event.summary, "child run cancelled");
        assert_eq!(json!(public_payload(&event)), json!({ "outcome": "cancelled" }));
    });
}

#[test]
fn case_113_asking_moves_nothing() {
    either(|mut world| {
        world.watch(W, T);
        world.material_at(3, T);
        world.clock.advance(DAY);
        let before = world.cursors();
        let (lines, file) = (world.lines(W), world.another());
        let committed = file.journal().data_version().unwrap();
        assert_eq!(world.changes(T, 0), world.changes(T, 0));
        assert_eq!(world.cursors(), before);
        assert_eq!(world.lines(W), lines);
        assert_eq!(file.journal().data_version().unwrap(), committed, "reading wrote something");
    });
}

/// Overwrites the first page of a table, with the database closed.
fn damage(world: &mut World, table: &str) {
    let own = world.sql();
    own.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    let page_size: u64 = own
        .query_row("PRAGMA page_size", [], |row| row.get::<_, i64>(0))
        .unwrap()
        .try_into()
        .unwrap();
    let root: u64 = own
        .query_row("SELECT rootpage FROM sqlite_master WHERE name = ?1", [table], |row| {
            row.get::<_, i64>(0)
        })
        .unwrap()
        .try_into()
        .unwrap();
    drop(own);
    let mut file = std::fs::OpenOptions::new().write(true).open(world.db()).unwrap();
    file.seek(SeekFrom::Start((root - 1) * page_size)).unwrap();
    file.write_all(&vec![0xff; usize::try_from(page_size).unwrap()]).unwrap();
}

#[test]
fn case_114_what_can_not_be_read_is_an_error_and_not_an_empty_answer() {
    for table in ["session_state_heads", "session_state_events"] {
        let mut world = World::loose();
        world.watch(W, T);
        world.material_at(3, T);
        world.stop();
        damage(&mut world, table);
        world.start();
        let error = world.engine().changes(&address(T), Sequence(0), 200).unwrap_err();
        assert_eq!(error.code(), "database", "{table}: {error}");
        assert!(error.to_string().starts_with("could not read "), "{table}: {error}");
        let error = world.engine().record(&human_turn(T), tidings::journal::append::Gate::Open);
        assert!(error.is_err(), "{table}");
    }
}

#[test]
fn case_114_a_missing_table_and_a_place_that_can_hold_no_file_are_said() {
    let mut world = World::loose();
    world.sql().execute_batch("DROP TABLE session_state_heads").unwrap();
    assert!(world.engine().changes(&address(T), Sequence(0), 200).is_err());
    let below_a_file = world.db().join("state.sqlite");
    let clock = world.clock.clone();
    let error =
        Engine::open(&below_a_file, clock, Settings::default(), Discipline::InStep).unwrap_err();
    assert!(
        error.to_string().contains("state.sqlite") || error.to_string().contains("tidings.sqlite"),
        "{error}"
    );
}

#[test]
fn an_answer_carries_what_was_recorded() {
    either(|mut world| {
        let full = NewEvent {
            actor: Some("p1".into()),
            session_id: Some("s1".into()),
            run: Some("r1".into()),
            payload: Some(json!({ "turns": 2 })),
            ..event(T, EventKind::GoalChanged)
        };
        let recorded = world.record(&full).event.unwrap();
        assert_eq!(world.changes(T, 0).events, std::slice::from_ref(&recorded));
        assert_eq!(recorded.run.as_deref(), Some("r1"));
        let hollow = NewEvent { actor: Some(String::new()), run: Some(String::new()), ..full };
        assert_eq!(world.record(&hollow).event.unwrap().actor, None);
        assert_eq!(world.changes(T, 1).events[0].run, None);
    });
}

//! 11.1: appending, heads, dedupe.

use serde_json::{Value, json};
use tidings::clock::{DAY, HOUR};
use tidings::engine::commands::RunOutcome;
use tidings::engine::{EngineError, Settings};
use tidings::event::{ActorType, EventKind, NewEvent};
use tidings::journal::append::Gate;
use tidings::script::Player;
use tidings::script::operation::Step;
use tidings::session_key::AgentId;

use crate::common::{
    FILLER, START, T, W, World, address, either, event, human_turn, key, naming, once,
};

#[test]
fn case_1_the_first_event_makes_the_head() {
    either(|mut world| {
        let first = world.record(&human_turn(T)).event.unwrap();
        assert!(first.sequence.0 >= 1);
        assert_eq!(world.head(T), first.sequence.0);
        assert_eq!(world.pruned(T), Some(0));
    });
}

#[test]
fn case_2_numbers_are_shared_by_all_sessions() {
    either(|mut world| {
        let first = world.record(&human_turn(T)).event.unwrap().sequence.0;
        world.record(&human_turn(FILLER));
        let second = world.record(&human_turn(T)).event.unwrap().sequence.0;
        assert_eq!(second, first + 2);
        assert_eq!(world.head(T), second);
        assert_eq!(world.numbers(T, 0), [first, second]);
    });
}

#[test]
fn case_3_a_dedupe_hit_changes_nothing() {
    either(|mut world| {
        world.watch(W, T);
        let first = world.record(&once(human_turn(T), "k")).event.unwrap();
        world.drain(W);
        world.wakes();
        let before = world.whole_cursor(W, T);
        let second = world.record(&once(human_turn(T), "k"));
        assert_eq!(second.event, Some(first.clone()));
        assert!(second.deduped && second.notices.is_empty());
        assert_eq!(world.rows(), 1);
        assert_eq!(world.head(T), first.sequence.0);
        assert_eq!(world.whole_cursor(W, T), before);
        assert!(world.lines(W).is_empty() && world.wakes().is_empty());
    });
}

#[test]
fn case_4_a_dedupe_hit_of_another_session_returns_that_sessions_event() {
    either(|mut world| {
        world.watch(W, T);
        world.record(&once(human_turn(FILLER), "k"));
        let hit = world.record(&once(human_turn(T), "k"));
        assert_eq!(hit.event.unwrap().session, key(FILLER));
        assert_eq!((world.head(T), world.pruned(T)), (0, None));
        assert_eq!(world.cursor(W, T), Some((0, 0, 0)));
        assert!(world.lines(W).is_empty());
    });
}

#[test]
fn case_5_whatever_ends_a_run_first_wins() {
    either(|mut world| {
        world.engine().finish(&address(T), "run", RunOutcome::Ok).unwrap();
        let (second, _) = world.engine().finish(&address(T), "run", RunOutcome::Error).unwrap();
        assert!(second.deduped);
        assert_eq!(second.event.unwrap().kind, EventKind::RunCompleted);
        assert_eq!(world.numbers(T, 0).len(), 1);
    });
}

#[test]
fn case_6_events_without_a_dedupe_key_are_never_the_same() {
    either(|mut world| {
        world.record(&human_turn(T));
        world.record(&human_turn(T));
        assert_eq!(world.numbers(T, 0).len(), 2);
    });
}

#[test]
fn case_7_a_second_report_of_a_spawn_seeds_nothing() {
    either(|mut world| {
        let spawned = once(naming(event(T, EventKind::ChildSpawned), &[W]), "child-spawned:1");
        world.record_at(5, &spawned);
        world.material_at(6, T);
        let before = world.whole_cursor(W, T);
        assert!(world.record(&spawned).deduped);
        assert_eq!(world.whole_cursor(W, T), before);
        assert_eq!(world.cursor(W, T), Some((5, 6, 6)));
        assert_eq!(world.lines(W).len(), 1);
    });
}

#[test]
fn case_8_one_key_of_two_agents_is_two_histories() {
    either(|mut world| {
        let of = |agent: &str| NewEvent {
            agent: AgentId::verbatim(agent.to_owned()),
            ..human_turn("global")
        };
        for agent in ["main", "ops", "main"] {
            world.record(&of(agent));
        }
        let mut numbers = |agent: &str| {
            let address = (key("global"), AgentId::verbatim(agent.to_owned()));
            let changes =
                world.engine().changes(&address, tidings::event::Sequence(0), 200).unwrap();
            let numbers: Vec<_> = changes.events.iter().map(|event| event.sequence.0).collect();
            (changes.version.0, numbers)
        };
        assert_eq!(numbers("main"), (3, vec![1, 3]));
        assert_eq!(numbers("ops"), (2, vec![2]));
    });
}

#[test]
fn case_9_to_11_the_time_of_an_event_is_kept_within_the_last_day() {
    either(|mut world| {
        for (case, given, kept) in [
            (9, START + HOUR, START),
            (10, START - 25 * HOUR, START - DAY),
            (11, START - DAY, START - DAY),
        ] {
            let event = NewEvent { occurred_at: Some(given), ..human_turn(T) };
            let recorded = world.record(&event).event.unwrap();
            assert_eq!(recorded.occurred_at, kept, "case {case}");
            let stored = world.changes(T, recorded.sequence.0 - 1).events.remove(0);
            assert_eq!(stored.occurred_at, kept, "case {case}");
        }
    });
}

#[test]
fn case_12_a_time_that_is_no_number_is_now_and_cursors_use_now_always() {
    let mut player = Player::new(Settings::default()).unwrap();
    let mut play = |line: &str| player.play(&Step::parse(line).unwrap(), "line").unwrap().unwrap();
    play(&format!(r#"{{"op":"watch","at":{START},"watcher":"{W}","target":"{T}"}}"#));
    let later = START + HOUR;
    for not_a_time in ["null", "\"NaN\"", "\"soon\""] {
        let seen = play(&format!(
            r#"{{"op":"record","at":{later},"session":"{T}","agent":"main","kind":"goal_changed","actor_type":"human","summary":"s","occurred_at":{not_a_time}}}"#
        ));
        assert_eq!(seen["ret"]["at"], json!(later), "{not_a_time}");
        assert_eq!(seen["cursors"][0]["updated_at"], json!(later), "{not_a_time}");
    }
    either(|mut world| {
        world.watch(W, T);
        world.clock.advance(HOUR);
        world.record(&NewEvent { occurred_at: Some(START), ..human_turn(T) });
        assert_eq!(world.whole_cursor(W, T).unwrap().updated_at, START + HOUR);
    });
}

/// What a failed append must leave behind: nothing.
fn assert_nothing_was_recorded(world: &mut World) {
    assert_eq!(world.rows(), 0);
    assert_eq!(world.head(T), 0);
    assert_eq!(world.cursor(W, T), Some((0, 0, 0)));
    assert!(world.lines(W).is_empty() && world.wakes().is_empty());
    assert_eq!(world.engine().append_failures(), 1);
}

#[test]
fn case_13_a_write_that_fails_at_any_step_records_nothing_and_the_turn_goes_on() {
    let steps = [
        "BEFORE INSERT ON session_state_events",
        "BEFORE INSERT ON session_state_heads",
        "BEFORE UPDATE ON session_watch_cursors",
        "BEFORE INSERT ON tidings_deliveries",
        "BEFORE INSERT ON tidings_ledger",
    ];
    for step in steps {
        either(|mut world| {
            world.watch(W, T);
            let own = world.sql();
            own.execute_batch(&format!(
                "CREATE TRIGGER broken {step} BEGIN SELECT raise(ABORT, 'no space'); END"
            ))
            .unwrap();
            let error = world.engine().record(&human_turn(T), Gate::Open).unwrap_err();
            assert!(error.to_string().starts_with("could not "), "{step}: {error}");
            assert_nothing_was_recorded(&mut world);
            own.execute_batch("DROP TRIGGER broken").unwrap();
            world.record(&human_turn(T));
            assert_eq!(world.lines(W).len(), 1, "{step}");
        });
    }
}

#[test]
fn case_13_a_database_that_another_connection_holds_is_busy_and_records_nothing() {
    let mut world = World::in_step();
    world.watch(W, T);
    let own = world.sql();
    own.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = world.engine().record(&human_turn(T), Gate::Open).unwrap_err();
    assert_eq!(error.code(), "busy");
    own.execute_batch("ROLLBACK").unwrap();
    assert_nothing_was_recorded(&mut world);
    world.record(&human_turn(T));
    assert_eq!(world.lines(W).len(), 1);
}

#[test]
fn case_13_an_event_without_a_summary_is_not_recorded() {
    either(|mut world| {
        let silent = NewEvent { summary: None, ..human_turn(T) };
        let error = world.engine().record(&silent, Gate::Open).unwrap_err();
        assert!(matches!(error, EngineError::Journal(_)), "{error}");
        assert_eq!((world.rows(), world.engine().append_failures()), (0, 1));
        // A failed insert takes no number, unlike a dedupe hit.
        assert_eq!(world.record(&human_turn(T)).event.unwrap().sequence.0, 1);
    });
}

#[test]
fn case_14_a_payload_that_is_no_object_is_read_back_as_none() {
    either(|mut world| {
        let with = |payload: Value| NewEvent { payload: Some(payload), ..human_turn(T) };
        assert_eq!(world.record(&with(json!(["x"]))).event.unwrap().payload, None);
        world.record(&with(json!({ "turns": 2 })));
        world
            .sql()
            .execute(
                "UPDATE session_state_events SET payload_json = '{\"turns\":' WHERE sequence = 2",
                [],
            )
            .unwrap();
        let events = world.changes(T, 0).events;
        assert_eq!(events.len(), 2);
        assert!(events.iter().all(|event| event.payload.is_none()));
        let stored: Option<String> = world
            .sql()
            .query_row(
                "SELECT payload_json FROM session_state_events WHERE sequence = 1",
                [],
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!(stored.as_deref(), Some("[\"x\"]"));
    });
}

#[test]
fn case_15_numbers_are_not_reused_after_pruning() {
    either(|mut world| {
        world.material_at(7, T);
        world.clock.advance(30 * DAY + 1);
        world.engine().prune().unwrap();
        assert_eq!(world.rows(), 0);
        assert_eq!(world.record(&human_turn(T)).event.unwrap().sequence.0, 8);
    });
}

#[test]
fn an_actor_type_and_kind_that_nobody_knows_are_stored_and_notify_nobody() {
    either(|mut world| {
        world.watch(W, T);
        let odd = NewEvent {
            actor_type: ActorType::Other("daemon".into()),
            ..naming(event(T, EventKind::Other("odd".into())), &[W])
        };
        world.record(&odd);
        let stored = world.changes(T, 0).events.remove(0);
        assert_eq!((stored.kind.as_str(), stored.actor_type.as_str()), ("odd", "daemon"));
        assert_eq!(world.cursor(W, T), Some((0, 0, 0)));
    });
}

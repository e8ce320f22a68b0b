//! 11.3: registration.

use tidings::clock::HOUR;
use tidings::engine::commands::DirectMessage;
use tidings::event::{ActorType, EventKind, TurnOrigin};
use tidings::journal::cursors::Registration;
use tidings::journal::inbox::MAX_MESSAGE;
use tidings::journal::sessions::SessionFacts;
use tidings::session_key::AgentId;
use tidings::watch::Provenance;

use crate::common::{
    G, START, T, W, World, address, either, event, human_turn, key, message, notice,
};

#[test]
fn case_39_a_watch_starts_at_the_head_so_that_nothing_old_is_announced() {
    either(|mut world| {
        world.material_at(40, T);
        world.watch(W, T);
        assert_eq!(world.cursor(W, T), Some((40, 40, 40)));
        assert!(world.lines(W).is_empty() && world.wakes().is_empty());
    });
}

#[test]
fn case_40_a_session_that_never_had_an_event_can_be_watched() {
    either(|mut world| {
        let made = world.engine().watch(&key(W), &key(T), None).unwrap();
        assert_eq!(made, Registration::Made);
        assert_eq!(world.cursor(W, T), Some((0, 0, 0)));
    });
}

#[test]
fn case_41_watching_again_leaves_an_open_notice_alone() {
    either(|mut world| {
        world.material_at(5, T);
        world.watch(W, T);
        world.material_at(6, T);
        world.material_at(8, T);
        let before = world.whole_cursor(W, T);
        world.clock.advance(HOUR);
        let again = world.engine().watch(&key(W), &key(T), None).unwrap();
        assert_eq!(again, Registration::Unchanged);
        assert_eq!(world.whole_cursor(W, T), before);
        assert_eq!(world.cursor(W, T), Some((5, 6, 8)));
        assert_eq!(world.lines(W), [notice(T, 5)]);
    });
}

#[test]
fn case_42_to_46_what_can_and_can_not_be_watched() {
    let refused = [
        (42, T, T, None, "itself"),
        (43, "global", T, None, "can't watch"),
        (44, "agent:main", T, None, "can't watch"),
        (45, W, "global", None, "bare key"),
        (46, W, T, Some("ops"), "contradicts"),
    ];
    either(|mut world| {
        for (case, watcher, target, agent, reason) in refused {
            let agent = agent.map(AgentId::normalised);
            let error =
                world.engine().watch(&key(watcher), &key(target), agent.as_ref()).unwrap_err();
            assert_eq!(error.code(), "refused", "case {case}");
            assert!(error.to_string().contains(reason), "case {case}: {error}");
            assert!(world.cursors().is_empty(), "case {case}");
        }
        for (target, agent) in [("global", "main"), (T, "MAIN")] {
            let agent = AgentId::verbatim(agent.to_owned());
            world.engine().watch(&key(W), &key(target), Some(&agent)).unwrap();
            assert!(world.cursor(W, target).is_some(), "{target}");
        }
    });
}

#[test]
fn case_47_a_message_that_is_not_delivered_makes_no_watch() {
    either(|mut world| {
        let long = "x".repeat(MAX_MESSAGE + 1);
        let failed = world.engine().send(&address(W), &address(T), &long, true);
        assert_eq!(failed.unwrap_err().code(), "refused");
        world
            .sql()
            .execute_batch(
                "CREATE TRIGGER full BEFORE INSERT ON tidings_inbox BEGIN SELECT raise(ABORT, 'no space'); END",
            )
            .unwrap();
        assert!(world.engine().send(&address(W), &address(T), "hello", true).is_err());
        assert!(world.cursors().is_empty());
    });
}

#[test]
fn case_48_and_50_a_delivered_message_makes_the_watch_whether_or_not_an_answer_comes() {
    either(|mut world| {
        world.material_at(4, T);
        for _ in 0..2 {
            let sent = world.engine().send(&address(W), &address(T), "hello", true).unwrap();
            assert_eq!(sent.watched, Some(true));
        }
        world.clock.advance(HOUR);
        assert_eq!(world.cursor(W, T), Some((4, 4, 4)));
        assert_eq!(world.count("SELECT count(*) FROM tidings_inbox"), 2, "nobody took a turn");
    });
}

#[test]
fn case_48_a_watch_that_is_refused_is_said_and_the_message_stands() {
    either(|mut world| {
        let sent = world.engine().send(&address("global"), &address(T), "hello", true).unwrap();
        assert_eq!(sent.watched, Some(false));
        assert_eq!(world.count("SELECT count(*) FROM tidings_inbox"), 1);
        let to_itself = world.engine().send(&address(T), &address(T), "hello", true).unwrap();
        assert_eq!(to_itself.watched, None);
        assert!(world.cursors().is_empty());
    });
}

#[test]
fn case_49_a_message_alone_watches_nothing() {
    either(|mut world| {
        let sent = world.engine().send(&address(W), &address(T), "hello", false).unwrap();
        assert_eq!(sent.watched, None);
        assert!(world.cursors().is_empty());
    });
}

#[test]
fn case_53_a_group_is_watched_from_its_head_by_the_main_session() {
    either(|mut world| {
        world.material_at(3, G);
        assert!(world.engine().watch_ambient(&address(G), Some("group"), None).unwrap());
        let made = world.whole_cursor(W, G).unwrap();
        assert_eq!(made.provenance, Provenance::AmbientGroup);
        assert_eq!((made.seen.0, made.notified.0, made.material.0), (3, 3, 3));
        world.clock.advance(HOUR);
        assert!(world.engine().watch_ambient(&address(G), Some("group"), None).unwrap());
        assert_eq!(world.whole_cursor(W, G), Some(made));
    });
}

#[test]
fn case_54_only_a_humans_turn_in_a_group_counts() {
    let origins = [
        TurnOrigin { inter_session: Some(Some(T)), ..TurnOrigin::default() },
        TurnOrigin { internal: true, ..TurnOrigin::default() },
    ];
    either(|mut world| {
        for origin in &origins {
            let (actor_type, actor) = origin.actor();
            let turn = DirectMessage {
                actor_type,
                actor: actor.map(str::to_owned),
                ..message(G, Some(W))
            };
            assert!(world.engine().direct_message(turn).unwrap().event.is_none());
        }
        assert!(world.cursors().is_empty());
        assert_eq!(world.rows(), 0);
    });
}

#[test]
fn case_54_what_is_no_group_is_not_watched() {
    let no_groups = [
        ("global", Some("group")),
        ("unknown", Some("group")),
        ("agent:main:cron:group:job", Some("group")),
        ("agent:main:telegram:direct:peer", None),
        ("agent:main:telegram:direct:peer", Some("direct")),
    ];
    either(|mut world| {
        for (session, chat_type) in no_groups {
            assert!(
                !world.engine().watch_ambient(&address(session), chat_type, None).unwrap(),
                "{session}"
            );
        }
        let spawned = SessionFacts { parent: Some(key(T)), ..SessionFacts::default() };
        world.engine().register(&address(G), &spawned).unwrap();
        assert!(!world.engine().watch_ambient(&address(G), Some("group"), None).unwrap());
        assert!(world.cursors().is_empty());
        let by_key = "agent:main:slack:channel:c";
        assert!(world.engine().watch_ambient(&address(by_key), None, None).unwrap());
    });
}

#[test]
fn case_55_the_main_session_does_not_watch_itself() {
    either(|mut world| {
        assert!(!world.engine().watch_ambient(&address(W), Some("group"), None).unwrap());
        let main = "agent:main:telegram:group:home";
        let routed = world.engine().watch_ambient(
            &address(main),
            Some("group"),
            Some(" telegram:group:home "),
        );
        assert!(!routed.unwrap());
        assert!(world.cursors().is_empty());
    });
}

#[test]
fn case_56_an_explicit_watch_promotes_an_ambient_one() {
    either(|mut world| {
        world.engine().watch_ambient(&address(G), None, None).unwrap();
        world.clock.advance(HOUR);
        let promoted = world.engine().watch(&key(W), &key(G), None).unwrap();
        assert_eq!(promoted, Registration::Promoted);
        let cursor = world.whole_cursor(W, G).unwrap();
        assert_eq!(cursor.provenance, Provenance::Explicit);
        assert_eq!(cursor.updated_at, START);
        world.record(&human_turn(G));
        assert_eq!(world.wakes(), [W]);
    });
}

#[test]
fn case_57_an_ambient_watch_never_demotes_an_explicit_one() {
    either(|mut world| {
        world.watch(W, G);
        assert!(world.engine().watch_ambient(&address(G), None, None).unwrap());
        assert_eq!(world.whole_cursor(W, G).unwrap().provenance, Provenance::Explicit);
    });
}

#[test]
fn case_58_an_ambient_watch_is_queued_and_never_wakes() {
    either(|mut world| {
        world.engine().watch_ambient(&address(G), None, None).unwrap();
        world.record(&human_turn(G));
        world.record(&human_turn(G));
        assert_eq!(world.numbers(G, 0), [1, 2]);
        assert_eq!(world.lines(W), [notice(G, 0)]);
        assert!(world.wakes().is_empty());
        assert_eq!(world.cursor(W, G), Some((0, 1, 2)));
    });
}

#[test]
fn a_spawn_makes_an_ambient_cursor_explicit() {
    either(|mut world| {
        world.engine().watch_ambient(&address(G), None, None).unwrap();
        let mut spawned = event(G, EventKind::ChildSpawned);
        spawned.actor_type = ActorType::Agent;
        spawned.watchers = vec![key(W)];
        world.record(&spawned);
        assert_eq!(world.whole_cursor(W, G).unwrap().provenance, Provenance::Explicit);
    });
}

#[test]
fn unwatch_ends_a_watch_once_and_takes_its_line_along() {
    let mut world = World::in_step();
    world.watch(W, T);
    world.record(&human_turn(T));
    world.engine().unwatch(&key(W), &key(T)).unwrap();
    assert!(world.cursors().is_empty() && world.lines(W).is_empty());
    assert_eq!(world.engine().unwatch(&key(W), &key(T)).unwrap_err().code(), "unknown");
}

//! 11.5: sweep, retention, reset, delete.

use tidings::clock::{DAY, HOUR, MINUTE};
use tidings::event::{EventKind, NewEvent, Sequence};
use tidings::journal::retention::MAX_EVENTS;
use tidings::session_key::AgentId;

use crate::common::{
    FILLER, G, NW, START, T, W, World, address, either, event, human_turn, key, naming, notice,
};

/// 5/6/8 for W on T.
fn dirty(world: &mut World) {
    world.exists(W);
    world.material_at(5, T);
    world.watch(W, T);
    for sequence in [6, 7, 8] {
        world.material_at(sequence, T);
    }
    assert_eq!(world.cursor(W, T), Some((5, 6, 8)));
}

#[test]
fn case_80_the_sweep_gives_one_line_that_covers_all() {
    either(|mut world| {
        dirty(&mut world);
        world.clock.advance(HOUR);
        world.restart();
        let swept = world.engine().sweep().unwrap();
        assert_eq!((swept.requeued, swept.passed_over), (1, 0));
        assert_eq!(world.cursor(W, T), Some((5, 8, 8)));
        assert_eq!(world.whole_cursor(W, T).unwrap().updated_at, START + HOUR);
        assert_eq!(world.lines(W), [notice(T, 5)]);
        assert_eq!(world.wakes(), [W]);
        assert_eq!(world.drain(W), [notice(T, 5)]);
        assert_eq!(world.cursor(W, T), Some((8, 8, 8)));
        assert!(world.lines(W).is_empty());
    });
}

#[test]
fn case_81_the_sweep_leaves_a_watcher_alone_that_is_gone() {
    let mut world = World::loose();
    dirty(&mut world);
    world.engine().journal_mut().drop_session(&key(W)).unwrap();
    world.restart();
    let before = world.whole_cursor(W, T);
    world.clock.advance(HOUR);
    let swept = world.engine().sweep().unwrap();
    assert_eq!((swept.requeued, swept.passed_over), (0, 1));
    assert_eq!(world.whole_cursor(W, T), before);
    assert!(world.lines(W).is_empty() && world.wakes().is_empty());
}

#[test]
fn case_82_the_sweep_queues_an_ambient_notice_without_a_wake() {
    either(|mut world| {
        world.exists(W);
        world.engine().watch_ambient(&address(G), None, None).unwrap();
        world.record(&human_turn(G));
        world.restart();
        world.engine().sweep().unwrap();
        assert_eq!(world.lines(W), [notice(G, 0)]);
        assert!(world.wakes().is_empty());
    });
}

#[test]
fn case_83_the_sweep_does_nothing_to_pairs_in_step() {
    either(|mut world| {
        world.exists(W);
        world.watch(W, T);
        let before = world.cursors();
        world.clock.advance(HOUR);
        world.restart();
        assert_eq!(world.engine().sweep().unwrap(), tidings::engine::sweep::Swept::default());
        assert_eq!(world.cursors(), before);
        assert!(world.lines(W).is_empty() && world.wakes().is_empty());
    });
}

#[test]
fn case_84_and_85_an_event_stays_for_30_days_to_the_millisecond() {
    either(|mut world| {
        world.material_at(3, T);
        world.clock.advance(30 * DAY);
        world.engine().prune().unwrap();
        assert_eq!((world.rows(), world.pruned(T)), (3, Some(0)));
        world.clock.advance(1);
        world.engine().prune().unwrap();
        assert_eq!((world.rows(), world.pruned(T), world.head(T)), (0, Some(3), 3));
        let heads = world.engine().journal().heads().unwrap();
        assert!(heads.iter().all(|head| head.updated_at == START + 30 * DAY + 1));
    });
}

/// Fills the journal to `rows` events of the filler, cheaply.
fn fill(world: &mut World, rows: i64) {
    let own = world.sql();
    own.execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1 - (SELECT count(*) FROM session_state_events)) \
         INSERT INTO session_state_events (session_key, agent_id, kind, actor_type, occurred_at, summary) \
         SELECT ?2, 'filler', 'compacted', 'system', ?3, 'session compacted' FROM n",
        (rows, FILLER, START),
    )
    .unwrap();
    own.execute(
        "INSERT INTO session_state_heads (session_key, agent_id, last_sequence, updated_at) \
         SELECT ?1, 'filler', max(sequence), ?2 FROM session_state_events WHERE true \
         ON CONFLICT (session_key, agent_id) DO UPDATE SET last_sequence = excluded.last_sequence",
        (FILLER, START),
    )
    .unwrap();
}

#[test]
fn case_86_exactly_50_000_rows_stay_and_who_lost_the_oldest_is_told() {
    either(|mut world| {
        world.material_at(1, T);
        fill(&mut world, MAX_EVENTS);
        world.engine().prune().unwrap();
        assert_eq!((world.rows(), world.pruned(T)), (50_000, Some(0)));
        fill(&mut world, MAX_EVENTS + 1);
        world.clock.advance(HOUR);
        world.engine().prune().unwrap();
        assert_eq!(
            (world.rows(), world.pruned(T), world.pruned(FILLER)),
            (50_000, Some(1), Some(0))
        );
        let changes = world.changes(T, 0);
        assert!(changes.history_gap && changes.events.is_empty());
        assert_eq!(changes.earliest, Sequence(2));
        fill(&mut world, MAX_EVENTS + 7);
        world.engine().prune().unwrap();
        assert_eq!((world.rows(), world.pruned(FILLER)), (50_000, Some(8)));
    });
}

#[test]
fn case_86_holes_in_the_numbers_count_for_nothing() {
    let mut world = World::loose();
    world.material_at(1, T);
    world
        .sql()
        .execute("UPDATE sqlite_sequence SET seq = 90000 WHERE name = 'session_state_events'", [])
        .unwrap();
    world.record(&human_turn(T));
    world.engine().prune().unwrap();
    assert_eq!((world.rows(), world.pruned(T)), (2, Some(0)));
}

#[test]
fn case_87_a_watermark_is_never_lowered() {
    either(|mut world| {
        world.material_at(3, T);
        world
            .sql()
            .execute(
                "UPDATE session_state_heads SET pruned_max_sequence = 9 WHERE session_key = ?1",
                [T],
            )
            .unwrap();
        world.clock.advance(30 * DAY + 1);
        world.engine().prune().unwrap();
        let heads = world.engine().journal().heads().unwrap();
        let head = heads.iter().find(|head| head.key == key(T)).unwrap();
        assert_eq!((head.pruned.0, head.updated_at), (9, START));
    });
}

#[test]
fn case_88_pruning_makes_no_head() {
    either(|mut world| {
        world.material_at(3, T);
        world.sql().execute("DELETE FROM session_state_heads WHERE session_key = ?1", [T]).unwrap();
        world.clock.advance(30 * DAY + 1);
        world.engine().prune().unwrap();
        assert_eq!((world.rows(), world.pruned(T)), (0, None));
    });
}

#[test]
fn case_89_a_watch_that_nobody_touched_for_30_days_ends() {
    either(|mut world| {
        world.watch(W, T);
        world.clock.advance(30 * DAY);
        world.engine().prune().unwrap();
        assert_eq!(world.cursors().len(), 1);
        world.clock.advance(1);
        world.engine().prune().unwrap();
        assert!(world.cursors().is_empty());
        world.record(&human_turn(T));
        assert!(world.cursors().is_empty() && world.lines(W).is_empty());
    });
}

#[test]
fn case_90_only_the_watch_that_was_touched_stays() {
    either(|mut world| {
        let active = "agent:main:telegram:group:room-2";
        for group in [G, active] {
            assert!(world.engine().watch_ambient(&address(group), None, None).unwrap());
        }
        world.clock.advance(1);
        world.record(&human_turn(active));
        world.clock.set(START + 30 * DAY + 1);
        world.engine().prune().unwrap();
        let left: Vec<_> = world.cursors().into_iter().map(|cursor| cursor.target).collect();
        assert_eq!(left, [key(active)]);
    });
}

#[test]
fn case_91_an_event_prunes_when_more_than_an_hour_has_passed_since_the_last_time() {
    either(|mut world| {
        world.record(&human_turn(T));
        let first = world.engine().journal().last_prune().unwrap();
        assert_eq!(first, START, "the first event of a process prunes");
        for (after, pruned) in [(59 * MINUTE, false), (HOUR, false), (HOUR + 1, true)] {
            world.clock.set(START + after);
            world.record(&human_turn(T));
            let last = world.engine().journal().last_prune().unwrap();
            assert_eq!(last, if pruned { START + after } else { START }, "{after}");
        }
    });
}

#[test]
fn case_91_the_prune_clock_is_shared_by_all_processes() {
    let mut world = World::in_step();
    world.record(&human_turn(T));
    let mut other = world.another();
    world.clock.advance(HOUR);
    other.record(&human_turn(T), tidings::journal::append::Gate::Open).unwrap();
    assert_eq!(other.journal().last_prune().unwrap(), START);
}

#[test]
fn case_92_a_prune_that_fails_changes_nothing_for_the_event() {
    either(|mut world| {
        world.watch(W, T);
        world.material_at(3, T);
        let own = world.sql();
        own.execute_batch(
            "CREATE TRIGGER broken BEFORE DELETE ON session_state_events BEGIN SELECT raise(ABORT, 'no space'); END",
        )
        .unwrap();
        world.clock.advance(30 * DAY + 1);
        let recorded = world.record(&human_turn(T)).event.unwrap();
        assert_eq!(recorded.sequence, Sequence(4));
        assert_eq!((world.rows(), world.pruned(T)), (4, Some(0)), "nothing is stamped half-way");
        assert_eq!(world.lines(W), [notice(T, 0)]);
        assert!(world.engine().prune().is_err());
        own.execute_batch("DROP TRIGGER broken").unwrap();
        world.record(&human_turn(T));
        assert_eq!((world.rows(), world.pruned(T)), (2, Some(3)), "it is tried again");
    });
}

#[test]
fn case_93_a_reset_ends_the_sessions_own_watches_and_nothing_else() {
    either(|mut world| {
        for watcher in [W, NW] {
            world.watch(watcher, T);
        }
        world.watch(NW, W);
        world.record(&human_turn(T));
        assert_eq!(world.engine().reset(&key(W)).unwrap(), 1);
        assert_eq!(world.cursor(W, T), None);
        assert_eq!(world.cursor(NW, T), Some((0, 1, 1)));
        assert_eq!(world.cursor(NW, W), Some((0, 0, 0)));
        assert_eq!((world.numbers(T, 0), world.head(T)), (vec![1], 1));
        // The parent that a producer names starts over.
        world.record(&naming(human_turn(T), &[W]));
        assert_eq!(world.cursor(W, T), Some((0, 2, 2)));
    });
}

#[test]
fn case_94_a_reset_of_the_target_leaves_the_watch_alone() {
    either(|mut world| {
        world.watch(W, T);
        world.record(&human_turn(T));
        let before = world.whole_cursor(W, T);
        assert_eq!(world.engine().reset(&key(T)).unwrap(), 0);
        assert_eq!(world.whole_cursor(W, T), before);
        assert_eq!(world.lines(W), [notice(T, 0)]);
    });
}

#[test]
fn case_95_a_delete_takes_the_journal_the_head_and_the_watches_on_both_sides() {
    either(|mut world| {
        world.watch(W, T);
        world.watch(T, FILLER);
        world.watch(NW, FILLER);
        world.material_at(3, T);
        world.engine().send(&address(W), &address(T), "hello", false).unwrap();
        let deleted = world.engine().delete(&key(T), &AgentId::main()).unwrap();
        assert_eq!((deleted.events, deleted.cursors, deleted.messages), (1, 2, 1));
        assert_eq!((world.head(T), world.pruned(T), world.numbers(T, 0)), (0, None, vec![]));
        let left: Vec<_> = world.cursors().into_iter().map(|cursor| cursor.watcher).collect();
        assert_eq!(left, [key(NW)]);
        assert_eq!(world.head(FILLER), 2);
    });
}

#[test]
fn case_96_a_delete_spares_the_same_key_of_another_agent() {
    either(|mut world| {
        let ops = AgentId::normalised("ops");
        world.record(&human_turn("global"));
        world.record(&NewEvent { agent: ops.clone(), ..human_turn("global") });
        world.engine().delete(&key("global"), &ops).unwrap();
        assert_eq!((world.numbers("global", 0), world.head("global")), (vec![1], 1));
        assert_eq!(world.engine().journal().version(&key("global"), &ops).unwrap(), Sequence(0));
    });
}

#[test]
fn case_97_an_old_version_is_a_gap_after_delete_and_re_creation() {
    either(|mut world| {
        world.material_at(5, T);
        world.material_at(7, T);
        world.engine().delete(&key(T), &AgentId::main()).unwrap();
        for (since, gap) in [(0, true), (6, true), (7, false)] {
            assert_eq!(world.changes(T, since).history_gap, gap, "deleted, since {since}");
        }
        world.material_at(9, T);
        for (since, gap) in [(5, true), (6, true), (7, false), (9, false)] {
            assert_eq!(world.changes(T, since).history_gap, gap, "made again, since {since}");
        }
        assert_eq!(world.numbers(T, 5), [9]);
        world.clock.advance(30 * DAY + 1);
        world.engine().prune().unwrap();
        assert!(world.changes(T, 8).history_gap, "pruned further than deleted");
        assert!(!world.changes(T, 9).history_gap);
    });
}

#[test]
fn the_operator_can_be_neither_reset_nor_deleted() {
    either(|mut world| {
        let operator = tidings::session_key::SessionKey::operator();
        assert_eq!(world.engine().reset(&operator).unwrap_err().code(), "refused");
        let agent = AgentId::normalised("operator");
        assert_eq!(world.engine().delete(&operator, &agent).unwrap_err().code(), "refused");
    });
}

#[test]
fn log_only_events_do_not_keep_a_watch_alive() {
    either(|mut world| {
        world.watch(W, T);
        world.clock.advance(20 * DAY);
        world.record(&event(T, EventKind::Compacted));
        world.clock.advance(10 * DAY + 1);
        world.engine().prune().unwrap();
        assert!(world.cursors().is_empty());
    });
}

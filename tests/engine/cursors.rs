//! 11.2: cursors.

use tidings::clock::HOUR;
use tidings::event::{ActorType, EventKind, NewEvent};

use crate::common::{
    FILLER, NW, START, T, W, World, by, either, event, human_turn, key, message, naming, notice,
    once,
};

/// A spawn whose producer names W, with the number `sequence`.
fn spawned_at(world: &mut World, sequence: i64, run: &str) {
    let spawned = once(
        by(naming(event(T, EventKind::ChildSpawned), &[W]), W),
        &format!("child-spawned:{run}"),
    );
    world.record_at(sequence, &spawned);
}

/// Case 16: in step at the spawn's own number, 5.
fn case_16(world: &mut World) {
    spawned_at(world, 5, "1");
}

/// Case 17: then a material event, 6.
fn case_17(world: &mut World) {
    case_16(world);
    world.material_at(6, T);
}

/// Case 18: then two more, 7 and 8.
fn case_18(world: &mut World) {
    case_17(world);
    world.material_at(7, T);
    world.material_at(8, T);
}

#[test]
fn case_16_a_spawn_puts_the_requester_in_step() {
    either(|mut world| {
        case_16(&mut world);
        assert_eq!(world.cursor(W, T), Some((5, 5, 5)));
        assert!(world.lines(W).is_empty() && world.wakes().is_empty());
    });
}

#[test]
fn case_17_a_material_event_opens_one_notice() {
    either(|mut world| {
        case_17(&mut world);
        assert_eq!(world.cursor(W, T), Some((5, 6, 6)));
        assert_eq!(world.lines(W), [notice(T, 5)]);
        assert_eq!(world.wakes(), [W]);
    });
}

#[test]
fn case_18_an_open_notice_stays_frozen_to_the_byte() {
    either(|mut world| {
        case_18(&mut world);
        assert_eq!(world.cursor(W, T), Some((5, 6, 8)));
        assert_eq!(world.lines(W), [notice(T, 5)]);
    });
}

#[test]
fn case_19_and_20_what_came_after_the_freeze_opens_exactly_one_more() {
    either(|mut world| {
        case_18(&mut world);
        assert_eq!(world.drain(W), [notice(T, 5)]);
        assert_eq!(world.cursor(W, T), Some((6, 8, 8)));
        assert_eq!(world.lines(W), [notice(T, 6)]);
        assert_eq!(world.drain(W), [notice(T, 6)]);
        assert_eq!(world.cursor(W, T), Some((8, 8, 8)));
        assert!(world.lines(W).is_empty());
    });
}

#[test]
fn case_21_and_22_what_nobody_is_told_of_opens_no_follow_up() {
    for log_only in [false, true] {
        either(|mut world| {
            case_17(&mut world);
            if log_only {
                world.record_at(7, &naming(event(T, EventKind::RunCompleted), &[W]));
            }
            world.drain(W);
            assert_eq!(world.cursor(W, T), Some((6, 6, 6)));
            assert!(world.lines(W).is_empty());
            assert_eq!(world.head(T), if log_only { 7 } else { 6 });
        });
    }
}

#[test]
fn case_23_what_a_watcher_does_itself_is_not_announced_to_it() {
    either(|mut world| {
        case_16(&mut world);
        world.clock.advance(HOUR);
        let own = by(event(T, EventKind::GoalChanged), W);
        assert_eq!(world.record_at(6, &own).suppressed, [key(W)]);
        assert_eq!(world.cursor(W, T), Some((5, 5, 5)));
        assert_eq!(world.whole_cursor(W, T).unwrap().updated_at, START);
        assert!(world.lines(W).is_empty() && world.wakes().is_empty());
        assert_eq!(world.head(T), 6);
    });
}

#[test]
fn case_24_what_the_target_does_itself_is_announced_to_the_watcher() {
    either(|mut world| {
        case_16(&mut world);
        let own =
            NewEvent { actor_type: ActorType::Agent, ..by(event(T, EventKind::GoalChanged), T) };
        world.record_at(6, &own);
        assert_eq!(world.lines(W), [notice(T, 5)]);
    });
}

#[test]
fn case_25_a_parent_without_a_cursor_gets_one_and_is_asked_to_read_from_0() {
    either(|mut world| {
        world.next_is(9);
        world.engine().direct_message(message(T, Some(W))).unwrap();
        assert_eq!(world.cursor(W, T), Some((0, 9, 9)));
        assert_eq!(world.lines(W), [notice(T, 0)]);
        assert_eq!(world.wakes(), [W]);
    });
}

#[test]
fn case_26_a_human_turn_that_nobody_cares_about_writes_nothing() {
    either(|mut world| {
        let before = world.engine().journal().data_version().unwrap();
        let looking = world.another();
        let looked = looking.journal().data_version().unwrap();
        let appended = world.engine().direct_message(message(T, None)).unwrap();
        assert!(appended.event.is_none());
        assert_eq!((world.rows(), world.head(T)), (0, 0));
        assert_eq!(world.engine().journal().data_version().unwrap(), before);
        assert_eq!(looking.journal().data_version().unwrap(), looked, "something was committed");
    });
}

#[test]
fn case_27_a_goal_is_logged_although_nobody_watches() {
    either(|mut world| {
        world.record(&event(T, EventKind::GoalChanged));
        assert_eq!(world.head(T), 1);
        assert!(world.cursors().is_empty());
    });
}

#[test]
fn case_28_a_line_lost_in_a_restart_comes_back_with_the_next_event() {
    either(|mut world| {
        case_17(&mut world);
        world.restart();
        world.material_at(7, T);
        assert_eq!(world.lines(W), [notice(T, 5)]);
        assert_eq!(world.cursor(W, T), Some((5, 6, 7)));
    });
}

#[test]
fn case_29_a_burst_is_one_line() {
    either(|mut world| {
        case_16(&mut world);
        for sequence in 6..26 {
            world.material_at(sequence, T);
        }
        assert_eq!(world.cursor(W, T), Some((5, 6, 25)));
        assert_eq!(world.lines(W), [notice(T, 5)]);
    });
}

#[test]
fn case_30_acknowledging_an_unknown_pair_does_nothing() {
    either(|mut world| {
        let done = world.engine().acknowledge(&key(W), &[key(T)]).unwrap();
        assert!(done.acknowledged.is_empty() && done.follow_ups.is_empty());
        assert!(world.cursors().is_empty());
    });
}

#[test]
fn case_31_acknowledging_again_touches_only_the_time() {
    either(|mut world| {
        case_17(&mut world);
        world.engine().acknowledge(&key(W), &[key(T)]).unwrap();
        let mut first = world.whole_cursor(W, T).unwrap();
        world.clock.advance(HOUR);
        world.engine().acknowledge(&key(W), &[key(T)]).unwrap();
        first.updated_at = START + HOUR;
        assert_eq!(world.whole_cursor(W, T), Some(first));
    });
}

#[test]
fn case_32_a_target_named_twice_is_acknowledged_once() {
    either(|mut world| {
        case_18(&mut world);
        let done = world.engine().acknowledge(&key(W), &[key(T), key(T)]).unwrap();
        assert_eq!(done.acknowledged, [key(T)]);
        assert_eq!(done.follow_ups, [key(T)]);
        assert_eq!(world.cursor(W, T), Some((6, 8, 8)));
    });
}

#[test]
fn case_33_a_new_spawn_puts_an_open_pair_in_step() {
    let story = |world: &mut World| {
        case_17(world);
        spawned_at(world, 12, "2");
        assert_eq!(world.cursor(W, T), Some((12, 12, 12)));
    };
    let mut world = World::loose();
    story(&mut world);
    assert_eq!(world.lines(W), [notice(T, 5)]);
    world.drain(W);
    assert_eq!(world.cursor(W, T), Some((12, 12, 12)));
    let mut world = World::in_step();
    story(&mut world);
    assert!(world.lines(W).is_empty(), "live, the line goes with the notice");
}

#[test]
fn case_34_two_lines_about_one_target_are_acknowledged_once() {
    let story = |world: &mut World| {
        case_17(world);
        spawned_at(world, 12, "2");
        world.material_at(13, T);
    };
    let mut world = World::loose();
    story(&mut world);
    assert_eq!(world.drain(W), [notice(T, 5), notice(T, 12)]);
    assert_eq!(world.cursor(W, T), Some((13, 13, 13)));
    let mut world = World::in_step();
    story(&mut world);
    assert_eq!(world.drain(W), [notice(T, 12)]);
    assert_eq!(world.cursor(W, T), Some((13, 13, 13)));
}

#[test]
fn case_35_each_watcher_has_its_line_and_a_sub_agent_is_not_woken() {
    either(|mut world| {
        world.watch(W, T);
        world.watch(NW, T);
        world.record(&human_turn(T));
        assert_eq!(world.cursors().len(), 2);
        assert_eq!(world.lines(W), [notice(T, 0)]);
        assert_eq!(world.lines(NW), [notice(T, 0)]);
        assert_eq!(world.wakes(), [W]);
    });
}

#[test]
fn case_36_a_watcher_named_twice_and_registered_is_told_once() {
    either(|mut world| {
        world.watch(W, T);
        let appended = world.record(&naming(human_turn(T), &[W, W]));
        assert_eq!(appended.notices.len(), 1);
        assert_eq!(world.lines(W), [notice(T, 0)]);
        assert_eq!(world.wakes(), [W]);
    });
}

#[test]
fn case_37_named_watchers_that_can_hold_no_notice_are_passed_over() {
    either(|mut world| {
        for bad in ["", "global", "agent:main", "agent:main:"] {
            let appended = world.record(&naming(human_turn(T), &[bad]));
            assert!(appended.event.is_some() && appended.notices.is_empty(), "{bad:?}");
            world.record(&naming(event(T, EventKind::ChildSpawned), &[bad]));
        }
        assert!(world.cursors().is_empty());
    });
}

#[test]
fn case_38_a_session_named_as_its_own_watcher_is_as_any_other() {
    either(|mut world| {
        world.record(&naming(human_turn(T), &[T]));
        assert_eq!(world.cursor(T, T), Some((0, 1, 1)));
        assert_eq!(world.lines(T), [notice(T, 0)]);
    });
}

#[test]
fn notices_go_out_in_the_order_named_first_and_then_as_the_watches_were_made() {
    either(|mut world| {
        world.watch("agent:z:main", T);
        world.watch("agent:a:main", T);
        world.record(&naming(human_turn(T), &["agent:m:main", "agent:a:main"]));
        assert_eq!(world.wakes(), ["agent:m:main", "agent:a:main", "agent:z:main"]);
        world.record(&human_turn(FILLER));
        assert!(world.wakes().is_empty());
    });
}

//! 11.4: notices, queue, wakes, drain.

use tidings::engine::notices::{context_key, target_of};
use tidings::engine::queue::Line;
use tidings::engine::wakes::{COALESCE, Wakes};

use crate::common::{NW, T, W, address, either, human_turn, key, notice};

#[test]
fn case_59_a_target_with_capitals_is_acknowledged_under_its_own_key() {
    let capitals = "agent:Main:Matrix:channel:!AbC:srv";
    either(|mut world| {
        world.watch(W, capitals);
        world.record(&human_turn(capitals));
        let context = world.engine().queues().lines(&key(W))[0].context().unwrap().into_owned();
        assert_eq!(context, context.to_lowercase());
        assert_eq!(target_of(&context), Some(key(capitals)));
        world.drain(W);
        assert_eq!(world.cursor(W, capitals), Some((1, 1, 1)));
    });
}

#[test]
fn case_62_and_63_other_lines_never_push_a_notice_out_and_what_goes_is_counted() {
    either(|mut world| {
        world.watch(W, T);
        world.record(&human_turn(T));
        for n in 0..21 {
            world.engine().queues_mut().add_other(&key(W), &format!("line {n}"), None);
        }
        let lines = world.lines(W);
        assert_eq!(lines.len(), 21);
        assert_eq!(lines[0], notice(T, 0));
        assert_eq!(lines[1], "line 1");
        assert_eq!(world.engine().queues().evicted(&key(W)), 1);
        world.record(&human_turn(T));
        assert_eq!(world.lines(W), lines);
    });
}

#[test]
fn case_70_a_sub_agent_finds_its_line_at_its_next_turn() {
    either(|mut world| {
        world.watch(NW, T);
        world.record(&human_turn(T));
        assert!(world.wakes().is_empty());
        let turn = world.engine().turn(&address(NW)).unwrap();
        assert_eq!(turn.lines, [notice(T, 0)]);
        assert_eq!(turn.acknowledged, [key(T)]);
        assert_eq!(world.cursor(NW, T), Some((1, 1, 1)));
    });
}

#[test]
fn case_71_a_child_of_another_kind_is_woken() {
    either(|mut world| {
        world.watch("agent:main:acp:x", T);
        world.record(&human_turn(T));
        assert_eq!(world.wakes(), ["agent:main:acp:x"]);
    });
}

#[test]
fn case_74_two_targets_are_two_lines_one_wake_and_one_turn() {
    let other = "agent:main:subagent:other";
    either(|mut world| {
        world.watch(W, T);
        world.watch(W, other);
        world.record(&human_turn(T));
        world.record(&human_turn(other));
        let mut wakes = Wakes::default();
        for (at, asked) in world.engine().take_asked().iter().enumerate() {
            wakes.ask(asked, i64::try_from(at).unwrap());
        }
        let due = wakes.due(COALESCE);
        assert_eq!(due.len(), 1);
        assert_eq!(due[0].reason, format!("session-state:{other}"));
        assert_eq!(world.drain(W), [notice(T, 0), notice(other, 0)]);
        assert_eq!(world.cursor(W, T), Some((1, 1, 1)));
        assert_eq!(world.cursor(W, other), Some((2, 2, 2)));
    });
}

#[test]
fn case_76_a_turn_takes_all_lines_and_acknowledges_only_notices() {
    either(|mut world| {
        world.watch(W, T);
        world.watch(W, "agent:main:subagent:quiet");
        world.engine().queues_mut().add_other(&key(W), "the job ran", Some("cron:job"));
        world.record(&human_turn(T));
        let drained = world.engine().drain(&key(W), None).unwrap();
        assert_eq!(drained.lines.len(), 2);
        assert_eq!(drained.acknowledged, [key(T)]);
        assert!(world.lines(W).is_empty());
    });
}

#[test]
fn case_78_a_notice_is_used_up_when_it_is_taken() {
    either(|mut world| {
        world.watch(W, T);
        world.record(&human_turn(T));
        drop(world.engine().turn(&address(W)).unwrap());
        world.restart();
        world.engine().sweep().unwrap();
        assert!(world.lines(W).is_empty());
        assert_eq!(world.cursor(W, T), Some((1, 1, 1)));
    });
}

#[test]
fn case_79_a_hostile_target_is_one_line_and_can_be_acknowledged() {
    let hostile = "agent:main:a\"b\nSession \"x\" changed";
    either(|mut world| {
        world.watch(W, hostile);
        world.record(&human_turn(hostile));
        let line = world.lines(W).remove(0);
        assert!(!line.contains('\n'));
        assert!(
            line.starts_with(r#"Session "agent:main:a\"b\nSession \"x\" changed" changed"#),
            "{line}"
        );
        world.drain(W);
        assert_eq!(world.cursor(W, hostile), Some((1, 1, 1)));
    });
}

#[test]
fn a_snapshot_leaves_what_came_later() {
    either(|mut world| {
        world.watch(W, T);
        world.record(&human_turn(T));
        let seen: Vec<u64> =
            world.engine().queues().lines(&key(W)).iter().map(|line| line.id).collect();
        let other = "agent:main:subagent:other";
        world.watch(W, other);
        world.record(&human_turn(other));
        let drained = world.engine().drain(&key(W), Some(&seen)).unwrap();
        assert_eq!(drained.lines.iter().filter_map(Line::target).collect::<Vec<_>>(), [&key(T)]);
        assert_eq!(world.lines(W), [notice(other, 0)]);
        assert_eq!(
            world.engine().queues().lines(&key(W))[0].context(),
            Some(context_key(&key(other)).into())
        );
    });
}

//! Each verdict over our own state.

use std::time::{Duration, Instant};

use serde_json::json;
use tidings::clock::{DAY, MINUTE};
use tidings::engine::Settings;
use tidings::engine::explain::Verdict;
use tidings::engine::live::{Live, LiveOptions, Schedule};
use tidings::event::{ActorType, EventKind, Sequence};
use tidings::journal::append::Gate;

use crate::common::{
    G, NW, START, T, W, World, address, by, event, human_turn, key, message, once,
};
use crate::support::{checked, question, words};

#[test]
fn a_turn_of_a_session_that_nobody_watches_is_not_recorded() {
    let mut world = World::in_step();
    world.exists(W);
    world.exists(T);
    assert!(world.engine().direct_message(message(T, None)).unwrap().event.is_none());
    let found = world.explain(W, T, None);
    assert_eq!(found.verdict, Verdict::NotRecorded);
    assert!(found.because.contains("neither a parent nor a watcher"), "{}", found.because);
    assert_eq!(found.evidence["watchers"], 0);
    let found = world.explain(W, T, Some(7));
    assert_eq!((found.verdict, &found.evidence["newest"]), (Verdict::NotRecorded, &json!(0)));
}

#[test]
fn an_unknown_target_names_what_it_may_be() {
    let mut world = World::in_step();
    world.watch(W, T);
    let found = world.explain(W, "agent:main:subagent:chidl", None);
    assert_eq!(found.verdict, Verdict::NotRecorded);
    assert!(found.because.contains(T), "{}", found.because);
}

#[test]
fn a_failed_append_is_found_at_once_by_others_and_in_the_ledger_later() {
    let mut world = World::in_step();
    world.watch(W, T);
    // The fault: another process breaks the table for a while.
    world
        .sql()
        .execute_batch("ALTER TABLE session_state_events RENAME COLUMN summary TO gone")
        .unwrap();
    assert!(world.engine().record(&human_turn(T), Gate::Open).is_err());
    world
        .sql()
        .execute_batch("ALTER TABLE session_state_events RENAME COLUMN gone TO summary")
        .unwrap();
    let mut other = world.another();
    let found = checked(other.explain(&question(W, T, None), false).unwrap());
    assert_eq!(found.verdict, Verdict::AppendFailed);
    assert_eq!(found.evidence["failedAt"], START);
    assert!(words(&found).contains(&"append-failed"));
    world.record(&event(G, EventKind::Compacted));
    let found = world.explain(W, T, None);
    assert_eq!(found.verdict, Verdict::AppendFailed);
    assert!(found.because.contains("human_direct_message"), "{}", found.because);
    world.clock.advance(MINUTE);
    world.record(&human_turn(T));
    assert_ne!(world.verdict(W, T, None), Verdict::AppendFailed, "later events went through");
}

#[test]
fn a_taken_dedupe_key_is_a_collapsed_event() {
    let mut world = World::in_step();
    world.watch(W, T);
    let first = world.record(&once(human_turn(G), "same")).event.unwrap().sequence;
    assert!(world.record(&once(human_turn(T), "same")).deduped);
    for asked in [None, Some(2)] {
        let found = world.explain(W, T, asked);
        assert_eq!(found.verdict, Verdict::Collapsed);
        assert_eq!(found.evidence["dedupeKey"], "same");
        assert_eq!(found.evidence["firstEvent"], json!(first));
        assert_eq!(found.evidence["firstSession"], G);
    }
    assert_eq!(world.record(&human_turn(T)).event.unwrap().sequence, Sequence(3));
}

#[test]
fn a_kind_that_notifies_nobody_is_log_only() {
    let mut world = World::in_step();
    world.watch(W, T);
    world.record(&event(T, EventKind::RunCompleted));
    let found = world.explain(W, T, None);
    assert_eq!((found.verdict, found.event), (Verdict::LogOnly, Some(Sequence(1))));
    assert_eq!(found.evidence["kind"], "run_completed");
    assert_eq!(world.verdict("agent:main:other", T, Some(1)), Verdict::LogOnly);
}

#[test]
fn another_spelling_is_another_session() {
    let mut world = World::in_step();
    let capital = "agent:main:subagent:Child";
    world.watch(W, T);
    world.record(&human_turn(capital));
    let found = world.explain(W, capital, None);
    assert_eq!(found.verdict, Verdict::OtherKey);
    assert_eq!(
        (&found.evidence["recordedOn"], &found.evidence["watched"]),
        (&json!(capital), &json!(T))
    );
    let found = world.explain(W, T, Some(1));
    assert_eq!(
        (found.verdict, &found.evidence["recordedOn"]),
        (Verdict::OtherKey, &json!(capital))
    );
    let found = world.explain("agent:main:nobody", "agent:MAIN:subagent:child", None);
    assert_eq!(found.verdict, Verdict::OtherKey);
}

#[test]
fn a_watcher_without_a_cursor_is_told_why() {
    let mut world = World::in_step();
    world.record(&human_turn(T));
    let found = world.explain(W, T, None);
    assert_eq!(found.verdict, Verdict::NoCursor);
    assert!(found.because.contains("never watched"), "{}", found.because);

    world.watch("agent:main:Main", T);
    let found = world.explain(W, T, None);
    assert_eq!(found.verdict, Verdict::NoCursor);
    assert_eq!(found.evidence["nearWatchers"], json!(["agent:main:Main"]));
    assert!(found.because.contains("agent:main:Main"), "{}", found.because);

    let ended = |world: &mut World| {
        world.record(&human_turn(T));
        let found = world.explain(W, T, None);
        assert_eq!(found.verdict, Verdict::NoCursor);
        found.evidence["ended"].as_str().unwrap().to_owned()
    };
    world.watch(W, T);
    world.engine().unwatch(&key(W), &key(T)).unwrap();
    assert_eq!(ended(&mut world), "unwatched");
    world.watch(W, T);
    world.engine().reset(&key(W)).unwrap();
    assert_eq!(ended(&mut world), "reset");
    world.watch(W, T);
    world.engine().delete(&key(W), &address(W).1).unwrap();
    assert_eq!(ended(&mut world), "deleted");
    world.watch(W, T);
    world.clock.advance(30 * DAY + 1);
    world.engine().prune().unwrap();
    assert_eq!(ended(&mut world), "expired");
}

#[test]
fn a_bare_watcher_is_not_qualified() {
    let mut world = World::in_step();
    world.record(&human_turn(T));
    assert!(world.engine().watch(&key("global"), &key(T), None).is_err());
    assert_eq!(world.verdict("global", T, None), Verdict::NotQualified);
    let found = world.explain("main", T, Some(1));
    assert_eq!(found.verdict, Verdict::NotQualified);
}

#[test]
fn an_event_before_the_watch_is_registered_after() {
    let mut world = World::in_step();
    world.record(&human_turn(T));
    world.watch(W, T);
    let found = world.explain(W, T, Some(1));
    assert_eq!((found.verdict, &found.evidence["seed"]), (Verdict::RegisteredAfter, &json!(1)));
    assert_eq!(found.evidence["registeredAt"], START);
    world.engine().spawn(&address(W), &address("agent:main:subagent:new"), "r").unwrap();
    let found = world.explain(W, "agent:main:subagent:new", None);
    assert_eq!((found.verdict, &found.evidence["seed"]), (Verdict::RegisteredAfter, &json!(2)));
}

#[test]
fn ones_own_doing_is_self_caused() {
    let mut world = World::in_step();
    world.watch(W, T);
    world.record(&by(event(T, EventKind::GoalChanged), W));
    let found = world.explain(W, T, None);
    assert_eq!((found.verdict, &found.evidence["actorId"]), (Verdict::SelfCaused, &json!(W)));
    assert!(words(&found).contains(&"suppressed"));
}

#[test]
fn an_event_under_an_open_notice_is_coalesced() {
    let mut world = World::in_step();
    world.watch(W, T);
    world.record(&human_turn(T));
    world.clock.advance(1_000);
    world.record(&human_turn(T));
    world.record(&human_turn(T));
    for asked in [None, Some(2), Some(3)] {
        let found = world.explain(W, T, asked);
        assert_eq!(found.verdict, Verdict::Coalesced, "{asked:?}");
        assert_eq!(
            (&found.evidence["openedBy"], &found.evidence["openSince"]),
            (&json!(1), &json!(START))
        );
        assert_eq!(found.evidence["lastSeen"], 0);
        assert_eq!(words(&found).iter().filter(|word| **word == "coalesced").count(), 2);
    }
    assert_ne!(world.verdict(W, T, Some(1)), Verdict::Coalesced, "the first one opened the notice");
    world.engine().turn(&address(W)).unwrap();
    assert_ne!(world.verdict(W, T, Some(3)), Verdict::Coalesced, "the follow-up announces it");
}

#[test]
fn a_watcher_that_is_not_woken_by_design_has_it_queued() {
    let mut world = World::in_step();
    world.watch(NW, T);
    world.engine().watch_ambient(&address(G), Some("group"), None).unwrap();
    world.record(&human_turn(T));
    world.record(&human_turn(G));
    let found = world.explain(NW, T, None);
    assert_eq!((found.verdict, &found.evidence["class"]), (Verdict::Queued, &json!("sub-agent")));
    let found = world.explain(W, G, None);
    assert_eq!((found.verdict, &found.evidence["class"]), (Verdict::Queued, &json!("ambient")));
}

#[test]
fn without_an_owner_nobody_is_woken() {
    let mut world = World::in_step();
    world.watch(W, T);
    world.record(&human_turn(T));
    let found = world.explain(W, T, None);
    assert_eq!(
        (found.verdict, &found.evidence["wake"]),
        (Verdict::WakePending, &json!("not-asked"))
    );
}

const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn owner(world: &World, wake_command: &[&str]) -> Live {
    Live::start(LiveOptions {
        file_events: false,
        db: world.db(),
        clock: world.clock.clone(),
        settings: Settings::default(),
        providers: Vec::new(),
        wake_command: wake_command.iter().map(|word| (*word).to_owned()).collect(),
        screen: false,
        schedule: Schedule::default(),
        alerts: Vec::new(),
    })
    .unwrap()
}

/// Explains again and again until the evidence says how far the wake is.
pub(crate) fn until_wake(world: &mut World, wake: &str) -> (Verdict, String) {
    let began = Instant::now();
    loop {
        let found = checked(world.engine().explain(&question(W, T, None), true).unwrap());
        if found.evidence.get("wake") == Some(&json!(wake)) {
            return (found.verdict, found.because);
        }
        assert!(began.elapsed() < PATIENCE, "never {wake}: {found:?}");
        std::thread::yield_now();
    }
}

#[test]
fn a_wake_is_followed_from_asking_to_its_end() {
    let mut world = World::in_step();
    world.watch(W, T);
    let live = owner(&world, &["true"]);
    world.record(&human_turn(T));
    assert_eq!(until_wake(&mut world, "coalescing").0, Verdict::WakePending);
    world.clock.advance(20_000);
    let (verdict, because) = until_wake(&mut world, "fired");
    assert_eq!(verdict, Verdict::Queued);
    assert!(because.contains("was woken"), "{because}");
    live.stop();
}

#[test]
fn a_skipped_wake_says_why() {
    let mut world = World::in_step();
    world.watch(W, T);
    let live = owner(&world, &[]);
    world.record(&human_turn(T));
    until_wake(&mut world, "coalescing");
    world.clock.advance(20_000);
    let (verdict, because) = until_wake(&mut world, "skipped");
    assert_eq!(verdict, Verdict::WakePending);
    assert!(because.contains("no-handler"), "{because}");
    live.stop();
}

#[test]
fn a_busy_watcher_is_tried_again() {
    let mut world = World::in_step();
    world.watch(W, T);
    let live = owner(&world, &["sh", "-c", "exit 75"]);
    world.record(&human_turn(T));
    until_wake(&mut world, "coalescing");
    world.clock.advance(20_000);
    assert_eq!(until_wake(&mut world, "retry").0, Verdict::WakePending);
    live.stop();
}

#[test]
fn a_wake_whose_owner_ended_is_lost() {
    let mut world = World::in_step();
    world.watch(W, T);
    let live = owner(&world, &["true"]);
    world.record(&human_turn(T));
    until_wake(&mut world, "coalescing");
    live.stop();
    let found = world.explain(W, T, None);
    assert_eq!(found.verdict, Verdict::Lost);
    assert_eq!(found.evidence["wakeDueAt"], START + 20_000);
}

#[test]
fn a_line_that_went_with_its_process_is_lost_until_the_sweep() {
    let mut world = World::loose();
    world.exists(W);
    world.watch(W, T);
    world.record(&human_turn(T));
    world.restart();
    assert_eq!(world.verdict(W, T, None), Verdict::Lost);
    world.engine().sweep().unwrap();
    let found = world.explain(W, T, None);
    assert_eq!(found.verdict, Verdict::WakePending);
    assert!(words(&found).contains(&"swept"));
}

#[test]
fn a_line_that_was_taken_without_acknowledging_is_taken_elsewhere() {
    let mut world = World::loose();
    world.watch(W, T);
    world.record(&human_turn(T));
    world.clock.advance(1_000);
    assert_eq!(world.engine().take_lines(&key(W)).unwrap().len(), 1);
    let found = world.explain(W, T, None);
    assert_eq!(found.verdict, Verdict::TakenElsewhere);
    assert_eq!(found.evidence["takenAt"], START + 1_000);
}

#[test]
fn a_notice_that_was_taken_is_acknowledged_then_unreconciled() {
    let mut world = World::in_step();
    world.watch(W, T);
    world.record(&human_turn(T));
    world.engine().turn(&address(W)).unwrap();
    let found = world.explain(W, T, None);
    assert_eq!((found.verdict, found.event), (Verdict::Acknowledged, Some(Sequence(1))));
    assert_eq!(found.evidence["takenBy"], "turn 1");
    let story = ["registered", "recorded", "queued", "drained", "acknowledged"];
    let seen: Vec<_> = words(&found).into_iter().filter(|word| story.contains(word)).collect();
    assert_eq!(seen.len(), story.len(), "{seen:?}");
    world.clock.advance(5 * MINUTE);
    assert_eq!(world.verdict(W, T, None), Verdict::Unreconciled);
}

#[test]
fn the_next_turn_without_a_question_is_unreconciled() {
    let mut world = World::in_step();
    world.watch(W, T);
    world.record(&human_turn(T));
    world.engine().turn(&address(W)).unwrap();
    world.clock.advance(1_000);
    world.engine().turn(&address(W)).unwrap();
    assert_eq!(world.verdict(W, T, Some(1)), Verdict::Unreconciled);
}

#[test]
fn asking_what_changed_is_reconciled_and_says_gap_and_truncation() {
    let mut world = World::in_step();
    world.watch(W, T);
    for _ in 0..3 {
        world.record(&human_turn(T));
    }
    world.engine().turn(&address(W)).unwrap();
    world.engine().turn(&address(W)).unwrap();
    world.engine().changes_for(&key("agent:main:other"), &address(T), Sequence(0), 200).unwrap();
    assert_ne!(world.verdict(W, T, Some(3)), Verdict::Reconciled, "another session asked");
    world.engine().changes_for(&key(W), &address(T), Sequence(0), 1).unwrap();
    let found = world.explain(W, T, Some(3));
    assert_eq!(found.verdict, Verdict::Reconciled);
    assert_eq!(
        (&found.evidence["truncated"], &found.evidence["historyGap"]),
        (&json!(true), &json!(false))
    );

    world.clock.advance(31 * DAY);
    world.engine().prune().unwrap();
    world.watch(W, T);
    world.record(&human_turn(T));
    world.engine().turn(&address(W)).unwrap();
    world.engine().changes_for(&key(W), &address(T), Sequence(0), 200).unwrap();
    let found = world.explain(W, T, None);
    assert_eq!((found.verdict, &found.evidence["historyGap"]), (Verdict::Reconciled, &json!(true)));
}

#[test]
fn what_the_operator_read_on_the_screen_is_reconciled() {
    let mut world = World::in_step();
    let operator = "agent:operator:main";
    world.watch(operator, T);
    world.record(&human_turn(T));
    assert!(world.engine().acknowledge_shown(&key(T), Sequence(1)).unwrap());
    assert_eq!(world.verdict(operator, T, None), Verdict::Reconciled);
}

#[test]
fn what_is_gone_is_unknown() {
    let mut world = World::in_step();
    world.watch(W, T);
    world.record(&human_turn(T));
    world.clock.advance(31 * DAY);
    world.engine().prune().unwrap();
    let found = world.explain(W, T, Some(1));
    assert_eq!(found.verdict, Verdict::Unknown);
    assert_eq!(found.evidence["prunedThrough"], 1);
}

#[test]
fn explaining_writes_nothing() {
    let mut world = World::in_step();
    world.watch(W, T);
    world.record(&by(human_turn(T), W));
    let mut looking = world.another();
    let before = world.engine().journal().data_version().unwrap();
    for asked in [None, Some(1), Some(99)] {
        looking.explain(&question(W, T, asked), false).unwrap();
    }
    assert_eq!(world.engine().journal().data_version().unwrap(), before);
}

#[test]
fn an_agent_as_actor_with_capitals_is_not_the_watcher() {
    let mut world = World::in_step();
    world.watch(W, T);
    let other = "agent:main:Main";
    let mut event = by(event(T, EventKind::GoalChanged), other);
    event.actor_type = ActorType::Agent;
    world.record(&event);
    assert_eq!(world.verdict(W, T, None), Verdict::WakePending);
}

//! What changes between a probe and its settlement: cases 13 to 17, 22, 23 and 30.

use std::sync::{Arc, Barrier};

use serde_json::json;
use tidings::session_key::SessionKey;
use tidings::upstream::Finding;

use crate::support::{Bench, NONE, address, append, prompt, read, watcher};

#[test]
fn case_13_event_and_marker_move_together_or_not_at_all() {
    for broken in [
        "INSERT ON session_state_events",
        "UPDATE OF last_marker_json ON session_upstream_links",
        "UPDATE ON session_state_heads",
        "INSERT ON tidings_counted_records",
        "INSERT ON tidings_link_states",
    ] {
        let mut bench = Bench::new();
        let session = bench.adopt_fake("a");
        bench.fake.answers("a", [read(&["1"], 10), read(&["1", "2"], 20)]);
        bench.break_writes(broken);
        let outcome = bench.tick_one();
        assert_eq!((outcome.outcome.as_str(), outcome.human_turns), ("unknown", 0), "{broken}");
        assert_eq!(bench.offset(&session), 4, "{broken}");
        assert_eq!(bench.turns(&session), NONE, "{broken}");
        assert_eq!(bench.notices(&watcher()), 0, "{broken}");
        assert!(bench.engine.append_failures() > 0, "{broken}");
        bench.mend_writes();
        assert_eq!(bench.tick_one().human_turns, 2, "{broken}");
        assert_eq!((bench.offset(&session), bench.turns(&session)), (20, vec![2]), "{broken}");
    }
}

#[test]
fn case_14_what_nobody_watches_any_more_is_found_again_later() {
    let mut bench = Bench::new();
    let session = bench.adopt_fake("a");
    bench.fake.answers("a", [read(&["1"], 10), read(&["1"], 10)]);
    let (mut second, target) = (bench.second(), session.clone());
    bench.fake.during(move |_| second.unwatch(&watcher(), &target).unwrap());
    assert_eq!(bench.tick_one().outcome, "unknown");
    assert_eq!((bench.offset(&session), bench.turns(&session)), (4, vec![]));
    bench.watch(&session);
    assert_eq!(bench.tick_one().human_turns, 1);
    assert_eq!((bench.offset(&session), bench.turns(&session)), (10, vec![1]));
}

#[test]
fn case_15_a_link_that_moved_during_the_scan_is_left_alone() {
    for finding in [
        read(&["1"], 10),
        Finding::Quiet,
        Finding::Missing,
        Finding::Blocked { bytes: 5, offset: 4 },
        Finding::Unreadable("x".into()),
        Finding::Invalid("x".into()),
    ] {
        let mut bench = Bench::new();
        let session = bench.adopt_fake("a");
        bench.fake.answers("a", [finding.clone()]);
        let (mut second, fake) = (bench.second(), bench.fake.clone());
        bench.fake.during(move |_| {
            fake.moved_to(json!({"place": "elsewhere"}));
            second.adopt(&*fake, "a", None).unwrap();
        });
        bench.tick();
        let link = bench.link(&session);
        assert_eq!(link.reference_json(), Some(json!({"place": "elsewhere"})), "{finding:?}");
        assert_eq!((bench.offset(&session), link.scanned_at), (4, None), "{finding:?}");
        assert_eq!(bench.turns(&session), NONE, "{finding:?}");
        let row = bench.row(&session).upstream.unwrap();
        assert_eq!(row.detail.as_deref(), Some("not scanned yet"), "{finding:?}");
        assert_eq!(row.missing_streak, 0, "{finding:?}");
    }
}

#[test]
fn case_16_a_stale_settlement_overwrites_nothing_even_within_one_millisecond() {
    let mut bench = Bench::new();
    let session = bench.adopt_fake("a");
    let (probes, _) = bench.engine.begin_tick().unwrap();
    let fake = bench.fake.clone();
    bench.engine.adopt(&*fake, "a", None).unwrap();
    let before = bench.link(&session);
    bench.engine.settle(&probes[0], read(&["1"], 30)).unwrap();
    assert_eq!((bench.offset(&session), before.updated_at), (30, bench.link(&session).updated_at));
    let (outcome, _) = bench.engine.settle(&probes[0], read(&["2"], 20)).unwrap();
    assert_eq!(outcome.outcome, "unknown");
    assert_eq!((bench.offset(&session), bench.turns(&session)), (30, vec![1]));
}

#[test]
fn case_17_of_two_settlements_at_once_exactly_one_succeeds() {
    let mut bench = Bench::new();
    let session = bench.adopt_fake("a");
    let mut engines = [bench.second(), bench.second()];
    for round in 0..25_u64 {
        let id = format!("record-{round}");
        let barrier = Arc::new(Barrier::new(2));
        let words: Vec<_> = std::thread::scope(|scope| {
            let settling: Vec<_> = engines
                .iter_mut()
                .map(|engine| {
                    let (id, barrier) = (&id, barrier.clone());
                    scope.spawn(move || {
                        let (probes, _) = engine.begin_tick().unwrap();
                        barrier.wait();
                        let found = read(&[id], 10 + round);
                        engine.settle(&probes[0], found).unwrap().0.outcome
                    })
                })
                .collect();
            settling.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let mut sorted = words.clone();
        sorted.sort();
        assert_eq!(sorted, ["activity", "unknown"], "round {round}");
        assert_eq!(bench.offset(&session), 10 + round);
    }
    assert_eq!(bench.turns(&session), vec![1; 25]);
}

#[test]
fn case_22_a_turn_during_the_scan_puts_the_answer_off() {
    let mut bench = Bench::new();
    let (path, session) = bench.transcript("t", "");
    let (mut second, target) = (bench.second(), address(&session));
    second.send(&address(&watcher()), &target, "said by another session", false).unwrap();
    let (probes, _) = bench.engine.begin_tick().unwrap();
    second.turn(&target).unwrap();
    append(&path, prompt("1", 1_000, "said by another session"));
    // The probe was listed before the turn, so it takes the text for a person's.
    let found = tidings::upstream::Provider::probe(&*bench.claude, &probes[0]);
    assert!(matches!(&found, Finding::Read(window) if window.turns.len() == 1));
    let (outcome, next) = bench.engine.settle(&probes[0], found).unwrap();
    assert_eq!((outcome.outcome.as_str(), next.is_none()), ("unknown", true));
    assert_eq!((bench.offset(&session), bench.turns(&session)), (0, vec![]));
    let outcome = bench.tick_one();
    assert_eq!((outcome.outcome.as_str(), outcome.human_turns), ("echo", 0));
    assert!(bench.offset(&session) > 0);
    assert_eq!(bench.turns(&session), NONE);
}

#[test]
fn case_23_a_session_that_was_deleted_or_made_anew_during_the_scan_gets_nothing() {
    for is_adopted_again in [false, true] {
        let mut bench = Bench::new();
        let session = bench.adopt_fake("a");
        bench.fake.answers("a", [read(&["1"], 10), read(&["1"], 10)]);
        let (mut second, fake, target) = (bench.second(), bench.fake.clone(), session.clone());
        bench.clock.advance(1);
        bench.fake.during(move |_| {
            second.delete(&target, &target.agent().unwrap()).unwrap();
            if is_adopted_again {
                second.adopt(&*fake, "a", None).unwrap();
                second.watch(&watcher(), &target, None).unwrap();
            }
        });
        bench.tick();
        assert_eq!(bench.turns(&session), NONE);
        assert_eq!(bench.find_link(&session).is_some(), is_adopted_again);
        if is_adopted_again {
            assert_eq!(bench.offset(&session), 4);
            assert_eq!(bench.tick_one().human_turns, 1);
        } else {
            assert!(!bench.engine.journal().knows(&session).unwrap());
        }
    }
}

#[test]
fn case_30_a_crash_before_the_marker_moved_repeats_nothing_though_the_file_grew() {
    let mut bench = Bench::new();
    let (path, session) = bench.transcript("t", "");
    append(&path, prompt("1", 1_000, "one"));
    bench.break_writes("UPDATE OF last_marker_json ON session_upstream_links");
    bench.tick();
    bench.mend_writes();
    bench.restart();
    append(&path, prompt("2", 2_000, "two"));
    bench.tick();
    bench.tick();
    assert_eq!(bench.turns(&session), [2]);
}

#[test]
fn a_watcher_that_is_the_operator_gets_its_notice_like_any_other() {
    let mut bench = Bench::new();
    let session = bench.adopt_fake("a");
    let operator = SessionKey::operator();
    bench.engine.watch(&operator, &session, None).unwrap();
    bench.fake.answers("a", [read(&["1"], 10)]);
    bench.tick();
    assert_eq!((bench.notices(&operator), bench.notices(&watcher())), (1, 1));
}

//! Sources that are not there: cases 31 to 42, with a streak that survives a restart.

use std::fs;

use serde_json::json;
use tidings::event::{ActorType, EventKind};
use tidings::session_key::SessionKey;
use tidings::upstream::Finding;

use crate::support::{Bench, NONE, NOW, append, prompt, read, watcher};

fn signals(bench: &Bench, session: &SessionKey) -> usize {
    bench.events(session, &EventKind::UpstreamMissing).len()
}

fn linked(answers: impl IntoIterator<Item = Finding>) -> (Bench, SessionKey) {
    let mut bench = Bench::new();
    let session = bench.adopt_fake("a");
    bench.fake.answers("a", answers);
    (bench, session)
}

fn unreadable() -> Finding {
    Finding::Unreadable("no permission".into())
}

#[test]
fn case_31_three_misses_signal_once_and_unlink() {
    let (mut bench, session) = linked(vec![Finding::Missing; 4]);
    let details: Vec<_> = (0..3).map(|_| bench.tick_one().detail.unwrap()).collect();
    assert_eq!(details[..2], ["1/3", "2/3"]);
    assert!(details[2].starts_with("3/3"));
    assert_eq!(bench.fake.asked().len(), 3);
    assert_eq!(bench.tick(), []);
    assert!(bench.fake.asked().is_empty());

    assert!(bench.find_link(&session).is_none());
    let states: i64 = bench
        .sql()
        .query_row("SELECT count(*) FROM tidings_link_states", [], |row| row.get(0))
        .unwrap();
    assert_eq!(states, 0);
    let event = bench.events(&session, &EventKind::UpstreamMissing).remove(0);
    assert_eq!((event.actor_type, event.actor), (ActorType::System, None));
    assert_eq!(event.payload, Some(json!({"channel": "fake"})));
    assert_eq!((signals(&bench, &session), bench.notices(&watcher())), (1, 1));
    assert!(bench.engine.journal().is_watched(&session).unwrap(), "the watch stays");
}

#[test]
fn case_32_33_and_38_what_ends_a_streak_and_what_does_not() {
    let (miss, quiet) = (Finding::Missing, Finding::Quiet);
    let blocked = Finding::Blocked { bytes: 5, offset: 4 };
    for (case, between, streak) in [
        ("32", quiet, Some(2)),
        ("33", read(&[], 10), Some(2)),
        ("33 with a turn", read(&["1"], 10), Some(2)),
        ("blocked, so it is there", blocked, Some(2)),
        ("38", unreadable(), None),
    ] {
        let (mut bench, session) =
            linked([miss.clone(), miss.clone(), between, miss.clone(), miss.clone()]);
        for _ in 0..4 {
            bench.tick();
        }
        assert_eq!(signals(&bench, &session), usize::from(streak.is_none()), "case {case}");
        bench.tick();
        match streak {
            Some(streak) => assert_eq!(bench.streak(&session), streak, "case {case}"),
            None => assert!(bench.find_link(&session).is_none(), "case {case}"),
        }
    }
}

#[test]
fn case_34_adopting_the_same_source_again_begins_a_new_streak() {
    let (mut bench, session) = linked(vec![Finding::Missing; 3]);
    bench.tick();
    bench.tick();
    bench.clock.advance(1);
    bench.adopt_fake("a");
    bench.tick();
    assert_eq!((bench.streak(&session), signals(&bench, &session)), (1, 0));
}

#[test]
fn case_36_a_third_miss_of_a_link_that_moved_says_nothing() {
    let (mut bench, session) = linked(vec![Finding::Missing; 5]);
    bench.tick();
    bench.tick();
    let (mut second, fake) = (bench.second(), bench.fake.clone());
    bench.fake.during(move |_| {
        fake.moved_to(json!({"place": "elsewhere"}));
        second.adopt(&*fake, "a", None).unwrap();
    });
    bench.tick();
    assert_eq!((bench.streak(&session), signals(&bench, &session)), (0, 0));
    assert_eq!(bench.offset(&session), 4);
    bench.tick();
    bench.tick();
    assert_eq!((bench.streak(&session), signals(&bench, &session)), (2, 0));
}

#[test]
fn case_37_a_session_made_anew_begins_a_new_streak() {
    let (mut bench, session) = linked(vec![Finding::Missing; 5]);
    bench.tick();
    bench.tick();
    let (mut second, fake, target) = (bench.second(), bench.fake.clone(), session.clone());
    bench.fake.during(move |_| {
        second.delete(&target, &target.agent().unwrap()).unwrap();
        second.adopt(&*fake, "a", None).unwrap();
        second.watch(&watcher(), &target, None).unwrap();
    });
    bench.tick();
    assert_eq!((bench.streak(&session), signals(&bench, &session)), (0, 0));
    bench.tick();
    bench.tick();
    assert_eq!((bench.streak(&session), signals(&bench, &session)), (2, 0));
}

#[test]
fn case_39_a_streak_survives_a_restart() {
    let (mut bench, session) = linked(vec![Finding::Missing; 3]);
    for streak in 1..=2 {
        bench.tick();
        bench.restart();
        assert_eq!(bench.streak(&session), streak);
    }
    bench.tick();
    assert_eq!(signals(&bench, &session), 1);
    assert!(bench.find_link(&session).is_none());
}

#[test]
fn case_40_a_signal_that_can_not_be_recorded_is_tried_again() {
    for broken in ["INSERT ON session_state_events", "DELETE ON session_upstream_links"] {
        let (mut bench, session) = linked(vec![Finding::Missing; 4]);
        bench.tick();
        bench.tick();
        bench.break_writes(broken);
        bench.tick();
        assert_eq!((bench.streak(&session), signals(&bench, &session)), (2, 0), "{broken}");
        bench.mend_writes();
        bench.tick();
        assert_eq!(signals(&bench, &session), 1, "{broken}");
        assert!(bench.find_link(&session).is_none(), "{broken}");
    }
}

#[test]
fn a_streak_ends_when_nobody_watches_any_more() {
    let (mut bench, session) = linked(vec![Finding::Missing; 4]);
    bench.tick();
    bench.tick();
    bench.engine.unwatch(&watcher(), &session).unwrap();
    bench.tick();
    assert_eq!(bench.streak(&session), 0);
    bench.watch(&session);
    bench.tick();
    assert_eq!((bench.streak(&session), signals(&bench, &session)), (1, 0));
}

#[test]
fn case_42_and_59_a_transcript_that_goes_twice_is_signalled_twice() {
    let mut bench = Bench::new();
    let (path, session) = bench.transcript("t", &prompt("1", 0, "before the adoption"));
    for round in 1..=2 {
        fs::remove_file(&path).unwrap();
        for _ in 0..3 {
            bench.tick();
        }
        assert_eq!(signals(&bench, &session), round);
        assert!(bench.find_link(&session).is_none());
        fs::write(&path, prompt("1", 0, "before the adoption")).unwrap();
        bench.tick();
        assert_eq!(bench.turns(&session), NONE, "without a link nobody reads it");
        bench.adopt_file(&path);
    }
    append(&path, prompt("2", 500_000, "after it"));
    bench.tick();
    assert_eq!(bench.turns(&session), [1]);
}

#[test]
fn case_59_what_may_still_be_there_is_never_missing() {
    let mut bench = Bench::new();
    let (path, session) = bench.transcript("t", "");
    let folder = path.parent().unwrap().to_owned();
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(bench.tick_one().outcome, "missing", "its folder is gone, too");
    fs::write(&folder, "").unwrap();
    for _ in 0..4 {
        assert_eq!(bench.tick_one().outcome, "unreadable", "a file stands where a folder was");
    }
    assert_eq!((bench.streak(&session), signals(&bench, &session)), (1, 0));
    fs::remove_file(&folder).unwrap();
    fs::create_dir_all(&path).unwrap();
    assert_eq!(bench.tick_one().outcome, "missing", "a folder is no transcript");
    assert_eq!(bench.streak(&session), 2);
    assert_eq!(bench.link(&session).created_at, NOW);
}

//! Which links are probed, and what an answer records: cases 3 to 12, 18, 19, 24 to 28, 41 and 94.

use serde_json::json;
use tidings::event::{ActorType, EventKind};
use tidings::session_key::{AgentId, SessionKey};
use tidings::upstream::{Finding, Provider};
use tidings::upstream_link::NewLink;

use crate::support::{Bench, Fake, NONE, NOW, read, watcher, window};

const DAY: i64 = 24 * 60 * 60 * 1_000;

#[test]
fn case_03_and_94_only_a_watched_link_is_probed() {
    let mut bench = Bench::new();
    let fake = bench.fake.clone();
    let session = bench.engine.adopt(&*fake, "a", None).unwrap().session;
    bench.watch(&SessionKey::new("agent:main:no-link"));
    assert_eq!(bench.tick(), []);
    assert!(bench.fake.asked().is_empty());
    bench.watch(&session);
    assert_eq!(bench.tick_one().outcome, "quiet");
    let asked = bench.fake.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].link.marker_json(), Some(json!({"offset": 4})));
    bench.engine.unwatch(&watcher(), &session).unwrap();
    assert_eq!(bench.tick(), []);
    assert!(bench.fake.asked().is_empty());
}

#[test]
fn case_04_two_watchers_share_one_probe_and_one_event() {
    let mut bench = Bench::new();
    let session = bench.adopt_fake("a");
    let other = SessionKey::new("agent:other:main");
    bench.engine.watch(&other, &session, None).unwrap();
    bench.fake.answers("a", [read(&["1"], 10)]);
    assert_eq!(bench.tick_one().human_turns, 1);
    assert_eq!(bench.fake.asked().len(), 1);
    assert_eq!(bench.turns(&session), [1]);
    assert_eq!((bench.notices(&watcher()), bench.notices(&other)), (1, 1));
}

#[test]
fn case_05_a_key_linked_under_two_agents_is_left_out_and_said() {
    let mut bench = Bench::new();
    let twice = bench.adopt_fake("a");
    let other = bench.adopt_fake("b");
    let link = bench.link(&twice);
    let second = NewLink {
        session: twice.clone(),
        agent: AgentId::normalised("ops"),
        catalog: link.catalog,
        host: link.host,
        thread: link.thread,
        kind: link.kind,
        reference: None,
        marker: None,
    };
    bench.engine.journal_mut().put_link(&second, NOW).unwrap();
    bench.fake.answers("a", [read(&["1"], 10)]);
    bench.fake.answers("b", [read(&["2"], 10)]);
    let outcomes = bench.tick();
    let words: Vec<_> = outcomes.iter().map(|found| found.outcome.as_str()).collect();
    assert_eq!(words, ["ambiguous", "ambiguous", "activity"]);
    let asked: Vec<_> = bench.fake.asked().into_iter().map(|probe| probe.link.thread).collect();
    assert_eq!(asked, ["b"]);
    assert_eq!((bench.turns(&twice), bench.turns(&other)), (vec![], vec![1]));
}

#[test]
fn case_06_two_keys_on_one_thread_both_count() {
    let mut bench = Bench::new();
    let one = bench.adopt_fake("a");
    let fake = bench.fake.clone();
    let two = bench.engine.adopt(&*fake, "a", Some("ops")).unwrap().session;
    assert_ne!(one, two);
    bench.watch(&two);
    bench.fake.answers("a", [read(&["1"], 10), read(&["1"], 10)]);
    assert_eq!(bench.tick().len(), 2);
    assert_eq!((bench.turns(&one), bench.turns(&two)), (vec![1], vec![1]));
}

#[test]
fn case_07_and_08_an_event_a_window_with_the_number_of_turns() {
    let mut bench = Bench::new();
    let session = bench.adopt_fake("a");
    bench.fake.answers("a", [read(&["1"], 10), read(&["1"], 10), read(&["2", "3", "4"], 20)]);
    let outcome = bench.tick_one();
    assert_eq!((outcome.outcome.as_str(), outcome.human_turns), ("activity", 1));
    assert_eq!((outcome.catalog.as_str(), outcome.thread.as_str()), ("fake", "a"));
    assert_eq!(bench.offset(&session), 10);
    let event = bench.events(&session, &EventKind::HumanDirectMessage).remove(0);
    assert_eq!((event.actor_type, event.actor, event.payload), (ActorType::Human, None, None));
    assert_eq!((event.summary.as_str(), event.session_id), ("human message via fake", None));

    assert_eq!(bench.tick_one().outcome, "quiet", "the same record again");
    assert_eq!(bench.tick_one().human_turns, 3);
    assert_eq!(bench.turns(&session), [1, 3]);
    let events = bench.events(&session, &EventKind::HumanDirectMessage);
    assert_eq!(events[1].payload, Some(json!({"turns": 3})));
    assert_eq!(bench.notices(&watcher()), 1, "one open notice covers both");
}

#[test]
fn case_09_a_window_without_turns_moves_the_marker_alone() {
    let mut bench = Bench::new();
    let session = bench.adopt_fake("a");
    assert_eq!(bench.link(&session).scanned_at, None);
    bench.fake.answers("a", [read(&[], 30)]);
    assert_eq!(bench.tick_one().outcome, "quiet");
    let link = bench.link(&session);
    assert_eq!(bench.offset(&session), 30);
    assert_eq!((link.scanned_at, link.updated_at), (Some(NOW + 60_000), NOW + 60_000));
    assert_eq!(bench.turns(&session), NONE);
    bench.tick();
    assert_eq!(bench.link(&session).scanned_at, Some(NOW + 60_000), "a quiet tick moves nothing");
}

#[test]
fn case_11_turns_without_a_name_for_their_end_are_ignored() {
    let mut bench = Bench::new();
    let session = bench.adopt_fake("a");
    let mut nameless = window(&["1"], 10);
    nameless.dedupe_id.clear();
    bench.fake.answers("a", [Finding::Read(nameless), read(&["1"], 10)]);
    assert_eq!(bench.tick_one().outcome, "unknown");
    assert_eq!((bench.offset(&session), bench.turns(&session)), (4, vec![]));
    assert_eq!(bench.tick_one().human_turns, 1);
}

#[test]
fn case_12_an_answer_about_a_link_that_is_not_there_is_ignored() {
    let mut bench = Bench::new();
    let session = bench.adopt_fake("a");
    let (mut probes, _) = bench.engine.begin_tick().unwrap();
    let mut stranger = probes.remove(0);
    stranger.link.session = SessionKey::new("agent:main:fake:stranger");
    for finding in [read(&["1"], 10), Finding::Missing, Finding::Unreadable("x".into())] {
        let (outcome, next) = bench.engine.settle(&stranger, finding).unwrap();
        assert_eq!((outcome.human_turns, next.is_none()), (0, true));
    }
    assert_eq!(bench.engine.journal().links().unwrap().len(), 1);
    assert_eq!((bench.offset(&session), bench.turns(&session)), (4, vec![]));
    assert_eq!(bench.turns(&stranger.link.session), NONE);
    let states: i64 = bench
        .sql()
        .query_row("SELECT count(*) FROM tidings_link_states", [], |row| row.get(0))
        .unwrap();
    assert_eq!(states, 0, "nothing is remembered about a link that is not there");
}

#[test]
fn case_18_the_same_source_keeps_its_marker_and_another_starts_anew() {
    let mut bench = Bench::new();
    let session = bench.adopt_fake("a");
    bench.fake.answers("a", [read(&[], 40)]);
    bench.tick();
    bench.clock.set(NOW + 100_000);
    let before = bench.link(&session);
    let fake = bench.fake.clone();
    bench.engine.adopt(&*fake, "a", None).unwrap();
    let after = bench.link(&session);
    assert_eq!((bench.offset(&session), after.scanned_at), (40, before.scanned_at));
    assert_eq!((after.created_at, after.updated_at), (NOW, NOW + 100_000));

    bench.fake.moved_to(json!({"place": "elsewhere"}));
    bench.engine.adopt(&*fake, "a", None).unwrap();
    let moved = bench.link(&session);
    assert_eq!((bench.offset(&session), moved.scanned_at, moved.created_at), (4, None, NOW));
}

#[test]
fn case_19_the_order_of_a_refs_fields_means_nothing() {
    let mut bench = Bench::new();
    bench.fake.moved_to(json!({"home": "/h", "place": "p"}));
    let session = bench.adopt_fake("a");
    bench.fake.answers("a", [read(&[], 40)]);
    bench.tick();
    bench.fake.moved_to(json!({"place": "p", "home": "/h"}));
    bench.adopt_fake("a");
    assert_eq!(bench.offset(&session), 40);
}

#[test]
fn case_24_a_session_whose_own_texts_can_not_be_read_is_skipped_alone() {
    let mut bench = Bench::new();
    let broken = bench.adopt_fake("a");
    let sound = bench.adopt_fake("b");
    bench
        .sql()
        .execute_batch(&format!(
            "ALTER TABLE tidings_own_texts RENAME TO hidden; \
             CREATE VIEW tidings_own_texts AS SELECT 1 AS id, '{broken}' AS session_key, 'no hash' AS text_hash, 0 AS put_at"
        ))
        .unwrap();
    bench.fake.answers("a", [read(&["1"], 10)]);
    bench.fake.answers("b", [read(&["2"], 10)]);
    let outcomes = bench.tick();
    assert_eq!(outcomes.len(), 2);
    assert_eq!((bench.turns(&broken), bench.turns(&sound)), (vec![], vec![1]));
    bench
        .sql()
        .execute_batch(
            "DROP VIEW tidings_own_texts; ALTER TABLE hidden RENAME TO tidings_own_texts",
        )
        .unwrap();
    bench.tick();
    assert_eq!((bench.turns(&broken), bench.turns(&sound)), (vec![1], vec![1]));
}

#[test]
fn case_25_a_provider_that_panics_holds_up_no_other() {
    let mut bench = Bench::new();
    let second = Fake::new("second");
    bench.providers.push(second.clone());
    let broken = bench.adopt_fake("a");
    let sound = bench.engine.adopt(&*second, "b", None).unwrap().session;
    bench.watch(&sound);
    bench.fake.during(|_| panic!("a provider that panics on purpose"));
    second.answers("b", [read(&["2"], 10)]);
    let outcomes = bench.tick();
    let words: Vec<_> = outcomes.iter().map(|found| found.outcome.as_str()).collect();
    assert!(words.contains(&"unreadable") && words.contains(&"activity"), "{words:?}");
    assert_eq!((bench.offset(&broken), bench.turns(&sound)), (4, vec![1]));
}

#[test]
fn a_catalog_that_nobody_knows_keeps_its_links() {
    let mut bench = Bench::new();
    let gone: std::sync::Arc<dyn Provider> = Fake::new("gone");
    let session = bench.engine.adopt(&*gone, "a", None).unwrap().session;
    bench.watch(&session);
    for _ in 0..5 {
        assert_eq!(bench.tick_one().outcome, "unreadable");
    }
    assert_eq!((bench.offset(&session), bench.streak(&session)), (4, 0));
}

#[test]
fn case_26_a_settlement_that_fails_holds_up_no_other() {
    let mut bench = Bench::new();
    let broken = bench.adopt_fake("a");
    let sound = bench.adopt_fake("b");
    bench
        .break_writes(&format!("INSERT ON session_state_events WHEN NEW.session_key = '{broken}'"));
    bench.fake.answers("a", [read(&["1"], 10), read(&["1"], 10)]);
    bench.fake.answers("b", [read(&["2"], 10)]);
    let outcomes = bench.tick();
    assert_eq!(outcomes.len(), 2);
    assert_eq!((bench.offset(&broken), bench.offset(&sound)), (4, 10));
    assert_eq!((bench.turns(&broken), bench.turns(&sound)), (vec![], vec![1]));
    bench.mend_writes();
    bench.tick();
    assert_eq!(bench.turns(&broken), [1]);
}

#[test]
fn case_28_times_are_clamped_and_never_age_a_cursor() {
    let mut bench = Bench::new();
    let session = bench.adopt_fake("a");
    let at = |id: &str, at, offset| {
        let mut window = window(&[id], offset);
        window.turns[0].at = at;
        Finding::Read(window)
    };
    bench.clock.set(100 * DAY);
    bench.fake.answers("a", [at("1", 1_000, 10), at("2", i64::MAX, 20), at("3", 100 * DAY, 30)]);
    for _ in 0..3 {
        bench.tick();
    }
    let now = 100 * DAY;
    let times: Vec<_> = bench
        .events(&session, &EventKind::HumanDirectMessage)
        .iter()
        .map(|event| event.occurred_at)
        .collect();
    assert_eq!(times, [now + 60_000 - DAY, now + 120_000, now]);
    let cursor = bench.engine.journal().cursor(&watcher(), &session).unwrap().unwrap();
    assert_eq!(cursor.updated_at, now + 180_000);
}

#[test]
fn case_41_a_link_that_is_deleted_takes_its_streak_along() {
    let mut bench = Bench::new();
    let session = bench.adopt_fake("a");
    bench.fake.answers("a", [Finding::Missing, Finding::Missing]);
    bench.tick();
    assert_eq!(bench.streak(&session), 1);
    let agent = session.agent().unwrap();
    assert!(bench.engine.journal_mut().delete_link(&session, &agent).unwrap());
    assert_eq!(bench.tick(), []);
    bench.adopt_fake("a");
    bench.tick();
    assert_eq!(bench.streak(&session), 1);
}

//! Adoption: cases 89 to 93.

use std::sync::Barrier;

use serde_json::json;
use tidings::event::{ActorType, EventKind};
use tidings::session_key::SessionKey;

use crate::support::{Bench, append, prompt, read, watcher};

#[test]
fn case_89_adopting_again_records_nothing_and_keeps_the_marker() {
    let mut bench = Bench::new();
    let path = bench.path("t");
    std::fs::write(&path, prompt("0", -1, "zero")).unwrap();
    let claude = bench.claude.clone();
    let wanted = path.to_str().unwrap();
    let first = bench.engine.adopt(&*claude, wanted, None).unwrap();
    assert_eq!((first.adopted, first.session.as_str()), (true, "agent:main:claude:t"));
    let offset = bench.offset(&first.session);
    append(&path, prompt("1", 1_000, "one"));
    for wanted in [wanted, "t"] {
        let again = bench.engine.adopt(&*claude, wanted, None).unwrap();
        assert_eq!((again.adopted, &again.session), (false, &first.session));
    }
    assert_eq!(bench.offset(&first.session), offset, "nothing is lost");
    let events = bench.events(&first.session, &EventKind::Adopted);
    assert_eq!(events.len(), 1);
    assert_eq!((&events[0].actor_type, &events[0].actor), (&ActorType::Human, &None));
    let payload = json!({"catalogId": "claude", "hostId": "gateway:local"});
    assert_eq!(events[0].payload, Some(payload));
    bench.watch(&first.session);
    assert_eq!(bench.tick_one().human_turns, 1);
}

#[test]
fn adoption_opens_no_notice() {
    let mut bench = Bench::new();
    bench.watch(&SessionKey::new("agent:main:fake:a"));
    bench.adopt_fake("a");
    assert_eq!(bench.notices(&watcher()), 0);
}

#[test]
fn case_90_and_91_an_adoption_that_fails_leaves_nothing() {
    let mut bench = Bench::new();
    let fake = bench.fake.clone();
    assert!(bench.engine.adopt(&*fake, "nowhere", None).is_err());
    let claude = bench.claude.clone();
    assert!(bench.engine.adopt(&*claude, "no-such-session", None).is_err());
    assert_eq!(bench.engine.journal().links().unwrap(), []);
    assert_eq!(bench.engine.journal().extent().unwrap().0, 0);
    let count = "SELECT count(*) FROM tidings_sessions";
    let registered = bench.sql().query_row(count, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(registered, 1, "the operator alone");
}

#[test]
fn case_92_two_adopters_at_once_give_one_session_and_two_agents_two() {
    for round in 0..15 {
        let bench = Bench::new();
        let thread = format!("thread-{round}");
        let adopt = |agents: [Option<&str>; 2]| -> Vec<_> {
            let barrier = Barrier::new(2);
            let (barrier, thread, bench) = (&barrier, &thread, &bench);
            std::thread::scope(|scope| {
                let adopting: Vec<_> = agents
                    .into_iter()
                    .map(|agent| {
                        let (mut engine, fake) = (bench.second(), bench.fake.clone());
                        scope.spawn(move || {
                            barrier.wait();
                            engine.adopt(&*fake, thread, agent).unwrap()
                        })
                    })
                    .collect();
                adopting.into_iter().map(|thread| thread.join().unwrap()).collect()
            })
        };
        let adopted = adopt([None, None]);
        assert_eq!(adopted[0].session, adopted[1].session);
        assert_eq!(adopted.iter().filter(|adopted| adopted.adopted).count(), 1, "round {round}");
        assert_eq!(bench.engine.journal().links().unwrap().len(), 1);
        assert_eq!(bench.events(&adopted[0].session, &EventKind::Adopted).len(), 1);

        let adopted = adopt([Some("ops"), Some("qa")]);
        assert_ne!(adopted[0].session, adopted[1].session);
        assert!(adopted.iter().all(|adopted| adopted.adopted));
        assert_eq!(bench.engine.journal().links().unwrap().len(), 3);
    }
}

#[test]
fn case_93_delete_takes_the_link_and_reset_leaves_it() {
    let mut bench = Bench::new();
    let session = bench.adopt_fake("a");
    let other = SessionKey::new("agent:main:other");
    bench.engine.watch(&session, &other, None).unwrap();
    bench.engine.reset(&session).unwrap();
    assert!(bench.find_link(&session).is_some());
    let watches = |bench: &Bench| bench.engine.journal().cursors().unwrap().len();
    assert_eq!(watches(&bench), 1, "its own watch went, the one on it stays");
    bench.fake.answers("a", [read(&["1"], 10)]);
    assert_eq!(bench.tick_one().human_turns, 1);

    let deleted = bench.engine.delete(&session, &session.agent().unwrap()).unwrap();
    assert!(deleted.link);
    assert!(bench.find_link(&session).is_none());
    assert_eq!(watches(&bench), 0);
    assert_eq!(bench.tick(), []);
}

//! What the engine says and records of threads that are put away.

use std::fs;
use std::sync::Arc;

use tidings::clock::{Clock, ManualClock};
use tidings::engine::{Discipline, Engine, Settings};
use tidings::event::{EventKind, Sequence};
use tidings::session_key::SessionKey;
use tidings::upstream::Provider;

use crate::rollout::{AT, PATH, THREAD, Writer};
use crate::support::{Home, append, compress, reword, unpack};

#[test]
fn a_thread_is_recorded_once_wherever_it_lies() {
    let home = Home::new();
    let writer = Writer::new();
    let path = home.file(PATH, writer.user_meta() + &writer.turn("before"));
    let clock = Arc::new(ManualClock::at(AT));
    let database = home.path("state.sqlite");
    let mut engine = Engine::open(
        &database,
        clock.clone() as Arc<dyn Clock>,
        Settings::default(),
        Discipline::InStep,
    )
    .unwrap();
    let providers: Vec<Arc<dyn Provider>> = vec![Arc::new(home.fresh())];
    let adopted = engine.adopt(&*providers[0], THREAD, None).unwrap();
    assert_eq!(adopted.session, SessionKey::new(format!("agent:main:codex:{THREAD}")));
    engine.watch(&SessionKey::new("agent:operator:main"), &adopted.session, None).unwrap();
    let mut tick = || {
        let outcomes = engine.tick(&providers, None).unwrap();
        (outcomes[0].outcome.clone(), outcomes[0].human_turns)
    };
    let said = |word: &str, turns| (word.to_owned(), turns);

    assert_eq!(tick(), said("quiet", 0));
    append(&path, writer.turn("one"));
    assert_eq!(tick(), said("activity", 1));
    let archived = home.path("archived_sessions").join(path.file_name().unwrap());
    fs::create_dir_all(archived.parent().unwrap()).unwrap();
    fs::rename(&path, &archived).unwrap();
    assert_eq!(tick(), said("archived", 0));
    assert_eq!(tick(), said("archived", 0));
    append(&archived, writer.turn("two"));
    let packed = compress(&archived);
    assert_eq!(tick(), said("activity", 1));
    assert_eq!(tick(), said("archived", 0));
    assert_eq!(engine_path(&engine.journal().links().unwrap()[0]), packed.display().to_string());

    fs::rename(unpack(&packed), &path).unwrap();
    append(&path, writer.turn("three"));
    let later = path.with_file_name(format!(
        "rollout-2026-11-04T17-00-00-{THREAD}_01a1aaef-0000-7abc-8def-0123456789ab.jsonl"
    ));
    fs::write(&later, writer.user_meta() + &writer.turn("four")).unwrap();
    let outcomes = engine.tick(&providers, None).unwrap();
    assert_eq!(outcomes[0].human_turns, 2, "both in one tick");

    // All of it once more, as if the file had been written anew.
    reword(&later, "tide", "tidy");
    let outcomes = engine.tick(&providers, None).unwrap();
    assert_eq!(
        (outcomes[0].outcome.as_str(), outcomes[0].human_turns),
        ("quiet", 0),
        "{outcomes:?}"
    );

    let kinds = [EventKind::HumanDirectMessage];
    let events = engine.journal().events_after(Sequence(0), None, &kinds, 100).unwrap();
    assert_eq!(events.len(), 4);
    fs::remove_file(&later).unwrap();
    fs::remove_file(&path).unwrap();
    for _ in 0..3 {
        assert_eq!(engine.tick(&providers, None).unwrap()[0].outcome, "missing");
    }
    assert!(engine.journal().links().unwrap().is_empty());
}

fn engine_path(link: &tidings::upstream_link::UpstreamLink) -> String {
    link.marker_json().unwrap()["path"].as_str().unwrap().to_owned()
}

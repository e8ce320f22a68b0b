//! What surfaces ask, and what they see afterwards.

use std::time::Instant;

use tidings::engine::feed::FeedItem;
use tidings::engine::live::{Reply, Request};
use tidings::engine::snapshot::Snapshot;
use tidings::event::{EventKind, Sequence};
use tidings::session_key::{AgentId, SessionKey};
use tidings::upstream::Finding;
use tidings::watch::PairState;

use crate::support::{HANGING, Hanging, NOW, Running, Stage, append, prompt, record};

fn adopt(running: &Running, wanted: &str) -> SessionKey {
    let request = Request::Adopt { catalog: "claude".into(), wanted: wanted.into() };
    match running.ask(request) {
        Ok(Reply::Adopted(session)) => session,
        other => panic!("not adopted: {other:?}"),
    }
}

fn version(snapshot: &Snapshot, session: &SessionKey) -> Option<Sequence> {
    snapshot.sessions.iter().find(|row| row.key == *session)?.version
}

#[test]
fn adopt_tick_read_and_acknowledge() {
    let stage = Stage::new();
    let path = stage.transcript("t", &prompt("0"));
    let mut running = stage.start();
    let listed = running.ask(Request::Catalog);
    assert!(matches!(listed, Ok(Reply::Catalog(listing)) if listing.entries.len() == 1));
    let session = adopt(&running, path.to_str().unwrap());
    let listed = running.ask(Request::Catalog);
    assert!(matches!(listed, Ok(Reply::Catalog(listing)) if listing.entries.is_empty()));
    let snapshot =
        running.wait_for("the session", |snapshot| version(snapshot, &session).is_some());
    let adopted = version(&snapshot, &session).unwrap();
    assert!(snapshot.notices.is_empty(), "adoption is no news");
    assert_eq!(snapshot.watches[0].cursor.watcher, SessionKey::operator());

    append(&path, &prompt("1"));
    let ticked = running.ask(Request::Tick).unwrap();
    assert!(matches!(&ticked, Reply::Done(said) if said == "ticked: 1 links, 1 human turns"));
    let snapshot = running.wait_for("a notice", |snapshot| !snapshot.notices.is_empty());
    let shown = version(&snapshot, &session).unwrap();
    assert!(shown > adopted);
    let watch = &snapshot.watches[snapshot.notices[0].watch];
    assert_eq!((&watch.cursor.watcher, &watch.cursor.target), (&SessionKey::operator(), &session));
    assert_eq!((watch.state, watch.actionable_lag()), (PairState::Pending, 1));
    assert_eq!(snapshot.notices[0].queued, Some(true));
    let event = &snapshot.events.last().unwrap();
    assert_eq!((event.event.sequence, event.notified), (shown, 1));

    let request =
        Request::Changes { session: session.clone(), agent: AgentId::main(), after: adopted };
    let Ok(Reply::Changes(changes)) = running.ask(request) else { panic!("no changes") };
    let kinds: Vec<_> = changes.events.iter().map(|event| &event.kind).collect();
    assert_eq!(kinds, [&EventKind::HumanDirectMessage]);
    assert_eq!((changes.version, changes.history_gap, changes.truncated), (shown, false, false));

    running.ask(Request::Acknowledge { target: session.clone(), shown }).unwrap();
    let snapshot = running.wait_for("no notice", |snapshot| snapshot.notices.is_empty());
    let watch = &snapshot.watches[0];
    assert_eq!((watch.state, watch.cursor.seen), (PairState::Synced, shown));
    stage.poke(&mut running);
    let snapshot = running.snapshot();
    let watch = snapshot.watches.iter().find(|row| row.cursor.target == session).unwrap();
    assert_eq!(watch.state, PairState::Synced, "it opens nothing");
    let again = running.ask(Request::Acknowledge { target: session, shown }).unwrap();
    assert!(matches!(again, Reply::Done(said) if said == "nothing was open"));
}

#[test]
fn watch_unwatch_and_what_is_refused() {
    let stage = Stage::new();
    let mut running = stage.start();
    let target = SessionKey::new("agent:main:worker");
    running.ask(Request::Watch(target.clone())).unwrap();
    record(&mut stage.other(), &target);
    running.wait_for("a notice", |snapshot| snapshot.notices.len() == 1);
    running.ask(Request::Unwatch(target.clone())).unwrap();
    running.wait_for("no watch", |snapshot| snapshot.watches.is_empty());
    for (request, words) in [
        (Request::Unwatch(target), "does not watch"),
        (Request::Watch(SessionKey::operator()), "can't watch itself"),
        (Request::Adopt { catalog: "claude".into(), wanted: "nowhere".into() }, "nowhere"),
        (Request::Adopt { catalog: "x".into(), wanted: "y".into() }, "no provider"),
    ] {
        let refused = running.ask(request).unwrap_err();
        assert!(refused.contains(words) && !refused.contains('\n'), "{refused}");
    }
    assert!(running.ticks().is_empty());
}

#[test]
fn what_another_connection_records_appears_in_snapshot_and_feed() {
    let stage = Stage::new();
    let mut running = stage.start();
    let target = SessionKey::new("agent:main:worker");
    running.ask(Request::Watch(target.clone())).unwrap();
    let mut other = stage.other();
    let mut delays = Vec::new();
    for _ in 0..5 {
        let before = version(&running.snapshot(), &target);
        record(&mut other, &target);
        let recorded = Instant::now();
        let snapshot =
            running.wait_for("a new version", |snapshot| version(snapshot, &target) > before);
        delays.push(recorded.elapsed());
        let new = version(&snapshot, &target).unwrap();
        let item = running.hear(
            "the event",
            |item| matches!(item, FeedItem::Recorded(row) if row.event.sequence == new),
        );
        assert!(matches!(item, FeedItem::Recorded(row) if row.event.session == target));
    }
    println!("from another connection's commit to the snapshot: {delays:?}");
    assert_eq!(running.snapshot().notices.len(), 1);
}

#[test]
fn a_flood_from_another_process_reaches_the_feed_at_once() {
    const FLOOD: usize = 3_500;
    let stage = Stage::new();
    let mut running = stage.start();
    let mut sql = rusqlite::Connection::open(stage.db()).unwrap();
    let transaction = sql.transaction().unwrap();
    for _ in 0..FLOOD {
        transaction
            .execute(
                "INSERT INTO session_state_events (session_key, agent_id, kind, actor_type, occurred_at, summary) \
                 VALUES ('agent:main:w', 'main', 'run_completed', 'system', ?1, 'done')",
                [NOW],
            )
            .unwrap();
    }
    transaction.commit().unwrap();
    let first = running.wait_for("the flood", |snapshot| snapshot.journal.rows >= FLOOD as u64);
    let mut heard = 0;
    running.hear("the last of the flood", |item| {
        heard += usize::from(matches!(item, FeedItem::Recorded(_)));
        heard == FLOOD
    });
    // One more picture may have been made meanwhile because conditions change with time.
    assert!(running.snapshot().revision <= first.revision + 1);
}

#[test]
fn case_27_a_provider_that_hangs_holds_up_neither_requests_nor_other_links() {
    let mut stage = Stage::new();
    let path = stage.transcript("t", "");
    let (provider, gate) = Hanging::new();
    stage.providers.push(provider);
    let mut running = stage.start();
    running.ask(Request::Adopt { catalog: HANGING.into(), wanted: "a".into() }).unwrap();
    let session = adopt(&running, path.to_str().unwrap());
    append(&path, &prompt("1"));
    stage.at(15_000);
    gate.wait();
    running.wait_for("the other link's turn", |snapshot| {
        snapshot.watches.iter().any(|row| row.cursor.target == session && row.actionable_lag() > 0)
    });
    let asked = Instant::now();
    for _ in 0..10 {
        running.ask(Request::Watch(SessionKey::new("agent:main:worker"))).unwrap();
        running.ask(Request::Catalog).unwrap();
    }
    assert!(asked.elapsed().as_secs() < 10, "requests waited for the provider");
    assert!(running.ticks().is_empty(), "the provider still hangs");
    gate.release(Finding::Quiet);
    running.hear_tick();
}

//! Looking at a database while its owner writes it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tidings::engine::live::{Live, Reply, Request};
use tidings::engine::snapshot::Snapshot;
use tidings::event::Sequence;
use tidings::session_key::AgentId;
use tidings::watch::Condition;

use crate::support::{Foreign, Real, key, options, real};

const PATIENCE: Duration = Duration::from_secs(20);

fn wait_for(live: &Live, what: &str, holds: impl Fn(&Snapshot) -> bool) -> Arc<Snapshot> {
    let snapshots = live.handle().snapshots();
    let began = Instant::now();
    loop {
        let snapshot = snapshots.borrow().clone();
        if holds(&snapshot) {
            return snapshot;
        }
        assert!(began.elapsed() < PATIENCE, "never seen: {what}");
        std::thread::yield_now();
    }
}

fn ask(live: &Live, request: Request) -> Result<Reply, String> {
    let handle = live.handle();
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(handle.ask(request))
}

#[test]
fn what_the_owner_writes_appears_and_what_would_write_is_refused() {
    let foreign = Foreign::newest();
    let live = Live::attach(options(foreign.path())).unwrap();
    foreign.change("UPDATE session_watch_cursors SET last_seen_sequence = 3, notified_sequence = 4 WHERE target_session_key LIKE '%:a'");
    wait_for(&live, "the acknowledgement", |snapshot| {
        snapshot.watches.iter().any(|row| row.cursor.seen == Sequence(3))
    });
    let t = key("agent:main:subagent:a");
    let changes = ask(
        &live,
        Request::Changes { session: t.clone(), agent: AgentId::main(), after: Sequence(0) },
    );
    assert!(matches!(changes, Ok(Reply::Changes(changes)) if changes.events.len() == 3));
    let before = std::fs::read(foreign.path()).unwrap();
    for request in [
        Request::Watch(t.clone()),
        Request::Unwatch(t.clone()),
        Request::Acknowledge { target: t, shown: Sequence(4) },
        Request::Tick,
        Request::Catalog,
        Request::Adopt { catalog: "claude".into(), wanted: "x".into() },
    ] {
        let refused = ask(&live, request).unwrap_err();
        assert!(refused.contains("attached read-only"), "{refused}");
    }
    assert_eq!(std::fs::read(foreign.path()).unwrap(), before);
}

#[test]
fn a_file_that_breaks_is_said_and_one_that_comes_back_is_read_again() {
    let foreign = Foreign::newest();
    foreign.change("PRAGMA journal_mode = DELETE");
    let whole = std::fs::read(foreign.path()).unwrap();
    let live = Live::attach(options(foreign.path())).unwrap();
    std::fs::remove_file(foreign.path()).unwrap();
    let lost = wait_for(&live, "the loss", |snapshot| !snapshot.problems.is_empty());
    assert!(lost.problems[0].message.contains("there is no such file"), "{:?}", lost.problems);
    assert_eq!(lost.watches.len(), 6, "the last good picture stays");
    assert!(
        lost.watches.iter().all(|row| row.condition == Condition::Unknown
            && row.because(0).contains("last good reading"))
    );
    std::fs::write(foreign.path(), whole).unwrap();
    let back = wait_for(&live, "the return", |snapshot| snapshot.problems.is_empty());
    assert!(back.watches.iter().all(|row| row.condition != Condition::Unknown));
}

#[test]
fn a_real_file_is_watched_and_stays_as_it_is() {
    for Real { path, .. } in &real() {
        let before = std::fs::read(path).unwrap();
        let live = Live::attach(options(path.clone())).unwrap();
        wait_for(&live, "the picture", |snapshot| snapshot.watches.len() == 13);
        live.stop();
        assert_eq!(std::fs::read(path).unwrap(), before);
    }
}

/// Writes 500 events a second for two seconds and returns how long the slowest waits for the lock took, slowest first.
fn write_at_full_rate(foreign: &Foreign) -> Vec<Duration> {
    let writer = foreign.writer();
    writer.busy_timeout(Duration::from_secs(5)).unwrap();
    writer.execute_batch("PRAGMA synchronous = NORMAL").unwrap();
    let began = Instant::now();
    let mut waits = Vec::new();
    for n in 0..1_000_u32 {
        let due = began + Duration::from_millis(2) * n;
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let asked = Instant::now();
        writer.execute_batch("BEGIN IMMEDIATE").unwrap();
        waits.push(asked.elapsed());
        writer
            .execute_batch(
                "INSERT INTO session_state_events (session_key, agent_id, kind, actor_type, occurred_at, summary)
                   VALUES ('agent:main:subagent:a', 'main', 'goal_changed', 'human', 1784160008000, 'goal updated');
                 UPDATE session_state_heads SET last_sequence = last_insert_rowid() WHERE session_key = 'agent:main:subagent:a';
                 UPDATE session_watch_cursors SET material_sequence = last_insert_rowid()
                   WHERE target_session_key = 'agent:main:subagent:a';
                 COMMIT",
            )
            .unwrap();
    }
    waits.sort_unstable_by(|a, b| b.cmp(a));
    waits
}

#[test]
fn a_writer_at_500_events_a_second_does_not_wait_for_us() {
    let alone = write_at_full_rate(&Foreign::newest());
    let foreign = Foreign::newest();
    let live = Live::attach(options(foreign.path())).unwrap();
    let watched = write_at_full_rate(&foreign);
    let last = wait_for(&live, "the last event", |snapshot| snapshot.journal.rows == 1_008);
    assert_eq!(last.journal.max, Some(Sequence(1_008)));
    // A machine that is busy with other things stalls a writer by itself now and then: one such stall is not ours.
    let allowed = alone[0].max(Duration::from_millis(10));
    assert!(watched[1] <= allowed, "waits {:?}, without us {:?}", &watched[..3], &alone[..3]);
}

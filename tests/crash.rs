//! A writing process is killed at random moments, over and over, on one database. Whatever it had reported as done must be
//! there afterwards, and nothing half-done.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking, and prints what it measured"
)]

mod common;

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use common::child::{Process, part, report};
use common::{START, address, event, human_turn, key, marks, notice};
use rusqlite::Connection;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use tidings::clock::{HOUR, ManualClock};
use tidings::engine::{Discipline, Engine, Settings};
use tidings::event::EventKind;
use tidings::journal::append::Gate;
use tidings::journal::sessions::SessionFacts;

/// Kills on one database that lives on.
const KILLS: u32 = 200;
/// Kills on a database that is just being made.
const KILLS_OF_NEW: u32 = 30;

const TARGETS: [&str; 3] =
    ["agent:main:subagent:a", "agent:main:subagent:b", "agent:main:subagent:c"];
const WATCHERS: [&str; 3] = ["agent:main:main", "agent:ops:main", "agent:main:subagent:w"];
/// A session that is watched now and then.
const FLEETING: &str = "agent:main:subagent:fleeting";
/// A session whose events notify nobody.
const LOG: &str = "agent:main:log";

fn open(database: &Path, clock: &Arc<ManualClock>) -> Engine {
    Engine::open(database, clock.clone(), Settings::default(), Discipline::InStep).unwrap()
}

/// The child: writes for ever, and reports what is done after it is committed.
fn write_for_ever(database: &Path) {
    let clock = Arc::new(ManualClock::at(START));
    let mut engine = open(database, &clock);
    let newest = engine.journal().heads().unwrap().iter().map(|head| head.updated_at).max();
    clock.set(newest.unwrap_or(START));
    for watcher in WATCHERS {
        engine.register(&address(watcher), &SessionFacts::default()).unwrap();
        for target in TARGETS {
            engine.watch(&key(watcher), &key(target), None).unwrap();
            report(&format!("watch {watcher} {target}"));
        }
    }
    for n in 0_usize.. {
        let target = TARGETS[n % TARGETS.len()];
        let appended = engine.record(&human_turn(target), Gate::Open).unwrap();
        report(&format!("event {} {target}", appended.event.unwrap().sequence));
        if n % 4 == 1 {
            let appended = engine.record(&event(LOG, EventKind::Compacted), Gate::Open).unwrap();
            report(&format!("event {} {LOG}", appended.event.unwrap().sequence));
        }
        if n % 5 == 2 {
            acknowledge(&mut engine, WATCHERS[n / 5 % WATCHERS.len()]);
        }
        if n % 7 == 3 {
            engine.watch(&key(WATCHERS[0]), &key(FLEETING), None).unwrap();
            engine.record(&human_turn(FLEETING), Gate::Open).unwrap();
            engine.unwatch(&key(WATCHERS[0]), &key(FLEETING)).unwrap();
        }
        if n % 11 == 4 {
            clock.advance(5 * HOUR);
            engine.prune().unwrap();
        }
        engine.take_asked();
    }
}

/// One watcher takes a turn, by the queue or by the cursors, and reports how far it has seen.
fn acknowledge(engine: &mut Engine, watcher: &str) {
    let acknowledged = if watcher == WATCHERS[0] {
        engine.drain(&key(watcher), None).unwrap().acknowledged
    } else {
        engine.turn(&address(watcher)).unwrap().acknowledged
    };
    for target in acknowledged {
        let seen = engine.journal().cursor(&key(watcher), &target).unwrap().unwrap().seen;
        report(&format!("ack {seen} {watcher} {target}"));
    }
}

/// What children reported as done.
#[derive(Default)]
struct Done {
    events: HashMap<String, Vec<i64>>,
    acknowledged: HashMap<(String, String), i64>,
    watches: Vec<(String, String)>,
    reports: usize,
}

impl Done {
    fn take(&mut self, line: &str) {
        self.reports += 1;
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["watch", watcher, target] => {
                let pair = (watcher.to_owned(), target.to_owned());
                if !self.watches.contains(&pair) {
                    self.watches.push(pair);
                }
            }
            ["event", sequence, session] => {
                self.events.entry(session.into()).or_default().push(sequence.parse().unwrap());
            }
            ["ack", seen, watcher, target] => {
                self.acknowledged.insert((watcher.into(), target.into()), seen.parse().unwrap());
            }
            _ => panic!("a child reported {line:?}"),
        }
    }
}

/// Random enough for moments.
struct Moments(u64);

impl Moments {
    fn new() -> Self {
        let seed = std::hash::RandomState::new().build_hasher().finish() | 1;
        println!("moments from the seed {seed}");
        Self(seed)
    }

    fn within(&mut self, limit: Duration) -> Duration {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let limit = u64::try_from(limit.as_micros()).unwrap();
        Duration::from_micros(self.0 % limit)
    }
}

/// Stops the child where it is, looks whether it holds the write lock, and kills it. True when a transaction was open.
fn kill(process: &mut Process, database: &Path) -> bool {
    let pid = Pid::from_child(&process.child);
    kill_process(pid, Signal::STOP).unwrap();
    waitpid(Some(pid), WaitOptions::UNTRACED).unwrap();
    let open = write_lock_is_held(database);
    kill_process(pid, Signal::KILL).unwrap();
    process.child.wait().unwrap();
    open
}

fn write_lock_is_held(database: &Path) -> bool {
    let Ok(connection) = Connection::open_with_flags(
        database,
        rusqlite::OpenFlags::SQLITE_OPEN_READ_WRITE | rusqlite::OpenFlags::SQLITE_OPEN_NO_MUTEX,
    ) else {
        return false;
    };
    connection.busy_timeout(Duration::ZERO).unwrap();
    match connection.execute_batch("BEGIN IMMEDIATE") {
        Ok(()) => {
            connection.execute_batch("ROLLBACK").unwrap();
            false
        }
        // The plain code: another connection writes. The extended ones are about opening and recovering.
        Err(rusqlite::Error::SqliteFailure(error, _)) => {
            error.extended_code == rusqlite::ffi::SQLITE_BUSY
        }
        Err(error) => panic!("{error}"),
    }
}

/// Opens the database as a new owner does, and holds it against what was reported.
fn check(database: &Path, done: &Done) {
    let clock = Arc::new(ManualClock::at(START));
    let mut engine = open(database, &clock);
    let heads = engine.journal().heads().unwrap();
    clock.set(heads.iter().map(|head| head.updated_at).max().unwrap_or(START));
    assert_eq!(engine.journal().integrity_check().unwrap(), "ok");
    let own = Connection::open(database).unwrap();
    for (session, reported) in &done.events {
        let head = heads.iter().find(|head| head.key.as_str() == session).unwrap();
        for sequence in reported {
            assert!(*sequence <= head.last.0, "{session}: head {} < {sequence}", head.last);
        }
        let retained = retained(&own, session);
        for sequence in reported.iter().filter(|sequence| **sequence > head.pruned.0) {
            assert!(retained.binary_search(sequence).is_ok(), "{session}: {sequence} is lost");
        }
    }
    assert_nothing_is_half_done(&own);
    engine.sweep().unwrap();
    for (watcher, target) in &done.watches {
        let cursor = engine.journal().cursor(&key(watcher), &key(target)).unwrap();
        let cursor = cursor.unwrap_or_else(|| panic!("{watcher} on {target}: the watch is lost"));
        let (seen, notified, material) = marks(&cursor);
        let acknowledged =
            done.acknowledged.get(&(watcher.clone(), target.clone())).copied().unwrap_or(0);
        assert!(seen >= acknowledged, "{watcher} on {target}: saw {acknowledged}, now {seen}");
        let head = heads.iter().find(|head| head.key == key(target)).map_or(0, |head| head.last.0);
        assert_eq!((notified, material), (head, head), "{watcher} on {target}: nobody is told");
        let lines: Vec<_> = engine
            .queues()
            .lines(&key(watcher))
            .iter()
            .filter(|line| line.target() == Some(&key(target)))
            .map(|line| line.text().into_owned())
            .collect();
        let wanted = if seen < head { vec![notice(target, seen)] } else { Vec::new() };
        assert_eq!(lines, wanted, "{watcher} on {target}");
    }
}

fn retained(own: &Connection, session: &str) -> Vec<i64> {
    own.prepare(
        "SELECT sequence FROM session_state_events WHERE session_key = ?1 ORDER BY sequence",
    )
    .unwrap()
    .query_map([session], |row| row.get(0))
    .unwrap()
    .map(Result::unwrap)
    .collect()
}

/// An event, its head, the cursors that it moved and the row that says what became of it come together or not at all.
fn assert_nothing_is_half_done(own: &Connection) {
    for (what, sql) in [
        (
            "events above their head",
            "SELECT count(*) FROM session_state_events AS event WHERE NOT EXISTS (SELECT 1 FROM session_state_heads AS head \
             WHERE head.session_key = event.session_key AND head.agent_id = event.agent_id AND head.last_sequence >= event.sequence)",
        ),
        (
            "material events of watched sessions without a delivery",
            "SELECT count(*) FROM session_state_events AS event WHERE kind = 'human_direct_message' \
             AND NOT EXISTS (SELECT 1 FROM tidings_deliveries AS row WHERE row.sequence = event.sequence)",
        ),
        (
            "deliveries without an event",
            "SELECT count(*) FROM tidings_deliveries AS row \
             WHERE NOT EXISTS (SELECT 1 FROM session_state_events AS event WHERE event.sequence = row.sequence)",
        ),
        (
            "cursors out of order",
            "SELECT count(*) FROM session_watch_cursors WHERE NOT (0 <= last_seen_sequence \
             AND last_seen_sequence <= notified_sequence AND notified_sequence <= material_sequence) \
             OR (notified_sequence = last_seen_sequence AND material_sequence <> notified_sequence)",
        ),
    ] {
        let found: i64 = own.query_row(sql, [], |row| row.get(0)).unwrap();
        assert_eq!(found, 0, "{what}");
    }
}

#[test]
fn what_a_killed_process_reported_is_there_and_nothing_is_half_done() {
    if let Some((_, database)) = part() {
        return write_for_ever(&database);
    }
    let test = "what_a_killed_process_reported_is_there_and_nothing_is_half_done";
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("state.sqlite");
    drop(open(&database, &Arc::new(ManualClock::at(START))));
    let mut moments = Moments::new();
    let mut done = Done::default();
    let (mut open_transactions, mut at_work) = (0, 0);
    for _ in 0..KILLS {
        let before = done.reports;
        let mut process = Process::start(test, "write", &database);
        std::thread::sleep(moments.within(Duration::from_millis(80)));
        open_transactions += u32::from(kill(&mut process, &database));
        while let Some(line) = process.next() {
            done.take(&line);
        }
        at_work += u32::from(done.reports > before);
        check(&database, &done);
    }
    println!(
        "{KILLS} kills, {at_work} of them of a process that had written, {open_transactions} in an open transaction; {} reports",
        done.reports
    );
    assert!(at_work > KILLS / 4, "most children were killed before they wrote anything");
    assert!(open_transactions > 0, "no kill hit an open transaction");
}

#[test]
fn a_kill_while_the_database_is_being_made_leaves_one_that_can_be_opened() {
    if let Some((_, database)) = part() {
        return write_for_ever(&database);
    }
    let test = "a_kill_while_the_database_is_being_made_leaves_one_that_can_be_opened";
    let mut moments = Moments::new();
    let (mut half_made, mut made) = (0, 0);
    for _ in 0..KILLS_OF_NEW {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("state.sqlite");
        let mut process = Process::start(test, "write", &database);
        while !database.exists() {
            std::thread::yield_now();
        }
        std::thread::sleep(moments.within(Duration::from_millis(8)));
        kill(&mut process, &database);
        let mut done = Done::default();
        while let Some(line) = process.next() {
            done.take(&line);
        }
        if done.reports == 0 {
            half_made += 1;
        } else {
            made += 1;
        }
        check(&database, &done);
    }
    println!("{half_made} kills before the first write was reported, {made} after");
    assert!(half_made > 0, "no kill came while the database was being made");
}

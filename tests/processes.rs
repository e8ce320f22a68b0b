//! Several processes on one state database, without any server between them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod common;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use common::child::{Process, part, report, told_to_finish};
use common::{NW, T, W, address, human_turn, key, notice};
use tidings::clock::{Clock, SystemClock};
use tidings::engine::{Discipline, Engine, Settings};
use tidings::event::Sequence;
use tidings::journal::append::Gate;
use tidings::journal::sessions::SessionFacts;

/// A condition that has not come true after this never will.
const DEADLINE: Duration = Duration::from_secs(20);
/// How often an engine asks whether somebody else wrote.
const POLL: Duration = Duration::from_millis(100);
/// Events of each writer.
const EVENTS: usize = 300;

fn open(database: &Path) -> Engine {
    Engine::open(database, Arc::new(SystemClock), Settings::default(), Discipline::InStep).unwrap()
}

/// A fresh database on which each of `watchers` watches T.
fn watched(watchers: &[&str]) -> (tempfile::TempDir, PathBuf, Engine) {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("state.sqlite");
    let mut engine = open(&database);
    for watcher in watchers {
        engine.register(&address(watcher), &SessionFacts::default()).unwrap();
        engine.watch(&key(watcher), &key(T), None).unwrap();
    }
    (folder, database, engine)
}

/// An engine that polls, as the owner does.
struct Polling {
    engine: Engine,
    version: i64,
}

impl Polling {
    fn new(engine: Engine) -> Self {
        let version = engine.journal().data_version().unwrap();
        Self { engine, version }
    }

    /// Looks each [`POLL`] whether somebody wrote, until `seen` finds what it waits for.
    fn until<T>(&mut self, mut seen: impl FnMut(&mut Engine) -> Option<T>) -> T {
        let began = Instant::now();
        loop {
            let version = self.engine.journal().data_version().unwrap();
            if version != self.version {
                self.version = version;
                self.engine.keep_in_step().unwrap();
            }
            if let Some(found) = seen(&mut self.engine) {
                return found;
            }
            assert!(began.elapsed() < DEADLINE, "what another process did was never seen");
            std::thread::sleep(POLL);
        }
    }
}

fn lines(engine: &Engine, watcher: &str) -> Vec<String> {
    engine.queues().lines(&key(watcher)).iter().map(|line| line.text().into_owned()).collect()
}

#[test]
fn a_notice_that_one_process_records_is_drained_by_another() {
    let test = "a_notice_that_one_process_records_is_drained_by_another";
    if let Some((part, database)) = part() {
        let mut engine = open(&database);
        if part == "record" {
            engine.record(&human_turn(T), Gate::Open).unwrap();
        } else {
            let drained = engine.drain(&key(W), None).unwrap();
            report(&format!("{} {}", drained.lines.len(), drained.acknowledged.len()));
        }
        return;
    }
    let (_folder, database, engine) = watched(&[W]);
    let mut owner = Polling::new(engine);
    Process::start(test, "record", &database).finish();
    let asked =
        owner.until(|engine| (lines(engine, W) == [notice(T, 0)]).then(|| engine.take_asked()));
    assert_eq!(asked.len(), 1, "the owner asks for the wake that the other process can't give");
    assert_eq!(asked[0].watcher, key(W));

    let drained = Process::start(test, "drain", &database).finish();
    assert_eq!(drained, ["1 1"], "another process drains what a third recorded");
    owner.until(|engine| lines(engine, W).is_empty().then_some(()));
    assert!(owner.engine.take_asked().is_empty());

    Process::start(test, "record", &database).finish();
    owner.until(|engine| (lines(engine, W) == [notice(T, 1)]).then_some(()));
    let turn = owner.engine.turn(&address(W)).unwrap();
    assert_eq!(turn.lines, [notice(T, 1)]);
    assert_eq!(Process::start(test, "drain", &database).finish(), ["0 0"], "it is drained once");
}

#[test]
fn a_follow_up_that_another_process_opens_asks_for_its_wake_here() {
    let test = "a_follow_up_that_another_process_opens_asks_for_its_wake_here";
    if let Some((_, database)) = part() {
        let turn = open(&database).turn(&address(W)).unwrap();
        return report(&turn.follow_ups.len().to_string());
    }
    let (_folder, database, mut engine) = watched(&[W]);
    for _ in 0..2 {
        engine.record(&human_turn(T), Gate::Open).unwrap();
    }
    engine.take_asked();
    let mut owner = Polling::new(engine);
    assert_eq!(Process::start(test, "turn", &database).finish(), ["1"]);
    owner.until(|engine| (lines(engine, W) == [notice(T, 1)]).then_some(()));
    assert_eq!(owner.engine.take_asked().len(), 1);
}

/// Drains both watchers until told to finish and nothing is open, and reports the window of each acknowledgement: the last
/// seen that the notice named, and the one after.
fn drain_windows(database: &Path) {
    let told = told_to_finish();
    let mut engine = open(database);
    report("ready");
    loop {
        let last_round = told.load(Ordering::SeqCst);
        engine.keep_in_step().unwrap();
        let mut taken = engine.turn(&address(W)).unwrap().lines;
        window(&mut engine, W, &taken);
        let drained = engine.drain(&key(NW), None).unwrap().lines;
        let drained: Vec<_> = drained.into_iter().map(|line| line.text().into_owned()).collect();
        window(&mut engine, NW, &drained);
        taken.extend(drained);
        if last_round && taken.is_empty() {
            return;
        }
        if taken.is_empty() {
            std::thread::yield_now();
        }
    }
}

fn window(engine: &mut Engine, watcher: &str, lines: &[String]) {
    let [line] = lines else {
        assert!(lines.is_empty(), "one pair has one line");
        return;
    };
    let since: i64 = line.trim_end_matches('.').rsplit(' ').next().unwrap().parse().unwrap();
    let seen = engine.journal().cursor(&key(watcher), &key(T)).unwrap().unwrap().seen.0;
    let told = engine.changes(&address(T), Sequence(since), 200).unwrap();
    let within = told.events.iter().filter(|event| event.sequence.0 <= seen).count();
    assert!(!told.history_gap);
    report(&format!("{watcher} {since} {seen} {within}"));
}

#[test]
fn two_writers_and_a_drainer_lose_and_duplicate_nothing() {
    let test = "two_writers_and_a_drainer_lose_and_duplicate_nothing";
    if let Some((part, database)) = part() {
        if part == "drain" {
            return drain_windows(&database);
        }
        let mut engine = open(&database);
        for _ in 0..EVENTS {
            let appended = engine.record(&human_turn(T), Gate::Open).unwrap();
            report(&appended.event.unwrap().sequence.to_string());
        }
        return;
    }
    let (_folder, database, mut engine) = watched(&[W, NW]);
    let mut drainer = Process::start(test, "drain", &database);
    assert_eq!(drainer.next().as_deref(), Some("ready"));
    let mut writers = [(); 2].map(|()| Process::start(test, "write", &database));
    let mut written: Vec<i64> = writers
        .iter_mut()
        .flat_map(Process::finish)
        .map(|sequence| sequence.parse().unwrap())
        .collect();
    written.sort_unstable();
    let windows = drainer.finish();

    let last = i64::try_from(2 * EVENTS).unwrap();
    assert!(written.iter().copied().eq(1..=last), "each event has a number of its own");
    for watcher in [W, NW] {
        let mut reached = 0;
        let mut told = 0;
        let mut turns = 0;
        for line in windows.iter().filter(|line| line.starts_with(&format!("{watcher} "))) {
            let numbers: Vec<i64> =
                line.split(' ').skip(1).map(|number| number.parse().unwrap()).collect();
            let [since, seen, within] = numbers[..] else { panic!("{line}") };
            assert_eq!(since, reached, "{watcher}: a window begins where the last one ended");
            // A page holds 200; beyond that the window alone says how many there are.
            assert_eq!(within, (seen - since).min(200), "{watcher}: an event is not in its window");
            reached = seen;
            told += seen - since;
            turns += 1;
        }
        assert_eq!((reached, told), (last, last), "{watcher}");
        println!("{watcher} was told of {told} events in {turns} turns");
    }
    assert_eq!(engine.journal().integrity_check().unwrap(), "ok");
    engine.keep_in_step().unwrap();
    assert!(lines(&engine, W).is_empty() && lines(&engine, NW).is_empty());
}

#[test]
fn what_another_process_did_is_seen_by_polling() {
    let test = "what_another_process_did_is_seen_by_polling";
    if let Some((_, database)) = part() {
        let mut engine = open(&database);
        for n in 0..15 {
            // Anywhere between two looks of the parent.
            std::thread::sleep(POLL * n / 15);
            engine.record(&human_turn(T), Gate::Open).unwrap();
            report(&SystemClock.now().to_string());
            // The parent answers by acknowledging; only then is the next event a new notice.
            let seen = |engine: &Engine| {
                !engine.journal().cursor(&key(W), &key(T)).unwrap().unwrap().is_pending()
            };
            let began = Instant::now();
            while !seen(&engine) {
                assert!(began.elapsed() < DEADLINE, "the parent never acknowledged");
                std::thread::sleep(Duration::from_millis(7));
            }
        }
        return;
    }
    let (_folder, database, engine) = watched(&[W]);
    let mut owner = Polling::new(engine);
    let mut writer = Process::start(test, "write", &database);
    let mut took = Vec::new();
    for _ in 0..15 {
        let seen_at =
            owner.until(|engine| (!lines(engine, W).is_empty()).then(|| SystemClock.now()));
        let committed_at: i64 = writer.next().unwrap().parse().unwrap();
        took.push(seen_at - committed_at);
        owner.engine.drain(&key(W), None).unwrap();
    }
    writer.finish();
    took.sort_unstable();
    println!(
        "from commit to seen, in ms: median {}, least {}, most {}",
        took[took.len() / 2],
        took[0],
        took[took.len() - 1]
    );
    assert!(took[took.len() / 2] < 250, "seen within a quarter of a second: {took:?}");
}

//! How fast the engine is, on a real file in WAL mode. `cargo bench`; a figure that is missed ends it with exit 1.
//!
//! Appends are measured against the bare minimum: the same rows written by cached statements through the same library, on a
//! twin of the database with the same settings. Both take turns in short batches, and the ratio of the medians is reported. Ours
//! is the whole command as it runs live, with its queue and its wakes.
//!
//! What counts is the time that the thread was at work, so that a machine that does other things as well judges the same; the
//! time by the clock stands beside it.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement fails by panicking and prints what it found"
)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, TransactionBehavior, params};
use rustix::time::{ClockId, clock_gettime};
use tempfile::TempDir;
use tidings::clock::{HOUR, ManualClock};
use tidings::engine::{Discipline, Engine, Settings};
use tidings::event::{ActorType, EventKind, NewEvent, Sequence};
use tidings::journal::append::Gate;
use tidings::journal::retention::MAX_EVENTS;
use tidings::session_key::{AgentId, SessionKey};

const NOW: i64 = 1_800_000_000_000;
const TARGET: &str = "agent:main:subagent:7d1f2c9e-7f0e-4c57-9d5e-2f1f6a3b8c4d";

/// Events of a batch, and batches of each side.
const BATCH: u32 = 20;
const BATCHES: usize = 60;

fn main() -> ExitCode {
    // Cargo adds a flag of its own; anything else names the measurements to make.
    let wanted: Vec<_> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|word| word == name);
    let mut figures = Figures::default();
    if is_wanted("append") {
        for watchers in [0, 1, 10, 100] {
            for state in [State::Pending, State::Opening] {
                if watchers > 0 || state == State::Pending {
                    append(&mut figures, watchers, state);
                }
            }
        }
    }
    if is_wanted("changes") {
        changes(&mut figures);
    }
    if is_wanted("sweep") {
        sweep(&mut figures, 100, 100);
        sweep(&mut figures, 1, 10_000);
    }
    if is_wanted("prune") {
        prune(&mut figures);
    }
    if figures.missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Prints figures beside what is wanted.
#[derive(Default)]
struct Figures {
    missed: u32,
}

impl Figures {
    fn say(&mut self, what: &str, found: &str, holds: bool, wanted: &str) {
        let verdict = if holds { "ok" } else { "MISSED" };
        self.missed += u32::from(!holds);
        println!("{what:<52} {found:<44} wanted {wanted:<10} {verdict}");
    }

    fn time(&mut self, what: &str, took: &[Taken], limit: Duration) {
        let wall = median(took.iter().map(|took| took.wall).collect());
        let cpu = median(took.iter().map(|took| took.cpu).collect());
        let found = format!("{cpu:.1?} at work, {wall:.1?} by the clock");
        self.say(what, &found, cpu < limit, &format!("< {limit:?}"));
    }
}

/// How long something took: by the clock, and what this thread was at work.
struct Taken {
    wall: Duration,
    cpu: Duration,
}

/// Measures `times` runs of something at once; what it took is that of one.
fn taking(times: u32, mut something: impl FnMut()) -> Taken {
    let (began, worked) = (Instant::now(), at_work());
    for _ in 0..times {
        something();
    }
    Taken { wall: began.elapsed() / times, cpu: at_work().saturating_sub(worked) / times }
}

/// How long this thread has been at work.
fn at_work() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap(), time.tv_nsec.try_into().unwrap())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn database(folder: &TempDir, name: &str) -> PathBuf {
    folder.path().join(name)
}

fn open(path: &Path) -> Engine {
    let clock = Arc::new(ManualClock::at(NOW));
    Engine::open(path, clock, Settings::default(), Discipline::InStep).unwrap()
}

/// A connection set up as the journal sets up its own.
fn connect(path: &Path) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.set_prepared_statement_cache_capacity(96);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON; \
             PRAGMA cache_size = -2048; PRAGMA wal_autocheckpoint = 4000;",
        )
        .unwrap();
    connection
}

fn watcher(n: usize) -> SessionKey {
    SessionKey::new(format!("agent:main:dashboard:5b0c9a7e-watcher-{n:06}"))
}

fn human_turn() -> NewEvent {
    NewEvent {
        summary: Some("human message via telegram".into()),
        actor: Some("profile-1".into()),
        run: Some("0b9f7c1e-run".into()),
        ..NewEvent::new(
            SessionKey::new(TARGET),
            AgentId::main(),
            EventKind::HumanDirectMessage,
            ActorType::Human,
        )
    }
}

/// What an append finds.
#[derive(Clone, Copy, PartialEq)]
enum State {
    /// The watchers' notices are open already; the event joins them.
    Pending,
    /// The watchers acknowledged since the last event; it opens a notice for each.
    Opening,
}

/// Ours and the bare minimum, each with its own database.
struct Twins {
    engine: Engine,
    bare: Connection,
    /// A second connection to ours, as another process has one.
    beside: Connection,
    bare_first: bool,
    _folder: TempDir,
}

impl Twins {
    fn new(watchers: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let target = SessionKey::new(TARGET);
        let watchers: Vec<_> = (0..watchers).map(watcher).collect();
        let mut engines = ["ours.sqlite", "bare.sqlite"].map(|name| open(&database(&folder, name)));
        for engine in &mut engines {
            for watcher in &watchers {
                engine.watch(watcher, &target, None).unwrap();
            }
            engine.record(&human_turn(), Gate::Open).unwrap();
        }
        let [engine, other] = engines;
        drop(other);
        let bare = connect(&database(&folder, "bare.sqlite"));
        let beside = connect(&database(&folder, "ours.sqlite"));
        Self { engine, bare, beside, bare_first: false, _folder: folder }
    }

    /// The watchers of both acknowledge what is open, by one transaction each.
    fn acknowledge(&mut self) {
        for connection in [&self.beside, &self.bare] {
            connection
                .execute(
                    "UPDATE session_watch_cursors SET last_seen_sequence = material_sequence, notified_sequence = material_sequence",
                    [],
                )
                .unwrap();
        }
        self.engine.keep_in_step().unwrap();
        self.engine.take_asked();
    }

    /// One batch on each side: how long an event took, ours first.
    fn batch(&mut self, state: State) -> [Duration; 2] {
        let event = human_turn();
        let events = if state == State::Pending { BATCH } else { 1 };
        if state == State::Opening {
            self.acknowledge();
        }
        // Who goes first finds the caches cold, so that they take turns at that too.
        self.bare_first = !self.bare_first;
        let mut took = [Duration::ZERO; 2];
        for is_bare in [self.bare_first, !self.bare_first] {
            let taken = if is_bare {
                taking(events, || append_bare(&mut self.bare, &event, state))
            } else {
                taking(events, || {
                    self.engine.record(&event, Gate::Open).unwrap();
                    self.engine.take_asked();
                })
            };
            took[usize::from(is_bare)] = taken.cpu;
        }
        took
    }
}

/// The bare minimum for the rows of one event.
fn append_bare(connection: &mut Connection, event: &NewEvent, state: State) {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
    let run = |sql: &str, parameters: &[&dyn rusqlite::ToSql]| {
        transaction.prepare_cached(sql).unwrap().execute(parameters).unwrap();
    };
    let (session, agent) = (event.session.as_str(), event.agent.as_str());
    run(
        "INSERT INTO session_state_events (dedupe_key, session_key, session_id, agent_id, kind, actor_type, actor_id, run_id, \
         occurred_at, summary, payload_json) VALUES (NULL, ?1, NULL, ?2, ?3, ?4, ?5, ?6, ?7, ?8, NULL)",
        params![
            session,
            agent,
            event.kind.as_str(),
            event.actor_type.as_str(),
            event.actor,
            event.run,
            NOW,
            event.summary
        ],
    );
    let sequence = transaction.last_insert_rowid();
    run(
        "INSERT INTO session_state_heads (session_key, agent_id, last_sequence, updated_at) VALUES (?1, ?2, ?3, ?4) \
         ON CONFLICT (session_key, agent_id) DO UPDATE SET last_sequence = ?3, updated_at = ?4",
        params![session, agent, sequence, NOW],
    );
    let mut watchers: Vec<(String, i64)> = Vec::new();
    {
        let mut statement = transaction
            .prepare_cached(
                "SELECT watcher_session_key, last_seen_sequence FROM session_watch_cursors WHERE target_session_key = ?1 \
                 ORDER BY rowid",
            )
            .unwrap();
        let mut rows = statement.query([session]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            watchers.push((row.get(0).unwrap(), row.get(1).unwrap()));
        }
    }
    if !watchers.is_empty() {
        run(
            "UPDATE session_watch_cursors SET notified_sequence = iif(notified_sequence = last_seen_sequence, ?2, \
             notified_sequence), material_sequence = ?2, updated_at = ?3 WHERE target_session_key = ?1 AND watcher_session_key IS NOT ?4",
            params![session, sequence, NOW, event.actor],
        );
        let count = i64::try_from(watchers.len()).unwrap();
        let (queued, coalesced) = if state == State::Opening { (count, 0) } else { (0, count) };
        run(
            "INSERT INTO tidings_deliveries (sequence, queued, coalesced, suppressed) VALUES (?1, ?2, ?3, 0)",
            params![sequence, queued, coalesced],
        );
    }
    if state == State::Opening {
        run(
            "INSERT INTO tidings_ledger (at, step, watcher_key, target_key, sequence, last_seen, notified, material) \
             SELECT ?3, 'queued', watcher_session_key, target_session_key, ?2, last_seen_sequence, notified_sequence, \
             material_sequence FROM session_watch_cursors WHERE target_session_key = ?1 AND notified_sequence = ?2 ORDER BY rowid",
            params![session, sequence, NOW],
        );
    }
    transaction.commit().unwrap();
    std::hint::black_box(watchers);
}

fn append(figures: &mut Figures, watchers: usize, state: State) {
    let mut twins = Twins::new(watchers);
    let batches = if state == State::Pending { BATCHES } else { BATCHES * 4 };
    for _ in 0..3 {
        twins.batch(state);
    }
    let (ours, bare): (Vec<_>, Vec<_>) =
        (0..batches).map(|_| twins.batch(state)).map(|[ours, bare]| (ours, bare)).unzip();
    let (ours, bare) = (median(ours), median(bare));
    let ratio = bare.as_secs_f64() / ours.as_secs_f64();
    let what = match state {
        State::Pending => format!("append, {watchers} watchers, notices open"),
        State::Opening => format!("append, {watchers} watchers, opening their notices"),
    };
    let found = format!("{ours:.1?}, bare {bare:.1?}, speed {ratio:.2}");
    figures.say(&what, &found, ratio >= 0.8, ">= 0.8");
}

/// Fills a fresh database with events of one session.
fn full(folder: &TempDir) -> PathBuf {
    let path = database(folder, "full.sqlite");
    drop(open(&path));
    let connection = connect(&path);
    connection
        .execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) \
             INSERT INTO session_state_events (session_key, agent_id, kind, actor_type, actor_id, run_id, occurred_at, summary, payload_json) \
             SELECT ?2, 'main', 'human_direct_message', 'human', 'profile-1', 'run-' || i, ?3 - ?1 + i, \
             'human message via telegram', '{\"turns\":2}' FROM n",
            params![MAX_EVENTS, TARGET, NOW],
        )
        .unwrap();
    connection
        .execute(
            "INSERT INTO session_state_heads (session_key, agent_id, last_sequence, updated_at) VALUES (?1, 'main', ?2, ?3)",
            params![TARGET, MAX_EVENTS, NOW],
        )
        .unwrap();
    path
}

fn changes(figures: &mut Figures) {
    let folder = tempfile::tempdir().unwrap();
    let mut engine = open(&full(&folder));
    let address = (SessionKey::new(TARGET), AgentId::main());
    for (events, after, limit) in [
        (10, MAX_EVENTS - 10, Duration::from_micros(25)),
        (200, MAX_EVENTS / 2, Duration::from_micros(150)),
    ] {
        let took: Vec<_> = (0..200)
            .map(|_| {
                taking(20, || {
                    let changes = engine.changes(&address, Sequence(after), 200).unwrap();
                    assert_eq!(changes.events.len(), events);
                })
            })
            .collect();
        figures.time(&format!("changes, {events} of {MAX_EVENTS} events"), &took, limit);
    }
}

fn sweep(figures: &mut Figures, watchers: usize, targets: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = database(&folder, "pending.sqlite");
    drop(open(&path));
    let connection = connect(&path);
    let watchers: Vec<_> = (0..watchers).map(watcher).collect();
    connection.execute_batch("BEGIN").unwrap();
    for watcher in &watchers {
        connection
            .execute(
                "INSERT INTO tidings_sessions (session_key, agent_id, created_at) VALUES (?1, 'main', ?2)",
                params![watcher.as_str(), NOW],
            )
            .unwrap();
        for target in 0..targets {
            connection
                .execute(
                    "INSERT INTO session_watch_cursors (watcher_session_key, target_session_key, last_seen_sequence, \
                     notified_sequence, material_sequence, updated_at) VALUES (?1, ?2, 5, 6, 8, ?3)",
                    params![watcher.as_str(), format!("agent:main:subagent:{target:06}"), NOW],
                )
                .unwrap();
        }
    }
    connection.execute_batch("COMMIT").unwrap();
    drop(connection);
    let took: Vec<_> = (0..15)
        .map(|_| {
            let mut engine = open(&path);
            let mut requeued = 0;
            let took = taking(1, || requeued = engine.sweep().unwrap().requeued);
            assert_eq!(requeued, watchers.len() * targets);
            for watcher in &watchers {
                assert_eq!(engine.queues().lines(watcher).len(), targets);
            }
            took
        })
        .collect();
    let what = format!("sweep, {} watchers of {targets} sessions each", watchers.len());
    figures.time(&what, &took, Duration::from_millis(60));
}

fn prune(figures: &mut Figures) {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::at(NOW));
    let mut engine =
        Engine::open(&full(&folder), clock.clone(), Settings::default(), Discipline::InStep)
            .unwrap();
    let took: Vec<_> = (0..200)
        .map(|_| {
            clock.advance(HOUR);
            taking(1, || engine.prune().unwrap())
        })
        .collect();
    let rows = engine.journal().extent().unwrap().0;
    assert_eq!(rows, u64::try_from(MAX_EVENTS).unwrap(), "the prune had something to do");
    let what = format!("prune, nothing to do, {rows} events");
    figures.time(&what, &took, Duration::from_millis(5));
}

//! Measures what another system's writer feels of us: 500 events a second into a copy of its state database, alone, and while `run`,
//! the screen and verbs in a loop are attached to it.
//!
//! `scripts/measure` builds what is needed and runs this. For each case it prints how long the writer waited for the write lock
//! (`BEGIN IMMEDIATE`) and how long whole transactions took. On a busy machine a writer stalls without anybody's lock: how often
//! the lock was really not free is counted apart, by SQLite's own busy handler.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a tool for developers: it prints, and a failure has to stop it"
)]

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use rusqlite::{Connection, params};

/// Events a second.
const RATE: u32 = 500;
/// How long the writer writes in each case.
const SPAN: Duration = Duration::from_secs(15);
/// What the screen shows when it is attached.
const SIGN: &str = "attached, read-only";
/// The verbs that are run in a loop.
const VERBS: [&[&str]; 7] = [
    &["sessions"],
    &["watches"],
    &["notices"],
    &["queue"],
    &["findings"],
    &["check"],
    &["metrics"],
];

/// How often the lock was not free when the writer asked.
static BUSY: AtomicU64 = AtomicU64::new(0);

fn count_and_wait(times: i32) -> bool {
    BUSY.fetch_add(1, Ordering::Relaxed);
    std::thread::sleep(Duration::from_micros(200));
    times < 25_000
}

/// What one case took.
struct Took {
    waits: Vec<Duration>,
    wholes: Vec<Duration>,
    busy: u64,
    behind: Duration,
}

/// Writes for [`SPAN`], as the original appends: an event, its head, the cursors on its session, in one transaction.
fn write(db: &Path) -> Took {
    let mut writer = Connection::open(db).unwrap();
    writer.busy_handler(Some(count_and_wait)).unwrap();
    writer.execute_batch("PRAGMA synchronous = NORMAL").unwrap();
    let (target, agent): (String, String) = writer
        .query_row(
            "SELECT session_key, agent_id FROM session_state_heads ORDER BY \
             (SELECT count(*) FROM session_watch_cursors WHERE target_session_key = session_key) DESC LIMIT 1",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap();
    BUSY.store(0, Ordering::Relaxed);
    let (mut waits, mut wholes) = (Vec::new(), Vec::new());
    let began = Instant::now();
    let events = RATE * u32::try_from(SPAN.as_secs()).unwrap();
    for n in 0..events {
        let due = began + SPAN / events * n;
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let at = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        let at = i64::try_from(at.as_millis()).unwrap();
        let asked = Instant::now();
        writer.execute_batch("BEGIN IMMEDIATE").unwrap();
        waits.push(asked.elapsed());
        let insert = "INSERT INTO session_state_events (session_key, agent_id, kind, actor_type, occurred_at, summary) \
                      VALUES (?1, ?2, 'goal_changed', 'human', ?3, 'goal updated')";
        writer.prepare_cached(insert).unwrap().execute(params![target, agent, at]).unwrap();
        let sequence = writer.last_insert_rowid();
        let head = "UPDATE session_state_heads SET last_sequence = ?1, updated_at = ?2 WHERE session_key = ?3";
        writer.prepare_cached(head).unwrap().execute(params![sequence, at, target]).unwrap();
        let cursors = "UPDATE session_watch_cursors SET notified_sequence = iif(notified_sequence = last_seen_sequence, ?1, \
                       notified_sequence), material_sequence = ?1, updated_at = ?2 WHERE target_session_key = ?3";
        writer.prepare_cached(cursors).unwrap().execute(params![sequence, at, target]).unwrap();
        writer.execute_batch("COMMIT").unwrap();
        wholes.push(asked.elapsed());
    }
    let behind = began.elapsed().saturating_sub(SPAN);
    Took { waits, wholes, busy: BUSY.load(Ordering::Relaxed), behind }
}

/// Lets one more program attach.
type Start = fn(&mut Attached);

/// Programs that are attached; they end with this.
struct Attached {
    program: PathBuf,
    db: PathBuf,
    home: PathBuf,
    ends: Vec<Box<dyn FnOnce()>>,
}

impl Attached {
    fn new(program: &Path, db: &Path, home: &Path) -> Self {
        let [program, db, home] = [program, db, home].map(Path::to_owned);
        Self { program, db, home, ends: Vec::new() }
    }

    fn command(program: &Path, db: &Path, home: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(["--attach".as_ref(), db.as_os_str()]).args(arguments);
        command.env_clear().env("HOME", home).stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(Stdio::null());
        command
    }

    fn run(&mut self) {
        let mut child =
            Self::command(&self.program, &self.db, &self.home, &["run", "--json"]).spawn().unwrap();
        self.ends.push(Box::new(move || {
            child.kill().unwrap();
            child.wait().unwrap();
        }));
    }

    fn screen(&mut self) {
        let (rows, columns) = (60, 200);
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(&self.program);
        command.args(["--attach", self.db.to_str().unwrap()]);
        command.env_clear();
        command.env("HOME", &self.home);
        command.env("TERM", "xterm-256color");
        let (rows, columns) = (NonZero::new(rows).unwrap(), NonZero::new(columns).unwrap());
        let emulator = Arc::new(Mutex::new(vt100::Parser::new(rows, columns, 0)));
        let shown = Arc::clone(&emulator);
        let mut reader = pair.master.try_clone_reader().unwrap();
        let mut child = pair.slave.spawn_command(command).unwrap();
        std::thread::spawn(move || {
            let mut bytes = vec![0; 65_536];
            while let Ok(read @ 1..) = std::io::Read::read(&mut reader, &mut bytes) {
                shown.lock().unwrap().process(&bytes[..read]);
            }
        });
        let began = Instant::now();
        while !emulator.lock().unwrap().screen().contents().contains(SIGN) {
            assert!(began.elapsed() < Duration::from_secs(60), "no frame comes");
            std::thread::sleep(Duration::from_millis(5));
        }
        self.ends.push(Box::new(move || {
            child.kill().unwrap();
            let _ = child.wait();
            drop(pair);
        }));
    }

    /// One verb after the other, without a rest; how many there were is printed at the end.
    fn verbs(&mut self) {
        let over = Arc::new(AtomicBool::new(false));
        let (told, program, db, home) =
            (Arc::clone(&over), self.program.clone(), self.db.clone(), self.home.clone());
        let looping = std::thread::spawn(move || {
            let mut ran = 0;
            for verb in VERBS.iter().cycle().take_while(|_| !told.load(Ordering::Relaxed)) {
                Self::command(&program, &db, &home, verb).status().unwrap();
                ran += 1;
            }
            ran
        });
        self.ends.push(Box::new(move || {
            over.store(true, Ordering::Relaxed);
            println!("  (the loop ran {} verbs)", looping.join().unwrap());
        }));
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        for end in self.ends.drain(..) {
            end();
        }
    }
}

/// The slowest of all but one in `parts`, in milliseconds.
fn slowest(sorted: &[Duration], parts: usize) -> f64 {
    sorted[sorted.len() - 1 - sorted.len() / parts].as_secs_f64() * 1e3
}

fn print(case: &str, mut took: Took, log: u64) {
    took.waits.sort_unstable();
    took.wholes.sort_unstable();
    let all = usize::MAX;
    println!(
        "{case:<26} lock: p99 {:>6.2}  max {:>6.2}  not free {:>3}   transaction: p99 {:>6.2}  max {:>6.2}   log {:>5} KiB{}",
        slowest(&took.waits, 100),
        slowest(&took.waits, all),
        took.busy,
        slowest(&took.wholes, 100),
        slowest(&took.wholes, all),
        log / 1024,
        if took.behind > Duration::from_millis(500) { "   (could not keep up)" } else { "" },
    );
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(PathBuf::from);
    let program = std::fs::canonicalize(arguments.next().unwrap()).unwrap();
    let original = arguments.next();
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("openclaw.sqlite");
    let home = folder.path().join("home");
    std::fs::create_dir(&home).unwrap();
    match &original {
        Some(original) => std::fs::write(&db, std::fs::read(original).unwrap()).unwrap(),
        None => Connection::open(&db)
            .unwrap()
            .execute_batch(&format!(
                "{} PRAGMA journal_mode = WAL;",
                include_str!("../tests/attached/foreign.sql")
            ))
            .unwrap(),
    }
    println!(
        "{RATE} events a second for {} s each, into {}; milliseconds",
        SPAN.as_secs(),
        original.as_deref().map_or("a made-up database".into(), Path::to_string_lossy)
    );
    let cases: [(&str, &[Start]); 6] = [
        ("nobody else", &[]),
        ("run", &[Attached::run]),
        ("screen", &[Attached::screen]),
        ("verbs in a loop", &[Attached::verbs]),
        ("all three", &[Attached::run, Attached::screen, Attached::verbs]),
        ("nobody else, once more", &[]),
    ];
    for (case, starts) in cases {
        // An owner that is there: without one, the file would be read as one that nobody has open.
        let owner = Connection::open(&db).unwrap();
        owner.query_row("SELECT count(*) FROM session_state_heads", [], |_| Ok(())).unwrap();
        let mut attached = Attached::new(&program, &db, &home);
        for start in starts {
            start(&mut attached);
        }
        let took = write(&db);
        let mut log = db.clone().into_os_string();
        log.push("-wal");
        let log = std::fs::metadata(log).unwrap().len();
        drop(attached);
        print(case, took, log);
    }
    println!("wanted: no wait over 10 ms that is not there without us, and the lock always free");
}

//! Measures the screen of the real program over a large state: 2,000 sessions, 20,000 watches, 50,000 events.
//!
//! `scripts/measure` builds what is needed and runs this. It prints how long the first frame takes, how much of a core an idle
//! screen needs, and how much memory is resident. Linux only: the figures come from `/proc`.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::disallowed_methods,
    reason = "a tool for developers: it prints, reads small files of /proc, and a failure has to stop it"
)]

use std::io::Read as _;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use tidings::clock::{Clock as _, SystemClock};
use tidings::engine::{Discipline, Engine, Settings};
use tidings::event::{ActorType, EventKind, NewEvent};
use tidings::journal::append::Gate;
use tidings::journal::sessions::SessionFacts;
use tidings::session_key::{AgentId, SessionKey};

const SESSIONS: usize = 2_000;
const WATCHES: usize = 20_000;
const EVENTS: usize = 50_000;
/// When the start has ended: the wakes of what was pending go out 20 s after it.
const SETTLED: Duration = Duration::from_secs(30);
/// How long the idle screen is looked at: one tick of the monitor is in it.
const IDLE: Duration = Duration::from_secs(60);
/// What the first frame shows.
const SIGN: &str = "Sessions 2,";

fn key(n: usize) -> SessionKey {
    SessionKey::new(format!("agent:main:session:{n:05}"))
}

/// Fills a state database at `path`.
fn fill(path: &Path) {
    let settings = Settings::default();
    let mut engine =
        Engine::open(path, Arc::new(SystemClock), settings, Discipline::Loose).unwrap();
    for n in 0..SESSIONS {
        let parent = (n % 4 != 0).then(|| key(n - n % 4));
        let facts = SessionFacts { parent, ..SessionFacts::default() };
        engine.register(&(key(n), AgentId::main()), &facts).unwrap();
    }
    let of_each = WATCHES / SESSIONS;
    for n in 0..SESSIONS {
        for step in 1..=of_each {
            let target = key((n + step * step * 7) % SESSIONS);
            engine.watch(&key(n), &target, None).unwrap();
        }
    }
    let now = SystemClock.now();
    for n in 0..EVENTS {
        let target = key(n * 7_919 % SESSIONS);
        let kind = if n % 20 == 0 { EventKind::GoalChanged } else { EventKind::Compacted };
        let event = NewEvent {
            occurred_at: Some(now - i64::try_from((EVENTS - n) * 100).unwrap()),
            ..NewEvent::new(target, AgentId::main(), kind, ActorType::Human)
        };
        engine.record(&event, Gate::Open).unwrap();
    }
}

/// Processor time that the process has used, in seconds: the sum of what the scheduler counts for each of its threads, in
/// nanoseconds. The hundredths of a second in `/proc/ID/stat` are too coarse for a program that runs so little.
fn used(id: u32) -> f64 {
    let threads = std::fs::read_dir(format!("/proc/{id}/task")).unwrap();
    threads
        .filter_map(|thread| std::fs::read_to_string(thread.unwrap().path().join("schedstat")).ok())
        .map(|counts| counts.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9)
        .sum()
}

/// A line of `/proc/ID/status`, in KiB.
fn kib(id: u32, name: &str) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn main() {
    let program = PathBuf::from(std::env::args().nth(1).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("state.sqlite");
    println!("filling {SESSIONS} sessions, {WATCHES} watches, {EVENTS} events …");
    fill(&db);

    let (rows, columns) = (60, 200);
    let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
    let pair = native_pty_system().openpty(size).unwrap();
    let mut command = CommandBuilder::new(program);
    command.args(["--db", db.to_str().unwrap()]);
    command.env("HOME", folder.path());
    command.env("TERM", "xterm-256color");
    let (some_rows, some_columns) = (NonZero::new(rows).unwrap(), NonZero::new(columns).unwrap());
    let emulator = Arc::new(Mutex::new(vt100::Parser::new(some_rows, some_columns, 0)));
    let mut reader = pair.master.try_clone_reader().unwrap();
    let screen = Arc::clone(&emulator);
    let bytes_out = Arc::new(Mutex::new(0_usize));
    let counted = Arc::clone(&bytes_out);
    let began = Instant::now();
    let mut child = pair.slave.spawn_command(command).unwrap();
    std::thread::spawn(move || {
        let mut bytes = vec![0; 65_536];
        while let Ok(read @ 1..) = reader.read(&mut bytes) {
            *counted.lock().unwrap() += read;
            screen.lock().unwrap().process(&bytes[..read]);
        }
    });
    while !emulator.lock().unwrap().screen().contents().contains(SIGN) {
        assert!(began.elapsed() < Duration::from_secs(60), "no frame comes");
        std::thread::sleep(Duration::from_millis(1));
    }
    let first = began.elapsed();
    let id = child.process_id().unwrap();
    std::thread::sleep(SETTLED);
    let (before, from, written) = (used(id), Instant::now(), *bytes_out.lock().unwrap());
    std::thread::sleep(IDLE);
    let share = (used(id) - before) / from.elapsed().as_secs_f64() * 100.0;
    let written = *bytes_out.lock().unwrap() - written;
    println!("first frame after   {:>8.1} ms   (wanted: under 100 ms)", first.as_secs_f64() * 1e3);
    println!("idle                {share:>8.2} %    (wanted: under 0.3 % of one core)");
    println!("resident            {:>8.1} MiB  (wanted: under 40 MB)", kib(id, "VmRSS") / 1024.0);
    println!("  of it not files   {:>8.1} MiB", kib(id, "RssAnon") / 1024.0);
    println!("at most             {:>8.1} MiB", kib(id, "VmHWM") / 1024.0);
    println!("written while idle  {:>8.0} bytes a second", written as f64 / IDLE.as_secs_f64());
    child.kill().unwrap();
    let _ = child.wait();
}

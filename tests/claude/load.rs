//! What a tick costs, and what it survives.

use std::fs;
use std::io::Write as _;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use tidings::event::EventKind;
use tidings::upstream::echo::OwnTexts;
use tidings::upstream::{Cause, Finding, Probe};

use super::support::{House, append, prompt};

const LINKS: usize = 1_000;

/// A house with a thousand adopted transcripts, of which nothing is new.
fn crowded() -> House {
    let mut house = House::new();
    for number in 0..LINKS {
        let path = house.transcript(&format!("s{number}"), &[prompt("old", -1)]);
        house.adopt(&path);
    }
    house
}

/// How often this thread has read so far.
#[cfg(target_os = "linux")]
fn reads() -> u64 {
    let io = String::from_utf8(fs::read("/proc/thread-self/io").unwrap()).unwrap();
    let line = io.lines().find_map(|line| line.strip_prefix("syscr: ")).unwrap();
    line.parse().unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn a_thousand_quiet_links_are_read_by_no_probe() {
    let house = crowded();
    let (links, _) = house.engine.journal().watched_links().unwrap();
    assert_eq!(links.len(), LINKS);
    let probes: Vec<_> = links
        .into_iter()
        .map(|link| Probe { link, own_texts: OwnTexts::default(), cause: Cause::Tick, held: None })
        .collect();
    let look_itself = {
        let before = reads();
        reads() - before
    };
    let before = reads();
    for probe in &probes {
        assert_eq!(house.providers[0].probe(probe), Finding::Quiet);
    }
    assert_eq!(reads() - before, look_itself);
}

/// Says that nothing was tested: straight to the terminal, for what a test that passes prints is thrown away.
fn skipped(why: &str) {
    let line =
        format!("SKIPPED: opens and looks of a quiet tick are not counted, {}\n", why.trim_end());
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}

#[test]
fn a_tick_over_a_thousand_quiet_links_looks_at_each_once_and_opens_none() {
    if Command::new("strace").arg("-V").output().is_err() {
        return skipped("strace is not installed");
    }
    let house = crowded();
    let (folder, trace) = (house.folder.path(), house.folder.path().join("trace"));
    let ticked = Command::new("strace")
        .args(["-f", "-qq", "-e", "trace=%file,read,pread64", "-e", "signal=none", "-y", "-o"])
        .arg(&trace)
        .arg(env!("CARGO_BIN_EXE_tidings"))
        .args(["--json", "--db"])
        .arg(folder.join("state.sqlite"))
        .arg("tick")
        .env("HOME", folder)
        .env("XDG_CONFIG_HOME", folder.join("config"))
        .env("CLAUDE_CONFIG_DIR", folder.canonicalize().unwrap().join("claude"))
        .env_remove("TIDINGS_CONFIG")
        .output()
        .unwrap();
    let trace = String::from_utf8_lossy(&fs::read(trace).unwrap_or_default()).into_owned();
    if trace.is_empty() {
        return skipped(&format!(
            "strace may not trace here: {}",
            String::from_utf8_lossy(&ticked.stderr)
        ));
    }
    assert!(ticked.status.success(), "{}", String::from_utf8_lossy(&ticked.stderr));
    let body: Value = serde_json::from_slice(&ticked.stdout).unwrap();
    let links = body["links"].as_array().unwrap();
    assert_eq!(links.len(), LINKS, "each link is listed");
    assert!(links.iter().all(|link| link["outcome"] == "quiet"));

    let of_transcripts: Vec<_> = trace.lines().filter(|line| line.contains(".jsonl")).collect();
    let is_look = |line: &&&str| line.contains("stat");
    let looks = of_transcripts.iter().filter(is_look).count();
    let others: Vec<_> = of_transcripts.iter().filter(|line| !is_look(line)).collect();
    assert_eq!(looks, LINKS);
    assert!(others.is_empty(), "neither opened nor read: {:?}", &others[..others.len().min(5)]);
}

#[test]
fn a_burst_of_a_thousand_prompts_is_one_event() {
    let mut house = House::new();
    let path = house.transcript("s", &[prompt("old", -1)]);
    house.adopt(&path);
    let burst: Vec<_> = (0..1_000).map(|number| prompt(&format!("p{number}"), number)).collect();
    append(&path, &burst);
    assert_eq!(house.tick().human_turns, 1_000);
    let events = house.events(&EventKind::HumanDirectMessage);
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].payload.as_ref().unwrap()["turns"], 1_000);
}

#[test]
fn a_pipe_in_place_of_a_transcript_holds_up_nobody() {
    let mut house = House::new();
    let (path, other) =
        (house.transcript("s", &[prompt("a", -1)]), house.transcript("t", &[prompt("b", -1)]));
    let session = house.adopt(&path);
    house.adopt(&other);
    fs::remove_file(&path).unwrap();
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    append(&other, &[prompt("c", 1)]);
    let began = Instant::now();
    let outcomes = house.tick_all();
    assert!(began.elapsed() < Duration::from_secs(30), "the pipe was waited for");
    let word = |of_pipe: bool| {
        let is_it = |outcome: &&tidings::engine::monitor::LinkOutcome| {
            (outcome.session == session) == of_pipe
        };
        outcomes.iter().find(is_it).unwrap().outcome.clone()
    };
    assert_eq!((word(true).as_str(), word(false).as_str()), ("missing", "activity"));
}

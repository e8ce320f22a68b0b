//! The live engine with file events and without.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tidings::engine::feed::FeedItem;
use tidings::engine::live::{Reply, Request};
use tidings::event::EventKind;

use super::support::{House, NEVER, NOISE, OFTEN, Writer, prompt, prompt_at};

#[test]
fn what_is_written_is_seen_without_a_tick_and_without_events_at_the_tick() {
    for (file_events, schedule) in [(true, NEVER), (false, OFTEN)] {
        let house = House::new();
        let path = house.transcript("a");
        let session = house.adopt(&path);
        let mut running = house.live(file_events, schedule);
        let mut writer = Writer::start(&path);
        writer.write(&prompt(1));
        running.until_turns(&session, 1);
        writer.write(&[prompt(2), prompt(3)].concat());
        running.until_turns(&session, 2);
    }
}

#[test]
fn a_file_that_is_written_all_the_time_starves_nobody_and_is_seen_itself() {
    let house = House::new();
    let (busy, calm) = (house.transcript("busy"), house.transcript("calm"));
    let (busy_session, calm_session) = (house.adopt(&busy), house.adopt(&calm));
    let mut running = house.live(true, NEVER);
    let done = Arc::new(AtomicBool::new(false));
    let told = done.clone();
    let noise = std::thread::spawn(move || {
        let mut writer = Writer::start(&busy);
        writer.write(&prompt(1));
        while !told.load(Ordering::Relaxed) {
            writer.write(&NOISE.repeat(20));
            std::thread::yield_now();
            std::thread::sleep(std::time::Duration::from_micros(200));
        }
    });
    running.until_turns(&busy_session, 1);
    Writer::start(&calm).write(&prompt(2));
    running.until_turns(&calm_session, 1);
    done.store(true, Ordering::Relaxed);
    noise.join().unwrap();
}

#[test]
fn a_session_adopted_later_is_followed_at_once_by_whoever_adopted_it() {
    let house = House::new();
    let mut running = house.live(true, NEVER);
    let (own, other) = (house.transcript("own"), house.transcript("other"));
    let wanted = own.to_str().unwrap().to_owned();
    let Reply::Adopted(session) = running.ask(Request::Adopt { catalog: "claude".into(), wanted })
    else {
        panic!("not adopted")
    };
    Writer::start(&own).write(&prompt(1));
    running.until_turns(&session, 1);
    let session = house.adopt(&other);
    Writer::start(&other).write(&prompt(2));
    running.until_turns(&session, 1);
}

#[test]
fn a_folder_that_went_and_came_back_is_listened_to_again() {
    let house = House::new();
    let path = house.transcript("a");
    let session = house.adopt(&path);
    let mut running = house.live(true, NEVER);
    let (away, project) = (house.root.join("away"), house.project());
    fs::rename(&project, &away).unwrap();
    fs::rename(&away, &project).unwrap();
    Writer::start(&path).write(&prompt(1));
    running.until_turns(&session, 1);
    fs::remove_dir_all(&project).unwrap();
    fs::create_dir(&project).unwrap();
    house.transcript("a");
    Writer::start(&path).write(&prompt(2));
    // Its row has no time of its own, so the file's counts, which is newer than the adoption.
    running.until_turns(&session, 1);
}

#[test]
fn events_count_no_misses_and_ticks_do() {
    let house = House::new();
    let (path, other) = (house.transcript("a"), house.transcript("b"));
    house.adopt(&path);
    let session = house.adopt(&other);
    let mut running = house.live(true, NEVER);
    for id in 0..4 {
        if id > 0 {
            fs::write(&path, NOISE).unwrap();
        }
        fs::remove_file(&path).unwrap();
        // What comes after it in the same folder is seen, so the deletion was looked at, too.
        Writer::start(&other).write(&prompt(id));
        running.until_turns(&session, 1);
    }
    for streak in 1..=3 {
        running.ask(Request::Tick);
        let outcome = running.until(|item| match item {
            FeedItem::Tick(links) => {
                Some(links.iter().find(|link| link.thread == "a").unwrap().clone())
            }
            FeedItem::Recorded(row) => {
                assert!(streak == 3 || row.event.kind != EventKind::UpstreamMissing);
                None
            }
            _ => None,
        });
        assert_eq!(outcome.outcome, "missing");
        assert!(outcome.detail.unwrap().starts_with(&format!("{streak}/3")));
    }
}

/// The rows by which the session `new` says that it began when `old` was cleared.
const CLEAR: [&str; 2] = [
    "{\"type\":\"user\",\"rowSource\":\"local\",\"sessionId\":\"new\",\"message\":{\"role\":\"user\",\"content\":\"<command-name>/clear</command-name>\"}}\n",
    "{\"type\":\"attachment\",\"sessionId\":\"new\",\"session_id\":\"old\"}\n",
];

/// The harness clears the session `old`, which goes on as `new` in a file of its own.
fn clear(house: &House) {
    let new = house.project().join("new.jsonl");
    let [command, program] = CLEAR;
    fs::write(&new, command).unwrap();
    Writer::start(&new).write(program);
}

#[test]
fn a_cleared_session_is_said_to_go_on_elsewhere() {
    let house = House::new();
    let path = house.transcript("old");
    let session = house.adopt(&path);
    let running = house.live(true, NEVER);
    clear(&house);
    running.until_outcome(&session, "continued elsewhere", "goes on as new");
    running.ask(Request::Tick);
    running.until_outcome(&session, "continued elsewhere", "goes on as new");
}

#[test]
fn a_cleared_session_is_said_to_go_on_elsewhere_though_the_other_was_adopted_before_it_said_so() {
    for (file_events, schedule) in [(true, NEVER), (false, OFTEN)] {
        let house = House::new();
        let path = house.transcript("old");
        let session = house.adopt(&path);
        let mut running = house.live(file_events, schedule);
        let other = house.transcript("new");
        let new = house.adopt(&other);
        let mut writer = Writer::start(&other);
        writer.write(&prompt(1));
        running.until_turns(&new, 1);
        let [command, program] = CLEAR;
        writer.write(command);
        writer.write(&prompt(2));
        running.until_turns(&new, 1);
        writer.write(program);
        running.until_outcome(&session, "continued elsewhere", "goes on as new");
        running.ask(Request::Tick);
        running.until_outcome(&session, "continued elsewhere", "goes on as new");
    }
}

#[test]
fn without_file_events_a_tick_finds_what_a_cleared_session_goes_on_as() {
    let house = House::new();
    let path = house.transcript("old");
    let session = house.adopt(&path);
    let running = house.live(false, OFTEN);
    clear(&house);
    running.until_outcome(&session, "continued elsewhere", "goes on as new");
}

#[test]
fn a_fork_that_is_adopted_while_its_copies_are_written_counts_only_its_own_prompts() {
    let house = House::new();
    let old = jiff::Timestamp::now() - Duration::from_secs(3);
    let copies: Vec<_> = (1..=40).map(|id| prompt_at(id, old)).collect();
    fs::write(house.project().join("parent.jsonl"), copies.concat()).unwrap();
    let path = house.project().join("fork.jsonl");
    fs::write(&path, &copies[0]).unwrap();
    let session = house.adopt(&path);
    let mut running = house.live(true, NEVER);
    let mut writer = Writer::start(&path);
    for copy in &copies[1..] {
        let (first, second) = copy.split_at(copy.len() / 2);
        writer.write(first);
        std::thread::yield_now();
        writer.write(second);
    }
    writer.write(&prompt_at(41, old));
    running.until_turns(&session, 1);
    writer.write(&prompt(42));
    running.until_turns(&session, 1);
    assert_eq!(house.turns(), 2);
}

#[test]
fn a_moved_project_folder_is_followed_and_listened_to() {
    let house = House::new();
    let path = house.transcript("a");
    let session = house.adopt(&path);
    let mut running = house.live(true, NEVER);
    let there = house.claude().join("projects/-q");
    fs::rename(house.project(), &there).unwrap();
    running.until_outcome(&session, "moved", "followed");
    Writer::start(&there.join("a.jsonl")).write(&prompt(1));
    running.until_turns(&session, 1);
}

#[test]
fn sub_agents_are_seen_without_a_tick() {
    let house = House::new();
    let path = house.transcript("a");
    house.adopt(&path);
    let mut running = house.live(true, NEVER);
    let folder = house.project().join("a/subagents");
    fs::create_dir_all(&folder).unwrap();
    let now = jiff::Timestamp::now();
    let first = format!(
        "{{\"type\":\"user\",\"timestamp\":\"{now}\",\"message\":{{\"role\":\"user\",\"content\":\"ZXQ\"}}}}\n"
    );
    let last = format!(
        "{{\"type\":\"assistant\",\"timestamp\":\"{now}\",\"message\":{{\"role\":\"assistant\",\"content\":[],\"stop_reason\":\"end_turn\"}}}}\n"
    );
    let file = folder.join("agent-a1.jsonl");
    fs::write(&file, first).unwrap();
    running.until_kind(&EventKind::ChildSpawned);
    Writer::start(&file).write(&last);
    running.until_kind(&EventKind::RunCompleted);
}

#[cfg(target_os = "linux")]
/// Whether this process, in which the engine runs, has the file open.
fn is_open(path: &Path) -> bool {
    let open = fs::read_dir("/proc/self/fd").unwrap();
    open.flatten().any(|file| fs::read_link(file.path()).is_ok_and(|target| target == path))
}

#[cfg(target_os = "linux")]
#[test]
fn a_prompt_that_is_deleted_with_its_file_a_moment_later_counts_and_so_does_what_comes_in_its_place()
 {
    for goes_on in [false, true] {
        let house = House::new();
        let path = house.transcript("a");
        let session = house.adopt(&path);
        let mut running = house.live(true, NEVER);
        Writer::start(&path).write(&prompt(1));
        while !is_open(&path) && house.turns() == 0 {
            std::thread::yield_now();
        }
        fs::remove_file(&path).unwrap();
        if goes_on {
            fs::write(&path, prompt(2)).unwrap();
            running.until_turns(&session, 2);
            assert_eq!(house.marker(&session).get("missedBehind"), None);
        } else {
            running.until_turns(&session, 1);
        }
    }
}

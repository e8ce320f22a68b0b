//! The live engine with file events and without.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tidings::engine::feed::FeedItem;
use tidings::engine::live::{Reply, Request};
use tidings::event::EventKind;

use super::support::{House, NEVER, NOISE, OFTEN, Writer, prompt};

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
        fs::remove_file(&path).unwrap();
        // What comes after it in the same folder is seen, so the deletion was looked at, too.
        Writer::start(&other).write(&prompt(id));
        running.until_turns(&session, 1);
        fs::write(&path, NOISE).unwrap();
    }
    fs::remove_file(&path).unwrap();
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

//! What can be concluded from another system's database, and what can't.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use tidings::clock::ManualClock;
use tidings::engine::Settings;
use tidings::engine::attached::Attached;
use tidings::engine::explain::{Explanation, Verdict};

use crate::foreign::{Foreign, Real, real};
use crate::support::{checked, question};

const MAIN: &str = "agent:main:main";
const A: &str = "agent:main:subagent:a";

fn explain(path: &Path, watcher: &str, target: &str, event: Option<i64>) -> Explanation {
    let clock = Arc::new(ManualClock::at(1_784_160_068_000));
    let mut attached = Attached::open(path, clock, Settings::default()).unwrap();
    checked(attached.observer().explain(&question(watcher, target, event)).unwrap())
}

#[test]
fn rules_that_rest_on_the_journal_and_the_cursors_hold() {
    let foreign = Foreign::oldest();
    for (watcher, target, event, verdict) in [
        (MAIN, A, None, Verdict::Coalesced),
        (MAIN, A, Some(4), Verdict::Coalesced),
        (MAIN, A, Some(1), Verdict::RegisteredAfter),
        (MAIN, "agent:main:subagent:b", None, Verdict::LogOnly),
        (A, "agent:main:subagent:a:subagent:c", None, Verdict::Queued),
        (MAIN, "agent:main:claude:t", Some(8), Verdict::SelfCaused),
        (MAIN, A, Some(6), Verdict::OtherKey),
        ("agent:main:Main", A, Some(3), Verdict::NoCursor),
        ("main", A, Some(3), Verdict::NotQualified),
        (MAIN, A, Some(99), Verdict::NotRecorded),
    ] {
        let found = explain(&foreign.path(), watcher, target, event);
        assert_eq!(found.verdict, verdict, "{watcher} {target} {event:?}: {}", found.because);
        assert!(found.evidence["unknown"].as_array().unwrap().contains(&json!("queue")));
    }
}

#[test]
fn what_only_the_other_system_knows_is_unknown() {
    let foreign = Foreign::oldest();
    let found = explain(&foreign.path(), "agent:ops:main", "agent:main:claude:t", None);
    assert_eq!((found.verdict, &found.evidence["implied"]), (Verdict::Unknown, &json!(true)));
    assert!(found.because.contains("only that system's memory knows"), "{}", found.because);
    let found = explain(&foreign.path(), MAIN, A, Some(3));
    assert_eq!(found.verdict, Verdict::Unknown, "{}", found.because);
}

#[test]
fn a_watcher_that_took_a_notice_or_began_later_is_not_told_apart() {
    let foreign = Foreign::oldest();
    foreign.change(
        "UPDATE session_watch_cursors SET last_seen_sequence = 4, notified_sequence = 4, material_sequence = 4
         WHERE target_session_key = 'agent:main:subagent:a'",
    );
    let found = explain(&foreign.path(), MAIN, A, Some(3));
    assert_eq!(found.verdict, Verdict::Unknown);
    assert!(found.because.contains("does not say which"), "{}", found.because);
}

#[test]
fn every_pair_of_the_real_files_is_explained() {
    for Real { path, .. } in &real() {
        let before = std::fs::read(path).unwrap();
        let clock = Arc::new(ManualClock::at(1_784_170_000_000));
        let attached = Attached::open(path, clock, Settings::default()).unwrap();
        for cursor in attached.reader().cursors().unwrap() {
            let found = explain(path, cursor.watcher.as_str(), cursor.target.as_str(), None);
            assert!(cursor.is_pending() || found.verdict != Verdict::Queued, "{found:?}");
        }
        assert_eq!(std::fs::read(path).unwrap(), before);
    }
}

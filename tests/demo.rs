//! The demo's story: every condition of a watch is seen while it plays.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use tidings::demo::{Demo, DemoOptions};
use tidings::watch::Condition;

#[test]
fn every_condition_is_seen_within_the_story() {
    let demo = Demo::start(DemoOptions { seed: 1, speed: 10.0 }).unwrap();
    let mut snapshots = demo.handle().snapshots();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let deadline = Instant::now() + Duration::from_secs(120);
    let mut missing: HashSet<_> = Condition::ALL.into_iter().collect();
    while !missing.is_empty() {
        assert!(Instant::now() < deadline, "never seen: {missing:?}");
        runtime
            .block_on(async {
                tokio::time::timeout(Duration::from_secs(60), snapshots.changed()).await
            })
            .unwrap()
            .unwrap();
        for watch in snapshots.borrow_and_update().watches.iter() {
            missing.remove(&watch.condition);
        }
    }
}

#[test]
fn pictures_are_the_same_each_time_and_show_their_view() {
    let picture = |view: &str| {
        let out = std::process::Command::new(env!("CARGO_BIN_EXE_tidings"))
            .args(["demo", "--picture", view, "--size", "120x40"])
            .output()
            .unwrap();
        assert!(out.status.success(), "{view}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    };
    for (view, shown) in [
        ("main", "Pending notices"),
        ("delta", "EXACT"),
        ("graph", "Graph of watches"),
        ("explain", "Why: "),
        ("upstream", "Upstream links"),
        ("catalog", "flaky-tests"),
        ("queue", "Queues and wakes"),
        ("storage", "database file"),
        ("findings", "rules"),
        ("help", "Keys: main view"),
    ] {
        let svg = picture(view);
        assert!(svg.starts_with("<svg ") && svg.contains(shown), "{view}");
        assert!(svg == picture(view), "{view} differs");
        assert!(!svg.contains("tidings-demo-"), "{view} names a temporary folder");
    }
    let refused = std::process::Command::new(env!("CARGO_BIN_EXE_tidings"))
        .args(["demo", "--picture", "nothing"])
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(2));
}

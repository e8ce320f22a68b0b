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
        for watch in &snapshots.borrow_and_update().watches {
            missing.remove(&watch.condition);
        }
    }
}

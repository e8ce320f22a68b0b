//! The traces recorded from the original system, played step by step: every field of every observation must agree.
//!
//! `tests/traces` is a copy of the recordings. A missing one fails.

use std::path::Path;

use tidings::engine::Settings;
use tidings::script::Player;
use tidings::script::check::{Trace, check};

/// How many recordings there are; fewer means that some were lost.
const TRACES: usize = 40;

#[test]
fn every_recorded_trace_agrees() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .expect("tests/traces holds the recorded traces; restore it from version control")
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert_eq!(
        files.len(),
        TRACES,
        "recordings are missing from tests/traces; restore them from version control"
    );
    let mut differences = Vec::new();
    for file in files {
        let trace: Trace = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        assert_eq!(trace.ops.len(), trace.expect.len(), "{}", trace.name);
        let mut player = Player::new(Settings::default()).unwrap();
        if let Some(difference) = check(&mut player, &trace).unwrap() {
            differences.push(format!(
                "{} step {}: {}\n  {}\n  wanted {}\n  found  {}",
                trace.name,
                difference.step,
                difference.field,
                difference.operation,
                difference.wanted,
                difference.found
            ));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

//! Each recorded transcript, adopted while it is empty and grown in pieces: the journal holds its turns.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::json;

use crate::support::{Bench, append};

#[derive(Deserialize)]
struct Case {
    file: String,
    path: String,
    expectation: Expectation,
}

#[derive(Deserialize)]
struct Expectation {
    human_turns: BTreeSet<u64>,
    max_line_bytes: Option<usize>,
}

impl Case {
    /// The transcript. The one with a row of over a megabyte is not kept here and is made: its shape is three rows, the
    /// prompt with the picture, five rows, a prompt, two rows.
    fn bytes(&self) -> Vec<u8> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs/claude");
        match (fs::read(folder.join(&self.file)), self.expectation.max_line_bytes) {
            (Ok(bytes), _) => bytes,
            (Err(_), Some(longest)) => with_a_picture(longest),
            (Err(error), None) => panic!("{}: {error}", self.file),
        }
    }
}

fn with_a_picture(longest: usize) -> Vec<u8> {
    let other = json!({"type": "system", "subtype": "turn_duration"});
    let typed = |uuid: &str, content: serde_json::Value| {
        json!({
            "type": "user", "uuid": uuid, "timestamp": "2026-11-03T09:14:05.169Z",
            "message": {"role": "user", "content": content},
            "origin": {"kind": "human"}, "promptSource": "typed",
        })
    };
    let picture = json!({"type": "image", "source": {"data": "x".repeat(longest)}});
    let rows: Vec<_> = (1..=12)
        .map(|line| match line {
            4 => typed("0d2c", json!([{"type": "text", "text": "chart?"}, picture])),
            10 => typed("4e55", json!("flip it")),
            _ => other.clone(),
        })
        .flat_map(|row| [row.to_string(), "\n".into()])
        .collect();
    rows.concat().into_bytes()
}

#[test]
fn the_journal_holds_the_turns_of_each_recorded_transcript() {
    let index = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs/claude/index.json");
    let cases: Vec<Case> = serde_json::from_slice(&fs::read(index).unwrap()).unwrap();
    assert_eq!(cases.len(), 32);
    let (mut grown, mut refused) = (0, 0);
    for case in cases {
        let bytes = case.bytes();
        let want = case.expectation.human_turns.len() as u64;
        for pieces in [1, 7] {
            let mut bench = Bench::new();
            let path = bench.place(&case.path);
            fs::write(&path, "").unwrap();
            let claude = bench.claude.clone();
            let Ok(adopted) = bench.engine.adopt(&*claude, path.to_str().unwrap(), None) else {
                assert_eq!(want, 0, "{} was refused", case.file);
                refused += 1;
                continue;
            };
            bench.watch(&adopted.session);
            for piece in bytes.chunks(bytes.len() / pieces + 1) {
                append(&path, piece);
                bench.tick_one();
            }
            let found: u64 = bench.turns(&adopted.session).iter().sum();
            assert_eq!(found, want, "{} in {pieces} pieces", case.file);
            let notices = bench.notices(&crate::support::watcher());
            assert_eq!(notices, usize::from(want > 0), "{}", case.file);
            grown += 1;
        }
    }
    assert_eq!((grown, refused), (58, 6));
}

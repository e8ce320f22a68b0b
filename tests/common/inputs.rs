//! The recorded transcripts under `tests/inputs` with their right answers, and how a test feeds them to a reader.

#![allow(dead_code, reason = "each test program uses its own part of this")]

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

/// A recorded transcript.
#[derive(Deserialize)]
pub(crate) struct Case {
    pub(crate) file: String,
    /// Where it lies below the home of its harness.
    pub(crate) path: String,
    pub(crate) expectation: Expectation,
    #[serde(skip)]
    folder: PathBuf,
}

/// The right answer, by line numbers from 1.
#[derive(Deserialize)]
pub(crate) struct Expectation {
    pub(crate) human_turns: BTreeSet<u64>,
    #[serde(default)]
    pub(crate) either_ok: BTreeSet<u64>,
    #[serde(default)]
    pub(crate) same_turn: Vec<(u64, u64)>,
    #[serde(default)]
    pub(crate) mirrors: BTreeSet<u64>,
    #[serde(default)]
    pub(crate) replayed: BTreeSet<u64>,
    #[serde(default)]
    pub(crate) incomplete_last_line: bool,
    #[serde(default)]
    pub(crate) malformed_lines: BTreeSet<u64>,
    pub(crate) with_1mib_row_limit: Option<Limited>,
}

/// What a reader finds that takes no row of more than 1 MiB.
#[derive(Deserialize)]
pub(crate) struct Limited {
    pub(crate) human_turns: Vec<u64>,
    pub(crate) stops_before_line: u64,
}

/// The 32 transcripts of Claude Code.
pub(crate) fn claude() -> Vec<Case> {
    cases("claude", 32)
}

/// The 6 rollouts of Codex.
pub(crate) fn codex() -> Vec<Case> {
    cases("codex", 6)
}

fn cases(harness: &str, number: usize) -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs").join(harness);
    let mut cases: Vec<Case> =
        serde_json::from_slice(&fs::read(folder.join("index.json")).unwrap()).unwrap();
    assert_eq!(cases.len(), number);
    for case in &mut cases {
        case.folder.clone_from(&folder);
    }
    cases
}

impl Case {
    /// The file; the one that would weigh over a megabyte here is made.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        if self.file == "cc-huge-image-line.jsonl" {
            return huge_image_line().into_bytes();
        }
        let path = self.folder.join(&self.file);
        fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", self.file))
    }

    /// The file in pieces of any size, the same ones for the same `seed`.
    pub(crate) fn pieces(&self, seed: u64) -> Vec<Vec<u8>> {
        let bytes = self.bytes();
        let most = bytes.len() / 7;
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut rest = &bytes[..];
        let mut pieces = Vec::new();
        while !rest.is_empty() {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let length = 1 + usize::try_from(state % most as u64).unwrap();
            let (piece, behind) = rest.split_at(length.min(rest.len()));
            pieces.push(piece.to_vec());
            rest = behind;
        }
        pieces
    }

    /// Fails when `said` has two words side by side that stand so in what people and agents wrote: in `texts` of a row. One word
    /// alone may be a word of ours, too.
    pub(crate) fn assert_wordless(&self, said: &str, texts: impl Fn(&Value) -> Vec<&Value>) {
        let mut words = HashSet::new();
        for row in self.bytes().split(|byte| *byte == b'\n') {
            let row = serde_json::from_str(&String::from_utf8_lossy(row)).unwrap_or_default();
            for text in texts(&row) {
                collect_words(text, &mut words);
            }
        }
        assert!(!words.is_empty());
        for words in words {
            assert!(!said.contains(&words), "{}: words of a row in the output", self.file);
        }
    }
}

fn collect_words(value: &Value, into: &mut HashSet<String>) {
    match value {
        Value::String(text) => {
            let words: Vec<&str> = text.split_whitespace().collect();
            into.extend(words.windows(2).map(|pair| pair.join(" ")));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_words(item, into)),
        Value::Object(members) => members.values().for_each(|member| collect_words(member, into)),
        _ => {}
    }
}

/// The shape of a session in which a picture makes a row of more than 1 MiB: bookkeeping, the prompt with the picture, its
/// companion, an answer, another prompt.
fn huge_image_line() -> String {
    let user = |uuid: &str, time: &str, content: Value, marks: Value| {
        let mut row = json!({
            "parentUuid": null, "isSidechain": false, "type": "user",
            "message": {"role": "user", "content": content},
            "uuid": uuid, "timestamp": format!("2026-11-03T09:14:{time}Z"), "userType": "external",
            "entrypoint": "cli", "cwd": "/home/rhea/work/tidepool", "version": "2.1.332",
        });
        row.as_object_mut().unwrap().extend(marks.as_object().unwrap().clone());
        row
    };
    let typed =
        json!({"origin": {"kind": "human"}, "promptSource": "typed", "turnOrigin": "human"});
    let companion = json!({"isMeta": true, "turnCompanion": true, "rowSource": "local"});
    let image = json!({
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "dpxf".repeat(309_750)},
    });
    let rows = [
        json!({"type": "mode", "mode": "normal"}),
        json!({"type": "permission-mode", "permissionMode": "default"}),
        json!({"type": "atis-latch", "atis": ""}),
        user(
            "0d2c",
            "05.169",
            json!([{"type": "text", "text": "chart? [Image #1]"}, image]),
            typed.clone(),
        ),
        user(
            "1f7a",
            "06.483",
            json!([{"type": "text", "text": "[Image: source: /c.png]"}]),
            companion,
        ),
        json!({"type": "attachment", "uuid": "2b11", "attachment": {"type": "environment"}}),
        json!({"type": "attachment", "uuid": "2b12", "attachment": {"type": "session_context"}}),
        json!({"type": "assistant", "uuid": "3c90", "message": {"role": "assistant", "content": []}}),
        json!({"type": "system", "subtype": "turn_duration", "isMeta": false}),
        user("4e55", "12.246", json!("flip it"), typed),
        json!({"type": "assistant", "uuid": "5a01", "message": {"role": "assistant", "content": []}}),
        json!({"type": "system", "subtype": "turn_duration", "isMeta": false}),
    ];
    rows.iter().flat_map(|row| [row.to_string(), "\n".to_owned()]).collect()
}

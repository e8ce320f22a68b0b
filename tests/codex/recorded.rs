//! Each recorded rollout: scanned against its right answer, and read while it grows in pieces of any size.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};
use tidings::upstream::{RecordId, Turn};

use crate::support::{Home, MAX, append, scanned};

#[derive(Deserialize)]
struct Case {
    file: String,
    path: String,
    expectation: Expectation,
}

#[derive(Deserialize)]
struct Expectation {
    human_turns: BTreeSet<u64>,
    #[serde(default)]
    mirrors: BTreeSet<u64>,
    #[serde(default)]
    replayed: BTreeSet<u64>,
}

fn inputs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs/codex")
}

fn cases() -> Vec<Case> {
    let cases: Vec<Case> =
        serde_json::from_slice(&fs::read(inputs().join("index.json")).unwrap()).unwrap();
    assert_eq!(cases.len(), 6);
    cases
}

impl Case {
    fn bytes(&self) -> Vec<u8> {
        fs::read(inputs().join(&self.file)).unwrap_or_else(|error| panic!("{}: {error}", self.file))
    }

    fn thread(&self) -> String {
        let stem = self.path.strip_suffix(".jsonl").unwrap();
        stem[stem.len() - 36..].to_owned()
    }
}

#[test]
fn each_recorded_rollout_has_its_turns() {
    for case in cases() {
        let home = Home::new();
        let path = home.file(&case.path, case.bytes());
        for path in [path.clone(), crate::support::pack(&path)] {
            let (rows, total) = scanned(&path, 0, MAX);
            let (name, want) = (&case.file, &case.expectation);
            assert_eq!(Vec::from_iter(want.human_turns.clone()), total.human_lines, "{name}");
            let lines =
                case.bytes().split(|byte| *byte == b'\n').filter(|row| !row.is_empty()).count();
            assert_eq!((rows.len(), total.rows), (lines, lines as u64), "{name}");
            assert_eq!(json!(total.state), "complete");
            assert_eq!(
                (total.size, total.next_offset),
                (case.bytes().len() as u64, total.size),
                "{name}"
            );
            let reason =
                |line: &u64| json!(rows[usize::try_from(line - 1).unwrap()])["reason"].clone();
            assert!(want.mirrors.iter().all(|line| reason(line) == "mirror"), "{name}");
            assert!(want.replayed.iter().all(|line| reason(line) == "forked"), "{name}");
        }
    }
}

#[test]
fn a_rollout_that_grows_in_pieces_gives_the_same_turns() {
    for case in cases() {
        let bytes = case.bytes();
        for seed in 1..=8_u64 {
            let home = Home::new();
            let path = home.file(&case.path, b"");
            let mut link = home.link(&path, &case.thread());
            let mut turns: Vec<Turn> = Vec::new();
            let mut pieces =
                Pieces { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15), most: bytes.len() / 7 };
            let mut rest = &bytes[..];
            while !rest.is_empty() {
                let (piece, behind) = rest.split_at(pieces.next_length().min(rest.len()));
                append(&path, piece);
                turns.extend(link.drain());
                rest = behind;
            }
            let known: HashSet<RecordId> = turns.iter().map(|turn| turn.id.unwrap()).collect();
            assert_eq!(known.len(), turns.len(), "{} with seed {seed}: a turn twice", case.file);
            assert_eq!(
                turns.len(),
                case.expectation.human_turns.len(),
                "{} with seed {seed}",
                case.file
            );
            assert_eq!(link.offset(), bytes.len() as u64, "{} with seed {seed}", case.file);
        }
    }
}

/// Lengths of pieces, the same for the same seed.
struct Pieces {
    state: u64,
    most: usize,
}

impl Pieces {
    fn next_length(&mut self) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        1 + usize::try_from(self.state % self.most as u64).unwrap()
    }
}

#[test]
fn a_scan_from_any_row_on_has_the_rest_of_the_turns() {
    for case in cases() {
        let home = Home::new();
        let path = home.file(&case.path, case.bytes());
        let (rows, _) = scanned(&path, 0, MAX);
        for row in &rows {
            let (_, total) = scanned(&path, row.offset, MAX);
            let rest =
                case.expectation.human_turns.iter().filter(|line| **line >= row.line).count();
            assert_eq!(total.human_turns, rest as u64, "{} from row {}", case.file, row.line);
        }
    }
}

#[test]
fn no_word_of_a_rollout_leaves_the_reader() {
    for case in cases() {
        let home = Home::new();
        let path = home.file(&case.path, case.bytes());
        let (rows, total) = scanned(&path, 0, MAX);
        let mut link = home.link(&path, &case.thread());
        let finding = link.probe();
        let baseline = tidings::upstream::Provider::baseline(&home.provider, &case.thread());
        let listing = tidings::upstream::Provider::list(&home.provider).unwrap();
        let said = format!(
            "{rows:?} {} {total:?} {} {finding:?} {:?} {baseline:?} {listing:?} {:?}",
            json!(rows),
            json!(total),
            link.probe,
            home.provider
        );
        for words in words_of(&case.bytes()) {
            assert!(!said.contains(&words), "{}: words of a row in the output", case.file);
        }
    }
}

/// Every two words that stand side by side in what people and agents wrote. One alone may be a word of ours, too.
fn words_of(bytes: &[u8]) -> HashSet<String> {
    fn collect(value: &Value, into: &mut HashSet<String>) {
        match value {
            Value::String(text) => {
                let words: Vec<&str> = text.split_whitespace().collect();
                into.extend(words.windows(2).map(|pair| pair.join(" ")));
            }
            Value::Array(items) => items.iter().for_each(|item| collect(item, into)),
            Value::Object(members) => members.values().for_each(|member| collect(member, into)),
            _ => {}
        }
    }
    let mut words = HashSet::new();
    for row in bytes.split(|byte| *byte == b'\n') {
        collect(&serde_json::from_slice(row).unwrap_or_default(), &mut words);
    }
    assert!(!words.is_empty());
    words
}

//! Each recorded rollout: scanned against its right answer, and read while it grows in pieces of any size.

use std::collections::HashSet;

use serde_json::json;
use tidings::upstream::{RecordId, Turn};

use crate::inputs::{Case, codex};
use crate::support::{Home, MAX, append, scanned};

/// The id of the thread that a rollout is of.
fn thread(case: &Case) -> &str {
    let stem = case.path.strip_suffix(".jsonl").unwrap();
    &stem[stem.len() - 36..]
}

#[test]
fn each_recorded_rollout_has_its_turns() {
    for case in codex() {
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
    for case in codex() {
        let bytes = case.bytes();
        for seed in 1..=8_u64 {
            let home = Home::new();
            let path = home.file(&case.path, b"");
            let mut link = home.link(&path, thread(&case));
            let mut turns: Vec<Turn> = Vec::new();
            for piece in case.pieces(seed) {
                append(&path, piece);
                turns.extend(link.drain());
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

#[test]
fn a_scan_from_any_row_on_has_the_rest_of_the_turns() {
    for case in codex() {
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
    for case in codex() {
        let home = Home::new();
        let path = home.file(&case.path, case.bytes());
        let (rows, total) = scanned(&path, 0, MAX);
        let mut link = home.link(&path, thread(&case));
        let finding = link.probe();
        let baseline = tidings::upstream::Provider::baseline(&home.provider, thread(&case));
        let listing = tidings::upstream::Provider::list(&home.provider).unwrap();
        let said = format!(
            "{rows:?} {} {total:?} {} {finding:?} {:?} {baseline:?} {listing:?} {:?}",
            json!(rows),
            json!(total),
            link.probe,
            home.provider
        );
        case.assert_wordless(&said, |row| vec![row]);
    }
}

//! Each recorded transcript: scanned against its right answer, and read while it grows in pieces of any size.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tidings::upstream::claude::scan::{ScanRow, ScanState, ScanTotal, scan};
use tidings::upstream::{RecordId, Turn};

use crate::inputs::{Case, claude};
use crate::support::{MAX, Place};

const MIB: u64 = 1024 * 1024;

/// The ids of the turns that have to be found, from the file itself.
fn ids(case: &Case) -> Vec<RecordId> {
    let bytes = case.bytes();
    let rows: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let id = |line: &u64| {
        let text = String::from_utf8_lossy(rows[usize::try_from(line - 1).unwrap()]);
        let row: Value = serde_json::from_str(&text).unwrap();
        let command = row["attachment"]["source_uuid"].as_str();
        RecordId::of(command.or(row["uuid"].as_str()).unwrap())
    };
    case.expectation.human_turns.iter().map(id).collect()
}

fn scanned(path: &Path, from: u64, max_row_bytes: u64) -> (Vec<ScanRow>, ScanTotal) {
    let mut rows = Vec::new();
    let total = scan(path, from, max_row_bytes, &mut |row| rows.push(row)).unwrap();
    (rows, total)
}

#[test]
fn each_recorded_transcript_has_its_turns() {
    for case in claude() {
        let place = Place::new(MAX);
        let path = place.path(&case.path);
        fs::write(&path, case.bytes()).unwrap();
        let (rows, total) = scanned(&path, 0, MAX);
        let (name, want) = (&case.file, &case.expectation);

        let mut found: BTreeSet<u64> = total.human_lines.iter().copied().collect();
        for (earlier, later) in &want.same_turn {
            if found.remove(earlier) {
                found.insert(*later);
            }
        }
        let differing: BTreeSet<u64> =
            found.symmetric_difference(&want.human_turns).copied().collect();
        assert!(differing.is_subset(&want.either_ok), "{name}: {found:?}");
        assert_eq!(Vec::from_iter(want.human_turns.clone()), total.human_lines, "{name}");
        assert!(want.mirrors.is_disjoint(&found), "{name}");

        assert_eq!(total.human_turns, total.human_lines.len() as u64, "{name}");
        assert_eq!(total.size, case.bytes().len() as u64, "{name}");
        assert_eq!(total.state == ScanState::PartialRow, want.incomplete_last_line, "{name}");
        assert_eq!(total.next_offset == total.size, !want.incomplete_last_line, "{name}");
        let lines = rows.iter().map(|row| row.line);
        assert!(lines.eq(1..=rows.len() as u64), "{name}: each line once, in order");
        let malformed: BTreeSet<u64> = rows
            .iter()
            .filter(|row| serde_json::to_value(row.verdict).unwrap() == "malformed")
            .map(|row| row.line)
            .collect();
        assert_eq!(malformed, want.malformed_lines, "{name}");
    }
}

#[test]
fn a_row_limit_of_one_mebibyte_blocks_openly() {
    let mut blocked = 0;
    for case in claude() {
        let Some(limited) = &case.expectation.with_1mib_row_limit else { continue };
        let place = Place::new(MIB);
        let path = place.path(&case.path);
        fs::write(&path, case.bytes()).unwrap();
        let (rows, total) = scanned(&path, 0, MIB);
        assert_eq!(total.human_lines, limited.human_turns);
        assert_eq!(total.state, ScanState::Blocked);
        assert_eq!(total.rows, limited.stops_before_line - 1);
        assert_eq!(total.offset, Some(total.next_offset));
        assert_eq!(total.bytes, Some(MIB));
        let last = json!(rows.last().unwrap());
        assert_eq!(
            (&last["verdict"], &last["reason"]),
            (&json!("deferred"), &json!("row-too-long"))
        );
        blocked += 1;
    }
    assert_eq!(blocked, 1);
}

#[test]
fn a_transcript_that_grows_in_pieces_gives_the_same_turns() {
    for case in claude() {
        let bytes = case.bytes();
        for seed in 1..=5_u64 {
            let place = Place::new(MAX);
            let path = place.path(&case.path);
            fs::write(&path, b"").unwrap();
            let mut link = place.link(&path, &json!({"offset": 0}));
            let mut turns: Vec<Turn> = Vec::new();
            for piece in case.pieces(seed) {
                link.append(&piece);
                turns.extend(link.drain());
            }
            // As the engine does: a record counted before is not counted again.
            let mut known = HashSet::new();
            turns.retain(|turn| turn.id.is_none_or(|id| known.insert(id)));
            let found: Vec<RecordId> = turns.iter().map(|turn| turn.id.unwrap()).collect();
            assert_eq!(found, ids(&case), "{} with seed {seed}", case.file);
            let end = bytes.iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
            assert_eq!(link.offset(), end as u64, "{} with seed {seed}", case.file);
        }
    }
}

#[test]
fn copies_in_a_fork_are_known_by_their_ids() {
    let case = |name: &str| claude().into_iter().find(|case| case.file == name).unwrap();
    let parent: HashSet<RecordId> =
        ids(&case("cc-fork-session-parent.jsonl")).into_iter().collect();
    let child = ids(&case("cc-fork-session-child.jsonl"));
    let new: Vec<bool> = child.iter().map(|id| !parent.contains(id)).collect();
    assert_eq!(new, [false, false, true]);
}

#[test]
fn a_half_row_counts_when_the_rest_arrives() {
    let case = claude().into_iter().find(|case| case.expectation.incomplete_last_line).unwrap();
    let place = Place::new(MAX);
    let mut link = place.session(&case.bytes());
    assert_eq!(link.drain().len(), 1);
    link.append(b"ptIndex\":2}}\n");
    assert_eq!(link.drain().len(), 1);
}

#[test]
fn no_word_of_a_transcript_leaves_the_reader() {
    for case in claude() {
        let place = Place::new(MAX);
        let path = place.path(&case.path);
        fs::write(&path, case.bytes()).unwrap();
        let (rows, total) = scanned(&path, 0, MAX);
        let mut link = place.link(&path, &json!({"offset": 0}));
        let finding = link.probe();
        let said = format!(
            "{rows:?} {} {total:?} {} {finding:?} {:?}",
            json!(rows),
            json!(total),
            link.probe
        );
        case.assert_wordless(&said, texts);
    }
}

/// What people and agents wrote of a row.
fn texts(row: &Value) -> Vec<&Value> {
    ["message", "content", "lastPrompt", "display", "rendered", "toolUseResult"]
        .map(|member| &row[member])
        .into_iter()
        .chain([&row["attachment"]["prompt"]])
        .collect()
}

#[test]
fn the_json_of_a_scan_is_that_of_the_command_line() {
    let place = Place::new(MAX);
    let path = place.path("projects/p/s.jsonl");
    let prompt = crate::support::prompt("u", 1_784_160_000_000, "ZXQ");
    let result = "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\"}]}}\n";
    fs::write(&path, format!("{prompt}\n{result}null\ntorn\n{prompt}{{\"half")).unwrap();
    let (rows, total) = scanned(&path, 0, MAX);
    let (first, second) = (prompt.len(), result.len());
    let at = |line: usize| first + 1 + second + [0, 5, 10, 10 + first][line - 4];
    assert_eq!(
        json!(rows),
        json!([
            {"line": 1, "offset": 0, "bytes": first, "verdict": "human", "reason": "prompt", "at": 1_784_160_000_000_u64},
            {"line": 3, "offset": first + 1, "bytes": second, "verdict": "other", "reason": "tool-result"},
            {"line": 4, "offset": at(4), "bytes": 5, "verdict": "other", "reason": "not-a-record"},
            {"line": 5, "offset": at(5), "bytes": 5, "verdict": "malformed", "reason": "not-json"},
            {"line": 6, "offset": at(6), "bytes": first, "verdict": "other", "reason": "repeated"},
            {"line": 7, "offset": at(7), "bytes": 6, "verdict": "deferred", "reason": "partial-row"},
        ])
    );
    assert_eq!(
        json!(total),
        json!({"rows": 5, "humanTurns": 1, "humanLines": [1], "nextOffset": at(7), "size": at(7) + 6, "state": "partial-row"})
    );
    let (rows, total) = scanned(&path, first as u64, MAX);
    assert_eq!((rows[0].line, total.human_lines), (2, vec![5]));
}

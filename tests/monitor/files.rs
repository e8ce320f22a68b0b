//! Real transcripts through adoption and ticks: nothing is lost, nothing counts twice, nothing from before the adoption counts.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

use tidings::engine::monitor::LinkOutcome;
use tidings::event::EventKind;
use tidings::session_key::SessionKey;
use tidings::upstream::Provider;
use tidings::upstream::claude::ClaudeProvider;
use tidings::watch::Condition;

use crate::support::{Bench, MIB, NONE, NOW, answer, append, prompt, watcher};

/// A transcript with one prompt from before its adoption, one counted after it.
fn counted_once() -> (Bench, std::path::PathBuf, SessionKey) {
    let mut bench = Bench::new();
    let (path, session) =
        bench.transcript("t", &[prompt("old", -60_000, "old"), answer(5_000)].concat());
    bench.clock.advance(1_000);
    append(&path, prompt("1", 1_000, "one"));
    assert_eq!(bench.tick_one().human_turns, 1);
    (bench, path, session)
}

/// Puts `content` in the place of `path`, as another file.
fn replace(path: &Path, content: &str) {
    let other = path.with_extension("other");
    fs::write(&other, content).unwrap();
    fs::rename(&other, path).unwrap();
}

fn old_and_one() -> String {
    [prompt("old", -60_000, "old"), answer(5_000), prompt("1", 1_000, "one")].concat()
}

fn is_replaced(outcome: &LinkOutcome, how: &str) -> bool {
    outcome.detail.as_deref().is_some_and(|detail| detail.contains(how))
}

#[test]
fn a_burst_of_1000_prompts_is_one_event() {
    let mut bench = Bench::new();
    let (path, session) = bench.transcript("t", "");
    let rows: String = (0..1_000).map(|i| prompt(&format!("id-{i}"), i, "again")).collect();
    assert!(rows.len() < MIB, "it fits one window");
    append(&path, &rows);
    assert_eq!(bench.tick_one().human_turns, 1_000);
    assert_eq!(bench.turns(&session), [1_000]);
    assert_eq!(bench.notices(&watcher()), 1);
    let event = bench.events(&session, &EventKind::HumanDirectMessage).remove(0);
    assert_eq!(event.occurred_at, NOW + 999, "the newest of them");
}

#[test]
fn case_95_a_backlog_is_drained_within_one_tick_an_event_a_window() {
    let mut bench = Bench::new();
    let path = bench.path("t");
    fs::write(&path, prompt("old", -1, "before the adoption")).unwrap();
    let claude = bench.claude.clone();
    let session = bench.engine.adopt(&*claude, path.to_str().unwrap(), None).unwrap().session;
    let mut ids = 0;
    for _ in 0..5 {
        for _ in 0..20 {
            ids += 1;
            append(&path, prompt(&format!("id-{ids}"), ids, "words"));
        }
        append(&path, answer(700 * 1024));
    }
    bench.tick();
    assert_eq!(bench.turns(&session), NONE, "nobody watches yet");
    bench.watch(&session);
    assert_eq!(bench.tick_one().human_turns, 100);
    let windows = bench.turns(&session);
    assert_eq!(windows.iter().sum::<u64>(), 100);
    assert!(windows.len() > 2, "{windows:?}");
    assert_eq!(bench.offset(&session), fs::metadata(&path).unwrap().len());
    assert_eq!(bench.notices(&watcher()), 1);
}

#[test]
fn case_45_half_a_row_waits_for_its_rest() {
    let mut bench = Bench::new();
    let (path, session) = bench.transcript("t", "");
    let (one, two) = (prompt("1", 1, "one"), prompt("2", 2, "two"));
    let (head, tail) = two.split_at(40);
    append(&path, format!("{one}{head}"));
    assert_eq!(bench.tick_one().human_turns, 1);
    assert_eq!(bench.tick_one().outcome, "quiet");
    append(&path, tail);
    assert_eq!(bench.tick_one().human_turns, 1);
    assert_eq!(bench.turns(&session), [1, 1]);
}

#[test]
fn a_row_that_is_half_written_at_adoption_counts_when_it_is_whole() {
    let mut bench = Bench::new();
    let (one, two) = (prompt("1", -5_000, "one"), prompt("2", -1, "two"));
    let (head, tail) = two.split_at(40);
    let (path, session) = bench.transcript("t", &format!("{one}{head}"));
    bench.tick();
    append(&path, tail);
    bench.tick();
    assert_eq!(bench.turns(&session), [1]);
}

#[test]
fn case_48_a_row_over_the_limit_blocks_openly_and_goes_on_with_a_higher_limit() {
    let mut bench = Bench::new();
    let root = bench.claude.root().parent().unwrap().to_owned();
    let limited: Arc<dyn Provider> = Arc::new(ClaudeProvider::new(root, MIB as u64));
    let unlimited = std::mem::replace(&mut bench.providers, vec![limited]);
    let (path, session) = bench.transcript("t", "");
    let before = prompt("1", 1, "before it");
    append(&path, [before.clone(), answer(2 * MIB), prompt("2", 2, "behind it")].concat());
    let outcome = bench.tick_one();
    assert_eq!((outcome.outcome.as_str(), outcome.human_turns), ("blocked", 1));
    for _ in 0..2 {
        let outcome = bench.tick_one();
        assert_eq!((outcome.outcome.as_str(), outcome.human_turns), ("blocked", 0));
        let detail = outcome.detail.unwrap();
        assert!(detail.contains(&format!("offset {}", before.len())), "{detail}");
        assert!(detail.contains(&MIB.to_string()), "{detail}");
    }
    assert_eq!(bench.offset(&session), before.len() as u64);
    let snapshot = bench.snapshot();
    let row = snapshot.sessions.iter().find(|row| row.key == session).unwrap();
    assert_eq!(row.upstream.as_ref().unwrap().outcome, "blocked");
    let watch = snapshot.watches.iter().find(|row| row.cursor.target == session).unwrap();
    assert_eq!(watch.condition, Condition::Unknown);
    assert!(watch.because(0).contains("blocked"), "{}", watch.because(0));

    bench.providers = unlimited;
    assert_eq!(bench.tick_one().human_turns, 1);
    assert_eq!(bench.offset(&session), fs::metadata(&path).unwrap().len());
    assert_eq!(bench.turns(&session), [1, 1]);
    assert_eq!(bench.row(&session).upstream.unwrap().outcome, "activity");
}

#[test]
fn case_60_a_truncated_transcript_is_said_and_counts_only_what_is_new() {
    let (mut bench, path, session) = counted_once();
    fs::write(&path, [prompt("old", -60_000, "old"), prompt("1", 1_000, "one")].concat()).unwrap();
    let outcome = bench.tick_one();
    assert_eq!((outcome.outcome.as_str(), outcome.human_turns), ("quiet", 0), "{outcome:?}");
    assert!(is_replaced(&outcome, "truncated"), "{outcome:?}");
    append(&path, prompt("2", 2_000, "two"));
    assert_eq!(bench.tick_one().human_turns, 1);
    fs::write(&path, "").unwrap();
    assert!(is_replaced(&bench.tick_one(), "truncated"));
    assert_eq!(bench.offset(&session), 0);
    append(&path, old_and_one() + &prompt("3", 3_000, "three"));
    assert_eq!(bench.tick_one().human_turns, 1);
    assert_eq!(bench.turns(&session), [1, 1, 1]);
}

#[test]
fn case_61_a_replaced_transcript_is_said_and_counts_only_what_is_new() {
    let (mut bench, path, session) = counted_once();
    replace(&path, &(old_and_one() + &prompt("2", 2_000, "two") + &prompt("3", 3_000, "three")));
    let outcome = bench.tick_one();
    assert_eq!((outcome.outcome.as_str(), outcome.human_turns), ("activity", 2));
    assert!(is_replaced(&outcome, "replaced"), "{outcome:?}");
    for _ in 0..2 {
        assert_eq!(bench.tick_one().outcome, "quiet");
    }
    replace(&path, &(old_and_one() + &prompt("2", 2_000, "two")));
    assert_eq!(bench.tick_one().human_turns, 0);
    append(&path, prompt("4", 4_000, "four"));
    assert_eq!(bench.tick_one().human_turns, 1);
    assert_eq!(bench.turns(&session), [1, 2, 1]);
}

#[test]
fn a_transcript_deleted_under_its_program_goes_on_in_a_new_file() {
    let (mut bench, path, session) = counted_once();
    fs::remove_file(&path).unwrap();
    assert_eq!(bench.tick_one().outcome, "missing");
    assert_eq!(bench.streak(&session), 1);
    fs::write(&path, prompt("2", 2_000, "two")).unwrap();
    let outcome = bench.tick_one();
    assert_eq!((outcome.outcome.as_str(), outcome.human_turns), ("activity", 1));
    assert_eq!(bench.streak(&session), 0);
    append(&path, prompt("3", 3_000, "three"));
    bench.tick();
    assert_eq!(bench.turns(&session), [1, 1, 1]);
}

#[test]
fn a_transcript_rewritten_behind_its_beginning_is_noticed() {
    let mut bench = Bench::new();
    let (path, session) = bench.transcript("t", &answer(9_000));
    append(&path, [prompt("1", 1_000, "one"), answer(500)].concat());
    assert_eq!(bench.tick_one().human_turns, 1);
    // The same first 9,000 bytes, then other rows, beyond the byte up to which it was read.
    let rows: String = (2..6).map(|id| prompt(&id.to_string(), id * 1_000, "another")).collect();
    fs::write(&path, answer(9_000) + &prompt("1", 1_000, "one") + &rows).unwrap();
    let outcome = bench.tick_one();
    assert_eq!(outcome.human_turns, 4, "{outcome:?}");
    assert_eq!(bench.turns(&session), [1, 4]);
}

#[test]
fn an_earlier_file_that_ended_at_the_same_byte_hides_no_turn() {
    let mut bench = Bench::new();
    let (path, session) = bench.transcript("t", &prompt("a", 0, "same length"));
    append(&path, prompt("b", 1_000, "same length"));
    assert_eq!(bench.tick_one().human_turns, 1);
    fs::remove_file(&path).unwrap();
    for _ in 0..3 {
        bench.tick();
    }
    assert!(bench.find_link(&session).is_none());
    fs::write(&path, prompt("c", 2_000, "same length")).unwrap();
    bench.adopt_file(&path);
    append(&path, prompt("d", 3_000, "same length"));
    assert_eq!(bench.tick_one().human_turns, 1);
    assert_eq!(bench.turns(&session), [1, 1]);
}

#[test]
fn a_fork_counts_only_its_own_prompts() {
    let mut bench = Bench::new();
    let (parent_path, parent) = bench.transcript("parent", "");
    let (child_path, child) = bench.transcript("child", "");
    let rows = [prompt("1", 1_000, "one"), prompt("2", 2_000, "two")].concat();
    append(&parent_path, &rows);
    bench.tick();
    append(&child_path, rows + &prompt("3", 3_000, "three"));
    bench.tick();
    assert_eq!((bench.turns(&parent), bench.turns(&child)), (vec![2], vec![1]));
}

#[test]
fn case_06_two_sessions_on_one_transcript_both_count() {
    let mut bench = Bench::new();
    let (path, one) = bench.transcript("t", "");
    let claude = bench.claude.clone();
    let two = bench.engine.adopt(&*claude, path.to_str().unwrap(), Some("ops")).unwrap().session;
    bench.watch(&two);
    append(&path, prompt("1", 1_000, "one") + &prompt("2", 2_000, "two"));
    bench.tick();
    append(&path, prompt("3", 3_000, "three"));
    bench.tick();
    assert_eq!((bench.turns(&one), bench.turns(&two)), (vec![2, 1], vec![2, 1]));
}

#[test]
fn case_64_a_project_folder_that_leaves_the_root_is_not_adopted() {
    let mut bench = Bench::new();
    let elsewhere = bench.folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("5d7c0f5e.jsonl"), prompt("1", 1_000, "one")).unwrap();
    symlink(&elsewhere, bench.place("projects/-linked")).unwrap();
    let claude = bench.claude.clone();
    assert!(bench.engine.adopt(&*claude, "5d7c0f5e", None).is_err());
    assert_eq!(bench.engine.journal().links().unwrap(), []);
}

#[test]
fn a_folder_that_becomes_a_link_is_not_followed() {
    let (mut bench, path, session) = counted_once();
    let (folder, elsewhere) = (path.parent().unwrap(), bench.folder.path().join("elsewhere"));
    fs::rename(folder, &elsewhere).unwrap();
    symlink(&elsewhere, folder).unwrap();
    append(&path, prompt("2", 2_000, "two"));
    assert_eq!(bench.tick_one().outcome, "unreadable");
    fs::remove_file(folder).unwrap();
    fs::rename(&elsewhere, folder).unwrap();
    assert_eq!(bench.tick_one().human_turns, 1);
    assert_eq!(bench.turns(&session), [1, 1]);
}

#[test]
fn transcripts_are_left_as_they_are() {
    let (mut bench, path, _) = counted_once();
    let (bytes, before) = (fs::read(&path).unwrap(), fs::metadata(&path).unwrap());
    for _ in 0..3 {
        bench.tick();
    }
    let after = fs::metadata(&path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), bytes);
    assert_eq!(before.modified().unwrap(), after.modified().unwrap());
    let names: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().collect();
    assert_eq!(names.len(), 1, "nothing was put beside it");
}

//! The catalog and adoption: what is listed, what can be adopted, and what is refused.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;
use tidings::upstream::{Finding, Provider, RecordId, UpstreamError};

use crate::support::{MAX, Place, prompt};

const AT: i64 = 1_784_160_000_000;
const ONE: &str = "0177f6dd-8c5a-45dd-871e-6c53f5f5ba41";
const TWO: &str = "0177aaaa-8c5a-45dd-871e-6c53f5f5ba41";

fn with_sessions() -> Place {
    let place = Place::new(MAX);
    for (thread, project) in [(ONE, "-a"), (TWO, "-b")] {
        let path = place.path(&format!("projects/{project}/{thread}.jsonl"));
        fs::write(&path, prompt("a", AT, "ZXQ-planted")).unwrap();
    }
    place
}

fn refusal(place: &Place, wanted: &str) -> String {
    let error = place.provider.baseline(wanted).unwrap_err().to_string();
    assert!(!error.contains("ZXQ"));
    error
}

#[test]
fn sessions_are_listed_newest_first_with_titles_of_the_harness() {
    let place = with_sessions();
    let path = place.path(&format!("projects/-a/{ONE}.jsonl"));
    let title = json!({"type": "custom-title", "customTitle": "tide tables", "cwd": "/w", "version": "2.1.332"});
    fs::write(&path, format!("{title}\n{}", prompt("a", AT, "ZXQ-planted"))).unwrap();
    place.link(&path, &json!(null)).touch(9_000);
    place.link(&place.path(&format!("projects/-b/{TWO}.jsonl")), &json!(null)).touch(8_000);
    fs::write(place.path(&format!("projects/-a/{ONE}/subagents/agent-ab.jsonl")), "{}").unwrap();
    fs::write(place.path("projects/-a/agent-7ca04053.jsonl"), "{}").unwrap();
    fs::write(place.path("projects/-a/notes.jsonl"), "{\"a\":1}\n").unwrap();
    fs::write(place.path("projects/-a/memory/x.jsonl"), "{}").unwrap();
    fs::write(place.path("history.jsonl"), "{}").unwrap();
    for _ in 0..2 {
        let listing = place.provider.list().unwrap();
        let threads: Vec<_> = listing.entries.iter().map(|entry| entry.thread.as_str()).collect();
        assert_eq!(threads, [ONE, TWO]);
        let entry = &listing.entries[0];
        assert_eq!(entry.title.as_deref(), Some("tide tables"));
        assert_eq!(entry.project.as_deref(), Some("/w"));
        assert_eq!(entry.version.as_deref(), Some("2.1.332"));
        assert_eq!((entry.modified_at, entry.path == path), (9_000, true));
        assert_eq!(listing.entries[1].title, None, "a prompt is no title");
        let skipped: Vec<_> = listing.skipped.iter().map(|(path, _)| path.file_name()).collect();
        assert_eq!(skipped, [Some("notes.jsonl".as_ref())]);
        assert!(!format!("{listing:?}").contains("ZXQ"));
    }
    fs::write(&path, format!("{title}\n").replace("tide", "tidal")).unwrap();
    let listing = place.provider.list().unwrap();
    assert_eq!(listing.entries[0].title.as_deref(), Some("tidal tables"), "a changed file is read");
}

#[test]
fn without_the_folder_there_are_no_sessions() {
    let place = Place::new(MAX);
    let listing = place.provider.list().unwrap();
    assert_eq!((listing.entries.len(), listing.skipped.len()), (0, 0));
    fs::write(place.path("projects"), b"").unwrap();
    assert!(place.provider.list().is_err(), "a failed read is not an empty list");
}

#[test]
fn a_session_is_found_by_id_prefix_or_path() {
    let place = with_sessions();
    let path = place.path(&format!("projects/-a/{ONE}.jsonl"));
    for wanted in [ONE, "0177f", path.to_str().unwrap()] {
        let baseline = place.provider.baseline(wanted).unwrap();
        assert_eq!(baseline.entry.thread, ONE);
        assert_eq!(baseline.reference, json!({"filePath": path.to_str().unwrap()}));
        assert_eq!(
            (baseline.host.as_str(), baseline.kind.as_str()),
            ("gateway:local", "claude-cli")
        );
        assert_eq!(baseline.marker["offset"], fs::metadata(&path).unwrap().len());
        let mut link = place.link(&path, &baseline.marker);
        assert_eq!(link.probe(), Finding::Quiet);
    }
    assert!(matches!(
        place.provider.baseline("0177").unwrap_err(),
        UpstreamError::Ambiguous { count: 2, .. }
    ));
    for wanted in ["0177F", "", "nothing"] {
        let error = place.provider.baseline(wanted).unwrap_err();
        assert!(matches!(error, UpstreamError::NotFound { .. }), "{wanted}");
    }
}

#[test]
fn a_whole_id_wins_over_ids_that_it_begins() {
    let place = Place::new(MAX);
    for thread in ["abc", "abcd"] {
        fs::write(place.path(&format!("projects/-a/{thread}.jsonl")), "").unwrap();
    }
    assert_eq!(place.provider.baseline("abc").unwrap().entry.thread, "abc");
}

#[test]
fn adoption_in_the_middle_of_a_row_loses_nothing() {
    let place = Place::new(MAX);
    let (one, two) = (prompt("a", AT, "one"), prompt("b", AT, "two"));
    let (head, tail) = two.split_at(30);
    let path = place.path("elsewhere/s.jsonl");
    fs::write(&path, format!("{one}{head}")).unwrap();
    let baseline = place.provider.baseline(path.to_str().unwrap()).unwrap();
    assert_eq!(baseline.marker["offset"], one.len());
    let mut link = place.link(&path, &baseline.marker);
    assert_eq!(link.probe(), Finding::Quiet);
    link.append(tail.as_bytes());
    assert_eq!(link.window().turns[0].id, Some(RecordId::of("b")));
}

#[test]
fn what_is_no_session_is_refused_with_the_reason() {
    let place = with_sessions();
    let agent = place.path(&format!("projects/-a/{ONE}/subagents/agent-a309.jsonl"));
    let flat = place.path("projects/-a/agent-7ca04053.jsonl");
    let history = place.path("history.jsonl");
    let codex = place.path("rollout.jsonl");
    let words = place.path("words.jsonl");
    for path in [&agent, &flat, &history] {
        fs::write(path, prompt("a", AT, "ZXQ-planted")).unwrap();
    }
    fs::write(&codex, "{\"type\":\"session_meta\",\"payload\":{\"x\":\"ZXQ\"}}\n").unwrap();
    fs::write(&words, "ZXQ\n").unwrap();
    for (path, want) in [
        (&agent, "sub-agent"),
        (&flat, "sub-agent"),
        (&history, "not a transcript"),
        (&codex, "not a Claude Code transcript"),
        (&words, "not a Claude Code transcript"),
    ] {
        let error = refusal(&place, path.to_str().unwrap());
        assert!(error.contains(want), "{error}");
    }
    assert!(refusal(&place, place.folder.path().to_str().unwrap()).contains("regular file"));
    assert!(refusal(&place, "/nowhere/at/all.jsonl").contains("/nowhere/at/all.jsonl"));
}

#[test]
fn case_64_links_are_neither_followed_nor_adopted() {
    let place = with_sessions();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("cafe.jsonl"), prompt("a", AT, "ZXQ-planted")).unwrap();
    symlink(outside.path(), place.path("projects/-link")).unwrap();
    symlink(outside.path().join("cafe.jsonl"), place.path("projects/-a/beef.jsonl")).unwrap();
    symlink(place.path("projects/-b"), place.path("projects/-again")).unwrap();
    symlink("nowhere", place.path("projects/-a/dead.jsonl")).unwrap();
    let listing = place.provider.list().unwrap();
    assert_eq!(listing.entries.len(), 2);
    assert_eq!(listing.skipped.len(), 4);
    let reason = |name: &str| {
        let found = listing.skipped.iter().find(|(path, _)| path.ends_with(name));
        found.map(|(_, reason)| reason.as_str()).unwrap()
    };
    assert!(reason("-link").contains("leaves"));
    assert!(reason("beef.jsonl").contains("leaves"));
    assert!(reason("-again").contains("listed where it lies"));
    assert!(matches!(place.provider.baseline("cafe").unwrap_err(), UpstreamError::NotFound { .. }));
    assert!(refusal(&place, "beef").contains("leaves"));
}

#[test]
fn five_thousand_sessions_are_listed() {
    let place = Place::new(MAX);
    for number in 0..5_000 {
        let path = place.path(&format!("projects/-p{}/{number:08x}.jsonl", number % 40));
        fs::write(&path, prompt("a", AT, "words")).unwrap();
    }
    assert_eq!(place.provider.list().unwrap().entries.len(), 5_000);
    assert_eq!(place.provider.baseline("00001387").unwrap().entry.thread, "00001387");
}

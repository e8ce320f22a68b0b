//! The catalog and adoption: what is listed, what can be adopted, and what is refused.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;
use tidings::upstream::{Provider, UpstreamError};

use crate::rollout::{PATH, THREAD, Writer};
use crate::support::{Home, append, compress, touch};

const AGENT: &str = "01a1a75c-ac99-721f-9087-07b3433b8ce6";
const OTHER: &str = "01a1a75c-acaa-721f-9087-07b3433b8ce6";

fn path_of(thread: &str) -> String {
    format!("sessions/2026/11/04/rollout-2026-11-04T16-20-31-{thread}.jsonl")
}

#[test]
fn threads_are_listed_newest_first_with_the_titles_of_codex() {
    let home = Home::new();
    let writer = Writer::new();
    let path = home.file(PATH, writer.user_meta() + &writer.turn("ZXQ-planted"));
    touch(&path, 9_000);
    let archived = home.file(
        &format!("archived_sessions/rollout-2026-11-04T16-20-31-{OTHER}.jsonl"),
        writer.meta(OTHER, &json!({"source": "exec"})),
    );
    let packed = compress(&archived);
    touch(&packed, 8_000);
    home.file(
        &path_of(AGENT),
        writer.meta(AGENT, &json!({"thread_source": "subagent", "parent_thread_id": THREAD})),
    );
    home.file("sessions/2026/11/04/notes.jsonl", "{}\n");
    home.file("sessions/2026/11/04/rollout-cafe.jsonl", "{\"display\":\"ZXQ\"}\n");
    home.file("sessions/2026/11/04/.rollout.jsonl.zst.1.tmp", "");
    let names = [
        json!({"id": THREAD, "thread_name": "tide tables", "updated_at": "x"}).to_string(),
        "torn".into(),
        json!({"id": OTHER, "thread_name": "gone"}).to_string(),
        json!({"id": OTHER, "thread_name": ""}).to_string(),
        json!({"id": THREAD, "thread_name": "tidal tables"}).to_string(),
    ];
    home.file("session_index.jsonl", names.join("\n"));
    for _ in 0..2 {
        let listing = home.provider.list().unwrap();
        let threads: Vec<_> = listing.entries.iter().map(|entry| entry.thread.as_str()).collect();
        assert_eq!(threads, [THREAD, OTHER]);
        let entry = &listing.entries[0];
        assert_eq!(entry.title.as_deref(), Some("tidal tables"));
        assert_eq!(
            (entry.project.as_deref(), entry.version.as_deref()),
            (Some("/home/rhea/tide"), Some("0.171.0"))
        );
        assert_eq!((entry.modified_at, &entry.path), (9_000, &path));
        assert_eq!(
            (listing.entries[1].title.as_deref(), &listing.entries[1].path),
            (None, &packed)
        );
        let mut reasons: Vec<&str> =
            listing.skipped.iter().map(|(_, reason)| reason.as_str()).collect();
        reasons.sort_unstable();
        assert_eq!(
            reasons,
            [
                "it is a sub-agent's thread; adopt the session that started the sub-agent",
                "it is not a Codex rollout",
                "its name is not that of a rollout",
            ]
        );
        assert!(!format!("{listing:?}").contains("ZXQ"));
    }
    home.file(&path_of("01a1ffff-acaa-721f-9087-07b3433b8ce6"), writer.user_meta());
    assert_eq!(home.provider.list().unwrap().entries.len(), 3, "a new file is seen at once");
}

#[test]
fn a_thread_in_several_files_is_listed_once() {
    let home = Home::new();
    let writer = Writer::new();
    home.file(PATH, writer.user_meta());
    crate::support::pack(&home.path(PATH));
    let segment = home.file(
        &path_of(&format!("{THREAD}_01a1aaef-0000-7abc-8def-0123456789ab")),
        writer.user_meta(),
    );
    let listing = home.provider.list().unwrap();
    assert_eq!((listing.entries.len(), listing.skipped.len()), (1, 0));
    assert_eq!(listing.entries[0].path, segment);
}

#[test]
fn without_the_folders_there_are_no_threads() {
    let home = Home::new();
    let listing = home.provider.list().unwrap();
    assert_eq!((listing.entries.len(), listing.skipped.len()), (0, 0));
    home.file("sessions", "");
    let listing = home.provider.list();
    assert!(
        listing.is_err() || !listing.unwrap().skipped.is_empty(),
        "a failed read is not an empty list"
    );
}

#[test]
fn a_thread_is_found_by_id_prefix_or_path() {
    let home = Home::new();
    let writer = Writer::new();
    let path = home.file(PATH, writer.user_meta() + &writer.turn("one"));
    home.file(&path_of(AGENT), writer.meta(AGENT, &json!({"parent_thread_id": THREAD})));
    for wanted in [THREAD, &THREAD[..15], &THREAD[..10], path.to_str().unwrap()] {
        let baseline = home.provider.baseline(wanted).unwrap();
        assert_eq!(baseline.entry.thread, THREAD, "{wanted}");
        assert_eq!(
            (baseline.host.as_str(), baseline.kind.as_str()),
            ("gateway:local", "codex-rollout")
        );
        assert_eq!(baseline.reference["threadId"], THREAD);
        assert_eq!(baseline.marker["offset"], fs::metadata(&path).unwrap().len());
    }
    home.file(&path_of(OTHER), writer.meta(OTHER, &json!({})));
    let found = home.provider.baseline(&THREAD[..10]);
    assert!(matches!(found.unwrap_err(), UpstreamError::Ambiguous { count: 2, .. }));
    for wanted in ["01A1A75C", "", "nothing"] {
        let error = home.provider.baseline(wanted).unwrap_err();
        assert!(matches!(error, UpstreamError::NotFound { .. }), "{wanted}");
    }
}

#[test]
fn adoption_in_the_middle_of_a_row_loses_nothing() {
    let home = Home::new();
    let writer = Writer::new();
    let (meta, turn) = (writer.user_meta(), writer.turn("one"));
    for cut in [10, turn.len() / 2, turn.len() - 5] {
        let path = home.file(PATH, format!("{meta}{}", &turn[..cut]));
        let mut link = home.adopt(THREAD);
        append(&path, &turn[cut..]);
        let is_past = turn[..cut].contains("UserMessage")
            && turn[..cut].rfind('\n') > turn.find("UserMessage");
        assert_eq!(link.new_turns(), usize::from(!is_past), "cut at {cut}");
    }
}

#[test]
fn what_is_no_session_is_refused_with_the_reason() {
    let home = Home::new();
    let writer = Writer::new();
    let agent = home.file(
        &path_of(AGENT),
        writer.meta(AGENT, &json!({"source": {"subagent": {"thread_spawn": {}}}})),
    );
    let claude = home.file(
        "claude.jsonl",
        "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"ZXQ\"}}\n",
    );
    let words = home.file("words.jsonl", "ZXQ\n");
    for (wanted, reason) in [
        (agent.to_str().unwrap(), "sub-agent"),
        (AGENT, "sub-agent"),
        (claude.to_str().unwrap(), "not a Codex rollout"),
        (words.to_str().unwrap(), "not a Codex rollout"),
        (home.folder.path().to_str().unwrap(), "regular file"),
        ("/nowhere/at/all.jsonl", "/nowhere/at/all.jsonl"),
    ] {
        let error = home.provider.baseline(wanted).unwrap_err().to_string();
        assert!(error.contains(reason) && !error.contains("ZXQ"), "{error}");
    }
}

#[test]
fn links_are_neither_followed_nor_adopted() {
    let home = Home::new();
    let writer = Writer::new();
    home.file(PATH, writer.user_meta());
    let outside = tempfile::tempdir().unwrap();
    let target = outside.path().join(format!("rollout-2026-11-04T16-20-31-{OTHER}.jsonl"));
    fs::write(&target, writer.meta(OTHER, &json!({}))).unwrap();
    symlink(outside.path(), home.path("sessions/2026/12")).unwrap();
    symlink(&target, home.path(&path_of(OTHER))).unwrap();
    let listing = home.provider.list().unwrap();
    assert_eq!((listing.entries.len(), listing.skipped.len()), (1, 2));
    let error = home.provider.baseline(OTHER).unwrap_err().to_string();
    assert!(error.contains("links are not followed"), "{error}");
}

#[test]
fn five_thousand_threads_are_listed() {
    let home = Home::new();
    let meta = Writer::new().user_meta();
    for number in 0..5_000 {
        let path = format!(
            "sessions/2026/{:02}/{:02}/rollout-2026-01-01T00-00-00-{number:08x}.jsonl",
            number % 12,
            number % 28
        );
        home.file(&path, &meta);
    }
    assert_eq!(home.provider.list().unwrap().entries.len(), 5_000);
    assert_eq!(home.provider.baseline("00001387").unwrap().entry.thread, "00001387");
}

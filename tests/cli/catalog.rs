//! Listing what runs on this machine and is not adopted.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::support::{Home, document, words};

/// A transcript of a session, last written at `second` after the epoch.
fn transcript(home: &Home, thread: &str, title: &str, second: u64) -> PathBuf {
    let folder = home.path("claude/projects/-work");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{thread}.jsonl"));
    let rows = format!(
        "{{\"type\":\"user\",\"cwd\":\"/work\",\"version\":\"2.1.332\",\"entrypoint\":\"a-new-name\",\"message\":{{\"role\":\"user\",\"content\":\"ZXQ\"}}}}\n\
         {{\"type\":\"custom-title\",\"customTitle\":\"{title}\"}}\n"
    );
    fs::write(&path, rows).unwrap();
    touch(&path, second);
    path
}

fn touch(path: &PathBuf, second: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(second);
    File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

fn listed(home: &Home, arguments: &str) -> Value {
    let ran = home.run(words(arguments));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(!ran.stdout.contains("ZXQ"), "no word of a prompt");
    document(&ran.stdout)
}

#[test]
fn what_is_not_adopted_is_listed_newest_first_and_goes_when_it_is() {
    let home = Home::new();
    let old = transcript(&home, "aaaa", "old one", 1_000);
    transcript(&home, "bbbb", "new one", 2_000);
    let codex = home.path("codex/sessions/2026/01/02");
    fs::create_dir_all(&codex).unwrap();
    let thread = "0198f0a0-0000-7000-8000-000000000001";
    let rollout = codex.join(format!("rollout-2026-01-02T03-04-05-{thread}.jsonl"));
    fs::write(
        &rollout,
        format!("{{\"timestamp\":\"2026-01-02T03:04:05Z\",\"type\":\"session_meta\",\"payload\":{{\"id\":\"{thread}\",\"cwd\":\"/c\",\"cli_version\":\"0.171.0\",\"source\":\"cli\",\"thread_source\":\"user\"}}}}\n"),
    )
    .unwrap();
    touch(&rollout, 3_000);
    let body = listed(&home, "catalog --json");
    let threads = |body: &Value| -> Vec<String> {
        let sessions = body["sessions"].as_array().unwrap();
        sessions.iter().map(|session| session["threadId"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(threads(&body), [thread, "bbbb", "aaaa"]);
    let session = &body["sessions"][2];
    let size = old.metadata().unwrap().len();
    let want = serde_json::json!({
        "catalogId": "claude",
        "threadId": "aaaa",
        "title": "old one",
        "project": "/work",
        "path": old.canonicalize().unwrap(),
        "version": "2.1.332",
        "entryPoint": "a-new-name",
        "modifiedAt": 1_000_000,
        "size": size,
        "adopted": false,
    });
    assert_eq!(*session, want);
    assert_eq!(threads(&listed(&home, "catalog --harness claude --json")), ["bbbb", "aaaa"]);
    assert_eq!(home.run(words("adopt aaaa")).code, 0);
    assert_eq!(threads(&listed(&home, "catalog --harness claude --json")), ["bbbb"]);
    let text = home.ok("catalog");
    assert!(text.contains("new one") && !text.contains("old one"), "{text}");
    assert!(text.contains("ENTRY") && text.contains("a-new-name"), "{text}");
    assert_eq!(body["sessions"][0]["entryPoint"], "cli");
}

#[test]
fn what_is_passed_over_is_said_with_its_reason() {
    let home = Home::new();
    let path = transcript(&home, "aaaa", "one", 1_000);
    let folder = path.parent().unwrap();
    let outside = home.path("outside.jsonl");
    fs::write(&outside, "{}\n").unwrap();
    symlink(&outside, folder.join("link.jsonl")).unwrap();
    fs::create_dir(folder.join("folder.jsonl")).unwrap();
    fs::write(folder.join("foreign.jsonl"), "{\"display\":\"ZXQ\"}\n").unwrap();
    let body = listed(&home, "catalog --json");
    assert_eq!(body["sessions"].as_array().unwrap().len(), 1);
    let reasons: Vec<_> = body["skipped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|skipped| {
            let path = PathBuf::from(skipped["path"].as_str().unwrap());
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, skipped["reason"].as_str().unwrap().to_owned())
        })
        .collect();
    for (name, want) in [
        ("link.jsonl", "leaves the folder"),
        ("folder.jsonl", "not a regular file"),
        ("foreign.jsonl", "not a Claude Code transcript"),
    ] {
        let found = reasons.iter().find(|(file, _)| file == name);
        assert!(found.is_some_and(|(_, reason)| reason.contains(want)), "{name}: {reasons:?}");
    }
    assert!(home.ok("catalog").contains("3 files passed over:"));
}

#[test]
fn listing_again_reads_only_what_changed() {
    let home = Home::new();
    let (same, other) =
        (transcript(&home, "aaaa", "one", 1_000), transcript(&home, "bbbb", "two", 1_000));
    let titles = || -> Vec<String> {
        let body = listed(&home, "catalog --json");
        let sessions = body["sessions"].as_array().unwrap();
        let mut titles: Vec<_> =
            sessions.iter().map(|session| session["title"].as_str().unwrap().to_owned()).collect();
        titles.sort();
        titles
    };
    assert_eq!(titles(), ["one", "two"]);
    let cache: Vec<_> =
        fs::read_dir(home.path("cache/tidings")).unwrap().map(Result::unwrap).collect();
    assert!(!cache.is_empty());
    for file in &cache {
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let bytes = fs::read(file.path()).unwrap();
        assert!(!bytes.windows(3).any(|window| window == b"ZXQ"), "no word of a prompt");
    }
    // Both get other titles of the same length; to the looks of it, the first is the file that was read.
    transcript(&home, "aaaa", "ONE", 1_000);
    touch(&same, 1_000);
    transcript(&home, "bbbb", "TWO", 1_001);
    assert_eq!(titles(), ["TWO", "one"]);
    touch(&other, 1_002);
    for file in &cache {
        fs::write(file.path(), "not json").unwrap();
    }
    assert_eq!(titles(), ["ONE", "TWO"]);
}

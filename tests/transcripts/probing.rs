//! Cases 43 to 59, 62, 63, 82, 83 and 88 of `upstream.md` 10.1, through the provider.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};
use tidings::upstream::claude::ClaudeProvider;
use tidings::upstream::{Finding, Provider, RecordId};

use crate::support::{MAX, Place, answer, prompt};

const MIB: usize = 1024 * 1024;
const AT: i64 = 1_784_160_000_000;

fn user(content: &Value, marks: &Value) -> String {
    let mut row = json!({"type": "user", "message": {"role": "user", "content": content}});
    row.as_object_mut().unwrap().extend(marks.as_object().unwrap().clone());
    format!("{row}\n")
}

#[test]
fn case_43_nothing_behind_the_offset_is_quiet_without_a_read() {
    let place = Place::new(MAX);
    let mut link = place.session(prompt("a", AT, "one").as_bytes());
    link.touch(5_000);
    assert_eq!(link.window().turns.len(), 1);
    // Another content of the same size and time: whoever reads it would see another file.
    fs::write(&link.path, prompt("b", AT, "two")).unwrap();
    link.touch(5_000);
    assert_eq!(link.probe(), Finding::Quiet);
}

#[test]
fn case_44_only_the_real_prompt_counts() {
    let place = Place::new(MAX);
    let rows = [
        answer(300),
        user(&json!([{"type": "tool_result", "content": "x"}]), &json!({"uuid": "t"})),
        prompt("i", AT + 1, "message from another session"),
        prompt("r", AT + 2, "the history so far"),
        prompt("p", AT + 3, "a real prompt"),
    ]
    .concat();
    let mut link = place.session(rows.as_bytes());
    link.own_texts(&["message from another session", "the history so far"]);
    let window = link.window();
    assert_eq!((window.turns.len(), window.echoes), (1, 2));
    assert_eq!(window.turns[0].at, AT + 3);
    assert_eq!(window.turns[0].id, Some(RecordId::of("p")));
    assert_eq!(link.offset(), rows.len() as u64);
    assert_eq!(window.dedupe_id, rows.len().to_string());
    assert!(!window.more);
}

#[test]
fn case_45_and_46_a_half_row_waits_for_its_rest() {
    let place = Place::new(MAX);
    let (one, two) = (prompt("a", AT, "one"), prompt("b", AT, "two"));
    let (head, tail) = two.split_at(20);
    let mut link = place.session(format!("{one}{head}").as_bytes());
    assert_eq!(link.window().turns.len(), 1);
    assert_eq!(link.offset(), one.len() as u64);
    assert_eq!(link.probe(), Finding::Quiet);
    assert_eq!(link.offset(), one.len() as u64);
    link.append(tail.as_bytes());
    assert_eq!(link.window().turns[0].id, Some(RecordId::of("b")));
}

#[test]
fn case_48_a_row_at_the_limit_passes_and_one_over_it_blocks() {
    let place = Place::new(MIB as u64);
    let mut link = place.session(answer(MIB).as_bytes());
    assert_eq!(link.window().turns, []);
    link.append(answer(MIB + 1).as_bytes());
    let blocked = Finding::Blocked { bytes: MIB as u64, offset: MIB as u64 };
    assert_eq!(link.probe(), blocked);
    assert_eq!(link.probe(), blocked);
    assert_eq!(link.offset(), MIB as u64);

    let place = Place::new(MAX);
    let mut link = place.session(answer(3 * MIB + 1).as_bytes());
    link.append(prompt("a", AT, "behind it").as_bytes());
    assert!(link.window().more);
    assert_eq!(link.offset(), 3 * MIB as u64 + 1);
    assert_eq!(link.window().turns.len(), 1);
}

#[test]
fn case_49_no_row_is_lost_at_the_edge_of_a_window() {
    let place = Place::new(MAX);
    let rows = [answer(MIB - 100), prompt("a", AT, "over the edge"), answer(MIB / 2)].concat();
    let mut link = place.session(rows.as_bytes());
    let window = link.window();
    assert_eq!((window.turns.len(), window.more), (0, true));
    assert_eq!(link.offset(), MIB as u64 - 100);
    let window = link.window();
    assert_eq!((window.turns.len(), window.more), (1, false));
    assert_eq!(link.offset(), rows.len() as u64);
}

#[test]
fn a_long_row_that_grows_in_pieces_is_read_once_it_is_whole() {
    let place = Place::new(MAX);
    let mut link = place.session(b"");
    let row = prompt("a", AT, &"word ".repeat(MIB));
    for piece in row.as_bytes().chunks(700_001) {
        assert_eq!(link.probe(), Finding::Quiet);
        link.append(piece);
    }
    link.append(prompt("b", AT, "next").as_bytes());
    let ids: Vec<_> = link.drain().into_iter().map(|turn| turn.id.unwrap()).collect();
    assert_eq!(ids, [RecordId::of("a"), RecordId::of("b")]);
}

#[test]
fn case_50_to_53_bad_lines_other_values_and_line_ends() {
    let (one, two) = (prompt("a", AT, "é — 漢字 👩‍💻"), prompt("b", AT, "two"));
    for (between, malformed) in [
        ("{\"type\":\"user\",\n", 1),
        ("null\n[]\n42\ntrue\n\"x\"\n", 0),
        ("\r\n\n \n", 0),
        ("\u{feff}null\n", 0),
    ] {
        let place = Place::new(MAX);
        let rows = format!("{one}{between}{two}");
        let mut link = place.session(rows.as_bytes());
        let window = link.window();
        assert_eq!((window.turns.len(), window.malformed), (2, malformed), "{between:?}");
        assert_eq!(link.offset(), rows.len() as u64, "{between:?}");

        let place = Place::new(MAX);
        let rows = rows.replace('\n', "\r\n");
        let mut link = place.session(rows.as_bytes());
        assert_eq!(link.window().turns.len(), 2, "{between:?}");
        assert_eq!(link.offset(), rows.len() as u64, "{between:?}");
    }
}

#[test]
fn case_54_to_56_62_and_63_rows_that_do_and_do_not_count() {
    let human = json!({"origin": {"kind": "human"}});
    let text = json!({"type": "text", "text": "words"});
    let image = json!({"type": "image", "source": {}});
    let queued = |attachment: Value| {
        let mut attachment = attachment;
        attachment["type"] = json!("queued_command");
        format!("{}\n", json!({"type": "attachment", "uuid": "q", "attachment": attachment}))
    };
    for (case, rows, want) in [
        (54, user(&json!([text, image]), &human), 1),
        (54, user(&json!([image]), &human), 1),
        (55, user(&json!([{"type": "tool_result"}, text]), &json!({})), 0),
        (56, user(&json!("words"), &json!({"isMeta": true})), 0),
        (56, user(&json!("words"), &json!({"isSidechain": true})), 0),
        (56, user(&json!("words"), &json!({"isCompactSummary": true})), 0),
        (56, user(&json!("words"), &json!({"isVisibleInTranscriptOnly": true})), 0),
        (
            62,
            queued(json!({"commandMode": "prompt", "prompt": "w", "origin": {"kind": "human"}})),
            1,
        ),
        (62, queued(json!({"commandMode": "task-notification", "prompt": "w"})), 0),
        (63, user(&json!("<task-notification>x"), &json!({})), 0),
        (63, user(&json!("[Request interrupted by user]"), &json!({})), 0),
        (63, user(&json!("<local-command-stdout>x"), &json!({})), 0),
    ] {
        let place = Place::new(MAX);
        let mut link = place.session(rows.as_bytes());
        assert_eq!(link.window().turns.len(), want, "case {case}: {rows}");
        assert_eq!(link.offset(), rows.len() as u64, "case {case}");
    }
}

#[test]
fn case_57_a_row_without_a_time_has_the_files() {
    let place = Place::new(MAX);
    let rows = [
        user(&json!("no time"), &json!({"uuid": "a"})),
        prompt("b", AT, "later"),
        user(&json!("bad time"), &json!({"uuid": "c", "timestamp": 5})),
    ];
    let mut link = place.session(rows.concat().as_bytes());
    link.touch(7_777);
    let times: Vec<_> = link.window().turns.iter().map(|turn| turn.at).collect();
    assert_eq!(times, [7_777, 7_777, AT]);
}

#[test]
fn case_58_markers_of_the_original_go_on_as_our_own() {
    let place = Place::new(MAX);
    let (one, two) = (prompt("a", AT, "one"), prompt("b", AT, "two"));
    let path = place.session(format!("{one}{two}").as_bytes()).path;
    for marker in [json!({"size": one.len()}), json!({"offset": one.len(), "size": 0})] {
        let mut link = place.link(&path, &marker);
        let window = link.window();
        assert_eq!(window.turns[0].id, Some(RecordId::of("b")));
        assert_eq!(window.replaced, None);
        assert_eq!(link.offset(), (one.len() + two.len()) as u64);
        assert!(link.marker()["file"]["inode"].is_u64());
        assert_eq!(link.marker().get("size"), None);
        assert_eq!(link.probe(), Finding::Quiet);
    }
    for marker in [json!({"offset": -1}), json!({"offset": "5"}), json!(null), json!({})] {
        let mut link = place.link(&path, &marker);
        assert!(matches!(link.probe(), Finding::Invalid(_)), "{marker}");
    }
    let mut link = place.link(&path, &json!({"offset": 0}));
    for reference in [None, Some("{}"), Some("not JSON"), Some("{\"filePath\":\"a.jsonl\"}")] {
        link.probe.link.reference = reference.map(str::to_owned);
        assert!(matches!(link.probe(), Finding::Invalid(_)), "{reference:?}");
    }
    let mut link = place.link(&path, &json!({"offset": 0}));
    link.probe.link.host = "node:x".into();
    assert!(matches!(link.probe(), Finding::Invalid(_)));
}

#[test]
fn case_59_what_is_missing_and_what_is_not_known() {
    let place = Place::new(MAX);
    let mut link = place.session(prompt("a", AT, "one").as_bytes());
    fs::remove_file(&link.path).unwrap();
    assert_eq!(link.probe(), Finding::Missing);
    fs::create_dir(&link.path).unwrap();
    assert_eq!(link.probe(), Finding::Missing);
    let folder = link.path.parent().unwrap().to_owned();
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(link.probe(), Finding::Missing);
    fs::write(&folder, b"").unwrap();
    assert!(matches!(link.probe(), Finding::Unreadable(_)), "a file stands where a folder was");
    fs::remove_file(&folder).unwrap();

    let elsewhere = place.path("elsewhere/s.jsonl");
    fs::write(&elsewhere, prompt("a", AT, "one")).unwrap();
    fs::create_dir(&folder).unwrap();
    symlink(&elsewhere, &link.path).unwrap();
    assert!(matches!(link.probe(), Finding::Unreadable(_)), "links are not followed");
    fs::remove_dir_all(&folder).unwrap();
    fs::rename(&elsewhere, elsewhere.with_file_name(link.path.file_name().unwrap())).unwrap();
    symlink(elsewhere.parent().unwrap(), &folder).unwrap();
    assert!(matches!(link.probe(), Finding::Unreadable(_)), "nor are links above the file");
}

#[test]
fn a_file_that_may_not_be_read_is_unreadable_and_not_missing() {
    use std::os::unix::fs::PermissionsExt;
    if rustix::process::geteuid().is_root() {
        return; // Root may read it all the same.
    }
    let place = Place::new(MAX);
    let mut link = place.session(prompt("a", AT, "one").as_bytes());
    fs::set_permissions(&link.path, fs::Permissions::from_mode(0o0)).unwrap();
    assert!(matches!(link.probe(), Finding::Unreadable(_)));
}

#[test]
fn a_pipe_holds_nobody_up() {
    let place = Place::new(MAX);
    let path = place.path("projects/-w/pipe.jsonl");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    let probe = place.link(&path, &json!({"offset": 0})).probe;
    let root = place.provider.root().parent().unwrap().to_owned();
    let (done, answers) = mpsc::channel();
    std::thread::spawn(move || {
        let provider = ClaudeProvider::new(root, MAX);
        let adopted = provider.baseline(path.to_str().unwrap()).is_ok();
        let scanned = tidings::upstream::claude::scan::scan(&path, 0, MAX, &mut |_| ()).is_ok();
        let listing = provider.list().unwrap();
        done.send((provider.probe(&probe), adopted, scanned, listing)).unwrap();
    });
    let (finding, adopted, scanned, listing) =
        answers.recv_timeout(Duration::from_secs(60)).expect("the pipe was waited for");
    assert_eq!((finding, adopted, scanned), (Finding::Missing, false, false));
    assert_eq!((listing.entries.len(), listing.skipped.len()), (0, 1));
}

#[test]
fn case_82_83_and_88_echoes_move_the_marker_and_other_prompts_count() {
    for (words, is_echo) in [
        ("same prompt", true),
        (" same \t\n prompt ", true),
        ("\u{feff}\u{a0}same prompt\u{a0}", true),
        ("\u{85}same prompt", false),
        ("Same prompt", false),
        ("same prompt, but another", false),
        ("", false),
    ] {
        let place = Place::new(MAX);
        let rows = prompt("a", AT + 5_000, words);
        let mut link = place.session(rows.as_bytes());
        link.own_texts(&["same prompt", "another of ours"]);
        let window = link.window();
        assert_eq!(window.echoes, u32::from(is_echo), "{words:?}");
        assert_eq!(window.turns.len(), usize::from(!is_echo), "{words:?}");
        assert_eq!(link.offset(), rows.len() as u64, "{words:?}");
    }
}

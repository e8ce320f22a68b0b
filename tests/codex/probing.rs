//! Windows, bad rows, echoes and markers: the cases of `upstream.md` 10.1 in sense for rollouts.

use std::fs;
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use serde_json::json;
use tidings::upstream::{Finding, Provider, RecordId};

use crate::rollout::{AT, PATH, THREAD, Writer};
use crate::support::{Home, MAX, append, is_missing, reword, scanned, touch};

const MIB: usize = 1024 * 1024;

#[test]
fn case_71_and_73_a_steer_added_to_the_turn_that_was_read_counts() {
    let home = Home::new();
    let writer = Writer::new();
    let turn = writer.id();
    let rows =
        [writer.user_meta(), writer.started(&turn, &json!("user")), writer.typed(&turn, "one")]
            .concat();
    let path = home.file(PATH, rows);
    let mut link = home.link(&path, THREAD);
    let window = link.window();
    assert_eq!((window.turns.len(), window.more), (1, false));
    assert_eq!(window.turns[0].at, AT + 4 * 25);
    assert_eq!(link.probe(), Finding::Quiet, "case 73");
    append(&path, writer.typed(&turn, "two"));
    assert_eq!(link.new_turns(), 1, "case 71");
    append(&path, writer.answer(&turn) + &writer.ended(&turn));
    assert_eq!(link.new_turns(), 0);
    let marker = link.marker();
    assert_eq!((&marker["turn"]["id"], &marker["turn"]["items"]), (&json!(turn), &json!(2)));
    assert_eq!(marker["thread"], json!({"id": THREAD}));
}

#[test]
fn nothing_behind_the_offset_is_quiet_without_a_read() {
    let home = Home::new();
    let writer = Writer::new();
    let path = home.file(PATH, writer.user_meta() + &writer.turn("one"));
    touch(&path, 5_000);
    let mut link = home.link(&path, THREAD);
    assert_eq!(link.new_turns(), 1);
    // Another content of the same size and time: whoever reads it would see another file.
    reword(&path, "one", "two");
    touch(&path, 5_000);
    assert_eq!(link.probe(), Finding::Quiet);
}

#[test]
fn case_77_adopted_before_the_first_prompt() {
    let home = Home::new();
    let writer = Writer::new();
    let path = home.file(PATH, writer.user_meta());
    let mut link = home.adopt(THREAD);
    assert_eq!(link.probe(), Finding::Quiet);
    append(&path, writer.turn("first"));
    assert_eq!(link.new_turns(), 1);
    fs::remove_file(&path).unwrap();
    assert!(is_missing(&link.probe()));
}

#[test]
fn case_78_echoes_are_own_texts_alone_joined_or_each() {
    for (texts, echoes) in [
        (vec!["ours"], true),
        (vec![" ours\n"], true),
        (vec!["ours", "also  ours"], true),
        (vec!["joined", "text"], true),
        (vec!["", "ours", " "], true),
        (vec!["ours", "theirs"], false),
        (vec!["ours theirs"], false),
        (vec!["theirs"], false),
        (vec![], false),
        (vec!["# Context from my IDE setup:\nx\n## My request for Codex:\nours\n"], true),
    ] {
        let home = Home::new();
        let writer = Writer::new();
        let turn = writer.id();
        let content: Vec<_> =
            texts.iter().map(|text| json!({"type": "text", "text": text})).collect();
        let item = json!({"type": "UserMessage", "id": "i", "client_id": "c", "content": content});
        let rows =
            [writer.user_meta(), writer.started(&turn, &json!("user")), writer.item(&turn, &item)]
                .concat();
        let mut link = home.link(&home.file(PATH, &rows), THREAD);
        link.own_texts(&["ours", "also ours", "joined text"]);
        let window = link.window();
        assert_eq!(
            (window.turns.len(), window.echoes),
            (usize::from(!echoes), u32::from(echoes)),
            "{texts:?}"
        );
        assert_eq!(link.offset(), rows.len() as u64);
    }
}

#[test]
fn an_own_text_that_waits_for_its_turns_end_stays_ours() {
    let home = Home::new();
    let writer = Writer::new();
    let turn = writer.id();
    let input = writer.input(&turn, "ours", "user.text");
    let path = home
        .file(PATH, [writer.user_meta(), writer.started(&turn, &json!("user")), input].concat());
    let mut link = home.link(&path, THREAD);
    link.own_texts(&["ours"]);
    assert_eq!(link.window().echoes, 0);
    link.own_texts(&[]);
    append(&path, writer.ended(&turn));
    let window = link.window();
    assert_eq!((window.turns.len(), window.echoes), (0, 1));
    assert!(!link.probe.link.marker.as_deref().unwrap().contains("ours"));
}

#[test]
fn events_of_the_older_form_are_counted_once_each_by_ids_that_stay() {
    let home = Home::new();
    let writer = Writer::new();
    let rows = [
        writer.meta(THREAD, &json!({"history_mode": null})),
        writer.legacy_turn("same"),
        writer.legacy_turn("same"),
    ];
    let path = home.file(PATH, rows.concat());
    let ids: Vec<RecordId> =
        home.link(&path, THREAD).drain().iter().map(|turn| turn.id.unwrap()).collect();
    assert!(ids.len() == 2 && ids[0] != ids[1]);
    let again: Vec<RecordId> =
        home.link(&path, THREAD).drain().iter().map(|turn| turn.id.unwrap()).collect();
    assert_eq!(ids, again);
}

#[test]
fn a_marker_without_a_state_finds_it_out() {
    let home = Home::new();
    let writer = Writer::new();
    let exec = writer.id();
    let head =
        [writer.user_meta(), writer.turn("one"), writer.started(&exec, &json!("exec"))].concat();
    let path = home.file(PATH, &head);
    let mut link = home.link(&path, THREAD);
    link.probe.link.marker =
        Some(json!({"offset": head.len(), "path": path.to_str().unwrap()}).to_string());
    append(&path, writer.typed(&exec, "a job"));
    assert_eq!(link.new_turns(), 0, "the first message of a turn that a job began");
    append(&path, writer.typed(&exec, "steered") + &writer.turn("typed"));
    assert_eq!(link.new_turns(), 2);
}

#[test]
fn where_the_beginning_of_a_turn_is_too_far_back_the_messages_own_marks_decide() {
    let home = Home::new();
    let writer = Writer::new();
    let turn = writer.id();
    let long =
        writer.item(&turn, &json!({"type": "CommandExecution", "output": "x".repeat(9 * MIB)}));
    let path = home
        .file(PATH, [writer.user_meta(), writer.started(&turn, &json!("queue")), long].concat());
    let mut link = home.adopt(THREAD);
    assert_eq!(link.marker()["partial"], true);
    for (client, turns) in [
        (Some("01a1a75c-ad47-763e-bc38-79f387bde416"), 0),
        (None, 0),
        (Some("57756c79-5703-4dbb-b936-1301c97e9d83"), 1),
    ] {
        append(&path, writer.message(&crate::rollout::Typed { turn: &turn, words: "x" }, client));
        assert_eq!(link.new_turns(), turns, "{client:?}");
    }
    append(&path, writer.turn("a turn that is known"));
    assert_eq!(link.new_turns(), 1);
}

#[test]
fn bad_rows_other_values_and_line_ends() {
    let writer = Writer::new();
    let (meta, one, two) = (writer.user_meta(), writer.turn("é — 漢字 👩‍💻"), writer.turn("two"));
    for (between, malformed) in [
        ("{\"type\":\"event_msg\",\n", 1),
        ("null\n[]\n42\ntrue\n\"x\"\n", 0),
        ("\r\n\n \n", 0),
        ("\u{feff}null\n", 0),
        ("\0\0\0null\n", 0),
        ("{\"type\":5,\"payload\":[1]}\n{\"type\":\"event_msg\",\"payload\":\"x\"}\n", 0),
    ] {
        for line_end in ["\n", "\r\n"] {
            let home = Home::new();
            let rows = format!("\u{feff}{meta}{one}{between}{two}").replace('\n', line_end);
            let mut link = home.link(&home.file(PATH, &rows), THREAD);
            let window = link.window();
            assert_eq!((window.turns.len(), window.malformed), (2, malformed), "{between:?}");
            assert_eq!(link.offset(), rows.len() as u64, "{between:?}");
        }
    }
}

#[test]
fn a_prompt_with_invalid_bytes_and_torn_characters_counts() {
    let home = Home::new();
    let writer = Writer::new();
    let rows = writer.user_meta() + &writer.turn("QQ");
    let mut bytes = rows.into_bytes();
    for at in 0..bytes.len() - 1 {
        if &bytes[at..at + 2] == b"QQ" {
            bytes[at] = 0xff;
        }
    }
    let path = home.file(PATH, &bytes);
    append(&path, writer.turn("QQ").replace("QQ", r"\ud83d"));
    assert_eq!(home.link(&path, THREAD).new_turns(), 2);
}

#[test]
fn case_48_and_49_long_rows_are_assembled_or_block() {
    let writer = Writer::new();
    let turn = writer.id();
    let meta =
        writer.user_meta() + &writer.started(&turn, &json!("user")) + &writer.typed(&turn, "one");
    let long =
        writer.item(&turn, &json!({"type": "CommandExecution", "output": "x".repeat(3 * MIB)}));
    let behind = writer.typed(&turn, "two");

    let home = Home::new();
    let path = home.file(PATH, [meta.clone(), long.clone(), behind.clone()].concat());
    let mut link = home.link(&path, THREAD);
    let windows: Vec<usize> = (0..3).map(|_| link.window().turns.len()).collect();
    assert_eq!(windows, [1, 0, 1]);
    assert_eq!(link.probe(), Finding::Quiet);

    let home = Home::limited(MIB as u64);
    let path = home.file(PATH, [meta.clone(), long, behind].concat());
    let mut link = home.link(&path, THREAD);
    assert_eq!(link.window().turns.len(), 1);
    let blocked = Finding::Blocked { bytes: MIB as u64, offset: meta.len() as u64 };
    assert_eq!(link.probe(), blocked);
    let (_, total) = scanned(&path, 0, MIB as u64);
    assert_eq!((json!(total.state), total.offset), (json!("blocked"), Some(meta.len() as u64)));
    let packed = crate::support::compress(&path);
    assert_eq!(link.probe(), blocked);
    let (_, total) = scanned(&packed, 0, MAX);
    assert_eq!(total.human_turns, 2);
}

#[test]
fn a_long_row_that_grows_in_pieces_is_read_once_it_is_whole() {
    let home = Home::new();
    let writer = Writer::new();
    let path = home.file(PATH, writer.user_meta());
    let mut link = home.adopt(THREAD);
    let rows = writer.turn(&"word ".repeat(MIB));
    let mut turns = 0;
    for piece in rows.as_bytes().chunks(1_700_001) {
        append(&path, piece);
        turns += link.new_turns();
    }
    assert_eq!(turns, 1);
    append(&path, writer.turn("next"));
    assert_eq!(link.new_turns(), 1);
}

#[test]
fn case_58_links_that_make_no_sense_are_said() {
    let home = Home::new();
    let path = home.file(PATH, Writer::new().user_meta());
    let text = path.to_str().unwrap();
    for marker in [
        json!({"offset": -1, "path": text}),
        json!({"offset": "5", "path": text}),
        json!({"offset": 0}),
        json!({"offset": 0, "path": "relative.jsonl"}),
        json!(null),
    ] {
        let mut link = home.link(&path, THREAD);
        link.probe.link.marker = Some(marker.to_string());
        assert!(matches!(link.probe(), Finding::Invalid(_)), "{marker}");
    }
    for reference in
        [None, Some("{}"), Some("not JSON"), Some(r#"{"codexHome":"x","threadId":"t"}"#)]
    {
        let mut link = home.link(&path, THREAD);
        link.probe.link.reference = reference.map(str::to_owned);
        assert!(matches!(link.probe(), Finding::Invalid(_)), "{reference:?}");
    }
    let mut link = home.link(&path, THREAD);
    link.probe.link.kind = "codex-app-server".into();
    assert!(matches!(link.probe(), Finding::Invalid(_)));
}

#[test]
fn a_pipe_holds_nobody_up() {
    let home = Home::new();
    let path = home.path(PATH);
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    let probe = home.link(&path, THREAD).probe;
    let provider = home.fresh();
    let (done, answers) = mpsc::channel();
    std::thread::spawn(move || {
        let adopted = provider.baseline(path.to_str().unwrap()).is_ok();
        let scanned = tidings::upstream::codex::scan::scan(&path, 0, MAX, &mut |_| ()).is_ok();
        let listing = provider.list().unwrap();
        done.send((provider.probe(&probe), adopted, scanned, listing)).unwrap();
    });
    let (finding, adopted, scanned, listing) =
        answers.recv_timeout(Duration::from_secs(60)).expect("the pipe was waited for");
    assert_eq!((finding, adopted, scanned), (Finding::Missing, false, false));
    assert_eq!((listing.entries.len(), listing.skipped.len()), (0, 1));
}

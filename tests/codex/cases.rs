//! Cases 70 to 81 of `upstream.md` 10.1 in sense for rollouts. An app server's turns are a rollout's, its pages are windows, its
//! metadata is the file itself, and the fingerprint of a connection is the home that a link names.
//!
//! Elsewhere: 71, 73, 77 and 78 (`probing`). 80 is about a branch that the original makes for itself; ours makes none, and
//! the thread that is linked is the one that is read.

use std::fs;

use serde_json::json;
use tidings::upstream::Finding;

use crate::rollout::{AT, PATH, THREAD, Writer};
use crate::support::{Home, append, is_missing};

#[test]
fn case_70_of_the_turns_behind_the_marker_the_persons_count_with_their_time() {
    let home = Home::new();
    let writer = Writer::new();
    let path = home.file(PATH, writer.user_meta() + &writer.turn("t1"));
    let mut link = home.adopt(THREAD);
    let rows = || fs::read(&path).unwrap().split(|byte| *byte == b'\n').count() - 1;
    append(&path, writer.turn_by(&json!("exec"), "t2"));
    let before = i64::try_from(rows()).unwrap();
    append(&path, writer.turn("t3"));
    let after = i64::try_from(rows()).unwrap();
    append(&path, writer.turn_by(&json!("queue"), "t4"));
    let window = link.window();
    assert_eq!(window.turns.len(), 1);
    let at = window.turns[0].at;
    assert!((AT + before * 25..AT + after * 25).contains(&at), "the time of t3 and not of t4");
    assert_eq!(link.marker()["offset"], fs::metadata(&path).unwrap().len());
    assert_eq!(link.probe(), Finding::Quiet);
}

#[test]
fn case_72_a_marker_without_a_count_finds_it_out_and_counts_nothing_again() {
    let home = Home::new();
    let writer = Writer::new();
    let turn = writer.id();
    let head = [
        writer.user_meta(),
        writer.started(&turn, &json!("user")),
        writer.typed(&turn, "one"),
        writer.typed(&turn, "two"),
    ]
    .concat();
    let path = home.file(PATH, &head);
    let mut link = home.link(&path, THREAD);
    link.probe.link.marker =
        Some(json!({"offset": head.len(), "path": path.to_str().unwrap()}).to_string());
    append(&path, writer.answer(&turn));
    assert_eq!(link.new_turns(), 0);
    let marker = link.marker();
    assert_eq!((&marker["turn"]["id"], &marker["turn"]["items"]), (&json!(turn), &json!(2)));
}

#[test]
fn case_74_a_thread_without_turns_is_quiet_and_one_without_a_file_is_missing() {
    let home = Home::new();
    let writer = Writer::new();
    let path = home.file(PATH, writer.user_meta());
    let mut link = home.adopt(THREAD);
    for _ in 0..3 {
        assert_eq!(link.probe(), Finding::Quiet);
    }
    fs::remove_file(&path).unwrap();
    assert!(is_missing(&link.probe()));
    fs::remove_dir_all(home.path("sessions")).unwrap();
    assert!(is_missing(&link.probe()), "nor is there a folder");
}

#[test]
fn case_75_and_76_what_cannot_be_asked_is_never_missing() {
    let home = Home::new();
    let writer = Writer::new();
    home.file(PATH, writer.user_meta() + &writer.turn("one"));
    let mut link = home.adopt(THREAD);
    let sessions = home.path("sessions");
    fs::remove_dir_all(&sessions).unwrap();
    fs::write(&sessions, "no folder").unwrap();
    assert!(matches!(link.probe(), Finding::Unreadable(_)));
}

#[test]
fn case_79_a_link_is_read_in_the_home_that_it_names_and_one_home_that_fails_holds_up_no_other() {
    let (ours, other) = (Home::new(), Home::new());
    let writer = Writer::new();
    let head = writer.user_meta() + &writer.turn("one");
    let (here, there) = (ours.file(PATH, &head), other.file(PATH, &head));
    let mut broken = ours.adopt(THREAD);
    let mut link = other.adopt(THREAD);
    append(&there, writer.turn("two"));
    let provider = ours.fresh();
    let Finding::Read(window) = link.probe_with(&provider) else { panic!("it is read there") };
    assert_eq!(window.turns.len(), 1);
    fs::remove_file(&here).unwrap();
    assert_eq!(link.probe_with(&provider), Finding::Quiet, "the thread here is another one");

    let sessions = ours.path("sessions");
    fs::remove_dir_all(&sessions).unwrap();
    fs::write(&sessions, "no folder").unwrap();
    append(&there, writer.turn("three"));
    assert!(matches!(broken.probe_with(&provider), Finding::Unreadable(_)));
    let Finding::Read(window) = link.probe_with(&provider) else { panic!("it is read there") };
    assert_eq!(window.turns.len(), 1);
}

#[test]
fn case_81_however_many_turns_came_since_the_marker_all_count() {
    let home = Home::new();
    let writer = Writer::new();
    let path = home.file(PATH, writer.user_meta());
    let mut link = home.adopt(THREAD);
    append(&path, (0..150).map(|number| writer.turn(&number.to_string())).collect::<String>());
    assert_eq!(link.new_turns(), 150);
}

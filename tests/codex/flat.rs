//! The flat format of 2025, whose prompts have neither an id nor a time.

use std::fs;
use std::path::Path;

use serde_json::json;
use tidings::upstream::Finding;

use crate::rollout::{PATH, THREAD};
use crate::support::{Home, append};

/// A rollout of 2025: no envelopes, and prompts without id and time.
fn flat(prompts: &[&str]) -> String {
    let prompt = |text: &&str| {
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]})
            .to_string()
    };
    let first = json!({"id": THREAD, "timestamp": "2025-08-01T10:00:00.000Z"}).to_string();
    std::iter::once(first).chain(prompts.iter().map(prompt)).map(|row| row + "\n").collect()
}

#[test]
fn prompts_without_id_and_time_do_not_count_again_when_their_file_is_replaced() {
    for write in [
        &(|path: &Path, rows: String| fs::write(path, rows).unwrap()) as &dyn Fn(&Path, String),
        &|path, rows| {
            let other = path.with_extension("new");
            fs::write(&other, rows).unwrap();
            fs::rename(&other, path).unwrap();
        },
    ] {
        let home = Home::new();
        let path = home.file(PATH, flat(&["old", "older"]));
        let mut link = home.adopt(THREAD);
        append(&path, flat(&["one"]).lines().nth(1).unwrap().to_owned() + "\n");
        assert_eq!(link.new_turns(), 1);
        write(&path, flat(&["other", "older", "one"]));
        let window = link.window();
        assert!(window.replaced.is_some());
        assert_eq!(window.turns, []);
        assert!(window.note.unwrap().starts_with("3 prompts"));
        assert_eq!(link.probe(), Finding::Quiet);
        append(&path, flat(&["two"]).lines().nth(1).unwrap().to_owned() + "\n");
        assert_eq!(link.new_turns(), 1);
    }
}

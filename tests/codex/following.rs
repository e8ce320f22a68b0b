//! Threads that move from file to file: archived, compressed, unpacked, rewound, forked, deleted, replaced.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;
use tidings::upstream::{ARCHIVED, Finding, Held, RecordId, Turn};

use crate::rollout::{AT, PATH, THREAD, Writer};
use crate::support::{ADOPTED, Home, Link, append, compress, is_missing, pack, touch, unpack};

const ARCHIVE: &str =
    "archived_sessions/rollout-2026-11-04T16-20-31-01a1a75c-ac98-7cfd-96c1-dee1a67f6caf.jsonl";

/// Where the thread goes on after rewinds, in their order.
pub(crate) const LATER: [&str; 2] = [
    "sessions/2026/11/05/rollout-2026-11-05T09-00-00-01a1a75c-ac98-7cfd-96c1-dee1a67f6caf_01a1aaef-0000-7abc-8def-0123456789ab.jsonl",
    "sessions/2026/11/05/rollout-2026-11-05T09-30-00-01a1a75c-ac98-7cfd-96c1-dee1a67f6caf_01a1ab0a-0000-7abc-8def-0123456789ab.jsonl",
];

fn ids(turns: &[Turn]) -> Vec<RecordId> {
    turns.iter().map(|turn| turn.id.unwrap()).collect()
}

/// What is said when the next probe finds the thread put away, with nothing new.
fn put_away(link: &mut Link<'_>) {
    let window = link.window();
    assert_eq!((window.replaced.as_deref(), window.turns.len()), (Some(ARCHIVED), 0));
    assert_eq!(link.probe(), Finding::Archived);
    assert_eq!(link.probe(), Finding::Archived);
}

#[test]
fn a_thread_that_is_archived_and_brought_back_is_followed() {
    let home = Home::new();
    let writer = Writer::new();
    let path = home.file(PATH, writer.user_meta() + &writer.turn("one"));
    let mut link = home.link(&path, THREAD);
    assert_eq!(link.new_turns(), 1);

    let archived = home.path(ARCHIVE);
    fs::rename(&path, &archived).unwrap();
    put_away(&mut link);
    assert_eq!(link.path(), archived);

    fs::rename(&archived, &path).unwrap();
    assert_eq!(link.new_turns(), 0);
    assert_eq!(link.probe(), Finding::Quiet);
    append(&path, writer.turn("two"));
    assert_eq!(link.new_turns(), 1);
}

#[test]
fn rows_written_before_it_is_put_away_are_not_lost() {
    let home = Home::new();
    let writer = Writer::new();
    let path = home.file(PATH, writer.user_meta() + &writer.turn("one"));
    let mut link = home.link(&path, THREAD);
    assert_eq!(link.new_turns(), 1);
    append(&path, writer.turn("two"));
    let archived = home.path(ARCHIVE);
    fs::rename(&path, &archived).unwrap();
    let packed = compress(&archived);
    let window = link.window();
    assert_eq!((window.replaced.as_deref(), window.turns.len()), (Some(ARCHIVED), 1));
    assert_eq!(link.path(), packed);
    assert_eq!(link.probe(), Finding::Archived);
}

#[test]
fn a_thread_that_is_compressed_and_unpacked_is_followed() {
    let home = Home::new();
    let writer = Writer::new();
    let mut path = home.file(PATH, writer.user_meta() + &writer.turn("zero"));
    let mut link = home.link(&path, THREAD);
    assert_eq!(link.new_turns(), 1);
    for words in ["one", "two", "three"] {
        let packed = compress(&path);
        put_away(&mut link);
        assert_eq!(link.probe_with(&home.fresh()), Finding::Archived);
        path = unpack(&packed);
        assert_eq!(link.new_turns(), 0);
        append(&path, writer.turn(words));
        assert_eq!(link.new_turns(), 1);
        assert_eq!(link.marker().get("reread"), None, "the same content is no other thread");
    }
}

#[test]
fn while_both_lie_there_the_plain_file_wins() {
    let home = Home::new();
    let writer = Writer::new();
    let path = home.file(PATH, writer.user_meta() + &writer.turn("one"));
    let mut link = home.link(&path, THREAD);
    assert_eq!(link.new_turns(), 1);
    let packed = pack(&path);
    assert_eq!(link.probe(), Finding::Quiet);
    append(&path, writer.turn("two"));
    assert_eq!(link.new_turns(), 1);
    fs::remove_file(&path).unwrap();
    // What lies there compressed is older than what was read: not the same content any more.
    let window = link.window();
    assert_eq!(window.replaced.as_deref(), Some("replaced"));
    assert_eq!(window.turns.len(), 1, "read again; the engine knows its id");
    fs::write(&path, zstd::decode_all(&fs::read(&packed).unwrap()[..]).unwrap()).unwrap();
    append(&path, writer.turn("three"));
    let window = link.window();
    assert_eq!((window.turns.len(), window.replaced), (1, None));
    assert_eq!(link.path(), path, "the compressed file still lies there");
}

#[test]
fn a_compressed_file_that_breaks_off_is_neither_missing_nor_passed_over() {
    let home = Home::new();
    let writer = Writer::new();
    let path = home.file(PATH, writer.user_meta() + &writer.turn("one"));
    let mut link = home.link(&path, THREAD);
    let packed = compress(&path);
    let whole = fs::read(&packed).unwrap();
    fs::write(&packed, &whole[..whole.len() / 2]).unwrap();
    assert!(matches!(link.probe(), Finding::Unreadable(_)));
    fs::write(&packed, &whole).unwrap();
    assert_eq!(link.new_turns(), 1);
}

#[test]
fn a_compressed_thread_of_many_windows_is_read_in_order() {
    let home = Home::new();
    let writer = Writer::new();
    let turn = writer.id();
    let mut rows = writer.user_meta() + &writer.started(&turn, &json!("user"));
    for number in 0..40 {
        rows += &writer.typed(&turn, &format!("prompt {number}"));
        rows += &writer
            .item(&turn, &json!({"type": "CommandExecution", "output": "x".repeat(200_000)}));
    }
    let path = home.file(PATH, &rows);
    let plain = ids(&home.link(&path, THREAD).drain());
    assert_eq!(plain.len(), 40);
    let mut link = home.link(&path, THREAD);
    link.window();
    let mut packed = home.link(&path, THREAD);
    let first = packed.window().turns;
    compress(&path);
    let rest = packed.drain();
    assert_eq!([ids(&first), ids(&rest)].concat(), plain);
    assert_eq!(packed.offset(), rows.len() as u64);
    for _ in 0..3 {
        link.probe_with(&home.fresh());
    }
    assert!(link.offset() > 3_000_000);
}

#[test]
fn a_file_that_is_only_being_unpacked_is_not_taken_for_the_whole() {
    let home = Home::new();
    let writer = Writer::new();
    let path = home.file(PATH, writer.user_meta() + &writer.turn("one"));
    let mut link = home.link(&path, THREAD);
    link.drain();
    let packed = compress(&path);
    put_away(&mut link);
    let whole = zstd::decode_all(fs::File::open(&packed).unwrap()).unwrap();
    for end in [0, 10, whole.len() - 1] {
        fs::write(&path, &whole[..end]).unwrap();
        assert_eq!(link.probe(), Finding::Archived);
    }
    fs::write(&path, &whole).unwrap();
    append(&path, writer.turn("two"));
    let window = link.window();
    assert_eq!((window.turns.len(), window.replaced, link.path()), (1, None, path));
}

#[test]
fn a_thread_that_moves_while_it_is_read_loses_nothing_and_counts_nothing_twice() {
    const ROUNDS: usize = 60;
    let home = Home::new();
    let writer = Writer::new();
    let path = home.file(PATH, writer.user_meta());
    let archived = home.path(ARCHIVE);
    let mut link = home.link(&path, THREAD);
    let turns: Vec<String> = (0..ROUNDS).map(|number| writer.turn(&number.to_string())).collect();
    let mover = std::thread::spawn(move || {
        for (number, turn) in turns.iter().enumerate() {
            append(&path, turn);
            match number % 3 {
                0 => {
                    fs::rename(&path, &archived).unwrap();
                    fs::rename(&archived, &path).unwrap();
                }
                1 => {
                    unpack(&compress(&path));
                }
                _ => {
                    fs::rename(&path, &archived).unwrap();
                    let plain = unpack(&compress(&archived));
                    fs::rename(plain, &path).unwrap();
                }
            }
        }
    });
    let mut turns = Vec::new();
    loop {
        let is_last = mover.is_finished();
        match link.probe() {
            Finding::Read(window) => {
                assert!(window.replaced.is_none_or(|word| word == ARCHIVED));
                turns.extend(window.turns);
            }
            Finding::Missing | Finding::Gone(_) => panic!("it was there all the time"),
            Finding::Quiet | Finding::Archived if is_last => break,
            _ => {}
        }
    }
    mover.join().unwrap();
    let all = ids(&turns);
    let once: std::collections::HashSet<_> = all.iter().collect();
    assert_eq!((once.len(), all.len()), (ROUNDS, ROUNDS));
}

#[test]
fn a_rewound_thread_is_followed_into_its_next_file() {
    let home = Home::new();
    let writer = Writer::new();
    let first = home.file(PATH, writer.user_meta() + &writer.turn("one") + &writer.turn("two"));
    let mut link = home.link(&first, THREAD);
    assert_eq!(link.new_turns(), 2);

    let base = json!({"history_base": {"thread_id": THREAD, "end_ordinal_exclusive": 9, "end_byte_offset": 900}});
    let second = home.file(LATER[0], "");
    assert_eq!(link.probe(), Finding::Quiet, "nothing stands there yet");
    append(&second, writer.meta(THREAD, &base) + &writer.turn("three"));
    let window = link.window();
    assert_eq!((window.turns.len(), window.replaced), (1, None));
    assert!(window.dedupe_id.starts_with("01a1aaef-"), "{}", window.dedupe_id);
    assert_eq!((link.path(), link.probe()), (second.clone(), Finding::Quiet));
    append(&second, writer.turn("four"));
    assert_eq!(link.new_turns(), 1);

    // Twice rewound before the next look, with rows left unread in both.
    append(&second, writer.turn("five"));
    let third = home.file(LATER[1], writer.meta(THREAD, &base) + &writer.turn("six"));
    let window = link.window();
    assert_eq!((window.turns.len(), window.more), (1, true));
    assert_eq!(link.new_turns(), 1);
    assert_eq!(link.path(), third);
}

#[test]
fn what_is_unread_of_all_files_is_read_in_order_and_once() {
    let home = Home::new();
    let writer = Writer::new();
    let mut want = Vec::new();
    for path in [PATH, LATER[0], LATER[1]] {
        let path = home.file(path, writer.user_meta() + &writer.turn("a") + &writer.turn("b"));
        want.extend(ids(&crate::support::Home::new().link(&path, "other").drain()));
    }
    let mut link = home.link(&home.path(PATH), THREAD);
    compress(&home.path(LATER[0]));
    assert_eq!(ids(&link.drain()), ids(&home.link(&home.path(PATH), THREAD).drain()));
    assert_eq!(link.path(), home.path(LATER[1]));
}

#[test]
fn a_half_row_before_a_rewind_is_waited_for_once() {
    let home = Home::new();
    let writer = Writer::new();
    let first = home.file(PATH, writer.user_meta() + &writer.turn("one"));
    let mut link = home.link(&first, THREAD);
    assert_eq!(link.new_turns(), 1);
    let rows = writer.turn("two");
    let (head, tail) = rows.split_at(rows.len() - 30);
    append(&first, head);
    home.file(LATER[0], writer.user_meta() + &writer.turn("three"));
    assert_eq!(link.window().turns.len(), 1, "the whole rows before it");
    assert_eq!(link.probe(), Finding::Quiet, "it may still be written");
    append(&first, tail);
    assert_eq!(link.new_turns(), 1, "three");

    let torn = Home::new();
    let first = torn.file(PATH, writer.user_meta() + "{\"torn");
    torn.file(LATER[0], writer.user_meta() + &writer.turn("three"));
    let mut link = torn.link(&first, THREAD);
    let turns: usize = (0..4)
        .map(|_| match link.probe() {
            Finding::Read(window) => window.turns.len(),
            _ => 0,
        })
        .sum();
    assert_eq!(turns, 1, "it never grew again");
}

#[test]
fn adopting_takes_the_newest_file_of_a_thread() {
    let home = Home::new();
    let writer = Writer::new();
    let first = home.file(PATH, writer.user_meta() + &writer.turn("one"));
    let second = home.file(LATER[0], writer.user_meta() + &writer.turn("two"));
    for wanted in [THREAD, first.to_str().unwrap(), second.to_str().unwrap()] {
        let mut link = home.adopt(wanted);
        assert_eq!((link.path(), link.probe()), (second.clone(), Finding::Quiet), "{wanted}");
    }
    let mut link = home.adopt(THREAD);
    let packed = compress(&second);
    put_away(&mut link);
    assert_eq!(home.adopt(THREAD).path(), packed);
    append(&unpack(&packed), writer.turn("three"));
    assert_eq!(link.new_turns(), 1);
}

#[test]
fn the_ref_stays_wherever_the_thread_lies() {
    let home = Home::new();
    let writer = Writer::new();
    let path = home.file(PATH, writer.user_meta());
    let reference = home.adopt(THREAD).probe.link.reference;
    let archived = home.path(ARCHIVE);
    fs::rename(&path, &archived).unwrap();
    assert_eq!(home.adopt(THREAD).probe.link.reference, reference);
    let packed = compress(&archived);
    assert_eq!(home.adopt(packed.to_str().unwrap()).probe.link.reference, reference);
    home.file(LATER[0], writer.user_meta());
    assert_eq!(home.adopt(THREAD).probe.link.reference, reference);
}

#[test]
fn a_fork_has_its_own_prompts_only() {
    let home = Home::new();
    let writer = Writer::new();
    let child = "01a1a75f-0000-7cfd-96c1-dee1a67f6caf";
    let path = "sessions/2026/11/04/rollout-2026-11-04T16-30-00-01a1a75f-0000-7cfd-96c1-dee1a67f6caf.jsonl";
    let base = json!({"forked_from_id": THREAD, "history_base": {"thread_id": THREAD}});
    let paginated = home.file(
        path,
        writer.meta(child, &base) + &writer.turn("new").replace("01a1a75d-", "01a1a760-"),
    );
    assert_eq!(home.link(&paginated, child).new_turns(), 1);

    let copies = writer.legacy_turn("old") + &writer.turn("old too");
    let replay =
        [writer.meta(child, &json!({"forked_from_id": THREAD})), writer.user_meta(), copies]
            .concat();
    let new = writer.legacy_turn("new").replace("01a1a75d-", "01a1a760-");
    let legacy = home.file(path, replay.clone() + &new);
    assert_eq!(home.link(&legacy, child).new_turns(), 1);
    fs::write(&legacy, &replay).unwrap();
    let mut link = home.adopt(child);
    append(&legacy, &new);
    assert_eq!(link.new_turns(), 1);

    // Adopted before its copies came, row by row.
    let rows: Vec<_> = replay.split_inclusive('\n').collect();
    for at_adoption in 0..3 {
        fs::write(&legacy, rows[..at_adoption].concat()).unwrap();
        let mut link = home.adopt(child);
        for row in &rows[at_adoption..] {
            append(&legacy, row);
            assert_eq!(link.new_turns(), 0, "{at_adoption}");
        }
        append(&legacy, &new);
        assert_eq!(link.new_turns(), 1, "{at_adoption}");
    }
}

#[test]
fn a_deleted_thread_is_missing_and_one_that_cannot_be_looked_for_is_not() {
    let home = Home::new();
    let writer = Writer::new();
    let path = home.file(PATH, writer.user_meta() + &writer.turn("one"));
    let mut link = home.link(&path, THREAD);
    link.drain();
    let size = path.metadata().unwrap().len();
    fs::remove_file(&path).unwrap();
    let Finding::Gone(absence) = link.probe() else { panic!("it is gone") };
    assert_eq!((absence.kept, absence.read_to), (None, Some(size)));
    fs::create_dir(&path).unwrap();
    assert!(is_missing(&link.probe()));
    fs::remove_dir_all(home.path("sessions")).unwrap();
    assert!(is_missing(&link.probe()));
    home.file("sessions", "");
    assert!(matches!(link.probe(), Finding::Unreadable(_)), "a file stands where a folder was");
    fs::remove_file(home.path("sessions")).unwrap();

    let path = home.file(PATH, "");
    fs::remove_file(&path).unwrap();
    home.file(LATER[0], "");
    let mut later = home.link(&home.path(LATER[1]), THREAD);
    assert!(matches!(later.probe(), Finding::Unreadable(_)), "an earlier file is left");
}

#[test]
fn what_was_written_before_a_deletion_is_read_from_the_held_file() {
    let home = Home::new();
    let writer = Writer::new();
    let path = home.file(PATH, writer.user_meta() + &writer.turn("one"));
    let mut link = home.adopt(THREAD);
    append(&path, writer.turn("two"));
    link.probe.held = Held::open(&path);
    fs::remove_file(&path).unwrap();
    assert_eq!(link.window().turns.len(), 1);
    assert!(is_missing(&link.probe()));
    link.probe.held = None;
    assert!(is_missing(&link.probe()));
}

#[test]
fn links_are_not_followed() {
    let home = Home::new();
    let writer = Writer::new();
    let path = home.file(PATH, writer.user_meta() + &writer.turn("one"));
    let mut link = home.link(&path, THREAD);
    let elsewhere = tempfile::tempdir().unwrap();
    let target = elsewhere.path().join("rollout.jsonl");
    fs::rename(&path, &target).unwrap();
    symlink(&target, &path).unwrap();
    assert!(matches!(link.probe(), Finding::Unreadable(_)));
    fs::remove_file(&path).unwrap();
    fs::rename(&target, &path).unwrap();
    let folder = path.parent().unwrap();
    fs::rename(folder, elsewhere.path().join("04")).unwrap();
    symlink(elsewhere.path().join("04"), folder).unwrap();
    assert!(matches!(link.probe(), Finding::Unreadable(_)));
}

#[test]
fn case_60_and_61_another_content_is_said_and_read_again() {
    let home = Home::new();
    let old = Writer::from(0x100);
    let rows = old.user_meta() + &old.turn("old");
    let fresh = Writer::from(0x200);
    fresh.meta(THREAD, &json!({}));
    let shift = |rows: String| rows.replace("2026-11-04T16:20:3", "2026-11-04T18:20:3");
    let new = shift(fresh.turn("new"));
    let adopted = AT + 3_600_000;
    for (name, write) in [
        (
            "truncated",
            &(|path: &std::path::Path| fs::write(path, old.user_meta()).unwrap())
                as &dyn Fn(&std::path::Path),
        ),
        ("replaced", &|path| {
            let other = path.with_extension("new");
            fs::write(&other, rows.replace("old", "odd")).unwrap();
            fs::rename(&other, path).unwrap();
        }),
        ("rewritten", &|path| fs::write(path, rows.replace("old", "odd")).unwrap()),
    ] {
        let path = home.file(PATH, &rows);
        touch(&path, 5_000);
        let mut link = home.link(&path, THREAD);
        link.probe.link.created_at = ADOPTED;
        assert_eq!(link.new_turns(), 1, "{name}");
        link.probe.link.created_at = adopted;
        write(&path);
        append(&path, &new);
        let window = link.window();
        let said = window.replaced.clone().unwrap_or_default();
        assert!(said == name || (name == "truncated" && said == "rewritten"), "{name}: {said}");
        assert_eq!(window.turns.len(), 1, "{name}: rows from before the adoption don't count");
        assert_eq!((link.marker()["reread"].clone(), link.probe()), (json!(true), Finding::Quiet));
    }
}

#[test]
fn a_copy_elsewhere_has_its_folder_as_its_root() {
    let home = Home::new();
    let writer = Writer::new();
    home.file(PATH, writer.user_meta() + &writer.turn("the original"));
    let path = home.file("elsewhere/copy.jsonl", writer.user_meta());
    let mut link = home.adopt(path.to_str().unwrap());
    assert_eq!(link.probe.link.thread, THREAD);
    assert_eq!(link.path(), path);
    append(&path, writer.turn("one"));
    assert_eq!(link.new_turns(), 1);
    let packed = compress(&path);
    put_away(&mut link);
    fs::remove_file(packed).unwrap();
    assert!(is_missing(&link.probe()), "what lies in the home is another file");
}

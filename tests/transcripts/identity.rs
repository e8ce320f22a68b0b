//! Transcripts that turn out to be other files than before: cases 60 and 61 of `upstream.md` 10.1, and the first trap of
//! `observed.md` 1.

use std::fs;

use tidings::upstream::{Finding, Held, RecordId, Window};

use crate::support::{Link, MAX, Place, answer, prompt};

const AT: i64 = 1_784_160_000_000;
const ADOPTED: i64 = AT - 60_000;

fn ids(window: &Window) -> Vec<RecordId> {
    window.turns.iter().map(|turn| turn.id.unwrap()).collect()
}

fn old_and_one() -> String {
    [prompt("old", ADOPTED - 1, "before the adoption"), answer(6_000), prompt("a", AT, "one")]
        .concat()
}

/// Nothing is new, and what the file may have held before it was another is not known.
fn unread_behind(offset: u64) -> Finding {
    Finding::QuietBut(format!(
        "what an earlier state of the file may have held behind byte {offset} was not read"
    ))
}

#[test]
fn case_60_a_truncated_file_is_said_and_read_again() {
    let place = Place::new(MAX);
    let mut link = place.session(old_and_one().as_bytes());
    link.probe.link.created_at = ADOPTED;
    link.window();
    let before = link.offset();

    fs::write(&link.path, [prompt("old", ADOPTED - 1, "x"), prompt("b", AT, "y")].concat())
        .unwrap();
    let window = link.window();
    assert_eq!(window.replaced.as_deref(), Some("truncated"));
    assert_eq!(ids(&window), [RecordId::of("b")], "rows from before the adoption don't count");
    assert!(link.offset() < before);
    assert_eq!(link.marker()["reread"], true);
    assert_eq!(link.probe(), unread_behind(before));
    link.append(prompt("c", AT, "z").as_bytes());
    let window = link.window();
    assert_eq!((window.replaced.clone(), ids(&window)), (None, vec![RecordId::of("c")]));
}

#[test]
fn a_file_truncated_to_nothing_is_said_once_and_its_old_rows_stay_old() {
    let place = Place::new(MAX);
    let mut link = place.session(old_and_one().as_bytes());
    link.probe.link.created_at = ADOPTED;
    link.window();
    let before = link.offset();
    fs::write(&link.path, b"").unwrap();
    let window = link.window();
    assert_eq!((window.replaced.as_deref(), window.turns.len()), (Some("truncated"), 0));
    assert_eq!(link.offset(), 0);
    assert_eq!(link.probe(), unread_behind(before));
    link.append(old_and_one().as_bytes());
    let window = link.window();
    assert_eq!((window.replaced.clone(), ids(&window)), (None, vec![RecordId::of("a")]));
}

#[test]
fn case_61_a_file_renamed_over_it_is_said_and_read_again() {
    let place = Place::new(MAX);
    let mut link = place.session(old_and_one().as_bytes());
    link.probe.link.created_at = ADOPTED;
    let first = link.window();
    let other = link.path.with_file_name("other");
    fs::write(&other, format!("{}{}", old_and_one(), prompt("b", AT, "two"))).unwrap();
    fs::rename(&other, &link.path).unwrap();
    let window = link.window();
    assert_eq!(window.replaced.as_deref(), Some("replaced"));
    assert_eq!(
        ids(&window),
        [RecordId::of("a"), RecordId::of("b")],
        "counted ids are the engine's"
    );
    assert_ne!(window.dedupe_id, first.dedupe_id);
}

#[test]
fn a_file_written_anew_in_its_place_is_said_even_when_it_is_longer() {
    let place = Place::new(MAX);
    let mut link = place.session(prompt("a", AT, "one").as_bytes());
    link.window();
    fs::write(&link.path, [prompt("b", AT, "two"), prompt("c", AT, "three")].concat()).unwrap();
    let window = link.window();
    assert_eq!(window.replaced.as_deref(), Some("rewritten"));
    assert_eq!(ids(&window), [RecordId::of("b"), RecordId::of("c")]);
}

#[test]
fn a_file_of_the_same_size_is_told_by_its_time() {
    let place = Place::new(MAX);
    let mut link = place.session(prompt("a", AT, "one").as_bytes());
    link.touch(5_000);
    link.window();
    link.touch(6_000);
    assert_eq!(link.probe(), Finding::Quiet, "touched, not changed");
    fs::write(&link.path, prompt("b", AT, "two")).unwrap();
    link.touch(7_000);
    let window = link.window();
    assert_eq!(window.replaced.as_deref(), Some("rewritten"));
    assert_eq!(ids(&window), [RecordId::of("b")]);
}

#[test]
fn a_transcript_deleted_under_its_program_goes_on_in_a_new_file() {
    let place = Place::new(MAX);
    let mut link = place.session(old_and_one().as_bytes());
    link.probe.link.created_at = ADOPTED;
    link.window();
    // The next program's file may get the number of the deleted one back.
    let aside = link.path.with_file_name("aside");
    fs::rename(&link.path, &aside).unwrap();
    assert!(matches!(link.probe(), Finding::Gone(_)));
    fs::write(&link.path, prompt("b", AT, "two")).unwrap();
    let window = link.window();
    assert_eq!(window.replaced.as_deref(), Some("replaced"));
    assert_eq!(ids(&window), [RecordId::of("b")]);

    fs::remove_file(&link.path).unwrap();
    fs::write(&link.path, prompt("c", AT, "three")).unwrap();
    let window = link.window();
    assert!(window.replaced.is_some());
    assert_eq!(ids(&window), [RecordId::of("c")]);
}

#[test]
fn a_file_that_grows_is_the_same_file() {
    let place = Place::new(MAX);
    let mut link = place.session(b"");
    for number in 0..200 {
        let id = format!("id-{number}");
        link.append(prompt(&id, AT, "again").as_bytes());
        let window = link.window();
        assert_eq!((window.replaced.clone(), ids(&window)), (None, vec![RecordId::of(&id)]));
        assert_eq!(link.probe(), Finding::Quiet);
    }
    assert_eq!(link.marker()["file"]["prefixBytes"], 4_096);
    assert_eq!(link.marker().get("reread"), None);
}

#[test]
fn a_half_row_that_is_written_otherwise_is_no_other_file() {
    let place = Place::new(MAX);
    let one = prompt("a", AT, "one");
    let mut link = place.session(format!("{one}{{\"torn").as_bytes());
    link.window();
    fs::write(&link.path, format!("{one}{}", prompt("b", AT, "two"))).unwrap();
    let window = link.window();
    assert_eq!((window.replaced.clone(), ids(&window)), (None, vec![RecordId::of("b")]));
}

/// Opens the file as the owner does when it is touched.
fn hold(link: &mut Link<'_>) {
    link.probe.held = Held::open(&link.path);
    assert!(link.probe.held.is_some());
}

#[test]
fn what_was_written_before_a_deletion_is_read_from_the_held_file_and_then_it_is_known_to_be_all() {
    for in_place in ["nothing", "another", "the same"] {
        let place = Place::new(MAX);
        let mut link = place.session(old_and_one().as_bytes());
        link.window();
        link.append(prompt("last", AT, "one").as_bytes());
        hold(&mut link);
        let away = link.path.with_extension("away");
        if in_place == "the same" {
            fs::hard_link(&link.path, &away).unwrap();
        }
        fs::remove_file(&link.path).unwrap();
        match in_place {
            "another" => fs::write(&link.path, prompt("next", AT, "two")).unwrap(),
            "the same" => fs::rename(&away, &link.path).unwrap(),
            _ => {}
        }
        let window = link.window();
        assert_eq!((window.replaced.clone(), ids(&window)), (None, vec![RecordId::of("last")]));
        match in_place {
            "another" => {
                assert!(window.more);
                let window = link.window();
                assert_eq!(window.replaced.as_deref(), Some("replaced"));
                assert_eq!((ids(&window), window.note), (vec![RecordId::of("next")], None));
            }
            "the same" => assert_eq!(link.probe(), Finding::Quiet),
            _ => {
                let Finding::Gone(absence) = link.probe() else { panic!("it is gone") };
                assert_eq!(absence.read_to, None);
            }
        }
    }
}

#[test]
fn a_file_that_came_and_went_unread_is_read_from_the_held_one() {
    let place = Place::new(MAX);
    let mut link = place.session(old_and_one().as_bytes());
    link.window();
    let before = link.offset();
    // Made while the first is there, so that it gets another number.
    let next = link.path.with_extension("next");
    fs::write(&next, prompt("short", AT, "one")).unwrap();
    fs::rename(&next, &link.path).unwrap();
    hold(&mut link);
    fs::remove_file(&link.path).unwrap();
    let window = link.window();
    assert_eq!(window.replaced.as_deref(), Some("replaced"));
    assert_eq!(ids(&window), [RecordId::of("short")]);
    assert!(window.note.is_some_and(|note| note.contains(&format!("byte {before} "))));
    let Finding::Gone(absence) = link.probe() else { panic!("it is gone") };
    assert_eq!(absence.read_to, None);
}

#[test]
fn of_a_deleted_file_that_nobody_held_it_is_not_known_where_it_ended() {
    let place = Place::new(MAX);
    let mut link = place.session(old_and_one().as_bytes());
    link.window();
    fs::remove_file(&link.path).unwrap();
    let Finding::Gone(absence) = link.probe() else { panic!("it is gone") };
    assert_eq!(absence.read_to, Some(link.offset()));
}

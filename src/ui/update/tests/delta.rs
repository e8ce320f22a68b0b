use super::*;

#[test]
fn enter_asks_from_what_the_operator_or_the_pairs_watcher_has_seen() {
    let mut bench = Bench::new();
    let after = |request| match request {
        Request::Changes { session, after, .. } => (session.to_string(), after.0),
        other => panic!("{other:?}"),
    };
    assert_eq!(after(bench.keys("\n").request()), ("agent:main:a".into(), 0));
    bench.keys("\u{1b}jj\n");
    assert_eq!(after(bench.request()), ("agent:main:c".into(), 7));
    bench.keys("\u{1b}").key(KeyCode::Home).keys("\t\n");
    assert_eq!(after(bench.request()), ("agent:main:b".into(), 6));
    bench.keys("\u{1b}\t\n");
    assert_eq!(after(bench.request()), ("agent:main:b".into(), 6));
    bench.keys("\u{1b}\tk\n");
    assert_eq!(after(bench.request()), ("agent:main:c".into(), 7));
}

#[test]
fn the_version_is_typed_stepped_and_left_alone() {
    let mut bench = Bench::new();
    bench.keys("j\n").answer(Ok(Reply::Changes(changes(&[7, 9], false, 9))));
    let after = |bench: &Bench| match bench.request() {
        Request::Changes { after, .. } => after.0,
        other => panic!("{other:?}"),
    };
    assert_eq!(after(bench.keys("12x\n")), 12);
    bench.answer(Ok(Reply::Changes(changes(&[], false, 9))));
    assert_eq!(after(bench.keys("[")), 9);
    bench.answer(Ok(Reply::Changes(changes(&[], false, 9))));
    assert_eq!(after(bench.keys("[")), 6, "where its watcher is");
    bench.answer(Ok(Reply::Changes(changes(&[7, 9], false, 9))));
    assert_eq!(after(bench.keys("]")), 7);
    bench.keys("v5\u{1b}");
    assert!(matches!(bench.model.over, Some(Over::Delta(_))), "Esc leaves only the field");
    assert_eq!(bench.delta().since, Sequence(7));
    bench.key(KeyCode::Backspace);
    assert_eq!(bench.delta().input.value(), "");
    bench.keys("\n");
    assert_eq!(bench.delta().since, Sequence(7), "an empty field asks nothing");
}

#[test]
fn long_deltas_are_paged_in_both_directions() {
    let mut bench = Bench::new();
    bench.keys("j\n").answer(Ok(Reply::Changes(changes(&[2, 4], true, 9))));
    bench.keys("n");
    assert_eq!(bench.delta().after, Sequence(4));
    bench.answer(Ok(Reply::Changes(changes(&[9], false, 9))));
    bench.keys("n");
    assert_eq!(bench.toast().1, "this is the last page");
    bench.keys("p");
    assert_eq!(bench.delta().after, Sequence(0));
    bench.answer(Ok(Reply::Changes(changes(&[2, 4], true, 9)))).keys("p");
    assert_eq!(bench.toast().1, "this is the first page");
}

#[test]
fn answers_to_earlier_questions_are_dropped() {
    let mut bench = Bench::new();
    let (first, _) = bench.keys("j\n").asked();
    bench.keys("[").keys("5\n");
    bench.send(Message::Answer(first, Ok(Reply::Changes(changes(&[2], false, 2)))));
    assert!(bench.delta().changes.is_none());
}

#[test]
fn enter_acknowledges_the_version_on_the_screen() {
    let mut bench = Bench::new();
    bench.keys("jj\n");
    bench.answer(Ok(Reply::Changes(changes(&[8, 9], false, 9)))).keys("\n");
    let target: SessionKey = "agent:main:c".into();
    assert_eq!(
        bench.request(),
        Request::Acknowledge { target: target.clone(), shown: Sequence(9) }
    );
    bench.keys("r").answer(Ok(Reply::Changes(changes(&[8, 9], true, 20)))).keys("\n");
    assert_eq!(bench.request(), Request::Acknowledge { target, shown: Sequence(9) });
}

#[test]
fn nothing_is_acknowledged_that_was_not_shown_or_is_not_watched() {
    let mut bench = Bench::new();
    let asks = |bench: &Bench| {
        bench
            .effects
            .iter()
            .any(|effect| matches!(effect, Effect::Ask(_, Request::Acknowledge { .. })))
    };
    bench.keys("jj\n").keys("\n");
    assert!(!asks(&bench), "the answer is not there yet");
    bench
        .keys("\u{1b}")
        .key(KeyCode::Home)
        .keys("\n")
        .answer(Ok(Reply::Changes(changes(&[1], false, 5))))
        .keys("\n");
    assert!(!asks(&bench));
    assert!(bench.toast().1.contains("you do not watch this session; press w"));
}

#[test]
fn a_failed_delta_says_so() {
    let mut bench = Bench::new();
    bench.keys("\n").answer(Err("the database is locked; try again".into()));
    assert_eq!(bench.delta().error.as_deref(), Some("the database is locked; try again"));
    bench.keys("r").answer(Ok(Reply::Changes(changes(&[1], false, 1))));
    assert_eq!(bench.delta().error, None);
}

#[test]
fn in_the_past_what_came_later_has_not_happened() {
    let mut bench = Bench::new();
    bench.keys("<").answer(Ok(super::views::past(7)));
    bench.keys("G\n").answer(Ok(Reply::Changes(changes(&[5, 7, 8, 9], true, 20))));
    let shown = bench.delta().changes.as_ref().unwrap();
    let sequences: Vec<i64> = shown.events.iter().map(|event| event.sequence.0).collect();
    assert_eq!(sequences, [5, 7]);
    assert!(!shown.truncated);
    assert_eq!(shown.version, Sequence(7), "what the picture of then says");
}

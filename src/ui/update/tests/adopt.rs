use super::*;

fn listing() -> Listing {
    let entry = |thread: &str| CatalogEntry {
        catalog: "claude".into(),
        thread: thread.into(),
        path: format!("/tmp/{thread}.jsonl").into(),
        title: Some(format!("title of {thread}")),
        project: None,
        version: None,
        entry_point: None,
        modified_at: NOW,
        size: 1,
    };
    Listing { entries: vec![entry("one"), entry("two")], skipped: vec![] }
}

#[test]
fn adopting_asks_once_and_selects_the_new_session_when_it_comes() {
    let mut bench = Bench::new();
    assert_eq!(bench.keys("a").request(), Request::Catalog);
    bench.answer(Ok(Reply::Catalog(listing()))).keys("/two\n");
    bench.keys("\n");
    let wanted = Request::Adopt { catalog: "claude".into(), wanted: "two".into() };
    let (ticket, request) = bench.asked();
    assert_eq!(request, wanted);
    bench.keys("\n");
    assert!(bench.effects.is_empty(), "it is under way");
    let key: SessionKey = "agent:main:claude:two".into();
    bench.send(Message::Answer(ticket, Ok(Reply::Adopted(key.clone()))));
    assert_eq!(bench.toast(), (Tone::Done, "adopted claude:two; you watch it now"));
    bench.keys("\n");
    assert!(bench.toast().1.contains("adopted already"));
    let mut sessions = world().sessions.to_vec();
    sessions.push(session(key.as_str(), None, 30));
    bench.send(Message::Snapshot(snapshot(sessions, vec![], vec![])));
    assert_eq!(bench.selected_session(), key.as_str());
    bench.keys("\u{1b}\u{1b}");
    assert!(bench.model.over.is_none());
}

#[test]
fn a_failed_catalog_says_so_and_can_be_asked_again() {
    let mut bench = Bench::new();
    bench.keys("a").answer(Err("permission denied".into()));
    assert!(matches!(&bench.model.over, Some(Over::Adopt(adopt)) if adopt.error.is_some()));
    bench.keys("r").answer(Ok(Reply::Catalog(listing())));
    assert!(matches!(&bench.model.over, Some(Over::Adopt(adopt)) if adopt.rows.len() == 2));
}

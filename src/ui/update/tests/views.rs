//! The sheets, the graph, the past, the mouse.

use super::*;
use crate::engine::past::Past;
use crate::engine::snapshot::LinkRow;
use crate::ui::graph::{GraphView, Level};
use crate::ui::keymap::Context;
use crate::ui::message::{Gesture, Pointed};
use crate::ui::sheet::Sheet;

fn sheet(bench: &Bench) -> &Sheet {
    match &bench.model.over {
        Some(Over::Sheet(sheet)) => sheet,
        other => panic!("no sheet: {other:?}"),
    }
}

fn graph(bench: &Bench) -> &GraphView {
    match &bench.model.over {
        Some(Over::Graph(graph)) => graph,
        other => panic!("no graph: {other:?}"),
    }
}

fn linked() -> Arc<Snapshot> {
    let mut all = (*world()).clone();
    all.revision = 2;
    Arc::make_mut(&mut all.sessions)[2].upstream = Some(LinkRow {
        catalog: "claude".into(),
        host: "gateway:local".into(),
        thread: "t".into(),
        kind: "claude-cli".into(),
        path: Some("/tmp/t.jsonl".into()),
        offset: Some(100),
        outcome: "quiet".into(),
        detail: None,
        outcome_at: Some(NOW),
        missing_streak: 0,
        scanned_at: None,
        created_at: NOW,
    });
    Arc::new(all)
}

#[test]
fn views_lie_over_each_other_and_back_leads_through_them() {
    let mut bench = Bench::new();
    bench.keys("g").keys("F").keys("Q");
    assert_eq!(bench.model.under.len(), 2);
    bench.keys("\u{1b}");
    assert_eq!(bench.model.context(), Context::Findings);
    bench.keys("F");
    assert_eq!(bench.model.context(), Context::Graph, "the key of a view also leaves it");
    bench.keys("\u{1b}");
    assert_eq!(bench.model.context(), Context::Main);
}

#[test]
fn the_upstream_view_asks_for_sizes_and_asks_again_with_each_picture() {
    let mut bench = Bench::new();
    bench.send(Message::Snapshot(linked()));
    assert_eq!(bench.keys("u").request(), Request::Sizes);
    bench.answer(Ok(Reply::Sizes(vec![("agent:main:c".into(), AgentId::main(), 612)])));
    let lag = &sheet(&bench).rows[0].fields[3];
    assert_eq!((lag.text.as_str(), lag.number), ("512 B", Some(512)));
    let mut newer = (*linked()).clone();
    newer.revision = 3;
    assert_eq!(bench.send(Message::Snapshot(Arc::new(newer))).request(), Request::Sizes);
    assert_eq!(bench.keys("t").request(), Request::Tick);
}

#[test]
fn a_source_is_forgotten_by_pressing_twice() {
    let mut bench = Bench::new();
    bench.send(Message::Snapshot(linked()));
    bench.keys("u").answer(Ok(Reply::Sizes(vec![])));
    bench.keys("D");
    assert!(bench.toast().1.contains("press D again to forget the source of c;"));
    bench.keys("k").keys("D");
    let (session, agent) = ("agent:main:c".into(), AgentId::main());
    assert_eq!(bench.keys("D").request(), Request::Forget { session, agent });
    bench.answer(Ok(Reply::Done("it is no longer looked at".into())));
    assert_eq!(bench.toast(), (Tone::Done, "it is no longer looked at"));
}

#[test]
fn a_sheet_is_filtered_sorted_and_says_when_asking_failed() {
    let mut bench = Bench::new();
    bench.keys("s").answer(Err("the database is locked; try again".into()));
    assert_eq!(sheet(&bench).error.as_deref(), Some("the database is locked; try again"));
    assert_eq!(bench.keys("r").request(), Request::Storage);
    bench.answer(Ok(Reply::Storage(Box::default())));
    bench.keys("/ledger\n");
    assert_eq!(sheet(&bench).shown.len(), 1);
    bench.keys("\u{1b}");
    assert_eq!(sheet(&bench).shown.len(), 13);
    bench.keys("o");
    let first = &sheet(&bench).rows[sheet(&bench).shown[0]];
    assert_eq!(first.fields[0].text, "database file");
}

#[test]
fn adopting_may_go_without_watching() {
    let mut bench = Bench::new();
    let entry = CatalogEntry {
        catalog: "claude".into(),
        thread: "one".into(),
        path: "/tmp/one.jsonl".into(),
        title: None,
        project: None,
        version: None,
        entry_point: None,
        modified_at: NOW,
        size: 1,
    };
    let listing = Listing { entries: vec![entry], skipped: vec![] };
    bench.keys("c").answer(Ok(Reply::Catalog(listing)));
    let wanted = Request::AdoptOnly { catalog: "claude".into(), wanted: "one".into() };
    assert_eq!(bench.keys("A").request(), wanted);
    bench.answer(Ok(Reply::Adopted("agent:main:claude:one".into())));
    assert!(bench.toast().1.ends_with("it is looked at once somebody watches it"));
}

#[test]
fn a_notice_is_explained_and_without_one_it_is_said_what_to_select() {
    let mut bench = Bench::new();
    bench.keys("e");
    assert!(bench.toast().1.starts_with("select a watch or a notice"));
    bench.keys("\t\te");
    match bench.request() {
        Request::Explain(question) => assert_eq!(question.target.as_str(), "agent:main:b"),
        other => panic!("{other:?}"),
    }
    assert!(sheet(&bench).rows.iter().any(|row| row.fields[2].text == "cursor"));
}

pub(super) fn past(sequence: i64) -> Reply {
    let mut snapshot = (*world()).clone();
    snapshot.at = NOW - 60_000;
    snapshot.journal.max = Some(Sequence(sequence));
    snapshot.events.retain(|row| row.event.sequence.0 <= sequence);
    let not_kept = [("agent:main:a".into(), "agent:main:b".into())].into();
    Reply::Past(Some(Arc::new(Past { sequence: Sequence(sequence), snapshot, not_kept })))
}

#[test]
fn the_past_is_stepped_through_and_left() {
    let mut bench = Bench::new();
    bench.keys(">");
    assert_eq!(bench.toast().1, "this is the present");
    assert_eq!(bench.keys("<").request(), Request::Past { from: Sequence(9), steps: -1 });
    let (ticket, _) = bench.asked();
    bench.keys("<");
    assert!(bench.effects.is_empty(), "one answer at a time");
    bench.send(Message::Answer(ticket, Ok(past(7))));
    assert_eq!(bench.model.shown().events.len(), 2);
    assert_eq!(bench.model.reckoned_now(), NOW - 60_000);
    bench.send(Message::Snapshot(linked()));
    assert_eq!(bench.model.shown().events.len(), 2, "what comes does not touch the past");
    assert_eq!(bench.keys("{").request(), Request::Past { from: Sequence(7), steps: -25 });
    bench.answer(Ok(past(5)));
    assert_eq!(bench.keys("<").answer(Ok(Reply::Past(None))).toast().1, "the journal begins here");
    assert_eq!(bench.keys(">").request(), Request::Past { from: Sequence(5), steps: 1 });
    bench.answer(Ok(past(9)));
    bench.keys(">");
    assert!(bench.model.past.is_none() && bench.model.is_live());
    assert_eq!(bench.model.shown().revision, 2);
    for keys in ["\u{1b}", " ", "f"] {
        bench.keys("<").answer(Ok(past(7)));
        assert!(!bench.model.is_live());
        bench.keys(keys);
        assert!(bench.model.is_live() && bench.model.past.is_none(), "{keys:?}");
        assert!(bench.model.main.follow);
    }
    bench.keys("<").answer(Err("the disk failed".into()));
    assert_eq!(bench.toast(), (Tone::Error, "the disk failed"));
    assert!(bench.model.is_live());
}

#[test]
fn the_graph_is_walked_searched_narrowed_and_exported() {
    let mut bench = Bench::new();
    bench.keys("g");
    let selected = |bench: &Bench| graph(bench).selected.clone().unwrap().as_str().to_owned();
    assert_eq!(selected(&bench), "agent:main:a");
    bench.keys("l");
    assert_eq!(selected(&bench), "agent:main:b");
    bench.keys("h");
    assert_eq!(selected(&bench), "agent:main:a");
    bench.keys("/main\n").keys("n");
    let found = graph(&bench).matches().len();
    assert_eq!(found, 4);
    let first = selected(&bench);
    bench.keys("N").keys("n");
    assert_eq!(selected(&bench), first);
    bench.keys("\u{1b}").keys("N");
    assert!(bench.toast().1.contains("search with / first"));
    bench.keys("z");
    assert_eq!(graph(&bench).level, Level::Compact);
    bench.keys("zz").key(KeyCode::Home);
    assert_eq!(graph(&bench).level, Level::Full);
    bench.keys("/:a\n\u{1b}i");
    assert_eq!(graph(&bench).draft.nodes.len(), 2);
    assert_eq!(graph(&bench).draft.hidden_nodes, 2);
    bench.keys("]");
    assert_eq!(graph(&bench).ego.as_ref().map(|ego| ego.depth), Some(2));
    bench.keys("[[");
    assert_eq!(graph(&bench).ego.as_ref().map(|ego| ego.depth), Some(1));
    bench.keys("d");
    let copied = bench.effects.iter().find_map(|effect| match effect {
        Effect::Copy(text) => Some(text.clone()),
        _ => None,
    });
    let dot = copied.unwrap();
    assert!(dot.starts_with("digraph tidings {") && dot.contains("n0 -> n1 [label=\"pending 3\""));
    assert!(dot.contains("// not drawn: 2 sessions, 1 watches, 0 spawns"));
    bench.keys("\u{1b}!");
    assert_eq!(graph(&bench).draft.watches(), 1);
    assert_eq!(bench.keys("/:b\n\u{1b}w").request(), Request::Watch("agent:main:b".into()));
    assert!(matches!(bench.keys("e").request(), Request::Explain(_)));
    bench.keys("\u{1b}\n");
    assert_eq!(bench.delta().session.as_str(), "agent:main:b");
}

#[test]
fn the_graph_follows_the_picture() {
    let mut bench = Bench::new();
    bench.keys("g");
    let before = graph(&bench).layout.clone();
    let mut newer = (*world()).clone();
    Arc::make_mut(&mut newer.watches)[0].cursor.seen = Sequence(9);
    Arc::make_mut(&mut newer.watches)[0].condition = Condition::InStep;
    bench.send(Message::Snapshot(Arc::new(newer.clone())));
    assert_eq!(graph(&bench).layout, before, "colours change, places don't");
    Arc::make_mut(&mut newer.watches).push(watch("agent:main:c", "agent:main:a", 1, 1));
    bench.send(Message::Snapshot(Arc::new(newer)));
    assert_ne!(graph(&bench).layout, before);
}

fn click(bench: &mut Bench, column: u16, row: u16) {
    bench.send(Message::Mouse(Pointed { gesture: Gesture::Click, column, row }));
}

#[test]
fn the_mouse_focuses_selects_opens_and_scrolls() {
    let mut bench = Bench::new();
    bench.send(Message::Resize(120, 40));
    let list = |bench: &Bench, pane: Pane| {
        let places = layout::main(bench.model.area(), bench.model.main.focus, false).panes;
        layout::parts(pane, places[pane as usize].unwrap()).list
    };
    let events = list(&bench, Pane::Events);
    click(&mut bench, events.x + 3, events.y + 1);
    assert_eq!(bench.model.main.focus, Pane::Events);
    let sessions = list(&bench, Pane::Sessions);
    click(&mut bench, sessions.x + 3, sessions.y + 2);
    assert_eq!(bench.model.main.focus, Pane::Sessions);
    assert_eq!(bench.selected_session(), "agent:main:c");
    let scroll = |gesture| Message::Mouse(Pointed { gesture, column: 5, row: sessions.y });
    bench.send(scroll(Gesture::ScrollUp));
    assert_eq!(bench.selected_session(), "agent:main:a");
    bench.send(scroll(Gesture::ScrollDown));
    assert_eq!(bench.selected_session(), "agent:main:c");
    click(&mut bench, sessions.x + 3, sessions.y + 2);
    assert_eq!(bench.delta().session.as_str(), "agent:main:c", "a second click opens");
    bench.keys("\u{1b}");
    let notices = list(&bench, Pane::Notices);
    click(&mut bench, notices.x + 3, notices.y);
    assert!(bench.model.over.is_none(), "the first click into a pane opens nothing");
    assert_eq!(bench.model.main.focus, Pane::Notices);
    click(&mut bench, notices.x + 3, notices.y);
    assert_eq!(bench.delta().session.as_str(), "agent:main:b");
    bench.keys("\u{1b}").key(KeyCode::BackTab).key(KeyCode::BackTab).keys("/");
    click(&mut bench, sessions.x + 3, sessions.y);
    assert!(bench.effects.is_empty() && bench.model.typing, "not while something is typed");
    bench.keys("\u{1b}");
    click(&mut bench, 0, 0);
    assert!(bench.model.over.is_none(), "the border is nothing to click on");
}

#[test]
fn sequences_wait_for_their_end_and_a_wrong_key_counts_by_itself() {
    let mut bench = Bench::new();
    bench.keys("Q").answer(Ok(Reply::Wakes(vec![])));
    bench.keys("g");
    assert_eq!(bench.model.pressed.len(), 1);
    bench.keys("g");
    assert!(bench.model.pressed.is_empty());
    bench.keys("gs");
    assert_eq!(bench.model.context(), Context::Storage);
    assert!(bench.model.pressed.is_empty());
}

#[test]
fn a_pane_takes_the_whole_screen_and_gives_it_back() {
    let mut bench = Bench::new();
    bench.keys("\tz");
    let shown = layout::main(bench.model.area(), Pane::Watches, bench.model.main.is_zoomed).panes;
    assert_eq!(shown.iter().flatten().count(), 1);
    bench.keys("\u{1b}");
    assert!(!bench.model.main.is_zoomed);
}

#[test]
fn each_pane_is_sorted_by_each_of_its_columns() {
    let mut bench = Bench::new();
    for pane in Pane::ALL {
        let columns = crate::ui::sorting::columns(pane);
        for column in columns {
            bench.keys("o");
            assert_eq!(bench.toast().1, format!("sorted by {column}"));
            let rows = bench.model.main.len(pane);
            bench.keys("O").keys("O");
            assert_eq!(bench.model.main.len(pane), rows);
        }
        bench.keys("o\t");
    }
}

#[test]
fn the_changes_are_copied_as_json() {
    let mut bench = Bench::new();
    bench.keys("\n").answer(Ok(Reply::Changes(changes(&[5], false, 5)))).keys("Y");
    let copied = bench.effects.iter().find_map(|effect| match effect {
        Effect::Copy(text) => Some(text.clone()),
        _ => None,
    });
    let document: serde_json::Value = serde_json::from_str(&copied.unwrap()).unwrap();
    assert_eq!(document["events"][0]["kind"], "goal_changed");
    assert_eq!(document["stateVersion"], 5);
}

#[test]
fn the_desktop_is_told_only_when_that_was_asked_for() {
    for desktop in [false, true] {
        let mut bench = Bench::new();
        bench.model.setup.desktop = desktop;
        let mut owed = (*world()).clone();
        Arc::make_mut(&mut owed.watches)[1] = watch(YOU, "agent:main:c", 7, 8);
        owed.notices.push(NoticeRow { watch: 1, queued: Some(true) });
        bench.send(Message::Snapshot(Arc::new(owed)));
        let told = bench.effects.iter().any(|effect| matches!(effect, Effect::Notify(text) if text == "tidings: notice for you: c changed"));
        assert_eq!(told, desktop);
    }
}

#[test]
fn a_view_of_the_whole_state_stands_in_the_trail_once() {
    let mut bench = Bench::new();
    bench.keys("gFusus");
    let trail: Vec<_> = bench.model.trail().collect();
    let expected =
        [Context::Main, Context::Graph, Context::Findings, Context::Upstream, Context::Storage];
    assert_eq!(trail, expected);
    bench.keys("\u{1b}");
    assert_eq!(bench.model.trail().last(), Some(Context::Upstream));
}

#[test]
fn an_answer_finds_the_view_that_asked_even_below_another() {
    let mut bench = Bench::new();
    bench.keys("\n");
    let (ticket, _) = bench.asked();
    bench.keys("F").send(Message::Answer(ticket, Ok(Reply::Changes(changes(&[7], false, 7)))));
    bench.keys("\u{1b}");
    assert!(bench.delta().changes.is_some() && bench.delta().ticket.is_none());

    let mut bench = Bench::new();
    bench.keys("a");
    let (ticket, _) = bench.asked();
    bench.keys("F").send(Message::Answer(ticket, Ok(Reply::Catalog(Listing::default()))));
    bench.keys("\u{1b}");
    let Some(Over::Adopt(adopt)) = &bench.model.over else { panic!("not the catalog") };
    assert!(adopt.listing.is_some() && adopt.ticket.is_none());
}

#[test]
fn what_is_shown_is_saved_under_a_path_that_is_asked_for() {
    let mut bench = Bench::new();
    bench.keys("gS");
    assert_eq!(bench.model.context(), Context::Field);
    bench.keys("x\n");
    let Some(Effect::Save { path, text }) = bench.effects.first() else {
        panic!("{:?}", bench.effects)
    };
    assert_eq!(path, "tidings-graph.dotx");
    assert!(text.starts_with("digraph"), "{text}");
    assert_eq!(bench.model.context(), Context::Graph);
    bench.send(Message::Done("wrote x".into()));
    assert_eq!(bench.toast(), (Tone::Done, "wrote x"));

    bench.keys("S\u{1b}");
    assert!(bench.model.saving.is_none() && bench.effects.is_empty());
    assert_eq!(bench.model.context(), Context::Graph, "Esc leaves the prompt only");
    bench.keys("S").ctrl('u').keys("\n");
    assert!(bench.model.saving.is_some(), "no path, no file");
}

#[test]
fn changes_are_saved_once_they_are_there() {
    let mut bench = Bench::new();
    bench.keys("\n");
    let (ticket, _) = bench.asked();
    bench.keys("S");
    assert_eq!(bench.toast().0, Tone::Note);
    assert!(bench.model.saving.is_none());
    bench.send(Message::Answer(ticket, Ok(Reply::Changes(changes(&[7], false, 7)))));
    bench.keys("S\n");
    let Some(Effect::Save { path, text }) = bench.effects.first() else {
        panic!("{:?}", bench.effects)
    };
    assert!(path.contains(".json") && path.starts_with("tidings-changes-since-"), "{path}");
    let document: serde_json::Value = serde_json::from_str(text).unwrap();
    assert_eq!(document["stateVersion"], 7);
}

#[test]
fn the_wheel_moves_the_window_over_the_graph() {
    let mut bench = Bench::new();
    bench.send(Message::Resize(40, 10)).keys("g");
    let selected = graph(&bench).selected.clone();
    bench.send(Message::Mouse(Pointed { gesture: Gesture::ScrollDown, column: 5, row: 5 }));
    let down = graph(&bench).offset.1;
    assert!(down > 0 && graph(&bench).selected == selected);
    bench.send(Message::Mouse(Pointed { gesture: Gesture::ScrollUp, column: 5, row: 5 }));
    assert!(graph(&bench).offset.1 < down);
}

use super::*;

#[test]
fn quit_suspend_and_redraw_are_effects() {
    let mut bench = Bench::new();
    assert_eq!(bench.keys("q").effects, [Effect::Quit]);
    assert_eq!(bench.ctrl('c').effects, [Effect::Quit]);
    assert_eq!(bench.ctrl('z').effects, [Effect::Suspend]);
    assert_eq!(bench.ctrl('l').effects, [Effect::Redraw]);
    assert_eq!(bench.keys("/").ctrl('c').effects, [Effect::Quit], "while typing, too");
}

#[test]
fn the_selection_moves_and_stays_on_its_session() {
    let mut bench = Bench::new();
    assert_eq!(bench.selected_session(), "agent:main:a");
    bench.keys("jj");
    assert_eq!(bench.selected_session(), "agent:main:c");
    bench.keys("k").keys("G").key(KeyCode::Home).keys("G");
    let more = snapshot(
        vec![
            session("agent:main:0", None, 1),
            session("agent:main:a", None, 5),
            session("agent:main:c", None, 7),
        ],
        vec![],
        vec![],
    );
    bench.send(Message::Snapshot(more));
    assert_eq!(bench.selected_session(), "agent:main:c");
    assert_eq!(bench.model.main.sessions.index(), 2);
}

#[test]
fn pages_move_by_what_can_be_seen() {
    let many = (0..100).map(|n| session(&format!("agent:main:s{n:03}"), None, 1)).collect();
    let mut bench = Bench::new();
    bench.send(Message::Snapshot(snapshot(many, vec![], vec![])));
    bench.key(KeyCode::Home).key(KeyCode::PageDown);
    let page = bench.model.main.sessions.index();
    assert!((2..20).contains(&page), "{page}");
    bench.ctrl('d');
    assert!(bench.model.main.sessions.index() > page);
    bench.ctrl('u').key(KeyCode::PageUp);
    assert_eq!(bench.model.main.sessions.index(), 0);
    bench.key(KeyCode::End);
    assert_eq!(bench.model.main.sessions.index(), 99);
}

#[test]
fn panes_are_walked_in_both_directions() {
    let mut bench = Bench::new();
    bench.keys("\t\t");
    assert_eq!(bench.model.main.focus, Pane::Notices);
    bench.key(KeyCode::BackTab);
    assert_eq!(bench.model.main.focus, Pane::Watches);
    bench.keys("h");
    assert_eq!(bench.model.main.focus, Pane::Sessions);
}

#[test]
fn branches_fold_and_unfold() {
    let mut bench = Bench::new();
    bench.keys("h");
    assert_eq!(bench.model.main.rows.sessions.len(), 2);
    bench.keys("l");
    assert_eq!(bench.model.main.rows.sessions.len(), 3);
    bench.keys("l");
    assert_eq!(bench.selected_session(), "agent:main:b");
    bench.keys("h");
    assert_eq!(bench.selected_session(), "agent:main:a");
}

#[test]
fn w_watches_or_stops_by_what_is_so_now() {
    let mut bench = Bench::new();
    assert_eq!(bench.keys("w").request(), Request::Watch("agent:main:a".into()));
    assert_eq!(bench.keys("jjw").request(), Request::Unwatch("agent:main:c".into()));
    bench.answer(Ok(Reply::Done("no longer watched".into())));
    assert_eq!(bench.toast(), (Tone::Done, "no longer watched"));
    // A held picture still shows the watch; what counts is that it is gone.
    bench.keys(" ");
    let sessions = world().sessions.to_vec();
    bench.send(Message::Snapshot(snapshot(sessions, vec![], vec![])));
    assert_eq!(bench.keys("w").request(), Request::Watch("agent:main:c".into()));
    bench.answer(Err("the state database is locked; try again".into()));
    assert_eq!(bench.toast(), (Tone::Error, "the state database is locked; try again"));
}

#[test]
fn the_operators_own_session_is_not_watched() {
    let mut bench = Bench::new();
    bench.send(Message::Snapshot(snapshot(vec![session(YOU, None, 1)], vec![], vec![])));
    bench.keys("w");
    assert!(!bench.effects.iter().any(|effect| matches!(effect, Effect::Ask(..))));
    assert!(bench.toast().1.contains("your own session"));
}

#[test]
fn one_tick_at_a_time() {
    let mut bench = Bench::new();
    assert_eq!(bench.keys("t").request(), Request::Tick);
    let (ticket, _) = bench.asked();
    bench.keys("t");
    assert!(!bench.effects.iter().any(|effect| matches!(effect, Effect::Ask(..))));
    bench.send(Message::Answer(ticket, Ok(Reply::Done("2 links quiet".into()))));
    assert_eq!(bench.toast(), (Tone::Done, "2 links quiet"));
    assert_eq!(bench.keys("t").request(), Request::Tick);
}

#[test]
fn the_filter_narrows_as_it_is_typed_and_esc_clears_it() {
    let mut bench = Bench::new();
    bench.keys("/q");
    assert!(bench.effects.is_empty(), "q is text here");
    bench.key(KeyCode::Backspace).keys(":c");
    assert_eq!(bench.model.main.rows.sessions.len(), 1);
    assert_eq!(bench.selected_session(), "agent:main:c");
    bench.keys("\n");
    assert!(!bench.model.typing);
    assert_eq!(bench.model.main.rows.sessions.len(), 1, "Enter keeps it");
    bench.keys("\u{1b}");
    assert_eq!(bench.model.main.rows.sessions.len(), 3);
    assert_eq!(bench.selected_session(), "agent:main:c");
    bench.keys("/b");
    let shown: Vec<bool> =
        bench.model.main.rows.sessions.iter().map(|row| row.is_context).collect();
    assert_eq!(shown, [true, false], "the parent shows the way to the child");
}

#[test]
fn pasted_text_goes_into_a_field_and_nowhere_else() {
    let mut bench = Bench::new();
    let before = bench.model.revision();
    bench.send(Message::Paste("q\nw".into()));
    assert!(bench.effects.is_empty());
    assert_eq!(bench.model.revision(), before);
    bench.keys("/").send(Message::Paste("ma\u{1b}in\n".into()));
    assert_eq!(bench.model.main.filter(Pane::Sessions).text(), "main");
}

#[test]
fn only_pairs_that_are_not_in_step() {
    let mut bench = Bench::new();
    bench.keys("!");
    let shown: Vec<usize> = bench.model.main.rows.sessions.iter().map(|row| row.session).collect();
    assert_eq!(shown, [0, 1]);
    bench.keys("\u{1b}");
    assert_eq!(bench.model.main.rows.sessions.len(), 3);
}

#[test]
fn sessions_are_sorted_by_what_is_owed() {
    let mut owed = session("agent:main:z", None, 1);
    owed.pending_notices = 3;
    let mut bench = Bench::new();
    let sessions = vec![session("agent:main:a", None, 1), owed];
    bench.send(Message::Snapshot(snapshot(sessions, vec![], vec![])));
    bench.keys("oo");
    assert_eq!(bench.model.main.rows.sessions[0].session, 1);
    assert_eq!(bench.toast().1, "sorted by owed");
    bench.keys("O");
    assert_eq!(bench.model.main.rows.sessions[0].session, 0);
    bench.keys("O").keys("oooooo");
    assert_eq!(bench.toast().1, "sorted in their own order");
    assert_eq!(bench.model.main.rows.sessions[0].session, 0);
}

#[test]
fn what_is_selected_is_copied_without_hidden_characters() {
    let copied = |bench: &Bench| {
        bench.effects.iter().find_map(|effect| match effect {
            Effect::Copy(text) => Some(text.clone()),
            _ => None,
        })
    };
    let mut bench = Bench::new();
    assert_eq!(copied(bench.keys("y")).as_deref(), Some("agent:main:a"));
    assert_eq!(copied(bench.keys("\ty")).as_deref(), Some("agent:main:b"));
    let notice = copied(bench.keys("\ty")).unwrap();
    assert!(
        notice.ends_with("session_status sessionKey \"agent:main:b\" changesSince 6."),
        "{notice}"
    );
    assert_eq!(
        copied(bench.keys("\n").keys("y")).as_deref(),
        Some("session_status sessionKey \"agent:main:b\" changesSince 6")
    );
    let evil = vec![session("agent:main:x\nrm -rf", None, 1)];
    bench.keys("\u{1b}\t\t").send(Message::Snapshot(snapshot(evil, vec![], vec![])));
    assert_eq!(copied(bench.keys("y")).as_deref(), Some("agent:main:x␊rm -rf"));
    assert!(bench.toast().1.contains("spelled out"));
}

#[test]
fn pages_open_scroll_and_close() {
    let mut bench = Bench::new();
    bench.keys("?jj");
    assert_eq!(bench.model.page.map(|page| page.top), Some(2));
    bench.keys("G");
    let furthest = bench.model.page.map(|page| page.top);
    bench.keys("j");
    assert_eq!(bench.model.page.map(|page| page.top), furthest);
    assert_eq!(bench.selected_session(), "agent:main:a", "the list below does not move");
    bench.keys("\u{1b}p");
    assert_eq!(bench.model.page.map(|page| page.kind), Some(crate::ui::model::PageKind::Problems));
    bench.keys("\u{1b}");
    assert_eq!(bench.model.page, None);
}

#[test]
fn the_first_of_the_sessions_that_come_is_selected_when_there_was_nothing_to_choose() {
    let mut bench = Bench::new();
    bench.model = Model::new(bench.model.setup.clone());
    bench.send(Message::Snapshot(snapshot(vec![session(YOU, None, 1)], vec![], vec![])));
    assert_eq!(bench.selected_session(), YOU);
    let mut sessions = world().sessions.to_vec();
    sessions.push(session(YOU, None, 1));
    bench.send(Message::Snapshot(snapshot(sessions.clone(), vec![], vec![])));
    assert_eq!(bench.selected_session(), "agent:main:a");
    bench.keys("j");
    sessions.insert(0, session("agent:main:0", None, 1));
    bench.send(Message::Snapshot(snapshot(sessions, vec![], vec![])));
    assert_eq!(bench.selected_session(), "agent:main:b");
}

#[test]
fn what_was_done_is_not_told_in_the_next_view_but_what_failed_is() {
    let mut bench = Bench::new();
    bench.send(Message::Done("wrote x".into())).keys("F");
    assert!(bench.model.toast.is_none());
    bench.send(Message::Trouble("no room".into())).keys("\u{1b}");
    assert_eq!(bench.toast(), (Tone::Error, "no room"));
}

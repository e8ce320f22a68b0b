use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use jiff::tz::TimeZone;

use super::*;
use crate::engine::snapshot::{
    EventRow, JournalRow, NoticeRow, Problem, SessionRow, Snapshot, WakeState, WatchRow,
};
use crate::event::{ActorType, Changes, Event, EventKind, Sequence};
use crate::session_key::{AgentId, SessionKey};
use crate::ui::keymap::{Keymap, Overrides};
use crate::ui::model::Setup;
use crate::ui::theme::Theme;
use crate::upstream::{CatalogEntry, Listing};
use crate::watch::{Condition, Cursor, PairState, Provenance};

const NOW: i64 = 1_784_203_424_000;
const YOU: &str = "agent:operator:main";

fn session(key: &str, parent: Option<&str>, version: i64) -> SessionRow {
    SessionRow {
        key: key.into(),
        agent: AgentId::main(),
        parent: parent.map(SessionKey::from),
        title: None,
        harness: None,
        version: Some(Sequence(version)),
        pruned: Sequence(0),
        last_event: None,
        activity: [0; 12],
        watchers: 0,
        watching: 0,
        pending_notices: 0,
        messages: 0,
        has_goal: false,
        last_turn_at: None,
        ended_at: None,
        upstream: None,
    }
}

fn watch(watcher: &str, target: &str, seen: i64, material: i64) -> WatchRow {
    let is_pending = material > seen;
    WatchRow {
        cursor: Cursor {
            watcher: watcher.into(),
            target: target.into(),
            seen: Sequence(seen),
            notified: Sequence(material),
            material: Sequence(material),
            provenance: Provenance::Explicit,
            updated_at: NOW,
        },
        head: Sequence(material),
        state: if is_pending { PairState::Pending } else { PairState::Synced },
        condition: if is_pending { Condition::Pending } else { Condition::InStep },
        because: String::new(),
        pending_since: is_pending.then_some(NOW),
        wake: WakeState::NotDue,
        expires_at: NOW,
    }
}

fn event(sequence: i64, session: &str) -> EventRow {
    let event = Event {
        sequence: Sequence(sequence),
        session: session.into(),
        session_id: None,
        agent: AgentId::main(),
        kind: EventKind::GoalChanged,
        actor_type: ActorType::Human,
        actor: None,
        run: None,
        occurred_at: NOW,
        summary: "goal updated".into(),
        payload: None,
    };
    EventRow { event, notified: 0, coalesced: 0, suppressed: 0 }
}

fn snapshot(
    sessions: Vec<SessionRow>,
    watches: Vec<WatchRow>,
    events: Vec<EventRow>,
) -> Arc<Snapshot> {
    let notices = (0..watches.len())
        .filter(|at| watches[*at].cursor.is_pending())
        .map(|watch| NoticeRow { watch, text: format!("notice {watch}"), queued: Some(true) })
        .collect();
    let journal = JournalRow {
        rows: events.len() as u64,
        max: events.last().map(|row| row.event.sequence),
        ..JournalRow::default()
    };
    Arc::new(Snapshot {
        revision: 1,
        at: NOW,
        journal,
        sessions,
        watches,
        notices,
        events,
        ..Snapshot::default()
    })
}

/// a, its child b, and c; a watches b and is owed a notice, the operator watches c.
fn world() -> Arc<Snapshot> {
    snapshot(
        vec![
            session("agent:main:a", None, 5),
            session("agent:main:b", Some("agent:main:a"), 9),
            session("agent:main:c", None, 7),
        ],
        vec![watch("agent:main:a", "agent:main:b", 6, 9), watch(YOU, "agent:main:c", 7, 7)],
        vec![event(5, "agent:main:a"), event(7, "agent:main:c"), event(9, "agent:main:b")],
    )
}

struct Bench {
    model: Model,
    effects: Vec<Effect>,
}

impl Bench {
    fn new() -> Self {
        let model = Model::new(Setup {
            theme: Theme::dark(),
            keymap: Keymap::new(&Overrides::new()).unwrap(),
            title: None,
            bell: true,
            zone: TimeZone::UTC,
            now: NOW,
        });
        let mut bench = Self { model, effects: Vec::new() };
        bench.send(Message::Resize(80, 24));
        bench.send(Message::Snapshot(world()));
        bench
    }

    fn send(&mut self, message: Message) -> &mut Self {
        self.effects = update(&mut self.model, message);
        self
    }

    fn key(&mut self, code: KeyCode) -> &mut Self {
        self.send(Message::Key(KeyEvent::new(code, KeyModifiers::NONE)))
    }

    fn keys(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            self.key(match c {
                '\n' => KeyCode::Enter,
                '\t' => KeyCode::Tab,
                '\u{1b}' => KeyCode::Esc,
                c => KeyCode::Char(c),
            });
        }
        self
    }

    fn ctrl(&mut self, c: char) -> &mut Self {
        self.send(Message::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL)))
    }

    /// The one request among the effects.
    fn request(&self) -> Request {
        self.asked().1
    }

    fn asked(&self) -> (Ticket, Request) {
        let asked: Vec<_> = self
            .effects
            .iter()
            .filter_map(|effect| match effect {
                Effect::Ask(ticket, request) => Some((*ticket, request.clone())),
                _ => None,
            })
            .collect();
        assert_eq!(asked.len(), 1, "{:?}", self.effects);
        asked[0].clone()
    }

    fn answer(&mut self, result: Result<Reply, String>) -> &mut Self {
        let (ticket, _) = self.asked();
        self.send(Message::Answer(ticket, result))
    }

    fn toast(&self) -> (Tone, &str) {
        self.model.toast.as_ref().map_or((Tone::Done, ""), |toast| (toast.tone, &toast.text))
    }

    fn selected_session(&self) -> &str {
        self.model.main.sessions.key().map_or("", |id| id.key.as_str())
    }

    fn delta(&self) -> &crate::ui::model::Delta {
        match &self.model.over {
            Some(Over::Delta(delta)) => delta,
            other => panic!("no delta: {other:?}"),
        }
    }
}

fn changes(sequences: &[i64], truncated: bool, version: i64) -> Changes {
    Changes {
        events: sequences.iter().map(|n| event(*n, "agent:main:b").event).collect(),
        truncated,
        earliest: Sequence(1),
        history_gap: false,
        version: Sequence(version),
    }
}

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
    bench.keys("k").keys("G").keys("g").keys("G");
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
    bench.keys("g").key(KeyCode::PageDown);
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
fn enter_asks_from_what_the_operator_or_the_pairs_watcher_has_seen() {
    let mut bench = Bench::new();
    let after = |request| match request {
        Request::Changes { session, after, .. } => (session.to_string(), after.0),
        other => panic!("{other:?}"),
    };
    assert_eq!(after(bench.keys("\n").request()), ("agent:main:a".into(), 0));
    bench.keys("\u{1b}jj\n");
    assert_eq!(after(bench.request()), ("agent:main:c".into(), 7));
    bench.keys("\u{1b}g\t\n");
    assert_eq!(after(bench.request()), ("agent:main:b".into(), 6));
    bench.keys("\u{1b}\t\n");
    assert_eq!(after(bench.request()), ("agent:main:b".into(), 6));
    bench.keys("\u{1b}\tk\n");
    assert_eq!(after(bench.request()), ("agent:main:c".into(), 7));
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
    let sessions = world().sessions.clone();
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
fn pause_holds_the_picture_and_goes_on_with_the_newest() {
    let mut bench = Bench::new();
    bench.keys(" ");
    let sessions = vec![session("agent:main:new", None, 20)];
    bench.send(Message::Snapshot(snapshot(sessions, vec![], vec![event(20, "agent:main:new")])));
    bench.send(Message::Tick(NOW + 60_000));
    assert_eq!(bench.model.shown().journal.max, Some(Sequence(9)));
    assert_eq!(bench.model.live.as_ref().unwrap().journal.max, Some(Sequence(20)));
    assert_eq!(bench.model.reckoned_now(), NOW, "ages stand still, too");
    bench.keys(" ");
    assert_eq!(bench.model.shown().journal.max, Some(Sequence(20)));
    assert_eq!(bench.model.reckoned_now(), NOW + 60_000);
}

#[test]
fn events_are_followed_until_somebody_reads() {
    let mut bench = Bench::new();
    let last = |bench: &Bench| bench.model.main.events.key().copied();
    assert_eq!(last(&bench), Some(Sequence(9)));
    let grow = |n: i64| {
        let world = world();
        let mut events = world.events.clone();
        events.extend((10..=n).map(|n| event(n, "agent:main:b")));
        Message::Snapshot(snapshot(world.sessions.clone(), vec![], events))
    };
    bench.send(grow(10));
    assert_eq!(last(&bench), Some(Sequence(10)));
    bench.keys("\t\t\tk").send(grow(12));
    assert_eq!(last(&bench), Some(Sequence(9)), "nothing jumps while someone reads");
    bench.keys("f");
    assert_eq!(last(&bench), Some(Sequence(12)));
    bench.keys("kG").send(grow(14));
    assert_eq!(last(&bench), Some(Sequence(14)), "the last row follows again");
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
    assert_eq!(bench.toast().1, "sessions by owed");
    bench.keys("o");
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
    assert_eq!(copied(bench.keys("\ty")).as_deref(), Some("notice 0"));
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
    bench.keys("\u{1b}g\n").answer(Ok(Reply::Changes(changes(&[1], false, 5)))).keys("\n");
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

fn listing() -> Listing {
    let entry = |thread: &str| CatalogEntry {
        catalog: "claude".into(),
        thread: thread.into(),
        path: format!("/tmp/{thread}.jsonl").into(),
        title: Some(format!("title of {thread}")),
        project: None,
        version: None,
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
    let mut sessions = world().sessions.clone();
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

#[test]
fn a_notice_for_the_operator_is_said_and_rung() {
    let mut bench = Bench::new();
    let open = |material| {
        let sessions = world().sessions.clone();
        let watches = vec![watch(YOU, "agent:main:c", 7, material)];
        Message::Snapshot(snapshot(sessions, watches, vec![]))
    };
    bench.send(open(11));
    assert!(bench.effects.contains(&Effect::Bell));
    assert_eq!(bench.toast(), (Tone::Note, "notice for you: c changed"));
    bench.send(open(12));
    assert!(!bench.effects.contains(&Effect::Bell), "it was open already");
    bench.model.setup.bell = false;
    bench.send(open(7)).send(open(13));
    assert!(!bench.effects.contains(&Effect::Bell));
}

#[test]
fn a_new_problem_is_said_once() {
    let mut bench = Bench::new();
    let mut failed = (*world()).clone();
    failed.problems.push(Problem { at: NOW, message: "the disk is full; free some space".into() });
    let failed = Arc::new(failed);
    bench.send(Message::Snapshot(Arc::clone(&failed)));
    assert_eq!(bench.toast(), (Tone::Error, "the disk is full; free some space"));
    bench.keys("\u{1b}").send(Message::Snapshot(failed));
    assert_eq!(bench.toast().1, "");
}

#[test]
fn toasts_and_flashes_end_with_their_own_timer() {
    let mut bench = Bench::new();
    bench.keys("o");
    let timer = bench.effects.iter().find_map(|effect| match effect {
        Effect::After(time, timer) => Some((*time, *timer)),
        _ => None,
    });
    assert_eq!(timer, Some((Duration::from_secs(6), Timer::Toast(1))));
    bench.keys("o").send(Message::Timer(Timer::Toast(1)));
    assert_ne!(bench.toast().1, "", "a newer one is shown");
    bench.send(Message::Timer(Timer::Toast(2)));
    assert_eq!(bench.toast().1, "");

    let mut sessions = world().sessions.clone();
    sessions[0].version = Some(Sequence(6));
    bench.send(Message::Snapshot(snapshot(sessions, world().watches.clone(), vec![])));
    let flash = &bench.model.main.flash;
    assert_eq!((flash.sessions.len(), flash.pairs.len()), (1, 0));
    let generation = flash.generation;
    bench.send(Message::Timer(Timer::Flash(generation)));
    assert!(bench.model.main.flash.sessions.is_empty());
}

#[test]
fn the_first_snapshot_does_not_flash() {
    let bench = Bench::new();
    assert!(bench.model.main.flash.sessions.is_empty());
}

#[test]
fn only_news_is_drawn() {
    let mut bench = Bench::new();
    let before = bench.model.revision();
    bench.send(Message::Tick(NOW)).send(Message::Tick(NOW + 999 - NOW % 1000));
    bench.send(Message::Timer(Timer::Toast(77)));
    bench.send(Message::Answer(Ticket(99), Err("late".into())));
    bench.key(KeyCode::F(9));
    let mut release = KeyEvent::new(KeyCode::Char('j'), KeyModifiers::NONE);
    release.kind = KeyEventKind::Release;
    bench.send(Message::Key(release));
    assert_eq!(bench.model.revision(), before);
    bench.send(Message::Tick(NOW + 1000));
    assert_eq!(bench.model.revision(), before + 1);
    bench.send(Message::Resize(30, 8));
    let small = bench.model.revision();
    bench.send(Message::Tick(NOW + 5000));
    assert_eq!(bench.model.revision(), small, "no age is on the screen");
    assert!(!bench.model.shows_ages());
}

#[test]
fn an_engine_that_stopped_is_said() {
    let mut bench = Bench::new();
    bench.send(Message::EngineGone);
    assert!(bench.model.engine_gone);
    assert_eq!(bench.toast().0, Tone::Error);
    bench.send(Message::Trouble("copying failed\n".into()));
    assert_eq!(bench.toast().1, "copying failed␊");
}

//! Every entry of every help page does what it says: something.

use crossterm::event::KeyEvent;

use super::*;
use crate::engine::explain::{Explanation, Moment, Question, Verdict};
use crate::engine::snapshot::{LinkRow, WakeRow};
use crate::ui::keymap::{ACTIONS, Action, Context, Key};

const VIEWS: [Context; 11] = [
    Context::Main,
    Context::Delta,
    Context::Adopt,
    Context::Upstream,
    Context::Queue,
    Context::Storage,
    Context::Findings,
    Context::Explain,
    Context::Graph,
    Context::Page,
    Context::Field,
];

fn name(n: usize) -> String {
    format!("agent:main:s{n:03}")
}

fn link() -> LinkRow {
    LinkRow {
        catalog: "claude".into(),
        host: "gateway:local".into(),
        thread: "t".into(),
        kind: "claude-cli".into(),
        path: None,
        offset: Some(1),
        outcome: "quiet".into(),
        detail: None,
        outcome_at: Some(NOW),
        missing_streak: 0,
        scanned_at: None,
        created_at: NOW,
    }
}

/// Sixty sessions below one, each linked, watched and owed something.
pub(super) fn crowd() -> Arc<Snapshot> {
    let sessions = (0..60)
        .map(|n| SessionRow {
            upstream: Some(link()),
            messages: 1,
            ..session(&name(n), (n > 0).then(|| name(0)).as_deref(), i64::try_from(n).unwrap() + 1)
        })
        .collect();
    let watches = (0..59)
        .filter(|n| n % 6 != 5)
        .map(|n| WatchRow { condition: Condition::Stalled, ..watch(&name(n), &name(n + 1), 1, 9) })
        .collect();
    let events = (1..=60).map(|n| event(n, &name(0))).collect();
    snapshot(sessions, watches, events)
}

pub(super) fn reply(request: &Request) -> Reply {
    match request {
        Request::Changes { .. } => Reply::Changes(changes(&(1..=60).collect::<Vec<_>>(), true, 99)),
        Request::Catalog => Reply::Catalog(Listing {
            entries: (0..60)
                .map(|n| CatalogEntry {
                    catalog: "claude".into(),
                    thread: format!("thread {n}"),
                    path: "/tmp/t.jsonl".into(),
                    title: None,
                    project: None,
                    version: None,
                    entry_point: None,
                    modified_at: NOW,
                    size: 1,
                })
                .collect(),
            skipped: vec![],
        }),
        Request::Sizes => Reply::Sizes(vec![]),
        Request::Wakes => Reply::Wakes(
            (0..60)
                .map(|n| WakeRow {
                    watcher: name(n).as_str().into(),
                    reason: "session-state:x".into(),
                    due_at: Some(NOW + 1_000),
                    ended_at: None,
                    outcome: None,
                    outcome_reason: None,
                })
                .collect(),
        ),
        Request::Storage => Reply::Storage(Box::default()),
        Request::Explain(question) => Reply::Explained(Box::new(explanation(question))),
        other => panic!("{other:?} is not asked here"),
    }
}

fn explanation(question: &Question) -> Explanation {
    let moment = |n| Moment {
        at: NOW + n,
        what: "queued",
        sequence: Some(Sequence(n)),
        kind: None,
        marks: None,
        note: None,
    };
    Explanation {
        question: question.clone(),
        event: None,
        verdict: Verdict::Queued,
        because: "it waits".into(),
        evidence: serde_json::Map::new(),
        timeline: (0..60).map(moment).collect(),
    }
}

fn down(bench: &mut Bench, rows: usize) {
    for _ in 0..rows {
        bench.key(KeyCode::Down);
    }
}

/// A screen in the middle of everything, so that each way of moving leads somewhere.
pub(super) fn at(context: Context) -> Bench {
    let mut bench = Bench::new();
    bench.send(Message::Snapshot(crowd()));
    let open = |bench: &mut Bench, key: &str, rows: usize| {
        bench.keys(key);
        let request = bench.request();
        bench.answer(Ok(reply(&request)));
        down(bench, rows);
    };
    match context {
        Context::Main => {
            bench.keys("!");
            down(&mut bench, 20);
        }
        Context::Delta => open(&mut bench, "\n", 30),
        Context::Adopt => open(&mut bench, "a", 30),
        Context::Upstream => open(&mut bench, "u", 20),
        Context::Queue => open(&mut bench, "Q", 20),
        Context::Storage => open(&mut bench, "s", 6),
        Context::Findings => {
            bench.keys("F");
            down(&mut bench, 20);
        }
        Context::Explain => {
            bench.keys("F");
            open(&mut bench, "e", 30);
        }
        Context::Graph => {
            bench.keys("g/s02\n");
        }
        Context::Page => {
            bench.keys("?");
            down(&mut bench, 20);
        }
        Context::Field => {
            bench.keys("/s");
            down(&mut bench, 20);
        }
    }
    assert_eq!(bench.model.context(), context);
    bench
}

/// All that a person could notice.
fn state(model: &Model) -> String {
    let shown = format!("{model:?}");
    let (before, rest) = shown.rsplit_once("revision: ").unwrap();
    format!("{before}{}", rest.trim_start_matches(char::is_numeric))
}

#[test]
fn every_key_of_every_help_page_does_something() {
    let mut pressed = 0;
    for context in VIEWS {
        let keymap = Keymap::new(&Overrides::new()).unwrap();
        for info in keymap.actions(context) {
            for sequence in keymap.sequences(info.action) {
                if context == Context::Field && sequence[0].typed().is_some() {
                    continue;
                }
                let mut bench = at(context);
                let before = state(&bench.model);
                for key in sequence {
                    bench.send(Message::Key(event_of(*key)));
                }
                assert!(bench.model.pressed.is_empty());
                assert!(
                    !bench.effects.is_empty() || state(&bench.model) != before,
                    "{} in {} does nothing",
                    info.name,
                    context.title()
                );
                pressed += 1;
            }
        }
    }
    assert!(pressed > 200, "{pressed}");
}

pub(super) fn event_of(key: Key) -> KeyEvent {
    key.event()
}

#[test]
fn the_palette_does_the_same_as_the_keys() {
    for info in ACTIONS.iter().filter(|info| info.contexts.contains(&Context::Main)) {
        let mut by_key = at(Context::Main);
        let keymap = Keymap::new(&Overrides::new()).unwrap();
        for key in &keymap.sequences(info.action)[0] {
            by_key.send(Message::Key(event_of(*key)));
        }
        let mut by_name = at(Context::Main);
        by_name.keys(":");
        let wanted = ACTIONS.iter().position(|other| other.action == info.action).unwrap();
        let at = by_name.model.palette.as_ref().unwrap().rows.iter().position(|row| *row == wanted);
        down(&mut by_name, at.unwrap_or_else(|| panic!("{} is not in the palette", info.name)));
        by_name.keys("\n");
        assert_eq!(by_name.effects, by_key.effects, "{}", info.name);
        assert_eq!(by_name.model.context(), by_key.model.context(), "{}", info.name);
    }
}

#[test]
fn the_palette_finds_by_letters_and_refuses_what_is_for_another_view() {
    let mut bench = at(Context::Main);
    bench.keys(":storg\n");
    assert_eq!(bench.model.view_context(), Context::Storage);
    bench.keys("\u{1b}:stor\n");
    assert_eq!(bench.model.view_context(), Context::Storage, "by name before the story of a watch");
    bench.keys(":export\n");
    assert!(bench.toast().1.starts_with("\"export\" is not for this view but for graph"));
    bench.keys(":adoptonly");
    let best = bench.model.palette.as_ref().unwrap().rows[0];
    assert_eq!(ACTIONS[best].action, Action::AdoptOnly);
    bench.keys("\n");
    assert!(bench.toast().1.contains("\"adopt-only\" is not for this view but for catalog"));
    bench.keys(":x\u{1b}");
    assert!(bench.model.palette.is_none());
    assert_eq!(bench.model.view_context(), Context::Storage);
}

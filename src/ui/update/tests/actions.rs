//! What each action does, wherever it can be used. The table of all actions is walked, and what is expected of one is a branch of a
//! match without a rest: an action that nobody expects anything of does not compile.

use super::help::{at, crowd, event_of, reply};
use super::views::past;
use super::*;
use crate::ui::graph::GraphView;
use crate::ui::keymap::{ACTIONS, Action, Context};
use crate::ui::model::PageKind;

/// A screen in `context` where `action` has something to do.
fn ready(context: Context, action: Action) -> Bench {
    let mut bench = at(context);
    match (action, context) {
        (Action::Acknowledge, _) => {
            let mut all = (*crowd()).clone();
            Arc::make_mut(&mut all.watches).push(watch(YOU, bench.delta().session.as_str(), 1, 9));
            bench.send(Message::Snapshot(Arc::new(all)));
        }
        (Action::Explain, Context::Main) => {
            bench.keys("\t");
        }
        (Action::RewindForward | Action::RewindFarForward, _) => {
            bench.keys("<").answer(Ok(past(5)));
        }
        (Action::Follow, _) => {
            bench.keys("\t\t\tk");
        }
        (Action::Shallower, _) => {
            bench.keys("i]");
        }
        (Action::Deeper, _) => {
            bench.keys("i");
        }
        (Action::PreviousPage | Action::Older, _) => {
            bench.keys(if action == Action::Older { "]" } else { "n" });
            let request = bench.request();
            bench.answer(Ok(reply(&request)));
        }
        (Action::Right, Context::Main) => {
            bench.keys("\u{1b}").key(KeyCode::Home).keys("h");
        }
        (Action::Left, Context::Main) => {
            bench.keys("\u{1b}").key(KeyCode::Home);
        }
        _ => {}
    }
    bench
}

fn graph(model: &Model) -> &GraphView {
    match &model.over {
        Some(Over::Graph(graph)) => graph,
        other => panic!("no graph: {other:?}"),
    }
}

/// Where the keyboard, or the window, is in what is listed.
fn position(model: &Model) -> (i64, i64) {
    let row = |index: usize| (0, i64::try_from(index).unwrap());
    if let Some(page) = model.page {
        return row(page.top);
    }
    match &model.over {
        None => row(model.main.index(model.main.focus)),
        Some(Over::Delta(delta)) => row(delta.events.index()),
        Some(Over::Adopt(adopt)) => row(adopt.entries.index()),
        Some(Over::Sheet(sheet)) => row(sheet.selection.index()),
        Some(Over::Graph(graph)) => {
            let selected = graph.selected.as_ref();
            let at = graph.draft.nodes.iter().position(|node| Some(&node.key) == selected).unwrap();
            let place = graph.layout.nodes[at];
            (i64::from(place.x), i64::from(place.y))
        }
    }
}

/// Whether `action` moved to where its name says.
fn has_moved(action: Action, before: &Model, after: &Model) -> bool {
    let ((x, y), (x_after, y_after)) = (position(before), position(after));
    let window = |model: &Model| match &model.over {
        Some(Over::Graph(graph)) if model.page.is_none() => graph.offset,
        _ => (0, 0),
    };
    let (panned, panned_after) = (window(before), window(after));
    let is_graph = matches!(before.context(), Context::Graph);
    match action {
        Action::Up if is_graph => y_after < y,
        Action::Down if is_graph => y_after > y,
        Action::HalfUp | Action::PageUp if is_graph => panned_after.1 < panned.1,
        Action::HalfDown | Action::PageDown if is_graph => panned_after.1 > panned.1,
        Action::Up => y_after == y - 1,
        Action::Down => y_after == y + 1,
        Action::HalfUp | Action::PageUp => y_after < y,
        Action::HalfDown | Action::PageDown => y_after > y,
        Action::Top | Action::TopToo => (x_after, y_after) < (x, y),
        Action::Bottom => (x_after, y_after) > (x, y),
        Action::Left if is_graph => x_after < x,
        Action::Right if is_graph => x_after > x,
        Action::Left => after.main.folded.len() > before.main.folded.len(),
        Action::Right => after.main.folded.len() < before.main.folded.len(),
        Action::PanLeft => panned_after.0 < panned.0,
        Action::PanRight => panned_after.0 > panned.0,
        Action::PanUp => panned_after.1 < panned.1,
        Action::PanDown => panned_after.1 > panned.1,
        _ => false,
    }
}

/// How the list that has the keyboard is narrowed and sorted.
fn order(model: &Model) -> (crate::ui::sheet::Sort, bool) {
    match &model.over {
        None => (model.main.sort(model.main.focus), model.main.out_of_step),
        Some(Over::Sheet(sheet)) => (sheet.sort, false),
        Some(Over::Graph(graph)) => (crate::ui::sheet::Sort::default(), graph.only_out_of_step),
        other => panic!("no list: {other:?}"),
    }
}

/// Whether one key has opened `view`, or left it where it was open.
fn is_toggled(view: Context, before: &Model, after: &Model) -> bool {
    (before.view_context() == view) != (after.view_context() == view)
}

/// Whether `action` did what it is for.
fn is_done(action: Action, before: &Model, bench: &Bench) -> bool {
    let after = &bench.model;
    let asks = |is_wanted: fn(&Request) -> bool| {
        bench
            .effects
            .iter()
            .any(|effect| matches!(effect, Effect::Ask(_, request) if is_wanted(request)))
    };
    let has_copied = |start: &str| {
        bench
            .effects
            .iter()
            .any(|effect| matches!(effect, Effect::Copy(text) if text.starts_with(start)))
    };
    let steps = |wanted: i64| {
        bench.effects.iter().any(
            |effect| matches!(effect, Effect::Ask(_, Request::Past { steps, .. }) if *steps == wanted),
        )
    };
    let since = |model: &Model| match &model.over {
        Some(Over::Delta(delta)) => (delta.since, delta.after),
        other => panic!("no changes: {other:?}"),
    };
    let page = |model: &Model, kind: PageKind| model.page.is_some_and(|page| page.kind == kind);
    match action {
        Action::Delta => {
            after.context() == Context::Delta && asks(|it| matches!(it, Request::Changes { .. }))
        }
        Action::Acknowledge => asks(|it| matches!(it, Request::Acknowledge { .. })),
        Action::AdoptThis => asks(|it| matches!(it, Request::Adopt { .. })),
        Action::AdoptOnly => asks(|it| matches!(it, Request::AdoptOnly { .. })),
        Action::Explain => {
            after.context() == Context::Explain && asks(|it| matches!(it, Request::Explain(_)))
        }
        Action::Watch => asks(|it| matches!(it, Request::Watch(_) | Request::Unwatch(_))),
        Action::Tick => asks(|it| matches!(it, Request::Tick)),
        Action::Forget => bench.toast().1.starts_with("press D again"),
        Action::Filter | Action::Version => after.context() == Context::Field,
        Action::OutOfStep => order(before).1 != order(after).1,
        Action::Pause => before.is_live() && !after.is_live(),
        Action::RewindBack => steps(-1),
        Action::RewindForward => steps(1),
        Action::RewindFarBack => steps(-25),
        Action::RewindFarForward => steps(25),
        Action::Follow => !before.main.follow && after.main.follow,
        Action::Sort => order(before).0.column != order(after).0.column,
        Action::SortReverse => order(before).0.is_reversed != order(after).0.is_reversed,
        Action::Zoom => before.main.is_zoomed != after.main.is_zoomed,
        Action::Level => graph(before).level != graph(after).level,
        Action::Ego => graph(before).ego.is_none() && graph(after).ego.is_some(),
        Action::Shallower => depth(after) < depth(before),
        Action::Deeper => depth(after) > depth(before),
        Action::NextMatch | Action::PreviousMatch => {
            let found = graph(after).matches();
            let selected = graph(after).selected.as_ref();
            graph(before).selected.as_ref() != selected
                && found.iter().any(|at| Some(&graph(after).draft.nodes[*at].key) == selected)
        }
        Action::Export => has_copied("digraph"),
        Action::Save => after.saving.is_some(),
        Action::Older => since(after).0 < since(before).0,
        Action::Newer => since(after).0 > since(before).0,
        Action::NextPage => since(after).1 > since(before).1,
        Action::PreviousPage => since(after).1 < since(before).1,
        Action::Reload => bench.effects.iter().any(|effect| matches!(effect, Effect::Ask(..))),
        Action::Copy => has_copied("") && bench.toast().1.starts_with("copied"),
        Action::CopyJson => has_copied("{"),
        Action::Problems => page(after, PageKind::Problems),
        Action::Graph => is_toggled(Context::Graph, before, after),
        Action::Adopt => is_toggled(Context::Adopt, before, after),
        Action::Upstream => is_toggled(Context::Upstream, before, after),
        Action::Queue => is_toggled(Context::Queue, before, after),
        Action::Storage => is_toggled(Context::Storage, before, after),
        Action::Findings => is_toggled(Context::Findings, before, after),
        Action::Palette => before.palette.is_none() && after.palette.is_some(),
        Action::Up
        | Action::Down
        | Action::HalfUp
        | Action::HalfDown
        | Action::PageUp
        | Action::PageDown
        | Action::Top
        | Action::TopToo
        | Action::Bottom
        | Action::Left
        | Action::Right
        | Action::PanLeft
        | Action::PanDown
        | Action::PanUp
        | Action::PanRight => has_moved(action, before, after),
        Action::NextPane => after.main.focus as usize == before.main.focus as usize + 1,
        Action::PreviousPane => before.main.focus != after.main.focus,
        Action::Accept => {
            before.typing && !after.typing && after.main.filter(after.main.focus).is_active()
        }
        Action::Back => has_gone_back(before, after),
        Action::Help => page(before, PageKind::Help) != page(after, PageKind::Help),
        Action::Redraw => bench.effects == [Effect::Redraw],
        Action::Suspend => bench.effects == [Effect::Suspend],
        Action::Quit => bench.effects == [Effect::Quit],
    }
}

fn depth(model: &Model) -> Option<usize> {
    graph(model).ego.as_ref().map(|ego| ego.depth)
}

/// Back closes what lies over the rest; in the main view it shows everything again.
fn has_gone_back(before: &Model, after: &Model) -> bool {
    let is_filtered = |model: &Model| match &model.over {
        Some(Over::Graph(graph)) => graph.filter.is_active(),
        _ => model.main.filter(model.main.focus).is_active(),
    };
    match before.context() {
        Context::Main => order(before).1 && !order(after).1,
        Context::Field => !after.is_typing() && !is_filtered(after),
        Context::Graph => is_filtered(before) && !is_filtered(after),
        context => after.context() != context,
    }
}

#[test]
fn every_action_does_what_it_is_for_wherever_it_can_be_used() {
    let mut done = 0;
    for info in ACTIONS {
        for context in info.contexts {
            let keymap = Keymap::new(&Overrides::new()).unwrap();
            for sequence in keymap.sequences(info.action) {
                if *context == Context::Field && sequence[0].typed().is_some() {
                    continue;
                }
                let before = ready(*context, info.action);
                let mut after = ready(*context, info.action);
                for key in sequence {
                    after.send(Message::Key(event_of(*key)));
                }
                let place = format!("{} in {}", info.name, context.title());
                assert!(is_done(info.action, &before.model, &after), "{place}");
                done += 1;
            }
        }
    }
    assert!(done > 200, "{done}");
}

//! The graph: walking from node to node, moving the window, narrowing it, exporting it.

use tui_input::InputRequest;

use super::keys::{Step, step_of};
use super::main_view::{self, toggle_watch};
use super::{delta, sheet, toast};
use crate::ui::graph::{Ego, GraphView, dot};
use crate::ui::index::{PairId, Picture};
use crate::ui::keymap::Action;
use crate::ui::layout;
use crate::ui::message::Effect;
use crate::ui::model::{Model, Over, Selected, Tone};
use crate::ui::words;
use crate::watch::Condition;

/// Columns and rows of one move of the window.
const PAN: (i32, i32) = (12, 4);
/// The furthest that an ego view reaches.
const DEEPEST: usize = 9;

/// Opens the graph at the selected session.
pub(super) fn open(model: &mut Model) {
    let selected = main_view::selected(model).map(|selected| selected.session);
    model.open(Over::Graph(Box::new(GraphView::new(selected))));
}

/// Carries out `action`.
pub(super) fn act(model: &mut Model, action: Action, effects: &mut Vec<Effect>) {
    let room = layout::graph_parts(layout::over(model.area()).body).1;
    let Some(Over::Graph(graph)) = &mut model.over else { return };
    if let Some(step) = step_of(action) {
        return walk(graph, step, i32::from(room.height));
    }
    let mut is_new = false;
    match action {
        Action::Left => go(graph, (-1, 0)),
        Action::Right => go(graph, (1, 0)),
        Action::PanLeft => graph.offset.0 -= PAN.0,
        Action::PanRight => graph.offset.0 += PAN.0,
        Action::PanUp => graph.offset.1 -= PAN.1,
        Action::PanDown => graph.offset.1 += PAN.1,
        Action::Level => {
            graph.level = graph.level.next();
            graph.follows = true;
            is_new = true;
        }
        Action::Ego => {
            graph.ego = match (graph.ego.take(), graph.selected.clone()) {
                (None, Some(center)) => Some(Ego { center, depth: 1 }),
                _ => None,
            };
            is_new = true;
        }
        Action::Shallower | Action::Deeper => is_new = deepen(graph, action == Action::Deeper),
        Action::OutOfStep => {
            graph.only_out_of_step = !graph.only_out_of_step;
            is_new = true;
        }
        Action::Filter => model.typing = true,
        Action::NextMatch => jump(model, 1, effects),
        Action::PreviousMatch => jump(model, -1, effects),
        Action::Export => {
            let text = dot(&graph.draft);
            let said = format!(
                "copied the graph as DOT: {} and {}",
                words::count(graph.draft.nodes.len(), "session"),
                words::count(graph.draft.edges.len(), "edge")
            );
            effects.push(Effect::Copy(text));
            toast(model, effects, Tone::Done, &said);
        }
        Action::Delta => {
            if let Some(selected) = selected(model) {
                let (since, origin) = main_view::since(model, &selected);
                delta::open(model, &selected, since, origin, effects);
            }
        }
        Action::Watch => {
            let target = selected(model).map(|selected| selected.session);
            toggle_watch(model, target, effects);
        }
        Action::Explain => {
            let picture = &model.picture;
            let pair = selected(model).and_then(|selected| {
                let session = &selected.session;
                let watches = picture.watching(session).iter().chain(picture.watched_by(session));
                most_urgent(picture, watches)
            });
            sheet::explain(model, pair, effects);
        }
        _ => {}
    }
    if is_new && let Some(Over::Graph(graph)) = &mut model.over {
        graph.rebuild(&model.picture, true);
    }
}

/// What the selected node is.
fn selected(model: &Model) -> Option<Selected> {
    let Some(Over::Graph(graph)) = &model.over else { return None };
    let session = graph.selected()?.key.clone();
    let agent = model.picture.agent(&session);
    Some(Selected { session, agent, pair: None, event: None })
}

/// Of these watches the one that needs a look first.
pub(super) fn most_urgent<'a>(
    picture: &Picture,
    watches: impl Iterator<Item = &'a usize>,
) -> Option<PairId> {
    watches
        .map(|at| &picture.snapshot.watches[*at])
        .min_by_key(|watch| {
            let urgency = crate::ui::panes::header::URGENCY;
            match watch.condition {
                Condition::InStep => urgency.len(),
                condition => urgency.iter().position(|other| *other == condition).unwrap_or(0),
            }
        })
        .map(PairId::of)
}

fn go(graph: &mut GraphView, direction: (i32, i32)) {
    if let Some(at) = graph.towards(direction) {
        graph.select(at);
    }
}

/// Up and down walk from node to node; pages move the window; the ends are the first and the last node.
fn walk(graph: &mut GraphView, step: Step, height: i32) {
    let way = |n: isize| if n < 0 { -1 } else { 1 };
    match step {
        Step::Rows(n) => go(graph, (0, way(n))),
        Step::HalfPages(n) => graph.offset.1 += way(n) * (height / 2).max(1),
        Step::Pages(n) => graph.offset.1 += way(n) * (height - 1).max(1),
        Step::First | Step::Last => {
            let places = graph.layout.nodes.iter().enumerate();
            let keyed = places.map(|(at, place)| ((place.x, place.y), at));
            let found = if step == Step::First { keyed.min() } else { keyed.max() };
            if let Some((_, at)) = found {
                graph.select(at);
            }
        }
    }
}

/// One step more or fewer around the center; outside an ego view it begins one.
fn deepen(graph: &mut GraphView, is_deeper: bool) -> bool {
    match (&mut graph.ego, graph.selected.clone()) {
        (Some(ego), _) => {
            let depth = if is_deeper { ego.depth + 1 } else { ego.depth.saturating_sub(1) };
            ego.depth = depth.clamp(1, DEEPEST);
        }
        (None, Some(center)) => graph.ego = Some(Ego { center, depth: 1 }),
        (None, None) => return false,
    }
    true
}

fn jump(model: &mut Model, by: isize, effects: &mut Vec<Effect>) {
    let Some(Over::Graph(graph)) = &mut model.over else { return };
    let found = graph.matches();
    if found.is_empty() {
        let text = if graph.filter.is_active() {
            "nothing matches".to_owned()
        } else {
            let key = model.setup.keymap.key(Action::Filter).unwrap_or_default();
            format!("search with {key} first")
        };
        return toast(model, effects, Tone::Note, &text);
    }
    let here = graph.selected.as_ref();
    let at = found.iter().position(|at| Some(&graph.draft.nodes[*at].key) == here);
    let len = isize::try_from(found.len()).unwrap_or(isize::MAX);
    let next = match at {
        Some(at) => (isize::try_from(at).unwrap_or(0) + by).rem_euclid(len),
        None => 0,
    };
    graph.select(found[usize::try_from(next).unwrap_or(0)]);
}

/// A character of the search was typed: the best match is selected.
pub(super) fn type_in(model: &mut Model, request: InputRequest) {
    let Some(Over::Graph(graph)) = &mut model.over else { return };
    graph.filter.input.handle(request);
    graph.filter.reparse();
    let best = graph.matches().into_iter().max_by_key(|at| {
        (graph.filter.score(&graph.draft.nodes[*at].text()), std::cmp::Reverse(*at))
    });
    if let Some(at) = best {
        graph.select(at);
    }
}

/// After a new picture.
pub(super) fn refresh(model: &mut Model) {
    if let Some(Over::Graph(graph)) = &mut model.over {
        graph.rebuild(&model.picture, false);
    }
}

/// Moves the window to what it has to show.
pub(super) fn settle(model: &mut Model) {
    let room = layout::graph_parts(layout::over(model.area()).body).1;
    if let Some(Over::Graph(graph)) = &mut model.over {
        graph.rebuild(&model.picture, false);
        graph.show(room.width, room.height);
    }
}

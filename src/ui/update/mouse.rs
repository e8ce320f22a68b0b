//! The mouse, when the person asked for it: a click selects and focuses, a second one opens; the wheel moves.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::{Position, Rect};

use super::{keys, main_view};
use crate::ui::keymap::{Action, Context};
use crate::ui::layout;
use crate::ui::message::{Effect, Gesture, Pointed};
use crate::ui::model::{Model, Over, Pane};
use crate::ui::selection::Selection;

/// Rows that one turn of the wheel moves in a list; the graph moves as by its keys.
const WHEEL: usize = 3;

/// The mouse did something. Returns whether anything came of it.
pub(super) fn point(model: &mut Model, pointed: Pointed, effects: &mut Vec<Effect>) -> bool {
    let at = Position { x: pointed.column, y: pointed.row };
    if model.is_typing() {
        return false;
    }
    match pointed.gesture {
        Gesture::ScrollUp | Gesture::ScrollDown => {
            if model.page.is_none() && model.over.is_none() {
                focus(model, at);
            }
            let is_up = pointed.gesture == Gesture::ScrollUp;
            let (action, times) = match (model.context(), is_up) {
                (Context::Graph, true) => (Action::PanUp, 1),
                (Context::Graph, false) => (Action::PanDown, 1),
                (_, true) => (Action::Up, WHEEL),
                (_, false) => (Action::Down, WHEEL),
            };
            for _ in 0..times {
                carry_out(model, action, effects);
            }
            true
        }
        Gesture::Click if model.page.is_some() => {
            model.page = None;
            true
        }
        Gesture::Click => click(model, at, effects),
    }
}

fn carry_out(model: &mut Model, action: Action, effects: &mut Vec<Effect>) {
    let no_key = KeyEvent::new(KeyCode::Null, KeyModifiers::NONE);
    keys::carry_out(model, action, no_key, effects);
}

/// Gives the keyboard to the pane at `at`.
fn focus(model: &mut Model, at: Position) -> Option<(Pane, Rect)> {
    let places = layout::main(model.area(), model.main.focus, model.main.is_zoomed).panes;
    // Panes share their borders: the pane whose inside it is comes first.
    let inside =
        |pane: &Pane| places[*pane as usize].is_some_and(|place| layout::inner(place).contains(at));
    let pane = Pane::ALL.into_iter().find(inside)?;
    let place = places[pane as usize]?;
    model.main.focus = pane;
    Some((pane, place))
}

fn click(model: &mut Model, at: Position, effects: &mut Vec<Effect>) -> bool {
    let body = layout::over(model.area()).body;
    match &mut model.over {
        None => {
            let before = model.main.focus;
            let Some((pane, place)) = focus(model, at) else { return false };
            let list = layout::parts(pane, place).list;
            let len = model.main.len(pane);
            let main = &model.main;
            let row = match pane {
                Pane::Sessions => row(&main.sessions, len, list, at),
                Pane::Watches => row(&main.watches, len, list, at),
                Pane::Notices => row(&main.notices, len, list, at),
                Pane::Events => row(&main.events, len, list, at),
            };
            let Some(row) = row else { return true };
            // The first click into another pane is about the pane, even on the row that is selected there.
            if main.index(pane) == row && pane == before {
                carry_out(model, Action::Delta, effects);
            } else {
                main_view::go(model, pane, row);
            }
        }
        Some(Over::Sheet(sheet)) => {
            let list = layout::sheet_parts(body).1.list;
            match row(&sheet.selection, sheet.shown.len(), list, at) {
                Some(row) if sheet.selection.index() == row => {
                    carry_out(model, Action::Delta, effects);
                }
                Some(row) => sheet.go(row),
                None => return false,
            }
        }
        Some(Over::Adopt(adopt)) => {
            let skipped = adopt.listing.as_ref().map_or(0, |listing| listing.skipped.len());
            let list = layout::adopt_parts(body, skipped).list;
            let Some(row) = row(&adopt.entries, adopt.rows.len(), list, at) else { return false };
            let (rows, listing) = (&adopt.rows, &adopt.listing);
            // Adopting is too much for a click: it only selects.
            adopt.entries.go(row, rows.len(), |at| {
                Some(super::adopt::name(listing.as_ref()?.entries.get(*rows.get(at)?)?))
            });
        }
        Some(Over::Delta(delta)) => {
            let list = layout::delta_parts(body).1.list;
            let Some(changes) = &delta.changes else { return false };
            let events = &changes.events;
            let Some(row) = row(&delta.events, events.len(), list, at) else { return false };
            delta.events.go(row, events.len(), |at| Some(events.get(at)?.sequence));
        }
        Some(Over::Graph(graph)) => {
            let area = layout::graph_parts(body).1;
            if !area.contains(at) {
                return false;
            }
            let x = i32::from(at.x - area.x) + graph.offset.0;
            let y = i32::from(at.y - area.y) + graph.offset.1;
            let hit = graph.layout.nodes.iter().position(|place| {
                (place.x..place.x + place.width).contains(&x)
                    && (place.y..place.y + place.height).contains(&y)
            });
            let Some(hit) = hit else { return false };
            if graph.selected.as_ref() == graph.draft.nodes.get(hit).map(|node| &node.key) {
                carry_out(model, Action::Delta, effects);
            } else {
                graph.select(hit);
            }
        }
    }
    true
}

/// The row of a list at `at`.
fn row<K: PartialEq>(
    selection: &Selection<K>,
    len: usize,
    list: Rect,
    at: Position,
) -> Option<usize> {
    let top = selection.top_for(len, usize::from(list.height));
    let row = top + usize::from(at.y.checked_sub(list.y)?);
    (list.contains(at) && row < len).then_some(row)
}

//! The palette: every action by name, found by typing a part of it.

use crossterm::event::KeyEvent;
use tui_input::InputRequest;

use super::keys::{self, step_of};
use super::toast;
use crate::ui::keymap::{ACTIONS, Action, ActionInfo};
use crate::ui::layout;
use crate::ui::message::Effect;
use crate::ui::model::{Model, Palette, Tone};

/// Opens the palette.
pub(super) fn open(model: &mut Model) {
    let mut palette = Palette::default();
    rebuild(&mut palette, model);
    model.palette = Some(palette);
}

/// What the filter looks at: how the palette shows an action.
pub(in crate::ui) fn text(info: &ActionInfo) -> String {
    format!("{}  {}", info.name, info.description)
}

/// Finds the actions that match. What is called so stands before what is only described so, then what can be done here before what
/// can't, then the best match.
fn rebuild(palette: &mut Palette, model: &Model) {
    let context = model.view_context();
    let filter = &palette.filter;
    let mut found: Vec<_> = ACTIONS
        .iter()
        .enumerate()
        .filter(|(_, info)| info.action != Action::Accept && filter.matches(&text(info)))
        .map(|(at, info)| {
            let score = |text: &str| filter.is_active().then(|| filter.score(text)).flatten();
            let name = score(info.name);
            let is_elsewhere = !info.contexts.contains(&context);
            let scores = std::cmp::Reverse((name, score(&text(info))));
            (name.is_none(), is_elsewhere, scores, at)
        })
        .collect();
    found.sort_unstable();
    palette.rows = found.into_iter().map(|(.., at)| at).collect();
    let rows = &palette.rows;
    palette.selection.go(0, rows.len(), |at| rows.get(at).copied());
}

/// A character was typed.
pub(super) fn type_in(model: &mut Model, request: InputRequest) {
    let Some(mut palette) = model.palette.take() else { return };
    palette.filter.input.handle(request);
    palette.filter.reparse();
    rebuild(&mut palette, model);
    model.palette = Some(palette);
}

/// Carries out what a key means in the palette.
pub(super) fn act(model: &mut Model, action: Action, event: KeyEvent, effects: &mut Vec<Effect>) {
    let height = usize::from(layout::palette(model.area()).1.height);
    let Some(palette) = &mut model.palette else { return };
    if let Some(step) = step_of(action) {
        let rows = &palette.rows;
        let index = step.from(palette.selection.index(), rows.len(), height);
        return palette.selection.go(index, rows.len(), |at| rows.get(at).copied());
    }
    if action != Action::Accept {
        return;
    }
    let chosen = palette.rows.get(palette.selection.index()).map(|at| &ACTIONS[*at]);
    model.palette = None;
    let Some(info) = chosen else { return };
    if info.contexts.contains(&model.view_context()) {
        keys::carry_out(model, info.action, event, effects);
    } else {
        let text = format!("\"{}\" is not for this view but for {}", info.name, places(info));
        toast(model, effects, Tone::Note, &text);
    }
}

/// Where an action can be used, in words.
pub(in crate::ui) fn places(info: &ActionInfo) -> String {
    info.contexts.iter().map(|context| context.title()).collect::<Vec<_>>().join(", ")
}

//! Saving an export: the prompt for the path, and what came of it.

use tui_input::InputRequest;

use super::{copy, toast};
use crate::ui::graph::dot;
use crate::ui::message::Effect;
use crate::ui::model::{Model, Over, Saving, Tone};

/// Asks for a path. What is written is what the screen shows now, however long the typing takes.
pub(super) fn open(model: &mut Model, effects: &mut Vec<Effect>) {
    let (text, name) = match &model.over {
        Some(Over::Graph(graph)) => (dot(&graph.draft), "tidings-graph.dot".to_owned()),
        Some(Over::Delta(delta)) => match copy::changes_as_json(delta) {
            Some(text) => (text, format!("tidings-changes-since-{}.json", delta.after)),
            None => return toast(model, effects, Tone::Note, copy::NOT_YET),
        },
        _ => return,
    };
    model.saving = Some(Saving { text, input: name.into() });
}

/// Enter: the file is written outside; the prompt stays when no path is given.
pub(super) fn accept(model: &mut Model, effects: &mut Vec<Effect>) {
    if let Some(saving) = model.saving.take_if(|saving| !saving.input.value().is_empty()) {
        let path = saving.input.value().to_owned();
        effects.push(Effect::Save { path, text: saving.text });
    }
}

/// A character of the path was typed.
pub(super) fn type_in(model: &mut Model, request: InputRequest) {
    if let Some(saving) = &mut model.saving {
        saving.input.handle(request);
    }
}

//! `update`: what a message does to the model, and what is to be done outside. Pure.

mod adopt;
mod copy;
mod delta;
mod graph;
mod keys;
mod main_view;
mod mouse;
mod palette;
mod past;
mod save;
mod sheet;
mod snapshot;

use std::time::Duration;

use ratatui::layout::Size;

pub(super) use adopt::is_asked;
pub(super) use palette::text as palette_text;

use super::layout;
use super::message::{Effect, Message, Ticket, Timer};
use super::model::{Asked, Model, Over, Pane, Toast, Tone};
use crate::clock::SECOND;
use crate::engine::live::{Reply, Request};
use crate::visible;

/// How long a toast stays. An error is read more slowly.
const TOAST: Duration = Duration::from_secs(6);
const ERROR_TOAST: Duration = Duration::from_secs(20);

/// Takes in a message. Everything that is to happen outside the model is returned.
pub fn update(model: &mut Model, message: Message) -> Vec<Effect> {
    let mut effects = Vec::new();
    let is_news = match message {
        Message::Tick(now) => tick(model, now),
        Message::Snapshot(snapshot) => {
            snapshot::accept(model, &snapshot, &mut effects);
            sheet::refresh(model, &mut effects);
            graph::refresh(model);
            true
        }
        Message::EngineGone => {
            model.engine_gone = true;
            let text = "the engine has stopped: quit and start again";
            toast(model, &mut effects, Tone::Error, text);
            true
        }
        Message::Key(event) => keys::press(model, event, &mut effects),
        Message::Mouse(pointed) => mouse::point(model, pointed, &mut effects),
        Message::Paste(text) => keys::paste(model, &text),
        Message::Resize(width, height) => {
            model.size = Size { width, height };
            true
        }
        Message::Answer(ticket, result) => answer(model, ticket, result, &mut effects),
        Message::Timer(timer) => run_out(model, timer),
        Message::Done(text) => {
            toast(model, &mut effects, Tone::Done, &text);
            true
        }
        Message::Trouble(text) => {
            toast(model, &mut effects, Tone::Error, &text);
            true
        }
    };
    if is_news {
        settle(model);
        model.revision += 1;
    }
    effects
}

/// The clock is shown in seconds: within one there is nothing new.
fn tick(model: &mut Model, now: crate::clock::Millis) -> bool {
    let is_new = now.div_euclid(SECOND) != model.now.div_euclid(SECOND);
    model.now = now;
    is_new && model.shows_ages()
}

fn run_out(model: &mut Model, timer: Timer) -> bool {
    match timer {
        Timer::Toast(number)
            if model.toast.as_ref().is_some_and(|toast| toast.number == number) =>
        {
            model.toast = None;
            true
        }
        Timer::Flash(generation) if model.main.flash.generation == generation => {
            model.main.flash.sessions.clear();
            model.main.flash.pairs.clear();
            model.main.flash.events_after = None;
            true
        }
        _ => false,
    }
}

fn answer(
    model: &mut Model,
    ticket: Ticket,
    result: Result<Reply, String>,
    effects: &mut Vec<Effect>,
) -> bool {
    let Some(asked) = model.asked.remove(&ticket) else { return false };
    match asked {
        Asked::Changes => delta::answered(model, ticket, result),
        Asked::Catalog => adopt::listed(model, ticket, result),
        Asked::Adopt { catalog, thread, is_watched } => {
            adopt::adopted(model, &(catalog, thread), is_watched, result, effects);
        }
        Asked::Sheet => sheet::answered(model, ticket, result),
        Asked::Past => past::answered(model, result, effects),
        Asked::Tick | Asked::Other => match result {
            Ok(Reply::Done(text)) => toast(model, effects, Tone::Done, &text),
            Ok(_) => {}
            Err(error) => toast(model, effects, Tone::Error, &error),
        },
    }
    true
}

/// Asks the engine.
fn ask(model: &mut Model, effects: &mut Vec<Effect>, asked: Asked, request: Request) -> Ticket {
    model.tickets += 1;
    let ticket = Ticket(model.tickets);
    model.asked.insert(ticket, asked);
    effects.push(Effect::Ask(ticket, request));
    ticket
}

/// Says something at the bottom.
fn toast(model: &mut Model, effects: &mut Vec<Effect>, tone: Tone, text: &str) {
    model.toasts += 1;
    let number = model.toasts;
    let text = visible::clean(text).into_owned();
    model.toast = Some(Toast { tone, text, number });
    let stays = if tone == Tone::Error { ERROR_TOAST } else { TOAST };
    effects.push(Effect::After(stays, Timer::Toast(number)));
}

/// Moves every window so that its selected row can be seen.
fn settle(model: &mut Model) {
    sheet::rebuild(model);
    let area = model.area();
    let places = layout::main(area, model.main.focus, model.main.is_zoomed);
    for pane in Pane::ALL {
        let height = places.panes[pane as usize]
            .map_or(1, |place| usize::from(layout::parts(pane, place).list.height));
        let len = model.main.len(pane);
        let main = &mut model.main;
        match pane {
            Pane::Sessions => main.sessions.show(len, height),
            Pane::Watches => main.watches.show(len, height),
            Pane::Notices => main.notices.show(len, height),
            Pane::Events => main.events.show(len, height),
        }
    }
    let body = layout::over(area).body;
    match &mut model.over {
        Some(Over::Delta(delta)) => {
            let len = delta.changes.as_ref().map_or(0, |changes| changes.events.len());
            delta.events.show(len, usize::from(layout::delta_parts(body).1.list.height));
        }
        Some(Over::Adopt(adopt)) => {
            let skipped = adopt.listing.as_ref().map_or(0, |listing| listing.skipped.len());
            let height = layout::adopt_parts(body, skipped).list.height;
            adopt.entries.show(adopt.rows.len(), usize::from(height));
        }
        Some(Over::Sheet(sheet)) => {
            let height = layout::sheet_parts(body).1.list.height;
            sheet.selection.show(sheet.shown.len(), usize::from(height));
        }
        Some(Over::Graph(_)) | None => {}
    }
    if let Some(palette) = &mut model.palette {
        let height = usize::from(layout::palette(area).1.height);
        palette.selection.show(palette.rows.len(), height);
    }
    graph::settle(model);
}

#[cfg(test)]
mod tests;

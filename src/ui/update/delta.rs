//! The changes of one session: asking for them, paging, stepping the version, acknowledging.

use crossterm::event::{Event, KeyEvent};
use tui_input::backend::crossterm::to_input_request;
use tui_input::{Input, InputRequest};

use super::keys::step_of;
use super::main_view::toggle_watch;
use super::{ask, toast};
use crate::engine::live::{Reply, Request};
use crate::event::{Changes, Sequence};
use crate::session_key::SessionKey;
use crate::ui::keymap::Action;
use crate::ui::layout;
use crate::ui::message::{Effect, Ticket};
use crate::ui::model::{AsOf, Asked, Delta, Model, Over, Selected, Tone};
use crate::ui::selection::Selection;

/// Opens the view on what `selected` names, from version `since`.
pub(super) fn open(
    model: &mut Model,
    selected: &Selected,
    since: Sequence,
    origin: String,
    effects: &mut Vec<Effect>,
) {
    let mut events = Selection::default();
    if let Some(sequence) = selected.event {
        events.aim(sequence);
    }
    let past = model.past.as_ref().map(|past| AsOf {
        newest: past.sequence,
        version: model
            .picture
            .session(&selected.session)
            .and_then(|session| session.version)
            .unwrap_or_default(),
    });
    model.open(Over::Delta(Box::new(Delta {
        past,
        session: selected.session.clone(),
        agent: selected.agent.clone(),
        since,
        origin,
        after: since,
        pages: Vec::new(),
        input: Input::default(),
        changes: None,
        error: None,
        ticket: None,
        events,
    })));
    load(model, effects);
}

/// Carries out `action`.
pub(super) fn act(model: &mut Model, action: Action, effects: &mut Vec<Effect>) {
    let area = model.area();
    let Some(Over::Delta(delta)) = &mut model.over else { return };
    if let Some(step) = step_of(action) {
        let Some(changes) = &delta.changes else { return };
        let height = layout::delta_parts(layout::over(area).body).1.list.height;
        let len = changes.events.len();
        let index = step.from(delta.events.index(), len, usize::from(height));
        return delta.events.go(index, len, |at| Some(changes.events.get(at)?.sequence));
    }
    match action {
        Action::Older | Action::Newer => step_version(model, action == Action::Newer, effects),
        Action::Version => model.typing = true,
        Action::NextPage => {
            let last = delta.changes.as_ref().filter(|changes| changes.truncated);
            match last.and_then(|changes| changes.events.last()) {
                Some(last) => {
                    delta.pages.push(delta.after);
                    delta.after = last.sequence;
                    load(model, effects);
                }
                None => toast(model, effects, Tone::Note, "this is the last page"),
            }
        }
        Action::PreviousPage => match delta.pages.pop() {
            Some(after) => {
                delta.after = after;
                load(model, effects);
            }
            None => toast(model, effects, Tone::Note, "this is the first page"),
        },
        Action::Reload => load(model, effects),
        Action::Watch => {
            let target = delta.session.clone();
            toggle_watch(model, Some(target), effects);
        }
        Action::Acknowledge => acknowledge(model, effects),
        _ => {}
    }
}

/// A digit starts a new version, a deletion changes the present one.
pub(super) fn start_typing(model: &mut Model, event: KeyEvent) -> bool {
    let Some(request) = to_input_request(&Event::Key(event)) else { return false };
    let Some(Over::Delta(delta)) = &mut model.over else { return false };
    match request {
        InputRequest::InsertChar(c) if c.is_ascii_digit() => {}
        InputRequest::DeletePrevChar => delta.input = delta.since.to_string().into(),
        _ => return false,
    }
    type_in(delta, request);
    model.typing = true;
    true
}

/// Only digits go into the field, and no more than a number of the journal can have.
pub(super) fn type_in(delta: &mut Delta, request: InputRequest) {
    match request {
        InputRequest::InsertChar(c) if !c.is_ascii_digit() || delta.input.value().len() >= 18 => {}
        _ => {
            delta.input.handle(request);
        }
    }
}

/// Takes the typed version.
pub(super) fn accept_version(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(Over::Delta(delta)) = &mut model.over else { return };
    let typed = delta.input.value_and_reset();
    if let Ok(version) = typed.parse() {
        start_from(model, Sequence(version), "as typed", effects);
    }
}

fn step_version(model: &mut Model, is_newer: bool, effects: &mut Vec<Effect>) {
    let Some(Over::Delta(delta)) = &model.over else { return };
    let mut known = model.picture.known_sequences(&delta.session);
    if let Some(changes) = &delta.changes {
        known.extend(changes.events.iter().map(|event| event.sequence));
        known.push(changes.version);
    }
    let since = delta.since;
    let next = if is_newer {
        known.into_iter().filter(|known| *known > since).min()
    } else {
        known.into_iter().filter(|known| *known < since).max()
    };
    match next {
        Some(version) => start_from(model, version, "stepped", effects),
        None if is_newer => toast(model, effects, Tone::Note, "no newer version is known"),
        None => toast(model, effects, Tone::Note, "this is the beginning"),
    }
}

fn start_from(model: &mut Model, version: Sequence, origin: &str, effects: &mut Vec<Effect>) {
    let Some(Over::Delta(delta)) = &mut model.over else { return };
    delta.since = version;
    delta.after = version;
    delta.pages.clear();
    origin.clone_into(&mut delta.origin);
    load(model, effects);
}

/// Asks for the page that the model names. What is shown stays until the answer is there.
fn load(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(Over::Delta(delta)) = &model.over else { return };
    let request = Request::Changes {
        session: delta.session.clone(),
        agent: delta.agent.clone(),
        after: delta.after,
    };
    let ticket = ask(model, effects, Asked::Changes, request);
    if let Some(Over::Delta(delta)) = &mut model.over {
        delta.ticket = Some(ticket);
    }
}

/// The answer, for the view that asked, even if another lies over it; one to an earlier question is dropped.
pub(super) fn answered(model: &mut Model, ticket: Ticket, result: Result<Reply, String>) {
    let Some(Over::Delta(delta)) = model.asker(ticket) else { return };
    match result {
        Ok(Reply::Changes(mut changes)) => {
            if let Some(past) = delta.past {
                as_of(&mut changes, past);
            }
            delta.error = None;
            let events = &changes.events;
            delta.events.rejoin(events.len(), |at| Some(events.get(at)?.sequence));
            delta.changes = Some(changes);
        }
        Ok(_) => {}
        Err(error) => {
            delta.changes = None;
            delta.error = Some(error);
        }
    }
}

/// In the past what came after it has not happened yet: events have one order, so that what is left out is the end of the page.
fn as_of(changes: &mut Changes, past: AsOf) {
    let answered = changes.events.len();
    changes.events.retain(|event| event.sequence <= past.newest);
    changes.truncated &= changes.events.len() == answered;
    changes.version = past.version;
}

/// Enter: what has been read here opens nothing any more.
fn acknowledge(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(Over::Delta(delta)) = &model.over else { return };
    let target = delta.session.clone();
    let operator = SessionKey::operator();
    let is_watched = model.live.as_ref().is_some_and(|live| {
        live.watches.iter().any(|row| row.cursor.watcher == operator && row.cursor.target == target)
    });
    if !is_watched {
        let key = model.setup.keymap.key(Action::Watch);
        let how = key.map_or_else(String::new, |key| format!("; press {key} to watch it"));
        let text = format!("nothing to acknowledge: you do not watch this session{how}");
        return toast(model, effects, Tone::Note, &text);
    }
    match delta.shown().filter(|_| delta.ticket.is_none()) {
        Some(shown) => {
            ask(model, effects, Asked::Other, Request::Acknowledge { target, shown });
        }
        None => toast(model, effects, Tone::Note, "nothing is shown yet; wait for the answer"),
    }
}

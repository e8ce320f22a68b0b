//! Copying: the key, notice or call that the keyboard is on.

use serde_json::{Value, json};

use super::{main_view, toast};
use crate::engine::commands::public_payload;
use crate::event::Event;
use crate::session_key::SessionKey;
use crate::ui::message::Effect;
use crate::ui::model::{Delta, Model, Over, Pane, Tone};
use crate::ui::sheet::RowId;
use crate::ui::words;
use crate::visible;

/// Copies what is selected, and says what that was.
pub(super) fn copy(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some((text, what)) = selected_text(model) else {
        return toast(model, effects, Tone::Note, "nothing is selected to copy");
    };
    // Pasted into a shell, a control character would act: only text that shows itself is copied.
    let safe = visible::clean(&text);
    let note = if safe == text { "" } else { "; hidden characters are spelled out" };
    let said = format!("copied {what}{note}");
    effects.push(Effect::Copy(safe.into_owned()));
    toast(model, effects, Tone::Done, &said);
}

fn selected_text(model: &Model) -> Option<(String, &'static str)> {
    match &model.over {
        Some(Over::Delta(delta)) => {
            Some((words::status_call(&delta.session, delta.after), "the session_status call"))
        }
        Some(Over::Adopt(adopt)) => Some((adopt.selected()?.thread.clone(), "the thread id")),
        Some(Over::Sheet(sheet)) => match &sheet.selected()?.id {
            RowId::Link(key, _) | RowId::Queue(key) => Some((key.as_str().to_owned(), "the key")),
            RowId::Pair(pair) => {
                let watch = model.picture.pair(pair)?;
                Some((
                    words::status_call(&pair.target, watch.cursor.seen),
                    "the session_status call",
                ))
            }
            RowId::Fact(_) | RowId::Step(_) | RowId::Finding(..) => {
                let fields = &sheet.selected()?.fields;
                let texts: Vec<&str> = fields.iter().map(|field| field.text.as_str()).collect();
                Some((texts.join(" ").trim().to_owned(), "the row"))
            }
        },
        Some(Over::Graph(graph)) => Some((graph.selected()?.key.as_str().to_owned(), "the key")),
        None => in_main_view(model),
    }
}

/// What is said while there is no answer to export.
pub(super) const NOT_YET: &str = "nothing is shown yet; wait for the answer";

/// Copies the changes on the screen as JSON.
pub(super) fn copy_json(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(Over::Delta(delta)) = &model.over else { return };
    match changes_as_json(delta) {
        Some(text) => {
            effects.push(Effect::Copy(text));
            toast(model, effects, Tone::Done, "copied the changes as JSON");
        }
        None => toast(model, effects, Tone::Note, NOT_YET),
    }
}

/// The changes on the screen, as `status --json` words them. `None` until they are there.
pub(super) fn changes_as_json(delta: &Delta) -> Option<String> {
    let changes = delta.changes.as_ref()?;
    let events: Vec<_> = changes.events.iter().map(event).collect();
    let document = json!({
        "sessionKey": delta.session,
        "changesSince": delta.after,
        "stateVersion": changes.version,
        "earliest": changes.earliest,
        "historyGap": changes.history_gap,
        "truncated": changes.truncated,
        "events": events,
    });
    Some(document.to_string())
}

fn event(event: &Event) -> Value {
    json!({
        "sequence": event.sequence,
        "kind": event.kind.as_str(),
        "actorType": event.actor_type.as_str(),
        "actorId": event.actor,
        "runId": event.run,
        "occurredAt": event.occurred_at,
        "summary": event.summary,
        "payload": public_payload(event),
    })
}

fn in_main_view(model: &Model) -> Option<(String, &'static str)> {
    let selected = main_view::selected(model)?;
    let main = &model.main;
    match main.focus {
        Pane::Notices => {
            let shown = model.shown();
            let notice = shown.notices.get(*main.rows.notices.get(main.notices.index())?)?;
            Some((shown.text_of(notice), "the notice"))
        }
        Pane::Watches => {
            let line = main.rows.watches.get(main.watches.index())?;
            let pair = selected.pair?;
            let other: SessionKey = if line.is_incoming { pair.watcher } else { pair.target };
            Some((other.as_str().to_owned(), "the key"))
        }
        Pane::Sessions | Pane::Events => Some((selected.session.as_str().to_owned(), "the key")),
    }
}

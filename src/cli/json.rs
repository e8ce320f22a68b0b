//! Shapes of JSON that several verbs print.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::CliError;
use super::human::{self, shown};
use super::output::Output;
use crate::clock::Millis;
use crate::engine::commands::public_payload;
use crate::event::{ActorType, Event, EventKind, Sequence};
use crate::journal::append::Appended;
use crate::session_key::SessionKey;
use crate::visible;

/// An event, as far as others may see it (`engine.md` 5.2).
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct EventJson<'a> {
    sequence: Sequence,
    kind: &'a EventKind,
    actor_type: &'a ActorType,
    occurred_at: Millis,
    summary: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    actor_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    payload: Option<Map<String, Value>>,
}

impl<'a> From<&'a Event> for EventJson<'a> {
    fn from(event: &'a Event) -> Self {
        Self {
            sequence: event.sequence,
            kind: &event.kind,
            actor_type: &event.actor_type,
            occurred_at: event.occurred_at,
            summary: &event.summary,
            actor_id: event.actor.as_deref(),
            run_id: event.run.as_deref(),
            payload: public_payload(event),
        }
    }
}

/// What became of an event that was to be recorded.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct RecordedJson<'a> {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<EventJson<'a>>,
    /// Watchers for whom the event opened a notice.
    notified: Vec<&'a SessionKey>,
    deduped: bool,
    /// Only of a goal: whether it is another now.
    #[serde(skip_serializing_if = "Option::is_none")]
    changed: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
}

impl<'a> RecordedJson<'a> {
    /// The shape of `appended`.
    pub(super) fn new(appended: &'a Appended) -> Self {
        Self {
            ok: true,
            event: appended.event.as_ref().map(EventJson::from),
            notified: notified(appended).collect(),
            deduped: appended.deduped,
            changed: None,
            note: None,
        }
    }

    /// With whether a goal is another now.
    pub(super) fn changed(self, changed: bool) -> Self {
        Self { changed: Some(changed), ..self }
    }

    /// With something more to say.
    pub(super) fn note(self, note: Option<&'a str>) -> Self {
        Self { note, ..self }
    }

    /// Prints it, as JSON or for people.
    pub(super) fn print(&self, appended: &Appended, output: &mut Output) -> Result<(), CliError> {
        output.show(self, || recorded_text(appended, self.note))
    }
}

fn notified(appended: &Appended) -> impl Iterator<Item = &SessionKey> {
    appended.notices.iter().filter(|notice| notice.opened).map(|notice| &notice.watcher)
}

fn recorded_text(appended: &Appended, note: Option<&str>) -> String {
    let Some(event) = &appended.event else {
        return "recorded before; nothing changed".into();
    };
    let mut text = format!("#{} {} of {}", event.sequence, event.kind, shown(&event.session));
    if appended.deduped {
        text.push_str(" was recorded before; nothing changed");
    }
    let told: Vec<_> = notified(appended).map(shown).collect();
    if !told.is_empty() {
        let _ = write!(text, "; notified {}", told.join(", "));
    }
    let covered = appended.notices.len() - told.len();
    if covered > 0 {
        let _ = write!(text, "; {} covers it", human::count(covered, "open notice"));
    }
    if let Some(note) = note {
        let _ = write!(text, "; {}", visible::clean(note));
    }
    text
}

/// `{"ok":true}` with what was done beside it.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Done<T> {
    ok: bool,
    #[serde(flatten)]
    what: T,
}

impl<T> Done<T> {
    /// It was done: `what`.
    pub(super) fn new(what: T) -> Self {
        Self { ok: true, what }
    }
}

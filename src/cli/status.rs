//! `status`: the other read tool, the contract of `engine.md` 5.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::human::{self, Table, age, cell, shown};
use super::json::EventJson;
use super::output::Output;
use super::{CliError, Context, arguments};
use crate::clock::Millis;
use crate::engine::commands::Address;
use crate::event::{Changes, Sequence};
use crate::journal::changes::PAGE;
use crate::journal::sessions::SessionFacts;
use crate::session_key::SessionKey;

/// The arguments of `status`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The session's key
    #[arg(value_name = "KEY")]
    key: String,
    /// Also print what changed after version N, at most 200 events, oldest first
    #[arg(
        long,
        value_name = "N",
        allow_hyphen_values = true,
        value_parser = arguments::version
    )]
    changes_since: Option<Sequence>,
    /// Which session asks: that it asked is kept for `explain`; without it, reading writes nothing
    #[arg(long = "as", value_name = "SESSION", requires = "changes_since")]
    asker: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Status<'a> {
    ok: bool,
    session_key: &'a SessionKey,
    state_version: Sequence,
    #[serde(skip_serializing_if = "Option::is_none")]
    state_changes: Option<StateChanges<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct StateChanges<'a> {
    events: Vec<EventJson<'a>>,
    truncated: bool,
    earliest_available_sequence: Sequence,
    history_gap: bool,
    /// Said when the version asked for lies beyond the head: it is not one that this session ever had.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    ahead: bool,
}

impl<'a> StateChanges<'a> {
    fn new(changes: &'a Changes, since: Sequence) -> Self {
        Self {
            events: changes.events.iter().map(EventJson::from).collect(),
            truncated: changes.truncated,
            earliest_available_sequence: changes.earliest,
            history_gap: changes.history_gap,
            ahead: since > changes.version,
        }
    }
}

pub(super) fn run(
    arguments: &Arguments,
    context: &Context,
    output: &mut Output,
) -> Result<(), CliError> {
    let (session, changes) = if let Some(asker) = &arguments.asker {
        asked_by(asker, arguments, context)?
    } else {
        let mut reader = context.reader()?;
        let session = reader.known_address(&arguments.key, context.options.agent.as_deref())?;
        let since = arguments.changes_since.unwrap_or_default();
        let changes = reader.changes(&session, since, PAGE)?;
        (session, changes)
    };
    let body = Status {
        ok: true,
        session_key: &session.0,
        state_version: changes.version,
        state_changes: arguments.changes_since.map(|since| StateChanges::new(&changes, since)),
    };
    let now = context.clock.now();
    output.show(&body, || {
        let mut text = format!("{} is at version {}", shown(&session.0), changes.version);
        if let Some(since) = arguments.changes_since {
            text.push('\n');
            text.push_str(&delta(&changes, since, now));
        }
        text
    })
}

/// What changed, asked by a session that names itself: the ledger keeps that it asked.
fn asked_by(
    asker: &str,
    arguments: &Arguments,
    context: &Context,
) -> Result<(Address, Changes), CliError> {
    let mut engine = context.engine()?;
    let session = context.known_address(&engine, &arguments.key)?;
    let asker = context.other_address(&engine, asker)?;
    let since = arguments.changes_since.unwrap_or_default();
    let changes = engine.changes_for(&asker.0, &session, since, PAGE)?;
    engine.register(&asker, &SessionFacts::default())?;
    Ok((session, changes))
}

fn delta(changes: &Changes, since: Sequence, now: Millis) -> String {
    let mut parts = Vec::new();
    if changes.history_gap {
        parts.push(format!(
            "HISTORY GAP: events after {since} are gone; refresh the whole state (the earliest left is {})",
            changes.earliest
        ));
    }
    if since > changes.version {
        parts.push(format!("version {since} lies beyond the head; it is not this session's"));
    }
    let mut table = Table::new(["EVENT", "KIND", "ACTOR", "AGE", "SUMMARY"]);
    for event in &changes.events {
        table.row([
            format!("#{}", event.sequence).into(),
            event.kind.as_str().into(),
            cell(Some(event.actor.as_ref().map_or_else(
                || event.actor_type.to_string(),
                |actor| format!("{} {actor}", event.actor_type),
            ))),
            age(now, event.occurred_at).into(),
            event.summary.as_str().into(),
        ]);
    }
    parts.push(table.or(&format!("nothing changed since {since}")));
    if let Some(last) = changes.events.last().filter(|_| changes.truncated) {
        parts.push(format!(
            "{} shown, there is more: go on with --changes-since {}",
            human::count(changes.events.len(), "event"),
            last.sequence
        ));
    }
    parts.join("\n")
}

//! `turn`: begins a turn. What it takes is gone from the inbox once the transaction is done, so printing it is what may not
//! fail silently.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::human::count;
use super::output::Output;
use super::{CliError, Context};
use crate::engine::commands::Turn;
use crate::session_key::SessionKey;

/// The arguments of `turn`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The session whose turn begins
    #[arg(value_name = "KEY")]
    key: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TurnJson<'a> {
    session_key: &'a SessionKey,
    lines: &'a [String],
    acknowledged: &'a [SessionKey],
    follow_ups: &'a [SessionKey],
}

pub(super) fn run(
    arguments: &Arguments,
    context: &Context,
    output: &mut Output,
) -> Result<(), CliError> {
    let mut engine = context.engine()?;
    let session = context.known_address(&engine, &arguments.key)?;
    let turn = engine.turn(&session)?;
    print(&session.0, &turn, output).map_err(|error| {
        if turn.lines.is_empty() { error } else { CliError::Taken(lost(&error, &turn)) }
    })
}

fn print(session: &SessionKey, turn: &Turn, output: &mut Output) -> Result<(), CliError> {
    if output.is_json() {
        output.document(&TurnJson {
            session_key: session,
            lines: &turn.lines,
            acknowledged: &turn.acknowledged,
            follow_ups: &turn.follow_ups,
        })?;
    } else if !turn.lines.is_empty() {
        output.foreign_text(&turn.lines.join("\n"))?;
    }
    output.flush()
}

/// Names what was taken and may not have been seen: the targets of notices, and how many messages; nothing of their text.
fn lost(error: &CliError, turn: &Turn) -> String {
    let targets: Vec<_> = turn.acknowledged.iter().map(SessionKey::as_str).collect();
    let notices = if targets.is_empty() {
        "no notices".to_owned()
    } else {
        format!("the notices about {}", targets.join(", "))
    };
    format!("{error}; taken and perhaps not seen: {notices}, {}", count(turn.messages, "message"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_lost_is_named_without_its_text() {
        let turn = Turn {
            lines: vec!["Message from agent:a:b: secret".into()],
            acknowledged: vec![SessionKey::new("agent:a:x"), SessionKey::new("agent:a:y")],
            follow_ups: Vec::new(),
            messages: 1,
        };
        let error = CliError::Output(std::io::ErrorKind::BrokenPipe.into());
        let said = lost(&error, &turn);
        assert!(said.ends_with("the notices about agent:a:x, agent:a:y, 1 message"), "{said}");
        assert!(!said.contains("secret"));
    }
}

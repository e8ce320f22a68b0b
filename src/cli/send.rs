//! `send`: delivers a message. It waits for the receiver's next turn, and nothing shows more than that one waits.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::human::shown;
use super::json::Done;
use super::output::Output;
use super::{CliError, Context, arguments};
use crate::session_key::SessionKey;

/// The arguments of `send`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Who sends
    #[arg(value_name = "FROM")]
    from: String,
    /// Who receives it at its next turn
    #[arg(value_name = "TO")]
    to: String,
    /// The message; - reads it from standard input, at most 64 KiB
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    text: String,
    /// Also let the sender watch the receiver
    #[arg(long)]
    watch: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Sent<'a> {
    delivered_to: &'a SessionKey,
    #[serde(skip_serializing_if = "Option::is_none")]
    watched: Option<bool>,
}

pub(super) fn run(
    arguments: &Arguments,
    context: &Context,
    output: &mut Output,
) -> Result<(), CliError> {
    let text = arguments::text_or_stdin(&arguments.text, "the message")?;
    let mut engine = context.engine()?;
    let to = context.known_address(&engine, &arguments.to)?;
    let from = context.other_address(&engine, &arguments.from)?;
    let sent = engine.send(&from, &to, &text, arguments.watch)?;
    // Nobody watches itself: asked for, that is "no", not silence.
    let watched = arguments.watch.then(|| sent.watched.unwrap_or(false));
    let body = Done::new(Sent { delivered_to: &sent.delivered_to, watched });
    output.show(&body, || {
        let to = shown(&sent.delivered_to);
        let watching = match watched {
            Some(true) => format!("; {} watches it", shown(&from.0)),
            Some(false) => format!("; {} does not watch it", shown(&from.0)),
            None => String::new(),
        };
        format!("the message waits for the next turn of {to}{watching}")
    })
}

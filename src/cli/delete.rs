//! `delete`: a session goes, with everything about it but the number that its history reached.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::human::{count, shown};
use super::json::Done;
use super::output::Output;
use super::{CliError, Context};

/// The arguments of `delete`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The session
    #[arg(value_name = "KEY")]
    key: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Deleted {
    events: usize,
    cursors: usize,
    messages: usize,
    link: bool,
}

pub(super) fn run(
    arguments: &Arguments,
    context: &Context,
    output: &mut Output,
) -> Result<(), CliError> {
    let mut engine = context.engine()?;
    let (session, agent) = context.known_address(&engine, &arguments.key)?;
    let deleted = engine.delete(&session, &agent)?;
    let body = Deleted {
        events: deleted.events,
        cursors: deleted.cursors,
        messages: deleted.messages,
        link: deleted.link,
    };
    output.show(&Done::new(&body), || {
        format!(
            "{} is deleted: {}, {}, {}{}",
            shown(&session),
            count(body.events, "event"),
            count(body.cursors, "cursor"),
            count(body.messages, "message"),
            if body.link { ", its link" } else { "" }
        )
    })
}

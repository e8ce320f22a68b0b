//! `reset`: a session starts anew; the watches that it holds end, those on it stay.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::human::{count, shown};
use super::json::Done;
use super::output::Output;
use super::{CliError, Context};
use crate::journal::sessions::SessionFacts;

/// The arguments of `reset`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The session
    #[arg(value_name = "KEY")]
    key: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Reset {
    cursors_removed: usize,
}

pub(super) fn run(
    arguments: &Arguments,
    context: &Context,
    output: &mut Output,
) -> Result<(), CliError> {
    let mut engine = context.engine()?;
    let session = context.known_address(&engine, &arguments.key)?;
    let cursors_removed = engine.reset(&session.0)?;
    engine.register(&session, &SessionFacts::default())?;
    output.show(&Done::new(Reset { cursors_removed }), || {
        format!("{} is reset; {} ended", shown(&session.0), count(cursors_removed, "own watch"))
    })
}

//! `compacted`: a session's history was compacted.

use clap::Args;

use super::json::RecordedJson;
use super::output::Output;
use super::{CliError, Context, arguments};

/// The arguments of `compacted`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The session
    #[arg(value_name = "KEY")]
    key: String,
    /// The id of the compaction: the same one is recorded once
    #[arg(long, value_name = "ID", value_parser = arguments::name)]
    operation: String,
}

pub(super) fn run(
    arguments: &Arguments,
    context: &Context,
    output: &mut Output,
) -> Result<(), CliError> {
    let mut engine = context.engine()?;
    let session = context.address(&engine, &arguments.key)?;
    let appended = engine.compacted(&session, &arguments.operation)?;
    RecordedJson::new(&appended).print(&appended, output)
}

//! `spawn`: a child is about to be launched; its parent's cursor is put in step with that.

use clap::Args;

use super::json::RecordedJson;
use super::output::Output;
use super::{CliError, Context, arguments};

/// The arguments of `spawn`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The session that launches the child, and watches it from then on
    #[arg(value_name = "PARENT")]
    parent: String,
    /// The child
    #[arg(value_name = "CHILD")]
    child: String,
    /// The id of the child's run
    #[arg(long, value_name = "ID", value_parser = arguments::name)]
    run: String,
}

pub(super) fn run(
    arguments: &Arguments,
    context: &Context,
    output: &mut Output,
) -> Result<(), CliError> {
    let mut engine = context.engine()?;
    let child = context.address(&engine, &arguments.child)?;
    let parent = context.other_address(&engine, &arguments.parent)?;
    let appended = engine.spawn(&parent, &child, &arguments.run)?;
    RecordedJson::new(&appended).print(&appended, output)
}

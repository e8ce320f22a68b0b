//! `unwatch`: ends a watch.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::human::shown;
use super::json::Done;
use super::output::Output;
use super::{CliError, Context};
use crate::journal::sessions::SessionFacts;

/// The arguments of `unwatch`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Who watches
    #[arg(value_name = "WATCHER")]
    watcher: String,
    /// Whom
    #[arg(value_name = "TARGET")]
    target: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Removed {
    removed: bool,
}

pub(super) fn run(
    arguments: &Arguments,
    context: &Context,
    output: &mut Output,
) -> Result<(), CliError> {
    let mut engine = context.engine()?;
    let target = context.address(&engine, &arguments.target)?;
    let watcher = context.other_address(&engine, &arguments.watcher)?;
    engine.unwatch(&watcher.0, &target.0)?;
    engine.register(&watcher, &SessionFacts::default())?;
    engine.register(&target, &SessionFacts::default())?;
    output.show(&Done::new(Removed { removed: true }), || {
        format!("{} no longer watches {}", shown(&watcher.0), shown(&target.0))
    })
}

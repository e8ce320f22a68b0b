//! `tick`: one pass of the upstream monitor, here and now.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::human::{Table, cell};
use super::output::Output;
use super::{CliError, Context};
use crate::engine::monitor::LinkOutcome;

/// The arguments of `tick`.
#[derive(Debug, Args)]
pub struct Arguments {}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Ticked<'a> {
    links: &'a [LinkOutcome],
}

pub(super) fn run(context: &Context, output: &mut Output) -> Result<(), CliError> {
    let mut engine = context.engine()?;
    let outcomes = engine.tick(&context.providers(None), None)?;
    let body = Ticked { links: &outcomes };
    output.show(&body, || text(&outcomes))
}

fn text(outcomes: &[LinkOutcome]) -> String {
    let mut table = Table::new(["SESSION", "CATALOG", "OUTCOME", "TURNS", "DETAIL"]);
    for link in outcomes {
        table.row([
            link.session.as_str().into(),
            link.catalog.as_str().into(),
            link.outcome.as_str().into(),
            link.human_turns.to_string().into(),
            cell(link.detail.as_ref()),
        ]);
    }
    table.or("no adopted session is watched")
}

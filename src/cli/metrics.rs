//! `metrics`: the state as Prometheus text.

use clap::Args;

use super::check::readings;
use super::output::Output;
use super::{CliError, Context};
use crate::engine::metrics::prometheus;

/// The arguments of `metrics`.
#[derive(Debug, Args)]
pub struct Arguments {}

pub(super) fn run(context: &Context, output: &mut Output) -> Result<(), CliError> {
    let readings = readings(context)?;
    let mut reader = context.reader()?;
    let snapshot = reader.snapshot()?;
    let steps = reader.journal().steps()?;
    output.write(prometheus(&snapshot, &steps, &readings).as_bytes())
}

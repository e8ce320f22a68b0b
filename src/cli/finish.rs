//! `finish`: how a child's run ended. Whatever ended it first wins.

use clap::{Args, ValueEnum};

use super::json::RecordedJson;
use super::output::Output;
use super::{CliError, Context, arguments};
use crate::engine::commands::RunOutcome;
use crate::journal::sessions::SessionFacts;

/// The arguments of `finish`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The child
    #[arg(value_name = "CHILD")]
    child: String,
    /// The id of the run that ended
    #[arg(long, value_name = "ID", value_parser = arguments::name)]
    run: String,
    /// How it ended
    #[arg(long, value_name = "OUTCOME")]
    outcome: Outcome,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Outcome {
    Ok,
    Error,
    Timeout,
    Cancelled,
}

impl From<Outcome> for RunOutcome {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Ok => Self::Ok,
            Outcome::Error => Self::Error,
            Outcome::Timeout => Self::Timeout,
            Outcome::Cancelled => Self::Cancelled,
        }
    }
}

pub(super) fn run(
    arguments: &Arguments,
    context: &Context,
    output: &mut Output,
) -> Result<(), CliError> {
    let mut engine = context.engine()?;
    let child = context.known_address(&engine, &arguments.child)?;
    engine.register(&child, &SessionFacts::default())?;
    let (appended, note) = engine.finish(&child, &arguments.run, arguments.outcome.into())?;
    RecordedJson::new(&appended).note(note.as_deref()).print(&appended, output)
}

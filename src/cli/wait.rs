//! `wait`: blocks until something after a version matches.

use std::time::Duration;

use clap::Args;

use super::following::{Following, print, until};
use super::output::Output;
use super::{CliError, Context, arguments};
use crate::event::{EventKind, Sequence};

/// The arguments of `wait`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Only events of this session
    #[arg(value_name = "KEY")]
    key: Option<String>,
    /// Something after version N
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = arguments::version)]
    since: Sequence,
    /// Only an event of this kind; may be given again
    #[arg(long = "kind", value_name = "K", value_parser = arguments::kind())]
    kinds: Vec<EventKind>,
    /// Give up after this long, with exit code 4
    #[arg(long, value_name = "DURATION", value_parser = arguments::duration)]
    timeout: Option<Duration>,
}

pub(super) fn run(
    arguments: &Arguments,
    context: &Context,
    output: &mut Output,
) -> Result<(), CliError> {
    let key = arguments.key.as_deref();
    let mut following = Following::new(context, key, Some(arguments.since), &arguments.kinds)?;
    let found = until(arguments.timeout, || Ok(following.next(context)?.into_iter().next()))?;
    match found {
        Some(event) => print(&event, output),
        None => {
            Err(CliError::TimedOut(format!("nothing matched after version {}", arguments.since)))
        }
    }
}

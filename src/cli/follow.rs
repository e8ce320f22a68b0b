//! `follow`: events as they come, one a line.

use clap::Args;

use super::following::{Following, print, until};
use super::output::Output;
use super::{CliError, Context, arguments};
use crate::event::{EventKind, Sequence};

/// The arguments of `follow`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Only those of this session
    #[arg(value_name = "KEY")]
    key: Option<String>,
    /// Begin after version N; without it, with what comes from now on
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = arguments::version)]
    since: Option<Sequence>,
    /// Only events of this kind; may be given again
    #[arg(long = "kind", value_name = "K", value_parser = arguments::kind())]
    kinds: Vec<EventKind>,
}

pub(super) fn run(
    arguments: &Arguments,
    context: &Context,
    output: &mut Output,
) -> Result<(), CliError> {
    let mut following =
        Following::new(context, arguments.key.as_deref(), arguments.since, &arguments.kinds)?;
    until(None, || {
        for event in following.next(context)? {
            print(&event, output)?;
        }
        Ok(None::<()>)
    })
    .map(drop)
}

//! `man`: made from the parser.

use clap::{Args, CommandFactory as _};
use clap_mangen::Man;

use super::output::Output;
use super::{Cli, CliError};

/// The arguments of `man`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The verb that the page is about; without one, the page about tidings itself
    #[arg(value_name = "VERB")]
    verb: Option<String>,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<(), CliError> {
    let mut command = Cli::command();
    command.build();
    if let Some(verb) = &arguments.verb {
        let found = command.find_subcommand(verb).cloned();
        command = found
            .ok_or_else(|| CliError::Usage(format!("there is no verb {verb:?}; see --help")))?;
    }
    let mut page = Vec::new();
    Man::new(command).render(&mut page).map_err(CliError::Output)?;
    output.write(&page)
}

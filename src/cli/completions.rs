//! `completions`: made from the parser.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use super::output::Output;
use super::{Cli, CliError};

/// The arguments of `completions`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "tidings", &mut script);
    output.write(&script)
}

//! Reading the command line. What is wrong with it is said in one line, like every other error.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Parser as _;
use clap::error::ErrorKind;

use super::{Cli, error};

/// Reads the command line of this process. `Err` holds the exit code when there is nothing more to do: help was printed, or
/// the command line is wrong and that was said.
pub fn parse() -> Result<Cli, ExitCode> {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    Cli::try_parse_from(&arguments).map_err(|error| {
        if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
            // A reader who closes the pipe has seen enough of the help.
            let _ = write!(io::stdout(), "{}", error.render());
            return ExitCode::SUCCESS;
        }
        let json = arguments.iter().any(|argument| argument == "--json");
        error::say("usage", &one_line(&error, may_quote(&arguments)), json);
        ExitCode::from(2)
    })
}

/// Whether an error may show arguments: those of the verbs that carry text may be that text.
fn may_quote(arguments: &[OsString]) -> bool {
    !arguments.iter().any(|argument| argument == "send" || argument == "goal")
}

/// The first paragraph of clap's error, and where to read more.
fn one_line(error: &clap::Error, may_quote: bool) -> String {
    let quotes_nothing = matches!(error.kind(), ErrorKind::MissingRequiredArgument);
    if !may_quote && !quotes_nothing {
        return "these arguments don't fit; a text of several words needs quotes around it; see --help".into();
    }
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let end = ["\n\nUsage:", "\n\nFor more information"]
        .iter()
        .filter_map(|mark| text.find(mark))
        .min()
        .unwrap_or(text.len());
    let words: Vec<_> = text[..end].split_whitespace().collect();
    format!("{}; see --help", words.join(" "))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    fn error(arguments: &[&str]) -> String {
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        let error = Cli::try_parse_from(&arguments).unwrap_err();
        one_line(&error, may_quote(&arguments))
    }

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn errors_are_one_line() {
        for (arguments, want) in [
            (&["tidings", "fly"][..], "unrecognized subcommand 'fly'; see --help"),
            (
                &["tidings", "status"],
                "the following required arguments were not provided: <KEY>; see --help",
            ),
            (
                &["tidings", "sessions", "--colour"],
                "unexpected argument '--colour' found; see --help",
            ),
        ] {
            let said = error(arguments);
            assert!(said.starts_with(want.trim_end_matches("; see --help")), "{said}");
            assert!(said.ends_with("; see --help") && !said.contains('\n'), "{said}");
        }
    }

    #[test]
    fn the_text_of_a_message_is_not_repeated() {
        for arguments in [
            &["tidings", "send", "agent:a:b", "agent:c:d", "the", "secret"][..],
            &["tidings", "--json", "goal", "agent:a:b", "set", "the", "secret"],
            &["tidings", "goal", "agent:a:b", "secret"],
        ] {
            assert!(!error(arguments).contains("secret"));
        }
        assert!(error(&["tidings", "send", "agent:a:b"]).contains("<TO> <TEXT>"));
    }
}

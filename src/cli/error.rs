//! What can fail, the exit codes, and how a failure is said: one line on stderr, with `--json` also a document on stdout.

use std::io::{self, Write as _};
use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;

use super::Options;
use super::output::Document;
use crate::config::ConfigError;
use crate::engine::EngineError;
use crate::journal::JournalError;
use crate::script::ScriptError;
use crate::upstream::UpstreamError;
use crate::visible;

/// Why a verb was not done. Each message is one line for people, and holds nothing of what people or agents wrote.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// The engine refused or failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The config is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A script can't go on.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// The command line is wrong.
    #[error("{0}")]
    Usage(String),
    /// Something else failed.
    #[error("{0}")]
    Failed(String),
    /// The output can't be written.
    #[error("could not write the output: {0}")]
    Output(#[source] io::Error),
    /// A turn was begun, and what it took could not be printed.
    #[error("{0}")]
    Taken(String),
    /// Recorded traces differ from what this program does; the differences are printed already.
    #[error("{0}")]
    Differs(String),
    /// What was waited for did not come in time.
    #[error("{0}")]
    TimedOut(String),
    /// What was found is bad, and printed already: the exit code says how bad.
    #[error("what was found is bad")]
    Judged(u8),
    /// Somebody pressed Ctrl-C.
    #[error("interrupted")]
    Interrupted,
    /// The terminal went away.
    #[error("the terminal went away")]
    HungUp,
}

impl From<JournalError> for CliError {
    fn from(error: JournalError) -> Self {
        Self::Engine(error.into())
    }
}

impl From<UpstreamError> for CliError {
    fn from(error: UpstreamError) -> Self {
        Self::Engine(error.into())
    }
}

impl CliError {
    /// The exit code: 1 it failed, 2 the command line or the config is wrong, 3 there is no such thing, 128 and the signal's
    /// number when a signal ended it.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Engine(
                EngineError::Unknown(_) | EngineError::Upstream(UpstreamError::NotFound { .. }),
            ) => 3,
            Self::Usage(_)
            | Self::Config(_)
            | Self::Engine(
                EngineError::Usage(_) | EngineError::Upstream(UpstreamError::Ambiguous { .. }),
            )
            | Self::Script(ScriptError::NotAnOperation { .. }) => 2,
            Self::TimedOut(_) => 4,
            Self::Judged(code) => *code,
            Self::Interrupted => 130,
            Self::HungUp => 129,
            _ => 1,
        }
    }

    /// A word for scripts.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Engine(error) | Self::Script(ScriptError::Engine(error)) => error.code(),
            Self::Config(_) => "config",
            Self::Script(ScriptError::NotAnOperation { .. }) | Self::Usage(_) => "usage",
            Self::Script(ScriptError::Unexpected { .. }) => "unexpected",
            Self::Script(ScriptError::Io { .. }) => "io",
            Self::Failed(_) => "failed",
            Self::Output(_) | Self::Taken(_) => "output",
            Self::Differs(_) => "differs",
            Self::TimedOut(_) => "timed-out",
            Self::Judged(_) => "judged",
            Self::Interrupted | Self::HungUp => "interrupted",
        }
    }
}

/// The document of a failure.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Failure<'a> {
    ok: bool,
    error: Reason<'a>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Reason<'a> {
    code: &'a str,
    message: &'a str,
}

/// Says what went wrong, if anything did, and returns the exit code. A closed pipe and an interruption need no words.
pub fn finish(options: &Options, result: Result<(), CliError>) -> ExitCode {
    let Err(error) = result else { return ExitCode::SUCCESS };
    match &error {
        CliError::Output(source) if source.kind() == io::ErrorKind::BrokenPipe => {
            return ExitCode::SUCCESS;
        }
        CliError::Interrupted | CliError::HungUp | CliError::Judged(_) => {}
        // The document that was printed says `"ok":false` already.
        CliError::Differs(message) => say(error.code(), message, false),
        _ => say(error.code(), &error.to_string(), options.json),
    }
    ExitCode::from(error.exit_code())
}

/// Says a failure on stderr, and as a document on stdout when `json` is set. Where nobody listens, nothing is lost.
pub(super) fn say(code: &str, message: &str, json: bool) {
    note(message);
    if json {
        let failure = Failure { ok: false, error: Reason { code, message } };
        if let Ok(line) = serde_json::to_string(&Document::new(&failure)) {
            let _ = writeln!(io::stdout(), "{line}");
        }
    }
}

/// Says something in one line on stderr. Where nobody listens, nothing is lost.
pub(super) fn note(message: &str) {
    let _ = writeln!(io::stderr(), "tidings: {}", visible::clean(message));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_and_words_follow_the_cause() {
        let ambiguous =
            UpstreamError::Ambiguous { catalog: "claude".into(), wanted: "7".into(), count: 2 };
        let missing = UpstreamError::NotFound { catalog: "claude".into(), wanted: "7".into() };
        let bad_line = ScriptError::NotAnOperation { place: "f:1".into(), reason: "x".into() };
        for (error, code, word) in [
            (CliError::from(EngineError::Unknown(String::new())), 3, "unknown"),
            (missing.into(), 3, "unknown"),
            (ambiguous.into(), 2, "ambiguous"),
            (EngineError::Usage(String::new()).into(), 2, "usage"),
            (EngineError::Refused(String::new()).into(), 1, "refused"),
            (JournalError::Refused(String::new()).into(), 1, "refused"),
            (bad_line.into(), 2, "usage"),
            (CliError::Usage(String::new()), 2, "usage"),
            (CliError::Failed(String::new()), 1, "failed"),
            (CliError::Interrupted, 130, "interrupted"),
        ] {
            assert_eq!((error.exit_code(), error.code()), (code, word), "{error:?}");
        }
    }
}

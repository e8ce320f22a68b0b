//! `goal`: sets a session's goal, changes its status or clears it. The objective is kept until it is cleared, and appears in no
//! event, log or view.

use clap::{Args, Subcommand};

use super::human::shown;
use super::json::{Done, RecordedJson};
use super::output::Output;
use super::{CliError, Context, arguments};
use crate::engine::EngineError;
use crate::engine::commands::GoalAction;
use crate::event::ActorType;
use crate::journal::inbox::GoalChange;
use crate::session_key::SessionKey;

/// The longest status, in characters: it stands in the summary of the event.
const MAX_STATUS: usize = 32;

/// The arguments of `goal`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The session
    #[arg(value_name = "KEY")]
    key: String,
    #[command(subcommand)]
    action: Action,
    /// Who changes it [default: human]
    #[arg(long, global = true, value_name = "TYPE", value_parser = arguments::actor_type())]
    actor_type: Option<ActorType>,
    /// Who exactly [default: the operator, unless --actor-type says otherwise]
    #[arg(long, global = true, value_name = "ID", value_parser = arguments::name)]
    actor: Option<String>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Set the objective
    Set {
        /// The objective; - reads it from standard input, at most 64 KiB
        #[arg(value_name = "TEXT", allow_hyphen_values = true)]
        text: String,
    },
    /// Change the status
    Status {
        /// One word, such as paused or complete
        #[arg(value_name = "STATUS")]
        status: String,
    },
    /// Clear the goal
    Clear,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
pub(super) struct Unchanged {
    changed: bool,
}

pub(super) fn run(
    arguments: &Arguments,
    context: &Context,
    output: &mut Output,
) -> Result<(), CliError> {
    let action = match &arguments.action {
        Action::Set { text } => GoalAction::Set(arguments::text_or_stdin(text, "the objective")?),
        Action::Status { status } => GoalAction::Status(status_word(status)?),
        Action::Clear => GoalAction::Clear,
    };
    let actor = match (&arguments.actor_type, &arguments.actor) {
        (None, None) => (ActorType::Human, Some(SessionKey::operator().to_string())),
        (kind, id) => (kind.clone().unwrap_or(ActorType::Human), id.clone()),
    };
    let mut engine = context.engine()?;
    let session = context.address(&engine, &arguments.key)?;
    match engine.goal(&session, &action, actor)? {
        (_, Some(appended)) => RecordedJson::new(&appended).changed(true).print(&appended, output),
        (GoalChange::Missing, None) if matches!(action, GoalAction::Status(_)) => {
            Err(EngineError::Refused(format!(
                "{} has no goal whose status could change; set one first",
                session.0
            ))
            .into())
        }
        (_, None) => output.show(&Done::new(Unchanged { changed: false }), || {
            format!("the goal of {} is as it was", shown(&session.0))
        }),
    }
}

/// A status is one word: it becomes part of a summary, where nothing that people write may be.
fn status_word(status: &str) -> Result<String, CliError> {
    let is_word = status.starts_with(|c: char| c.is_ascii_alphanumeric())
        && status.len() <= MAX_STATUS
        && status.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    if is_word {
        return Ok(status.to_owned());
    }
    Err(CliError::Usage(format!(
        "a status is one word of at most {MAX_STATUS} letters, digits, - and _, such as paused or complete"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_a_word() {
        assert!(status_word("budget_limited").is_ok());
        let long = "x".repeat(33);
        for status in ["", "two words", "-x", "é", "a\nb", &long] {
            assert_eq!(status_word(status).unwrap_err().exit_code(), 2, "{status}");
        }
    }
}

//! `adopt`: a session of another program becomes one of ours, from its present end on.

use clap::Args;
use serde::Serialize;

use super::arguments::Harness;
use super::human::shown;
use super::json::Done;
use super::output::Output;
use super::watch::register_watch;
use super::{CliError, Context, error};
use crate::engine::EngineError;
use crate::session_key::SessionKey;
use crate::upstream::UpstreamError;

/// The arguments of `adopt`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The session's id there, a beginning of it that only one has, or the path of its transcript
    #[arg(value_name = "ID")]
    wanted: String,
    /// The program that it belongs to
    #[arg(long, value_name = "HARNESS", value_enum, default_value_t)]
    harness: Harness,
    /// A session that is to watch it; an adopted session that nobody watches is never looked at
    #[arg(long, value_name = "KEY")]
    watch_as: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Adoption<'a> {
    session_key: &'a SessionKey,
    adopted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    watched_by: Option<&'a SessionKey>,
}

pub(super) fn run(
    arguments: &Arguments,
    context: &Context,
    output: &mut Output,
) -> Result<(), CliError> {
    arguments.harness.refuse_unsupported()?;
    let provider = context.claude()?;
    let mut engine = context.engine()?;
    let watcher = arguments
        .watch_as
        .as_deref()
        .map(|watcher| context.other_address(&engine, watcher))
        .transpose()?;
    // Before anything is adopted: half of what was asked for would be worse than nothing.
    if let Some((watcher, _)) = watcher.as_ref().filter(|(watcher, _)| !watcher.is_notifiable()) {
        return Err(EngineError::Refused(format!(
            "{watcher} can't watch: only a key of the form agent:<id>:<rest> can hold notices; nothing was adopted"
        ))
        .into());
    }
    let adopted = engine
        .adopt(&provider, &arguments.wanted, context.options.agent.as_deref())
        .map_err(unknown_when_missing)?;
    let session = (adopted.session, adopted.agent);
    if let Some(watcher) = &watcher {
        register_watch(&mut engine, watcher, &session)?;
    }
    let body = Adoption {
        session_key: &session.0,
        adopted: adopted.adopted,
        watched_by: watcher.as_ref().map(|(watcher, _)| watcher),
    };
    output.show(&Done::new(&body), || {
        let already = if body.adopted { "is adopted" } else { "was adopted before" };
        let watching = body
            .watched_by
            .map(|watcher| format!("; {} watches it", shown(watcher)))
            .unwrap_or_default();
        format!("{} {already}{watching}", shown(body.session_key))
    })?;
    if !engine.journal().is_watched(&session.0)? {
        error::note(&format!(
            "nobody watches {key} yet, so it is not looked at; `tidings watch WATCHER {key}` changes that",
            key = session.0
        ));
    }
    Ok(())
}

/// A path at which there is nothing names no session, like an id that nothing has.
fn unknown_when_missing(error: EngineError) -> EngineError {
    match error {
        EngineError::Upstream(UpstreamError::Io { path, source })
            if source.kind() == std::io::ErrorKind::NotFound =>
        {
            EngineError::Unknown(format!("there is no transcript {}", path.display()))
        }
        error => error,
    }
}

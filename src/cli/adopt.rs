//! `adopt`: a session of another program becomes one of ours, from its present end on.

use std::sync::Arc;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::arguments::Harness;
use super::human::shown;
use super::json::Done;
use super::output::Output;
use super::watch::register_watch;
use super::{CliError, Context, error};
use crate::engine::EngineError;
use crate::session_key::{AgentId, SessionKey};
use crate::upstream::{Baseline, Provider, UpstreamError};

/// The arguments of `adopt`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The session's id there, a beginning of it that only one has, the path of its transcript, or the key that it gets here
    #[arg(value_name = "ID")]
    wanted: String,
    /// The program that it belongs to [default: whichever has it]
    #[arg(long, value_name = "HARNESS", value_enum)]
    harness: Option<Harness>,
    /// A session that is to watch it; an adopted session that nobody watches is never looked at
    #[arg(long, value_name = "KEY")]
    watch_as: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Adoption<'a> {
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
    let Wanted { id, harness, agent } = Wanted::of(arguments, context.options.agent.as_deref())?;
    let found = find(&context.providers(harness), &id).map_err(unknown_when_missing)?;
    let adopted = engine.adopt_from(found, agent.as_deref())?;
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

/// What is to be adopted, and for whom.
struct Wanted {
    /// An id there, the beginning of one, or a path.
    id: String,
    harness: Option<Harness>,
    agent: Option<String>,
}

impl Wanted {
    /// A key of the form that adoption gives, `agent:<agent>:<catalog>:<id>`, names the program and the agent, too
    /// (`decisions.md` 13).
    fn of(arguments: &Arguments, agent: Option<&str>) -> Result<Self, EngineError> {
        let key = SessionKey::new(arguments.wanted.as_str());
        let parts = key.qualified().and_then(|parts| {
            let (catalog, id) = parts.rest.split_once(':')?;
            Some((key.agent()?, Harness::of_catalog(catalog)?, id))
        });
        let Some((named, harness, id)) = parts else {
            let id = arguments.wanted.clone();
            return Ok(Self { id, harness: arguments.harness, agent: agent.map(str::to_owned) });
        };
        if arguments.harness.is_some_and(|other| other != harness) {
            return Err(EngineError::Usage(format!(
                "{key} is not of the program that --harness names"
            )));
        }
        if agent.is_some_and(|other| !AgentId::normalised(other).same_as(&named)) {
            return Err(EngineError::Usage(format!(
                "{key} is not of the agent that --agent names"
            )));
        }
        Ok(Self { id: id.to_owned(), harness: Some(harness), agent: Some(named.to_string()) })
    }
}

/// The session that `wanted` names in one of the catalogs. In which, nobody has to say, as long as only one has it.
fn find(providers: &[Arc<dyn Provider>], wanted: &str) -> Result<Baseline, EngineError> {
    let mut found = Vec::new();
    let mut refused = None;
    for provider in providers {
        match provider.baseline(wanted) {
            Ok(baseline) => found.push(baseline),
            Err(UpstreamError::NotFound { .. }) => {}
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    let names =
        || providers.iter().map(|provider| provider.catalog()).collect::<Vec<_>>().join(" or ");
    let count = found.len();
    match (found.pop(), refused) {
        (Some(only), _) if count == 1 => Ok(only),
        (Some(_), _) => {
            Err(UpstreamError::Ambiguous { catalog: names(), wanted: wanted.to_owned(), count }
                .into())
        }
        (None, Some(error)) => Err(error.into()),
        (None, None) => {
            Err(UpstreamError::NotFound { catalog: names(), wanted: wanted.to_owned() }.into())
        }
    }
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

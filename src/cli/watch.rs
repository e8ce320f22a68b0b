//! `watch`: an explicit watch without sending anything, or an ambient one.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::human::shown;
use super::json::Done;
use super::output::Output;
use super::{CliError, Context};
use crate::engine::commands::Address;
use crate::engine::{Engine, EngineError};
use crate::journal::cursors::Registration;
use crate::journal::sessions::SessionFacts;
use crate::session_key::SessionKey;

/// The arguments of `watch`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Who watches
    #[arg(value_name = "WATCHER", required_unless_present = "ambient", requires = "target")]
    watcher: Option<String>,
    /// Whom
    #[arg(value_name = "TARGET", required_unless_present = "ambient")]
    target: Option<String>,
    /// Let the main session of this group session's agent watch it, without ever being woken
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["watcher", "target"])]
    ambient: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct WatchJson {
    watcher: SessionKey,
    target: SessionKey,
    watched: bool,
    changed: bool,
}

pub(super) fn run(
    arguments: &Arguments,
    context: &Context,
    output: &mut Output,
) -> Result<(), CliError> {
    let mut engine = context.engine()?;
    let watched = match (&arguments.watcher, &arguments.target, &arguments.ambient) {
        (Some(watcher), Some(target), _) => {
            let target = context.address(&engine, target)?;
            let watcher = context.other_address(&engine, watcher)?;
            explicit(&mut engine, &watcher, &target)?
        }
        (_, _, Some(session)) => {
            let session = context.address(&engine, session)?;
            ambient(&mut engine, &session)?
        }
        _ => return Err(CliError::Usage("name a watcher and a target; see --help".into())),
    };
    output.show(&Done::new(&watched), || {
        let (watcher, target) = (shown(&watched.watcher), shown(&watched.target));
        let already = if watched.changed { "" } else { " already" };
        format!("{watcher} watches {target}{already}")
    })
}

/// Makes an explicit watch, and registers both sides once it holds.
pub(super) fn register_watch(
    engine: &mut Engine,
    watcher: &Address,
    target: &Address,
) -> Result<Registration, CliError> {
    let registration = engine.watch(&watcher.0, &target.0, Some(&target.1))?;
    engine.register(watcher, &SessionFacts::default())?;
    engine.register(target, &SessionFacts::default())?;
    Ok(registration)
}

fn explicit(
    engine: &mut Engine,
    watcher: &Address,
    target: &Address,
) -> Result<WatchJson, CliError> {
    let registration = register_watch(engine, watcher, target)?;
    Ok(WatchJson {
        watcher: watcher.0.clone(),
        target: target.0.clone(),
        watched: true,
        changed: registration != Registration::Unchanged,
    })
}

fn ambient(engine: &mut Engine, session: &Address) -> Result<WatchJson, CliError> {
    let (target, agent) = session;
    let watcher = (SessionKey::new(format!("agent:{agent}:main")), agent.clone());
    let was_watched = engine.journal().cursor(&watcher.0, target)?.is_some();
    if !engine.watch_ambient(session, None, None)? {
        return Err(EngineError::Refused(format!(
            "{target} can't be watched ambiently: only a group or channel session that nobody spawned can, and not by itself"
        ))
        .into());
    }
    engine.register(&watcher, &SessionFacts::default())?;
    engine.register(session, &SessionFacts::default())?;
    Ok(WatchJson {
        watcher: watcher.0,
        target: target.clone(),
        watched: true,
        changed: !was_watched,
    })
}

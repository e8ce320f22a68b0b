//! Watching: who may watch whom, and where a watch begins (`engine.md` 6).

use super::Address;
use crate::engine::{Engine, EngineError};
use crate::journal::cursors::Registration;
use crate::session_key::{AgentId, SessionKey};
use crate::watch::Provenance;

impl Engine {
    /// Registers an explicit watch. `agent` is the target's owner; a bare target needs it.
    ///
    /// # Errors
    /// Refuses, with the reason, what can't be watched.
    pub fn watch(
        &mut self,
        watcher: &SessionKey,
        target: &SessionKey,
        agent: Option<&AgentId>,
    ) -> Result<Registration, EngineError> {
        let refuse = |reason: String| Err(EngineError::Refused(reason));
        if watcher == target {
            return refuse(format!("{watcher} can't watch itself"));
        }
        if !watcher.is_notifiable() {
            return refuse(format!(
                "{watcher:?} can't watch: only a key of the form agent:<id>:<rest> can hold notices",
                watcher = watcher.as_str()
            ));
        }
        let agent = match (target.agent(), agent) {
            (Some(named), Some(given)) if !named.same_as(given) => {
                return refuse(format!(
                    "the agent {given} contradicts the key {target}, which names {named}"
                ));
            }
            (Some(named), _) => named,
            (None, Some(given)) => given.clone(),
            (None, None) => {
                return refuse(format!("{target} is a bare key: name the agent that owns it"));
            }
        };
        let now = self.now();
        let registration =
            self.journal.register(watcher, target, &agent, Provenance::Explicit, now)?;
        self.follow_others();
        Ok(registration)
    }

    /// Registers an ambient watch of an agent's main session on one of its group sessions; false when the session is none
    /// (`engine.md` 6.5).
    pub fn watch_ambient(
        &mut self,
        session: &Address,
        chat_type: Option<&str>,
        main_key: Option<&str>,
    ) -> Result<bool, EngineError> {
        let (target, agent) = session;
        let main_key =
            main_key.map(str::trim).filter(|key| !key.is_empty()).unwrap_or("main").to_lowercase();
        let watcher = SessionKey::new(format!("agent:{agent}:{main_key}"));
        let spawned = self.journal.parent_of(target)?.is_some();
        if spawned || !is_group(target, chat_type) || watcher == *target || !watcher.is_notifiable()
        {
            return Ok(false);
        }
        let now = self.now();
        self.journal.register(&watcher, target, agent, Provenance::AmbientGroup, now)?;
        self.follow_others();
        Ok(true)
    }

    /// Ends a watch.
    pub fn unwatch(
        &mut self,
        watcher: &SessionKey,
        target: &SessionKey,
    ) -> Result<(), EngineError> {
        let now = self.now();
        if !self.journal.unwatch(watcher, target, now)? {
            return Err(EngineError::Unknown(format!(
                "{watcher} does not watch {target}; `tidings watches` lists the watches"
            )));
        }
        self.stay_in_step();
        Ok(())
    }
}

/// Whether a session is a group's (`engine.md` 6.5).
fn is_group(session: &SessionKey, chat_type: Option<&str>) -> bool {
    let key = session.as_str();
    if matches!(key, "global" | "unknown") || session.is_cron() {
        return false;
    }
    matches!(chat_type, Some("group" | "channel"))
        || key.contains(":group:")
        || key.contains(":channel:")
}

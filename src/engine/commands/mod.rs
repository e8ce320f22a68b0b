//! Commands: what people, scripts and agents ask of the engine. Each is a short transaction of the journal, then notices and
//! wakes (`engine.md` 2, 3, 6, 8).
//!
//! | file | holds |
//! | --- | --- |
//! | this one | addresses, recording, reading, reset and delete |
//! | `producers` | human turns, spawns, run ends, goals, compaction |
//! | `watching` | explicit and ambient watches |
//! | `turns` | sending, turns, draining, acknowledging |

mod producers;
mod turns;
mod watching;

pub use producers::{DirectMessage, GoalAction, RunOutcome};
pub use turns::{Drained, Sent, Turn};

use std::time::Instant;

use serde_json::{Map, Value};

use super::{Discipline, Engine, EngineError};
use crate::event::{Changes, Event, EventKind, NewEvent, Sequence};
use crate::journal::append::{Appended, Gate};
use crate::journal::cursors::Deleted;
use crate::journal::failures::AppendFailure;
use crate::journal::sessions::SessionFacts;
use crate::journal::{JournalError, Reader};
use crate::session_key::{AgentId, SessionKey};

/// A session and its owner.
pub type Address = (SessionKey, AgentId);

/// The session and owner that a key names. A bare key takes `agent`, else `main`.
///
/// # Errors
/// An `agent` that contradicts the key is a usage error.
pub fn address(key: &str, agent: Option<&str>) -> Result<Address, EngineError> {
    if key.trim().is_empty() {
        return Err(EngineError::Usage(
            "a session key can't be empty; write for example agent:main:main".into(),
        ));
    }
    let session = SessionKey::new(key);
    let given = agent.map(AgentId::normalised);
    let owner = match (session.agent(), given) {
        (Some(named), Some(given)) if named != given => {
            return Err(EngineError::Usage(format!(
                "--agent {given} contradicts the key {key:?}, which names the agent {named}; leave --agent out"
            )));
        }
        (Some(named), _) => named,
        (None, given) => given.unwrap_or_else(AgentId::main),
    };
    Ok((session, owner))
}

/// The session and owner that a key names, if anything in the state database knows that session.
pub(super) fn known_address(
    reader: &Reader,
    key: &str,
    agent: Option<&str>,
) -> Result<Address, EngineError> {
    let address = address(key, agent)?;
    if reader.knows(&address.0)? {
        return Ok(address);
    }
    Err(EngineError::Unknown(format!(
        "no session has the key {key:?}; `tidings sessions` lists them"
    )))
}

impl Engine {
    /// The session and owner that a key names, as [`address`] reads it.
    pub fn address(&self, key: &str, agent: Option<&str>) -> Result<Address, EngineError> {
        address(key, agent)
    }

    /// The session and owner that a key names, if anything knows that session.
    pub fn known_address(&self, key: &str, agent: Option<&str>) -> Result<Address, EngineError> {
        known_address(&self.journal, key, agent)
    }

    /// Registers a session as existing.
    pub fn register(&mut self, address: &Address, facts: &SessionFacts) -> Result<(), EngineError> {
        let now = self.now();
        Ok(self.journal.register_session(&address.0, &address.1, facts, now)?)
    }

    /// Records an event. A failure is counted; recording is best effort for producers, so a caller with a turn to run goes on.
    pub fn record(&mut self, event: &NewEvent, gate: Gate) -> Result<Appended, EngineError> {
        let now = self.now();
        let began = Instant::now();
        let appended = self
            .journal
            .append(event, gate, now)
            .inspect_err(|error| self.note_failure(&event.session, &event.kind, error, began))?;
        if appended.is_shut_out() {
            return Ok(appended);
        }
        self.absorb_failures();
        self.follow(&appended);
        Ok(appended)
    }

    /// Counts an event that was not recorded, and remembers it where later processes find it.
    pub(in crate::engine) fn note_failure(
        &mut self,
        session: &SessionKey,
        kind: &EventKind,
        error: &JournalError,
        began: Instant,
    ) {
        self.append_failures += 1;
        self.failures_wait = true;
        tracing::warn!(%error, %session, %kind, "an event was not recorded");
        self.journal.note_failure(&AppendFailure {
            at: self.now(),
            session: session.clone(),
            kind: kind.to_string(),
            error: error.to_string(),
            waited: i64::try_from(began.elapsed().as_millis()).unwrap_or(i64::MAX),
        });
    }

    /// Takes the failures of this process into the ledger, once the database can be written again.
    fn absorb_failures(&mut self) {
        if self.failures_wait {
            match self.journal.absorb_failures() {
                Ok(_) => self.failures_wait = false,
                Err(error) => {
                    tracing::warn!(%error, "append failures were not taken into the ledger; it is tried again");
                }
            }
        }
    }

    /// What changed in a session after a version.
    pub fn changes(
        &mut self,
        session: &Address,
        after: Sequence,
        limit: usize,
    ) -> Result<Changes, EngineError> {
        Ok(self.journal.changes(&session.0, &session.1, after, limit)?)
    }

    /// What changed in a session after a version, asked by a session that is known: the ledger keeps that it asked
    /// (`decisions.md` 30). No cursor moves.
    pub fn changes_for(
        &mut self,
        caller: &SessionKey,
        session: &Address,
        after: Sequence,
        limit: usize,
    ) -> Result<Changes, EngineError> {
        let changes = self.changes(session, after, limit)?;
        let now = self.now();
        self.journal.write_reconciled(caller, &session.0, after, &changes, now)?;
        Ok(changes)
    }

    /// Resets a session: its own watches end.
    pub fn reset(&mut self, session: &SessionKey) -> Result<usize, EngineError> {
        refuse_operator(session, "reset")?;
        let now = self.now();
        let ended = self.journal.reset(session, now)?;
        self.stay_in_step();
        Ok(ended)
    }

    /// Deletes a session with its journal, its watches on both sides, its link and its messages.
    pub fn delete(
        &mut self,
        session: &SessionKey,
        agent: &AgentId,
    ) -> Result<Deleted, EngineError> {
        refuse_operator(session, "deleted")?;
        let now = self.now();
        let forget = self.discipline == Discipline::InStep;
        let deleted = self.journal.delete(session, agent, forget, now)?;
        self.stay_in_step();
        Ok(deleted)
    }
}

fn refuse_operator(session: &SessionKey, what: &str) -> Result<(), EngineError> {
    if *session == SessionKey::operator() {
        return Err(EngineError::Refused(format!(
            "{session} is the person at the screen and can't be {what}"
        )));
    }
    Ok(())
}

/// What of a payload an answer may hold: `outcome`, `channel` and `turns`, if they are what they have to be (`engine.md` 5.2).
pub fn public_payload(event: &Event) -> Option<Map<String, Value>> {
    let payload = event.payload.as_ref()?.as_object()?;
    let allowed = |name: &str, value: &Value| match name {
        "outcome" => matches!(value.as_str(), Some("error" | "timeout" | "cancelled")),
        "channel" => value.as_str().is_some_and(|channel| !channel.is_empty()),
        "turns" => value.as_u64().is_some_and(|turns| turns > 0),
        _ => false,
    };
    let public: Map<_, _> = payload
        .iter()
        .filter(|(name, value)| allowed(name, value))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    (!public.is_empty()).then_some(public)
}

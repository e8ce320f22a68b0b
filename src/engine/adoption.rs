//! Adoption: a foreign session becomes one of ours, with a link from its present end on (`upstream.md` 7).

use serde_json::json;

use super::{Engine, EngineError};
use crate::event::{ActorType, EventKind, NewEvent};
use crate::journal::append::Gate;
use crate::journal::sessions::SessionFacts;
use crate::session_key::{AgentId, SessionKey};
use crate::upstream::{Baseline, Provider};
use crate::upstream_link::NewLink;

/// What adopting did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adopted {
    /// The session's key.
    pub session: SessionKey,
    /// Its owner.
    pub agent: AgentId,
    /// Whether it is newly linked; false when it was already.
    pub adopted: bool,
}

impl Engine {
    /// Adopts the foreign session that `wanted` names. Adopting again keeps the marker, so that nothing is lost or replayed.
    pub fn adopt(
        &mut self,
        provider: &dyn Provider,
        wanted: &str,
        agent: Option<&str>,
    ) -> Result<Adopted, EngineError> {
        self.adopt_from(provider.baseline(wanted)?, agent)
    }

    /// Adopts the foreign session that was found, from where it ended then.
    pub fn adopt_from(
        &mut self,
        found: Baseline,
        agent: Option<&str>,
    ) -> Result<Adopted, EngineError> {
        let Baseline { entry, host, kind, reference, marker } = found;
        let agent = agent.map_or_else(AgentId::main, AgentId::normalised);
        let session = SessionKey::new(format!("agent:{agent}:{}:{}", entry.catalog, entry.thread));
        let now = self.now();
        let facts = SessionFacts {
            title: entry.title.clone().or_else(|| entry.project.clone()),
            harness: Some(entry.catalog.clone()),
            session_id: Some(entry.thread.clone()),
            ..SessionFacts::default()
        };
        self.journal.register_session(&session, &agent, &facts, now)?;
        let adopted = self.journal.put_link(
            &NewLink {
                session: session.clone(),
                agent: agent.clone(),
                catalog: entry.catalog.clone(),
                host: host.clone(),
                thread: entry.thread,
                kind,
                reference: Some(reference),
                marker: Some(marker),
            },
            now,
        )?;
        let event = NewEvent {
            summary: Some(format!("adopted from {}", entry.catalog)),
            dedupe: Some(format!("adopted:{session}")),
            payload: Some(json!({ "catalogId": entry.catalog, "hostId": host })),
            ..NewEvent::new(session.clone(), agent.clone(), EventKind::Adopted, ActorType::Human)
        };
        self.record(&event, Gate::Open)?;
        Ok(Adopted { session, agent, adopted })
    }
}

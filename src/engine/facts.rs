//! What a source tells beside human turns, as events: compactions, and the sub-agents of a session.
//!
//! A sub-agent is a child of the adopted session, as if that had spawned it here: the parent's cursor is put in step with the
//! spawn. Only kinds that notify would ever make a line wait for it, and a sub-agent's file yields none.

use serde_json::json;

use crate::event::{ActorType, EventKind, NewEvent};
use crate::journal::sessions::SessionFacts;
use crate::journal::upstream_links::NewFact;
use crate::session_key::SessionKey;
use crate::upstream::{Fact, FactKind, RunEnd};
use crate::upstream_link::UpstreamLink;

/// The event of a fact, with what is known of the session that it is about.
pub(super) fn recorded(link: &UpstreamLink, fact: &Fact) -> NewFact {
    let of = |session: SessionKey, kind, actor| NewEvent {
        occurred_at: Some(fact.at),
        ..NewEvent::new(session, link.agent.clone(), kind, actor)
    };
    let child = |run: &str| {
        SessionKey::new(format!("agent:{}:subagent:{}:{run}", link.agent, link.catalog))
    };
    let known_child = |title: Option<&String>| SessionFacts {
        parent: Some(link.session.clone()),
        title: title.cloned(),
        harness: Some(link.catalog.clone()),
        session_id: None,
    };
    let (event, child, ends) = match &fact.what {
        FactKind::Compacted { operation } => {
            let event = NewEvent {
                dedupe: Some(format!("compacted:{operation}")),
                ..of(link.session.clone(), EventKind::Compacted, ActorType::System)
            };
            (event, None, false)
        }
        FactKind::ChildSpawned { run, kind } => {
            let event = NewEvent {
                actor: Some(link.session.to_string()),
                run: Some(run.clone()),
                dedupe: Some(format!("child-spawned:{run}")),
                watchers: vec![link.session.clone()],
                ..of(child(run), EventKind::ChildSpawned, ActorType::Agent)
            };
            (event, Some(known_child(kind.as_ref())), false)
        }
        FactKind::RunEnded { run, how } => {
            let (kind, summary, word) = match how {
                RunEnd::Completed => (EventKind::RunCompleted, "child run completed", None),
                RunEnd::Failed => (EventKind::RunFailed, "child run failed", Some("error")),
                RunEnd::Cancelled => {
                    (EventKind::RunFailed, "child run cancelled", Some("cancelled"))
                }
            };
            let event = NewEvent {
                summary: Some(summary.into()),
                run: Some(run.clone()),
                dedupe: Some(format!("run-terminal:{run}")),
                payload: word.map(|word| json!({ "outcome": word })),
                watchers: vec![link.session.clone()],
                ..of(child(run), kind, ActorType::System)
            };
            (event, Some(known_child(None)), true)
        }
    };
    NewFact { record: fact.id.0, event, child, ends }
}

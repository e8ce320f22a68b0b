//! Events: the rows of the journal. Metadata and a one-line summary, never what people or agents wrote.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::clock::Millis;
use crate::session_key::{AgentId, SessionKey};

/// A number of the journal: one global counter over all sessions, never reused. 0 means "before the first event".
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(transparent)]
pub struct Sequence(pub i64);

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What happened to a session (`engine.md` 2.1). An unknown kind is stored as it is and is log-only.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventKind {
    /// A human turn entered the session. Notifies.
    HumanDirectMessage,
    /// The source of an adopted session was missing three times in a row. Notifies.
    UpstreamMissing,
    /// The goal was set, changed or cleared. Notifies.
    GoalChanged,
    /// A child is about to be launched. Seeds the requester's cursor.
    ChildSpawned,
    /// A child's run ended well. Log-only.
    RunCompleted,
    /// A child's run failed, timed out or was cancelled. Log-only.
    RunFailed,
    /// The history was compacted. Log-only.
    Compacted,
    /// A foreign session was adopted. Log-only.
    Adopted,
    /// The session was created. Log-only.
    Created,
    /// A kind that this version does not know. Log-only.
    Other(String),
}

impl EventKind {
    /// The kinds that this version knows.
    pub const KNOWN: [Self; 9] = [
        Self::HumanDirectMessage,
        Self::UpstreamMissing,
        Self::GoalChanged,
        Self::ChildSpawned,
        Self::RunCompleted,
        Self::RunFailed,
        Self::Compacted,
        Self::Adopted,
        Self::Created,
    ];

    /// The kind named `name`; any other name is [`EventKind::Other`].
    pub fn from_name(name: &str) -> Self {
        match name {
            "human_direct_message" => Self::HumanDirectMessage,
            "upstream_missing" => Self::UpstreamMissing,
            "goal_changed" => Self::GoalChanged,
            "child_spawned" => Self::ChildSpawned,
            "run_completed" => Self::RunCompleted,
            "run_failed" => Self::RunFailed,
            "compacted" => Self::Compacted,
            "adopted" => Self::Adopted,
            "created" => Self::Created,
            other => Self::Other(other.to_owned()),
        }
    }

    /// The name as it is stored.
    pub fn as_str(&self) -> &str {
        match self {
            Self::HumanDirectMessage => "human_direct_message",
            Self::UpstreamMissing => "upstream_missing",
            Self::GoalChanged => "goal_changed",
            Self::ChildSpawned => "child_spawned",
            Self::RunCompleted => "run_completed",
            Self::RunFailed => "run_failed",
            Self::Compacted => "compacted",
            Self::Adopted => "adopted",
            Self::Created => "created",
            Self::Other(name) => name,
        }
    }

    /// Whether events of this kind are material to watchers. `run_end_notifies` is the option of the same name.
    pub fn notifies(&self, run_end_notifies: bool) -> bool {
        match self {
            Self::HumanDirectMessage | Self::UpstreamMissing | Self::GoalChanged => true,
            Self::RunCompleted | Self::RunFailed => run_end_notifies,
            _ => false,
        }
    }

    /// The summary of an event that was given none (`decisions.md` 22).
    pub fn standard_summary(&self) -> String {
        match self {
            Self::HumanDirectMessage => "human message via unknown".into(),
            Self::UpstreamMissing => "upstream missing".into(),
            Self::GoalChanged => "goal updated".into(),
            Self::ChildSpawned => "child session spawned".into(),
            Self::RunCompleted => "child run completed".into(),
            Self::RunFailed => "child run failed".into(),
            Self::Compacted => "session compacted".into(),
            Self::Adopted => "adopted".into(),
            Self::Created => "session created".into(),
            Self::Other(name) => name.clone(),
        }
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl JsonSchema for EventKind {
    fn schema_name() -> Cow<'static, str> {
        "EventKind".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        str::json_schema(generator)
    }
}

impl Serialize for EventKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// Who caused an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActorType {
    /// A person.
    Human,
    /// Another session.
    Agent,
    /// The machinery itself.
    System,
    /// A value that this version does not know, as a store holds it.
    Other(String),
}

impl ActorType {
    /// The type named `name`; any other name is [`ActorType::Other`].
    pub fn from_name(name: &str) -> Self {
        match name {
            "human" => Self::Human,
            "agent" => Self::Agent,
            "system" => Self::System,
            other => Self::Other(other.to_owned()),
        }
    }

    /// The name as it is stored.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Human => "human",
            Self::Agent => "agent",
            Self::System => "system",
            Self::Other(name) => name,
        }
    }
}

impl fmt::Display for ActorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl JsonSchema for ActorType {
    fn schema_name() -> Cow<'static, str> {
        "ActorType".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        str::json_schema(generator)
    }
}

impl Serialize for ActorType {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// Where a turn came from, as far as its producer knows (`engine.md` 2.2).
#[derive(Debug, Clone, Default)]
pub struct TurnOrigin<'a> {
    /// The turn is input from another session; its key when known.
    pub inter_session: Option<Option<&'a str>>,
    /// The turn was made by the system, carries internal events or has internal effects only.
    pub internal: bool,
    /// The human's id when known.
    pub human: Option<&'a str>,
}

impl<'a> TurnOrigin<'a> {
    /// The actor of the turn and its id. Input from another session wins over internal marks; a turn about which
    /// nothing is known is a human's.
    pub fn actor(&self) -> (ActorType, Option<&'a str>) {
        if let Some(source) = self.inter_session {
            (ActorType::Agent, source)
        } else if self.internal {
            (ActorType::System, None)
        } else {
            (ActorType::Human, self.human)
        }
    }
}

/// An event as the journal holds it (`engine.md` 1.6).
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Its number.
    pub sequence: Sequence,
    /// The session that changed.
    pub session: SessionKey,
    /// The incarnation of the session, when the producer had it.
    pub session_id: Option<String>,
    /// The owner of the session.
    pub agent: AgentId,
    /// What happened.
    pub kind: EventKind,
    /// Who caused it.
    pub actor_type: ActorType,
    /// Who exactly: a session key for agents, a profile or peer id for humans.
    pub actor: Option<String>,
    /// The run it belongs to.
    pub run: Option<String>,
    /// When it happened, clamped to the 24 hours before it was recorded.
    pub occurred_at: Millis,
    /// One line, without content.
    pub summary: String,
    /// Further facts; only a JSON object is read back.
    pub payload: Option<Value>,
}

/// An event to record.
#[derive(Debug, Clone)]
pub struct NewEvent {
    /// The session that changed.
    pub session: SessionKey,
    /// The owner of the session.
    pub agent: AgentId,
    /// What happened.
    pub kind: EventKind,
    /// Who caused it.
    pub actor_type: ActorType,
    /// Who exactly.
    pub actor: Option<String>,
    /// One line, without content. Nothing is recorded without one.
    pub summary: Option<String>,
    /// The incarnation of the session.
    pub session_id: Option<String>,
    /// The run it belongs to.
    pub run: Option<String>,
    /// Unique over the whole journal: a second event with the same key changes nothing.
    pub dedupe: Option<String>,
    /// Further facts, stored as JSON.
    pub payload: Option<Value>,
    /// When it happened; now when absent.
    pub occurred_at: Option<Millis>,
    /// Watchers that the producer names, in order.
    pub watchers: Vec<SessionKey>,
}

impl NewEvent {
    /// An event with nothing but what it must have.
    pub fn new(
        session: SessionKey,
        agent: AgentId,
        kind: EventKind,
        actor_type: ActorType,
    ) -> Self {
        let summary = Some(kind.standard_summary());
        Self {
            session,
            agent,
            kind,
            actor_type,
            actor: None,
            summary,
            session_id: None,
            run: None,
            dedupe: None,
            payload: None,
            occurred_at: None,
            watchers: Vec::new(),
        }
    }
}

/// The answer to "what changed since": exact, or saying that it can't be (`engine.md` 5).
#[derive(Debug, Clone, PartialEq)]
pub struct Changes {
    /// Events after the version asked for, oldest first, at most the limit.
    pub events: Vec<Event>,
    /// Whether more exist beyond the limit; go on after the last one returned.
    pub truncated: bool,
    /// The lowest retained number of the session; head + 1 when all are gone, 0 when it never had one.
    pub earliest: Sequence,
    /// Whether history between the version asked for and the first event was pruned: refresh everything.
    pub history_gap: bool,
    /// The session's state version, 0 when it never had an event.
    pub version: Sequence,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_119_to_121_actors_are_classified_in_order() {
        assert_eq!(TurnOrigin::default().actor(), (ActorType::Human, None));
        let from_k = TurnOrigin { inter_session: Some(Some("K")), ..TurnOrigin::default() };
        assert_eq!(from_k.actor(), (ActorType::Agent, Some("K")));
        let both = TurnOrigin { internal: true, ..from_k };
        assert_eq!(both.actor(), (ActorType::Agent, Some("K")));
        let internal = TurnOrigin { internal: true, human: Some("p"), ..TurnOrigin::default() };
        assert_eq!(internal.actor(), (ActorType::System, None));
    }

    #[test]
    fn names_of_kinds_round_trip() {
        for kind in EventKind::KNOWN {
            assert_eq!(EventKind::from_name(kind.as_str()), kind);
        }
        assert_eq!(EventKind::from_name("x"), EventKind::Other("x".into()));
    }
}

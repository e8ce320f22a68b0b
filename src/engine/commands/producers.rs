//! Producers: what turns something that happened into an event (`engine.md` 2).

use serde_json::{Value, json};

use super::Address;
use crate::clock::Millis;
use crate::engine::{Engine, EngineError};
use crate::event::{ActorType, EventKind, NewEvent};
use crate::journal::append::{Appended, Gate};
use crate::journal::inbox::GoalChange;
use crate::journal::sessions::SessionFacts;
use crate::session_key::{AgentId, SessionKey};

/// A human turn that entered a session (`engine.md` 2.3).
#[derive(Debug, Clone)]
pub struct DirectMessage {
    /// The session.
    pub session: SessionKey,
    /// Its owner.
    pub agent: AgentId,
    /// Who wrote it.
    pub actor_type: ActorType,
    /// Who exactly.
    pub actor: Option<String>,
    /// By which way it came.
    pub channel: String,
    /// The session's parent: named as a watcher.
    pub parent: Option<SessionKey>,
    /// The run it belongs to.
    pub run: Option<String>,
    /// Unique over the whole journal.
    pub dedupe: Option<String>,
    /// Further facts.
    pub payload: Option<Value>,
    /// When it was written.
    pub occurred_at: Option<Millis>,
}

/// How a child's run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunOutcome {
    /// Well.
    Ok,
    /// With an error.
    Error,
    /// It took too long.
    Timeout,
    /// Somebody stopped it.
    Cancelled,
}

/// What is to become of a goal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GoalAction {
    /// It gets this objective.
    Set(String),
    /// It gets this status.
    Status(String),
    /// It goes.
    Clear,
}

impl Engine {
    /// Records a human turn, if it is a person's and somebody may care: the session has a parent or a watcher.
    pub fn direct_message(&mut self, message: DirectMessage) -> Result<Appended, EngineError> {
        if message.actor_type != ActorType::Human {
            return Ok(Appended::default());
        }
        let channel = message.channel.trim();
        let gate = if message.parent.is_some() { Gate::Open } else { Gate::Watched };
        let event = NewEvent {
            actor: message.actor,
            summary: Some(format!(
                "human message via {}",
                if channel.is_empty() { "unknown" } else { channel }
            )),
            run: message.run,
            dedupe: message.dedupe,
            payload: message.payload,
            occurred_at: message.occurred_at,
            watchers: message.parent.into_iter().collect(),
            ..NewEvent::new(
                message.session,
                message.agent,
                EventKind::HumanDirectMessage,
                ActorType::Human,
            )
        };
        self.record(&event, gate)
    }

    /// Records that `parent` is about to launch `child`, and puts the parent's cursor in step with that.
    pub fn spawn(
        &mut self,
        parent: &Address,
        child: &Address,
        run: &str,
    ) -> Result<Appended, EngineError> {
        self.register(parent, &SessionFacts::default())?;
        self.register(
            child,
            &SessionFacts { parent: Some(parent.0.clone()), ..SessionFacts::default() },
        )?;
        let event = NewEvent {
            actor: Some(parent.0.to_string()),
            run: Some(run.to_owned()),
            dedupe: Some(format!("child-spawned:{run}")),
            watchers: vec![parent.0.clone()],
            ..NewEvent::new(
                child.0.clone(),
                child.1.clone(),
                EventKind::ChildSpawned,
                ActorType::Agent,
            )
        };
        self.record(&event, Gate::Open)
    }

    /// Records how a child's run ended. Whatever ended it first wins. The text says so when nobody announced the run.
    pub fn finish(
        &mut self,
        child: &Address,
        run: &str,
        outcome: RunOutcome,
    ) -> Result<(Appended, Option<String>), EngineError> {
        let (kind, summary, word) = match outcome {
            RunOutcome::Ok => (EventKind::RunCompleted, "child run completed", None),
            RunOutcome::Error => (EventKind::RunFailed, "child run failed", Some("error")),
            RunOutcome::Timeout => (EventKind::RunFailed, "child run timed out", Some("timeout")),
            RunOutcome::Cancelled => {
                (EventKind::RunFailed, "child run cancelled", Some("cancelled"))
            }
        };
        let note = (!self.journal.knows_run(run)?)
            .then(|| format!("no spawn with the run id {run:?} is in the journal"));
        let event = NewEvent {
            summary: Some(summary.into()),
            run: Some(run.to_owned()),
            dedupe: Some(format!("run-terminal:{run}")),
            payload: word.map(|word| json!({ "outcome": word })),
            watchers: self.journal.parent_of(&child.0)?.into_iter().collect(),
            ..NewEvent::new(child.0.clone(), child.1.clone(), kind, ActorType::System)
        };
        let appended = self.record(&event, Gate::Open)?;
        let now = self.now();
        self.journal.end_session(&child.0, now)?;
        Ok((appended, note))
    }

    /// Changes a goal and records that, also when nobody watches. Nothing is recorded when nothing changed.
    pub fn goal(
        &mut self,
        session: &Address,
        action: &GoalAction,
        actor: (ActorType, Option<String>),
    ) -> Result<(GoalChange, Option<Appended>), EngineError> {
        let now = self.now();
        let (key, agent) = session;
        self.register(session, &SessionFacts::default())?;
        let change = match action {
            GoalAction::Set(objective) => self.journal.set_goal(key, agent, objective, now)?,
            GoalAction::Status(status) => self.journal.set_goal_status(key, agent, status, now)?,
            GoalAction::Clear => self.journal.clear_goal(key, agent)?,
        };
        let summary = match (change, action) {
            (GoalChange::Created, _) => "goal created".to_owned(),
            (GoalChange::ObjectiveChanged, _) => "goal objective changed".to_owned(),
            (GoalChange::StatusChanged, GoalAction::Status(status)) => {
                format!("goal status changed to {status}")
            }
            (GoalChange::StatusChanged, _) => "goal status changed".to_owned(),
            (GoalChange::Cleared, _) => "goal cleared".to_owned(),
            (GoalChange::Unchanged | GoalChange::Missing, _) => return Ok((change, None)),
        };
        let event = NewEvent {
            actor: actor.1,
            summary: Some(summary),
            watchers: self.journal.parent_of(key)?.into_iter().collect(),
            ..NewEvent::new(key.clone(), agent.clone(), EventKind::GoalChanged, actor.0)
        };
        Ok((change, Some(self.record(&event, Gate::Open)?)))
    }

    /// Records that a session's history was compacted.
    pub fn compacted(
        &mut self,
        session: &Address,
        operation: &str,
    ) -> Result<Appended, EngineError> {
        self.register(session, &SessionFacts::default())?;
        let event = NewEvent {
            dedupe: Some(format!("compacted:{operation}")),
            ..NewEvent::new(
                session.0.clone(),
                session.1.clone(),
                EventKind::Compacted,
                ActorType::System,
            )
        };
        self.record(&event, Gate::Open)
    }
}

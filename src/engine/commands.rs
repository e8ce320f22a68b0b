//! Commands: what people, scripts and agents ask of the engine. Each is a short transaction of the journal, then notices and
//! wakes (`engine.md` 2, 3, 6, 8).

use serde_json::{Map, Value, json};

use super::queue::Line;
use super::{Discipline, Engine, EngineError};
use crate::event::{ActorType, Changes, Event, EventKind, NewEvent, Sequence};
use crate::journal::append::{Appended, Gate};
use crate::journal::cursors::{Deleted, Registration};
use crate::journal::inbox::{GoalChange, Taken};
use crate::journal::sessions::SessionFacts;
use crate::session_key::{AgentId, SessionKey};
use crate::upstream::echo::{OWN_TEXTS, TextHash};
use crate::watch::Provenance;

/// A session and its owner.
pub type Address = (SessionKey, AgentId);

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
    pub occurred_at: Option<crate::clock::Millis>,
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

/// What a drain took.
#[derive(Debug, Clone, Default)]
pub struct Drained {
    /// The lines.
    pub lines: Vec<Line>,
    /// The targets whose notices were acknowledged.
    pub acknowledged: Vec<SessionKey>,
    /// Those of them on which exactly one more notice opened.
    pub follow_ups: Vec<SessionKey>,
}

/// What a turn takes into its prompt.
#[derive(Debug, Clone, Default)]
pub struct Turn {
    /// The lines: notices first, then messages.
    pub lines: Vec<String>,
    /// The targets whose notices were acknowledged.
    pub acknowledged: Vec<SessionKey>,
    /// Those of them on which exactly one more notice opened, for the next turn.
    pub follow_ups: Vec<SessionKey>,
    /// How many of the lines are messages.
    pub messages: usize,
}

/// What sending did.
#[derive(Debug, Clone)]
pub struct Sent {
    /// The receiver.
    pub delivered_to: SessionKey,
    /// Whether the sender watches the receiver now; absent when that was not asked for.
    pub watched: Option<bool>,
}

impl Engine {
    /// The session and owner that a key names. A bare key takes `agent`, else `main`.
    ///
    /// # Errors
    /// An `agent` that contradicts the key is a usage error.
    pub fn address(&self, key: &str, agent: Option<&str>) -> Result<Address, EngineError> {
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

    /// The session and owner that a key names, if anything knows that session.
    pub fn known_address(&self, key: &str, agent: Option<&str>) -> Result<Address, EngineError> {
        let address = self.address(key, agent)?;
        if self.journal.knows(&address.0)? {
            return Ok(address);
        }
        Err(EngineError::Unknown(format!(
            "no session has the key {key:?}; `tidings sessions` lists them"
        )))
    }

    /// Registers a session as existing.
    pub fn register(&mut self, address: &Address, facts: &SessionFacts) -> Result<(), EngineError> {
        let now = self.now();
        Ok(self.journal.register_session(&address.0, &address.1, facts, now)?)
    }

    /// Records an event. A failure is counted; recording is best effort for producers, so a caller with a turn to run goes on.
    pub fn record(&mut self, event: &NewEvent, gate: Gate) -> Result<Appended, EngineError> {
        let now = self.now();
        let appended = self.journal.append(event, gate, now).inspect_err(|error| {
            self.append_failures += 1;
            tracing::warn!(%error, session = %event.session, kind = %event.kind, "an event was not recorded");
        })?;
        if appended.is_shut_out() {
            return Ok(appended);
        }
        self.deliver(&appended.notices);
        self.prune_if_due();
        self.stay_in_step();
        Ok(appended)
    }

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
        self.stay_in_step();
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
        self.stay_in_step();
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

    /// Delivers a message to a session that is known, and watches it when asked. What the operator sends is a human turn.
    pub fn send(
        &mut self,
        from: &Address,
        to: &Address,
        text: &str,
        watch: bool,
    ) -> Result<Sent, EngineError> {
        let now = self.now();
        self.register(from, &SessionFacts::default())?;
        self.register(to, &SessionFacts::default())?;
        self.journal.send(&from.0, &to.0, text, now)?;
        if from.0 == SessionKey::operator() {
            self.direct_message(DirectMessage {
                session: to.0.clone(),
                agent: to.1.clone(),
                actor_type: ActorType::Human,
                actor: Some(from.0.to_string()),
                channel: "tidings".into(),
                parent: self.journal.parent_of(&to.0)?,
                run: None,
                dedupe: None,
                payload: None,
                occurred_at: None,
            })?;
        }
        let watched =
            (watch && from.0 != to.0).then(|| match self.watch(&from.0, &to.0, Some(&to.1)) {
                Ok(_) => true,
                Err(error) => {
                    tracing::warn!(%error, "the message was delivered, the watch was not made");
                    false
                }
            });
        Ok(Sent { delivered_to: to.0.clone(), watched })
    }

    /// Begins a turn of a session: takes its messages and acknowledges its open notices in one transaction. What it hands out
    /// is remembered as the session's own text. Follow-ups belong to the next turn.
    pub fn turn(&mut self, session: &Address) -> Result<Turn, EngineError> {
        self.register(session, &SessionFacts::default())?;
        let now = self.now();
        let language = self.settings.language;
        let taken = self.journal.take_turn(
            &session.0,
            |taken| own_texts(language, taken),
            OWN_TEXTS,
            now,
        )?;
        let asked: Vec<_> = taken
            .acknowledged
            .iter()
            .filter(|ack| ack.follow_up)
            .map(|ack| ack.cursor.clone())
            .collect();
        self.queues.take(&session.0, None);
        for cursor in &asked {
            self.deliver_cursor(cursor);
        }
        self.stay_in_step();
        Ok(Turn {
            lines: lines(language, &taken),
            acknowledged: taken.acknowledged.iter().map(|ack| ack.cursor.target.clone()).collect(),
            follow_ups: asked.into_iter().map(|cursor| cursor.target).collect(),
            messages: taken.messages.len(),
        })
    }

    /// A turn takes the queue of `watcher`, or those of `only` that still wait, and acknowledges the notices among them, each
    /// target once. Follow-ups come after that, for the next turn.
    pub fn drain(
        &mut self,
        watcher: &SessionKey,
        only: Option<&[u64]>,
    ) -> Result<Drained, EngineError> {
        let lines = self.queues.take(watcher, only);
        let targets: Vec<_> = lines.iter().filter_map(Line::target).collect();
        let acknowledged = self.acknowledge(watcher, &targets)?;
        Ok(Drained { lines, ..acknowledged })
    }

    /// Acknowledges the open notices of `watcher` on `targets`, each once, whatever the queue holds.
    pub fn acknowledge(
        &mut self,
        watcher: &SessionKey,
        targets: &[SessionKey],
    ) -> Result<Drained, EngineError> {
        let now = self.now();
        let acknowledged = self.journal.acknowledge(watcher, targets, now)?;
        let mut drained = Drained::default();
        for ack in acknowledged {
            if ack.follow_up {
                self.deliver_cursor(&ack.cursor);
                drained.follow_ups.push(ack.cursor.target.clone());
            }
            drained.acknowledged.push(ack.cursor.target);
        }
        self.stay_in_step();
        Ok(drained)
    }

    /// The operator has read a session's changes up to `shown`.
    pub fn acknowledge_shown(
        &mut self,
        target: &SessionKey,
        shown: Sequence,
    ) -> Result<bool, EngineError> {
        let now = self.now();
        let acknowledged =
            self.journal.acknowledge_up_to(&SessionKey::operator(), target, shown, now)?;
        self.stay_in_step();
        Ok(acknowledged.is_some())
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
        if deleted.messages > 0
            && let Err(error) = self.journal.forget_taken_bytes()
        {
            tracing::warn!(%error, "the write-ahead log was not emptied; the next checkpoint does it");
        }
        self.stay_in_step();
        Ok(deleted)
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

fn refuse_operator(session: &SessionKey, what: &str) -> Result<(), EngineError> {
    if *session == SessionKey::operator() {
        return Err(EngineError::Refused(format!(
            "{session} is the person at the screen and can't be {what}"
        )));
    }
    Ok(())
}

/// The lines of a turn: notices, then messages.
fn lines(language: super::notices::Language, taken: &Taken) -> Vec<String> {
    let notices = taken
        .notices
        .iter()
        .map(|cursor| super::notices::text(language, &cursor.target, cursor.seen));
    let messages = taken
        .messages
        .iter()
        .map(|message| format!("Message from {}: {}", message.sender, message.body));
    notices.chain(messages).collect()
}

/// The hashes of what a turn puts into its session: each message alone, and everything together as it is printed.
fn own_texts(language: super::notices::Language, taken: &Taken) -> Vec<[u8; 32]> {
    let lines = lines(language, taken);
    let bodies = taken.messages.iter().map(|message| message.body.clone());
    let mut hashes: Vec<_> = bodies
        .chain([lines.join("\n")])
        .filter_map(|text| TextHash::of(&text))
        .map(|hash| hash.0)
        .collect();
    hashes.dedup();
    hashes
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

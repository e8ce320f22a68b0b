//! Playing operations against an engine.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::observation::{changes_json, event_json, line_json, observe};
use super::operation::{Operation, ScriptError, Step};
use crate::clock::ManualClock;
use crate::engine::commands::DirectMessage;
use crate::engine::{Discipline, Engine, EngineError, Settings};
use crate::event::{ActorType, EventKind, NewEvent, Sequence};
use crate::journal::append::Gate;
use crate::journal::changes::PAGE;
use crate::journal::sessions::SessionFacts;
use crate::session_key::{AgentId, SessionKey};
use crate::upstream_link::NewLink;

/// Plays a script on a fresh state in a folder that goes with it.
#[derive(Debug)]
pub struct Player {
    folder: TempDir,
    stores: u32,
    clock: Arc<ManualClock>,
    settings: Settings,
    /// `None` while a restart has closed the store.
    engine: Option<Engine>,
    /// The lines that a `peek` saw, by the name it gave them.
    snapshots: HashMap<String, Vec<u64>>,
    last: Value,
}

impl Player {
    /// A player over an empty state.
    pub fn new(settings: Settings) -> Result<Self, ScriptError> {
        let folder = tempfile::Builder::new()
            .prefix("tidings-script-")
            .tempdir()
            .map_err(|source| ScriptError::Io { place: "a temporary folder".into(), source })?;
        let mut player = Self {
            folder,
            stores: 0,
            clock: Arc::new(ManualClock::default()),
            settings,
            engine: None,
            snapshots: HashMap::new(),
            last: Value::Null,
        };
        player.begin()?;
        Ok(player)
    }

    /// Plays one step and returns what is seen after it; `None` after an `expect` that held. `place` is the file and line.
    pub fn play(&mut self, step: &Step, place: &str) -> Result<Option<Value>, ScriptError> {
        if let Some(at) = step.at {
            self.clock.set(at);
        }
        if let Operation::Expect { path, equals } = &step.operation {
            return self.expect(path, equals, place).map(|()| None);
        }
        let returned = match self.run(&step.operation) {
            Ok(returned) => Some(returned),
            Err(error) => {
                tracing::warn!(%error, place, "an operation failed");
                None
            }
        };
        let engine = self.engine()?;
        let asked = engine.take_asked();
        self.last = observe(engine, returned, &asked)?;
        Ok(Some(self.last.clone()))
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join(format!("state-{}.sqlite", self.stores))
    }

    fn begin(&mut self) -> Result<(), EngineError> {
        self.engine = None;
        self.snapshots.clear();
        self.stores += 1;
        self.open()
    }

    fn open(&mut self) -> Result<(), EngineError> {
        self.engine = Some(Engine::open(
            &self.store(),
            self.clock.clone(),
            self.settings,
            Discipline::Loose,
        )?);
        Ok(())
    }

    fn engine(&mut self) -> Result<&mut Engine, EngineError> {
        if self.engine.is_none() {
            self.open()?;
        }
        self.engine
            .as_mut()
            .ok_or_else(|| EngineError::Refused("the store of the script is closed".into()))
    }

    fn run(&mut self, operation: &Operation) -> Result<Value, EngineError> {
        match operation {
            Operation::Begin {} => {
                self.begin()?;
                Ok(Value::Null)
            }
            Operation::Restart { recover } => self.restart(*recover),
            Operation::Peek { watcher, snapshot } => {
                let lines = self.engine()?.queues().lines(&key(watcher)).to_vec();
                self.snapshots.insert(snapshot.clone(), lines.iter().map(|line| line.id).collect());
                Ok(lines.iter().map(line_json).collect())
            }
            Operation::Drain { watcher, snapshot } => {
                let only = snapshot
                    .as_ref()
                    .map(|name| self.snapshots.get(name).cloned().unwrap_or_default());
                let drained = self.engine()?.drain(&key(watcher), only.as_deref())?;
                Ok(drained.lines.iter().map(line_json).collect())
            }
            Operation::BulkRecord { sessions, agent, kind, actor_type, summary, count, step } => {
                let event = |session: &String| NewEvent {
                    summary: Some(summary.clone()),
                    ..NewEvent::new(
                        key(session),
                        AgentId::verbatim(agent.as_str()),
                        EventKind::from_name(kind),
                        ActorType::from_name(actor_type),
                    )
                };
                let mut last = Value::Null;
                for (i, session) in (0..*count).zip(sessions.iter().cycle()) {
                    if i > 0 {
                        self.clock.advance(*step);
                    }
                    last = recorded(self.engine()?.record(&event(session), Gate::Open));
                }
                Ok(last)
            }
            other => perform(self.engine()?, other),
        }
    }

    /// Closes the store, forgets what a process holds in memory, and opens it again.
    fn restart(&mut self, recover: bool) -> Result<Value, EngineError> {
        self.engine = None;
        self.snapshots.clear();
        let engine = self.engine()?;
        engine.journal_mut().forget_last_prune()?;
        if recover {
            engine.sweep()?;
        }
        Ok(Value::Null)
    }

    fn expect(&self, path: &str, equals: &Value, place: &str) -> Result<(), ScriptError> {
        let found = path.split('.').try_fold(&self.last, |value, part| match value {
            Value::Array(items) => items.get(part.parse::<usize>().ok()?),
            value => value.get(part),
        });
        if found == Some(equals) {
            return Ok(());
        }
        Err(ScriptError::Unexpected {
            place: place.to_owned(),
            path: path.to_owned(),
            wanted: equals.to_string(),
            found: found.map_or_else(|| "nothing there".to_owned(), Value::to_string),
        })
    }
}

fn key(text: &str) -> SessionKey {
    SessionKey::new(text)
}

fn address(session: &str, agent: &str) -> (SessionKey, AgentId) {
    (key(session), AgentId::verbatim(agent))
}

/// What a record call returns: recording is best effort, so a failure is "nothing", not an error.
fn recorded(appended: Result<crate::journal::append::Appended, EngineError>) -> Value {
    appended
        .ok()
        .and_then(|appended| appended.event)
        .map_or(Value::Null, |event| event_json(&event))
}

/// Whether a registration holds; a refusal is "no", a failure of the store an error.
fn held<T>(
    result: Result<T, EngineError>,
    yes: impl FnOnce(T) -> bool,
) -> Result<Value, EngineError> {
    match result {
        Ok(done) => Ok(yes(done).into()),
        Err(EngineError::Refused(_)) => Ok(false.into()),
        Err(error) => Err(error),
    }
}

/// Performs an operation that needs nothing but the engine.
///
/// # Errors
/// The engine fails, or the operation is about the script itself (`begin`, `restart`, `peek`, `drain`, `bulk_record`, `expect`).
pub fn perform(engine: &mut Engine, operation: &Operation) -> Result<Value, EngineError> {
    match operation {
        Operation::SessionPut { session } => {
            let session = key(session);
            let agent = session.agent().unwrap_or_else(AgentId::main);
            engine.register(&(session, agent), &SessionFacts::default())?;
            Ok(true.into())
        }
        Operation::SessionDrop { session } => {
            engine.journal_mut().drop_session(&key(session))?;
            Ok(true.into())
        }
        Operation::Record { .. } | Operation::DirectMessage { .. } => Ok(record(engine, operation)),
        Operation::Watch { watcher, target, target_agent } => {
            let agent = target_agent.as_deref().map(AgentId::verbatim);
            held(engine.watch(&key(watcher), &key(target), agent.as_ref()), |_| true)
        }
        Operation::WatchGroup { session, agent, chat_type, main_key } => held(
            engine.watch_ambient(
                &address(session, agent),
                chat_type.as_deref(),
                main_key.as_deref(),
            ),
            |yes| yes,
        ),
        Operation::Take { watcher } => {
            let taken = engine.take_lines(&key(watcher))?;
            let mut targets: Vec<_> =
                taken.iter().filter_map(crate::engine::queue::Line::target).cloned().collect();
            let mut seen = std::collections::HashSet::new();
            targets.retain(|target| seen.insert(target.clone()));
            Ok(
                json!({ "taken": taken.iter().map(line_json).collect::<Vec<_>>(), "targets": targets }),
            )
        }
        Operation::Ack { watcher, targets } => {
            let targets: Vec<_> = targets.iter().map(|target| key(target)).collect();
            engine.acknowledge(&key(watcher), &targets)?;
            Ok(Value::Null)
        }
        Operation::EnqueueOther { watcher, text, context } => {
            Ok(engine.enqueue_other(&key(watcher), text, context.as_deref())?.into())
        }
        Operation::Reset { session } => {
            engine.reset(&key(session))?;
            Ok(Value::Null)
        }
        Operation::Delete { session, agent } => {
            engine.delete(&key(session), &AgentId::verbatim(agent.as_str()))?;
            Ok(Value::Null)
        }
        Operation::Prune {} => {
            engine.prune()?;
            Ok(Value::Null)
        }
        Operation::Changes { session, agent, after, limit } => {
            let limit = limit.map_or(PAGE, |limit| usize::try_from(limit).unwrap_or(1));
            Ok(changes_json(&engine.changes(&address(session, agent), Sequence(*after), limit)?))
        }
        Operation::Version { session, agent } => {
            Ok(json!(engine.journal().version(&key(session), &AgentId::verbatim(agent.as_str()))?))
        }
        Operation::Watched { target } => Ok(engine.journal().is_watched(&key(target))?.into()),
        Operation::AmbientTargets { watcher } => {
            Ok(json!(engine.journal().ambient_targets(&key(watcher))?))
        }
        other => run_on_links(engine, other),
    }
}

/// The operations on upstream links.
fn run_on_links(engine: &mut Engine, operation: &Operation) -> Result<Value, EngineError> {
    let now = engine.now();
    match operation {
        Operation::LinkPut { session, agent, catalog, host, thread, kind, reference, marker } => {
            let (session, agent) = address(session, agent);
            let link = NewLink {
                session,
                agent,
                catalog: catalog.clone(),
                host: host.clone(),
                thread: thread.clone(),
                kind: kind.clone(),
                reference: reference.clone(),
                marker: marker.clone(),
            };
            engine.journal_mut().put_link(&link, now)?;
            Ok(true.into())
        }
        Operation::LinkMarker { session, agent, marker, expected_updated_at } => {
            let (session, agent) = address(session, agent);
            Ok(engine
                .journal_mut()
                .set_marker(&session, &agent, marker, *expected_updated_at, now)?
                .into())
        }
        Operation::LinkDelete { session, agent } => {
            let (session, agent) = address(session, agent);
            engine.journal_mut().delete_link(&session, &agent)?;
            Ok(Value::Null)
        }
        Operation::LinksWatched {} => links_watched(engine),
        other => Err(EngineError::Refused(format!("{other:?} is not for the engine alone"))),
    }
}

/// The watched links that nobody else's agent shares, by catalog.
fn links_watched(engine: &Engine) -> Result<Value, EngineError> {
    let (links, _) = engine.journal().watched_links()?;
    let mut catalogs: Vec<(String, Vec<SessionKey>)> = Vec::new();
    for link in links {
        match catalogs.last_mut() {
            Some((catalog, sessions)) if *catalog == link.catalog => sessions.push(link.session),
            _ => catalogs.push((link.catalog, vec![link.session])),
        }
    }
    Ok(catalogs
        .iter()
        .map(|(catalog, sessions)| json!({ "catalog": catalog, "sessions": sessions }))
        .collect())
}

/// The two operations that record.
fn record(engine: &mut Engine, operation: &Operation) -> Value {
    match operation.clone() {
        Operation::Record {
            session,
            agent,
            kind,
            actor_type,
            summary,
            actor,
            session_id,
            run,
            dedupe,
            watchers,
            payload,
            occurred_at,
        } => {
            let event = NewEvent {
                session: key(&session),
                agent: AgentId::verbatim(agent),
                kind: EventKind::from_name(&kind),
                actor_type: ActorType::from_name(&actor_type),
                actor,
                summary,
                session_id,
                run,
                dedupe,
                payload,
                occurred_at,
                watchers: watchers.unwrap_or_default().iter().map(|watcher| key(watcher)).collect(),
            };
            recorded(engine.record(&event, Gate::Open))
        }
        Operation::DirectMessage {
            session,
            agent,
            actor_type,
            channel,
            actor,
            parent,
            run,
            dedupe,
            payload,
            occurred_at,
        } => recorded(engine.direct_message(DirectMessage {
            session: key(&session),
            agent: AgentId::verbatim(agent),
            actor_type: ActorType::from_name(&actor_type),
            actor,
            channel,
            parent: parent.map(SessionKey::new),
            run,
            dedupe,
            payload,
            occurred_at,
        })),
        _ => Value::Null,
    }
}

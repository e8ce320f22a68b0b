//! What a script sees after each operation.

use serde_json::{Map, Value, json};

use crate::engine::queue::Line;
use crate::engine::wakes::{Asked, COALESCE};
use crate::engine::{Engine, EngineError};
use crate::event::{Changes, Event};
use crate::upstream_link::UpstreamLink;

/// The whole state after an operation that returned `returned`, with the wakes that it asked for.
pub fn observe(
    engine: &Engine,
    returned: Option<Value>,
    asked: &[Asked],
) -> Result<Value, EngineError> {
    let journal = engine.journal();
    let mut cursors = journal.cursors()?;
    cursors.sort_by(|a, b| (&a.watcher, &a.target).cmp(&(&b.watcher, &b.target)));
    let (rows, min, max) = journal.extent()?;
    let mut observation = Map::new();
    match returned {
        Some(returned) => observation.insert("ret".into(), returned),
        None => observation.insert("error".into(), Value::Bool(true)),
    };
    let cursors: Vec<_> = cursors
        .iter()
        .map(|cursor| {
            json!({
                "watcher": cursor.watcher,
                "target": cursor.target,
                "seen": cursor.seen,
                "notified": cursor.notified,
                "material": cursor.material,
                "origin": cursor.provenance,
                "updated_at": cursor.updated_at,
            })
        })
        .collect();
    let heads: Vec<_> = journal
        .heads()?
        .iter()
        .map(|head| {
            json!({
                "session": head.key,
                "agent": head.agent,
                "last": head.last,
                "pruned": head.pruned,
                "updated_at": head.updated_at,
            })
        })
        .collect();
    let links: Vec<_> = journal.links()?.iter().map(link_json).collect();
    let queues: Map<_, _> = engine
        .queues()
        .sessions()
        .map(|(session, lines)| (session.to_string(), lines.iter().map(line_json).collect()))
        .collect();
    let wakes: Vec<_> = asked
        .iter()
        .map(|asked| json!({ "session": asked.watcher, "reason": asked.reason, "coalesce_ms": COALESCE }))
        .collect();
    observation.insert("cursors".into(), cursors.into());
    observation.insert("heads".into(), heads.into());
    observation.insert("journal".into(), json!({ "rows": rows, "min": min, "max": max }));
    observation.insert("links".into(), links.into());
    observation.insert("queues".into(), queues.into());
    observation.insert("wakes".into(), wakes.into());
    Ok(Value::Object(observation))
}

/// A line of a queue.
pub fn line_json(line: &Line) -> Value {
    json!({ "text": line.text(), "context": line.context() })
}

/// An event.
pub fn event_json(event: &Event) -> Value {
    let mut value = json!({ "seq": event.sequence, "session": event.session });
    put(&mut value, "session_id", event.session_id.as_ref());
    put(&mut value, "agent", Some(&event.agent));
    put(&mut value, "kind", Some(&event.kind));
    put(&mut value, "actor_type", Some(&event.actor_type));
    put(&mut value, "actor", event.actor.as_ref());
    put(&mut value, "run", event.run.as_ref());
    put(&mut value, "at", Some(event.occurred_at));
    put(&mut value, "summary", Some(&event.summary));
    put(&mut value, "payload", event.payload.as_ref());
    value
}

/// An answer to "what changed since".
pub fn changes_json(changes: &Changes) -> Value {
    json!({
        "events": changes.events.iter().map(event_json).collect::<Vec<_>>(),
        "truncated": changes.truncated,
        "earliest": changes.earliest,
        "history_gap": changes.history_gap,
    })
}

fn link_json(link: &UpstreamLink) -> Value {
    json!({
        "session": link.session,
        "agent": link.agent,
        "catalog": link.catalog,
        "host": link.host,
        "thread": link.thread,
        "kind": link.kind,
        "ref": link.reference_json(),
        "marker": link.marker_json(),
        "scanned_at": link.scanned_at,
        "created_at": link.created_at,
        "updated_at": link.updated_at,
    })
}

fn put(value: &mut Value, name: &str, field: Option<impl serde::Serialize>) {
    if let Some(field) = field {
        value[name] = json!(field);
    }
}

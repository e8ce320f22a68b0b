//! `schema`: the JSON Schema of what a verb prints, made from the very types that it prints.

use clap::Args;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::json::{Done, RecordedJson};
use super::output::{Document, Output};
use super::{
    CliError, adopt, alerts, catalog, check, delete, doctor, error, explain, findings, following,
    goal, notices, queue, reset, scan, script, send, sessions, status, tick, turn, unwatch, watch,
    watches,
};
use crate::engine::monitor::LinkOutcome;
use crate::upstream::files::scan::ScanRow;

/// The arguments of `schema`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The verb, or `error` for what any verb prints with --json when it fails
    #[arg(value_name = "VERB", value_parser = VERBS)]
    verb: String,
}

/// The verbs whose JSON has a schema.
const VERBS: [&str; 30] = [
    "adopt",
    "alerts",
    "catalog",
    "check",
    "compacted",
    "delete",
    "doctor",
    "error",
    "explain",
    "findings",
    "finish",
    "follow",
    "goal",
    "notices",
    "queue",
    "record",
    "reset",
    "run",
    "scan",
    "script",
    "send",
    "sessions",
    "spawn",
    "status",
    "tick",
    "turn",
    "unwatch",
    "wait",
    "watch",
    "watches",
];

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<(), CliError> {
    let schema = schema_of(&arguments.verb)
        .ok_or_else(|| CliError::Usage(format!("{} prints no JSON", arguments.verb)))?;
    output.text(&format!("{schema:#}"))
}

/// The schema of a verb's documents, or of its lines where it streams.
fn schema_of(verb: &str) -> Option<Value> {
    Some(match verb {
        "adopt" => of::<Done<adopt::Adoption<'static>>>(),
        "alerts" => of::<alerts::Tested>(),
        "catalog" => of::<catalog::Catalog<'static>>(),
        "check" => of::<check::Checked<'static>>(),
        "compacted" | "finish" | "record" | "spawn" => of::<RecordedJson<'static>>(),
        "delete" => of::<Done<delete::Deleted>>(),
        "doctor" => of::<doctor::Examined<'static>>(),
        "error" => of::<error::Failure<'static>>(),
        "explain" => of::<explain::Explained<'static>>(),
        "findings" => of::<findings::Findings<'static>>(),
        "follow" | "wait" => of::<following::Followed<'static>>(),
        "goal" => either::<RecordedJson<'static>, Done<goal::Unchanged>>(),
        "notices" => of::<notices::Notices<'static>>(),
        "queue" => of::<queue::Queues>(),
        "reset" => of::<Done<reset::Reset>>(),
        "run" => run_line(),
        "scan" => either::<ScanRow, scan::Total<'static>>(),
        "script" => script_line(),
        "send" => of::<Done<send::Sent<'static>>>(),
        "sessions" => of::<sessions::Sessions<'static>>(),
        "status" => of::<status::Status<'static>>(),
        "tick" => of::<tick::Ticked<'static>>(),
        "turn" => of::<turn::TurnJson<'static>>(),
        "unwatch" => of::<Done<unwatch::Removed>>(),
        "watch" => of::<Done<watch::WatchJson>>(),
        "watches" => of::<watches::Watches<'static>>(),
        _ => return None,
    })
}

/// The schema of a document that says a `T`.
fn of<T: JsonSchema>() -> Value {
    settings().into_generator().into_root_schema_for::<Document<T>>().to_value()
}

/// The schema of a document that says one of the two.
fn either<One: JsonSchema, Other: JsonSchema>() -> Value {
    let settings = settings();
    let dialect = settings.meta_schema.clone();
    let mut generator = settings.into_generator();
    let one = generator.subschema_for::<Document<One>>();
    let other = generator.subschema_for::<Document<Other>>();
    let definitions = generator.take_definitions(true);
    json!({ "$schema": dialect, "anyOf": [one, other], "$defs": definitions })
}

/// The schema of a line of `run`. What is decided has many shapes, and each field means the same in all of them.
fn run_line() -> Value {
    let (text, number) = (json!({ "type": "string" }), json!({ "type": "integer" }));
    let named = |names: &[&str], schema: &Value| {
        names.iter().map(|name| ((*name).to_owned(), schema.clone())).collect::<Map<_, _>>()
    };
    let mut fields = named(
        &[
            "event",
            "sessionKey",
            "agentId",
            "kind",
            "actorType",
            "actorId",
            "runId",
            "summary",
            "watcher",
            "target",
            "note",
            "role",
            "message",
        ],
        &text,
    );
    fields.extend(named(
        &[
            "at",
            "sequence",
            "notified",
            "coalesced",
            "watchers",
            "lastSeen",
            "material",
            "ownerProcess",
            "formatVersion",
        ],
        &number,
    ));
    fields.insert("payload".into(), json!({ "type": "object" }));
    let mut generator = settings().into_generator();
    let link = generator.subschema_for::<LinkOutcome>();
    fields.insert("links".into(), json!({ "type": "array", "items": link }));
    json!({
        "$schema": settings().meta_schema,
        "type": "object",
        "properties": fields,
        "required": ["at", "event", "formatVersion"],
        "$defs": generator.take_definitions(true),
    })
}

/// The schema of a line of `script`: what is seen after an operation, or with `--check` what differs. These carry no version: the
/// language of scripts is that of the recorded traces.
fn script_line() -> Value {
    let (text, number, maybe) = (
        json!({ "type": "string" }),
        json!({ "type": "integer" }),
        json!({ "type": ["integer", "null"] }),
    );
    let list = |fields: Value| {
        let required: Vec<_> =
            fields.as_object().into_iter().flatten().map(|(name, _)| name).collect();
        let item = json!({ "type": "object", "properties": fields, "required": required });
        json!({ "type": "array", "items": item })
    };
    let cursors = list(json!({
        "watcher": text, "target": text, "seen": number, "notified": number, "material": number,
        "origin": { "enum": ["explicit", "ambient-group"] }, "updated_at": number,
    }));
    let heads = list(json!({
        "session": text, "agent": text, "last": number, "pruned": number, "updated_at": number,
    }));
    let links = list(json!({
        "session": text, "agent": text, "catalog": text, "host": text, "thread": text, "kind": text,
        "ref": true, "marker": true, "scanned_at": maybe, "created_at": number, "updated_at": number,
    }));
    let wakes = list(json!({ "session": text, "reason": text, "coalesce_ms": number }));
    let queue = list(json!({ "text": text, "context": { "type": ["string", "null"] } }));
    let observation = json!({
        "type": "object",
        "properties": {
            "ret": true,
            "error": { "const": true },
            "cursors": cursors,
            "heads": heads,
            "journal": {
                "type": "object",
                "properties": { "rows": number, "min": maybe, "max": maybe },
                "required": ["rows", "min", "max"],
            },
            "links": links,
            "queues": { "type": "object", "additionalProperties": queue },
            "wakes": wakes,
        },
        "required": ["cursors", "heads", "journal", "links", "queues", "wakes"],
    });
    let mut generator = settings().into_generator();
    let checked = generator.subschema_for::<script::Checked>();
    let definitions = generator.take_definitions(true);
    json!({ "$schema": settings().meta_schema, "anyOf": [observation, checked], "$defs": definitions })
}

fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().for_serialize()
}

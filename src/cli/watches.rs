//! `watches`: who watches whom, and what is owed.

use std::borrow::Cow;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::human::{NOTHING, Table, age};
use super::output::Output;
use super::{CliError, Context};
use crate::clock::Millis;
use crate::engine::snapshot::{Snapshot, WatchRow};
use crate::event::Sequence;
use crate::session_key::SessionKey;
use crate::watch::{Condition, Cursor, PairState, Provenance};

/// The arguments of `watches`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Only those of this session, as watcher or as target
    #[arg(value_name = "KEY")]
    key: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Watches<'a> {
    watches: Vec<Watch<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Watch<'a> {
    watcher: &'a SessionKey,
    target: &'a SessionKey,
    provenance: Provenance,
    last_seen: Sequence,
    notified: Sequence,
    material: Sequence,
    head: Sequence,
    state: PairState,
    updated_at: Millis,
    expires_at: Millis,
    condition: Condition,
    because: String,
}

impl<'a> Watch<'a> {
    fn of(row: &'a WatchRow, now: Millis) -> Self {
        let cursor = &row.cursor;
        Self {
            watcher: &cursor.watcher,
            target: &cursor.target,
            provenance: cursor.provenance,
            last_seen: cursor.seen,
            notified: cursor.notified,
            material: cursor.material,
            head: row.head,
            state: row.state,
            updated_at: cursor.updated_at,
            expires_at: row.expires_at,
            condition: row.condition,
            because: row.because(now),
        }
    }
}

pub(super) fn run(
    arguments: &Arguments,
    context: &Context,
    output: &mut Output,
) -> Result<(), CliError> {
    let mut engine = context.reader()?;
    let only = arguments.key.as_deref().map(|key| context.named(key)).transpose()?;
    let snapshot = engine.snapshot()?;
    let rows: Vec<_> = snapshot
        .watches
        .iter()
        .filter(|row| only.as_ref().is_none_or(|(key, _)| concerns(row, key)))
        .collect();
    let body = Watches { watches: rows.iter().map(|row| Watch::of(row, snapshot.at)).collect() };
    output.show(&body, || text(&rows, &snapshot))
}

/// Whether `key` is one of the two sides of a watch.
pub(super) fn concerns(row: &WatchRow, key: &SessionKey) -> bool {
    row.cursor.watcher == *key || row.cursor.target == *key
}

/// The two sides of a watch, and what its watcher has seen, been told of, and is concerned by.
pub(super) fn pair(cursor: &Cursor) -> [Cow<'_, str>; 5] {
    [
        cursor.watcher.as_str().into(),
        cursor.target.as_str().into(),
        cursor.seen.to_string().into(),
        cursor.notified.to_string().into(),
        cursor.material.to_string().into(),
    ]
}

fn text(rows: &[&WatchRow], snapshot: &Snapshot) -> String {
    let mut table = Table::new([
        "WATCHER",
        "TARGET",
        "SEEN",
        "NOTIFIED",
        "MATERIAL",
        "HEAD",
        "OPEN",
        "CONDITION",
        "BECAUSE",
    ]);
    for row in rows {
        let [watcher, target, seen, notified, material] = pair(&row.cursor);
        table.row([
            watcher,
            target,
            seen,
            notified,
            material,
            row.head.to_string().into(),
            row.pending_since.map_or(NOTHING.into(), |since| age(snapshot.at, since).into()),
            row.condition.as_str().into(),
            row.because(snapshot.at).into(),
        ]);
    }
    table.or("no watches")
}

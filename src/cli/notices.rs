//! `notices`: what was announced and not yet acknowledged.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::human::{Table, age, cell, span};
use super::output::Output;
use super::watches::{concerns, pair};
use super::{CliError, Context};
use crate::clock::Millis;
use crate::engine::snapshot::{NoticeRow, Snapshot, WakeState, WatchRow};
use crate::event::Sequence;
use crate::session_key::SessionKey;

/// The arguments of `notices`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Only those of this session, as watcher or as target
    #[arg(value_name = "KEY")]
    key: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Notices<'a> {
    notices: Vec<Notice<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Notice<'a> {
    watcher: &'a SessionKey,
    target: &'a SessionKey,
    since: Sequence,
    frozen: Sequence,
    material: Sequence,
    text: String,
    /// Absent where no owner runs that could know.
    #[serde(skip_serializing_if = "Option::is_none")]
    queued: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    queued_at: Option<Millis>,
    wake: &'static str,
}

impl<'a> Notice<'a> {
    fn new(notice: &NoticeRow, watch: &'a WatchRow, snapshot: &Snapshot) -> Self {
        let cursor = &watch.cursor;
        Self {
            watcher: &cursor.watcher,
            target: &cursor.target,
            since: cursor.seen,
            frozen: cursor.notified,
            material: cursor.material,
            text: snapshot.text_of(notice),
            queued: notice.queued,
            queued_at: watch.pending_since,
            wake: wake_word(&watch.wake),
        }
    }
}

/// The word for the wake of a watcher.
fn wake_word(wake: &WakeState) -> &'static str {
    match wake {
        WakeState::NotDue => "not-due",
        WakeState::Coalescing(_) => "coalescing",
        WakeState::Fired(_) => "fired",
        WakeState::Skipped(..) => "skipped",
        WakeState::Never => "never",
        WakeState::Unknown => "unknown",
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
        .notices
        .iter()
        .filter_map(|notice| Some((notice, snapshot.watches.get(notice.watch)?)))
        .filter(|(_, watch)| only.as_ref().is_none_or(|(key, _)| concerns(watch, key)))
        .collect();
    let body = Notices {
        notices: rows.iter().map(|(notice, watch)| Notice::new(notice, watch, &snapshot)).collect(),
    };
    output.show(&body, || text(&rows, &snapshot))
}

fn text(rows: &[(&NoticeRow, &WatchRow)], snapshot: &Snapshot) -> String {
    let mut table = Table::new(["WATCHER", "TARGET", "SINCE", "FROZEN", "MATERIAL", "AGE", "WAKE"]);
    for (_, watch) in rows {
        let [watcher, target, seen, notified, material] = pair(&watch.cursor);
        table.row([
            watcher,
            target,
            seen,
            notified,
            material,
            cell(watch.pending_since.map(|since| age(snapshot.at, since))),
            delivery(&watch.wake, snapshot.at).into(),
        ]);
    }
    table.or("no pending notices")
}

fn delivery(wake: &WakeState, now: Millis) -> String {
    match wake {
        WakeState::NotDue => "waits for its next turn".into(),
        WakeState::Coalescing(due) if *due > now => format!("in {}", span(*due - now)),
        WakeState::Coalescing(due) => format!("due {} ago", age(now, *due)),
        WakeState::Fired(at) => format!("woken {} ago, waits for its next turn", age(now, *at)),
        WakeState::Skipped(at, reason) => format!("skipped {} ago: {reason}", age(now, *at)),
        WakeState::Unknown => "unknown; only the other system knows".into(),
        WakeState::Never => "never woken, waits for its next turn".into(),
    }
}

//! `queue`: what waits for each session's next turn, and its wake. Of a message only that it waits.

use std::borrow::Cow;
use std::collections::BTreeMap;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::human::{Table, age, count, span};
use super::output::Output;
use super::{CliError, Context};
use crate::clock::Millis;
use crate::engine::queue::{CAPACITY, Line};
use crate::engine::snapshot::Snapshot;
use crate::journal::owner::StoredWake;
use crate::session_key::SessionKey;

/// The arguments of `queue`.
#[derive(Debug, Args)]
pub struct Arguments {}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Queues {
    queues: Vec<Queue>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Queue {
    session_key: SessionKey,
    #[serde(flatten)]
    waiting: Waiting,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Waiting {
    lines: Vec<QueuedLine>,
    /// Said when the lines are what another system's cursors imply: whether they wait in its queue only it knows.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    implied: bool,
    /// Messages that wait; absent where only another system knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<usize>,
    /// Lines that others pushed out; absent where only another system knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    evicted: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wake: Option<Wake>,
}

impl Waiting {
    /// Nothing, in a queue of which all is known.
    fn nothing() -> Self {
        Self { lines: Vec::new(), implied: false, messages: Some(0), evicted: Some(0), wake: None }
    }

    /// Nothing, in a queue of another system.
    fn implied() -> Self {
        Self { lines: Vec::new(), implied: true, messages: None, evicted: None, wake: None }
    }
}

/// A line without its text: a line that is no notice may hold anything.
#[derive(Debug, Serialize, JsonSchema)]
struct QueuedLine {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<SessionKey>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Wake {
    reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    due_at: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome_reason: Option<String>,
}

impl From<&Line> for QueuedLine {
    fn from(line: &Line) -> Self {
        let target = line.target();
        Self {
            kind: if target.is_some() { "notice" } else { "other" },
            target: target.cloned(),
            context: line.context().map(Cow::into_owned),
        }
    }
}

impl From<StoredWake> for Wake {
    fn from(wake: StoredWake) -> Self {
        let StoredWake { watcher: _, reason, due_at, ended_at, outcome, outcome_reason } = wake;
        Self { reason, due_at, ended_at, outcome, outcome_reason }
    }
}

pub(super) fn run(context: &Context, output: &mut Output) -> Result<(), CliError> {
    let mut reader = context.reader()?;
    let snapshot = reader.snapshot()?;
    let mut queues: BTreeMap<SessionKey, Waiting> = BTreeMap::new();
    match reader.engine() {
        Some(engine) => {
            for (session, lines) in engine.queues().sessions() {
                let waiting = queues.entry(session.clone()).or_insert_with(Waiting::nothing);
                waiting.lines = lines.iter().map(QueuedLine::from).collect();
                waiting.evicted = Some(engine.queues().evicted(session));
            }
        }
        None => imply(&snapshot, &mut queues),
    }
    for row in snapshot.sessions.iter().filter(|row| row.messages > 0) {
        queues.entry(row.key.clone()).or_insert_with(Waiting::nothing).messages =
            Some(row.messages);
    }
    for wake in reader.journal().wakes()? {
        let waiting = queues.entry(wake.watcher.clone()).or_insert_with(Waiting::nothing);
        waiting.wake = Some(wake.into());
    }
    let queues =
        queues.into_iter().map(|(session_key, waiting)| Queue { session_key, waiting }).collect();
    let body = Queues { queues };
    output.show(&body, || text(&body, snapshot.at))
}

/// The lines that another system's cursors imply; whether they wait in its queue only that system knows.
fn imply(snapshot: &Snapshot, queues: &mut BTreeMap<SessionKey, Waiting>) {
    for watch in snapshot.notices.iter().filter_map(|notice| snapshot.watches.get(notice.watch)) {
        let waiting = queues.entry(watch.cursor.watcher.clone()).or_insert_with(Waiting::implied);
        waiting.lines.push(QueuedLine {
            kind: "notice",
            target: Some(watch.cursor.target.clone()),
            context: None,
        });
    }
}

fn text(body: &Queues, now: Millis) -> String {
    let mut table = Table::new(["SESSION", "WAITS", "OTHERS", "MESSAGES", "EVICTED", "WAKE"]);
    for Queue { session_key, waiting } in &body.queues {
        let notices = waiting.lines.iter().filter(|line| line.target.is_some()).count();
        table.row([
            session_key.as_str().into(),
            if waiting.implied {
                format!("{} (implied)", count(notices, "notice")).into()
            } else {
                count(notices, "notice").into()
            },
            if waiting.implied {
                "unknown".into()
            } else {
                format!("{}/{CAPACITY}", waiting.lines.len() - notices).into()
            },
            known(waiting.messages).into(),
            known(waiting.evicted).into(),
            match &waiting.wake {
                Some(wake) => wake_text(wake, now).into(),
                None if waiting.implied => "unknown".into(),
                None => "none".into(),
            },
        ]);
    }
    table.or("nothing waits")
}

fn known(figure: Option<impl ToString>) -> String {
    figure.map_or_else(|| "unknown".into(), |figure| figure.to_string())
}

fn wake_text(wake: &Wake, now: Millis) -> String {
    match (wake.due_at, wake.ended_at, &wake.outcome) {
        (Some(due), ..) if due > now => format!("in {}", span(due - now)),
        (Some(due), ..) => format!("due {} ago", age(now, due)),
        (None, Some(at), Some(outcome)) => {
            let why =
                wake.outcome_reason.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
            format!("{outcome} {} ago{why}", age(now, at))
        }
        _ => "none".into(),
    }
}

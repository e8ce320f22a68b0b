//! `queue`: what waits for each session's next turn, and its wake. Of a message only that it waits.

use std::collections::BTreeMap;

use clap::Args;
use serde::Serialize;

use super::human::{Table, age, count, span};
use super::output::Output;
use super::{CliError, Context};
use crate::clock::Millis;
use crate::engine::queue::{CAPACITY, Line};
use crate::journal::owner::StoredWake;
use crate::session_key::SessionKey;

/// The arguments of `queue`.
#[derive(Debug, Args)]
pub struct Arguments {}

#[derive(Debug, Serialize)]
struct Queues {
    queues: Vec<Queue>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Queue {
    session_key: SessionKey,
    #[serde(flatten)]
    waiting: Waiting,
}

#[derive(Debug, Default, Serialize)]
struct Waiting {
    lines: Vec<QueuedLine>,
    /// Messages that wait.
    messages: usize,
    /// Lines that others pushed out.
    evicted: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    wake: Option<Wake>,
}

/// A line without its text: a line that is no notice may hold anything.
#[derive(Debug, Serialize)]
struct QueuedLine {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<SessionKey>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<String>,
}

#[derive(Debug, Serialize)]
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
            target,
            context: line.context.clone(),
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
    let mut engine = context.reader()?;
    let snapshot = engine.snapshot()?;
    let mut queues: BTreeMap<SessionKey, Waiting> = BTreeMap::new();
    for (session, lines) in engine.queues().sessions() {
        let waiting = queues.entry(session.clone()).or_default();
        waiting.lines = lines.iter().map(QueuedLine::from).collect();
        waiting.evicted = engine.queues().evicted(session);
    }
    for row in snapshot.sessions.iter().filter(|row| row.messages > 0) {
        queues.entry(row.key.clone()).or_default().messages = row.messages;
    }
    for wake in engine.journal().wakes()? {
        let waiting = queues.entry(wake.watcher.clone()).or_default();
        waiting.wake = Some(wake.into());
    }
    let queues =
        queues.into_iter().map(|(session_key, waiting)| Queue { session_key, waiting }).collect();
    let body = Queues { queues };
    output.show(&body, || text(&body, snapshot.at))
}

fn text(body: &Queues, now: Millis) -> String {
    let mut table = Table::new(["SESSION", "WAITS", "OTHERS", "MESSAGES", "EVICTED", "WAKE"]);
    for Queue { session_key, waiting } in &body.queues {
        let notices = waiting.lines.iter().filter(|line| line.target.is_some()).count();
        table.row([
            session_key.as_str().into(),
            count(notices, "notice").into(),
            format!("{}/{CAPACITY}", waiting.lines.len() - notices).into(),
            waiting.messages.to_string().into(),
            waiting.evicted.to_string().into(),
            waiting.wake.as_ref().map_or_else(|| "none".into(), |wake| wake_text(wake, now)).into(),
        ]);
    }
    table.or("nothing waits")
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

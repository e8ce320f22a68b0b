//! `sessions`: one of the two read tools.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::human::{Table, age, cell};
use super::json::EventJson;
use super::output::Output;
use super::{CliError, Context};
use crate::clock::Millis;
use crate::engine::snapshot::{LinkRow, SessionRow, Snapshot};
use crate::event::Sequence;
use crate::session_key::{AgentId, SessionKey};

/// The arguments of `sessions`.
#[derive(Debug, Args)]
pub struct Arguments {}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Sessions<'a> {
    sessions: Vec<SessionJson<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SessionJson<'a> {
    session_key: &'a SessionKey,
    agent_id: &'a AgentId,
    #[serde(skip_serializing_if = "Option::is_none")]
    state_version: Option<Sequence>,
    pruned_through: Sequence,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_event: Option<EventJson<'a>>,
    watchers: usize,
    watching: usize,
    pending_notices: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    upstream: Option<Upstream<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Upstream<'a> {
    catalog_id: &'a str,
    host_id: &'a str,
    thread_id: &'a str,
    outcome: &'a str,
    /// How often in a row the source was missing; absent where only another system knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing_streak: Option<u8>,
    /// When the source was last looked at; absent before the first look.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_scanned_at: Option<Millis>,
    /// More about the outcome, such as why the source can't be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
}

impl<'a> SessionJson<'a> {
    /// `is_attached` says that another system's monitor looks at the sources.
    fn new(row: &'a SessionRow, is_attached: bool) -> Self {
        Self {
            session_key: &row.key,
            agent_id: &row.agent,
            state_version: row.version,
            pruned_through: row.pruned,
            last_event: row.last_event.as_ref().map(EventJson::from),
            watchers: row.watchers,
            watching: row.watching,
            pending_notices: row.pending_notices,
            upstream: row.upstream.as_ref().map(|link| Upstream::new(link, is_attached)),
        }
    }
}

impl<'a> Upstream<'a> {
    fn new(link: &'a LinkRow, is_attached: bool) -> Self {
        Self {
            catalog_id: &link.catalog,
            host_id: &link.host,
            thread_id: &link.thread,
            outcome: &link.outcome,
            missing_streak: (!is_attached).then_some(link.missing_streak),
            last_scanned_at: link.outcome_at.max(link.scanned_at),
            detail: link.detail.as_deref(),
        }
    }
}

pub(super) fn run(context: &Context, output: &mut Output) -> Result<(), CliError> {
    let snapshot = context.reader()?.snapshot()?;
    let json = |row| SessionJson::new(row, snapshot.is_attached());
    let body = Sessions { sessions: snapshot.sessions.iter().map(json).collect() };
    output.show(&body, || text(&snapshot))
}

fn text(snapshot: &Snapshot) -> String {
    let mut table = Table::new([
        "SESSION", "VERSION", "LAST", "AGE", "WATCHERS", "WATCHING", "PENDING", "UPSTREAM", "TITLE",
    ]);
    for row in snapshot.sessions.iter() {
        let last = row.last_event.as_ref();
        // A bare key doesn't say whose it is.
        let key = match row.key.agent() {
            Some(_) => row.key.to_string(),
            None => format!("{} ({})", row.key, row.agent),
        };
        table.row([
            key.into(),
            cell(row.version.map(|version| format!("v{version}"))),
            cell(last.map(|event| &event.kind)),
            cell(last.map(|event| age(snapshot.at, event.occurred_at))),
            row.watchers.to_string().into(),
            row.watching.to_string().into(),
            row.pending_notices.to_string().into(),
            cell(row.upstream.as_ref().map(|link| format!("{} {}", link.catalog, link.outcome))),
            cell(row.title.as_ref()),
        ]);
    }
    table.or("no sessions")
}

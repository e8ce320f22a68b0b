//! The feed: everything that is decided, by whichever process, as a stream.
//!
//! Events and ledger entries are durable and numbered, so the feed is read from them: what another process recorded appears
//! like one's own.

use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::monitor::LinkOutcome;
use super::snapshot::{EventRow, Role};
use super::{Engine, EngineError};
use crate::clock::Millis;
use crate::event::{Event, Sequence};
use crate::journal::ledger::Written;

/// The most rows of either kind that one look at the feed takes.
pub(super) const BATCH: usize = 1_000;

/// Something that happened.
#[derive(Debug, Clone)]
pub enum FeedItem {
    /// An event was recorded.
    Recorded(Box<EventRow>),
    /// Another system recorded an event; whom that notified only it knows.
    Foreign(Box<Event>),
    /// A step of a watch or a notice.
    Step(Written),
    /// What this process is to the database has changed.
    Owner(Role),
    /// A tick ended.
    Tick(Vec<LinkOutcome>),
    /// Something failed: what, on what, and what to do.
    Error(String),
}

/// Where a feed goes. A reader that is too slow loses items, and is told how many.
#[derive(Debug)]
pub(super) struct Outlet {
    out: mpsc::Sender<(Millis, FeedItem)>,
    dropped: u64,
}

impl Outlet {
    pub(super) fn new(out: mpsc::Sender<(Millis, FeedItem)>) -> Self {
        Self { out, dropped: 0 }
    }

    /// Whether nobody reads it any more.
    pub(super) fn is_closed(&self) -> bool {
        self.out.is_closed()
    }

    /// Puts an item into the feed.
    pub(super) fn tell(&mut self, item: FeedItem, now: Millis) {
        if self.dropped > 0 {
            let lost = FeedItem::Error(format!(
                "{} lines were dropped because nobody read them in time",
                self.dropped
            ));
            if self.out.try_send((now, lost)).is_ok() {
                self.dropped = 0;
            }
        }
        if let Err(mpsc::error::TrySendError::Full(_)) = self.out.try_send((now, item)) {
            self.dropped += 1;
        }
    }
}

/// How far somebody has read the feed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Feed {
    sequence: Sequence,
    ledger: i64,
}

impl Engine {
    /// A feed of what happens from now on.
    pub fn feed_from_here(&self) -> Result<Feed, EngineError> {
        let (_, _, max) = self.journal.extent()?;
        Ok(Feed { sequence: max.unwrap_or_default(), ledger: self.journal.ledger_end()? })
    }

    /// What happened since the feed was last read. An event comes before the steps that it caused.
    pub fn read_feed(&self, feed: &mut Feed) -> Result<Vec<FeedItem>, EngineError> {
        let mut items = Vec::new();
        for event in self.journal.events_after(feed.sequence, None, &[], BATCH)? {
            feed.sequence = event.sequence;
            let [notified, coalesced, suppressed] = self.journal.delivery(event.sequence)?;
            items.push(FeedItem::Recorded(Box::new(EventRow {
                event,
                notified,
                coalesced,
                suppressed,
            })));
        }
        for written in self.journal.ledger_after(feed.ledger, BATCH)? {
            feed.ledger = written.id;
            items.push(FeedItem::Step(written));
        }
        Ok(items)
    }
}

impl FeedItem {
    /// The lines of JSON for it, without `formatVersion`. `at` is for items that carry no time of their own.
    pub fn to_json(&self, at: Millis) -> Vec<Value> {
        match self {
            Self::Recorded(row) => recorded_json(row),
            Self::Foreign(event) => vec![event_json(event)],
            Self::Step(written) => vec![step_json(written)],
            Self::Owner(role) => {
                let (role, process) = match role {
                    Role::Owner => ("owner", None),
                    Role::Viewer { owner } => ("viewer", *owner),
                    Role::Visitor => ("visitor", None),
                };
                let mut line = json!({ "at": at, "event": "owner", "role": role });
                put(&mut line, "ownerProcess", process);
                vec![line]
            }
            Self::Tick(outcomes) => {
                vec![json!({ "at": at, "event": "tick", "links": outcomes })]
            }
            Self::Error(message) => vec![json!({ "at": at, "event": "error", "message": message })],
        }
    }
}

fn recorded_json(row: &EventRow) -> Vec<Value> {
    let event = &row.event;
    let mut line = event_json(event);
    put(&mut line, "notified", Some(row.notified));
    put(&mut line, "coalesced", Some(row.coalesced));
    let mut lines = vec![line];
    if row.coalesced > 0 {
        lines.push(json!({
            "at": event.occurred_at,
            "event": "coalesced",
            "target": event.session,
            "sequence": event.sequence,
            "watchers": row.coalesced,
        }));
    }
    lines
}

fn event_json(event: &Event) -> Value {
    let mut line = json!({
        "at": event.occurred_at,
        "event": "recorded",
        "sessionKey": event.session,
        "agentId": event.agent,
        "sequence": event.sequence,
        "kind": event.kind,
        "actorType": event.actor_type,
        "summary": event.summary,
    });
    put(&mut line, "actorId", event.actor.as_ref());
    put(&mut line, "runId", event.run.as_ref());
    put(&mut line, "payload", super::commands::public_payload(event));
    line
}

fn step_json(written: &Written) -> Value {
    let entry = &written.entry;
    let mut line = json!({ "at": written.at, "event": entry.step.as_str() });
    put(&mut line, "watcher", entry.watcher.as_ref());
    put(&mut line, "target", entry.target.as_ref());
    put(&mut line, "sequence", entry.sequence);
    if let Some([seen, notified, material]) = entry.marks {
        put(&mut line, "lastSeen", Some(seen));
        put(&mut line, "notified", Some(notified));
        put(&mut line, "material", Some(material));
    }
    put(&mut line, "note", entry.note.as_ref());
    line
}

/// Puts a field that may be absent.
fn put(line: &mut Value, name: &str, value: Option<impl serde::Serialize>) {
    if let Some(value) = value {
        line[name] = json!(value);
    }
}

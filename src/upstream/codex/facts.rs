//! What the rows of a rollout tell beside human turns: compactions, and how the sub-agents of the thread fare.
//!
//! A sub-agent has a rollout of its own, but its parent's tells when it was started and how it ended, so that one need not be
//! looked for. Rows that were copied when the thread was forked tell nothing new. Nothing that a sub-agent was told or answered
//! is kept.

use std::borrow::Cow;

use serde::de::{IgnoredAny, MapAccess};

use super::name::born;
use super::record::{Item, Payload, Record};
use super::state::State;
use crate::clock::Millis;
use crate::upstream::files::json::time;
use crate::upstream::shape::{Seen, Shape, Text, take};
use crate::upstream::{Fact, FactKind, RecordId, RunEnd};

/// The kind of a message by which the harness tells a thread how one of its sub-agents fares.
const NOTICE: &str = "multi_agent.subagent_notification";

/// How a sub-agent fares: a word, or an object whose one member is named by it.
#[derive(Debug, Default)]
pub(super) struct Status<'de>(Option<Cow<'de, str>>);

/// How each of some sub-agents fares, by the id of its thread.
#[derive(Debug, Default)]
pub(super) struct Statuses<'de>(Vec<(String, Status<'de>)>);

#[derive(Default)]
struct Notice<'de> {
    agent: Text<'de>,
    status: Status<'de>,
}

impl<'de> Shape<'de> for Status<'de> {
    fn text(&mut self, text: Cow<'de, str>) {
        self.0 = Some(text);
    }

    fn member<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        self.0 = Some(Cow::Owned(name.to_owned()));
        map.next_value::<IgnoredAny>().map(drop)
    }
}

impl<'de> Shape<'de> for Statuses<'de> {
    fn member<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        let status = take(map)?;
        self.0.push((name.to_owned(), status));
        Ok(())
    }
}

impl<'de> Shape<'de> for Notice<'de> {
    fn member<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "agent_path" => self.agent = take(map)?,
            "status" => self.status = take(map)?,
            _ => map.next_value::<IgnoredAny>().map(drop)?,
        }
        Ok(())
    }
}

impl Status<'_> {
    /// How the run ended; `None` while it goes on, and for words that nobody has seen yet.
    fn end(&self) -> Option<RunEnd> {
        match self.0.as_deref()? {
            "completed" => Some(RunEnd::Completed),
            "errored" => Some(RunEnd::Failed),
            "interrupted" | "shutdown" => Some(RunEnd::Cancelled),
            _ => None,
        }
    }
}

/// What `record` tells; `state` is that after it.
pub(super) fn told(record: &Record<'_>, state: &State) -> Vec<Fact> {
    let payload = &record.payload;
    let Some(at) = time(&record.timestamp) else { return Vec::new() };
    match record.kind.as_str() {
        Some("compacted") if !state.is_replay(None, Some(at)) => compacted(payload, state, at),
        Some("event_msg")
            if payload.kind.is("item_completed")
                && payload.item.kind.is("CollabAgentToolCall")
                && !state.is_replay(payload.turn_id.as_str(), Some(at)) =>
        {
            of_call(&payload.item, at)
        }
        Some("response_item")
            if payload.marks.kinds.0.iter().any(|kind| kind == NOTICE)
                && !state.is_replay(payload.marks.turn_id.as_str(), Some(at)) =>
        {
            payload.content.texts.iter().filter_map(|text| of_notice(text, at)).collect()
        }
        _ => Vec::new(),
    }
}

/// A compaction is named by the window of context that it opens; before those were named, by its thread and time.
fn compacted(payload: &Payload<'_>, state: &State, at: Millis) -> Vec<Fact> {
    let thread = || Some(format!("{}:{at}", state.thread.as_ref()?.id.as_deref()?));
    let operation = payload.window_id.as_str().map(str::to_owned).or_else(thread);
    let fact = |operation| Fact {
        id: RecordId::of(&format!("compacted:{operation}")),
        at,
        what: FactKind::Compacted { operation },
    };
    operation.map(fact).into_iter().collect()
}

/// A call that started sub-agents, or waited for some, or closed one.
fn of_call(item: &Item<'_>, at: Millis) -> Vec<Fact> {
    let mut facts = Vec::new();
    if item.tool.is("spawn_agent") {
        facts.extend(item.receivers.0.iter().filter(|id| born(id).is_some()).map(|id| Fact {
            id: RecordId::of(&format!("child-spawned:{id}")),
            at,
            what: FactKind::ChildSpawned {
                run: id.clone().into_owned(),
                kind: item.agents.role_of(id),
            },
        }));
    }
    facts.extend(item.states.0.iter().filter_map(|(id, status)| ended(id, status, at)));
    facts
}

fn of_notice(text: &str, at: Millis) -> Option<Fact> {
    let json = text.trim().strip_prefix("<subagent_notification>")?;
    let json = json.strip_suffix("</subagent_notification>")?;
    let Seen(notice) = serde_json::from_str::<Seen<Notice<'_>>>(json).ok()?;
    ended(notice.agent.as_str()?, &notice.status, at)
}

fn ended(id: &str, status: &Status<'_>, at: Millis) -> Option<Fact> {
    born(id)?;
    Some(Fact {
        id: RecordId::of(&format!("run-terminal:{id}")),
        at,
        what: FactKind::RunEnded { run: id.to_owned(), how: status.end()? },
    })
}

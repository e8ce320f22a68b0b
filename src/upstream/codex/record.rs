//! What is taken from one row of a rollout: the marks, and of the words only what the echo test needs.

use std::borrow::Cow;

use serde::de::{IgnoredAny, MapAccess, SeqAccess};

use super::facts::Statuses;
use crate::upstream::shape::{Seen, Shape, Text, take};

/// How much of a sub-agent's role or name is kept, in characters.
const LONGEST_ROLE: usize = 200;

/// One row, at any version. Members that a version does not write are empty.
#[derive(Default)]
pub(super) struct Record<'de> {
    pub(super) kind: Text<'de>,
    pub(super) timestamp: Text<'de>,
    pub(super) payload: Payload<'de>,
    /// The flat format of 2025 has no envelope: these stand where `payload` would.
    pub(super) id: Text<'de>,
    pub(super) role: Text<'de>,
    pub(super) content: Content<'de>,
}

/// What a row's envelope holds, whatever its type.
#[derive(Default)]
pub(super) struct Payload<'de> {
    pub(super) kind: Text<'de>,
    pub(super) id: Text<'de>,
    pub(super) turn_id: Text<'de>,
    pub(super) source: Source<'de>,
    pub(super) thread_source: Text<'de>,
    pub(super) parent_thread: Text<'de>,
    pub(super) forked_from: Text<'de>,
    pub(super) cwd: Text<'de>,
    pub(super) version: Text<'de>,
    originator: Text<'de>,
    pub(super) attribution: Attribution<'de>,
    pub(super) item: Item<'de>,
    pub(super) role: Text<'de>,
    pub(super) content: Content<'de>,
    pub(super) marks: Marks<'de>,
    pub(super) message: Text<'de>,
    /// In events of 2025: whether the message is plain, or instructions or context in the place of one.
    pub(super) flavour: Text<'de>,
    /// In a compaction: the window of context that it opens.
    pub(super) window_id: Text<'de>,
}

impl Payload<'_> {
    /// By which program a thread began: the one that says so of itself, or in versions without that, the source.
    pub(super) fn entry_point(&self) -> Option<&str> {
        self.originator.as_str().or_else(|| self.source.word.as_str())
    }
}

/// The `source` of a thread: a word, or an object for threads that a program started.
#[derive(Default)]
pub(super) struct Source<'de> {
    pub(super) word: Text<'de>,
    pub(super) is_program: bool,
}

/// Who started a turn.
#[derive(Default)]
pub(super) struct Attribution<'de> {
    pub(super) is_there: bool,
    pub(super) trigger: Text<'de>,
}

/// The `item` of an `item_completed` event.
#[derive(Default)]
pub(super) struct Item<'de> {
    pub(super) kind: Text<'de>,
    pub(super) id: Text<'de>,
    pub(super) client_id: Text<'de>,
    pub(super) content: Content<'de>,
    pub(super) text: Text<'de>,
    /// Of a call about sub-agents: what was asked, of whom, and how those fare.
    pub(super) tool: Text<'de>,
    pub(super) receivers: Words<'de>,
    pub(super) agents: Agents<'de>,
    pub(super) states: Statuses<'de>,
}

/// The sub-agents that a call was about.
#[derive(Default)]
pub(super) struct Agents<'de>(Vec<Agent<'de>>);

#[derive(Default)]
struct Agent<'de> {
    thread: Text<'de>,
    role: Text<'de>,
    nickname: Text<'de>,
}

/// What the harness says about the parts of a message to the model.
#[derive(Default)]
pub(super) struct Marks<'de> {
    pub(super) turn_id: Text<'de>,
    /// The kinds of the message's parts.
    pub(super) kinds: Words<'de>,
}

/// A list of words.
#[derive(Default)]
pub(super) struct Words<'de>(pub(super) Vec<Cow<'de, str>>);

/// The texts of a message's parts.
#[derive(Default)]
pub(super) struct Content<'de> {
    pub(super) is_list: bool,
    pub(super) texts: Vec<Cow<'de, str>>,
}

#[derive(Default)]
struct Part<'de> {
    text: Text<'de>,
}

impl<'de> Shape<'de> for Record<'de> {
    fn member<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "type" => self.kind = take(map)?,
            "timestamp" => self.timestamp = take(map)?,
            "payload" => self.payload = take(map)?,
            "id" => self.id = take(map)?,
            "role" => self.role = take(map)?,
            "content" => self.content = take(map)?,
            _ => map.next_value::<IgnoredAny>().map(drop)?,
        }
        Ok(())
    }
}

impl<'de> Shape<'de> for Payload<'de> {
    fn member<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "type" => self.kind = take(map)?,
            "id" => self.id = take(map)?,
            "turn_id" => self.turn_id = take(map)?,
            "source" => self.source = take(map)?,
            "thread_source" => self.thread_source = take(map)?,
            "parent_thread_id" => self.parent_thread = take(map)?,
            "forked_from_id" => self.forked_from = take(map)?,
            "cwd" => self.cwd = take(map)?,
            "cli_version" => self.version = take(map)?,
            "originator" => self.originator = take(map)?,
            "turn_attribution" => self.attribution = take(map)?,
            "item" => self.item = take(map)?,
            "role" => self.role = take(map)?,
            "content" => self.content = take(map)?,
            "internal_chat_message_metadata_passthrough" => self.marks = take(map)?,
            "message" => self.message = take(map)?,
            "kind" => self.flavour = take(map)?,
            "window_id" => self.window_id = take(map)?,
            _ => map.next_value::<IgnoredAny>().map(drop)?,
        }
        Ok(())
    }
}

impl<'de> Shape<'de> for Source<'de> {
    fn text(&mut self, text: Cow<'de, str>) {
        self.word = Text(Some(text));
    }

    fn member<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        self.is_program |= matches!(name, "subagent" | "sub_agent" | "subAgent" | "internal");
        map.next_value::<IgnoredAny>().map(drop)
    }
}

impl<'de> Shape<'de> for Attribution<'de> {
    fn present(&mut self) {
        self.is_there = true;
    }

    fn member<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "turn_trigger" => self.trigger = take(map)?,
            _ => map.next_value::<IgnoredAny>().map(drop)?,
        }
        Ok(())
    }
}

impl<'de> Shape<'de> for Item<'de> {
    fn member<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "type" => self.kind = take(map)?,
            "id" => self.id = take(map)?,
            "client_id" => self.client_id = take(map)?,
            "content" => self.content = take(map)?,
            "text" => self.text = take(map)?,
            "tool" => self.tool = take(map)?,
            "receiver_thread_ids" => self.receivers = take(map)?,
            "receiver_agents" => self.agents = take(map)?,
            "agents_states" => self.states = take(map)?,
            _ => map.next_value::<IgnoredAny>().map(drop)?,
        }
        Ok(())
    }
}

impl Agents<'_> {
    /// What the sub-agent of `thread` is called: its role, or the name that the harness gave it.
    pub(super) fn role_of(&self, thread: &str) -> Option<String> {
        let agent = self.0.iter().find(|agent| agent.thread.is(thread))?;
        let called = agent.role.as_str().or(agent.nickname.as_str())?;
        Some(called.chars().take(LONGEST_ROLE).collect())
    }
}

impl<'de> Shape<'de> for Agents<'de> {
    fn list<A: SeqAccess<'de>>(&mut self, mut list: A) -> Result<(), A::Error> {
        while let Some(Seen(agent)) = list.next_element::<Seen<Agent<'de>>>()? {
            self.0.push(agent);
        }
        Ok(())
    }
}

impl<'de> Shape<'de> for Agent<'de> {
    fn member<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "thread_id" => self.thread = take(map)?,
            "agent_role" => self.role = take(map)?,
            "agent_nickname" => self.nickname = take(map)?,
            _ => map.next_value::<IgnoredAny>().map(drop)?,
        }
        Ok(())
    }
}

impl<'de> Shape<'de> for Marks<'de> {
    fn member<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "turn_id" => self.turn_id = take(map)?,
            "content_item_kinds" => self.kinds = take(map)?,
            _ => map.next_value::<IgnoredAny>().map(drop)?,
        }
        Ok(())
    }
}

impl<'de> Shape<'de> for Words<'de> {
    fn list<A: SeqAccess<'de>>(&mut self, mut list: A) -> Result<(), A::Error> {
        while let Some(Seen(Text(word))) = list.next_element::<Seen<Text<'de>>>()? {
            self.0.extend(word);
        }
        Ok(())
    }
}

impl<'de> Shape<'de> for Content<'de> {
    fn text(&mut self, text: Cow<'de, str>) {
        self.texts.push(text);
    }

    fn list<A: SeqAccess<'de>>(&mut self, mut list: A) -> Result<(), A::Error> {
        self.is_list = true;
        while let Some(Seen(part)) = list.next_element::<Seen<Part<'de>>>()? {
            self.texts.extend(part.text.0);
        }
        Ok(())
    }
}

impl<'de> Shape<'de> for Part<'de> {
    fn member<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "text" => self.text = take(map)?,
            _ => map.next_value::<IgnoredAny>().map(drop)?,
        }
        Ok(())
    }
}

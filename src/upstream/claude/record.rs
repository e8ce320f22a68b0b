//! What is taken from one record of a Claude Code transcript: the marks, and of the words only what decides.

use std::borrow::Cow;

use serde::de::{IgnoredAny, MapAccess, SeqAccess};

use crate::upstream::shape::{Flag, Present, Seen, Shape, Text, take};

/// One record, at any version. Members that a version does not write are empty.
#[derive(Default)]
pub(super) struct Record<'de> {
    pub(super) kind: Text<'de>,
    pub(super) uuid: Text<'de>,
    pub(super) timestamp: Text<'de>,
    pub(super) message: Message<'de>,
    pub(super) attachment: Attachment<'de>,
    pub(super) origin: Origin<'de>,
    pub(super) prompt_source: Text<'de>,
    pub(super) row_source: Text<'de>,
    pub(super) turn_origin: Text<'de>,
    pub(super) entrypoint: Text<'de>,
    pub(super) is_meta: Flag,
    pub(super) is_sidechain: Flag,
    pub(super) is_compact_summary: Flag,
    pub(super) is_transcript_only: Flag,
    pub(super) forked_from: Present,
    pub(super) tool_use_result: Present,
    pub(super) source_tool_use: Present,
    pub(super) interrupted_message: Present,
    pub(super) operation: Text<'de>,
    pub(super) reason: Text<'de>,
    pub(super) content: Words<'de>,
    pub(super) command_uuid: Text<'de>,
    pub(super) delivery_id: Text<'de>,
}

/// The `message` of a user or assistant record.
#[derive(Default)]
pub(super) struct Message<'de> {
    pub(super) role: Text<'de>,
    pub(super) content: Words<'de>,
    pub(super) stop_reason: Text<'de>,
}

/// The `attachment` of an attachment record.
#[derive(Default)]
pub(super) struct Attachment<'de> {
    pub(super) kind: Text<'de>,
    pub(super) command_mode: Text<'de>,
    pub(super) origin: Origin<'de>,
    pub(super) is_meta: Flag,
    pub(super) timestamp: Text<'de>,
    pub(super) prompt: Words<'de>,
    pub(super) source_uuid: Text<'de>,
    pub(super) delivery_id: Text<'de>,
}

/// Who the harness says wrote a record.
#[derive(Default)]
pub(super) struct Origin<'de> {
    pub(super) is_there: bool,
    pub(super) kind: Text<'de>,
}

/// Message content: a string, or a list of blocks.
#[derive(Default)]
pub(super) struct Words<'de> {
    /// Whether it is a string or a list at all.
    pub(super) is_content: bool,
    /// Whether a block is a tool's result.
    pub(super) has_tool_result: bool,
    /// Whether a block is neither words nor a tool's result: an image, a document.
    pub(super) has_attached: bool,
    /// The first words that are not context put in by an editor or the harness.
    pub(super) first: Option<Cow<'de, str>>,
}

#[derive(Default)]
struct Block<'de> {
    kind: Text<'de>,
    text: Text<'de>,
}

impl<'de> Shape<'de> for Record<'de> {
    fn member<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "type" => self.kind = take(map)?,
            "uuid" => self.uuid = take(map)?,
            "timestamp" => self.timestamp = take(map)?,
            "message" => self.message = take(map)?,
            "attachment" => self.attachment = take(map)?,
            "origin" => self.origin = take(map)?,
            "promptSource" => self.prompt_source = take(map)?,
            "rowSource" => self.row_source = take(map)?,
            "turnOrigin" => self.turn_origin = take(map)?,
            "entrypoint" => self.entrypoint = take(map)?,
            "isMeta" => self.is_meta = take(map)?,
            "isSidechain" => self.is_sidechain = take(map)?,
            "isCompactSummary" => self.is_compact_summary = take(map)?,
            "isVisibleInTranscriptOnly" => self.is_transcript_only = take(map)?,
            "forkedFrom" => self.forked_from = take(map)?,
            "toolUseResult" => self.tool_use_result = take(map)?,
            "sourceToolUseID" | "sourceToolAssistantUUID" => self.source_tool_use = take(map)?,
            "interruptedMessageId" => self.interrupted_message = take(map)?,
            "operation" => self.operation = take(map)?,
            "reason" => self.reason = take(map)?,
            "content" => self.content = take(map)?,
            "commandUuid" => self.command_uuid = take(map)?,
            "deliveryId" => self.delivery_id = take(map)?,
            _ => map.next_value::<IgnoredAny>().map(drop)?,
        }
        Ok(())
    }
}

impl<'de> Shape<'de> for Message<'de> {
    fn member<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "role" => self.role = take(map)?,
            "content" => self.content = take(map)?,
            "stop_reason" => self.stop_reason = take(map)?,
            _ => map.next_value::<IgnoredAny>().map(drop)?,
        }
        Ok(())
    }
}

impl<'de> Shape<'de> for Attachment<'de> {
    fn member<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "type" => self.kind = take(map)?,
            "commandMode" => self.command_mode = take(map)?,
            "origin" => self.origin = take(map)?,
            "isMeta" => self.is_meta = take(map)?,
            "timestamp" => self.timestamp = take(map)?,
            "prompt" => self.prompt = take(map)?,
            "source_uuid" => self.source_uuid = take(map)?,
            "delivery_id" => self.delivery_id = take(map)?,
            _ => map.next_value::<IgnoredAny>().map(drop)?,
        }
        Ok(())
    }
}

impl<'de> Shape<'de> for Origin<'de> {
    fn present(&mut self) {
        self.is_there = true;
    }

    fn member<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "kind" => self.kind = take(map)?,
            _ => map.next_value::<IgnoredAny>().map(drop)?,
        }
        Ok(())
    }
}

impl<'de> Shape<'de> for Words<'de> {
    fn text(&mut self, text: Cow<'de, str>) {
        self.is_content = true;
        self.offer(text);
    }

    fn list<A: SeqAccess<'de>>(&mut self, mut list: A) -> Result<(), A::Error> {
        self.is_content = true;
        while let Some(Seen(block)) = list.next_element::<Seen<Block<'de>>>()? {
            match block.kind.as_str() {
                Some("text") => block.text.0.into_iter().for_each(|text| self.offer(text)),
                Some("tool_result") => self.has_tool_result = true,
                _ => self.has_attached = true,
            }
        }
        Ok(())
    }
}

impl<'de> Words<'de> {
    fn offer(&mut self, text: Cow<'de, str>) {
        if self.first.is_some() {
            return;
        }
        let context = text.len() - without_context(&text).len();
        if context == 0 {
            self.first = Some(text);
        } else if context < text.len() {
            self.first = Some(match text {
                Cow::Borrowed(text) => Cow::Borrowed(&text[context..]),
                Cow::Owned(mut text) => {
                    text.drain(..context);
                    Cow::Owned(text)
                }
            });
        }
    }
}

impl<'de> Shape<'de> for Block<'de> {
    fn member<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "type" => self.kind = take(map)?,
            "text" => self.text = take(map)?,
            _ => map.next_value::<IgnoredAny>().map(drop)?,
        }
        Ok(())
    }
}

/// `text` behind the context blocks that it begins with: what an editor has open or selected, what hooks
/// said, and the harness's reminders. They stand before typed words, in a block of their own or in one string with them, and a row must not be
/// dropped for them (`transcripts.md` 2.5). A text without such a block is given back whole.
fn without_context(text: &str) -> &str {
    let mut rest = text;
    loop {
        let trimmed = rest.trim_start();
        let Some((name, body)) = trimmed.strip_prefix('<').and_then(|tag| tag.split_once('>'))
        else {
            return rest;
        };
        let is_context = name.starts_with("ide_")
            || matches!(name, "system-reminder" | "user-prompt-submit-hook" | "session-start-hook");
        if !is_context {
            return rest;
        }
        let end = format!("</{name}>");
        rest = body.split_once(end.as_str()).map_or("", |(_, behind)| behind);
        if rest.trim().is_empty() {
            return "";
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn context_before_typed_words_is_cut_off() {
        for (given, want) in [
            ("plain", "plain"),
            ("", ""),
            (" \n", " \n"),
            ("<ide_opened_file>x</ide_opened_file>", ""),
            ("<ide_opened_file>x</ide_opened_file>\n", ""),
            ("<ide_selection>a<b>c</ide_selection>why?", "why?"),
            ("<ide_opened_file>x</ide_opened_file>\n<system-reminder>y</system-reminder>go", "go"),
            ("<ide_opened_file>never closed", ""),
            ("<idea>fine</idea>", "<idea>fine</idea>"),
            ("a <ide_selection>b</ide_selection>", "a <ide_selection>b</ide_selection>"),
        ] {
            assert_eq!(without_context(given), want, "{given:?}");
        }
    }
}

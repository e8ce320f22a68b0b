//! Decides for one row of a rollout whether a person wrote it, and says why.
//!
//! Three forms tell of one message: an item (now), an event (before), and the input of the model, which both have beside them
//! and some builds have alone. Two forms in one turn are one message (`transcripts.md` 3.2, `observed.md` 1).

use super::name::born;
use super::record::{Content, Payload, Record};
use super::state::{State, Thread, Trigger, Turn};
use crate::clock::Millis;
use crate::upstream::RecordId;
use crate::upstream::echo::TextHash;
use crate::upstream::files::json::time;
use crate::upstream::files::row::{Reason, Row, Verdict, Words};

/// What one row is, and what it says about rows that wait.
#[derive(Debug)]
pub(super) struct Step {
    /// The row. While it waits, it is what it will be if it comes to count.
    pub(super) row: Row,
    /// Whether it is not decided yet: it counts when its turn ends without another form of it.
    pub(super) waits: bool,
    /// Decides the rows that wait: whether they count.
    pub(super) settles: Option<bool>,
}

impl From<Row> for Step {
    fn from(row: Row) -> Self {
        Self { row, waits: false, settles: None }
    }
}

fn other(reason: Reason) -> Step {
    Row::other(reason).into()
}

/// A message, found to be a person's or not.
struct Message {
    judgement: Result<Reason, Reason>,
    settles: Option<bool>,
}

impl Message {
    fn not(reason: Reason) -> Self {
        Self { judgement: Err(reason), settles: None }
    }

    fn step(self, id: Option<RecordId>, at: Option<Millis>, texts: &[&str]) -> Step {
        let row = match self.judgement {
            Ok(reason) => Row { verdict: Verdict::Human, reason, id, at, words: words(texts) },
            Err(reason) => Row::other(reason),
        };
        Step { row, waits: false, settles: self.settles }
    }
}

impl State {
    /// Takes the next row.
    pub(super) fn step(&mut self, record: &Record<'_>) -> Step {
        let payload = &record.payload;
        let at = time(&record.timestamp);
        match record.kind.as_str() {
            Some("session_meta") => {
                self.thread.get_or_insert_with(|| Thread::of(payload, at));
                other(Reason::NotAUserRow)
            }
            Some("event_msg") => self.event(payload, at),
            Some("response_item") => self.response_item(payload, at),
            Some("turn_context") => {
                self.context(payload);
                other(Reason::NotAUserRow)
            }
            Some("compacted") => other(Reason::CompactSummary),
            Some("message") if record.role.is("user") && record.content.is_list => {
                self.flat_message(&record.content)
            }
            None if self.thread.is_none() && record.id.0.is_some() => {
                let id = record.id.as_str().map(str::to_owned);
                self.thread = Some(Thread { id, ..Thread::default() });
                other(Reason::NotAUserRow)
            }
            _ => other(Reason::NotAUserRow),
        }
    }

    fn event(&mut self, payload: &Payload<'_>, at: Option<Millis>) -> Step {
        match payload.kind.as_str() {
            Some("task_started" | "turn_started") => {
                let trigger =
                    match (payload.attribution.is_there, payload.attribution.trigger.as_str()) {
                        (false, _) => Trigger::Unsaid,
                        (true, Some("exec")) => Trigger::Exec,
                        (true, Some("queue")) => Trigger::Queue,
                        (true, _) => Trigger::Other,
                    };
                self.turn = Some(Turn::begun(payload.turn_id.as_str(), trigger, true));
                Step { settles: Some(true), ..other(Reason::NotAUserRow) }
            }
            Some("task_complete" | "turn_complete" | "turn_aborted") => {
                let ends = self.turn_of(payload.turn_id.as_str()).is_some();
                Step { settles: ends.then_some(true), ..other(Reason::NotAUserRow) }
            }
            Some("item_completed") if payload.item.kind.is("UserMessage") => self.item(payload, at),
            Some("user_message") => self.user_message(payload, at),
            _ => other(Reason::NotAUserRow),
        }
    }

    /// Versions that don't say when a turn begins name it in the context of its first request.
    fn context(&mut self, payload: &Payload<'_>) {
        let id = payload.turn_id.as_str();
        let is_known =
            self.turn.as_ref().is_some_and(|turn| turn.started || turn.id.as_deref() == id);
        if !is_known && id.is_some() {
            self.turn = Some(Turn::begun(id, Trigger::Unsaid, false));
        }
    }

    fn item(&mut self, payload: &Payload<'_>, at: Option<Millis>) -> Step {
        let item = &payload.item;
        let turn = payload.turn_id.as_str();
        let mut message = self.message(turn, at, |turn| &mut turn.items);
        if self.partial && self.turn_of(turn).is_none() && message.judgement.is_ok() {
            // Nobody knows what began its turn. A typed message names its client by a random id, a queued one by one that
            // has its time in it, and the messages of programs name none.
            message.judgement = match item.client_id.as_str() {
                Some(client) if born(client).is_none() => Ok(Reason::Prompt),
                Some(_) => Err(Reason::QueueCommand),
                None => Err(Reason::Exec),
            };
        }
        let mut texts: Vec<&str> = item.content.texts.iter().map(AsRef::as_ref).collect();
        if texts.iter().all(|text| text.trim().is_empty()) {
            texts = item.text.as_str().into_iter().collect();
        }
        message.step(item.id.as_str().map(RecordId::of), at, &texts)
    }

    fn user_message(&mut self, payload: &Payload<'_>, at: Option<Millis>) -> Step {
        if payload.flavour.as_str().is_some_and(|flavour| flavour != "plain") {
            return other(Reason::ContextOnly);
        }
        let message = self.message(None, at, |turn| &mut turn.events);
        let texts: Vec<&str> = payload.message.as_str().into_iter().collect();
        message.step(self.event_id(at), at, &texts)
    }

    /// Events have no id of their own: the turn and the place in it make one, or else the time.
    fn event_id(&self, at: Option<Millis>) -> Option<RecordId> {
        let thread = self.thread.as_ref()?.id.as_deref()?;
        let turn = self.turn.as_ref().and_then(|turn| Some((turn.id.as_deref()?, turn.events)));
        match (turn, at) {
            (Some((turn, number)), _) => Some(RecordId::of(&format!("{thread}\n{turn}\n{number}"))),
            (None, Some(at)) => Some(RecordId::of(&format!("{thread}\n{at}"))),
            (None, None) => None,
        }
    }

    /// Judges a message that is told of by an item or an event, and counts it in the form that `count` names.
    fn message(
        &mut self,
        turn: Option<&str>,
        at: Option<Millis>,
        count: impl FnOnce(&mut Turn) -> &mut u32,
    ) -> Message {
        if self.is_agent() {
            return Message::not(Reason::Sidechain);
        }
        let is_replay = self.is_replay(turn, at);
        let is_exec = self.is_exec();
        let Some(turn) = self.turn_of(turn) else {
            let judgement = match () {
                () if is_replay => Err(Reason::Forked),
                () if is_exec && turn.is_none() => Err(Reason::Exec),
                () => Ok(Reason::Prompt),
            };
            return Message { judgement, settles: None };
        };
        let before = turn.messages();
        *count(turn) += 1;
        let is_mirror = turn.messages() == before;
        let judgement = match turn.trigger {
            _ if is_replay => Err(Reason::Forked),
            _ if is_mirror => Err(Reason::Mirror),
            Trigger::Exec if before == 0 => Err(Reason::Exec),
            Trigger::Unsaid if is_exec => Err(Reason::Exec),
            Trigger::Queue if before == 0 => Err(Reason::QueueCommand),
            _ if before == 0 => Ok(Reason::Prompt),
            _ => Ok(Reason::QueuedPrompt),
        };
        Message { judgement, settles: (before == 0).then_some(false) }
    }

    fn response_item(&mut self, payload: &Payload<'_>, at: Option<Millis>) -> Step {
        match payload.kind.as_str() {
            Some("message") if payload.role.is("user") => {}
            Some("function_call_output" | "custom_tool_call_output") => {
                return other(Reason::ToolResult);
            }
            _ => return other(Reason::NotAUserRow),
        }
        let kinds = &payload.marks.kinds.0;
        if !kinds.iter().any(|kind| kind.starts_with("user.")) {
            return other(match kinds.first() {
                Some(kind) => by_kind(kind),
                None => by_text(&payload.content).unwrap_or(Reason::Mirror),
            });
        }
        match self.input(payload.marks.turn_id.as_str(), at) {
            Ok(()) => Step {
                waits: true,
                ..Message { judgement: Ok(Reason::UnannouncedPrompt), settles: None }.step(
                    payload.id.as_str().map(RecordId::of),
                    at,
                    &texts(&payload.content),
                )
            },
            Err(reason) => other(reason),
        }
    }

    /// Judges an input of the model that a person wrote: `Ok` when it counts unless an item or event of its turn follows.
    fn input(&mut self, turn: Option<&str>, at: Option<Millis>) -> Result<(), Reason> {
        if self.is_agent() {
            return Err(Reason::Sidechain);
        }
        if self.is_replay(turn, at) {
            return Err(Reason::Forked);
        }
        let is_exec = self.is_exec();
        let turn = self
            .turn_of(turn)
            .filter(|turn| turn.started && turn.messages() == 0)
            .ok_or(Reason::Mirror)?;
        turn.inputs += 1;
        match turn.trigger {
            Trigger::Exec if turn.inputs == 1 => Err(Reason::Exec),
            Trigger::Unsaid if is_exec => Err(Reason::Exec),
            Trigger::Queue if turn.inputs == 1 => Err(Reason::QueueCommand),
            _ => Ok(()),
        }
    }

    /// The flat format of 2025 has neither events nor marks, so the words decide.
    fn flat_message(&self, content: &Content<'_>) -> Step {
        let reason = if self.is_agent() { Some(Reason::Sidechain) } else { by_text(content) };
        Message { judgement: reason.map_or(Ok(Reason::Prompt), Err), settles: None }.step(
            None,
            None,
            &texts(content),
        )
    }
}

fn by_kind(kind: &str) -> Reason {
    match kind {
        "generic.turn_aborted" => Reason::Interrupted,
        "shell.user_command" => Reason::Shell,
        "multi_agent.subagent_notification" => Reason::TaskNotification,
        _ => Reason::Meta,
    }
}

/// What the words of an unmarked message to the model say, when the harness put them there.
fn by_text(content: &Content<'_>) -> Option<Reason> {
    const PATTERNS: [(&str, Reason); 8] = [
        ("<user_instructions>", Reason::ContextOnly),
        ("<environment_context>", Reason::ContextOnly),
        ("# AGENTS.md instructions", Reason::ContextOnly),
        ("<turn_aborted>", Reason::Interrupted),
        ("<user_shell_command>", Reason::Shell),
        ("<user_action>", Reason::LocalCommand),
        ("<subagent_notification>", Reason::TaskNotification),
        ("<skill>", Reason::Meta),
    ];
    let text = content.texts.first()?.trim_start();
    PATTERNS.iter().find(|(start, _)| text.starts_with(start)).map(|(_, reason)| *reason)
}

fn texts<'a>(content: &'a Content<'_>) -> Vec<&'a str> {
    content.texts.iter().map(AsRef::as_ref).collect()
}

/// The texts joined by one space, and each of them (`upstream.md` 4.4).
fn words(texts: &[&str]) -> Words {
    let asked: Vec<&str> =
        texts.iter().map(|text| request(text)).filter(|text| !text.trim().is_empty()).collect();
    let parts: Vec<TextHash> = asked.iter().filter_map(|text| TextHash::of(text)).collect();
    let whole = match asked[..] {
        [] => None,
        [_] => parts.first().copied(),
        _ => TextHash::of(&asked.join(" ")),
    };
    Words { whole, parts, is_own: false }
}

/// What was typed behind the context that an editor puts before it.
fn request(text: &str) -> &str {
    if !text.trim_start().starts_with("# Context from my IDE setup:") {
        return text;
    }
    text.split_once("## My request for Codex:").map_or(text, |(_, request)| request)
}

#[cfg(test)]
#[path = "classify_tests.rs"]
mod tests;

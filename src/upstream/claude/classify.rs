//! Decides for one row of a transcript whether a person wrote it, and says why.
//!
//! The harness's own marks come first, patterns in the text last and only on rows without marks: people paste
//! `<task-notification>`, too. One disk, even one file, holds rows of several marking schemes, so each row is decided by
//! the marks that it has and never by its version (`observed.md` 1, `transcripts.md` 2.5 and 2.7).

use super::record::{Origin, Record, Words};
use crate::clock::Millis;
use crate::upstream::RecordId;
use crate::upstream::echo::TextHash;
use crate::upstream::files::json::{Content, read_row, time};
use crate::upstream::files::row::{self, Words as EchoWords};
use crate::upstream::shape::Seen;

pub use crate::upstream::files::row::{Reason, Verdict};

/// What kind of file a row lies in, by its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A session's own transcript.
    Session,
    /// A sub-agent's: whatever its rows say, no person wrote them.
    Agent,
    /// The harness's log of typed input, over all projects. Not a transcript.
    History,
}

/// Which part of a prompt taken up mid-turn a row is, with the ids by which its two parts find each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Part {
    /// Not a part of one.
    #[default]
    None,
    /// The queue's record that it was taken up.
    Removed(Delivery),
    /// The record of the prompt itself.
    Attached(Delivery),
}

/// The ids of one delivery from the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Delivery {
    pub(super) command: Option<RecordId>,
    pub(super) delivery: Option<RecordId>,
}

/// A row, decided. Holds no word of it: the echo test needs only the hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// What it is.
    pub verdict: Verdict,
    /// Why.
    pub reason: Reason,
    /// The record by which the turn is counted once; `None` when it has no id.
    pub id: Option<RecordId>,
    /// When it was typed or taken up, by its own account.
    pub at: Option<Millis>,
    /// The hash of its first words, for the echo test; only for human rows and prompts from the queue.
    pub words: Option<TextHash>,
    pub(super) part: Part,
}

impl Row {
    fn plain(verdict: Verdict, reason: Reason) -> Self {
        Self { verdict, reason, id: None, at: None, words: None, part: Part::None }
    }

    fn other(reason: Reason) -> Self {
        Self::plain(Verdict::Other, reason)
    }
}

impl From<Row> for row::Row {
    fn from(Row { verdict, reason, id, at, words, part: _ }: Row) -> Self {
        match verdict {
            Verdict::Malformed => Self::malformed(),
            _ => Self {
                verdict,
                id,
                at,
                words: EchoWords { whole: words, ..EchoWords::default() },
                ..Self::other(reason)
            },
        }
    }
}

/// Decides one row, given without its line end. `None` for a blank line, which is no row.
///
/// An invalid byte becomes U+FFFD, a byte order mark or a run of NULs before the record is passed over, and half a
/// surrogate pair in an escape is read as U+FFFD.
pub fn classify(row: &[u8], file: FileKind) -> Option<Row> {
    match read_row(row, |json| decide_json(json, file)) {
        Content::Blank => None,
        Content::Broken => Some(Row::plain(Verdict::Malformed, Reason::NotJson)),
        Content::Read(row) => Some(row),
    }
}

fn decide_json(json: &[u8], file: FileKind) -> Option<Row> {
    let Seen(record) = serde_json::from_slice::<Seen<Record<'_>>>(json).ok()?;
    Some(match file {
        _ if json[0] != b'{' => Row::other(Reason::NotARecord),
        FileKind::Agent => Row::other(Reason::Sidechain),
        FileKind::History => Row::other(Reason::NotATranscript),
        FileKind::Session => decide(&record),
    })
}

fn decide(record: &Record<'_>) -> Row {
    match record.kind.as_str() {
        Some("user") if record.message.role.is("user") && record.message.content.is_content => {
            let mut row = judged(user(record), &record.message.content);
            row.id = record.uuid.as_str().map(RecordId::of);
            row.at = time(&record.timestamp);
            row
        }
        Some("attachment") if record.attachment.kind.is("queued_command") => attached(record),
        Some("queue-operation") => queue(record),
        _ => Row::other(Reason::NotAUserRow),
    }
}

fn judged(judgement: Result<Reason, Reason>, words: &Words<'_>) -> Row {
    match judgement {
        Ok(reason) => Row {
            words: words.first.as_deref().and_then(TextHash::of),
            ..Row::plain(Verdict::Human, reason)
        },
        Err(reason) => Row::other(reason),
    }
}

/// A user record: `Ok` when a person wrote it.
fn user(record: &Record<'_>) -> Result<Reason, Reason> {
    let words = &record.message.content;
    dropped(record)?;
    if words.has_tool_result {
        return Err(Reason::ToolResult);
    }
    if let Some(human) = by_origin(&record.origin) {
        return human.map(|()| Reason::Prompt);
    }
    match record.prompt_source.as_str() {
        Some("typed" | "queued" | "suggestion_accepted") => return Ok(Reason::Prompt),
        Some("sdk") => return Err(Reason::Sdk),
        Some("system") => return Err(by_text(words).err().unwrap_or(Reason::OriginOther)),
        Some(_) => return Err(Reason::OriginOther),
        None => {}
    }
    // A typed prompt has no `rowSource`; but neither has a tool's result, so its absence says nothing.
    if record.row_source.0.is_some() || record.turn_origin.0.is_some() {
        return Err(by_text(words).err().unwrap_or(Reason::NoOrigin));
    }
    if record.interrupted_message.0 {
        return Err(Reason::Interrupted);
    }
    if record.tool_use_result.0 || record.source_tool_use.0 {
        return Err(Reason::ToolResult);
    }
    if record.entrypoint.as_str().is_some_and(|name| name.starts_with("sdk")) {
        return Err(Reason::Sdk);
    }
    by_text(words).map(|()| Reason::Prompt)
}

/// The marks that rule a record out whatever else it says.
fn dropped(record: &Record<'_>) -> Result<(), Reason> {
    if record.is_sidechain.0 {
        Err(Reason::Sidechain)
    } else if record.is_meta.0 {
        Err(match (record.row_source.as_str(), record.turn_origin.as_str()) {
            (Some("hook"), _) => Reason::Hook,
            (_, Some("scheduled")) => Reason::Scheduled,
            _ => Reason::Meta,
        })
    } else if record.is_compact_summary.0 {
        Err(Reason::CompactSummary)
    } else if record.is_transcript_only.0 {
        Err(Reason::TranscriptOnly)
    } else if record.forked_from.0 {
        Err(Reason::Forked)
    } else {
        Ok(())
    }
}

/// What the origin says; `None` when there is none. Only a plain `human` is a person at this session: the other kinds are
/// other sessions, channels and programs, and those that nobody has seen yet are taken for the same.
fn by_origin(origin: &Origin<'_>) -> Option<Result<(), Reason>> {
    origin.is_there.then(|| match origin.kind.as_str() {
        Some("human") => Ok(()),
        Some("task-notification") => Err(Reason::TaskNotification),
        _ => Err(Reason::OriginOther),
    })
}

/// Decides by the words alone, for records without any mark.
///
/// A command that makes a prompt begins with `<command-message>` in all records seen, one that the harness answers itself
/// with `<command-name>` (`transcripts.md` 2.5).
fn by_text(words: &Words<'_>) -> Result<(), Reason> {
    const PATTERNS: [(&str, Reason); 13] = [
        ("<task-notification>", Reason::TaskNotification),
        ("<command-name>", Reason::LocalCommand),
        ("<local-command-", Reason::LocalCommand),
        ("Caveat: The messages below were generated by the user", Reason::LocalCommand),
        ("<user-memory-input>", Reason::LocalCommand),
        ("<bash-input>", Reason::Shell),
        ("<bash-stdout>", Reason::Shell),
        ("<bash-stderr>", Reason::Shell),
        ("<teammate-message", Reason::OriginOther),
        ("<cross-session-message", Reason::OriginOther),
        ("<channel source=", Reason::OriginOther),
        ("Stop hook feedback:\n", Reason::Hook),
        ("This session is being continued from a previous conversation", Reason::CompactSummary),
    ];
    let Some(text) = words.first.as_deref() else {
        return if words.has_attached { Ok(()) } else { Err(Reason::ContextOnly) };
    };
    let text = text.trim();
    // The notice is the whole text; words behind it would be a person's.
    if text.starts_with("[Request interrupted by user") && text.find(']') == Some(text.len() - 1) {
        return Err(Reason::Interrupted);
    }
    PATTERNS
        .iter()
        .find(|(start, _)| text.starts_with(start))
        .map_or(Ok(()), |(_, reason)| Err(*reason))
}

/// A prompt that waited while the agent worked and was taken up in the middle of a turn. Nothing else keeps it.
fn attached(record: &Record<'_>) -> Row {
    let queued = &record.attachment;
    let delivery = Delivery {
        command: queued.source_uuid.as_str().map(RecordId::of),
        delivery: queued.delivery_id.as_str().map(RecordId::of),
    };
    let judgement = dropped(record).and_then(|()| {
        if queued.is_meta.0 {
            return Err(Reason::Meta);
        }
        match queued.command_mode.as_str() {
            Some("prompt") => {}
            Some("task-notification") => return Err(Reason::TaskNotification),
            Some("bash") => return Err(Reason::Shell),
            _ => return Err(Reason::Queue),
        }
        by_origin(&queued.origin)
            .or_else(|| by_origin(&record.origin))
            .unwrap_or_else(|| by_text(&queued.prompt))
            .map(|()| Reason::QueuedPrompt)
    });
    Row {
        // The command's id, which the queue's record of it shares; a copy of the record keeps it as it keeps the uuid.
        id: delivery
            .command
            .or(delivery.delivery)
            .or_else(|| record.uuid.as_str().map(RecordId::of)),
        at: time(&queued.timestamp).or_else(|| time(&record.timestamp)),
        part: Part::Attached(delivery),
        words: queued.prompt.first.as_deref().and_then(TextHash::of),
        ..judged(judgement, &queued.prompt)
    }
}

/// A record of the input queue. The same record stands for task notices, clock prompts and programs, so it never counts,
/// but for one case: a prompt taken up mid-turn of which some builds keep nothing else. `pairing` sets it aside when
/// the prompt's own record is there.
fn queue(record: &Record<'_>) -> Row {
    let is_absorbed = record.operation.is("remove") && record.reason.is("absorbed_mid_turn");
    if !is_absorbed {
        return Row::other(Reason::Queue);
    }
    let delivery = Delivery {
        command: record.command_uuid.as_str().map(RecordId::of),
        delivery: record.delivery_id.as_str().map(RecordId::of),
    };
    let judgement = dropped(record)
        .and_then(|()| by_origin(&record.origin).unwrap_or_else(|| by_text(&record.content)))
        .map(|()| Reason::AbsorbedPrompt);
    Row {
        id: delivery.command.or(delivery.delivery),
        at: time(&record.timestamp),
        part: Part::Removed(delivery),
        ..judged(judgement, &record.content)
    }
}

#[cfg(test)]
#[path = "classify_tests.rs"]
mod tests;

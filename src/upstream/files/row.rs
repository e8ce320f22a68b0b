//! What a row of a transcript is, whichever harness wrote it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::clock::Millis;
use crate::upstream::RecordId;
use crate::upstream::echo::{OwnTexts, TextHash};

/// What a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// A direct human turn.
    Human,
    /// Anything else that is JSON.
    Other,
    /// Not JSON, even after mending what power loss and cuts do.
    Malformed,
}

/// Why a row is what it is, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// A prompt that a person sent.
    Prompt,
    /// A prompt that a person typed while the agent worked, taken up in the middle of a turn.
    QueuedPrompt,
    /// The queue says that a prompt was taken up in the middle of a turn, and no other record holds it.
    AbsorbedPrompt,
    /// What the model was given says that a person wrote it, and no event of its turn holds it.
    UnannouncedPrompt,
    /// A tool's result, whatever words stand beside it.
    ToolResult,
    /// Marked by the harness as not for people.
    Meta,
    /// What a stop hook said.
    Hook,
    /// A prompt that a clock fired.
    Scheduled,
    /// The summary that a compaction left, or the history that it kept.
    CompactSummary,
    /// Shown in the transcript only.
    TranscriptOnly,
    /// A sub-agent's record.
    Sidechain,
    /// The end of background work.
    TaskNotification,
    /// The notice that a turn was stopped.
    Interrupted,
    /// A command that the harness answered itself, or its output.
    LocalCommand,
    /// A shell line that a person ran, or its output.
    Shell,
    /// Sent by a program: print mode, SDK, a pipe.
    Sdk,
    /// Began a turn that was run without a terminal.
    Exec,
    /// Put into an open session by a command.
    QueueCommand,
    /// Copied from another session by a branch.
    Forked,
    /// The harness names another origin than a person.
    OriginOther,
    /// Another mark, and no origin: in versions that mark rows, nobody's prompt.
    NoOrigin,
    /// Context of the editor or the harness, with nothing typed.
    ContextOnly,
    /// A record of the input queue: says that something waits or waited, not who wrote it.
    Queue,
    /// Says again what another record of the same turn says.
    Mirror,
    /// The same record was counted before in this pass.
    Repeated,
    /// Not a record of a user.
    NotAUserRow,
    /// A line of a file that is not a transcript.
    NotATranscript,
    /// JSON, but no object.
    NotARecord,
    /// Not JSON.
    NotJson,
}

/// What the echo test needs of a prompt: hashes, never words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Words {
    /// The hash of all its words.
    pub(crate) whole: Option<TextHash>,
    /// The hashes of its parts, when it has several: prompts of ours that were sent together.
    pub(crate) parts: Vec<TextHash>,
    /// Whether it was found to be an own text before.
    pub(crate) is_own: bool,
}

impl Words {
    /// Whether `own` has put them there: the words as a whole, or each of several parts.
    pub(crate) fn is_echo(&self, own: &OwnTexts) -> bool {
        self.is_own
            || self.whole.is_some_and(|whole| own.holds(whole))
            || (self.parts.len() > 1 && self.parts.iter().all(|part| own.holds(*part)))
    }
}

/// A row, decided. Holds no word of it.
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
    /// For the echo test; empty for rows that are no prompts.
    pub words: Words,
}

impl Row {
    pub(crate) fn other(reason: Reason) -> Self {
        Self { verdict: Verdict::Other, reason, id: None, at: None, words: Words::default() }
    }

    pub(crate) fn malformed() -> Self {
        Self { verdict: Verdict::Malformed, ..Self::other(Reason::NotJson) }
    }
}

/// Decides rows one after the other. A row may be decided only when later ones are seen, so each carries where it stands
/// (`P`) and is given back in order.
pub(crate) trait Decide<P> {
    /// Takes the next row, without its line end; gives the rows that are decided by now to `decided`.
    fn push(&mut self, content: &[u8], place: P, decided: &mut dyn FnMut(Row, P));

    /// Decides what still waits: nothing comes any more.
    fn finish(&mut self, decided: &mut dyn FnMut(Row, P));
}

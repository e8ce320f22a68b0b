//! What went before: the thread and the running turn, as far as the rows behind them need it.
//!
//! Whether a message is a person's is said by its turn and its thread, not by its own row (`observed.md` 1). So a reader that
//! goes on in the middle of a file needs this little state; it rides in the marker.

use serde::{Deserialize, Serialize};

use super::name::born;
use super::record::Payload;
use crate::clock::Millis;

/// How long after the beginning of a fork its rows may be copies, when nothing else tells: they are written at once.
const FORKING: Millis = 2_000;

/// What the rows so far say about the rows to come.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct State {
    /// The thread, by the first row of the file; `None` when no row says so yet.
    pub(super) thread: Option<Thread>,
    /// The turn that began last.
    pub(super) turn: Option<Turn>,
    /// Whether rows before these are not known, and with them the turns that they began.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) partial: bool,
}

/// What the first row says. A later one of the same kind is that of a thread whose history was copied.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Thread {
    pub(super) id: Option<String>,
    /// Whether it is a sub-agent's, or another that no person types in.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) agent: bool,
    /// Whether it began without a terminal.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) exec: bool,
    /// When it was forked from another, in milliseconds since the epoch; it may begin with copies then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) forked: Option<Millis>,
}

/// A turn, as far as its messages are met.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Turn {
    pub(super) id: Option<String>,
    pub(super) trigger: Trigger,
    /// Whether an event said that it began, so that another will say that it ended.
    pub(super) started: bool,
    /// Messages met as items, as events of the older form, and as inputs of the model.
    pub(super) items: u32,
    pub(super) events: u32,
    pub(super) inputs: u32,
    /// Inputs of the model that count if the turn ends without an item or event for them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) waiting: Vec<Waiting>,
}

/// What began a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Trigger {
    /// Run without a terminal.
    Exec,
    /// Put into the session by a command.
    Queue,
    /// Anything else, or nothing.
    Other,
    /// Written by a version that doesn't say.
    #[default]
    Unsaid,
}

/// An input of the model that may come to count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Waiting {
    /// The hash of its id, in hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) at: Option<Millis>,
    /// Whether its words were an own text when it was read.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub(super) own: bool,
}

impl Thread {
    /// The thread that `meta`, written `at`, is the first row of.
    pub(super) fn of(meta: &Payload<'_>, at: Option<Millis>) -> Self {
        let is_user = meta.thread_source.as_str().is_none_or(|source| source == "user");
        Self {
            id: meta.id.as_str().map(str::to_owned),
            agent: !is_user || meta.source.is_program || meta.parent_thread.0.is_some(),
            exec: meta.source.word.is("exec"),
            forked: meta.forked_from.0.is_some().then_some(at.unwrap_or(Millis::MIN)),
        }
    }
}

impl Turn {
    /// A turn whose beginning is said by an event, or, in versions without one, by the context of its first request.
    pub(super) fn begun(id: Option<&str>, trigger: Trigger, started: bool) -> Self {
        Self { id: id.map(str::to_owned), trigger, started, ..Self::default() }
    }

    /// How many messages of people or programs were met, in whichever form.
    pub(super) fn messages(&self) -> u32 {
        self.items.max(self.events)
    }
}

impl State {
    pub(super) fn is_agent(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| thread.agent)
    }

    pub(super) fn is_exec(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| thread.exec)
    }

    /// The running turn, when a message that names `turn` belongs to it. One that names none does.
    pub(super) fn turn_of(&mut self, turn: Option<&str>) -> Option<&mut Turn> {
        self.turn.as_mut().filter(|running| turn.is_none() || running.id.as_deref() == turn)
    }

    /// Whether a message of `turn`, written `at`, was copied here when the thread was forked. Copies get the time of the fork,
    /// but their turns keep ids that are older than the thread's own.
    pub(super) fn is_replay(&self, turn: Option<&str>, at: Option<Millis>) -> bool {
        let Some(Thread { id, forked: Some(forked), .. }) = &self.thread else { return false };
        let running = self.turn.as_ref().and_then(|turn| turn.id.as_deref());
        match (turn.or(running).and_then(born), id.as_deref().and_then(born)) {
            (Some(turn), Some(thread)) => turn < thread,
            _ => at.is_some_and(|at| at <= forked.saturating_add(FORKING)),
        }
    }
}

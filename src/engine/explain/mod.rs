//! Explaining one pair: why a watcher was, or was not, told about a target (`engine.md` 12.1).
//!
//! The verdict is the first rule that matches. Two rules are refined, because read by the letter they would hide the cause: a
//! watcher whose key can't hold a cursor is `not-qualified` rather than `no-cursor`, and a notice whose line was taken without
//! being acknowledged is `taken-elsewhere` rather than `lost`.
//!
//! | file | holds |
//! | --- | --- |
//! | this one | the question, the answer and its JSON |
//! | `facts` | everything that bears on the question, read at once |
//! | `rules` | the rules in their order |
//! | `delivery` | where an open notice is, and what became of one that was taken |
//! | `story` | the timeline |
//! | `near` | keys that differ only in spelling |

mod delivery;
mod facts;
mod near;
mod rules;
mod story;

use serde_json::{Map, Value, json};

use super::observer::Observer;
use super::{Discipline, Engine, EngineError};
use crate::clock::Millis;
use crate::event::Sequence;
use crate::session_key::SessionKey;
use facts::Facts;

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Who should have been told.
    pub watcher: SessionKey,
    /// About whom.
    pub target: SessionKey,
    /// About which event; without one, about what matters most for the pair now.
    pub event: Option<Sequence>,
}

/// Why a watcher was, or was not, told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Nothing was recorded.
    NotRecorded,
    /// An earlier event owns the dedupe key.
    Collapsed,
    /// The kind notifies nobody.
    LogOnly,
    /// It was recorded under another key than the watched one.
    OtherKey,
    /// There is no watch.
    NoCursor,
    /// The watcher's key can't hold a watch.
    NotQualified,
    /// The watch began at or after the event.
    RegisteredAfter,
    /// The watcher caused it itself.
    SelfCaused,
    /// A notice was open already and covers it.
    Coalesced,
    /// The notice waits for the watcher's next turn.
    Queued,
    /// The notice waits, and so does the wake, or there is none.
    WakePending,
    /// The line is gone although the notice is open.
    Lost,
    /// The line was taken, and the notice not acknowledged.
    TakenElsewhere,
    /// The notice was taken and acknowledged, not long ago.
    Acknowledged,
    /// It was acknowledged, and nobody asked what changed.
    Unreconciled,
    /// It was acknowledged, and the watcher asked what changed.
    Reconciled,
    /// Recording it failed.
    AppendFailed,
    /// It can't be told from here.
    Unknown,
}

impl Verdict {
    /// Every verdict, in the order of the command line's reference.
    pub const ALL: [Self; 18] = [
        Self::NotRecorded,
        Self::Collapsed,
        Self::LogOnly,
        Self::OtherKey,
        Self::NoCursor,
        Self::NotQualified,
        Self::RegisteredAfter,
        Self::SelfCaused,
        Self::Coalesced,
        Self::Queued,
        Self::WakePending,
        Self::Lost,
        Self::TakenElsewhere,
        Self::Acknowledged,
        Self::Unreconciled,
        Self::Reconciled,
        Self::AppendFailed,
        Self::Unknown,
    ];

    /// The word for it, as in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotRecorded => "not-recorded",
            Self::Collapsed => "collapsed",
            Self::LogOnly => "log-only",
            Self::OtherKey => "other-key",
            Self::NoCursor => "no-cursor",
            Self::NotQualified => "not-qualified",
            Self::RegisteredAfter => "registered-after",
            Self::SelfCaused => "self-caused",
            Self::Coalesced => "coalesced",
            Self::Queued => "queued",
            Self::WakePending => "wake-pending",
            Self::Lost => "lost",
            Self::TakenElsewhere => "taken-elsewhere",
            Self::Acknowledged => "acknowledged",
            Self::Unreconciled => "unreconciled",
            Self::Reconciled => "reconciled",
            Self::AppendFailed => "append-failed",
            Self::Unknown => "unknown",
        }
    }
}

/// A moment in the story of a pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    /// When.
    pub at: Millis,
    /// A word of the ledger, or `recorded` or `coalesced`.
    pub what: &'static str,
    /// The event it is about.
    pub sequence: Option<Sequence>,
    /// The kind of the event.
    pub kind: Option<String>,
    /// Last seen, notified and material after it.
    pub marks: Option<[Sequence; 3]>,
    /// A reason or further fact.
    pub note: Option<String>,
}

/// The answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// What was asked.
    pub question: Question,
    /// The event that the answer is about.
    pub event: Option<Sequence>,
    /// The verdict.
    pub verdict: Verdict,
    /// The verdict in one sentence.
    pub because: String,
    /// What it rests on.
    pub evidence: Map<String, Value>,
    /// The pair's story, oldest first.
    pub timeline: Vec<Moment>,
}

/// What only the process that asks knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Here {
    /// Whether some process is the owner.
    owned: bool,
    /// Whether the line of the pair waits; `None` where lines follow from the cursors, or another system holds them.
    line: Option<bool>,
}

impl Engine {
    /// Explains a pair. `owned` says whether some process owns the database.
    pub fn explain(
        &mut self,
        question: &Question,
        owned: bool,
    ) -> Result<Explanation, EngineError> {
        let line = (self.discipline == Discipline::Loose).then(|| {
            let lines = self.queues.lines(&question.watcher);
            lines.iter().any(|line| line.target() == Some(&question.target))
        });
        self.observer().explain_here(question, Here { owned, line })
    }
}

impl Observer<'_> {
    /// Explains a pair, from what the database alone holds.
    pub fn explain(&mut self, question: &Question) -> Result<Explanation, EngineError> {
        self.explain_here(question, Here { owned: false, line: None })
    }

    fn explain_here(
        &mut self,
        question: &Question,
        here: Here,
    ) -> Result<Explanation, EngineError> {
        let facts = Facts::read(self, question, here)?;
        let found = rules::judge(&facts);
        let timeline = story::timeline(&facts);
        let mut evidence = facts.evidence();
        evidence.extend(found.evidence);
        Ok(Explanation {
            question: question.clone(),
            event: facts.subject,
            verdict: found.verdict,
            because: found.because,
            evidence,
            timeline,
        })
    }
}

impl Explanation {
    /// The answer as `explain --json` prints it, without `formatVersion`.
    pub fn to_json(&self) -> Value {
        let mut line = json!({ "watcher": self.question.watcher, "target": self.question.target });
        if let Some(event) = self.event {
            line["event"] = json!(event);
        }
        line["verdict"] = json!(self.verdict.as_str());
        line["because"] = json!(self.because);
        line["evidence"] = Value::Object(self.evidence.clone());
        line["timeline"] = self.timeline.iter().map(Moment::to_json).collect();
        line
    }
}

impl Moment {
    fn to_json(&self) -> Value {
        let mut line = json!({ "at": self.at, "what": self.what });
        let mut put = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                line[name] = value;
            }
        };
        put("sequence", self.sequence.map(|sequence| json!(sequence)));
        put("kind", self.kind.as_ref().map(|kind| json!(kind)));
        put("lastSeen", self.marks.map(|marks| json!(marks[0])));
        put("notified", self.marks.map(|marks| json!(marks[1])));
        put("material", self.marks.map(|marks| json!(marks[2])));
        put("note", self.note.as_ref().map(|note| json!(note)));
        line
    }
}

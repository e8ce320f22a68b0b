//! `explain`: why a watcher was, or was not, told.

use std::fmt::Write as _;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::human::{Table, shown, time_of_day};
use super::output::Output;
use super::{CliError, Context, arguments};
use crate::clock::Millis;
use crate::engine::explain::{Explanation, Moment, Question};
use crate::event::Sequence;
use crate::session_key::SessionKey;
use crate::visible;

/// The arguments of `explain`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Who should have been told
    #[arg(long, value_name = "W")]
    watcher: String,
    /// About which session
    #[arg(long, value_name = "T")]
    target: String,
    /// About which event; without it, about what matters most for the pair now
    #[arg(long, value_name = "SEQ", allow_hyphen_values = true, value_parser = arguments::version)]
    event: Option<Sequence>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Explained<'a> {
    watcher: &'a SessionKey,
    target: &'a SessionKey,
    /// The event that the answer is about; absent when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<Sequence>,
    verdict: &'static str,
    because: &'a str,
    evidence: &'a Map<String, Value>,
    timeline: Vec<Step<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Step<'a> {
    at: Millis,
    what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    sequence: Option<Sequence>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_seen: Option<Sequence>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notified: Option<Sequence>,
    #[serde(skip_serializing_if = "Option::is_none")]
    material: Option<Sequence>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
}

impl<'a> From<&'a Moment> for Step<'a> {
    fn from(moment: &'a Moment) -> Self {
        let mark = |which: usize| moment.marks.map(|marks| marks[which]);
        Self {
            at: moment.at,
            what: moment.what,
            sequence: moment.sequence,
            kind: moment.kind.as_deref(),
            last_seen: mark(0),
            notified: mark(1),
            material: mark(2),
            note: moment.note.as_deref(),
        }
    }
}

impl<'a> From<&'a Explanation> for Explained<'a> {
    fn from(found: &'a Explanation) -> Self {
        Self {
            watcher: &found.question.watcher,
            target: &found.question.target,
            event: found.event,
            verdict: found.verdict.as_str(),
            because: &found.because,
            evidence: &found.evidence,
            timeline: found.timeline.iter().map(Step::from).collect(),
        }
    }
}

pub(super) fn run(
    arguments: &Arguments,
    context: &Context,
    output: &mut Output,
) -> Result<(), CliError> {
    let question = Question {
        watcher: key(&arguments.watcher)?,
        target: context.named(&arguments.target)?.0,
        event: arguments.event,
    };
    let found = context.reader()?.explain(&question)?;
    output.show(&Explained::from(&found), || text(&found))
}

fn key(text: &str) -> Result<SessionKey, CliError> {
    Ok(crate::engine::commands::address(text, None)?.0)
}

fn text(found: &Explanation) -> String {
    let mut text = format!("{}: {}\n", found.verdict.as_str(), visible::clean(&found.because));
    for (name, value) in &found.evidence {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let _ = write!(text, "\n  {name}: {}", visible::clean(&value));
    }
    let mut table = Table::new(["TIME", "EVENT", "STEP", "SEEN", "NOTIFIED", "MATERIAL", "NOTE"]);
    for moment in &found.timeline {
        let mark =
            |which: usize| moment.marks.map_or_else(String::new, |marks| marks[which].to_string());
        let note = moment.note.as_deref().or(moment.kind.as_deref()).unwrap_or_default();
        table.row([
            time_of_day(moment.at).into(),
            moment.sequence.map_or_else(String::new, |sequence| format!("#{sequence}")).into(),
            moment.what.into(),
            mark(0).into(),
            mark(1).into(),
            mark(2).into(),
            note.into(),
        ]);
    }
    let pair = &found.question;
    let empty = format!("no story of {} and {}", shown(&pair.watcher), shown(&pair.target));
    let _ = write!(text, "\n\n{}", table.or(&empty));
    text
}

//! `findings`: what each rule finds, where, and what it can't judge yet.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::human::{Table, count};
use super::output::Output;
use super::{CliError, Context};
use crate::engine::findings::{Finding, findings};

/// The arguments of `findings`.
#[derive(Debug, Args)]
pub struct Arguments {}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Findings<'a> {
    findings: Vec<Found<'a>>,
}

/// What one rule found.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Found<'a> {
    rule: &'static str,
    sentence: &'static str,
    /// How often it matches; absent when nothing was found and not everything could be judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subjects: Option<&'a [String]>,
    /// What could not be judged, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_enough_data: Option<&'a str>,
}

impl<'a> From<&'a Finding> for Found<'a> {
    fn from(finding: &'a Finding) -> Self {
        let subjects = finding.matches().is_some().then_some(finding.subjects.as_slice());
        Self {
            rule: finding.rule.as_str(),
            sentence: finding.rule.sentence(),
            count: subjects.map(<[String]>::len),
            subjects,
            not_enough_data: finding.not_judged.as_deref(),
        }
    }
}

pub(super) fn run(context: &Context, output: &mut Output) -> Result<(), CliError> {
    let found = findings(&context.reader()?.snapshot()?);
    let body = Findings { findings: found.iter().map(Found::from).collect() };
    output.show(&body, || text(&found))
}

/// Every rule, each place below its own.
fn text(found: &[Finding]) -> String {
    let mut table = Table::new(["RULE", "FOUND", "ABOUT"]);
    for finding in found {
        table.row(about(finding).map(Into::into));
        for subject in &finding.subjects {
            table.row(["".into(), "".into(), subject.as_str().into()]);
        }
        if let Some(why) = finding.not_judged.as_deref().filter(|_| finding.matches().is_some()) {
            table.row(["".into(), NOT_ENOUGH.into(), why.into()]);
        }
    }
    table.to_string()
}

/// The findings that need a look, and what could not be judged; nothing of rules that all holds to.
pub(super) fn in_short(found: &[Finding]) -> String {
    if let [first, rest @ ..] = found
        && let (None, Some(why)) = (first.matches(), &first.not_judged)
        && rest.iter().all(|other| other.not_judged == first.not_judged)
    {
        return format!("no rule could be judged: {why}");
    }
    let mut table = Table::new(["RULE", "FOUND", "ABOUT"]);
    for finding in found.iter().filter(|finding| finding.matches() != Some(0)) {
        table.row(about(finding).map(Into::into));
    }
    table.or("no findings")
}

const NOT_ENOUGH: &str = "not enough data yet";

fn about(finding: &Finding) -> [String; 3] {
    let rule = finding.rule.as_str().to_owned();
    match (finding.matches(), &finding.not_judged) {
        (None, Some(why)) => [rule, NOT_ENOUGH.to_owned(), why.clone()],
        (matches, _) => {
            [rule, count(matches.unwrap_or(0), "time"), finding.rule.sentence().to_owned()]
        }
    }
}

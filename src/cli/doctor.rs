//! `doctor`: what is wrong, and how to mend it.

use std::io::IsTerminal as _;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::findings::{Found, in_short};
use super::human::Table;
use super::output::Output;
use super::{CliError, Context};
use crate::engine::doctor::{self, Check, Health, Terminal};
use crate::engine::findings::{Finding, findings, unreadable};

/// The arguments of `doctor`.
#[derive(Debug, Args)]
pub struct Arguments {}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Examined<'a> {
    /// Whether nothing is at fault.
    ok: bool,
    checks: Vec<One<'a>>,
    findings: Vec<Found<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct One<'a> {
    name: &'static str,
    status: &'static str,
    found: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    mend: Option<&'a str>,
}

impl<'a> From<&'a Check> for One<'a> {
    fn from(check: &'a Check) -> Self {
        Self {
            name: check.name,
            status: check.health.as_str(),
            found: &check.found,
            mend: check.mend.as_deref(),
        }
    }
}

pub(super) fn run(context: &Context, output: &mut Output) -> Result<(), CliError> {
    let mut checks = match &context.attach {
        None => doctor::state(&context.db, context.clock.now()),
        Some(_) => Vec::new(),
    };
    let is_broken = checks.iter().any(|check| check.health == Health::Fault);
    let mut found = unreadable("the state can't be read");
    if !is_broken {
        match context.reader().and_then(|mut reader| Ok(reader.snapshot()?)) {
            Ok(snapshot) => {
                found = findings(&snapshot);
                if let Some(path) = &context.attach {
                    checks.extend(doctor::attached(path, &snapshot));
                }
            }
            Err(error) => checks.push(doctor::fault("state", error.to_string())),
        }
    }
    checks.extend(doctor::homes(&context.homes()));
    checks.extend(doctor::terminal(&terminal()));
    let faults = checks.iter().filter(|check| check.health == Health::Fault).count();
    let body = Examined {
        ok: faults == 0,
        checks: checks.iter().map(One::from).collect(),
        findings: found.iter().map(Found::from).collect(),
    };
    output.show(&body, || text(&checks, &found))?;
    output.flush()?;
    // The document says already what is at fault.
    if faults == 0 { Ok(()) } else { Err(CliError::Judged(1)) }
}

fn terminal() -> Terminal {
    let set = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(|value| value.to_string_lossy().into_owned())
    };
    Terminal {
        is_terminal: std::io::stdin().is_terminal() && std::io::stdout().is_terminal(),
        term: set("TERM"),
        color_term: set("COLORTERM"),
        no_color: set("NO_COLOR").is_some(),
        locale: ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set),
        size: crossterm::terminal::size().ok(),
    }
}

fn text(checks: &[Check], found: &[Finding]) -> String {
    let mut table = Table::new(["CHECK", "STATUS", "FOUND", "MEND"]);
    for check in checks {
        table.row([
            check.name.into(),
            check.health.as_str().into(),
            check.found.as_str().into(),
            check.mend.as_deref().unwrap_or_default().into(),
        ]);
    }
    let mut text = table.or("nothing to look at");
    text.push_str("\n\n");
    text.push_str(&in_short(found));
    text
}

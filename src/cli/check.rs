//! `check`: one line and an exit code for monitoring.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::output::Output;
use super::{CliError, Context, arguments};
use crate::clock::{HOUR, Millis};
use crate::engine::check::{Bounds, Judged, Limits, Readings, Report, Status, check};

/// The arguments of `check`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 ok, 1 warning, 2 critical, 3 unknown, as monitoring plugins have them. \
                        --warn- and --max- bound the same reading; without them, those of the config's table `check` hold."
)]
pub struct Arguments {
    /// Warning from this age of the oldest notice that is owed [default: 15m]
    #[arg(long, value_name = "D", value_parser = arguments::millis)]
    warn_pending_age: Option<Millis>,
    /// Critical from this age [default: 1h]
    #[arg(long, value_name = "D", value_parser = arguments::millis)]
    max_pending_age: Option<Millis>,
    /// Warning from this actionable lag of a pair whose notice is no longer young
    #[arg(long, value_name = "N")]
    warn_lag: Option<i64>,
    /// Critical from this lag
    #[arg(long, value_name = "N")]
    max_lag: Option<i64>,
    /// Warning when the last tick is this long ago [default: 90s]
    #[arg(long, value_name = "D", value_parser = arguments::millis)]
    warn_tick_age: Option<Millis>,
    /// Critical from this age of the tick [default: 5m]
    #[arg(long, value_name = "D", value_parser = arguments::millis)]
    max_tick_age: Option<Millis>,
    /// Warning when a source was missing so often in a row [default: 1]
    #[arg(long, value_name = "N")]
    warn_missing: Option<i64>,
    /// Critical from this many misses [default: 2]
    #[arg(long, value_name = "N")]
    max_missing: Option<i64>,
    /// Warning when a source can't be read on for this long [default: at once]
    #[arg(long, value_name = "D", value_parser = arguments::millis)]
    warn_blocked_age: Option<Millis>,
    /// Critical from this time [default: 10m]
    #[arg(long, value_name = "D", value_parser = arguments::millis)]
    max_blocked_age: Option<Millis>,
    /// Warning when nothing touched a watch for this long; it ends after 30 days [default: 25d]
    #[arg(long, value_name = "D", value_parser = arguments::millis)]
    warn_untouched: Option<Millis>,
    /// Critical from this time [default: 29d]
    #[arg(long, value_name = "D", value_parser = arguments::millis)]
    max_untouched: Option<Millis>,
    /// Warning from so many appends that failed within an hour [default: 1]
    #[arg(long, value_name = "N")]
    warn_append_failures: Option<i64>,
    /// Critical from so many [default: 10]
    #[arg(long, value_name = "N")]
    max_append_failures: Option<i64>,
    /// Warning when the write lock takes this long [default: 1s]
    #[arg(long, value_name = "D", value_parser = arguments::millis)]
    warn_lock_wait: Option<Millis>,
    /// Critical from this wait [default: 4s]
    #[arg(long, value_name = "D", value_parser = arguments::millis)]
    max_lock_wait: Option<Millis>,
    /// Warning from this fill of the journal, in percent of what it keeps [default: 120]
    #[arg(long, value_name = "PERCENT")]
    warn_journal_fill: Option<i64>,
    /// Critical from this fill [default: 200]
    #[arg(long, value_name = "PERCENT")]
    max_journal_fill: Option<i64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Checked<'a> {
    status: &'static str,
    summary: String,
    watches: usize,
    checks: Vec<One<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct One<'a> {
    name: &'static str,
    status: &'static str,
    /// In milliseconds where it is a time; absent when it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    critical: Option<i64>,
    detail: &'a str,
}

impl<'a> From<&'a Judged> for One<'a> {
    fn from(judged: &'a Judged) -> Self {
        Self {
            name: judged.name,
            status: judged.status.as_str(),
            value: judged.value,
            warning: judged.bounds.warning,
            critical: judged.bounds.critical,
            detail: &judged.detail,
        }
    }
}

impl Arguments {
    /// The bounds that were given for what only the owner of a database knows.
    fn owners_alone(&self) -> Vec<&'static str> {
        [
            ("tick_age", self.warn_tick_age.or(self.max_tick_age)),
            ("missing", self.warn_missing.or(self.max_missing)),
            ("blocked_age", self.warn_blocked_age.or(self.max_blocked_age)),
            ("append_failures", self.warn_append_failures.or(self.max_append_failures)),
            ("lock_wait", self.warn_lock_wait.or(self.max_lock_wait)),
        ]
        .into_iter()
        .filter_map(|(name, bound)| bound.map(|_| name))
        .collect()
    }

    /// The bounds: the options win over those of the config.
    fn limits(&self, default: &Limits) -> Limits {
        let bounds = |default: Bounds, warning: Option<i64>, critical: Option<i64>| {
            // A bound that was given is not undercut by one that was not.
            let usual = default.warning.filter(|usual| critical.is_none_or(|max| *usual < max));
            Bounds { warning: warning.or(usual), critical: critical.or(default.critical) }
        };
        Limits {
            pending_age: bounds(default.pending_age, self.warn_pending_age, self.max_pending_age),
            lag: bounds(default.lag, self.warn_lag, self.max_lag),
            tick_age: bounds(default.tick_age, self.warn_tick_age, self.max_tick_age),
            missing: bounds(default.missing, self.warn_missing, self.max_missing),
            blocked_age: bounds(default.blocked_age, self.warn_blocked_age, self.max_blocked_age),
            untouched: bounds(default.untouched, self.warn_untouched, self.max_untouched),
            append_failures: bounds(
                default.append_failures,
                self.warn_append_failures,
                self.max_append_failures,
            ),
            lock_wait: bounds(default.lock_wait, self.warn_lock_wait, self.max_lock_wait),
            journal_fill: bounds(
                default.journal_fill,
                self.warn_journal_fill,
                self.max_journal_fill,
            ),
            young: default.young,
        }
    }
}

/// What only the process that owns a database can measure.
const OWNERS_ALONE: &str = "only the system that owns the database knows";

pub(super) fn run(
    arguments: &Arguments,
    context: &Context,
    output: &mut Output,
) -> Result<(), CliError> {
    let limits = arguments.limits(&context.config.check_limits());
    let mut report = judge(context, &limits).unwrap_or_else(|error| unknown(&error));
    if context.attach.is_some() {
        report.require(&arguments.owners_alone(), OWNERS_ALONE);
    }
    let body = Checked {
        status: report.status.as_str(),
        summary: report.summary(),
        watches: report.watches,
        checks: report.judged.iter().map(One::from).collect(),
    };
    output.show(&body, || crate::visible::clean(&report.line()).into_owned())?;
    output.flush()?;
    match report.status {
        Status::Ok => Ok(()),
        bad => Err(CliError::Judged(bad.exit_code())),
    }
}

fn judge(context: &Context, limits: &Limits) -> Result<Report, CliError> {
    let mut reader = context.reader()?;
    let snapshot = reader.snapshot()?;
    let readings = reader.readings(context.clock.now() - HOUR)?;
    Ok(check(&snapshot, &readings, limits))
}

/// What can't be read is unknown, and never "ok".
fn unknown(error: &CliError) -> Report {
    Report {
        status: Status::Unknown,
        judged: vec![Judged {
            name: "state",
            status: Status::Unknown,
            value: None,
            unit: crate::engine::check::Unit::Count,
            bounds: Bounds::default(),
            detail: error.to_string(),
        }],
        watches: 0,
    }
}

/// What a picture does not hold, as metrics print it, too.
pub(super) fn readings(context: &Context) -> Result<Readings, CliError> {
    context.reader()?.readings(context.clock.now() - HOUR)
}

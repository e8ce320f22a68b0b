//! `metrics`: a picture and the ledger as Prometheus text.

use std::fmt::Write as _;

use super::check::Readings;
use super::findings::findings;
use super::snapshot::{Role, Snapshot};
use crate::clock::Millis;
use crate::journal::ledger::Step;
use crate::journal::retention::MAX_EVENTS;
use crate::watch::Condition;

/// The text being made. Each metric is described once, before its samples.
struct Text(String);

impl Text {
    fn metric(&mut self, name: &str, kind: &str, help: &str, samples: &[(String, i64)]) {
        if samples.is_empty() {
            return;
        }
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (labels, value) in samples {
            let _ = writeln!(self.0, "{name}{labels} {value}");
        }
    }

    fn gauge(&mut self, name: &str, help: &str, value: Option<i64>) {
        let samples: Vec<_> = value.into_iter().map(|value| (String::new(), value)).collect();
        self.metric(name, "gauge", help, &samples);
    }

    /// A time as seconds: what Prometheus expects.
    fn seconds(&mut self, name: &str, help: &str, value: Option<Millis>) {
        if let Some(value) = value {
            let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} gauge");
            let _ = writeln!(self.0, "{name} {}.{:03}", value.max(0) / 1_000, value.max(0) % 1_000);
        }
    }
}

fn label(name: &str, value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("{{{name}=\"{value}\"}}")
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Everything worth a graph. Keys of sessions are no labels: there may be thousands.
pub fn prometheus(snapshot: &Snapshot, steps: &[(Step, u64)], readings: &Readings) -> String {
    let mut text = Text(String::new());
    let now = snapshot.at;
    let rows = i64::try_from(snapshot.journal.rows).unwrap_or(i64::MAX);
    text.gauge("tidings_journal_events", "Events that the journal holds.", Some(rows));
    text.gauge("tidings_journal_capacity", "Events that the journal keeps.", Some(MAX_EVENTS));
    let newest = snapshot.journal.max.map(|max| max.0);
    text.gauge("tidings_journal_sequence", "The newest event number.", newest);
    text.gauge(
        "tidings_sessions",
        "Sessions that are known.",
        Some(number(snapshot.sessions.len())),
    );
    let conditions: Vec<_> = Condition::ALL
        .into_iter()
        .map(|condition| {
            let watches = snapshot.watches.iter().filter(|row| row.condition == condition);
            (label("condition", condition.as_str()), number(watches.count()))
        })
        .collect();
    text.metric("tidings_watches", "gauge", "Watches by their condition.", &conditions);
    let pending = Some(number(snapshot.notices.len()));
    text.gauge("tidings_pending_notices", "Notices that no turn has taken.", pending);
    let oldest = snapshot.watches.iter().filter_map(|row| row.pending_since).min();
    let oldest = Some(oldest.map_or(0, |since| now - since));
    text.seconds("tidings_oldest_notice_age_seconds", "Age of the oldest of them.", oldest);
    let lag = snapshot.watches.iter().map(super::snapshot::WatchRow::actionable_lag);
    text.gauge(
        "tidings_actionable_lag_max",
        "The largest actionable lag.",
        Some(lag.max().unwrap_or(0)),
    );
    if !snapshot.is_attached() {
        let ticked = snapshot.pulse.last_tick_at.map(|at| now - at);
        text.seconds("tidings_tick_age_seconds", "Time since the monitor's last tick.", ticked);
        text.seconds("tidings_tick_duration_seconds", "How long it took.", snapshot.pulse.took);
        let links = Some(number(snapshot.pulse.links));
        text.gauge("tidings_upstream_links", "Watched sessions with a source.", links);
        let owner = i64::from(snapshot.role == Role::Owner);
        text.gauge("tidings_owner", "Whether this process is the owner.", Some(owner));
    }
    let all_found = findings(snapshot);
    let found: Vec<_> = all_found
        .iter()
        .filter_map(|finding| {
            Some((label("rule", finding.rule.as_str()), number(finding.matches()?)))
        })
        .collect();
    text.metric(
        "tidings_findings",
        "gauge",
        "What the rules find; absent without enough data.",
        &found,
    );
    let not_judged: Vec<_> = all_found
        .iter()
        .map(|finding| {
            (label("rule", finding.rule.as_str()), i64::from(finding.not_judged.is_some()))
        })
        .collect();
    text.metric(
        "tidings_findings_not_judged",
        "gauge",
        "Whether a rule could not be judged in full.",
        &not_judged,
    );
    let steps: Vec<_> = steps
        .iter()
        .map(|(step, count)| {
            (label("step", step.as_str()), i64::try_from(*count).unwrap_or(i64::MAX))
        })
        .collect();
    text.metric("tidings_ledger_entries", "gauge", "Steps that the ledger holds.", &steps);
    let failures = readings.append_failures;
    text.gauge(
        "tidings_append_failures_last_hour",
        "Appends that failed within an hour.",
        failures,
    );
    text.seconds(
        "tidings_lock_wait_seconds",
        "How long the write lock took just now.",
        readings.lock_wait,
    );
    text.0
}

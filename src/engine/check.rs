//! `check`: one verdict for a monitoring system, from a picture and a few readings (the convention of monitoring plugins).
//!
//! What is judged is the age of what is owed, never a count alone: a hundred notices that are a second old are a busy team, one
//! that is an hour old is a fault.

use std::fmt::Write as _;

use super::condition::span;
use super::snapshot::{LinkRow, SessionRow, Snapshot, WatchRow};
use crate::clock::{DAY, HOUR, MINUTE, Millis, SECOND};
use crate::journal::retention::MAX_EVENTS;
use crate::watch::Condition;

/// How bad it is. The order is that of their weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// All is well.
    Ok,
    /// It can't be told.
    Unknown,
    /// Somebody should look.
    Warning,
    /// Somebody has to look now.
    Critical,
}

impl Status {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Unknown => "unknown",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }

    /// The exit code of a monitoring plugin.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Warning => 1,
            Self::Critical => 2,
            Self::Unknown => 3,
        }
    }
}

/// From where on a reading is bad: at or above these values. `None` never is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bounds {
    /// From here on it is a warning.
    pub warning: Option<i64>,
    /// From here on it is critical.
    pub critical: Option<i64>,
}

impl Bounds {
    fn new(warning: i64, critical: i64) -> Self {
        Self { warning: Some(warning), critical: Some(critical) }
    }

    fn judge(self, value: i64) -> Status {
        if self.critical.is_some_and(|bound| value >= bound) {
            Status::Critical
        } else if self.warning.is_some_and(|bound| value >= bound) {
            Status::Warning
        } else {
            Status::Ok
        }
    }
}

/// The bounds of everything that is judged. Times are in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The age of the oldest notice that is owed.
    pub pending_age: Bounds,
    /// Actionable lag, of pairs whose notice is no longer young.
    pub lag: Bounds,
    /// Time since the last tick of the upstream monitor.
    pub tick_age: Bounds,
    /// How often in a row a source was missing.
    pub missing: Bounds,
    /// How long a source can't be read on.
    pub blocked_age: Bounds,
    /// How long a watch was not touched. It ends after 30 days.
    pub untouched: Bounds,
    /// Appends that failed within the last hour.
    pub append_failures: Bounds,
    /// How long the write lock had to be waited for.
    pub lock_wait: Bounds,
    /// Events in the journal, in percent of what it keeps.
    pub journal_fill: Bounds,
    /// A notice is young for this long: its lag is not judged.
    pub young: Millis,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            pending_age: Bounds::new(15 * MINUTE, HOUR),
            lag: Bounds::default(),
            tick_age: Bounds::new(90 * SECOND, 5 * MINUTE),
            missing: Bounds::new(1, 2),
            blocked_age: Bounds::new(1, 10 * MINUTE),
            untouched: Bounds::new(25 * DAY, 29 * DAY),
            append_failures: Bounds::new(1, 10),
            lock_wait: Bounds::new(SECOND, 4 * SECOND),
            // Between two prunes a busy journal holds more than it keeps.
            journal_fill: Bounds::new(120, 200),
            young: 5 * MINUTE,
        }
    }
}

/// What a picture does not hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Readings {
    /// Appends that failed within the last hour, by whichever process; `None` where only another system knows.
    pub append_failures: Option<i64>,
    /// How long the write lock was waited for, in milliseconds; `None` where nothing may be written.
    pub lock_wait: Option<Millis>,
}

/// The unit of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Milliseconds, shown as seconds.
    Time,
    /// A count.
    Count,
    /// Percent.
    Percent,
}

/// One thing that was judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// Its name, as in performance data.
    pub name: &'static str,
    /// How bad it is.
    pub status: Status,
    /// The value; `None` when it is unknown.
    pub value: Option<i64>,
    /// Its unit.
    pub unit: Unit,
    /// Its bounds.
    pub bounds: Bounds,
    /// It in words.
    pub detail: String,
}

/// The verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The worst of all.
    pub status: Status,
    /// Everything that was judged.
    pub judged: Vec<Judged>,
    /// How many watches there are.
    pub watches: usize,
}

/// Judges a picture.
pub fn check(snapshot: &Snapshot, readings: &Readings, limits: &Limits) -> Report {
    let judged: Vec<_> = [
        Some(pending_age(snapshot, limits)),
        Some(lag(snapshot, limits)),
        tick_age(snapshot, limits),
        missing(snapshot, limits),
        blocked(snapshot, limits),
        Some(untouched(snapshot, limits)),
        append_failures(readings, limits),
        lock_wait(readings, limits),
        Some(journal_fill(snapshot, limits)),
        unknown_watches(snapshot),
    ]
    .into_iter()
    .flatten()
    .collect();
    let status = judged.iter().map(|judged| judged.status).max().unwrap_or(Status::Ok);
    Report { status, judged, watches: snapshot.watches.len() }
}

fn known(name: &'static str, unit: Unit, value: i64, bounds: Bounds, detail: String) -> Judged {
    Judged { name, status: bounds.judge(value), value: Some(value), unit, bounds, detail }
}

/// The watches that owe something to a session that still lives. One that ended never takes a turn again.
fn owed(snapshot: &Snapshot) -> impl Iterator<Item = &WatchRow> {
    let ended = |row: &WatchRow| {
        snapshot
            .sessions
            .iter()
            .any(|session| session.key == row.cursor.watcher && session.ended_at.is_some())
    };
    snapshot.watches.iter().filter(move |row| row.cursor.is_pending() && !ended(row))
}

fn age(row: &WatchRow, now: Millis) -> Millis {
    row.pending_since.map_or(0, |since| (now - since).max(0))
}

fn pair(row: &WatchRow) -> String {
    format!("{} on {}", row.cursor.watcher, row.cursor.target)
}

fn pending_age(snapshot: &Snapshot, limits: &Limits) -> Judged {
    let oldest = owed(snapshot).max_by_key(|row| age(row, snapshot.at));
    let value = oldest.map_or(0, |row| age(row, snapshot.at));
    let detail = oldest.map_or_else(
        || "nothing is owed".to_owned(),
        |row| format!("oldest notice {} ({})", span(value), pair(row)),
    );
    known("pending_age", Unit::Time, value, limits.pending_age, detail)
}

fn lag(snapshot: &Snapshot, limits: &Limits) -> Judged {
    let old = owed(snapshot).filter(|row| age(row, snapshot.at) >= limits.young);
    let most = old.max_by_key(|row| row.actionable_lag());
    let value = most.map_or(0, WatchRow::actionable_lag);
    let detail = most.map_or_else(
        || "no old lag".to_owned(),
        |row| format!("actionable lag {value} ({})", pair(row)),
    );
    known("lag", Unit::Count, value, limits.lag, detail)
}

/// The tick matters only where a watched session has a source, and where the monitor is ours.
fn tick_age(snapshot: &Snapshot, limits: &Limits) -> Option<Judged> {
    let pulse = &snapshot.pulse;
    if pulse.links == 0 || snapshot.is_attached() {
        return None;
    }
    let (name, unit, bounds) = ("tick_age", Unit::Time, limits.tick_age);
    Some(match pulse.last_tick_at {
        Some(at) => {
            let value = (snapshot.at - at).max(0);
            known(name, unit, value, bounds, format!("last tick {} ago", span(value)))
        }
        None if pulse.overdue => Judged {
            name,
            status: Status::Critical,
            value: None,
            unit,
            bounds,
            detail: "the upstream monitor never ticked".into(),
        },
        None => Judged {
            name,
            status: Status::Unknown,
            value: None,
            unit,
            bounds,
            detail: "the upstream monitor has not ticked yet".into(),
        },
    })
}

/// The sources of sessions, with what our monitor found there. Of those of another system only that system knows.
fn links(snapshot: &Snapshot) -> impl Iterator<Item = (&SessionRow, &LinkRow)> {
    let is_ours = !snapshot.is_attached();
    let all = snapshot.sessions.iter().filter_map(|row| Some((row, row.upstream.as_ref()?)));
    all.filter(move |_| is_ours)
}

fn missing(snapshot: &Snapshot, limits: &Limits) -> Option<Judged> {
    let (row, link) = links(snapshot).max_by_key(|(_, link)| link.missing_streak)?;
    let value = i64::from(link.missing_streak);
    let detail = if value == 0 {
        "no source is missing".to_owned()
    } else {
        format!("the source of {} is missing {value}/3", row.key)
    };
    Some(known("missing", Unit::Count, value, limits.missing, detail))
}

fn blocked(snapshot: &Snapshot, limits: &Limits) -> Option<Judged> {
    let mut links = links(snapshot).peekable();
    links.peek()?;
    let oldest = links
        .filter(|(_, link)| matches!(link.outcome.as_str(), "blocked" | "unreadable"))
        .map(|(row, link)| (row, link, link.scanned_at.unwrap_or(link.created_at)))
        .min_by_key(|(_, _, since)| *since);
    // A source that was blocked this very moment is blocked already.
    let value = oldest.map_or(0, |(_, _, since)| (snapshot.at - since).max(1));
    let detail = oldest.map_or_else(
        || "no source is blocked".to_owned(),
        |(row, link, _)| {
            format!("the source of {} is {} for {}", row.key, link.outcome, span(value))
        },
    );
    Some(known("blocked_age", Unit::Time, value, limits.blocked_age, detail))
}

fn untouched(snapshot: &Snapshot, limits: &Limits) -> Judged {
    let oldest = snapshot.watches.iter().min_by_key(|row| row.cursor.updated_at);
    let value = oldest.map_or(0, |row| (snapshot.at - row.cursor.updated_at).max(0));
    let detail = oldest.map_or_else(
        || "no watches".to_owned(),
        |row| format!("the watch of {} ends in {}", pair(row), span(row.expires_at - snapshot.at)),
    );
    known("untouched", Unit::Time, value, limits.untouched, detail)
}

fn append_failures(readings: &Readings, limits: &Limits) -> Option<Judged> {
    let value = readings.append_failures?;
    let detail = format!("{value} appends failed within an hour");
    Some(known("append_failures", Unit::Count, value, limits.append_failures, detail))
}

fn lock_wait(readings: &Readings, limits: &Limits) -> Option<Judged> {
    let value = readings.lock_wait?;
    let detail = format!("the write lock took {value} ms");
    Some(known("lock_wait", Unit::Time, value, limits.lock_wait, detail))
}

fn journal_fill(snapshot: &Snapshot, limits: &Limits) -> Judged {
    let rows = i64::try_from(snapshot.journal.rows).unwrap_or(i64::MAX);
    let value = rows.saturating_mul(100) / MAX_EVENTS;
    let detail = format!("{rows} of {MAX_EVENTS} events");
    known("journal_fill", Unit::Percent, value, limits.journal_fill, detail)
}

/// Watches of which nothing can be said: that is no "ok".
fn unknown_watches(snapshot: &Snapshot) -> Option<Judged> {
    let unknown = snapshot.watches.iter().filter(|row| row.condition == Condition::Unknown);
    let value = i64::try_from(unknown.count()).unwrap_or(i64::MAX);
    (value > 0).then(|| Judged {
        name: "unknown_watches",
        status: Status::Unknown,
        value: Some(value),
        unit: Unit::Count,
        bounds: Bounds::default(),
        detail: format!("of {value} watches nothing can be said"),
    })
}

impl Report {
    /// Makes the verdict at least *unknown* for each of `names` that could not be judged, for this reason: whoever asks for a bound
    /// must not take silence for "ok".
    pub fn require(&mut self, names: &[&'static str], why: &str) {
        for name in names.iter().copied() {
            if self.judged.iter().any(|judged| judged.name == name) {
                continue;
            }
            self.status = self.status.max(Status::Unknown);
            self.judged.push(Judged {
                name,
                status: Status::Unknown,
                value: None,
                unit: Unit::Count,
                bounds: Bounds::default(),
                detail: format!("{name} is unknown: {why}"),
            });
        }
    }

    /// The verdict in words: what is bad, or that nothing is.
    pub fn summary(&self) -> String {
        let mut bad: Vec<_> =
            self.judged.iter().filter(|judged| judged.status != Status::Ok).collect();
        bad.sort_by_key(|judged| std::cmp::Reverse(judged.status));
        if bad.is_empty() {
            let oldest = self.judged.first().map_or("", |judged| judged.detail.as_str());
            return format!("{} watches, {oldest}", self.watches);
        }
        bad.iter().map(|judged| judged.detail.as_str()).collect::<Vec<_>>().join("; ")
    }

    /// The one line of a monitoring plugin, with performance data.
    pub fn line(&self) -> String {
        let mut line =
            format!("TIDINGS {} - {}", self.status.as_str().to_uppercase(), self.summary());
        let data: Vec<_> = self.judged.iter().filter_map(Judged::performance_data).collect();
        if !data.is_empty() {
            let _ = write!(line, " | {}", data.join(" "));
        }
        line
    }
}

impl Judged {
    fn performance_data(&self) -> Option<String> {
        let shown = |value: i64| match self.unit {
            Unit::Time => format!("{}.{:03}", value / SECOND, value % SECOND),
            Unit::Count | Unit::Percent => value.to_string(),
        };
        let unit = match self.unit {
            Unit::Time => "s",
            Unit::Count => "",
            Unit::Percent => "%",
        };
        let bound = |bound: Option<i64>| bound.map(shown).unwrap_or_default();
        let value = shown(self.value?);
        let (warning, critical) = (bound(self.bounds.warning), bound(self.bounds.critical));
        Some(format!("{}={value}{unit};{warning};{critical};0", self.name))
    }
}

//! Findings: lints over a picture. A rule, a sentence, a count, and *not enough data yet* as an answer of its own.

use std::collections::HashMap;

use super::queue::CAPACITY;
use super::snapshot::{SessionRow, Snapshot, Source, WatchRow};
use crate::watch::Condition;

/// A queue counts as near its cap from this many lines on.
const NEAR_CAP: usize = CAPACITY * 4 / 5;

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// Watchers take turns and don't acknowledge.
    Stalled,
    /// Watchers are silent while a notice is open.
    Stopped,
    /// History that a watcher would ask for is gone.
    Gap,
    /// Last seen went back.
    Rewound,
    /// Watches end soon.
    Expiring,
    /// Watches that can't announce anything.
    Unnotifiable,
    /// Sessions whose keys differ only in case.
    CaseTwins,
    /// Cursors of watchers with bare keys.
    BareWatchers,
    /// Sessions with a version whose event is gone.
    HeadsWithoutRows,
    /// Sources that can't be read on.
    Blocked,
    /// The upstream monitor stands still.
    TickOverdue,
    /// Queues that are about to push lines out.
    QueueNearCap,
}

impl Rule {
    /// Every rule, in the order in which they are shown.
    pub const ALL: [Self; 12] = [
        Self::Stalled,
        Self::Stopped,
        Self::Gap,
        Self::Rewound,
        Self::Expiring,
        Self::Unnotifiable,
        Self::CaseTwins,
        Self::BareWatchers,
        Self::HeadsWithoutRows,
        Self::Blocked,
        Self::TickOverdue,
        Self::QueueNearCap,
    ];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stalled => "stalled",
            Self::Stopped => "stopped",
            Self::Gap => "gap",
            Self::Rewound => "rewound",
            Self::Expiring => "expiring",
            Self::Unnotifiable => "unnotifiable",
            Self::CaseTwins => "case-twins",
            Self::BareWatchers => "bare-watchers",
            Self::HeadsWithoutRows => "heads-without-rows",
            Self::Blocked => "blocked",
            Self::TickOverdue => "tick-overdue",
            Self::QueueNearCap => "queue-near-cap",
        }
    }

    /// What it means and what to do, in a sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Stalled => {
                "the watcher takes turns without taking its notices: does its hook run `tidings turn`?"
            }
            Self::Stopped => {
                "a notice is open and the watcher has been silent for long: is it still running?"
            }
            Self::Gap => {
                "history that the watcher has not seen is gone: it has to refresh the whole state"
            }
            Self::Rewound => "last seen went back: a restored database, or a fault",
            Self::Expiring => {
                "nothing touched the watch for long: it ends after 30 days, watching again keeps it"
            }
            Self::Unnotifiable => {
                "the watch can announce nothing: the watcher's key is bare, or the target has two owners"
            }
            Self::CaseTwins => {
                "the keys differ only in case: two spellings are two sessions, and one of them may be a slip"
            }
            Self::BareWatchers => {
                "a bare key can hold no notices: watch with a key of the form agent:<id>:<rest>"
            }
            Self::HeadsWithoutRows => {
                "the session has a version and its newest event is gone: what changed can't be told any more"
            }
            Self::Blocked => {
                "the source can't be read on, so that human turns there go unseen: the upstream view says why"
            }
            Self::TickOverdue => {
                "no tick for long: human turns in adopted sessions go unseen until `tidings` or `tidings run` runs"
            }
            Self::QueueNearCap => {
                "the queue is nearly full, and then its oldest lines go: let the session take a turn"
            }
        }
    }
}

/// How often a rule matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Count {
    /// For these: keys of sessions, or of both sides of a watch.
    Known(Vec<String>),
    /// It can't be told yet, for this reason.
    NotEnoughData(&'static str),
}

/// What one rule found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// How often it matches.
    pub count: Count,
}

impl Finding {
    /// How often the rule matches; `None` without enough data.
    pub fn matches(&self) -> Option<usize> {
        match &self.count {
            Count::Known(subjects) => Some(subjects.len()),
            Count::NotEnoughData(_) => None,
        }
    }
}

/// What every rule finds in a picture.
pub fn findings(snapshot: &Snapshot) -> Vec<Finding> {
    Rule::ALL.into_iter().map(|rule| Finding { rule, count: count(rule, snapshot) }).collect()
}

fn count(rule: Rule, snapshot: &Snapshot) -> Count {
    if let Some(why) = not_enough_data(rule, snapshot) {
        return Count::NotEnoughData(why);
    }
    Count::Known(match rule {
        Rule::Stalled => in_condition(snapshot, Condition::Stalled),
        Rule::Stopped => in_condition(snapshot, Condition::Stopped),
        Rule::Gap => in_condition(snapshot, Condition::Gap),
        Rule::Rewound => in_condition(snapshot, Condition::Rewound),
        Rule::Expiring => in_condition(snapshot, Condition::Expiring),
        Rule::Unnotifiable => in_condition(snapshot, Condition::Unnotifiable),
        Rule::CaseTwins => case_twins(snapshot),
        Rule::BareWatchers => watches(snapshot, |row| !row.cursor.watcher.is_notifiable()),
        Rule::HeadsWithoutRows => {
            sessions(snapshot, |row| row.version.is_some() && row.last_event.is_none())
        }
        Rule::Blocked => sessions(snapshot, |row| {
            row.upstream
                .as_ref()
                .is_some_and(|link| matches!(link.outcome.as_str(), "blocked" | "unreadable"))
        }),
        Rule::TickOverdue => {
            if snapshot.pulse.overdue {
                vec!["the upstream monitor".into()]
            } else {
                Vec::new()
            }
        }
        Rule::QueueNearCap => near_cap(snapshot),
    })
}

fn not_enough_data(rule: Rule, snapshot: &Snapshot) -> Option<&'static str> {
    let is_attached = matches!(snapshot.source, Source::Attached { .. });
    match rule {
        Rule::Blocked | Rule::TickOverdue if is_attached => {
            Some("only the system that owns the database knows its monitor")
        }
        Rule::Rewound if is_attached && snapshot.revision <= 1 => {
            Some("it takes two readings to see a cursor go back")
        }
        Rule::TickOverdue
            if snapshot.pulse.last_tick_at.is_none()
                && snapshot.pulse.links > 0
                && !snapshot.pulse.overdue =>
        {
            Some("the monitor has not ticked yet")
        }
        Rule::Blocked
            if snapshot.sessions.iter().any(|row| {
                row.watchers > 0
                    && row.upstream.as_ref().is_some_and(|link| link.outcome_at.is_none())
            }) && sessions(snapshot, |row| {
                row.upstream.as_ref().is_some_and(|link| link.outcome_at.is_some())
            })
            .is_empty() =>
        {
            Some("no source was looked at yet")
        }
        _ => None,
    }
}

fn in_condition(snapshot: &Snapshot, condition: Condition) -> Vec<String> {
    watches(snapshot, |row| row.condition == condition)
}

fn watches(snapshot: &Snapshot, holds: impl Fn(&WatchRow) -> bool) -> Vec<String> {
    let pair = |row: &WatchRow| format!("{} → {}", row.cursor.watcher, row.cursor.target);
    snapshot.watches.iter().filter(|row| holds(row)).map(pair).collect()
}

fn sessions(snapshot: &Snapshot, holds: impl Fn(&SessionRow) -> bool) -> Vec<String> {
    snapshot.sessions.iter().filter(|row| holds(row)).map(|row| row.key.to_string()).collect()
}

fn case_twins(snapshot: &Snapshot) -> Vec<String> {
    let mut spellings: HashMap<String, Vec<&str>> = HashMap::new();
    for row in snapshot.sessions.iter() {
        let key = row.key.as_str();
        let known = spellings.entry(key.to_lowercase()).or_default();
        if !known.contains(&key) {
            known.push(key);
        }
    }
    let mut twins: Vec<_> = spellings
        .into_values()
        .filter(|spellings| spellings.len() > 1)
        .map(|spellings| spellings.join(" / "))
        .collect();
    twins.sort();
    twins
}

/// Our notices never push anything out; in another system all its lines share the cap, and its cursors imply how many are notices.
fn near_cap(snapshot: &Snapshot) -> Vec<String> {
    if matches!(snapshot.source, Source::Own) {
        let near = snapshot.queues.iter().filter(|queue| queue.others >= NEAR_CAP);
        return near.map(|queue| queue.session.to_string()).collect();
    }
    sessions(snapshot, |row| row.pending_notices >= NEAR_CAP)
}

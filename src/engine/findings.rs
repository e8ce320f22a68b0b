//! Findings: lints over a picture. A rule, a sentence, a count, and *not enough data yet* as an answer of its own.

use std::collections::{HashMap, HashSet};

use super::queue::CAPACITY;
use super::snapshot::{Role, SessionRow, Snapshot, WatchRow};
use crate::session_key::SessionKey;
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

    /// The condition that it is about; such a rule matches pairs.
    pub fn condition(self) -> Option<Condition> {
        Some(match self {
            Self::Stalled => Condition::Stalled,
            Self::Stopped => Condition::Stopped,
            Self::Gap => Condition::Gap,
            Self::Rewound => Condition::Rewound,
            Self::Expiring => Condition::Expiring,
            Self::Unnotifiable => Condition::Unnotifiable,
            Self::CaseTwins
            | Self::BareWatchers
            | Self::HeadsWithoutRows
            | Self::Blocked
            | Self::TickOverdue
            | Self::QueueNearCap => return None,
        })
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

/// What one rule found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// Where it matches: keys of sessions, or of both sides of a watch.
    pub subjects: Vec<String>,
    /// What could not be judged, and why. There may be matches all the same.
    pub not_judged: Option<String>,
}

impl Finding {
    /// How often the rule matches; `None` without enough data. What could only be judged in part is never "no match".
    pub fn matches(&self) -> Option<usize> {
        match self.subjects.len() {
            0 if self.not_judged.is_some() => None,
            matches => Some(matches),
        }
    }
}

/// What every rule finds in a picture.
pub fn findings(snapshot: &Snapshot) -> Vec<Finding> {
    let judge = |rule| Finding {
        rule,
        subjects: subjects(rule, snapshot),
        not_judged: not_judged(rule, snapshot),
    };
    Rule::ALL.into_iter().map(judge).collect()
}

/// Every rule over a state that can't be read, for this reason.
pub fn unreadable(why: &str) -> Vec<Finding> {
    let nothing = |rule| Finding { rule, subjects: Vec::new(), not_judged: Some(why.to_owned()) };
    Rule::ALL.into_iter().map(nothing).collect()
}

fn subjects(rule: Rule, snapshot: &Snapshot) -> Vec<String> {
    if let Some(condition) = rule.condition() {
        return watches(snapshot, |row| row.condition == condition);
    }
    match rule {
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
        Rule::TickOverdue if snapshot.pulse.overdue => vec!["the upstream monitor".into()],
        Rule::QueueNearCap => near_cap(snapshot),
        _ => Vec::new(),
    }
}

/// What a rule can't judge in a picture, and why.
fn not_judged(rule: Rule, snapshot: &Snapshot) -> Option<String> {
    let is_attached = snapshot.is_attached();
    match rule {
        Rule::CaseTwins | Rule::BareWatchers | Rule::HeadsWithoutRows => None,
        Rule::Blocked | Rule::TickOverdue | Rule::QueueNearCap if snapshot.is_past => {
            Some("nobody keeps what links and queues were then".into())
        }
        Rule::Blocked | Rule::TickOverdue if is_attached => {
            Some("only the system that owns the database knows its monitor".into())
        }
        Rule::Blocked => unseen_sources(snapshot),
        Rule::TickOverdue => {
            let pulse = &snapshot.pulse;
            let is_awaited = pulse.last_tick_at.is_none() && pulse.links > 0 && !pulse.overdue;
            is_awaited.then(|| "the monitor has not ticked yet".into())
        }
        Rule::QueueNearCap if is_attached => Some(
            "only the system that owns the database knows its queues; its cursors imply how many lines are notices"
                .into(),
        ),
        Rule::QueueNearCap => (snapshot.is_owned && snapshot.role != Role::Owner)
            .then(|| "only the owner's process knows the lines of its queues".into()),
        Rule::Rewound if is_attached && snapshot.revision <= 1 => {
            Some("it takes two readings to see a cursor go back".into())
        }
        Rule::Stalled => unknown_watches(snapshot).or_else(|| unheard_watchers(snapshot)),
        Rule::Stopped | Rule::Gap | Rule::Rewound | Rule::Expiring | Rule::Unnotifiable => {
            unknown_watches(snapshot)
        }
    }
}

/// A pair of which nothing is known is in no other condition.
fn unknown_watches(snapshot: &Snapshot) -> Option<String> {
    let mut unknown = snapshot.watches.iter().filter(|row| row.condition == Condition::Unknown);
    let first = unknown.next()?.because(snapshot.at);
    Some(format!("{} can't be judged: {first}", count(1 + unknown.count(), "watch", "watches")))
}

/// Whether a watcher takes turns can't be told while nothing records any of them. Once it is silent for long, it is stopped.
fn unheard_watchers(snapshot: &Snapshot) -> Option<String> {
    let heard: HashSet<&SessionKey> = snapshot
        .sessions
        .iter()
        .filter(|row| row.version.is_some() || row.last_turn_at.is_some())
        .map(|row| &row.key)
        .collect();
    let unheard: HashSet<&SessionKey> = snapshot
        .watches
        .iter()
        .filter(|row| {
            let is_judged = matches!(row.condition, Condition::Stopped | Condition::Unnotifiable);
            row.cursor.is_pending() && !is_judged
        })
        .map(|row| &row.cursor.watcher)
        .filter(|watcher| !heard.contains(watcher))
        .collect();
    (!unheard.is_empty()).then(|| {
        let watchers = count(unheard.len(), "watcher", "watchers");
        format!("no turn is on record of {watchers} with an open notice")
    })
}

/// A source that no tick looked at may be blocked, and so may all of them when nothing ticks.
fn unseen_sources(snapshot: &Snapshot) -> Option<String> {
    if snapshot.pulse.overdue {
        return Some(
            "the monitor's tick is overdue: what became of the sources since is unknown".into(),
        );
    }
    let is_unseen = |row: &&SessionRow| {
        row.watchers > 0 && row.upstream.as_ref().is_some_and(|link| link.outcome_at.is_none())
    };
    let unseen = snapshot.sessions.iter().filter(is_unseen).count();
    (unseen > 0)
        .then(|| format!("no tick has looked at {} yet", count(unseen, "source", "sources")))
}

fn count(number: usize, one: &str, more: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { more })
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
    if !snapshot.is_attached() {
        let near = snapshot.queues.iter().filter(|queue| queue.others >= NEAR_CAP);
        return near.map(|queue| queue.session.to_string()).collect();
    }
    sessions(snapshot, |row| row.pending_notices >= NEAR_CAP)
}

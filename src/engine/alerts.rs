//! Alerts: a pair that is in a state for longer than a time. Each opens once, repeats rarely, and closes.

use std::collections::BTreeMap;

use super::condition::span;
use super::snapshot::{Snapshot, WatchRow};
use crate::clock::Millis;
use crate::journal::alerts::StoredAlert;
use crate::session_key::SessionKey;
use crate::watch::Condition;

/// What to look for, and whom to tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertRule {
    /// Its name.
    pub name: String,
    /// The states in which a pair is bad.
    pub conditions: Vec<Condition>,
    /// For how long it has to be in one of them.
    pub longer_than: Millis,
    /// Told again this long after it was last told, while it stays open.
    pub repeat: Millis,
    /// Only pairs with this watcher.
    pub watcher: Option<SessionKey>,
    /// Only pairs with this target.
    pub target: Option<SessionKey>,
    /// The program to run, with its arguments; none when empty.
    pub command: Vec<String>,
    /// Whether the desktop shows a message.
    pub desktop: bool,
}

/// What happened to an alert.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// It opened.
    Opened,
    /// It is still open.
    Repeated,
    /// It is over.
    Closed,
    /// Somebody tries whether alerts arrive.
    Test,
}

impl Turn {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Opened => "opened",
            Self::Repeated => "repeated",
            Self::Closed => "closed",
            Self::Test => "test",
        }
    }
}

/// Something to tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alert {
    /// The rule's name.
    pub rule: String,
    /// What happened.
    pub turn: Turn,
    /// Who watches.
    pub watcher: SessionKey,
    /// Who is watched.
    pub target: SessionKey,
    /// The state of the pair now.
    pub condition: Condition,
    /// Since when the pair was bad.
    pub since: Millis,
    /// All of it in a sentence.
    pub sentence: String,
}

type Place = (String, SessionKey, SessionKey);

/// How a pair stands with a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Standing {
    since: Millis,
    /// When it was last told; `None` while it is not open.
    told_at: Option<Millis>,
}

/// The alerts that are open, and the pairs that may become ones.
#[derive(Debug, Default)]
pub struct Alerts {
    rules: Vec<AlertRule>,
    standings: BTreeMap<Place, Standing>,
}

impl Alerts {
    /// Alerts by these rules; `open` are those that an earlier process opened.
    pub fn new(rules: Vec<AlertRule>, open: &[StoredAlert]) -> Self {
        let standings = open
            .iter()
            .filter(|alert| rules.iter().any(|rule| rule.name == alert.rule))
            .map(|alert| {
                let place = (alert.rule.clone(), alert.watcher.clone(), alert.target.clone());
                (place, Standing { since: alert.since, told_at: Some(alert.told_at) })
            })
            .collect();
        Self { rules, standings }
    }

    /// The rules.
    pub fn rules(&self) -> &[AlertRule] {
        &self.rules
    }

    /// The alerts that are open, to be remembered.
    pub fn open(&self) -> Vec<StoredAlert> {
        self.standings
            .iter()
            .filter_map(|((rule, watcher, target), standing)| {
                Some(StoredAlert {
                    rule: rule.clone(),
                    watcher: watcher.clone(),
                    target: target.clone(),
                    since: standing.since,
                    told_at: standing.told_at?,
                })
            })
            .collect()
    }

    /// Looks at a picture and says what is to be told.
    pub fn look(&mut self, snapshot: &Snapshot) -> Vec<Alert> {
        let mut told = Vec::new();
        let mut seen = Vec::new();
        for rule in &self.rules {
            for row in snapshot.watches.iter().filter(|row| rule.is_about(row)) {
                let cursor = &row.cursor;
                let place = (rule.name.clone(), cursor.watcher.clone(), cursor.target.clone());
                if rule.conditions.contains(&row.condition) {
                    let standing = self.standings.entry(place.clone()).or_insert_with(|| {
                        Standing { since: rule.since(row, snapshot.at), told_at: None }
                    });
                    told.extend(rule.tell(row, standing, snapshot.at));
                    seen.push(place);
                } else if row.condition == Condition::Unknown {
                    // What can't be judged neither opens nor closes anything.
                    seen.push(place);
                }
            }
        }
        let over: Vec<_> =
            self.standings.keys().filter(|place| !seen.contains(place)).cloned().collect();
        for place in over {
            if let Some(standing) = self.standings.remove(&place)
                && standing.told_at.is_some()
            {
                told.push(closed(place, standing.since, snapshot));
            }
        }
        told
    }

    /// One alert a rule, to try whether they arrive.
    pub fn test(&self, now: Millis) -> Vec<(AlertRule, Alert)> {
        let example = |rule: &AlertRule| Alert {
            rule: rule.name.clone(),
            turn: Turn::Test,
            watcher: rule.watcher.clone().unwrap_or_else(|| SessionKey::new("agent:main:main")),
            target: rule
                .target
                .clone()
                .unwrap_or_else(|| SessionKey::new("agent:main:subagent:example")),
            condition: rule.conditions.first().copied().unwrap_or(Condition::Pending),
            since: now,
            sentence: format!("{}: this is a test, nothing is wrong", rule.name),
        };
        self.rules.iter().map(|rule| (rule.clone(), example(rule))).collect()
    }
}

impl AlertRule {
    fn is_about(&self, row: &WatchRow) -> bool {
        self.watcher.as_ref().is_none_or(|watcher| *watcher == row.cursor.watcher)
            && self.target.as_ref().is_none_or(|target| *target == row.cursor.target)
    }

    /// Since when the pair is bad: an open notice says so itself, anything else counts from when it was first seen.
    fn since(&self, row: &WatchRow, now: Millis) -> Millis {
        let by_notice = self.conditions.iter().all(|condition| {
            matches!(
                condition,
                Condition::Pending
                    | Condition::PendingQuiet
                    | Condition::Interleaved
                    | Condition::Stalled
                    | Condition::Stopped
            )
        });
        if by_notice { row.pending_since.unwrap_or(now) } else { now }
    }

    fn tell(&self, row: &WatchRow, standing: &mut Standing, now: Millis) -> Option<Alert> {
        let turn = match standing.told_at {
            None if now - standing.since >= self.longer_than => Turn::Opened,
            Some(told_at) if now - told_at >= self.repeat => Turn::Repeated,
            _ => return None,
        };
        standing.told_at = Some(now);
        let (watcher, target) = (row.cursor.watcher.clone(), row.cursor.target.clone());
        let sentence = format!(
            "{}: {watcher} on {target} is {} for {}: {}",
            self.name,
            row.condition,
            span(now - standing.since),
            row.because(now)
        );
        Some(Alert {
            rule: self.name.clone(),
            turn,
            watcher,
            target,
            condition: row.condition,
            since: standing.since,
            sentence,
        })
    }
}

fn closed(place: Place, since: Millis, snapshot: &Snapshot) -> Alert {
    let (rule, watcher, target) = place;
    let row = snapshot
        .watches
        .iter()
        .find(|row| row.cursor.watcher == watcher && row.cursor.target == target);
    let condition = row.map_or(Condition::InStep, |row| row.condition);
    let now = match row {
        Some(row) => format!("is {} again", row.condition),
        None => "is no watch any more".to_owned(),
    };
    let sentence =
        format!("{rule}: {watcher} on {target} {now}, after {}", span(snapshot.at - since));
    Alert { rule, turn: Turn::Closed, watcher, target, condition, since, sentence }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::clock::{HOUR, MINUTE};
    use crate::engine::reason::Reason;
    use crate::engine::snapshot::WakeState;
    use crate::event::Sequence;
    use crate::watch::{Cursor, PairState, Provenance};

    const NOW: Millis = 1_000 * HOUR;

    fn rule() -> AlertRule {
        AlertRule {
            name: "stuck".into(),
            conditions: vec![Condition::Pending, Condition::Stopped],
            longer_than: 10 * MINUTE,
            repeat: 4 * HOUR,
            watcher: None,
            target: None,
            command: Vec::new(),
            desktop: false,
        }
    }

    fn picture(at: Millis, condition: Condition) -> Snapshot {
        let cursor = Cursor {
            watcher: SessionKey::new("w"),
            target: SessionKey::new("t"),
            seen: Sequence(1),
            notified: Sequence(2),
            material: Sequence(2),
            provenance: Provenance::Explicit,
            updated_at: NOW,
        };
        let row = WatchRow {
            cursor,
            head: Sequence(2),
            state: PairState::Pending,
            condition,
            reason: Reason::Told("why".into()),
            pending_since: (condition != Condition::InStep).then_some(NOW),
            wake: WakeState::NotDue,
            expires_at: NOW,
        };
        Snapshot { at, watches: Arc::new(vec![row]), ..Snapshot::default() }
    }

    fn turns(alerts: &mut Alerts, at: Millis, condition: Condition) -> Vec<Turn> {
        alerts.look(&picture(NOW + at, condition)).into_iter().map(|alert| alert.turn).collect()
    }

    #[test]
    fn an_alert_opens_once_repeats_rarely_and_closes() {
        let mut alerts = Alerts::new(vec![rule()], &[]);
        let pending = Condition::Pending;
        assert_eq!(turns(&mut alerts, 0, pending), []);
        assert_eq!(turns(&mut alerts, 10 * MINUTE - 1, pending), []);
        assert_eq!(turns(&mut alerts, 10 * MINUTE, Condition::Stopped), [Turn::Opened]);
        assert_eq!(turns(&mut alerts, 11 * MINUTE, pending), []);
        assert_eq!(turns(&mut alerts, 12 * MINUTE, Condition::Unknown), []);
        assert_eq!(turns(&mut alerts, 4 * HOUR + 10 * MINUTE, pending), [Turn::Repeated]);
        assert_eq!(turns(&mut alerts, 5 * HOUR, pending), []);
        assert_eq!(turns(&mut alerts, 6 * HOUR, Condition::InStep), [Turn::Closed]);
        assert_eq!(turns(&mut alerts, 7 * HOUR, Condition::InStep), []);
    }

    #[test]
    fn another_process_goes_on_where_one_ended() {
        let mut alerts = Alerts::new(vec![rule()], &[]);
        turns(&mut alerts, 20 * MINUTE, Condition::Pending);
        let open = alerts.open();
        assert_eq!(open.len(), 1);
        let mut next = Alerts::new(vec![rule()], &open);
        assert_eq!(turns(&mut next, 21 * MINUTE, Condition::Pending), []);
        assert_eq!(turns(&mut next, 22 * MINUTE, Condition::InStep), [Turn::Closed]);
        assert!(Alerts::new(Vec::new(), &open).open().is_empty(), "its rule is gone");
    }

    #[test]
    fn a_pair_that_goes_closes_its_alert_and_a_filter_leaves_others_out() {
        let mut alerts = Alerts::new(vec![rule()], &[]);
        turns(&mut alerts, 20 * MINUTE, Condition::Pending);
        let gone = alerts.look(&Snapshot { at: NOW + HOUR, ..Snapshot::default() });
        assert_eq!(gone[0].turn, Turn::Closed);
        assert!(gone[0].sentence.contains("no watch any more"), "{}", gone[0].sentence);
        let other = AlertRule { watcher: Some(SessionKey::new("x")), ..rule() };
        assert_eq!(turns(&mut Alerts::new(vec![other], &[]), HOUR, Condition::Pending), []);
    }
}

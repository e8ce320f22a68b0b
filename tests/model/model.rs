//! The plain model: what the rules say, in ordinary collections, without a database.

use std::collections::{BTreeMap, BTreeSet};

use tidings::clock::{DAY, HOUR};
use tidings::engine::Discipline;
use tidings::event::EventKind;

use crate::operation::{GROUP, Operation, SESSIONS, Session};

/// What an operation came to. Lines, acknowledged targets and follow-ups are sorted where their order is nobody's business.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    Nothing,
    Refused,
    Recorded {
        sequence: Option<i64>,
        deduped: bool,
        /// Watcher, since, whether it opened, whether it is ambient.
        notices: Vec<(Session, i64, bool, bool)>,
        suppressed: Vec<Session>,
    },
    Watching(&'static str),
    Taken {
        lines: Vec<Line>,
        acknowledged: Vec<Session>,
        follow_ups: Vec<Session>,
        messages: usize,
    },
    Ended(usize),
    Deleted {
        events: usize,
        cursors: usize,
        messages: usize,
    },
    Swept {
        requeued: usize,
        passed_over: usize,
    },
    Changes {
        events: Vec<i64>,
        truncated: bool,
        earliest: i64,
        history_gap: bool,
        version: i64,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Line {
    Notice(Session, i64),
    Other(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Watch {
    pub(crate) watcher: Session,
    pub(crate) target: Session,
    pub(crate) seen: i64,
    pub(crate) notified: i64,
    pub(crate) material: i64,
    pub(crate) ambient: bool,
    pub(crate) updated_at: i64,
}

impl Watch {
    pub(crate) fn is_pending(&self) -> bool {
        self.material > self.seen
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) last: i64,
    pub(crate) pruned: i64,
    pub(crate) updated_at: i64,
}

#[derive(Debug, Clone)]
struct Recorded {
    sequence: i64,
    session: Session,
    dedupe: Option<u8>,
    occurred_at: i64,
}

/// What one process keeps in memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Memory {
    pub(crate) queues: BTreeMap<Session, Vec<Line>>,
    /// Last seen and newest material event of the pending pairs when it last looked.
    known: BTreeMap<(Session, Session), (i64, i64)>,
}

pub(crate) struct Model {
    discipline: Discipline,
    pub(crate) now: i64,
    last_number: i64,
    last_prune: i64,
    events: Vec<Recorded>,
    pub(crate) heads: BTreeMap<Session, Head>,
    tombstones: BTreeMap<Session, i64>,
    /// In the order in which they were made.
    pub(crate) watches: Vec<Watch>,
    registered: BTreeSet<Session>,
    /// Receiver and time of each message.
    inbox: Vec<(Session, i64)>,
    pub(crate) memories: [Memory; 2],
    /// Wakes asked for by the operation: watcher and target, in order.
    pub(crate) asked: Vec<(Session, Session)>,
    others: usize,
}

pub(crate) fn is_bare(session: Session) -> bool {
    !SESSIONS[session].starts_with("agent:")
}

fn is_subagent(session: Session) -> bool {
    SESSIONS[session].contains(":subagent:")
}

fn notifies(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::HumanDirectMessage | EventKind::GoalChanged | EventKind::UpstreamMissing
    )
}

impl Model {
    pub(crate) fn new(discipline: Discipline, now: i64) -> Self {
        Self {
            discipline,
            now,
            last_number: 0,
            last_prune: 0,
            events: Vec::new(),
            heads: BTreeMap::new(),
            tombstones: BTreeMap::new(),
            watches: Vec::new(),
            registered: BTreeSet::new(),
            inbox: Vec::new(),
            memories: [Memory::default(), Memory::default()],
            asked: Vec::new(),
            others: 0,
        }
    }

    pub(crate) fn watch_mut(&mut self, watcher: Session, target: Session) -> Option<&mut Watch> {
        self.watches.iter_mut().find(|watch| watch.watcher == watcher && watch.target == target)
    }

    /// The text of the next line that is no notice.
    pub(crate) fn next_other(&self) -> String {
        format!("line {}", self.others)
    }

    /// What a process does before it acts: it looks what the other one did. Wakes for that are in `asked` afterwards.
    pub(crate) fn look(&mut self, process: usize) {
        self.asked.clear();
        if self.discipline == Discipline::Loose {
            return;
        }
        let pending: Vec<_> =
            self.watches.iter().filter(|watch| watch.is_pending()).cloned().collect();
        let known = std::mem::take(&mut self.memories[process].known);
        for watch in &pending {
            let pair = (watch.watcher, watch.target);
            let marks = (watch.seen, watch.material);
            if known.get(&pair) != Some(&marks) && !watch.ambient && !is_subagent(watch.watcher) {
                self.asked.push(pair);
            }
            self.memories[process].known.insert(pair, marks);
        }
        self.reconcile(process);
    }

    /// One line a pending pair, and no other notice.
    fn reconcile(&mut self, process: usize) {
        let pending: Vec<_> = self.watches.iter().filter(|watch| watch.is_pending()).collect();
        let queues = &mut self.memories[process].queues;
        for lines in queues.values_mut() {
            lines.retain(|line| matches!(line, Line::Other(_)));
        }
        for watch in pending {
            queues.entry(watch.watcher).or_default().push(Line::Notice(watch.target, watch.seen));
        }
        queues.retain(|_, lines| !lines.is_empty());
    }

    /// What the discipline asks for after an operation of `process`.
    fn after(&mut self, process: usize) {
        if self.discipline == Discipline::InStep {
            let mut asked = std::mem::take(&mut self.asked);
            self.look(process);
            asked.append(&mut self.asked);
            self.asked = asked;
        }
    }

    /// Queues a notice as the original does, and asks for its wake.
    fn deliver(
        &mut self,
        process: usize,
        watcher: Session,
        target: Session,
        since: i64,
        ambient: bool,
    ) {
        let lines = self.memories[process].queues.entry(watcher).or_default();
        let about = |line: &Line| matches!(line, Line::Notice(about, _) if *about == target);
        let line = Line::Notice(target, since);
        let same: Vec<_> = lines.iter().filter(|line| about(line)).collect();
        if ambient {
            if same != [&line] {
                lines.retain(|line| !about(line));
                lines.push(line);
            }
        } else {
            if !same.contains(&&line) {
                lines.push(line);
            }
            if !is_subagent(watcher) {
                self.asked.push((watcher, target));
            }
        }
    }

    fn record(
        &mut self,
        process: usize,
        event: (Session, &EventKind, Option<Session>, &[Session], Option<u8>, i64),
    ) -> Outcome {
        let (session, kind, actor, named, dedupe, age) = event;
        self.last_number += 1;
        let sequence = self.last_number;
        let owner = self.events.iter().find(|event| dedupe.is_some() && event.dedupe == dedupe);
        if let Some(owner) = owner {
            // The key 0 is the empty one, under which nothing is found.
            let sequence = (dedupe != Some(0)).then_some(owner.sequence);
            self.prune_if_due();
            self.after(process);
            return Outcome::Recorded {
                sequence,
                deduped: true,
                notices: Vec::new(),
                suppressed: Vec::new(),
            };
        }
        let occurred_at = (self.now - age).clamp(self.now - DAY, self.now);
        self.events.push(Recorded { sequence, session, dedupe, occurred_at });
        let pruned = self.heads.get(&session).map_or(0, |head| head.pruned);
        self.heads.insert(session, Head { last: sequence, pruned, updated_at: self.now });
        let mut told = Vec::new();
        let mut watchers: Vec<Session> = Vec::new();
        for watcher in named.iter().copied().filter(|watcher| !is_bare(*watcher)) {
            if !watchers.contains(&watcher) {
                watchers.push(watcher);
            }
        }
        if *kind == EventKind::ChildSpawned {
            for watcher in watchers.drain(..) {
                self.seed(watcher, session, sequence);
            }
        } else if notifies(kind) {
            for watch in self.watches.iter().filter(|watch| watch.target == session) {
                if !watchers.contains(&watch.watcher) {
                    watchers.push(watch.watcher);
                }
            }
            told = watchers;
        }
        let (mut notices, mut suppressed) = (Vec::new(), Vec::new());
        for watcher in told {
            if actor == Some(watcher) {
                suppressed.push(watcher);
                continue;
            }
            notices.push(self.move_cursor(watcher, session, sequence));
        }
        for (watcher, since, _, ambient) in &notices {
            self.deliver(process, *watcher, session, *since, *ambient);
        }
        self.prune_if_due();
        self.after(process);
        Outcome::Recorded { sequence: Some(sequence), deduped: false, notices, suppressed }
    }

    fn seed(&mut self, watcher: Session, target: Session, sequence: i64) {
        let seeded = Watch {
            watcher,
            target,
            seen: sequence,
            notified: sequence,
            material: sequence,
            ambient: false,
            updated_at: self.now,
        };
        match self.watch_mut(watcher, target) {
            Some(watch) => *watch = seeded,
            None => self.watches.push(seeded),
        }
    }

    fn move_cursor(
        &mut self,
        watcher: Session,
        target: Session,
        sequence: i64,
    ) -> (Session, i64, bool, bool) {
        let now = self.now;
        if let Some(watch) = self.watch_mut(watcher, target) {
            let opens = watch.notified == watch.seen;
            if opens {
                watch.notified = sequence;
            }
            watch.material = sequence;
            watch.updated_at = now;
            return (watcher, watch.seen, opens, watch.ambient);
        }
        self.watches.push(Watch {
            watcher,
            target,
            seen: 0,
            notified: sequence,
            material: sequence,
            ambient: false,
            updated_at: now,
        });
        (watcher, 0, true, false)
    }

    fn prune_if_due(&mut self) {
        if self.now - self.last_prune > HOUR {
            self.prune();
        }
    }

    fn prune(&mut self) {
        let cutoff = self.now - 30 * DAY;
        for event in self.events.iter().filter(|event| event.occurred_at < cutoff) {
            if let Some(head) =
                self.heads.get_mut(&event.session).filter(|head| head.pruned < event.sequence)
            {
                head.pruned = event.sequence;
                head.updated_at = self.now;
            }
        }
        self.events.retain(|event| event.occurred_at >= cutoff);
        self.watches.retain(|watch| watch.updated_at >= cutoff);
        self.inbox.retain(|(_, sent_at)| *sent_at >= cutoff);
        self.last_prune = self.last_prune.max(self.now);
    }

    /// Acknowledges each target once: last seen moves to the frozen notified, notified to the newest material event.
    fn acknowledge(
        &mut self,
        process: usize,
        watcher: Session,
        targets: &[Session],
    ) -> (Vec<Session>, Vec<Session>) {
        let (mut acknowledged, mut follow_ups) = (Vec::new(), Vec::new());
        for target in targets {
            if acknowledged.contains(target) {
                continue;
            }
            let now = self.now;
            let Some(watch) = self.watch_mut(watcher, *target) else { continue };
            let follows = watch.material > watch.notified;
            watch.seen = watch.notified;
            watch.notified = watch.material;
            watch.updated_at = now;
            acknowledged.push(*target);
            if follows {
                follow_ups.push(*target);
            }
        }
        for target in &follow_ups {
            let watch = self.watch_mut(watcher, *target).unwrap().clone();
            self.deliver(process, watcher, *target, watch.seen, watch.ambient);
        }
        self.after(process);
        acknowledged.sort_unstable();
        follow_ups.sort_unstable();
        (acknowledged, follow_ups)
    }

    fn drain(
        &mut self,
        process: usize,
        watcher: Session,
        wanted: impl Fn(&Line) -> bool,
    ) -> Outcome {
        let lines = self.memories[process].queues.remove(&watcher).unwrap_or_default();
        let (mut taken, left): (Vec<_>, Vec<_>) = lines.into_iter().partition(wanted);
        if !left.is_empty() {
            self.memories[process].queues.insert(watcher, left);
        }
        let targets: Vec<_> = taken
            .iter()
            .filter_map(|line| match line {
                Line::Notice(target, _) => Some(*target),
                Line::Other(_) => None,
            })
            .collect();
        let (acknowledged, follow_ups) = self.acknowledge(process, watcher, &targets);
        taken.sort_unstable();
        Outcome::Taken { lines: taken, acknowledged, follow_ups, messages: 0 }
    }

    fn turn(&mut self, process: usize, watcher: Session) -> Outcome {
        self.registered.insert(watcher);
        let owed: Vec<_> = self
            .watches
            .iter()
            .filter(|watch| watch.watcher == watcher && watch.is_pending())
            .map(|watch| (watch.target, watch.seen))
            .collect();
        let messages = self.inbox.iter().filter(|(receiver, _)| *receiver == watcher).count();
        self.inbox.retain(|(receiver, _)| *receiver != watcher);
        self.memories[process].queues.remove(&watcher);
        let targets: Vec<_> = owed.iter().map(|(target, _)| *target).collect();
        let (acknowledged, follow_ups) = self.acknowledge(process, watcher, &targets);
        let mut lines: Vec<_> =
            owed.into_iter().map(|(target, since)| Line::Notice(target, since)).collect();
        lines.sort_unstable();
        Outcome::Taken { lines, acknowledged, follow_ups, messages }
    }

    fn register_watch(&mut self, watcher: Session, target: Session, ambient: bool) -> &'static str {
        let head = self.heads.get(&target).map_or(0, |head| head.last);
        let now = self.now;
        match self.watch_mut(watcher, target) {
            Some(watch) if watch.ambient && !ambient => {
                watch.ambient = false;
                "promoted"
            }
            Some(_) => "unchanged",
            None => {
                self.watches.push(Watch {
                    watcher,
                    target,
                    seen: head,
                    notified: head,
                    material: head,
                    ambient,
                    updated_at: now,
                });
                "made"
            }
        }
    }

    fn sweep(&mut self, process: usize) -> Outcome {
        let pending: Vec<_> =
            self.watches.iter().filter(|watch| watch.is_pending()).cloned().collect();
        let (living, dead): (Vec<_>, Vec<_>) =
            pending.into_iter().partition(|watch| self.registered.contains(&watch.watcher));
        let now = self.now;
        for swept in &living {
            let watch = self.watch_mut(swept.watcher, swept.target).unwrap();
            watch.notified = watch.material;
            watch.updated_at = now;
            self.deliver(process, swept.watcher, swept.target, swept.seen, swept.ambient);
        }
        self.prune();
        self.after(process);
        Outcome::Swept { requeued: living.len(), passed_over: dead.len() }
    }

    fn delete(&mut self, session: Session) -> Outcome {
        let before = (self.events.len(), self.watches.len(), self.inbox.len());
        self.events.retain(|event| event.session != session);
        self.watches.retain(|watch| watch.watcher != session && watch.target != session);
        self.inbox.retain(|(receiver, _)| *receiver != session);
        if let Some(head) = self.heads.remove(&session) {
            let tombstone = self.tombstones.entry(session).or_insert(0);
            *tombstone = head.last.max(*tombstone);
        }
        if self.discipline == Discipline::InStep {
            self.registered.remove(&session);
        }
        Outcome::Deleted {
            events: before.0 - self.events.len(),
            cursors: before.1 - self.watches.len(),
            messages: before.2 - self.inbox.len(),
        }
    }

    fn changes(&self, session: Session, after: i64, limit: usize) -> Outcome {
        let own: Vec<_> = self
            .events
            .iter()
            .filter(|event| event.session == session)
            .map(|event| event.sequence)
            .collect();
        let limit = limit.clamp(1, 200);
        let mut events: Vec<_> = own.iter().copied().filter(|sequence| *sequence > after).collect();
        let truncated = events.len() > limit;
        events.truncate(limit);
        let head = self.heads.get(&session);
        let version = head.map_or(0, |head| head.last);
        let lost = head
            .map_or(0, |head| head.pruned)
            .max(self.tombstones.get(&session).copied().unwrap_or(0));
        let none_left = if version > 0 { version + 1 } else { 0 };
        Outcome::Changes {
            events,
            truncated,
            earliest: own.first().copied().unwrap_or(none_left),
            history_gap: after < lost,
            version,
        }
    }

    /// The version that lies `back` before the head of a session.
    pub(crate) fn version_before(&self, session: Session, back: i64) -> i64 {
        self.heads.get(&session).map_or(0, |head| head.last) - back
    }

    /// Does `operation` as `process`.
    pub(crate) fn apply(&mut self, process: usize, operation: &Operation) -> Outcome {
        self.asked.clear();
        match operation {
            Operation::Record { session, kind, actor, named, dedupe, age } => {
                self.record(process, (*session, kind, *actor, named, *dedupe, *age))
            }
            Operation::DirectMessage { session, human, parent } => {
                let watched = self.watches.iter().any(|watch| watch.target == *session);
                if !human || parent.is_none() && !watched {
                    return Outcome::Recorded {
                        sequence: None,
                        deduped: false,
                        notices: Vec::new(),
                        suppressed: Vec::new(),
                    };
                }
                let named: Vec<_> = parent.iter().copied().collect();
                self.record(
                    process,
                    (*session, &EventKind::HumanDirectMessage, None, &named, None, 0),
                )
            }
            Operation::Watch { watcher, target } => {
                if watcher == target || is_bare(*watcher) {
                    return Outcome::Refused;
                }
                let done = self.register_watch(*watcher, *target, false);
                self.after(process);
                Outcome::Watching(done)
            }
            Operation::WatchGroup => {
                self.register_watch(GROUP.1, GROUP.0, true);
                self.after(process);
                Outcome::Nothing
            }
            Operation::Unwatch { watcher, target } => {
                let before = self.watches.len();
                self.watches.retain(|watch| (watch.watcher, watch.target) != (*watcher, *target));
                if self.watches.len() == before {
                    return Outcome::Refused;
                }
                self.after(process);
                Outcome::Nothing
            }
            Operation::Drain { watcher } => self.drain(process, *watcher, |_| true),
            Operation::DrainAbout { watcher, target } => self.drain(
                process,
                *watcher,
                |line| matches!(line, Line::Notice(about, _) if about == target),
            ),
            Operation::Turn { watcher } => self.turn(process, *watcher),
            Operation::Acknowledge { watcher, targets } => {
                let (acknowledged, follow_ups) = self.acknowledge(process, *watcher, targets);
                Outcome::Taken { lines: Vec::new(), acknowledged, follow_ups, messages: 0 }
            }
            other => self.apply_rare(process, other),
        }
    }

    fn apply_rare(&mut self, process: usize, operation: &Operation) -> Outcome {
        match operation {
            Operation::Take { watcher } => {
                self.memories[process].queues.remove(watcher);
                // What it knew of those pairs went with their lines.
                self.memories[process].known.retain(|(owing, _), _| owing != watcher);
                self.after(process);
            }
            Operation::AddOther { session } => {
                let text = self.next_other();
                self.others += 1;
                let lines = self.memories[process].queues.entry(*session).or_default();
                lines.push(Line::Other(text));
                let is_other = |line: &Line| matches!(line, Line::Other(_));
                if lines.iter().filter(|line| is_other(line)).count() > 20 {
                    let oldest = lines.iter().position(is_other).unwrap();
                    lines.remove(oldest);
                }
            }
            Operation::Send { from, to } => {
                self.registered.extend([*from, *to]);
                self.inbox.push((*to, self.now));
            }
            Operation::Register { session } => {
                self.registered.insert(*session);
            }
            Operation::Leave { session } => {
                self.registered.remove(session);
            }
            Operation::Restart => {
                self.memories[process] = Memory::default();
                self.look(process);
                // Who opens the database sweeps if a wake is owed.
                self.asked.clear();
            }
            Operation::Sweep => return self.sweep(process),
            Operation::Prune => {
                self.prune();
                self.after(process);
            }
            Operation::Advance(span) => self.now += span,
            Operation::Reset { session } => {
                let before = self.watches.len();
                self.watches.retain(|watch| watch.watcher != *session);
                let ended = before - self.watches.len();
                self.after(process);
                return Outcome::Ended(ended);
            }
            Operation::Delete { session } => {
                let deleted = self.delete(*session);
                self.after(process);
                return deleted;
            }
            Operation::Changes { session, back, limit } => {
                return self.changes(*session, self.version_before(*session, *back), *limit);
            }
            other => unreachable!("{other:?}"),
        }
        Outcome::Nothing
    }
}

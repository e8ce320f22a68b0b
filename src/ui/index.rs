//! What is looked up in a snapshot while it is shown, built once when it arrives and not once a frame.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::clock::Millis;
use crate::engine::snapshot::{SessionRow, Snapshot, WatchRow};
use crate::event::Sequence;
use crate::session_key::{AgentId, SessionKey};
use crate::watch::{Condition, Cursor};

/// A session by identity: the same key may belong to several agents.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct SessionId {
    pub(crate) key: SessionKey,
    pub(crate) agent: AgentId,
}

/// A watch by identity.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct PairId {
    pub(crate) watcher: SessionKey,
    pub(crate) target: SessionKey,
}

/// A snapshot with its index.
#[derive(Debug, Default)]
pub(crate) struct Picture {
    /// The snapshot.
    pub(crate) snapshot: Arc<Snapshot>,
    tree: Arc<Tree>,
    pairs: Arc<Pairs>,
}

/// The sessions of a snapshot, by key and along spawn edges.
#[derive(Debug, Default)]
struct Tree {
    by_key: HashMap<SessionKey, Vec<usize>>,
    roots: Vec<usize>,
    children: Vec<Vec<usize>>,
    /// When the newest event of each session or one of its descendants happened.
    newest: Vec<Millis>,
    /// Notices owed to each session and its descendants.
    owed: Vec<usize>,
}

/// The watches of a snapshot, by their ends and conditions.
#[derive(Debug, Default)]
struct Pairs {
    watching: HashMap<SessionKey, Vec<usize>>,
    watched_by: HashMap<SessionKey, Vec<usize>>,
    out_of_step: HashSet<SessionKey>,
    conditions: HashMap<Condition, usize>,
}

impl Picture {
    /// Indexes `snapshot`.
    pub(crate) fn of(snapshot: &Arc<Snapshot>) -> Self {
        Self {
            snapshot: Arc::clone(snapshot),
            tree: Arc::new(Tree::of(&snapshot.sessions)),
            pairs: Arc::new(Pairs::of(&snapshot.watches)),
        }
    }

    /// Indexes `snapshot`, which comes after this picture. What they share keeps its index.
    pub(crate) fn next(&self, snapshot: &Arc<Snapshot>) -> Self {
        let (old, new) = (&self.snapshot, snapshot);
        let same_sessions = Arc::ptr_eq(&old.sessions, &new.sessions);
        let same_watches = Arc::ptr_eq(&old.watches, &new.watches);
        let kept_tree = same_sessions.then(|| Arc::clone(&self.tree));
        let kept_pairs = same_watches.then(|| Arc::clone(&self.pairs));
        Self {
            snapshot: Arc::clone(new),
            tree: kept_tree.unwrap_or_else(|| Arc::new(Tree::of(&new.sessions))),
            pairs: kept_pairs.unwrap_or_else(|| Arc::new(Pairs::of(&new.watches))),
        }
    }

    /// Sessions without a parent in the snapshot, and one of each circle of parents.
    pub(crate) fn roots(&self) -> &[usize] {
        &self.tree.roots
    }

    /// The children of the session at `at`.
    pub(crate) fn children(&self, at: usize) -> &[usize] {
        self.tree.children.get(at).map_or(&[], Vec::as_slice)
    }

    /// When the newest event at or below the session at `at` happened.
    pub(crate) fn newest(&self, at: usize) -> Millis {
        self.tree.newest.get(at).copied().unwrap_or(Millis::MIN)
    }

    /// How many notices are owed at or below the session at `at`.
    pub(crate) fn owed(&self, at: usize) -> usize {
        self.tree.owed.get(at).copied().unwrap_or(0)
    }

    /// The session with this key; the first when several agents have one.
    pub(crate) fn session(&self, key: &SessionKey) -> Option<&SessionRow> {
        self.tree.by_key.get(key).and_then(|among| self.snapshot.sessions.get(*among.first()?))
    }

    /// The agent that owns the session with this key, as far as anybody knows.
    pub(crate) fn agent(&self, key: &SessionKey) -> AgentId {
        self.session(key)
            .map(|session| session.agent.clone())
            .or_else(|| key.agent())
            .unwrap_or_else(AgentId::main)
    }

    /// The watches that this session holds.
    pub(crate) fn watching(&self, key: &SessionKey) -> &[usize] {
        self.pairs.watching.get(key).map_or(&[], Vec::as_slice)
    }

    /// The watches on this session.
    pub(crate) fn watched_by(&self, key: &SessionKey) -> &[usize] {
        self.pairs.watched_by.get(key).map_or(&[], Vec::as_slice)
    }

    /// The watch of `pair`.
    pub(crate) fn pair(&self, pair: &PairId) -> Option<&WatchRow> {
        let watches = self.watching(&pair.watcher).iter();
        watches
            .map(|at| &self.snapshot.watches[*at])
            .find(|watch| watch.cursor.target == pair.target)
    }

    /// The operator's watch of this session.
    pub(crate) fn operator_watch(&self, target: &SessionKey) -> Option<&WatchRow> {
        self.pair(&PairId { watcher: SessionKey::operator(), target: target.clone() })
    }

    /// What is owed to the operator.
    pub(crate) fn owed_to_operator(&self) -> impl Iterator<Item = &WatchRow> {
        self.watching(&SessionKey::operator())
            .iter()
            .map(|at| &self.snapshot.watches[*at])
            .filter(|watch| watch.cursor.is_pending())
    }

    /// Whether a pair with this session at either end is not in step.
    pub(crate) fn is_out_of_step(&self, key: &SessionKey) -> bool {
        self.pairs.out_of_step.contains(key)
    }

    /// How many watches are in this condition.
    pub(crate) fn count(&self, condition: Condition) -> usize {
        self.pairs.conditions.get(&condition).copied().unwrap_or(0)
    }

    /// Every number that is known to mean something for this session, ascending: where its events stand, where it was
    /// pruned, and where its watchers are.
    pub(crate) fn known_sequences(&self, key: &SessionKey) -> Vec<Sequence> {
        let mut known = vec![Sequence(0)];
        if let Some(session) = self.session(key) {
            known.push(session.pruned);
            known.extend(session.version);
        }
        let events = self.snapshot.events.iter().map(|row| &row.event);
        known.extend(events.filter(|event| event.session == *key).map(|event| event.sequence));
        for at in self.watched_by(key) {
            let cursor = &self.snapshot.watches[*at].cursor;
            known.extend([cursor.seen, cursor.notified, cursor.material]);
        }
        known.sort_unstable();
        known.dedup();
        known
    }
}

impl Pairs {
    fn of(watches: &[WatchRow]) -> Self {
        let mut pairs = Self::default();
        for (at, watch) in watches.iter().enumerate() {
            let Cursor { watcher, target, .. } = &watch.cursor;
            pairs.watching.entry(watcher.clone()).or_default().push(at);
            pairs.watched_by.entry(target.clone()).or_default().push(at);
            *pairs.conditions.entry(watch.condition).or_default() += 1;
            if watch.condition != Condition::InStep {
                pairs.out_of_step.insert(watcher.clone());
                pairs.out_of_step.insert(target.clone());
            }
        }
        pairs
    }
}

impl Tree {
    /// Builds the tree along spawn edges. Parents come from outside: a circle is cut at its first session.
    fn of(sessions: &[SessionRow]) -> Self {
        let mut tree = Self::default();
        for (at, session) in sessions.iter().enumerate() {
            tree.by_key.entry(session.key.clone()).or_default().push(at);
        }
        let parents: Vec<Option<usize>> = sessions
            .iter()
            .map(|session| {
                let among = tree.by_key.get(session.parent.as_ref()?)?;
                let same_agent = |at: &&usize| sessions[**at].agent.same_as(&session.agent);
                among.iter().find(same_agent).or(among.first()).copied()
            })
            .collect();
        tree.children = vec![Vec::new(); parents.len()];
        for (at, parent) in parents.iter().enumerate() {
            match parent {
                Some(parent) if !leads_back(&parents, at) => tree.children[*parent].push(at),
                _ => tree.roots.push(at),
            }
        }
        tree.newest = sessions
            .iter()
            .map(|session| {
                session.last_event.as_ref().map_or(Millis::MIN, |event| event.occurred_at)
            })
            .collect();
        tree.owed = sessions.iter().map(|session| session.pending_notices).collect();
        for at in tree.leaves_first() {
            for child in &tree.children[at] {
                tree.newest[at] = tree.newest[at].max(tree.newest[*child]);
                tree.owed[at] = tree.owed[at].saturating_add(tree.owed[*child]);
            }
        }
        tree
    }

    fn leaves_first(&self) -> Vec<usize> {
        let mut order = self.roots.clone();
        let mut at = 0;
        while at < order.len() {
            order.extend_from_slice(&self.children[order[at]]);
            at += 1;
        }
        order.reverse();
        order
    }
}

impl SessionId {
    /// The identity of a row.
    pub(crate) fn of(session: &SessionRow) -> Self {
        Self { key: session.key.clone(), agent: session.agent.clone() }
    }
}

impl PairId {
    /// The identity of a row.
    pub(crate) fn of(watch: &WatchRow) -> Self {
        Self { watcher: watch.cursor.watcher.clone(), target: watch.cursor.target.clone() }
    }
}

/// Whether following parents from `start` comes back to a session with the lowest place in the circle: the one to cut.
fn leads_back(parents: &[Option<usize>], start: usize) -> bool {
    let mut lowest = start;
    let mut at = start;
    for _ in 0..parents.len() {
        match parents[at] {
            None => return false,
            Some(next) if next == start => return lowest == start,
            Some(next) => {
                lowest = lowest.min(next);
                at = next;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(key: &str, parent: Option<&str>) -> SessionRow {
        SessionRow {
            key: key.into(),
            agent: AgentId::main(),
            parent: parent.map(SessionKey::from),
            title: None,
            harness: None,
            version: None,
            pruned: Sequence(0),
            last_event: None,
            activity: Default::default(),
            watchers: 0,
            watching: 0,
            pending_notices: 1,
            messages: 0,
            has_goal: false,
            last_turn_at: None,
            ended_at: None,
            upstream: None,
        }
    }

    fn picture(sessions: Vec<SessionRow>) -> Picture {
        let sessions = Arc::new(sessions);
        Picture::of(&Arc::new(Snapshot { sessions, ..Snapshot::default() }))
    }

    #[test]
    fn children_hang_below_their_parents() {
        let picture =
            picture(vec![session("a", None), session("b", Some("a")), session("c", Some("x"))]);
        assert_eq!(picture.roots(), [0, 2]);
        assert_eq!(picture.children(0), [1]);
        assert_eq!(picture.owed(0), 2);
    }

    #[test]
    fn circles_of_parents_are_cut_once_and_nobody_is_lost() {
        let picture = picture(vec![
            session("a", Some("c")),
            session("b", Some("a")),
            session("c", Some("b")),
            session("d", Some("d")),
            session("e", Some("b")),
        ]);
        assert_eq!(picture.roots(), [0, 3]);
        let mut all = picture.tree.leaves_first();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 4]);
    }
}

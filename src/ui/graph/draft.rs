//! Which sessions and edges are drawn. What has no room is counted, so that drawn and hidden always add up.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use super::Ego;
use crate::event::Sequence;
use crate::session_key::SessionKey;
use crate::ui::index::{PairId, Picture};
use crate::ui::words;
use crate::watch::{Condition, Provenance};

/// The most nodes that are drawn: more can't be found one's way about in, nor laid out in no time.
const MOST_NODES: usize = 400;
/// The most edges that are drawn.
const MOST_EDGES: usize = 1_200;

/// A session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) key: SessionKey,
    pub(crate) title: Option<String>,
    pub(crate) version: Option<Sequence>,
    /// Notices that it has not taken.
    pub(crate) owed: usize,
    pub(crate) has_ended: bool,
    pub(crate) watches_itself: bool,
}

impl Node {
    /// What the search looks at.
    pub(crate) fn text(&self) -> String {
        match &self.title {
            Some(title) => format!("{}  {title}", words::whole_key(&self.key)),
            None => words::whole_key(&self.key),
        }
    }
}

/// An edge from a watcher to its target, from a parent to its child, or both at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// The watch.
    pub(crate) watch: Option<Watch>,
    /// Whether the one spawned the other.
    pub(crate) is_spawn: bool,
}

/// What an edge tells of its watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Watch {
    pub(crate) condition: Condition,
    /// What is owed.
    pub(crate) lag: i64,
    pub(crate) provenance: Provenance,
}

/// What is drawn of a picture.
#[derive(Debug, Default, Clone)]
pub(crate) struct Draft {
    pub(crate) nodes: Vec<Node>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) hidden_nodes: usize,
    pub(crate) hidden_watches: usize,
    pub(crate) hidden_spawns: usize,
}

impl Draft {
    /// What is drawn of `picture`: all, or what is near the center of `ego`; with `only_out_of_step` no other watches.
    pub(crate) fn of(
        picture: &Picture,
        ego: Option<&Ego>,
        only_out_of_step: bool,
        selected: Option<&SessionKey>,
    ) -> Self {
        let all = Everything::of(picture, only_out_of_step);
        let mut kept: Vec<&SessionKey> = match ego {
            Some(ego) => all.around(ego),
            None if only_out_of_step => all
                .edges
                .keys()
                .flat_map(|(a, b)| [*a, *b])
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect(),
            None => all.keys.iter().copied().collect(),
        };
        if kept.len() > MOST_NODES {
            kept = all.most_wanted(kept, selected);
        }
        let mut draft = Self::default();
        let place: HashMap<&SessionKey, usize> =
            kept.iter().enumerate().map(|(at, key)| (*key, at)).collect();
        let mut edges: Vec<Edge> = all
            .edges
            .iter()
            .filter_map(|((from, to), edge)| {
                Some(Edge { from: *place.get(from)?, to: *place.get(to)?, ..edge.clone() })
            })
            .collect();
        if edges.len() > MOST_EDGES {
            let in_step = |edge: &Edge| edge.watch.is_none_or(|w| w.condition == Condition::InStep);
            edges.sort_by_key(in_step);
            edges.truncate(MOST_EDGES);
            edges.sort_by_key(|edge| (edge.from, edge.to));
        }
        draft.nodes = kept.iter().map(|key| node(picture, key)).collect();
        for edge in edges.iter().filter(|edge| edge.from == edge.to) {
            draft.nodes[edge.from].watches_itself = true;
        }
        let drawn_watches = edges.iter().filter(|edge| edge.watch.is_some()).count();
        let drawn_spawns = edges.iter().filter(|edge| edge.is_spawn).count();
        draft.edges = edges;
        draft.hidden_nodes = all.keys.len() - draft.nodes.len();
        draft.hidden_watches = picture.snapshot.watches.len() - drawn_watches;
        draft.hidden_spawns = all.spawns - drawn_spawns;
        draft
    }

    /// How many watches are drawn.
    pub(crate) fn watches(&self) -> usize {
        self.edges.iter().filter(|edge| edge.watch.is_some()).count()
    }

    /// How many spawns are drawn.
    pub(crate) fn spawns(&self) -> usize {
        self.edges.iter().filter(|edge| edge.is_spawn).count()
    }
}

fn node(picture: &Picture, key: &SessionKey) -> Node {
    let session = picture.session(key);
    Node {
        key: key.clone(),
        title: session.and_then(|session| words::title(session.title.as_deref())),
        version: session.and_then(|session| session.version),
        owed: session.map_or(0, |session| session.pending_notices),
        has_ended: session.is_some_and(|session| session.ended_at.is_some()),
        watches_itself: false,
    }
}

/// All sessions and edges of a picture.
struct Everything<'a> {
    keys: BTreeSet<&'a SessionKey>,
    edges: BTreeMap<(&'a SessionKey, &'a SessionKey), Edge>,
    spawns: usize,
}

impl<'a> Everything<'a> {
    fn of(picture: &'a Picture, only_out_of_step: bool) -> Self {
        let all = &picture.snapshot;
        let mut keys: BTreeSet<&SessionKey> = all.sessions.iter().map(|row| &row.key).collect();
        let mut edges: BTreeMap<(&SessionKey, &SessionKey), Edge> = BTreeMap::new();
        let blank = || Edge { from: 0, to: 0, watch: None, is_spawn: false };
        for row in all.watches.iter() {
            let cursor = &row.cursor;
            keys.extend([&cursor.watcher, &cursor.target]);
            if only_out_of_step && row.condition == Condition::InStep {
                continue;
            }
            edges.entry((&cursor.watcher, &cursor.target)).or_insert_with(blank).watch =
                Some(Watch {
                    condition: row.condition,
                    lag: row.actionable_lag(),
                    provenance: cursor.provenance,
                });
        }
        let mut spawned: HashSet<PairId> = HashSet::new();
        for row in all.sessions.iter() {
            let Some(parent) = row.parent.as_ref().filter(|parent| keys.contains(parent)) else {
                continue;
            };
            if !spawned.insert(PairId { watcher: parent.clone(), target: row.key.clone() }) {
                continue;
            }
            if !only_out_of_step || edges.contains_key(&(parent, &row.key)) {
                edges.entry((parent, &row.key)).or_insert_with(blank).is_spawn = true;
            }
        }
        Self { keys, edges, spawns: spawned.len() }
    }

    /// Whom each session is joined to.
    fn neighbours(&self) -> HashMap<&'a SessionKey, Vec<&'a SessionKey>> {
        let mut neighbours: HashMap<_, Vec<_>> = HashMap::new();
        for (from, to) in self.edges.keys() {
            neighbours.entry(*from).or_default().push(*to);
            neighbours.entry(*to).or_default().push(*from);
        }
        neighbours
    }

    /// The sessions near the center.
    fn around(&self, ego: &Ego) -> Vec<&'a SessionKey> {
        let Some(center) = self.keys.get(&ego.center).copied() else { return Vec::new() };
        let neighbours = self.neighbours();
        let mut found = BTreeSet::from([center]);
        let mut waiting = VecDeque::from([(center, 0)]);
        while let Some((key, depth)) = waiting.pop_front() {
            if depth == ego.depth {
                continue;
            }
            for next in neighbours.get(key).into_iter().flatten() {
                if found.insert(*next) {
                    waiting.push_back((*next, depth + 1));
                }
            }
        }
        found.into_iter().collect()
    }

    /// Of too many sessions those that are wanted most: the selected one, whoever has a pair that is not in step, and whoever
    /// is joined to most.
    fn most_wanted(
        &self,
        kept: Vec<&'a SessionKey>,
        selected: Option<&SessionKey>,
    ) -> Vec<&'a SessionKey> {
        let mut out_of_step: HashSet<&SessionKey> = HashSet::new();
        for ((from, to), edge) in &self.edges {
            if edge.watch.is_some_and(|watch| watch.condition != Condition::InStep) {
                out_of_step.extend([*from, *to]);
            }
        }
        let neighbours = self.neighbours();
        let mut ranked = kept;
        ranked.sort_by_cached_key(|key| {
            let degree = neighbours.get(*key).map_or(0, Vec::len);
            (
                Some(*key) != selected,
                !out_of_step.contains(*key),
                std::cmp::Reverse(degree),
                (*key).clone(),
            )
        });
        ranked.truncate(MOST_NODES);
        ranked.sort_unstable();
        ranked
    }
}

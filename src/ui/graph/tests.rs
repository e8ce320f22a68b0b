use std::collections::HashSet;

use super::layout::{Layout, Shape, lay_out};
use super::*;
use crate::engine::reason::Reason;
use crate::engine::snapshot::{SessionRow, WakeState, WatchRow};
use crate::event::Sequence;
use crate::session_key::AgentId;
use crate::watch::{Condition, Cursor, PairState, Provenance};

/// The same numbers each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % n
    }
}

/// A graph with cycles, two-way watches and edges of a node to itself.
fn cyclic(nodes: usize, edges: usize) -> Shape {
    let mut dice = Dice(7);
    let mut made: HashSet<(usize, usize)> = HashSet::new();
    while made.len() < edges {
        let (a, b) = (dice.below(nodes), dice.below(nodes));
        made.insert((a, b));
        if made.len() < edges && dice.below(10) == 0 {
            made.insert((b, a));
        }
    }
    let mut edges: Vec<_> = made.into_iter().collect();
    edges.sort_unstable();
    Shape {
        widths: (0..nodes).map(|n| 8 + i32::try_from(n % 20).unwrap()).collect(),
        edges,
        label: 5,
        frame: 1,
        gap: 0,
    }
}

fn overlap(a: &Place, b: &Place) -> bool {
    a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
}

/// What has to hold for every layout: nodes apart, each edge from its one end to its other, in level and upright stretches
/// that run to the right, through no node.
fn check(shape: &Shape, layout: &Layout) {
    for (at, place) in layout.nodes.iter().enumerate() {
        assert!(place.x >= 0 && place.x + place.width <= layout.width);
        assert!(place.y >= 0 && place.y + place.height <= layout.height);
        for other in &layout.nodes[at + 1..] {
            assert!(!overlap(place, other), "{place:?} {other:?}");
        }
    }
    let mut ports = HashSet::new();
    for (&(from, to), route) in shape.edges.iter().zip(&layout.routes) {
        if from == to {
            assert!(route.points.is_empty());
            continue;
        }
        let (left, right) = if route.is_back { (to, from) } else { (from, to) };
        let (left, right) = (layout.nodes[left], layout.nodes[right]);
        let (first, last) = (route.points[0], *route.points.last().unwrap());
        assert_eq!(first.0, left.x + left.width);
        assert_eq!(last.0, right.x - 1);
        assert!((left.y + shape.frame..left.y + left.height - shape.frame).contains(&first.1));
        assert!((right.y + shape.frame..right.y + right.height - shape.frame).contains(&last.1));
        assert!(ports.insert((true, first)) && ports.insert((false, last)), "a port is shared");
        for pair in route.points.windows(2) {
            let [(x0, y0), (x1, y1)] = pair else { unreachable!() };
            assert!((x0 == x1) != (y0 == y1), "{pair:?}");
            assert!(x1 >= x0, "an edge is drawn to the right");
            let stretch =
                Place { x: *x0, y: *y0.min(y1), width: x1 - x0 + 1, height: (y1 - y0).abs() + 1 };
            for place in &layout.nodes {
                assert!(!overlap(place, &stretch), "an edge runs through a node");
            }
        }
    }
}

#[test]
fn three_hundred_nodes_with_cycles_are_laid_out_and_nothing_is_lost() {
    let shape = cyclic(300, 600);
    let layout = lay_out(&shape);
    assert_eq!(layout.routes.len(), 600);
    check(&shape, &layout);
    assert!(layout.routes.iter().any(|route| route.is_back));
    assert_eq!(lay_out(&shape), layout, "the same each time");
}

#[test]
fn small_graphs_hold_the_same() {
    for (nodes, edges) in [(0, 0), (1, 0), (1, 1), (2, 4), (5, 7), (5, 25), (30, 40)] {
        let shape = cyclic(nodes, edges);
        check(&shape, &lay_out(&shape));
    }
}

#[test]
fn a_chain_runs_level_and_a_two_way_watch_is_two_edges() {
    let shape = Shape {
        widths: vec![5; 3],
        edges: vec![(0, 1), (1, 2), (2, 1)],
        label: 1,
        frame: 1,
        gap: 0,
    };
    let layout = lay_out(&shape);
    check(&shape, &layout);
    let back: Vec<bool> = layout.routes.iter().map(|route| route.is_back).collect();
    assert_eq!(back, [false, false, true]);
    assert_ne!(layout.routes[1].points[0].1, layout.routes[2].points[0].1);
}

fn session(key: &str, parent: Option<&str>) -> SessionRow {
    SessionRow {
        key: key.into(),
        agent: AgentId::main(),
        parent: parent.map(SessionKey::from),
        title: None,
        harness: None,
        version: Some(Sequence(1)),
        pruned: Sequence(0),
        last_event: None,
        activity: Default::default(),
        watchers: 0,
        watching: 0,
        pending_notices: 0,
        messages: 0,
        has_goal: false,
        last_turn_at: None,
        ended_at: None,
        upstream: None,
    }
}

fn watch(watcher: &str, target: &str, condition: Condition) -> WatchRow {
    WatchRow {
        cursor: Cursor {
            watcher: watcher.into(),
            target: target.into(),
            seen: Sequence(0),
            notified: Sequence(0),
            material: Sequence(0),
            provenance: Provenance::Explicit,
            updated_at: 0,
        },
        head: Sequence(0),
        state: PairState::Synced,
        condition,
        reason: Reason::Covers,
        pending_since: None,
        wake: WakeState::NotDue,
        expires_at: 0,
    }
}

fn picture(sessions: Vec<SessionRow>, watches: Vec<WatchRow>) -> Picture {
    let (sessions, watches) = (Arc::new(sessions), Arc::new(watches));
    Picture::of(&Arc::new(Snapshot { sessions, watches, ..Snapshot::default() }))
}

fn crowd(nodes: usize, edges: usize) -> Picture {
    let shape = cyclic(nodes, edges);
    let key = |n: usize| format!("agent:main:s{n:04}");
    let sessions =
        (0..nodes).map(|n| session(&key(n), (n % 3 == 2).then(|| key(n / 3)).as_deref())).collect();
    let watches = shape.edges.iter().enumerate().map(|(n, (a, b))| {
        let condition = if n % 9 == 0 { Condition::Stalled } else { Condition::InStep };
        watch(&key(*a), &key(*b), condition)
    });
    picture(sessions, watches.collect())
}

#[test]
fn what_is_drawn_and_what_is_hidden_add_up() {
    for (nodes, edges) in [(5, 8), (300, 900), (900, 4_000)] {
        let picture = crowd(nodes, edges);
        let center = SessionKey::new("agent:main:s0003");
        let ego = |depth| Ego { center: center.clone(), depth };
        for ego in [None, Some(ego(1)), Some(ego(2))] {
            for only in [false, true] {
                let draft = Draft::of(&picture, ego.as_ref(), only, Some(&center));
                assert_eq!(draft.nodes.len() + draft.hidden_nodes, nodes);
                assert_eq!(draft.watches() + draft.hidden_watches, edges);
                let spawns = picture.snapshot.sessions.iter().filter(|row| row.parent.is_some());
                assert_eq!(draft.spawns() + draft.hidden_spawns, spawns.count());
                assert!(draft.nodes.len() <= 400 && draft.edges.len() <= 1_200);
            }
        }
        let all = Draft::of(&picture, None, false, Some(&center));
        assert!(all.nodes.iter().any(|node| node.key == center));
        assert_eq!(all.hidden_watches == 0, nodes <= 400 && all.edges.len() < 1_200);
    }
}

#[test]
fn a_spawn_that_is_also_watched_is_one_edge_and_counts_as_both() {
    let picture = picture(
        vec![session("agent:main:a", None), session("agent:main:b", Some("agent:main:a"))],
        vec![watch("agent:main:a", "agent:main:b", Condition::InStep)],
    );
    let draft = Draft::of(&picture, None, false, None);
    assert_eq!((draft.edges.len(), draft.watches(), draft.spawns()), (1, 1, 1));
    let narrow = Draft::of(&picture, None, true, None);
    assert_eq!((narrow.hidden_watches, narrow.hidden_spawns), (1, 1));
}

#[test]
fn the_graph_is_laid_out_anew_only_when_something_in_it_differs() {
    let picture = crowd(20, 30);
    let mut graph = GraphView::new(None);
    graph.rebuild(&picture, false);
    graph.show(40, 10);
    let before = (graph.layout.clone(), graph.selected.clone());
    graph.offset = (7, 3);
    graph.rebuild(&crowd(20, 30), false);
    graph.show(40, 10);
    assert_eq!((graph.layout.clone(), graph.selected.clone()), before);
    assert_eq!(graph.offset, (7, 3), "nothing jumps under the cursor");
    graph.level = graph.level.next();
    graph.rebuild(&picture, true);
    assert_ne!(graph.layout, before.0);
}

#[test]
fn the_neighbours_in_each_direction_are_found() {
    let watches = vec![
        watch("agent:main:a", "agent:main:b", Condition::InStep),
        watch("agent:main:a", "agent:main:c", Condition::InStep),
    ];
    let sessions = ["agent:main:a", "agent:main:b", "agent:main:c"];
    let picture = picture(sessions.iter().map(|key| session(key, None)).collect(), watches);
    let mut graph = GraphView::new(Some("agent:main:a".into()));
    graph.rebuild(&picture, false);
    let right = graph.towards((1, 0)).unwrap();
    assert_ne!(graph.draft.nodes[right].key.as_str(), "agent:main:a");
    graph.select(1);
    let (b, c) = (graph.layout.nodes[1], graph.layout.nodes[2]);
    let (other, none) = if b.y < c.y { ((0, 1), (0, -1)) } else { ((0, -1), (0, 1)) };
    assert_eq!(graph.towards(other), Some(2));
    assert_eq!(graph.towards((-1, 0)), Some(0));
    assert!(graph.towards(none).is_none_or(|at| at == 0));
}

#[test]
fn a_jump_ends_in_the_middle_and_a_step_moves_no_more_than_it_has_to() {
    assert_eq!(within(10, 12, 16, 20), 10, "it is there already");
    assert_eq!(within(10, 28, 34, 20), 14, "a step to below");
    assert_eq!(within(10, 7, 9, 20), 7, "a step to above");
    assert_eq!(within(10, 100, 104, 20), 92, "a jump");
    assert_eq!(within(200, 100, 104, 20), 92, "a jump back");
    assert_eq!(within(10, 100, 140, 20), 100, "what does not fit begins at the edge");
}

//! A layered layout: layers are columns from left to right, edges run in the channels between them. Pure: the same graph
//! always gives the same layout.
//!
//! Every edge has a row of its own at either end of it, so that no two edges are drawn over each other along a stretch; they
//! only cross.

use std::collections::BTreeMap;

use super::channel::tracks;
use super::cycles::feedback;
use super::order::arrange;

/// What is to be laid out: nodes by number with their width, edges by their ends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Shape {
    /// How wide each node is.
    pub(crate) widths: Vec<i32>,
    /// From whom to whom.
    pub(crate) edges: Vec<(usize, usize)>,
    /// Columns at either end of an edge that a label takes.
    pub(crate) label: i32,
    /// Rows that a node has above and below the rows of its edges.
    pub(crate) frame: i32,
    /// Rows between nodes.
    pub(crate) gap: i32,
}

/// Where a node stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) x: i32,
    pub(crate) y: i32,
    pub(crate) width: i32,
    pub(crate) height: i32,
}

/// How an edge runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Route {
    /// Corners from left to right; each stretch is level or upright. Empty for an edge from a node to itself.
    pub(crate) points: Vec<(i32, i32)>,
    /// Whether it points to the left: the one of a circle of edges that goes back.
    pub(crate) is_back: bool,
}

/// Where everything stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) nodes: Vec<Place>,
    pub(crate) routes: Vec<Route>,
    pub(crate) width: i32,
    pub(crate) height: i32,
}

/// A node, or the place where an edge passes a layer.
#[derive(Debug, Clone)]
pub(super) struct Item {
    /// `None` for a place where an edge passes.
    pub(super) node: Option<usize>,
    /// Stretches that end here, from the layer before; stretches that begin here.
    pub(super) before: Vec<usize>,
    pub(super) after: Vec<usize>,
    /// Where its first row for edges is.
    pub(super) y: i32,
}

/// The stretch of an edge between two layers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stretch {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) edge: usize,
}

/// Items in their layers, joined by stretches.
#[derive(Debug, Default)]
pub(super) struct Net {
    pub(super) items: Vec<Item>,
    pub(super) stretches: Vec<Stretch>,
    /// The items of each layer, from the top.
    pub(super) layers: Vec<Vec<usize>>,
}

/// Lays out `shape`.
pub(crate) fn lay_out(shape: &Shape) -> Layout {
    let count = shape.widths.len();
    let back = feedback(count, &shape.edges);
    // As drawn, every edge goes to the right.
    let drawn: Vec<(usize, usize)> = shape
        .edges
        .iter()
        .zip(&back)
        .map(|(&(from, to), back)| if *back { (to, from) } else { (from, to) })
        .collect();
    let layer = layers(count, &drawn);
    let mut net = net(count, &drawn, &layer);
    arrange(&mut net);
    super::level::stack(&mut net, shape);
    let mut layout = Layout {
        nodes: vec![Place::default(); count],
        routes: back.iter().map(|back| Route { points: Vec::new(), is_back: *back }).collect(),
        ..Layout::default()
    };
    place(&net, shape, &mut layout);
    isolated(shape, &mut layout);
    layout
}

/// The column of each node: right of all that lead to it, and not further left than needed.
fn layers(count: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut out: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut waiting = vec![0_usize; count];
    for (from, to) in edges.iter().filter(|(from, to)| from != to) {
        out[*from].push(*to);
        waiting[*to] += 1;
    }
    let mut ready: Vec<usize> = (0..count).filter(|node| waiting[*node] == 0).collect();
    let mut layer = vec![0_usize; count];
    let mut sorted = Vec::with_capacity(count);
    while let Some(node) = ready.pop() {
        sorted.push(node);
        for next in &out[node] {
            layer[*next] = layer[*next].max(layer[node] + 1);
            waiting[*next] -= 1;
            if waiting[*next] == 0 {
                ready.push(*next);
            }
        }
    }
    // Whoever is watched by nobody stands beside the first of those it watches.
    let mut has_in = vec![false; count];
    for (_, to) in edges.iter().filter(|(from, to)| from != to) {
        has_in[*to] = true;
    }
    for node in sorted.into_iter().rev().filter(|node| !has_in[*node]) {
        if let Some(nearest) = out[node].iter().map(|next| layer[*next]).min() {
            layer[node] = nearest.saturating_sub(1);
        }
    }
    layer
}

fn net(count: usize, edges: &[(usize, usize)], layer: &[usize]) -> Net {
    let mut net = Net::default();
    let has_edge = |node: usize| edges.iter().any(|(a, b)| a != b && (*a == node || *b == node));
    let mut item_of = BTreeMap::new();
    for (node, layer) in layer.iter().enumerate().take(count) {
        if has_edge(node) {
            item_of.insert(node, net.add(Some(node), *layer));
        }
    }
    for (edge, (from, to)) in edges.iter().enumerate().filter(|(_, (from, to))| from != to) {
        let (Some(&start), Some(&end)) = (item_of.get(from), item_of.get(to)) else { continue };
        let mut last = start;
        for between in layer[*from] + 1..layer[*to] {
            let next = net.add(None, between);
            net.join(last, next, edge);
            last = next;
        }
        net.join(last, end, edge);
    }
    net
}

impl Net {
    fn add(&mut self, node: Option<usize>, layer: usize) -> usize {
        let at = self.items.len();
        let (before, after) = (Vec::new(), Vec::new());
        self.items.push(Item { node, before, after, y: 0 });
        if self.layers.len() <= layer {
            self.layers.resize(layer + 1, Vec::new());
        }
        self.layers[layer].push(at);
        at
    }

    fn join(&mut self, from: usize, to: usize, edge: usize) {
        let at = self.stretches.len();
        self.stretches.push(Stretch { from, to, edge });
        self.items[from].after.push(at);
        self.items[to].before.push(at);
    }

    /// The row at which a stretch leaves its item.
    pub(super) fn row_out(&self, stretch: usize) -> i32 {
        let item = &self.items[self.stretches[stretch].from];
        item.y + row_of(&item.after, stretch)
    }

    /// The row at which a stretch reaches its item.
    pub(super) fn row_in(&self, stretch: usize) -> i32 {
        let item = &self.items[self.stretches[stretch].to];
        item.y + row_of(&item.before, stretch)
    }
}

fn row_of(stretches: &[usize], stretch: usize) -> i32 {
    let at = stretches.iter().position(|other| *other == stretch).unwrap_or(0);
    i32::try_from(at).unwrap_or(0)
}

impl Item {
    /// How many rows its edges take, at least one.
    pub(super) fn rows(&self) -> i32 {
        i32::try_from(self.before.len().max(self.after.len()).max(1)).unwrap_or(i32::MAX)
    }
}

/// Turns rows and tracks into columns and corners.
fn place(net: &Net, shape: &Shape, layout: &mut Layout) {
    let mut x = 0;
    for (at, layer) in net.layers.iter().enumerate() {
        let nodes = layer.iter().filter_map(|item| net.items[*item].node);
        let width = nodes.map(|node| shape.widths[node]).max().unwrap_or(1);
        for item in layer {
            let item = &net.items[*item];
            if let Some(node) = item.node {
                layout.nodes[node] = Place {
                    x,
                    y: item.y - shape.frame,
                    width: shape.widths[node],
                    height: item.rows() + 2 * shape.frame,
                };
            }
            layout.height = layout.height.max(item.y + item.rows() + shape.frame);
        }
        let right = x + width;
        layout.width = layout.width.max(right);
        if at + 1 == net.layers.len() {
            break;
        }
        let between: Vec<usize> =
            layer.iter().flat_map(|item| net.items[*item].after.iter().copied()).collect();
        let ends: Vec<(i32, i32)> =
            between.iter().map(|stretch| (net.row_out(*stretch), net.row_in(*stretch))).collect();
        let (of, count) = tracks(&ends);
        let first = right + 2 + shape.label;
        let next = first + count + 1 + shape.label;
        for ((stretch, (left_row, right_row)), track) in between.iter().zip(&ends).zip(of) {
            let Stretch { from, to, edge } = net.stretches[*stretch];
            let points = &mut layout.routes[edge].points;
            if let Some(node) = net.items[from].node {
                points.push((x + shape.widths[node], *left_row));
            }
            if left_row != right_row {
                points.push((first + track, *left_row));
                points.push((first + track, *right_row));
            }
            if net.items[to].node.is_some() {
                points.push((next - 1, *right_row));
            }
        }
        x = next;
    }
}

/// Nodes without edges stand below, in rows.
fn isolated(shape: &Shape, layout: &mut Layout) {
    let joined: std::collections::HashSet<usize> =
        shape.edges.iter().filter(|(a, b)| a != b).flat_map(|(a, b)| [*a, *b]).collect();
    let room = layout.width.max(100);
    let height = 1 + 2 * shape.frame;
    let (mut x, mut y) = (0, layout.height + i32::from(layout.height > 0) * shape.gap.max(1));
    let mut is_any = false;
    for (node, width) in shape.widths.iter().enumerate().filter(|(node, _)| !joined.contains(node))
    {
        if is_any && x + width > room {
            x = 0;
            y += height + shape.gap;
        }
        is_any = true;
        layout.nodes[node] = Place { x, y, width: *width, height };
        x += width + 2;
        layout.width = layout.width.max(x - 2);
    }
    if is_any {
        layout.height = y + height;
    }
}

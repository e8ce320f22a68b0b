//! All watches as a graph: what is drawn of the picture, how it is laid out, and where the person looks.

mod channel;
mod cycles;
mod dot;
mod draft;
mod layout;
mod level;
mod order;

use std::sync::Arc;

use super::filter::Filter;
use super::index::Picture;
use super::words;
use crate::engine::snapshot::Snapshot;
use crate::session_key::SessionKey;
use crate::visible;

pub(crate) use dot::dot;
pub(crate) use draft::{Draft, Edge, Node};
pub(crate) use layout::{Layout, Place};
use layout::{Shape, lay_out};

/// How much of each node is drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Level {
    /// Boxes with key, version and state; edges with sign and lag.
    #[default]
    Full,
    /// Short names; edges with a sign.
    Compact,
    /// A dot a node.
    Dots,
}

impl Level {
    /// The next one.
    pub(crate) fn next(self) -> Self {
        match self {
            Self::Full => Self::Compact,
            Self::Compact => Self::Dots,
            Self::Dots => Self::Full,
        }
    }

    /// Its word.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Compact => "compact",
            Self::Dots => "dots",
        }
    }

    /// Columns beside the arrow that the sign and the lag of an edge take.
    pub(crate) fn label(self) -> usize {
        match self {
            Self::Full => 5,
            Self::Compact => 1,
            Self::Dots => 0,
        }
    }
}

/// The neighbourhood of a session that is shown in place of the whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ego {
    pub(crate) center: SessionKey,
    /// How many edges away a session may be.
    pub(crate) depth: usize,
}

/// The graph on the screen.
#[derive(Debug, Default)]
pub(crate) struct GraphView {
    pub(crate) level: Level,
    pub(crate) ego: Option<Ego>,
    pub(crate) only_out_of_step: bool,
    pub(crate) draft: Draft,
    shape: Shape,
    pub(crate) layout: Layout,
    /// The picture that the draft is of.
    of: Option<Arc<Snapshot>>,
    pub(crate) selected: Option<SessionKey>,
    /// The left upper corner of the window.
    pub(crate) offset: (i32, i32),
    /// Whether the window has to show the selected node.
    pub(crate) follows: bool,
    pub(crate) filter: Filter,
}

impl GraphView {
    /// A graph with `selected` in its middle.
    pub(crate) fn new(selected: Option<SessionKey>) -> Self {
        Self { selected, follows: true, ..Self::default() }
    }

    /// Brings the graph in step with the picture and with what was asked for. It is only laid out anew when something in it
    /// differs.
    pub(crate) fn rebuild(&mut self, picture: &Picture, is_new: bool) {
        if !is_new && self.of.as_ref().is_some_and(|of| Arc::ptr_eq(of, &picture.snapshot)) {
            return;
        }
        self.of = Some(Arc::clone(&picture.snapshot));
        let draft =
            Draft::of(picture, self.ego.as_ref(), self.only_out_of_step, self.selected.as_ref());
        let shape = Shape {
            widths: draft.nodes.iter().map(|node| self.width(node)).collect(),
            edges: draft.edges.iter().map(|edge| (edge.from, edge.to)).collect(),
            label: i32::try_from(self.level.label()).unwrap_or(0),
            frame: i32::from(self.level == Level::Full),
            gap: i32::from(self.level == Level::Compact),
        };
        if shape != self.shape {
            self.layout = lay_out(&shape);
            self.shape = shape;
            self.follows = true;
        }
        self.draft = draft;
        let is_there = |key: &SessionKey| self.draft.nodes.iter().any(|node| node.key == *key);
        if !self.selected.as_ref().is_some_and(is_there) {
            self.selected = self.draft.nodes.first().map(|node| node.key.clone());
            self.follows = true;
        }
    }

    fn width(&self, node: &Node) -> i32 {
        let width = match self.level {
            Level::Full => visible::columns(&full_label(node)) + 4,
            Level::Compact => visible::columns(&compact_label(node)) + 2,
            Level::Dots => 1,
        };
        i32::try_from(width).unwrap_or(i32::MAX)
    }

    /// The selected node.
    pub(crate) fn selected(&self) -> Option<&Node> {
        let key = self.selected.as_ref()?;
        self.draft.nodes.iter().find(|node| node.key == *key)
    }

    fn selected_at(&self) -> Option<usize> {
        let key = self.selected.as_ref()?;
        self.draft.nodes.iter().position(|node| node.key == *key)
    }

    /// Selects the node at `at`.
    pub(crate) fn select(&mut self, at: usize) {
        if let Some(node) = self.draft.nodes.get(at) {
            self.selected = Some(node.key.clone());
            self.follows = true;
        }
    }

    /// The nearest node in a direction: what lies straight ahead before what lies aside.
    pub(crate) fn towards(&self, (dx, dy): (i32, i32)) -> Option<usize> {
        let here = self.selected_at()?;
        let middle = |place: &Place| (place.x + place.width / 2, place.y + place.height / 2);
        let (x, y) = middle(self.layout.nodes.get(here)?);
        let others = self.layout.nodes.iter().enumerate().filter(|(at, _)| *at != here);
        others
            .filter_map(|(at, place)| {
                let (to_x, to_y) = middle(place);
                // A row is about as high as two columns are wide.
                let (along, aside) = if dx == 0 {
                    ((to_y - y) * dy * 2, (to_x - x).abs())
                } else {
                    let starts = if dx > 0 { place.x - x } else { x - (place.x + place.width) };
                    ((to_x - x) * dx, (to_y - y).abs() * 2 + i32::from(starts < 0) * 10_000)
                };
                (along > 0).then_some((along + 3 * aside, at))
            })
            .min()
            .map(|(_, at)| at)
    }

    /// The nodes that the search finds, in their order on the screen.
    pub(crate) fn matches(&self) -> Vec<usize> {
        if !self.filter.is_active() {
            return Vec::new();
        }
        let mut found: Vec<usize> = (0..self.draft.nodes.len())
            .filter(|at| self.filter.matches(&self.draft.nodes[*at].text()))
            .collect();
        found.sort_by_key(|at| (self.layout.nodes[*at].x, self.layout.nodes[*at].y));
        found
    }

    /// Esc: forgets the search, then the narrower view; false when there was neither.
    pub(crate) fn clear(&mut self, was_typing: bool) -> bool {
        if was_typing || self.filter.is_active() {
            self.filter.clear();
            return true;
        }
        if self.ego.take().is_some() || std::mem::take(&mut self.only_out_of_step) {
            self.of = None;
            return true;
        }
        false
    }

    /// Moves the window so that the selected node is in it, when that was asked for, and never further than the graph goes.
    pub(crate) fn show(&mut self, width: u16, height: u16) {
        let (width, height) = (i32::from(width), i32::from(height));
        let place = self.selected_at().and_then(|at| self.layout.nodes.get(at)).copied();
        if let Some(place) = place.filter(|_| std::mem::take(&mut self.follows)) {
            self.offset.0 = within(self.offset.0, place.x - 4, place.x + place.width + 4, width);
            self.offset.1 = within(self.offset.1, place.y - 1, place.y + place.height + 1, height);
        }
        let (most_x, most_y) = (self.layout.width - width, self.layout.height - height);
        self.offset.0 = self.offset.0.clamp(0, most_x.max(0));
        self.offset.1 = self.offset.1.clamp(0, most_y.max(0));
    }
}

/// The offset nearest to `offset` of a window of `size` that holds `from..to`, or its beginning. After a jump what was jumped to
/// stands in the middle, with all that is around it.
fn within(offset: i32, from: i32, to: i32, size: i32) -> i32 {
    if to - from > size {
        return from;
    }
    let nearest = if from < offset { from } else { offset.max(to - size) };
    if (nearest - offset).abs() > size / 2 { i32::midpoint(from, to) - size / 2 } else { nearest }
}

/// What a box says.
pub(crate) fn full_label(node: &Node) -> String {
    let version = words::version(node.version);
    let owed = if node.owed > 0 { format!(" ●{}", node.owed) } else { String::new() };
    let own = if node.watches_itself { " ↻" } else { "" };
    format!("{}  {version}{owed}{own}", visible::elide(&words::short_key(&node.key), 28))
}

/// What a short name says.
pub(crate) fn compact_label(node: &Node) -> String {
    let own = if node.watches_itself { "↻" } else { "" };
    format!("{}{own}", visible::elide(&words::short_key(&node.key), 16))
}

#[cfg(test)]
mod tests;

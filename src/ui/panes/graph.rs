//! The graph: nodes, edges with their signs, and a line that says what is drawn and what is not.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::{Segment, frame, join, middle};
use crate::session_key::SessionKey;
use crate::ui::graph::{Edge, GraphView, Level, Node, Place, compact_label, full_label};
use crate::ui::keymap::Action;
use crate::ui::layout;
use crate::ui::model::Model;
use crate::ui::table::Cell;
use crate::ui::theme::{Theme, sign};
use crate::ui::words;
use crate::visible;
use crate::watch::{Condition, Provenance};

const LEFT: u8 = 1;
const RIGHT: u8 = 2;
const UP: u8 = 4;
const DOWN: u8 = 8;

/// How a line is drawn: explicit watches, ambient ones, and what was spawned; dashed when it points back.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Pen {
    #[default]
    Light,
    LightBack,
    Heavy,
    HeavyBack,
    Double,
}

/// What edges leave in one cell of the window.
#[derive(Clone, Copy, Default)]
struct Ink {
    mask: u8,
    pen: Pen,
    style: Style,
}

/// The part of the graph that shows.
struct Window {
    area: Rect,
    offset: (i32, i32),
}

impl Window {
    /// Where a place of the graph is on the screen, if it shows.
    fn at(&self, x: i32, y: i32) -> Option<(u16, u16)> {
        let x = u16::try_from(x - self.offset.0).ok().filter(|x| *x < self.area.width)?;
        let y = u16::try_from(y - self.offset.1).ok().filter(|y| *y < self.area.height)?;
        Some((self.area.x + x, self.area.y + y))
    }

    /// The columns from `from` to `to` that show.
    fn columns(&self, from: i32, to: i32) -> std::ops::RangeInclusive<i32> {
        from.max(self.offset.0)..=to.min(self.offset.0 + i32::from(self.area.width) - 1)
    }

    fn rows(&self, from: i32, to: i32) -> std::ops::RangeInclusive<i32> {
        from.max(self.offset.1)..=to.min(self.offset.1 + i32::from(self.area.height) - 1)
    }
}

/// Draws the view.
pub(in crate::ui) fn draw(model: &Model, graph: &GraphView, body: Rect, buffer: &mut Buffer) {
    let theme = &model.setup.theme;
    frame::single(model, title(graph, theme), body, buffer);
    let (head, area) = layout::graph_parts(body);
    summary(model, graph, head, buffer);
    if graph.draft.nodes.is_empty() {
        let text =
            if graph.only_out_of_step { "✓ every pair is in step" } else { "no sessions yet" };
        return middle(buffer, area, &[Line::styled(text, theme.dim)]);
    }
    let window = Window { area, offset: graph.offset };
    edges(graph, &window, theme, buffer);
    let found = graph.matches();
    for (at, (node, place)) in graph.draft.nodes.iter().zip(&graph.layout.nodes).enumerate() {
        let style = node_style(graph, node, found.contains(&at), theme);
        match graph.level {
            Level::Full => full(node, *place, &window, style, theme, buffer),
            Level::Compact => compact(node, *place, &window, style, buffer),
            Level::Dots => dots(node, *place, &window, style, buffer),
        }
    }
    for (edge, route) in graph.draft.edges.iter().zip(&graph.layout.routes) {
        let (Some(first), Some(last)) = (route.points.first(), route.points.last()) else {
            continue;
        };
        let at = if route.is_back { *first } else { *last };
        arrow(edge, at, route.is_back, graph.level, &window, theme, buffer);
    }
    position(graph, body, area, theme, buffer);
}

fn title(graph: &GraphView, theme: &Theme) -> Cell {
    let mut title: Cell = vec![Span::styled(" Graph of watches ", theme.title_focused)];
    title.push(Span::styled(format!("{} ", graph.level.as_str()), theme.dim));
    if let Some(ego) = &graph.ego {
        let steps = words::count(ego.depth, "step");
        let text = format!("{steps} around {} ", words::short_key(&ego.center));
        title.push(Span::styled(text, theme.own));
    }
    if graph.only_out_of_step {
        title.push(Span::styled("! not in step ", theme.warn));
    }
    if graph.filter.is_active() {
        let typed = visible::clean(graph.filter.text());
        title.push(Span::styled(
            format!("/{typed} {} found ", graph.matches().len()),
            theme.matched,
        ));
    }
    title
}

/// What is drawn and what is hidden, what the lines mean, and what is selected.
fn summary(model: &Model, graph: &GraphView, area: Rect, buffer: &mut Buffer) {
    if area.height == 0 {
        return;
    }
    let theme = &model.setup.theme;
    let draft = &graph.draft;
    let counted = |noun: &str, drawn: usize, hidden: usize| match hidden {
        0 => words::count(drawn, noun),
        hidden => {
            format!("{} + {} hidden", words::count(drawn, noun), words::number(hidden as u64))
        }
    };
    let text = [
        counted("session", draft.nodes.len(), draft.hidden_nodes),
        counted("watch", draft.watches(), draft.hidden_watches),
        counted("spawn", draft.spawns(), draft.hidden_spawns),
    ]
    .join(" · ");
    let piece = |rank, text: String, style| Segment { rank, cell: vec![Span::styled(text, style)] };
    let rank = u8::from(graph.level != Level::Full);
    let mut segments = vec![piece(rank, text, theme.text)];
    if let Some(node) = graph.selected().filter(|_| graph.level != Level::Full) {
        let name = format!("▌{}  {}", words::short_key(&node.key), words::version(node.version));
        segments.insert(0, piece(0, name, theme.border_focused));
    }
    if draft.watches() + draft.hidden_watches == 0 {
        let key = model.setup.keymap.key(Action::Watch).unwrap_or_default();
        segments.push(piece(1, format!("no watch yet: {key} watches the session"), theme.dim));
    } else {
        let legend = [(2, "─ watch"), (3, "━ ambient"), (4, "═ spawned"), (5, "┄◀ points back")];
        segments.extend(legend.map(|(rank, text)| piece(rank, text.to_owned(), theme.dim)));
    }
    let width = area.width.saturating_sub(2);
    buffer.set_line(area.x + 1, area.y, &join(segments, 3, usize::from(width)), width);
}

fn edge_style(edge: &Edge, theme: &Theme) -> Style {
    match &edge.watch {
        Some(watch) => theme.condition(watch.condition),
        None => theme.dim,
    }
}

fn pen(edge: &Edge, is_back: bool) -> Pen {
    let ambient = Provenance::AmbientGroup;
    match (edge.is_spawn, edge.watch.map(|watch| watch.provenance == ambient), is_back) {
        (true, ..) => Pen::Double,
        (false, Some(true), true) => Pen::HeavyBack,
        (false, Some(true), false) => Pen::Heavy,
        (false, _, true) => Pen::LightBack,
        (false, _, false) => Pen::Light,
    }
}

/// Draws all edges: what is not in step over what is.
fn edges(graph: &GraphView, window: &Window, theme: &Theme, buffer: &mut Buffer) {
    let width = usize::from(window.area.width);
    let mut ink = vec![Ink::default(); width * usize::from(window.area.height)];
    let is_calm = |edge: &Edge| edge.watch.is_none_or(|watch| watch.condition == Condition::InStep);
    let all = || graph.draft.edges.iter().zip(&graph.layout.routes);
    for wanted in [true, false] {
        for (edge, route) in all().filter(|(edge, _)| is_calm(edge) == wanted) {
            let (pen, style) = (pen(edge, route.is_back), edge_style(edge, theme));
            let mut put = |x: i32, y: i32, mask: u8| {
                if let Some((column, row)) = window.at(x, y) {
                    let at = usize::from(row - window.area.y) * width
                        + usize::from(column - window.area.x);
                    ink[at] = Ink { mask: ink[at].mask | mask, pen, style };
                }
            };
            if let [only] = route.points[..] {
                put(only.0, only.1, LEFT | RIGHT);
            }
            for pair in route.points.windows(2) {
                let [(x0, y0), (x1, y1)] = *pair else { continue };
                if y0 == y1 && window.rows(y0, y0).contains(&y0) {
                    for x in window.columns(x0, x1) {
                        put(x, y0, (u8::from(x > x0) * LEFT) | (u8::from(x < x1) * RIGHT));
                    }
                } else if x0 == x1 && window.columns(x0, x0).contains(&x0) {
                    let (top, bottom) = (y0.min(y1), y0.max(y1));
                    for y in window.rows(top, bottom) {
                        put(x0, y, (u8::from(y > top) * UP) | (u8::from(y < bottom) * DOWN));
                    }
                }
            }
            for end in [route.points.first(), route.points.last()].into_iter().flatten() {
                put(end.0, end.1, LEFT | RIGHT);
            }
        }
    }
    for (at, ink) in ink.iter().enumerate().filter(|(_, ink)| ink.mask != 0) {
        let x = window.area.x + u16::try_from(at % width).unwrap_or(0);
        let y = window.area.y + u16::try_from(at / width).unwrap_or(0);
        buffer.set_string(x, y, glyph(ink.mask, ink.pen), ink.style);
    }
}

fn glyph(mask: u8, pen: Pen) -> &'static str {
    let level = mask & (LEFT | RIGHT) != 0;
    let upright = mask & (UP | DOWN) != 0;
    let corner = [RIGHT | DOWN, LEFT | DOWN, RIGHT | UP, LEFT | UP]
        .iter()
        .position(|corner| *corner == mask);
    let set: [&'static str; 7] = match pen {
        Pen::Light => ["─", "│", "┌", "┐", "└", "┘", "┼"],
        Pen::LightBack => ["┄", "┆", "┌", "┐", "└", "┘", "┼"],
        Pen::Heavy => ["━", "┃", "┏", "┓", "┗", "┛", "╋"],
        Pen::HeavyBack => ["┅", "┇", "┏", "┓", "┗", "┛", "╋"],
        Pen::Double => ["═", "║", "╔", "╗", "╚", "╝", "╬"],
    };
    match (level, upright, corner) {
        (true, false, _) => set[0],
        (false, true, _) => set[1],
        (_, _, Some(corner)) => set[2 + corner],
        _ => set[6],
    }
}

/// The arrow, and beside it the sign and what is owed.
fn arrow(
    edge: &Edge,
    (x, y): (i32, i32),
    is_back: bool,
    level: Level,
    window: &Window,
    theme: &Theme,
    buffer: &mut Buffer,
) {
    let style = edge_style(edge, theme);
    let mut label = String::new();
    if let Some(watch) = edge.watch.filter(|_| level != Level::Dots) {
        label.push_str(sign(watch.condition));
        // Where it stands is not known: neither is what it is owed.
        if level == Level::Full && watch.lag > 0 && watch.condition != Condition::Unknown {
            label.push_str(&if watch.lag > 999 {
                "999+".to_owned()
            } else {
                watch.lag.to_string()
            });
        }
    }
    let columns = i32::try_from(visible::columns(&label)).unwrap_or(0);
    let from = if is_back { x + 1 } else { x - columns };
    for (place, c) in (from..).zip(label.chars()) {
        if let Some((column, row)) = window.at(place, y) {
            buffer.set_string(column, row, c.encode_utf8(&mut [0; 4]), style);
        }
    }
    if let Some((column, row)) = window.at(x, y) {
        buffer.set_string(column, row, if is_back { "◀" } else { "▶" }, style);
    }
}

fn node_style(graph: &GraphView, node: &Node, is_match: bool, theme: &Theme) -> Style {
    if graph.selected.as_ref() == Some(&node.key) {
        theme.selected
    } else if is_match {
        theme.matched
    } else if node.key == SessionKey::operator() {
        theme.own
    } else if node.has_ended {
        theme.dim
    } else if node.owed > 0 {
        theme.active
    } else {
        theme.text
    }
}

/// Writes text as far as it shows.
fn write(text: &str, x: i32, y: i32, window: &Window, style: Style, buffer: &mut Buffer) {
    use unicode_segmentation::UnicodeSegmentation as _;
    let mut at = x;
    for cluster in text.graphemes(true) {
        let columns = i32::try_from(visible::columns(cluster)).unwrap_or(1).max(1);
        let is_whole = window.at(at + columns - 1, y).is_some();
        if let Some((column, row)) = window.at(at, y).filter(|_| is_whole) {
            buffer.set_string(column, row, cluster, style);
        }
        at += columns;
    }
}

fn full(
    node: &Node,
    place: Place,
    window: &Window,
    style: Style,
    theme: &Theme,
    buffer: &mut Buffer,
) {
    let Place { x, y, width, height } = place;
    let border = if style == theme.text { theme.border } else { style };
    let inner = usize::try_from(width - 2).unwrap_or(0);
    let label = full_label(node);
    let fill = inner.saturating_sub(visible::columns(&label) + 1);
    let middle = y + height / 2;
    for row in window.rows(y, y + height - 1) {
        if row == y || row == y + height - 1 {
            let (left, right) = if row == y { ("┌", "┐") } else { ("└", "┘") };
            write(&format!("{left}{}{right}", "─".repeat(inner)), x, row, window, border, buffer);
        } else {
            let text = if row == middle {
                format!(" {label}{}", " ".repeat(fill))
            } else {
                " ".repeat(inner)
            };
            write("│", x, row, window, border, buffer);
            write(&text, x + 1, row, window, style, buffer);
            write("│", x + width - 1, row, window, border, buffer);
        }
    }
}

fn compact(node: &Node, place: Place, window: &Window, style: Style, buffer: &mut Buffer) {
    let label = compact_label(node);
    let middle = place.y + place.height / 2;
    let blank = usize::try_from(place.width - 2).unwrap_or(0);
    for row in window.rows(place.y, place.y + place.height - 1) {
        let text = if row == middle {
            let fill = blank.saturating_sub(visible::columns(&label));
            format!("[{label}{}]", " ".repeat(fill))
        } else {
            format!("[{}]", " ".repeat(blank))
        };
        write(&text, place.x, row, window, style, buffer);
    }
}

fn dots(node: &Node, place: Place, window: &Window, style: Style, buffer: &mut Buffer) {
    let middle = place.y + place.height / 2;
    for row in window.rows(place.y, place.y + place.height - 1) {
        let dot = match (row == middle, node.owed > 0) {
            (true, true) => "◉",
            (true, false) => "●",
            (false, _) => "┃",
        };
        write(dot, place.x, row, window, style, buffer);
    }
}

/// Where in the graph the window is, when it does not show all.
fn position(graph: &GraphView, body: Rect, area: Rect, theme: &Theme, buffer: &mut Buffer) {
    let (width, height) = (i32::from(area.width), i32::from(area.height));
    let (x, y) = graph.offset;
    let mut more = String::new();
    for (is_more, arrow) in [
        (x > 0, "←"),
        (y > 0, "↑"),
        (graph.layout.height - y > height, "↓"),
        (graph.layout.width - x > width, "→"),
    ] {
        if is_more {
            more.push_str(arrow);
        }
    }
    if more.is_empty() {
        return;
    }
    let text = format!(" more {more} ");
    let columns = u16::try_from(visible::columns(&text)).unwrap_or(0);
    if body.width > columns + 4 {
        let x = body.right() - columns - 2;
        buffer.set_string(x, body.bottom() - 1, text, theme.dim);
    }
}

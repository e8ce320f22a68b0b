//! Sessions, as a tree along spawn edges.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::middle;
use crate::engine::snapshot::SessionRow;
use crate::event::EventKind;
use crate::session_key::SessionKey;
use crate::ui::index::SessionId;
use crate::ui::keymap::Action;
use crate::ui::layout;
use crate::ui::model::{Model, Pane};
use crate::ui::rows::{Branch, TreeRow, session_text};
use crate::ui::table::{Cell, Column, Standing, Table, draw_row, fixed, flexible, right, shortest};
use crate::ui::words::{self, Health};
use crate::visible;

/// How deep a branch is drawn before its guides are cut.
const DEEPEST: usize = 8;

const NARROW: [Column; 8] = [
    flexible("SESSION", 16, 1, 0),
    right("VER", 6, 1),
    fixed("ACTIVE", 6, 6),
    fixed("LAST", 7, 3),
    right("AGE", 6, 2),
    right("MSG", 3, 5),
    right("OWED", 4, 4),
    fixed("STATE", 13, 3),
];
const WIDE: [Column; 8] = [
    flexible("SESSION", 24, 1, 0),
    right("VER", 7, 1),
    fixed("LAST HOUR", 12, 6),
    fixed("LAST", 7, 3),
    right("AGE", 6, 2),
    right("MSG", 3, 5),
    right("OWED", 4, 4),
    fixed("STATE", 13, 3),
];

/// Draws the pane.
pub(in crate::ui) fn draw(model: &Model, place: Rect, buffer: &mut Buffer) {
    let theme = &model.setup.theme;
    let main = &model.main;
    let parts = layout::parts(Pane::Sessions, place);
    if main.rows.sessions.is_empty() || has_only_the_operator(model) {
        return empty(model, layout::inner(place), buffer);
    }
    let columns = if parts.list.width >= 90 { &WIDE } else { &NARROW };
    let table = Table::fit(columns, parts.list.width.saturating_sub(2));
    table.draw_heading(parts.heading, theme, buffer);
    let top = main.sessions.top_for(main.rows.sessions.len(), usize::from(parts.list.height));
    for (y, at) in (parts.list.y..parts.list.bottom()).zip(top..main.rows.sessions.len()) {
        let row = main.rows.sessions[at];
        let session = &model.shown().sessions[row.session];
        let line = table.line(cells(model, row, session, table.width(2)));
        let standing = match (at == main.sessions.index(), main.focus == Pane::Sessions) {
            (true, true) => Standing::Selected,
            (true, false) => Standing::SelectedElsewhere,
            (false, _) if main.flash.sessions.contains(&SessionId::of(session)) => {
                Standing::Changed
            }
            (false, _) => Standing::Plain,
        };
        draw_row(buffer, Rect { y, height: 1, ..parts.list }, &line, standing, theme);
    }
}

fn cells(model: &Model, row: TreeRow, session: &SessionRow, chart_width: usize) -> [Cell; 8] {
    let theme = &model.setup.theme;
    let now = model.reckoned_now();
    let is_faded = row.is_context || session.ended_at.is_some();
    let text = if is_faded { theme.dim } else { theme.text };
    let last = session.last_event.as_ref();
    let kind_style = match last.map(|event| &event.kind) {
        Some(EventKind::UpstreamMissing | EventKind::RunFailed) => theme.warn,
        Some(EventKind::HumanDirectMessage | EventKind::GoalChanged) => text,
        _ => theme.dim,
    };
    let number = |n: usize, style: Style| -> Cell {
        if n == 0 { Vec::new() } else { vec![Span::styled(words::number(n as u64), style)] }
    };
    let mut owed = number(session.pending_notices, theme.active);
    if !owed.is_empty() {
        owed.insert(0, Span::styled("●", theme.active));
    }
    let mut messages = number(session.messages, theme.own);
    if !messages.is_empty() {
        messages.insert(0, Span::styled("✉", theme.own));
    }
    let slots = if chart_width >= 12 { 12 } else { 6 };
    let chart = if session.activity.iter().all(|n| *n == 0) { theme.dim } else { theme.chart };
    [
        name(model, row, session, text),
        vec![Span::styled(words::version(session.version), text)],
        vec![Span::styled(words::chart(&session.activity, slots), chart)],
        last.map(|event| vec![Span::styled(words::kind(&event.kind), kind_style)])
            .unwrap_or_default(),
        last.map(|event| {
            vec![Span::styled(words::age(now.saturating_sub(event.occurred_at)), theme.dim)]
        })
        .unwrap_or_default(),
        messages,
        owed,
        state(model, session),
    ]
}

fn name(model: &Model, row: TreeRow, session: &SessionRow, text: Style) -> Cell {
    let theme = &model.setup.theme;
    let mut cell: Cell = vec![Span::styled(guides(model, row), theme.border)];
    match row.branch {
        Branch::Open => cell.push(Span::styled("▾ ", theme.dim)),
        Branch::Folded => cell.push(Span::styled("▸ ", theme.dim)),
        Branch::Leaf if row.parent.is_none() => cell.push(Span::raw("  ")),
        Branch::Leaf => {}
    }
    let style = if session.key == SessionKey::operator() { theme.own } else { text };
    let filter = model.main.filter(Pane::Sessions);
    if filter.is_active() {
        let key = key_in_tree(model, row, session);
        let short = match words::title(session.title.as_deref()) {
            Some(title) => format!("{key}  {title}"),
            None => key,
        };
        cell.extend(shortest(short, session_text(session), style, filter, theme));
        return cell;
    }
    cell.push(Span::styled(key_in_tree(model, row, session), style));
    if session.key.qualified().is_none() {
        cell.push(Span::styled(format!(" @{}", visible::clean(session.agent.as_str())), theme.dim));
    }
    if let Some(title) = words::title(session.title.as_deref()) {
        let style = if text == theme.dim { theme.dim } else { theme.name };
        cell.push(Span::styled(format!("  {title}"), style));
    }
    cell
}

/// Below a parent of the same agent, the agent need not be said again.
fn key_in_tree(model: &Model, row: TreeRow, session: &SessionRow) -> String {
    let parent = row.parent.and_then(|at| model.main.rows.sessions.get(at));
    let parent = parent.and_then(|row| model.shown().sessions.get(row.session));
    match (session.key.qualified(), parent.and_then(|parent| parent.key.qualified())) {
        (Some(own), Some(above)) if own.agent == above.agent && own.rest != "main" => {
            words::short_key(&SessionKey::new(format!("agent:main:{}", own.rest)))
        }
        _ => words::short_key(&session.key),
    }
}

/// The lines that lead to a row from its ancestors.
fn guides(model: &Model, row: TreeRow) -> String {
    let rows = &model.main.rows.sessions;
    let Some(mut above) = row.parent else { return String::new() };
    let mut steps = vec![if row.is_last { "└ " } else { "├ " }];
    while let Some(grandparent) = rows[above].parent {
        if steps.len() == DEEPEST {
            steps.push("… ");
            break;
        }
        steps.push(if rows[above].is_last { "  " } else { "│ " });
        above = grandparent;
    }
    steps.push("  ");
    steps.into_iter().rev().collect()
}

fn state(model: &Model, session: &SessionRow) -> Cell {
    let theme = &model.setup.theme;
    let now = model.reckoned_now();
    if let Some(link) = &session.upstream {
        let (sign, style) = match words::health(link) {
            Health::Good => ("", theme.dim),
            Health::Active => ("", theme.active),
            Health::Warn => ("! ", theme.warn),
            Health::Bad => ("✗ ", theme.bad),
        };
        if session.ended_at.is_none() || !sign.is_empty() {
            return vec![Span::styled(format!("{sign}{}", words::outcome(link)), style)];
        }
    }
    match session.ended_at {
        Some(at) => {
            vec![Span::styled(format!("ended {}", words::age(now.saturating_sub(at))), theme.dim)]
        }
        None if session.has_goal => vec![Span::styled("goal", theme.dim)],
        None => Vec::new(),
    }
}

/// Everybody's session is there from the start: with it alone there is nothing to see yet.
fn has_only_the_operator(model: &Model) -> bool {
    matches!(model.shown().sessions.as_slice(), [only] if only.key == SessionKey::operator())
        && model.shown().watches.is_empty()
        && !model.main.filter(Pane::Sessions).is_active()
}

fn empty(model: &Model, area: Rect, buffer: &mut Buffer) {
    let theme = &model.setup.theme;
    let main = &model.main;
    let filter = main.filter(Pane::Sessions);
    let back = model.setup.keymap.key(Action::Back).unwrap_or_default();
    if model.live.is_none() {
        return middle(buffer, area, &[Line::styled("waiting for the engine…", theme.dim)]);
    }
    if filter.is_active() {
        let text = format!("no session matches /{} · {back} clears", visible::clean(filter.text()));
        return middle(buffer, area, &[Line::styled(text, theme.dim)]);
    }
    if main.out_of_step {
        let text = format!("✓ every pair is in step · {back} shows all");
        return middle(buffer, area, &[Line::styled(text, theme.good)]);
    }
    middle(buffer, area, &next_steps(model));
}

/// What to do when nothing is there yet.
fn next_steps(model: &Model) -> Vec<Line<'static>> {
    let theme = &model.setup.theme;
    let step = |what: String, how: &'static str| {
        Line::from(vec![
            Span::styled(format!("{what:<29}"), theme.key),
            Span::styled(how, theme.text),
        ])
    };
    let adopt = model.setup.keymap.key(Action::Adopt).unwrap_or_default();
    vec![
        Line::styled("No sessions yet.", theme.title),
        step(adopt, "adopt one that runs here"),
        step("tidings adopt ID".to_owned(), "the same from a shell"),
        step("tidings record KIND KEY …".to_owned(), "record an event"),
        step("tidings demo".to_owned(), "watch a simulated team"),
    ]
}

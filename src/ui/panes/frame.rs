//! Borders and titles of the panes.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::symbols::merge::MergeStrategy;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Widget};

use crate::ui::keymap::Context;
use crate::ui::layout;
use crate::ui::model::{Model, Pane};
use crate::ui::sorting;
use crate::ui::table::Cell;
use crate::ui::words;
use crate::visible;

/// The border of a pane of the main view; it joins those beside it.
pub(in crate::ui) fn border(model: &Model, pane: Pane, place: Rect, buffer: &mut Buffer) {
    let theme = &model.setup.theme;
    let style = if model.main.focus == pane { theme.border_focused } else { theme.border };
    Block::bordered().border_style(style).merge_borders(MergeStrategy::Exact).render(place, buffer);
}

/// The box of a view that has one.
pub(in crate::ui) fn single(model: &Model, title: Cell, place: Rect, buffer: &mut Buffer) {
    let theme = &model.setup.theme;
    Block::bordered().border_style(theme.border_focused).render(place, buffer);
    write_title(title, place, buffer);
    trail(model, place, buffer);
}

/// Between two views of the trail.
const STEP: &str = " › ";
/// Columns of the lower border that are left to what else is written there.
const BESIDE_TRAIL: u16 = 18;

/// Through which views this one was reached, on the lower border; of a long trail the end is what matters.
fn trail(model: &Model, place: Rect, buffer: &mut Buffer) {
    let theme = &model.setup.theme;
    let room = usize::from(place.width.saturating_sub(BESIDE_TRAIL));
    let names: Vec<&str> = model.trail().map(Context::short_title).collect();
    let last = names.len().saturating_sub(1);
    let mut from = 0;
    let text = loop {
        let cut = if from > 0 { "… › " } else { "" };
        let before: String = names[from..last].iter().flat_map(|name| [*name, STEP]).collect();
        let text = format!("{cut}{before}");
        if from == last || visible::columns(&text) + visible::columns(names[last]) <= room {
            break text;
        }
        from += 1;
    };
    let cell = vec![
        Span::styled(format!(" {text}"), theme.dim),
        Span::styled(format!("{} ", names[last]), theme.title),
    ];
    let (x, y) = (place.x + 2, place.bottom().saturating_sub(1));
    let used: usize = cell.iter().map(|span| visible::columns(&span.content)).sum();
    over_border(x, y, used.min(usize::from(place.width.saturating_sub(4))), buffer);
    buffer.set_line(x, y, &Line::from(cell), place.width.saturating_sub(4));
}

/// The title of a pane on its border, and where in its rows it is.
pub(in crate::ui) fn title(model: &Model, pane: Pane, place: Rect, buffer: &mut Buffer) {
    let theme = &model.setup.theme;
    let main = &model.main;
    let is_focused = main.focus == pane;
    let style = if is_focused { theme.title_focused } else { theme.title };
    let all = model.shown();
    let (shown, total) = match pane {
        Pane::Sessions => {
            (main.rows.sessions.iter().filter(|row| !row.is_context).count(), all.sessions.len())
        }
        Pane::Watches => {
            let key = main.sessions.key().map(|id| &id.key);
            let all = key.map_or(0, |key| {
                model.picture.watching(key).len() + model.picture.watched_by(key).len()
            });
            (main.rows.watches.len(), all)
        }
        Pane::Notices => (main.rows.notices.len(), all.notices.len()),
        Pane::Events => (main.rows.events.len(), all.events.len()),
    };
    let filter = main.filter(pane);
    let count = if main.is_narrowed(pane) {
        format!("{shown}/{total}")
    } else {
        words::number(total as u64)
    };

    let mut cell: Cell = vec![Span::styled(" ", style)];
    let name = match pane {
        Pane::Sessions => "Sessions".to_owned(),
        Pane::Watches => match main.sessions.key() {
            Some(id) => {
                let taken = if main.out_of_step { 40 } else { 26 };
                let room = usize::from(place.width).saturating_sub(taken);
                format!("Watches of {}", visible::elide(&words::whole_key(&id.key), room))
            }
            None => "Watches".to_owned(),
        },
        Pane::Notices => "Pending notices".to_owned(),
        Pane::Events => "Events".to_owned(),
    };
    cell.push(Span::styled(format!("{name} {count} "), style));
    let order = sorting::words(pane, main.sort(pane));
    if !order.is_empty() {
        cell.push(Span::styled(format!("{order} "), theme.dim));
    }
    if main.out_of_step && matches!(pane, Pane::Sessions | Pane::Watches) {
        cell.push(Span::styled("! not in step ", theme.warn));
    }
    if pane == Pane::Events && main.follow {
        cell.push(Span::styled("following ", theme.dim));
    }
    if filter.is_active() {
        cell.push(Span::styled(format!("/{} ", visible::clean(filter.text())), theme.matched));
    }
    write_title(cell, place, buffer);

    let height = usize::from(layout::parts(pane, place).list.height);
    position(model, main.index(pane), main.len(pane), height, place, buffer);
}

/// Where in its rows a list is, when not all are shown.
pub(in crate::ui) fn position(
    model: &Model,
    index: usize,
    len: usize,
    height: usize,
    place: Rect,
    buffer: &mut Buffer,
) {
    if len <= height {
        return;
    }
    let text = format!(" {}/{} ", words::number(index as u64 + 1), words::number(len as u64));
    let width = u16::try_from(text.len()).unwrap_or(0);
    if place.width > width + 24 {
        let x = place.right() - width - 1;
        let before = &mut buffer[(x - 1, place.y)];
        let is_free = |c: char| c == ' ' || ('\u{2500}'..='\u{257f}').contains(&c);
        if !before.symbol().chars().all(is_free) {
            before.set_symbol(visible::ELLIPSIS);
        }
        over_border(x, place.y, text.len(), buffer);
        buffer.set_string(x, place.y, text, model.setup.theme.dim);
    }
}

fn write_title(cell: Cell, place: Rect, buffer: &mut Buffer) {
    let room = place.width.saturating_sub(4);
    let used: usize = cell.iter().map(|span| visible::columns(&span.content)).sum();
    let cell = if used > usize::from(room) {
        crate::ui::table::fit(cell, usize::from(room), false)
    } else {
        cell
    };
    over_border(place.x + 2, place.y, used.min(usize::from(room)), buffer);
    buffer.set_line(place.x + 2, place.y, &Line::from(cell), room);
}

/// Makes room on a border: what is written there must not take over its style.
fn over_border(x: u16, y: u16, columns: usize, buffer: &mut Buffer) {
    let area = buffer.area;
    for x in (x..area.right()).take(columns) {
        buffer[(x, y)].reset();
    }
}

//! The foreign sessions of this machine that can be adopted.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::{frame, middle, wrap};
use crate::ui::keymap::Action;
use crate::ui::layout;
use crate::ui::model::{Adopt, Model};
use crate::ui::table::{
    Cell, Column, Standing, Table, draw_row, fixed, flexible, highlighted, right,
};
use crate::ui::update;
use crate::ui::words;
use crate::upstream::{CatalogEntry, Listing};
use crate::visible;

const COLUMNS: [Column; 6] = [
    fixed("", 8, 3),
    flexible("TITLE", 16, 3, 0),
    flexible("PROJECT", 12, 2, 4),
    right("ACTIVE", 6, 0),
    right("SIZE", 9, 2),
    flexible("THREAD", 10, 1, 1),
];

/// Draws the view.
pub(in crate::ui) fn draw(model: &Model, adopt: &Adopt, body: Rect, buffer: &mut Buffer) {
    let theme = &model.setup.theme;
    let mut title: Cell =
        vec![Span::styled(" Adopt a session of this machine ", theme.title_focused)];
    if let Some(listing) = &adopt.listing {
        let total = listing.entries.len();
        let count = if adopt.filter.is_active() {
            format!("{}/{total} ", adopt.rows.len())
        } else {
            format!("{} ", words::number(total as u64))
        };
        title.push(Span::styled(count, theme.title_focused));
    }
    if adopt.filter.is_active() {
        title.push(Span::styled(
            format!("/{} ", visible::clean(adopt.filter.text())),
            theme.matched,
        ));
    }
    frame::single(model, title, body, buffer);
    let skipped = adopt.listing.as_ref().map_or(0, |listing| listing.skipped.len());
    let parts = layout::adopt_parts(body, skipped);
    match &adopt.listing {
        Some(listing) if !adopt.rows.is_empty() => {
            rows(model, adopt, listing, parts, buffer);
            let height = usize::from(parts.list.height);
            frame::position(model, adopt.entries.index(), adopt.rows.len(), height, body, buffer);
        }
        _ => empty(model, adopt, parts.list, buffer),
    }
    if let Some(listing) = &adopt.listing {
        passed_over(model, listing, parts.detail, buffer);
    }
}

fn rows(
    model: &Model,
    adopt: &Adopt,
    listing: &Listing,
    parts: layout::PaneParts,
    buffer: &mut Buffer,
) {
    let theme = &model.setup.theme;
    let table = Table::fit(&COLUMNS, parts.list.width.saturating_sub(2));
    table.draw_heading(parts.heading, theme, buffer);
    let top = adopt.entries.top_for(adopt.rows.len(), usize::from(parts.list.height));
    for (y, at) in (parts.list.y..parts.list.bottom()).zip(top..adopt.rows.len()) {
        let line = table.line(cells(model, adopt, &listing.entries[adopt.rows[at]]));
        let standing = Standing::of(at == adopt.entries.index(), false);
        draw_row(buffer, Rect { y, height: 1, ..parts.list }, &line, standing, theme);
    }
}

fn cells(model: &Model, adopt: &Adopt, entry: &CatalogEntry) -> [Cell; 6] {
    let theme = &model.setup.theme;
    let name = (entry.catalog.clone(), entry.thread.clone());
    let catalog = if adopt.adopted.contains(&name) {
        Span::styled("✓ yours", theme.good)
    } else if update::is_asked(model, &name.0, &name.1) {
        Span::styled("… asked", theme.active)
    } else {
        Span::styled(visible::clean(&entry.catalog).into_owned(), theme.dim)
    };
    let filter = &adopt.filter;
    let title = match words::title(entry.title.as_deref()) {
        Some(title) => highlighted(&title, theme.text, filter, theme),
        None => vec![Span::styled("untitled", theme.dim)],
    };
    let project = visible::clean(entry.project.as_deref().unwrap_or_default()).into_owned();
    let age = words::age(model.now.saturating_sub(entry.modified_at));
    [
        vec![catalog],
        title,
        highlighted(&project, theme.name, filter, theme),
        vec![Span::styled(age, theme.text)],
        vec![Span::styled(words::size(entry.size), theme.dim)],
        highlighted(&visible::clean(&entry.thread), theme.dim, filter, theme),
    ]
}

fn empty(model: &Model, adopt: &Adopt, area: Rect, buffer: &mut Buffer) {
    let theme = &model.setup.theme;
    let key = |action| model.setup.keymap.key(action).unwrap_or_default();
    let width = usize::from(area.width.saturating_sub(4));
    let (text, style) = if let Some(error) = &adopt.error {
        (format!("✗ {} · {} asks again", visible::clean(error), key(Action::Reload)), theme.bad)
    } else if adopt.listing.is_none() {
        ("looking for sessions on this machine…".to_owned(), theme.dim)
    } else if adopt.filter.is_active() {
        let typed = visible::clean(adopt.filter.text());
        (format!("nothing matches /{typed} · {} clears", key(Action::Back)), theme.dim)
    } else {
        let text = format!(
            "Nothing to adopt: no session was found here that is not adopted already. Start one in another \
             terminal, then {} asks again.",
            key(Action::Reload)
        );
        (text, theme.text)
    };
    let lines: Vec<Line> =
        wrap(&text, width, 4).into_iter().map(|line| Line::styled(line, style)).collect();
    middle(buffer, area, &lines);
}

fn passed_over(model: &Model, listing: &Listing, area: Rect, buffer: &mut Buffer) {
    if area.height == 0 {
        return;
    }
    let theme = &model.setup.theme;
    let width = usize::from(area.width.saturating_sub(2));
    let room = usize::from(area.height - 1);
    let total = listing.skipped.len();
    let more = if total > room { format!(" (the first {room})") } else { String::new() };
    let title = format!("┄ passed over: {}{more} ", words::count(total, "file"));
    let rule = format!("{title}{}", "┄".repeat(width.saturating_sub(visible::columns(&title))));
    buffer.set_stringn(area.x + 1, area.y, rule, width, theme.border);
    for (y, (path, reason)) in (area.y + 1..area.bottom()).zip(&listing.skipped) {
        let reason = visible::clean(reason);
        let path_room = width.saturating_sub(visible::columns(&reason).min(width / 2) + 3);
        let path = path.to_string_lossy();
        let path = visible::clean(&path);
        let path = visible::elide(&path, path_room);
        let text = format!("{path} · {reason}");
        buffer.set_stringn(area.x + 1, y, visible::truncate(&text, width), width, theme.dim);
    }
}

//! Any sheet: a sentence, the rows, and more about the selected one.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::{frame, middle, paragraph, wrap};
use crate::ui::keymap::Action;
use crate::ui::layout;
use crate::ui::model::Model;
use crate::ui::sheet::{Field, Kind, Sheet};
use crate::ui::sheets;
use crate::ui::table::{Cell, Standing, Table, draw_row, highlighted};
use crate::ui::theme::Theme;
use crate::ui::words;
use crate::visible;

/// Draws the sheet.
pub(in crate::ui) fn draw(model: &Model, sheet: &Sheet, body: Rect, buffer: &mut Buffer) {
    let theme = &model.setup.theme;
    let columns = sheets::columns(&sheet.kind);
    let mut title: Cell =
        vec![Span::styled(format!(" {} ", sheets::title(&sheet.kind)), theme.title_focused)];
    if !matches!(sheet.kind, Kind::Storage | Kind::Explain(_)) {
        let total = words::number(sheet.rows.len() as u64);
        let count = if sheet.filter.is_active() {
            format!("{}/{total} ", sheet.shown.len())
        } else {
            format!("{total} ")
        };
        title.push(Span::styled(count, theme.title_focused));
    }
    if let Some(column) = sheet.sort.column.and_then(|at| columns.get(at)) {
        let turned = if sheet.sort.is_reversed { " ↑" } else { "" };
        let heading = column.heading.to_lowercase();
        title.push(Span::styled(format!("by {heading}{turned} "), theme.dim));
    } else if sheet.sort.is_reversed {
        title.push(Span::styled("turned round ", theme.dim));
    }
    if sheet.filter.is_active() {
        let typed = visible::clean(sheet.filter.text());
        title.push(Span::styled(format!("/{typed} "), theme.matched));
    }
    let is_of_now = matches!(sheet.kind, Kind::Upstream | Kind::Storage | Kind::Explain(_));
    if is_of_now && model.past.is_some() {
        title.push(Span::styled("as of now ", theme.warn));
    }
    frame::single(model, title, body, buffer);
    let (head, parts) = layout::sheet_parts(body);
    let width = usize::from(head.width.saturating_sub(2));
    if let Some(summary) = sheets::summary(model, sheet) {
        let lines = wrap(&summary.text, width, usize::from(head.height));
        paragraph(buffer, Rect { x: head.x + 1, ..head }, &lines, theme.tint(summary.tint));
    }
    if let Some(error) = &sheet.error {
        let again = model.setup.keymap.key(Action::Reload).unwrap_or_default();
        let text = format!("✗ {} · {again} asks again", visible::clean(error));
        let lines: Vec<Line> =
            wrap(&text, width, 4).into_iter().map(|line| Line::styled(line, theme.bad)).collect();
        return middle(buffer, parts.list, &lines);
    }
    if sheet.shown.is_empty() {
        return empty(model, sheet, parts.list, buffer);
    }
    let table = Table::fit(columns, parts.list.width.saturating_sub(2));
    table.draw_heading(parts.heading, theme, buffer);
    let top = sheet.selection.top_for(sheet.shown.len(), usize::from(parts.list.height));
    for (y, at) in (parts.list.y..parts.list.bottom()).zip(top..sheet.shown.len()) {
        let row = &sheet.rows[sheet.shown[at]];
        let cells = row.fields.iter().map(|field| cell(field, sheet, theme));
        let standing = Standing::of(at == sheet.selection.index(), false);
        draw_row(buffer, Rect { y, height: 1, ..parts.list }, &table.line(cells), standing, theme);
    }
    let height = usize::from(parts.list.height);
    frame::position(model, sheet.selection.index(), sheet.shown.len(), height, body, buffer);
    if let Some(row) = sheet.selected().filter(|_| parts.detail.height > 1) {
        let area = parts.detail;
        buffer.set_string(area.x + 1, area.y, "┄".repeat(width), theme.border);
        let room = usize::from(area.height - 1);
        let each = room.div_ceil(row.detail.len().max(1));
        let lines: Vec<String> =
            row.detail.iter().flat_map(|line| wrap(line, width, each)).take(room).collect();
        let below = Rect { x: area.x + 1, y: area.y + 1, height: area.height - 1, ..area };
        paragraph(buffer, below, &lines, theme.text);
    }
}

fn cell(field: &Field, sheet: &Sheet, theme: &Theme) -> Cell {
    let style = theme.tint(field.tint);
    if sheet.filter.is_active() {
        highlighted(&field.text, style, &sheet.filter, theme)
    } else {
        vec![Span::styled(field.text.clone(), style)]
    }
}

fn empty(model: &Model, sheet: &Sheet, area: Rect, buffer: &mut Buffer) {
    let theme = &model.setup.theme;
    let key = |action| model.setup.keymap.key(action).unwrap_or_default();
    let text = if model.live.is_none() {
        "waiting for the engine…".to_owned()
    } else if sheet.filter.is_active() {
        let typed = visible::clean(sheet.filter.text());
        format!("nothing matches /{typed} · {} clears", key(Action::Back))
    } else {
        let empty = sheets::empty(sheet);
        match sheet.kind {
            Kind::Upstream => format!("{empty} · {} lists what can be adopted", key(Action::Adopt)),
            _ => empty.to_owned(),
        }
    };
    let text = visible::truncate(&text, usize::from(area.width)).into_owned();
    middle(buffer, area, &[Line::styled(text, theme.dim)]);
}

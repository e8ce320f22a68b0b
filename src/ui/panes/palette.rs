//! The palette over the view: a field, and the actions that match.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Widget};

use crate::ui::keymap::{ACTIONS, Action};
use crate::ui::layout;
use crate::ui::model::{Model, Palette};
use crate::ui::table::{Cell, Standing, Table, draw_row, fixed, flexible, highlighted, right};
use crate::ui::update;
use crate::visible;

/// Draws the palette. Returns where the terminal's cursor stands.
pub(in crate::ui) fn draw(
    model: &Model,
    palette: &Palette,
    area: Rect,
    buffer: &mut Buffer,
) -> Position {
    let theme = &model.setup.theme;
    let (place, list) = layout::palette(area);
    Clear.render(place, buffer);
    Block::bordered().border_style(theme.border_focused).render(place, buffer);
    let room = usize::from(place.width.saturating_sub(4));
    buffer.set_stringn(place.x + 2, place.y, " Actions ", room, theme.title_focused);
    let back = model.setup.keymap.key(Action::Back).unwrap_or_default();
    let does = model.setup.keymap.key(Action::Accept).unwrap_or_default();
    let foot = format!(" {does} does it · {back} closes ");
    buffer.set_stringn(place.x + 2, place.bottom() - 1, &foot, room, theme.dim);

    let field = Rect { x: place.x + 2, y: place.y + 1, width: place.width - 4, height: 1 };
    let input = &palette.filter.input;
    let width = usize::from(field.width.saturating_sub(2));
    let scroll = input.visual_scroll(width.saturating_sub(1));
    let typed: String = visible::clean(palette.filter.text()).chars().skip(scroll).collect();
    buffer.set_string(field.x, field.y, ":", theme.key);
    let typed = visible::truncate(&typed, width);
    buffer.set_stringn(field.x + 1, field.y, &typed, width, theme.text);

    let columns = [flexible("", 20, 1, 0), right("", 14, 1), fixed("", 9, 2)];
    let table = Table::fit(&columns, list.width.saturating_sub(2));
    let context = model.view_context();
    let top = palette.selection.top_for(palette.rows.len(), usize::from(list.height));
    for (y, at) in (list.y..list.bottom()).zip(top..palette.rows.len()) {
        let info = &ACTIONS[palette.rows[at]];
        let is_here = info.contexts.contains(&context);
        let style = if is_here { theme.text } else { theme.dim };
        let text: Cell = highlighted(&update::palette_text(info), style, &palette.filter, theme);
        let keys = model.setup.keymap.keys(info.action);
        let place = if is_here { String::new() } else { "elsewhere".to_owned() };
        let line: Line = table.line([
            text,
            vec![Span::styled(keys, if is_here { theme.key } else { theme.dim })],
            vec![Span::styled(place, theme.dim)],
        ]);
        let standing = Standing::of(at == palette.selection.index(), false);
        draw_row(buffer, Rect { y, height: 1, ..list }, &line, standing, theme);
    }
    if palette.rows.is_empty() {
        let text = visible::truncate("no action has these letters", usize::from(list.width));
        buffer.set_string(list.x + 1, list.y, text, theme.dim);
    }
    let column = input.visual_cursor().saturating_sub(scroll).min(width);
    Position { x: field.x + 1 + u16::try_from(column).unwrap_or(0), y: field.y }
}

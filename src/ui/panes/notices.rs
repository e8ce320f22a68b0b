//! Pending notices: who is owed what since when, and how they get to know.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::middle;
use crate::engine::snapshot::{NoticeRow, WakeState, WatchRow};
use crate::session_key::SessionKey;
use crate::ui::index::PairId;
use crate::ui::keymap::Action;
use crate::ui::layout;
use crate::ui::model::{Model, Pane};
use crate::ui::table::{Cell, Column, Standing, Table, draw_row, flexible, right, shortest};
use crate::ui::words;
use crate::visible;

const NARROW: [Column; 7] = [
    flexible("WATCHER", 12, 1, 0),
    flexible("TARGET", 13, 1, 0),
    right("SINCE", 6, 2),
    right("FROZEN", 6, 3),
    right("NOW", 6, 4),
    right("AGE", 6, 1),
    flexible("DELIVERY", 19, 2, 5),
];
const WIDE: [Column; 7] = [
    flexible("WATCHER", 20, 1, 0),
    flexible("TARGET", 20, 1, 0),
    right("SINCE", 9, 2),
    right("FROZEN", 9, 3),
    right("NOW", 9, 4),
    right("AGE", 6, 1),
    flexible("DELIVERY", 44, 1, 5),
];

/// Draws the pane.
pub(in crate::ui) fn draw(model: &Model, place: Rect, buffer: &mut Buffer) {
    let theme = &model.setup.theme;
    let main = &model.main;
    let parts = layout::parts(Pane::Notices, place);
    let rows = &main.rows.notices;
    if rows.is_empty() {
        return empty(model, layout::inner(place), buffer);
    }
    let columns = if parts.list.width >= 140 { &WIDE } else { &NARROW };
    let table = Table::fit(columns, parts.list.width.saturating_sub(2));
    table.draw_heading(parts.heading, theme, buffer);
    let top = main.notices.top_for(rows.len(), usize::from(parts.list.height));
    for (y, at) in (parts.list.y..parts.list.bottom()).zip(top..rows.len()) {
        let notice = &model.shown().notices[rows[at]];
        let watch = &model.shown().watches[notice.watch];
        let line = table.line(cells(model, notice, watch));
        let is_selected = at == main.notices.index() && main.focus == Pane::Notices;
        let is_changed = main.flash.pairs.contains(&PairId::of(watch));
        let standing = Standing::of(is_selected, is_changed);
        draw_row(buffer, Rect { y, height: 1, ..parts.list }, &line, standing, theme);
    }
}

fn cells(model: &Model, notice: &NoticeRow, watch: &WatchRow) -> [Cell; 7] {
    let theme = &model.setup.theme;
    let now = model.reckoned_now();
    let cursor = &watch.cursor;
    let is_own = cursor.watcher == SessionKey::operator();
    let key = |key: &SessionKey| {
        let style = if is_own { theme.own } else { theme.text };
        let filter = model.main.filter(Pane::Notices);
        if filter.is_active() {
            shortest(words::short_key(key), words::whole_key(key), style, filter, theme)
        } else {
            vec![Span::styled(words::short_key(key), style)]
        }
    };
    let age =
        watch.pending_since.map_or_else(|| "?".to_owned(), |at| words::age(now.saturating_sub(at)));
    let delivery_style = match &watch.wake {
        _ if is_own => theme.own,
        WakeState::Skipped(..) => theme.warn,
        WakeState::Coalescing(_) => theme.active,
        WakeState::Never | WakeState::Unknown => theme.dim,
        WakeState::NotDue | WakeState::Fired(_) => theme.text,
    };
    let number = |text: String| vec![Span::styled(text, theme.text)];
    [
        key(&cursor.watcher),
        key(&cursor.target),
        number(cursor.seen.to_string()),
        number(cursor.notified.to_string()),
        number(cursor.material.to_string()),
        vec![Span::styled(age, theme.condition(watch.condition))],
        vec![Span::styled(words::delivery(watch, notice, now, &model.setup.zone), delivery_style)],
    ]
}

fn empty(model: &Model, area: Rect, buffer: &mut Buffer) {
    let theme = &model.setup.theme;
    let filter = model.main.filter(Pane::Notices);
    let (text, style) = if model.live.is_none() {
        (String::new(), theme.dim)
    } else if filter.is_active() {
        let back = model.setup.keymap.key(Action::Back).unwrap_or_default();
        (format!("no notice matches /{} · {back} clears", visible::clean(filter.text())), theme.dim)
    } else if model.shown().watches.is_empty() {
        ("no notices: nobody watches anything yet".to_owned(), theme.dim)
    } else {
        ("✓ no notice is pending: everybody has seen what concerns them".to_owned(), theme.dim)
    };
    let text = visible::truncate(&text, usize::from(area.width)).into_owned();
    middle(buffer, area, &[Line::styled(text, style)]);
}

//! Events as they come, and what became of each.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::middle;
use crate::engine::snapshot::EventRow;
use crate::event::{ActorType, EventKind};
use crate::session_key::SessionKey;
use crate::ui::keymap::Action;
use crate::ui::layout;
use crate::ui::model::{Model, Pane};
use crate::ui::table::{
    Cell, Column, Standing, Table, draw_row, fixed, flexible, highlighted, right, shortest,
};
use crate::ui::theme::Theme;
use crate::ui::words;
use crate::visible;

const NARROW: [Column; 7] = [
    fixed("TIME", 8, 1),
    right("SEQ", 7, 0),
    flexible("SESSION", 15, 1, 0),
    fixed("KIND", 7, 0),
    fixed("ACTOR", 6, 2),
    flexible("SUMMARY", 8, 1, 4),
    fixed("OUTCOME", 13, 3),
];
const WIDE: [Column; 7] = [
    fixed("TIME", 8, 1),
    right("SEQ", 9, 0),
    flexible("SESSION", 24, 2, 0),
    fixed("KIND", 20, 0),
    fixed("ACTOR", 6, 2),
    flexible("SUMMARY", 24, 3, 4),
    flexible("OUTCOME", 26, 1, 3),
];
/// Where the kind stands.
const KIND: usize = 3;

/// Draws the pane.
pub(in crate::ui) fn draw(model: &Model, place: Rect, buffer: &mut Buffer) {
    let theme = &model.setup.theme;
    let main = &model.main;
    let parts = layout::parts(Pane::Events, place);
    let rows = &main.rows.events;
    if rows.is_empty() {
        return empty(model, parts.list, buffer);
    }
    let columns = if parts.list.width >= 140 { &WIDE } else { &NARROW };
    let table = Table::fit(columns, parts.list.width.saturating_sub(2));
    let top = main.events.top_for(rows.len(), usize::from(parts.list.height));
    for (y, at) in (parts.list.y..parts.list.bottom()).zip(top..rows.len()) {
        let row = &model.shown().events[rows[at]];
        let line = table.line(cells(model, row, table.width(KIND)));
        let is_selected = at == main.events.index() && main.focus == Pane::Events;
        let is_new = main.flash.events_after.is_some_and(|last| row.event.sequence > last);
        let standing = match (is_selected, is_new) {
            (true, _) => Standing::Selected,
            (false, true) => Standing::Changed,
            (false, false) => Standing::Plain,
        };
        draw_row(buffer, Rect { y, height: 1, ..parts.list }, &line, standing, theme);
    }
}

fn cells(model: &Model, row: &EventRow, kind_width: usize) -> [Cell; 7] {
    let theme = &model.setup.theme;
    let event = &row.event;
    let time = words::moment(event.occurred_at, model.reckoned_now(), &model.setup.zone);
    // The short word where the kind's own name does not fit.
    let kind = if kind_width >= 20 {
        visible::clean(event.kind.as_str()).into_owned()
    } else {
        words::kind(&event.kind)
    };
    let filter = model.main.filter(Pane::Events);
    let words_of = |text: &str, style: Style| highlighted(text, style, filter, theme);
    let session = if filter.is_active() {
        {
            let key = &event.session;
            shortest(words::short_key(key), words::whole_key(key), theme.text, filter, theme)
        }
    } else {
        vec![Span::styled(words::short_key(&event.session), theme.text)]
    };
    [
        vec![Span::styled(time, theme.dim)],
        vec![Span::styled(words::sequence(event.sequence), theme.dim)],
        session,
        words_of(&kind, kind_style(&event.kind, theme)),
        words_of(&visible::clean(event.actor_type.as_str()), actor_style(row, theme)),
        words_of(&visible::clean(&event.summary), theme.text),
        outcome(row, theme),
    ]
}

fn actor_style(row: &EventRow, theme: &Theme) -> Style {
    let is_operator = row.event.actor.as_deref() == Some(SessionKey::operator().as_str());
    match row.event.actor_type {
        _ if is_operator => theme.own,
        ActorType::Human => theme.text,
        _ => theme.dim,
    }
}

/// The colour of a kind: what notifies stands out, what went wrong more so.
pub(super) fn kind_style(kind: &EventKind, theme: &Theme) -> Style {
    match kind {
        EventKind::HumanDirectMessage | EventKind::GoalChanged => theme.active,
        EventKind::UpstreamMissing | EventKind::RunFailed => theme.warn,
        EventKind::RunCompleted => theme.good,
        _ => theme.dim,
    }
}

/// What became of an event: whom it notified, whose open notice covers it, who caused it.
fn outcome(row: &EventRow, theme: &Theme) -> Cell {
    let mut parts = Vec::new();
    if row.notified > 0 {
        parts.push(format!("notified {}", row.notified));
    }
    if row.coalesced > 0 {
        parts.push(format!("coalesced {}", row.coalesced));
    }
    let style = if row.notified > 0 { theme.active } else { theme.text };
    if row.suppressed > 0 {
        parts.push("own".to_owned());
    }
    match (parts.is_empty(), row.notified.saturating_add(row.coalesced)) {
        (true, _) => vec![Span::styled("·", theme.dim)],
        (false, 0) => vec![Span::styled(parts.join(", "), theme.dim)],
        (false, _) => vec![Span::styled(format!("→ {}", parts.join(", ")), style)],
    }
}

fn empty(model: &Model, area: Rect, buffer: &mut Buffer) {
    let filter = model.main.filter(Pane::Events);
    let text = if model.live.is_none() {
        String::new()
    } else if filter.is_active() {
        let back = model.setup.keymap.key(Action::Back).unwrap_or_default();
        format!("no event matches /{} · {back} clears", visible::clean(filter.text()))
    } else {
        "no events yet: they stand here as soon as something happens".to_owned()
    };
    let text = visible::truncate(&text, usize::from(area.width)).into_owned();
    middle(buffer, area, &[Line::styled(text, model.setup.theme.dim)]);
}

//! The watches of the selected session, in both directions: a watch reads like a consumer with its offset.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::{middle, paragraph, wrap};
use crate::engine::snapshot::WatchRow;
use crate::event::Sequence;
use crate::session_key::SessionKey;
use crate::ui::index::PairId;
use crate::ui::keymap::Action;
use crate::ui::layout;
use crate::ui::model::{Model, Pane};
use crate::ui::rows::{WatchLine, watch_text};
use crate::ui::table::{Cell, Column, Standing, Table, draw_row, fixed, flexible, right, shortest};
use crate::ui::theme::sign;
use crate::ui::words;
use crate::visible;
use crate::watch::{Condition, Provenance};

const WIDE: [Column; 7] = [
    fixed("→", 1, 0),
    flexible("WATCHES, ← WATCHED BY", 21, 1, 0),
    fixed("SEEN ┄ NOTIFIED ┄ MAT.", 22, 2),
    right("OWED", 5, 3),
    right("HIST", 5, 4),
    fixed("CONDITION", 16, 1),
    fixed("HOW", 8, 5),
];

const NARROW: [Column; 7] = [
    fixed("→", 1, 0),
    flexible("WATCHES, ← BY", 14, 1, 0),
    fixed("SEEN┄NOTIFIED┄MAT.", 18, 2),
    right("OWED", 5, 3),
    right("HIST", 5, 4),
    fixed("CONDITION", 16, 1),
    fixed("HOW", 8, 5),
];
/// How wide the marks may be before their gaps go.
const MARKS: usize = 18;

/// Draws the pane.
pub(in crate::ui) fn draw(model: &Model, place: Rect, buffer: &mut Buffer) {
    let theme = &model.setup.theme;
    let main = &model.main;
    let parts = layout::parts(Pane::Watches, place);
    let rows = &main.rows.watches;
    if rows.is_empty() {
        empty(model, parts.list, buffer);
    } else {
        let columns = if parts.list.width >= 76 { &WIDE } else { &NARROW };
        let table = Table::fit(columns, parts.list.width.saturating_sub(2));
        table.draw_heading(parts.heading, theme, buffer);
        let top = main.watches.top_for(rows.len(), usize::from(parts.list.height));
        for (y, at) in (parts.list.y..parts.list.bottom()).zip(top..rows.len()) {
            let watch = &model.shown().watches[rows[at].watch];
            let line = table.line(cells(model, rows[at], watch));
            let is_selected = at == main.watches.index() && main.focus == Pane::Watches;
            let is_changed = main.flash.pairs.contains(&PairId::of(watch));
            let standing = Standing::of(is_selected, is_changed);
            draw_row(buffer, Rect { y, height: 1, ..parts.list }, &line, standing, theme);
        }
    }
    detail(model, parts.detail, buffer);
}

fn cells(model: &Model, line: WatchLine, watch: &WatchRow) -> [Cell; 7] {
    let theme = &model.setup.theme;
    let condition = theme.condition(watch.condition);
    let is_kept =
        model.past.as_ref().is_none_or(|past| !past.not_kept.contains(&PairId::of(watch)));
    let (owed, history) = (watch.actionable_lag(), watch.history_lag());
    let lag = |lag: i64, style| {
        if !is_kept {
            return vec![Span::styled("?", theme.dim)];
        }
        vec![Span::styled(lag.to_string(), if lag == 0 { theme.dim } else { style })]
    };
    let how = match watch.cursor.provenance {
        Provenance::Explicit => "explicit",
        Provenance::AmbientGroup => "ambient",
    };
    [
        vec![Span::styled(if line.is_incoming { "←" } else { "→" }, theme.dim)],
        name(model, line, watch),
        vec![Span::styled(
            if is_kept { marks(watch) } else { "not kept".to_owned() },
            if watch.cursor.is_pending() { condition } else { theme.text },
        )],
        lag(owed, condition),
        lag(history, theme.text),
        vec![Span::styled(format!("{} {}", sign(watch.condition), watch.condition), condition)],
        vec![Span::styled(how, theme.dim)],
    ]
}

fn name(model: &Model, line: WatchLine, watch: &WatchRow) -> Cell {
    let theme = &model.setup.theme;
    let other = if line.is_incoming { &watch.cursor.watcher } else { &watch.cursor.target };
    let style = if *other == SessionKey::operator() { theme.own } else { theme.text };
    let filter = model.main.filter(Pane::Watches);
    if filter.is_active() {
        let whole = watch_text(watch, line.is_incoming, &model.picture);
        return shortest(words::short_key(other), whole, style, filter, theme);
    }
    let mut cell = vec![Span::styled(words::short_key(other), style)];
    let title =
        model.picture.session(other).and_then(|session| words::title(session.title.as_deref()));
    if let Some(title) = title {
        cell.push(Span::styled(format!("  {title}"), theme.name));
    }
    cell
}

/// Last seen, notified and material; what is equal is said once.
fn marks(watch: &WatchRow) -> String {
    let cursor = &watch.cursor;
    let mut marks: Vec<Sequence> = vec![cursor.seen, cursor.notified, cursor.material];
    marks.dedup();
    let joined = |gap| marks.iter().map(ToString::to_string).collect::<Vec<_>>().join(gap);
    let spaced = joined(" ┄ ");
    if visible::columns(&spaced) <= MARKS { spaced } else { joined("┄") }
}

/// Why the selected watch is in its condition, and what else is known about the session.
fn detail(model: &Model, area: Rect, buffer: &mut Buffer) {
    if area.height == 0 {
        return;
    }
    let theme = &model.setup.theme;
    let main = &model.main;
    let text = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
    let width = usize::from(text.width);
    let selected = main.rows.watches.get(main.watches.index());
    let watch = selected.map(|line| &model.shown().watches[line.watch]);
    let (because, style) = watch.map_or((String::new(), theme.dim), |watch| {
        let because = visible::clean(&watch.because(model.reckoned_now())).into_owned();
        let style = match watch.condition {
            Condition::InStep => theme.dim,
            condition => theme.condition(condition),
        };
        (format!("{} {because}", sign(watch.condition)), style)
    });
    if area.height == 1 {
        return paragraph(buffer, text, &wrap(&because, width, 1), style);
    }
    buffer.set_string(text.x, area.y, "┄".repeat(width), theme.border);
    let because = wrap(&because, width, 2);
    let used = u16::try_from(because.len()).unwrap_or(0);
    paragraph(buffer, Rect { y: area.y + 1, height: area.height - 1, ..text }, &because, style);
    let facts_area = Rect { y: area.y + 1 + used, height: area.height - 1 - used, ..text };
    let session = main.sessions.key().and_then(|id| model.picture.session(&id.key));
    let foreign = session.filter(|session| session.key != SessionKey::operator());
    if let Some(session) = foreign.filter(|_| facts_area.height > 0) {
        let facts = words::facts(session, model.reckoned_now());
        paragraph(
            buffer,
            facts_area,
            &wrap(&facts, width, usize::from(facts_area.height)),
            theme.dim,
        );
    }
}

fn empty(model: &Model, area: Rect, buffer: &mut Buffer) {
    let theme = &model.setup.theme;
    let main = &model.main;
    let back = model.setup.keymap.key(Action::Back).unwrap_or_default();
    let filter = main.filter(Pane::Watches);
    let text = if main.sessions.key().is_none() || main.rows.sessions.is_empty() {
        "no session is selected".to_owned()
    } else if filter.is_active() {
        format!("no watch matches /{} · {back} clears", visible::clean(filter.text()))
    } else if main.out_of_step {
        "every watch here is in step".to_owned()
    } else {
        match (model.setup.keymap.key(Action::Watch), main.sessions.key()) {
            (Some(key), Some(id)) if id.key != SessionKey::operator() => {
                format!("nobody watches this session · {key} watches it as you")
            }
            _ => "no watches yet".to_owned(),
        }
    };
    let text = visible::truncate(&text, usize::from(area.width)).into_owned();
    middle(buffer, area, &[Line::styled(text, theme.dim)]);
}

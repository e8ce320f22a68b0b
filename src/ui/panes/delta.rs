//! The delta: what changed in one session since a version, and whether that is the whole truth.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::events::kind_style;
use super::{frame, middle, paragraph, wrap};
use crate::event::{Changes, Event, Sequence};
use crate::session_key::SessionKey;
use crate::ui::keymap::Action;
use crate::ui::layout;
use crate::ui::model::{Delta, Model};
use crate::ui::table::{Cell, Column, Standing, Table, blank, draw_row, fixed, flexible, right};
use crate::ui::words;
use crate::visible;

const NARROW: [Column; 6] = [
    fixed("TIME", 8, 1),
    right("SEQ", 7, 0),
    fixed("KIND", 20, 0),
    fixed("ACTOR", 6, 2),
    flexible("SUMMARY", 12, 3, 0),
    flexible("PAYLOAD", 8, 2, 3),
];
const WIDE: [Column; 6] = [
    fixed("TIME", 19, 1),
    right("SEQ", 9, 0),
    fixed("KIND", 20, 0),
    fixed("ACTOR", 6, 2),
    flexible("SUMMARY", 24, 1, 0),
    flexible("PAYLOAD", 24, 2, 3),
];

/// Draws the view. Returns where the terminal's cursor stands while the version is typed.
pub(in crate::ui) fn draw(
    model: &Model,
    delta: &Delta,
    body: Rect,
    buffer: &mut Buffer,
) -> Option<Position> {
    let theme = &model.setup.theme;
    let room = usize::from(body.width).saturating_sub(20);
    let key = visible::elide(&words::whole_key(&delta.session), room).into_owned();
    frame::single(
        model,
        vec![Span::styled(format!(" Changes of {key} "), theme.title_focused)],
        body,
        buffer,
    );
    let (head, parts) = layout::delta_parts(body);
    let cursor = version_line(model, delta, head, buffer);
    let (sign, text, style) = banner(model, delta);
    let width = usize::from(head.width.saturating_sub(2));
    let lines = wrap(&format!("{sign} {text}"), width, 2);
    let below = Rect { y: head.y + 1, height: head.height.saturating_sub(1), ..head };
    paragraph(buffer, Rect { x: below.x + 1, ..below }, &lines, style);
    let next = u16::try_from(1 + lines.len()).unwrap_or(u16::MAX);
    head_line(head, next, acknowledge_line(model, delta), buffer);
    if let Some(error) = &delta.error {
        let lines = wrap(&visible::clean(error), width, 4);
        let lines: Vec<Line> =
            lines.into_iter().map(|line| Line::styled(line, theme.text)).collect();
        middle(buffer, parts.list, &lines);
    }

    if let Some(changes) = &delta.changes {
        list(model, delta, changes, parts, buffer);
        let height = usize::from(parts.list.height);
        frame::position(model, delta.events.index(), changes.events.len(), height, body, buffer);
        if let Some(event) = changes.events.get(delta.events.index()) {
            detail(model, event, parts.detail, buffer);
        }
    }
    cursor
}

fn head_line(head: Rect, at: u16, cell: Cell, buffer: &mut Buffer) {
    if at < head.height {
        let width = head.width.saturating_sub(2);
        let cell = crate::ui::table::fit(cell, usize::from(width), false);
        buffer.set_line(head.x + 1, head.y + at, &Line::from(cell), width);
    }
}

/// The version that is asked from, as a field, and the one that the session has.
fn version_line(model: &Model, delta: &Delta, head: Rect, buffer: &mut Buffer) -> Option<Position> {
    let theme = &model.setup.theme;
    let keymap = &model.setup.keymap;
    let label = "since version ";
    let value = if model.typing { delta.input.value().to_owned() } else { delta.since.to_string() };
    let field = format!("{value}{}", blank(8_usize.saturating_sub(value.len()).max(1)));
    let mut cell: Cell = vec![
        Span::styled(label, theme.dim),
        Span::styled(field, theme.field.patch(theme.own)),
        Span::raw("  "),
    ];
    if model.typing {
        let keep = keymap.key(Action::Accept).unwrap_or_default();
        let back = keymap.key(Action::Back).unwrap_or_default();
        cell.push(Span::styled(format!("{keep} asks · {back} leaves it as it was"), theme.dim));
    } else {
        cell.push(Span::styled(delta.origin.clone(), theme.dim));
        if !delta.pages.is_empty() {
            cell.push(Span::styled(format!("   page {}", delta.pages.len() + 1), theme.dim));
        }
        if let Some(changes) = &delta.changes {
            cell.push(Span::styled("   state version ", theme.dim));
            cell.push(Span::styled(format!("v{}", changes.version), theme.text));
        }
    }
    head_line(head, 0, cell, buffer);
    let is_typed_here = model.typing && head.height > 0;
    is_typed_here.then(|| Position {
        x: head.x + 1 + u16::try_from(label.len() + delta.input.visual_cursor()).unwrap_or(0),
        y: head.y,
    })
}

/// Whether the answer is exact, and if not what to do.
fn banner(model: &Model, delta: &Delta) -> (&'static str, String, Style) {
    let theme = &model.setup.theme;
    let key = |action| model.setup.keymap.key(action).unwrap_or_default();
    if delta.error.is_some() {
        return ("✗", format!("FAILED: no answer · {} asks again", key(Action::Reload)), theme.bad);
    }
    let Some(changes) = &delta.changes else {
        return ("…", "asking the journal".to_owned(), theme.dim);
    };
    let after = delta.after;
    let more =
        format!("TRUNCATED: more events follow this page · {} next page", key(Action::NextPage));
    if changes.history_gap {
        let and = if changes.truncated { format!(" · {more}") } else { String::new() };
        let from = words::sequence(changes.earliest);
        let text = format!(
            "HISTORY GAP: events between {} and {from} are gone; read the session itself, then go on from v{}{and}",
            words::sequence(after),
            changes.version,
        );
        ("✗", text, theme.bad)
    } else if changes.truncated {
        ("!", more, theme.warn)
    } else if after > changes.version {
        let text = format!(
            "AHEAD: {} lies beyond v{}; nothing can have changed",
            words::sequence(after),
            changes.version
        );
        ("!", text, theme.warn)
    } else if changes.events.is_empty() {
        ("✓", format!("EXACT: nothing changed after {}", words::sequence(after)), theme.good)
    } else {
        let count = words::count(changes.events.len(), "event");
        ("✓", format!("EXACT: {count} after {}, none missing", words::sequence(after)), theme.good)
    }
}

/// What Enter would do, and whether there is news.
fn acknowledge_line(model: &Model, delta: &Delta) -> Cell {
    let theme = &model.setup.theme;
    let keymap = &model.setup.keymap;
    let mut cell: Cell = Vec::new();
    let head = model.picture.session(&delta.session).and_then(|session| session.version);
    let shown = delta.changes.as_ref().map(|changes| changes.version);
    if let (Some(head), Some(shown)) = (head, shown)
        && head > shown
    {
        let reload = keymap.key(Action::Reload).unwrap_or_default();
        cell.push(Span::styled(
            format!("▶ v{head} is there now · {reload} reloads   "),
            theme.warn,
        ));
    }
    match (model.picture.operator_watch(&delta.session), delta.shown()) {
        (Some(watch), Some(shown)) if watch.cursor.seen < shown => {
            let key = keymap.key(Action::Acknowledge).unwrap_or_default();
            cell.push(Span::styled(key, theme.key));
            cell.push(Span::styled(format!(" acknowledges for you up to v{shown}"), theme.text));
            cell.push(Span::styled(
                format!(" (your last seen is {})", watch.cursor.seen),
                theme.dim,
            ));
        }
        (Some(watch), Some(_)) => {
            cell.push(Span::styled(
                format!("✓ you have seen up to v{}", watch.cursor.seen),
                theme.dim,
            ));
        }
        (None, _) if delta.session == SessionKey::operator() => {
            cell.push(Span::styled("this is your own session", theme.dim));
        }
        (None, _) => {
            let key = keymap.key(Action::Watch).unwrap_or_default();
            cell.push(Span::styled(
                format!("you do not watch this session · {key} watches it"),
                theme.dim,
            ));
        }
        (Some(_), None) => {}
    }
    cell
}

fn list(
    model: &Model,
    delta: &Delta,
    changes: &Changes,
    parts: layout::PaneParts,
    buffer: &mut Buffer,
) {
    let theme = &model.setup.theme;
    if changes.events.is_empty() {
        return middle(buffer, parts.list, &[Line::styled("no events", theme.dim)]);
    }
    let columns = if parts.list.width >= 140 { &WIDE } else { &NARROW };
    let table = Table::fit(columns, parts.list.width.saturating_sub(2));
    table.draw_heading(parts.heading, theme, buffer);
    let top = delta.events.top_for(changes.events.len(), usize::from(parts.list.height));
    for (y, at) in (parts.list.y..parts.list.bottom()).zip(top..changes.events.len()) {
        let line = table.line(cells(model, &changes.events[at], table.width(0)));
        let standing = Standing::of(at == delta.events.index(), false);
        draw_row(buffer, Rect { y, height: 1, ..parts.list }, &line, standing, theme);
    }
}

fn cells(model: &Model, event: &Event, time_width: usize) -> [Cell; 6] {
    let theme = &model.setup.theme;
    let zone = &model.setup.zone;
    let time = if time_width >= 19 {
        words::date_and_time(event.occurred_at, zone)
    } else {
        words::moment(event.occurred_at, model.now, zone)
    };
    let text = |text: String, style: Style| vec![Span::styled(text, style)];
    [
        text(time, theme.dim),
        text(words::sequence(event.sequence), theme.dim),
        text(visible::clean(event.kind.as_str()).into_owned(), kind_style(&event.kind, theme)),
        text(visible::clean(event.actor_type.as_str()).into_owned(), theme.text),
        text(visible::clean(&event.summary).into_owned(), theme.text),
        event
            .payload
            .as_ref()
            .map(|payload| text(words::payload(payload), theme.dim))
            .unwrap_or_default(),
    ]
}

/// Everything about the selected event.
fn detail(model: &Model, event: &Event, area: Rect, buffer: &mut Buffer) {
    if area.height < 2 {
        return;
    }
    let theme = &model.setup.theme;
    let text = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
    let width = usize::from(text.width);
    buffer.set_string(text.x, area.y, "┄".repeat(width), theme.border);
    let Sequence(number) = event.sequence;
    let mut facts = vec![
        format!("#{number} at {}", words::date_and_time(event.occurred_at, &model.setup.zone)),
        match &event.actor {
            Some(actor) => format!(
                "by {} {}",
                visible::clean(event.actor_type.as_str()),
                visible::clean(actor)
            ),
            None => format!("by {}", visible::clean(event.actor_type.as_str())),
        },
    ];
    facts.extend(event.run.as_ref().map(|run| format!("run {}", visible::clean(run))));
    facts.extend(event.session_id.as_ref().map(|id| format!("incarnation {}", visible::clean(id))));
    let facts = wrap(&facts.join(" · "), width, if area.height >= 6 { 2 } else { 1 });
    let used = u16::try_from(facts.len()).unwrap_or(0);
    paragraph(buffer, Rect { y: area.y + 1, height: area.height - 1, ..text }, &facts, theme.text);
    if let Some(payload) = &event.payload {
        let place =
            Rect { y: area.y + 1 + used, height: (area.height - 1).saturating_sub(used), ..text };
        let lines = fold(&words::payload(payload), width, usize::from(place.height));
        paragraph(buffer, place, &lines, theme.dim);
    }
}

/// Breaks `text` wherever a line is full: JSON has few spaces.
fn fold(text: &str, width: usize, most: usize) -> Vec<String> {
    use unicode_segmentation::UnicodeSegmentation;

    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    for cluster in text.graphemes(true) {
        let columns = visible::columns(cluster);
        if used + columns > width && !line.is_empty() {
            if lines.len() + 1 >= most {
                line = visible::truncate(&format!("{line}{cluster}"), width).into_owned();
                break;
            }
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        line.push_str(cluster);
        used += columns;
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_are_folded_and_cut() {
        assert_eq!(fold("abcdefgh", 3, 5), ["abc", "def", "gh"]);
        assert_eq!(fold("abcdefgh", 3, 2), ["abc", "de…"]);
        assert_eq!(fold("日本語", 4, 5), ["日本", "語"]);
        assert_eq!(fold("", 3, 2), [""]);
    }
}

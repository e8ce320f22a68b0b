//! Pages over the view: the help, generated from the key map, and the problems.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Widget};

use super::{shortened, wrap};
use crate::ui::keymap::{Action, Context, Group};
use crate::ui::layout;
use crate::ui::model::{Model, Page, PageKind};
use crate::ui::table::{blank, fit};
use crate::ui::theme::sign;
use crate::ui::words;
use crate::visible;
use crate::watch::Condition;

/// Columns for the keys of an action; on a narrow screen only as many as the longest key takes.
const KEYS: usize = 14;
const FEW_KEYS: usize = 10;
/// A view below this many rows gives its border to the page, too.
const SMALL: u16 = 12;
/// Columns for one column of the help.
const COLUMN: usize = 62;

/// Draws the page over the middle of the screen.
pub(in crate::ui) fn draw(model: &Model, page: Page, area: Rect, buffer: &mut Buffer) {
    let theme = &model.setup.theme;
    let lines = lines(model, page.kind, area);
    let place = place(area, &lines);
    Clear.render(place, buffer);
    Block::bordered().border_style(theme.border_focused).render(place, buffer);
    let title = match (page.kind, model.view_context()) {
        (PageKind::Problems, _) => " Problems since the start ".to_owned(),
        (PageKind::Help, context) => format!(" Keys: {} ", context.title()),
    };
    buffer.set_stringn(
        place.x + 2,
        place.y,
        title,
        usize::from(place.width.saturating_sub(4)),
        theme.title_focused,
    );
    let height = usize::from(place.height.saturating_sub(2));
    let top = page.top.min(lines.len().saturating_sub(height));
    let below = lines.len().saturating_sub(top + height);
    for (y, line) in (place.y + 1..place.bottom().saturating_sub(1)).zip(&lines[top..]) {
        let room = place.width.saturating_sub(4);
        buffer.set_line(place.x + 2, y, &shortened(line.clone(), usize::from(room)), room);
    }
    let back = model.setup.keymap.key(Action::Back).unwrap_or_default();
    let down = model.setup.keymap.key(Action::Down).unwrap_or_default();
    let foot = if below > 0 {
        format!(" {down} {below} more · {back} closes ")
    } else {
        format!(" {back} closes ")
    };
    let room = usize::from(place.width.saturating_sub(4));
    buffer.set_stringn(place.x + 2, place.bottom().saturating_sub(1), foot, room, theme.dim);
}

/// How many lines the page has, and how many show.
pub(super) fn extent(model: &Model, kind: PageKind) -> (usize, usize) {
    let area = model.area();
    let lines = lines(model, kind, area);
    let height = usize::from(place(area, &lines).height.saturating_sub(2));
    (lines.len(), height)
}

/// In the middle of the view and within its border, so that what is written there stays whole. A small screen is covered up to
/// the border and with it.
fn place(area: Rect, lines: &[Line<'_>]) -> Rect {
    let body = layout::over(area).body;
    let is_small = body.height < SMALL;
    let room = if is_small { body } else { layout::inner(body) };
    let wanted = lines.iter().map(Line::width).max().unwrap_or(0) + 4;
    let width = if is_small { usize::MAX } else { wanted.max(36) };
    let width = u16::try_from(width).unwrap_or(u16::MAX).min(room.width);
    let height = u16::try_from(lines.len() + 2).unwrap_or(u16::MAX).min(room.height);
    Rect {
        x: room.x + (room.width - width) / 2,
        y: room.y + (room.height - height) / 2,
        width,
        height,
    }
}

fn lines(model: &Model, kind: PageKind, area: Rect) -> Vec<Line<'static>> {
    let room = usize::from(area.width.saturating_sub(4));
    match kind {
        PageKind::Help => help(model, room),
        PageKind::Problems => problems(model, room),
    }
}

fn help(model: &Model, room: usize) -> Vec<Line<'static>> {
    let context = model.view_context();
    let mut left = group(model, context, Group::Here, "Here");
    let mut right = group(model, context, Group::Move, "Moving");
    for (kind, title) in [(Group::Views, "Views"), (Group::Program, "Program")] {
        right.push(Line::default());
        right.extend(group(model, context, kind, title));
    }
    if context == Context::Main {
        left.push(Line::default());
        left.extend(signs(model));
    }
    if room < 2 * COLUMN {
        left.push(Line::default());
        left.extend(right);
        return left;
    }
    let height = left.len().max(right.len());
    left.resize(height, Line::default());
    right.resize(height, Line::default());
    left.into_iter()
        .zip(right)
        .map(|(left, right)| {
            let mut spans = fit(left.spans, COLUMN, false);
            spans.extend(right.spans);
            Line::from(spans)
        })
        .collect()
}

fn group(model: &Model, context: Context, group: Group, title: &'static str) -> Vec<Line<'static>> {
    let theme = &model.setup.theme;
    let keymap = &model.setup.keymap;
    let actions = keymap.actions(context).filter(|info| info.group == group);
    let keys = if model.size.width < 60 { FEW_KEYS } else { KEYS };
    let entries = actions.map(|info| {
        let mut spans = fit(vec![Span::styled(keymap.keys(info.action), theme.key)], keys, false);
        spans.push(Span::styled(info.description, theme.text));
        Line::from(spans)
    });
    std::iter::once(Line::styled(title, theme.title_focused)).chain(entries).collect()
}

/// What the signs of the conditions mean.
fn signs(model: &Model) -> Vec<Line<'static>> {
    let theme = &model.setup.theme;
    let entries = Condition::ALL.into_iter().map(|condition| {
        let style = theme.condition(condition);
        let mut spans = vec![Span::styled(format!("{} {condition}", sign(condition)), style)];
        let used: usize = spans.iter().map(|span| visible::columns(&span.content)).sum();
        spans.push(Span::raw(blank(18_usize.saturating_sub(used))));
        spans.push(Span::styled(meaning(condition), theme.dim));
        Line::from(spans)
    });
    std::iter::once(Line::styled("Conditions of a watch", theme.title_focused))
        .chain(entries)
        .collect()
}

fn meaning(condition: Condition) -> &'static str {
    match condition {
        Condition::InStep => "nothing is owed",
        Condition::Pending => "a notice is open and young",
        Condition::PendingQuiet => "a notice is open; never woken, by design",
        Condition::Interleaved => "more came after the open notice",
        Condition::Stalled => "took turns, but did not acknowledge",
        Condition::Stopped => "the watcher has been silent for long",
        Condition::Gap => "what it has not seen is pruned in part",
        Condition::Rewound => "its last seen went back",
        Condition::Expiring => "ends soon unless it is touched",
        Condition::Unnotifiable => "its key can't hold notices",
        Condition::Unknown => "a read failed, or the tick is overdue",
    }
}

fn problems(model: &Model, room: usize) -> Vec<Line<'static>> {
    let theme = &model.setup.theme;
    let problems = model.live.as_ref().map_or(&[][..], |live| &live.problems);
    if problems.is_empty() {
        return vec![Line::styled("nothing has failed", theme.good)];
    }
    let width = room.min(100);
    let entries = problems.iter().rev().flat_map(|problem| {
        let time = words::time_of_day(problem.at, &model.setup.zone);
        let text = visible::clean(&problem.message).into_owned();
        let lines = wrap(&text, width.saturating_sub(time.len() + 2), 4);
        lines.into_iter().enumerate().map(move |(n, line)| {
            let time =
                if n == 0 { format!("{time}  ") } else { blank(time.len() + 2).into_owned() };
            Line::from(vec![Span::styled(time, theme.dim), Span::styled(line, theme.text)])
        })
    });
    entries.collect()
}

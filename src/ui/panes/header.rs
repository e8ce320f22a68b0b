//! The header: the pulse of the engine, and the findings.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::Span;

use super::{Segment, join};
use crate::clock::SECOND;
use crate::engine::snapshot::{Pulse, Role, Snapshot, Source};
use crate::event::Sequence;
use crate::ui::keymap::Action;
use crate::ui::model::{Model, PastShown};
use crate::ui::table::Cell;
use crate::ui::theme;
use crate::ui::words;
use crate::visible;
use crate::watch::Condition;

/// What is most urgent stands first.
pub(in crate::ui) const URGENCY: [Condition; 10] = [
    Condition::Stopped,
    Condition::Stalled,
    Condition::Gap,
    Condition::Rewound,
    Condition::Unknown,
    Condition::Expiring,
    Condition::Unnotifiable,
    Condition::Interleaved,
    Condition::Pending,
    Condition::PendingQuiet,
];

/// Below this many columns only the shortest words fit.
const NARROW: u16 = 60;

/// Draws the header on one line or two.
pub(in crate::ui) fn draw(model: &Model, area: Rect, buffer: &mut Buffer) {
    let clock = words::time_of_day(model.now, &model.setup.zone);
    let clock_width = u16::try_from(clock.len()).unwrap_or(0);
    let room = usize::from(area.width.saturating_sub(clock_width + 4));
    let gap = if area.width < 110 { 2 } else { 3 };
    let is_narrow = area.width < NARROW;
    let mut first = pulse(model, area.width < 110);
    if is_narrow && let Some(name) = first.first_mut() {
        // Where not everything fits, the name of the program is known best.
        name.rank = 2;
    }
    if area.height == 1 {
        first.extend(findings(model, is_narrow));
    } else {
        let width = area.width.saturating_sub(2);
        let second = join(findings(model, is_narrow), gap, usize::from(width));
        buffer.set_line(area.x + 1, area.y + 1, &second, width);
    }
    buffer.set_line(
        area.x + 1,
        area.y,
        &join(first, gap, room),
        area.width.saturating_sub(clock_width + 3),
    );
    let x = area.right().saturating_sub(clock_width + 1).max(area.x);
    buffer.set_string(x, area.y, clock, model.setup.theme.text);
}

fn segment(rank: u8, text: impl Into<String>, style: Style) -> Segment {
    Segment { rank, cell: vec![Span::styled(text.into(), style)] }
}

/// A word with a figure.
fn figure(rank: u8, word: &'static str, value: String, model: &Model) -> Segment {
    let theme = &model.setup.theme;
    let cell: Cell =
        vec![Span::styled(word, theme.dim), Span::raw(" "), Span::styled(value, theme.text)];
    Segment { rank, cell }
}

/// A short one leaves out what can be had elsewhere, so that more of it fits.
fn pulse(model: &Model, is_short: bool) -> Vec<Segment> {
    let theme = &model.setup.theme;
    let brand = theme.key.add_modifier(Modifier::BOLD);
    let mut name: Cell = vec![Span::styled("tidings", brand)];
    if let Some(title) = &model.setup.title {
        name.push(Span::styled(format!(" {}", visible::clean(title)), theme.warn));
    }
    let mut segments = vec![Segment { rank: 0, cell: name }];
    let Some(live) = &model.live else {
        segments.push(segment(1, "starting…", theme.dim));
        return segments;
    };
    segments.push(role(model, live));
    segments.push(journal(model, live, is_short));
    segments.push(tick(model, &live.pulse, is_short));
    segments.push(figure(8, "links", words::number(live.pulse.links as u64), model));
    let pending = live.notices.len();
    let style = if pending > 0 { theme.active } else { theme.text };
    let cell = vec![
        Span::styled("pending ", theme.dim),
        Span::styled(words::number(pending as u64), style),
    ];
    segments.push(Segment { rank: 2, cell });
    segments
}

fn role(model: &Model, live: &Snapshot) -> Segment {
    let theme = &model.setup.theme;
    if model.engine_gone {
        return segment(1, "✗ engine stopped", theme.bad);
    }
    if matches!(live.source, Source::Attached { .. }) {
        return segment(3, "○ attached, read-only", theme.active);
    }
    match live.role {
        Role::Owner => segment(3, "● owner", theme.good),
        Role::Viewer { owner: Some(pid) } => segment(3, format!("○ viewer of {pid}"), theme.active),
        Role::Viewer { owner: None } => segment(3, "○ viewer", theme.active),
        Role::Visitor => segment(3, "○ reading", theme.dim),
    }
}

fn journal(model: &Model, live: &Snapshot, is_short: bool) -> Segment {
    let theme = &model.setup.theme;
    let highest = live.journal.max.map_or_else(|| "empty".to_owned(), words::sequence);
    let mut cell: Cell =
        vec![Span::styled("journal ", theme.dim), Span::styled(highest, theme.text)];
    if !is_short {
        let rows = usize::try_from(live.journal.rows).unwrap_or(usize::MAX);
        cell.push(Span::styled(format!(" ({})", words::count(rows, "row")), theme.dim));
    }
    Segment { rank: 4, cell }
}

/// The monitor's own pulse: a monitor that stands still must not look like a quiet world.
fn tick(model: &Model, pulse: &Pulse, is_short: bool) -> Segment {
    let theme = &model.setup.theme;
    let now = model.now;
    let Some(last) = pulse.last_tick_at else {
        let is_attached =
            model.live.as_ref().is_some_and(|live| matches!(live.source, Source::Attached { .. }));
        return if is_attached {
            figure(5, "tick", "unknown".to_owned(), model)
        } else if pulse.overdue {
            segment(1, "? tick overdue", theme.warn)
        } else {
            figure(5, "tick", "none yet".to_owned(), model)
        };
    };
    let since = now.saturating_sub(last);
    if pulse.overdue {
        let since = words::age(since);
        let text = if is_short {
            format!("? tick overdue {since}")
        } else {
            format!("? tick overdue, last {since} ago")
        };
        return segment(1, text, theme.warn);
    }
    let mut cell: Cell = vec![
        Span::styled("tick ", theme.dim),
        Span::styled(words::age(since), theme.text),
        Span::styled(" ago", theme.dim),
    ];
    if let Some(next) = pulse.next_tick_at.filter(|_| !is_short) {
        let left = next.saturating_sub(now);
        let words = if left > 0 {
            format!(", next in {}", words::span(left.saturating_add(SECOND - 1)))
        } else {
            ", next now".to_owned()
        };
        cell.push(Span::styled(words, theme.dim));
    }
    Segment { rank: 5, cell }
}

fn findings(model: &Model, is_narrow: bool) -> Vec<Segment> {
    let theme = &model.setup.theme;
    let mut segments = Vec::new();
    let Some(live) = &model.live else { return segments };
    if let Some(past) = &model.past {
        segments.push(segment(0, rewound(model, past, live), theme.warn));
    } else if model.paused_at.is_some() {
        segments.push(segment(0, paused(model.shown(), live, is_narrow), theme.warn));
    }
    segments.extend(for_you(model, is_narrow));
    segments.extend(problems(model, live));
    let before = segments.len();
    for (rank, condition) in (2..).zip(URGENCY) {
        let count = model.picture.count(condition);
        if count > 0 {
            let text =
                format!("{} {} {condition}", theme::sign(condition), words::number(count as u64));
            segments.push(segment(rank, text, theme.condition(condition)));
        }
    }
    if segments.len() == before {
        let watches = model.shown().watches.len();
        segments.push(match watches {
            0 => segment(12, "no watches yet", theme.dim),
            1 => segment(12, "✓ the only watch is in step", theme.good),
            n => segment(12, format!("✓ all {} in step", words::count(n, "watch")), theme.good),
        });
    }
    segments
}

fn paused(shown: &Snapshot, live: &Snapshot, is_narrow: bool) -> String {
    let at = shown.journal.max.unwrap_or_default();
    let now = live.journal.max.unwrap_or_default();
    let Sequence(behind) = Sequence(now.0.saturating_sub(at.0));
    if is_narrow {
        return format!("paused #{at} (+{behind})");
    }
    // Bare numbers, without marks between thousands: they are compared and copied.
    format!("paused at #{at}, live #{now} (+{behind})")
}

/// The past says which event is the newest in it, and of how many watches it is not known where they stood.
fn rewound(model: &Model, past: &PastShown, live: &Snapshot) -> String {
    let now = live.journal.max.unwrap_or_default();
    let behind = now.0.saturating_sub(past.sequence.0);
    let kept = match past.not_kept.len() {
        0 => "all cursors known".to_owned(),
        n => format!("{} not kept", words::count(n, "cursor")),
    };
    let back = model.setup.keymap.key(Action::Back).unwrap_or_default();
    format!(
        "◀◀ REWOUND to {}, live {} (−{behind}) · {kept} · {back} returns",
        words::sequence(past.sequence),
        words::sequence(now)
    )
}

fn for_you(model: &Model, is_narrow: bool) -> Option<Segment> {
    let mut owed = model.picture.owed_to_operator();
    let first = owed.next()?;
    let more = owed.count();
    let name = words::short_key(&first.cursor.target);
    let text = match more {
        more if is_narrow => format!("▶ {} for you", more + 1),
        0 => format!("▶ notice for you: {name}"),
        n => format!("▶ {} notices for you: {name}, …", n + 1),
    };
    Some(segment(1, text, model.setup.theme.own))
}

fn problems(model: &Model, live: &Snapshot) -> Option<Segment> {
    let count = live.problems.len();
    let failures = live.journal.append_failures;
    if count == 0 && failures == 0 {
        return None;
    }
    let mut text =
        if count > 0 { format!("✗ {}", words::count(count, "problem")) } else { String::new() };
    if let Some(key) = model.setup.keymap.key(Action::Problems).filter(|_| count > 0) {
        text = format!("{text} ({key})");
    }
    if failures > 0 {
        let gap = if text.is_empty() { "✗ " } else { ", " };
        let failures = usize::try_from(failures).unwrap_or(usize::MAX);
        text = format!("{text}{gap}{}", words::count(failures, "failed append"));
    }
    Some(segment(1, text, model.setup.theme.bad))
}

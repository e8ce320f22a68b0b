//! The bottom line: what is being typed, what has just happened, or which keys are wanted most.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Span;
use tui_input::Input;

use super::{Segment, join};
use crate::ui::filter::Filter;
use crate::ui::keymap::{self, Action};
use crate::ui::model::{Model, Over, Pane, Tone};
use crate::ui::view::hints;
use crate::visible;

/// Draws the line. Returns where the terminal's cursor stands when something is typed here.
pub(in crate::ui) fn draw(model: &Model, area: Rect, buffer: &mut Buffer) -> Option<Position> {
    let theme = &model.setup.theme;
    let width = area.width.saturating_sub(2);
    let x = area.x + 1;
    if let Some(saving) = &model.saving {
        let keymap = &model.setup.keymap;
        let keep = keymap.key(Action::Accept).unwrap_or_default();
        let leave = keymap.key(Action::Back).unwrap_or_default();
        let helps = [format!("  {keep} writes · {leave} leaves"), format!("  {leave} leaves")];
        return Some(field(model, ("save as ", &saving.input), &helps, area, buffer));
    }
    if model.typing {
        match &model.over {
            None => {
                let main = &model.main;
                return Some(typing(model, main.filter(main.focus), matches(model), area, buffer));
            }
            Some(Over::Adopt(adopt)) => {
                return Some(typing(model, &adopt.filter, adopt.rows.len(), area, buffer));
            }
            Some(Over::Sheet(sheet)) => {
                return Some(typing(model, &sheet.filter, sheet.shown.len(), area, buffer));
            }
            Some(Over::Graph(graph)) => {
                let found = graph.matches().len();
                return Some(typing(model, &graph.filter, found, area, buffer));
            }
            Some(Over::Delta(_)) => {}
        }
    } else if let Some(toast) = &model.toast {
        let (sign, style) = match toast.tone {
            Tone::Done => ("✓", theme.good),
            Tone::Note => ("▶", theme.active),
            Tone::Error => ("✗", theme.bad),
        };
        let text = format!("{sign} {}", toast.text);
        buffer.set_stringn(
            x,
            area.y,
            visible::truncate(&text, usize::from(width)),
            usize::from(width),
            style,
        );
        return None;
    }
    if model.palette.is_some() {
        return None;
    }
    if !model.pressed.is_empty() {
        let text = format!("{} …", keymap::shown(&model.pressed));
        buffer.set_stringn(x, area.y, text, usize::from(width), theme.key);
        return None;
    }
    let segments = hints(model, model.context())
        .enumerate()
        .map(|(n, (key, hint))| Segment {
            // What stands first is wanted most; help and quit always stay.
            rank: match hint {
                "help" | "quit" => 0,
                _ if n == 0 => 1,
                // Through it everything else is found.
                "all actions" => 2,
                _ => u8::try_from(n + 2).unwrap_or(u8::MAX),
            },
            cell: vec![Span::styled(key, theme.key), Span::raw(" "), Span::styled(hint, theme.dim)],
        })
        .collect();
    buffer.set_line(x, area.y, &join(segments, 2, usize::from(width)), width);
    None
}

/// How many rows of the pane with the keyboard pass its filter.
fn matches(model: &Model) -> usize {
    let main = &model.main;
    match main.focus {
        Pane::Sessions => main.rows.sessions.iter().filter(|row| !row.is_context).count(),
        pane => main.len(pane),
    }
}

fn typing(
    model: &Model,
    filter: &Filter,
    matches: usize,
    area: Rect,
    buffer: &mut Buffer,
) -> Position {
    let keymap = &model.setup.keymap;
    let keep = keymap.key(Action::Accept).unwrap_or_default();
    let clear = keymap.key(Action::Back).unwrap_or_default();
    let count = match matches {
        1 => "  1 match".to_owned(),
        n => format!("  {n} matches"),
    };
    let helps = [
        format!("{count} · {keep} keeps · {clear} clears"),
        format!("{count} · {clear} clears"),
        count,
    ];
    field(model, ("/", &filter.input), &helps, area, buffer)
}

/// A field with a label before it, and behind it the longest of `helps` that leaves room for what is typed.
fn field(
    model: &Model,
    (label, input): (&str, &Input),
    helps: &[String],
    area: Rect,
    buffer: &mut Buffer,
) -> Position {
    let theme = &model.setup.theme;
    let width = usize::from(area.width.saturating_sub(2));
    let label_width = visible::columns(label);
    let typed = visible::columns(input.value()) + 1;
    let room = width.saturating_sub(label_width + typed.clamp(8, 24));
    let help = helps.iter().find(|help| visible::columns(help) <= room).map_or("", String::as_str);
    let taken = visible::columns(help) + label_width;
    let field_width = width.saturating_sub(taken).max(8).min(width.saturating_sub(label_width));
    let scroll = input.visual_scroll(field_width.saturating_sub(1));
    let text: String = visible::clean(input.value()).chars().skip(scroll).collect();
    let (x, _) = buffer.set_stringn(area.x + 1, area.y, label, width, theme.key);
    let text = visible::truncate(&text, field_width.saturating_sub(1));
    let (end, _) = buffer.set_stringn(x, area.y, &text, field_width, theme.text);
    let left = area.right().saturating_sub(end);
    buffer.set_stringn(end, area.y, help, usize::from(left), theme.dim);
    let column = input.visual_cursor().saturating_sub(scroll).min(field_width);
    Position { x: x + u16::try_from(column).unwrap_or(0), y: area.y }
}

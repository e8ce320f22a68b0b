//! `view`: draws the model. Pure: the same model on the same size gives the same cells.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};
use ratatui::text::{Line, Span};

use super::ascii;
use super::keymap::{Action, Context};
use super::layout;
use super::model::{Model, Over, Pane, SMALLEST, is_too_small};
use super::panes;
use crate::visible;

/// Draws the whole screen. The size is the frame's own, whatever the model last heard.
pub fn view(model: &Model, frame: &mut Frame) {
    draw(model, frame);
    if model.setup.ascii {
        ascii::fold(frame.buffer_mut());
    }
}

fn draw(model: &Model, frame: &mut Frame) {
    let area = frame.area();
    let size = Size::from(area);
    if is_too_small(size) {
        return too_small(model, area, frame.buffer_mut());
    }
    let places = layout::over(area);
    let buffer = frame.buffer_mut();
    panes::header::draw(model, places.header, buffer);
    let cursor = match &model.over {
        None => {
            main(model, area, buffer);
            panes::footer::draw(model, places.footer, buffer)
        }
        Some(Over::Delta(delta)) => {
            let cursor = panes::delta::draw(model, delta, places.body, buffer);
            panes::footer::draw(model, places.footer, buffer).or(cursor)
        }
        Some(Over::Adopt(adopt)) => {
            panes::adopt::draw(model, adopt, places.body, buffer);
            panes::footer::draw(model, places.footer, buffer)
        }
        Some(Over::Sheet(sheet)) => {
            panes::sheet::draw(model, sheet, places.body, buffer);
            panes::footer::draw(model, places.footer, buffer)
        }
        Some(Over::Graph(graph)) => {
            panes::graph::draw(model, graph, places.body, buffer);
            panes::footer::draw(model, places.footer, buffer)
        }
    };
    let cursor = match &model.palette {
        Some(palette) => Some(panes::palette::draw(model, palette, area, buffer)),
        None => cursor,
    };
    match model.page {
        Some(page) => panes::page::draw(model, page, area, buffer),
        None => {
            if let Some(position) = cursor.filter(|position| area.contains(*position)) {
                frame.set_cursor_position(position);
            }
        }
    }
}

fn main(model: &Model, area: Rect, buffer: &mut Buffer) {
    let places = layout::main(area, model.main.focus, model.main.is_zoomed).panes;
    // The pane with the keyboard comes last, so that the borders that it shares are in its colour.
    let others = Pane::ALL.into_iter().filter(|pane| *pane != model.main.focus);
    for pane in others.chain([model.main.focus]) {
        if let Some(place) = places[pane as usize] {
            panes::frame::border(model, pane, place, buffer);
        }
    }
    for pane in Pane::ALL {
        let Some(place) = places[pane as usize] else { continue };
        panes::frame::title(model, pane, place, buffer);
        match pane {
            Pane::Sessions => panes::sessions::draw(model, place, buffer),
            Pane::Watches => panes::watches::draw(model, place, buffer),
            Pane::Notices => panes::notices::draw(model, place, buffer),
            Pane::Events => panes::events::draw(model, place, buffer),
        }
    }
}

fn too_small(model: &Model, area: Rect, buffer: &mut Buffer) {
    let theme = &model.setup.theme;
    let quit = model.setup.keymap.key(Action::Quit).unwrap_or_else(|| "Ctrl-c".to_owned());
    let lines = [
        (format!("needs {}×{}", SMALLEST.width, SMALLEST.height), theme.warn),
        (format!("here is {}×{}", area.width, area.height), theme.text),
        (format!("{quit} quits"), theme.dim),
    ];
    let top = area.y + area.height.saturating_sub(3) / 2;
    for (y, (text, style)) in (top..area.bottom()).zip(lines) {
        let text = visible::truncate(&text, usize::from(area.width)).into_owned();
        let line = Line::from(Span::styled(text, style));
        let used = u16::try_from(line.width()).unwrap_or(area.width);
        let x = area.x + area.width.saturating_sub(used) / 2;
        buffer.set_line(x, y, &line, area.width);
    }
}

/// The hints for the bottom line: what is most often wanted in `context`.
pub(super) fn hints(
    model: &Model,
    context: Context,
) -> impl Iterator<Item = (String, &'static str)> {
    let keymap = &model.setup.keymap;
    keymap
        .actions(context)
        .filter(|info| !info.hint.is_empty())
        .filter_map(move |info| Some((keymap.key(info.action)?, info.hint)))
}

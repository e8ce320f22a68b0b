//! Pictures of the screen as SVG, for documents: the same cells that a terminal shows.

use std::collections::HashMap;
use std::fmt::Write as _;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

use super::keymap::{ACTIONS, Action, Keymap, KeymapError, Overrides};
use super::message::{Effect, Message};
use super::model::{Model, Setup};
use super::theme::Theme;
use super::update::update;
use super::view::view;
use crate::clock::Millis;
use crate::engine::live::{Handle, Request};

/// The width and height of a cell, in units of the picture.
const CELL: (f32, f32) = (8.4, 18.0);
/// How often the engine may be asked until the view has all that it shows.
const ROUNDS: usize = 8;

/// Views that a picture can be made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// The main view.
    Main,
    /// The changes of one session.
    Delta,
    /// All watches as a graph.
    Graph,
    /// The story of a pair.
    Explain,
    /// The links to foreign sessions.
    Upstream,
    /// The foreign sessions that can be adopted.
    Catalog,
    /// What waits for whom.
    Queue,
    /// How full the state database is.
    Storage,
    /// The pairs that need a look.
    Findings,
    /// The keys of the main view.
    Help,
}

impl Subject {
    /// Every view, by the name that the command line takes.
    pub const ALL: [(&'static str, Self); 10] = [
        ("main", Self::Main),
        ("delta", Self::Delta),
        ("graph", Self::Graph),
        ("explain", Self::Explain),
        ("upstream", Self::Upstream),
        ("catalog", Self::Catalog),
        ("queue", Self::Queue),
        ("storage", Self::Storage),
        ("findings", Self::Findings),
        ("help", Self::Help),
    ];

    /// The actions that lead to it.
    fn way(self) -> &'static [Action] {
        match self {
            Self::Main => &[],
            Self::Delta => &[Action::NextPane, Action::NextPane, Action::Delta],
            Self::Graph => &[Action::Graph],
            Self::Explain => &[Action::NextPane, Action::NextPane, Action::Explain],
            Self::Upstream => &[Action::Upstream],
            Self::Catalog => &[Action::Adopt],
            Self::Queue => &[Action::Queue],
            Self::Storage => &[Action::Storage],
            Self::Findings => &[Action::Findings],
            Self::Help => &[Action::Help],
        }
    }
}

/// How a picture is made.
#[derive(Debug, Clone)]
pub struct PictureOptions {
    /// Of which view.
    pub subject: Subject,
    /// Columns and rows.
    pub size: (u16, u16),
    /// The present time, in milliseconds since the epoch.
    pub now: Millis,
    /// Paths that are shown as another, such as a temporary folder.
    pub instead: Vec<(String, String)>,
}

/// A picture of a view over the engine behind `handle`.
///
/// # Errors
/// The built-in key map is not usable, which a test rules out.
pub async fn picture(handle: &Handle, options: &PictureOptions) -> Result<String, KeymapError> {
    let mut model = Model::new(Setup {
        theme: Theme::dark(),
        keymap: Keymap::new(&Overrides::new())?,
        title: Some("demo".to_owned()),
        bell: false,
        desktop: false,
        ascii: false,
        zone: jiff::tz::TimeZone::UTC,
        now: options.now,
    });
    let (width, height) = options.size;
    let mut effects = update(&mut model, Message::Resize(width, height));
    // The engine asks for the wakes of what its first sweep found after that; the second answer comes when they are pictured.
    for _ in 0..2 {
        let _ = handle.ask(Request::Wakes).await;
    }
    let snapshot = handle.snapshots().borrow().clone();
    effects.extend(update(&mut model, Message::Snapshot(snapshot)));
    for action in options.subject.way() {
        let keys = ACTIONS.iter().find(|info| info.action == *action);
        let sequence = keys.and_then(|_| model.setup.keymap.sequences(*action).first().cloned());
        for key in sequence.into_iter().flatten() {
            effects.extend(update(&mut model, Message::Key(key.event())));
        }
    }
    for _ in 0..ROUNDS {
        for effect in std::mem::take(&mut effects) {
            if let Effect::Ask(ticket, request) = effect {
                let answer = handle.ask(request).await;
                effects.extend(update(&mut model, Message::Answer(ticket, answer)));
            }
        }
    }
    model.toast = None;
    Ok(svg(&draw(&model, options.size), &options.instead))
}

fn draw(model: &Model, (width, height): (u16, u16)) -> Buffer {
    // The test back end can't fail: it writes to memory.
    match Terminal::new(TestBackend::new(width, height)) {
        Ok(mut terminal) => {
            let _ = terminal.draw(|frame| view(model, frame));
            terminal.backend().buffer().clone()
        }
        Err(never) => match never {},
    }
}

/// The cells as SVG.
fn svg(buffer: &Buffer, instead: &[(String, String)]) -> String {
    let (cell_width, cell_height) = CELL;
    let (columns, rows) = (f32::from(buffer.area.width), f32::from(buffer.area.height));
    let (width, height) = (columns * cell_width + 24.0, rows * cell_height + 24.0);
    let mut out = String::new();
    // Writing to a string can't fail.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"14\">"
    );
    let _ = writeln!(out, "<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#14161b\"/>");
    for y in 0..buffer.area.height {
        let top = 12.0 + f32::from(y) * cell_height;
        for (x, text, cell) in runs(buffer, y, instead) {
            let left = 12.0 + f32::from(x) * cell_width;
            let (mut fg, mut bg) = (colour(cell.fg, "#d7dae0"), background(cell.bg));
            if cell.modifier.contains(Modifier::REVERSED) {
                (fg, bg) = (bg.unwrap_or("#14161b".to_owned()), Some(fg));
            }
            let span =
                f32::from(u16::try_from(crate::visible::columns(&text)).unwrap_or(0)) * cell_width;
            if let Some(bg) = bg {
                let _ = writeln!(
                    out,
                    "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{span:.1}\" height=\"{cell_height:.1}\" fill=\"{bg}\"/>"
                );
            }
            if text.trim().is_empty() {
                continue;
            }
            let weight =
                if cell.modifier.contains(Modifier::BOLD) { " font-weight=\"bold\"" } else { "" };
            let line = if cell.modifier.contains(Modifier::UNDERLINED) {
                " text-decoration=\"underline\""
            } else {
                ""
            };
            let base = top + 13.5;
            let _ = writeln!(
                out,
                "<text x=\"{left:.1}\" y=\"{base:.1}\" textLength=\"{span:.1}\" xml:space=\"preserve\" fill=\"{fg}\"{weight}{line}>{}</text>",
                escaped(&text)
            );
        }
    }
    out.push_str("</svg>\n");
    out
}

/// The pieces of a row that look alike, with the column where each begins.
fn runs<'a>(
    buffer: &'a Buffer,
    y: u16,
    instead: &[(String, String)],
) -> Vec<(u16, String, &'a Cell)> {
    let mut runs: Vec<(u16, String, &Cell)> = Vec::new();
    let mut x = 0;
    while x < buffer.area.width {
        let cell = &buffer[(x, y)];
        let alike = |other: &Cell| {
            (other.fg, other.bg, other.modifier) == (cell.fg, cell.bg, cell.modifier)
        };
        match runs.last_mut() {
            Some((_, text, last)) if alike(last) => text.push_str(cell.symbol()),
            _ => runs.push((x, cell.symbol().to_owned(), cell)),
        }
        x += u16::try_from(crate::visible::columns(cell.symbol())).unwrap_or(1).max(1);
    }
    for (_, text, _) in &mut runs {
        for (from, to) in instead {
            if text.contains(from.as_str()) {
                let before = crate::visible::columns(text);
                let mut replaced = text.replace(from.as_str(), to);
                let after = crate::visible::columns(&replaced);
                replaced.push_str(&" ".repeat(before.saturating_sub(after)));
                *text = replaced;
            }
        }
    }
    runs
}

fn background(color: Color) -> Option<String> {
    (color != Color::Reset).then(|| colour(color, "#14161b"))
}

fn colour(color: Color, plain: &str) -> String {
    let named: HashMap<Color, &str> = HashMap::from([
        (Color::Black, "#14161b"),
        (Color::Red, "#d05c5c"),
        (Color::Green, "#7bc275"),
        (Color::Yellow, "#d9a441"),
        (Color::Blue, "#2f4f8f"),
        (Color::Magenta, "#b983d6"),
        (Color::Cyan, "#56b6c2"),
        (Color::Gray, "#abb2bf"),
        (Color::DarkGray, "#6b7280"),
        (Color::LightRed, "#f27878"),
        (Color::LightGreen, "#98d68f"),
        (Color::LightYellow, "#f2cc6d"),
        (Color::LightBlue, "#7aa2f7"),
        (Color::LightMagenta, "#d6a4f0"),
        (Color::LightCyan, "#7fd7e3"),
        (Color::White, "#ffffff"),
    ]);
    match color {
        Color::Rgb(r, g, b) => format!("#{r:02x}{g:02x}{b:02x}"),
        other => named.get(&other).copied().unwrap_or(plain).to_owned(),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::Style;

    #[test]
    fn text_can_not_leave_its_element() {
        let mut buffer = Buffer::empty(ratatui::layout::Rect::new(0, 0, 12, 1));
        buffer.set_string(0, 0, "<a & \"b\">", Style::new().fg(Color::Cyan));
        let svg = svg(&buffer, &[]);
        assert!(svg.contains("&lt;a &amp; &quot;b&quot;&gt;") && svg.contains("#56b6c2"), "{svg}");
        assert_eq!(svg.matches("<text").count(), 1);
    }

    #[test]
    fn what_stands_in_keeps_the_row_as_wide_as_it_was() {
        let mut buffer = Buffer::empty(ratatui::layout::Rect::new(0, 0, 20, 1));
        buffer.set_string(0, 0, "/tmp/x123/file.jsonl", Style::new());
        let instead = [("/tmp/x123".to_owned(), "~".to_owned())];
        let runs = runs(&buffer, 0, &instead);
        assert_eq!(runs[0].1, "~/file.jsonl        ");
    }
}

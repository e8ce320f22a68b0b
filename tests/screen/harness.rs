//! A screen under test: keys go in, cells come out.

use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use jiff::tz::TimeZone;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, Cell};
use tidings::engine::live::{Reply, Request};
use tidings::engine::snapshot::Snapshot;
use tidings::ui::keymap::{Keymap, Overrides};
use tidings::ui::message::{Effect, Message, Ticket};
use tidings::ui::model::{Model, Setup};
use tidings::ui::theme::Theme;
use tidings::ui::update::update;
use tidings::ui::view::view;

use crate::world::{self, NOW};

pub(crate) const LARGE: (u16, u16) = (200, 60);
pub(crate) const MEDIUM: (u16, u16) = (120, 40);
pub(crate) const SMALL: (u16, u16) = (80, 24);
/// The smallest that the screen works on.
pub(crate) const TINY: (u16, u16) = (40, 10);

/// A screen under test.
pub(crate) struct Screen {
    pub(crate) model: Model,
    pub(crate) size: (u16, u16),
    /// What was asked of the engine and not answered yet.
    pub(crate) asked: Vec<(Ticket, Request)>,
}

impl Screen {
    pub(crate) fn new(size: (u16, u16), theme: Theme) -> Self {
        Self::with(size, theme, false)
    }

    pub(crate) fn in_ascii(size: (u16, u16)) -> Self {
        Self::with(size, Theme::dark(), true)
    }

    fn with(size: (u16, u16), theme: Theme, ascii: bool) -> Self {
        let model = Model::new(Setup {
            theme,
            keymap: Keymap::new(&Overrides::new()).unwrap(),
            title: None,
            bell: false,
            desktop: false,
            ascii,
            zone: TimeZone::UTC,
            now: NOW,
        });
        let mut screen = Self { model, size, asked: Vec::new() };
        screen.send(Message::Resize(size.0, size.1));
        screen
    }

    pub(crate) fn of(size: (u16, u16), snapshot: Arc<Snapshot>) -> Self {
        let mut screen = Self::new(size, Theme::dark());
        screen.send(Message::Snapshot(snapshot));
        screen
    }

    pub(crate) fn send(&mut self, message: Message) {
        for effect in update(&mut self.model, message) {
            if let Effect::Ask(ticket, request) = effect {
                self.asked.push((ticket, request));
            }
        }
    }

    /// Presses keys: characters, or a name in angle brackets.
    pub(crate) fn press(&mut self, keys: &str) {
        let mut rest = keys;
        while let Some(c) = rest.chars().next() {
            let code = if let Some((name, after)) =
                rest.strip_prefix('<').and_then(|r| r.split_once('>'))
            {
                rest = after;
                match name {
                    "enter" => KeyCode::Enter,
                    "esc" => KeyCode::Esc,
                    "tab" => KeyCode::Tab,
                    "down" => KeyCode::Down,
                    "home" => KeyCode::Home,
                    "lt" => KeyCode::Char('<'),
                    other => panic!("no key {other}"),
                }
            } else {
                rest = &rest[c.len_utf8()..];
                KeyCode::Char(c)
            };
            self.send(Message::Key(KeyEvent::new(code, KeyModifiers::NONE)));
        }
    }

    pub(crate) fn answer(&mut self, result: Result<Reply, String>) {
        let (ticket, _) = self.asked.pop().expect("something was asked");
        self.send(Message::Answer(ticket, result));
    }

    /// Answers all that was asked, as an engine over the world would.
    pub(crate) fn answer_all(&mut self) {
        while let Some((ticket, request)) = self.asked.pop() {
            self.send(Message::Answer(ticket, Ok(world::reply(&request))));
        }
    }

    pub(crate) fn buffer(&self) -> Buffer {
        let mut terminal = Terminal::new(TestBackend::new(self.size.0, self.size.1)).unwrap();
        terminal.draw(|frame| view(&self.model, frame)).unwrap();
        terminal.backend().buffer().clone()
    }

    pub(crate) fn text(&self) -> String {
        text(&self.buffer())
    }

    /// The first cell of the first place where `needle` stands.
    pub(crate) fn cell(&self, needle: &str) -> Cell {
        self.find("", needle).0
    }

    /// The first cell of the first place where `needle` stands behind `before`, and the text of its row.
    pub(crate) fn find(&self, before: &str, needle: &str) -> (Cell, String) {
        let buffer = self.buffer();
        for y in 0..buffer.area.height {
            let row: Vec<&str> = (0..buffer.area.width).map(|x| buffer[(x, y)].symbol()).collect();
            let wanted = [before, needle].concat();
            if !row.concat().contains(&wanted) {
                continue;
            }
            for x in 0..row.len() {
                if row[x..].concat().starts_with(&wanted) {
                    let skipped = tidings::visible::columns(before);
                    return (
                        buffer[(u16::try_from(x + skipped).unwrap(), y)].clone(),
                        row.concat(),
                    );
                }
            }
        }
        panic!("{before:?} {needle:?} is not on the screen:\n{}", self.text());
    }
}

pub(crate) fn text(buffer: &Buffer) -> String {
    let mut out = String::new();
    for y in 0..buffer.area.height {
        let mut line = String::new();
        let mut x = 0;
        while x < buffer.area.width {
            let symbol = buffer[(x, y)].symbol();
            line.push_str(symbol);
            x += u16::try_from(tidings::visible::columns(symbol)).unwrap().max(1);
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

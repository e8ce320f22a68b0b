//! Colours, and what a terminal with few of them gets.

use ratatui::style::Color;
use serde::{Deserialize, Deserializer};

/// How many colours the terminal shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Depth {
    /// The 16 named ones.
    #[default]
    Sixteen,
    /// 256: the named ones, a cube of 216 and 24 grays.
    Indexed,
    /// All.
    True,
}

impl Depth {
    /// What the terminal says of itself by `COLORTERM` and `TERM`.
    pub fn of_terminal(color_term: Option<&str>, term: Option<&str>) -> Self {
        match (color_term, term) {
            (Some("truecolor" | "24bit"), _) => Self::True,
            (_, Some(term)) if term.contains("256color") => Self::Indexed,
            _ => Self::Sixteen,
        }
    }
}

/// A colour as a theme names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Colour {
    /// One of the 16.
    Named(Color),
    /// Red, green, blue.
    Rgb(u8, u8, u8),
}

/// The 16 colours with what they look like in most terminals.
const NAMED: [(&str, Color, [u8; 3]); 16] = [
    ("black", Color::Black, [0, 0, 0]),
    ("red", Color::Red, [170, 0, 0]),
    ("green", Color::Green, [0, 170, 0]),
    ("yellow", Color::Yellow, [220, 200, 0]),
    ("blue", Color::Blue, [0, 0, 190]),
    ("magenta", Color::Magenta, [170, 0, 170]),
    ("cyan", Color::Cyan, [0, 170, 170]),
    ("gray", Color::Gray, [170, 170, 170]),
    ("dark-gray", Color::DarkGray, [85, 85, 85]),
    ("light-red", Color::LightRed, [255, 85, 85]),
    ("light-green", Color::LightGreen, [85, 255, 85]),
    ("light-yellow", Color::LightYellow, [255, 255, 85]),
    ("light-blue", Color::LightBlue, [85, 85, 255]),
    ("light-magenta", Color::LightMagenta, [255, 85, 255]),
    ("light-cyan", Color::LightCyan, [85, 255, 255]),
    ("white", Color::White, [255, 255, 255]),
];

impl Colour {
    fn parse(text: &str) -> Option<Self> {
        if let Some((_, color, _)) = NAMED.iter().find(|(name, ..)| *name == text) {
            return Some(Self::Named(*color));
        }
        let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6)?;
        let part = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
        Some(Self::Rgb(part(0)?, part(2)?, part(4)?))
    }

    /// The colour, or the nearest that the terminal has.
    pub(super) fn at(self, depth: Depth) -> Color {
        match (self, depth) {
            (Self::Named(color), _) => color,
            (Self::Rgb(r, g, b), Depth::True) => Color::Rgb(r, g, b),
            (Self::Rgb(r, g, b), Depth::Indexed) => Color::Indexed(cube(r, g, b)),
            (Self::Rgb(r, g, b), Depth::Sixteen) => nearest(r, g, b),
        }
    }
}

impl<'de> Deserialize<'de> for Colour {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            let names: Vec<&str> = NAMED.iter().map(|(name, ..)| *name).collect();
            serde::de::Error::custom(format!(
                "{text:?} is no colour; write \"#rrggbb\" or one of {}",
                names.join(", ")
            ))
        })
    }
}

/// The nearest colour of the cube of 216.
fn cube(r: u8, g: u8, b: u8) -> u8 {
    let step = |value: u8| match value {
        0..48 => 0,
        48..115 => 1,
        _ => (value - 35) / 40,
    };
    16 + 36 * step(r) + 6 * step(g) + step(b)
}

/// Which of red, green and blue a colour has more of than the middle of the most and the least: its hue among the six of the named
/// ones. A gray has none.
fn hue(parts: [u8; 3]) -> [bool; 3] {
    let most = parts.iter().copied().max().unwrap_or(0);
    let least = parts.iter().copied().min().unwrap_or(0);
    parts.map(|part| u16::from(part) * 2 > u16::from(most) + u16::from(least))
}

/// The nearest of the 16 with the same hue: what differs in hue must not become one colour.
fn nearest(r: u8, g: u8, b: u8) -> Color {
    let distance = |looks: [u8; 3]| {
        let differences = [r, g, b].into_iter().zip(looks).map(|(a, b)| u32::from(a.abs_diff(b)));
        differences.map(|difference| difference.pow(2)).sum::<u32>()
    };
    let wanted = hue([r, g, b]);
    // Black and the grays are left out: a colour that means something must not fade into the text.
    let colours = NAMED.iter().filter(|(.., looks)| {
        let hue = hue(*looks);
        hue.contains(&true) && (hue == wanted || !wanted.contains(&true))
    });
    colours.min_by_key(|(.., looks)| distance(*looks)).map_or(Color::Reset, |(_, color, _)| *color)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_with_few_colours_gets_the_nearest() {
        let orange = Colour::parse("#e69f00").unwrap();
        assert_eq!(orange.at(Depth::True), Color::Rgb(230, 159, 0));
        assert_eq!(orange.at(Depth::Indexed), Color::Indexed(178));
        assert_eq!(orange.at(Depth::Sixteen), Color::Yellow);
        for (text, want) in [
            ("#d55e00", Color::LightRed),
            ("#cc79a7", Color::LightMagenta),
            ("#56b4e9", Color::LightCyan),
            ("#300000", Color::Red),
            ("#808080", Color::LightRed),
        ] {
            assert_eq!(Colour::parse(text).unwrap().at(Depth::Sixteen), want, "{text}");
        }
        assert_eq!(Colour::parse("cyan").unwrap().at(Depth::True), Color::Cyan);
        for text in ["", "#12345", "#12345g", "cyan ", "#1234567", "#äää"] {
            assert_eq!(Colour::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_terminal_says_how_many_colours_it_has() {
        let of = Depth::of_terminal;
        assert_eq!(of(Some("truecolor"), Some("xterm")), Depth::True);
        assert_eq!(of(None, Some("xterm-256color")), Depth::Indexed);
        assert_eq!(of(Some(""), Some("linux")), Depth::Sixteen);
        assert_eq!(of(None, None), Depth::Sixteen);
    }
}

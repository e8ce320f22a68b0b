//! Colours by meaning. Only the 16 named colours are used, so that a terminal's own palette decides how they look, and
//! every meaning also has a sign and a word: colour is never the only signal.

use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;

use crate::watch::Condition;

/// Which theme, as the config names it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThemeName {
    /// For dark terminals.
    #[default]
    Dark,
    /// For light terminals.
    Light,
    /// No colour at all: modifiers only.
    Mono,
}

/// What a style is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theme {
    /// Ordinary text.
    pub text: Style,
    /// What can be overlooked: units, rules, ages.
    pub dim: Style,
    /// Headings of columns.
    pub heading: Style,
    /// Titles of panes.
    pub title: Style,
    /// The title of the pane with the keyboard.
    pub title_focused: Style,
    /// Borders.
    pub border: Style,
    /// The border of the pane with the keyboard.
    pub border_focused: Style,
    /// The selected row of the pane with the keyboard.
    pub selected: Style,
    /// The selected row of another pane.
    pub selected_elsewhere: Style,
    /// Characters that a filter matched.
    pub matched: Style,
    /// A row that has just changed.
    pub flash: Style,
    /// All is well.
    pub good: Style,
    /// Something is under way.
    pub active: Style,
    /// Something needs a look.
    pub warn: Style,
    /// Something is wrong.
    pub bad: Style,
    /// What is the operator's own.
    pub own: Style,
    /// Titles of sessions.
    pub name: Style,
    /// Small charts.
    pub chart: Style,
    /// A key in a hint or the help.
    pub key: Style,
    /// A text field.
    pub field: Style,
}

impl Theme {
    /// The theme of that name; without colour if `no_color`, whatever the name.
    pub fn named(name: ThemeName, no_color: bool) -> Self {
        match name {
            _ if no_color => Self::mono(),
            ThemeName::Dark => Self::dark(),
            ThemeName::Light => Self::light(),
            ThemeName::Mono => Self::mono(),
        }
    }

    /// For dark terminals.
    pub fn dark() -> Self {
        let fg = |color| Style::new().fg(color);
        Self {
            text: Style::new(),
            dim: fg(Color::DarkGray),
            heading: fg(Color::DarkGray),
            title: Style::new(),
            title_focused: fg(Color::Cyan).add_modifier(Modifier::BOLD),
            border: fg(Color::DarkGray),
            border_focused: fg(Color::Cyan),
            selected: Style::new().fg(Color::White).bg(Color::Blue).add_modifier(Modifier::BOLD),
            selected_elsewhere: Style::new().add_modifier(Modifier::BOLD),
            matched: fg(Color::Magenta).add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
            flash: fg(Color::LightYellow).add_modifier(Modifier::BOLD),
            good: fg(Color::Green),
            active: fg(Color::Cyan),
            warn: fg(Color::Yellow),
            bad: fg(Color::LightRed).add_modifier(Modifier::BOLD),
            own: fg(Color::LightMagenta),
            name: fg(Color::LightBlue),
            chart: fg(Color::Cyan),
            key: fg(Color::Cyan),
            field: Style::new().add_modifier(Modifier::UNDERLINED),
        }
    }

    /// For light terminals: yellow and the bright colours can't be read there.
    pub fn light() -> Self {
        let fg = |color| Style::new().fg(color);
        Self {
            title_focused: fg(Color::Blue).add_modifier(Modifier::BOLD),
            border: fg(Color::Gray),
            border_focused: fg(Color::Blue),
            flash: fg(Color::Magenta).add_modifier(Modifier::BOLD),
            active: fg(Color::Blue),
            warn: fg(Color::Magenta),
            bad: fg(Color::Red).add_modifier(Modifier::BOLD),
            own: fg(Color::Magenta),
            name: fg(Color::Blue),
            chart: fg(Color::Blue),
            key: fg(Color::Blue),
            matched: fg(Color::Red).add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
            ..Self::dark()
        }
    }

    /// Without any colour: with `NO_COLOR` some terminal libraries write empty colour codes, which also end bold and
    /// reverse, so nothing here asks for a colour.
    pub fn mono() -> Self {
        let plain = Style::new();
        let bold = plain.add_modifier(Modifier::BOLD);
        let dim = plain.add_modifier(Modifier::DIM);
        Self {
            text: plain,
            dim,
            heading: dim,
            title: plain,
            title_focused: bold.add_modifier(Modifier::REVERSED),
            border: dim,
            border_focused: bold,
            selected: plain.add_modifier(Modifier::REVERSED),
            selected_elsewhere: bold,
            matched: bold.add_modifier(Modifier::UNDERLINED),
            flash: bold,
            good: plain,
            active: plain,
            warn: bold,
            bad: bold.add_modifier(Modifier::UNDERLINED),
            own: bold,
            name: plain,
            chart: plain,
            key: bold,
            field: plain.add_modifier(Modifier::UNDERLINED),
        }
    }

    /// The style of a condition.
    pub fn condition(&self, condition: Condition) -> Style {
        match condition {
            Condition::InStep => self.good,
            Condition::Pending | Condition::Interleaved => self.active,
            Condition::PendingQuiet | Condition::Unnotifiable => self.dim,
            Condition::Expiring | Condition::Rewound | Condition::Unknown => self.warn,
            Condition::Stalled | Condition::Stopped | Condition::Gap => self.bad,
        }
    }
}

/// The sign of a condition, one column wide.
pub fn sign(condition: Condition) -> &'static str {
    match condition {
        Condition::InStep => "✓",
        Condition::Pending => "●",
        Condition::PendingQuiet => "○",
        Condition::Interleaved => "◐",
        Condition::Stalled => "▲",
        Condition::Stopped => "■",
        Condition::Gap => "✗",
        Condition::Rewound => "↺",
        Condition::Expiring => "◷",
        Condition::Unnotifiable => "⊘",
        Condition::Unknown => "?",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn styles(theme: &Theme) -> Vec<Style> {
        let Theme {
            text,
            dim,
            heading,
            title,
            title_focused,
            border,
            border_focused,
            selected,
            selected_elsewhere,
            matched,
            flash,
            good,
            active,
            warn,
            bad,
            own,
            name,
            chart,
            key,
            field,
        } = theme.clone();
        vec![
            text,
            dim,
            heading,
            title,
            title_focused,
            border,
            border_focused,
            selected,
            selected_elsewhere,
            matched,
            flash,
            good,
            active,
            warn,
            bad,
            own,
            name,
            chart,
            key,
            field,
        ]
    }

    #[test]
    fn only_the_sixteen_named_colours_are_used() {
        for theme in [Theme::dark(), Theme::light(), Theme::mono()] {
            for style in styles(&theme) {
                for color in [style.fg, style.bg].into_iter().flatten() {
                    assert!(!matches!(color, Color::Rgb(..) | Color::Indexed(_)), "{color:?}");
                }
            }
        }
    }

    #[test]
    fn without_colour_there_is_none() {
        for name in [ThemeName::Dark, ThemeName::Light, ThemeName::Mono] {
            let theme = Theme::named(name, true);
            assert!(styles(&theme).iter().all(|style| style.fg.is_none() && style.bg.is_none()));
        }
    }

    #[test]
    fn the_selection_is_told_apart_in_each_theme() {
        for theme in [Theme::dark(), Theme::light(), Theme::mono()] {
            assert_ne!(theme.selected, theme.text);
            assert_ne!(theme.selected, theme.selected_elsewhere);
        }
    }

    #[test]
    fn each_condition_has_a_sign_of_its_own_one_column_wide() {
        let signs: HashSet<_> = Condition::ALL.into_iter().map(sign).collect();
        assert_eq!(signs.len(), Condition::ALL.len());
        assert!(signs.iter().all(|sign| crate::visible::columns(sign) == 1));
    }
}

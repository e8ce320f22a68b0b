//! Colours by meaning, from TOML files. The built-in themes for dark and light terminals use only the 16 named colours, so that a
//! terminal's own palette decides how they look; and every meaning also has a sign and a word: colour is never the only signal.

mod colour;
mod file;

use std::path::Path;

use ratatui::style::Style;

pub use colour::Depth;
pub use file::ThemeError;

use super::sheet::Tint;
use crate::watch::Condition;

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
    /// The built-in theme for dark terminals.
    pub fn dark() -> Self {
        file::built_in("dark", Depth::Sixteen)
    }

    /// The built-in theme for light terminals.
    pub fn light() -> Self {
        file::built_in("light", Depth::Sixteen)
    }

    /// The built-in theme whose colours everybody can tell apart.
    pub fn colour_blind() -> Self {
        file::built_in("colour-blind", Depth::Sixteen)
    }

    /// Without any colour: with `NO_COLOR` some terminal libraries write empty colour codes, which also end bold and
    /// reverse, so nothing here asks for a colour.
    pub fn mono() -> Self {
        file::built_in("mono", Depth::Sixteen)
    }

    /// The theme `name`: the file `name.toml` in `folder` if there is one, else the built-in one.
    ///
    /// # Errors
    /// There is no such theme, or something in its file is wrong.
    pub fn load(name: &str, folder: Option<&Path>, depth: Depth) -> Result<Self, ThemeError> {
        file::load(name, folder, depth)
    }

    /// The style of a condition.
    pub fn condition(&self, condition: Condition) -> Style {
        self.tint(condition.into())
    }

    /// The style of what is meant so.
    pub(crate) fn tint(&self, tint: Tint) -> Style {
        match tint {
            Tint::Text => self.text,
            Tint::Dim => self.dim,
            Tint::Own => self.own,
            Tint::Good => self.good,
            Tint::Active => self.active,
            Tint::Warn => self.warn,
            Tint::Bad => self.bad,
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

    use ratatui::style::Color;

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
        for theme in [Theme::dark(), Theme::light(), Theme::colour_blind(), Theme::mono()] {
            for style in styles(&theme) {
                for color in [style.fg, style.bg].into_iter().flatten() {
                    assert!(!matches!(color, Color::Rgb(..) | Color::Indexed(_)), "{color:?}");
                }
            }
        }
    }

    #[test]
    fn without_colour_there_is_none() {
        let theme = Theme::mono();
        assert!(styles(&theme).iter().all(|style| style.fg.is_none() && style.bg.is_none()));
    }

    #[test]
    fn the_selection_is_told_apart_in_each_theme() {
        for theme in [Theme::dark(), Theme::light(), Theme::colour_blind(), Theme::mono()] {
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

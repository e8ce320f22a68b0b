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

/// Makes the theme from its styles, each with its name in a theme's file.
macro_rules! theme {
    ($($role:ident $what:literal;)*) => {
        /// What a style is for.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Theme { $(#[doc = $what] pub $role: Style,)* }

        impl Theme {
            /// The names of all styles.
            const ROLES: &[&str] = &[$(stringify!($role),)*];

            /// The theme with the styles that `style` gives for their names.
            fn of(style: impl Fn(&str) -> Style) -> Self {
                Self { $($role: style(stringify!($role)),)* }
            }

            #[cfg(test)]
            fn styles(&self) -> Vec<Style> {
                vec![$(self.$role,)*]
            }
        }
    };
}

theme! {
    text "Ordinary text.";
    dim "What can be overlooked: units, rules, ages.";
    heading "Headings of columns.";
    title "Titles of panes.";
    title_focused "The title of the pane with the keyboard.";
    border "Borders.";
    border_focused "The border of the pane with the keyboard.";
    selected "The selected row of the pane with the keyboard.";
    selected_elsewhere "The selected row of another pane.";
    matched "Characters that a filter matched.";
    flash "A row that has just changed.";
    good "All is well.";
    active "Something is under way.";
    warn "Something needs a look.";
    bad "Something is wrong.";
    own "What is the operator's own.";
    name "Titles of sessions.";
    chart "Small charts.";
    key "A key in a hint or the help.";
    field "A text field.";
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

    #[test]
    fn only_the_sixteen_named_colours_are_used() {
        for theme in [Theme::dark(), Theme::light(), Theme::colour_blind(), Theme::mono()] {
            for style in theme.styles() {
                for color in [style.fg, style.bg].into_iter().flatten() {
                    assert!(!matches!(color, Color::Rgb(..) | Color::Indexed(_)), "{color:?}");
                }
            }
        }
    }

    #[test]
    fn without_colour_there_is_none() {
        let theme = Theme::mono();
        assert!(theme.styles().iter().all(|style| style.fg.is_none() && style.bg.is_none()));
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

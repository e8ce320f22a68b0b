//! Themes as TOML files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ratatui::style::{Modifier, Style};
use serde::Deserialize;

use super::Theme;
use super::colour::{Colour, Depth};

/// The built-in themes. `assets/themes` holds them.
const BUILT_IN: [(&str, &str); 4] = [
    ("dark", include_str!("../../../assets/themes/dark.toml")),
    ("light", include_str!("../../../assets/themes/light.toml")),
    ("colour-blind", include_str!("../../../assets/themes/colour-blind.toml")),
    ("mono", include_str!("../../../assets/themes/mono.toml")),
];
/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// Why a theme can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ThemeError {
    /// No theme has that name.
    #[error("ui.theme: there is no theme {name:?}; there are {known}{place}")]
    Unknown {
        /// The name given.
        name: String,
        /// The built-in ones.
        known: String,
        /// Where a file of that name was looked for.
        place: String,
    },
    /// Its file can't be read.
    #[error("could not read the theme {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Something in its file is wrong.
    #[error("{}:{line}: {reason}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
}

/// A file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// The built-in theme that has the styles which are left out; `dark` without one.
    base: Option<String>,
    #[serde(default)]
    styles: BTreeMap<String, Look>,
}

/// How one style looks.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "a text may have each of them")]
struct Look {
    fg: Option<Colour>,
    bg: Option<Colour>,
    bold: bool,
    dim: bool,
    italic: bool,
    underlined: bool,
    reversed: bool,
}

impl Look {
    fn style(self, depth: Depth) -> Style {
        let mut style = Style::new();
        style.fg = self.fg.map(|colour| colour.at(depth));
        style.bg = self.bg.map(|colour| colour.at(depth));
        let modifiers = [
            (self.bold, Modifier::BOLD),
            (self.dim, Modifier::DIM),
            (self.italic, Modifier::ITALIC),
            (self.underlined, Modifier::UNDERLINED),
            (self.reversed, Modifier::REVERSED),
        ];
        for (_, modifier) in modifiers.into_iter().filter(|(is_on, _)| *is_on) {
            style = style.add_modifier(modifier);
        }
        style
    }
}

/// A theme from the looks of its styles; what is not there looks like plain text.
fn theme(looks: &BTreeMap<String, Look>, depth: Depth) -> Theme {
    Theme::of(|role| looks.get(role).copied().unwrap_or_default().style(depth))
}

/// The built-in theme `name`.
pub(super) fn built_in(name: &str, depth: Depth) -> Theme {
    theme(&looks_of(name), depth)
}

/// The looks of a built-in theme with those of its base; none for a name that is not built in.
fn looks_of(name: &str) -> BTreeMap<String, Look> {
    let Some((_, text)) = BUILT_IN.iter().find(|(built_in, _)| *built_in == name) else {
        return BTreeMap::new();
    };
    // A test reads them all; a file that can't be read looks like plain text.
    let Ok(file) = toml::from_str::<File>(text) else { return BTreeMap::new() };
    let mut looks = file.base.map(|base| looks_of(&base)).unwrap_or_default();
    looks.extend(file.styles);
    looks
}

/// The theme `name`: a file in `folder` before a built-in one.
pub(super) fn load(name: &str, folder: Option<&Path>, depth: Depth) -> Result<Theme, ThemeError> {
    let is_plain = !name.is_empty() && !name.contains(['/', '\\', '\0']) && !name.starts_with('.');
    let path = folder.filter(|_| is_plain).map(|folder| folder.join(format!("{name}.toml")));
    if let Some(path) = path.as_ref().filter(|path| path.is_file()) {
        return read(path, depth);
    }
    if BUILT_IN.iter().any(|(built_in, _)| *built_in == name) {
        return Ok(built_in(name, depth));
    }
    let known: Vec<&str> = BUILT_IN.iter().map(|(name, _)| *name).collect();
    Err(ThemeError::Unknown {
        name: name.to_owned(),
        known: known.join(", "),
        place: path.map(|path| format!(", and no file {}", path.display())).unwrap_or_default(),
    })
}

fn read(path: &Path, depth: Depth) -> Result<Theme, ThemeError> {
    let io = |source| ThemeError::Io { path: path.to_owned(), source };
    if path.metadata().map_err(io)?.len() > MAX_BYTES {
        let large = format!("it is over {MAX_BYTES} bytes; is it the right file?");
        return Err(io(std::io::Error::other(large)));
    }
    let bytes = std::fs::read(path).map_err(io)?;
    let text = String::from_utf8(bytes)
        .map_err(|error| io(std::io::Error::new(std::io::ErrorKind::InvalidData, error)))?;
    let invalid =
        |line: usize, reason: String| ThemeError::Invalid { path: path.to_owned(), line, reason };
    let file: File = toml::from_str(&text).map_err(|error| {
        let at = error.span().map_or(text.len(), |span| span.start);
        let line = text.get(..at).unwrap_or(&text).matches('\n').count() + 1;
        invalid(line, error.message().lines().map(str::trim).collect::<Vec<_>>().join("; "))
    })?;
    let line_of = |needle: &str| {
        text.lines().position(|line| line.trim_start().starts_with(needle)).map_or(1, |at| at + 1)
    };
    if let Some(unknown) = file.styles.keys().find(|role| !Theme::ROLES.contains(&role.as_str())) {
        let known = Theme::ROLES.join(", ");
        let reason = format!("there is no style {unknown:?}; the styles are {known}");
        return Err(invalid(line_of(unknown), reason));
    }
    let base = file.base.unwrap_or_else(|| "dark".to_owned());
    if !BUILT_IN.iter().any(|(name, _)| *name == base) {
        let known: Vec<&str> = BUILT_IN.iter().map(|(name, _)| *name).collect();
        let reason = format!("there is no base {base:?}; there are {}", known.join(", "));
        return Err(invalid(line_of("base"), reason));
    }
    let mut looks = looks_of(&base);
    looks.extend(file.styles);
    Ok(theme(&looks, depth))
}

#[cfg(test)]
mod tests {
    use ratatui::style::Color;

    use super::*;

    #[test]
    fn the_built_in_files_are_right_and_name_no_unknown_style() {
        for (name, text) in BUILT_IN {
            let file: File = toml::from_str(text).unwrap();
            assert!(file.styles.keys().all(|role| Theme::ROLES.contains(&role.as_str())), "{name}");
            assert!(Theme::ROLES.iter().all(|role| looks_of(name).contains_key(*role)), "{name}");
        }
    }

    fn written(text: &str) -> Result<Theme, String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("mine.toml"), text).unwrap();
        let place = format!("{}/", folder.path().display());
        load("mine", Some(folder.path()), Depth::True)
            .map_err(|error| error.to_string().replace(&place, ""))
    }

    #[test]
    fn a_file_of_ones_own_changes_what_it_names() {
        let theme =
            written("base = \"light\"\n[styles]\ngood = { fg = \"#102030\", italic = true }")
                .unwrap();
        assert_eq!(theme.good.fg, Some(Color::Rgb(16, 32, 48)));
        assert!(theme.good.add_modifier.contains(Modifier::ITALIC));
        assert_eq!(theme.bad, Theme::light().bad);
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        for (text, want) in [
            ("[styles]\n\ngoood = {}", "mine.toml:3: there is no style \"goood\"; the styles are "),
            ("[styles]\ngood = { fg = \"pink\" }", "mine.toml:2: \"pink\" is no colour"),
            ("[styles]\ngood = { shiny = true }", "mine.toml:2: unknown field `shiny`"),
            ("base = \"x\"", "mine.toml:1: there is no base \"x\""),
            ("colour = 1", "mine.toml:1: unknown field `colour`"),
        ] {
            let error = written(text).unwrap_err();
            assert!(error.starts_with(want), "{error}");
        }
        for name in ["nope", "../mine", "", ".hidden"] {
            let error = load(name, Some(Path::new("/nowhere")), Depth::True).unwrap_err();
            assert!(
                error.to_string().contains("there are dark, light, colour-blind, mono"),
                "{error}"
            );
        }
    }
}

//! The config file: TOML, in which an unknown key is an error with its line (`decisions.md` 31).
//!
//! `assets/config.toml` shows every key with its default.

mod alerts;
mod check;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::{Span, SpanRelativeTo};
use serde::{Deserialize, Deserializer};

pub use alerts::Alert;
pub use check::Check;

use crate::clock::Millis;
use crate::engine::Settings;
use crate::engine::alerts::AlertRule;
use crate::engine::check::Limits;
use crate::engine::condition::Thresholds;
use crate::engine::notices::Language;
use crate::upstream::claude;

/// The largest config file that is read, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// What a person may set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Whether run ends notify explicit watchers.
    pub run_end_notifies: bool,
    /// Another system's state database to read in place of ours, or `auto`; `~/` at its beginning means the home folder.
    pub attach: Option<PathBuf>,
    /// Reading other programs' files.
    pub upstream: Upstream,
    /// The lines that watchers find.
    pub notices: Notices,
    /// Waking watchers.
    pub wake: Wake,
    /// How long each condition of a pair takes.
    pub conditions: Conditions,
    /// The bounds of `check`.
    pub check: Check,
    /// What to alert about.
    #[serde(deserialize_with = "alerts::distinct")]
    pub alerts: Vec<Alert>,
    /// The screen.
    pub ui: Ui,
}

/// The table `upstream`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Upstream {
    /// The longest row of a transcript that is read, in bytes.
    #[serde(deserialize_with = "at_least_one")]
    pub max_row_bytes: u64,
    /// Claude Code's config folder, in place of `CLAUDE_CONFIG_DIR`; `~/` at its beginning means the home folder.
    pub claude_config_dir: Option<PathBuf>,
    /// Codex's home folder, in place of `CODEX_HOME`; `~/` at its beginning means the home folder.
    pub codex_home: Option<PathBuf>,
    /// Whether file events make the monitor look at once at what was written, between its ticks.
    pub file_events: bool,
}

/// The table `notices`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Notices {
    /// The language of notices.
    pub language: Language,
}

/// The table `wake`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Wake {
    /// The program that wakes a watcher, with its arguments; without one, a wake ends skipped.
    pub command: Vec<String>,
}

/// The table `conditions`. Spans are in milliseconds.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Conditions {
    /// A notice is young for this long.
    #[serde(deserialize_with = "duration")]
    pub young: Millis,
    /// A pair is stalled from this many turns of its watcher without an acknowledgement.
    #[serde(deserialize_with = "at_least_one")]
    pub stalled_turns: u64,
    /// A watcher is stopped when it was silent for this long while a notice was open.
    #[serde(deserialize_with = "duration")]
    pub stopped: Millis,
    /// A tick is overdue this long after the last one.
    #[serde(deserialize_with = "duration")]
    pub tick_overdue: Millis,
    /// A watch is expiring when it was not touched for this long.
    #[serde(deserialize_with = "duration")]
    pub expiring: Millis,
}

/// The table `ui`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ui {
    /// Which theme the screen uses: a built-in one, or a file in the folder `themes` beside the config.
    pub theme: String,
    /// How many colours the terminal shows.
    pub colours: Colours,
    /// Which characters the screen uses.
    pub glyphs: Glyphs,
    /// Keys in place of the default ones: the name of an action, and all its keys.
    pub keys: BTreeMap<String, Vec<String>>,
    /// Whether a notice for the operator rings the bell.
    pub bell: bool,
    /// Whether a notice for the operator is shown as a message of the desktop.
    pub desktop: bool,
    /// Whether the mouse selects and scrolls.
    pub mouse: bool,
}

/// How many colours the terminal shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub enum Colours {
    /// What the terminal says of itself.
    #[default]
    #[serde(rename = "auto")]
    Auto,
    /// The 16 named ones.
    #[serde(rename = "16")]
    Sixteen,
    /// 256.
    #[serde(rename = "256")]
    Indexed,
    /// All.
    #[serde(rename = "true")]
    True,
}

/// Which characters the screen uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Glyphs {
    /// As the locale says.
    #[default]
    Auto,
    /// Unicode.
    Unicode,
    /// ASCII only.
    Ascii,
}

impl Default for Ui {
    fn default() -> Self {
        Self {
            theme: "dark".to_owned(),
            colours: Colours::default(),
            glyphs: Glyphs::default(),
            keys: BTreeMap::new(),
            bell: false,
            desktop: false,
            mouse: false,
        }
    }
}

impl Default for Upstream {
    fn default() -> Self {
        Self {
            max_row_bytes: claude::MAX_ROW_BYTES,
            claude_config_dir: None,
            codex_home: None,
            file_events: true,
        }
    }
}

impl Default for Conditions {
    fn default() -> Self {
        let Thresholds { stalled_turns, stopped, tick_overdue, expiring, young } =
            Thresholds::default();
        Self { young, stalled_turns, stopped, tick_overdue, expiring }
    }
}

/// Why a config file can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// It can't be read.
    #[error("could not read the config {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It is too large to be a config.
    #[error("the config {} is over {MAX_BYTES} bytes; is it the right file?", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// Something in it is wrong.
    #[error("{}:{line}: {key}{reason}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The key with `: ` behind it; empty when the line has none.
        key: String,
        /// What is wrong.
        reason: String,
    },
}

impl Config {
    /// Reads the config at `path`. `None` when there is no such file.
    ///
    /// # Errors
    /// It can't be read, or something in it is wrong: the error names the line and the key.
    pub fn load(path: &Path) -> Result<Option<Self>, ConfigError> {
        let io = |source| ConfigError::Io { path: path.to_owned(), source };
        match path.metadata() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(io(error)),
            Ok(meta) if meta.len() > MAX_BYTES => {
                return Err(ConfigError::TooLarge { path: path.to_owned() });
            }
            Ok(_) => {}
        }
        let bytes = std::fs::read(path).map_err(io)?;
        let text = String::from_utf8(bytes).map_err(|error| {
            io(std::io::Error::new(std::io::ErrorKind::InvalidData, error.utf8_error()))
        })?;
        Self::parse(&text, path).map(Some)
    }

    /// Reads a config from its text; `path` is for errors.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(text.len(), |span| span.start);
            let (line, key) = place(text, at);
            ConfigError::Invalid {
                path: path.to_owned(),
                line,
                key: key.map(|key| format!("{key}: ")).unwrap_or_default(),
                reason: error.message().lines().map(str::trim).collect::<Vec<_>>().join("; "),
            }
        })
    }

    /// What the engine alerts about.
    pub fn alert_rules(&self) -> Vec<AlertRule> {
        self.alerts.iter().map(AlertRule::from).collect()
    }

    /// From where on `check` says that something is bad.
    pub fn check_limits(&self) -> Limits {
        self.check.limits(self.conditions.young)
    }

    /// What the engine needs of it.
    pub fn settings(&self) -> Settings {
        let Conditions { young, stalled_turns, stopped, tick_overdue, expiring } =
            self.conditions.clone();
        Settings {
            language: self.notices.language,
            run_end_notifies: self.run_end_notifies,
            thresholds: Thresholds { stalled_turns, stopped, tick_overdue, expiring, young },
        }
    }
}

/// A span of time as people write it: `90s`, `5m`, `1h 30m`, `25d`, or ISO 8601. More than nothing; a day has 24 hours.
///
/// # Errors
/// What is wrong with it, for people.
pub fn parse_duration(text: &str) -> Result<Millis, String> {
    let shape = || format!("{text:?} is no duration; write for example 90s, 5m, 1h 30m or 2d");
    let span: Span = text.parse().map_err(|_| shape())?;
    let duration = span.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|_| shape())?;
    match i64::try_from(duration.as_millis()) {
        Ok(millis) if millis > 0 => Ok(millis),
        Ok(_) => Err(format!("{text:?} is no time at all; give at least 1ms")),
        Err(_) => Err(format!("{text:?} is too long")),
    }
}

fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Millis, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse_duration(&text).map_err(serde::de::Error::custom)
}

fn at_least_one<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    match u64::deserialize(deserializer)? {
        0 => Err(serde::de::Error::custom("it has to be at least 1")),
        number => Ok(number),
    }
}

/// The line of the byte `at`, from 1, and the key there with its table before it.
fn place(text: &str, at: usize) -> (usize, Option<String>) {
    let before = text.get(..at).unwrap_or(text);
    let number = before.matches('\n').count();
    let mut table = None;
    let mut key = None;
    for line in text.lines().take(number + 1).map(str::trim) {
        if let Some(header) = line.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            table = Some(header.trim_matches('[').trim());
            key = None;
        } else if let Some((name, _)) = line.split_once('=').filter(|_| !line.starts_with('#')) {
            key = Some(name.trim());
        }
    }
    let parts: Vec<_> = table.into_iter().chain(key).collect();
    (number + 1, (!parts.is_empty()).then(|| parts.join(".")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{DAY, HOUR, MINUTE, SECOND};

    const SAMPLE: &str = include_str!("../assets/config.toml");

    fn parse(text: &str) -> Result<Config, String> {
        Config::parse(text, Path::new("config.toml")).map_err(|error| error.to_string())
    }

    #[test]
    fn the_sample_is_the_built_in_defaults() {
        assert_eq!(parse(SAMPLE).unwrap(), Config::default());
        assert_eq!(parse("").unwrap(), Config::default());
        assert_eq!(
            Config::default().settings().thresholds,
            crate::engine::Settings::default().thresholds
        );
    }

    #[test]
    fn the_sample_names_every_key_and_only_keys() {
        let (before, example) = SAMPLE.split_once("# [[alerts]]\n").unwrap();
        let example = example.replace("# ", "");
        let whole = format!("{before}[[alerts]]\n{example}")
            .replace("# claude_config", "claude_config")
            .replace("# codex_home", "codex_home")
            .replace("# attach =", "attach =")
            .replace("# warn_lag", "warn_lag")
            .replace("# max_lag", "max_lag");
        let alerts = parse(&whole).unwrap().alerts;
        assert_eq!((alerts[0].conditions.len(), alerts[0].repeat), (2, 4 * HOUR));
        assert_eq!(parse(&whole).unwrap().attach, Some("auto".into()));
        assert_eq!(parse(&whole).unwrap().upstream.claude_config_dir, Some("~/.claude".into()));
        assert_eq!(parse(&whole).unwrap().upstream.codex_home, Some("~/.codex".into()));
        let table: toml::Table = toml::from_str(&whole).unwrap();
        let Config {
            run_end_notifies: _,
            attach: _,
            upstream:
                Upstream { max_row_bytes: _, claude_config_dir: _, codex_home: _, file_events: _ },
            notices: Notices { language: _ },
            wake: Wake { command: _ },
            conditions:
                Conditions { young: _, stalled_turns: _, stopped: _, tick_overdue: _, expiring: _ },
            check: _,
            alerts: _,
            ui: Ui { theme: _, colours: _, glyphs: _, keys: _, bell: _, desktop: _, mouse: _ },
        } = Config::default();
        let keys: usize =
            table.values().map(|value| value.as_table().map_or(1, toml::Table::len)).sum();
        assert_eq!((whole.matches("\nwarn_").count(), whole.matches("\nmax_").count()), (9, 10));
        assert_eq!(keys, 39, "a key is missing in assets/config.toml, or this count is old");
    }

    #[test]
    fn what_is_wrong_is_said_with_file_line_and_key() {
        for (text, want) in [
            (
                "\n[upstream]\nmax_rows = 1\n",
                "config.toml:3: upstream.max_rows: unknown field `max_rows`, expected ",
            ),
            ("colour = 1", "config.toml:1: colour: unknown field `colour`, expected "),
            ("[uii]\n", "config.toml:1: uii: unknown field `uii`, expected "),
            (
                "[upstream]\nmax_row_bytes = \"big\"",
                "config.toml:2: upstream.max_row_bytes: invalid type: string",
            ),
            (
                "[upstream]\nmax_row_bytes = 0",
                "config.toml:2: upstream.max_row_bytes: it has to be at least 1",
            ),
            (
                "[upstream]\nmax_row_bytes = -5",
                "config.toml:2: upstream.max_row_bytes: invalid value: integer `-5`",
            ),
            (
                "[conditions]\nyoung = \"5\"",
                "config.toml:2: conditions.young: \"5\" is no duration",
            ),
            (
                "[conditions]\n# old = 1\nyoung = \"0s\"",
                "config.toml:3: conditions.young: \"0s\" is no time at all",
            ),
            (
                "[notices]\nlanguage = \"fr\"",
                "config.toml:2: notices.language: unknown variant `fr`, expected ",
            ),
            (
                "[ui]\nglyphs = \"pink\"",
                "config.toml:2: ui.glyphs: unknown variant `pink`, expected ",
            ),
            (
                "[ui.keys]\nquit = \"q\"",
                "config.toml:2: ui.keys.quit: invalid type: string \"q\", expected a sequence",
            ),
            ("[wake]\ncommand = \"a b\"", "config.toml:2: wake.command: invalid type"),
            (
                "[check]\nwarn_missing = 0",
                "config.toml:2: check.warn_missing: it has to be at least 1",
            ),
            ("[check]\nmax_tick_age = 5", "config.toml:2: check.max_tick_age: invalid type"),
            ("run_end_notifies = maybe", "config.toml:1: run_end_notifies: "),
            ("[ui]\nbell = true\nbell = false", "config.toml:3: ui.bell: duplicate key"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.starts_with(want), "{text:?}: {error}");
            assert!(!error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn durations_are_read_as_people_write_them() {
        for (text, want) in [
            ("90s", 90 * SECOND),
            ("5m", 5 * MINUTE),
            ("1h 30m", 90 * MINUTE),
            ("1h30m", 90 * MINUTE),
            ("2 hours", 2 * HOUR),
            ("25d", 25 * DAY),
            ("PT1M", MINUTE),
            ("250ms", 250),
        ] {
            assert_eq!(parse_duration(text), Ok(want), "{text}");
        }
        for text in ["", "5", "soon", "-5m", "0s", "1 month", "5m ago", "999999999999d"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_file_that_is_not_there_is_no_error_and_one_that_is_no_text_is() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Config::load(&folder.path().join("none.toml")).unwrap(), None);
        let path = folder.path().join("bytes.toml");
        std::fs::write(&path, [0xff, 0xfe]).unwrap();
        assert!(matches!(Config::load(&path), Err(ConfigError::Io { .. })));
        assert!(matches!(Config::load(folder.path()), Err(ConfigError::Io { .. })));
    }
}

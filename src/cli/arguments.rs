//! Values of options that several verbs read.

use std::io::{self, Read as _};
use std::path::Path;

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::CliError;
use crate::config::parse_duration;
use crate::event::{ActorType, EventKind, Sequence};
use crate::journal::inbox::MAX_MESSAGE;
use crate::upstream::{claude, codex};

/// The largest version that every reader of JSON holds exactly.
const MAX_VERSION: i64 = (1 << 53) - 1;

/// A harness whose sessions can be adopted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Harness {
    /// Claude Code
    #[value(alias = "claude-code")]
    Claude,
    /// Codex
    Codex,
}

impl Harness {
    /// The catalog of its sessions.
    pub(super) fn catalog(self) -> &'static str {
        match self {
            Self::Claude => claude::CATALOG,
            Self::Codex => codex::CATALOG,
        }
    }

    /// The harness with this catalog.
    pub(super) fn of_catalog(catalog: &str) -> Option<Self> {
        [Self::Claude, Self::Codex].into_iter().find(|harness| harness.catalog() == catalog)
    }

    /// The harness that names its files like this one.
    pub(super) fn of_file(path: &Path) -> Self {
        let is_rollout =
            path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"rollout-"));
        if is_rollout { Self::Codex } else { Self::Claude }
    }
}

/// Reads a version: digits alone, at most 2^53 − 1.
pub(super) fn version(text: &str) -> Result<Sequence, String> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse()
        .ok()
        .filter(|version| digits && *version <= MAX_VERSION)
        .map(Sequence)
        .ok_or_else(|| format!("a version is a whole number from 0 to {MAX_VERSION}"))
}

/// Reads a span of time.
pub(super) fn duration(text: &str) -> Result<std::time::Duration, String> {
    let millis = parse_duration(text)?;
    u64::try_from(millis).map(std::time::Duration::from_millis).map_err(|error| error.to_string())
}

/// Reads a span of time, in milliseconds.
pub(super) fn millis(text: &str) -> Result<crate::clock::Millis, String> {
    parse_duration(text)
}

/// Reads a kind of event that this version knows.
pub(super) fn kind() -> impl TypedValueParser<Value = EventKind> {
    static KNOWN: [EventKind; 9] = EventKind::KNOWN;
    PossibleValuesParser::new(KNOWN.iter().map(EventKind::as_str))
        .map(|name| EventKind::from_name(&name))
}

/// Reads a type of actor.
pub(super) fn actor_type() -> impl TypedValueParser<Value = ActorType> {
    PossibleValuesParser::new(["human", "agent", "system"]).map(|name| ActorType::from_name(&name))
}

/// Reads a name that may not be empty, such as a run id.
pub(super) fn name(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Err("it can't be empty".into());
    }
    Ok(text.to_owned())
}

/// The text given, or with `-` what stands on stdin, without its last line end. Errors never repeat it.
pub(super) fn text_or_stdin(given: &str, what: &str) -> Result<String, CliError> {
    let text = if given == "-" { read_text(io::stdin(), what)? } else { given.to_owned() };
    if text.trim().is_empty() {
        return Err(CliError::Usage(format!("{what} can't be empty")));
    }
    Ok(text)
}

fn read_text(source: impl io::Read, what: &str) -> Result<String, CliError> {
    let mut bytes = Vec::new();
    // One byte more than fits, with a line end: then it is known to be too long without reading all of it.
    let limit = MAX_MESSAGE as u64 + 3;
    source.take(limit).read_to_end(&mut bytes).map_err(|error| {
        CliError::Failed(format!("could not read {what} from standard input: {error}"))
    })?;
    let text = String::from_utf8(bytes).map_err(|_| {
        CliError::Failed(format!("{what} on standard input is not UTF-8 text, or is too long"))
    })?;
    let text = text
        .strip_suffix('\n')
        .map_or(text.as_str(), |text| text.strip_suffix('\r').unwrap_or(text));
    if text.len() > MAX_MESSAGE {
        return Err(CliError::Failed(format!(
            "{what} on standard input is over {MAX_MESSAGE} bytes"
        )));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_digits_up_to_what_json_holds() {
        assert_eq!(version("0"), Ok(Sequence(0)));
        assert_eq!(version("9007199254740991"), Ok(Sequence(MAX_VERSION)));
        for text in ["", "-1", "+1", "1.5", "1e3", " 1", "0x1", "9007199254740992", "twelve"] {
            assert!(version(text).is_err(), "{text}");
        }
    }

    #[test]
    fn text_from_stdin_loses_one_line_end_and_has_a_limit() {
        let read =
            |bytes: &[u8]| read_text(bytes, "the message").map_err(|error| error.to_string());
        assert_eq!(read(b"a\nb\n\n"), Ok("a\nb\n".into()));
        assert_eq!(read(b"a\r\n"), Ok("a".into()));
        assert_eq!(read(b"a"), Ok("a".into()));
        let full = "x".repeat(MAX_MESSAGE);
        assert_eq!(read(format!("{full}\r\n").as_bytes()), Ok(full.clone()));
        assert!(read(format!("{full}y").as_bytes()).unwrap_err().contains("over 65536 bytes"));
        assert!(
            read(format!("{full}yyyyyyyy").as_bytes()).unwrap_err().contains("over 65536 bytes")
        );
        assert!(read(b"\xff").unwrap_err().contains("not UTF-8"));
    }
}

//! The line that a watcher finds in its queue, and the context key that names its target (`engine.md` 4.1, 4.2).

use std::fmt::Write as _;

use serde::Deserialize;

use crate::event::Sequence;
use crate::session_key::SessionKey;

/// The prefix of the context key of a notice.
const CONTEXT_PREFIX: &str = "session-state:";

/// The language of notices, `notices.language` in the config.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub enum Language {
    /// English.
    #[default]
    #[serde(rename = "en")]
    English,
    /// Russian.
    #[serde(rename = "ru")]
    Russian,
}

/// The notice for a target since a version. It is a function of these alone, so that the line stays the same to the byte
/// while the notice is open.
pub fn text(language: Language, target: &SessionKey, since: Sequence) -> String {
    let key = quoted(target.as_str());
    match language {
        Language::English => format!(
            "Session {key} changed (other actor). Reconcile before acting: session_status sessionKey {key} changesSince {since}."
        ),
        Language::Russian => format!(
            "Сессия {key} изменилась (другой участник). Выполните сверку перед действием: session_status sessionKey {key} \
             changesSince {since}."
        ),
    }
}

/// Since when a notice for `target` asks for changes; `None` when `text` is not one to the byte.
pub(super) fn since_of(language: Language, target: &SessionKey, text: &str) -> Option<Sequence> {
    let since = text.strip_suffix('.')?.rsplit(' ').next()?.parse().map(Sequence).ok()?;
    (self::text(language, target, since) == text).then_some(since)
}

/// `text` in double quotes, escaped as in JSON, so that a key can neither end the quotes nor break the line.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // C1 controls and the line separators are no JSON escapes, but would move a cursor or break a line all the same.
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The context key of a target: hex, because a queue trims and lower-cases context keys and session keys may have capitals.
pub fn context_key(target: &SessionKey) -> String {
    let mut out = String::with_capacity(CONTEXT_PREFIX.len() + 2 * target.as_str().len());
    out.push_str(CONTEXT_PREFIX);
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or_default();
    for byte in target.as_str().bytes() {
        out.extend([digit(byte >> 4), digit(byte & 15)]);
    }
    out
}

/// The target that a context key names; `None` when the line is no notice.
pub fn target_of(context: &str) -> Option<SessionKey> {
    let hex = context.strip_prefix(CONTEXT_PREFIX)?.as_bytes();
    if hex.is_empty() || !hex.len().is_multiple_of(2) {
        return None;
    }
    let nibble = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let bytes: Option<Vec<u8>> =
        hex.chunks_exact(2).map(|pair| Some(nibble(pair[0])? << 4 | nibble(pair[1])?)).collect();
    String::from_utf8(bytes?).ok().map(SessionKey::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_exact_in_both_languages() {
        let child = SessionKey::new("agent:main:subagent:child");
        assert_eq!(
            text(Language::English, &child, Sequence(12)),
            "Session \"agent:main:subagent:child\" changed (other actor). Reconcile before acting: session_status sessionKey \
             \"agent:main:subagent:child\" changesSince 12."
        );
        assert_eq!(
            text(Language::Russian, &child, Sequence(12)),
            "Сессия \"agent:main:subagent:child\" изменилась (другой участник). Выполните сверку перед действием: session_status \
             sessionKey \"agent:main:subagent:child\" changesSince 12."
        );
    }

    #[test]
    fn case_79_a_hostile_key_stays_inside_its_quotes_and_its_line() {
        let text = text(
            Language::English,
            &SessionKey::new("a\"b\\c\nd\u{1b}e\u{9b}f\u{2028}g"),
            Sequence(1),
        );
        assert!(text.starts_with(r#"Session "a\"b\\c\nd\u001be\u009bf\u2028g" changed"#), "{text}");
        assert!(!text.contains('\n'));
    }

    #[test]
    fn case_59_to_61_context_keys_round_trip_or_are_refused() {
        for key in ["agent:Main:Main", "\u{feff}agent:a:b", "agent:a:é"] {
            let key = SessionKey::new(key);
            let context = context_key(&key);
            assert_eq!(context, context.to_lowercase());
            assert_eq!(target_of(&context), Some(key));
        }
        for context in [
            "session-state:",
            "session-state:abc",
            "session-state:zz",
            "session-state:ff",
            "session-state:6A",
            "cron:61",
            "",
        ] {
            assert_eq!(target_of(context), None, "{context}");
        }
    }
}

//! Mending a row before it is read as JSON, and reading its times.

use crate::clock::Millis;
use crate::upstream::shape::Text;

/// What a row holds beside blanks.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Content<T> {
    /// Nothing: a blank line is no row.
    Blank,
    /// No JSON, even after mending.
    Broken,
    /// What was read.
    Read(T),
}

/// Reads one row, given without its line end, with `read`, which gets the bytes of a JSON text and says `None` when they are
/// none.
///
/// An invalid byte becomes U+FFFD, a byte order mark or a run of NULs before the record is passed over, and half a
/// surrogate pair in an escape is read as U+FFFD.
pub(crate) fn read_row<T>(row: &[u8], mut read: impl FnMut(&[u8]) -> Option<T>) -> Content<T> {
    let json = trimmed(row);
    if json.is_empty() {
        let is_blank = row.iter().all(u8::is_ascii_whitespace);
        return if is_blank { Content::Blank } else { Content::Broken };
    }
    if let Some(found) = read(json) {
        return Content::Read(found);
    }
    mended(json).and_then(|mended| read(&mended)).map_or(Content::Broken, Content::Read)
}

/// Without what may stand before and after the record: blanks, a byte order mark, NULs from a crash.
fn trimmed(row: &[u8]) -> &[u8] {
    let mut rest = row;
    loop {
        rest = match rest {
            [0, behind @ ..] | [0xef, 0xbb, 0xbf, behind @ ..] => behind,
            [blank, behind @ ..] if blank.is_ascii_whitespace() => behind,
            _ => return rest.trim_ascii_end(),
        };
    }
}

/// The row with its invalid bytes and halves of surrogate pairs replaced; `None` when it has none.
fn mended(json: &[u8]) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(json);
    let whole = with_whole_surrogates(&text);
    (text.as_bytes() != json || whole != text).then(|| whole.into_bytes())
}

/// `\ud83d` without its second half is legal JSON for JavaScript, which cuts strings in the middle of a character.
fn with_whole_surrogates(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let taken = match (escaped_unit(rest), rest.get(6..).and_then(escaped_unit)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                out.push_str("\\ufffd");
                rest = &rest[6..];
                continue;
            }
            // A backslash and what it escapes stay together, so that `\\ud800` is not taken for an escape.
            _ => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
        };
        out.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    out.push_str(rest);
    out
}

/// The UTF-16 unit of the `\uXXXX` that `text` begins with.
fn escaped_unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

/// A time as the harnesses write it.
pub(crate) fn time(text: &Text<'_>) -> Option<Millis> {
    text.as_str()?.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_surrogate_pairs_are_left_alone() {
        assert_eq!(with_whole_surrogates(r"a\ud83d\ude00b"), r"a\ud83d\ude00b");
        assert_eq!(with_whole_surrogates(r"\\ud83d\n"), r"\\ud83d\n");
        assert_eq!(with_whole_surrogates(r"\ud83dé\"), r"\ufffdé\");
        assert_eq!(with_whole_surrogates(r"\ud83d\u0041"), r"\ufffd\u0041");
    }
}

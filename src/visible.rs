//! Makes text from outside safe to print on a terminal, and measures it in columns.
//!
//! Keys, titles, summaries, file names and error texts come from other programs. Printed as they are, they could move
//! the cursor, change colours, write to the clipboard, reorder what stands beside them, or hide part of themselves.
//! [`clean`] replaces every such character by something that can be seen, always on one line, so that two texts that
//! differ also look different.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// What stands for text that was cut off.
pub const ELLIPSIS: &str = "…";

/// How many combining marks one base may carry before the next ones are spelled out: more is not writing, it is paint
/// that covers the rows above and below.
const MARKS_PER_BASE: usize = 4;

/// `text` with every character that acts on a terminal or hides itself made visible.
///
/// C0 controls and DEL become their control pictures (`␛`, `␊`, `␉`); C1 controls, marks of writing direction,
/// zero-width and other invisible characters become `\u{…}`; a combining mark without a base gets a dotted circle.
pub fn clean(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    let mut marks = 0;
    let mut previous = None;
    for c in text.chars() {
        if let Some(picture) = control_picture(c) {
            out.push(picture);
            (marks, previous) = (0, None);
        } else if is_invisible(c) || (is_presentation(c) && !takes_presentation(previous)) {
            spell(c, &mut out);
            (marks, previous) = (0, None);
        } else if is_mark(c) {
            if previous.is_none() {
                out.push('◌');
                previous = Some('◌');
            }
            marks += 1;
            if marks > MARKS_PER_BASE {
                spell(c, &mut out);
            } else {
                out.push(c);
            }
            if is_presentation(c) {
                previous = Some(c);
            }
        } else {
            out.push(c);
            (marks, previous) = (0, Some(c));
        }
    }
    if out == text { Cow::Borrowed(text) } else { Cow::Owned(out) }
}

/// How many terminal columns `text` takes, measured on grapheme clusters. `text` has to be [`clean`].
pub fn columns(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.graphemes(true).map(grapheme_columns).sum()
}

/// Terminals give halfwidth sound marks a cell of their own, though Unicode calls them extenders of width 0.
fn grapheme_columns(grapheme: &str) -> usize {
    grapheme.width() + grapheme.chars().filter(|&c| is_halfwidth_sound_mark(c)).count()
}

fn is_halfwidth_sound_mark(c: char) -> bool {
    matches!(c, '\u{ff9e}' | '\u{ff9f}')
}

/// `text` cut to at most `limit` columns, on a grapheme boundary, with `…` for what is gone. `text` has to be [`clean`].
pub fn truncate(text: &str, limit: usize) -> Cow<'_, str> {
    if columns(text) <= limit {
        return Cow::Borrowed(text);
    }
    if limit == 0 {
        return Cow::Borrowed("");
    }
    let mut out = head(text, limit - 1).to_owned();
    out.push_str(ELLIPSIS);
    Cow::Owned(out)
}

/// `text` cut in the middle to at most `limit` columns: of a session key the beginning says what it is and the end
/// which one. `text` has to be [`clean`].
pub fn elide(text: &str, limit: usize) -> Cow<'_, str> {
    if columns(text) <= limit {
        return Cow::Borrowed(text);
    }
    if limit < 8 {
        return truncate(text, limit);
    }
    let end = (limit - 1) / 2;
    let begin = limit - 1 - end;
    Cow::Owned(format!("{}{ELLIPSIS}{}", head(text, begin), tail(text, end)))
}

/// The longest beginning of `text` that fits into `limit` columns.
fn head(text: &str, limit: usize) -> &str {
    let mut used = 0;
    for (at, grapheme) in text.grapheme_indices(true) {
        used += grapheme_columns(grapheme);
        if used > limit {
            return &text[..at];
        }
    }
    text
}

/// The longest end of `text` that fits into `limit` columns.
fn tail(text: &str, limit: usize) -> &str {
    let mut used = 0;
    for (at, grapheme) in text.grapheme_indices(true).rev() {
        used += grapheme_columns(grapheme);
        if used > limit {
            return &text[at + grapheme.len()..];
        }
    }
    text
}

/// The picture of a C0 control or DEL.
fn control_picture(c: char) -> Option<char> {
    match c {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + c as u32),
        '\u{7f}' => Some('␡'),
        _ => None,
    }
}

/// Whether `c` shows nothing of its own: C1 controls, direction marks, joiners, separators, fillers, tags.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{80}'..='\u{9f}'
            | '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
            | '\u{fe00}'..='\u{fe0d}'
    )
}

/// Whether `c` chooses between the text and the emoji form of the character before it.
fn is_presentation(c: char) -> bool {
    matches!(c, '\u{fe0e}' | '\u{fe0f}')
}

/// Whether a presentation choice after `previous` is an ordinary emoji sequence, and not a hidden message.
fn takes_presentation(previous: Option<char>) -> bool {
    previous.is_some_and(|c| {
        matches!(c, '#' | '*' | '0'..='9' | '©' | '®' | '\u{203c}'..='\u{3299}' | '\u{1f000}'..='\u{1faff}')
    })
}

/// Whether `c` is drawn on the character before it.
fn is_mark(c: char) -> bool {
    c.width() == Some(0) && !is_halfwidth_sound_mark(c)
}

fn spell(c: char, out: &mut String) {
    // Writing to a `String` can't fail.
    let _ = write!(out, "\\u{{{:x}}}", c as u32);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_is_borrowed() {
        for text in [
            "",
            "agent:main:main",
            "Grüße",
            "日本語",
            "café",
            "👩🏽 ok",
            "❤\u{fe0f}",
            "1\u{fe0f}\u{20e3}",
        ] {
            assert!(matches!(clean(text), Cow::Borrowed(same) if same == text), "{text:?}");
        }
    }

    #[test]
    fn whatever_acts_on_a_terminal_is_shown() {
        for (given, want) in [
            ("a\x1b[31mb", "a␛[31mb"),
            ("\x1b]52;c;ZXZpbA==\x07", "␛]52;c;ZXZpbA==␇"),
            ("line\nforged\r\tend\0", "line␊forged␍␉end␀"),
            ("\x7f", "␡"),
            ("\u{9b}2J\u{85}", "\\u{9b}2J\\u{85}"),
            ("abc\u{202e}fdp", "abc\\u{202e}fdp"),
            ("\u{2066}x\u{2069}\u{200f}\u{61c}", "\\u{2066}x\\u{2069}\\u{200f}\\u{61c}"),
            ("pay\u{200b}pal\u{feff}\u{ad}", "pay\\u{200b}pal\\u{feff}\\u{ad}"),
            ("a\u{2028}b", "a\\u{2028}b"),
            ("x\u{e0041}\u{e0100}", "x\\u{e0041}\\u{e0100}"),
            ("a\u{fe0f}", "a\\u{fe0f}"),
            ("❤\u{fe0f}\u{fe0f}", "❤\u{fe0f}\\u{fe0f}"),
            ("👩\u{200d}👩", "👩\\u{200d}👩"),
            ("\u{301}e", "◌\u{301}e"),
            ("\n\u{301}", "␊◌\u{301}"),
            ("\u{3164}", "\\u{3164}"),
        ] {
            assert_eq!(clean(given), want, "{given:?}");
        }
    }

    #[test]
    fn too_many_marks_are_spelled_out() {
        let zalgo = format!("e{}", "\u{301}".repeat(6));
        assert_eq!(clean(&zalgo), "e\u{301}\u{301}\u{301}\u{301}\\u{301}\\u{301}");
    }

    #[test]
    fn width_is_counted_in_columns() {
        for (text, want) in
            [("abc", 3), ("日本", 4), ("e\u{301}", 1), ("👩🏽", 2), ("…", 1), ("␛", 1)]
        {
            assert_eq!(columns(text), want, "{text}");
        }
    }

    #[test]
    fn cutting_keeps_clusters_whole() {
        for (text, limit, want) in [
            ("abcdef", 6, "abcdef"),
            ("abcdef", 4, "abc…"),
            ("日本語", 5, "日本…"),
            ("日本語", 4, "日…"),
            ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
            ("👩🏽👩🏽", 3, "👩🏽…"),
            ("abc", 1, "…"),
            ("abc", 0, ""),
        ] {
            assert_eq!(truncate(text, limit), want, "{text} {limit}");
            assert!(columns(&truncate(text, limit)) <= limit);
        }
    }

    #[test]
    fn a_key_keeps_both_ends() {
        assert_eq!(elide("agent:main:subagent:child-a", 15), "agent:m…child-a");
        assert_eq!(elide("agent:main:subagent:child-a", 5), "agen…");
        assert_eq!(elide("short", 5), "short");
        assert_eq!(elide("日本語日本語日本語", 9), "日本…本語");
    }

    proptest::proptest! {
        #[test]
        fn nothing_unsafe_is_left_and_limits_hold(text in "\\PC*|[\\x00-\\u{ffff}]*|.*", limit in 0_usize..40) {
            let safe = clean(&text);
            proptest::prop_assert!(!safe.chars().any(|c| c.is_control() || is_invisible(c)));
            proptest::prop_assert_eq!(clean(&safe).into_owned(), safe.clone().into_owned());
            proptest::prop_assert!(columns(&truncate(&safe, limit)) <= limit);
            proptest::prop_assert!(columns(&elide(&safe, limit)) <= limit);
        }
    }
}

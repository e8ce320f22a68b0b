//! Own texts: what `tidings` itself put into a session, kept as hashes, so that its echo is not taken for a human turn.

/// How many own texts of a session are remembered, each with all forms in which it may come back.
pub const OWN_TEXTS: usize = 10;

/// A hash of a normalised own text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TextHash(pub [u8; 32]);

/// The last own texts of one session, as hashes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnTexts(Vec<TextHash>);

impl TextHash {
    /// The hash of `text` after [`normalise`]; `None` when nothing is left of it.
    pub fn of(text: &str) -> Option<Self> {
        let normal = normalise(text);
        (!normal.is_empty()).then(|| Self(*blake3::hash(normal.as_bytes()).as_bytes()))
    }
}

impl OwnTexts {
    /// The given hashes.
    pub fn new(hashes: Vec<TextHash>) -> Self {
        Self(hashes)
    }

    /// Whether a text with this hash is one of them.
    pub fn holds(&self, hash: TextHash) -> bool {
        self.0.contains(&hash)
    }

    /// Whether `text`, normalised, is one of them. Blank text never is.
    pub fn contains(&self, text: &str) -> bool {
        !self.0.is_empty() && TextHash::of(text).is_some_and(|hash| self.holds(hash))
    }
}

/// Trims and makes each run of white space one space. Nothing else is folded: case matters.
pub fn normalise(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split(is_space).filter(|word| !word.is_empty()) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// White space as JavaScript's `\s` has it: with U+FEFF, without U+0085 (`upstream.md` 5).
fn is_space(c: char) -> bool {
    matches!(
        c,
        '\u{9}'..='\u{d}'
            | ' '
            | '\u{a0}'
            | '\u{1680}'
            | '\u{2000}'..='\u{200a}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{202f}'
            | '\u{205f}'
            | '\u{3000}'
            | '\u{feff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_82_and_83_white_space_is_folded_and_case_is_not() {
        let own = OwnTexts::new(TextHash::of("same prompt").into_iter().collect());
        assert!(own.contains(" same \t\n prompt "));
        assert!(own.contains("\u{feff}\u{a0}same prompt\u{a0}"));
        assert!(!own.contains("Same prompt"));
        assert!(!own.contains("\u{85}same prompt"));
        assert!(!own.contains(""));
        assert!(TextHash::of(" \u{feff} ").is_none());
    }
}

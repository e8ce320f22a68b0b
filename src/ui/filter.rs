//! Fuzzy filtering. What is matched is the clean text that is shown, so that every highlighted character is one that the
//! person sees.

use std::cell::RefCell;

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use tui_input::Input;
use unicode_segmentation::UnicodeSegmentation;

/// A filter as it is typed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter {
    /// The field.
    pub(crate) input: Input,
    pattern: Pattern,
}

thread_local! {
    // The matcher is scratch memory of more than 100 KiB and no state.
    static MATCHER: RefCell<Matcher> = RefCell::new(Matcher::new(Config::DEFAULT));
}

impl Filter {
    /// Takes over what stands in the field.
    pub(crate) fn reparse(&mut self) {
        self.pattern.reparse(self.input.value(), CaseMatching::Smart, Normalization::Smart);
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Whether anything is filtered out.
    pub(crate) fn is_active(&self) -> bool {
        !self.pattern.atoms.is_empty()
    }

    /// What was typed.
    pub(crate) fn text(&self) -> &str {
        self.input.value()
    }

    /// Whether `text` passes.
    pub(crate) fn matches(&self, text: &str) -> bool {
        !self.is_active() || self.score(text).is_some()
    }

    /// How well `text` passes: the higher, the better; `None` when it does not.
    pub(crate) fn score(&self, text: &str) -> Option<u32> {
        let characters = characters(text);
        MATCHER
            .with_borrow_mut(|matcher| self.pattern.score(Utf32Str::Unicode(&characters), matcher))
    }

    /// The grapheme clusters of `text` that made it pass, as ascending numbers.
    pub(crate) fn highlights(&self, text: &str) -> Vec<usize> {
        if !self.is_active() {
            return Vec::new();
        }
        let characters = characters(text);
        let mut indices = Vec::new();
        MATCHER.with_borrow_mut(|matcher| {
            self.pattern.indices(Utf32Str::Unicode(&characters), matcher, &mut indices)
        });
        indices.sort_unstable();
        indices.dedup();
        indices.into_iter().map(|index| index as usize).collect()
    }
}

/// One character a grapheme cluster: indices then count clusters.
fn characters(text: &str) -> Vec<char> {
    text.graphemes(true).filter_map(|cluster| cluster.chars().next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(text: &str) -> Filter {
        let mut filter = Filter { input: text.into(), ..Filter::default() };
        filter.reparse();
        filter
    }

    #[test]
    fn letters_match_in_order_with_gaps() {
        assert!(filter("sbca").matches("agent:main:subagent:child-a"));
        assert!(!filter("zz").matches("agent:main:subagent:child-a"));
        assert!(filter("").matches("anything"));
        assert!(filter("child main").matches("agent:main:subagent:child-a"), "words in any order");
    }

    #[test]
    fn highlights_count_clusters() {
        assert_eq!(filter("b").highlights("e\u{301}b"), [1]);
        assert_eq!(filter("本").highlights("日本語"), [1]);
        assert!(filter("").highlights("abc").is_empty());
    }
}

//! The names of the demo, and its small delays: both follow from the seed.

const NAMES: [&str; 12] = [
    "parser",
    "schema",
    "release-notes",
    "flaky-tests",
    "login-page",
    "docs",
    "billing",
    "search-index",
    "upload",
    "cache",
    "mailer",
    "metrics",
];

/// The names that the story's `$words` stand for.
#[derive(Debug, Clone)]
pub(super) struct Cast {
    words: Vec<(String, String)>,
    seed: u64,
    drawn: u64,
}

impl Cast {
    /// The cast of a seed.
    pub(super) fn new(seed: u64) -> Self {
        let mut cast = Self { words: Vec::new(), seed, drawn: 0 };
        let mut names = NAMES.to_vec();
        let mut draw = |cast: &mut Self| names.swap_remove(cast.below(names.len()));
        let [a, b, helper] = [draw(&mut cast), draw(&mut cast), draw(&mut cast)];
        cast.words = vec![
            ("$child-a".into(), format!("agent:main:subagent:{a}")),
            ("$child-b".into(), format!("agent:main:subagent:{b}")),
            ("$helper".into(), helper.into()),
            ("$adopted".into(), cast.thread_id()),
            ("$second".into(), cast.thread_id()),
        ];
        cast
    }

    /// The line with names in place of its words.
    pub(super) fn name(&self, line: &str) -> String {
        self.words.iter().fold(line.to_owned(), |line, (word, name)| line.replace(word, name))
    }

    /// A number below `bound`, which is not 0, from the seed.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.drawn += 1;
        let mut input = [0; 16];
        input[..8].copy_from_slice(&self.seed.to_le_bytes());
        input[8..].copy_from_slice(&self.drawn.to_le_bytes());
        let hash = blake3::hash(&input);
        let number = hash
            .as_bytes()
            .iter()
            .take(4)
            .fold(0_usize, |number, byte| number << 8 | usize::from(*byte));
        number % bound.max(1)
    }

    fn thread_id(&mut self) -> String {
        let mut hex = String::new();
        while hex.len() < 36 {
            match hex.len() {
                8 | 13 | 18 | 23 => hex.push('-'),
                _ => hex.push(char::from(b"0123456789abcdef"[self.below(16)])),
            }
        }
        hex
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_always_names_the_same_cast() {
        let line = "$child-a $child-b $helper $adopted $second";
        let named = Cast::new(7).name(line);
        assert_eq!(named, Cast::new(7).name(line));
        assert_ne!(named, Cast::new(8).name(line));
        assert!(!named.contains('$'));
        let distinct: std::collections::HashSet<_> = named.split(' ').collect();
        assert_eq!(distinct.len(), 5);
    }
}

//! Keys that differ only in spelling: two spellings are two sessions, and a person sees one.

use crate::session_key::{AgentId, SessionKey};

/// How many near misses are named at the most.
const NAMED: usize = 5;
/// How many letters two keys may differ in, so that one may be a slip for the other.
const SLIPS: usize = 2;

/// Whether two keys are the same session to a person: they differ in case, in spaces, or in the agent that a bare key leaves out.
pub(super) fn is_other_spelling(one: &SessionKey, other: &SessionKey) -> bool {
    one != other && canonical(one) == canonical(other)
}

/// The key as a person means it.
fn canonical(key: &SessionKey) -> String {
    let trimmed = SessionKey::new(key.as_str().trim());
    let agent = trimmed.agent().unwrap_or_else(AgentId::main);
    format!("agent:{agent}:{}", trimmed.rest_or_whole().trim().to_lowercase())
}

/// The keys of `known` that are near to `key`: other spellings first, then slips.
pub(super) fn misses<'a>(
    key: &SessionKey,
    known: impl IntoIterator<Item = &'a SessionKey>,
) -> Vec<SessionKey> {
    let meant: Vec<char> = canonical(key).chars().collect();
    let mut found: Vec<(usize, &SessionKey)> = known
        .into_iter()
        .filter(|candidate| *candidate != key)
        .filter_map(|candidate| {
            let other: Vec<char> = canonical(candidate).chars().collect();
            distance(&meant, &other).map(|distance| (distance, candidate))
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().take(NAMED).map(|(_, candidate)| candidate.clone()).collect()
}

/// In how many letters two texts differ (inserted, left out or changed); `None` above [`SLIPS`].
fn distance(one: &[char], other: &[char]) -> Option<usize> {
    if one.len().abs_diff(other.len()) > SLIPS {
        return None;
    }
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, letter) in one.iter().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, against) in other.iter().enumerate() {
            let changed = corner + usize::from(letter != against);
            corner = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(corner + 1);
        }
    }
    row.last().copied().filter(|distance| *distance <= SLIPS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> SessionKey {
        SessionKey::new(text)
    }

    #[test]
    fn other_spellings_differ_in_case_spaces_or_a_left_out_agent() {
        let main = key("agent:main:main");
        for other in ["agent:Main:main", "AGENT:main:Main", " agent:main:main", "main", "MAIN"] {
            assert!(is_other_spelling(&main, &key(other)), "{other}");
        }
        for other in ["agent:main:main", "agent:ops:main", "agent:main:mainx"] {
            assert!(!is_other_spelling(&main, &key(other)), "{other}");
        }
    }

    #[test]
    fn near_misses_are_named_nearest_first() {
        let known = ["agent:main:subagent:chidl", "agent:main:Subagent:child", "agent:main:other"];
        let known: Vec<_> = known.map(SessionKey::new).to_vec();
        let found = misses(&key("agent:main:subagent:child"), &known);
        assert_eq!(found, [known[1].clone(), known[0].clone()]);
        assert!(misses(&key("agent:x:y"), &known).is_empty());
    }
}

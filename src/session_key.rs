//! Session keys and agent ids: the grammar of `engine.md` section 9, variant S.
//!
//! A key is stored, queued and matched verbatim; only agent ids are compared folded.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The key of a session, verbatim. Two spellings are two sessions.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct SessionKey(Arc<str>);

/// An agent id. [`AgentId::normalised`] makes one that is valid; [`AgentId::verbatim`] keeps what a store holds.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct AgentId(Arc<str>);

/// The parts of an agent-qualified key, `agent:<id>:<rest>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QualifiedKey<'a> {
    /// The agent id as it stands in the key, trimmed.
    pub agent: &'a str,
    /// Everything after the agent id, verbatim; never empty.
    pub rest: &'a str,
}

impl SessionKey {
    /// Takes a key as it is.
    pub fn new(key: impl Into<Arc<str>>) -> Self {
        Self(key.into())
    }

    /// The operator's own session, `agent:operator:main`.
    pub fn operator() -> Self {
        Self::new("agent:operator:main")
    }

    /// The key, verbatim.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The parts of an agent-qualified key; `None` for a bare one (`global`, `main`, `agent:main`, `agent:main:`).
    pub fn qualified(&self) -> Option<QualifiedKey<'_>> {
        let head = self.0.get(..6)?;
        if !head.eq_ignore_ascii_case("agent:") {
            return None;
        }
        let (agent, rest) = self.0[6..].split_once(':')?;
        let agent = agent.trim();
        (!agent.is_empty() && !rest.is_empty() && !rest.starts_with(':'))
            .then_some(QualifiedKey { agent, rest })
    }

    /// Whether a session with this key can hold a cursor: only agent-qualified ones can.
    pub fn is_notifiable(&self) -> bool {
        self.qualified().is_some()
    }

    /// The agent that the key names, normalised; `None` for a bare key.
    pub fn agent(&self) -> Option<AgentId> {
        self.qualified().map(|key| AgentId::normalised(key.agent))
    }

    /// Whether the key is a native sub-agent's: such a watcher is never woken.
    pub fn is_subagent(&self) -> bool {
        let rest = self.qualified().map_or_else(|| self.0.trim(), |key| key.rest);
        starts_with_folded(rest, "subagent:")
    }

    /// How many sub-agent steps the key is below a main session.
    pub fn subagent_depth(&self) -> usize {
        self.0.split(':').filter(|segment| segment.eq_ignore_ascii_case("subagent")).count()
    }

    /// Whether the key is a cron session's.
    pub fn is_cron(&self) -> bool {
        self.qualified().is_some_and(|key| starts_with_folded(key.rest, "cron:"))
    }

    /// The key without `agent:<id>:` when `agent` is the one it names, for display beside that agent.
    pub fn rest_or_whole(&self) -> &str {
        self.qualified().map_or(self.as_str(), |key| key.rest)
    }
}

fn starts_with_folded(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix))
}

impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for SessionKey {
    fn from(key: &str) -> Self {
        Self::new(key)
    }
}

impl AgentId {
    /// Takes an id as a store holds it.
    pub fn verbatim(id: impl Into<Arc<str>>) -> Self {
        Self(id.into())
    }

    /// Makes a valid id: a valid one is lower-cased; in any other, runs of other characters become one dash, edge
    /// dashes go, 64 characters stay, and nothing left means `main`.
    pub fn normalised(id: &str) -> Self {
        if Self::is_valid(id) {
            return Self(id.to_ascii_lowercase().into());
        }
        let mut out = String::with_capacity(id.len());
        for c in id.to_lowercase().chars() {
            if c.is_ascii_alphanumeric() || c == '_' {
                out.push(c);
            } else if !out.ends_with('-') {
                out.push('-');
            }
        }
        let cut: String = out.trim_matches('-').chars().take(64).collect();
        let cut = cut.trim_end_matches('-');
        Self(if cut.is_empty() { "main" } else { cut }.into())
    }

    /// Whether `id` is 1 to 64 letters, digits, `_` or `-`, the first a letter or digit.
    pub fn is_valid(id: &str) -> bool {
        id.len() <= 64
            && id.starts_with(|c: char| c.is_ascii_alphanumeric())
            && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
    }

    /// The agent of keys that name none.
    pub fn main() -> Self {
        Self("main".into())
    }

    /// The id, verbatim.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether both mean the same agent: ids are compared folded.
    pub fn same_as(&self, other: &AgentId) -> bool {
        self == other || Self::normalised(&self.0) == Self::normalised(&other.0)
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(key: &str) -> Option<(String, String)> {
        SessionKey::new(key)
            .qualified()
            .map(|k| (AgentId::normalised(k.agent).to_string(), k.rest.to_owned()))
    }

    #[test]
    fn case_115_to_118_keys_parse_as_variant_s() {
        let pair = |a: &str, r: &str| Some((a.to_owned(), r.to_owned()));
        assert_eq!(parts("AGENT:Main:Main"), pair("main", "Main"));
        assert_eq!(SessionKey::new("AGENT:Main:Main").as_str(), "AGENT:Main:Main");
        assert_eq!(parts("agent:a:matrix:channel:!AbC:srv"), pair("a", "matrix:channel:!AbC:srv"));
        assert_eq!(parts("agent::x:y"), None);
        assert_eq!(parts("agent:a:x::y"), pair("a", "x::y"));
        assert_eq!(SessionKey::new("agent:a:subagent:1:subagent:2").subagent_depth(), 2);
        assert!(SessionKey::new("agent:a:subagent:1:subagent:2").is_subagent());
        assert!(!SessionKey::new("agent:main:acp:x").is_subagent());
    }

    #[test]
    fn bare_keys_are_not_notifiable() {
        for key in [
            "global",
            "unknown",
            "",
            "main",
            "agent:",
            "agent:main",
            "agent:main:",
            "agent:main::x",
            "subagent:x",
        ] {
            assert!(!SessionKey::new(key).is_notifiable(), "{key}");
        }
        assert!(SessionKey::new("agent:main:x").is_notifiable());
        assert!(SessionKey::new("subagent:x").is_subagent());
        assert!(SessionKey::new("agent:a:cron:job").is_cron());
    }

    #[test]
    fn agent_ids_are_normalised() {
        for (given, want) in [
            ("Main", "main"),
            (" My Agent! ", "my-agent"),
            ("---", "main"),
            ("", "main"),
            ("é", "main"),
        ] {
            assert_eq!(AgentId::normalised(given).as_str(), want, "{given}");
        }
        assert_eq!(AgentId::normalised(&"a".repeat(80)).as_str().len(), 64);
        assert!(AgentId::verbatim("OPS").same_as(&AgentId::normalised("ops")));
    }
}

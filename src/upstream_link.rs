//! Upstream links: the row that ties an adopted session to its foreign source and holds the marker.

use std::fmt::Write as _;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::clock::Millis;
use crate::session_key::{AgentId, SessionKey};

/// One upstream link as it is stored (`upstream.md` 1.2).
#[derive(Debug, Clone, PartialEq)]
pub struct UpstreamLink {
    /// The adopted session.
    pub session: SessionKey,
    /// Its owner.
    pub agent: AgentId,
    /// Which catalog probes it, for example `claude`.
    pub catalog: String,
    /// Where the source lives, for example `gateway:local`.
    pub host: String,
    /// The foreign session's own id.
    pub thread: String,
    /// What the ref and the marker mean, for example `claude-cli`.
    pub kind: String,
    /// Where the source is, as JSON text; `None` when the store has none.
    pub reference: Option<String>,
    /// How far it has been read, as JSON text.
    pub marker: Option<String>,
    /// When the marker last moved; `None` until it first does.
    pub scanned_at: Option<Millis>,
    /// When the link was made: the time of adoption.
    pub created_at: Millis,
    /// When the row last changed.
    pub updated_at: Millis,
}

impl UpstreamLink {
    /// The ref as JSON; `None` when absent or unparsable.
    pub fn reference_json(&self) -> Option<Value> {
        serde_json::from_str(self.reference.as_deref()?).ok()
    }

    /// The marker as JSON; `None` when absent or unparsable.
    pub fn marker_json(&self) -> Option<Value> {
        serde_json::from_str(self.marker.as_deref()?).ok()
    }

    /// The first 16 hex digits of SHA-256 over host, NUL, thread, NUL and the ref as compact JSON: names the source in
    /// dedupe keys and streaks.
    pub fn source16(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(self.host.as_bytes());
        hash.update([0]);
        hash.update(self.thread.as_bytes());
        hash.update([0]);
        hash.update(self.reference_json().unwrap_or(Value::Null).to_string().as_bytes());
        let mut hex = String::with_capacity(16);
        for byte in hash.finalize().iter().take(8) {
            let _ = write!(hex, "{byte:02x}");
        }
        hex
    }
}

/// What adoption writes: a link without its times.
#[derive(Debug, Clone, PartialEq)]
pub struct NewLink {
    /// The adopted session.
    pub session: SessionKey,
    /// Its owner.
    pub agent: AgentId,
    /// Which catalog probes it.
    pub catalog: String,
    /// Where the source lives.
    pub host: String,
    /// The foreign session's own id.
    pub thread: String,
    /// What the ref and the marker mean.
    pub kind: String,
    /// Where the source is.
    pub reference: Option<Value>,
    /// The baseline: where reading starts.
    pub marker: Option<Value>,
}

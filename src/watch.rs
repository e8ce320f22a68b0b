//! Watchers, cursors and the states of a pair.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use crate::clock::Millis;
use crate::event::Sequence;
use crate::session_key::SessionKey;

/// How a cursor came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub enum Provenance {
    /// A spawn edge, a `watch`, or a watcher named by a producer.
    #[serde(rename = "explicit")]
    Explicit,
    /// The agent's main session watches a group session: queue-only, never woken.
    #[serde(rename = "ambient-group")]
    AmbientGroup,
}

impl Provenance {
    /// The name as it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Explicit => "explicit",
            Self::AmbientGroup => "ambient-group",
        }
    }

    /// The provenance stored as `name`; anything unknown counts as explicit, the column's default.
    pub fn from_name(name: &str) -> Self {
        if name == "ambient-group" { Self::AmbientGroup } else { Self::Explicit }
    }
}

/// The position of one watcher on one target. Always `0 ≤ seen ≤ notified ≤ material`, and `notified = seen` implies
/// `material = notified`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    /// Who watches.
    pub watcher: SessionKey,
    /// Who is watched.
    pub target: SessionKey,
    /// Last seen: the watcher acknowledged everything up to here.
    pub seen: Sequence,
    /// The first event of the open notice, frozen until it is acknowledged; equal to `seen` when none is open.
    pub notified: Sequence,
    /// The newest event that is material to this watcher.
    pub material: Sequence,
    /// How the cursor came to be.
    pub provenance: Provenance,
    /// When it was last touched. 30 days later it expires.
    pub updated_at: Millis,
}

impl Cursor {
    /// Whether a notice is open.
    pub fn is_pending(&self) -> bool {
        self.material > self.seen
    }

    /// The state of the pair, from its watermarks alone.
    pub fn state(&self) -> PairState {
        if self.material <= self.seen {
            PairState::Synced
        } else if self.material > self.notified && self.notified > self.seen {
            PairState::Dirty
        } else {
            PairState::Pending
        }
    }

    /// Whether the watcher is left to its own next turn: ambient cursors and sub-agents are never woken.
    pub fn is_quiet(&self) -> bool {
        self.provenance == Provenance::AmbientGroup || self.watcher.is_subagent()
    }
}

/// The state of a pair as its watermarks tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PairState {
    /// Nothing is owed.
    Synced,
    /// One notice is open and covers everything.
    Pending,
    /// One notice is open, and more came after it was frozen.
    Dirty,
}

/// The state of a pair together with its reason (`ui.md`, "A watch is a consumer").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
pub enum Condition {
    /// Material = last seen.
    #[serde(rename = "in step")]
    InStep,
    /// A notice is open and young.
    #[serde(rename = "pending")]
    Pending,
    /// A notice is open for a watcher that is not woken by design.
    #[serde(rename = "pending, quiet")]
    PendingQuiet,
    /// More happened after the open notice was frozen.
    #[serde(rename = "interleaved")]
    Interleaved,
    /// The watcher took turns since, without acknowledging.
    #[serde(rename = "stalled")]
    Stalled,
    /// A notice is open and the watcher has been silent for long.
    #[serde(rename = "stopped")]
    Stopped,
    /// Last seen lies before the pruned watermark.
    #[serde(rename = "gap")]
    Gap,
    /// Last seen went back.
    #[serde(rename = "rewound")]
    Rewound,
    /// Untouched for over 25 days; ends at 30.
    #[serde(rename = "expiring")]
    Expiring,
    /// The watcher's key can't hold notices, or the target is ambiguous.
    #[serde(rename = "unnotifiable")]
    Unnotifiable,
    /// A read failed or the tick is overdue.
    #[serde(rename = "unknown")]
    Unknown,
}

impl Condition {
    /// Every condition, in the order of `ui.md`.
    pub const ALL: [Self; 11] = [
        Self::InStep,
        Self::Pending,
        Self::PendingQuiet,
        Self::Interleaved,
        Self::Stalled,
        Self::Stopped,
        Self::Gap,
        Self::Rewound,
        Self::Expiring,
        Self::Unnotifiable,
        Self::Unknown,
    ];

    /// The words for it, as on the screen and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InStep => "in step",
            Self::Pending => "pending",
            Self::PendingQuiet => "pending, quiet",
            Self::Interleaved => "interleaved",
            Self::Stalled => "stalled",
            Self::Stopped => "stopped",
            Self::Gap => "gap",
            Self::Rewound => "rewound",
            Self::Expiring => "expiring",
            Self::Unnotifiable => "unnotifiable",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

//! Why a pair is in its condition, in a sentence. The sentence is made when somebody reads it: spans in it go on while a picture
//! stays.

use std::sync::Arc;

use super::condition::span;
use crate::clock::Millis;
use crate::event::Sequence;
use crate::journal::retention::RETENTION;
use crate::watch::Cursor;

/// Why a pair is in its condition (`ui.md`, "A watch is a consumer").
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// Something outside the cursor, in a sentence from whoever knows it.
    Told(Arc<str>),
    /// The watcher's key is not agent-qualified.
    BareWatcher,
    /// The target is adopted under two agents.
    TwoAgents,
    /// Last seen was further than it is.
    WentBack {
        /// How far it was.
        furthest_seen: Sequence,
    },
    /// History that the watcher has not seen is gone.
    Lost {
        /// Up to where.
        up_to: Sequence,
    },
    /// The watcher took turns and did not acknowledge.
    Turns(u64),
    /// The watcher did nothing since then.
    SilentSince(Millis),
    /// One notice is open, and more came after it was frozen.
    Covers,
    /// A notice is open for a watcher that is not woken, since then if that is known.
    Quiet(Option<Millis>),
    /// A notice is open, since then if that is known.
    Open(Option<Millis>),
    /// Nobody touched the watch since its cursor was last written.
    Untouched,
    /// Nothing is owed.
    CaughtUp {
        /// How many versions, harmless events included, lie beyond last seen.
        history_lag: i64,
    },
    /// Where the watch stood then was not kept.
    NotKept,
    /// The database can't be read.
    CantBeRead {
        /// When it last could be.
        since: Millis,
    },
}

impl Reason {
    /// The sentence at `now`, for the pair whose cursor is given.
    pub fn sentence(&self, cursor: &Cursor, now: Millis) -> String {
        match self {
            Self::Told(sentence) => sentence.to_string(),
            Self::BareWatcher => {
                "the watcher's key is not agent-qualified: journal only, by rule".into()
            }
            Self::TwoAgents => {
                "the target is adopted under two agents: journal only, by rule".into()
            }
            Self::WentBack { furthest_seen } => format!(
                "last seen was {furthest_seen} and is {}: a reset, a restore, or a fault",
                cursor.seen
            ),
            Self::Lost { up_to } => format!(
                "history up to {up_to} is gone: changesSince will answer historyGap; refresh all"
            ),
            Self::Turns(turns) => {
                format!("the watcher took {turns} turns since, and the notice is still open")
            }
            Self::SilentSince(since) => {
                format!("no sign of the watcher for {}", span(now.saturating_sub(*since)))
            }
            Self::Covers => covers(cursor),
            Self::Quiet(since) => {
                let open = open(*since, now);
                format!("not woken by design, waits for its next turn; {open}")
            }
            Self::Open(since) => format!("notice {}", open(*since, now)),
            Self::Untouched => {
                let idle = now.saturating_sub(cursor.updated_at);
                let left = RETENTION.saturating_sub(idle).max(0);
                format!("untouched for {}; this watch ends in {}", span(idle), span(left))
            }
            Self::CaughtUp { history_lag: 0 } => "caught up".into(),
            Self::CaughtUp { history_lag } => format!("caught up; history lag {history_lag}"),
            Self::NotKept => "where this watch stood then is not kept".into(),
            Self::CantBeRead { since } => {
                format!(
                    "the database can't be read; last good reading {} ago",
                    span(now.saturating_sub(*since))
                )
            }
        }
    }
}

fn covers(cursor: &Cursor) -> String {
    let (first, last) = (cursor.notified, cursor.material);
    let from = cursor.seen.0.saturating_add(1);
    let covered = if from == first.0 { format!("{first}") } else { format!("{from}–{first}") };
    format!("one notice covers {covered}; what came up to {last} will open exactly one more")
}

fn open(since: Option<Millis>, now: Millis) -> String {
    let open = |since| format!("open for {}", span(now.saturating_sub(since)));
    since.map_or_else(|| "open".to_owned(), open)
}

//! The feed over an attached database: the events that its owner records, as they come.

use crate::clock::Millis;
use crate::engine::EngineError;
use crate::engine::feed::{BATCH, FeedItem, Outlet};
use crate::engine::snapshot::Role;
use crate::event::Sequence;
use crate::journal::Reader;

/// Forwards the events of an attached database.
#[derive(Debug)]
pub(super) struct Feeding {
    out: Outlet,
    /// The newest event that was forwarded; `None` before the first look.
    after: Option<Sequence>,
}

impl Feeding {
    pub(super) fn new(out: Outlet) -> Self {
        Self { out, after: None }
    }

    /// Forwards what came since the last look. The first look forwards nothing: what is there already is no news.
    pub(super) fn forward(&mut self, reader: &Reader, now: Millis) -> Result<(), EngineError> {
        let newest = reader.newest_number()?;
        // Another file in its place begins its numbers anew.
        let Some(mut after) = self.after.filter(|after| *after <= newest) else {
            if self.after.is_none() {
                self.out.tell(FeedItem::Owner(Role::Visitor), now);
            }
            self.after = Some(newest);
            return Ok(());
        };
        while !self.out.is_closed() {
            let events = reader.events_after(after, None, &[], BATCH)?;
            let Some(last) = events.last() else { break };
            after = last.sequence;
            for event in events {
                self.out.tell(FeedItem::Foreign(Box::new(event)), now);
            }
        }
        self.after = Some(after.max(newest));
        Ok(())
    }

    /// Forwards that something failed.
    pub(super) fn failed(&mut self, message: &str, now: Millis) {
        self.out.tell(FeedItem::Error(message.to_owned()), now);
    }
}

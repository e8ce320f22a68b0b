//! The picture after a tick that found nothing new. Most ticks do, and a whole picture of a large state is dear: here only the
//! times move on, and the long lists stay those of the picture before.

use std::collections::HashSet;
use std::sync::Arc;

use super::monitor::LinkOutcome;
use super::observer::Observer;
use super::snapshot::{LinkRow, Snapshot};
use super::{Engine, EngineError};
use crate::session_key::SessionKey;

/// The outcome of a link behind which nothing happened.
const QUIET: &str = "quiet";

impl Engine {
    /// The picture after a tick with these outcomes, when that changed nothing but times in `before`, the picture before it.
    pub(super) fn quiet_snapshot(
        &mut self,
        revision: u64,
        before: &Snapshot,
        outcomes: &[LinkOutcome],
    ) -> Result<Option<Snapshot>, EngineError> {
        let Some(links) = only_times_moved(before, outcomes) else { return Ok(None) };
        self.observer().move_on(revision, before, &links).map(Some)
    }
}

impl Observer<'_> {
    fn move_on(
        &self,
        revision: u64,
        before: &Snapshot,
        links: &HashSet<&SessionKey>,
    ) -> Result<Snapshot, EngineError> {
        let stored = self.reader.pulse()?;
        let at = self.now;
        let pulse = self.pulse(stored, before.pulse.links, None);
        let mut snapshot = Snapshot { revision, at, pulse, ..before.clone() };
        if !links.is_empty() {
            for row in Arc::make_mut(&mut snapshot.sessions) {
                if let Some(link) = row.upstream.as_mut().filter(|_| links.contains(&row.key)) {
                    link.outcome_at = snapshot.pulse.last_tick_at;
                }
            }
        }
        Ok(snapshot)
    }
}

/// The sessions of the links that were looked at, when all of them are as quiet as they were and no condition hung on the tick.
fn only_times_moved<'a>(
    before: &Snapshot,
    outcomes: &'a [LinkOutcome],
) -> Option<HashSet<&'a SessionKey>> {
    if before.pulse.overdue || outcomes.iter().any(|outcome| outcome.outcome != QUIET) {
        return None;
    }
    let links: HashSet<_> = outcomes.iter().map(|outcome| &outcome.session).collect();
    let was_quiet = |link: &LinkRow| link.outcome == QUIET && link.missing_streak == 0;
    let mut rows = before.sessions.iter().filter(|row| links.contains(&row.key));
    rows.all(|row| row.upstream.as_ref().is_none_or(was_quiet)).then_some(links)
}

//! Wakes: requests to start a turn of a watcher soon, one coalesced wake a watcher (`decisions.md` 10).

use std::collections::BTreeMap;

use crate::clock::{Millis, SECOND};
use crate::session_key::SessionKey;

/// A wake goes out this long after its watcher's first request; later ones neither extend nor shorten that.
pub const COALESCE: Millis = 20 * SECOND;
/// A busy watcher is tried again after this.
pub const RETRY: Millis = SECOND;

/// What a reason begins with; the target follows.
const REASON: &str = "session-state:";

/// A request as it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Who is to be woken.
    pub watcher: SessionKey,
    /// Why: `session-state:` and the target.
    pub reason: String,
}

impl Asked {
    /// The request for a watcher because `target` changed.
    pub(super) fn about(watcher: &SessionKey, target: &SessionKey) -> Self {
        let mut reason = String::with_capacity(REASON.len() + target.as_str().len());
        reason.push_str(REASON);
        reason.push_str(target.as_str());
        Self { watcher: watcher.clone(), reason }
    }
}

/// A wake that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// When it goes out.
    pub due_at: Millis,
    /// The reason of the latest request.
    pub reason: String,
}

/// How a wake ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WakeOutcome {
    /// It went out.
    Fired,
    /// The watcher was busy, for this reason: it is tried again.
    Busy(String),
    /// It could not go out, for this reason.
    Skipped(String),
}

/// The wakes that wait.
#[derive(Debug, Default)]
pub struct Wakes {
    waiting: BTreeMap<SessionKey, Waiting>,
    /// None goes out before this; `None` when none waits.
    next: Option<Millis>,
}

impl Wakes {
    /// Takes a request at `now`; true when it is the first for its watcher since the last wake.
    pub fn ask(&mut self, asked: &Asked, now: Millis) -> bool {
        if let Some(waiting) = self.waiting.get_mut(&asked.watcher) {
            waiting.reason.clone_from(&asked.reason);
            return false;
        }
        let waiting = Waiting { due_at: now + COALESCE, reason: asked.reason.clone() };
        self.expect(waiting.due_at);
        self.waiting.insert(asked.watcher.clone(), waiting);
        true
    }

    /// Takes the wakes that are due at `now`.
    pub fn due(&mut self, now: Millis) -> Vec<Asked> {
        // Asked for several times a second, while thousands may wait.
        if self.next.is_none_or(|next| now < next) {
            return Vec::new();
        }
        let due: Vec<_> = self
            .waiting
            .iter()
            .filter(|(_, waiting)| waiting.due_at <= now)
            .map(|(watcher, _)| watcher.clone())
            .collect();
        let taken = due
            .into_iter()
            .filter_map(|watcher| {
                self.waiting
                    .remove(&watcher)
                    .map(|waiting| Asked { watcher, reason: waiting.reason })
            })
            .collect();
        self.next = self.waiting.values().map(|waiting| waiting.due_at).min();
        taken
    }

    fn expect(&mut self, due_at: Millis) {
        self.next = Some(self.next.map_or(due_at, |next| next.min(due_at)));
    }

    /// Puts a wake back whose watcher was busy. A request that came meanwhile is the later reason and keeps it.
    pub fn retry(&mut self, asked: Asked, now: Millis) {
        let due_at = now + RETRY;
        self.expect(due_at);
        self.waiting
            .entry(asked.watcher)
            .and_modify(|waiting| waiting.due_at = waiting.due_at.min(due_at))
            .or_insert(Waiting { due_at, reason: asked.reason });
    }

    /// Takes back the wake of a watcher that owes nothing any more.
    pub fn cancel(&mut self, watcher: &SessionKey) -> bool {
        self.waiting.remove(watcher).is_some()
    }

    /// The watchers whose wake waits, and when it goes out.
    pub fn waiting(&self) -> impl Iterator<Item = (&SessionKey, &Waiting)> {
        self.waiting.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(watcher: &str, target: &str) -> Asked {
        Asked { watcher: SessionKey::new(watcher), reason: format!("session-state:{target}") }
    }

    #[test]
    fn case_73_and_74_each_watcher_gets_one_wake_20_s_after_its_first_request_with_the_last_reason()
    {
        let mut wakes = Wakes::default();
        assert!(wakes.ask(&asked("w", "a"), 0));
        assert!(wakes.ask(&asked("z", "a"), 5_000));
        assert!(!wakes.ask(&asked("w", "b"), 15_000));
        assert!(wakes.due(19_999).is_empty());
        assert_eq!(wakes.due(20_000), vec![asked("w", "b")]);
        assert!(wakes.due(24_999).is_empty());
        assert_eq!(wakes.due(25_000), vec![asked("z", "a")]);
        assert!(wakes.due(i64::MAX).is_empty());
    }

    #[test]
    fn case_72_a_busy_watcher_is_tried_again_after_a_second_for_the_same_reason() {
        let mut wakes = Wakes::default();
        wakes.retry(asked("w", "a"), 100);
        assert!(wakes.due(1_099).is_empty());
        assert_eq!(wakes.due(1_100), vec![asked("w", "a")]);
    }
}

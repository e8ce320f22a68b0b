//! The table `check` of the config: the bounds of `tidings check`, by the names of its options.

use serde::{Deserialize, Deserializer};

use super::duration;
use crate::clock::Millis;
use crate::engine::check::{Bounds, Limits};

/// The table `check`. Times are in milliseconds; from `warn_` on a reading is a warning, from `max_` on it is critical.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Check {
    /// The age of the oldest notice that is owed.
    #[serde(deserialize_with = "duration")]
    pub warn_pending_age: Millis,
    /// The same.
    #[serde(deserialize_with = "duration")]
    pub max_pending_age: Millis,
    /// The actionable lag of a pair whose notice is no longer young; judged only when it is set.
    #[serde(deserialize_with = "some_count")]
    pub warn_lag: Option<i64>,
    /// The same.
    #[serde(deserialize_with = "some_count")]
    pub max_lag: Option<i64>,
    /// Time since the last tick.
    #[serde(deserialize_with = "duration")]
    pub warn_tick_age: Millis,
    /// The same.
    #[serde(deserialize_with = "duration")]
    pub max_tick_age: Millis,
    /// How often in a row a source was missing.
    #[serde(deserialize_with = "count")]
    pub warn_missing: i64,
    /// The same.
    #[serde(deserialize_with = "count")]
    pub max_missing: i64,
    /// How long a source can't be read on.
    #[serde(deserialize_with = "duration")]
    pub warn_blocked_age: Millis,
    /// The same.
    #[serde(deserialize_with = "duration")]
    pub max_blocked_age: Millis,
    /// How long nothing touched a watch.
    #[serde(deserialize_with = "duration")]
    pub warn_untouched: Millis,
    /// The same.
    #[serde(deserialize_with = "duration")]
    pub max_untouched: Millis,
    /// Appends that failed within an hour.
    #[serde(deserialize_with = "count")]
    pub warn_append_failures: i64,
    /// The same.
    #[serde(deserialize_with = "count")]
    pub max_append_failures: i64,
    /// How long the write lock takes.
    #[serde(deserialize_with = "duration")]
    pub warn_lock_wait: Millis,
    /// The same.
    #[serde(deserialize_with = "duration")]
    pub max_lock_wait: Millis,
    /// The fill of the journal, in percent of what it keeps.
    #[serde(deserialize_with = "count")]
    pub warn_journal_fill: i64,
    /// The same.
    #[serde(deserialize_with = "count")]
    pub max_journal_fill: i64,
}

impl Default for Check {
    fn default() -> Self {
        let limits = Limits::default();
        let warn = |bounds: Bounds| bounds.warning.unwrap_or(i64::MAX);
        let max = |bounds: Bounds| bounds.critical.unwrap_or(i64::MAX);
        Self {
            warn_pending_age: warn(limits.pending_age),
            max_pending_age: max(limits.pending_age),
            warn_lag: limits.lag.warning,
            max_lag: limits.lag.critical,
            warn_tick_age: warn(limits.tick_age),
            max_tick_age: max(limits.tick_age),
            warn_missing: warn(limits.missing),
            max_missing: max(limits.missing),
            warn_blocked_age: warn(limits.blocked_age),
            max_blocked_age: max(limits.blocked_age),
            warn_untouched: warn(limits.untouched),
            max_untouched: max(limits.untouched),
            warn_append_failures: warn(limits.append_failures),
            max_append_failures: max(limits.append_failures),
            warn_lock_wait: warn(limits.lock_wait),
            max_lock_wait: max(limits.lock_wait),
            warn_journal_fill: warn(limits.journal_fill),
            max_journal_fill: max(limits.journal_fill),
        }
    }
}

impl Check {
    /// The bounds; a notice is young for `young`.
    pub fn limits(&self, young: Millis) -> Limits {
        let bounds =
            |warning, critical| Bounds { warning: Some(warning), critical: Some(critical) };
        Limits {
            pending_age: bounds(self.warn_pending_age, self.max_pending_age),
            lag: Bounds { warning: self.warn_lag, critical: self.max_lag },
            tick_age: bounds(self.warn_tick_age, self.max_tick_age),
            missing: bounds(self.warn_missing, self.max_missing),
            blocked_age: bounds(self.warn_blocked_age, self.max_blocked_age),
            untouched: bounds(self.warn_untouched, self.max_untouched),
            append_failures: bounds(self.warn_append_failures, self.max_append_failures),
            lock_wait: bounds(self.warn_lock_wait, self.max_lock_wait),
            journal_fill: bounds(self.warn_journal_fill, self.max_journal_fill),
            young,
        }
    }
}

/// Reads a count of at least one: at a bound of nothing, everything would be bad.
fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    match i64::deserialize(deserializer)? {
        number @ 1.. => Ok(number),
        _ => Err(serde::de::Error::custom("it has to be at least 1")),
    }
}

fn some_count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    count(deserializer).map(Some)
}

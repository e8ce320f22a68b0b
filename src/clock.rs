//! Where time comes from.
//!
//! Everything that needs the time asks a [`Clock`], so that a scenario replays to the byte: `script` and the demo set
//! the clock, the live monitor uses the system's.

use std::sync::atomic::{AtomicI64, Ordering};

/// Integer milliseconds since the Unix epoch, or a span of milliseconds.
pub type Millis = i64;

/// One second, in milliseconds.
pub const SECOND: Millis = 1_000;
/// One minute, in milliseconds.
pub const MINUTE: Millis = 60 * SECOND;
/// One hour, in milliseconds.
pub const HOUR: Millis = 60 * MINUTE;
/// One day, in milliseconds.
pub const DAY: Millis = 24 * HOUR;

/// A source of the present time.
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// The present, in milliseconds since the Unix epoch.
    fn now(&self) -> Millis;
}

/// The system's clock.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Millis {
        jiff::Timestamp::now().as_millisecond()
    }
}

/// A clock that stands still until it is set. Used by `script`, the demo and tests.
#[derive(Debug, Default)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock that shows `now`.
    pub fn at(now: Millis) -> Self {
        Self(AtomicI64::new(now))
    }

    /// Moves the clock to `now`, forwards or backwards.
    pub fn set(&self, now: Millis) {
        self.0.store(now, Ordering::SeqCst);
    }

    /// Moves the clock forwards by `span`.
    pub fn advance(&self, span: Millis) {
        self.0.fetch_add(span, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Millis {
        self.0.load(Ordering::SeqCst)
    }
}

//! The live engine as its surfaces see it: snapshots, feed and answers, with real threads, files and other connections.
//!
//! The clock stands still until a test moves it. Tests wait for what they can see, with a deadline.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that can't go on ends there"
)]

mod failures;
mod owners;
mod requests;
mod support;
mod ticks;
mod wakes;

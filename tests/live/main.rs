//! The live engine as its surfaces see it: snapshots, feed and answers, with real threads, files and other connections.
//!
//! The clock stands still until a test moves it. Tests wait for what they can see, with a deadline.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that can't go on ends there; the measured delay is printed for whoever asks for it"
)]

mod failures;
mod owners;
mod requests;
mod support;
mod ticks;
mod wakes;

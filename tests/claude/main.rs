//! Claude Code's sessions under the engine: where they go on, what they tell beside human turns, and what a tick costs.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod facts;
mod following;
mod forks;
mod load;
mod support;

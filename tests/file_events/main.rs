//! File events: what is written is seen within a blink, and nothing is lost or starved for it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod latency;
mod live;
mod support;

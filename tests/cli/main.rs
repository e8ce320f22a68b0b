//! The real binary: JSON, exit codes, errors, pipes, and several processes on one state.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a helper that can't do its part is a test that failed"
)]

mod adopting;
mod catalog;
mod checking;
#[path = "../attached/support.rs"]
#[allow(dead_code, reason = "each test program uses its own part of this")]
mod foreign;
mod oncall;
mod processes;
mod refusals;
mod schemas;
mod scripts;
mod shapes;
mod streams;
mod support;

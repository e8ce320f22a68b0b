//! The real binary: JSON, exit codes, errors, pipes, and several processes on one state.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a helper that can't do its part is a test that failed"
)]

mod adopting;
mod catalog;
mod checking;
mod oncall;
mod processes;
mod refusals;
mod schemas;
mod scripts;
mod shapes;
mod streams;
mod support;

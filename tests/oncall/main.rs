//! What somebody on call relies on: findings, checks and alerts, from what was done.

#![expect(clippy::unwrap_used, reason = "a test that can't go on ends there")]

#[path = "../common/mod.rs"]
mod common;
#[path = "../attached/support.rs"]
#[allow(dead_code, reason = "each test program uses its own part of this")]
mod foreign;

mod alerts;
mod checks;
mod doctor;
mod findings;

//! Explaining pairs: each verdict comes from what was done, never from a row of the ledger that a test wrote.

#![expect(clippy::unwrap_used, reason = "a test that can't go on ends there")]

#[path = "../common/mod.rs"]
mod common;

mod attached;
#[path = "../attached/support.rs"]
#[allow(dead_code, reason = "each test program uses its own part of this")]
mod foreign;
mod ledger;
mod own;
mod support;

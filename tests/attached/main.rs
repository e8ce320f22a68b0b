//! Attaching to state databases of another system: strictly read-only, whatever their version and state.

#![expect(
    clippy::unwrap_used,
    reason = "a test that can't go on says where, and what it could not test"
)]

mod broken;
mod hostile;
mod live;
mod reading;
mod settled;
#[allow(dead_code, reason = "each test program uses its own part of this")]
mod support;
mod verbs;

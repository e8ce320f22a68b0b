//! Transcripts of Claude Code: recorded ones with their right answers, files that change under the reader, the catalog.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on ends there")]

mod catalog;
mod identity;
#[path = "../common/inputs.rs"]
mod inputs;
mod probing;
mod recorded;
mod support;

//! The upstream monitor against the numbered cases of `upstream.md` 10.1, on real databases and real transcripts.
//!
//! Where a case is about the monitor, a provider that answers as it is told stands in; where it is about files, the real one.
//! Not here: 1, 2, 27 and 29 are the live engine's (`tests/live.rs`); 10 can't be written down in the types of a finding; 20, 21
//! and 35 are about runs that the engine itself started, of which it has none (what a turn puts into a session during the scan
//! is 22); 43 to 58, 62, 63, 82 and 83 are the provider's (`tests/transcripts`); 65 to 69 are about paired nodes, which are out;
//! 70 to 81 are Codex's (`tests/codex`).

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that can't go on ends there"
)]

mod adoption;
mod echo;
mod files;
#[path = "../common/inputs.rs"]
mod inputs;
mod links;
mod missing;
mod recorded;
mod settling;
mod support;

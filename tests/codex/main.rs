//! Rollouts of Codex: recorded ones with their right answers, the stories of people and machines, threads that move from file to
//! file, the catalog, and what the engine says of them.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on ends there")]

mod cases;
mod catalog;
mod engine;
mod facts;
mod flat;
mod following;
#[path = "../common/inputs.rs"]
mod inputs;
mod live;
mod probing;
mod recorded;
mod rollout;
mod stories;
mod support;

//! The numbered cases of the engine's rules, played on a real engine over a real file. Each case's number stands in the name
//! of a test or in a row of a table.
//!
//! | cases | where |
//! | --- | --- |
//! | 1 to 15 | [`append`] |
//! | 16 to 38 | [`cursors`] |
//! | 39 to 50, 53 to 58 | [`registration`] |
//! | 59 to 61, 79 | beside `src/engine/notices.rs`; 59 and 79 also in [`notices`] |
//! | 62 to 67, 69 | beside `src/engine/queue.rs`; 62 and 63 also in [`notices`], through the engine |
//! | 68 | can't be written down: an ambient line always has a context key |
//! | 70, 71, 74, 76, 78 | [`notices`] |
//! | 72 to 74 | beside `src/engine/wakes.rs` |
//! | 51, 52, 75, 77 | do not apply: there is no such door |
//! | 80 to 97 | [`retention`] |
//! | 98 to 108, 111 to 114 | [`changes`] |
//! | 109, 110 | where a version is read from words: the tests of the verbs and of the tools |
//! | 115 to 118 | beside `src/session_key.rs`; 115 also in [`actors`], stored |
//! | 119 to 121 | beside `src/event.rs` |
//! | 122 to 125 | [`actors`] |

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "../common/mod.rs"]
mod common;

mod actors;
mod append;
mod changes;
mod cursors;
mod notices;
mod registration;
mod retention;

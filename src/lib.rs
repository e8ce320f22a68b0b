//! `tidings` keeps every agent session abreast of what other people and agents did to the sessions it depends on.
//!
//! Three things together: a durable **journal** of typed state changes with a state version for each session, **watchers** with a
//! cursor on each target and one coalesced notice, and **reconciliation**, which answers "what changed since" exactly or says
//! that it can't. A terminal monitor shows all of it live.
//!
//! # The map of the house
//!
//! ```text
//!   transcripts of other programs          people, scripts
//!              |                                |
//!         [ upstream ]                       [ cli ]
//!              |                                |
//!              v                                v
//!        +----------------- [ engine ] -----------------+
//!        |  commands in; journal writes, notices, wakes |
//!        +----------------------------------------------+
//!               |                               |
//!          [ journal ]                  snapshots and the feed
//!        SQLite, all the SQL                    |
//!                                               v
//!                                            [ ui ]
//! ```
//!
//! | module | holds | knows of |
//! | --- | --- | --- |
//! | [`session_key`], [`event`], [`watch`], [`upstream_link`], [`clock`] | plain types: keys, events, cursors, links, time | nothing |
//! | [`journal`] | the only SQL: tables, transactions, retention | plain types |
//! | [`upstream`] | reading other programs' files, never writing them | plain types |
//! | [`engine`] | what is decided: notices, wakes, the monitor, the snapshot | journal, upstream |
//! | [`script`] | scripted operations and recorded traces | engine |
//! | [`demo`] | a simulated team on a throw-away database | engine, script |
//! | [`cli`] | one file a verb: parse, call the engine, print | engine, script, demo |
//! | [`ui`] | the screen: model, update, view | engine's snapshots and requests |
//! | [`visible`] | making text from outside safe for a terminal | nothing |
//! | [`config`] | the config file | plain types |
//!
//! Only `main.rs` imports [`ui`]; a test keeps all these arrows.
//!
//! # Several processes
//!
//! The state database is the meeting point. Any process may record, read or take a turn in a short transaction; the one that
//! holds the lock beside the database is the *owner* and also runs the monitor, the wakes and the sweep. It notices what the
//! others wrote by `PRAGMA data_version`.

pub mod cli;
pub mod clock;
pub mod config;
pub mod demo;
pub mod engine;
pub mod event;
pub mod journal;
pub mod script;
pub mod session_key;
pub mod ui;
pub mod upstream;
pub mod upstream_link;
pub mod visible;
pub mod watch;

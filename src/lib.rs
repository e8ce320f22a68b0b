//! tidings

pub mod cli;
pub mod clock;
pub mod config;
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

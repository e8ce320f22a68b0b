//! The live monitor's screen.
//!
//! It is model, update, view: [`update::update`] takes a [`message::Message`] into the [`model::Model`] and returns the
//! effects to carry out, [`view::view`] draws the model, and both are pure. [`app::run`] is the loop around them: it owns
//! the terminal and talks to the engine through [`crate::engine::live::Handle`] alone.

pub mod app;
pub mod ascii;
mod filter;
mod graph;
mod index;
pub mod keymap;
mod layout;
pub mod message;
pub mod model;
mod panes;
pub mod picture;
mod rows;
mod save;
mod selection;
mod sheet;
mod sheets;
mod sorting;
mod table;
mod terminal;
pub mod theme;
pub mod update;
pub mod view;
mod words;

pub use app::{Exit, Options, UiError, run};

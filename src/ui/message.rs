//! What reaches the screen, and what it asks for in return.

use std::sync::Arc;
use std::time::Duration;

use crossterm::event::KeyEvent;

use crate::clock::Millis;
use crate::engine::live::{Reply, Request};
use crate::engine::snapshot::Snapshot;

/// Something that happened: to [`update`](super::update::update) it is all there is.
#[derive(Debug, Clone)]
pub enum Message {
    /// The engine published a snapshot.
    Snapshot(Arc<Snapshot>),
    /// The engine will publish no more.
    EngineGone,
    /// The present time, in milliseconds since the epoch.
    Tick(Millis),
    /// A key was pressed.
    Key(KeyEvent),
    /// The mouse was used.
    Mouse(Pointed),
    /// Text was pasted.
    Paste(String),
    /// The terminal has this many columns and rows.
    Resize(u16, u16),
    /// The engine answered the request with this ticket.
    Answer(Ticket, Result<Reply, String>),
    /// A timer that was asked for has run out.
    Timer(Timer),
    /// An effect was carried out: one line for people.
    Done(String),
    /// An effect could not be carried out: one line for people.
    Trouble(String),
}

/// What the mouse did, and where: columns and rows from the left upper corner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pointed {
    /// What it did.
    pub gesture: Gesture,
    /// The column.
    pub column: u16,
    /// The row.
    pub row: u16,
}

/// What the mouse did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gesture {
    /// The left button was pressed.
    Click,
    /// The wheel was turned up.
    ScrollUp,
    /// The wheel was turned down.
    ScrollDown,
}

/// Tells answers apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ticket(pub u64);

/// What a timer is for. The number tells whether it is still wanted when it runs out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timer {
    /// The line at the bottom goes back to the hints.
    Toast(u64),
    /// Changed rows look ordinary again.
    Flash(u64),
}

/// Something to do outside the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Ask the engine, and send [`Message::Answer`] with this ticket.
    Ask(Ticket, Request),
    /// Send [`Message::Timer`] after this time.
    After(Duration, Timer),
    /// Put this text into the clipboard.
    Copy(String),
    /// Write this text to a new file, and send [`Message::Done`] or [`Message::Trouble`].
    Save {
        /// The path as it was typed.
        path: String,
        /// What to write.
        text: String,
    },
    /// Ring the terminal's bell.
    Bell,
    /// Show this line as a message of the desktop.
    Notify(String),
    /// Give the terminal back until the process is continued.
    Suspend,
    /// Draw every cell anew.
    Redraw,
    /// Leave.
    Quit,
}

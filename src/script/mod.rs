//! Scripts: operations, one a line, played against an engine with a clock that the script sets (`script.md`).
//!
//! People use it to check how watches and notices behave in a situation; the recorded traces of the original system are scripts
//! with the right answers, and the demo is a script that is played slowly.

pub mod check;
pub mod observation;
pub mod operation;
pub mod player;

pub use operation::{Operation, ScriptError, Step};
pub use player::Player;

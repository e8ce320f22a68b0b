//! Engine.

pub mod live;
pub mod snapshot;

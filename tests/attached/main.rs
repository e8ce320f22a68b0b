//! Attaching to state databases of another system: strictly read-only, whatever their version and state.

mod broken;
mod live;
mod reading;
mod support;

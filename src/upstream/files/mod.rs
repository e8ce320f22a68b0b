//! What the readers of transcripts share: opening files, reading whole rows, knowing a file again, counting turns.
//!
//! - `place` opens files read-only, without waiting, never through a link;
//! - [`reader`] gives whole rows from an offset on;
//! - [`identity`] tells a file that grew from another one;
//! - [`row`] names what a row is, and `json` mends what power loss and cuts do to it;
//! - `window` counts the turns of one stretch for the engine, [`scan`] shows them row by row.
//!
//! Nothing here knows what a row of a particular harness means.

pub(crate) mod described;
pub(crate) mod frontier;
pub mod identity;
pub(crate) mod json;
pub(crate) mod place;
pub mod reader;
pub mod row;
pub mod scan;
pub(crate) mod window;

//! Classifies a rollout row by row, for `tidings scan`: what counts as a human turn, and why.

use std::path::Path;

use super::reading::Reading;
use super::rebuild::state_at;
use super::source::Rollout;
use super::state::State;
use crate::upstream::UpstreamError;
use crate::upstream::files::place::unsuitable;
use crate::upstream::files::scan::{ScanRow, ScanTotal, Scanned, run};

/// Classifies the rows of `path` from `from_offset` on, and gives each to `each`, in order. A path that ends in `.zst` is read
/// as compressed; offsets and sizes are then those of the plain bytes.
///
/// Lines are counted from the offset. What the rows before it say of the thread and the running turn is found out. An input of
/// the model whose turn has no end in the file counts when nothing else tells of it. Rows longer than `max_row_bytes` block.
///
/// # Errors
///
/// When there is no such file, it is no regular file, or reading fails.
pub fn scan(
    path: &Path,
    from_offset: u64,
    max_row_bytes: u64,
    each: &mut dyn FnMut(ScanRow),
) -> Result<ScanTotal, UpstreamError> {
    let io = |source| UpstreamError::Io { path: path.to_owned(), source };
    let real = path.canonicalize().map_err(io)?;
    let (rollout, stat) =
        Rollout::open(&real).map_err(|closed| unsuitable(path.to_owned(), closed))?;
    let state = match from_offset {
        0 => State::default(),
        _ => state_at(&rollout, from_offset, max_row_bytes).map_err(io)?,
    };
    let scanned = Scanned { source: &rollout, from_offset, max_row_bytes, modified: stat.modified };
    let total = run(&scanned, &mut Reading::new(state), each).map_err(io)?;
    let size = if rollout.is_packed() { total.size } else { rollout.size().unwrap_or(stat.size) };
    Ok(ScanTotal { size, ..total })
}

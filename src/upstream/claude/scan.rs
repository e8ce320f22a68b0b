//! Classifies a transcript row by row, for `tidings scan`: what counts as a human turn, and why.

use std::path::Path;

use super::classify::FileKind;
use super::pairing::Rows;
use super::place::kind_of;
use crate::upstream::UpstreamError;
use crate::upstream::files::place::{open, unsuitable};
use crate::upstream::files::scan::{Scanned, run};

pub use crate::upstream::files::scan::{
    Deferral, ScanReason, ScanRow, ScanState, ScanTotal, ScanVerdict,
};

/// Classifies the rows of `path` from `from_offset` on, and gives each to `each`, in order.
///
/// Lines are counted from the offset, for counting from the file's start would mean reading what was to be skipped. Rows
/// longer than `max_row_bytes` block.
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
    let (file, stat) = open(&real).map_err(|closed| unsuitable(path.to_owned(), closed))?;
    let kind = match kind_of(path) {
        FileKind::Session => kind_of(&real),
        kind => kind,
    };
    let scanned = Scanned { source: &file, from_offset, max_row_bytes, modified: stat.modified };
    let total = run(&scanned, &mut Rows::new(kind), each).map_err(io)?;
    Ok(ScanTotal { size: file.metadata().map_or(stat.size, |meta| meta.len()), ..total })
}

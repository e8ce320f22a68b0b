//! Finds a transcript again that is no longer where it was: the harness moves it with the session's folder (`/cd`), people
//! rename projects.
//!
//! A session's file keeps its name, which is the session's id. It is followed only when it is the very file that was read:
//! the same one of the file system, or one that holds the same bytes up to where it was read.

use std::io;
use std::path::{Path, PathBuf};

use super::marker::Marker;
use crate::upstream::files::place::{look, open};

/// Where a file went.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Nowhere below the folder of transcripts.
    Nowhere,
    /// There.
    Here(PathBuf),
    /// Files of that name lie there, but it is not certain that one of them is the file that was read.
    Uncertain(Vec<PathBuf>),
}

/// Looks for the file that lay at `path` in all projects, following no link.
pub(super) fn find(projects: &Path, path: &Path, marker: &Marker) -> io::Result<Found> {
    let candidates = named(projects, path)?;
    let mut same = Vec::new();
    for candidate in &candidates {
        if is_same(candidate, marker)? {
            same.push(candidate.clone());
        }
    }
    Ok(match (same.len(), candidates.is_empty()) {
        (1, _) => Found::Here(same.remove(0)),
        (_, true) => Found::Nowhere,
        _ => Found::Uncertain(candidates),
    })
}

/// The files with the name of `path` in all projects but its own place.
pub(super) fn named(projects: &Path, path: &Path) -> io::Result<Vec<PathBuf>> {
    let Some(name) = path.file_name() else { return Ok(Vec::new()) };
    let root = match projects.canonicalize() {
        Ok(root) => root,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    // A file that was adopted from anywhere else is not the harness's to move.
    if !path.starts_with(&root) {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for folder in root.read_dir()? {
        let folder = folder?;
        if folder.file_type()?.is_dir() {
            let candidate = folder.path().join(name);
            // A path that is not UTF-8 could not be kept.
            let is_kept = candidate.to_str().is_some();
            if is_kept && candidate != path && look(&candidate).is_ok() {
                found.push(candidate);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn is_same(candidate: &Path, marker: &Marker) -> io::Result<bool> {
    let (Some(identity), Ok((file, stat))) = (&marker.file, open(candidate)) else {
        return Ok(false);
    };
    // Nothing was read of it: no bytes tell it from any other.
    let has_bytes = marker.offset > 0 && identity.prefix_bytes > 0;
    Ok(stat.size >= marker.offset
        && identity.holds(&file, marker.offset)?
        && (has_bytes || identity.is_file(&stat)))
}

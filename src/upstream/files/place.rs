//! How transcripts are opened: read-only, without waiting, never through a link.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::clock::Millis;
use crate::upstream::UpstreamError;

/// What tells whether a file changed, and whether it is still the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) size: u64,
    pub(crate) modified: Millis,
}

impl Stat {
    pub(crate) fn of(meta: &Metadata) -> Self {
        Self {
            device: meta.dev(),
            inode: meta.ino(),
            size: meta.size(),
            modified: meta.mtime() * 1_000 + meta.mtime_nsec() / 1_000_000,
        }
    }
}

/// Why a file can't be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Closed {
    /// Nothing lies there, or something that is no regular file.
    #[error("{0}")]
    Missing(io::Error),
    /// It is not known what lies there.
    #[error("{0}")]
    Unreadable(io::Error),
}

impl From<io::Error> for Closed {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Missing(error),
            _ => Self::Unreadable(error),
        }
    }
}

/// Looks at the file without opening it.
pub(crate) fn look(path: &Path) -> Result<Stat, Closed> {
    regular(&path.symlink_metadata()?)
}

fn regular(meta: &Metadata) -> Result<Stat, Closed> {
    if meta.is_symlink() {
        return Err(Closed::Unreadable(io::Error::other(
            "a link lies there, and links are not followed",
        )));
    }
    if !meta.is_file() {
        return Err(Closed::Missing(io::Error::other("it is not a regular file")));
    }
    Ok(Stat::of(meta))
}

/// Opens a regular file for reading. A pipe or device at the path is neither waited for nor read.
pub(crate) fn open(path: &Path) -> Result<(File, Stat), Closed> {
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    let stat = regular(&file.metadata()?)?;
    Ok((file, stat))
}

/// Opens a file that was adopted under its real path: no folder above it may have become a link since, for that would
/// lead out of the root that it was adopted in.
pub(crate) fn open_real(path: &Path) -> Result<(File, Stat), Closed> {
    if path.canonicalize()? != path {
        return Err(Closed::Unreadable(io::Error::other(
            "a folder of this path is now a link, and links are not followed; adopt the session again",
        )));
    }
    open(path)
}

/// The error for a file that was to be adopted or scanned and can't be read.
pub(crate) fn unsuitable(path: PathBuf, closed: Closed) -> UpstreamError {
    match closed {
        Closed::Missing(source) if source.kind() == io::ErrorKind::Other => {
            UpstreamError::Unsuitable { path, reason: source.to_string() }
        }
        Closed::Missing(source) | Closed::Unreadable(source) => UpstreamError::Io { path, source },
    }
}

//! Where transcripts lie, and how they are opened: read-only, without waiting, never through a link.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

use super::classify::FileKind;
use crate::clock::Millis;

/// What the path says about a file. A path that lies like a sub-agent's file is one (decision 28): below `subagents`, or,
/// in older versions, flat beside the sessions.
pub fn kind_of(path: &Path) -> FileKind {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if name == "history.jsonl" {
        return FileKind::History;
    }
    let is_agent = name.strip_prefix("agent-").is_some_and(|rest| {
        let id = rest.split('.').next().unwrap_or_default();
        let is_below = path
            .parent()
            .is_some_and(|folder| folder.components().any(|part| part.as_os_str() == "subagents"));
        is_below || (!id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
    });
    if is_agent { FileKind::Agent } else { FileKind::Session }
}

/// What tells whether a file changed, and whether it is still the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) device: u64,
    pub(super) inode: u64,
    pub(super) size: u64,
    pub(super) modified: Millis,
}

impl Stat {
    pub(super) fn of(meta: &Metadata) -> Self {
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
pub(super) enum Closed {
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
pub(super) fn look(path: &Path) -> Result<Stat, Closed> {
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
pub(super) fn open(path: &Path) -> Result<(File, Stat), Closed> {
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    let stat = regular(&file.metadata()?)?;
    Ok((file, stat))
}

/// Opens a file that was adopted under its real path: no folder above it may have become a link since, for that would
/// lead out of the root that it was adopted in.
pub(super) fn open_real(path: &Path) -> Result<(File, Stat), Closed> {
    if path.canonicalize()? != path {
        return Err(Closed::Unreadable(io::Error::other(
            "a folder of this path is now a link, and links are not followed; adopt the session again",
        )));
    }
    open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_lies_like_a_sub_agents_file_is_one() {
        for (path, want) in [
            ("/c/projects/p/0177f6dd.jsonl", FileKind::Session),
            ("/c/projects/p/s/subagents/agent-a309a95b.jsonl", FileKind::Agent),
            ("/c/projects/p/s/subagents/agent-acompact-x1.jsonl", FileKind::Agent),
            ("/c/projects/p/s/subagents/deep/agent-zz.jsonl", FileKind::Agent),
            ("/c/projects/p/agent-7ca04053.jsonl", FileKind::Agent),
            ("/c/projects/p/agent-smith.jsonl", FileKind::Session),
            ("/home/subagents/p/s.jsonl", FileKind::Session),
            ("/c/history.jsonl", FileKind::History),
        ] {
            assert_eq!(kind_of(Path::new(path)), want, "{path}");
        }
    }
}

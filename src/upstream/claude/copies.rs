//! Tells copies of records from a session's own: a fork begins as a copy of another session, and is written bit by bit.
//!
//! A copy keeps its id and its time, and in some versions nothing in the file marks it (`observed.md` 2, `--fork-session`). So a
//! record is asked after when it is older than the adoption and was read behind the point where reading began; there are none
//! but copies, and a few that were written late: a prompt taken up mid-turn, or one that was being written at that moment.
//! Those are in no other file. A copy is in the one that it was made from, and belongs to the session that has it first.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::classify::{FileKind, Verdict, classify};
use super::facts;
use super::place::kind_of;
use crate::clock::Millis;
use crate::upstream::RecordId;
use crate::upstream::files::place::{Stat, open};
use crate::upstream::files::reader::{Stretch, read_rows, rows};

/// How many bytes of other sessions are read for one answer. What is not found within them is taken for the session's own: a
/// prompt that counts twice does less harm than one that is lost.
const MOST: u64 = 512 * 1024 * 1024;

/// Another session's file of the same project.
struct Other {
    path: PathBuf,
    stat: Stat,
}

/// Which of the records `asked` are in a session beside the one at `path` that began no later. Sessions that were last written
/// before `oldest`, the time of the oldest record, can't hold one; the others are read newest first. What can't be read holds
/// up nobody: nothing is found there.
pub(super) fn among(
    path: &Path,
    asked: &HashSet<RecordId>,
    oldest: Millis,
    max_row_bytes: u64,
) -> HashSet<RecordId> {
    let mut found = HashSet::new();
    let others = beside(path, oldest).unwrap_or_else(|error| {
        tracing::warn!(%error, path = %path.display(), "no session was searched for copies");
        Vec::new()
    });
    let mut left = MOST;
    for other in others {
        left = left.saturating_sub(other.stat.size);
        if left == 0 || found.len() == asked.len() {
            break;
        }
        // One that went meanwhile, or can't be read, tells nothing.
        if let Err(error) = search(&other, asked, max_row_bytes, &mut found) {
            tracing::debug!(%error, path = %other.path.display(), "a session was not searched for copies");
        }
    }
    found
}

/// The sessions beside `path` that began no later, were written at `oldest` or after it, newest first.
fn beside(path: &Path, oldest: Millis) -> io::Result<Vec<Other>> {
    let Some(folder) = path.parent() else { return Ok(Vec::new()) };
    let born = born(path);
    let mut others = Vec::new();
    for entry in folder.read_dir()? {
        let entry = entry?;
        let other = entry.path();
        let is_session = other != path
            && other.extension() == Some(OsStr::new("jsonl"))
            && kind_of(&other) == FileKind::Session;
        let Some(meta) = entry.metadata().ok().filter(|meta| is_session && meta.is_file()) else {
            continue;
        };
        let stat = Stat::of(&meta);
        let is_younger = born.zip(meta.created().ok()).is_some_and(|(own, other)| other > own);
        if stat.modified >= oldest && !is_younger {
            others.push(Other { path: other, stat });
        }
    }
    others.sort_by(|a, b| b.stat.modified.cmp(&a.stat.modified).then_with(|| a.path.cmp(&b.path)));
    Ok(others)
}

/// When the file was made; not every file system says so.
fn born(path: &Path) -> Option<SystemTime> {
    path.symlink_metadata().ok()?.created().ok()
}

fn search(
    other: &Other,
    asked: &HashSet<RecordId>,
    max_row_bytes: u64,
    found: &mut HashSet<RecordId>,
) -> io::Result<()> {
    let (file, _) = open(&other.path).map_err(io::Error::other)?;
    let mut offset = 0;
    while let Stretch::Rows { bytes, more } = read_rows(&file, offset, offset, max_row_bytes)? {
        found.extend(ids(&bytes).filter(|id| asked.contains(id)));
        if !more || found.len() == asked.len() {
            break;
        }
        offset += bytes.len() as u64;
    }
    Ok(())
}

/// The ids of what a person wrote in these rows, and of what else they tell.
fn ids(bytes: &[u8]) -> impl Iterator<Item = RecordId> {
    let turns = rows(bytes, 0)
        .filter_map(|row| classify(row.content, FileKind::Session))
        .filter(|row| row.verdict == Verdict::Human)
        .filter_map(|row| row.id);
    turns.chain(facts::told(bytes, 0, None).facts.into_iter().map(|fact| fact.id))
}

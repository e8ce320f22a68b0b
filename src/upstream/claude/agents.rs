//! The sub-agents of a session: each has a file `<session>/subagents/agent-<id>.jsonl`, and a note beside it.
//!
//! Only those that began after the adoption count. A run has ended when its last record says so: an answer that is complete, an
//! error of the API, or the notice that somebody stopped it. Of a file that ends with anything else nothing is said. Nothing
//! that the sub-agent was told or answered is kept; of its note only which kind of sub-agent it is.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::de::{IgnoredAny, MapAccess};

use super::facts::is_id;
use super::marker::Agents;
use super::record::Message;
use crate::clock::{MINUTE, Millis, SECOND};
use crate::upstream::files::json::time;
use crate::upstream::files::place::{Stat, open};
use crate::upstream::files::reader::{Stretch, read_rows, rows, slice};
use crate::upstream::shape::{Flag, Present, Seen, Shape, Text, take};
use crate::upstream::{Fact, FactKind, RecordId, RunEnd};

/// The folder of sub-agents in the folder that belongs to a session.
pub(super) const FOLDER: &str = "subagents";

/// Files are made in another order than their first records say; one that is older than the last listing by less than this may
/// be new.
const DISORDER: Millis = 10 * MINUTE;

/// A folder that was changed this shortly before the session's last row may have been changed again within the same moment.
const SETTLED: Millis = 5 * SECOND;

/// How much of a file's end is read, at first and when the last record is longer.
const ENDS: [u64; 3] = [64 * 1024, 1024 * 1024, 16 * 1024 * 1024];

/// The longest note that is read, and the longest kind that is kept.
const NOTE: u64 = 64 * 1024;
const KIND: usize = 200;

/// How many files are remembered before they are forgotten all at once.
const MOST: usize = 100_000;

/// When sub-agents began, by file: the first record does not change.
#[derive(Debug, Default)]
pub(super) struct Births(Mutex<HashMap<PathBuf, Millis>>);

#[derive(Default)]
struct Row<'de> {
    kind: Text<'de>,
    timestamp: Text<'de>,
    message: Message<'de>,
    interrupted_message: Present,
    is_api_error: Flag,
}

impl<'de> Shape<'de> for Row<'de> {
    fn member<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "type" => self.kind = take(map)?,
            "timestamp" => self.timestamp = take(map)?,
            "message" => self.message = take(map)?,
            "interruptedMessageId" => self.interrupted_message = take(map)?,
            "isApiErrorMessage" => self.is_api_error = take(map)?,
            _ => map.next_value::<IgnoredAny>().map(drop)?,
        }
        Ok(())
    }
}

#[derive(Default)]
struct Note<'de> {
    kind: Text<'de>,
}

impl<'de> Shape<'de> for Note<'de> {
    fn member<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "agentType" => self.kind = take(map)?,
            _ => map.next_value::<IgnoredAny>().map(drop)?,
        }
        Ok(())
    }
}

/// Looks at the sub-agents of the session whose transcript is `transcript`, last written at `written`. Returns what happened
/// since `known`, and how far they are known now.
pub(super) fn look(
    transcript: &Path,
    written: Millis,
    adopted: Millis,
    known: &Agents,
    births: &Births,
) -> io::Result<(Vec<Fact>, Agents)> {
    let folder = transcript.with_extension("").join(FOLDER);
    let Ok(meta) = folder.symlink_metadata() else { return Ok((Vec::new(), known.clone())) };
    if !meta.is_dir() {
        return Ok((Vec::new(), known.clone()));
    }
    let changed = Stat::of(&meta).modified;
    let is_listed = known.listed == changed && written - changed > SETTLED;
    let mut ids: BTreeSet<String> = known.open.iter().cloned().collect();
    if !is_listed {
        ids.extend(listed(&folder)?);
    }
    let mut facts = Vec::new();
    let mut now = Agents { listed: changed, open: Vec::new() };
    for id in ids {
        let was_open = known.open.contains(&id);
        let path = folder.join(format!("agent-{id}.jsonl"));
        let Some(began) = births.of(&path) else {
            // Its first record is not whole yet, or it is no file that can be read: it is looked for again.
            now.listed = 0;
            now.open.extend(was_open.then_some(id));
            continue;
        };
        if began < adopted || (!was_open && began < known.listed - DISORDER) {
            continue;
        }
        if !was_open {
            facts.push(Fact {
                id: RecordId::of(&format!("child-spawned:{id}")),
                at: began,
                what: FactKind::ChildSpawned { run: id.clone(), kind: kind(&path) },
            });
        }
        match open(&path).ok().and_then(|(file, stat)| ended(&file, &stat)) {
            Some((how, at)) => facts.push(Fact {
                id: RecordId::of(&format!("run-terminal:{id}")),
                at,
                what: FactKind::RunEnded { run: id, how },
            }),
            None => now.open.push(id),
        }
    }
    facts.sort_by_key(|fact| fact.at);
    Ok((facts, now))
}

fn listed(folder: &Path) -> io::Result<Vec<String>> {
    let mut ids = Vec::new();
    for entry in folder.read_dir()? {
        let entry = entry?;
        let path = PathBuf::from(entry.file_name());
        if path.extension() == Some(OsStr::new("jsonl"))
            && entry.file_type()?.is_file()
            && let Some(id) = path.file_stem().and_then(OsStr::to_str)
            && let Some(id) = id.strip_prefix("agent-")
            // What the harness itself runs to compact is no sub-agent of the session.
            && is_id(id)
            && !id.starts_with("acompact")
        {
            ids.push(id.to_owned());
        }
    }
    Ok(ids)
}

impl Births {
    /// When the sub-agent of this file began; `None` when its first record is not whole, has no time or can't be read.
    fn of(&self, path: &Path) -> Option<Millis> {
        if let Some(began) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(path) {
            return Some(*began);
        }
        let (file, _) = open(path).ok()?;
        let Ok(Stretch::Rows { bytes, .. }) = read_rows(&file, 0, 0, ENDS[2]) else { return None };
        let first = rows(&bytes, 0).next()?;
        let Seen(row) = serde_json::from_slice::<Seen<Row<'_>>>(first.content).ok()?;
        let began = time(&row.timestamp)?;
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(path.to_owned(), began);
        Some(began)
    }
}

/// Which kind of sub-agent it is, by the note beside its file.
fn kind(path: &Path) -> Option<String> {
    let (file, _) = open(&path.with_extension("meta.json")).ok()?;
    let bytes = slice(&file, 0, NOTE).ok()?;
    let Seen(note) = serde_json::from_slice::<Seen<Note<'_>>>(&bytes).ok()?;
    let kind: String = note.kind.as_str()?.chars().take(KIND).collect();
    (!kind.trim().is_empty()).then_some(kind)
}

/// How the run ended and when; `None` while it goes on, or nothing tells.
fn ended(file: &File, stat: &Stat) -> Option<(RunEnd, Millis)> {
    for most in ENDS {
        let start = stat.size.saturating_sub(most);
        let tail = slice(file, start, most).ok()?;
        let first = if start == 0 { 0 } else { tail.iter().position(|byte| *byte == b'\n')? + 1 };
        let whole = tail.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let rows = tail.get(first..whole).unwrap_or_default();
        let last = rows.split(|byte| *byte == b'\n').rev().find_map(|row| {
            let Seen(row) = serde_json::from_slice::<Seen<Row<'_>>>(row).ok()?;
            let at = time(&row.timestamp).unwrap_or(stat.modified);
            match says(&row) {
                Says::Nothing => None,
                says => Some((says, at)),
            }
        });
        match last {
            Some((Says::Ended(how), at)) => return Some((how, at)),
            Some(_) => return None,
            None if start == 0 => return None,
            None => {}
        }
    }
    None
}

/// What one record says of the run.
enum Says {
    Nothing,
    GoesOn,
    Ended(RunEnd),
}

fn says(row: &Row<'_>) -> Says {
    let how = match row.kind.as_str() {
        Some("assistant") if row.is_api_error.0 => Some(RunEnd::Failed),
        Some("assistant") => {
            let is_complete = matches!(
                row.message.stop_reason.as_str(),
                Some("end_turn" | "stop_sequence" | "max_tokens" | "refusal")
            );
            is_complete.then_some(RunEnd::Completed)
        }
        Some("user") => {
            let words = row.message.content.first.as_deref().unwrap_or_default();
            let is_stopped = row.interrupted_message.0
                || (!row.message.content.has_tool_result
                    && words.trim_start().starts_with("[Request interrupted by user"));
            is_stopped.then_some(RunEnd::Cancelled)
        }
        _ => return Says::Nothing,
    };
    how.map_or(Says::GoesOn, Says::Ended)
}

#[cfg(test)]
#[path = "agents_tests.rs"]
mod tests;

//! Answers one probe: reads one window of a transcript and counts its human turns.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::classify::{FileKind, Row, Verdict, classify};
use super::marker::Marker;
use super::pairing::Pairing;
use super::place::{Closed, Stat, kind_of, look, open_real};
use super::reader::{Stretch, read_rows, rows};
use super::{HOST, KIND};
use crate::clock::Millis;
use crate::upstream::{Finding, Probe, RecordId, Turn, Window};

/// Up to where long rows that are not whole yet have been searched for their line end. Only saves work: without it, a row
/// of many megabytes would be read from its start with each piece that is added to it.
#[derive(Debug, Default)]
pub(super) struct Frontiers(Mutex<HashMap<PathBuf, Frontier>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Frontier {
    device: u64,
    inode: u64,
    offset: u64,
    known: u64,
}

impl Frontiers {
    fn known(&self, path: &Path, stat: &Stat, offset: u64) -> u64 {
        let frontiers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        frontiers
            .get(path)
            .filter(|frontier| {
                (frontier.device, frontier.inode, frontier.offset)
                    == (stat.device, stat.inode, offset)
                    && frontier.known <= stat.size
            })
            .map_or(offset, |frontier| frontier.known)
    }

    fn keep(&self, path: &Path, stat: &Stat, offset: u64, known: Option<u64>) {
        let mut frontiers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match known {
            Some(known) => {
                let (device, inode) = (stat.device, stat.inode);
                frontiers.insert(path.to_owned(), Frontier { device, inode, offset, known });
            }
            None => drop(frontiers.remove(path)),
        }
    }
}

/// Where one read begins and by which rules.
struct Start {
    offset: u64,
    reread: bool,
    replaced: Option<&'static str>,
}

/// Answers `probe`; rows longer than `max_row_bytes` block.
pub(super) fn answer(probe: &Probe, max_row_bytes: u64, frontiers: &Frontiers) -> Finding {
    let (path, marker) = match target(probe) {
        Ok(target) => target,
        Err(reason) => return Finding::Invalid(reason),
    };
    match read(probe, &path, &marker, max_row_bytes, frontiers) {
        Ok(finding) => finding,
        Err(Closed::Missing(_)) => Finding::Missing,
        Err(Closed::Unreadable(error)) => {
            Finding::Unreadable(format!("reading {}: {error}", path.display()))
        }
    }
}

fn target(probe: &Probe) -> Result<(PathBuf, Marker), String> {
    let link = &probe.link;
    if link.kind != KIND || link.host != HOST {
        return Err(format!("a {KIND} link lies at {HOST}; adopt the session again"));
    }
    let reference = link.reference_json();
    let path = reference
        .as_ref()
        .and_then(|reference| reference.get("filePath"))
        .and_then(Value::as_str)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .ok_or("the link names no absolute file path; adopt the session again")?;
    let marker = Marker::parse(&link.marker_json().unwrap_or(Value::Null))?;
    Ok((path, marker))
}

fn read(
    probe: &Probe,
    path: &Path,
    marker: &Marker,
    max_row_bytes: u64,
    frontiers: &Frontiers,
) -> Result<Finding, Closed> {
    if marker.is_quiet(&look(path)?) {
        return Ok(Finding::Quiet);
    }
    let (file, stat) = open_real(path)?;
    let replaced = marker.change(&file, &stat)?;
    let from = match replaced {
        Some(_) => Start { offset: 0, reread: true, replaced },
        None => Start { offset: marker.offset, reread: marker.reread, replaced },
    };
    let known = frontiers.known(path, &stat, from.offset);
    let stretch = read_rows(&file, from.offset, known, max_row_bytes)?;
    let unfinished = match stretch {
        Stretch::Partial { bytes } | Stretch::Blocked { bytes } => Some(from.offset + bytes),
        Stretch::Nothing | Stretch::Rows { .. } => None,
    };
    frontiers.keep(path, &stat, from.offset, unfinished);
    Ok(match stretch {
        Stretch::Blocked { bytes } => Finding::Blocked { bytes, offset: from.offset },
        Stretch::Rows { bytes, more } => {
            Finding::Read(window(probe, path, &file, &from, &bytes, more)?)
        }
        Stretch::Nothing | Stretch::Partial { .. } if replaced.is_some() => {
            Finding::Read(window(probe, path, &file, &from, &[], false)?)
        }
        Stretch::Nothing | Stretch::Partial { .. } => Finding::Quiet,
    })
}

/// What `bytes`, whole rows from the start on, hold.
fn window(
    probe: &Probe,
    path: &Path,
    file: &File,
    from: &Start,
    bytes: &[u8],
    more: bool,
) -> io::Result<Window> {
    let next = from.offset + bytes.len() as u64;
    // Looked at after reading: a change that was read must not look like one that was not.
    let stat = Stat::of(&file.metadata()?);
    let mut count = Count {
        turns: Vec::new(),
        echoes: 0,
        malformed: 0,
        modified: stat.modified,
        not_before: from.reread.then_some(probe.link.created_at),
        probe,
    };
    count.rows(bytes, from.offset, kind_of(path));
    let Count { mut turns, echoes, malformed, .. } = count;
    turns.sort_by_key(|turn| turn.at);
    let dedupe_id = dedupe_id(next, from.reread, &stat, &turns);
    Ok(Window {
        turns,
        echoes,
        malformed,
        next_marker: Marker::at(next, from.reread, file, &stat)?.to_json(),
        dedupe_id,
        replaced: from.replaced.map(str::to_owned),
        more: more && stat.size > next,
    })
}

/// The decimal offset. In a file that is read again the same offset may be met twice with other turns, so there it also
/// names the file and the turns.
fn dedupe_id(next: u64, reread: bool, stat: &Stat, turns: &[Turn]) -> String {
    if !reread {
        return next.to_string();
    }
    let mut hash = blake3::Hasher::new();
    hash.update(&stat.device.to_le_bytes());
    hash.update(&stat.inode.to_le_bytes());
    for turn in turns {
        hash.update(&turn.id.map_or([0; 16], |RecordId(id)| id));
        hash.update(&turn.at.to_le_bytes());
    }
    format!("{next}-{}", &hash.finalize().to_hex()[..16])
}

struct Count<'a> {
    turns: Vec<Turn>,
    echoes: u32,
    malformed: u32,
    modified: Millis,
    not_before: Option<Millis>,
    probe: &'a Probe,
}

impl Count<'_> {
    fn rows(&mut self, bytes: &[u8], offset: u64, kind: FileKind) {
        let mut pairing = Pairing::new();
        for raw in rows(bytes, offset) {
            if let Some(row) = classify(raw.content, kind) {
                pairing.push(row, (), &mut |row, ()| self.row(&row));
            }
        }
        pairing.finish(&mut |row, ()| self.row(&row));
    }

    fn row(&mut self, row: &Row) {
        match row.verdict {
            Verdict::Other => return,
            Verdict::Malformed => {
                self.malformed += 1;
                return;
            }
            Verdict::Human => {}
        }
        let at = row.at.unwrap_or(self.modified);
        if self.not_before.is_some_and(|adopted| at < adopted) {
            return;
        }
        if row.words.is_some_and(|words| self.probe.own_texts.holds(words)) {
            self.echoes += 1;
        } else {
            self.turns.push(Turn { id: row.id, at });
        }
    }
}

//! Answers one probe: reads one window of a transcript and counts its human turns.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::marker::Marker;
use super::pairing::Rows;
use super::place::kind_of;
use super::{HOST, KIND};
use crate::upstream::files::frontier::Frontiers;
use crate::upstream::files::place::{Closed, Stat, look, open_real};
use crate::upstream::files::reader::{Stretch, read_rows};
use crate::upstream::files::row::Decide as _;
use crate::upstream::files::window::{Count, dedupe_id};
use crate::upstream::{Finding, Probe, Window};

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
    let mut count = Count::new(probe, stat.modified, from.reread);
    let mut decide = Rows::new(kind_of(path));
    count.rows(bytes, from.offset, &mut decide);
    decide.finish(&mut |row, ()| count.row(&row));
    let (echoes, malformed) = (count.echoes, count.malformed);
    let turns = count.into_turns();
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

//! What a person sees of a thread in the catalog: its first row, and the titles that Codex keeps in a list of its own.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use serde::de::{IgnoredAny, MapAccess};
use serde::{Deserialize, Serialize};

use super::record::Record;
use super::source::Rollout;
use super::state::Thread;
use crate::upstream::files::place::{Closed, open};
use crate::upstream::files::reader::{Source, slice};
use crate::upstream::shape::{Seen, Shape, Text, take};

/// How many bytes are looked through for the first row at the most: it holds the instructions for the model.
const FIRST_ROW: u64 = 4 * 1024 * 1024;

/// How much is read of it at a time.
const STEP: u64 = 64 * 1024;

/// How many characters of a title are kept.
const TITLE: usize = 200;

/// How many bytes of the list of titles are read, and of one of its rows.
const TITLES: u64 = 64 * 1024 * 1024;
const TITLE_ROW: u64 = 64 * 1024;

/// What the first row of a rollout says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Description {
    /// The thread's id.
    pub(super) thread: Option<String>,
    /// The folder that the session works in.
    pub(super) project: Option<String>,
    /// Codex's version.
    pub(super) version: Option<String>,
    /// By which of its programs the session began.
    pub(super) entry_point: Option<String>,
    /// Whether no person types in it.
    pub(super) is_agent: bool,
    /// Whether a first row is there, and it is not that of a rollout.
    pub(super) is_foreign: bool,
}

/// Reads the first row of `rollout`.
pub(super) fn describe(rollout: &Rollout) -> io::Result<Description> {
    let Some(row) = first_row(rollout)? else { return Ok(Description::default()) };
    let row = row.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&row);
    let record = serde_json::from_slice::<Seen<Record<'_>>>(row).map(|Seen(record)| record);
    Ok(match record {
        Ok(record) if record.kind.is("session_meta") => {
            let Thread { id, agent, .. } = Thread::of(&record.payload, None);
            Description {
                thread: id,
                project: record.payload.cwd.as_str().map(str::to_owned),
                version: record.payload.version.as_str().map(str::to_owned),
                entry_point: record.payload.entry_point().map(str::to_owned),
                is_agent: agent,
                is_foreign: false,
            }
        }
        // The flat format of 2025 begins with the bare facts.
        Ok(record) if record.kind.0.is_none() && record.id.0.is_some() => Description {
            thread: record.id.as_str().map(str::to_owned),
            is_foreign: record.timestamp.0.is_none(),
            ..Description::default()
        },
        _ => Description { is_foreign: true, ..Description::default() },
    })
}

/// The first row; `None` when none is whole. One that is longer than the bound is taken as far as that, and is none of ours.
fn first_row(source: &impl Source) -> io::Result<Option<Vec<u8>>> {
    let mut row = Vec::new();
    while (row.len() as u64) < FIRST_ROW {
        let more = slice(source, row.len() as u64, STEP)?;
        if let Some(end) = more.iter().position(|byte| *byte == b'\n') {
            row.extend(&more[..end]);
            return Ok(Some(row));
        }
        if more.is_empty() {
            return Ok(None);
        }
        row.extend(more);
    }
    Ok(Some(row))
}

#[derive(Default)]
struct Named<'de> {
    id: Text<'de>,
    name: Text<'de>,
}

impl<'de> Shape<'de> for Named<'de> {
    fn member<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "id" => self.id = take(map)?,
            "thread_name" => self.name = take(map)?,
            _ => map.next_value::<IgnoredAny>().map(drop)?,
        }
        Ok(())
    }
}

/// The titles below `home`, by thread; the last of several wins. Without the list there are none.
pub(super) fn titles(home: &Path) -> io::Result<HashMap<String, String>> {
    let file = match open(&home.join("session_index.jsonl")) {
        Ok((file, _)) => file,
        Err(Closed::Missing(_)) => return Ok(HashMap::new()),
        Err(Closed::Unreadable(error)) => return Err(error),
    };
    titles_in(file)
}

fn titles_in(file: File) -> io::Result<HashMap<String, String>> {
    let mut list = BufReader::new(file.take(TITLES));
    let mut titles = HashMap::new();
    let mut row = Vec::new();
    loop {
        row.clear();
        if (&mut list).take(TITLE_ROW).read_until(b'\n', &mut row)? == 0 {
            return Ok(titles);
        }
        let Ok(Seen(named)) = serde_json::from_slice::<Seen<Named<'_>>>(&row) else { continue };
        let (Some(id), Some(name)) = (named.id.as_str(), named.name.as_str()) else { continue };
        if name.trim().is_empty() {
            titles.remove(id);
        } else {
            titles.insert(id.to_owned(), name.chars().take(TITLE).collect());
        }
    }
}

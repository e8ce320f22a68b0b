//! Tells of a transcript which session it goes on from, when it says so for certain.
//!
//! `/clear` begins a new file under a new id, and nothing in the old file says so. The new one begins with the command, and
//! its rows of the same program name the old session in `session_id` beside their own in `sessionId` (seen in 2.1.332). Only
//! both together count: a fork has copies of other sessions' rows, and the command alone names nobody.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::de::{IgnoredAny, MapAccess};

use super::classify::FileKind;
use super::facts::is_id;
use super::place::kind_of;
use super::record::Message;
use crate::upstream::files::place::open;
use crate::upstream::files::reader::slice;
use crate::upstream::shape::{Seen, Shape, Text, take};

/// How many bytes at the beginning are looked at.
pub(super) const HEAD: u64 = 256 * 1024;

/// How many files are remembered before they are forgotten all at once.
const MOST: usize = 10_000;

/// What is known for good of files: a transcript's beginning does not change.
#[derive(Debug, Default)]
pub(super) struct Origins(Mutex<HashMap<PathBuf, Option<String>>>);

#[derive(Default)]
struct Row<'de> {
    kind: Text<'de>,
    message: Message<'de>,
    source: Text<'de>,
    own: Text<'de>,
    program: Text<'de>,
}

impl<'de> Shape<'de> for Row<'de> {
    fn member<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "type" => self.kind = take(map)?,
            "message" => self.message = take(map)?,
            "rowSource" => self.source = take(map)?,
            "sessionId" => self.own = take(map)?,
            "session_id" => self.program = take(map)?,
            _ => map.next_value::<IgnoredAny>().map(drop)?,
        }
        Ok(())
    }
}

impl Origins {
    /// The session from which the one in `path` goes on. A file that does not say yet is looked at again.
    pub(super) fn of(&self, path: &Path) -> Option<String> {
        let is_session = path.file_stem().and_then(OsStr::to_str).is_some_and(is_id)
            && path.extension() == Some(OsStr::new("jsonl"))
            && kind_of(path) == FileKind::Session;
        if !is_session {
            return None;
        }
        if let Some(known) = self.known().get(path) {
            return known.clone();
        }
        let (file, stat) = open(path).ok()?;
        let bytes = slice(&file, 0, HEAD).ok()?;
        let own = path.file_stem()?.to_str()?;
        let found = Origin::read(&bytes, own);
        if found != Origin::NotSaid || stat.size >= HEAD {
            let mut known = self.known();
            if known.len() >= MOST {
                known.clear();
            }
            known.insert(path.to_owned(), found.thread());
        }
        found.thread()
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, Option<String>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the beginning of a transcript says of where the session comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Origin {
    /// Nothing so far.
    NotSaid,
    /// From no other session that is certain.
    None,
    /// From this one.
    Session(String),
}

impl Origin {
    /// Reads the beginning of the transcript of the session `own`.
    fn read(bytes: &[u8], own: &str) -> Self {
        let mut was_cleared = false;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
        for row in bytes[..whole].split(|byte| *byte == b'\n') {
            let Ok(Seen(row)) = serde_json::from_slice::<Seen<Row<'_>>>(row) else { continue };
            if row.own.as_str().is_some_and(|id| id != own) {
                return Self::None;
            }
            let words = row.message.content.first.as_deref().unwrap_or_default();
            was_cleared |= row.kind.is("user")
                && row.source.is("local")
                && words.starts_with("<command-name>/clear</command-name>");
            if let Some(program) = row.program.as_str() {
                let is_other = was_cleared && program != own && row.own.is(own) && is_id(program);
                return if is_other { Self::Session(program.to_owned()) } else { Self::None };
            }
        }
        Self::NotSaid
    }

    fn thread(&self) -> Option<String> {
        match self {
            Self::Session(thread) => Some(thread.clone()),
            Self::None | Self::NotSaid => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLEAR: &str = "{\"type\":\"user\",\"rowSource\":\"local\",\"sessionId\":\"new\",\"message\":{\"role\":\"user\",\"content\":\"<command-name>/clear</command-name>\\n\"}}\n";
    const OLD: &str = "{\"type\":\"attachment\",\"sessionId\":\"new\",\"session_id\":\"old\"}\n";

    #[test]
    fn only_the_command_and_the_old_id_together_count() {
        let told = |text: &[&str]| Origin::read(text.concat().as_bytes(), "new");
        assert_eq!(told(&[CLEAR, OLD]), Origin::Session("old".into()));
        assert_eq!(told(&[CLEAR]), Origin::NotSaid);
        assert_eq!(told(&[OLD]), Origin::None);
        assert_eq!(told(&[CLEAR, &OLD.replace("\"old\"", "\"new\"")]), Origin::None);
        assert_eq!(told(&[&CLEAR.replace("\"local\"", "\"other\""), OLD]), Origin::None);
        assert_eq!(told(&[&CLEAR.replace("/clear", "/compact"), OLD]), Origin::None);
        assert_eq!(told(&[&CLEAR.replace("\"new\"", "\"another\""), OLD]), Origin::None);
        assert_eq!(told(&[CLEAR, OLD.trim_end()]), Origin::NotSaid);
    }

    #[test]
    fn a_file_that_does_not_say_yet_is_looked_at_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new.jsonl");
        let origins = Origins::default();
        assert_eq!(origins.of(&path), None);
        std::fs::write(&path, CLEAR).unwrap();
        assert_eq!(origins.of(&path), None);
        std::fs::write(&path, [CLEAR, OLD].concat()).unwrap();
        assert_eq!(origins.of(&path).as_deref(), Some("old"));
        std::fs::remove_file(&path).unwrap();
        assert_eq!(origins.of(&path).as_deref(), Some("old"), "known for good");
    }
}

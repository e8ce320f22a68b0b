//! The marker of a Codex link: how far a thread has been read, in which of its files, and what its rows said by then.
//!
//! A thread changes its place: it is archived, compressed, unpacked again, and after a rewind goes on in another file. So the
//! ref of a link names the thread, and the marker names the file.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::source::Opened;
use super::state::State;
use crate::upstream::files::identity::{FileIdentity, PREFIX, hash, offset_of};
use crate::upstream::files::place::Stat;
use crate::upstream::files::reader::slice;

/// How far a thread has been read.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Marker {
    /// The offset behind the last row read, in plain bytes.
    pub(super) offset: u64,
    /// The file that is read.
    pub(super) path: PathBuf,
    /// Which file that was; `None` when it was not read yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file: Option<FileIdentity>,
    /// BLAKE3 of the bytes before the offset, at most 4,096: by them, content is known again in another file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tail: Option<String>,
    /// The size of a compressed file as it lies there, in bytes, once it was read to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) packed_size: Option<u64>,
    /// Whether the content was found to be another than before and is read again from the start.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) reread: bool,
    /// Where the content ended when it was found to be another: rows before it that tell neither who they are nor when they
    /// were written may be old.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) undated_to: Option<u64>,
    /// What the rows so far said; `None` when it has to be found out.
    #[serde(flatten)]
    pub(super) state: Option<State>,
}

impl Marker {
    /// The start of the file at `path`.
    pub(super) fn start(path: PathBuf) -> Self {
        Self {
            offset: 0,
            path,
            file: None,
            tail: None,
            packed_size: None,
            reread: false,
            undated_to: None,
            state: Some(State::default()),
        }
    }

    /// Reads a stored marker. The error says what is wrong with it.
    pub(super) fn parse(stored: &Value) -> Result<Self, String> {
        let offset = offset_of(stored)?;
        let given = |name: &str| stored.get(name).filter(|value| !value.is_null());
        let path = given("path")
            .and_then(Value::as_str)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
            .ok_or("the marker names no absolute file path; adopt the session again")?;
        let has_state = stored.get("thread").is_some() && stored.get("turn").is_some();
        Ok(Self {
            offset,
            path,
            file: given("file").and_then(|file| FileIdentity::deserialize(file).ok()),
            tail: given("tail").and_then(Value::as_str).map(str::to_owned),
            packed_size: given("packedSize").and_then(Value::as_u64),
            reread: stored.get("reread") == Some(&Value::Bool(true)),
            undated_to: given("undatedTo").and_then(Value::as_u64),
            state: if has_state { State::deserialize(stored).ok() } else { None },
        })
    }

    /// A marker at `offset` of `opened`, the end of what whole rows it has. `read` are the bytes that end there, as far as they
    /// are at hand.
    pub(super) fn at(
        offset: u64,
        opened: &Opened<'_>,
        read: &[u8],
        state: State,
    ) -> std::io::Result<Self> {
        let Opened { path, rollout, stat } = *opened;
        let length = offset.min(PREFIX);
        let at_hand =
            usize::try_from(length).ok().and_then(|length| read.len().checked_sub(length));
        let tail = match at_hand {
            Some(start) => hash(&read[start..]),
            None => hash(&slice(rollout, offset - length, length)?),
        };
        Ok(Self {
            offset,
            path: path.to_owned(),
            file: Some(FileIdentity::of(rollout, offset, stat)?),
            tail: Some(tail),
            packed_size: rollout.is_packed().then_some(stat.size),
            reread: false,
            undated_to: None,
            state: Some(state),
        })
    }

    /// The marker as it is stored.
    pub(super) fn to_json(&self) -> Value {
        serde_json::json!(self)
    }

    /// Whether a look at the file is enough to say that nothing is new.
    pub(super) fn is_quiet(&self, stat: &Stat) -> bool {
        let is_packed = self.path.extension().is_some_and(|extension| extension == "zst");
        let end = if is_packed { self.packed_size } else { Some(self.offset) };
        end == Some(stat.size) && self.file.as_ref().is_some_and(|file| file.is_unchanged(stat))
    }

    /// Whether `rollout`, at `path`, is another file than the one that was read, or a compressed one that looks otherwise or
    /// whose end was not seen: then the marker has to say so, or it would be opened and compared each time.
    pub(super) fn is_elsewhere(&self, opened: &Opened<'_>) -> bool {
        let Opened { path, rollout, stat } = *opened;
        let Some(file) = &self.file else { return self.offset > 0 };
        let is_settled = self.packed_size == Some(stat.size) && file.is_unchanged(stat);
        path != self.path || !file.is_file(stat) || (rollout.is_packed() && !is_settled)
    }

    /// In one word, how the content of the open file differs from what was read before; `None` when it is the same, grown or
    /// not, in the same file or in another.
    pub(super) fn change(&self, opened: &Opened<'_>) -> std::io::Result<Option<&'static str>> {
        let Opened { rollout, stat, .. } = *opened;
        let Some(file) = &self.file else {
            return Ok((!rollout.reaches(self.offset)?).then_some("truncated"));
        };
        let other = if file.is_file(stat) { "rewritten" } else { "replaced" };
        if !file.begins(rollout)? {
            return Ok(Some(other));
        }
        // Read before the rest: what is compressed comes in order only.
        let length = self.offset.min(PREFIX);
        let before = slice(rollout, self.offset - length, length)?;
        if (before.len() as u64) < length {
            return Ok(Some(if file.is_file(stat) { "truncated" } else { "replaced" }));
        }
        Ok(self.tail.as_ref().is_some_and(|tail| hash(&before) != *tail).then_some(other))
    }
}

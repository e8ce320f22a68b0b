//! The marker of a link: how far a transcript has been read, and which file it was.
//!
//! The original writes `{"offset":n}`, its first version `{"size":n}`; both are read as they are. The `file` part is ours:
//! it tells a file that grew from one that was truncated, written anew or replaced (`upstream.md` 0.3).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::clock::Millis;
use crate::upstream::files::identity::offset_of;
use crate::upstream::files::place::Stat;
use crate::upstream::files::reader::Source;

pub use crate::upstream::files::identity::FileIdentity;

/// How far a transcript has been read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Marker {
    /// The offset behind the last row read, in bytes.
    pub offset: u64,
    /// Which file that was; `None` in a marker of the original.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<FileIdentity>,
    /// Whether the file was found to be another than before and is read again from the start, so that rows from before
    /// the adoption don't count. Stays: what lies in such a file was never marked as read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reread: bool,
    /// Whether the file is gone and was read to its end all the same.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ended: bool,
    /// Up to which byte an earlier state of the file was read, when it is not known that it ended there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missed_behind: Option<u64>,
    /// How far the sub-agents of the session are known.
    #[serde(skip_serializing_if = "Agents::is_empty")]
    pub agents: Agents,
    /// The session that the transcript says it is continued in, while the file of that one is not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continued_in: Option<String>,
    /// The session that says of itself that it began when this one was cleared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cleared_to: Option<String>,
}

/// How far the sub-agents of a session are known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Agents {
    /// When their folder was last changed, in milliseconds since the epoch, as of the last time that it was listed; 0 when it
    /// never was.
    pub listed: Millis,
    /// Ids of those that run.
    pub open: Vec<String>,
}

impl Agents {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Marker {
    /// Reads a stored marker.
    ///
    /// The error says what is wrong with it: no offset, or one that is not an integer from 0 to 2^53 − 1.
    pub fn parse(stored: &Value) -> Result<Self, String> {
        let text = |name| stored.get(name).and_then(Value::as_str).map(str::to_owned);
        Ok(Self {
            offset: offset_of(stored)?,
            file: stored.get("file").and_then(|file| FileIdentity::deserialize(file).ok()),
            reread: stored.get("reread") == Some(&Value::Bool(true)),
            ended: stored.get("ended") == Some(&Value::Bool(true)),
            missed_behind: stored.get("missedBehind").and_then(Value::as_u64),
            agents: stored
                .get("agents")
                .and_then(|agents| Agents::deserialize(agents).ok())
                .unwrap_or_default(),
            continued_in: text("continuedIn"),
            cleared_to: text("clearedTo"),
        })
    }

    /// A marker at `offset` of `source`, as it is now.
    pub(super) fn at(
        offset: u64,
        reread: bool,
        source: &impl Source,
        stat: &Stat,
    ) -> std::io::Result<Self> {
        let file = Some(FileIdentity::of(source, offset, stat)?);
        Ok(Self { file, ..Self::unread(offset, reread) })
    }

    /// A marker at `offset` of a file that was not looked at.
    pub(super) fn unread(offset: u64, reread: bool) -> Self {
        Self {
            offset,
            file: None,
            reread,
            ended: false,
            missed_behind: None,
            agents: Agents::default(),
            continued_in: None,
            cleared_to: None,
        }
    }

    /// The marker as it is stored.
    pub fn to_json(&self) -> Value {
        serde_json::json!(self)
    }

    /// Whether a look at the file is enough to say that nothing is new.
    pub(super) fn is_quiet(&self, stat: &Stat) -> bool {
        stat.size == self.offset && self.file.as_ref().is_none_or(|file| file.is_unchanged(stat))
    }

    /// In one word, how the open file differs from the one that was read before; `None` when it is the same, grown or not.
    pub(super) fn change(
        &self,
        source: &impl Source,
        stat: &Stat,
    ) -> std::io::Result<Option<&'static str>> {
        if self.file.as_ref().is_some_and(|file| !file.is_file(stat)) {
            return Ok(Some("replaced"));
        }
        if stat.size < self.offset {
            return Ok(Some("truncated"));
        }
        let Some(file) = &self.file else { return Ok(None) };
        Ok((!file.holds(source, self.offset)?).then_some("rewritten"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn case_58_markers_of_the_original_are_read_and_wrong_ones_refused() {
        for (stored, want) in [
            (json!({"offset": 5}), Some(5)),
            (json!({"size": 7}), Some(7)),
            (json!({"offset": 5, "size": 7}), Some(5)),
            (json!({"offset": null, "size": 7}), Some(7)),
            (json!({"offset": (1_u64 << 53) - 1}), Some((1 << 53) - 1)),
            (json!({"offset": 1_u64 << 53}), None),
            (json!({"offset": -1}), None),
            (json!({"offset": -1, "size": 7}), None),
            (json!({"offset": "5"}), None),
            (json!({"offset": 1.5}), None),
            (json!({}), None),
            (json!(null), None),
            (json!([5]), None),
        ] {
            let read = Marker::parse(&stored);
            assert_eq!(read.as_ref().ok().map(|marker| marker.offset), want, "{stored}");
            assert!(read.is_err() || read.is_ok_and(|marker| marker.file.is_none()), "{stored}");
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let stat = Stat { device: u64::MAX, inode: 9, size: 12, modified: 1_784_160_000_123 };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, b"{}\n{}\nhalf a").unwrap();
        let file = std::fs::File::open(&path).unwrap();
        for reread in [false, true] {
            let marker = Marker::at(6, reread, &file, &stat).unwrap();
            let json = marker.to_json();
            assert_eq!(json["file"]["prefixBytes"], 6);
            assert_eq!(json.get("reread").is_some(), reread);
            assert_eq!(Marker::parse(&json), Ok(marker.clone()));
            assert_eq!(marker.change(&file, &stat).unwrap(), None);
        }
    }
}

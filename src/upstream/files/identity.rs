//! By what a file is known again: a file that grew is told from one that was truncated, written anew or replaced
//! (`upstream.md` 0.3).

use std::io;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::place::Stat;
use super::reader::{Source, head, slice};
use crate::clock::Millis;

/// How many of the bytes that were read are hashed, at their beginning and at their end.
pub(crate) const PREFIX: u64 = 4_096;

/// The greatest integer that every program which reads the store holds exactly.
const GREATEST: u64 = (1 << 53) - 1;

/// By what a file is known again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileIdentity {
    /// The device that it lies on.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
    /// How many bytes at its start `prefix_hash` covers. Only whole rows that were read: a half row may still change.
    pub prefix_bytes: u64,
    /// BLAKE3 of these bytes, in hexadecimal.
    pub prefix_hash: String,
    /// BLAKE3 of as many bytes before the offset; `None` when the first hash covers them, and in older markers. Tells a file
    /// that was cut and grew again behind its beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail_hash: Option<String>,
    /// When it was last changed, in milliseconds since the epoch, as of the last read.
    pub modified: Millis,
}

impl FileIdentity {
    /// The identity of `source`, read up to `offset`, as it is now.
    pub(crate) fn of(source: &impl Source, offset: u64, stat: &Stat) -> io::Result<Self> {
        let prefix = head(source, offset.min(PREFIX))?;
        Ok(Self {
            device: stat.device,
            inode: stat.inode,
            prefix_bytes: prefix.len() as u64,
            prefix_hash: hash(&prefix),
            tail_hash: tail_hash(source, offset)?,
            modified: stat.modified,
        })
    }

    /// Whether it is the same file, unchanged since.
    pub(crate) fn is_unchanged(&self, stat: &Stat) -> bool {
        self.is_file(stat) && self.modified == stat.modified
    }

    /// Whether it is the same file of the file system.
    pub(crate) fn is_file(&self, stat: &Stat) -> bool {
        (self.device, self.inode) == (stat.device, stat.inode)
    }

    /// Whether `source` begins with the same bytes.
    pub(crate) fn begins(&self, source: &impl Source) -> io::Result<bool> {
        Ok(hash(&head(source, self.prefix_bytes.min(PREFIX))?) == self.prefix_hash)
    }

    /// Whether what `source` holds before `offset`, up to where it was read, is what was read; as far as the hashes tell.
    pub(crate) fn holds(&self, source: &impl Source, offset: u64) -> io::Result<bool> {
        Ok(self.begins(source)?
            && (self.tail_hash.is_none() || tail_hash(source, offset)? == self.tail_hash))
    }
}

/// The hash of the last bytes before `offset`; `None` when the hash of the first bytes covers them.
fn tail_hash(source: &impl Source, offset: u64) -> io::Result<Option<String>> {
    if offset <= PREFIX {
        return Ok(None);
    }
    Ok(Some(hash(&slice(source, offset - PREFIX, PREFIX)?)))
}

/// BLAKE3 of `bytes`, in hexadecimal.
pub(crate) fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// The offset of a stored marker. The original's first version writes `size`.
///
/// The error says what is wrong with it: no offset, or one that is not an integer from 0 to 2^53 − 1.
pub(crate) fn offset_of(stored: &Value) -> Result<u64, String> {
    let given = |name| stored.get(name).filter(|value: &&Value| !value.is_null());
    Ok(given("offset")
        .or_else(|| given("size"))
        .ok_or("the marker holds no offset; adopt the session again")?
        .as_u64()
        .filter(|offset| *offset <= GREATEST)
        .ok_or("the marker's offset is not a byte position; adopt the session again")?)
}

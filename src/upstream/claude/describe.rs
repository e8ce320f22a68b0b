//! What a person sees of a transcript in the catalog, from its first and last bytes alone.

use std::borrow::Cow;
use std::fs::File;
use std::io;

use serde::de::{IgnoredAny, MapAccess};
use serde::{Deserialize, Serialize};

use crate::upstream::files::reader::slice;
use crate::upstream::shape::{Present, Seen, Shape, Text, take};

/// How many bytes are read at either end of a file.
const END: u64 = 64 * 1024;

/// How many characters of a title are kept.
const TITLE: usize = 200;

/// What the ends of a transcript say about it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Description {
    /// The title that a person or the harness gave. Never words of a prompt.
    pub(super) title: Option<String>,
    /// The folder where the session began.
    pub(super) project: Option<String>,
    /// The harness's version, as of the last row that names it.
    pub(super) version: Option<String>,
    /// By which of its programs the session runs, as of the last row that names it.
    pub(super) entry_point: Option<String>,
    /// Whether whole rows were seen, and none of them is of a Claude Code transcript.
    pub(super) is_foreign: bool,
}

#[derive(Default)]
struct Note<'de> {
    kind: Text<'de>,
    payload: Present,
    custom_title: Text<'de>,
    ai_title: Text<'de>,
    agent_name: Text<'de>,
    summary: Text<'de>,
    cwd: Text<'de>,
    version: Text<'de>,
    entry_point: Text<'de>,
}

impl<'de> Shape<'de> for Note<'de> {
    fn member<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "type" => self.kind = take(map)?,
            "payload" => self.payload = take(map)?,
            "customTitle" => self.custom_title = take(map)?,
            "aiTitle" => self.ai_title = take(map)?,
            "agentName" => self.agent_name = take(map)?,
            "summary" => self.summary = take(map)?,
            "cwd" => self.cwd = take(map)?,
            "version" => self.version = take(map)?,
            "entrypoint" => self.entry_point = take(map)?,
            _ => map.next_value::<IgnoredAny>().map(drop)?,
        }
        Ok(())
    }
}

/// Titles, the weakest first; a `summary` may be about another session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Summary,
    Harness,
    Person,
}

impl Note<'_> {
    fn title(&self) -> Option<(Rank, &str)> {
        let (rank, title) = match self.kind.as_str()? {
            "custom-title" => (Rank::Person, &self.custom_title),
            "ai-title" => (Rank::Harness, &self.ai_title),
            "agent-name" => (Rank::Harness, &self.agent_name),
            "summary" => (Rank::Summary, &self.summary),
            _ => return None,
        };
        title.as_str().filter(|title| !title.trim().is_empty()).map(|title| (rank, title))
    }
}

/// Reads both ends of `file`.
pub(super) fn describe(file: &File, size: u64) -> io::Result<Description> {
    // A file that is not much longer than both ends is read whole, so that no row is cut between them.
    let head = slice(file, 0, if size <= 2 * END { size } else { END })?;
    let behind = size.saturating_sub(END).max(head.len() as u64);
    // From the byte before: when that ends a row, the first row of the tail is whole.
    let tail = slice(file, behind.saturating_sub(1), size.saturating_sub(behind) + 1)?;
    let mut found = Found::default();
    let head_end = head.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    found.rows(&head[..head_end]);
    let tail_start = tail.iter().position(|byte| *byte == b'\n').map_or(tail.len(), |at| at + 1);
    found.rows(&tail[tail_start..]);
    Ok(Description {
        title: found.title.map(|(_, title)| title.chars().take(TITLE).collect()),
        project: found.project,
        version: found.version,
        entry_point: found.entry_point,
        is_foreign: found.rows > 0 && !found.is_claude,
    })
}

#[derive(Default)]
struct Found {
    rows: u64,
    is_claude: bool,
    title: Option<(Rank, String)>,
    project: Option<String>,
    version: Option<String>,
    entry_point: Option<String>,
}

impl Found {
    fn rows(&mut self, bytes: &[u8]) {
        for row in bytes.split(|byte| *byte == b'\n') {
            let row = row.strip_prefix(b"\xef\xbb\xbf").unwrap_or(row).trim_ascii();
            if row.is_empty() {
                continue;
            }
            self.rows += 1;
            if let Ok(Seen(note)) = serde_json::from_slice::<Seen<Note<'_>>>(row) {
                self.note(&note);
            }
        }
    }

    fn note(&mut self, note: &Note<'_>) {
        self.is_claude |= note.kind.0.is_some() && !note.payload.0;
        if let Some((rank, title)) = note.title()
            && self.title.as_ref().is_none_or(|(known, _)| rank >= *known)
        {
            self.title = Some((rank, title.to_owned()));
        }
        if self.project.is_none() {
            self.project = note.cwd.0.as_deref().map(str::to_owned);
        }
        if let Some(version) = &note.version.0 {
            self.version = Some(Cow::into_owned(version.clone()));
        }
        if let Some(entry_point) = &note.entry_point.0 {
            self.entry_point = Some(Cow::into_owned(entry_point.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(text: &str) -> Description {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        std::fs::write(&path, text).unwrap();
        describe(&File::open(&path).unwrap(), text.len() as u64).unwrap()
    }

    fn title(text: &str) -> Option<String> {
        described(text).title
    }

    const CUSTOM: &str = "{\"type\":\"custom-title\",\"customTitle\":\"mine\"}\n";
    const HARNESS: &str = "{\"type\":\"ai-title\",\"aiTitle\":\"its\"}\n";
    const NAME: &str = "{\"type\":\"agent-name\",\"agentName\":\"name\"}\n";
    const SUMMARY: &str = "{\"type\":\"summary\",\"summary\":\"old\"}\n";
    const PROMPT: &str = "{\"type\":\"user\",\"cwd\":\"/w\",\"version\":\"2\",\"message\":{\"role\":\"user\",\"content\":\"ZXQ\"}}\n";

    #[test]
    fn the_strongest_title_wins_and_the_last_of_equals() {
        assert_eq!(title(&[CUSTOM, HARNESS, SUMMARY].concat()).as_deref(), Some("mine"));
        assert_eq!(title(&[HARNESS, NAME, SUMMARY].concat()).as_deref(), Some("name"));
        assert_eq!(title(&[SUMMARY, PROMPT].concat()).as_deref(), Some("old"));
        assert_eq!(title(PROMPT), None);
        let long = CUSTOM.replace("mine", &"é".repeat(300));
        assert_eq!(title(&long).map(|title| title.chars().count()), Some(TITLE));
    }

    #[test]
    fn both_ends_of_a_long_file_are_seen_and_nothing_between() {
        let filler = format!("{{\"type\":\"mode\",\"x\":\"{}\"}}\n", "x".repeat(1_000));
        let middle = filler.repeat(500);
        let found = described(&[PROMPT, &middle, NAME, &filler].concat());
        assert_eq!(found.title.as_deref(), Some("name"));
        assert_eq!(found.project.as_deref(), Some("/w"));
        assert_eq!(title(&[HARNESS, &middle].concat()).as_deref(), Some("its"));
        assert_eq!(title(&[&middle, HARNESS, &middle].concat()), None);
        assert_eq!(
            title(&[&filler.repeat(63), NAME, &filler.repeat(20)].concat()).as_deref(),
            Some("name")
        );
    }

    #[test]
    fn other_files_are_told_apart() {
        assert!(described("{\"display\":\"x\",\"timestamp\":1}\n").is_foreign);
        assert!(described("{\"type\":\"session_meta\",\"payload\":{}}\n").is_foreign);
        assert!(described("words\n").is_foreign);
        assert!(!described("").is_foreign);
        assert!(!described("{\"half").is_foreign);
        assert!(!described(&["torn\n", PROMPT].concat()).is_foreign);
    }
}

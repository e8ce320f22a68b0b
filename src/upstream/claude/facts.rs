//! What the rows of a transcript tell beside human turns: compactions, and that the session goes on under another id.

use serde::de::{IgnoredAny, MapAccess};

use super::classify::{FileKind, Verdict, classify};
use crate::clock::Millis;
use crate::upstream::files::json::time;
use crate::upstream::files::reader::rows;
use crate::upstream::shape::{Flag, Seen, Shape, Text, take};
use crate::upstream::{Fact, FactKind, RecordId};

/// Rows longer than this are not looked at: the harness's own notes are short.
const LONGEST: usize = 64 * 1024;

/// The longest id of a session that is taken for one.
const LONGEST_ID: usize = 128;

/// What stretches of rows tell.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Told {
    /// Compactions, in order.
    pub(super) facts: Vec<Fact>,
    /// The id under which the session goes on, as its last row about that says.
    pub(super) continued_in: Option<String>,
}

#[derive(Default)]
struct Note<'de> {
    kind: Text<'de>,
    subtype: Text<'de>,
    uuid: Text<'de>,
    timestamp: Text<'de>,
    continued_in: Text<'de>,
    is_sidechain: Flag,
}

impl<'de> Shape<'de> for Note<'de> {
    fn member<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "type" => self.kind = take(map)?,
            "subtype" => self.subtype = take(map)?,
            "uuid" => self.uuid = take(map)?,
            "timestamp" => self.timestamp = take(map)?,
            "continuedInSessionId" => self.continued_in = take(map)?,
            "isSidechain" => self.is_sidechain = take(map)?,
            _ => map.next_value::<IgnoredAny>().map(drop)?,
        }
        Ok(())
    }
}

/// Reads whole rows. A row without a time of its own has the file's, `modified`; what is older than `not_before` doesn't count.
pub(super) fn told(bytes: &[u8], modified: Millis, not_before: Option<Millis>) -> Told {
    let mut told = Told::default();
    for raw in rows(bytes, 0) {
        if let Some(note) = note_in(raw.content) {
            told.note(&note, modified, not_before);
        }
    }
    told
}

/// The id under which a session goes on whose transcript ends with these whole rows: the last of them that says so, unless a
/// person went on here after it.
pub(super) fn ends_continued(bytes: &[u8]) -> Option<String> {
    let mut told = Told::default();
    for raw in rows(bytes, 0) {
        if let Some(note) = note_in(raw.content) {
            told.note(&note, 0, None);
        } else if classify(raw.content, FileKind::Session)
            .is_some_and(|row| row.verdict == Verdict::Human)
        {
            told.continued_in = None;
        }
    }
    told.continued_in
}

/// A row, when it may be one of those that tell something.
fn note_in(content: &[u8]) -> Option<Note<'_>> {
    let may_tell = content.len() <= LONGEST
        && (has(content, b"compact_boundary") || has(content, b"continued-in"));
    if !may_tell {
        return None;
    }
    let Seen(note) = serde_json::from_slice::<Seen<Note<'_>>>(content).ok()?;
    Some(note)
}

impl Told {
    fn note(&mut self, note: &Note<'_>, modified: Millis, not_before: Option<Millis>) {
        match note.kind.as_str() {
            Some("system") if note.subtype.is("compact_boundary") && !note.is_sidechain.0 => {
                let Some(operation) = note.uuid.as_str() else { return };
                let at = time(&note.timestamp).unwrap_or(modified);
                if not_before.is_none_or(|adopted| at >= adopted) {
                    self.facts.push(Fact {
                        id: RecordId::of(&format!("compacted:{operation}")),
                        at,
                        what: FactKind::Compacted { operation: operation.to_owned() },
                    });
                }
            }
            Some("continued-in") => {
                let id = note.continued_in.as_str().filter(|id| is_id(id));
                self.continued_in = id.map(str::to_owned).or(self.continued_in.take());
            }
            _ => {}
        }
    }
}

/// Whether this may be the id of a session, and so the name of a file.
pub(super) fn is_id(id: &str) -> bool {
    !id.is_empty()
        && id.len() <= LONGEST_ID
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

fn has(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDARY: &str = r#"{"type":"system","subtype":"compact_boundary","uuid":"u1","timestamp":"2026-07-16T12:00:00Z","isSidechain":false}"#;
    const AT: Millis = 1_784_203_200_000;

    fn read(text: &str, not_before: Option<Millis>) -> Told {
        told(text.as_bytes(), 7, not_before)
    }

    #[test]
    fn a_boundary_is_a_compaction_and_words_about_one_are_not() {
        let found = read(&format!("{BOUNDARY}\n"), None);
        let want = Fact {
            id: RecordId::of("compacted:u1"),
            at: AT,
            what: FactKind::Compacted { operation: "u1".into() },
        };
        assert_eq!(found.facts, [want]);
        assert_eq!(read(&format!("{BOUNDARY}\n"), Some(AT)).facts.len(), 1);
        for (row, not_before) in [
            (BOUNDARY.to_owned(), Some(AT + 1)),
            (BOUNDARY.replace("\"system\"", "\"user\""), None),
            (BOUNDARY.replace("uuid", "other"), None),
            (BOUNDARY.replace("false", "true"), None),
            (r#"{"type":"user","message":{"content":"compact_boundary"}}"#.to_owned(), None),
            ("compact_boundary".to_owned(), None),
        ] {
            assert_eq!(read(&format!("{row}\n"), not_before), Told::default(), "{row}");
        }
    }

    #[test]
    fn the_last_word_about_where_it_goes_on_counts() {
        let row = |id| format!("{{\"type\":\"continued-in\",\"continuedInSessionId\":\"{id}\"}}\n");
        let found = |text: &str| read(text, None).continued_in;
        assert_eq!(found(&[row("a-1"), row("b_2")].concat()).as_deref(), Some("b_2"));
        for id in ["../x", "", "a/b", "a.jsonl", &"x".repeat(129)] {
            assert_eq!(found(&row(id)), None, "{id}");
        }
    }
}

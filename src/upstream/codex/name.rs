//! The names of rollout files: `rollout-<time>-<thread>.jsonl`, after a rewind `rollout-<time>-<thread>_<segment>.jsonl`, with
//! `.zst` behind when compressed.

use std::path::Path;

/// What the name of a rollout says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    /// The thread's id.
    pub(super) thread: String,
    /// Which of the thread's files it is.
    pub(super) segment: Segment,
    /// Whether the file is compressed.
    pub(super) is_packed: bool,
}

/// Which of a thread's files one is, in the order in which they were written: the first, then one for each rewind.
///
/// A segment's id is a version 7 UUID and begins with its time; ids of another form are ordered by the time in the name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Segment {
    is_later: bool,
    born: u64,
    time: String,
    id: String,
}

impl Segment {
    /// The segment's own id; `None` for the thread's first file.
    pub(super) fn id(&self) -> Option<&str> {
        self.is_later.then_some(self.id.as_str())
    }
}

impl Name {
    /// Reads the name of the file at `path`; `None` when it is not that of a rollout.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let (plain, is_packed) = match name.strip_suffix(".zst") {
            Some(plain) => (plain, true),
            None => (name, false),
        };
        let stem = plain.strip_suffix(".jsonl")?.strip_prefix("rollout-")?;
        let (time, ids) = match stem.split_at_checked(TIME.len()) {
            Some((time, rest)) if is_time(time) => (time, rest.strip_prefix('-')?),
            _ => ("", stem),
        };
        let (thread, segment) = match ids.split_once('_') {
            Some((thread, segment)) => (thread, Some(segment)),
            None => (ids, None),
        };
        let segment = Segment {
            is_later: segment.is_some(),
            born: segment.and_then(born).unwrap_or_default(),
            time: time.to_owned(),
            id: segment.unwrap_or_default().to_owned(),
        };
        (!thread.is_empty()).then(|| Self { thread: thread.to_owned(), segment, is_packed })
    }
}

/// Whether a name ends like that of a transcript, compressed or not.
pub(super) fn is_transcript(name: &str) -> bool {
    name.strip_suffix(".zst").unwrap_or(name).strip_suffix(".jsonl").is_some()
}

/// When a version 7 UUID was made, in milliseconds since the epoch; `None` for anything else.
pub(super) fn born(id: &str) -> Option<u64> {
    let is_uuid = id.len() == 36
        && id.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            14 => byte == b'7',
            _ => byte.is_ascii_hexdigit(),
        });
    is_uuid.then(|| u64::from_str_radix(&[&id[..8], &id[9..13]].concat(), 16).ok()).flatten()
}

const TIME: &str = "0000-00-00T00-00-00";

fn is_time(text: &str) -> bool {
    text.bytes().zip(TIME.bytes()).all(|(byte, form)| match form {
        b'0' => byte.is_ascii_digit(),
        other => byte == other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREAD: &str = "01a1a75c-ac98-7cfd-96c1-dee1a67f6caf";
    const LATER: &str = "01a1a75d-0000-7cfd-96c1-dee1a67f6caf";

    fn name(name: &str) -> Option<Name> {
        Name::of(Path::new(name))
    }

    #[test]
    fn names_of_rollouts_are_read() {
        let first = name(&format!("/s/rollout-2026-11-04T16-20-31-{THREAD}.jsonl")).unwrap();
        assert_eq!(
            (first.thread.as_str(), first.segment.id(), first.is_packed),
            (THREAD, None, false)
        );
        let packed = name(&format!("rollout-2026-11-04T16-20-31-{THREAD}.jsonl.zst")).unwrap();
        assert_eq!((packed.segment, packed.is_packed), (first.segment.clone(), true));
        let later = name(&format!("rollout-2026-11-04T16-25-00-{THREAD}_{LATER}.jsonl")).unwrap();
        assert_eq!((later.thread.as_str(), later.segment.id()), (THREAD, Some(LATER)));
        assert!(first.segment < later.segment);
        assert_eq!(name("rollout-cafe.jsonl").unwrap().thread, "cafe");
        for other in
            ["x.jsonl", "rollout-.jsonl", "rollout-2026-11-04T16-20-31.jsonl.tmp", "rollout-a.json"]
        {
            assert_eq!(name(other), None, "{other}");
        }
    }

    #[test]
    fn later_files_come_in_the_order_of_their_rewinds() {
        let segment = |time: &str, id: &str| {
            name(&format!("rollout-2026-11-04T{time}-{THREAD}_{id}.jsonl")).unwrap().segment
        };
        let (one, two) =
            ("01a1a75d-0000-7cfd-96c1-dee1a67f6caf", "01a1a75e-0000-7000-96c1-dee1a67f6caf");
        assert!(segment("16-20-31", one) < segment("16-20-31", two));
        assert!(segment("02-30-00", two) > segment("02-59-00", one), "clocks are put back");
        assert!(segment("16-20-31", "b") < segment("16-25-00", "a"));
        assert!(segment("16-20-31", "a") < segment("16-20-31", "b"));
    }

    #[test]
    fn only_version_7_ids_say_when_they_were_made() {
        assert_eq!(born("019f46a4-4ac0-76de-a235-d44a3e1aebec"), Some(0x019f_46a4_4ac0));
        for other in [
            "019f46a4-4ac0-46de-a235-d44a3e1aebec",
            "",
            "019f46a4",
            "é19f46a4-4ac0-76de-a235-d44a3e1aebe",
        ] {
            assert_eq!(born(other), None, "{other}");
        }
    }
}

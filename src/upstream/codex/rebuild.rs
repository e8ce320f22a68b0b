//! Finds out what a marker in the middle of a file lacks: the thread, from the first rows, and the running turn, from those
//! before the marker.

use std::io;

use super::reading::Reading;
use super::source::Rollout;
use super::state::State;
use crate::upstream::files::reader::{Stretch, read_rows, rows, slice};
use crate::upstream::files::row::Decide as _;

/// How many bytes before the marker are searched for the beginning of the running turn. Past that it stays unknown, and
/// messages of that turn are decided by their own marks.
const BACK: u64 = 8 * 1024 * 1024;

/// A row that says that a turn began is shorter than this: it holds no words.
const BEGINNING: usize = 64 * 1024;

/// What the rows before `offset` say. Nothing that waits there is kept: what was written before the marker is not new.
pub(super) fn state_at(rollout: &Rollout, offset: u64, max_row_bytes: u64) -> io::Result<State> {
    let first = match read_rows(rollout, 0, 0, max_row_bytes)? {
        Stretch::Rows { bytes, .. } if offset > 0 => bytes,
        _ => Vec::new(),
    };
    let first = &first[..first.len().min(usize::try_from(offset).unwrap_or(usize::MAX))];
    let begun = state_after(first, State::default());
    if first.len() as u64 == offset {
        return Ok(begun);
    }
    let start = offset.saturating_sub(BACK);
    let before = slice(rollout, start, offset - start)?;
    let known = State { thread: begun.thread, turn: None, partial: true };
    Ok(match last_beginning(&before) {
        Some(at) => State { partial: true, ..state_after(&before[at..], known) },
        None => known,
    })
}

fn state_after(bytes: &[u8], state: State) -> State {
    let mut reading = Reading::new(state);
    for raw in rows(bytes, 0) {
        reading.push(raw.content, (), &mut |_, ()| ());
    }
    reading.finish(&mut |_, ()| ());
    reading.into_state()
}

/// Where the last row begins that says that a turn began.
fn last_beginning(bytes: &[u8]) -> Option<usize> {
    const MARKS: [&[u8]; 2] = [b"\"task_started\"", b"\"turn_started\""];
    let mut end = bytes.len();
    while end > 0 {
        let start = bytes[..end - 1].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let row = &bytes[start..end];
        // The words of a message may hold the mark as well, but there its quotation marks are escaped.
        if row.len() <= BEGINNING
            && MARKS.iter().any(|mark| row.windows(mark.len()).any(|bytes| bytes == *mark))
        {
            return Some(start);
        }
        end = start;
    }
    None
}

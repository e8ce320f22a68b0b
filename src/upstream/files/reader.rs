//! Reads whole rows forward from an offset, in windows, however long the file and whatever stands in it.
//!
//! Only the byte 0x0A ends a row. A row without it is not a row yet: the offset stays before it. A row longer than a
//! window is assembled over several reads up to a limit; past that it blocks, and is said to (`upstream.md` 0.4).

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// How many bytes are read at a time, and the most that one answer holds unless a single row is longer.
pub const WINDOW: u64 = 1024 * 1024;

/// Something that is read at offsets.
pub trait Source {
    /// Reads at most `buffer.len()` bytes at `offset`; fewer than that, but for none, does not mean the end.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
}

impl Source for File {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        FileExt::read_at(self, buffer, offset)
    }
}

/// What lies behind an offset.
#[derive(Debug, PartialEq, Eq)]
pub enum Stretch {
    /// Nothing.
    Nothing,
    /// Whole rows with their line ends: as many as one window holds, or one that is longer.
    Rows {
        /// Their bytes, from the offset on.
        bytes: Vec<u8>,
        /// Whether whole rows are known, or bytes are not yet known, to follow.
        more: bool,
    },
    /// A row without its line end so far.
    Partial {
        /// Its bytes so far.
        bytes: u64,
    },
    /// A row that is longer than the limit.
    Blocked {
        /// Its bytes as far as they were looked at.
        bytes: u64,
    },
}

/// The row at `offset`, and those behind it that fit a window.
///
/// `known` says up to where no line end was found on an earlier call, so that a long row that grows is not searched again
/// from its start each time; `offset` when nothing is known. `max_row_bytes` counts a row with its line end.
pub fn read_rows(
    source: &impl Source,
    offset: u64,
    known: u64,
    max_row_bytes: u64,
) -> io::Result<Stretch> {
    let start = known.max(offset);
    let mut bytes = Vec::new();
    loop {
        let searched = usize_of(bytes.len());
        let room =
            offset.saturating_add(max_row_bytes).saturating_sub(start + searched).min(WINDOW);
        if room == 0 {
            return Ok(Stretch::Blocked { bytes: start + searched - offset });
        }
        let is_end = read_more(source, &mut bytes, start + searched, room)?;
        let new = &bytes[index_of(searched)..];
        let end = if start == offset && searched == 0 {
            new.iter().rposition(|byte| *byte == b'\n')
        } else {
            new.iter().position(|byte| *byte == b'\n')
        };
        if let Some(end) = end {
            let end = index_of(searched) + end + 1;
            let more = !is_end || bytes[end..].contains(&b'\n');
            bytes.truncate(end);
            return Ok(Stretch::Rows { bytes: with_head(source, offset, start, bytes)?, more });
        }
        if is_end {
            let bytes = start + usize_of(bytes.len()) - offset;
            return Ok(if bytes == 0 { Stretch::Nothing } else { Stretch::Partial { bytes } });
        }
    }
}

/// Appends at most `room` bytes from `at` to `bytes`; whether the end was met before that.
fn read_more(source: &impl Source, bytes: &mut Vec<u8>, at: u64, room: u64) -> io::Result<bool> {
    // Fresh zeroed memory costs nothing until it is touched, and most reads find a small part of a window.
    let mut new = vec![0; index_of(room)];
    let mut filled = 0;
    let is_end = loop {
        if filled == new.len() {
            break false;
        }
        match source.read_at(&mut new[filled..], at + usize_of(filled)) {
            Ok(0) => break true,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    };
    new.truncate(filled);
    if bytes.is_empty() {
        *bytes = new;
    } else {
        bytes.append(&mut new);
    }
    Ok(is_end)
}

/// `tail`, which begins at `start`, with what lies between `offset` and there before it.
fn with_head(source: &impl Source, offset: u64, start: u64, tail: Vec<u8>) -> io::Result<Vec<u8>> {
    if start == offset {
        return Ok(tail);
    }
    let mut whole = Vec::with_capacity(index_of(start - offset) + tail.len());
    if read_more(source, &mut whole, offset, start - offset)? {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it shrank while it was read"));
    }
    whole.extend_from_slice(&tail);
    Ok(whole)
}

/// The offset behind the last line end before `size`: where reading starts when nothing before now counts, so that a row
/// that is half written now is read when it is whole.
pub fn last_row_end(source: &impl Source, size: u64) -> io::Result<u64> {
    const STEP: u64 = 64 * 1024;
    let mut end = size;
    while end > 0 {
        let start = end.saturating_sub(STEP);
        let mut bytes = Vec::new();
        read_more(source, &mut bytes, start, end - start)?;
        if let Some(at) = bytes.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + usize_of(at) + 1);
        }
        end = start;
    }
    Ok(0)
}

/// The first bytes of a source, at most `most`.
pub fn head(source: &impl Source, most: u64) -> io::Result<Vec<u8>> {
    slice(source, 0, most)
}

/// At most `most` bytes from `offset`.
pub fn slice(source: &impl Source, offset: u64, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    read_more(source, &mut bytes, offset, most)?;
    Ok(bytes)
}

/// One row of a stretch: its bytes with and without the line end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawRow<'a> {
    /// Where it begins.
    pub offset: u64,
    /// How many bytes it has with its line end.
    pub length: u64,
    /// It, without LF or CRLF.
    pub content: &'a [u8],
}

/// The rows of `bytes`, which begins at `offset` and ends with a line end.
pub fn rows(bytes: &[u8], offset: u64) -> impl Iterator<Item = RawRow<'_>> {
    let mut at = offset;
    bytes.split_inclusive(|byte| *byte == b'\n').map(move |line| {
        let length = usize_of(line.len());
        let content = line.strip_suffix(b"\n").unwrap_or(line);
        let content = content.strip_suffix(b"\r").unwrap_or(content);
        let row = RawRow { offset: at, length, content };
        at += length;
        row
    })
}

fn usize_of(length: usize) -> u64 {
    length as u64
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "at most a row's limit, which has to fit the memory of this machine to be of use"
)]
fn index_of(bytes: u64) -> usize {
    bytes as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives at most `step` bytes a read.
    struct Slow<'a> {
        bytes: &'a [u8],
        step: usize,
    }

    impl Source for Slow<'_> {
        fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
            let rest = self.bytes.get(index_of(offset)..).unwrap_or_default();
            let read = rest.len().min(buffer.len()).min(self.step);
            buffer[..read].copy_from_slice(&rest[..read]);
            Ok(read)
        }
    }

    fn read(bytes: &[u8], offset: u64, max: u64) -> Stretch {
        read_rows(&Slow { bytes, step: usize::MAX }, offset, offset, max).unwrap()
    }

    fn whole(bytes: &[u8], more: bool) -> Stretch {
        Stretch::Rows { bytes: bytes.to_vec(), more }
    }

    const MAX: u64 = 64 * WINDOW;

    #[test]
    fn case_45_and_46_a_half_row_is_not_read() {
        assert_eq!(read(b"one\ntwo\nthr", 0, MAX), whole(b"one\ntwo\n", false));
        assert_eq!(read(b"one\ntwo\nthr", 8, MAX), Stretch::Partial { bytes: 3 });
        assert_eq!(read(b"one\n", 4, MAX), Stretch::Nothing);
        assert_eq!(read(b"one\n", 40, MAX), Stretch::Nothing);
    }

    #[test]
    fn case_47_short_reads_change_nothing() {
        let mut bytes = vec![b'x'; 3 * 1024 * 1024];
        for at in (0..bytes.len()).step_by(70_001) {
            bytes[at] = b'\n';
        }
        for step in [17, 4_096, usize::MAX] {
            let source = Slow { bytes: &bytes, step };
            let (mut offset, mut seen) = (0, Vec::new());
            while let Stretch::Rows { bytes, .. } = read_rows(&source, offset, offset, MAX).unwrap()
            {
                offset += usize_of(bytes.len());
                seen.extend(bytes);
            }
            assert_eq!(seen.len(), 44 * 70_001 + 1, "{step}");
            assert!(bytes.starts_with(&seen), "{step}");
        }
    }

    #[test]
    fn case_48_the_limit_counts_the_line_end() {
        let mut row = vec![b'x'; index_of(WINDOW) - 1];
        row.push(b'\n');
        assert_eq!(read(&row, 0, WINDOW), whole(&row, true));
        row.insert(0, b'x');
        assert_eq!(read(&row, 0, WINDOW), Stretch::Blocked { bytes: WINDOW });
        assert_eq!(read(&row, 0, MAX), whole(&row, false));
    }

    #[test]
    fn case_49_a_long_row_comes_alone_and_the_next_is_read_from_its_start() {
        let mut bytes = vec![b'x'; index_of(WINDOW) + 9];
        bytes.extend(b"\nsecond\nthird\n");
        let first = index_of(WINDOW) + 10;
        assert_eq!(read(&bytes, 0, MAX), whole(&bytes[..first], true));
        assert_eq!(read(&bytes, usize_of(first), MAX), whole(b"second\nthird\n", false));
    }

    #[test]
    fn a_row_that_grows_is_searched_only_behind_what_is_known() {
        let mut bytes = vec![b'x'; 100];
        bytes.extend(b"end\nnext\n");
        let source = Slow { bytes: &bytes, step: 17 };
        assert_eq!(read_rows(&source, 3, 90, MAX).unwrap(), whole(&bytes[3..104], true));
        assert_eq!(read_rows(&source, 3, 90, 87).unwrap(), Stretch::Blocked { bytes: 87 });
        let source = Slow { bytes: &bytes[..100], step: 17 };
        assert_eq!(read_rows(&source, 3, 90, MAX).unwrap(), Stretch::Partial { bytes: 97 });
    }

    #[test]
    fn the_last_row_end_lies_before_a_half_row() {
        let mut bytes = b"one\n".to_vec();
        let long = vec![b'x'; 200_000];
        for (more, want) in [(&b""[..], 4), (b"half", 4), (&long, 4), (b"\n", 200_009)] {
            bytes.extend(more);
            let source = Slow { bytes: &bytes, step: 1_000 };
            assert_eq!(last_row_end(&source, usize_of(bytes.len())).unwrap(), want);
        }
        assert_eq!(last_row_end(&Slow { bytes: b"half", step: 9 }, 4).unwrap(), 0);
    }

    #[test]
    fn case_52_line_ends_are_cut_off_and_counted() {
        let found: Vec<_> = rows(b"a\r\n\xc3\xa9\n\r\n\n", 10)
            .map(|row| (row.offset, row.length, row.content))
            .collect();
        assert_eq!(
            found,
            [(10, 3, &b"a"[..]), (13, 3, "é".as_bytes()), (16, 2, b""), (18, 1, b"")]
        );
    }
}

//! The output of a scan: what each row of a transcript counts as, and why. The same for every harness.

use schemars::JsonSchema;
use serde::Serialize;

use super::reader::{Source, Stretch, read_rows, rows};
use super::row::{Decide, Reason, Row, Verdict};
use crate::clock::Millis;

/// One row of a scan. Holds no word of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ScanRow {
    /// The physical line, counted on 0x0A from 1 at the offset where the scan begins.
    pub line: u64,
    /// Where it begins in the file, in bytes.
    pub offset: u64,
    /// Its length in bytes, with the line end; of a deferred row, as far as it is known.
    pub bytes: u64,
    /// What it is.
    pub verdict: ScanVerdict,
    /// Why.
    pub reason: ScanReason,
    /// When it was typed or taken up, in milliseconds since the epoch; only for human rows. A row without a time of its own
    /// has the file's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Millis>,
}

/// What a row of a scan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ScanVerdict {
    /// A direct human turn.
    Human,
    /// A text that `tidings` itself put there; only where own texts are known.
    Echo,
    /// Anything else that is JSON.
    Other,
    /// Not JSON.
    Malformed,
    /// Not decided: it is not whole yet, or longer than the limit.
    Deferred,
}

/// Why a row of a scan is what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ScanReason {
    /// The row was read.
    Read(Reason),
    /// The row was not read.
    Deferred(Deferral),
}

/// Why a row was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Deferral {
    /// Its line end is not written yet.
    PartialRow,
    /// It is longer than the limit.
    RowTooLong,
}

/// How far a scan came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ScanState {
    /// To the end of the file.
    Complete,
    /// To a row without its line end.
    PartialRow,
    /// To a row that is longer than the limit.
    Blocked,
}

/// The last line of a scan: what stands under `total`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScanTotal {
    /// Whole rows, without blank lines.
    pub rows: u64,
    /// How many of them are human turns.
    pub human_turns: u64,
    /// Which ones.
    pub human_lines: Vec<u64>,
    /// Where a later scan goes on, in bytes.
    pub next_offset: u64,
    /// The size of the file in bytes.
    pub size: u64,
    /// How far the scan came.
    pub state: ScanState,
    /// Where the row begins that blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// How many bytes of it were looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// Where a row stands.
#[derive(Debug)]
pub(crate) struct Place {
    line: u64,
    offset: u64,
    bytes: u64,
}

/// What is scanned, from where, and by which limit.
pub(crate) struct Scanned<'a, S> {
    pub(crate) source: &'a S,
    pub(crate) from_offset: u64,
    pub(crate) max_row_bytes: u64,
    /// When the file was last changed: the time of rows without one.
    pub(crate) modified: Millis,
}

/// Reads `scanned` to its end and gives each row to `each`, in order, as `decide` decides it. The size in the answer is the
/// number of bytes that were seen.
pub(crate) fn run<S: Source>(
    scanned: &Scanned<'_, S>,
    decide: &mut dyn Decide<Place>,
    each: &mut dyn FnMut(ScanRow),
) -> std::io::Result<ScanTotal> {
    let from_offset = scanned.from_offset;
    let mut tally = Tally {
        total: ScanTotal {
            rows: 0,
            human_turns: 0,
            human_lines: Vec::new(),
            next_offset: from_offset,
            size: from_offset,
            state: ScanState::Complete,
            offset: None,
            bytes: None,
        },
        modified: scanned.modified,
        each,
    };
    let mut line = 0;
    let mut offset = from_offset;
    let deferred = loop {
        match read_rows(scanned.source, offset, offset, scanned.max_row_bytes)? {
            Stretch::Rows { bytes, .. } => {
                for raw in rows(&bytes, offset) {
                    line += 1;
                    let place = Place { line, offset: raw.offset, bytes: raw.length };
                    decide.push(raw.content, place, &mut |row, place| tally.row(&row, &place));
                }
                offset += bytes.len() as u64;
            }
            Stretch::Nothing => break None,
            Stretch::Partial { bytes } => break Some((Deferral::PartialRow, bytes)),
            Stretch::Blocked { bytes } => break Some((Deferral::RowTooLong, bytes)),
        }
    };
    decide.finish(&mut |row, place| tally.row(&row, &place));
    let mut size = offset;
    if let Some((why, bytes)) = deferred {
        size += bytes;
        tally.deferred(why, &Place { line: line + 1, offset, bytes });
    }
    Ok(ScanTotal { next_offset: offset, size, ..tally.total })
}

struct Tally<'a> {
    total: ScanTotal,
    modified: Millis,
    each: &'a mut dyn FnMut(ScanRow),
}

impl Tally<'_> {
    fn row(&mut self, row: &Row, place: &Place) {
        let is_human = row.verdict == Verdict::Human;
        self.total.rows += 1;
        if is_human {
            self.total.human_turns += 1;
            self.total.human_lines.push(place.line);
        }
        (self.each)(ScanRow {
            line: place.line,
            offset: place.offset,
            bytes: place.bytes,
            verdict: match row.verdict {
                Verdict::Human => ScanVerdict::Human,
                Verdict::Other => ScanVerdict::Other,
                Verdict::Malformed => ScanVerdict::Malformed,
            },
            reason: ScanReason::Read(row.reason),
            at: is_human.then(|| row.at.unwrap_or(self.modified)),
        });
    }

    fn deferred(&mut self, why: Deferral, place: &Place) {
        match why {
            Deferral::PartialRow => self.total.state = ScanState::PartialRow,
            Deferral::RowTooLong => {
                self.total.state = ScanState::Blocked;
                self.total.offset = Some(place.offset);
                self.total.bytes = Some(place.bytes);
            }
        }
        (self.each)(ScanRow {
            line: place.line,
            offset: place.offset,
            bytes: place.bytes,
            verdict: ScanVerdict::Deferred,
            reason: ScanReason::Deferred(why),
            at: None,
        });
    }
}

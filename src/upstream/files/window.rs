//! Counts the human turns of one stretch of rows.

use std::collections::HashSet;

use super::place::Stat;
use super::reader::rows;
use super::row::{Decide, Row, Verdict};
use crate::clock::Millis;
use crate::upstream::{Probe, RecordId, Turn};

/// The turns of one stretch, and what else is said of it.
pub(crate) struct Count<'a> {
    /// Human turns that are no echoes.
    pub(crate) turns: Vec<Turn>,
    /// How many rows were echoes of own texts.
    pub(crate) echoes: u32,
    /// How many rows were not readable as records.
    pub(crate) malformed: u32,
    /// How many human rows did not count because nothing tells whether they are new.
    pub(crate) undated: u32,
    passes_undated: bool,
    counted: HashSet<RecordId>,
    modified: Millis,
    not_before: Option<Millis>,
    probe: &'a Probe,
}

impl<'a> Count<'a> {
    /// Counts for `probe`. A row without a time of its own has the file's, `modified`. In a file that is read again from its
    /// start, turns from before the adoption don't count.
    pub(crate) fn new(probe: &'a Probe, modified: Millis, reread: bool) -> Self {
        Self {
            turns: Vec::new(),
            echoes: 0,
            malformed: 0,
            undated: 0,
            passes_undated: false,
            counted: HashSet::new(),
            modified,
            not_before: reread.then_some(probe.link.created_at),
            probe,
        }
    }

    /// Passes over rows that have neither an id nor a time of their own: they may have been counted, or be older than the adoption.
    pub(crate) fn pass_undated(&mut self) {
        self.passes_undated = true;
    }

    /// Counts the rows of `bytes`, which begins at `offset`, as `decide` decides them. What waits there is left waiting.
    pub(crate) fn rows(&mut self, bytes: &[u8], offset: u64, decide: &mut dyn Decide<()>) {
        for raw in rows(bytes, offset) {
            decide.push(raw.content, (), &mut |row, ()| self.row(&row));
        }
    }

    /// Counts one row.
    pub(crate) fn row(&mut self, row: &Row) {
        match row.verdict {
            Verdict::Other => return,
            Verdict::Malformed => {
                self.malformed += 1;
                return;
            }
            Verdict::Human => {}
        }
        if self.passes_undated && row.id.is_none() && row.at.is_none() {
            self.undated += 1;
            return;
        }
        let at = row.at.unwrap_or(self.modified);
        if self.not_before.is_some_and(|adopted| at < adopted)
            || row.id.is_some_and(|id| !self.counted.insert(id))
        {
            return;
        }
        if row.words.is_echo(&self.probe.own_texts) {
            self.echoes += 1;
        } else {
            self.turns.push(Turn { id: row.id, at });
        }
    }

    /// The turns, oldest first.
    pub(crate) fn into_turns(mut self) -> Vec<Turn> {
        self.turns.sort_by_key(|turn| turn.at);
        self.turns
    }
}

/// Names the end of a stretch by its decimal offset. In a file that is read again the same offset may be met twice with
/// other turns, so there it also names the file and the turns.
pub(crate) fn dedupe_id(next: u64, reread: bool, stat: &Stat, turns: &[Turn]) -> String {
    if !reread {
        return next.to_string();
    }
    let mut hash = blake3::Hasher::new();
    hash.update(&stat.device.to_le_bytes());
    hash.update(&stat.inode.to_le_bytes());
    for turn in turns {
        hash.update(&turn.id.map_or([0; 16], |RecordId(id)| id));
        hash.update(&turn.at.to_le_bytes());
    }
    format!("{next}-{}", &hash.finalize().to_hex()[..16])
}

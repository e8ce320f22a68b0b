//! Sessions by number, and what the ledger tells about pairs of them.
//!
//! A picture of ten thousand watches names each session again and again. Each key is kept once, and what is looked up by pair is
//! looked up by two small numbers.

use std::borrow::Borrow;
use std::collections::HashMap;

use rusqlite::Row;

use crate::clock::Millis;
use crate::event::Sequence;
use crate::session_key::SessionKey;
use crate::watch::Cursor;

use super::rows;

/// The number of a session in one [`PairHistories`]. It means nothing elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyId(u32);

impl KeyId {
    /// The number as the place in a list that has one entry for each session.
    pub fn place(self) -> usize {
        self.0 as usize
    }
}

/// A cursor with the numbers of its two sessions.
#[derive(Debug, Clone)]
pub struct NumberedCursor {
    /// The cursor.
    pub cursor: Cursor,
    /// Its watcher.
    pub watcher: KeyId,
    /// Its target.
    pub target: KeyId,
}

/// What the ledger tells about a pair.
#[derive(Debug, Clone, Copy, Default)]
pub struct PairHistory {
    /// The furthest that last seen ever was.
    pub furthest_seen: Sequence,
    /// When a notice last opened.
    pub opened_at: Option<Millis>,
}

/// What the ledger tells about all pairs. Kept by whoever makes pictures again and again, so that each reads only what was
/// written since the one before.
#[derive(Debug, Default)]
pub struct PairHistories {
    ids: HashMap<SessionKey, KeyId>,
    keys: Vec<SessionKey>,
    pairs: HashMap<(KeyId, KeyId), PairHistory>,
    /// The last entry of the ledger that was read.
    pub(super) read_up_to: i64,
}

impl PairHistories {
    /// The number of a session, which is given one when it has none.
    pub fn id(&mut self, key: &SessionKey) -> KeyId {
        match self.ids.get(key) {
            Some(id) => *id,
            None => self.add(key.clone()),
        }
    }

    /// All sessions that have a number, in the order of their numbers.
    pub fn keys(&self) -> &[SessionKey] {
        &self.keys
    }

    /// What the ledger tells about one pair.
    pub fn of(&self, watcher: KeyId, target: KeyId) -> PairHistory {
        self.pairs.get(&(watcher, target)).copied().unwrap_or_default()
    }

    /// What is known of a pair, to add to.
    pub(super) fn entry(&mut self, watcher: KeyId, target: KeyId) -> &mut PairHistory {
        self.pairs.entry((watcher, target)).or_default()
    }

    /// The number of the session whose key stands in a text column.
    pub(super) fn id_in(&mut self, row: &Row<'_>, column: usize) -> rusqlite::Result<KeyId> {
        let key = row.get_ref(column)?.as_str()?;
        Ok(match self.ids.get(key) {
            Some(id) => *id,
            None => self.add(SessionKey::new(key)),
        })
    }

    /// The session whose key stands in a text column.
    pub(super) fn key_in(&mut self, row: &Row<'_>, column: usize) -> rusqlite::Result<SessionKey> {
        let id = self.id_in(row, column)?;
        Ok(self.keys[id.place()].clone())
    }

    /// A cursor from the columns of [`rows::CURSOR`].
    pub(super) fn cursor_in(&mut self, row: &Row<'_>) -> rusqlite::Result<NumberedCursor> {
        let (watcher, target) = (self.id_in(row, 0)?, self.id_in(row, 1)?);
        let [of_watcher, of_target] = [watcher, target].map(|id| self.keys[id.place()].clone());
        Ok(NumberedCursor {
            cursor: rows::cursor_between(row, of_watcher, of_target)?,
            watcher,
            target,
        })
    }

    fn add(&mut self, key: SessionKey) -> KeyId {
        // A state database with four thousand million sessions does not fit on a disk.
        let id = KeyId(u32::try_from(self.keys.len()).unwrap_or(u32::MAX));
        self.ids.insert(key.clone(), id);
        self.keys.push(key);
        id
    }
}

/// Keys are looked up by the text of a row, before anything is allocated for it.
impl Borrow<str> for SessionKey {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

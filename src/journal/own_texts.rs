//! Own texts: hashes of what was put into a session, by which their echo is told from a person's words.

use rusqlite::{Transaction, params};

use super::error::{JournalError, Tried};
use super::{Journal, Reader};
use crate::clock::Millis;
use crate::session_key::SessionKey;

/// A hash of an own text, as the upstream part makes it.
pub type OwnTextHash = [u8; 32];

impl Reader {
    /// The newest own texts of a session: the hashes of all forms of the last `limit` that were put into it.
    pub fn own_texts(
        &self,
        session: &SessionKey,
        limit: usize,
    ) -> Result<Vec<OwnTextHash>, JournalError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT text_hash FROM tidings_own_texts WHERE session_key = ?1 ORDER BY id DESC LIMIT ?2")
            .tried("read the own texts of a session")?;
        let found = statement
            .query_map(params![session.as_str(), i64::try_from(limit).unwrap_or(i64::MAX)], |row| {
                row.get(0)
            })
            .and_then(Iterator::collect::<rusqlite::Result<Vec<Vec<u8>>>>)
            .tried("read the own texts of a session")?;
        let mut hashes = Vec::new();
        for forms in &found {
            let (whole, rest) = forms.as_chunks();
            if !rest.is_empty() {
                return Err(JournalError::Refused(format!(
                    "the own texts of {session} are damaged; a turn of it writes new ones"
                )));
            }
            hashes.extend_from_slice(whole);
        }
        Ok(hashes)
    }
}

impl Journal {
    /// Remembers what was put into a session at once, as the hashes of the forms in which it may come back; only the newest
    /// `keep` stay.
    pub fn add_own_texts(
        &mut self,
        session: &SessionKey,
        forms: &[OwnTextHash],
        keep: usize,
        now: Millis,
    ) -> Result<(), JournalError> {
        let transaction = self.write()?;
        add_own_texts_in(&transaction, session, forms, keep, now)?;
        transaction.commit().tried("remember an own text")
    }
}

/// Remembers what was put into a session at once, inside the caller's transaction. All its forms are one row, so that a text
/// that may come back in two forms does not push two older ones out.
pub(super) fn add_own_texts_in(
    transaction: &Transaction<'_>,
    session: &SessionKey,
    forms: &[OwnTextHash],
    keep: usize,
    now: Millis,
) -> Result<(), JournalError> {
    if forms.is_empty() {
        return Ok(());
    }
    transaction
        .execute(
            "INSERT INTO tidings_own_texts (session_key, text_hash, put_at) VALUES (?1, ?2, ?3)",
            params![session.as_str(), forms.concat(), now],
        )
        .tried("remember an own text")?;
    transaction
        .execute(
            "DELETE FROM tidings_own_texts WHERE session_key = ?1 AND id NOT IN \
             (SELECT id FROM tidings_own_texts WHERE session_key = ?1 ORDER BY id DESC LIMIT ?2)",
            params![session.as_str(), i64::try_from(keep).unwrap_or(i64::MAX)],
        )
        .map(drop)
        .tried("forget old own texts")
}

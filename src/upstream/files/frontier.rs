//! Up to where long rows that are not whole yet have been searched for their line end.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::place::Stat;

/// Only saves work: without it, a row of many megabytes would be read from its start with each piece that is added to it.
#[derive(Debug, Default)]
pub(crate) struct Frontiers(Mutex<HashMap<PathBuf, Frontier>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Frontier {
    device: u64,
    inode: u64,
    offset: u64,
    known: u64,
}

impl Frontiers {
    /// Up to where the row at `offset` is known to have no line end; `offset` when nothing is known of it.
    pub(crate) fn known(&self, path: &Path, stat: &Stat, offset: u64) -> u64 {
        let frontiers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        frontiers
            .get(path)
            .filter(|frontier| {
                (frontier.device, frontier.inode, frontier.offset)
                    == (stat.device, stat.inode, offset)
                    && frontier.known <= stat.size
            })
            .map_or(offset, |frontier| frontier.known)
    }

    /// Keeps what is known of the row at `offset`; with `None` it is whole, or there is none.
    pub(crate) fn keep(&self, path: &Path, stat: &Stat, offset: u64, known: Option<u64>) {
        let mut frontiers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match known {
            Some(known) => {
                let (device, inode) = (stat.device, stat.inode);
                frontiers.insert(path.to_owned(), Frontier { device, inode, offset, known });
            }
            None => drop(frontiers.remove(path)),
        }
    }
}

//! What was read of files that have not changed since, so that listing again costs a look at each.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::place::Stat;

/// Descriptions by path, each with how its file looked then.
#[derive(Debug)]
pub(crate) struct Described<D>(Mutex<HashMap<PathBuf, (Stat, D)>>);

impl<D> Default for Described<D> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<D: Clone> Described<D> {
    pub(crate) fn get(&self, path: &Path, stat: &Stat) -> Option<D> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(path).filter(|(then, _)| then == stat).map(|(_, description)| description.clone())
    }

    pub(crate) fn replace(&self, all: HashMap<PathBuf, (Stat, D)>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = all;
    }
}

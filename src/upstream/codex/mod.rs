//! Codex: reads the rollouts below its home folder.
//!
//! - `classify` decides for one row whether a person wrote it, by the thread and the turn in `state`;
//! - `reading` takes rows on their way through: some are decided only when their turn ends;
//! - `facts` finds what rows tell beside human turns: compactions, sub-agents;
//! - `tree` knows which files a thread is in, `source` reads them, compressed or not;
//! - `marker` says how far a thread has been read, `rebuild` finds out what a marker lacks;
//! - [`scan`](scan::scan) shows all of that for one file;
//! - [`CodexProvider`] answers the engine.

mod catalog;
mod classify;
mod describe;
mod facts;
mod marker;
mod name;
mod place;
mod probe;
mod reading;
mod rebuild;
mod record;
pub mod scan;
mod source;
mod state;
mod tree;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::upstream::files::described::Described;
use crate::upstream::{
    Baseline, Continuation, Finding, Listing, Places, Probe, Provider, UpstreamError,
};
use crate::upstream_link::UpstreamLink;
use describe::Description;
use marker::Marker;
use place::Place;
use probe::Kept;

/// The catalog id.
pub const CATALOG: &str = "codex";

/// Where the sessions live: on this machine.
pub const HOST: &str = "gateway:local";

/// What ref and marker of a link mean.
pub const KIND: &str = "codex-rollout";

/// The catalog of Codex's sessions on this machine.
#[derive(Debug)]
pub struct CodexProvider {
    home: PathBuf,
    max_row_bytes: u64,
    kept: Kept,
    described: Described<Description>,
}

impl CodexProvider {
    /// The sessions below `codex_home`. A row over `max_row_bytes`, counted with its line end, blocks its link.
    pub fn new(codex_home: PathBuf, max_row_bytes: u64) -> Self {
        Self {
            home: codex_home,
            max_row_bytes,
            kept: Kept::default(),
            described: Described::default(),
        }
    }

    /// Keeps in `folder` what was read of files for the list, so that the next program need not read them again.
    #[must_use]
    pub fn remembering_in(self, folder: &Path) -> Self {
        let described = Described::kept_in(folder, CATALOG, &self.home);
        Self { described, ..self }
    }
}

/// The home folder that Codex uses: `CODEX_HOME` when it is set, else `.codex` in the person's home folder.
pub fn codex_home(codex_home: Option<&OsStr>, home: Option<&OsStr>) -> Option<PathBuf> {
    let set = |value: Option<&OsStr>| value.filter(|value| !value.is_empty()).map(PathBuf::from);
    set(codex_home).or_else(|| set(home).map(|home| home.join(".codex")))
}

impl Provider for CodexProvider {
    fn catalog(&self) -> &'static str {
        CATALOG
    }

    fn probe(&self, probe: &Probe) -> Finding {
        probe::answer(probe, self.max_row_bytes, &self.kept)
    }

    fn places(&self, link: &UpstreamLink) -> Option<Places> {
        let place = Place::parse(link.reference_json().as_ref()).ok()?;
        let file = Marker::parse(&link.marker_json()?).ok()?.path;
        Some(Places { file, folders: Vec::new(), by_date: place.root.by_date() })
    }

    /// After a rewind a thread goes on in a file of its own.
    fn continues(&self, path: &Path) -> Option<Continuation> {
        let name = name::Name::of(path)?;
        let to = name.segment.id()?.to_owned();
        Some(Continuation { from: name.thread, to })
    }

    fn list(&self) -> Result<Listing, UpstreamError> {
        catalog::list(&self.home, &self.kept.trees, &self.described)
    }

    fn baseline(&self, wanted: &str) -> Result<Baseline, UpstreamError> {
        catalog::baseline(&self.home, &self.kept.trees, wanted, self.max_row_bytes)
    }

    fn root(&self) -> &Path {
        &self.home
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_folder_is_the_set_one_or_lies_at_home() {
        let dir = |set: Option<&str>, home: Option<&str>| {
            codex_home(set.map(OsStr::new), home.map(OsStr::new))
        };
        assert_eq!(dir(Some("/c"), Some("/h")), Some("/c".into()));
        assert_eq!(dir(Some(""), Some("/h")), Some("/h/.codex".into()));
        assert_eq!(dir(None, Some("/h")), Some("/h/.codex".into()));
        assert_eq!(dir(None, None), None);
    }
}

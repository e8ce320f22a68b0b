//! Claude Code: reads the transcripts below its config folder.
//!
//! - [`classify`] decides for one row whether a person wrote it;
//! - [`marker`] says how far a file has been read, and which file it was;
//! - [`scan`] shows all of that for one file;
//! - [`ClaudeProvider`] answers the engine.

mod catalog;
pub mod classify;
mod describe;
pub mod marker;
mod pairing;
mod place;
mod probe;
mod record;
pub mod scan;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::upstream::files::described::Described;
use crate::upstream::files::frontier::Frontiers;
use crate::upstream::{Baseline, Finding, Listing, Probe, Provider, UpstreamError};
use describe::Description;

pub use place::kind_of;

/// The catalog id.
pub const CATALOG: &str = "claude";

/// Where the sessions live: on this machine.
pub const HOST: &str = "gateway:local";

/// What ref and marker of a link mean.
pub const KIND: &str = "claude-cli";

/// The longest row that is read unless the config says otherwise, in bytes with the line end.
pub const MAX_ROW_BYTES: u64 = 64 * 1024 * 1024;

/// The catalog of Claude Code's sessions on this machine.
#[derive(Debug)]
pub struct ClaudeProvider {
    projects: PathBuf,
    max_row_bytes: u64,
    frontiers: Frontiers,
    described: Described<Description>,
}

impl ClaudeProvider {
    /// The sessions below `config_dir`. A row over `max_row_bytes`, counted with its line end, blocks its link.
    pub fn new(config_dir: PathBuf, max_row_bytes: u64) -> Self {
        let mut projects = config_dir;
        projects.push("projects");
        Self {
            projects,
            max_row_bytes,
            frontiers: Frontiers::default(),
            described: Described::default(),
        }
    }
}

/// The config folder that Claude Code uses: `CLAUDE_CONFIG_DIR` when it is set, else `.claude` in the home folder.
pub fn config_dir(claude_config_dir: Option<&OsStr>, home: Option<&OsStr>) -> Option<PathBuf> {
    let set = |value: Option<&OsStr>| value.filter(|value| !value.is_empty()).map(PathBuf::from);
    set(claude_config_dir).or_else(|| set(home).map(|home| home.join(".claude")))
}

impl Provider for ClaudeProvider {
    fn catalog(&self) -> &'static str {
        CATALOG
    }

    fn probe(&self, probe: &Probe) -> Finding {
        probe::answer(probe, self.max_row_bytes, &self.frontiers)
    }

    fn list(&self) -> Result<Listing, UpstreamError> {
        catalog::list(&self.projects, &self.described)
    }

    fn baseline(&self, wanted: &str) -> Result<Baseline, UpstreamError> {
        catalog::baseline(&self.projects, wanted)
    }

    fn root(&self) -> &Path {
        &self.projects
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_config_folder_is_the_set_one_or_lies_at_home() {
        let dir = |set: Option<&str>, home: Option<&str>| {
            config_dir(set.map(OsStr::new), home.map(OsStr::new))
        };
        assert_eq!(dir(Some("/c"), Some("/h")), Some("/c".into()));
        assert_eq!(dir(Some(""), Some("/h")), Some("/h/.claude".into()));
        assert_eq!(dir(None, Some("/h")), Some("/h/.claude".into()));
        assert_eq!(dir(None, None), None);
    }
}

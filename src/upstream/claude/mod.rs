//! Claude Code: reads the transcripts below its config folder.
//!
//! - [`classify`] decides for one row whether a person wrote it;
//! - [`marker`] says how far a file has been read, and which file it was;
//! - `facts` and `agents` find compactions and sub-agents, `continued` and `moved` where a session went on; `copies` tells
//!   a fork's copies from its own records;
//! - [`scan`] shows all of that for one file;
//! - [`ClaudeProvider`] answers the engine.

mod agents;
mod catalog;
pub mod classify;
mod continued;
mod copies;
mod describe;
mod facts;
pub mod marker;
mod moved;
mod pairing;
mod place;
mod probe;
mod record;
mod retention;
pub mod scan;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::upstream::files::described::Described;
use crate::upstream::files::frontier::Frontiers;
use crate::upstream::{
    Baseline, Continuation, Finding, Listing, Places, Probe, Provider, UpstreamError,
};
use crate::upstream_link::UpstreamLink;
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
    births: agents::Births,
    origins: continued::Origins,
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
            births: agents::Births::default(),
            origins: continued::Origins::default(),
        }
    }

    /// Keeps in `folder` what was read of files for the list, so that the next program need not read them again.
    #[must_use]
    pub fn remembering_in(self, folder: &Path) -> Self {
        let described = Described::kept_in(folder, CATALOG, &self.projects);
        Self { described, ..self }
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
        probe::answer(probe, self)
    }

    fn places(&self, link: &UpstreamLink) -> Option<Places> {
        let reference = link.reference_json()?;
        let file = PathBuf::from(reference.get("filePath")?.as_str()?);
        let own = file.with_extension("");
        let folders = vec![own.join(agents::FOLDER), own];
        file.is_absolute().then_some(Places { file, folders, by_date: None })
    }

    fn continues(&self, path: &Path) -> Option<Continuation> {
        let to = path.file_stem()?.to_str()?.to_owned();
        self.origins.of(path).map(|from| Continuation { from, to })
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

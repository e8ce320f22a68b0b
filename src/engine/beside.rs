//! Files that come beside the sources: one of them may say that it goes on from a source, which the source itself does not
//! say. File events tell of them at once; a tick looks for them, so that nothing depends on events.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::clock::Millis;
use crate::upstream::{Continuation, Provider};
use crate::upstream_link::UpstreamLink;

/// What a file says of where it comes from, it says within so many bytes; once it is longer, it is not looked at again.
const BEGINNING: u64 = 256 * 1024;

/// How many files are looked at again as long as they are short.
const MOST: usize = 1_000;

/// A folder that changed is listed again for this long: two changes within one step of the file system's clock
/// leave the same time.
const SETTLING: Duration = Duration::from_secs(2);

/// How far behind ours the clock of a file system may be, in milliseconds.
const SLACK: Millis = 2_000;

/// Which files lie beside the sources, as far as they were seen.
#[derive(Debug, Default)]
pub(super) struct Beside {
    folders: HashMap<PathBuf, Folder>,
    /// Files that are new, with the size at which each was given last.
    young: HashMap<PathBuf, u64>,
}

#[derive(Debug, Default)]
struct Folder {
    /// When it changed last, in seconds and nanoseconds, and since when that is known.
    changed: Option<((i64, i64), Instant)>,
    files: HashSet<OsString>,
}

impl Beside {
    /// Who goes on from one of `links`, as the files say that came beside them. In a folder that is looked at for the first
    /// time, that are those written since the last tick ended, or when there was none, since the first of the links was made
    /// (in milliseconds since the epoch).
    pub(super) fn continuations(
        &mut self,
        links: &[UpstreamLink],
        providers: &[Arc<dyn Provider>],
        last_tick: Option<Millis>,
    ) -> Vec<(&'static str, Continuation)> {
        let Some(since) = last_tick.or(links.iter().map(|link| link.created_at).min()) else {
            return Vec::new();
        };
        // One that was adopted since may be what an older source goes on as.
        let sources: HashSet<PathBuf> = links
            .iter()
            .filter(|link| link.created_at < since)
            .filter_map(|link| {
                let provider =
                    providers.iter().find(|provider| provider.catalog() == link.catalog)?;
                Some(provider.places(link)?.file)
            })
            .collect();
        let mut found = Vec::new();
        for file in self.new_files(&sources, since - SLACK) {
            for provider in providers {
                if let Some(continuation) = provider.continues(&file) {
                    self.young.remove(&file);
                    found.push((provider.catalog(), continuation));
                }
            }
        }
        found
    }

    /// The files that are new beside `sources`, or new and longer than when they were given.
    fn new_files(&mut self, sources: &HashSet<PathBuf>, since: Millis) -> Vec<PathBuf> {
        let folders: HashSet<&Path> = sources.iter().filter_map(|file| file.parent()).collect();
        self.folders.retain(|folder, _| folders.contains(folder.as_path()));
        for folder in folders {
            self.list(folder, sources, since);
        }
        let mut given = Vec::new();
        self.young.retain(|path, known| {
            let Some(size) = size_of(path).filter(|_| !sources.contains(path)) else {
                return false;
            };
            if size != *known {
                given.push(path.clone());
            }
            *known = size;
            size < BEGINNING
        });
        given
    }

    fn list(&mut self, path: &Path, sources: &HashSet<PathBuf>, since: Millis) {
        let Ok(meta) = path.metadata() else { return };
        let changed = (meta.mtime(), meta.mtime_nsec());
        let is_first = !self.folders.contains_key(path);
        let folder = self.folders.entry(path.to_owned()).or_default();
        let is_settled = folder
            .changed
            .is_some_and(|(known, since)| known == changed && since.elapsed() > SETTLING);
        if is_settled {
            return;
        }
        let Ok(entries) = path.read_dir() else { return };
        for entry in entries.flatten() {
            let file = entry.path();
            if !folder.files.insert(entry.file_name()) || sources.contains(&file) {
                continue;
            }
            let is_new = !is_first || written(&file).is_some_and(|at| at >= since);
            if is_new && self.young.len() < MOST {
                self.young.insert(file, 0);
            }
        }
        if folder.changed.is_none_or(|(known, _)| known != changed) {
            folder.changed = Some((changed, Instant::now()));
        }
    }
}

/// The size of a file in bytes; `None` for anything else.
fn size_of(path: &Path) -> Option<u64> {
    path.symlink_metadata().ok().filter(std::fs::Metadata::is_file).map(|meta| meta.len())
}

fn written(path: &Path) -> Option<Millis> {
    let meta = path.symlink_metadata().ok().filter(std::fs::Metadata::is_file)?;
    Some(meta.mtime().saturating_mul(1_000).saturating_add(meta.mtime_nsec() / 1_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_come_are_given_while_they_are_short_and_grow() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let write =
            |name: &str, bytes: usize| std::fs::write(path(name), "x".repeat(bytes)).unwrap();
        let sources = HashSet::from([path("source")]);
        let mut beside = Beside::default();
        write("source", 1);
        write("old", 1);
        let none: [PathBuf; 0] = [];
        assert_eq!(beside.new_files(&sources, Millis::MAX), none);
        write("new", 0);
        write("source", 2);
        write("old", 2);
        std::fs::create_dir(path("folder")).unwrap();
        assert_eq!(beside.new_files(&sources, Millis::MAX), none, "an empty one says nothing");
        write("new", 1);
        assert_eq!(beside.new_files(&sources, Millis::MAX), [path("new")]);
        assert_eq!(beside.new_files(&sources, Millis::MAX), none);
        write("new", usize::try_from(BEGINNING).unwrap());
        assert_eq!(beside.new_files(&sources, Millis::MAX), [path("new")]);
        write("new", 5);
        assert_eq!(beside.new_files(&sources, Millis::MAX), none, "it was long enough to say it");
        let mut found = Beside::default().new_files(&sources, 0);
        found.sort();
        assert_eq!(found, [path("new"), path("old")], "written since, seen for the first time");
    }
}

//! What was read of files that have not changed since, so that listing again costs a look at each: in memory, and for
//! programs that list once and end, in a small file. That file holds what the catalog shows and nothing else; it may be
//! deleted at any time, and one that can't be read is made anew.

use std::collections::HashMap;
use std::fs::{DirBuilder, File};
use std::io::{self, BufWriter, Read as _, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::place::Stat;

/// The version of the file's form. A file of another version is not read.
const VERSION: u32 = 2;

/// The largest file that is read, in bytes.
const MOST: u64 = 256 * 1024 * 1024;

type All<D> = HashMap<PathBuf, (Stat, D)>;

/// Descriptions by path, each with how its file looked then.
#[derive(Debug)]
pub(crate) struct Described<D> {
    file: Option<PathBuf>,
    known: Mutex<Known<D>>,
}

#[derive(Debug)]
struct Known<D> {
    all: All<D>,
    is_loaded: bool,
}

#[derive(Serialize, Deserialize)]
struct Stored<E> {
    version: u32,
    files: Vec<E>,
}

#[derive(Serialize, Deserialize)]
struct Entry<P, D> {
    path: P,
    #[serde(flatten)]
    stat: Stat,
    description: D,
}

impl<D> Default for Described<D> {
    fn default() -> Self {
        Self { file: None, known: Mutex::new(Known { all: HashMap::new(), is_loaded: false }) }
    }
}

impl<D: Clone + PartialEq + Serialize + DeserializeOwned> Described<D> {
    /// Keeps them in `folder`, too; `catalog` and the `root` of its files name the file there.
    pub(crate) fn kept_in(folder: &Path, catalog: &str, root: &Path) -> Self {
        let hash = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
        let name = format!("catalog-{catalog}-{}.json", &hash[..16]);
        Self { file: Some(folder.join(name)), ..Self::default() }
    }

    pub(crate) fn get(&self, path: &Path, stat: &Stat) -> Option<D> {
        let known = self.known();
        known
            .all
            .get(path)
            .filter(|(then, _)| then == stat)
            .map(|(_, description)| description.clone())
    }

    /// Keeps these and no others.
    pub(crate) fn replace(&self, all: All<D>) {
        let mut known = self.known();
        if known.all == all {
            return;
        }
        if let Some(file) = &self.file
            && let Err(error) = write(file, &all)
        {
            tracing::warn!(%error, file = %file.display(), "what was listed could not be kept; listing again reads it again");
        }
        known.all = all;
    }

    fn known(&self) -> MutexGuard<'_, Known<D>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.is_loaded {
            known.is_loaded = true;
            known.all = self.file.as_deref().and_then(read).unwrap_or_default();
        }
        known
    }
}

/// The file's descriptions; `None` when it is not there, of another version, or not what it has to be.
fn read<D: DeserializeOwned>(file: &Path) -> Option<All<D>> {
    let mut bytes = Vec::new();
    File::open(file).ok()?.take(MOST).read_to_end(&mut bytes).ok()?;
    let stored: Stored<Entry<PathBuf, D>> = serde_json::from_slice(&bytes).ok()?;
    let all = stored.files.into_iter().map(|entry| (entry.path, (entry.stat, entry.description)));
    (stored.version == VERSION).then(|| all.collect())
}

/// Writes a new file in place of the old one, readable by the person alone.
fn write<D: Serialize>(file: &Path, all: &All<D>) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let files = all
        .iter()
        .filter_map(|(path, (stat, description))| {
            Some(Entry { path: path.to_str()?, stat: *stat, description })
        })
        .collect();
    // A file made this way has the mode 0600.
    let mut new = BufWriter::new(tempfile::NamedTempFile::new_in(folder)?);
    serde_json::to_writer(&mut new, &Stored { version: VERSION, files })?;
    new.flush()?;
    new.into_inner().map_err(io::IntoInnerError::into_error)?.persist(file)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    const STAT: Stat = Stat { device: 1, inode: u64::MAX, size: 3, modified: 4 };

    fn described(folder: &Path) -> Described<String> {
        Described::kept_in(&folder.join("cache"), "claude", Path::new("/root"))
    }

    fn file(folder: &Path) -> PathBuf {
        described(folder).file.unwrap()
    }

    #[test]
    fn what_was_kept_is_known_to_the_next_program_as_long_as_the_file_is_the_same() {
        let folder = tempfile::tempdir().unwrap();
        described(folder.path()).replace([("/a".into(), (STAT, "title".to_owned()))].into());
        let next = described(folder.path());
        assert_eq!(next.get(Path::new("/a"), &STAT).as_deref(), Some("title"));
        assert_eq!(next.get(Path::new("/a"), &Stat { size: 4, ..STAT }), None);
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&file(folder.path())), 0o600);
        assert_eq!(mode(&folder.path().join("cache")), 0o700);
        let other: Described<String> =
            Described::kept_in(&folder.path().join("cache"), "claude", Path::new("/other"));
        assert_eq!(other.get(Path::new("/a"), &STAT), None);
    }

    #[test]
    fn a_file_that_can_t_be_read_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let all: All<String> = [("/a".into(), (STAT, "title".to_owned()))].into();
        described(folder.path()).replace(all.clone());
        let path = file(folder.path());
        let good = std::fs::read(&path).unwrap();
        let of = |version: u32| format!("\"version\":{version}");
        let newer =
            String::from_utf8(good.clone()).unwrap().replace(&of(VERSION), &of(VERSION + 1));
        for bad in [&b"not json"[..], b"", &good[..good.len() / 2], newer.as_bytes()] {
            std::fs::write(&path, bad).unwrap();
            let next = described(folder.path());
            assert_eq!(next.get(Path::new("/a"), &STAT), None);
            next.replace(all.clone());
            assert_eq!(std::fs::read(&path).unwrap(), good);
        }
    }

    #[test]
    fn nothing_is_written_when_nothing_changed() {
        let folder = tempfile::tempdir().unwrap();
        let all: All<String> = [("/a".into(), (STAT, "title".to_owned()))].into();
        described(folder.path()).replace(all.clone());
        let path = file(folder.path());
        std::fs::remove_file(&path).unwrap();
        let next = described(folder.path());
        next.replace(all.clone());
        assert!(path.exists(), "another program's file went");
        std::fs::remove_file(&path).unwrap();
        next.replace(all);
        assert!(!path.exists());
    }
}

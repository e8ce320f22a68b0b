//! Which files lie below a root, by thread: a walk that costs one look at each folder that has not changed.

use std::collections::{HashMap, HashSet};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::name::{Name, Segment, is_transcript};
use super::place::{Place, Root};

/// A folder that changed is read again until its time is this old: two changes within one step of the file system's clock
/// leave the same time.
const SETTLING: Duration = Duration::from_secs(2);

/// A file of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ThreadFile {
    pub(super) path: PathBuf,
    pub(super) name: Name,
    is_away: bool,
}

impl ThreadFile {
    /// Of several files with one content the plain one wins, and of plain ones the one that is not put away.
    fn rank(&self) -> (bool, bool, &Path) {
        (self.name.is_packed, self.is_away, &self.path)
    }
}

/// The files of one thread.
#[derive(Debug, Clone, Default)]
pub(super) struct ThreadFiles(Vec<ThreadFile>);

impl ThreadFiles {
    /// The file that holds `segment`.
    pub(super) fn holding(&self, segment: &Segment) -> Option<&ThreadFile> {
        self.0
            .iter()
            .filter(|file| file.name.segment == *segment)
            .min_by(|a, b| a.rank().cmp(&b.rank()))
    }

    /// The file that the thread went on in after `segment`.
    pub(super) fn after(&self, segment: &Segment) -> Option<&ThreadFile> {
        let next =
            self.0.iter().map(|file| &file.name.segment).filter(|other| *other > segment).min()?;
        self.holding(next)
    }

    /// The file that the thread is written to.
    pub(super) fn newest(&self) -> Option<&ThreadFile> {
        self.holding(self.0.iter().map(|file| &file.name.segment).max()?)
    }
}

/// What lies below one root.
#[derive(Debug, Default)]
pub(super) struct Tree {
    folders: HashMap<PathBuf, Folder>,
    threads: HashMap<String, ThreadFiles>,
    asked: HashSet<String>,
    unreadable: Vec<(PathBuf, io::Error)>,
    is_known: bool,
}

#[derive(Debug)]
struct Folder {
    stamp: (u64, u64, i64, i64),
    since: Instant,
    is_settled: bool,
    folders: Vec<PathBuf>,
    files: Vec<PathBuf>,
    skipped: Vec<(PathBuf, String)>,
}

/// The trees of all roots. Each has its own lock, so that one that hangs holds up no other.
#[derive(Debug, Default)]
pub(super) struct Trees(Mutex<HashMap<Root, Arc<Mutex<Tree>>>>);

impl Trees {
    pub(super) fn of(&self, root: &Root) -> Arc<Mutex<Tree>> {
        let mut trees = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(trees.entry(root.clone()).or_default())
    }

    /// The files of a thread, no older than the last time that `asker` asked: many links in one tick share one walk.
    pub(super) fn files(&self, place: &Place, asker: &str) -> io::Result<ThreadFiles> {
        let tree = self.of(&place.root);
        let mut tree = tree.lock().unwrap_or_else(PoisonError::into_inner);
        if !tree.is_known || tree.asked.contains(asker) {
            tree.walk(&place.root)?;
        }
        tree.asked.insert(asker.to_owned());
        Ok(tree.thread(&place.thread))
    }

    /// The files of a thread as they lie there now. Fails when a folder can't be read: then nobody knows what lies there.
    pub(super) fn files_now(&self, place: &Place) -> io::Result<ThreadFiles> {
        let tree = self.of(&place.root);
        let mut tree = tree.lock().unwrap_or_else(PoisonError::into_inner);
        tree.walk(&place.root)?;
        match tree.unreadable.first() {
            Some((folder, error)) => {
                Err(io::Error::new(error.kind(), format!("{}: {error}", folder.display())))
            }
            None => Ok(tree.thread(&place.thread)),
        }
    }
}

impl Tree {
    fn thread(&self, thread: &str) -> ThreadFiles {
        self.threads.get(thread).cloned().unwrap_or_default()
    }

    /// All threads.
    pub(super) fn threads(&self) -> impl Iterator<Item = (&String, &ThreadFiles)> {
        self.threads.iter()
    }

    /// What was passed over, and why.
    pub(super) fn skipped(&self) -> impl Iterator<Item = (PathBuf, String)> {
        let files = self.folders.values().flat_map(|folder| folder.skipped.iter().cloned());
        files.chain(self.unreadable.iter().map(|(path, error)| (path.clone(), error.to_string())))
    }

    /// Brings everything up to date. A folder below that can't be read is noted and passed over.
    pub(super) fn walk(&mut self, root: &Root) -> io::Result<()> {
        self.is_known = false;
        self.asked.clear();
        self.unreadable.clear();
        let mut known = std::mem::take(&mut self.folders);
        let mut is_changed = false;
        let mut open: Vec<PathBuf> = root.folders()?;
        while let Some(path) = open.pop() {
            let before = known.remove(&path);
            let folder = match Folder::read(&path, before, &mut is_changed) {
                Ok(folder) => folder,
                // A folder that went meanwhile holds nothing.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => {
                    self.unreadable.push((path, error));
                    is_changed = true;
                    continue;
                }
            };
            if root.is_deep() {
                open.extend(folder.folders.iter().cloned());
            }
            self.folders.insert(path, folder);
        }
        if is_changed || !known.is_empty() {
            self.sort(root);
        }
        self.is_known = true;
        Ok(())
    }

    fn sort(&mut self, root: &Root) {
        self.threads.clear();
        for path in self.folders.values().flat_map(|folder| &folder.files) {
            if let Some(name) = Name::of(path) {
                let files = self.threads.entry(name.thread.clone()).or_default();
                files.0.push(ThreadFile { path: path.clone(), is_away: root.is_away(path), name });
            }
        }
    }
}

impl Folder {
    /// The folder at `path`: as it was read before when it has not changed since.
    fn read(path: &Path, before: Option<Self>, is_changed: &mut bool) -> io::Result<Self> {
        let meta = path.symlink_metadata()?;
        let stamp = (meta.dev(), meta.ino(), meta.mtime(), meta.mtime_nsec());
        let before = before.filter(|before| before.stamp == stamp);
        let since = match before {
            Some(before) if before.is_settled => return Ok(before),
            Some(before) => before.since,
            None => Instant::now(),
        };
        *is_changed = true;
        let mut folder = Self {
            stamp,
            since,
            is_settled: since.elapsed() > SETTLING,
            folders: Vec::new(),
            files: Vec::new(),
            skipped: Vec::new(),
        };
        for child in path.read_dir()? {
            let child = child?;
            folder.take(child.path(), child.file_type());
        }
        Ok(folder)
    }

    fn take(&mut self, path: PathBuf, kind: io::Result<std::fs::FileType>) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_transcript = is_transcript(&name);
        let reason = match kind {
            Ok(kind) if kind.is_dir() => return self.folders.push(path),
            Ok(kind) if kind.is_symlink() && (is_transcript || path.is_dir()) => {
                "it is a link, and links are not followed".to_owned()
            }
            Ok(_) if !is_transcript => return,
            Ok(kind) if !kind.is_file() => "it is not a regular file".to_owned(),
            Ok(_) if Name::of(&path).is_none() => "its name is not that of a rollout".to_owned(),
            Ok(_) => return self.files.push(path),
            Err(error) => error.to_string(),
        };
        self.skipped.push((path, reason));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rollout(home: &Path, day: u32, thread: &str) -> PathBuf {
        let folder = home.join(format!("sessions/2026/11/{day:02}"));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(format!("rollout-2026-11-04T16-20-31-{thread}.jsonl"));
        std::fs::write(&path, "").unwrap();
        path
    }

    fn place(home: &Path, thread: &str) -> Place {
        Place { root: Root::Home(home.to_owned()), thread: thread.to_owned() }
    }

    #[test]
    fn links_that_ask_once_each_share_a_walk_and_the_next_round_walks_again() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let trees = Trees::default();
        let newest = |thread: &str, asker: &str| {
            let files = trees.files(&place(&home, thread), asker).unwrap();
            files.newest().map(|file| file.path.clone())
        };
        let one = rollout(&home, 4, "one");
        assert_eq!(newest("one", "a"), Some(one));
        let two = rollout(&home, 5, "two");
        assert_eq!(newest("two", "b"), None, "walked before it was there");
        assert_eq!(newest("two", "b"), Some(two));
    }

    #[test]
    fn what_comes_and_goes_within_one_step_of_the_clock_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let trees = Trees::default();
        for number in 0..100 {
            let thread = format!("t{number}");
            let path = rollout(&home, 4, &thread);
            let is_there = || trees.files_now(&place(&home, &thread)).unwrap().newest().is_some();
            assert!(is_there(), "{thread}");
            std::fs::remove_file(path).unwrap();
            assert!(!is_there(), "{thread}");
        }
    }

    #[test]
    fn a_plain_file_wins_over_a_compressed_one_and_over_one_that_is_put_away() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let plain = rollout(&home, 4, "one");
        let archive = home.join("archived_sessions");
        std::fs::create_dir(&archive).unwrap();
        let archived = archive.join(plain.file_name().unwrap());
        let packed = plain.with_extension("jsonl.zst");
        std::fs::write(&archived, "").unwrap();
        std::fs::write(&packed, "").unwrap();
        for want in [plain, archived, packed] {
            let files = Trees::default().files_now(&place(&home, "one")).unwrap();
            assert_eq!(files.newest().map(|file| &file.path), Some(&want));
            std::fs::remove_file(want).unwrap();
        }
    }
}

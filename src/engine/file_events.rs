//! File events: which folders are watched for which links, and what was touched in them.
//!
//! Folders are watched, not files: a file that is replaced, moved or not there yet is seen all the same, and a thousand
//! transcripts of one project cost one watch. Events only say where to look; what they mean is found out by a probe. Whatever
//! goes wrong here costs speed alone, because the tick looks at every link anyway.

use std::collections::{HashMap, HashSet};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use notify::event::{EventKind, ModifyKind, RenameMode};
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::session_key::{AgentId, SessionKey};
use crate::upstream::{Held, Places};

/// By which a link is known.
pub(super) type LinkId = (SessionKey, AgentId);

/// Paths that may wait to be looked at. Beyond that, everything counts as touched.
const MOST_PATHS: usize = 4_096;

/// Files that are held open until they are probed.
const MOST_HELD: usize = 64;

/// What was touched since it was last taken.
#[derive(Debug, Default)]
struct Touched {
    paths: HashSet<PathBuf>,
    /// Watched folders that went away, or became another folder.
    gone: HashSet<PathBuf>,
    /// Events were lost.
    everything: bool,
    /// The files of the links, as far as they are known.
    sources: HashSet<PathBuf>,
    /// Those that were touched, as they were then.
    held: HashMap<PathBuf, Held>,
}

impl Touched {
    fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.gone.is_empty() && !self.everything
    }

    /// Notes what was touched. Returns the sources among it that are not held yet.
    fn note(&mut self, event: notify::Result<Event>) -> Vec<PathBuf> {
        let Ok(event) = event else {
            self.everything = true;
            return Vec::new();
        };
        if event.need_rescan() || self.paths.len() >= MOST_PATHS {
            self.everything = true;
            return Vec::new();
        }
        let goes = matches!(
            event.kind,
            EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(RenameMode::From))
        );
        let mut sources = Vec::new();
        for path in event.paths {
            if goes {
                self.gone.insert(path.clone());
            } else if self.sources.contains(&path) && !self.held.contains_key(&path) {
                sources.push(path.clone());
            }
            self.paths.insert(path);
        }
        sources
    }

    fn take(&mut self) -> (HashSet<PathBuf>, HashSet<PathBuf>, bool) {
        let Self { paths, gone, everything, .. } = self;
        (std::mem::take(paths), std::mem::take(gone), std::mem::take(everything))
    }

    fn hold(&mut self, path: PathBuf, held: Option<Held>) {
        if let Some(held) = held.filter(|_| self.held.len() < MOST_HELD) {
            self.held.entry(path).or_insert(held);
        }
    }
}

/// What has to be probed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Due {
    /// Links whose files were touched.
    pub(super) links: HashSet<LinkId>,
    /// Files beside them that belong to no link.
    pub(super) beside: Vec<PathBuf>,
}

/// How many links need a folder, and whether it is watched.
#[derive(Debug, Default)]
struct Folder {
    needed: usize,
    is_watched: bool,
    /// Device and number of the folder that is watched: the path may come to name another one.
    identity: Option<(u64, u64)>,
    /// Whether a source lies in it, so that it is waited for when it is not there.
    holds_source: bool,
}

/// The folders of the watched links.
pub(super) struct FileEvents {
    watcher: RecommendedWatcher,
    touched: Arc<Mutex<Touched>>,
    folders: HashMap<PathBuf, Folder>,
    /// The newest folders by date, below each folder of such.
    by_date: HashMap<PathBuf, Vec<PathBuf>>,
    links: HashMap<LinkId, Places>,
    /// Links by the file that is their source, and by the folder that belongs to it.
    by_path: HashMap<PathBuf, HashSet<LinkId>>,
    said: HashSet<&'static str>,
}

impl FileEvents {
    /// Begins to listen. `wake` is called once when something was touched after it was last taken; it must not block.
    ///
    /// # Errors
    /// The system has no file events to give; the text says why.
    pub(super) fn start(wake: impl Fn() + Send + 'static) -> Result<Self, String> {
        let touched = Arc::new(Mutex::new(Touched::default()));
        let shared = Arc::clone(&touched);
        let handler = move |event: notify::Result<Event>| {
            // Reading a file is an event, too, and ours must not call for the next read.
            if event.as_ref().is_ok_and(|event| event.kind.is_access() && !event.need_rescan()) {
                return;
            }
            let lock = || shared.lock().unwrap_or_else(PoisonError::into_inner);
            let (is_first, sources) = {
                let mut touched = lock();
                let was_empty = touched.is_empty();
                let sources = touched.note(event);
                (was_empty && !touched.is_empty(), sources)
            };
            for path in sources {
                let held = Held::open(&path);
                lock().hold(path, held);
            }
            if is_first {
                wake();
            }
        };
        let watcher = notify::recommended_watcher(handler).map_err(|error| {
            format!(
                "file events can't be had ({}); sessions are looked at each minute",
                why(&error)
            )
        })?;
        Ok(Self {
            watcher,
            touched,
            folders: HashMap::new(),
            by_date: HashMap::new(),
            links: HashMap::new(),
            by_path: HashMap::new(),
            said: HashSet::new(),
        })
    }

    /// Watches for exactly these links. Returns those that are new or lie elsewhere now, and what has to be said.
    pub(super) fn follow(
        &mut self,
        wanted: HashMap<LinkId, Places>,
    ) -> (HashSet<LinkId>, Vec<String>) {
        let old: Vec<_> = self
            .links
            .iter()
            .filter(|(id, places)| wanted.get(*id) != Some(*places))
            .map(|(id, _)| id.clone())
            .collect();
        for id in &old {
            self.leave(id);
        }
        let mut problems = Vec::new();
        let new: HashSet<_> =
            wanted.keys().filter(|id| !self.links.contains_key(*id)).cloned().collect();
        for (id, places) in wanted {
            if new.contains(&id) {
                self.enter(id, places, &mut problems);
            }
        }
        self.follow_dates(&mut problems);
        self.drop_unneeded();
        self.hold_sources(&new);
        (new, problems)
    }

    /// Tells the listener which files are sources, and holds those of links that are new.
    fn hold_sources(&self, new: &HashSet<LinkId>) {
        let file = |id| self.links.get(id).map(|places: &Places| places.file.clone());
        let opened: Vec<_> = new
            .iter()
            .take(MOST_HELD)
            .filter_map(file)
            .map(|path| (path.clone(), Held::open(&path)))
            .collect();
        let mut touched = self.touched();
        touched.sources = self.links.values().map(|places| places.file.clone()).collect();
        let Touched { sources, held, .. } = &mut *touched;
        held.retain(|path, _| sources.contains(path));
        for (path, held) in opened {
            touched.hold(path, held);
        }
    }

    fn enter(&mut self, id: LinkId, places: Places, problems: &mut Vec<String>) {
        for (folder, holds_source) in folders_of(&places) {
            self.need(&folder, holds_source, problems);
        }
        for path in paths_of(&places) {
            self.by_path.entry(path.to_owned()).or_default().insert(id.clone());
        }
        self.links.insert(id, places);
    }

    /// Watches a folder unless it is watched.
    fn need(&mut self, folder: &Path, holds_source: bool, problems: &mut Vec<String>) {
        let known = self.folders.entry(folder.to_owned()).or_default();
        known.needed += 1;
        known.holds_source |= holds_source;
        if !known.is_watched {
            self.watch(folder, problems);
        }
    }

    fn need_no_more(&mut self, folder: &Path) {
        if let Some(folder) = self.folders.get_mut(folder) {
            folder.needed -= 1;
        }
    }

    fn leave(&mut self, id: &LinkId) {
        let Some(places) = self.links.remove(id) else { return };
        for (folder, _) in folders_of(&places) {
            self.need_no_more(&folder);
        }
        for path in paths_of(&places) {
            if let Some(links) = self.by_path.get_mut(path) {
                links.remove(id);
                if links.is_empty() {
                    self.by_path.remove(path);
                }
            }
        }
    }

    fn drop_unneeded(&mut self) {
        let Self { folders, watcher, .. } = self;
        folders.retain(|path, folder| {
            if folder.needed == 0 && folder.is_watched {
                // It may be gone already, and with it the watch.
                let _ = watcher.unwatch(path);
            }
            folder.needed > 0
        });
    }

    /// Watches one folder; false when it is not there or can't be watched.
    fn watch(&mut self, path: &Path, problems: &mut Vec<String>) -> bool {
        let watched = self.watcher.watch(path, RecursiveMode::NonRecursive);
        let is_watched = watched.is_ok();
        if let Err(error) = watched
            && path.is_dir()
            && self.said.insert("refused")
        {
            problems.push(format!(
                "file events can't be had for {} ({}); what has none is looked at each minute",
                path.display(),
                why(&error)
            ));
        }
        if is_watched && is_remote(path) && self.said.insert("remote") {
            problems.push(format!(
                "{} lies on a network file system: what other machines write there gives no file events and is seen each minute",
                path.display()
            ));
        }
        if let Some(folder) = self.folders.get_mut(path) {
            folder.is_watched = is_watched;
            folder.identity = identity(path);
        }
        is_watched
    }

    /// Takes what was touched: the links that have to be probed, and files that belong to none.
    pub(super) fn take(&mut self) -> (Due, Vec<String>) {
        let (paths, gone, everything) = self.touched().take();
        let mut due = Due::default();
        let mut problems = Vec::new();
        if everything {
            due.links.extend(self.links.keys().cloned());
        }
        for path in &gone {
            if self.forget(path) {
                due.links.extend(self.links_in(path));
            }
        }
        for path in paths {
            let links = self.links_at(&path);
            if links.is_empty() {
                due.beside.extend(self.newly_dated(&path, &mut problems));
                due.beside.push(path);
                continue;
            }
            for id in &links {
                self.watch_what_came(id, &mut problems);
            }
            due.links.extend(links);
        }
        (due, problems)
    }

    fn touched(&self) -> MutexGuard<'_, Touched> {
        self.touched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the files of these links that are held, each as it was when it was first touched.
    pub(super) fn take_held(&self, links: &[LinkId]) -> HashMap<LinkId, Held> {
        let files: Vec<_> = links
            .iter()
            .filter_map(|id| Some((id.clone(), self.links.get(id)?.file.clone())))
            .collect();
        let mut touched = self.touched();
        let held = files
            .iter()
            .filter_map(|(id, file)| Some((id.clone(), touched.held.get(file)?.clone())))
            .collect();
        for (_, file) in &files {
            touched.held.remove(file);
        }
        held
    }

    /// A watched folder went away or is another one now: the watch went with it. False when it was none.
    fn forget(&mut self, path: &Path) -> bool {
        let Some(folder) = self.folders.get_mut(path).filter(|folder| folder.is_watched) else {
            return false;
        };
        folder.is_watched = false;
        let _ = self.watcher.unwatch(path);
        true
    }

    /// The links whose source lies in this folder.
    fn links_in(&self, folder: &Path) -> Vec<LinkId> {
        let is_inside = |places: &Places| places.file.parent() == Some(folder);
        self.links
            .iter()
            .filter(|(_, places)| is_inside(places))
            .map(|(id, _)| id.clone())
            .collect()
    }

    fn links_at(&self, path: &Path) -> HashSet<LinkId> {
        // A source, or something in the folder that belongs to one, at most two levels down.
        path.ancestors()
            .take(4)
            .filter_map(|path| self.by_path.get(path))
            .flatten()
            .cloned()
            .collect()
    }

    /// The folder that belongs to a source is made after it.
    fn watch_what_came(&mut self, id: &LinkId, problems: &mut Vec<String>) {
        let Some(places) = self.links.get(id) else { return };
        for (folder, _) in folders_of(places) {
            let is_absent = self.folders.get(&folder).is_some_and(|folder| !folder.is_watched);
            if is_absent && folder.is_dir() {
                self.watch(&folder, problems);
            }
        }
    }

    /// Looks whether folders that went away are back. Returns the links that lie in those that are.
    pub(super) fn look_for_lost(&mut self) -> (HashSet<LinkId>, Vec<String>) {
        let lost: Vec<_> = self
            .folders
            .iter()
            .filter(|(_, folder)| !folder.is_watched && folder.holds_source)
            .map(|(path, _)| path.clone())
            .collect();
        let mut problems = Vec::new();
        let mut back = HashSet::new();
        for folder in lost {
            if folder.is_dir() && self.watch(&folder, &mut problems) {
                back.extend(self.links_in(&folder));
            }
        }
        (back, problems)
    }

    /// Something about this link's source is not as it was: its folder may be another one, moved here under the watch's feet.
    pub(super) fn doubt(&mut self, id: &LinkId) {
        let folders = self.links.get(id).map(folders_of).unwrap_or_default();
        for (folder, _) in folders {
            let watched = self.folders.get(&folder).and_then(|known| known.identity);
            if watched != identity(&folder) {
                self.forget(&folder);
            }
        }
    }
}

/// The folders that are watched for a link; whether its source lies in each.
fn folders_of(places: &Places) -> Vec<(PathBuf, bool)> {
    let mut folders: Vec<_> =
        places.file.parent().map(|folder| (folder.to_owned(), true)).into_iter().collect();
    folders.extend(places.folders.iter().map(|folder| (folder.clone(), false)));
    folders
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    path.metadata().ok().map(|meta| (meta.dev(), meta.ino()))
}

fn paths_of(places: &Places) -> impl Iterator<Item = &Path> {
    std::iter::once(&*places.file).chain(places.folders.iter().map(PathBuf::as_path))
}

/// Why the system refused, in words that help.
fn why(error: &notify::Error) -> String {
    match &error.kind {
        notify::ErrorKind::MaxFilesWatch => {
            "the limit of watches is reached; raise fs.inotify.max_user_watches".into()
        }
        notify::ErrorKind::Io(error) if error.raw_os_error() == Some(24) => {
            "the limit of open files or of inotify instances is reached; raise fs.inotify.max_user_instances".into()
        }
        notify::ErrorKind::Io(error) => error.to_string(),
        notify::ErrorKind::Generic(text) => text.clone(),
        _ => "the system refused".into(),
    }
}

/// Whether a folder lies on a file system that other machines write to without this one being told.
#[cfg(target_os = "linux")]
fn is_remote(path: &Path) -> bool {
    /// The magic numbers of NFS, SMB, CIFS, SMB2, 9P, Ceph, AFS and Coda, as statfs(2) lists them.
    const REMOTE: [u32; 8] = [
        0x6969,
        0x517b,
        0xff53_4d42,
        0xfe53_4d42,
        0x0102_1997,
        0x00c3_6400,
        0x5346_414f,
        0x7375_7245,
    ];
    rustix::fs::statfs(path).is_ok_and(|found| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the numbers have 32 bits, in a wider or signed field on some machines"
        )]
        let kind = found.f_type as u32;
        REMOTE.contains(&kind)
    })
}

/// Elsewhere it is not known.
#[cfg(not(target_os = "linux"))]
fn is_remote(_: &Path) -> bool {
    false
}

#[path = "file_events_by_date.rs"]
mod by_date;

#[cfg(test)]
#[path = "file_events_tests.rs"]
mod tests;

//! File events: which folders are watched for which links, and what was touched in them.
//!
//! Folders are watched, not files: a file that is replaced, moved or not there yet is seen all the same, and a thousand
//! transcripts of one project cost one watch. Events only say where to look; what they mean is found out by a probe. Whatever
//! goes wrong here costs speed alone, because the tick looks at every link anyway.

use std::collections::{HashMap, HashSet};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use notify::event::{EventKind, ModifyKind, RenameMode};
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::session_key::{AgentId, SessionKey};
use crate::upstream::Places;

/// By which a link is known.
pub(super) type LinkId = (SessionKey, AgentId);

/// Paths that may wait to be looked at. Beyond that, everything counts as touched.
const MOST_PATHS: usize = 4_096;

/// What was touched since it was last taken.
#[derive(Debug, Default)]
struct Touched {
    paths: HashSet<PathBuf>,
    /// Watched folders that went away, or became another folder.
    gone: HashSet<PathBuf>,
    /// Events were lost.
    everything: bool,
}

impl Touched {
    fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.gone.is_empty() && !self.everything
    }

    fn note(&mut self, event: notify::Result<Event>) {
        let Ok(event) = event else {
            self.everything = true;
            return;
        };
        if event.need_rescan() || self.paths.len() >= MOST_PATHS {
            self.everything = true;
            return;
        }
        let goes = matches!(
            event.kind,
            EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(RenameMode::From))
        );
        for path in event.paths {
            if goes {
                self.gone.insert(path.clone());
            }
            self.paths.insert(path);
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
            let is_first = {
                let mut touched = shared.lock().unwrap_or_else(PoisonError::into_inner);
                let was_empty = touched.is_empty();
                touched.note(event);
                was_empty && !touched.is_empty()
            };
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
        self.drop_unneeded();
        (new, problems)
    }

    fn enter(&mut self, id: LinkId, places: Places, problems: &mut Vec<String>) {
        for (folder, holds_source) in folders_of(&places) {
            let known = self.folders.entry(folder.clone()).or_default();
            known.needed += 1;
            known.holds_source |= holds_source;
            if known.needed == 1 {
                self.watch(&folder, problems);
            }
        }
        for path in paths_of(&places) {
            self.by_path.entry(path.to_owned()).or_default().insert(id.clone());
        }
        self.links.insert(id, places);
    }

    fn leave(&mut self, id: &LinkId) {
        let Some(places) = self.links.remove(id) else { return };
        for (folder, _) in folders_of(&places) {
            if let Some(folder) = self.folders.get_mut(&folder) {
                folder.needed -= 1;
            }
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
        let Touched { paths, gone, everything } =
            std::mem::take(&mut *self.touched.lock().unwrap_or_else(PoisonError::into_inner));
        let mut due = Due::default();
        let mut problems = Vec::new();
        if everything {
            due.links.extend(self.links.keys().cloned());
        }
        for path in &gone {
            self.forget(path);
        }
        for path in paths {
            let links = self.links_at(&path);
            if links.is_empty() {
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

    /// A watched folder went away or is another one now: the watch went with it.
    fn forget(&mut self, path: &Path) {
        if let Some(folder) = self.folders.get_mut(path).filter(|folder| folder.is_watched) {
            folder.is_watched = false;
            let _ = self.watcher.unwatch(path);
        }
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
                let inside = |places: &Places| places.file.parent() == Some(&*folder);
                back.extend(
                    self.links
                        .iter()
                        .filter(|(_, places)| inside(places))
                        .map(|(id, _)| id.clone()),
                );
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    fn id(name: &str) -> LinkId {
        (SessionKey::new(format!("agent:main:claude:{name}")), AgentId::main())
    }

    struct Bench {
        events: FileEvents,
        woken: mpsc::Receiver<()>,
        folder: tempfile::TempDir,
    }

    impl Bench {
        fn new() -> Self {
            let (wake, woken) = mpsc::channel();
            let events = FileEvents::start(move || wake.send(()).unwrap()).unwrap();
            Self { events, woken, folder: tempfile::tempdir().unwrap() }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn places(&self, name: &str) -> Places {
            let tree = self.path(name);
            Places {
                file: self.path(&format!("{name}.jsonl")),
                folders: vec![tree.join("subagents"), tree],
            }
        }

        fn follow(&mut self, names: &[&str]) -> HashSet<LinkId> {
            let wanted = names.iter().map(|name| (id(name), self.places(name))).collect();
            let (new, problems) = self.events.follow(wanted);
            assert_eq!(problems, [""; 0]);
            new
        }

        /// Takes until all of `links` were touched.
        fn touched(&mut self, links: &[&str]) -> Vec<PathBuf> {
            let (mut left, mut beside) =
                (links.iter().map(|name| id(name)).collect::<HashSet<_>>(), vec![]);
            while !left.is_empty() {
                self.woken.recv_timeout(Duration::from_secs(20)).expect("an event");
                let (due, _) = self.events.take();
                left.retain(|id| !due.links.contains(id));
                beside.extend(due.beside);
            }
            beside
        }
    }

    #[test]
    fn a_touched_file_names_its_link_and_other_files_name_none() {
        let mut bench = Bench::new();
        std::fs::write(bench.path("a.jsonl"), "{}\n").unwrap();
        assert_eq!(bench.follow(&["a", "b"]), [id("a"), id("b")].into());
        assert_eq!(bench.follow(&["a", "b"]), HashSet::new());
        std::fs::write(bench.path("c.jsonl"), "{}\n").unwrap();
        std::fs::write(bench.path("b.jsonl"), "{}\n").unwrap();
        let beside = bench.touched(&["b"]);
        assert!(beside.contains(&bench.path("c.jsonl")), "{beside:?}");
        std::fs::rename(bench.path("c.jsonl"), bench.path("a.jsonl")).unwrap();
        bench.touched(&["a"]);
        std::fs::remove_file(bench.path("a.jsonl")).unwrap();
        bench.touched(&["a"]);
    }

    #[test]
    fn reading_is_no_event() {
        let mut bench = Bench::new();
        std::fs::write(bench.path("a.jsonl"), "{}\n").unwrap();
        bench.follow(&["a", "b"]);
        std::fs::read(bench.path("a.jsonl")).unwrap();
        std::fs::write(bench.path("b.jsonl"), "{}\n").unwrap();
        bench.touched(&["b"]);
        let (due, _) = bench.events.take();
        assert!(!due.links.contains(&id("a")));
    }

    #[test]
    fn a_folder_made_after_its_source_is_watched_when_it_comes() {
        let mut bench = Bench::new();
        bench.follow(&["a"]);
        std::fs::create_dir(bench.path("a")).unwrap();
        bench.touched(&["a"]);
        std::fs::create_dir(bench.path("a/subagents")).unwrap();
        bench.touched(&["a"]);
        assert!(bench.events.folders[&bench.path("a/subagents")].is_watched);
        std::fs::write(bench.path("a/subagents/agent-1.jsonl"), "{}\n").unwrap();
        bench.touched(&["a"]);
    }

    #[test]
    fn a_folder_that_went_and_came_back_is_watched_again() {
        let mut bench = Bench::new();
        let inner = bench.path("inner");
        std::fs::create_dir(&inner).unwrap();
        let file = inner.join("a.jsonl");
        std::fs::write(&file, "{}\n").unwrap();
        let places = Places { file: file.clone(), folders: Vec::new() };
        bench.events.follow([(id("a"), places)].into());
        for way in ["removed", "moved"] {
            if way == "removed" {
                std::fs::remove_dir_all(&inner).unwrap();
            } else {
                std::fs::rename(&inner, bench.path(way)).unwrap();
            }
            while bench.events.folders[&inner].is_watched {
                bench.woken.recv_timeout(Duration::from_secs(20)).expect("an event");
                bench.events.take();
            }
            assert_eq!(bench.events.look_for_lost().0, HashSet::new());
            std::fs::create_dir(&inner).unwrap();
            assert_eq!(bench.events.look_for_lost().0, [id("a")].into(), "{way}");
            std::fs::write(&file, "{}\n").unwrap();
            bench.touched(&["a"]);
        }
    }

    #[test]
    fn what_no_link_needs_is_no_longer_watched() {
        let mut bench = Bench::new();
        bench.follow(&["a", "b"]);
        assert_eq!(bench.events.folders.len(), 5);
        bench.follow(&["b"]);
        assert_eq!(bench.events.folders.len(), 3);
        bench.follow(&[]);
        assert!(bench.events.folders.is_empty() && bench.events.by_path.is_empty());
    }
}

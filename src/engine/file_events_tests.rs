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
            by_date: None,
        }
    }

    fn follow(&mut self, names: &[&str]) -> HashSet<LinkId> {
        let wanted = names.iter().map(|name| (id(name), self.places(name))).collect();
        let (new, problems) = self.events.follow(wanted);
        assert_eq!(problems, [""; 0]);
        new
    }

    /// Takes until this file was told of.
    fn until_beside(&mut self, file: &Path) {
        let mut came = self.events.take().0.beside;
        while !came.iter().any(|path| path == file) {
            self.woken.recv_timeout(Duration::from_secs(20)).expect("an event");
            came = self.events.take().0.beside;
        }
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
    let places = Places { file: file.clone(), folders: Vec::new(), by_date: None };
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
            // A file that is held keeps its folder from being gone.
            bench.events.take_held(&[id("a")]);
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

#[test]
fn a_source_is_held_from_when_it_is_touched_until_it_is_taken_and_no_longer_than_it_is_one() {
    let mut bench = Bench::new();
    let is_held = |bench: &Bench| !bench.events.take_held(&[id("a")]).is_empty();
    std::fs::write(bench.path("a.jsonl"), "{}\n").unwrap();
    bench.follow(&["a", "b"]);
    assert!(is_held(&bench), "it is new");
    assert!(!is_held(&bench), "it was taken");
    std::fs::write(bench.path("other.jsonl"), "{}\n").unwrap();
    std::fs::write(bench.path("a.jsonl"), "{}\n{}\n").unwrap();
    bench.touched(&["a"]);
    std::fs::remove_file(bench.path("a.jsonl")).unwrap();
    bench.touched(&["a"]);
    assert!(is_held(&bench), "it was touched");
    std::fs::write(bench.path("a.jsonl"), "{}\n").unwrap();
    bench.touched(&["a"]);
    bench.follow(&["b"]);
    bench.follow(&["b"]);
    assert_eq!(bench.events.touched().held.len(), 0);
}

#[test]
fn what_comes_into_the_newest_folder_by_date_is_told_whenever_that_folder_comes() {
    let mut bench = Bench::new();
    let root = bench.path("sessions");
    let day = |day: &str| root.join(day);
    std::fs::create_dir_all(day("2025/12/30")).unwrap();
    let file = day("2025/12/30").join("a.jsonl");
    std::fs::write(&file, "{}\n").unwrap();
    let places = Places { file, folders: Vec::new(), by_date: Some(root.clone()) };
    let wanted: HashMap<_, _> = [(id("a"), places.clone()), (id("b"), places)].into();
    bench.events.follow(wanted.clone());
    for newest in ["2025/12/31", "2026/01/01", "2026/02/01"] {
        std::fs::create_dir_all(day(newest)).unwrap();
        let first = day(newest).join("first.jsonl");
        std::fs::write(&first, "{}\n").unwrap();
        bench.until_beside(&first);
        // Tells of it without its folder, too: that is listened to by now.
        let second = day(newest).join("second.jsonl");
        std::fs::write(&second, "{}\n").unwrap();
        bench.until_beside(&second);
        bench.events.follow(wanted.clone());
        assert!(bench.events.folders[&day(newest)].is_watched);
    }
    assert!(!bench.events.folders.contains_key(&day("2025/12/31")), "an older one is left alone");
    bench.events.follow(HashMap::new());
    assert!(bench.events.folders.is_empty());
}

//! File events' part of the loop: which folders are listened to, and probing what was touched.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, TryLockError};
use std::time::{Duration, Instant};

use super::rounds::id_of;
use super::{Internal, Runner};
use crate::engine::beside::Beside;
use crate::engine::file_events::{FileEvents, LinkId};
use crate::upstream::{Cause, Continuation, Finding, Places, Probe};

/// A touched source is probed this long after the first event, however many follow: one prompt is several writes.
const DEBOUNCE: Duration = Duration::from_millis(60);
/// A source that is written all the time is probed at most this often.
const COOL_DOWN: Duration = Duration::from_millis(150);
/// How often folders that went away are looked for.
const LOOK_FOR_LOST: Duration = Duration::from_secs(1);

/// What file events asked for and is not done yet.
#[derive(Default)]
pub(super) struct Touching {
    pub(super) events: Option<FileEvents>,
    /// Links that are to be probed.
    links: HashMap<LinkId, Instant>,
    /// Links of which another thread says that it goes on from theirs.
    continued: HashMap<LinkId, String>,
    /// The same, as far as it was passed on: the other thread is written all the time.
    passed_on: HashSet<(LinkId, String)>,
    /// When links were last probed because of events.
    probed: HashMap<LinkId, Instant>,
    /// Whether events wait to be taken.
    is_woken: bool,
    /// When to go on.
    pub(super) due: Option<Instant>,
    looked_for_lost: Option<Instant>,
    /// What ticks know of the files beside the sources.
    beside: Arc<Mutex<Beside>>,
}

impl Runner {
    /// Begins to listen, if that is wanted. Without file events the tick does all the work.
    pub(super) fn listen(&mut self) {
        if !self.options.file_events {
            return;
        }
        let back = self.internal.clone();
        match FileEvents::start(move || drop(back.send(Internal::Touched))) {
            Ok(events) => {
                self.touching.events = Some(events);
                self.follow_folders();
                // What was touched before is what the first tick looks at.
                let links: Vec<_> = self.touching.links.drain().map(|(id, _)| id).collect();
                if let Some(events) = &self.touching.events {
                    events.take_held(&links);
                }
            }
            Err(problem) => self.problem(problem),
        }
    }

    /// Brings the folders that are listened to in step with the watched links. A link that is new is probed: what was written
    /// before its folder was listened to gave no event.
    pub(super) fn follow_folders(&mut self) {
        if self.touching.events.is_none() {
            return;
        }
        let places = match self.watched_places() {
            Ok(places) => places,
            Err(error) => {
                return self.problem(format!("could not list the upstream links: {error}"));
            }
        };
        let Some(events) = &mut self.touching.events else { return };
        self.touching.probed.retain(|id, _| places.contains_key(id));
        let (new, problems) = events.follow(places);
        self.touch(new);
        self.problems(problems);
    }

    fn watched_places(&self) -> Result<HashMap<LinkId, Places>, crate::journal::JournalError> {
        let (links, _) = self.engine.journal().watched_links()?;
        let places = links.into_iter().filter_map(|link| {
            let provider = self
                .options
                .providers
                .iter()
                .find(|provider| provider.catalog() == link.catalog)?;
            let places = provider.places(&link)?;
            Some(((link.session, link.agent), places))
        });
        Ok(places.collect())
    }

    fn problems(&mut self, problems: Vec<String>) {
        for problem in problems {
            self.problem(problem);
        }
    }

    fn touch(&mut self, links: impl IntoIterator<Item = LinkId>) {
        let now = Instant::now();
        for id in links {
            let earliest = self.touching.probed.get(&id).map_or(now, |probed| *probed + COOL_DOWN);
            self.touching.links.entry(id).or_insert(earliest.max(now + DEBOUNCE));
        }
        self.set_due();
    }

    /// The next moment at which something is to be done.
    fn set_due(&mut self) {
        let first = self.touching.links.values().min().copied();
        self.touching.due =
            first.into_iter().chain(self.touching.due.filter(|_| self.touching.is_woken)).min();
    }

    /// Something was touched.
    pub(super) fn woken_by_file(&mut self) {
        let due = Instant::now() + DEBOUNCE;
        self.touching.is_woken = true;
        self.touching.due = Some(self.touching.due.map_or(due, |earlier| earlier.min(due)));
    }

    /// Probes what was touched long enough ago.
    pub(super) fn probe_touched(&mut self) {
        if std::mem::take(&mut self.touching.is_woken)
            && let Some(events) = &mut self.touching.events
        {
            let (due, problems) = events.take();
            let now = Instant::now();
            for id in due.links {
                let earliest =
                    self.touching.probed.get(&id).map_or(now, |probed| *probed + COOL_DOWN);
                self.touching.links.entry(id).or_insert(earliest.max(now));
            }
            self.problems(problems);
            self.look_beside(due.beside);
        }
        let now = Instant::now();
        let ready: Vec<_> = self
            .touching
            .links
            .iter()
            .filter(|(_, due)| **due <= now)
            .map(|(id, _)| id.clone())
            .collect();
        let (busy, ready): (Vec<_>, Vec<_>) = ready.into_iter().partition(|id| self.is_probed(id));
        for id in busy {
            self.touching.links.insert(id, now + COOL_DOWN);
        }
        for id in &ready {
            self.touching.links.remove(id);
            self.touching.probed.insert(id.clone(), now);
        }
        if !ready.is_empty() {
            match self.engine.probes_of(&ready) {
                Ok(probes) if probes.is_empty() => {}
                Ok(probes) => {
                    let mut held = self
                        .touching
                        .events
                        .as_ref()
                        .map(|events| events.take_held(&ready))
                        .unwrap_or_default();
                    let probes = probes.into_iter().map(|probe| {
                        let held = held.remove(&id_of(&probe));
                        self.with_cause(Probe { held, ..probe })
                    });
                    let probes = probes.collect();
                    self.begin_round(probes);
                }
                Err(error) => self.problem(format!("could not read the upstream links: {error}")),
            }
        }
        self.touching.due = None;
        self.set_due();
    }

    fn with_cause(&mut self, probe: Probe) -> Probe {
        let cause = self
            .touching
            .continued
            .remove(&id_of(&probe))
            .map_or(Cause::Touched, |thread| Cause::Continued { thread });
        Probe { cause, ..probe }
    }

    /// Files beside the sources may say that they go on from one of them.
    fn look_beside(&mut self, files: Vec<PathBuf>) {
        if files.is_empty() {
            return;
        }
        let (providers, back) = (self.options.providers.clone(), self.internal.clone());
        let started = std::thread::Builder::new().name("beside".into()).spawn(move || {
            let found: Vec<_> = providers
                .iter()
                .flat_map(|provider| {
                    let of =
                        |file| provider.continues(file).map(|found| (provider.catalog(), found));
                    files.iter().filter_map(|file| of(file)).collect::<Vec<_>>()
                })
                .collect();
            if !found.is_empty() {
                let _ = back.send(Internal::Continued(found));
            }
        });
        if let Err(error) = started {
            self.problem(format!("no thread could be started for the monitor: {error}"));
        }
    }

    /// A tick looks for files beside the sources on its own: there may have been no events of them.
    pub(super) fn look_for_continuations(&mut self) {
        let journal = self.engine.journal();
        let (links, last_tick) = match (journal.watched_links(), journal.pulse()) {
            (Ok((links, _)), Ok(pulse)) => (links, pulse.map(|pulse| pulse.last_tick_at)),
            (Err(error), _) | (_, Err(error)) => {
                return self.problem(format!("could not list the upstream links: {error}"));
            }
        };
        let (providers, back) = (self.options.providers.clone(), self.internal.clone());
        let beside = Arc::clone(&self.touching.beside);
        let started = std::thread::Builder::new().name("beside".into()).spawn(move || {
            // An earlier look that hangs is not waited for.
            let mut beside = match beside.try_lock() {
                Ok(beside) => beside,
                Err(TryLockError::Poisoned(beside)) => beside.into_inner(),
                Err(TryLockError::WouldBlock) => return,
            };
            let found = beside.continuations(&links, &providers, last_tick);
            if !found.is_empty() {
                let _ = back.send(Internal::Continued(found));
            }
        });
        if let Err(error) = started {
            self.problem(format!("no thread could be started for the monitor: {error}"));
        }
    }

    /// Another thread of this catalog goes on from one: the links to that one are probed.
    pub(super) fn continued(&mut self, catalog: &str, Continuation { from, to }: &Continuation) {
        let links = match self.engine.journal().watched_links() {
            Ok((links, _)) => links,
            Err(error) => {
                return self.problem(format!("could not list the upstream links: {error}"));
            }
        };
        for link in links.into_iter().filter(|link| link.catalog == catalog && link.thread == *from)
        {
            let id = (link.session, link.agent);
            if self.touching.passed_on.insert((id.clone(), to.clone())) {
                self.touching.continued.insert(id.clone(), to.clone());
                self.touch([id]);
            }
        }
    }

    /// Looks now and then whether folders that went away are back.
    pub(super) fn look_for_lost_folders(&mut self) {
        let is_early = |looked: Instant| looked.elapsed() < LOOK_FOR_LOST;
        if self.touching.looked_for_lost.is_some_and(is_early) {
            return;
        }
        self.touching.looked_for_lost = Some(Instant::now());
        let Some(events) = &mut self.touching.events else { return };
        let (back, problems) = events.look_for_lost();
        self.touch(back);
        self.problems(problems);
    }

    /// A source that went or was replaced may have done so with the whole folder, of which there is no event when a folder
    /// above it was moved.
    pub(super) fn doubt_folder(&mut self, id: &LinkId, finding: &Finding) {
        let is_doubtful = match finding {
            Finding::Missing | Finding::Gone(_) => true,
            Finding::Read(window) => window.replaced.is_some() || window.goes_on.is_some(),
            _ => false,
        };
        if is_doubtful && let Some(events) = &mut self.touching.events {
            events.doubt(id);
        }
    }
}

//! Asking the providers: a few workers side by side, each answer bounded, so that one source that hangs holds up nobody else.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::session_key::{AgentId, SessionKey};
use crate::upstream::{Finding, Probe, Provider};

/// A provider that has not answered after this is left behind.
pub const PROBE_LIMIT: Duration = Duration::from_secs(45);

/// How many probes run side by side.
const WORKERS: usize = 4;

/// Sources whose last probe has not come back yet: they are not asked again until it has.
#[derive(Debug, Clone, Default)]
pub struct InFlight(Arc<Mutex<HashSet<(SessionKey, AgentId)>>>);

impl InFlight {
    fn set(&self) -> MutexGuard<'_, HashSet<(SessionKey, AgentId)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the last probe of this source has not come back.
    pub(super) fn holds(&self, source: &(SessionKey, AgentId)) -> bool {
        self.set().contains(source)
    }

    fn enter(&self, probe: &Probe) -> bool {
        self.set().insert((probe.link.session.clone(), probe.link.agent.clone()))
    }

    fn leave(&self, probe: &Probe) {
        self.set().remove(&(probe.link.session.clone(), probe.link.agent.clone()));
    }
}

/// What a worker says of the probe with this number.
enum Said {
    Began(usize),
    Found(usize, Box<Finding>),
}

/// What the workers share.
struct Work {
    waiting: Mutex<VecDeque<(usize, Probe)>>,
    providers: Vec<Arc<dyn Provider>>,
    in_flight: InFlight,
}

/// Asks the provider of each probe and hands each answer over as it comes. An answer is waited for at most `limit`; a source
/// whose earlier probe still hangs is not asked.
pub fn probe_all(
    providers: &[Arc<dyn Provider>],
    probes: &[Probe],
    in_flight: &InFlight,
    limit: Duration,
    mut answer: impl FnMut(&Probe, Finding),
) {
    let mut waiting = VecDeque::with_capacity(probes.len());
    for (number, probe) in probes.iter().enumerate() {
        if in_flight.enter(probe) {
            waiting.push_back((number, probe.clone()));
        } else {
            answer(probe, Finding::Unreadable("the last probe has not come back yet".into()));
        }
    }
    let mut open: HashSet<usize> = waiting.iter().map(|(number, _)| *number).collect();
    let workers = WORKERS.min(open.len());
    let work = Arc::new(Work {
        waiting: Mutex::new(waiting),
        providers: providers.to_vec(),
        in_flight: in_flight.clone(),
    });
    let (says, said) = mpsc::channel();
    for _ in 0..workers {
        start_worker(&work, &says);
    }
    let mut deadlines: HashMap<usize, Instant> = HashMap::new();
    while !open.is_empty() {
        let next = deadlines
            .values()
            .min()
            .map_or(limit, |deadline| deadline.saturating_duration_since(Instant::now()));
        match said.recv_timeout(next) {
            Ok(Said::Began(number)) => {
                deadlines.insert(number, Instant::now() + limit);
            }
            Ok(Said::Found(number, finding)) => {
                deadlines.remove(&number);
                if open.remove(&number) {
                    answer(&probes[number], *finding);
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                let now = Instant::now();
                let late: Vec<_> = deadlines
                    .iter()
                    .filter(|(_, deadline)| **deadline <= now)
                    .map(|(number, _)| *number)
                    .collect();
                for number in late {
                    deadlines.remove(&number);
                    if open.remove(&number) {
                        answer(
                            &probes[number],
                            Finding::Unreadable(format!("no answer within {} s", limit.as_secs())),
                        );
                        start_worker(&work, &says);
                    }
                }
            }
            // Unreachable while this function holds a sender; without one, nothing more would come.
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Starts a worker that takes probes until none waits. When no thread can be had, what waits is answered by the others, or
/// runs out of time and says so.
fn start_worker(work: &Arc<Work>, says: &Sender<Said>) {
    let (work, says) = (Arc::clone(work), says.clone());
    let started = std::thread::Builder::new().name("probe".into()).spawn(move || {
        loop {
            let next = work.waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            let Some((number, probe)) = next else { return };
            if says.send(Said::Began(number)).is_err() {
                return;
            }
            let finding = find(&work.providers, &probe);
            work.in_flight.leave(&probe);
            if says.send(Said::Found(number, Box::new(finding))).is_err() {
                return;
            }
        }
    });
    if let Err(error) = started {
        tracing::warn!(%error, "no thread could be started for a probe");
    }
}

/// Asks the right provider. One that panics has not answered, and the others go on.
fn find(providers: &[Arc<dyn Provider>], probe: &Probe) -> Finding {
    let Some(provider) = providers.iter().find(|provider| provider.catalog() == probe.link.catalog)
    else {
        return Finding::Unreadable(format!(
            "this program has no provider for the catalog {:?}",
            probe.link.catalog
        ));
    };
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| provider.probe(probe)))
        .unwrap_or_else(|_| Finding::Unreadable("the probe failed; the log says why".into()))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::upstream::echo::OwnTexts;
    use crate::upstream::{Baseline, Cause, Listing, UpstreamError};
    use crate::upstream_link::UpstreamLink;

    /// Answers at once, hangs until told, or panics, as the thread id says.
    #[derive(Debug)]
    struct Moody(Mutex<mpsc::Receiver<()>>);

    impl Provider for Moody {
        fn catalog(&self) -> &'static str {
            "moody"
        }

        fn probe(&self, probe: &Probe) -> Finding {
            match probe.link.thread.as_str() {
                "hangs" => {
                    let _ = self.0.lock().unwrap().recv();
                    Finding::Missing
                }
                "panics" => panic!("a provider that panics"),
                _ => Finding::Quiet,
            }
        }

        fn list(&self) -> Result<Listing, UpstreamError> {
            Ok(Listing::default())
        }

        fn baseline(&self, wanted: &str) -> Result<Baseline, UpstreamError> {
            Err(UpstreamError::NotFound { catalog: "moody".into(), wanted: wanted.into() })
        }

        fn root(&self) -> &Path {
            Path::new("/")
        }
    }

    fn probe(catalog: &str, thread: &str) -> Probe {
        let link = UpstreamLink {
            session: SessionKey::new(format!("agent:main:{catalog}:{thread}")),
            agent: AgentId::main(),
            catalog: catalog.into(),
            host: "gateway:local".into(),
            thread: thread.into(),
            kind: "moody".into(),
            reference: None,
            marker: None,
            scanned_at: None,
            created_at: 0,
            updated_at: 0,
        };
        Probe { link, own_texts: OwnTexts::default(), cause: Cause::Tick, held: None }
    }

    #[test]
    fn case_24_25_and_27_one_that_hangs_or_fails_holds_up_nobody() {
        let (release, hanging) = mpsc::channel();
        let providers: Vec<Arc<dyn Provider>> = vec![Arc::new(Moody(Mutex::new(hanging)))];
        let in_flight = InFlight::default();
        let probes: Vec<_> = ["hangs", "panics", "a", "b", "c", "d", "e"]
            .map(|thread| probe("moody", thread))
            .into_iter()
            .chain([probe("nobody", "x")])
            .collect();
        let ask = |limit| {
            let mut answers = HashMap::new();
            probe_all(&providers, &probes, &in_flight, limit, |probe, finding| {
                assert!(
                    answers.insert(probe.link.thread.clone(), finding).is_none(),
                    "one answer a probe"
                );
            });
            answers
        };
        let answers = ask(Duration::from_secs(3));
        assert_eq!(answers.len(), probes.len());
        for quiet in ["a", "b", "c", "d", "e"] {
            assert_eq!(answers[quiet], Finding::Quiet, "{quiet}");
        }
        let unreadable = |finding: &Finding, words: &str| matches!(finding, Finding::Unreadable(why) if why.contains(words));
        assert!(unreadable(&answers["hangs"], "no answer within"));
        assert!(unreadable(&answers["panics"], "failed"));
        assert!(unreadable(&answers["x"], "no provider"));
        assert!(unreadable(&ask(Duration::from_secs(3))["hangs"], "has not come back"));
        release.send(()).unwrap();
        while !in_flight.set().is_empty() {
            std::thread::yield_now();
        }
        drop(release);
        assert_eq!(ask(Duration::from_secs(60))["hangs"], Finding::Missing);
    }
}

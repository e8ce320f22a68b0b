//! Sessions that say which other one they go on from: that one is asked for its own part of it.

use std::sync::{Arc, mpsc};

use super::beside::Beside;
use super::probing::PROBE_LIMIT;
use super::{Engine, EngineError};
use crate::clock::Millis;
use crate::upstream::{Cause, Continuation, Finding, Probe, Provider};

/// From which thread an adopted session goes on, when what was read of it says so.
pub(super) fn said_by(probe: &Probe, finding: &Finding) -> Option<(String, Continuation)> {
    let Finding::Read(window) = finding else { return None };
    Some((probe.link.catalog.clone(), Continuation::clone(window.continues.as_ref()?)))
}

impl Engine {
    /// Adds to `probes` the watched sessions from which others go on, each with its catalog; of two probes of one link, the one
    /// that says so stays.
    pub(super) fn ask_again(
        &self,
        probes: &mut Vec<Probe>,
        continued: &[(String, Continuation)],
    ) -> Result<(), EngineError> {
        if continued.is_empty() {
            return Ok(());
        }
        let (links, _) = self.journal.watched_links()?;
        for link in links {
            let to = continued.iter().find(|(catalog, continuation)| {
                link.catalog == *catalog && link.thread == continuation.from
            });
            let Some((_, Continuation { to, .. })) = to else { continue };
            probes.retain(|probe| probe.link.session != link.session);
            let cause = Cause::Continued { thread: to.clone() };
            probes.push(Probe { cause, ..self.probe_of(link)? });
        }
        Ok(())
    }
}

/// Tells the probes which of their sessions are gone on from by others, as far as files beside them say so that were written
/// since the last tick. Waited for no longer than for a probe.
pub(super) fn say(
    probes: &mut [Probe],
    providers: &[Arc<dyn Provider>],
    last_tick: Option<Millis>,
) {
    let links: Vec<_> = probes.iter().map(|probe| probe.link.clone()).collect();
    let (providers, (says, said)) = (providers.to_vec(), mpsc::channel());
    let started = std::thread::Builder::new().name("beside".into()).spawn(move || {
        let _ = says.send(Beside::default().continuations(&links, &providers, last_tick));
    });
    if let Err(error) = started {
        tracing::warn!(%error, "no thread could be started to look beside the sources");
        return;
    }
    let found = said.recv_timeout(PROBE_LIMIT).unwrap_or_default();
    for probe in probes {
        let to = found.iter().find(|(catalog, continuation)| {
            *catalog == probe.link.catalog && continuation.from == probe.link.thread
        });
        if let Some((_, Continuation { to, .. })) = to {
            probe.cause = Cause::Continued { thread: to.clone() };
        }
    }
}

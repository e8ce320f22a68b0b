//! Rounds: probes that are asked together, on threads of their own. A tick is a round over all links; file events begin
//! rounds over those that were touched. A link is in one round at a time, so that no source is read twice at once.

use std::collections::HashSet;

use super::{Internal, Runner};
use crate::engine::continuing;
use crate::engine::file_events::LinkId;
use crate::engine::monitor::{LinkOutcome, MAX_WINDOWS};
use crate::engine::probing::{PROBE_LIMIT, probe_all};
use crate::upstream::{Finding, Probe};

/// The number of a round.
pub(super) type RoundNumber = u64;

/// Probes that were asked together, and what they found.
#[derive(Default)]
pub(super) struct Round {
    outcomes: Vec<LinkOutcome>,
    /// Links that are not done.
    open: HashSet<LinkId>,
    /// Probes for what lies behind the windows that were read.
    more: Vec<Probe>,
    windows: usize,
}

pub(super) fn id_of(probe: &Probe) -> LinkId {
    (probe.link.session.clone(), probe.link.agent.clone())
}

impl Round {
    /// Whether this link is still probed in it.
    pub(super) fn has(&self, link: &LinkId) -> bool {
        self.open.contains(link)
    }
}

impl Runner {
    /// Whether a round under way has this link, or an earlier probe of it still hangs.
    pub(super) fn is_probed(&self, link: &LinkId) -> bool {
        self.rounds.values().any(|round| round.has(link)) || self.in_flight.holds(link)
    }

    /// Asks `probes` together. `None` when no thread can be had, which is said.
    pub(super) fn begin_round(&mut self, probes: Vec<Probe>) -> Option<RoundNumber> {
        self.last_round += 1;
        let number = self.last_round;
        let open = probes.iter().map(id_of).collect();
        self.rounds.insert(number, Round { open, ..Round::default() });
        self.ask(number, probes).then_some(number)
    }

    fn ask(&mut self, number: RoundNumber, probes: Vec<Probe>) -> bool {
        let (providers, in_flight) = (self.options.providers.clone(), self.in_flight.clone());
        let back = self.internal.clone();
        let started = std::thread::Builder::new().name("monitor".into()).spawn(move || {
            probe_all(&providers, &probes, &in_flight, PROBE_LIMIT, |probe, finding| {
                let _ = back.send(Internal::Found(number, Box::new((probe.clone(), finding))));
            });
            let _ = back.send(Internal::Probed(number));
        });
        if let Err(error) = &started {
            self.problem(format!("no thread could be started for the monitor: {error}"));
            self.rounds.remove(&number);
        }
        started.is_ok()
    }

    /// A probe is answered.
    pub(super) fn found(&mut self, number: RoundNumber, probe: &Probe, finding: Finding) {
        let id = id_of(probe);
        let is_of_tick = self.tick.as_ref().is_some_and(|tick| tick.has(number, &id));
        self.doubt_folder(&id, &finding);
        if let Some((catalog, continuation)) = continuing::said_by(probe, &finding) {
            self.continued(&catalog, &continuation);
        }
        let Some(round) = self.rounds.get_mut(&number) else { return };
        // Misses are counted by ticks alone: three events within a second say no more than one. What is quiet is written
        // down by them, too, all at once.
        let is_for_tick = matches!(
            finding,
            Finding::Quiet | Finding::QuietBut(_) | Finding::Missing | Finding::Gone(_)
        );
        if is_of_tick || !is_for_tick {
            self.dirty |= finding != Finding::Quiet;
            let next = self.engine.settle_into(probe, finding, &mut round.outcomes);
            let is_done = next.is_none();
            round.more.extend(next);
            if !is_done {
                return;
            }
        }
        if let Some(round) = self.rounds.get_mut(&number) {
            round.open.remove(&id);
        }
        self.give_to_tick(number, &id);
    }

    /// A tick that waited for this link gets what another round found there.
    fn give_to_tick(&mut self, number: RoundNumber, id: &LinkId) {
        let Some(tick) = &mut self.tick else { return };
        if !tick.waiting.remove(id) {
            return;
        }
        if let Some(round) = self.rounds.get(&number) {
            let of_link = round.outcomes.iter().filter(|outcome| outcome.session == id.0);
            tick.outcomes.extend(of_link.cloned());
        }
        self.end_tick_if_done();
    }

    /// All probes of a round are answered: reads on where more lies, or ends it.
    pub(super) fn probed(&mut self, number: RoundNumber) {
        let Some(round) = self.rounds.get_mut(&number) else { return };
        round.windows += 1;
        let more = std::mem::take(&mut round.more);
        if !more.is_empty() && round.windows < MAX_WINDOWS && self.ask(number, more) {
            return;
        }
        let left: Vec<_> = self
            .rounds
            .get_mut(&number)
            .map(|round| round.open.drain().collect())
            .unwrap_or_default();
        for id in &left {
            self.give_to_tick(number, id);
        }
        // What was read may lie elsewhere now.
        self.follow_folders();
        let round = self.rounds.remove(&number).unwrap_or_default();
        if let Some(tick) = self.tick.as_mut().filter(|tick| tick.round == Some(number)) {
            tick.round = None;
            tick.outcomes.extend(round.outcomes);
        }
        self.end_tick_if_done();
    }
}

//! The monitor's part of the loop: beginning a tick, reading on where more lies, ending it.

use super::{Answer, Internal, Runner, Tick};
use crate::engine::feed::FeedItem;
use crate::engine::live::Reply;
use crate::engine::monitor::MAX_WINDOWS;
use crate::engine::probing::{PROBE_LIMIT, probe_all};
use crate::upstream::Probe;

impl Runner {
    /// Begins a tick, or joins the one under way.
    pub(super) fn begin_tick(&mut self, asked_by: Option<Answer>) {
        if let Some(tick) = &mut self.tick {
            tick.asked_by.extend(asked_by);
            return;
        }
        match self.engine.begin_tick() {
            Ok((probes, outcomes)) => {
                self.tick = Some(Tick {
                    began: self.engine.now(),
                    outcomes,
                    more: Vec::new(),
                    windows: 0,
                    asked_by: asked_by.into_iter().collect(),
                });
                self.probe(probes);
            }
            Err(error) => {
                if let Some(answer) = asked_by {
                    let _ = answer.send(Err(format!("could not list the upstream links: {error}")));
                }
                self.problem(format!("could not list the upstream links: {error}"));
            }
        }
    }

    pub(super) fn probe(&mut self, probes: Vec<Probe>) {
        let (providers, in_flight) = (self.options.providers.clone(), self.in_flight.clone());
        let back = self.internal.clone();
        let started = std::thread::Builder::new().name("monitor".into()).spawn(move || {
            probe_all(&providers, &probes, &in_flight, PROBE_LIMIT, |probe, finding| {
                let _ = back.send(Internal::Found(Box::new(probe.clone()), finding));
            });
            let _ = back.send(Internal::Probed);
        });
        if let Err(error) = started {
            self.problem(format!("no thread could be started for the monitor: {error}"));
            self.end_tick();
        }
    }

    /// All probes of a round are answered: reads on where more lies, or ends the tick.
    pub(super) fn probed(&mut self) {
        let Some(tick) = &mut self.tick else { return };
        tick.windows += 1;
        let more = std::mem::take(&mut tick.more);
        if more.is_empty() || tick.windows >= MAX_WINDOWS {
            self.end_tick();
        } else {
            self.probe(more);
        }
    }

    pub(super) fn end_tick(&mut self) {
        let Some(tick) = self.tick.take() else { return };
        let next = self.lock.is_some().then_some(self.next_tick_at);
        let ended = self.engine.end_tick(tick.began, next, &tick.outcomes);
        self.report("could not write the monitor's pulse", ended);
        let turns: u32 = tick.outcomes.iter().map(|outcome| outcome.human_turns).sum();
        for answer in tick.asked_by {
            let _ = answer.send(Ok(Reply::Done(format!(
                "ticked: {} links, {turns} human turns",
                tick.outcomes.len()
            ))));
        }
        self.tell(FeedItem::Tick(tick.outcomes));
        self.dirty = true;
    }
}

//! The monitor's part of the loop: beginning a tick and ending it.

use std::collections::HashSet;

use super::rounds::{RoundNumber, id_of};
use super::{Answer, Runner};
use crate::clock::Millis;
use crate::engine::feed::FeedItem;
use crate::engine::file_events::LinkId;
use crate::engine::live::Reply;
use crate::engine::monitor::LinkOutcome;

/// A tick under way.
pub(super) struct Tick {
    began: Millis,
    pub(super) outcomes: Vec<LinkOutcome>,
    /// The round over its links, until that has ended.
    pub(super) round: Option<RoundNumber>,
    /// Links that another round was probing when the tick began: what that finds is the tick's as well.
    pub(super) waiting: HashSet<LinkId>,
    asked_by: Vec<Answer>,
}

impl Tick {
    /// Whether what this round finds behind this link belongs to the tick.
    pub(super) fn has(&self, round: RoundNumber, link: &LinkId) -> bool {
        self.round == Some(round) || self.waiting.contains(link)
    }
}

impl Runner {
    /// Begins a tick, or joins the one under way.
    pub(super) fn begin_tick(&mut self, asked_by: Option<Answer>) {
        if let Some(tick) = &mut self.tick {
            tick.asked_by.extend(asked_by);
            return;
        }
        self.follow_folders();
        let (probes, outcomes) = match self.engine.begin_tick() {
            Ok(begun) => begun,
            Err(error) => {
                if let Some(answer) = asked_by {
                    let _ = answer.send(Err(format!("could not list the upstream links: {error}")));
                }
                return self.problem(format!("could not list the upstream links: {error}"));
            }
        };
        let (waiting, probes): (Vec<_>, Vec<_>) = probes
            .into_iter()
            .partition(|probe| self.rounds.values().any(|round| round.has(&id_of(probe))));
        self.look_for_continuations();
        let round = self.begin_round(probes);
        self.tick = Some(Tick {
            began: self.engine.now(),
            outcomes,
            round,
            waiting: waiting.iter().map(id_of).collect(),
            asked_by: asked_by.into_iter().collect(),
        });
        self.end_tick_if_done();
    }

    /// Ends the tick once its own round and those that it waited for have answered.
    pub(super) fn end_tick_if_done(&mut self) {
        let is_done = |tick: &mut Tick| tick.round.is_none() && tick.waiting.is_empty();
        let Some(tick) = self.tick.take_if(is_done) else { return };
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
        self.dirty = self.dirty || !self.shows_quiet(&tick.outcomes);
        self.tell(FeedItem::Tick(tick.outcomes));
    }

    /// Shows a tick that found nothing new, if it was one; else the whole picture has to be made anew.
    fn shows_quiet(&mut self, outcomes: &[LinkOutcome]) -> bool {
        let before = self.snapshots.borrow().clone();
        let moved_on = self.engine.quiet_snapshot(self.revision + 1, &before, outcomes);
        // What can't be read is said where the whole picture is made.
        let Ok(Some(snapshot)) = moved_on else { return false };
        self.revision += 1;
        self.show(snapshot);
        true
    }
}

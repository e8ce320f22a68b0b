//! The rows of a rollout on their way through: decided one after the other, some only when their turn ends.

use std::collections::{HashSet, VecDeque};

use super::classify::Step;
use super::facts;
use super::record::Record;
use super::state::{State, Waiting};
use crate::upstream::echo::OwnTexts;
use crate::upstream::files::json::{Content, read_row};
use crate::upstream::files::row::{Decide, Reason, Row, Verdict, Words};
use crate::upstream::shape::Seen;
use crate::upstream::{Fact, RecordId};

/// How many rows a turn may have before an input of it that waits is decided without its end. The form that it waits for
/// stands within a few rows.
const LOOK_AHEAD: usize = 100_000;

/// Rows on their way through, each with where it stands (`P`).
pub(super) struct Reading<P> {
    state: State,
    waiting: VecDeque<(Row, P, bool)>,
    undecided: usize,
    counted: HashSet<RecordId>,
    facts: Vec<Fact>,
}

impl<P> Reading<P> {
    /// Goes on after the rows that `state` tells of.
    pub(super) fn new(state: State) -> Self {
        Self {
            state,
            waiting: VecDeque::new(),
            undecided: 0,
            counted: HashSet::new(),
            facts: Vec::new(),
        }
    }

    /// What the rows so far say, without those that wait.
    pub(super) fn into_state(self) -> State {
        self.state
    }

    /// What the rows so far tell beside human turns, oldest first; each is given once.
    pub(super) fn take_facts(&mut self) -> Vec<Fact> {
        std::mem::take(&mut self.facts)
    }

    fn settle(&mut self, counts: bool, decided: &mut dyn FnMut(Row, P)) {
        if self.undecided > 0 && !counts {
            for (row, _, waits) in &mut self.waiting {
                if std::mem::take(waits) {
                    *row = Row::other(Reason::Mirror);
                }
            }
        }
        self.undecided = 0;
        self.release(decided);
    }

    fn release(&mut self, decided: &mut dyn FnMut(Row, P)) {
        while self.undecided == 0 || self.waiting.len() > LOOK_AHEAD {
            let Some((row, place, waits)) = self.waiting.pop_front() else { break };
            self.undecided -= usize::from(waits && self.undecided > 0);
            decided(self.once(row), place);
        }
    }

    fn once(&mut self, row: Row) -> Row {
        let is_repeated =
            row.verdict == Verdict::Human && row.id.is_some_and(|id| !self.counted.insert(id));
        if is_repeated { Row::other(Reason::Repeated) } else { row }
    }
}

impl<P> Decide<P> for Reading<P> {
    fn push(&mut self, content: &[u8], place: P, decided: &mut dyn FnMut(Row, P)) {
        let read = read_row(content, |json| {
            let Seen(record) = serde_json::from_slice::<Seen<Record<'_>>>(json).ok()?;
            Some(if json[0] == b'{' {
                let step = self.state.step(&record);
                self.facts.extend(facts::told(&record, &self.state));
                step
            } else {
                Step::from(Row::other(Reason::NotARecord))
            })
        });
        let Step { row, waits, settles } = match read {
            Content::Blank => return,
            Content::Broken => Row::malformed().into(),
            Content::Read(step) => step,
        };
        if let Some(counts) = settles {
            self.settle(counts, decided);
        }
        self.undecided += usize::from(waits);
        self.waiting.push_back((row, place, waits));
        self.release(decided);
    }

    fn finish(&mut self, decided: &mut dyn FnMut(Row, P)) {
        self.settle(true, decided);
    }
}

impl Reading<()> {
    /// Takes up the inputs that waited when the state was kept.
    pub(super) fn resume(mut state: State) -> Self {
        let waited = state.turn.as_mut().map(|turn| std::mem::take(&mut turn.waiting));
        let mut reading = Self::new(state);
        for Waiting { id, at, own } in waited.into_iter().flatten() {
            let row = Row {
                verdict: Verdict::Human,
                reason: Reason::UnannouncedPrompt,
                id: id.as_deref().and_then(from_hex),
                at,
                words: Words { is_own: own, ..Words::default() },
            };
            reading.waiting.push_back((row, (), true));
            reading.undecided += 1;
        }
        reading
    }

    /// The state to go on from later. Gives what is decided behind inputs that wait to `decided`; those stay in the state.
    pub(super) fn pause(mut self, own: &OwnTexts, decided: &mut dyn FnMut(Row, ())) -> State {
        let mut kept = Vec::new();
        for (row, (), waits) in std::mem::take(&mut self.waiting) {
            if waits {
                kept.push(Waiting {
                    id: row.id.map(|id| to_hex(&id)),
                    at: row.at,
                    own: row.words.is_echo(own),
                });
            } else {
                decided(self.once(row), ());
            }
        }
        if let Some(turn) = &mut self.state.turn {
            turn.waiting = kept;
        }
        self.state
    }
}

fn to_hex(RecordId(bytes): &RecordId) -> String {
    format!("{:032x}", u128::from_be_bytes(*bytes))
}

fn from_hex(hex: &str) -> Option<RecordId> {
    u128::from_str_radix(hex, 16).ok().map(|id| RecordId(id.to_be_bytes()))
}

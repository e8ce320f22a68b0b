//! Counts a turn once in one pass, though two records may stand for it.
//!
//! A prompt taken up mid-turn leaves a queue record (`remove`, `absorbed_mid_turn`) and an attachment, in either order;
//! some builds leave the queue record alone. The attachment is the better witness (it says who wrote it), so it wins; the
//! queue record counts only when no attachment for it is met.
//!
//! The limit: this looks [`LOOK_AHEAD`] rows far and never beyond one pass. A queue record that was read before its
//! attachment was written is counted, and the attachment is then a second record of the same turn in a later pass. Both
//! carry the same id (the command's), by which whoever keeps ids over passes drops the second. If that attachment says
//! that no person wrote the prompt, the turn has been counted wrongly; for task notices the words tell, for a prompt fired
//! by a clock in the middle of a turn nothing does.

use std::collections::{HashSet, VecDeque};

use super::classify::{Delivery, FileKind, Part, Reason, Row, Verdict, classify};
use crate::upstream::RecordId;
use crate::upstream::echo::TextHash;
use crate::upstream::files::row::{self, Decide};

/// How many rows a queue record waits for its attachment. They stand within a few rows of each other.
const LOOK_AHEAD: usize = 1_000;

/// The rows of one file, decided one after the other.
pub(super) struct Rows<P> {
    kind: FileKind,
    pairing: Pairing<P>,
}

impl<P> Rows<P> {
    pub(super) fn new(kind: FileKind) -> Self {
        Self { kind, pairing: Pairing::new() }
    }
}

impl<P> Decide<P> for Rows<P> {
    fn push(&mut self, content: &[u8], place: P, decided: &mut dyn FnMut(row::Row, P)) {
        if let Some(row) = classify(content, self.kind) {
            self.pairing.push(row, place, &mut |row, place| decided(row.into(), place));
        }
    }

    fn finish(&mut self, decided: &mut dyn FnMut(row::Row, P)) {
        self.pairing.finish(&mut |row, place| decided(row.into(), place));
    }
}

/// Rows on their way through, each with where it stands (`P`).
pub(super) struct Pairing<P> {
    waiting: VecDeque<(Row, P)>,
    undecided: usize,
    counted: HashSet<RecordId>,
    lone: VecDeque<(Delivery, Option<TextHash>)>,
}

impl<P> Pairing<P> {
    pub(super) fn new() -> Self {
        Self {
            waiting: VecDeque::new(),
            undecided: 0,
            counted: HashSet::new(),
            lone: VecDeque::new(),
        }
    }

    /// Takes the next row; gives the rows that are decided by now to `decided`, in order.
    pub(super) fn push(&mut self, mut row: Row, place: P, decided: &mut impl FnMut(Row, P)) {
        match row.part {
            Part::None => {}
            Part::Attached(delivery) => self.attach(delivery, row.words),
            Part::Removed(delivery) => {
                if row.verdict != Verdict::Human || self.take_lone(delivery, row.words) {
                    set_aside(&mut row);
                } else {
                    self.undecided += 1;
                }
            }
        }
        self.waiting.push_back((row, place));
        while self.undecided == 0 || self.waiting.len() > LOOK_AHEAD {
            let Some((row, place)) = self.waiting.pop_front() else { break };
            if matches!(row.part, Part::Removed(_)) {
                self.undecided -= 1;
            }
            let row = self.once(row);
            decided(row, place);
        }
    }

    /// Decides what still waits: no attachment came.
    pub(super) fn finish(&mut self, decided: &mut impl FnMut(Row, P)) {
        while let Some((row, place)) = self.waiting.pop_front() {
            let row = self.once(row);
            decided(row, place);
        }
    }

    fn attach(&mut self, delivery: Delivery, words: Option<TextHash>) {
        let partner = self.waiting.iter_mut().map(|(row, _)| row).find(|row| {
            matches!(row.part, Part::Removed(other) if same(other, row.words, delivery, words))
        });
        if let Some(row) = partner {
            set_aside(row);
            self.undecided -= 1;
            return;
        }
        self.lone.push_back((delivery, words));
        if self.lone.len() > LOOK_AHEAD {
            self.lone.pop_front();
        }
    }

    fn take_lone(&mut self, delivery: Delivery, words: Option<TextHash>) -> bool {
        let partner =
            self.lone.iter().position(|(other, theirs)| same(delivery, words, *other, *theirs));
        partner.is_some_and(|at| self.lone.remove(at).is_some())
    }

    fn once(&mut self, row: Row) -> Row {
        let is_repeated =
            row.verdict == Verdict::Human && row.id.is_some_and(|id| !self.counted.insert(id));
        if is_repeated {
            Row { verdict: Verdict::Other, reason: Reason::Repeated, ..row }
        } else {
            row
        }
    }
}

fn set_aside(row: &mut Row) {
    row.verdict = Verdict::Other;
    if row.reason == Reason::AbsorbedPrompt {
        row.reason = Reason::Queue;
    }
    row.part = Part::None;
}

/// Whether both stand for one delivery: by the command's id; where one lacks that, by the delivery's; where neither has a
/// common id, by equal words, which is safe only because they stand side by side.
fn same(a: Delivery, a_words: Option<TextHash>, b: Delivery, b_words: Option<TextHash>) -> bool {
    match (a.command, b.command, a.delivery, b.delivery) {
        (Some(a), Some(b), _, _) | (_, _, Some(a), Some(b)) => a == b,
        _ => a_words.is_some() && a_words == b_words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reasons(rows: &[String]) -> Vec<(usize, Reason)> {
        let mut out = Vec::new();
        let mut decided = |row: Row, line| {
            if row.verdict == Verdict::Human {
                out.push((line, row.reason));
            }
        };
        let mut pairing = Pairing::new();
        for (line, row) in rows.iter().enumerate() {
            pairing.push(classify(row.as_bytes(), FileKind::Session).unwrap(), line, &mut decided);
        }
        pairing.finish(&mut decided);
        out
    }

    fn removed(ids: &str, words: &str) -> String {
        format!(
            r#"{{"type":"queue-operation","operation":"remove","reason":"absorbed_mid_turn"{ids},"content":"{words}"}}"#
        )
    }

    fn attached(uuid: &str, more: &str, words: &str) -> String {
        format!(
            r#"{{"type":"attachment","uuid":"{uuid}","attachment":{{"type":"queued_command","commandMode":"prompt","prompt":"{words}"{more}}}}}"#
        )
    }

    fn tool_result() -> String {
        r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result"}]}}"#.to_owned()
    }

    const REMOVED_A: &str = r#","commandUuid":"ca","deliveryId":"da""#;
    const ATTACHED_A: &str = r#","source_uuid":"ca","delivery_id":"da","origin":{"kind":"human"}"#;
    const ATTACHED_B: &str = r#","source_uuid":"cb","delivery_id":"da","origin":{"kind":"human"}"#;

    #[test]
    fn the_attachment_counts_in_either_order() {
        let (queue, prompt) = (removed(REMOVED_A, "x"), attached("u", ATTACHED_A, "x"));
        let wait = [queue.clone(), tool_result(), prompt.clone()];
        assert_eq!(reasons(&wait), [(2, Reason::QueuedPrompt)]);
        assert_eq!(reasons(&[prompt, tool_result(), queue]), [(0, Reason::QueuedPrompt)]);
    }

    #[test]
    fn a_queue_record_without_attachment_counts_once() {
        let queue = removed(REMOVED_A, "x");
        assert_eq!(reasons(&[queue.clone(), tool_result(), queue]), [(0, Reason::AbsorbedPrompt)]);
    }

    #[test]
    fn equal_words_are_two_turns_when_the_ids_differ() {
        let rows = [
            removed(REMOVED_A, "x"),
            removed(r#","commandUuid":"cb","deliveryId":"da""#, "x"),
            tool_result(),
            attached("u", ATTACHED_A, "x"),
            attached("v", ATTACHED_B, "x"),
        ];
        assert_eq!(reasons(&rows), [(3, Reason::QueuedPrompt), (4, Reason::QueuedPrompt)]);
    }

    #[test]
    fn the_attachment_says_that_nobody_wrote_it() {
        let other = r#","source_uuid":"ca","origin":{"kind":"peer"}"#;
        let rows = [removed(REMOVED_A, "x"), tool_result(), attached("u", other, "x")];
        assert_eq!(reasons(&rows), []);
    }

    #[test]
    fn records_without_ids_pair_by_their_words() {
        let (queue, prompt) = (removed("", "x"), attached("u", "", "x"));
        assert_eq!(reasons(&[queue.clone(), prompt.clone()]), [(1, Reason::QueuedPrompt)]);
        assert_eq!(reasons(&[prompt.clone(), queue.clone()]), [(0, Reason::QueuedPrompt)]);
        assert_eq!(
            reasons(&[queue.clone(), queue.clone(), prompt, queue]),
            [(1, Reason::AbsorbedPrompt), (2, Reason::QueuedPrompt), (3, Reason::AbsorbedPrompt)]
        );
    }

    #[test]
    fn a_queue_record_waits_no_longer_than_the_look_ahead() {
        let mut rows = vec![removed(REMOVED_A, "x")];
        rows.extend(std::iter::repeat_with(tool_result).take(LOOK_AHEAD));
        rows.push(attached("u", ATTACHED_A, "x"));
        assert_eq!(reasons(&rows), [(0, Reason::AbsorbedPrompt)]);
    }

    #[test]
    fn a_user_row_with_the_commands_id_is_the_same_turn() {
        let user = r#"{"type":"user","uuid":"ca","message":{"role":"user","content":"x"},"origin":{"kind":"human"}}"#;
        assert_eq!(
            reasons(&[attached("u", ATTACHED_A, "x"), user.to_owned()]),
            [(0, Reason::QueuedPrompt)]
        );
    }
}

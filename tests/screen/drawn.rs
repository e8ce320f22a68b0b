//! The generator leaves out no kind of message and of answer.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use tidings::engine::live::Reply;
use tidings::ui::message::{Message, Timer};

use crate::anything::{Step, step};

/// Which kinds of message and of answer there are, and which of them a step is. Both matches name every variant, so that a new one
/// does not compile before it has a place here.
fn kind(step: &Step) -> Option<usize> {
    let message = match step {
        Step::Size(..) => return None,
        Step::Answer(result) => {
            return Some(match result.as_ref() {
                Ok(Reply::Changes(_)) => MESSAGES,
                Ok(Reply::Catalog(_)) => MESSAGES + 1,
                Ok(Reply::Adopted(_)) => MESSAGES + 2,
                Ok(Reply::Sizes(_)) => MESSAGES + 3,
                Ok(Reply::Wakes(_)) => MESSAGES + 4,
                Ok(Reply::Storage(_)) => MESSAGES + 5,
                Ok(Reply::Explained(_)) => MESSAGES + 6,
                Ok(Reply::Past(_)) => MESSAGES + 7,
                Ok(Reply::Done(_)) => MESSAGES + 8,
                Err(_) => MESSAGES + 9,
            });
        }
        Step::Send(message) => message.as_ref(),
    };
    Some(match message {
        Message::Snapshot(_) => 0,
        Message::EngineGone => 1,
        Message::Tick(_) => 2,
        Message::Key(_) => 3,
        Message::Mouse(_) => 4,
        Message::Paste(_) => 5,
        Message::Resize(..) => 6,
        Message::Answer(..) => 7,
        Message::Timer(Timer::Toast(_)) => 8,
        Message::Timer(Timer::Flash(_)) => 9,
        Message::Done(_) => 10,
        Message::Trouble(_) => 11,
    })
}

const MESSAGES: usize = 12;
const ANSWERS: usize = 10;

#[test]
fn every_kind_of_message_and_of_answer_is_drawn() {
    use proptest::strategy::ValueTree as _;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let steps = vec(step(), 2_000..=2_000).new_tree(&mut runner).unwrap().current();
    let drawn: BTreeSet<usize> = steps.iter().filter_map(kind).collect();
    assert_eq!(drawn, (0..MESSAGES + ANSWERS).collect());
}

//! Rewinding: the whole picture steps through the events of the durable journal.

use std::sync::Arc;

use super::{ask, snapshot, toast};
use crate::engine::live::{Reply, Request};
use crate::event::Sequence;
use crate::ui::index::{PairId, Picture};
use crate::ui::message::Effect;
use crate::ui::model::{Asked, Model, PastShown, Tone};
use crate::ui::words;

/// Asks for the picture `steps` events from the one that is shown.
pub(super) fn step(model: &mut Model, steps: i64, effects: &mut Vec<Effect>) {
    // While one answer is to come, more steps would be counted from the wrong event.
    if model.asked.values().any(|asked| *asked == Asked::Past) {
        return;
    }
    let newest = model.live.as_ref().and_then(|live| live.journal.max);
    let shown = model.past.as_ref().map(|past| past.sequence).or(model.shown().journal.max);
    let (Some(newest), Some(from)) = (newest, shown) else {
        return toast(model, effects, Tone::Note, "the journal is empty: there is no past yet");
    };
    if steps > 0 && (model.past.is_none() || from >= newest) {
        return match model.past {
            Some(_) => live(model, effects),
            None => toast(model, effects, Tone::Note, "this is the present"),
        };
    }
    ask(model, effects, Asked::Past, Request::Past { from, steps });
}

/// The engine's answer: the picture takes the place of the present one.
pub(super) fn answered(
    model: &mut Model,
    result: Result<Reply, String>,
    effects: &mut Vec<Effect>,
) {
    match result {
        Ok(Reply::Past(Some(past))) => {
            if model.past.as_ref().is_some_and(|shown| shown.sequence == past.sequence) {
                return toast(model, effects, Tone::Note, "the journal begins here");
            }
            let not_kept = past
                .not_kept
                .iter()
                .map(|(watcher, target)| PairId {
                    watcher: watcher.clone(),
                    target: target.clone(),
                })
                .collect();
            model.past = Some(PastShown { sequence: past.sequence, not_kept });
            model.paused_at = Some(past.snapshot.at);
            model.picture = Picture::of(&Arc::new(past.snapshot.clone()));
            model.main.follow = true;
            snapshot::arrange(model);
            let text = format!("the state after {}", words::sequence(past.sequence));
            toast(model, effects, Tone::Done, &text);
        }
        Ok(Reply::Past(None)) => {
            let text = match model.past {
                Some(PastShown { sequence: Sequence(_), .. }) => "the journal begins here",
                None => "there is nothing before this in the journal",
            };
            toast(model, effects, Tone::Note, text);
        }
        Ok(_) => {}
        Err(error) => toast(model, effects, Tone::Error, &error),
    }
}

/// Shows the present again.
pub(super) fn live(model: &mut Model, effects: &mut Vec<Effect>) {
    model.past = None;
    model.paused_at = None;
    snapshot::show(model, effects);
}

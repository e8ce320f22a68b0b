//! The story of one pair, as far as its cursor and the events that are at hand tell it.

use crate::engine::snapshot::{WakeState, WatchRow};
use crate::event::Sequence;
use crate::ui::index::PairId;
use crate::ui::model::Model;
use crate::ui::sheet::{Field, Row, RowId, Tint};
use crate::ui::table::{Column, fixed, flexible, right};
use crate::ui::theme::sign;
use crate::ui::words;
use crate::visible::clean;

pub(super) const COLUMNS: [Column; 4] =
    [fixed("TIME", 19, 1), right("SEQ", 9, 2), fixed("STEP", 14, 0), flexible("WHAT", 24, 1, 0)];

pub(super) fn title(pair: &PairId) -> String {
    format!("Why: {} watches {}", words::short_key(&pair.watcher), words::short_key(&pair.target))
}

/// What is the matter, in a sentence.
pub(super) fn verdict(model: &Model, pair: &PairId) -> Option<String> {
    let watch = model.picture.pair(pair)?;
    Some(format!("{} {}: {}", sign(watch.condition), watch.condition, clean(&watch.because)))
}

pub(super) fn rows(model: &Model, pair: &PairId) -> Vec<Row> {
    let Some(watch) = model.picture.pair(pair) else { return Vec::new() };
    let mut steps = marks(watch);
    let all = &model.shown().events;
    for row in all.iter().filter(|row| row.event.session == pair.target) {
        let event = &row.event;
        let (step, tint) = if event.sequence == watch.cursor.notified {
            ("notified", Tint::Active)
        } else if event.sequence <= watch.cursor.seen {
            ("event, seen", Tint::Dim)
        } else {
            ("event, not seen", Tint::Text)
        };
        let what = format!(
            "{} by {}: {}",
            clean(event.kind.as_str()),
            clean(event.actor_type.as_str()),
            clean(&event.summary)
        );
        steps.push((Some(event.occurred_at), Some(event.sequence), step, what, tint));
    }
    wake(watch, &mut steps);
    steps.sort_by_key(|(at, sequence, ..)| (at.is_none(), *at, *sequence));
    let zone = &model.setup.zone;
    steps
        .into_iter()
        .enumerate()
        .map(|(n, (at, sequence, step, what, tint))| {
            let time = at.map(|at| words::date_and_time(at, zone)).unwrap_or_default();
            let number = sequence.map(words::sequence).unwrap_or_default();
            Row {
                id: RowId::Step(n),
                detail: vec![what.clone()],
                fields: vec![
                    Field::new(time, Tint::Dim),
                    Field::new(number, Tint::Dim),
                    Field::new(step, tint),
                    Field::new(what, tint),
                ],
            }
        })
        .collect()
}

type Step = (Option<i64>, Option<Sequence>, &'static str, String, Tint);

/// Where the cursor stands.
fn marks(watch: &WatchRow) -> Vec<Step> {
    let cursor = &watch.cursor;
    let mut steps = vec![(
        None,
        None,
        "cursor",
        format!(
            "last seen {}, notified {}, material {}; state version {}; owed {}, history {}",
            cursor.seen,
            cursor.notified,
            cursor.material,
            watch.head,
            watch.actionable_lag(),
            watch.history_lag()
        ),
        Tint::Text,
    )];
    if let Some(at) = watch.pending_since {
        let what = format!("the notice opened, frozen at {}", cursor.notified);
        steps.push((Some(at), Some(cursor.notified), "notice", what, Tint::Active));
    }
    steps
}

fn wake(watch: &WatchRow, steps: &mut Vec<Step>) {
    let (at, what, tint) = match &watch.wake {
        WakeState::NotDue => return,
        WakeState::Never => {
            (None, "never woken, by design: it finds the line at its next turn".into(), Tint::Dim)
        }
        WakeState::Unknown => (None, "only the owner of the database knows".into(), Tint::Dim),
        WakeState::Coalescing(due) => {
            (Some(*due), "goes out then, for all that came until then".into(), Tint::Active)
        }
        WakeState::Fired(at) => (Some(*at), "went out".into(), Tint::Good),
        WakeState::Skipped(at, why) => {
            (Some(*at), format!("could not go out: {}", clean(why)), Tint::Warn)
        }
    };
    steps.push((at, None, "wake", what, tint));
}

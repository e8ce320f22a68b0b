//! Findings: each pair that is not in step, with the rule that it falls under and its reason. The most urgent rule stands first.

use crate::engine::snapshot::WatchRow;
use crate::ui::index::PairId;
use crate::ui::model::Model;
use crate::ui::panes::header::URGENCY;
use crate::ui::sheet::{Field, Row, RowId, Tint};
use crate::ui::table::{Column, fixed, flexible, right};
use crate::ui::theme::sign;
use crate::ui::words;
use crate::visible::clean;
use crate::watch::Condition;

pub(super) const COLUMNS: [Column; 6] = [
    fixed("RULE", 17, 0),
    flexible("WATCHER", 14, 1, 0),
    flexible("TARGET", 14, 1, 0),
    right("OWED", 6, 2),
    right("SINCE", 6, 1),
    flexible("BECAUSE", 24, 3, 3),
];

pub(super) fn rows(model: &Model) -> Vec<Row> {
    let watches = &model.shown().watches;
    let mut rows: Vec<(usize, i64, Row)> = watches
        .iter()
        .filter_map(|watch| {
            let rank = URGENCY.iter().position(|condition| *condition == watch.condition)?;
            let since = watch.pending_since.unwrap_or(i64::MAX);
            Some((rank, since, row(model, rank, watch)))
        })
        .collect();
    rows.sort_by_key(|(rank, since, _)| (*rank, *since));
    rows.into_iter().map(|(.., row)| row).collect()
}

fn row(model: &Model, rank: usize, watch: &WatchRow) -> Row {
    let cursor = &watch.cursor;
    let now = model.reckoned_now();
    let tint = tint(watch.condition);
    let since = match watch.pending_since {
        Some(at) => {
            let span = now.saturating_sub(at);
            Field::new(words::age(span), Tint::Dim).by(span)
        }
        None => Field::default(),
    };
    let because = clean(&watch.because).into_owned();
    Row {
        id: RowId::Pair(PairId::of(watch)),
        detail: vec![
            format!(
                "{} watches {}: last seen {}, notified {}, material {}, state version {}",
                words::whole_key(&cursor.watcher),
                words::whole_key(&cursor.target),
                cursor.seen,
                cursor.notified,
                cursor.material,
                watch.head,
            ),
            because.clone(),
        ],
        fields: vec![
            Field::new(format!("{} {}", sign(watch.condition), watch.condition), tint)
                .by(i64::try_from(rank).unwrap_or(i64::MAX)),
            Field::new(words::short_key(&cursor.watcher), Tint::Text),
            Field::new(words::short_key(&cursor.target), Tint::Text),
            Field::new(watch.actionable_lag().to_string(), Tint::Text).by(watch.actionable_lag()),
            since,
            Field::new(because, Tint::Dim),
        ],
    }
}

/// How a condition is meant.
pub(super) fn tint(condition: Condition) -> Tint {
    match condition {
        Condition::InStep => Tint::Good,
        Condition::Pending | Condition::Interleaved => Tint::Active,
        Condition::PendingQuiet | Condition::Unnotifiable => Tint::Dim,
        Condition::Expiring | Condition::Rewound | Condition::Unknown => Tint::Warn,
        Condition::Stalled | Condition::Stopped | Condition::Gap => Tint::Bad,
    }
}

pub(super) fn summary(model: &Model) -> String {
    let counts: Vec<String> = URGENCY
        .into_iter()
        .filter_map(|condition| {
            let count = model.picture.count(condition);
            (count > 0).then(|| format!("{} {condition}", words::number(count as u64)))
        })
        .collect();
    let watches = words::count(model.shown().watches.len(), "watch");
    if counts.is_empty() {
        return format!("{watches}, all in step");
    }
    format!("of {watches}: {}", counts.join(", "))
}

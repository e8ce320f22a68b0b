//! The story of one pair: the engine's verdict, its timeline, and the evidence. Until the engine has answered, what the cursor
//! and the events at hand tell.

use serde_json::Value;

use crate::engine::explain::{Explanation, Moment, Verdict};
use crate::engine::snapshot::WatchRow;
use crate::event::Sequence;
use crate::ui::index::PairId;
use crate::ui::model::Model;
use crate::ui::sheet::{Answers, Field, Row, RowId, Tint};
use crate::ui::table::{Column, fixed, flexible, right};
use crate::ui::theme::sign;
use crate::ui::words;
use crate::visible::clean;

pub(super) const COLUMNS: [Column; 5] = [
    fixed("TIME", 19, 1),
    right("SEQ", 9, 2),
    fixed("STEP", 14, 0),
    fixed("SEEN ┄ NOT. ┄ MAT.", 20, 3),
    flexible("WHAT", 20, 1, 0),
];

pub(super) fn title(pair: &PairId) -> String {
    format!("Why: {} watches {}", words::short_key(&pair.watcher), words::short_key(&pair.target))
}

/// What is the matter, in a sentence.
pub(super) fn verdict(model: &Model, pair: &PairId, answers: &Answers) -> Option<Field> {
    if let Some(answer) = &answers.explanation {
        let event = answer.event.map(|event| format!(" {}", words::sequence(event)));
        let event = event.unwrap_or_default();
        let word = answer.verdict.as_str();
        let text = format!("▶ {word}{event}: {}", clean(&answer.because));
        return Some(Field::new(text, tint(answer.verdict)));
    }
    let watch = model.picture.pair(pair)?;
    let because = watch.because(model.reckoned_now());
    let text = format!("{} {}: {}", sign(watch.condition), watch.condition, clean(&because));
    Some(Field::new(text, watch.condition.into()))
}

/// How good a verdict is for the person who asks why nobody was told.
fn tint(verdict: Verdict) -> Tint {
    match verdict {
        Verdict::Acknowledged | Verdict::Reconciled => Tint::Good,
        Verdict::TakenElsewhere | Verdict::Unreconciled | Verdict::Unknown => Tint::Warn,
        Verdict::Lost | Verdict::AppendFailed => Tint::Bad,
        Verdict::NotRecorded
        | Verdict::Collapsed
        | Verdict::LogOnly
        | Verdict::OtherKey
        | Verdict::NoCursor
        | Verdict::NotQualified
        | Verdict::RegisteredAfter
        | Verdict::SelfCaused
        | Verdict::Coalesced
        | Verdict::Queued
        | Verdict::WakePending => Tint::Active,
    }
}

pub(super) fn rows(model: &Model, pair: &PairId, answers: &Answers) -> Vec<Row> {
    match &answers.explanation {
        Some(answer) => told(model, answer),
        None => model.picture.pair(pair).map(|watch| at_hand(model, watch)).unwrap_or_default(),
    }
}

fn told(model: &Model, answer: &Explanation) -> Vec<Row> {
    let mut rows: Vec<Row> =
        answer.timeline.iter().enumerate().map(|(n, moment)| step(model, n, moment)).collect();
    let first = rows.len();
    for (n, (name, value)) in answer.evidence.iter().enumerate() {
        let value = match value {
            Value::String(text) => clean(text).into_owned(),
            other => words::payload(other),
        };
        let what = format!("{} = {value}", clean(name));
        rows.push(row(first + n, String::new(), None, ("evidence", Tint::Dim), None, what));
    }
    rows
}

fn step(model: &Model, n: usize, moment: &Moment) -> Row {
    let mut what = Vec::new();
    what.extend(moment.kind.as_deref().map(|kind| clean(kind).into_owned()));
    what.extend(moment.note.as_deref().map(|note| clean(note).into_owned()));
    let tint = match moment.what {
        "queued" | "follow-up" | "wake-asked" => Tint::Active,
        "acknowledged" | "drained" | "reconciled" | "wake-fired" => Tint::Good,
        "wake-skipped" | "evicted" => Tint::Warn,
        "expired" | "reset" | "deleted" | "unwatched" => Tint::Bad,
        _ => Tint::Text,
    };
    let time = words::date_and_time(moment.at, &model.setup.zone);
    row(n, time, moment.sequence, (moment.what, tint), moment.marks, what.join(" · "))
}

fn row(
    n: usize,
    time: String,
    sequence: Option<Sequence>,
    (word, tint): (&'static str, Tint),
    marks: Option<[Sequence; 3]>,
    what: String,
) -> Row {
    let number = sequence.map(words::sequence).unwrap_or_default();
    let marks = marks.map(|[a, b, c]| format!("{a} ┄ {b} ┄ {c}")).unwrap_or_default();
    let whole = [time.as_str(), &number, word, &marks, &what];
    let whole: Vec<&str> = whole.into_iter().filter(|part| !part.is_empty()).collect();
    Row {
        id: RowId::Step(n),
        detail: vec![whole.join("  ")],
        fields: vec![
            Field::new(time, Tint::Dim),
            Field::new(number, Tint::Dim),
            Field::new(word, tint),
            Field::new(marks, Tint::Text),
            Field::new(what, Tint::Text),
        ],
    }
}

/// What is known without asking.
fn at_hand(model: &Model, watch: &WatchRow) -> Vec<Row> {
    let cursor = &watch.cursor;
    let events = model.shown().events.iter().map(|row| &row.event);
    let mut rows: Vec<Row> = events
        .filter(|event| event.session == cursor.target)
        .enumerate()
        .map(|(n, event)| {
            let word = if event.sequence <= cursor.seen { "seen" } else { "not seen" };
            let time = words::date_and_time(event.occurred_at, &model.setup.zone);
            let what = format!("{} · {}", clean(event.kind.as_str()), clean(&event.summary));
            row(n, time, Some(event.sequence), (word, Tint::Text), None, what)
        })
        .collect();
    let marks = [cursor.seen, cursor.notified, cursor.material];
    let what = format!("owed {}, history {}", watch.actionable_lag(), watch.history_lag());
    rows.push(row(rows.len(), String::new(), None, ("cursor", Tint::Active), Some(marks), what));
    rows
}

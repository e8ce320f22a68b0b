//! What waits for each session: notices, other lines, messages; and its wake.

use std::collections::BTreeMap;

use crate::clock::SECOND;
use crate::engine::queue::CAPACITY;
use crate::engine::snapshot::{QueueRow, WakeRow};
use crate::session_key::SessionKey;
use crate::ui::model::Model;
use crate::ui::sheet::{Answers, Field, Row, RowId, Tint};
use crate::ui::table::{Column, fixed, flexible, right};
use crate::ui::words;
use crate::visible::clean;

pub(super) const COLUMNS: [Column; 8] = [
    flexible("SESSION", 18, 2, 0),
    right("NOTICES", 7, 0),
    fixed("LINES", 14, 2),
    right("PUSHED OUT", 10, 4),
    right("MESSAGES", 8, 1),
    flexible("WAKE", 26, 2, 0),
    right("WHEN", 8, 3),
    flexible("REASON", 16, 1, 5),
];
/// How wide the picture of a queue is.
const BAR: usize = 8;

/// What is known of one session.
#[derive(Default)]
struct Waiting<'a> {
    queue: Option<&'a QueueRow>,
    notices: usize,
    messages: usize,
    wake: Option<&'a WakeRow>,
}

pub(super) fn rows(model: &Model, answers: &Answers) -> Vec<Row> {
    let all = model.shown();
    let mut waiting: BTreeMap<&SessionKey, Waiting<'_>> = BTreeMap::new();
    for queue in &all.queues {
        waiting.entry(&queue.session).or_default().queue = Some(queue);
    }
    for notice in &all.notices {
        if let Some(watch) = all.watches.get(notice.watch) {
            waiting.entry(&watch.cursor.watcher).or_default().notices += 1;
        }
    }
    for session in all.sessions.iter().filter(|session| session.messages > 0) {
        waiting.entry(&session.key).or_default().messages = session.messages;
    }
    let wakes = wakes(model, answers);
    for wake in wakes.into_iter().flatten() {
        waiting.entry(&wake.watcher).or_default().wake = Some(wake);
    }
    let is_known = wakes.is_some();
    waiting.into_iter().map(|(session, waiting)| row(model, session, &waiting, is_known)).collect()
}

/// The wakes. `None` until the engine has answered, and in the past: nobody kept which were due then.
fn wakes<'a>(model: &Model, answers: &'a Answers) -> Option<&'a [WakeRow]> {
    answers.wakes.as_deref().filter(|_| model.past.is_none())
}

fn number(n: usize, tint: Tint) -> Field {
    let tint = if n == 0 { Tint::Dim } else { tint };
    Field::new(words::number(n as u64), tint).by(i64::try_from(n).unwrap_or(i64::MAX))
}

/// Of another system only what its cursors imply is known.
fn implied_row(session: &SessionKey, notices: usize) -> Row {
    let unknown = || Field::new("?", Tint::Dim);
    Row {
        id: RowId::Queue(session.clone()),
        fields: vec![
            Field::new(words::short_key(session), Tint::Text),
            number(notices, Tint::Active),
            Field::new("not known here", Tint::Dim),
            unknown(),
            unknown(),
            Field::new("? unknown", Tint::Dim),
            Field::default(),
            Field::default(),
        ],
        detail: vec![
            format!(
                "{}: the cursors imply {}",
                words::whole_key(session),
                words::count(notices, "notice")
            ),
            "whether their lines wait, what else waits and who is woken only that system knows"
                .into(),
        ],
    }
}

fn row(model: &Model, session: &SessionKey, waiting: &Waiting<'_>, is_known: bool) -> Row {
    if model.shown().is_attached() {
        return implied_row(session, waiting.notices);
    }
    let lines = match waiting.queue {
        Some(queue) => {
            let filled = queue.others.saturating_mul(BAR).div_ceil(CAPACITY).min(BAR);
            let bar = format!("{}{}", "█".repeat(filled), "░".repeat(BAR - filled));
            let tint = if queue.others >= CAPACITY { Tint::Bad } else { Tint::Text };
            Field::new(format!("{bar} {}/{CAPACITY}", queue.others), tint)
                .by(i64::try_from(queue.others).unwrap_or(i64::MAX))
        }
        None => Field::new("not known here", Tint::Dim),
    };
    let evicted = waiting.queue.map_or(0, |queue| queue.evicted);
    let pushed_out = number(usize::try_from(evicted).unwrap_or(usize::MAX), Tint::Bad);
    let (wake, when) = wake(model, waiting.wake, is_known);
    let reason = waiting.wake.map(|wake| clean(&wake.reason).into_owned()).unwrap_or_default();
    let tint = if *session == SessionKey::operator() { Tint::Own } else { Tint::Text };
    let detail = vec![
        format!(
            "{}: {} and {} wait; at most {CAPACITY} lines that are no notices, the oldest makes room",
            words::whole_key(session),
            words::count(waiting.notices, "notice"),
            words::count(waiting.messages, "message"),
        ),
        match waiting.wake {
            Some(wake) => format!(
                "wake for {}{}",
                clean(&wake.reason),
                wake.ended_at
                    .map(|at| format!(
                        ", last ended {}",
                        words::date_and_time(at, &model.setup.zone)
                    ))
                    .unwrap_or_default()
            ),
            None if is_known => "no wake was asked for".to_owned(),
            None => "whether a wake is due is not known here".to_owned(),
        },
    ];
    Row {
        id: RowId::Queue(session.clone()),
        fields: vec![
            Field::new(words::short_key(session), tint),
            number(waiting.notices, Tint::Active),
            lines,
            pushed_out,
            number(waiting.messages, Tint::Own),
            wake,
            when,
            Field::new(reason, Tint::Dim),
        ],
        detail,
    }
}

fn wake(model: &Model, wake: Option<&WakeRow>, is_known: bool) -> (Field, Field) {
    let now = model.reckoned_now();
    let Some(wake) = wake else {
        let word = if is_known { "—" } else { "? not known" };
        return (Field::new(word, Tint::Dim), Field::default());
    };
    if let Some(due) = wake.due_at {
        let left = due.saturating_sub(now);
        let when = if left > 0 {
            format!("in {}", words::span(left.saturating_add(SECOND - 1)))
        } else {
            "now".to_owned()
        };
        return (Field::new("● waits", Tint::Active), Field::new(when, Tint::Active).by(left));
    }
    let when = match wake.ended_at {
        Some(at) => {
            let ago = now.saturating_sub(at);
            Field::new(words::age(ago), Tint::Dim).by(ago)
        }
        None => Field::default(),
    };
    let outcome = match (wake.outcome.as_deref(), &wake.outcome_reason) {
        (Some("fired"), _) => Field::new("✓ fired", Tint::Good),
        (Some(outcome), Some(reason)) => {
            Field::new(format!("! {}: {}", clean(outcome), clean(reason)), Tint::Warn)
        }
        (Some(outcome), None) => Field::new(format!("! {}", clean(outcome)), Tint::Warn),
        (None, _) => Field::new("—", Tint::Dim),
    };
    (outcome, when)
}

/// How much waits in all.
pub(super) fn summary(model: &Model, answers: &Answers) -> Field {
    let all = model.shown();
    if all.is_attached() {
        let text = "another system owns this database: what its memory holds is unknown here";
        return Field::new(text, Tint::Dim);
    }
    let messages: usize = all.sessions.iter().map(|session| session.messages).sum();
    let due = match wakes(model, answers) {
        Some(wakes) => {
            let due = wakes.iter().filter(|wake| wake.due_at.is_some()).count();
            format!("{} due", words::count(due, "wake"))
        }
        None => "wakes not known".to_owned(),
    };
    let text = format!(
        "{} pending · {} waiting · {due}",
        words::count(all.notices.len(), "notice"),
        words::count(messages, "message"),
    );
    Field::new(text, Tint::Dim)
}

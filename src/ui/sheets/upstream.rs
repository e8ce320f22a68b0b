//! Every link: where it leads, how far it was read, and what the last tick found.

use crate::clock::SECOND;
use crate::engine::snapshot::{LinkRow, SessionRow};
use crate::ui::model::Model;
use crate::ui::sheet::{Answers, Field, Row, RowId, Tint};
use crate::ui::table::{Column, fixed, flexible, right};
use crate::ui::words::{self, Health};
use crate::visible::clean;

pub(super) const COLUMNS: [Column; 9] = [
    flexible("SESSION", 18, 2, 0),
    fixed("CATALOG", 7, 6),
    flexible("OUTCOME", 22, 3, 0),
    right("LAG", 9, 1),
    right("MARKER", 12, 4),
    right("FOUND", 6, 2),
    right("MOVED", 6, 5),
    flexible("THREAD", 9, 1, 7),
    flexible("FILE", 12, 2, 8),
];

pub(super) fn rows(model: &Model, answers: &Answers) -> Vec<Row> {
    let sessions = model.shown().sessions.iter();
    sessions
        .filter_map(|session| Some(row(model, session, session.upstream.as_ref()?, answers)))
        .collect()
}

fn row(model: &Model, session: &SessionRow, link: &LinkRow, answers: &Answers) -> Row {
    let now = model.reckoned_now();
    let name = match words::title(session.title.as_deref()) {
        Some(title) => format!("{}  {title}", words::short_key(&session.key)),
        None => words::short_key(&session.key),
    };
    let (sign, tint) = match words::health(link) {
        Health::Good => ("✓", Tint::Good),
        Health::Active => ("●", Tint::Active),
        Health::Warn => ("!", Tint::Warn),
        Health::Bad => ("✗", Tint::Bad),
    };
    let outcome = match &link.detail {
        Some(detail) => format!("{sign} {}: {}", words::outcome(link), clean(detail)),
        None => format!("{sign} {}", words::outcome(link)),
    };
    let size = answers
        .sizes
        .iter()
        .find(|(key, agent, _)| *key == session.key && *agent == session.agent)
        .map(|(.., size)| *size);
    let lag = match (size, link.offset) {
        (Some(size), Some(offset)) => {
            let lag = size.saturating_sub(offset);
            let tint = if lag == 0 { Tint::Dim } else { Tint::Active };
            Field::new(words::size(lag), tint).by(i64::try_from(lag).unwrap_or(i64::MAX))
        }
        _ => Field::new("?", Tint::Dim),
    };
    let marker = link.offset.map_or_else(
        || Field::new("—", Tint::Dim),
        |offset| {
            Field::new(words::number(offset), Tint::Text)
                .by(i64::try_from(offset).unwrap_or(i64::MAX))
        },
    );
    let is_attached = model.shown().is_attached();
    let missing = if is_attached {
        "missing unknown".to_owned()
    } else {
        format!("missing {}/3", link.missing_streak)
    };
    let ago = |at: Option<i64>| match at {
        Some(at) => {
            let span = now.saturating_sub(at);
            Field::new(words::age(span), Tint::Dim).by(span)
        }
        None => Field::new("never", Tint::Dim),
    };
    let path = clean(link.path.as_deref().unwrap_or("no file is named")).into_owned();
    let size = size.map_or_else(|| "size unknown".to_owned(), words::size);
    let watched = words::count(session.watchers, "watcher");
    let detail = vec![
        format!("{} · {size} · {} on {}", path, clean(&link.kind), clean(&link.host)),
        format!(
            "thread {} · {missing} · adopted {} · {watched}{}",
            clean(&link.thread),
            words::date_and_time(link.created_at, &model.setup.zone),
            if session.watchers == 0 { ": an unwatched session is not looked at" } else { "" },
        ),
    ];
    Row {
        id: RowId::Link(session.key.clone(), session.agent.clone()),
        fields: vec![
            Field::new(name, Tint::Text),
            Field::new(clean(&link.catalog), Tint::Dim),
            Field::new(outcome, tint),
            lag,
            marker,
            if is_attached { Field::new("?", Tint::Dim) } else { ago(link.outcome_at) },
            ago(link.scanned_at),
            Field::new(clean(&link.thread), Tint::Dim),
            Field::new(path, Tint::Dim),
        ],
        detail,
    }
}

/// The monitor's pulse.
pub(super) fn summary(model: &Model) -> Field {
    let Some(live) = &model.live else { return Field::new("no tick yet", Tint::Dim) };
    let pulse = &live.pulse;
    let watched = words::count(pulse.links, "link");
    if live.is_attached() {
        let text =
            format!("only the system that owns this database knows its ticks · {watched} watched");
        return Field::new(text, Tint::Dim);
    }
    let last = match (pulse.last_tick_at, pulse.took) {
        (Some(at), took) => {
            let took = took.map(|took| format!(", took {took} ms")).unwrap_or_default();
            let ago = words::span(model.now.saturating_sub(at));
            let overdue = if pulse.overdue { "? OVERDUE, " } else { "" };
            format!("{overdue}last tick {ago} ago{took}")
        }
        (None, _) if pulse.overdue => "? OVERDUE: the monitor never ticked".to_owned(),
        (None, _) => "no tick yet".to_owned(),
    };
    let next = match pulse.next_tick_at {
        Some(at) if at > model.now => {
            format!(
                " · next in {}",
                words::span(at.saturating_sub(model.now).saturating_add(SECOND - 1))
            )
        }
        Some(_) => " · next now".to_owned(),
        None => String::new(),
    };
    let text = format!("{last}{next} · {watched} watched");
    Field::new(text, if pulse.overdue { Tint::Warn } else { Tint::Dim })
}

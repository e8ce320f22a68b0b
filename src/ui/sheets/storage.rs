//! How full the state database is, as facts with a word on each.

use crate::clock::Millis;
use crate::engine::check::Limits;
use crate::ui::model::Model;
use crate::ui::sheet::{Answers, Field, Row, RowId, Tint};
use crate::ui::table::{Column, fixed, flexible};
use crate::ui::words;
use crate::visible::clean;

pub(super) const COLUMNS: [Column; 4] = [
    fixed("WHAT", 22, 0),
    flexible("IS", 24, 2, 0),
    fixed("OF ITS LIMIT", 17, 3),
    flexible("MEANS", 20, 3, 4),
];
const BAR: i64 = 10;

pub(super) fn rows(model: &Model, answers: &Answers) -> Vec<Row> {
    let Some(storage) = &answers.storage else { return Vec::new() };
    let now = model.now;
    let counts = &storage.counts;
    let number = |n: u64| (words::number(n), i64::try_from(n).unwrap_or(i64::MAX));
    let plain = |name, (text, number), means| fact(name, (text, number), None, Tint::Text, means);
    let size = |bytes: Option<u64>| match bytes {
        Some(bytes) => (words::size(bytes), i64::try_from(bytes).unwrap_or(i64::MAX)),
        None => ("none".to_owned(), 0),
    };
    let age = counts.oldest_at.map_or(0, |at| now.saturating_sub(at));
    let failed = storage.append_failures;
    let mut rows = vec![
        fact(
            "events",
            number(storage.rows),
            Some(per_cent(storage.rows, storage.max_rows)),
            Tint::Text,
            format!("of {}; the oldest go first", words::number(storage.max_rows)),
        ),
        fact(
            "oldest event",
            (words::age(age), age),
            Some(per_cent(
                u64::try_from(age).unwrap_or(0),
                u64::try_from(storage.kept_for).unwrap_or(1),
            )),
            Tint::Text,
            format!("of {}; a reader further back is told of a gap", words::span(storage.kept_for)),
        ),
        match storage.last_prune_at {
            Some(at) => fact(
                "last prune",
                (format!("{} ago", words::span(now.saturating_sub(at))), now.saturating_sub(at)),
                None,
                Tint::Text,
                words::date_and_time(at, &model.setup.zone),
            ),
            None => plain(
                "last prune",
                ("never".to_owned(), 0),
                "an event an hour later asks for it".into(),
            ),
        },
        plain("state versions", number(counts.heads), "sessions that ever had an event".into()),
        plain(
            "heads without rows",
            number(counts.heads_without_rows),
            "their events are pruned; the version stays".into(),
        ),
        plain("watches", number(counts.cursors), "30 days after the last touch they end".into()),
        plain(
            "ledger",
            number(counts.ledger),
            "steps of notices, kept as long as the journal".into(),
        ),
        plain("messages", number(counts.messages), "deleted when their receiver takes them".into()),
        fact(
            "failed appends",
            number(failed),
            None,
            if failed == 0 { Tint::Text } else { Tint::Bad },
            "since this process started; the log says why".into(),
        ),
        lock_wait(storage.lock_wait),
        plain(
            "database file",
            size(storage.file),
            clean(&storage.path.to_string_lossy()).into_owned(),
        ),
        plain(
            "free inside it",
            size(Some(counts.free)),
            "is used again before the file grows".into(),
        ),
        plain("write-ahead log", size(storage.log), "is taken into the file by and by".into()),
    ];
    if model.shown().is_attached() {
        let is_ours = |row: &Row| {
            let ours = ["ledger", "messages", "failed appends", "lock wait", "last prune"];
            matches!(row.id, RowId::Fact(name) if ours.contains(&name))
        };
        rows.retain(|row| !is_ours(row));
    }
    rows
}

/// Below this many milliseconds nobody waits, and what is measured is chance.
const AT_ONCE: Millis = 10;

/// The bounds are those of `tidings check`.
fn lock_wait(wait: Option<Millis>) -> Row {
    let limits = Limits::default().lock_wait;
    let reaches = |bound: Option<i64>| bound.zip(wait).is_some_and(|(bound, wait)| wait >= bound);
    let tint = if wait.is_none() || reaches(limits.critical) {
        Tint::Bad
    } else if reaches(limits.warning) {
        Tint::Warn
    } else {
        Tint::Text
    };
    let text = match wait {
        Some(..AT_ONCE) => format!("under {AT_ONCE} ms"),
        Some(wait) => format!("{wait} ms"),
        None => "not to be had".to_owned(),
    };
    let means = "for the write lock, just now; another process may hold it".to_owned();
    fact("lock wait", (text, wait.unwrap_or(i64::MAX)), None, tint, means)
}

/// How near the events are to their limit, and what the file takes.
pub(super) fn summary(answers: &Answers) -> Option<Field> {
    let storage = answers.storage.as_ref()?;
    let file = storage.file.map_or_else(|| "not to be looked at".to_owned(), words::size);
    let share = per_cent(storage.rows, storage.max_rows);
    let text = format!("events at {share} % of their limit · file {file}");
    Some(Field::new(text, Tint::Dim))
}

fn per_cent(part: u64, whole: u64) -> i64 {
    i64::try_from(part.saturating_mul(100) / whole.max(1)).unwrap_or(i64::MAX)
}

fn fact(
    name: &'static str,
    (text, number): (String, i64),
    share: Option<i64>,
    tint: Tint,
    means: String,
) -> Row {
    let share = share.map_or_else(Field::default, |share| {
        let filled = usize::try_from(share.clamp(0, 100) * BAR / 100).unwrap_or(0);
        let rest = usize::try_from(BAR).unwrap_or(0) - filled;
        let tint = match share {
            ..80 => Tint::Good,
            80..95 => Tint::Warn,
            _ => Tint::Active,
        };
        Field::new(format!("{}{} {share:>3} %", "█".repeat(filled), "░".repeat(rest)), tint)
            .by(share)
    });
    Row {
        id: RowId::Fact(name),
        detail: vec![format!("{name}: {text}"), means.clone()],
        fields: vec![
            Field::new(name, Tint::Text),
            Field::new(text, tint).by(number),
            share,
            Field::new(means, Tint::Dim),
        ],
    }
}

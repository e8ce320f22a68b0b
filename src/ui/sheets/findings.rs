//! Findings work like lints: the rule, where it matches, and a sentence that says what to do. A rule that can't be judged yet
//! says so. The most urgent stands first.

use crate::engine::findings::{Finding, Rule, findings};
use crate::engine::snapshot::WatchRow;
use crate::ui::index::PairId;
use crate::ui::model::Model;
use crate::ui::sheet::{Field, Row, RowId, Tint};
use crate::ui::table::{Column, fixed, flexible, right};
use crate::ui::theme::sign;
use crate::ui::words;
use crate::visible::clean;
use crate::watch::Condition;

pub(super) const COLUMNS: [Column; 5] = [
    fixed("RULE", 19, 0),
    flexible("WHERE", 28, 2, 0),
    right("OWED", 6, 2),
    right("SINCE", 6, 1),
    flexible("BECAUSE", 24, 3, 3),
];

pub(super) fn rows(model: &Model) -> Vec<Row> {
    let all = model.shown();
    let mut rows = Vec::new();
    let mut unknown = Vec::new();
    for Finding { rule, subjects, not_judged: why } in findings(all) {
        match rule.condition() {
            None => rows.extend(subjects.into_iter().map(|subject| plain(rule, &subject))),
            Some(condition) => rows.extend(pairs(model, rule, condition)),
        }
        unknown.extend(why.map(|why| not_judged(rule, &why)));
    }
    rows.extend(unknown);
    rows
}

fn pairs(model: &Model, rule: Rule, condition: Condition) -> Vec<Row> {
    let watches = model.shown().watches.iter().filter(|watch| watch.condition == condition);
    let mut found: Vec<&WatchRow> = watches.collect();
    found.sort_by_key(|watch| watch.pending_since.unwrap_or(i64::MAX));
    found.into_iter().map(|watch| pair(model, rule, watch)).collect()
}

fn pair(model: &Model, rule: Rule, watch: &WatchRow) -> Row {
    let cursor = &watch.cursor;
    let now = model.reckoned_now();
    let since = match watch.pending_since {
        Some(at) => {
            let span = now.saturating_sub(at);
            Field::new(words::age(span), Tint::Dim).by(span)
        }
        None => Field::default(),
    };
    let because = clean(&watch.because(now)).into_owned();
    let place =
        format!("{} → {}", words::short_key(&cursor.watcher), words::short_key(&cursor.target));
    Row {
        id: RowId::Pair(PairId::of(watch)),
        detail: vec![
            format!("{because}. {}", rule.sentence()),
            format!(
                "{} → {}: last seen {}, notified {}, material {}, state version {}",
                words::whole_key(&cursor.watcher),
                words::whole_key(&cursor.target),
                cursor.seen,
                cursor.notified,
                cursor.material,
                watch.head,
            ),
        ],
        fields: vec![
            Field::new(
                format!("{} {}", sign(watch.condition), rule.as_str()),
                watch.condition.into(),
            ),
            Field::new(place, Tint::Text),
            Field::new(watch.actionable_lag().to_string(), Tint::Text).by(watch.actionable_lag()),
            since,
            Field::new(because, Tint::Dim),
        ],
    }
}

fn plain(rule: Rule, subject: &str) -> Row {
    let subject = clean(subject).into_owned();
    let fields = vec![
        Field::new(format!("! {}", rule.as_str()), Tint::Warn),
        Field::new(subject.clone(), Tint::Text),
        Field::default(),
        Field::default(),
        Field::new(rule.sentence(), Tint::Dim),
    ];
    let detail = vec![format!("{subject}: {}", rule.sentence())];
    Row { id: RowId::Finding(rule.as_str(), subject), fields, detail }
}

fn not_judged(rule: Rule, why: &str) -> Row {
    let why = clean(why).into_owned();
    let fields = vec![
        Field::new(format!("? {}", rule.as_str()), Tint::Dim),
        Field::new("not enough data yet", Tint::Dim),
        Field::default(),
        Field::default(),
        Field::new(why.clone(), Tint::Dim),
    ];
    let detail = vec![format!("{}: not enough data yet: {why}", rule.as_str())];
    Row { id: RowId::Finding(rule.as_str(), String::new()), fields, detail }
}

/// How many rules hold, and what the others find.
pub(super) fn summary(model: &Model) -> Field {
    let found = findings(model.shown());
    let (mut hold, mut counts, mut open) = (0, Vec::new(), 0);
    for finding in &found {
        match finding.matches() {
            Some(0) => hold += 1,
            Some(n) => {
                counts.push(format!("{} {}", words::number(n as u64), finding.rule.as_str()));
            }
            None => {}
        }
        open += usize::from(finding.not_judged.is_some());
    }
    let mut parts = vec![format!("of {} {hold} hold", words::count(found.len(), "rule"))];
    parts.append(&mut counts);
    if open > 0 {
        parts.push(format!("{open} can't be judged in full"));
    }
    Field::new(parts.join(" · "), Tint::Dim)
}

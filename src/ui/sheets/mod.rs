//! The rows of the sheets, one file each.

mod explain;
mod findings;
mod queue;
mod storage;
mod upstream;

use super::model::Model;
use super::sheet::{Columns, Field, Kind, Row, Sheet};

/// The rows of `sheet`, in its own order.
pub(crate) fn rows(model: &Model, sheet: &Sheet) -> Vec<Row> {
    match &sheet.kind {
        Kind::Upstream => upstream::rows(model, &sheet.answers),
        Kind::Queue => queue::rows(model, &sheet.answers),
        Kind::Storage => storage::rows(model, &sheet.answers),
        Kind::Findings => findings::rows(model),
        Kind::Explain(pair) => explain::rows(model, pair, &sheet.answers),
    }
}

/// The columns of a kind of sheet.
pub(crate) fn columns(kind: &Kind) -> Columns {
    match kind {
        Kind::Upstream => &upstream::COLUMNS,
        Kind::Queue => &queue::COLUMNS,
        Kind::Storage => &storage::COLUMNS,
        Kind::Findings => &findings::COLUMNS,
        Kind::Explain(_) => &explain::COLUMNS,
    }
}

/// The title of a sheet.
pub(crate) fn title(kind: &Kind) -> String {
    match kind {
        Kind::Upstream => "Upstream links".to_owned(),
        Kind::Queue => "Queues and wakes".to_owned(),
        Kind::Storage => "Storage".to_owned(),
        Kind::Findings => "Findings".to_owned(),
        Kind::Explain(pair) => explain::title(pair),
    }
}

/// A sentence above the list.
pub(crate) fn summary(model: &Model, sheet: &Sheet) -> Option<Field> {
    match &sheet.kind {
        Kind::Upstream => Some(upstream::summary(model)),
        Kind::Queue => Some(queue::summary(model, &sheet.answers)),
        Kind::Storage => storage::summary(&sheet.answers),
        Kind::Findings => Some(findings::summary(model)),
        Kind::Explain(pair) => explain::verdict(model, pair, &sheet.answers),
    }
}

/// What is said until the engine has answered.
const ASKING: &str = "asking the engine…";

/// What to say when there are no rows.
pub(crate) fn empty(sheet: &Sheet) -> &'static str {
    match &sheet.kind {
        Kind::Queue if sheet.ticket.is_some() => ASKING,
        Kind::Upstream => "no session is linked to a foreign source yet",
        Kind::Queue => "✓ nothing waits: no line, no message, no wake",
        Kind::Storage => ASKING,
        Kind::Findings => "✓ nothing needs a look",
        Kind::Explain(_) => "nothing is known of this watch",
    }
}

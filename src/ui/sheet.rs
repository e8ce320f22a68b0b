//! A sheet: a view that is one sortable, filtered list with details of the selected row. Its rows are made from the picture
//! and from what the engine answered, by a function for each kind of sheet.

use std::cmp::Ordering;

use super::filter::Filter;
use super::index::PairId;
use super::keymap::Context;
use super::message::Ticket;
use super::selection::Selection;
use super::table::Column;
use crate::engine::explain::Explanation;
use crate::engine::snapshot::WakeRow;
use crate::engine::storage::Storage;
use crate::session_key::{AgentId, SessionKey};
use crate::watch::Condition;

/// Which sheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The links to foreign sessions.
    Upstream,
    /// What waits for whom, and the wakes.
    Queue,
    /// How full the state database is.
    Storage,
    /// The pairs that need a look.
    Findings,
    /// The story of a pair.
    Explain(PairId),
}

impl Kind {
    /// Where its keys are looked up.
    pub(crate) fn context(&self) -> Context {
        match self {
            Self::Upstream => Context::Upstream,
            Self::Queue => Context::Queue,
            Self::Storage => Context::Storage,
            Self::Findings => Context::Findings,
            Self::Explain(_) => Context::Explain,
        }
    }
}

/// What a row is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum RowId {
    /// A link of this session.
    Link(SessionKey, AgentId),
    /// The queue of this session.
    Queue(SessionKey),
    /// A watch.
    Pair(PairId),
    /// A fact, by its name.
    Fact(&'static str),
    /// A finding: the rule, and where it matches.
    Finding(&'static str, String),
    /// A step of a story, by its place.
    Step(usize),
}

/// How a cell is meant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Tint {
    #[default]
    Text,
    Dim,
    Own,
    Good,
    Active,
    Warn,
    Bad,
}

impl From<Condition> for Tint {
    fn from(condition: Condition) -> Self {
        match condition {
            Condition::InStep => Self::Good,
            Condition::Pending | Condition::Interleaved => Self::Active,
            Condition::PendingQuiet | Condition::Unnotifiable => Self::Dim,
            Condition::Expiring | Condition::Rewound | Condition::Unknown => Self::Warn,
            Condition::Stalled | Condition::Stopped | Condition::Gap => Self::Bad,
        }
    }
}

/// What stands in a column: clean text, how it is meant, and a number to sort by in place of the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) text: String,
    pub(crate) tint: Tint,
    pub(crate) number: Option<i64>,
}

impl Field {
    pub(crate) fn new(text: impl Into<String>, tint: Tint) -> Self {
        Self { text: text.into(), tint, number: None }
    }

    pub(crate) fn by(mut self, number: i64) -> Self {
        self.number = Some(number);
        self
    }
}

/// A row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) id: RowId,
    pub(crate) fields: Vec<Field>,
    /// More about it, clean: whole lines for below the list.
    pub(crate) detail: Vec<String>,
}

/// By which column rows are sorted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sort {
    /// `None` keeps the order that the view is made in.
    pub(crate) column: Option<usize>,
    pub(crate) is_reversed: bool,
}

impl Sort {
    /// The next of `columns` columns; after the last, the view's own order.
    pub(crate) fn next(self, columns: usize) -> Self {
        let column = match self.column {
            None if columns > 0 => Some(0),
            Some(at) if at + 1 < columns => Some(at + 1),
            _ => None,
        };
        Self { column, ..self }
    }

    /// `order`, turned round when that was asked for.
    pub(crate) fn turn(self, order: Ordering) -> Ordering {
        if self.is_reversed { order.reverse() } else { order }
    }
}

/// What the engine answered for a sheet.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    pub(crate) sizes: Vec<(SessionKey, AgentId, u64)>,
    pub(crate) wakes: Option<Vec<WakeRow>>,
    pub(crate) storage: Option<Box<Storage>>,
    pub(crate) explanation: Option<Box<Explanation>>,
}

/// A sheet on the screen.
#[derive(Debug)]
pub(crate) struct Sheet {
    pub(crate) kind: Kind,
    pub(crate) rows: Vec<Row>,
    /// The rows that pass the filter, in order.
    pub(crate) shown: Vec<usize>,
    pub(crate) selection: Selection<RowId>,
    pub(crate) filter: Filter,
    pub(crate) sort: Sort,
    pub(crate) answers: Answers,
    pub(crate) error: Option<String>,
    pub(crate) ticket: Option<Ticket>,
    /// The picture for which the engine was last asked.
    pub(crate) asked_at: u64,
    /// The row whose removal the next press of the key confirms.
    pub(crate) doomed: Option<RowId>,
}

impl Sheet {
    /// A sheet without rows.
    pub(crate) fn new(kind: Kind) -> Self {
        Self {
            kind,
            rows: Vec::new(),
            shown: Vec::new(),
            selection: Selection::default(),
            filter: Filter::default(),
            sort: Sort::default(),
            answers: Answers::default(),
            error: None,
            ticket: None,
            asked_at: 0,
            doomed: None,
        }
    }

    /// The selected row.
    pub(crate) fn selected(&self) -> Option<&Row> {
        self.rows.get(*self.shown.get(self.selection.index())?)
    }

    /// Takes over new rows: filters, sorts, and finds the selection again.
    pub(crate) fn take(&mut self, rows: Vec<Row>) {
        self.rows = rows;
        self.arrange();
    }

    /// Filters and sorts the rows.
    pub(crate) fn arrange(&mut self) {
        let (rows, filter, sort) = (&self.rows, &self.filter, self.sort);
        self.shown = (0..rows.len())
            .filter(|at| !filter.is_active() || filter.matches(&text(&rows[*at])))
            .collect();
        if let Some(column) = sort.column {
            self.shown.sort_by(|a, b| {
                sort.turn(compare(rows[*a].fields.get(column), rows[*b].fields.get(column)))
            });
        } else if sort.is_reversed {
            self.shown.reverse();
        }
        let shown = &self.shown;
        self.selection.rejoin(shown.len(), |at| Some(rows[*shown.get(at)?].id.clone()));
    }

    /// Selects the row at `index` of those shown.
    pub(crate) fn go(&mut self, index: usize) {
        let (rows, shown) = (&self.rows, &self.shown);
        self.selection.go(index, shown.len(), |at| Some(rows[*shown.get(at)?].id.clone()));
    }
}

/// What the filter looks at.
fn text(row: &Row) -> String {
    row.fields.iter().map(|field| field.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// Numbers before words; where there is nothing comes last.
fn compare(a: Option<&Field>, b: Option<&Field>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => match (a.number, b.number) {
            (Some(a), Some(b)) => a.cmp(&b),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => {
                a.text.is_empty().cmp(&b.text.is_empty()).then_with(|| a.text.cmp(&b.text))
            }
        },
        (a, b) => b.is_some().cmp(&a.is_some()),
    }
}

/// The columns of a sheet.
pub(crate) type Columns = &'static [Column];

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &'static str, number: Option<i64>) -> Row {
        let fields =
            vec![Field::new(name, Tint::Text), Field { number, ..Field::new("n", Tint::Dim) }];
        Row { id: RowId::Fact(name), fields, detail: Vec::new() }
    }

    fn names(sheet: &Sheet) -> Vec<&str> {
        sheet.shown.iter().map(|at| sheet.rows[*at].fields[0].text.as_str()).collect()
    }

    #[test]
    fn rows_are_sorted_by_each_column_and_the_selection_stays() {
        let mut sheet = Sheet::new(Kind::Storage);
        sheet.take(vec![row("b", Some(10)), row("c", None), row("a", Some(9))]);
        assert_eq!(names(&sheet), ["b", "c", "a"]);
        sheet.go(1);
        sheet.sort = sheet.sort.next(2);
        sheet.arrange();
        assert_eq!(names(&sheet), ["a", "b", "c"]);
        sheet.sort = sheet.sort.next(2);
        sheet.arrange();
        assert_eq!(names(&sheet), ["a", "b", "c"], "numbers by value, nothing last");
        assert_eq!(sheet.selected().map(|row| &row.id), Some(&RowId::Fact("c")));
        sheet.sort.is_reversed = true;
        sheet.arrange();
        assert_eq!(names(&sheet), ["c", "b", "a"]);
        assert_eq!(sheet.sort.next(2).column, None);
    }
}

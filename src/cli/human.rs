//! For people: aligned tables, ages, text from outside made safe.

use std::borrow::Cow;
use std::fmt;

use crate::clock::{DAY, HOUR, MINUTE, Millis, SECOND};
use crate::session_key::SessionKey;
use crate::visible;

/// What stands where there is nothing to show.
pub(super) const NOTHING: &str = "-";

/// A table with aligned columns. Cells are made safe when they are added.
#[derive(Debug)]
pub(super) struct Table<const N: usize> {
    header: [&'static str; N],
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    /// An empty table.
    pub(super) fn new(header: [&'static str; N]) -> Self {
        Self { header, rows: Vec::new() }
    }

    /// Adds a row.
    pub(super) fn row(&mut self, cells: [Cow<'_, str>; N]) {
        self.rows.push(cells.map(|cell| visible::clean(&cell).into_owned()));
    }

    /// The table, or `empty` when it has no rows.
    pub(super) fn or(&self, empty: &str) -> String {
        if self.rows.is_empty() { empty.to_owned() } else { self.to_string() }
    }
}

impl<const N: usize> fmt::Display for Table<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header = self.header.map(str::to_owned);
        let lines: Vec<_> = std::iter::once(&header).chain(&self.rows).collect();
        let width = |column: usize| {
            lines.iter().map(|line| visible::columns(&line[column])).max().unwrap_or(0)
        };
        let widths: [usize; N] = std::array::from_fn(width);
        for (number, line) in lines.iter().enumerate() {
            let mut text = String::new();
            for (cell, width) in line.iter().zip(widths) {
                text.push_str(cell);
                text.push_str(&" ".repeat(width - visible::columns(cell) + 2));
            }
            if number > 0 {
                f.write_str("\n")?;
            }
            f.write_str(text.trim_end())?;
        }
        Ok(())
    }
}

/// A key, made safe.
pub(super) fn shown(key: &SessionKey) -> Cow<'_, str> {
    visible::clean(key.as_str())
}

/// How long ago `at` was, in its largest unit: `41s`, `3m`, `2h`, `5d`.
pub(super) fn age(now: Millis, at: Millis) -> String {
    span((now - at).max(0))
}

/// A span in its largest unit.
pub(super) fn span(span: Millis) -> String {
    for (unit, name) in [(DAY, "d"), (HOUR, "h"), (MINUTE, "m")] {
        if span >= unit {
            return format!("{}{name}", span / unit);
        }
    }
    format!("{}s", span / SECOND)
}

/// A number of things: `1 event`, `2 events`.
pub(super) fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// The time of day in the zone of this machine.
pub(super) fn time_of_day(at: Millis) -> String {
    jiff::Timestamp::from_millisecond(at).map_or_else(
        |_| NOTHING.to_owned(),
        |at| at.to_zoned_datetime(jiff::tz::TimeZone::system()).strftime("%H:%M:%S").to_string(),
    )
}

/// A cell that may have nothing to show.
pub(super) fn cell<T: ToString>(value: Option<T>) -> Cow<'static, str> {
    value.map_or(Cow::Borrowed(NOTHING), |value| Cow::Owned(value.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_hostile_text_is_shown() {
        let mut table = Table::new(["KEY", "N", "REST"]);
        table.row(["日本".into(), "1".into(), "".into()]);
        table.row(["a\x1b[2J".into(), "22".into(), "x\ny".into()]);
        assert_eq!(table.to_string(), "KEY    N   REST\n日本   1\na␛[2J  22  x␊y");
        assert_eq!(Table::new(["A"]).or("nothing"), "nothing");
    }

    #[test]
    fn ages_have_one_unit() {
        for (span, want) in [
            (0, "0s"),
            (-5, "0s"),
            (59 * SECOND, "59s"),
            (MINUTE, "1m"),
            (3 * HOUR + MINUTE, "3h"),
            (25 * DAY, "25d"),
        ] {
            assert_eq!(age(1_000_000_000_000, 1_000_000_000_000 - span), want);
        }
    }
}

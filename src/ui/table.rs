//! Columns: which fit, how wide they are, and rows cut to them.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;

use super::filter::Filter;
use super::theme::Theme;
use crate::visible;

/// One column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    pub(crate) heading: &'static str,
    /// Its least width.
    pub(crate) width: u16,
    /// Its share of the width that is left over.
    pub(crate) grow: u16,
    pub(crate) is_right: bool,
    /// When not all fit, the highest rank goes first; rank 0 never goes.
    pub(crate) rank: u8,
}

/// A column of fixed width.
pub(crate) const fn fixed(heading: &'static str, width: u16, rank: u8) -> Column {
    Column { heading, width, grow: 0, is_right: false, rank }
}

/// A column of numbers.
pub(crate) const fn right(heading: &'static str, width: u16, rank: u8) -> Column {
    Column { heading, width, grow: 0, is_right: true, rank }
}

/// A column that takes what is left over.
pub(crate) const fn flexible(heading: &'static str, width: u16, grow: u16, rank: u8) -> Column {
    Column { heading, width, grow, is_right: false, rank }
}

/// What stands in a column: pieces of clean text.
pub(crate) type Cell = Vec<Span<'static>>;

/// Columns fitted to a width.
#[derive(Debug)]
pub(crate) struct Table<'a> {
    columns: &'a [Column],
    /// The width of each; `None` for one that had to go.
    widths: Vec<Option<u16>>,
    gap: u16,
}

impl<'a> Table<'a> {
    /// Fits `columns` into `width`.
    pub(crate) fn fit(columns: &'a [Column], width: u16) -> Self {
        let gap = if width >= 100 { 2 } else { 1 };
        let mut widths: Vec<Option<u16>> =
            columns.iter().map(|column| Some(column.width)).collect();
        while total(&widths, gap) > width {
            let highest = (0..columns.len())
                .filter(|at| widths[*at].is_some() && columns[*at].rank > 0)
                .max_by_key(|at| columns[*at].rank);
            match highest {
                Some(at) => widths[at] = None,
                None => break,
            }
        }
        // What has to stay may still be too wide: the widest gives way, so that a cell is cut with its sign and not by the border.
        while total(&widths, gap) > width {
            let widest = widths.iter_mut().flatten().max().filter(|widest| **widest > 1);
            match widest {
                Some(widest) => *widest -= 1,
                None => break,
            }
        }
        let left_over = width.saturating_sub(total(&widths, gap));
        let growing: u16 =
            (0..columns.len()).filter(|at| widths[*at].is_some()).map(|at| columns[at].grow).sum();
        let mut rest = left_over;
        for (column, width) in columns.iter().zip(&mut widths) {
            if let Some(width) = width.as_mut().filter(|_| column.grow > 0) {
                let extra = (left_over * column.grow).div_ceil(growing).min(rest);
                *width += extra;
                rest -= extra;
            }
        }
        Self { columns, widths, gap }
    }

    /// The width of the column at `at`; 0 for one that had to go.
    pub(crate) fn width(&self, at: usize) -> usize {
        self.widths[at].map_or(0, usize::from)
    }

    /// Draws the headings if there is room for them, above the texts and not above their marks.
    pub(crate) fn draw_heading(&self, area: Rect, theme: &Theme, buffer: &mut Buffer) {
        if area.height > 0 {
            let headings = self.columns.iter().map(|column| column.heading);
            let line = self.line(headings.map(|text| vec![Span::styled(text, theme.heading)]));
            buffer.set_line(area.x + 1, area.y, &line, area.width.saturating_sub(1));
        }
    }

    /// A row. Each cell is cut to its column.
    pub(crate) fn line(&self, cells: impl IntoIterator<Item = Cell>) -> Line<'static> {
        let mut spans = Vec::new();
        let shown = cells.into_iter().zip(self.columns).zip(&self.widths);
        for ((cell, column), width) in shown {
            let Some(width) = width else { continue };
            if !spans.is_empty() {
                spans.push(Span::raw(blank(usize::from(self.gap))));
            }
            spans.extend(fit(cell, usize::from(*width), column.is_right));
        }
        Line::from(spans)
    }
}

fn total(widths: &[Option<u16>], gap: u16) -> u16 {
    let shown = widths.iter().flatten();
    let count = u16::try_from(shown.clone().count()).unwrap_or(u16::MAX);
    shown.sum::<u16>() + gap * count.saturating_sub(1)
}

/// Cuts or fills `cell` to exactly `width` columns.
pub(crate) fn fit(cell: Cell, width: usize, is_right: bool) -> Cell {
    let used: usize = cell.iter().map(|span| visible::columns(&span.content)).sum();
    if used <= width {
        let padding = Span::raw(blank(width - used));
        return if is_right {
            std::iter::once(padding).chain(cell).collect()
        } else {
            cell.into_iter().chain([padding]).collect()
        };
    }
    let mut out = Vec::new();
    let mut room = width;
    let mut pieces = cell.into_iter().peekable();
    while let Some(span) = pieces.next() {
        let columns = visible::columns(&span.content);
        // The last column is kept for the sign that something is missing.
        if columns < room || (columns == room && pieces.peek().is_none()) {
            room -= columns;
            out.push(span);
            continue;
        }
        let with_more = format!("{}{}", span.content, blank(room));
        out.push(Span::styled(visible::truncate(&with_more, room).into_owned(), span.style));
        let written: usize = out.iter().map(|span| visible::columns(&span.content)).sum();
        out.push(Span::raw(blank(width - written.min(width))));
        break;
    }
    out
}

/// `n` spaces.
pub(crate) fn blank(n: usize) -> Cow<'static, str> {
    const SPACES: &str = "                                                                ";
    SPACES.get(..n).map_or_else(|| Cow::Owned(" ".repeat(n)), Cow::Borrowed)
}

/// `text` with what the filter matched standing out.
pub(crate) fn highlighted(text: &str, style: Style, filter: &Filter, theme: &Theme) -> Cell {
    let matched = filter.highlights(text);
    if matched.is_empty() {
        return vec![Span::styled(text.to_owned(), style)];
    }
    let mut out: Cell = Vec::new();
    let mut matched = matched.into_iter().peekable();
    for (at, cluster) in text.graphemes(true).enumerate() {
        let is_match = matched.next_if_eq(&at).is_some();
        let style = if is_match { style.patch(theme.matched) } else { style };
        match out.last_mut() {
            Some(last) if last.style == style => last.content.to_mut().push_str(cluster),
            _ => out.push(Span::styled(cluster.to_owned(), style)),
        }
    }
    out
}

/// The short form of a label if it shows all that the filter matched, else the whole.
pub(crate) fn shortest(
    short: String,
    whole: String,
    style: Style,
    filter: &Filter,
    theme: &Theme,
) -> Cell {
    let text = if filter.matches(&short) { short } else { whole };
    highlighted(&text, style, filter, theme)
}

/// How a row stands among the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    Plain,
    /// It has just changed.
    Changed,
    /// Selected, in a pane without the keyboard.
    SelectedElsewhere,
    /// Selected, with the keyboard.
    Selected,
}

impl Standing {
    /// How a row of a list with the keyboard stands.
    pub(crate) fn of(is_selected: bool, is_changed: bool) -> Self {
        match (is_selected, is_changed) {
            (true, _) => Self::Selected,
            (false, true) => Self::Changed,
            (false, false) => Self::Plain,
        }
    }
}

/// Draws `line` as a row with a mark at its left, so that the selection shows without colour, too.
pub(crate) fn draw_row(
    buffer: &mut Buffer,
    area: Rect,
    line: &Line<'_>,
    standing: Standing,
    theme: &Theme,
) {
    let (mark, mark_style) = match standing {
        Standing::Selected => ("▌", theme.border_focused),
        Standing::SelectedElsewhere => ("▏", theme.border),
        Standing::Changed | Standing::Plain => (" ", theme.text),
    };
    buffer.set_stringn(area.x, area.y, mark, usize::from(area.width), mark_style);
    let row = Rect { x: area.x + 1, width: area.width.saturating_sub(1), height: 1, y: area.y };
    buffer.set_line(row.x, row.y, line, row.width);
    match standing {
        Standing::Selected => buffer.set_style(row, theme.selected),
        Standing::SelectedElsewhere => buffer.set_style(row, theme.selected_elsewhere),
        Standing::Changed => buffer.set_style(row, theme.flash),
        Standing::Plain => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 4] =
        [flexible("KEY", 8, 1, 0), right("VER", 4, 1), fixed("MORE", 6, 3), fixed("LAST", 5, 2)];

    fn text(line: &Line<'_>) -> String {
        line.spans.iter().map(|span| span.content.as_ref()).collect()
    }

    #[test]
    fn columns_go_by_rank_and_the_rest_is_taken_up() {
        let widths = |width| Table::fit(&COLUMNS, width).widths;
        assert_eq!(widths(30), [Some(12), Some(4), Some(6), Some(5)]);
        assert_eq!(widths(25), [Some(14), Some(4), None, Some(5)]);
        assert_eq!(widths(13), [Some(8), Some(4), None, None]);
        assert_eq!(widths(4), [Some(4), None, None, None]);
    }

    #[test]
    fn cells_are_cut_and_aligned() {
        let table = Table::fit(&COLUMNS, 30);
        let cell = |text: &'static str| vec![Span::raw(text)];
        let line = table.line([cell("日本語日本語日本語"), cell("v7"), cell("abcdefg"), cell("x")]);
        assert_eq!(text(&line), "日本語日本…    v7 abcde… x    ");
        assert_eq!(visible::columns(&text(&line)), 30);
    }

    #[test]
    fn a_cell_of_several_pieces_is_cut_once() {
        let cell = || vec![Span::raw("abc"), Span::raw("def"), Span::raw("ghi")];
        for (width, want) in
            [(9, "abcdefghi"), (8, "abcdefg…"), (6, "abcde…"), (3, "ab…"), (1, "…"), (0, "")]
        {
            assert_eq!(text(&Line::from(fit(cell(), width, false))), want);
        }
    }
}

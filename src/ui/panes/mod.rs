//! The panes, one file each. They read the model and write cells; what is not visible is not formatted.

pub(super) mod adopt;
pub(super) mod delta;
pub(super) mod events;
pub(super) mod footer;
pub(super) mod frame;
pub(super) mod graph;
pub(super) mod header;
pub(super) mod notices;
pub(super) mod page;
pub(super) mod palette;
pub(super) mod sessions;
pub(super) mod sheet;
pub(super) mod watches;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::model::{Model, PageKind};
use super::table::{Cell, blank, fit};
use crate::visible;

/// How many lines a page has, and how many of them the screen shows.
pub(super) fn page_extent(model: &Model, kind: PageKind) -> (usize, usize) {
    page::extent(model, kind)
}

/// Breaks clean `text` at spaces into at most `most` lines of `width` columns; what does not fit ends in `…`.
pub(super) fn wrap(text: &str, width: usize, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut words = text.split(' ').filter(|word| !word.is_empty()).peekable();
    while let Some(word) = words.peek() {
        if lines.len() + 1 >= most {
            let rest: Vec<&str> = words.collect();
            lines.push(visible::truncate(&rest.join(" "), width).into_owned());
            break;
        }
        let mut line = visible::truncate(word, width).into_owned();
        words.next();
        while let Some(word) =
            words.next_if(|word| visible::columns(&line) + 1 + visible::columns(word) <= width)
        {
            line.push(' ');
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

/// Writes lines of text from the top of `area`.
pub(super) fn paragraph(buffer: &mut Buffer, area: Rect, lines: &[String], style: Style) {
    for (y, text) in (area.y..area.bottom()).zip(lines) {
        buffer.set_stringn(area.x, y, text, usize::from(area.width), style);
    }
}

/// Writes `lines` into the middle of `area`, left-aligned among themselves.
pub(super) fn middle(buffer: &mut Buffer, area: Rect, lines: &[Line<'_>]) {
    let width = lines.iter().map(Line::width).max().unwrap_or(0);
    let width = u16::try_from(width).unwrap_or(area.width).min(area.width);
    let height = u16::try_from(lines.len()).unwrap_or(area.height).min(area.height);
    let x = area.x + (area.width - width) / 2;
    let top = area.y + (area.height - height) / 2;
    for (y, line) in (top..area.bottom()).zip(lines) {
        buffer.set_line(x, y, line, area.right() - x);
    }
}

/// `line`, with a `…` at its end when it is wider than `width`.
pub(super) fn shortened(line: Line<'static>, width: usize) -> Line<'static> {
    if line.width() <= width { line } else { Line::from(fit(line.spans, width, false)) }
}

/// A piece of a line that can be left out: the highest rank goes first, rank 0 never.
pub(super) struct Segment {
    pub(super) rank: u8,
    pub(super) cell: Cell,
}

/// Joins the segments that fit into `width` columns. A `…` says that some were left out.
pub(super) fn join(mut segments: Vec<Segment>, gap: usize, width: usize) -> Line<'static> {
    let columns = |segment: &Segment| -> usize {
        segment.cell.iter().map(|span| visible::columns(&span.content)).sum()
    };
    let given = segments.len();
    loop {
        let total: usize = segments.iter().map(|segment| columns(segment) + gap).sum();
        let sign = if segments.len() < given { gap + 1 } else { 0 };
        if total.saturating_sub(gap) + sign <= width {
            break;
        }
        let last_of_highest = (0..segments.len()).max_by_key(|at| segments[*at].rank);
        match last_of_highest.filter(|at| segments[*at].rank > 0) {
            Some(at) => {
                segments.remove(at);
            }
            None => break,
        }
    }
    let kept = segments.len();
    let mut spans = Vec::new();
    for segment in segments {
        if !spans.is_empty() {
            spans.push(Span::raw(blank(gap)));
        }
        spans.extend(segment.cell);
    }
    if kept < given {
        spans.push(Span::raw(blank(gap)));
        spans.push(Span::raw(visible::ELLIPSIS));
    }
    shortened(Line::from(spans), width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_broken_at_spaces_and_cut_at_the_end() {
        assert_eq!(wrap("one two three four", 9, 3), ["one two", "three", "four"]);
        assert_eq!(wrap("one two three four", 9, 2), ["one two", "three fo…"]);
        assert_eq!(wrap("abcdefghijkl m", 5, 3), ["abcd…", "m"]);
        assert_eq!(wrap("one two", 5, 0), ["one …"]);
        assert!(wrap("  ", 5, 2).is_empty());
    }

    #[test]
    fn segments_go_by_rank() {
        let segment = |rank, text: &'static str| Segment { rank, cell: vec![Span::raw(text)] };
        let line = |width| {
            let segments = vec![segment(0, "aa"), segment(2, "bb"), segment(1, "cc")];
            join(segments, 1, width)
                .spans
                .iter()
                .map(|span| span.content.to_string())
                .collect::<String>()
        };
        assert_eq!(line(8), "aa bb cc");
        assert_eq!(line(7), "aa cc …");
        assert_eq!(line(6), "aa …");
        assert_eq!(line(3), "aa…");
        assert_eq!(line(1), "…");
    }
}

//! A selection that stays on the same thing when rows move.

/// Which row of a list is selected, by identity, and which row stands at the top of the window.
#[derive(Debug, Clone)]
pub(crate) struct Selection<K> {
    key: Option<K>,
    index: usize,
    top: usize,
}

impl<K> Default for Selection<K> {
    fn default() -> Self {
        Self { key: None, index: 0, top: 0 }
    }
}

impl<K: PartialEq> Selection<K> {
    /// What is selected.
    pub(crate) fn key(&self) -> Option<&K> {
        self.key.as_ref()
    }

    /// Where it stands.
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// Selects the thing with this key; the next [`Selection::rejoin`] finds it.
    pub(crate) fn aim(&mut self, key: K) {
        self.key = Some(key);
    }

    /// After the rows changed: finds the selected thing again and keeps it on the same line of the screen. When it is
    /// gone, its neighbour takes over.
    pub(crate) fn rejoin(&mut self, len: usize, key_at: impl Fn(usize) -> Option<K>) {
        if len == 0 {
            (self.index, self.top) = (0, 0);
            return;
        }
        let line = self.index.saturating_sub(self.top);
        // Most often nothing moved: look where it was before looking everywhere.
        let found = self.key.as_ref().and_then(|key| {
            let here = |index: &usize| key_at(*index).as_ref() == Some(key);
            Some(self.index).filter(here).or_else(|| (0..len).find(here))
        });
        self.index = found.unwrap_or(self.index).min(len - 1);
        self.top = self.index.saturating_sub(line);
        self.key = key_at(self.index);
    }

    /// Selects row `index`, or the last.
    pub(crate) fn go(&mut self, index: usize, len: usize, key_at: impl Fn(usize) -> Option<K>) {
        self.index = index.min(len.saturating_sub(1));
        self.key = if len == 0 { None } else { key_at(self.index) };
    }

    /// Moves the window of `height` rows so that the selected row is in it.
    pub(crate) fn show(&mut self, len: usize, height: usize) {
        self.top = self.top_for(len, height);
    }

    /// The first row of a window of `height` rows that holds the selected one.
    pub(crate) fn top_for(&self, len: usize, height: usize) -> usize {
        let height = height.max(1);
        let lowest = self.index.saturating_sub(height - 1);
        self.top.clamp(lowest, self.index.max(lowest)).min(len.saturating_sub(height).max(lowest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(rows: &[&'static str]) -> impl Fn(usize) -> Option<&'static str> {
        let rows = rows.to_vec();
        move |index| rows.get(index).copied()
    }

    #[test]
    fn the_selection_stays_on_its_row_and_its_line() {
        let mut selection = Selection::default();
        let rows = ["a", "b", "c", "d", "e", "f"];
        selection.go(3, rows.len(), at(&rows));
        selection.show(rows.len(), 2);
        assert_eq!((selection.key(), selection.top_for(6, 2)), (Some(&"d"), 2));
        let more = ["x", "y", "a", "b", "c", "d", "e", "f"];
        selection.rejoin(more.len(), at(&more));
        assert_eq!((selection.index(), selection.top_for(8, 2)), (5, 4));
    }

    #[test]
    fn the_neighbour_takes_over_when_the_row_is_gone() {
        let mut selection = Selection::default();
        selection.go(2, 3, at(&["a", "b", "c"]));
        selection.rejoin(2, at(&["a", "b"]));
        assert_eq!(selection.key(), Some(&"b"));
        selection.rejoin(0, at(&[]));
        selection.rejoin(1, at(&["z"]));
        assert_eq!((selection.key(), selection.index()), (Some(&"z"), 0));
    }

    #[test]
    fn the_window_is_never_emptier_than_it_must_be() {
        let mut selection = Selection::default();
        selection.go(9, 10, Some);
        selection.show(10, 4);
        assert_eq!(selection.top_for(10, 4), 6);
        assert_eq!(selection.top_for(10, 20), 0);
        selection.go(0, 10, Some);
        assert_eq!(selection.top_for(10, 4), 0);
    }
}

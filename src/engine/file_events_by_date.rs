//! Folders by date: a file that goes on from a source comes into the folder of its own day, which may come with it.
//!
//! Only the newest year, month and day are watched, and the folder of years. What comes elsewhere is found by the tick.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::FileEvents;

/// Year, month, day.
const LEVELS: usize = 3;

impl FileEvents {
    /// Brings the folders by date that are watched in step with the links and with what lies there.
    pub(super) fn follow_dates(&mut self, problems: &mut Vec<String>) {
        let wanted: HashSet<PathBuf> =
            self.links.values().filter_map(|places| places.by_date.clone()).collect();
        for root in self.by_date.keys().cloned().collect::<Vec<_>>() {
            if !wanted.contains(&root) {
                self.leave_dates(&root);
            }
        }
        for root in wanted {
            self.follow_newest(&root, problems);
        }
    }

    fn leave_dates(&mut self, root: &Path) {
        for folder in self.by_date.remove(root).unwrap_or_default() {
            self.need_no_more(&folder);
        }
    }

    /// Watches the newest folders below `root`, each before it is listed, so that what comes later is an event. Returns those
    /// that were not watched before.
    fn follow_newest(&mut self, root: &Path, problems: &mut Vec<String>) -> Vec<PathBuf> {
        let old = self.by_date.remove(root).unwrap_or_default();
        let mut newest = Vec::new();
        let mut next = Some(root.to_owned());
        while let Some(folder) = next {
            self.need(&folder, false, problems);
            next = if newest.len() < LEVELS { newest_in(&folder) } else { None };
            newest.push(folder);
        }
        for folder in &old {
            self.need_no_more(folder);
        }
        let came = newest.iter().filter(|folder| !old.contains(folder)).cloned().collect();
        self.by_date.insert(root.to_owned(), newest);
        came
    }

    /// The files in folders by date that came with the one at `path`: whatever was written there before it was watched.
    pub(super) fn newly_dated(&mut self, path: &Path, problems: &mut Vec<String>) -> Vec<PathBuf> {
        let is_above = |folder: &PathBuf| Some(folder.as_path()) == path.parent();
        let root = self.by_date.iter().find_map(|(root, folders)| {
            let above_days = &folders[..folders.len().min(LEVELS)];
            above_days.iter().any(is_above).then(|| root.clone())
        });
        let Some(root) = root else { return Vec::new() };
        let came = self.follow_newest(&root, problems);
        self.drop_unneeded();
        let files = came.iter().filter_map(|folder| folder.read_dir().ok()).flatten().flatten();
        files.map(|file| file.path()).collect()
    }
}

/// The folder with the greatest number for its name.
fn newest_in(folder: &Path) -> Option<PathBuf> {
    let is_dated = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()) && path.is_dir()
    };
    folder.read_dir().ok()?.flatten().map(|file| file.path()).filter(is_dated).max()
}

//! How long the harness keeps a transcript that is not written any more (`transcripts.md` 2.3).

use std::path::Path;

use serde_json::Value;

use crate::clock::{DAY, Millis};

/// What counts unless the settings say otherwise, in days.
const DEFAULT: i64 = 30;

/// The largest settings file that is read, in bytes.
const MOST: u64 = 1024 * 1024;

/// How long transcripts below `projects` are kept after their last write, by the person's own settings beside that folder.
pub(super) fn kept(projects: &Path) -> Millis {
    let settings = projects.with_file_name("settings.json");
    let is_small = settings.metadata().is_ok_and(|meta| meta.is_file() && meta.len() <= MOST);
    let days = is_small
        .then(|| std::fs::read(&settings).ok())
        .flatten()
        .and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok())
        .and_then(|settings| settings.get("cleanupPeriodDays")?.as_i64())
        .filter(|days| (1..=36_500).contains(days));
    days.unwrap_or(DEFAULT) * DAY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_say_how_long_or_thirty_days_count() {
        let folder = tempfile::tempdir().unwrap();
        let projects = folder.path().join("projects");
        assert_eq!(kept(&projects), 30 * DAY);
        for (text, want) in [
            ("{\"cleanupPeriodDays\":7}", 7),
            ("{\"cleanupPeriodDays\":0}", 30),
            ("{\"cleanupPeriodDays\":\"7\"}", 30),
            ("not json", 30),
        ] {
            std::fs::write(folder.path().join("settings.json"), text).unwrap();
            assert_eq!(kept(&projects), want * DAY, "{text}");
        }
    }
}

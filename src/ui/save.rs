//! Writing what was exported to a file that a person named. An existing file is never written over.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::visible;

/// Writes `text` to a new file, which only its owner can read: what was exported is as private as the state. Returns a line for
/// people.
///
/// # Errors
/// One line that says what failed and what to do. Nothing half written is left behind.
pub(super) fn save(path: &Path, text: &str) -> Result<String, String> {
    let shown = visible::clean(&path.to_string_lossy()).into_owned();
    let mut file = match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(format!(
                "{shown} exists already and is left as it is; choose another name"
            ));
        }
        Err(error) => return Err(format!("{shown} can't be made: {error}; choose another place")),
    };
    if let Err(error) = file.write_all(text.as_bytes()).and_then(|()| file.sync_all()) {
        // The file is this call's own, and of no use in part.
        let _ = fs::remove_file(path);
        return Err(format!("writing {shown} failed: {error}; choose another place"));
    }
    Ok(format!("wrote {shown}"))
}

/// The path that was typed; `~/` at its beginning means the home folder.
pub(super) fn place(typed: &str, home: Option<PathBuf>) -> PathBuf {
    match (typed.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(typed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_is_written_and_an_existing_one_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("graph.dot");
        assert!(save(&path, "digraph {}").unwrap().starts_with("wrote "));
        assert!(save(&path, "other").unwrap_err().contains("exists already"));
        assert_eq!(fs::metadata(&path).unwrap().len(), "digraph {}".len() as u64);
        let missing = save(&folder.path().join("no/such"), "x").unwrap_err();
        assert!(missing.contains("can't be made"), "{missing}");
        std::os::unix::fs::symlink(folder.path().join("far"), folder.path().join("link")).unwrap();
        assert!(save(&folder.path().join("link"), "x").is_err());
        assert!(!folder.path().join("far").exists());
    }

    #[test]
    fn a_tilde_means_the_home_folder() {
        let home = || Some(PathBuf::from("/home/someone"));
        assert_eq!(place("~/a.dot", home()), PathBuf::from("/home/someone/a.dot"));
        assert_eq!(place("a~/b", home()), PathBuf::from("a~/b"));
        assert_eq!(place("~/a.dot", None), PathBuf::from("~/a.dot"));
    }
}

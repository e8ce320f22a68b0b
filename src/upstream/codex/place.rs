//! Where a thread's files are looked for.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// The folders below Codex's home that hold rollouts.
const FOLDERS: [&str; 2] = [SESSIONS, ARCHIVED];

/// The one for threads by the day on which they began.
const SESSIONS: &str = "sessions";

/// The one for threads that were put away.
const ARCHIVED: &str = "archived_sessions";

/// A thread, and where its files are looked for. The ref of a link says it; it stays when the files move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) root: Root,
    pub(super) thread: String,
}

/// Below which folder files are looked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Root {
    /// Codex's home, with its folders by date and the archive.
    Home(PathBuf),
    /// A folder that holds copies: only what lies directly in it.
    Folder(PathBuf),
}

impl Place {
    /// Reads a ref. The error says what is wrong with it.
    pub(super) fn parse(reference: Option<&Value>) -> Result<Self, String> {
        let text = |name| {
            reference.and_then(|reference: &Value| reference.get(name)).and_then(Value::as_str)
        };
        let folder = |name| text(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let root =
            folder("codexHome").map(Root::Home).or_else(|| folder("folder").map(Root::Folder));
        root.zip(text("threadId"))
            .map(|(root, thread)| Self { root, thread: thread.to_owned() })
            .ok_or_else(|| {
                "the link names no folder and thread; adopt the session again".to_owned()
            })
    }

    /// The ref as it is stored; `None` when the folder's path is not UTF-8.
    pub(super) fn to_json(&self) -> Option<Value> {
        let (name, path) = match &self.root {
            Root::Home(home) => ("codexHome", home),
            Root::Folder(folder) => ("folder", folder),
        };
        Some(json!({ name: path.to_str()?, "threadId": self.thread }))
    }
}

impl Root {
    /// The root that holds the file at `path`, a real path: `home` when it lies among its rollouts, else the file's folder.
    pub(super) fn of(path: &Path, home: &Path) -> Self {
        let real = home.canonicalize().unwrap_or_else(|_| home.to_owned());
        let home = Self::Home(real);
        if home.holds(path) {
            return home;
        }
        Self::Folder(path.parent().unwrap_or(Path::new("/")).to_owned())
    }

    /// The real folders that are walked. One that is not there holds nothing.
    pub(super) fn folders(&self) -> io::Result<Vec<PathBuf>> {
        let given = match self {
            Self::Home(home) => FOLDERS.map(|folder| home.join(folder)).to_vec(),
            Self::Folder(folder) => vec![folder.clone()],
        };
        given.into_iter().filter_map(|folder| real(&folder).transpose()).collect()
    }

    /// The folder with its folders by date.
    pub(super) fn by_date(&self) -> Option<PathBuf> {
        match self {
            Self::Home(home) => Some(home.join(SESSIONS)),
            Self::Folder(_) => None,
        }
    }

    /// Whether folders in folders are walked.
    pub(super) fn is_deep(&self) -> bool {
        matches!(self, Self::Home(_))
    }

    /// Whether the file at `path` lies below this root.
    pub(super) fn holds(&self, path: &Path) -> bool {
        match self {
            Self::Home(_) => {
                self.folders().is_ok_and(|all| all.iter().any(|folder| path.starts_with(folder)))
            }
            Self::Folder(folder) => path.parent() == Some(folder),
        }
    }

    /// Whether the file at `path` was put away: archived, or compressed.
    pub(super) fn is_away(&self, path: &Path) -> bool {
        let is_archived = match self {
            Self::Home(home) => path
                .strip_prefix(home)
                .unwrap_or(path)
                .components()
                .any(|part| part.as_os_str() == ARCHIVED),
            Self::Folder(_) => false,
        };
        is_archived || path.extension().is_some_and(|extension| extension == "zst")
    }
}

fn real(folder: &Path) -> io::Result<Option<PathBuf>> {
    match folder.canonicalize() {
        Ok(folder) => Ok(Some(folder)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

//! State databases of another system, to attach to.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::Connection;
use tempfile::TempDir;
use tidings::clock::ManualClock;
use tidings::engine::Settings;
use tidings::engine::attached::{AttachOptions, Attached};
use tidings::engine::snapshot::{Snapshot, WatchRow};
use tidings::session_key::SessionKey;

/// The time at which the database is looked at: a minute after its last event.
pub(crate) const NOW: i64 = 1_784_160_068_000;

/// The versions of the original's schema.
pub(crate) const VERSIONS: [Version; 3] = [
    Version { user_version: 6, extra: "" },
    Version { user_version: 15, extra: PROVENANCE },
    Version { user_version: 18, extra: STORE_PATH },
];

const PROVENANCE: &str = "ALTER TABLE session_watch_cursors ADD COLUMN provenance TEXT NOT NULL DEFAULT 'explicit';
    UPDATE session_watch_cursors SET provenance = 'ambient-group' WHERE target_session_key LIKE '%:group:%';";
const STORE_PATH: &str = "ALTER TABLE session_watch_cursors ADD COLUMN provenance TEXT NOT NULL DEFAULT 'explicit';
    UPDATE session_watch_cursors SET provenance = 'ambient-group' WHERE target_session_key LIKE '%:group:%';
    ALTER TABLE session_watch_cursors ADD COLUMN watcher_store_path TEXT;";

pub(crate) struct Version {
    pub(crate) user_version: i64,
    extra: &'static str,
}

/// A folder with a database of another system in it.
pub(crate) struct Foreign {
    folder: TempDir,
}

impl Foreign {
    /// A database of the version, with the rows of `foreign.sql`, written with a write-ahead log.
    pub(crate) fn new(version: &Version) -> Self {
        let foreign = Self { folder: tempfile::tempdir().unwrap() };
        let connection = foreign.writer();
        connection
            .execute_batch(&format!(
                "{}{} PRAGMA user_version = {}; PRAGMA journal_mode = WAL;",
                include_str!("foreign.sql"),
                version.extra,
                version.user_version
            ))
            .unwrap();
        foreign
    }

    /// The oldest version.
    pub(crate) fn oldest() -> Self {
        Self::new(&VERSIONS[0])
    }

    /// The newest version.
    pub(crate) fn newest() -> Self {
        Self::new(&VERSIONS[2])
    }

    /// The same as one of the real ones.
    pub(crate) fn keep(self) -> Real {
        Real { path: self.path(), _folder: self.folder }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("openclaw.sqlite")
    }

    /// Makes it look as if nobody wrote it for a while.
    pub(crate) fn settle(&self) {
        settle(&self.path());
    }

    /// A connection as its owner has one.
    pub(crate) fn writer(&self) -> Connection {
        Connection::open(self.path()).unwrap()
    }

    /// Changes the schema or the rows.
    pub(crate) fn change(&self, sql: &str) {
        self.writer().execute_batch(sql).unwrap();
    }

    pub(crate) fn attach(&self) -> Attached {
        attach(&self.path()).unwrap()
    }

    pub(crate) fn error(&self) -> String {
        attach(&self.path()).unwrap_err()
    }
}

/// Makes a file look as if nobody wrote it for a while.
pub(crate) fn settle(path: &Path) {
    let file = std::fs::File::options().append(true).open(path).unwrap();
    let long_ago =
        file.metadata().unwrap().modified().unwrap() - std::time::Duration::from_secs(30);
    file.set_modified(long_ago).unwrap();
}

/// The names of all files in the folder of `path`.
pub(crate) fn beside(path: &Path) -> Vec<String> {
    let files = path.parent().unwrap().read_dir().unwrap();
    let mut names: Vec<_> =
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

pub(crate) fn attach(path: &Path) -> Result<Attached, String> {
    Attached::open(path, clock(), Settings::default()).map_err(|error| {
        let error = error.to_string();
        assert!(!error.contains('\n'), "{error:?} is more than a line");
        error
    })
}

pub(crate) fn options(path: PathBuf) -> AttachOptions {
    AttachOptions {
        path,
        clock: clock(),
        settings: Settings::default(),
        alerts: Vec::new(),
        remember_in: None,
    }
}

fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at(NOW))
}

pub(crate) fn key(text: &str) -> SessionKey {
    SessionKey::new(text)
}

pub(crate) fn pair<'a>(snapshot: &'a Snapshot, watcher: &str, target: &str) -> &'a WatchRow {
    snapshot
        .watches
        .iter()
        .find(|row| row.cursor.watcher.as_str() == watcher && row.cursor.target.as_str() == target)
        .unwrap()
}

/// A real database, in a folder that goes with the test: looking at one that is written with a log makes files beside it.
pub(crate) struct Real {
    _folder: TempDir,
    pub(crate) path: PathBuf,
}

/// The real databases, when they lie beside the repository; a test that is given none says so.
#[expect(clippy::print_stdout, reason = "who runs the tests alone has to learn what was left out")]
pub(crate) fn real() -> Vec<Real> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/databases");
    let Ok(files) = folder.read_dir() else {
        println!("{} is not there: only the built databases are tested", folder.display());
        return Vec::new();
    };
    files
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "sqlite"))
        .map(|from| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(from.file_name().unwrap());
            std::fs::copy(&from, &path).unwrap();
            let writable = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            std::fs::set_permissions(&path, writable).unwrap();
            settle(&path);
            Real { _folder: folder, path }
        })
        .collect()
}

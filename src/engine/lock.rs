//! Who the owner is: an advisory lock beside the state database, which ends with the process that holds it.

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// The lock of the owner; dropped, it is free.
#[derive(Debug)]
pub struct OwnerLock {
    file: File,
    path: PathBuf,
}

impl OwnerLock {
    /// Takes the lock beside the database at `db`; `None` when another process holds it, or its file was replaced this moment.
    pub fn take(db: &Path) -> Result<Option<Self>, std::io::Error> {
        let path = Self::path(db);
        let file =
            OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { file, path }).filter(Self::is_in_place)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Whether the locked file still lies where others look for it. Once it was deleted or replaced, another process can take the
    /// lock as well, and there are two owners.
    pub fn is_in_place(&self) -> bool {
        let identity = |meta: Metadata| (meta.dev(), meta.ino());
        match (self.file.metadata(), self.path.metadata()) {
            (Ok(held), Ok(there)) => identity(held) == identity(there),
            _ => false,
        }
    }

    /// Where the lock of the database at `db` lies.
    pub fn path(db: &Path) -> PathBuf {
        let mut name = db.as_os_str().to_owned();
        name.push(".lock");
        PathBuf::from(name)
    }
}

/// Whether some process owns the database at `db`. Looking takes nothing away: a shared lock is tried and given back.
pub fn is_owned(db: &Path) -> bool {
    let Ok(file) = File::open(OwnerLock::path(db)) else { return false };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

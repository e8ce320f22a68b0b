//! Who the owner is: an advisory lock beside the state database, which ends with the process that holds it.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The lock of the owner; dropped, it is free.
#[derive(Debug)]
pub struct OwnerLock {
    _file: File,
}

impl OwnerLock {
    /// Takes the lock beside the database at `db`; `None` when another process holds it.
    pub fn take(db: &Path) -> Result<Option<Self>, std::io::Error> {
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(Self::path(db))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
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

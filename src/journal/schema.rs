//! Opening the state database: who owns the file, migration, pragmas, permissions (`decisions.md`, Storage).

use std::fs::{DirBuilder, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::error::{JournalError, Tried};
use crate::clock::Millis;
use crate::session_key::SessionKey;

/// `PRAGMA application_id` of our state databases.
pub(super) const APPLICATION_ID: i64 = 0x7469_6469;

/// What a database file begins with.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// How many bytes of a database file are its header.
const HEADER: usize = 100;

/// Where the header counts the changes of the schema, big-endian: 0 before the first table.
const SCHEMA_COOKIE_OFFSET: usize = 40;

/// Where the header holds the application id, big-endian.
const APPLICATION_ID_OFFSET: usize = 68;

/// Where a rollback journal holds how many pages the database had before the write, big-endian.
const JOURNAL_PAGES_OFFSET: u64 = 16;

/// The steps from an empty database to the present schema, one a version. Never changed once released.
const MIGRATIONS: &[&str] = &[include_str!("../../assets/schema.sql")];

/// Statements that are kept prepared on a connection: more than the engine has, so that none is parsed twice.
pub(super) const STATEMENT_CACHE: usize = 96;

/// Another writer is waited for this long.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The newest schema version that this program knows.
pub fn known_version() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// How the statement for each of our own tables goes on.
const OWN_TABLE: &str = " TABLE tidings_";

/// Our own tables, as statements that make them empty and temporary. Indexes are left out: there is nothing to find.
pub(super) fn empty_own_tables() -> String {
    let mut out = String::new();
    for migration in MIGRATIONS {
        let own = migration.lines().skip_while(|line| !line.contains(OWN_TABLE));
        for line in own.filter(|line| !line.starts_with("CREATE INDEX ")) {
            out.push_str(&line.replace(OWN_TABLE, " TEMP TABLE tidings_"));
            out.push('\n');
        }
    }
    out
}

/// Opens the database at `path`, makes it when it is missing or empty, migrates an older one.
pub(super) fn open(path: &Path, now: Millis) -> Result<Connection, JournalError> {
    make_private_file(path)?;
    refuse_foreign(path)?;
    set_up(path, now).map_err(|error| match error {
        error @ JournalError::Sqlite { .. } => {
            JournalError::Open { path: path.to_owned(), source: Box::new(error) }
        }
        error => error,
    })
}

fn set_up(path: &Path, now: Millis) -> Result<Connection, JournalError> {
    let mut connection = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )
    .tried("open the state database")?;
    connection.busy_timeout(BUSY_TIMEOUT).tried("set the time to wait for other writers")?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
    // Otherwise SQLite plans a statement anew for each value bound to it, which costs more than running it.
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
        .tried("set up the state database")?;
    migrate(&mut connection, path, MIGRATIONS, now)?;
    // The log holds a sweep of ten thousand notices and more, so that it is not moved in the middle of one. The cache is small:
    // what it does not hold is in the kernel's, and a large one would be a third of the program's memory.
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON; \
             PRAGMA cache_size = -2048; PRAGMA wal_autocheckpoint = 4000;",
        )
        .tried("set up the state database")?;
    Ok(connection)
}

/// Makes the file and its folders when they are missing, for the owner's eyes only.
fn make_private_file(path: &Path) -> Result<(), JournalError> {
    let io = |tried, path: &Path| {
        let path = path.to_owned();
        move |source| JournalError::Io { tried, path, source }
    };
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(io("make the folder", folder))?;
    }
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .map(drop)
        .map_err(io("open the state database", path))
}

/// Refuses a file with content that is not our database, by its bytes alone: opening a foreign database, if only to read,
/// would leave files of SQLite beside it, or undo a write that its owner did not finish.
fn refuse_foreign(path: &Path) -> Result<(), JournalError> {
    let io = |source| JournalError::Io {
        tried: "read the state database",
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).map_err(io)?;
    if file.metadata().map_err(io)?.len() == 0 || died_being_made(path) {
        return Ok(());
    }
    let mut header = [0; HEADER];
    if file.read_exact_at(&mut header, 0).is_err() || !header.starts_with(MAGIC) {
        return Err(JournalError::NotADatabase { path: path.to_owned() });
    }
    let number = |offset: usize| {
        header[offset..].first_chunk().map(|bytes| i64::from(u32::from_be_bytes(*bytes)))
    };
    let is_empty = number(SCHEMA_COOKIE_OFFSET) == Some(0);
    if number(APPLICATION_ID_OFFSET) != Some(APPLICATION_ID) && !is_empty {
        return Err(JournalError::NotOurs { path: path.to_owned() });
    }
    Ok(())
}

/// Whether a process died while it made the database: a rollback journal says that there was nothing before. The present
/// bytes mean nothing then, and SQLite undoes them.
fn died_being_made(path: &Path) -> bool {
    let mut journal = path.as_os_str().to_owned();
    journal.push("-journal");
    let mut pages = [0xff; 4];
    File::open(journal)
        .is_ok_and(|file| file.read_exact_at(&mut pages, JOURNAL_PAGES_OFFSET).is_ok())
        && pages == [0; 4]
}

/// Brings the schema to the end of `migrations` in one transaction; an older database is copied beside itself first.
fn migrate(
    connection: &mut Connection,
    path: &Path,
    migrations: &[&str],
    now: Millis,
) -> Result<(), JournalError> {
    let known = i64::try_from(migrations.len()).unwrap_or(i64::MAX);
    let version = |connection: &Connection| {
        connection
            .query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0))
            .tried("read the schema version")
    };
    let found = version(connection)?;
    if found > known {
        return Err(JournalError::Newer { path: path.to_owned(), found, known });
    }
    if found == known {
        return Ok(());
    }
    if found > 0 {
        let backup = backup_path(path, found, now);
        connection
            .execute("VACUUM INTO ?1", [backup.to_string_lossy()])
            .tried("copy the state database before its migration")?;
        restrict(&backup)?;
    }
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .tried("begin the migration of the state database")?;
    let from = version(&transaction)?;
    let tables: i64 = transaction
        .query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))
        .tried("read whose database the file is")?;
    if from == 0 && tables > 0 {
        // A foreign database whose tables are in its write-ahead log still: the file alone did not show them.
        return Err(JournalError::NotOurs { path: path.to_owned() });
    }
    for step in migrations.iter().skip(usize::try_from(from).unwrap_or(usize::MAX)) {
        transaction.execute_batch(step).tried("migrate the state database")?;
    }
    if from == 0 {
        transaction
            .execute(
                "INSERT OR IGNORE INTO tidings_sessions (session_key, agent_id, title, created_at) VALUES (?1, 'operator', 'you', ?2)",
                (SessionKey::operator().as_str(), now),
            )
            .tried("register the operator")?;
    }
    transaction
        .execute_batch(&format!(
            "PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {known};"
        ))
        .tried("mark the state database as ours")?;
    transaction.commit().tried("finish the migration of the state database")
}

/// Where the copy of a database of version `found` goes.
fn backup_path(path: &Path, found: i64, now: Millis) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".v{found}-{now}.backup"));
    PathBuf::from(name)
}

/// Takes the backup away from others' eyes: SQLite makes it with the umask's permissions.
fn restrict(path: &Path) -> Result<(), JournalError> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))
        .map_err(|source| JournalError::Io { tried: "restrict", path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    #[test]
    fn a_new_database_is_private_and_ours() {
        let folder = folder();
        let path = folder.path().join("deep/er/state.sqlite");
        let connection = open(&path, 1).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(path.parent().unwrap()), 0o700);
        let pragma = |name: &str| {
            connection.query_row(&format!("PRAGMA {name}"), [], |r| r.get::<_, i64>(0)).unwrap()
        };
        assert_eq!(pragma("application_id"), APPLICATION_ID);
        assert_eq!(pragma("user_version"), known_version());
        assert_eq!(pragma("synchronous"), 1);
        drop(connection);
        open(&path, 2).unwrap();
    }

    #[test]
    fn foreign_and_broken_files_are_refused_untouched() {
        let folder = folder();
        let foreign = folder.path().join("foreign.sqlite");
        Connection::open(&foreign)
            .unwrap()
            .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (a)")
            .unwrap();
        let broken = folder.path().join("broken.sqlite");
        std::fs::write(
            &broken,
            "this is no database, but it is long enough to have a header if it were one",
        )
        .unwrap();
        for path in [&foreign, &broken] {
            let before = std::fs::read(path).unwrap();
            let error = open(path, 1).unwrap_err();
            assert!(
                matches!(error, JournalError::NotOurs { .. } | JournalError::NotADatabase { .. }),
                "{error}"
            );
            assert_eq!(std::fs::read(path).unwrap(), before);
        }
        assert_eq!(folder.path().read_dir().unwrap().count(), 2, "nothing was left beside them");
    }

    #[test]
    fn a_foreign_database_whose_tables_are_only_in_its_log_is_refused() {
        let folder = folder();
        let path = folder.path().join("foreign.sqlite");
        let writer = Connection::open(&path).unwrap();
        writer.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (a)").unwrap();
        assert!(matches!(open(&path, 1), Err(JournalError::NotOurs { .. })));
        assert_eq!(
            writer
                .query_row("SELECT count(*) FROM sqlite_master", [], |r| r.get::<_, i64>(0))
                .unwrap(),
            1
        );
    }

    /// Leaves `path` as a process does that dies in the middle of `sql`: the file is written, and its rollback journal lies
    /// beside it.
    fn die_while_writing(path: &Path, sql: &str) {
        let folder = folder();
        let at_work = folder.path().join("at-work.sqlite");
        if path.exists() {
            std::fs::copy(path, &at_work).unwrap();
        }
        let writer = Connection::open(&at_work).unwrap();
        // A cache of one page makes SQLite write to the file before the end of the transaction.
        writer.execute_batch(&format!("PRAGMA cache_size = 1; BEGIN; {sql}")).unwrap();
        std::fs::copy(&at_work, path).unwrap();
        let beside = |path: &Path| {
            let mut name = path.as_os_str().to_owned();
            name.push("-journal");
            PathBuf::from(name)
        };
        std::fs::copy(beside(&at_work), beside(path)).unwrap();
    }

    #[test]
    fn a_write_that_died_is_undone_when_it_was_ours_and_left_alone_when_not() {
        const MANY: &str = "CREATE TABLE many (a); INSERT INTO many WITH RECURSIVE n(i) AS \
                            (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT hex(i) || hex(i) FROM n;";
        let folder = folder();
        let new = folder.path().join("new.sqlite");
        die_while_writing(&new, MANY);
        assert!(new.metadata().unwrap().len() > 0);
        open(&new, 1).unwrap();

        let foreign = folder.path().join("foreign.sqlite");
        Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE t (a)").unwrap();
        die_while_writing(&foreign, MANY);
        let before = std::fs::read(&foreign).unwrap();
        assert!(open(&foreign, 1).is_err());
        assert_eq!(std::fs::read(&foreign).unwrap(), before);
    }

    #[test]
    fn a_newer_database_is_refused() {
        let folder = folder();
        let path = folder.path().join("state.sqlite");
        open(&path, 1).unwrap().execute_batch("PRAGMA user_version = 99").unwrap();
        assert!(matches!(open(&path, 1), Err(JournalError::Newer { found: 99, .. })));
    }

    #[test]
    fn an_older_database_is_migrated_after_a_copy() {
        let folder = folder();
        let path = folder.path().join("state.sqlite");
        let mut connection = open(&path, 1).unwrap();
        let steps = [MIGRATIONS[0], "ALTER TABLE tidings_meta ADD COLUMN note TEXT"];
        migrate(&mut connection, &path, &steps, 7).unwrap();
        connection
            .execute("INSERT INTO tidings_meta (name, value, note) VALUES ('x', 1, 'y')", [])
            .unwrap();
        let copy = Connection::open(backup_path(&path, 1, 7)).unwrap();
        assert_eq!(
            copy.query_row("SELECT count(*) FROM tidings_sessions", [], |r| r.get::<_, i64>(0))
                .unwrap(),
            1
        );
    }

    #[test]
    fn a_migration_that_fails_leaves_the_old_version() {
        let folder = folder();
        let path = folder.path().join("state.sqlite");
        let mut connection = open(&path, 1).unwrap();
        let steps =
            [MIGRATIONS[0], "ALTER TABLE tidings_meta ADD COLUMN note TEXT", "this is no SQL"];
        assert!(migrate(&mut connection, &path, &steps, 7).is_err());
        drop(connection);
        open(&path, 8).unwrap();
    }
}

//! Opening a state database that another system owns, strictly read-only.
//!
//! The database has the four shared tables of some version of that system. Columns that a version lacks get their default
//! by a temporary view, our own tables are there as empty temporary ones, so that every read of the [`Reader`](super::Reader)
//! works on it as on ours. Both live in this connection's memory; the file is never written, checkpointed or migrated.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::error::JournalError;
use super::schema;
use super::settled::Settled;

/// How long a read waits for the owner of the file, who waits for nobody in WAL mode.
const BUSY_TIMEOUT: Duration = Duration::from_millis(500);
/// The longest value that is read from another system's file, in bytes.
const MAX_VALUE: i32 = 16 * 1024 * 1024;
/// What each SQLite database begins with.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// How long the header of a SQLite database is, in bytes.
const HEADER: usize = 100;
/// Where the header says by which journal the file is written, and the value for a write-ahead log.
const WRITE_VERSION: (usize, u8) = (18, 2);

/// A shared table: its name, the columns that it must have, and those with a default for versions that lack them.
struct SharedTable {
    name: &'static str,
    required: &'static [&'static str],
    optional: &'static [(&'static str, &'static str)],
}

const SHARED: [SharedTable; 4] = [
    SharedTable {
        name: "session_state_events",
        required: &[
            "sequence",
            "session_key",
            "agent_id",
            "kind",
            "actor_type",
            "occurred_at",
            "summary",
        ],
        optional: &[
            ("dedupe_key", "NULL"),
            ("session_id", "NULL"),
            ("actor_id", "NULL"),
            ("run_id", "NULL"),
            ("payload_json", "NULL"),
        ],
    },
    SharedTable {
        name: "session_state_heads",
        required: &["session_key", "agent_id", "last_sequence", "updated_at"],
        optional: &[("pruned_max_sequence", "0")],
    },
    SharedTable {
        name: "session_watch_cursors",
        required: &[
            "watcher_session_key",
            "target_session_key",
            "last_seen_sequence",
            "notified_sequence",
            "material_sequence",
            "updated_at",
        ],
        optional: &[("provenance", "'explicit'")],
    },
    SharedTable {
        name: "session_upstream_links",
        required: &[
            "session_key",
            "agent_id",
            "catalog_id",
            "host_id",
            "thread_id",
            "upstream_kind",
            "created_at",
            "updated_at",
        ],
        optional: &[
            ("upstream_ref_json", "NULL"),
            ("last_marker_json", "NULL"),
            ("last_scanned_at", "NULL"),
        ],
    },
];

/// Where the original keeps its state database: below `state_dir` (`OPENCLAW_STATE_DIR`), else below the home folder. `None`
/// when neither is known.
pub fn usual_place(state_dir: Option<&OsStr>, home: Option<&OsStr>) -> Option<PathBuf> {
    let filled =
        |folder: Option<&OsStr>| folder.filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let folder = filled(state_dir).or_else(|| Some(filled(home)?.join(".openclaw")))?;
    Some(folder.join("state").join("openclaw.sqlite"))
}

/// Opens the database at `path` so that nothing can write to it, and without a trace beside it when it is settled. The second value
/// says whether it is one of ours.
pub(super) fn open(
    path: &Path,
    settled: Option<&Settled>,
) -> Result<(Connection, bool), JournalError> {
    let refuse = |reason: String| JournalError::Attach { path: path.to_owned(), reason };
    let uses_wal = look_at_header(path).map_err(refuse)?;
    let said = |error: &rusqlite::Error| refuse(reason(path, uses_wal, error));
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = match settled.filter(|_| uses_wal) {
        Some(settled) => {
            Connection::open_with_flags(settled.address(), flags | OpenFlags::SQLITE_OPEN_URI)
        }
        None => Connection::open_with_flags(path, flags),
    }
    .map_err(|error| said(&error))?;
    restrict(&connection).map_err(|error| said(&error))?;
    let is_ours = is_ours(&connection).map_err(|error| said(&error))?;
    let views = views(&connection).map_err(|error| match error {
        Unfit::Sqlite(error) => said(&error),
        Unfit::Schema(reason) => refuse(reason),
    })?;
    let stand_ins = if is_ours { String::new() } else { schema::empty_own_tables() };
    connection
        .execute_batch(&format!("{views}{stand_ins}PRAGMA query_only = ON;"))
        .map_err(|error| said(&error))?;
    Ok((connection, is_ours))
}

/// Reads the file's header: whether its owner writes it with a write-ahead log.
fn look_at_header(path: &Path) -> Result<bool, String> {
    let said = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        _ => error.to_string(),
    };
    if path.metadata().map_err(said)?.is_dir() {
        return Err("it is a folder; name the database file in it".into());
    }
    let mut header = Vec::with_capacity(HEADER);
    let file = File::open(path).map_err(said)?;
    file.take(HEADER as u64).read_to_end(&mut header).map_err(said)?;
    if header.len() >= MAGIC.len() && !header.starts_with(MAGIC) {
        return Err("it is not a SQLite database".into());
    }
    if header.len() < HEADER {
        return Err("it is shorter than a SQLite header: it is empty or cut off".into());
    }
    Ok(header[WRITE_VERSION.0] == WRITE_VERSION.1)
}

/// Lets the connection neither write nor run anything that the file brings along, and bounds what it reads.
fn restrict(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(schema::STATEMENT_CACHE);
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE)?;
    for (setting, on) in [
        (DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true),
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
    ] {
        connection.set_db_config(setting, on)?;
    }
    connection.execute_batch("PRAGMA temp_store = MEMORY; PRAGMA cell_size_check = ON;")
}

fn is_ours(connection: &Connection) -> rusqlite::Result<bool> {
    let pragma = |name: &str| {
        connection.query_row(&format!("PRAGMA main.{name}"), [], |row| row.get::<_, i64>(0))
    };
    Ok(pragma("application_id")? == schema::APPLICATION_ID
        && pragma("user_version")? == schema::known_version())
}

/// Why a schema can't be read.
enum Unfit {
    Sqlite(rusqlite::Error),
    Schema(String),
}

impl From<rusqlite::Error> for Unfit {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

/// Looks at the four tables as the file has them. Returns the statements for temporary views that give defaults to columns which
/// its version lacks; columns that nobody here knows are passed over.
fn views(connection: &Connection) -> Result<String, Unfit> {
    let mut without_rowid = Vec::new();
    let mut missing = Vec::new();
    for table in &SHARED {
        let found = connection
            .prepare("SELECT type, wr FROM pragma_table_list WHERE schema = 'main' AND name = ?1")?
            .query_map([table.name], |row| Ok((row.get::<_, String>(0)?, row.get::<_, bool>(1)?)))?
            .next()
            .transpose()?;
        match found {
            Some((kind, wr)) if kind == "table" => without_rowid.push(wr),
            _ => missing.push(table.name),
        }
    }
    if !missing.is_empty() {
        return Err(Unfit::Schema(format!(
            "it has no table {}; is it the state database of a system that keeps session state?",
            missing.join(", ")
        )));
    }
    let mut statements = String::new();
    for (table, without_rowid) in SHARED.iter().zip(without_rowid) {
        let columns = connection
            .prepare("SELECT name FROM pragma_table_xinfo(?1, 'main')")?
            .query_map([table.name], |row| row.get::<_, String>(0))?
            .collect::<rusqlite::Result<Vec<_>>>()?;
        let has = |name: &str| columns.iter().any(|column| column.eq_ignore_ascii_case(name));
        let lacks: Vec<_> = table.required.iter().copied().filter(|name| !has(name)).collect();
        if !lacks.is_empty() {
            return Err(Unfit::Schema(format!(
                "its table {} has no column {}; this version of its schema can't be read, a newer tidings may",
                table.name,
                lacks.join(", ")
            )));
        }
        if without_rowid || table.optional.iter().any(|(name, _)| !has(name)) {
            let rowid = if without_rowid { "NULL AS rowid" } else { "rowid AS rowid" };
            let mut list = vec![rowid.to_owned()];
            list.extend(table.required.iter().map(|name| (*name).to_owned()));
            list.extend(table.optional.iter().map(|(name, default)| {
                if has(name) { (*name).to_owned() } else { format!("{default} AS {name}") }
            }));
            let name = table.name;
            let _ = writeln!(
                statements,
                "CREATE TEMP VIEW {name} AS SELECT {} FROM main.{name};",
                list.join(", ")
            );
        }
    }
    Ok(statements)
}

/// Why SQLite could not read the file, for people.
fn reason(path: &Path, uses_wal: bool, error: &rusqlite::Error) -> String {
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => "it is not a SQLite database".into(),
        Some(ErrorCode::DatabaseCorrupt) => {
            "it is damaged or cut off (SQLite: database disk image is malformed)".into()
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "its owner holds it locked; try again".into()
        }
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied)
            if uses_wal =>
        {
            let mut index = path.as_os_str().to_owned();
            index.push("-shm");
            format!(
                "it is written with a write-ahead log, and its index {} can neither be opened nor made; run this as the user who \
                 owns the folder, or while its owner runs",
                Path::new(&index).display()
            )
        }
        Some(ErrorCode::ReadOnly) => {
            "its last write was interrupted, and only its owner can undo that; start its owner once"
                .into()
        }
        _ => error.to_string(),
    }
}

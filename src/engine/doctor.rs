//! `doctor`: what is wrong with the state, the lock, the clock, the catalogs and the terminal, and how to mend it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::condition::span;
use super::lock::{OwnerLock, is_owned};
use super::snapshot::Snapshot;
use crate::clock::{Millis, SECOND};
use crate::journal::JournalError;
use crate::journal::examine::{Examined, beside, examine};
use crate::journal::failures;

/// A write-ahead log above this size, in bytes, is not emptied as it should be.
const LOG_BYTES: u64 = 64 * 1024 * 1024;
/// Times in the database may lie this far ahead: two processes read the clock one after the other.
const SKEW: Millis = 5 * SECOND;

/// How one thing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    /// As it should be.
    Ok,
    /// Not as it should be, and everything works.
    Warning,
    /// Something does not work.
    Fault,
    /// It can't be told.
    Unknown,
}

impl Health {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Fault => "fault",
            Self::Unknown => "unknown",
        }
    }
}

/// What was found about one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What was looked at.
    pub name: &'static str,
    /// How it is.
    pub health: Health,
    /// What was found.
    pub found: String,
    /// How to mend it.
    pub mend: Option<String>,
}

impl Check {
    fn ok(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, health: Health::Ok, found: found.into(), mend: None }
    }

    fn bad(
        name: &'static str,
        health: Health,
        found: impl Into<String>,
        mend: impl Into<String>,
    ) -> Self {
        Self { name, health, found: found.into(), mend: Some(mend.into()) }
    }
}

/// What is known of the terminal, as the environment tells it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Terminal {
    /// Whether stdin and stdout are one.
    pub is_terminal: bool,
    /// `TERM`.
    pub term: Option<String>,
    /// `COLORTERM`.
    pub color_term: Option<String>,
    /// Whether `NO_COLOR` is set.
    pub no_color: bool,
    /// The first of `LC_ALL`, `LC_CTYPE` and `LANG` that is set.
    pub locale: Option<String>,
    /// Columns and rows; 0 where the terminal does not tell.
    pub size: Option<(u16, u16)>,
}

/// A thing that does not work, as whoever tried it says.
pub fn fault(name: &'static str, found: String) -> Check {
    Check { name, health: Health::Fault, found, mend: None }
}

/// Looks at the state database at `db` and what lies beside it. Nothing is made or changed.
pub fn state(db: &Path, now: Millis) -> Vec<Check> {
    if !db.exists() {
        return vec![Check::ok(
            "state",
            format!("{} is not there yet; the first verb that writes makes it", db.display()),
        )];
    }
    let mut checks = vec![permissions(db)];
    if let Some(check) = no_database_yet(db) {
        checks.push(check);
        return checks;
    }
    match examine(db) {
        Ok(found) => {
            checks.push(schema(db, &found));
            checks.push(integrity(db, &found));
            checks.push(log(found.log_bytes));
            checks.push(clock(&found, now));
            checks.push(owner(db, &found));
        }
        Err(error) => checks.push(unreadable(&error)),
    }
    checks.push(waiting_failures(db));
    checks
}

/// What lies where the database should, when it is none: a folder, or an empty file.
fn no_database_yet(db: &Path) -> Option<Check> {
    let meta = db.metadata().ok()?;
    if meta.is_dir() {
        let found = format!("{} is a folder", db.display());
        return Some(Check::bad("state", Health::Fault, found, "name a file with --db"));
    }
    (meta.len() == 0).then(|| {
        Check::ok("state", format!("{} is empty; the next verb that writes fills it", db.display()))
    })
}

/// Looks at another system's state database at `db`, of which `snapshot` is a picture.
pub fn attached(db: &Path, snapshot: &Snapshot) -> Vec<Check> {
    let found = format!(
        "{} can be read: {} events, {} watches",
        db.display(),
        snapshot.journal.rows,
        snapshot.watches.len()
    );
    let events = snapshot.events.iter().map(|row| row.event.occurred_at);
    let newest = events.chain(snapshot.watches.iter().map(|row| row.cursor.updated_at)).max();
    let log_bytes = beside(db, "-wal").metadata().map_or(0, |file| file.len());
    vec![Check::ok("state", found), log(log_bytes), clock_at(newest, snapshot.at)]
}

fn unreadable(error: &JournalError) -> Check {
    let mend = match error {
        JournalError::NotADatabase { .. } => "name another file with --db, or move this one away",
        _ => "restore it from a copy, or move it away: the next verb that writes makes a new one",
    };
    Check::bad("state", Health::Fault, error.to_string(), mend)
}

fn permissions(db: &Path) -> Check {
    let mut open = Vec::new();
    let folder = db.parent().filter(|folder| !folder.as_os_str().is_empty());
    let files =
        ["", "-wal", "-shm", ".lock", ".failures"].into_iter().map(|ending| beside(db, ending));
    for path in files.chain(folder.map(Path::to_owned)) {
        let Ok(meta) = path.metadata() else { continue };
        let mode = meta.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            let wanted = if meta.is_dir() { "700" } else { "600" };
            open.push((
                format!("{} is {mode:o}", path.display()),
                format!("chmod {wanted} {}", path.display()),
            ));
        }
    }
    if open.is_empty() {
        return Check::ok("permissions", "only you can read the state");
    }
    let (found, mend): (Vec<_>, Vec<_>) = open.into_iter().unzip();
    Check::bad(
        "permissions",
        Health::Warning,
        format!("others may read the state: {}", found.join(", ")),
        mend.join(" && "),
    )
}

fn schema(db: &Path, found: &Examined) -> Check {
    let Examined { version, known, .. } = found;
    if !found.is_ours {
        return Check::bad(
            "schema",
            Health::Fault,
            format!("{} is another program's database", db.display()),
            "name another file with --db; another system's state database is read with --attach",
        );
    }
    if version > known {
        return Check::bad(
            "schema",
            Health::Fault,
            format!("schema version {version} is from the future: this program knows {known}"),
            "use a newer tidings",
        );
    }
    if version < known {
        return Check::ok(
            "schema",
            format!("version {version}; the next verb makes it {known}, after a copy"),
        );
    }
    Check::ok("schema", format!("version {version}"))
}

fn integrity(db: &Path, found: &Examined) -> Check {
    if found.integrity == "ok" {
        return Check::ok("integrity", format!("{} bytes are sound", found.bytes));
    }
    let said = found.integrity.lines().next().unwrap_or_default();
    Check::bad(
        "integrity",
        Health::Fault,
        format!("the database is damaged: {said}"),
        format!(
            "restore it from a copy, or save what can be read: sqlite3 {} .recover",
            db.display()
        ),
    )
}

fn log(bytes: u64) -> Check {
    if bytes <= LOG_BYTES {
        return Check::ok("log", format!("the write-ahead log has {bytes} bytes"));
    }
    Check::bad(
        "log",
        Health::Warning,
        format!("the write-ahead log has grown to {bytes} bytes: a reader holds it"),
        "end the process that reads the database all the time; then the next write empties the log",
    )
}

fn clock(found: &Examined, now: Millis) -> Check {
    match &found.newest_at {
        Ok(newest) => clock_at(*newest, now),
        Err(why) => untold("clock", "whether times in the state lie ahead", why),
    }
}

/// The clock, beside the newest time that stands in a database.
fn clock_at(newest: Option<Millis>, now: Millis) -> Check {
    match newest.filter(|at| *at > now.saturating_add(SKEW)) {
        Some(at) => Check::bad(
            "clock",
            Health::Warning,
            format!(
                "the state holds times {} ahead of this clock: it was set back, or another machine writes",
                span(at.saturating_sub(now))
            ),
            "set the clock; ages and expiries are wrong until it has caught up",
        ),
        None => Check::ok("clock", "no time in the state lies ahead"),
    }
}

/// Who the owner is. The lock tells whether there is one, the database which process that was.
fn owner(db: &Path, found: &Examined) -> Check {
    let written = match &found.owner {
        Ok(owner) => *owner,
        Err(why) => return untold("owner", "who wrote itself down as the owner", why),
    };
    match (is_owned(db), written, written.map(is_alive)) {
        (true, Some(pid), Some(true)) => Check::ok("owner", format!("process {pid} is the owner")),
        (true, written, _) => Check::bad(
            "owner",
            Health::Fault,
            format!(
                "a process holds {} and {}: two programs take themselves for the owner",
                OwnerLock::path(db).display(),
                written.map_or_else(
                    || "none wrote itself down".to_owned(),
                    |pid| format!("process {pid}, which wrote itself down, is gone")
                )
            ),
            format!("find it with `fuser {}` and end it", OwnerLock::path(db).display()),
        ),
        (false, Some(pid), Some(true)) => Check::bad(
            "owner",
            Health::Fault,
            format!(
                "process {pid} wrote itself down as the owner and does not hold the lock; was the lock file deleted?"
            ),
            format!("end process {pid}; the next `tidings` or `tidings run` takes over"),
        ),
        (false, Some(pid), _) => Check::bad(
            "owner",
            Health::Warning,
            format!("the lock is stale: process {pid} ended without leaving"),
            "start `tidings` or `tidings run`: it takes over and sweeps",
        ),
        (false, None, _) => Check::ok(
            "owner",
            "no process is the owner; nobody is woken and nothing ticks until one is",
        ),
    }
}

/// What a damaged database, or one of another schema, does not tell.
fn untold(name: &'static str, what: &str, why: &str) -> Check {
    let found = format!("it can't be told {what}: {why}");
    Check { name, health: Health::Unknown, found, mend: None }
}

fn is_alive(pid: u32) -> bool {
    let number = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    number.is_some_and(|number| {
        !matches!(rustix::process::test_kill_process(number), Err(rustix::io::Errno::SRCH))
    }) && !has_ended(pid)
}

/// Whether a process has ended and nobody has asked for its exit status, as far as `/proc` tells: a signal still reaches it.
fn has_ended(pid: u32) -> bool {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name of the program stands in parentheses and may hold anything; its state comes behind it.
    let state = stat.rsplit(|byte| *byte == b')').next().unwrap_or_default();
    state.trim_ascii_start().first() == Some(&b'Z')
}

fn waiting_failures(db: &Path) -> Check {
    let path = failures::path(db);
    match path.metadata() {
        Ok(file) => Check::bad(
            "failures",
            Health::Warning,
            format!(
                "events could not be recorded: {} holds {} bytes of them",
                path.display(),
                file.len()
            ),
            "find out why with `tidings explain`; the next owner takes them into the ledger",
        ),
        Err(_) => Check::ok("failures", "no failed append waits"),
    }
}

/// Looks at the folders in which foreign sessions are found.
pub fn homes(homes: &[(&'static str, PathBuf)]) -> Vec<Check> {
    if homes.is_empty() {
        return vec![Check::bad(
            "catalog",
            Health::Warning,
            "no home folder is known, so no foreign session can be found",
            "set HOME, or upstream.claude_config_dir and upstream.codex_home in the config",
        )];
    }
    homes
        .iter()
        .map(|(catalog, folder)| match folder.read_dir() {
            Ok(_) => Check::ok("catalog", format!("{catalog}: {}", folder.display())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Check::bad(
                "catalog",
                Health::Warning,
                format!("{catalog}: {} is not there", folder.display()),
                format!("start {catalog} once, or set its folder in the config"),
            ),
            Err(error) => Check::bad(
                "catalog",
                Health::Fault,
                format!("{catalog}: {} can't be read: {error}", folder.display()),
                "run tidings as the user whose sessions they are",
            ),
        })
        .collect()
}

/// Looks at what the terminal can do.
pub fn terminal(terminal: &Terminal) -> Vec<Check> {
    let name = "terminal";
    if !terminal.is_terminal {
        return vec![Check::ok(name, "there is none: verbs work, the monitor needs one")];
    }
    let term = terminal.term.as_deref().unwrap_or_default();
    if term.is_empty() || term == "dumb" {
        return vec![Check::bad(
            name,
            Health::Fault,
            "TERM names no terminal that can place text",
            "set TERM, for example to xterm-256color",
        )];
    }
    let mut checks = Vec::new();
    let is_true = matches!(terminal.color_term.as_deref(), Some("truecolor" | "24bit"));
    let colours = match () {
        () if terminal.no_color => "no colour, as NO_COLOR asks",
        () if is_true => "true colour",
        () if term.contains("256") => "256 colours",
        () => "16 colours",
    };
    checks.push(Check::ok(name, format!("{term}, {colours}")));
    let locale = terminal.locale.as_deref().unwrap_or_default();
    let folded = locale.to_lowercase();
    if !folded.contains("utf-8") && !folded.contains("utf8") {
        checks.push(Check::bad(
            name,
            Health::Warning,
            format!("the locale {locale:?} is not UTF-8: lines and arrows may look wrong"),
            "set LC_ALL, for example to C.UTF-8",
        ));
    }
    if let Some((columns, rows)) = terminal.size
        && columns > 0
        && rows > 0
        && (columns < 80 || rows < 24)
    {
        checks.push(Check::bad(
            name,
            Health::Warning,
            format!("{columns}×{rows} is small: panes give way below 80×24"),
            "make the window larger",
        ));
    }
    checks
}

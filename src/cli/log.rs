//! Where diagnostics go: to files while the engine runs for long, to stderr with `-v` for a verb that is done at once.
//!
//! Neither holds anything of what people or agents wrote: no error or event of the engine does.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use tracing_appender::rolling::{RollingFileAppender, RollingWriter, Rotation};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use super::context::state_folder;
use super::{CliError, Context, Options};
use crate::clock::{Clock, DAY};

/// How many days of logs are kept.
const FILES: usize = 7;
const PREFIX: &str = "tidings";
const SUFFIX: &str = "log";

/// Sends diagnostics to `$XDG_STATE_HOME/tidings/log`, a file a day.
///
/// # Errors
/// The folder or the file can't be made.
pub fn to_files(context: &Context) -> Result<(), CliError> {
    let folder = state_folder()?.join("log");
    let writer = DailyFiles::open(folder.clone(), Arc::clone(&context.clock)).map_err(|error| {
        CliError::Failed(format!("could not make the log in {}: {error}", folder.display()))
    })?;
    let level = if context.options.verbose { "tidings=debug" } else { "tidings=info" };
    // A second subscriber is an error only where a test has set one before.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(level))
        .with_ansi(false)
        .with_writer(writer)
        .try_init();
    Ok(())
}

/// Sends warnings to stderr, when `-v` asks for them.
pub(super) fn to_stderr(options: &Options) {
    if options.verbose {
        let _ = tracing_subscriber::fmt()
            .with_env_filter(EnvFilter::new("tidings=warn"))
            .with_ansi(false)
            .without_time()
            .with_target(false)
            .with_writer(io::stderr)
            .try_init();
    }
}

/// A file a day, for the owner's eyes only.
///
/// The appender makes files with the permissions of the umask, so each day's file is made before it opens it.
struct DailyFiles {
    appender: RollingFileAppender,
    folder: PathBuf,
    clock: Arc<dyn Clock>,
    /// The day whose file is known to be there, counted from the epoch.
    day: AtomicI64,
}

impl DailyFiles {
    fn open(folder: PathBuf, clock: Arc<dyn Clock>) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let day = clock.now().div_euclid(DAY);
        make_private(&folder, day)?;
        let appender = RollingFileAppender::builder()
            .rotation(Rotation::DAILY)
            .filename_prefix(PREFIX)
            .filename_suffix(SUFFIX)
            .max_log_files(FILES)
            .build(&folder)
            .map_err(io::Error::other)?;
        Ok(Self { appender, folder, clock, day: AtomicI64::new(day) })
    }
}

impl<'a> MakeWriter<'a> for DailyFiles {
    type Writer = RollingWriter<'a>;

    fn make_writer(&'a self) -> Self::Writer {
        let day = self.clock.now().div_euclid(DAY);
        if self.day.swap(day, Ordering::Relaxed) != day {
            // Should that fail, the appender tries itself; a log is better open to the group than not written.
            let _ = make_private(&self.folder, day);
        }
        self.appender.make_writer()
    }
}

/// Makes the file of a day, counted from the epoch, by the name that the appender gives it (UTC).
fn make_private(folder: &std::path::Path, day: i64) -> io::Result<()> {
    let date = jiff::Timestamp::from_millisecond(day * DAY)
        .map_err(io::Error::other)?
        .strftime("%Y-%m-%d")
        .to_string();
    let path = folder.join(format!("{PREFIX}.{date}.{SUFFIX}"));
    OpenOptions::new().create(true).append(true).mode(0o600).open(path).map(drop)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::clock::SystemClock;

    #[test]
    fn the_log_is_one_private_file_in_a_private_folder() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("state/log");
        let files = DailyFiles::open(log.clone(), Arc::new(SystemClock)).unwrap();
        files.make_writer().write_all(b"a line\n").unwrap();
        let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&log), 0o700);
        let made: Vec<_> = log.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
        let written: Vec<_> =
            made.iter().filter(|path| path.metadata().unwrap().len() == 7).collect();
        assert_eq!(written.len(), 1, "{made:?}");
        assert!(made.iter().all(|path| mode(path) == 0o600), "{made:?}");
    }
}

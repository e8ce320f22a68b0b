//! Processes of the test's own: the test program runs itself again, with one test selected and its part in the environment.
//!
//! A child reports on its standard output, one line a report, each begun with `@`; everything else there is the test
//! harness's. A line without its end was cut short by a kill and counts as not said.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

const PART: &str = "TIDINGS_TEST_PART";
const DATABASE: &str = "TIDINGS_TEST_DATABASE";

/// What this process was started to do, and on which database; `None` in the test itself.
pub(crate) fn part() -> Option<(String, PathBuf)> {
    let part = std::env::var(PART).ok()?;
    Some((part, std::env::var_os(DATABASE).unwrap().into()))
}

/// Reports a line to the parent. It goes out at once and whole.
pub(crate) fn report(line: &str) {
    let mut out = std::io::stdout().lock();
    // The harness may have left its own line open.
    out.write_all(format!("\n@{line}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

/// A child that runs; it is killed when the test ends before it does.
pub(crate) struct Process {
    pub(crate) child: Child,
    out: BufReader<ChildStdout>,
}

impl Process {
    /// Starts the test program with `test` alone and `part` to do.
    pub(crate) fn start(test: &str, part: &str, database: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture", "--test-threads=1"])
            .env(PART, part)
            .env(DATABASE, database)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Self { child, out }
    }

    /// The next report; `None` when the child has ended.
    pub(crate) fn next(&mut self) -> Option<String> {
        let mut line = String::new();
        loop {
            line.clear();
            if self.out.read_line(&mut line).unwrap() == 0 || !line.ends_with('\n') {
                return None;
            }
            if let Some(report) = line.trim_end().strip_prefix('@') {
                return Some(report.to_owned());
            }
        }
    }

    /// Tells the child to come to an end, and returns what it still reports.
    pub(crate) fn finish(&mut self) -> Vec<String> {
        drop(self.child.stdin.take());
        let rest = std::iter::from_fn(|| self.next()).collect();
        assert!(self.child.wait().unwrap().success(), "a child of the test failed");
        rest
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Becomes true when the parent tells this child to come to an end.
pub(crate) fn told_to_finish() -> std::sync::Arc<std::sync::atomic::AtomicBool> {
    let told = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let teller = told.clone();
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        teller.store(true, std::sync::atomic::Ordering::SeqCst);
    });
    told
}

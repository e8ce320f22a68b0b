//! Waking a watcher: running the program that the config names (`wake.command`).

use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::wakes::{Asked, WakeOutcome};

/// A program that still runs after this has started the turn.
const STARTED_AFTER: Duration = Duration::from_secs(2);
/// How often a program that was started is looked at.
const LOOK: Duration = Duration::from_millis(20);
/// The exit code by which the program says that the watcher is busy (`EX_TEMPFAIL` of `sysexits.h`).
const BUSY: i32 = 75;

/// Runs `command` for one wake and says how it ended. The program finds the watcher and the reason in `TIDINGS_WATCHER` and
/// `TIDINGS_REASON`. Blocks until the program ended or has run for two seconds.
pub(super) fn wake(command: &[String], asked: &Asked) -> WakeOutcome {
    let Some((program, arguments)) = command.split_first() else {
        return WakeOutcome::Skipped("no-handler".into());
    };
    let started = Command::new(program)
        .args(arguments)
        .env("TIDINGS_WATCHER", asked.watcher.as_str())
        .env("TIDINGS_REASON", &asked.reason)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut child = match started {
        Ok(child) => child,
        Err(error) => {
            return WakeOutcome::Skipped(format!("{program} could not be started: {error}"));
        }
    };
    let begun = Instant::now();
    while begun.elapsed() < STARTED_AFTER {
        match child.try_wait() {
            Ok(Some(status)) => return judged(status),
            Ok(None) => std::thread::sleep(LOOK),
            Err(error) => {
                return WakeOutcome::Skipped(format!("{program} could not be waited for: {error}"));
            }
        }
    }
    // The turn runs on; somebody has to take the exit status of the program when it ends.
    std::thread::spawn(move || child.wait());
    WakeOutcome::Fired
}

fn judged(status: ExitStatus) -> WakeOutcome {
    match status.code() {
        Some(0) => WakeOutcome::Fired,
        Some(BUSY) => WakeOutcome::Busy("busy".into()),
        Some(code) => WakeOutcome::Skipped(format!("handler-exit-{code}")),
        None => WakeOutcome::Skipped("handler-killed".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session_key::SessionKey;

    fn outcome(script: &str) -> WakeOutcome {
        let asked =
            Asked { watcher: SessionKey::new("agent:main:main"), reason: "session-state:t".into() };
        wake(&["sh".into(), "-c".into(), script.into()], &asked)
    }

    #[test]
    fn the_exit_code_is_the_answer() {
        assert_eq!(
            outcome(
                "test \"$TIDINGS_WATCHER $TIDINGS_REASON\" = 'agent:main:main session-state:t'"
            ),
            WakeOutcome::Fired
        );
        assert_eq!(outcome("exit 75"), WakeOutcome::Busy("busy".into()));
        assert_eq!(outcome("exit 3"), WakeOutcome::Skipped("handler-exit-3".into()));
    }

    #[test]
    fn without_a_handler_or_a_program_the_wake_is_skipped() {
        let asked =
            Asked { watcher: SessionKey::new("agent:main:main"), reason: "session-state:t".into() };
        assert_eq!(wake(&[], &asked), WakeOutcome::Skipped("no-handler".into()));
        assert!(
            matches!(wake(&["/does/not/exist".into()], &asked), WakeOutcome::Skipped(why) if why.contains("started"))
        );
    }
}

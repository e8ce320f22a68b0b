//! Telling somebody about an alert: by a program, or by a message of the desktop.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::alerts::{Alert, AlertRule};

/// A program that still runs after this is left to itself.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often a program that was started is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// Tells about an alert by every way that its rule names. Blocks until the programs ended, ten seconds each at the most.
///
/// # Errors
/// What could not be told, one line a way.
pub fn tell(rule: &AlertRule, alert: &Alert) -> Result<(), String> {
    let mut failed = Vec::new();
    if let Some((program, arguments)) = rule.command.split_first() {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env("TIDINGS_ALERT", &alert.rule)
            .env("TIDINGS_ALERT_TURN", alert.turn.as_str())
            .env("TIDINGS_WATCHER", alert.watcher.as_str())
            .env("TIDINGS_TARGET", alert.target.as_str())
            .env("TIDINGS_CONDITION", alert.condition.as_str())
            .env("TIDINGS_SINCE", alert.since.to_string())
            .env("TIDINGS_SENTENCE", &alert.sentence);
        failed.extend(run(program, &mut command).err());
    }
    if rule.desktop {
        failed.extend(desktop(&alert.sentence).err());
    }
    if failed.is_empty() {
        return Ok(());
    }
    Err(format!("the alert {:?} was not told: {}", alert.rule, failed.join("; ")))
}

/// Tells about alerts, each on a thread of its own; `failed` gets what could not be told.
pub(super) fn tell_aside(
    rules: &[AlertRule],
    told: Vec<Alert>,
    failed: impl Fn(String) + Clone + Send + 'static,
) {
    for alert in told {
        let Some(rule) = rules.iter().find(|rule| rule.name == alert.rule).cloned() else {
            continue;
        };
        let failed = failed.clone();
        std::thread::spawn(move || {
            if let Err(error) = tell(&rule, &alert) {
                failed(error);
            }
        });
    }
}

/// Shows a message by the desktop's own program.
fn desktop(sentence: &str) -> Result<(), String> {
    let (program, mut command) = Desktop::HERE.message(sentence);
    run(program, &mut command)
}

/// A desktop that can show messages.
#[derive(Debug, Clone, Copy)]
enum Desktop {
    MacOs,
    Other,
}

impl Desktop {
    /// The one of this machine.
    const HERE: Self = if cfg!(target_os = "macos") { Self::MacOs } else { Self::Other };

    /// The program that shows `sentence`, and how it is run. The text goes in as an argument, so that nothing in it is run, and
    /// behind a word that is no option, so that it is none either.
    fn message(self, sentence: &str) -> (&'static str, Command) {
        let (program, arguments): (_, &[&str]) = match self {
            Self::MacOs => (
                "osascript",
                &[
                    "-e",
                    "on run argv",
                    "-e",
                    "display notification (item 2 of argv) with title (item 1 of argv)",
                    "-e",
                    "end run",
                    "tidings",
                ],
            ),
            Self::Other => ("notify-send", &["--app-name=tidings", "--", "tidings"]),
        };
        let mut command = Command::new(program);
        command.args(arguments).arg(sentence);
        (program, command)
    }
}

fn run(program: &str, command: &mut Command) -> Result<(), String> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("{program} could not be started: {error}"))?;
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("{program} ended with {status}")),
            Ok(None) => std::thread::sleep(LOOK),
            Err(error) => return Err(format!("{program} could not be waited for: {error}")),
        }
    }
    // It runs on; somebody has to take its exit status when it ends.
    std::thread::spawn(move || child.wait());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_desktops_program_gets_the_sentence_as_one_argument() {
        let folder = tempfile::tempdir().unwrap();
        let told = folder.path().join("told");
        let sentence = "-e \"; do shell script \"rm x\" é";
        for (desktop, before) in [
            (
                Desktop::MacOs,
                "8 -e on run argv -e display notification (item 2 of argv) with title (item 1 of argv) -e end run tidings",
            ),
            (Desktop::Other, "4 --app-name=tidings -- tidings"),
        ] {
            let (program, mut command) = desktop.message(sentence);
            let stand_in = folder.path().join(program);
            // Another process writes the program: while a file is open for writing here, no program in it can be started.
            let write = "printf '#!/bin/sh\\nprintf \"%%s\\\\n\" \"$#\" \"$@\" > %s\\n' \"$2\" > \"$1\" && chmod 755 \"$1\"";
            let mut writer = Command::new("/bin/sh");
            writer.args(["-c", write, "sh"]).args([&stand_in, &told]);
            assert!(writer.status().unwrap().success());
            run(program, command.env("PATH", folder.path())).unwrap();
            let lines = String::from_utf8(std::fs::read(&told).unwrap()).unwrap();
            let mut lines: Vec<_> = lines.lines().collect();
            assert_eq!(lines.pop(), Some(sentence));
            assert_eq!(lines.join(" "), before, "{program}");
        }
    }
}

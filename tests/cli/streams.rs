//! Pipes that nobody reads, and disks that are full.

use std::fs::File;
use std::process::Stdio;

use super::support::{DEADLINE, Home, Ran, Stream, one_line, wait_until};

const W: &str = "agent:main:main";
const T: &str = "agent:main:subagent:child";

/// The writing end of a pipe whose reading end is closed.
fn closed_pipe() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

fn full_disk() -> Stdio {
    File::options().write(true).open("/dev/full").unwrap().into()
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let home = Home::new();
    home.ok(&format!("watch {W} {T}"));
    let trace = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/traces/tree-1001.json");
    for arguments in [
        &["sessions", "--json"][..],
        &["sessions"],
        &["status", W],
        &["completions", "bash"],
        &["man"],
        &["--help"],
        &["script", trace],
        &["scan", trace],
    ] {
        let ran = Ran::of(home.command(arguments).stdout(closed_pipe()).spawn().unwrap());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{arguments:?}");
    }
}

#[test]
fn closed_stderr_changes_no_exit_code() {
    let home = Home::new();
    let ran = Ran::of(home.command(["status", W]).stderr(closed_pipe()).spawn().unwrap());
    assert_eq!(ran.code, 3);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_stdout_is_said() {
    let home = Home::new();
    for arguments in [&["sessions", "--json"][..], &["queue"], &["completions", "zsh"]] {
        let ran = Ran::of(home.command(arguments).stdout(full_disk()).spawn().unwrap());
        assert_eq!(ran.code, 1, "{arguments:?}");
        assert!(one_line(&ran.stderr).starts_with("could not write the output: No space left"));
    }
}

#[test]
fn a_turn_that_can_not_be_printed_names_what_it_took() {
    let home = Home::new();
    for (number, stdout) in [closed_pipe(), full_disk()].into_iter().enumerate() {
        home.ok(&format!("watch {W} {T}"));
        home.ok(&format!("record goal_changed {T} --actor-type human"));
        home.ok(&format!("send {T} {W} secret"));
        home.ok(&format!("send {T} {W} secret"));
        let json = ["turn", W, "--json"];
        let arguments = &json[..if number == 0 { 3 } else { 2 }];
        let ran = Ran::of(home.command(arguments).stdout(stdout).spawn().unwrap());
        assert_eq!(ran.code, 1);
        let said = one_line(&ran.stderr);
        assert!(said.contains(&format!("the notices about {T}, 2 messages")), "{said}");
        assert!(!said.contains("secret"));
        assert_eq!(home.ok(&format!("turn {W}")), "");
    }
    let ran = Ran::of(home.command(["turn", W, "--json"]).stdout(closed_pipe()).spawn().unwrap());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "nothing was taken, so nothing is lost");
}

#[test]
fn run_ends_quietly_when_its_reader_goes() {
    let home = Home::new();
    let (reader, writer) = std::io::pipe().unwrap();
    let mut child = home.command(["run", "--json"]).stdout(writer).spawn().unwrap();
    let mut lines = std::io::BufReader::new(reader);
    let mut first = String::new();
    std::io::BufRead::read_line(&mut lines, &mut first).unwrap();
    assert!(first.contains("\"role\":\"owner\""), "{first}");
    drop(lines);
    home.ok(&format!("record created {T} --actor-type system"));
    let begin = std::time::Instant::now();
    wait_until("run ends", || {
        assert!(begin.elapsed() < DEADLINE);
        child.try_wait().unwrap().is_some()
    });
    let ran = Ran::of(child);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
}

#[test]
fn run_without_json_prints_one_line_each() {
    let home = Home::new();
    let ran = home.run(["run", "--for", "1s"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(ran.stdout.ends_with("owner: this process runs the monitor\n"), "{ran:?}");
    let stream = Stream::start(home.command(["run", "--json", "--for", "100ms"]));
    stream.wait_until_owner();
    assert_eq!(stream.wait().0, 0);
}

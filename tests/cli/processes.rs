//! Several processes on one state.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::support::{Home, Stream, one_line, wait_until};

const W: &str = "agent:main:main";
const T: &str = "agent:main:subagent:child";

fn run_json(home: &Home) -> Stream {
    Stream::start(home.command(["run", "--json"]))
}

#[test]
fn what_one_process_records_another_takes() {
    let home = Home::new();
    home.ok(&format!("watch {W} {T}"));
    let writers: Vec<_> = (0..8)
        .map(|_| {
            home.command(["record", "goal_changed", T, "--actor-type", "human"]).spawn().unwrap()
        })
        .collect();
    for writer in writers {
        let output = writer.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    assert_eq!(home.json(&format!("status {T}"))["stateVersion"], 8);
    assert!(home.ok(&format!("turn {W}")).ends_with("changesSince 0.\n"));
    assert!(home.ok(&format!("turn {W}")).ends_with("changesSince 1.\n"));
    assert_eq!(home.ok(&format!("turn {W}")), "");
}

#[test]
fn the_owner_sees_within_a_quarter_of_a_second_what_others_do() {
    let home = Home::new();
    home.ok(&format!("watch {W} {T}"));
    let owner = run_json(&home);
    owner.wait_until_owner();
    // The best of several: a machine under load may hold up one, a program that polls too slowly holds up all.
    let best = (1..=10)
        .map(|_| {
            let sequence = home.json(&format!("record goal_changed {T} --actor-type human"))
                ["event"]["sequence"]
                .clone();
            let begin = Instant::now();
            owner.wait_for("that event", |line| {
                line["event"] == "recorded" && line["sequence"] == sequence
            });
            begin.elapsed()
        })
        .min()
        .unwrap();
    assert!(best < Duration::from_millis(250), "{best:?}");
    let (code, stderr) = owner.end(Signal::TERM);
    assert_eq!((code, stderr.as_str()), (0, ""));
}

#[test]
fn the_stream_tells_the_life_of_a_notice() {
    let home = Home::new();
    home.ok(&format!("watch {W} {T}"));
    let owner = run_json(&home);
    owner.wait_until_owner();
    home.ok(&format!("record goal_changed {T} --actor-type human"));
    let recorded = owner.wait_for("recorded", |line| line["event"] == "recorded");
    assert_eq!(
        (&recorded["sessionKey"], &recorded["kind"], &recorded["notified"]),
        (&T.into(), &"goal_changed".into(), &1.into())
    );
    let queued = owner.wait_for("queued", |line| line["event"] == "queued");
    assert_eq!((&queued["watcher"], &queued["target"]), (&W.into(), &T.into()));
    wait_until("the wake is asked for", || {
        home.json("notices")["notices"][0]["wake"] == "coalescing"
    });
    let notices = home.json("notices");
    assert_eq!(notices["notices"][0]["queued"], true);
    assert!(home.json("queue")["queues"][0]["wake"]["dueAt"].is_i64());
    home.ok(&format!("turn {W}"));
    owner.wait_for("acknowledged", |line| line["event"] == "acknowledged");
    let (code, stderr) = owner.end(Signal::INT);
    assert_eq!((code, stderr.as_str()), (130, ""));
    home.ok(&format!("record goal_changed {T} --actor-type human"));
    let alone = home.json("notices");
    assert!(alone["notices"][0].get("queued").is_none(), "{alone}");
}

#[test]
fn a_second_run_is_a_viewer_that_says_so_and_takes_over() {
    let home = Home::new();
    home.ok(&format!("watch {W} {T}"));
    let mut owner = run_json(&home);
    owner.wait_until_owner();
    let viewer = run_json(&home);
    let seen = viewer.wait_for("viewer", |line| line["event"] == "owner");
    assert_eq!(seen["role"], "viewer");
    assert_eq!(seen["ownerProcess"], owner.child.id());
    home.ok(&format!("record goal_changed {T} --actor-type human"));
    viewer.wait_for("recorded", |line| line["event"] == "recorded");
    let killed = owner.child.id();
    owner.child.kill().unwrap();
    owner.wait();
    viewer.wait_until_owner();
    let (code, stderr) = viewer.end(Signal::TERM);
    assert_eq!(code, 0);
    assert!(
        one_line(&stderr).starts_with(&format!("process {killed} runs the monitor")),
        "{stderr}"
    );
}

#[test]
fn the_log_of_run_is_private_and_holds_nothing_that_people_wrote() {
    use std::os::unix::fs::PermissionsExt as _;

    let home = Home::new();
    home.ok(&format!("watch {W} {T}"));
    let owner = Stream::start(home.command(["run", "--json", "-v"]));
    owner.wait_until_owner();
    home.ok(&format!("send agent:operator:main {T} 'the secret plan' --watch"));
    home.ok(&format!("goal {T} set 'the secret goal'"));
    home.ok(&format!("turn {T}"));
    owner.wait_for("the goal", |line| line["kind"] == "goal_changed");
    owner.end(Signal::TERM);
    let folder = home.path("state/tidings/log");
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    let mut logs = 0;
    for entry in folder.read_dir().unwrap().map(Result::unwrap) {
        assert_eq!(mode(&entry.path()), 0o600);
        logs += 1;
    }
    assert!(logs > 0);
    assert_eq!(super::support::any_file_holds(&folder, "secret"), None);
}

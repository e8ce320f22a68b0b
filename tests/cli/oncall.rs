//! The verbs for somebody on call.

use std::io::{BufRead as _, BufReader};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::support::{DEADLINE, Home, Ran, words};

const W: &str = "agent:main:main";
const T: &str = "agent:main:subagent:child";

fn record(home: &Home, kind: &str, session: &str) {
    home.ok(&format!("record {kind} {session} --actor-type human"));
}

#[test]
fn explain_answers_in_one_sentence_and_as_json() {
    let home = Home::new();
    home.ok(&format!("watch {W} {T}"));
    record(&home, "human_direct_message", T);
    let text = home.ok(&format!("explain --watcher {W} --target {T}"));
    assert!(text.starts_with("wake-pending: the notice waits"), "{text}");
    assert!(text.contains("registered") && text.contains("queued"), "{text}");
    let json = home.json(&format!("explain --watcher {W} --target {T} --event 1"));
    let names: Vec<_> = json.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = ["watcher", "target", "event", "verdict", "because", "evidence", "timeline"];
    assert_eq!(names, expected);
    assert_eq!((&json["event"], &json["verdict"]), (&1.into(), &"wake-pending".into()));
    assert_eq!(
        home.json(&format!("explain --watcher {W} --target {T} --event 9"))["verdict"],
        "not-recorded"
    );
    home.refused(2, &format!("explain --watcher {W} --target {T} --event x"));
    let before = std::fs::read(home.db()).unwrap();
    home.ok(&format!("explain --watcher {W} --target {T}"));
    assert_eq!(std::fs::read(home.db()).unwrap(), before, "explaining writes nothing");
}

#[test]
fn follow_prints_what_comes_until_it_is_interrupted() {
    let home = Home::new();
    record(&home, "human_direct_message", T);
    record(&home, "compacted", T);
    let mut child = home
        .command(words(&format!(
            "follow {T} --since 0 --kind goal_changed --kind compacted --json"
        )))
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    assert_eq!(next()["sequence"], 2, "the first one is of another kind");
    record(&home, "goal_changed", W);
    record(&home, "goal_changed", T);
    let event = next();
    assert_eq!((&event["sequence"], &event["sessionKey"]), (&4.into(), &T.into()));
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn wait_prints_the_first_match_and_gives_up_in_time() {
    let home = Home::new();
    record(&home, "human_direct_message", T);
    record(&home, "goal_changed", T);
    assert_eq!(home.json("wait --since 0")["sequence"], 1);
    assert_eq!(home.json(&format!("wait {T} --since 0 --kind goal_changed"))["sequence"], 2);
    let late = home.run(words(&format!("wait {T} --since 2 --timeout 50ms")));
    assert_eq!((late.code, late.stdout.as_str()), (4, ""));
    assert!(late.stderr.contains("nothing matched after version 2"), "{}", late.stderr);
    home.refused(1, "wait --since 99");
    home.refused(2, "wait --since -1");

    let child = home.command(words(&format!("wait {T} --since 2 --json"))).spawn().unwrap();
    let began = Instant::now();
    record(&home, "compacted", T);
    let output = child.wait_with_output().unwrap();
    assert!(began.elapsed() < DEADLINE);
    let event: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&event["sequence"], &event["kind"]), (&3.into(), &"compacted".into()));
}

#[test]
fn wait_sees_the_state_come_into_being() {
    let home = Home::new();
    let child = home.command(words("wait --since 0 --json")).spawn().unwrap();
    record(&home, "human_direct_message", T);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

fn checked(home: &Home, options: &str, code: i32, words_of_line: &[&str]) {
    let ran = home.run(words(&format!("check {options}")));
    assert_eq!(ran.code, code, "{options}: {ran:?}");
    assert_eq!(ran.stdout.lines().count(), 1, "{ran:?}");
    for word in words_of_line {
        assert!(ran.stdout.contains(word), "{options}: {} has no {word}", ran.stdout);
    }
}

#[test]
fn check_prints_one_line_with_performance_data_and_an_exit_code() {
    let home = Home::new();
    checked(
        &home,
        "",
        0,
        &["TIDINGS OK - 0 watches, nothing is owed | pending_age=0.000s;900.000;3600.000;0"],
    );
    home.ok(&format!("watch {W} {T}"));
    for _ in 0..3 {
        record(&home, "human_direct_message", T);
    }
    checked(
        &home,
        "",
        0,
        &["TIDINGS OK", "lag=0;;;0", "append_failures=0;1;10;0", "journal_fill=0%;120;200;0"],
    );
    checked(&home, "--max-lag 1", 0, &["TIDINGS OK"]);
    std::thread::sleep(Duration::from_millis(20));
    checked(&home, "--warn-pending-age 1ms", 1, &["TIDINGS WARNING - oldest notice", W, T]);
    checked(&home, "--max-pending-age 1ms", 2, &["TIDINGS CRITICAL - oldest notice"]);
    checked(&home, "--max-journal-fill 0", 2, &["of 50000 events"]);
    checked(&home, "--warn-append-failures 0 --max-append-failures 9", 1, &["0 appends failed"]);
    checked(&home, "--max-lock-wait 1d --warn-lock-wait 1d", 0, &["lock_wait="]);
    let json = home.run(words("check --max-pending-age 1ms --json"));
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((&json["status"], &json["watches"]), (&"critical".into(), &1.into()));
    home.refused(2, "check --max-pending-age 5");
}

#[test]
fn check_of_what_cannot_be_read_is_unknown() {
    let home = Home::new();
    std::fs::create_dir_all(home.db().parent().unwrap()).unwrap();
    std::fs::write(home.db(), vec![b'x'; 4_096]).unwrap();
    checked(&home, "", 3, &["TIDINGS UNKNOWN - ", "not a SQLite database"]);
    checked(&home, "--attach /nowhere/x.sqlite", 3, &["TIDINGS UNKNOWN", "there is no such file"]);
}

#[test]
fn metrics_are_prometheus_text() {
    let home = Home::new();
    home.ok(&format!("watch {W} {T}"));
    record(&home, "human_direct_message", T);
    let text = home.ok("metrics");
    for line in [
        "tidings_journal_events 1",
        "tidings_journal_sequence 1",
        "tidings_watches{condition=\"pending\"} 1",
        "tidings_watches{condition=\"in step\"} 0",
        "tidings_pending_notices 1",
        "tidings_actionable_lag_max 1",
        "tidings_findings{rule=\"stopped\"} 0",
        "tidings_findings_not_judged{rule=\"stopped\"} 0",
        "tidings_findings_not_judged{rule=\"stalled\"} 1",
        "tidings_ledger_entries{step=\"queued\"} 1",
        "tidings_append_failures_last_hour 0",
    ] {
        assert!(text.lines().any(|found| found == line), "{text} has no {line}");
    }
    assert!(!text.contains("tidings_findings{rule=\"stalled\"}"), "no zero without data: {text}");
    let mut described: Vec<&str> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("# TYPE ").and_then(|rest| rest.split(' ').next()) {
            assert!(!described.contains(&name), "{name} is described twice");
            described.push(name);
        } else if !line.starts_with('#') {
            let name = line.split(['{', ' ']).next().unwrap();
            assert_eq!(described.last(), Some(&name), "{line} stands below another description");
            assert!(
                line.rsplit(' ').next().unwrap().parse::<f64>().is_ok(),
                "{line} has no number"
            );
        }
    }
}

fn health(home: &Home, name: &str) -> (String, String) {
    let ran = home.run(words("doctor --json"));
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(json["ok"] == true, ran.code == 0, "{ran:?}");
    let checks = json["checks"].as_array().unwrap();
    let check = checks
        .iter()
        .find(|check| check["name"] == name)
        .unwrap_or_else(|| panic!("{json} has no {name}"));
    (check["status"].as_str().unwrap().to_owned(), check["found"].as_str().unwrap().to_owned())
}

#[test]
fn doctor_finds_what_is_wrong() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    assert_eq!(health(&home, "state").0, "ok");
    assert!(!home.path("state").exists(), "looking makes nothing");
    std::fs::create_dir_all(home.path("claude/projects")).unwrap();
    record(&home, "human_direct_message", T);
    for name in [
        "permissions",
        "schema",
        "integrity",
        "log",
        "clock",
        "owner",
        "failures",
        "catalog",
        "terminal",
    ] {
        assert_eq!(health(&home, name).0, "ok", "{name}: {}", health(&home, name).1);
    }
    std::fs::remove_dir_all(home.path("claude")).unwrap();
    assert_eq!(health(&home, "catalog").0, "warning");
    std::fs::set_permissions(home.db(), std::fs::Permissions::from_mode(0o644)).unwrap();
    let (status, found) = health(&home, "permissions");
    assert!(status == "warning" && found.contains("644"), "{found}");

    let sql = |statement: &str| {
        rusqlite::Connection::open(home.db()).unwrap().execute_batch(statement).unwrap();
    };
    sql("UPDATE session_state_heads SET updated_at = updated_at + 3600000");
    assert!(health(&home, "clock").1.contains("ahead of this clock"));
    // The highest process id of Linux is below this one: no such process lives.
    sql("INSERT INTO tidings_owner VALUES (1, 4194305, 0)");
    let (status, found) = health(&home, "owner");
    assert!(status == "warning" && found.contains("stale"), "{found}");
    let lock = std::fs::File::create(home.path("state/tidings/state.sqlite.lock")).unwrap();
    lock.lock().unwrap();
    let (status, found) = health(&home, "owner");
    assert!(status == "fault" && found.contains("two programs"), "{found}");
    drop(lock);
    sql(&format!("UPDATE tidings_owner SET process_id = {}", std::process::id()));
    let (status, found) = health(&home, "owner");
    assert!(status == "fault" && found.contains("does not hold the lock"), "{found}");
    std::fs::write(home.path("state/tidings/state.sqlite.failures"), "x\n").unwrap();
    assert_eq!(health(&home, "failures").0, "warning");
    sql("PRAGMA user_version = 99");
    let (status, found) = health(&home, "schema");
    assert!(status == "fault" && found.contains("from the future"), "{found}");
    sql("PRAGMA user_version = 1; PRAGMA application_id = 7");
    assert!(health(&home, "schema").1.contains("another program's"));

    let mut bytes = std::fs::read(home.db()).unwrap();
    let end = bytes.len();
    bytes[8_192..end].fill(0xa5);
    std::fs::write(home.db(), bytes).unwrap();
    assert_eq!(health(&home, "integrity").0, "fault");
}

#[test]
fn findings_tell_each_rule_where_it_matches_and_what_cannot_be_judged() {
    let home = Home::new();
    home.ok(&format!("watch {W} {T}"));
    record(&home, "human_direct_message", T);
    home.ok("watch agent:main:main agent:main:subagent:Child");
    let of_rule = |rule: &str| {
        let json = home.json("findings");
        let all = json["findings"].as_array().unwrap();
        assert_eq!(all.len(), 12);
        all.iter().find(|found| found["rule"] == rule).unwrap().clone()
    };
    let twins = of_rule("case-twins");
    assert_eq!(twins["count"], 1);
    assert_eq!(twins["subjects"][0], "agent:main:subagent:Child / agent:main:subagent:child");
    let stalled = of_rule("stalled");
    assert!(stalled.get("count").is_none() && stalled.get("subjects").is_none(), "{stalled}");
    assert!(stalled["notEnoughData"].as_str().unwrap().contains("no turn is on record"));
    let stopped = of_rule("stopped");
    assert_eq!((&stopped["count"], stopped.get("notEnoughData")), (&0.into(), None));

    let text = home.ok("findings");
    let cells: Vec<Vec<_>> = text
        .lines()
        .map(|line| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect())
        .collect();
    assert!(cells.iter().any(|line| line[..2] == ["stalled", "not enough data yet"]), "{text}");
    assert!(cells.iter().any(|line| line[..2] == ["stopped", "0 times"]), "{text}");
    let twins = cells.iter().position(|line| line[..2] == ["case-twins", "1 time"]).unwrap();
    assert_eq!(cells[twins + 1], ["agent:main:subagent:Child / agent:main:subagent:child"]);
    assert!(home.ok("doctor").contains("no turn is on record"));
}

#[test]
fn doctor_notices_a_log_that_grows() {
    let home = Home::new();
    record(&home, "human_direct_message", T);
    let log = home.path("state/tidings/state.sqlite-wal");
    std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(&log)
        .unwrap()
        .set_len(65 * 1024 * 1024)
        .unwrap();
    let (status, found) = health(&home, "log");
    assert!(status == "warning" && found.contains("has grown"), "{found}");
}

#[test]
fn alerts_test_fires_each_alert_once_and_says_what_failed() {
    let home = Home::new();
    home.refused(1, "alerts test");
    let told = home.path("told");
    home.write_config(&format!(
        "[[alerts]]\nname = \"good\"\nconditions = [\"stopped\", \"stalled\"]\nlonger_than = \"10m\"\n\
         command = [\"sh\", \"-c\", \"echo $TIDINGS_ALERT $TIDINGS_ALERT_TURN $TIDINGS_CONDITION >> {}\"]\n",
        told.display()
    ));
    home.ok("alerts test");
    assert_eq!(std::fs::read(&told).unwrap(), b"good test stopped\n");
    home.write_config(
        "[[alerts]]\nname = \"bad\"\nconditions = [\"stopped\"]\nlonger_than = \"10m\"\ncommand = [\"/nowhere/program\"]\n",
    );
    let ran = home.run(words("alerts test"));
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("could not be started"), "{}", ran.stdout);
    home.write_config(
        "[[alerts]]\nname = \"mute\"\nconditions = [\"odd\"]\nlonger_than = \"10m\"\n",
    );
    assert!(home.refused(2, "alerts test").contains("is no condition"));
    home.write_config(
        "[[alerts]]\nname = \"mute\"\nconditions = [\"gap\"]\nlonger_than = \"10m\"\n",
    );
    assert!(home.refused(2, "alerts test").contains("command"));
}

#[test]
fn a_desktop_alert_runs_the_desktops_own_program_with_the_sentence_as_one_argument() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    let config = "[[alerts]]\nname = \"stuck\"\nconditions = [\"stopped\"]\nlonger_than = \"10m\"\ndesktop = true\n";
    home.write_config(config);
    let test = |home: &Home| {
        let mut command = home.command(words("alerts test"));
        command.env("PATH", format!("{}:/usr/bin:/bin", home.path("bin").display()));
        Ran::of(command.spawn().unwrap())
    };
    let program = home.path("bin/notify-send");
    std::fs::create_dir_all(home.path("bin")).unwrap();
    let told = home.path("told");
    let script = |code: i32| {
        let text =
            format!("#!/bin/sh\nprintf '%s\\n' \"$#\" \"$@\" > {}\nexit {code}\n", told.display());
        std::fs::write(&program, text).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    script(0);
    let ran = test(&home);
    assert_eq!(ran.code, 0, "{ran:?}");
    let lines = String::from_utf8(std::fs::read(&told).unwrap()).unwrap();
    let lines: Vec<_> = lines.lines().collect();
    let sentence = "stuck: this is a test, nothing is wrong";
    assert_eq!(lines, ["4", "--app-name=tidings", "--", "tidings", sentence]);
    script(3);
    let ran = test(&home);
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("notify-send ended with"), "{}", ran.stdout);
    std::fs::remove_file(&program).unwrap();
    home.write_config(&config.replace("desktop = true", "desktop = true\ncommand = [\"true\"]"));
    let ran = test(&home);
    assert_eq!((ran.code, ran.stdout.contains("could not be started")), (1, true), "{ran:?}");
}

#[test]
fn a_session_that_asks_by_its_name_has_reconciled_and_a_reader_without_one_writes_nothing() {
    let home = Home::new();
    home.ok(&format!("watch {W} {T}"));
    record(&home, "human_direct_message", T);
    home.ok(&format!("turn {W}"));
    let verdict = || {
        let json = home.json(&format!("explain --watcher {W} --target {T}"));
        json["verdict"].as_str().unwrap().to_owned()
    };
    let before = std::fs::read(home.db()).unwrap();
    let plain = home.shape(&format!("status {T} --changes-since 0"));
    assert_eq!(std::fs::read(home.db()).unwrap(), before);
    assert_eq!(verdict(), "acknowledged");
    home.ok(&format!("status {T} --changes-since 0 --as agent:main:other"));
    assert_eq!(verdict(), "acknowledged", "another session asked");
    assert_eq!(home.shape(&format!("status {T} --changes-since 0 --as {W}")), plain);
    assert_eq!(verdict(), "reconciled");
    home.refused(3, &format!("status agent:main:nobody --changes-since 0 --as {W}"));
    home.refused(2, &format!("status {T} --as {W}"));
}

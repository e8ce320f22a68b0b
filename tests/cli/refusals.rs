//! What is refused, with which exit code, and in one line that says what to do.

use super::support::{Home, one_line, words};

const T: &str = "agent:main:subagent:child";

#[test]
fn the_command_line_is_wrong() {
    let home = Home::new();
    home.ok(&format!("record created {T} --actor-type system"));
    for line in [
        "fly",
        "status",
        &format!("status {T} --changes-since -1"),
        &format!("status {T} --changes-since 1.5"),
        &format!("status {T} --changes-since twelve"),
        &format!("status {T} --changes-since 9007199254740992"),
        &format!("status {T} --changes-since ''"),
        "status ''",
        "status '  '",
        &format!("status {T} --agent ops"),
        &format!("record teleported {T} --actor-type human"),
        &format!("record created {T} --actor-type robot"),
        &format!("record created {T}"),
        &format!("record created {T} --actor-type human --payload [1]"),
        &format!("record created {T} --actor-type human --payload nonsense"),
        &format!("record created {T} --actor-type human --summary ''"),
        &format!("record created {T} --actor-type human --summary 'two\nlines'"),
        &format!("record created {T} --actor-type human --summary 'an\u{1b}[2Jescape'"),
        &format!("record created {T} --actor-type human --summary {}", "x".repeat(501)),
        &format!("record created {T} --actor-type human --dedupe ''"),
        &format!("record created {T} --actor-type human --occurred-at yesterday"),
        &format!("finish {T} --run r --outcome exploded"),
        &format!("finish {T} --outcome ok"),
        "watch agent:main:main",
        "watch",
        "run --for soon",
        "run --for 0s",
        "adopt x --harness other",
        "adopt x --harness emacs",
        "scan x --harness other",
        "scan x --max-row-bytes 0",
        "demo --speed 0",
        "script",
        "--config nowhere.toml sessions",
        "",
    ] {
        home.refused(2, line);
    }
    assert_eq!(home.json(&format!("status {T}"))["stateVersion"], 1);
}

#[test]
fn there_is_no_such_thing() {
    let home = Home::new();
    for line in [
        "status agent:main:nobody",
        "turn agent:main:nobody",
        "reset agent:main:nobody",
        "delete agent:main:nobody",
        "send agent:operator:main agent:main:nobody hello",
        "unwatch agent:main:main agent:main:nobody",
        "finish agent:main:nobody --run r --outcome ok",
        "adopt 00000000",
        "adopt nowhere/session.jsonl",
    ] {
        home.refused(3, line);
    }
}

#[test]
fn a_watch_that_is_against_the_rules_is_refused_with_the_reason() {
    let home = Home::new();
    assert!(home.refused(1, "watch agent:main:main agent:main:main").contains("itself"));
    assert!(home.refused(1, &format!("watch global {T}")).contains("agent:<id>:<rest>"));
    assert_eq!(home.shape("watches"), r#"{"watches":[]}"#);
    assert!(!home.ok("sessions").contains("global"));
}

#[test]
fn bare_tidings_without_a_terminal_names_run() {
    let home = Home::new();
    assert!(home.refused(2, "").contains("tidings run"));
    assert!(!home.path("state").exists());
}

#[test]
fn what_people_write_is_not_repeated_in_errors() {
    let home = Home::new();
    for line in [
        "send agent:a:b agent:a:c the secret plan",
        "send agent:a:b agent:a:nobody 'the secret plan'",
        "goal agent:a:b set the secret plan",
        "goal agent:a:b secret",
        "record created agent:a:b --actor-type human --payload '{secret'",
        "record created agent:a:b --actor-type human --payload '\"secret\"'",
        "record created agent:a:b --actor-type human --summary 'secret\n'",
    ] {
        let ran = home.run(words(line));
        assert!(ran.code == 2 || ran.code == 3, "{ran:?}");
        assert!(!ran.stderr.contains("secret"), "{ran:?}");
    }
}

#[test]
fn a_state_that_can_not_be_used_is_said_in_one_line_and_left_alone() {
    let home = Home::new();
    std::fs::write(home.path("text"), "this is no database, however long one looks at it, is it?")
        .unwrap();
    std::fs::create_dir(home.path("folder")).unwrap();
    let foreign = rusqlite::Connection::open(home.path("foreign")).unwrap();
    foreign.execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (1);").unwrap();
    drop(foreign);
    let newer = home.path("newer");
    home.ok(&format!("record created {T} --actor-type system --db {}", newer.display()));
    rusqlite::Connection::open(&newer).unwrap().execute_batch("PRAGMA user_version = 99").unwrap();
    for (db, part) in [
        ("text", "not a SQLite database"),
        ("folder", "could not open the state database"),
        ("foreign", "another program's database"),
        ("newer", "use a newer tidings"),
        ("text/below", "could not make the folder"),
    ] {
        let path = home.path(db);
        let before = std::fs::read(&path).ok();
        for verb in ["sessions", &format!("record created {T} --actor-type system"), "run --for 1s"]
        {
            let said = home.refused(1, &format!("{verb} --db {}", path.display()));
            assert!(said.contains(part), "{verb}: {said}");
        }
        assert_eq!(std::fs::read(&path).ok(), before, "{db}");
    }
    #[cfg(target_os = "linux")]
    {
        let said = home
            .refused(1, &format!("record created {T} --actor-type system --db /proc/none/state"));
        assert!(said.contains("/proc/none"), "{said}");
    }
}

#[test]
fn a_wrong_config_is_said_with_its_line() {
    let home = Home::new();
    home.write_config("[notices]\nlangauge = \"ru\"\n");
    let said = home.refused(2, "sessions");
    assert!(said.contains("config.toml:2: notices.langauge: unknown field"), "{said}");
    home.write_config("[notices]\nlanguage = \"ru\"\n");
    home.ok("watch agent:main:main agent:main:x");
    home.ok("record goal_changed agent:main:x --actor-type human");
    assert!(home.ok("turn agent:main:main").starts_with("Сессия \"agent:main:x\" изменилась"));
    let other = home.path("other.toml");
    std::fs::write(&other, "run_end_notifies = true\n").unwrap();
    home.ok(&format!(
        "record run_completed agent:main:x --actor-type system --config {}",
        other.display()
    ));
    assert_eq!(home.json("notices")["notices"].as_array().unwrap().len(), 1);
}

#[test]
fn the_options_come_from_the_environment_too() {
    let home = Home::new();
    let db = home.path("elsewhere.sqlite");
    let mut command = home.command(["record", "created", T, "--actor-type", "system"]);
    assert!(command.env("TIDINGS_DB", &db).status().unwrap().success());
    assert!(db.exists() && !home.db().exists());
    let mut command = home.command(["sessions"]);
    let output = command.env("TIDINGS_CONFIG", home.path("none.toml")).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(one_line(&String::from_utf8(output.stderr).unwrap()).contains("none.toml"));
}

#[test]
fn without_a_home_the_options_are_enough() {
    let home = Home::new();
    let mut command = home.command(["sessions", "--db"]);
    command.arg(home.path("x.sqlite")).arg("--config").arg(home.path("c.toml"));
    std::fs::write(home.path("c.toml"), "").unwrap();
    command.env_remove("HOME").env_remove("XDG_STATE_HOME").env_remove("XDG_CONFIG_HOME");
    assert_eq!(command.output().unwrap().status.code(), Some(0));
}

//! The JSON of each verb: names, order, values. Times are 0 here.

use tidings::engine::{Discipline, Engine, Settings};

use super::support::{Home, any_file_holds};

const W: &str = "agent:main:main";
const T: &str = "agent:main:subagent:child";

#[test]
fn an_untouched_home_reads_like_a_new_state_and_stays_untouched() {
    let home = Home::new();
    let operator = r#"{"sessions":[{"sessionKey":"agent:operator:main","agentId":"operator","prunedThrough":0,"watchers":0,"watching":0,"pendingNotices":0}]}"#;
    assert_eq!(home.shape("sessions"), operator);
    assert_eq!(home.shape("watches"), r#"{"watches":[]}"#);
    assert_eq!(home.shape("notices"), r#"{"notices":[]}"#);
    assert_eq!(home.shape("queue"), r#"{"queues":[]}"#);
    assert_eq!(
        home.shape("status agent:operator:main"),
        r#"{"ok":true,"sessionKey":"agent:operator:main","stateVersion":0}"#
    );
    assert_eq!(home.ok("notices"), "no pending notices\n");
    home.refused(3, "status agent:main:x");
    assert!(!home.path("state").exists() && !home.path("config").exists());
    std::fs::create_dir_all(home.db().parent().unwrap()).unwrap();
    std::fs::write(home.db(), "").unwrap();
    home.ok("sessions");
    assert_eq!(home.db().metadata().unwrap().len(), 0);
}

#[test]
fn one_pair_from_watch_to_follow_up() {
    let home = Home::new();
    assert_eq!(
        home.shape(&format!("watch {W} {T}")),
        r#"{"ok":true,"watcher":"agent:main:main","target":"agent:main:subagent:child","watched":true,"changed":true}"#
    );
    assert!(home.shape(&format!("watch {W} {T}")).ends_with(r#""watched":true,"changed":false}"#));
    assert_eq!(
        home.shape(&format!(
            "record human_direct_message {T} --actor-type human --actor p1 --run r1 \
                             --payload '{{\"turns\":2,\"text\":\"x\"}}'"
        )),
        r#"{"ok":true,"event":{"sequence":1,"kind":"human_direct_message","actorType":"human","occurredAt":0,"summary":"human message via unknown","actorId":"p1","runId":"r1","payload":{"turns":2}},"notified":["agent:main:main"],"deduped":false}"#
    );
    assert_eq!(
        home.shape(&format!(
            "record goal_changed {T} --actor-type system --summary 'goal moved' --dedupe k"
        )),
        r#"{"ok":true,"event":{"sequence":2,"kind":"goal_changed","actorType":"system","occurredAt":0,"summary":"goal moved"},"notified":[],"deduped":false}"#
    );
    assert_eq!(
        home.shape(&format!("record goal_changed {W} --actor-type system --dedupe k")),
        r#"{"ok":true,"event":{"sequence":2,"kind":"goal_changed","actorType":"system","occurredAt":0,"summary":"goal moved"},"notified":[],"deduped":true}"#
    );
    let watch = r#"{"watches":[{"watcher":"agent:main:main","target":"agent:main:subagent:child","provenance":"explicit","lastSeen":0,"notified":1,"material":2,"head":2,"state":"dirty","updatedAt":0,"expiresAt":0,"condition":"interleaved","because":"one notice covers 1; what came up to 2 will open exactly one more"}]}"#;
    assert_eq!(home.shape("watches"), watch);
    assert_eq!(home.shape(&format!("watches {T}")), watch);
    assert_eq!(home.shape(&format!("watches {W}")), watch);
    assert_eq!(home.shape("watches agent:main:other"), r#"{"watches":[]}"#);
    let notice = r#"{"notices":[{"watcher":"agent:main:main","target":"agent:main:subagent:child","since":0,"frozen":1,"material":2,"text":"Session \"agent:main:subagent:child\" changed (other actor). Reconcile before acting: session_status sessionKey \"agent:main:subagent:child\" changesSince 0.","queuedAt":0,"wake":"not-due"}]}"#;
    assert_eq!(home.shape("notices"), notice);
    assert_eq!(home.shape(&format!("notices {T}")), notice);
    assert_eq!(home.shape("notices agent:main:other"), r#"{"notices":[]}"#);
    assert_eq!(
        home.shape("queue"),
        r#"{"queues":[{"sessionKey":"agent:main:main","lines":[{"kind":"notice","target":"agent:main:subagent:child","context":"session-state:6167656e743a6d61696e3a7375626167656e743a6368696c64"}],"messages":0,"evicted":0}]}"#
    );
    assert_eq!(
        home.shape("sessions"),
        r#"{"sessions":[{"sessionKey":"agent:main:main","agentId":"main","prunedThrough":0,"watchers":0,"watching":1,"pendingNotices":1},{"sessionKey":"agent:main:subagent:child","agentId":"main","stateVersion":2,"prunedThrough":0,"lastEvent":{"sequence":2,"kind":"goal_changed","actorType":"system","occurredAt":0,"summary":"goal moved"},"watchers":1,"watching":0,"pendingNotices":0},{"sessionKey":"agent:operator:main","agentId":"operator","prunedThrough":0,"watchers":0,"watching":0,"pendingNotices":0}]}"#
    );
    assert_eq!(
        home.shape(&format!("turn {W}")),
        r#"{"sessionKey":"agent:main:main","lines":["Session \"agent:main:subagent:child\" changed (other actor). Reconcile before acting: session_status sessionKey \"agent:main:subagent:child\" changesSince 0."],"acknowledged":["agent:main:subagent:child"],"followUps":["agent:main:subagent:child"]}"#
    );
    assert!(home.ok(&format!("turn {W}")).ends_with("changesSince 1.\n"));
    assert_eq!(home.ok(&format!("turn {W}")), "");
    assert!(home.shape("watches").contains(r#""state":"synced""#));
    assert_eq!(home.shape(&format!("unwatch {W} {T}")), r#"{"ok":true,"removed":true}"#);
    home.refused(3, &format!("unwatch {W} {T}"));
    home.ok(&format!("status {W}"));
}

#[test]
fn status_answers_the_contract() {
    let home = Home::new();
    for _ in 0..3 {
        home.ok(&format!("record goal_changed {T} --actor-type human"));
    }
    let status = |since: &str| home.shape(&format!("status {T} {since}"));
    let head = r#"{"ok":true,"sessionKey":"agent:main:subagent:child","stateVersion":3"#;
    let event = |n: u32| {
        format!(
            r#"{{"sequence":{n},"kind":"goal_changed","actorType":"human","occurredAt":0,"summary":"goal updated"}}"#
        )
    };
    let end = r#""truncated":false,"earliestAvailableSequence":1,"historyGap":false"#;
    assert_eq!(status(""), format!("{head}}}"));
    assert_eq!(
        status("--changes-since 1"),
        format!(r#"{head},"stateChanges":{{"events":[{},{}],{end}}}}}"#, event(2), event(3))
    );
    assert_eq!(
        status("--changes-since 3"),
        format!(r#"{head},"stateChanges":{{"events":[],{end}}}}}"#)
    );
    assert_eq!(
        status("--changes-since 4"),
        format!(r#"{head},"stateChanges":{{"events":[],{end},"ahead":true}}}}"#)
    );
    home.ok(&format!("delete {T}"));
    home.ok(&format!("record created {T} --actor-type system"));
    assert!(status("--changes-since 1").contains(r#""historyGap":true"#));
    assert!(home.ok(&format!("status {T} --changes-since 1")).contains("HISTORY GAP"));
}

#[test]
fn a_long_delta_comes_in_pages_of_200() {
    let home = Home::new();
    let clock = std::sync::Arc::new(tidings::clock::SystemClock);
    let mut engine =
        Engine::open(&home.db(), clock, Settings::default(), Discipline::InStep).unwrap();
    let session = engine.address(T, None).unwrap();
    for operation in 0..201 {
        engine.compacted(&session, &operation.to_string()).unwrap();
    }
    let page = |since: u32| {
        let status = home.json(&format!("status {T} --changes-since {since}"));
        let changes = &status["stateChanges"];
        let events = changes["events"].as_array().unwrap();
        (events.len(), events.last().unwrap()["sequence"].as_i64(), changes["truncated"] == true)
    };
    assert_eq!(page(0), (200, Some(200), true));
    assert_eq!(page(200), (1, Some(201), false));
    let text = home.ok(&format!("status {T} --changes-since 0"));
    assert!(text.ends_with("go on with --changes-since 200\n"), "{text}");
}

#[test]
fn a_child_from_spawn_to_finish() {
    let home = Home::new();
    assert_eq!(
        home.shape(&format!("spawn {W} {T} --run r1")),
        r#"{"ok":true,"event":{"sequence":1,"kind":"child_spawned","actorType":"agent","occurredAt":0,"summary":"child session spawned","actorId":"agent:main:main","runId":"r1"},"notified":[],"deduped":false}"#
    );
    assert!(
        home.shape("watches")
            .contains(r#""lastSeen":1,"notified":1,"material":1,"head":1,"state":"synced""#)
    );
    assert_eq!(
        home.shape(&format!("finish {T} --run r1 --outcome timeout")),
        r#"{"ok":true,"event":{"sequence":2,"kind":"run_failed","actorType":"system","occurredAt":0,"summary":"child run timed out","runId":"r1","payload":{"outcome":"timeout"}},"notified":[],"deduped":false}"#
    );
    assert!(
        home.shape(&format!("finish {T} --run r1 --outcome ok")).contains(r#""kind":"run_failed""#)
    );
    assert!(home.shape(&format!("finish {T} --run other --outcome ok")).ends_with(
        r#""deduped":false,"note":"no spawn with the run id \"other\" is in the journal"}"#
    ));
    home.refused(3, "finish agent:main:subagent:nobody --run r1 --outcome ok");
    assert_eq!(
        home.shape(&format!("compacted {T} --operation o1")),
        r#"{"ok":true,"event":{"sequence":5,"kind":"compacted","actorType":"system","occurredAt":0,"summary":"session compacted"},"notified":[],"deduped":false}"#
    );
    assert!(home.shape(&format!("compacted {T} --operation o1")).ends_with(r#""deduped":true}"#));
}

#[test]
fn a_goal_and_its_text() {
    let home = Home::new();
    assert_eq!(
        home.shape(&format!("goal {T} set 'win the gold medal'")),
        r#"{"ok":true,"event":{"sequence":1,"kind":"goal_changed","actorType":"human","occurredAt":0,"summary":"goal created","actorId":"agent:operator:main"},"notified":[],"deduped":false,"changed":true}"#
    );
    assert_eq!(
        home.shape(&format!("goal {T} set 'win the gold medal'")),
        r#"{"ok":true,"changed":false}"#
    );
    let status = home.shape(&format!("goal {T} status paused --actor-type agent --actor {W}"));
    assert!(
        status.contains(r#""summary":"goal status changed to paused","actorId":"agent:main:main""#),
        "{status}"
    );
    let by_system = home.shape(&format!("goal {T} clear --actor-type system"));
    assert!(by_system.contains(r#""summary":"goal cleared"},"notified""#), "{by_system}");
    assert_eq!(home.shape(&format!("goal {T} clear")), r#"{"ok":true,"changed":false}"#);
    home.refused(1, &format!("goal {T} status done"));
    home.refused(2, &format!("goal {T} status 'two words'"));
    home.refused(2, &format!("goal {T} set ''"));
    assert_eq!(any_file_holds(&home.path("state"), "gold medal"), None);
}

#[test]
fn a_message_waits_and_is_taken_once() {
    let home = Home::new();
    home.refused(3, &format!("send {T} {W} secret"));
    home.ok(&format!("watch {W} {T}"));
    assert_eq!(
        home.shape(&format!("send {T} {W} 'first secret'")),
        r#"{"ok":true,"deliveredTo":"agent:main:main"}"#
    );
    home.refused(2, &format!("send {T} {W} -"));
    let ran = home
        .pipe(["send", "agent:operator:main", T, "-", "--watch", "--json"], b"second\nsecret\n");
    assert_eq!(
        super::support::document(&ran.stdout).to_string(),
        r#"{"ok":true,"deliveredTo":"agent:main:subagent:child","watched":true}"#
    );
    // The operator's message is a human turn of a watched session: its watcher is told.
    assert!(
        home.shape("notices")
            .contains(r#""watcher":"agent:main:main","target":"agent:main:subagent:child""#)
    );
    let queue = home.shape("queue");
    assert!(queue.contains(r#""lines":[],"messages":1,"#) && !queue.contains("secret"), "{queue}");
    let turn = home.json(&format!("turn {W}"));
    assert_eq!(turn["lines"][1], "Message from agent:main:subagent:child: first secret");
    assert_eq!(turn["acknowledged"].to_string(), format!("[\"{T}\"]"));
    assert_eq!(home.ok(&format!("turn {T}")), "Message from agent:operator:main: second\nsecret\n");
    assert_eq!(home.ok(&format!("turn {T}")), "");
    assert_eq!(any_file_holds(&home.path("state"), "secret"), None);
}

#[test]
fn a_message_that_is_too_long_is_refused() {
    let home = Home::new();
    home.ok(&format!("watch {W} {T}"));
    let text = "x".repeat(64 * 1024);
    assert_eq!(home.pipe(["send", W, T, "-"], text.as_bytes()).code, 0);
    let ran = home.pipe(["send", W, T, "-"], format!("{text}y").as_bytes());
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("65536 bytes") && !ran.stderr.contains("xxx"), "{ran:?}");
}

#[test]
fn reset_delete_and_ambient() {
    let home = Home::new();
    let group = "agent:main:telegram:group:g1";
    assert_eq!(
        home.shape(&format!("watch --ambient {group}")),
        format!(
            r#"{{"ok":true,"watcher":"{W}","target":"{group}","watched":true,"changed":true}}"#
        )
    );
    assert!(home.shape(&format!("watch --ambient {group}")).ends_with(r#""changed":false}"#));
    assert!(home.shape("watches").contains(r#""provenance":"ambient-group""#));
    home.ok(&format!("record human_direct_message {group} --actor-type human"));
    assert!(home.shape("notices").contains(r#""wake":"never""#));
    home.refused(1, &format!("watch --ambient {T}"));
    home.ok(&format!("spawn {W} {T} --run r1"));
    home.ok(&format!("send {W} {T} hello"));
    assert_eq!(home.shape(&format!("reset {W}")), r#"{"ok":true,"cursorsRemoved":2}"#);
    assert_eq!(home.shape("watches"), r#"{"watches":[]}"#);
    home.ok(&format!("watch {W} {T}"));
    assert_eq!(
        home.shape(&format!("delete {T}")),
        r#"{"ok":true,"events":1,"cursors":1,"messages":1,"link":false}"#
    );
    home.refused(3, &format!("delete {T}"));
    home.refused(1, "delete agent:operator:main");
    home.refused(1, "reset agent:operator:main");
}

#[test]
fn every_session_that_a_verb_names_is_registered() {
    let home = Home::new();
    home.ok("record created agent:a:one --actor-type system --watcher agent:a:two");
    home.ok("watch agent:a:three agent:a:four");
    home.ok("unwatch agent:a:three agent:a:four");
    home.ok("send agent:a:five agent:a:one hello");
    home.ok("goal agent:a:six clear");
    home.ok("compacted agent:a:seven --operation o");
    home.ok("spawn agent:a:eight agent:a:nine --run r");
    let sessions = home.ok("sessions --json");
    for name in ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"] {
        assert!(sessions.contains(&format!("\"agent:a:{name}\"")), "{name}: {sessions}");
    }
}

#[test]
fn a_bare_key_belongs_to_the_agent_that_is_named() {
    let home = Home::new();
    home.ok("record created global --actor-type system");
    home.ok("record created global --actor-type system --agent Ops");
    let sessions = home.json("sessions");
    let agents: Vec<_> = sessions["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|session| session["sessionKey"] == "global")
        .map(|session| format!("{} {}", session["agentId"], session["stateVersion"]))
        .collect();
    assert_eq!(agents, ["\"main\" 1", "\"ops\" 2"]);
    assert_eq!(home.json("status global --agent ops")["stateVersion"], 2);
    assert_eq!(home.json("status global")["stateVersion"], 1);
    // With two sessions, --agent is about the second; the first says itself whose it is.
    home.ok("watch agent:main:main agent:ops:x --agent ops");
    home.refused(2, "watch agent:ops:x agent:main:main --agent ops");
}

#[test]
fn reading_changes_no_byte_of_the_state() {
    let home = Home::new();
    home.ok(&format!("watch {W} {T}"));
    home.ok(&format!("record goal_changed {T} --actor-type human"));
    let before = std::fs::read(home.db()).unwrap();
    for line in
        ["sessions", "watches", "notices", "queue", &format!("status {T} --changes-since 0")]
    {
        home.ok(line);
        home.ok(&format!("{line} --json"));
        assert!(std::fs::read(home.db()).unwrap() == before, "{line}");
    }
}

#[test]
fn text_from_outside_is_shown_and_can_not_act() {
    let home = Home::new();
    home.run(["record", "created", "agent:a:x\u{1b}[2J\u{202e}", "--actor-type", "system"]);
    let text = home.ok("sessions");
    assert!(text.contains("agent:a:x␛[2J\\u{202e}") && !text.contains('\u{1b}'), "{text:?}");
}

#[test]
fn completions_and_man_pages_are_made() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(home.ok(&format!("completions {shell}")).contains("changes-since"), "{shell}");
    }
    assert!(home.ok("man").contains(".TH tidings 1"));
    assert!(home.ok("man record").contains("actor"));
    home.refused(2, "man fly");
    home.refused(2, "completions tcsh");
    assert!(home.ok("--help").contains("TIDINGS_DB"));
    assert!(home.ok("record --help").contains("human_direct_message"));
    assert!(home.ok("--version").starts_with("tidings "));
    assert!(!home.path("state").exists());
}

//! Compactions and sub-agents, as the rollout of the thread tells of them.

use std::fs;
use std::sync::Arc;

use serde_json::{Value, json};
use tidings::clock::{Clock, ManualClock};
use tidings::engine::{Discipline, Engine, Settings};
use tidings::event::{Event, EventKind, Sequence};
use tidings::session_key::SessionKey;
use tidings::upstream::{FactKind, Provider, RunEnd};

use crate::rollout::{AT, PATH, THREAD, Writer};
use crate::support::{Home, append, reword};

const AGENT: &str = "01a1a75d-5cca-7710-9e88-060e7e46240e";
const OTHER: &str = "01a1a75d-5d16-7d01-be56-02cb4ba88b9d";

/// A call about sub-agents, which fare as `states` says.
fn call(writer: &Writer, tool: &str, states: &Value) -> String {
    let ids: Vec<&String> = states.as_object().unwrap().keys().collect();
    let agents: Vec<Value> =
        ids.iter().map(|id| json!({"thread_id": id, "agent_nickname": "Hooke"})).collect();
    let turn = writer.id();
    writer.item(
        &turn,
        &json!({
            "type": "CollabAgentToolCall", "id": "call_1", "tool": tool, "status": "completed", "sender_thread_id": THREAD,
            "receiver_thread_ids": ids, "receiver_agents": agents, "prompt": "ZXQ", "agents_states": states,
        }),
    )
}

fn notice(writer: &Writer, agent: &str, status: &Value) -> String {
    let words = format!(
        "<subagent_notification>\n{}\n</subagent_notification>",
        json!({"agent_path": agent, "status": status})
    );
    writer.input("auto-compact-0", &words, "multi_agent.subagent_notification")
}

fn compaction(writer: &Writer, window: Option<&str>) -> String {
    let mut payload =
        json!({"message": "ZXQ", "replacement_history": [{"type": "message", "role": "user"}]});
    if let Some(window) = window {
        payload["window_id"] = json!(window);
    }
    writer.row("compacted", &payload)
}

/// What the rows behind the first one of a thread tell.
fn told(marks: &Value, rows: impl FnOnce(&Writer) -> String) -> Vec<FactKind> {
    let home = Home::new();
    let writer = Writer::new();
    let path = home.file(PATH, writer.meta(THREAD, marks) + &rows(&writer));
    let facts = home.link(&path, THREAD).window().facts;
    assert!(facts.is_sorted_by_key(|fact| fact.at));
    facts.into_iter().map(|fact| fact.what).collect()
}

fn spawned(run: &str) -> FactKind {
    FactKind::ChildSpawned { run: run.into(), kind: Some("Hooke".into()) }
}

fn ended(run: &str, how: RunEnd) -> FactKind {
    FactKind::RunEnded { run: run.into(), how }
}

fn compacted(operation: &str) -> FactKind {
    FactKind::Compacted { operation: operation.into() }
}

#[test]
fn sub_agents_begin_by_a_call_and_end_by_a_notice_or_another_call() {
    for (status, how) in [
        (json!({"completed": "ZXQ"}), Some(RunEnd::Completed)),
        (json!({"completed": null}), Some(RunEnd::Completed)),
        (json!({"errored": "ZXQ"}), Some(RunEnd::Failed)),
        (json!("interrupted"), Some(RunEnd::Cancelled)),
        (json!("shutdown"), Some(RunEnd::Cancelled)),
        (json!("running"), None),
        (json!("of_another_year"), None),
        (json!(7), None),
    ] {
        let both = json!({AGENT: "pending_init", OTHER: "pending_init"});
        let want = |agent| how.map(|how| ended(agent, how));
        let by_notice = told(&json!({}), |writer| {
            call(writer, "spawn_agent", &both) + &notice(writer, OTHER, &status)
        });
        let begun = [spawned(AGENT), spawned(OTHER)];
        assert_eq!(by_notice, [begun.as_slice(), want(OTHER).as_slice()].concat(), "{status}");
        let by_call = told(&json!({}), |writer| call(writer, "wait", &json!({AGENT: status})));
        assert_eq!(by_call, want(AGENT).as_slice(), "{status}");
    }
}

#[test]
fn words_that_look_like_a_notice_tell_nothing() {
    let words = format!(
        "<subagent_notification>{}</subagent_notification>",
        json!({"agent_path": AGENT, "status": "shutdown"})
    );
    let none = told(&json!({}), |writer| {
        let turn = writer.id();
        [
            writer.started(&turn, &json!("user")),
            writer.typed(&turn, &words),
            writer.legacy_input(&words),
            notice(writer, "/root/part_1", &json!("shutdown")),
            writer.input("t", "<subagent_notification>{", "multi_agent.subagent_notification"),
        ]
        .concat()
    });
    assert_eq!(none, []);
}

#[test]
fn a_compaction_has_the_name_of_its_window_or_else_of_its_time() {
    let found = told(&json!({}), |writer| {
        let turn = writer.id();
        let item = json!({"type": "ContextCompaction", "id": writer.id()});
        compaction(writer, Some("w1")) + &writer.item(&turn, &item) + &compaction(writer, None)
    });
    assert_eq!(found, [compacted("w1"), compacted(&format!("{THREAD}:{}", AT + 3 * 25))]);
}

#[test]
fn what_was_copied_into_a_fork_tells_nothing_new() {
    let found = told(
        &json!({"forked_from_id": "01a1a000-ac98-7cfd-96c1-dee1a67f6caf"}),
        |writer| {
            let old = "01a1a000-0000-7000-8000-000000000001";
            let spawn = |turn: &str, agent: &str| {
                writer.item(
                turn,
                &json!({
                    "type": "CollabAgentToolCall", "tool": "spawn_agent", "receiver_thread_ids": [agent],
                    "agents_states": {},
                }),
            )
            };
            let new = writer.id();
            [
                writer.started(old, &json!("user")),
                spawn(old, OTHER),
                compaction(writer, Some("old")),
                writer.started(&new, &json!("user")),
                spawn(&new, AGENT),
                compaction(writer, Some("new")),
            ]
            .concat()
        },
    );
    assert_eq!(found, [FactKind::ChildSpawned { run: AGENT.into(), kind: None }, compacted("new")]);
}

#[test]
fn an_adopted_thread_has_children_and_compactions_in_the_journal_once() {
    let home = Home::new();
    let writer = Writer::new();
    let old = writer.user_meta() + &call(&writer, "spawn_agent", &json!({OTHER: "pending_init"}));
    let path = home.file(PATH, old);
    let clock = Arc::new(ManualClock::at(AT + 110));
    let database = home.path("state.sqlite");
    let clock = clock as Arc<dyn Clock>;
    let mut engine =
        Engine::open(&database, clock, Settings::default(), Discipline::InStep).unwrap();
    let providers: Vec<Arc<dyn Provider>> = vec![Arc::new(home.fresh())];
    let session = engine.adopt(&*providers[0], THREAD, None).unwrap().session;
    engine.watch(&SessionKey::new("agent:operator:main"), &session, None).unwrap();
    append(
        &path,
        [
            writer.turn("ZXQ"),
            call(&writer, "spawn_agent", &json!({AGENT: "pending_init"})),
            compaction(&writer, Some("w1")),
            notice(&writer, AGENT, &json!({"completed": "ZXQ"})),
            notice(&writer, OTHER, &json!({"errored": "ZXQ"})),
        ]
        .concat(),
    );
    engine.tick(&providers, None).unwrap();
    // Once more, as if the file had been written anew.
    reword(&path, "tide", "tidy");
    engine.tick(&providers, None).unwrap();

    let child = format!("agent:main:subagent:codex:{AGENT}");
    let of = |kind: EventKind| -> Vec<Event> {
        engine.journal().events_after(Sequence(0), None, &[kind], 100).unwrap()
    };
    let spawned = of(EventKind::ChildSpawned);
    assert_eq!(spawned.len(), 1, "the one from before the adoption is not told of");
    assert_eq!(spawned[0].session.as_str(), child);
    assert_eq!(spawned[0].run.as_deref(), Some(AGENT));
    assert_eq!(spawned[0].actor.as_deref(), Some(session.as_str()));
    let completed = of(EventKind::RunCompleted);
    assert_eq!(completed.len(), 1);
    assert_eq!(completed[0].session.as_str(), child);
    let failed = of(EventKind::RunFailed);
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0].session.as_str(), format!("agent:main:subagent:codex:{OTHER}"));
    let compacted = of(EventKind::Compacted);
    assert_eq!(compacted.len(), 1);
    assert_eq!(compacted[0].session, session);
    assert_eq!(of(EventKind::HumanDirectMessage).len(), 1);
    drop(engine);
    let bytes = fs::read(&database).unwrap();
    assert!(!bytes.windows(3).any(|window| window == b"ZXQ"), "words in the database");
}

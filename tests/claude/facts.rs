//! Compactions and sub-agents of adopted sessions.

use std::fs;

use tidings::event::{EventKind, Sequence};
use tidings::session_key::{AgentId, SessionKey};

use super::support::{House, NOW, agent_row, append, compaction, prompt};

const CHILD: &str = "agent:main:subagent:claude:a1";

fn agents_folder(house: &House) -> std::path::PathBuf {
    let folder = house.path("-p/s/subagents/x");
    folder.parent().unwrap().to_owned()
}

#[test]
fn a_compaction_is_one_event_and_tells_nobody() {
    let mut house = House::new();
    let path = house.transcript("s", &[compaction("old", -1)]);
    let session = house.adopt(&path);
    append(&path, &[compaction("c1", 1), prompt("p", 2), compaction("c2", 3)]);
    house.tick();
    let events = house.events(&EventKind::Compacted);
    let at: Vec<_> = events.iter().map(|event| event.occurred_at - NOW).collect();
    assert_eq!(at, [1, 3]);
    assert!(events.iter().all(|event| event.session == session && event.payload.is_none()));
    // The same operation from elsewhere, and a copy of the record, are the same event.
    let address = (session, AgentId::main());
    assert!(house.engine.compacted(&address, "c1").unwrap().deduped);
    append(&path, &[compaction("c1", 1)]);
    house.tick();
    assert_eq!(house.events(&EventKind::Compacted).len(), 2);
    // The prompt opened the one notice, and no compaction added to what it covers.
    let cursors = house.engine.journal().cursors().unwrap();
    let prompt = house.events(&EventKind::HumanDirectMessage)[0].sequence;
    assert!(cursors.iter().all(|cursor| cursor.material == prompt), "{cursors:?}");
    house.assert_private();
}

#[test]
fn sub_agents_are_children_that_begin_and_end() {
    let mut house = House::new();
    let path = house.transcript("s", &[prompt("old", -1)]);
    let folder = agents_folder(&house);
    fs::write(folder.join("agent-a0.jsonl"), agent_row(None, -5)).unwrap();
    let session = house.adopt(&path);
    fs::write(folder.join("agent-a1.jsonl"), agent_row(None, 5)).unwrap();
    fs::write(
        folder.join("agent-a1.meta.json"),
        "{\"agentType\":\"general-purpose\",\"description\":\"ZXQ\"}",
    )
    .unwrap();
    append(&path, &[prompt("p", 2)]);
    house.tick();
    let spawned = house.events(&EventKind::ChildSpawned);
    assert_eq!(spawned.len(), 1, "{spawned:?}");
    assert_eq!(spawned[0].session.as_str(), CHILD);
    assert_eq!(spawned[0].run.as_deref(), Some("a1"));
    assert_eq!(spawned[0].actor.as_deref(), Some(session.as_str()));
    assert_eq!(spawned[0].occurred_at, NOW + 5);
    // The spawn puts the parent in step with its child, and nothing waits for it.
    let cursors = house.engine.journal().cursors().unwrap();
    let seeded = cursors.iter().find(|cursor| cursor.watcher == session).unwrap();
    assert_eq!(
        (seeded.target.as_str(), seeded.seen, seeded.material),
        (CHILD, spawned[0].sequence, spawned[0].sequence)
    );
    assert_eq!(
        house.engine.journal().parent_of(&SessionKey::new(CHILD)).unwrap(),
        Some(session.clone())
    );
    let title: String = house
        .sql()
        .query_row("SELECT title FROM tidings_sessions WHERE session_key = ?1", [CHILD], |row| {
            row.get(0)
        })
        .unwrap();
    assert_eq!(title, "general-purpose");

    // The transcript is quiet, the sub-agent goes on and ends.
    assert_eq!(house.tick().outcome, "quiet");
    append(&folder.join("agent-a1.jsonl"), &[agent_row(Some("tool_use"), 6)]);
    assert_eq!(house.tick().outcome, "quiet");
    append(&folder.join("agent-a1.jsonl"), &[agent_row(Some("end_turn"), 7)]);
    house.tick();
    let ended = house.events(&EventKind::RunCompleted);
    assert_eq!(ended.len(), 1);
    assert_eq!((ended[0].session.as_str(), ended[0].run.as_deref()), (CHILD, Some("a1")));
    assert_eq!(house.engine.queues().lines(&session).len(), 0);

    // A new process, and rows that make it look again: nothing is told twice.
    house.restart();
    append(&path, &[prompt("q", 9)]);
    house.tick();
    assert_eq!(house.events(&EventKind::ChildSpawned).len(), 1);
    assert_eq!(house.events(&EventKind::RunCompleted).len(), 1);
    house.assert_private();
}

#[test]
fn a_sub_agent_that_was_stopped_or_failed_says_so() {
    let stopped = "{\"type\":\"user\",\"timestamp\":\"2026-07-16T12:00:00.007Z\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"[Request interrupted by user]\"}]}}\n";
    let failed = "{\"type\":\"assistant\",\"isApiErrorMessage\":true,\"timestamp\":\"2026-07-16T12:00:00.007Z\",\"message\":{\"role\":\"assistant\",\"content\":[]}}\n";
    for (row, outcome) in [(stopped, "cancelled"), (failed, "error")] {
        let mut house = House::new();
        let path = house.transcript("s", &[prompt("old", -1)]);
        house.adopt(&path);
        let folder = agents_folder(&house);
        fs::write(folder.join("agent-a1.jsonl"), [agent_row(None, 5), row.to_owned()].concat())
            .unwrap();
        append(&path, &[prompt("p", 2)]);
        house.tick();
        let events = house.events(&EventKind::RunFailed);
        assert_eq!(events.len(), 1);
        assert_eq!(events[0].payload.as_ref().unwrap()["outcome"], outcome);
    }
}

#[test]
fn events_and_marker_are_written_together_or_not_at_all() {
    let mut house = House::new();
    let path = house.transcript("s", &[prompt("old", -1)]);
    let session = house.adopt(&path);
    let before = house.link(&session);
    append(&path, &[prompt("p", 1), compaction("c1", 2), compaction("c2", 3)]);
    house
        .sql()
        .execute_batch(
            "CREATE TRIGGER broken BEFORE INSERT ON session_state_events WHEN NEW.dedupe_key = 'compacted:c2' \
             BEGIN SELECT RAISE(ABORT, 'broken on purpose'); END",
        )
        .unwrap();
    assert_eq!(house.tick().outcome, "unknown");
    assert_eq!(house.link(&session), before);
    assert_eq!(house.events(&EventKind::HumanDirectMessage).len(), 0);
    assert_eq!(house.events(&EventKind::Compacted).len(), 0);
    house.sql().execute_batch("DROP TRIGGER broken").unwrap();
    assert_eq!(house.tick().human_turns, 1);
    assert_eq!(house.events(&EventKind::Compacted).len(), 2);
    assert!(house.events(&EventKind::HumanDirectMessage)[0].sequence > Sequence(0));
}

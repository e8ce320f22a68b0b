use serde_json::{Value, json};

use super::*;
use crate::upstream::codex::reading::Reading;
use crate::upstream::files::row::Decide as _;

const THREAD: &str = "01a1a75c-ac98-7cfd-96c1-dee1a67f6caf";
const TURN: &str = "01a1a75c-acb1-7bbd-97bb-36a02ca3958f";
const OLD_TURN: &str = "019f4651-e519-7ebd-a9c9-44a70525086a";

fn row(kind: &str, payload: &Value) -> Value {
    json!({"timestamp": "2026-11-04T16:20:31.025Z", "type": kind, "payload": payload})
}

fn event(payload: &Value) -> Value {
    row("event_msg", payload)
}

fn meta(marks: &Value) -> Value {
    let mut payload = json!({"id": THREAD, "source": "cli", "thread_source": "user"});
    payload.as_object_mut().unwrap().extend(marks.as_object().unwrap().clone());
    row("session_meta", &payload)
}

fn started(turn: &str, trigger: &str) -> Value {
    event(
        &json!({"type": "task_started", "turn_id": turn, "turn_attribution": {"turn_trigger": trigger}}),
    )
}

fn ended(turn: &str) -> Value {
    event(&json!({"type": "task_complete", "turn_id": turn}))
}

fn item(turn: &str, id: &str) -> Value {
    event(
        &json!({"type": "item_completed", "turn_id": turn, "item": {"type": "UserMessage", "id": id}}),
    )
}

fn said(words: &str) -> Value {
    event(&json!({"type": "user_message", "message": words}))
}

fn input(id: &str, kinds: &Value, words: &str) -> Value {
    row(
        "response_item",
        &json!({
            "type": "message", "role": "user", "id": id, "content": [{"type": "input_text", "text": words}],
            "internal_chat_message_metadata_passthrough": {"turn_id": TURN, "content_item_kinds": kinds},
        }),
    )
}

fn decided(state: State, rows: &[Value]) -> Vec<Row> {
    let mut found = Vec::new();
    let mut reading = Reading::new(state);
    for row in rows {
        reading.push(row.to_string().as_bytes(), (), &mut |row, ()| found.push(row));
    }
    reading.finish(&mut |row, ()| found.push(row));
    found
}

/// The reason for the last of `rows`.
fn last(rows: &[Value]) -> Reason {
    decided(State::default(), rows).last().unwrap().reason
}

#[test]
fn inputs_of_the_model_are_told_apart_by_their_kinds_or_words() {
    let begun = [meta(&json!({})), started(TURN, "user"), item(TURN, "i")];
    let reason = |row: Value| last(&[&begun[..], &[row]].concat());
    for (kinds, words, want) in [
        (json!(["user.text"]), "words", Reason::Mirror),
        (
            json!(["agents_md.instructions", "environments.environment_context"]),
            "words",
            Reason::Meta,
        ),
        (json!(["generic.turn_aborted"]), "words", Reason::Interrupted),
        (json!(["shell.user_command"]), "words", Reason::Shell),
        (json!(["multi_agent.subagent_notification"]), "words", Reason::TaskNotification),
        (json!(["goal.internal_context"]), "words", Reason::Meta),
        (json!(["unheard.of"]), "words", Reason::Meta),
        (json!([]), "words", Reason::Mirror),
        (json!(null), " <turn_aborted>\n", Reason::Interrupted),
        (json!(null), "<user_shell_command>", Reason::Shell),
        (json!(null), "# AGENTS.md instructions for /w", Reason::ContextOnly),
    ] {
        assert_eq!(reason(input("m", &kinds, words)), want, "{kinds} {words}");
    }
    assert_eq!(
        reason(row("response_item", &json!({"type": "function_call_output"}))),
        Reason::ToolResult
    );
    assert_eq!(reason(row("compacted", &json!({"message": "x"}))), Reason::CompactSummary);
    assert_eq!(
        reason(row("response_item", &json!({"type": "message", "role": "developer"}))),
        Reason::NotAUserRow
    );
    assert_eq!(reason(json!([1])), Reason::NotARecord);
}

#[test]
fn an_input_counts_only_when_its_turn_ends_without_another_form_of_it() {
    let text = json!(["user.text"]);
    let begun = [meta(&json!({})), started(TURN, "user"), input("m", &text, "x")];
    let reasons = |rows: &[Value]| -> Vec<Reason> {
        let rows = [&begun[..], rows].concat();
        decided(State::default(), &rows).iter().skip(2).map(|row| row.reason).collect()
    };
    assert_eq!(reasons(&[]), [Reason::UnannouncedPrompt]);
    assert_eq!(reasons(&[ended(TURN)])[0], Reason::UnannouncedPrompt);
    assert_eq!(reasons(&[ended("another")])[0], Reason::UnannouncedPrompt);
    assert_eq!(reasons(&[started("next", "user")])[0], Reason::UnannouncedPrompt);
    assert_eq!(reasons(&[item(TURN, "i")]), [Reason::Mirror, Reason::Prompt]);
    assert_eq!(reasons(&[said("x")]), [Reason::Mirror, Reason::Prompt]);
    assert_eq!(
        reasons(&[input("m", &text, "x"), ended(TURN)])[..2],
        [Reason::UnannouncedPrompt, Reason::Repeated]
    );
}

#[test]
fn the_first_row_decides_whose_thread_it_is() {
    for (marks, want) in [
        (json!({}), Reason::Prompt),
        (json!({"thread_source": null}), Reason::Prompt),
        (json!({"source": "unheard-of"}), Reason::Prompt),
        (json!({"source": {"custom": "x"}}), Reason::Prompt),
        (json!({"source": "exec"}), Reason::Prompt),
        (json!({"thread_source": "subagent"}), Reason::Sidechain),
        (json!({"thread_source": "memory_consolidation"}), Reason::Sidechain),
        (json!({"parent_thread_id": "p"}), Reason::Sidechain),
        (json!({"source": {"subagent": "review"}}), Reason::Sidechain),
    ] {
        let rows = [meta(&marks), meta(&json!({})), started(TURN, "user"), item(TURN, "i")];
        assert_eq!(last(&rows), want, "{marks}");
    }
    let exec = meta(&json!({"source": "exec"}));
    assert_eq!(last(&[exec.clone(), said("x")]), Reason::Exec, "nothing says what began the turn");
    assert_eq!(
        last(&[exec, started(TURN, "exec"), item(TURN, "i"), item(TURN, "j")]),
        Reason::QueuedPrompt
    );
}

#[test]
fn copies_of_a_fork_are_known_by_the_age_of_their_turns() {
    let fork = meta(&json!({"forked_from_id": "p"}));
    for (rows, want) in [
        (vec![fork.clone(), started(OLD_TURN, "user"), item(OLD_TURN, "i")], Reason::Forked),
        (vec![fork.clone(), started(OLD_TURN, "user"), said("x")], Reason::Forked),
        (vec![fork.clone(), started(TURN, "user"), item(TURN, "i")], Reason::Prompt),
        (vec![fork.clone(), started("no-uuid", "user"), item("no-uuid", "i")], Reason::Forked),
        (vec![fork.clone(), said("at the moment of the fork")], Reason::Forked),
        (vec![meta(&json!({})), started(OLD_TURN, "user"), item(OLD_TURN, "i")], Reason::Prompt),
    ] {
        assert_eq!(last(&rows), want, "{rows:?}");
    }
    let mut later = said("x");
    later["timestamp"] = json!("2026-11-04T16:20:34.025Z");
    assert_eq!(last(&[fork, later]), Reason::Prompt);
}

#[test]
fn turns_that_run_over_each_other_keep_their_messages() {
    let begun = [meta(&json!({})), started(TURN, "exec"), started("next", "user")];
    assert_eq!(
        last(&[&begun[..], &[item(TURN, "i")]].concat()),
        Reason::Prompt,
        "a steer that came late"
    );
    assert_eq!(last(&[&begun[..], &[ended(TURN), item("next", "i")]].concat()), Reason::Prompt);
}

#[test]
fn no_words_are_in_what_is_decided() {
    let rows = decided(
        State::default(),
        &[meta(&json!({"cwd": "ZXQ"})), said("ZXQ"), input("m", &json!(["user.text"]), "ZXQ")],
    );
    assert!(rows[1].verdict == Verdict::Human && !format!("{rows:?}").contains("ZXQ"));
}

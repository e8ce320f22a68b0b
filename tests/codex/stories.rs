//! The stories of `observed.md` 3, each with its known number of typed prompts.

use std::fs;

use serde_json::{Value, json};

use crate::rollout::{PATH, THREAD, Typed, Writer};
use crate::support::{Home, append, scanned};

struct Story {
    name: &'static str,
    rows: String,
    human: usize,
}

fn tool(writer: &Writer, turn: &str) -> String {
    writer.row(
        "response_item",
        &json!({"type": "function_call", "name": "exec_command", "call_id": "c"}),
    ) + &writer.item(
        turn,
        &json!({"type": "CommandExecution", "id": "c", "source": "unified_exec_startup"}),
    ) + &writer.row(
        "response_item",
        &json!({"type": "function_call_output", "call_id": "c", "output": "ok"}),
    )
}

fn aborted(writer: &Writer, turn: &str) -> String {
    writer.input(turn, "<turn_aborted>\nstopped\n</turn_aborted>", "generic.turn_aborted")
        + &writer.event(&json!({"type": "turn_aborted", "turn_id": turn, "reason": "interrupted"}))
}

fn typed_stories() -> Vec<Story> {
    let story = |name, human, make: &dyn Fn(&Writer, &str) -> String| {
        let writer = Writer::new();
        let turn = writer.id();
        let rows = writer.user_meta() + &make(&writer, &turn);
        Story { name, rows, human }
    };
    let user = json!("user");
    vec![
        story("typed", 2, &|w, _| w.turn("one") + &w.turn("two")),
        story("steer", 3, &|w, turn| {
            [
                w.started(turn, &user),
                w.typed(turn, "one"),
                tool(w, turn),
                w.typed(turn, "same"),
                w.typed(turn, "same"),
                w.ended(turn),
            ]
            .concat()
        }),
        story("steer-answer", 2, &|w, turn| {
            [
                w.started(turn, &user),
                w.typed(turn, "one"),
                w.typed(turn, "two"),
                w.answer(turn),
                w.ended(turn),
            ]
            .concat()
        }),
        story("queue (Tab)", 2, &|w, _| w.turn("one") + &w.turn("queued")),
        story("esc", 2, &|w, turn| {
            [w.started(turn, &user), w.typed(turn, "one"), aborted(w, turn), w.turn("two")].concat()
        }),
        story("error", 2, &|w, turn| {
            [w.started(turn, &user), w.typed(turn, "one"), w.ended(turn), w.turn("two")].concat()
        }),
        story("image only", 1, &|w, turn| {
            let item = json!({"type": "UserMessage", "id": w.id(), "content": [{"type": "local_image", "path": "/p.png"}]});
            [w.started(turn, &user), w.item(turn, &item), w.ended(turn)].concat()
        }),
        story("ide context", 1, &|w, _| {
            w.turn("# Context from my IDE setup:\n\n## Open tabs\n- a.rs\n\n## My request for Codex:\nfix it")
        }),
    ]
}

fn machine_stories() -> Vec<Story> {
    let story = |name, human, marks: Value, make: &dyn Fn(&Writer, &str) -> String| {
        let writer = Writer::new();
        let turn = writer.id();
        let rows = writer.meta(THREAD, &marks) + &make(&writer, &turn);
        Story { name, rows, human }
    };
    let (plain, exec) = (json!({}), json!({"source": "exec", "originator": "codex_exec"}));
    let (none, by_exec, by_queue, by_goal) =
        (json!(null), json!("exec"), json!("queue"), json!("goal"));
    vec![
        story("codex queue", 1, plain.clone(), &|w, _| {
            w.turn("one") + &w.turn_by(&by_queue, "by a command")
        }),
        story("codex queue, then a steer", 1, plain.clone(), &|w, turn| {
            let queued = w
                .message(&Typed { turn, words: "q" }, Some("01a1a75c-ad47-763e-bc38-79f387bde416"));
            [w.started(turn, &by_queue), queued, w.typed(turn, "steered"), w.ended(turn)].concat()
        }),
        story("exec", 0, exec.clone(), &|w, _| w.turn_by(&by_exec, "a job")),
        story("exec resume in a typed thread", 2, plain.clone(), &|w, _| {
            [w.turn("one"), w.turn_by(&by_exec, "a job"), w.turn("two")].concat()
        }),
        story("a terminal on an exec thread", 1, exec, &|w, _| {
            w.turn_by(&by_exec, "a job") + &w.turn("typed")
        }),
        story("goal with a prompt typed inside", 2, plain.clone(), &|w, turn| {
            [
                w.turn("one"),
                w.started(turn, &by_goal),
                w.input(turn, "the goal so far", "goal.internal_context"),
                w.typed(turn, "typed meanwhile"),
                w.ended(turn),
            ]
            .concat()
        }),
        story("goal round", 0, plain.clone(), &|w, turn| {
            [
                w.started(turn, &by_goal),
                w.input(turn, "go on", "goal.internal_context"),
                w.ended(turn),
            ]
            .concat()
        }),
        story(
            "agent",
            0,
            json!({"thread_source": "subagent", "parent_thread_id": "p"}),
            &|w, _| w.turn("a task"),
        ),
        story(
            "agent by its source",
            0,
            json!({"thread_source": null, "source": {"subagent": "review"}}),
            &|w, _| w.turn("a task") + &w.legacy_turn("another"),
        ),
        story("agent's end in its parent", 1, plain.clone(), &|w, turn| {
            w.turn("one")
                + &w.input(
                    turn,
                    "<subagent_notification>x</subagent_notification>",
                    "multi_agent.subagent_notification",
                )
        }),
        story("thread message", 0, plain.clone(), &|w, turn| {
            let item =
                json!({"type": "FunctionCallOutput", "id": "f", "name": "send_message_to_thread"});
            [w.started(turn, &none), w.item(turn, &item), w.answer(turn), w.ended(turn)].concat()
        }),
        story("bang", 1, plain.clone(), &|w, turn| {
            let run = json!({"type": "CommandExecution", "id": "c", "source": "user_shell"});
            let output =
                w.input(turn, "<user_shell_command>x</user_shell_command>", "shell.user_command");
            [w.turn("one"), w.started(turn, &none), w.item(turn, &run), output, w.ended(turn)]
                .concat()
        }),
        story("compact", 2, plain, &|w, turn| {
            let kept = json!([{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "one"}]}]);
            [
                w.turn("one"),
                w.started(turn, &none),
                w.row("compacted", &json!({"message": "", "replacement_history": kept})),
                w.item(turn, &json!({"type": "ContextCompaction", "id": "k"})),
                w.ended(turn),
                w.turn("two"),
            ]
            .concat()
        }),
    ]
}

fn old_stories() -> Vec<Story> {
    let legacy = json!({"history_mode": null, "thread_source": null, "source": "cli"});
    let story = |name, human, marks: Value, make: &dyn Fn(&Writer) -> String| {
        let writer = Writer::new();
        let rows = writer.meta(THREAD, &marks) + &make(&writer);
        Story { name, rows, human }
    };
    let flat = [
        json!({"id": "cafe", "timestamp": "2025-05-07T17:24:21.123Z", "instructions": null, "git": {}}),
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<environment_context>x"}]}),
        json!({"record_type": "state"}),
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "one"}]}),
        json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]}),
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "two"}]}),
    ];
    vec![
        story("legacy", 2, legacy.clone(), &|w| w.legacy_turn("one") + &w.legacy_turn("two")),
        story("legacy exec", 0, json!({"thread_source": null, "source": "exec"}), &|w| {
            w.legacy_turn("a job")
        }),
        story("legacy with items beside the events", 3, legacy.clone(), &|w| {
            let turn = w.id();
            let both = |words: &str| {
                w.typed(&turn, words) + &w.event(&json!({"type": "user_message", "message": words}))
            };
            let swapped =
                w.event(&json!({"type": "user_message", "message": "c"})) + &w.typed(&turn, "c");
            let started = w.event(&json!({"type": "task_started", "turn_id": turn}));
            [started, both("same"), both("same"), swapped, w.ended(&turn)].concat()
        }),
        story("legacy without beginnings of turns", 2, legacy.clone(), &|w| {
            let turn = |words: &str| {
                w.legacy_input(words)
                    + &w.event(&json!({"type": "user_message", "message": words, "kind": "plain"}))
                    + &w.row("turn_context", &json!({"cwd": "/w"}))
            };
            let context = w.event(
                &json!({"type": "user_message", "message": "x", "kind": "environment_context"}),
            );
            [context, turn("one"), turn("two")].concat()
        }),
        story("legacy rollback", 2, legacy, &|w| {
            [
                w.legacy_turn("one"),
                w.event(&json!({"type": "thread_rolled_back", "num_turns": 1})),
                w.legacy_turn("two"),
            ]
            .concat()
        }),
        Story { name: "flat", rows: flat.map(|row| row.to_string() + "\n").concat(), human: 2 },
    ]
}

fn inputs_only() -> Vec<Story> {
    let story = |name, human, make: &dyn Fn(&Writer) -> String| {
        let writer = Writer::new();
        let rows = writer.user_meta() + &make(&writer);
        Story { name, rows, human }
    };
    let turn = |w: &Writer, trigger: &str, inputs: &[&str], ends: bool| {
        let turn = w.id();
        let inputs: String =
            inputs.iter().map(|words| w.input(&turn, words, "user.text")).collect();
        let context = w.input(&turn, "<environment_context>", "environments.environment_context");
        let end = if ends { w.ended(&turn) } else { String::new() };
        [w.started(&turn, &json!(trigger)), context, inputs, w.answer(&turn), end].concat()
    };
    vec![
        story("inputs without items", 2, &|w| {
            turn(w, "user", &["a"], true) + &turn(w, "user", &["b"], true)
        }),
        story("a turn that never ends", 2, &|w| {
            turn(w, "user", &["a"], false) + &turn(w, "user", &["b"], true)
        }),
        story("inputs without items, exec", 0, &|w| turn(w, "exec", &["a"], true)),
        story("inputs without items, steered exec", 1, &|w| turn(w, "exec", &["a", "b"], true)),
        story("an aborted turn of inputs", 1, &|w| {
            let id = w.id();
            [w.started(&id, &json!("user")), w.input(&id, "a", "user.text"), aborted(w, &id)]
                .concat()
        }),
    ]
}

fn stories() -> Vec<Story> {
    [typed_stories(), machine_stories(), old_stories(), inputs_only()]
        .into_iter()
        .flatten()
        .collect()
}

#[test]
fn each_story_has_as_many_turns_as_were_typed() {
    for Story { name, rows, human } in stories() {
        let home = Home::new();
        let path = home.file(PATH, &rows);
        let (_, total) = scanned(&path, 0, u64::MAX);
        assert_eq!(
            total.human_turns, human as u64,
            "scan of {name}: lines {:?}",
            total.human_lines
        );
        assert_eq!(home.link(&path, THREAD).new_turns(), human, "{name}");
    }
}

#[test]
fn a_story_read_row_by_row_by_ever_new_programs_has_the_same_turns() {
    for Story { name, rows, human } in stories() {
        let home = Home::new();
        let path = home.file(PATH, "");
        let mut link = home.link(&path, THREAD);
        let mut turns = Vec::new();
        for row in rows.split_inclusive('\n') {
            let (head, tail) = row.split_at(row.len() / 2);
            append(&path, head);
            assert!(
                !matches!(link.probe_with(&home.fresh()), tidings::upstream::Finding::Read(_)),
                "{name}"
            );
            append(&path, tail);
            if let tidings::upstream::Finding::Read(window) = link.probe_with(&home.fresh()) {
                turns.extend(window.turns);
            }
        }
        assert_eq!(turns.len(), human, "{name}");
        assert_eq!(link.offset(), rows.len() as u64, "{name}");
    }
}

#[test]
fn a_story_adopted_between_any_two_rows_has_the_rest_of_its_turns() {
    for Story { name, rows, .. } in stories() {
        if name.starts_with("agent") && !name.contains("parent") {
            continue; // Nobody can adopt it.
        }
        let (lines, ends): (Vec<u64>, Vec<usize>) = {
            let home = Home::new();
            let (found, _) = scanned(&home.file(PATH, &rows), 0, u64::MAX);
            let ends =
                found.iter().map(|row| usize::try_from(row.offset + row.bytes).unwrap()).collect();
            (
                found
                    .iter()
                    .filter(|row| json!(row)["verdict"] == "human")
                    .map(|row| row.line)
                    .collect(),
                ends,
            )
        };
        for (row, end) in ends.iter().enumerate().skip(1) {
            let home = Home::new();
            let path = home.file(PATH, &rows[..*end]);
            let mut link = home.adopt(path.to_str().unwrap_or_default());
            fs::write(&path, &rows).unwrap();
            let rest = lines.iter().filter(|line| **line > row as u64 + 1).count();
            assert_eq!(link.new_turns(), rest, "{name} adopted after row {}", row + 1);
        }
    }
}

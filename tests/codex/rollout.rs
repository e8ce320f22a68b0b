//! Writes rollouts row by row, in the shapes of the versions that were seen.

use std::cell::Cell;

use serde_json::{Value, json};

/// When the rows of these tests are written, in milliseconds since the epoch.
pub(crate) const AT: i64 = 1_793_809_231_000;

/// The thread of these tests. Ids of turns and items come after it in time.
pub(crate) const THREAD: &str = "01a1a75c-ac98-7cfd-96c1-dee1a67f6caf";

/// Where its first file lies.
pub(crate) const PATH: &str =
    "sessions/2026/11/04/rollout-2026-11-04T16-20-31-01a1a75c-ac98-7cfd-96c1-dee1a67f6caf.jsonl";

/// One rollout's writer.
pub(crate) struct Writer {
    ordinal: Cell<i64>,
    ids: Cell<u64>,
}

/// A person's words in one form or another.
pub(crate) struct Typed<'a> {
    pub(crate) turn: &'a str,
    pub(crate) words: &'a str,
}

impl Writer {
    pub(crate) fn new() -> Self {
        Self::from(1)
    }

    /// A writer whose ids begin at `first`, so that two make different ones.
    pub(crate) fn from(first: u64) -> Self {
        Self { ordinal: Cell::new(0), ids: Cell::new(first) }
    }

    /// An id that is younger than the thread's.
    pub(crate) fn id(&self) -> String {
        let number = self.ids.replace(self.ids.get() + 1);
        format!("01a1a75d-{:04x}-7000-8000-{number:012x}", number % 0x1_0000)
    }

    pub(crate) fn row(&self, kind: &str, payload: &Value) -> String {
        let ordinal = self.ordinal.replace(self.ordinal.get() + 1);
        let time = jiff::Timestamp::from_millisecond(AT + ordinal * 25).unwrap().to_string();
        format!(
            "{}\n",
            json!({"timestamp": time, "ordinal": ordinal, "type": kind, "payload": payload})
        )
    }

    pub(crate) fn event(&self, payload: &Value) -> String {
        self.row("event_msg", payload)
    }

    /// The first row of a thread that a person began in a terminal, but for `marks`.
    pub(crate) fn meta(&self, thread: &str, marks: &Value) -> String {
        let mut meta = json!({
            "session_id": thread, "id": thread, "cwd": "/home/rhea/tide", "originator": "codex-tui", "cli_version": "0.171.0",
            "source": "vscode", "thread_source": "user", "history_mode": "paginated",
            "base_instructions": {"text": "be brief"},
        });
        meta.as_object_mut().unwrap().extend(marks.as_object().unwrap().clone());
        self.row("session_meta", &meta)
    }

    pub(crate) fn user_meta(&self) -> String {
        self.meta(THREAD, &json!({}))
    }

    pub(crate) fn started(&self, turn: &str, trigger: &Value) -> String {
        let attribution = json!({"turn_id": turn, "turn_trigger": trigger, "parent_turn_id": null});
        self.event(
            &json!({"type": "task_started", "turn_id": turn, "turn_attribution": attribution}),
        ) + &self.row("turn_context", &json!({"turn_id": turn, "cwd": "/home/rhea/tide"}))
    }

    pub(crate) fn input(&self, turn: &str, words: &str, kind: &str) -> String {
        self.row(
            "response_item",
            &json!({
                "type": "message", "id": format!("msg_{}", self.id()), "role": "user",
                "content": [{"type": "input_text", "text": words}],
                "internal_chat_message_metadata_passthrough": {"turn_id": turn, "content_item_kinds": [kind]},
            }),
        )
    }

    pub(crate) fn item(&self, turn: &str, item: &Value) -> String {
        self.event(
            &json!({"type": "item_completed", "thread_id": THREAD, "turn_id": turn, "item": item}),
        )
    }

    /// A message as an item, with the mirror before it. `client` is the id that the terminal gives.
    pub(crate) fn message(&self, typed: &Typed<'_>, client: Option<&str>) -> String {
        let mut item = json!({
            "type": "UserMessage", "id": self.id(),
            "content": [{"type": "text", "text": typed.words, "text_elements": []}],
        });
        if let Some(client) = client {
            item["client_id"] = json!(client);
        }
        self.input(typed.turn, typed.words, "user.text") + &self.item(typed.turn, &item)
    }

    pub(crate) fn typed(&self, turn: &str, words: &str) -> String {
        self.message(&Typed { turn, words }, Some("57756c79-5703-4dbb-b936-1301c97e9d83"))
    }

    pub(crate) fn answer(&self, turn: &str) -> String {
        self.item(turn, &json!({"type": "AgentMessage", "id": self.id(), "content": [{"type": "Text", "text": "Done."}]}))
    }

    pub(crate) fn ended(&self, turn: &str) -> String {
        self.event(
            &json!({"type": "task_complete", "turn_id": turn, "last_agent_message": "Done."}),
        )
    }

    /// A whole turn that a person began.
    pub(crate) fn turn(&self, words: &str) -> String {
        self.turn_by(&json!("user"), words)
    }

    /// A whole turn begun by `trigger`, with the client id that such a turn has.
    pub(crate) fn turn_by(&self, trigger: &Value, words: &str) -> String {
        let turn = self.id();
        let client = match trigger.as_str() {
            Some("exec") => None,
            Some("queue") => Some("01a1a75c-ad47-763e-bc38-79f387bde416"),
            _ => Some("57756c79-5703-4dbb-b936-1301c97e9d83"),
        };
        [
            self.started(&turn, trigger),
            self.message(&Typed { turn: &turn, words }, client),
            self.answer(&turn),
            self.ended(&turn),
        ]
        .concat()
    }

    /// A whole turn of the versions that write events instead of items.
    pub(crate) fn legacy_turn(&self, words: &str) -> String {
        let turn = self.id();
        [
            self.event(&json!({"type": "task_started", "turn_id": turn})),
            self.row("turn_context", &json!({"turn_id": turn})),
            self.legacy_input(words),
            self.event(&json!({"type": "user_message", "message": words, "images": []})),
            self.ended(&turn),
        ]
        .concat()
    }

    pub(crate) fn legacy_input(&self, words: &str) -> String {
        self.row(
            "response_item",
            &json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": words}]}),
        )
    }
}

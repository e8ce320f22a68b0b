//! The operations of a script and how they are read.

use serde::Deserialize;
use serde_json::Value;

use crate::clock::Millis;

/// Why a script can't go on.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// A line is no operation.
    #[error("{place} is no operation: {reason}")]
    NotAnOperation {
        /// File and line.
        place: String,
        /// What is wrong with it.
        reason: String,
    },
    /// An `expect` found something else.
    #[error("{place}: expected {path} to be {wanted}, found {found}")]
    Unexpected {
        /// File and line.
        place: String,
        /// Where in the observation it looked.
        path: String,
        /// What it wanted.
        wanted: String,
        /// What it found.
        found: String,
    },
    /// The engine could not be made.
    #[error(transparent)]
    Engine(#[from] crate::engine::EngineError),
    /// A file could not be read.
    #[error("could not read {place}: {source}")]
    Io {
        /// The file.
        place: String,
        /// What the system said.
        source: std::io::Error,
    },
}

/// One line of a script.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The time of the whole operation; without one, the clock stays where it is.
    pub at: Option<Millis>,
    /// What is done.
    pub operation: Operation,
}

impl Step {
    /// Reads a step from a line; the error says what is wrong.
    pub fn parse(line: &str) -> Result<Self, String> {
        Self::from_value(serde_json::from_str(line).map_err(|error| error.to_string())?)
    }

    /// Reads a step from JSON; the error says what is wrong.
    pub fn from_value(mut value: Value) -> Result<Self, String> {
        let fields = value.as_object_mut().ok_or("it is not an object")?;
        let at = match fields.shift_remove("at") {
            None => None,
            Some(at) => Some(whole(&at).ok_or("\"at\" is not a whole number of milliseconds")?),
        };
        let operation = serde_json::from_value(value).map_err(|error| error.to_string())?;
        Ok(Self { at, operation })
    }
}

/// A JSON number, floored.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a float is clamped to what an integer holds by the cast, which is meant"
)]
fn whole(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_f64().map(|number| number.floor() as i64))
}

fn floored<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let value = Value::deserialize(deserializer)?;
    whole(&value).ok_or_else(|| serde::de::Error::custom("not a number"))
}

fn floored_if_given<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<i64>, D::Error> {
    floored(deserializer).map(Some)
}

/// A time that may be any JSON; what is no finite number counts as absent.
fn time_if_finite<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<i64>, D::Error> {
    Ok(whole(&Value::deserialize(deserializer)?))
}

fn yes() -> bool {
    true
}

/// What a script can do. Fields mean what `script.md` says.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_docs, reason = "the names are the script language, which script.md describes")]
pub enum Operation {
    Begin {},
    SessionPut {
        session: String,
    },
    SessionDrop {
        session: String,
    },
    Record {
        session: String,
        agent: String,
        kind: String,
        actor_type: String,
        summary: Option<String>,
        actor: Option<String>,
        session_id: Option<String>,
        run: Option<String>,
        dedupe: Option<String>,
        watchers: Option<Vec<String>>,
        payload: Option<Value>,
        #[serde(default, deserialize_with = "time_if_finite")]
        occurred_at: Option<i64>,
    },
    BulkRecord {
        sessions: Vec<String>,
        agent: String,
        kind: String,
        actor_type: String,
        summary: String,
        count: u32,
        step: i64,
    },
    DirectMessage {
        session: String,
        agent: String,
        actor_type: String,
        channel: String,
        actor: Option<String>,
        parent: Option<String>,
        run: Option<String>,
        dedupe: Option<String>,
        payload: Option<Value>,
        #[serde(default, deserialize_with = "time_if_finite")]
        occurred_at: Option<i64>,
    },
    Watch {
        watcher: String,
        target: String,
        target_agent: Option<String>,
    },
    WatchGroup {
        session: String,
        agent: String,
        chat_type: Option<String>,
        main_key: Option<String>,
    },
    Peek {
        watcher: String,
        snapshot: String,
    },
    Drain {
        watcher: String,
        snapshot: Option<String>,
    },
    Take {
        watcher: String,
    },
    Ack {
        watcher: String,
        targets: Vec<String>,
    },
    EnqueueOther {
        watcher: String,
        text: String,
        context: Option<String>,
    },
    Reset {
        session: String,
    },
    Delete {
        session: String,
        agent: String,
    },
    Restart {
        #[serde(default = "yes")]
        recover: bool,
    },
    Prune {},
    Changes {
        session: String,
        agent: String,
        #[serde(deserialize_with = "floored")]
        after: i64,
        #[serde(default, deserialize_with = "floored_if_given")]
        limit: Option<i64>,
    },
    Version {
        session: String,
        agent: String,
    },
    Watched {
        target: String,
    },
    AmbientTargets {
        watcher: String,
    },
    LinkPut {
        session: String,
        agent: String,
        catalog: String,
        host: String,
        thread: String,
        kind: String,
        #[serde(rename = "ref")]
        reference: Option<Value>,
        marker: Option<Value>,
    },
    LinkMarker {
        session: String,
        agent: String,
        marker: Value,
        expected_updated_at: Option<i64>,
    },
    LinkDelete {
        session: String,
        agent: String,
    },
    LinksWatched {},
    /// Looks into the last observation: the value at `path` (names and numbers with dots between) must equal `equals`.
    Expect {
        path: String,
        equals: Value,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_no_operation_says_why() {
        for (line, part) in [
            ("", "EOF"),
            ("[]", "not an object"),
            ("{\"op\":\"fly\",\"at\":1}", "unknown variant"),
            ("{\"op\":\"reset\",\"at\":1}", "session"),
            ("{\"op\":\"reset\",\"at\":\"x\",\"session\":\"s\"}", "\"at\""),
            ("{\"op\":\"reset\",\"at\":1,\"session\":\"s\",\"sesion\":\"s\"}", "unknown field"),
        ] {
            let error = Step::parse(line).unwrap_err();
            assert!(error.contains(part), "{line}: {error}");
        }
    }

    #[test]
    fn numbers_are_floored_and_odd_times_count_as_absent() {
        let step = Step::parse(
            r#"{"op":"changes","at":1,"session":"s","agent":"a","after":1.9,"limit":2.9}"#,
        )
        .unwrap();
        assert!(matches!(step.operation, Operation::Changes { after: 1, limit: Some(2), .. }));
        let line = r#"{"op":"record","at":1,"session":"s","agent":"a","kind":"k","actor_type":"human","occurred_at":"soon"}"#;
        assert!(matches!(
            Step::parse(line).unwrap().operation,
            Operation::Record { occurred_at: None, .. }
        ));
    }
}

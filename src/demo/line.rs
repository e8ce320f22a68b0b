//! The lines of the story: operations of the script language, and what only a stage can do.

use serde::Deserialize;
use serde_json::Value;

use crate::clock::Millis;
use crate::script::Operation;

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    /// How long the stage waits before it, in milliseconds of the wall clock at speed 1.
    pub(super) wait: Millis,
    /// What happens.
    pub(super) action: Action,
}

/// What only a stage can do, and script operations.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub(super) enum Action {
    /// A session launches another; the manager does when no parent is named.
    Spawn { spawn: String, parent: Option<String> },
    /// A child's run ends.
    Finish { finish: String, outcome: Ended },
    /// A transcript appears and is adopted and watched.
    Adopt { adopt: String, title: String, watched_by: String },
    /// A person types into an adopted session.
    Prompt { prompt: String, times: Option<u32> },
    /// A session takes a turn.
    Turn { turn: String },
    /// A transcript can't be read any more.
    Break { r#break: String },
    /// It can again.
    Mend { mend: String },
    /// Another process takes over and sweeps.
    Restart { restart: bool },
    /// The clock jumps.
    Skip { skip_minutes: Millis },
    /// An operation of the script language.
    Operation(Box<Operation>),
}

/// How a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Ended {
    Ok,
    Cancelled,
}

impl Line {
    /// Reads a line; `None` for a remark.
    pub(super) fn parse(line: &str) -> Result<Option<Self>, String> {
        let mut value: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let fields = value.as_object_mut().ok_or("it is not an object")?;
        if fields.contains_key("note") {
            return Ok(None);
        }
        let wait = fields
            .shift_remove("wait")
            .and_then(|wait| wait.as_i64())
            .ok_or("it has no \"wait\"")?;
        let action = if fields.contains_key("op") {
            Action::Operation(Box::new(
                serde_json::from_value(value).map_err(|error| error.to_string())?,
            ))
        } else {
            serde_json::from_value(value).map_err(|error| error.to_string())?
        };
        Ok(Some(Self { wait, action }))
    }
}

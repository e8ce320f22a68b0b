//! Holding a player against a trace file: the first difference of each trace.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::operation::{ScriptError, Step};
use super::player::Player;

/// The parts of an observation that a trace writes down only where they differ from the step before.
const CARRIED: [&str; 5] = ["cursors", "heads", "journal", "links", "queues"];

/// A recorded trace: operations, and what was seen after each.
#[derive(Debug, Clone, Deserialize)]
pub struct Trace {
    /// Its name.
    pub name: String,
    /// The operations.
    pub ops: Vec<Value>,
    /// What was seen after each.
    pub expect: Vec<Map<String, Value>>,
}

/// The first step at which a player differs from a trace.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The step, from 0.
    pub step: usize,
    /// The operation.
    pub operation: Value,
    /// What differs.
    pub field: String,
    /// What was recorded.
    pub wanted: Value,
    /// What was seen.
    pub found: Value,
}

/// Plays a trace and returns the first difference.
pub fn check(player: &mut Player, trace: &Trace) -> Result<Option<Difference>, ScriptError> {
    let mut carried = Map::new();
    for (step, (operation, expected)) in trace.ops.iter().zip(&trace.expect).enumerate() {
        let place = format!("{} step {step}", trace.name);
        let parsed = Step::from_value(operation.clone())
            .map_err(|reason| ScriptError::NotAnOperation { place: place.clone(), reason })?;
        let Some(seen) = player.play(&parsed, &place)? else { continue };
        for field in CARRIED {
            if let Some(value) = expected.get(field) {
                carried.insert(field.to_owned(), value.clone());
            }
        }
        let mut wanted = carried.clone();
        wanted.insert(
            "wakes".into(),
            expected.get("wakes").cloned().unwrap_or_else(|| Value::Array(Vec::new())),
        );
        let (name, value) = match expected.get("error") {
            Some(error) => ("error", error.clone()),
            None => ("ret", expected.get("ret").cloned().unwrap_or_default()),
        };
        wanted.insert(name.into(), value);
        for (field, wanted) in wanted {
            let found = seen.get(&field).cloned().unwrap_or_default();
            if found != wanted {
                return Ok(Some(Difference {
                    step,
                    operation: operation.clone(),
                    field,
                    wanted,
                    found,
                }));
            }
        }
    }
    Ok(None)
}

//! `record`: appends one event. There is no gate (`decisions.md` 22).

use clap::Args;
use serde_json::Value;

use super::json::RecordedJson;
use super::output::Output;
use super::{CliError, Context, arguments};
use crate::clock::Millis;
use crate::event::{ActorType, EventKind, NewEvent};
use crate::journal::append::Gate;
use crate::journal::sessions::SessionFacts;

/// The longest summary, in characters: it is one line of a table.
const MAX_SUMMARY: usize = 500;

/// The arguments of `record`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// What happened
    #[arg(value_name = "KIND", value_parser = arguments::kind())]
    kind: EventKind,
    /// The session that it happened to
    #[arg(value_name = "KEY")]
    key: String,
    /// Who caused it
    #[arg(long, value_name = "TYPE", value_parser = arguments::actor_type())]
    actor_type: ActorType,
    /// Who exactly: a session key for agents, a profile for people. A watcher is not told what it caused itself
    #[arg(long, value_name = "ID", value_parser = arguments::name)]
    actor: Option<String>,
    /// One line without content [default: the standard text of the kind]. Control characters are refused
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
    /// Unique over the whole journal: a second event with the same key changes nothing
    #[arg(long, value_name = "KEY", value_parser = arguments::name)]
    dedupe: Option<String>,
    /// The run that it belongs to
    #[arg(long, value_name = "ID", value_parser = arguments::name)]
    run: Option<String>,
    /// Further facts, a JSON object. Only `outcome`, `channel` and `turns` are ever shown to others
    #[arg(long, value_name = "JSON")]
    payload: Option<String>,
    /// A session that is to watch this one from now on; can be given several times
    #[arg(long = "watcher", value_name = "KEY")]
    watchers: Vec<String>,
    /// When it happened: milliseconds since 1970 or a time like 2026-08-01T12:00:00Z, at most a day back [default: now]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = time)]
    occurred_at: Option<Millis>,
}

pub(super) fn run(
    arguments: &Arguments,
    context: &Context,
    output: &mut Output,
) -> Result<(), CliError> {
    let summary = summary(arguments)?;
    let payload = arguments.payload.as_deref().map(payload).transpose()?;
    let mut engine = context.engine()?;
    let session = context.address(&engine, &arguments.key)?;
    let watchers = arguments
        .watchers
        .iter()
        .map(|watcher| context.other_address(&engine, watcher))
        .collect::<Result<Vec<_>, _>>()?;
    for address in std::iter::once(&session).chain(&watchers) {
        engine.register(address, &SessionFacts::default())?;
    }
    let (key, agent) = session;
    let event = NewEvent {
        actor: arguments.actor.clone(),
        summary: Some(summary),
        run: arguments.run.clone(),
        dedupe: arguments.dedupe.clone(),
        payload,
        occurred_at: arguments.occurred_at,
        watchers: watchers.into_iter().map(|(watcher, _)| watcher).collect(),
        ..NewEvent::new(key, agent, arguments.kind.clone(), arguments.actor_type.clone())
    };
    let appended = engine.record(&event, Gate::Open)?;
    RecordedJson::new(&appended).print(&appended, output)
}

/// The summary of the event. What is refused is not repeated: it may be what somebody wrote.
fn summary(arguments: &Arguments) -> Result<String, CliError> {
    let Some(summary) = &arguments.summary else { return Ok(arguments.kind.standard_summary()) };
    let refuse = |reason: &str| Err(CliError::Usage(format!("--summary {reason}")));
    if summary.trim().is_empty() {
        return refuse("can't be empty; leave it out for the standard text of the kind");
    }
    if summary.chars().any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')) {
        return refuse("has to be one line without control characters");
    }
    if summary.chars().count() > MAX_SUMMARY {
        return refuse(&format!("is over {MAX_SUMMARY} characters; it is a line, not content"));
    }
    Ok(summary.clone())
}

/// The payload of the event. What is refused is not repeated.
fn payload(text: &str) -> Result<Value, CliError> {
    match serde_json::from_str(text) {
        Ok(Value::Object(fields)) => Ok(Value::Object(fields)),
        Ok(_) => Err(CliError::Usage("--payload has to be a JSON object".into())),
        Err(error) => Err(CliError::Usage(format!(
            "--payload is no JSON: line {}, column {}",
            error.line(),
            error.column()
        ))),
    }
}

/// Reads a time.
fn time(text: &str) -> Result<Millis, String> {
    text.parse::<Millis>()
        .or_else(|_| text.parse::<jiff::Timestamp>().map(jiff::Timestamp::as_millisecond))
        .map_err(|_| "a time is whole milliseconds since 1970, or like 2026-08-01T12:00:00Z".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_is_an_object_and_an_error_repeats_nothing_of_it() {
        assert!(payload(r#"{"turns":2}"#).is_ok());
        for text in ["[1]", "\"secret\"", "{secret", ""] {
            let error = payload(text).unwrap_err();
            assert_eq!(error.exit_code(), 2);
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }

    #[test]
    fn a_time_is_milliseconds_or_a_timestamp() {
        assert_eq!(time("1784160000000"), Ok(1_784_160_000_000));
        assert_eq!(time("1970-01-01T00:00:01Z"), Ok(1_000));
        assert_eq!(time("-5"), Ok(-5));
        assert!(time("yesterday").is_err());
    }
}

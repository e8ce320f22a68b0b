//! `script`: plays operations and prints what is seen after each (`script.md`). With `--check`, holds recorded traces against
//! this program.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::Path;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::human::count;
use super::output::Output;
use super::{CliError, Context};
use crate::engine::Settings;
use crate::script::check::{Difference, Trace, check};
use crate::script::{Player, ScriptError, Step};
use crate::visible;

/// The arguments of `script`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Scripts, one operation a line, or recorded traces; - is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    /// Compare with what the traces expect, and print the first difference of each
    #[arg(long)]
    check: bool,
}

/// What a line or a file holds.
enum Item {
    Operation(Box<Step>),
    Trace(Box<Trace>),
}

pub(super) fn run(
    arguments: &Arguments,
    context: &Context,
    output: &mut Output,
) -> Result<(), CliError> {
    let settings = context.config.settings();
    if arguments.check {
        return check_all(&arguments.files, settings, output);
    }
    for file in &arguments.files {
        let mut player = Player::new(settings)?;
        each_item(file, &mut |item, place| match item {
            Item::Operation(step) => play(&mut player, &step, place, output),
            Item::Trace(trace) => {
                for (number, operation) in trace.ops.iter().enumerate() {
                    let place = format!("{place} step {number}");
                    let step = Step::from_value(operation.clone()).map_err(|reason| {
                        ScriptError::NotAnOperation { place: place.clone(), reason }
                    })?;
                    play(&mut player, &step, &place, output)?;
                }
                Ok(())
            }
        })?;
    }
    Ok(())
}

fn play(
    player: &mut Player,
    step: &Step,
    place: &str,
    output: &mut Output,
) -> Result<(), CliError> {
    if let Some(seen) = player.play(step, place)? {
        output.bare_document(&seen)?;
        output.flush()?;
    }
    Ok(())
}

/// Gives each item of a file to `each`, with its place: a file that is one trace, or lines that are operations or traces.
fn each_item(
    file: &str,
    each: &mut dyn FnMut(Item, &str) -> Result<(), CliError>,
) -> Result<(), CliError> {
    if file == "-" {
        return each_line(io::stdin().lock(), "standard input", each);
    }
    let io = |source| ScriptError::Io { place: file.to_owned(), source };
    let mut text = Vec::new();
    File::open(Path::new(file)).and_then(|mut file| file.read_to_end(&mut text)).map_err(io)?;
    match serde_json::from_slice::<Value>(&text) {
        Ok(value) if is_trace(&value) => each(item(value, file)?, file),
        _ => each_line(BufReader::new(text.as_slice()), file, each),
    }
}

fn each_line(
    mut lines: impl BufRead,
    name: &str,
    each: &mut dyn FnMut(Item, &str) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let mut line = Vec::new();
    for number in 1_usize.. {
        line.clear();
        let read = lines
            .read_until(b'\n', &mut line)
            .map_err(|source| ScriptError::Io { place: name.to_owned(), source })?;
        if read == 0 {
            break;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let place = format!("{name}:{number}");
        let value = serde_json::from_slice(&line).map_err(|error| ScriptError::NotAnOperation {
            place: place.clone(),
            reason: format!("no JSON at column {}", error.column()),
        })?;
        each(item(value, &place)?, &place)?;
    }
    Ok(())
}

fn is_trace(value: &Value) -> bool {
    value.get("ops").is_some()
}

fn item(value: Value, place: &str) -> Result<Item, ScriptError> {
    let wrong = |reason| ScriptError::NotAnOperation { place: place.to_owned(), reason };
    if !is_trace(&value) {
        return Step::from_value(value).map(|step| Item::Operation(Box::new(step))).map_err(wrong);
    }
    let trace: Trace = serde_json::from_value(value)
        .map_err(|error| wrong(format!("it is no trace either: {error}")))?;
    if trace.ops.len() != trace.expect.len() {
        return Err(wrong(format!(
            "the trace has {} operations and {} expectations",
            trace.ops.len(),
            trace.expect.len()
        )));
    }
    Ok(Item::Trace(Box::new(trace)))
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Checked {
    ok: bool,
    traces: usize,
    differences: Vec<Differs>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Differs {
    trace: String,
    step: usize,
    operation: Value,
    field: String,
    wanted: Value,
    found: Value,
}

fn check_all(files: &[String], settings: Settings, output: &mut Output) -> Result<(), CliError> {
    let mut traces = 0;
    let mut differences = Vec::new();
    for file in files {
        each_item(file, &mut |item, place| {
            let Item::Trace(trace) = item else {
                return Err(CliError::Usage(format!(
                    "{place} is an operation; --check compares recorded traces, which are one JSON document each"
                )));
            };
            traces += 1;
            let mut player = Player::new(settings)?;
            let difference = check(&mut player, &trace)?;
            differences.extend(difference.map(|difference| differs(trace.name, difference)));
            Ok(())
        })?;
    }
    let body = Checked { ok: differences.is_empty(), traces, differences };
    if output.is_json() {
        output.bare_document(&body)?;
    } else {
        for difference in &body.differences {
            output.text(&difference_text(difference))?;
        }
        let differ = body.differences.len();
        output.text(&format!("{}, {differ} with a difference", count(traces, "trace")))?;
    }
    output.flush()?;
    if body.ok {
        return Ok(());
    }
    Err(CliError::Differs(format!(
        "{} of {} differ from what was recorded",
        body.differences.len(),
        count(traces, "trace")
    )))
}

fn differs(trace: String, difference: Difference) -> Differs {
    let Difference { step, operation, field, wanted, found } = difference;
    Differs { trace, step, operation, field, wanted, found }
}

fn difference_text(difference: &Differs) -> String {
    let Differs { trace, step, operation, field, wanted, found } = difference;
    let line = |value: &Value| visible::clean(&value.to_string()).into_owned();
    format!(
        "{} step {step}: {field} differs\n  operation {}\n  recorded  {}\n  seen      {}",
        visible::clean(trace),
        line(operation),
        line(wanted),
        line(found)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(text: &str) -> Result<Vec<String>, String> {
        let mut places = Vec::new();
        each_line(text.as_bytes(), "f", &mut |_, place| {
            places.push(place.to_owned());
            Ok(())
        })
        .map(|()| places)
        .map_err(|error| error.to_string())
    }

    #[test]
    fn lines_are_counted_blank_ones_too() {
        let text = "{\"op\":\"begin\",\"at\":1}\n\n{\"op\":\"prune\",\"at\":2}";
        assert_eq!(places(text), Ok(vec!["f:1".into(), "f:3".into()]));
        assert!(places("\n{\"op\":").unwrap_err().starts_with("f:2 is no operation: no JSON"));
        assert!(
            places("{\"op\":\"fly\"}").unwrap_err().starts_with("f:1 is no operation: unknown")
        );
        assert!(places("{\"ops\":[]}").unwrap_err().contains("missing field"));
    }

    #[test]
    fn a_trace_has_an_expectation_for_each_operation() {
        let trace = |expect: &str| {
            format!("{{\"name\":\"t\",\"ops\":[{{\"op\":\"begin\"}}],\"expect\":{expect}}}")
        };
        assert!(places(&trace("[{}]")).is_ok());
        assert!(places(&trace("[]")).unwrap_err().contains("1 operations and 0 expectations"));
    }
}

//! `scan`: classifies a transcript row by row. Shows no word of it.

use std::path::PathBuf;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::arguments::Harness;
use super::human::{NOTHING, count, time_of_day};
use super::output::Output;
use super::{CliError, Context};
use crate::upstream::claude::scan::{ScanRow, ScanTotal};
use crate::upstream::{claude, codex};

/// The arguments of `scan`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The transcript
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The program that wrote it [default: told by the file's name]
    #[arg(long, value_name = "HARNESS", value_enum)]
    harness: Option<Harness>,
    /// Where to begin, in bytes: the beginning of a row
    #[arg(long, value_name = "OFFSET", default_value_t = 0)]
    from: u64,
    /// The longest row that is read, in bytes [default: what the config says]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_row_bytes: Option<u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Total<'a> {
    total: &'a ScanTotal,
}

pub(super) fn run(
    arguments: &Arguments,
    context: &Context,
    output: &mut Output,
) -> Result<(), CliError> {
    let limit = arguments.max_row_bytes.unwrap_or(context.config.upstream.max_row_bytes);
    let mut needs_header = !output.is_json();
    let mut printed = Ok(());
    let mut each = |row: ScanRow| {
        if std::mem::take(&mut needs_header) {
            printed = output.text(&row_text("LINE", "OFFSET", "BYTES", "VERDICT", "REASON", "AT"));
        }
        if printed.is_ok() {
            printed = print_row(&row, output);
        }
    };
    let scan = match arguments.harness.unwrap_or_else(|| Harness::of_file(&arguments.file)) {
        Harness::Claude => claude::scan::scan,
        Harness::Codex => codex::scan::scan,
    };
    let total = scan(&arguments.file, arguments.from, limit, &mut each)?;
    printed?;
    output.show(&Total { total: &total }, || total_text(&total))
}

fn print_row(row: &ScanRow, output: &mut Output) -> Result<(), CliError> {
    output.show(row, || {
        row_text(
            &row.line.to_string(),
            &row.offset.to_string(),
            &row.bytes.to_string(),
            &word(&row.verdict),
            &word(&row.reason),
            &row.at.map_or_else(|| NOTHING.to_owned(), time_of_day),
        )
    })
}

/// A line of the table. Its widths are fixed, because rows are printed while the file is read.
fn row_text(
    line: &str,
    offset: &str,
    bytes: &str,
    verdict: &str,
    reason: &str,
    at: &str,
) -> String {
    format!("{line:>7}  {offset:>12}  {bytes:>10}  {verdict:<9}  {reason:<24}  {at}")
}

fn total_text(total: &ScanTotal) -> String {
    format!(
        "{}, {}; {} of {} bytes read, {}",
        count(usize::try_from(total.rows).unwrap_or(usize::MAX), "row"),
        count(usize::try_from(total.human_turns).unwrap_or(usize::MAX), "human turn"),
        total.next_offset,
        total.size,
        word(&total.state)
    )
}

/// The word by which a value is printed as JSON.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        _ => NOTHING.to_owned(),
    }
}

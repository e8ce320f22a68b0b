//! `catalog`: the sessions of other programs on this machine that are not adopted.

use std::path::Path;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::arguments::Harness;
use super::human::{Table, age, cell, count};
use super::output::Output;
use super::{CliError, Context};
use crate::clock::Millis;
use crate::upstream::{CatalogEntry, Listing};
use crate::upstream_link::UpstreamLink;
use crate::visible;

/// The arguments of `catalog`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Only sessions of this program
    #[arg(long, value_name = "HARNESS", value_enum)]
    harness: Option<Harness>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Catalog<'a> {
    sessions: Vec<Session<'a>>,
    skipped: Vec<Skipped<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Session<'a> {
    catalog_id: &'a str,
    thread_id: &'a str,
    /// What a person or the program called it.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    /// The folder that it works in.
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<&'a str>,
    path: &'a Path,
    /// The version of the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'a str>,
    /// By which of its programs it runs, in the program's own word.
    #[serde(skip_serializing_if = "Option::is_none")]
    entry_point: Option<&'a str>,
    modified_at: Millis,
    /// In bytes.
    size: u64,
    adopted: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Skipped<'a> {
    path: &'a Path,
    reason: &'a str,
}

pub(super) fn run(
    arguments: &Arguments,
    context: &Context,
    output: &mut Output,
) -> Result<(), CliError> {
    let links = context.reader()?.links()?;
    let listing = list(arguments.harness, context);
    let not_adopted: Vec<_> =
        listing.entries.iter().filter(|entry| !is_adopted(entry, &links)).collect();
    let body = Catalog {
        sessions: not_adopted.iter().map(|entry| Session::from(*entry)).collect(),
        skipped: listing.skipped.iter().map(|(path, reason)| Skipped { path, reason }).collect(),
    };
    output.show(&body, || text(&body, context.clock.now()))
}

/// All catalogs together, newest first. A catalog that can't be read is said like a file that can't.
fn list(harness: Option<Harness>, context: &Context) -> Listing {
    let mut all = Listing::default();
    for provider in context.providers(harness) {
        match provider.list() {
            Ok(listing) => {
                all.entries.extend(listing.entries);
                all.skipped.extend(listing.skipped);
            }
            Err(error) => all.skipped.push((provider.root().to_owned(), error.to_string())),
        }
    }
    all.entries.sort_by_key(|entry| std::cmp::Reverse(entry.modified_at));
    all
}

fn is_adopted(entry: &CatalogEntry, links: &[UpstreamLink]) -> bool {
    links.iter().any(|link| link.catalog == entry.catalog && link.thread == entry.thread)
}

impl<'a> From<&'a CatalogEntry> for Session<'a> {
    fn from(entry: &'a CatalogEntry) -> Self {
        Self {
            catalog_id: &entry.catalog,
            thread_id: &entry.thread,
            title: entry.title.as_deref(),
            project: entry.project.as_deref(),
            path: &entry.path,
            version: entry.version.as_deref(),
            entry_point: entry.entry_point.as_deref(),
            modified_at: entry.modified_at,
            size: entry.size,
            adopted: false,
        }
    }
}

fn text(body: &Catalog<'_>, now: Millis) -> String {
    let mut table =
        Table::new(["CATALOG", "THREAD", "AGE", "BYTES", "VERSION", "ENTRY", "TITLE", "PROJECT"]);
    for session in &body.sessions {
        table.row([
            session.catalog_id.into(),
            session.thread_id.into(),
            age(now, session.modified_at).into(),
            session.size.to_string().into(),
            cell(session.version),
            cell(session.entry_point),
            cell(session.title),
            cell(session.project),
        ]);
    }
    let mut text = table.or("no session was found that is not adopted");
    if !body.skipped.is_empty() {
        text.push_str(&format!("\n{} passed over:", count(body.skipped.len(), "file")));
        for skipped in &body.skipped {
            let path = skipped.path.to_string_lossy();
            text.push_str(&format!(
                "\n  {}: {}",
                visible::clean(&path),
                visible::clean(skipped.reason)
            ));
        }
    }
    text
}

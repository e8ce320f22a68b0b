//! What goes to stdout: JSON documents with their `formatVersion`, or text.

use std::io::{self, BufWriter, IsTerminal as _, Stdout, Write as _};

use schemars::JsonSchema;
use serde::Serialize;

use super::{CliError, Options};
use crate::visible;

/// The version of the shapes of all JSON that is printed.
const FORMAT_VERSION: u8 = 1;

/// A JSON document or line: what it says, and behind that the version of its shape.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document<T> {
    #[serde(flatten)]
    body: T,
    format_version: u8,
}

impl<T> Document<T> {
    /// A document that says `body`, which is an object.
    pub(super) fn new(body: T) -> Self {
        Self { body, format_version: FORMAT_VERSION }
    }
}

/// Stdout, as JSON or for people.
#[derive(Debug)]
pub(super) struct Output {
    stdout: BufWriter<Stdout>,
    json: bool,
    is_terminal: bool,
}

impl Output {
    /// Stdout as `options` ask for it.
    pub(super) fn new(options: &Options) -> Self {
        let stdout = io::stdout();
        let is_terminal = stdout.is_terminal();
        Self { stdout: BufWriter::new(stdout), json: options.json, is_terminal }
    }

    /// Whether JSON is asked for.
    pub(super) fn is_json(&self) -> bool {
        self.json
    }

    /// Prints `body` as a document, or what `text` makes for people.
    pub(super) fn show<T: Serialize>(
        &mut self,
        body: &T,
        text: impl FnOnce() -> String,
    ) -> Result<(), CliError> {
        if self.json { self.document(body) } else { self.text(&text()) }
    }

    /// Prints one JSON document on a line of its own, with the version of its shape.
    pub(super) fn document<T: Serialize>(&mut self, body: &T) -> Result<(), CliError> {
        self.bare_document(&Document::new(body))
    }

    /// Prints one JSON document on a line of its own, without a version: the language of scripts has none.
    pub(super) fn bare_document<T: Serialize>(&mut self, body: &T) -> Result<(), CliError> {
        serde_json::to_writer(&mut self.stdout, body)
            .map_err(|error| CliError::Output(error.into()))?;
        self.write(b"\n")
    }

    /// Prints lines that are safe already; one line end is added.
    pub(super) fn text(&mut self, text: &str) -> Result<(), CliError> {
        self.write(text.as_bytes())?;
        self.write(b"\n")
    }

    /// Prints lines from outside. A program gets them to the byte; on a terminal they can't act on it.
    pub(super) fn foreign_text(&mut self, text: &str) -> Result<(), CliError> {
        if !self.is_terminal {
            return self.text(text);
        }
        let lines: Vec<_> = text.split('\n').map(visible::clean).collect();
        self.text(&lines.join("\n"))
    }

    /// Prints bytes as they are.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        self.stdout.write_all(bytes).map_err(CliError::Output)
    }

    /// Sends on what was printed so far.
    pub(super) fn flush(&mut self) -> Result<(), CliError> {
        self.stdout.flush().map_err(CliError::Output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_keeps_its_order_and_ends_with_the_version() {
        #[derive(Serialize)]
        struct Body {
            zebra: u8,
            #[serde(skip_serializing_if = "Option::is_none")]
            absent: Option<u8>,
            ant: i64,
        }
        let body = Body { zebra: 1, absent: None, ant: 1_784_160_000_000 };
        assert_eq!(
            serde_json::to_string(&Document::new(&body)).unwrap(),
            r#"{"zebra":1,"ant":1784160000000,"formatVersion":1}"#
        );
    }
}

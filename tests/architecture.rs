//! The arrows between the parts, read from the source: who may import whom, and who may speak SQL.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::path::Path;

/// The most lines of a file.
const MAX_LINES: usize = 500;

/// The plain types, all that the journal may know of the project.
const PLAIN: [&str; 5] = ["clock", "event", "session_key", "watch", "upstream_link"];

/// What a statement of SQL begins with, as it stands at the start of a string.
const SQL: [&str; 12] = [
    "SELECT ",
    "INSERT ",
    "UPDATE ",
    "DELETE FROM",
    "CREATE TABLE",
    "CREATE INDEX",
    "ALTER TABLE",
    "DROP TABLE",
    "PRAGMA ",
    "BEGIN IMMEDIATE",
    "WITH RECURSIVE",
    "VACUUM",
];

/// A source file, taken apart.
struct Source {
    /// Its path below `src`, with `/` between.
    path: String,
    lines: usize,
    /// The paths that its code names, such as `crate::journal::Journal`, also those from inside `use` braces.
    paths: Vec<String>,
    /// The contents of its strings.
    strings: Vec<String>,
}

/// Code without comments, and with strings replaced by `""`; and the strings.
fn strip(text: &str) -> (String, Vec<String>) {
    let chars: Vec<char> = text.chars().collect();
    let (mut code, mut strings) = (String::new(), Vec::new());
    let mut i = 0;
    while i < chars.len() {
        let rest = &chars[i..];
        let previous = code.chars().next_back().unwrap_or(' ');
        let in_word = previous.is_alphanumeric() || previous == '_';
        if rest.starts_with(&['/', '/']) {
            i += rest.iter().position(|c| *c == '\n').unwrap_or(rest.len());
        } else if rest.starts_with(&['/', '*']) {
            i += block_comment(rest);
        } else if let (false, Some((hashes, start))) = (in_word, raw_string(rest)) {
            let end: Vec<char> =
                std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
            let body = &rest[start..];
            let length =
                body.windows(end.len()).position(|window| window == end).unwrap_or(body.len());
            strings.push(body[..length].iter().collect());
            code.push_str("\"\"");
            i += start + length + end.len();
        } else if rest[0] == '"' {
            let mut length = 1;
            while length < rest.len() && rest[length] != '"' {
                length += if rest[length] == '\\' { 2 } else { 1 };
            }
            strings.push(rest[1..length.min(rest.len())].iter().collect());
            code.push_str("\"\"");
            i += length + 1;
        } else if let Some(length) = character(rest) {
            code.push_str("' '");
            i += length;
        } else {
            code.push(rest[0]);
            i += 1;
        }
    }
    (code, strings)
}

/// The length of the block comment at the start of `rest`; they nest.
fn block_comment(rest: &[char]) -> usize {
    let (mut depth, mut i) = (0, 0);
    while i < rest.len() {
        if rest[i..].starts_with(&['/', '*']) {
            depth += 1;
            i += 2;
        } else if rest[i..].starts_with(&['*', '/']) {
            depth -= 1;
            i += 2;
            if depth == 0 {
                break;
            }
        } else {
            i += 1;
        }
    }
    i
}

/// The hashes of the raw string at the start of `rest`, and where its content begins.
fn raw_string(rest: &[char]) -> Option<(usize, usize)> {
    let prefix = rest.iter().take_while(|c| matches!(c, 'b' | 'r' | 'c')).count();
    let is_raw = (1..=2).contains(&prefix) && rest[prefix - 1] == 'r';
    let hashes = rest[prefix..].iter().take_while(|c| **c == '#').count();
    (is_raw && rest.get(prefix + hashes) == Some(&'"')).then_some((hashes, prefix + hashes + 1))
}

/// The length of the character literal at the start of `rest`; a lifetime is none.
fn character(rest: &[char]) -> Option<usize> {
    match rest {
        ['\'', '\\', ..] => rest[2..].iter().skip(1).position(|c| *c == '\'').map(|end| end + 4),
        ['\'', _, '\'', ..] => Some(3),
        _ => None,
    }
}

/// The code without what is compiled for tests alone: each item behind `#[cfg(test)]`.
fn without_tests(code: &str) -> String {
    let mut out = String::new();
    let mut rest = code;
    while let Some(at) = rest.find("#[cfg(test)]") {
        out.push_str(&rest[..at]);
        let item = &rest[at..];
        let end = match (item.find('{'), item.find(';')) {
            (Some(open), semicolon) if semicolon.is_none_or(|semicolon| open < semicolon) => {
                open + block(&item[open..])
            }
            (_, Some(semicolon)) => semicolon + 1,
            _ => item.len(),
        };
        rest = &item[end..];
    }
    out.push_str(rest);
    out
}

/// The length of the block in braces at the start of `code`.
fn block(code: &str) -> usize {
    let mut depth = 0_usize;
    for (i, c) in code.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return i + 1;
        }
    }
    code.len()
}

/// The paths that code names, `use` trees laid out flat. `self` and `super` are resolved against `module`.
fn paths(code: &str, module: &[String]) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut chars = code.chars().peekable();
    while let Some(c) = chars.next() {
        if c.is_alphanumeric() || c == '_' {
            let mut word = String::from(c);
            while let Some(c) = chars.next_if(|c| c.is_alphanumeric() || *c == '_') {
                word.push(c);
            }
            tokens.push(word);
        } else if c == ':' && chars.next_if_eq(&':').is_some() {
            tokens.push("::".into());
        } else if !c.is_whitespace() {
            tokens.push(c.into());
        }
    }
    let mut found = Vec::new();
    let mut i = 0;
    while i < tokens.len() {
        if is_word(&tokens[i]) {
            i = path(&tokens, i, &[], &mut found);
        } else {
            i += 1;
        }
    }
    found.iter().map(|path| resolve(path, module)).collect()
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Reads the path at `i` behind `prefix`, and the tree in braces at its end. Returns where it ends.
fn path(tokens: &[String], mut i: usize, prefix: &[String], found: &mut Vec<Vec<String>>) -> usize {
    let mut path = prefix.to_vec();
    while let Some(token) = tokens.get(i) {
        if is_word(token) {
            path.push(token.clone());
            i += 1;
        } else if token == "{" && !path.is_empty() {
            i += 1;
            while let Some(token) = tokens.get(i).filter(|token| *token != "}") {
                i = if is_word(token) || token == "{" {
                    self::path(tokens, i, &path, found)
                } else {
                    i + 1
                };
            }
            return i + 1;
        } else {
            break;
        }
        if tokens.get(i).is_none_or(|token| token != "::") {
            break;
        }
        i += 1;
    }
    found.push(path);
    i.max(1)
}

/// A path from the root of the crate, as far as it names one: what is neither `crate`, `self` nor `super` stays.
fn resolve(path: &[String], module: &[String]) -> String {
    let rest = path.iter().skip_while(|word| matches!(word.as_str(), "self" | "super"));
    let up = path.iter().take_while(|word| *word == "super").count();
    let is_relative = matches!(path[0].as_str(), "self" | "super");
    let head: Vec<&str> = if is_relative {
        let kept = module.len().saturating_sub(up);
        std::iter::once("crate").chain(module[..kept].iter().map(String::as_str)).collect()
    } else {
        Vec::new()
    };
    let whole: Vec<_> = head.into_iter().chain(rest.map(String::as_str)).collect();
    let whole = whole.join("::");
    // `main.rs` and the tests name the library from outside.
    whole.strip_prefix("tidings::").map_or(whole.clone(), |rest| format!("crate::{rest}"))
}

impl Source {
    fn new(path: &str, text: &str) -> Self {
        let mut module: Vec<String> =
            path.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
        if matches!(module.last().map(String::as_str), Some("mod" | "lib" | "main")) {
            module.pop();
        }
        let (code, strings) = strip(text);
        let shipped = without_tests(&code);
        let strings = if shipped == code { strings } else { strings_of_shipped(text) };
        Self {
            path: path.to_owned(),
            lines: text.lines().count(),
            paths: paths(&shipped, &module),
            strings,
        }
    }

    /// Whether it lies in the part of the program named `part`.
    fn is_in(&self, part: &str) -> bool {
        self.path == format!("{part}.rs") || self.path.starts_with(&format!("{part}/"))
    }

    /// Whether its code names something at or below `path`.
    fn names(&self, path: &str) -> bool {
        self.paths.iter().any(|named| {
            named == path || named.strip_prefix(path).is_some_and(|rest| rest.starts_with("::"))
        })
    }

    fn speaks_sql(&self) -> Option<&String> {
        self.strings.iter().find(|string| {
            let string = string.trim_start();
            SQL.iter().any(|statement| string.starts_with(statement))
        })
    }
}

/// The strings outside test modules. A test module stands at the end of its file.
fn strings_of_shipped(text: &str) -> Vec<String> {
    let end = text.find("#[cfg(test)]").unwrap_or(text.len());
    strip(&text[..end]).1
}

/// What is wrong with a file.
fn violations(source: &Source) -> Vec<String> {
    let mut found = Vec::new();
    let mut forbid = |is_wrong: bool, rule: String| {
        if is_wrong {
            found.push(format!("src/{}: {rule}", source.path));
        }
    };
    let names = |what: &str| source.names(what);
    let is_in = |part: &str| source.is_in(part);

    forbid(
        source.lines > MAX_LINES,
        format!("has {} lines; look for the second reason to change", source.lines),
    );
    if !is_in("journal") {
        forbid(names("rusqlite"), "only the journal knows rusqlite".into());
        if let Some(statement) = source.speaks_sql() {
            forbid(true, format!("only the journal speaks SQL: {statement:?}"));
        }
    }
    if is_in("journal") {
        for path in source.paths.iter().filter(|path| path.starts_with("crate::")) {
            let part = path.split("::").nth(1).unwrap_or_default();
            let is_plain = part == "journal" || PLAIN.contains(&part);
            forbid(!is_plain, format!("the journal knows plain types only, not {path}"));
        }
        forbid(
            source.strings.iter().any(|string| string.contains("CREATE TABLE")),
            "tables are made in assets/schema.sql".into(),
        );
    }
    if is_in("upstream") {
        for other in ["engine", "journal", "cli", "ui", "agents", "script"] {
            forbid(names(&format!("crate::{other}")), format!("upstream knows nothing of {other}"));
        }
    }
    if is_in("ui") {
        forbid(names("crate::journal"), "ui does not know the journal".into());
    }
    if !is_in("ui") && !is_in("main") {
        forbid(names("crate::ui"), "only main.rs imports ui".into());
    }
    if is_in("ui") || is_in("engine") || is_in("upstream") {
        forbid(names("crate::cli"), "nothing below the command line knows it".into());
    }
    if !["journal", "engine", "script"].into_iter().any(is_in) {
        let opens = source.paths.iter().any(|path| path.ends_with("Journal::open"));
        forbid(opens, "the journal is opened by the engine alone".into());
    }
    if PLAIN.into_iter().any(is_in) {
        for path in source.paths.iter().filter(|path| path.starts_with("crate::")) {
            let part = path.split("::").nth(1).unwrap_or_default();
            forbid(
                !PLAIN.contains(&part),
                format!("a plain type knows plain types only, not {path}"),
            );
        }
    }
    found
}

fn sources(folder: &Path, below: &str, found: &mut Vec<Source>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let path = if below.is_empty() { name } else { format!("{below}/{name}") };
        if entry.file_type().unwrap().is_dir() {
            sources(&entry.path(), &path, found);
        } else if Path::new(&path).extension().is_some_and(|ending| ending == "rs") {
            let text = String::from_utf8(std::fs::read(entry.path()).unwrap()).unwrap();
            found.push(Source::new(&path, &text));
        }
    }
}

#[test]
fn the_arrows_hold() {
    let mut found = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), "", &mut found);
    assert!(found.iter().any(|source| source.path == "journal/append.rs"), "src was not read");
    assert!(found.iter().any(|source| source.is_in("journal") && source.speaks_sql().is_some()));
    assert!(found.iter().any(|source| source.is_in("engine") && source.names("crate::journal")));
    let violations: Vec<_> = found.iter().flat_map(violations).collect();
    assert!(violations.is_empty(), "\n{}\n", violations.join("\n"));
}

/// What the rules say about one file with `text` at `path`.
fn said(path: &str, text: &str) -> String {
    violations(&Source::new(path, text)).join("; ")
}

#[test]
fn each_rule_bites() {
    for (path, text, part) in [
        ("engine/x.rs", "use rusqlite::Connection;", "only the journal knows rusqlite"),
        (
            "cli/x.rs",
            "fn f() { rusqlite::Connection::open(p); }",
            "only the journal knows rusqlite",
        ),
        ("ui/x.rs", "use rusqlite as r;", "only the journal knows rusqlite"),
        ("cli/x.rs", "const A: &str = \"SELECT 1\";", "only the journal speaks SQL"),
        ("cli/x.rs", "const A: &str = r#\"\n  INSERT INTO t\"#;", "only the journal speaks SQL"),
        ("engine/x.rs", "const A: &str = \"CREATE TABLE t (a)\";", "only the journal speaks SQL"),
        ("journal/x.rs", "const A: &str = \"CREATE TABLE t (a)\";", "assets/schema.sql"),
        (
            "journal/x.rs",
            "use crate::engine::Engine;",
            "plain types only, not crate::engine::Engine",
        ),
        (
            "journal/x.rs",
            "use crate::{clock::Millis, upstream::{echo, Probe}};",
            "not crate::upstream::echo",
        ),
        ("journal/x.rs", "fn f(a: crate::config::Config) {}", "not crate::config::Config"),
        ("journal/x.rs", "use super::super::engine;", "not crate::engine"),
        (
            "upstream/claude/x.rs",
            "use crate::journal::Journal;",
            "upstream knows nothing of journal",
        ),
        ("upstream/mod.rs", "use super::engine::Engine;", "upstream knows nothing of engine"),
        ("ui/x.rs", "use crate::{event, journal::append};", "ui does not know the journal"),
        (
            "ui/panes/x.rs",
            "fn f() -> super::super::super::journal::Journal {}",
            "ui does not know the journal",
        ),
        ("cli/run.rs", "use crate::ui;", "only main.rs imports ui"),
        ("engine/x.rs", "type A = crate::ui::Model;", "only main.rs imports ui"),
        ("engine/x.rs", "use crate::cli::Args;", "nothing below the command line"),
        ("cli/x.rs", "fn f() { Journal::open(p, 0); }", "opened by the engine alone"),
        (
            "cli/x.rs",
            "fn f() { crate::journal::Journal::open(p, 0); }",
            "opened by the engine alone",
        ),
        ("event.rs", "use crate::engine::Engine;", "plain types only"),
    ] {
        assert!(said(path, text).contains(part), "{path}: {text}: {}", said(path, text));
    }
    assert!(said("engine/x.rs", &"\n".repeat(MAX_LINES + 1)).contains("501 lines"));
}

#[test]
fn what_only_looks_like_a_violation_is_none() {
    for (path, text) in [
        ("main.rs", "use tidings::ui; fn main() { tidings::cli::run(); }"),
        ("engine/x.rs", "// use rusqlite::Connection;\n/* a /* nested */ rusqlite::x */ fn f() {}"),
        ("engine/x.rs", "const A: &str = \"rusqlite::Connection is not here, nor a \\\" SELECT\";"),
        ("engine/x.rs", "const A: char = '\"'; fn f<'a>(b: &'a str) {} const B: char = '\\'';"),
        (
            "journal/x.rs",
            "use super::rows; use self::y::Z; use crate::{clock::Millis, event::{Event, Sequence}};",
        ),
        ("journal/x.rs", "const A: &str = \"SELECT 1\"; use rusqlite::params;"),
        ("upstream/x.rs", "use crate::upstream_link::UpstreamLink; use crate::engineer;"),
        ("ui/x.rs", "use crate::engine::snapshot::JournalRow; let journal = row.journal;"),
        (
            "engine/x.rs",
            "fn f() {} #[cfg(test)] mod tests { use rusqlite::Connection; const A: &str = \"SELECT 1\"; }",
        ),
        ("cli/x.rs", "const HELP: &str = \"Select a session. UPDATE\";"),
    ] {
        assert_eq!(said(path, text), "", "{path}: {text}");
    }
}

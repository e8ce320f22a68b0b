//! Answers one probe: reads one window of a transcript and counts its human turns; follows the transcript where it went.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::marker::{Agents, Marker};
use super::moved::{self, Found};
use super::pairing::Rows;
use super::place::kind_of;
use super::{ClaudeProvider, HOST, KIND, agents, continued, copies, facts, retention};
use crate::clock::Millis;
use crate::upstream::files::place::{Closed, Stat, look, open_real};
use crate::upstream::files::reader::{Stretch, read_rows};
use crate::upstream::files::row::Decide as _;
use crate::upstream::files::window::{Count, dedupe_id};
use crate::upstream::{
    Absence, Cause, Fact, Finding, GoesOn, Held, Probe, Provider as _, Turn, Window,
};

/// Where one read begins and by which rules.
struct Start {
    offset: u64,
    reread: bool,
    replaced: Option<&'static str>,
}

/// One transcript that is asked about.
struct Asked<'a> {
    probe: &'a Probe,
    provider: &'a ClaudeProvider,
    path: PathBuf,
    marker: Marker,
}

/// Answers `probe`.
pub(super) fn answer(probe: &Probe, provider: &ClaudeProvider) -> Finding {
    let (path, marker) = match target(probe) {
        Ok(target) => target,
        Err(reason) => return Finding::Invalid(reason),
    };
    let asked = Asked { probe, provider, path, marker };
    match asked.find() {
        Ok(finding) => finding,
        Err(Closed::Missing(_)) => Finding::Missing,
        Err(Closed::Unreadable(error)) => {
            Finding::Unreadable(format!("reading {}: {error}", asked.path.display()))
        }
    }
}

fn target(probe: &Probe) -> Result<(PathBuf, Marker), String> {
    let link = &probe.link;
    if link.kind != KIND || link.host != HOST {
        return Err(format!("a {KIND} link lies at {HOST}; adopt the session again"));
    }
    let reference = link.reference_json();
    let path = reference
        .as_ref()
        .and_then(|reference| reference.get("filePath"))
        .and_then(Value::as_str)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .ok_or("the link names no absolute file path; adopt the session again")?;
    let marker = Marker::parse(&link.marker_json().unwrap_or(Value::Null))?;
    Ok((path, marker))
}

impl Asked<'_> {
    fn find(&self) -> Result<Finding, Closed> {
        if let Some(finding) = self.rest_of_deleted()? {
            return Ok(finding);
        }
        let is_gone = |closed: &Closed| match closed {
            Closed::Missing(error) => error.kind() == io::ErrorKind::NotFound,
            Closed::Unreadable(_) => false,
        };
        let found = look(&self.path).and_then(|stat| {
            if self.marker.is_quiet(&stat) {
                return self.quiet(&stat);
            }
            match self.read()? {
                // What another session says must not be lost because of half a row here.
                Finding::Quiet if self.cleared_to().is_some() => self.quiet(&stat),
                finding => Ok(finding),
            }
        });
        match found {
            Err(closed) if is_gone(&closed) => self.lost(),
            found => found,
        }
    }

    /// The transcript itself has nothing new.
    fn quiet(&self, stat: &Stat) -> Result<Finding, Closed> {
        if let Some(thread) = &self.marker.continued_in
            && let Some(path) = self.file_of(thread)?
        {
            return Ok(Finding::Read(Window {
                next_marker: Marker::unread(0, true).to_json(),
                goes_on: moved(thread, &path),
                more: true,
                ..Window::default()
            }));
        }
        let mut marker = self.marker.clone();
        let mut facts = Vec::new();
        if self.probe.cause != Cause::Tick || !marker.agents.open.is_empty() {
            (facts, marker.agents) = self.agents(stat)?;
        }
        if let Some(thread) = self.cleared_to() {
            marker.cleared_to = Some(thread.to_owned());
        }
        let elsewhere = marker.continued_in.as_ref().or(marker.cleared_to.as_ref());
        let elsewhere = elsewhere.map(|thread| goes_on_as(thread));
        let is_known = marker.agents.open == self.marker.agents.open
            && marker.cleared_to == self.marker.cleared_to;
        Ok(match elsewhere {
            elsewhere if !facts.is_empty() || !is_known => Finding::Read(Window {
                next_marker: marker.to_json(),
                facts,
                goes_on: elsewhere.map(|detail| Box::new(GoesOn::Elsewhere(detail))),
                ..Window::default()
            }),
            Some(detail) => Finding::Elsewhere(detail),
            None => missed(marker.missed_behind).map_or(Finding::Quiet, Finding::QuietBut),
        })
    }

    fn read(&self) -> Result<Finding, Closed> {
        let (file, stat) = open_real(&self.path)?;
        let replaced = self.marker.change(&file, &stat)?;
        self.read_open(&self.path, &file, &stat, replaced)
    }

    fn read_open(
        &self,
        path: &Path,
        file: &File,
        stat: &Stat,
        replaced: Option<&'static str>,
    ) -> Result<Finding, Closed> {
        let marker = &self.marker;
        let from = match replaced {
            Some(_) => Start { offset: 0, reread: true, replaced },
            None => Start { offset: marker.offset, reread: marker.reread, replaced },
        };
        let frontiers = &self.provider.frontiers;
        let known = frontiers.known(path, stat, from.offset);
        let stretch = read_rows(file, from.offset, known, self.provider.max_row_bytes)?;
        let unfinished = match stretch {
            Stretch::Partial { bytes } | Stretch::Blocked { bytes } => Some(from.offset + bytes),
            Stretch::Nothing | Stretch::Rows { .. } => None,
        };
        frontiers.keep(path, stat, from.offset, unfinished);
        Ok(match stretch {
            Stretch::Blocked { bytes } => Finding::Blocked { bytes, offset: from.offset },
            Stretch::Rows { bytes, more } => {
                Finding::Read(self.window(path, file, &from, &bytes, more)?)
            }
            Stretch::Nothing | Stretch::Partial { .. } if replaced.is_some() => {
                Finding::Read(self.window(path, file, &from, &[], false)?)
            }
            Stretch::Nothing | Stretch::Partial { .. } => Finding::Quiet,
        })
    }

    /// What `bytes`, whole rows from the start on, hold.
    fn window(
        &self,
        path: &Path,
        file: &File,
        from: &Start,
        bytes: &[u8],
        more: bool,
    ) -> io::Result<Window> {
        let probe = self.probe;
        let next = from.offset + bytes.len() as u64;
        // Looked at after reading: a change that was read must not look like one that was not.
        let stat = Stat::of(&file.metadata()?);
        let mut count = Count::new(probe, stat.modified, from.reread);
        let mut decide = Rows::new(kind_of(path));
        count.rows(bytes, from.offset, &mut decide);
        decide.finish(&mut |row, ()| count.row(&row));
        let (echoes, malformed) = (count.echoes, count.malformed);
        let mut turns = count.into_turns();
        let not_before = from.reread.then_some(probe.link.created_at);
        let mut told = facts::told(bytes, stat.modified, not_before);
        self.drop_copies(path, &mut turns, &mut told.facts);
        let dedupe_id = dedupe_id(next, from.reread, &stat, &turns);

        let mut marker = Marker::at(next, from.reread, file, &stat)?;
        let mut facts = told.facts;
        let (of_agents, agents) = self.agents(&stat)?;
        facts.extend(of_agents);
        facts.sort_by_key(|fact| fact.at);
        marker.agents = agents;
        marker.missed_behind = match from.replaced {
            Some(_) if !self.marker.ended => Some(self.marker.offset),
            _ => self.marker.missed_behind,
        };
        marker.continued_in = told.continued_in;
        marker.cleared_to = self.cleared_to().map(str::to_owned);
        let is_beginning = from.offset < continued::HEAD;
        let continues = if is_beginning { self.provider.continues(path) } else { None };
        let elsewhere = marker
            .cleared_to
            .as_ref()
            .map(|thread| Box::new(GoesOn::Elsewhere(goes_on_as(thread))));
        let goes_on = match &marker.continued_in {
            Some(thread) => self.file_of(thread)?.is_some(),
            None => false,
        };
        Ok(Window {
            turns,
            echoes,
            malformed,
            next_marker: marker.to_json(),
            dedupe_id,
            replaced: from.replaced.map(str::to_owned),
            more: (more && stat.size > next) || goes_on,
            facts,
            goes_on: elsewhere,
            continues: continues.map(Box::new),
            note: missed(marker.missed_behind),
        })
    }

    /// Drops what is older than the adoption and belongs to another session.
    fn drop_copies(&self, path: &Path, turns: &mut Vec<Turn>, facts: &mut Vec<Fact>) {
        let is_old = |at: Millis| at < self.probe.link.created_at;
        let of_turns = turns.iter().filter_map(|turn| turn.id.map(|id| (id, turn.at)));
        let of_facts = facts.iter().map(|fact| (fact.id, fact.at));
        let old: Vec<_> = of_turns.chain(of_facts).filter(|(_, at)| is_old(*at)).collect();
        let Some(oldest) = old.iter().map(|(_, at)| *at).min() else { return };
        let asked = old.into_iter().map(|(id, _)| id).collect();
        let copies = copies::among(path, &asked, oldest, self.provider.max_row_bytes);
        turns.retain(|turn| turn.id.is_none_or(|id| !copies.contains(&id)));
        facts.retain(|fact| !copies.contains(&fact.id));
    }

    /// The session that says of itself that it began when this one was cleared, when that is why it is asked.
    fn cleared_to(&self) -> Option<&str> {
        match &self.probe.cause {
            Cause::Continued { thread } => Some(thread),
            Cause::Tick | Cause::Touched => None,
        }
    }

    fn agents(&self, stat: &Stat) -> io::Result<(Vec<Fact>, Agents)> {
        let adopted = self.probe.link.created_at;
        let (known, births) = (&self.marker.agents, &self.provider.births);
        agents::look(&self.path, stat.modified, adopted, known, births)
    }

    /// The file of another session of the same program, beside this one or, when it is the only one, in another project.
    fn file_of(&self, thread: &str) -> io::Result<Option<PathBuf>> {
        let beside = self.path.with_file_name(format!("{thread}.jsonl"));
        if beside.to_str().is_some() && look(&beside).is_ok() {
            return Ok(Some(beside));
        }
        let mut found = moved::named(&self.provider.projects, &beside)?;
        Ok(if found.len() == 1 { found.pop() } else { None })
    }

    /// What lay here when it was touched, and was deleted since. A harness that has its transcript deleted under it begins
    /// another one in its place (`observed.md` 1, trap 1).
    fn rest_of_deleted(&self) -> Result<Option<Finding>, Closed> {
        let (Some(Held(file)), Some(identity)) = (&self.probe.held, &self.marker.file) else {
            return Ok(None);
        };
        let meta = file.metadata()?;
        let stat = Stat::of(&meta);
        let is_there = match look(&self.path) {
            Ok(there) => (there.device, there.inode) == (stat.device, stat.inode),
            // It was moved, and is found where it is.
            Err(_) => meta.nlink() > 0,
        };
        if is_there || (self.marker.ended && identity.is_file(&stat)) {
            return Ok(None);
        }
        let replaced = self.marker.change(&**file, &stat)?;
        let mut window = match self.read_open(&self.path, file, &stat, replaced)? {
            Finding::Read(window) => window,
            Finding::Quiet => self.nothing_more(&self.path, file)?,
            finding => return Ok(Some(finding)),
        };
        if !window.more {
            window.next_marker["ended"] = Value::Bool(true);
        }
        // What lies in its place is looked at next.
        Ok(Some(Finding::Read(Window { more: true, ..window })))
    }

    /// That nothing lies behind where `file`, at `path`, was read to.
    fn nothing_more(&self, path: &Path, file: &File) -> io::Result<Window> {
        let Marker { offset, reread, .. } = self.marker;
        self.window(path, file, &Start { offset, reread, replaced: None }, &[], false)
    }

    /// Nothing lies where the transcript was.
    fn lost(&self) -> Result<Finding, Closed> {
        let path = match moved::find(&self.provider.projects, &self.path, &self.marker)? {
            Found::Here(path) => path,
            Found::Uncertain(paths) => {
                let places: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
                return Ok(Finding::Elsewhere(format!(
                    "a file of this session lies at {}, but it is not certain that it is the one that was read; adopt it by its path",
                    places.join(" and ")
                )));
            }
            Found::Nowhere => {
                return Ok(self.marker.file.as_ref().map_or(Finding::Missing, |file| {
                    let kept = Some(retention::kept(&self.provider.projects));
                    let read_to = (!self.marker.ended).then_some(self.marker.offset);
                    Finding::Gone(Absence { last_written: file.modified, kept, read_to })
                }));
            }
        };
        let (file, stat) = open_real(&path)?;
        // It is the file that was read, under another number perhaps, so it is read on and not again.
        let window = match self.read_open(&path, &file, &stat, None)? {
            Finding::Read(window) => window,
            Finding::Quiet => self.nothing_more(&path, &file)?,
            finding => return Ok(finding),
        };
        let goes_on = moved(&self.probe.link.thread, &path);
        Ok(Finding::Read(Window { goes_on, ..window }))
    }
}

/// What is not known of an earlier state of the file, which was read up to this byte.
fn missed(behind: Option<u64>) -> Option<String> {
    let behind = behind?;
    Some(format!(
        "what an earlier state of the file may have held behind byte {behind} was not read"
    ))
}

fn goes_on_as(thread: &str) -> String {
    format!("it goes on as {thread}, which is followed once it is adopted")
}

/// That the session goes on in another file.
fn moved(thread: &str, path: &Path) -> Option<Box<GoesOn>> {
    let reference = json!({ "filePath": path.to_str()? });
    Some(Box::new(GoesOn::Moved { thread: thread.to_owned(), reference }))
}

//! The threads of this machine: one entry a thread, whatever files it is in, archived and compressed ones too.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use super::describe::{Description, describe, titles};
use super::marker::Marker;
use super::name::{Name, is_transcript};
use super::place::{Place, Root};
use super::rebuild::state_at;
use super::source::{Opened, Rollout};
use super::tree::Trees;
use super::{CATALOG, HOST, KIND};
use crate::upstream::files::described::Described;
use crate::upstream::files::place::{Stat, unsuitable};
use crate::upstream::files::reader::last_row_end;
use crate::upstream::{Baseline, CatalogEntry, Listing, UpstreamError};

/// How many threads that begin alike are looked into for those that can be adopted.
const ALIKE: usize = 64;

/// The newest file of each thread, and what was passed over and why.
struct Threads {
    newest: Vec<(String, PathBuf)>,
    skipped: Vec<(PathBuf, String)>,
}

/// Lists the threads below `home`, newest first. Without the folders there are none.
pub(super) fn list(
    home: &Path,
    trees: &Trees,
    described: &Described<Description>,
) -> Result<Listing, UpstreamError> {
    let Threads { newest, mut skipped } = threads(home, trees)?;
    let titles = titles(home).unwrap_or_else(|error| {
        skipped.push((home.join("session_index.jsonl"), error.to_string()));
        HashMap::new()
    });
    let mut entries = Vec::with_capacity(newest.len());
    let mut known = HashMap::with_capacity(newest.len());
    for (thread, path) in newest {
        match described_at(&path, |stat| described.get(&path, stat)) {
            Ok((stat, description)) => {
                match entry(Some(&thread), &path, &stat, &description) {
                    Ok(entry) => {
                        entries.push(CatalogEntry { title: titles.get(&thread).cloned(), ..entry });
                    }
                    Err(reason) => skipped.push((path.clone(), reason.to_owned())),
                }
                known.insert(path, (stat, description));
            }
            Err(UpstreamError::Unsuitable { reason, .. }) => skipped.push((path, reason)),
            Err(UpstreamError::Io { source, .. }) => skipped.push((path, source.to_string())),
            Err(error) => skipped.push((path, error.to_string())),
        }
    }
    described.replace(known);
    entries.sort_by(|a, b| b.modified_at.cmp(&a.modified_at).then_with(|| a.path.cmp(&b.path)));
    Ok(Listing { entries, skipped })
}

/// Finds what `wanted` names: a file by its path, wherever it lies, or a thread of the catalog by its id or the beginning of
/// it. An id that is whole wins over those that it begins. Of a thread in several files, the newest is taken.
pub(super) fn baseline(
    home: &Path,
    trees: &Trees,
    wanted: &str,
    max_row_bytes: u64,
) -> Result<Baseline, UpstreamError> {
    let is_path = wanted.contains('/') || is_transcript(wanted);
    let given = if is_path {
        let path = Path::new(wanted);
        path.canonicalize().map_err(|source| UpstreamError::Io { path: path.to_owned(), source })?
    } else {
        by_id(home, trees, wanted)?
    };
    let (stat, description) = described_at(&given, |_| None)?;
    let name = Name::of(&given);
    let known = entry(name.as_ref().map(|name| name.thread.as_str()), &given, &stat, &description)
        .map_err(|reason| refused(&given, reason))?;
    let place = Place { root: Root::of(&given, home), thread: known.thread };
    let io = |source| UpstreamError::Io { path: given.clone(), source };
    let files = trees.files_now(&place).map_err(io)?;
    let path = files.newest().map_or_else(|| given.clone(), |file| file.path.clone());
    let title = titles(home).unwrap_or_default().remove(&place.thread);
    at_end(&path, &place, title, max_row_bytes)
}

/// The baseline at the present end of the file at `path`.
fn at_end(
    path: &Path,
    place: &Place,
    title: Option<String>,
    max_row_bytes: u64,
) -> Result<Baseline, UpstreamError> {
    let io = |source| UpstreamError::Io { path: path.to_owned(), source };
    let (rollout, stat) =
        Rollout::open_real(path).map_err(|closed| unsuitable(path.to_owned(), closed))?;
    let description = describe(&rollout).map_err(io)?;
    let entry = entry(Some(&place.thread), path, &stat, &description)
        .map_err(|reason| refused(path, reason))?;
    let end = rollout.size().and_then(|size| last_row_end(&rollout, size)).map_err(io)?;
    let state = state_at(&rollout, end, max_row_bytes).map_err(io)?;
    let opened = Opened { path, rollout: &rollout, stat: &stat };
    let marker = Marker::at(end, &opened, &[], state).map_err(io)?;
    let reference = place.to_json().filter(|_| path.to_str().is_some());
    Ok(Baseline {
        entry: CatalogEntry { title, ..entry },
        host: HOST.to_owned(),
        kind: KIND.to_owned(),
        reference: reference.ok_or_else(|| {
            refused(path, "its path is not UTF-8, and could not be kept; move it")
        })?,
        marker: marker.to_json(),
    })
}

fn by_id(home: &Path, trees: &Trees, wanted: &str) -> Result<PathBuf, UpstreamError> {
    let Threads { newest, skipped } = threads(home, trees)?;
    if let Some((_, path)) = newest.iter().find(|(thread, _)| thread == wanted) {
        return Ok(path.clone());
    }
    let mut alike: Vec<&PathBuf> = newest
        .iter()
        .filter(|(thread, _)| !wanted.is_empty() && thread.starts_with(wanted))
        .map(|(_, path)| path)
        .collect();
    if (2..=ALIKE).contains(&alike.len()) {
        // Ids begin with their time, so a session and its sub-agents often begin alike; only the session can be meant.
        let is_agent = |path: &Path| {
            described_at(path, |_| None).is_ok_and(|(_, description)| description.is_agent)
        };
        let sessions: Vec<_> = alike.iter().copied().filter(|path| !is_agent(path)).collect();
        if !sessions.is_empty() {
            alike = sessions;
        }
    }
    match alike[..] {
        [path] => Ok(path.clone()),
        [] => Err(skipped
            .into_iter()
            .find(|(path, _)| {
                Name::of(path)
                    .is_some_and(|name| !wanted.is_empty() && name.thread.starts_with(wanted))
            })
            .map_or_else(
                || UpstreamError::NotFound {
                    catalog: CATALOG.to_owned(),
                    wanted: wanted.to_owned(),
                },
                |(path, reason)| UpstreamError::Unsuitable { path, reason },
            )),
        _ => Err(UpstreamError::Ambiguous {
            catalog: CATALOG.to_owned(),
            wanted: wanted.to_owned(),
            count: alike.len(),
        }),
    }
}

fn threads(home: &Path, trees: &Trees) -> Result<Threads, UpstreamError> {
    let io = |source| UpstreamError::Io { path: home.to_owned(), source };
    let root = Root::Home(home.canonicalize().unwrap_or_else(|_| home.to_owned()));
    let tree = trees.of(&root);
    let mut tree = tree.lock().unwrap_or_else(PoisonError::into_inner);
    tree.walk(&root).map_err(io)?;
    let newest = tree
        .threads()
        .filter_map(|(thread, files)| Some((thread.clone(), files.newest()?.path.clone())))
        .collect();
    Ok(Threads { newest, skipped: tree.skipped().collect() })
}

fn described_at(
    path: &Path,
    known: impl FnOnce(&Stat) -> Option<Description>,
) -> Result<(Stat, Description), UpstreamError> {
    let io = |source| UpstreamError::Io { path: path.to_owned(), source };
    let meta = path.symlink_metadata().map_err(io)?;
    let stat = Stat::of(&meta);
    if let Some(description) = known(&stat) {
        return Ok((stat, description));
    }
    let (rollout, stat) =
        Rollout::open(path).map_err(|closed| unsuitable(path.to_owned(), closed))?;
    Ok((stat, describe(&rollout).map_err(io)?))
}

/// The entry of a thread without its title; `Err` says why it can't be adopted. `thread` is the id in the file's name.
fn entry(
    thread: Option<&str>,
    path: &Path,
    stat: &Stat,
    description: &Description,
) -> Result<CatalogEntry, &'static str> {
    if description.is_foreign {
        return Err("it is not a Codex rollout");
    }
    if description.is_agent {
        return Err("it is a sub-agent's thread; adopt the session that started the sub-agent");
    }
    let stem = || path.file_name().and_then(|name| name.to_str()?.split('.').next());
    let thread = thread.or(description.thread.as_deref()).or_else(stem).unwrap_or_default();
    Ok(CatalogEntry {
        catalog: CATALOG.to_owned(),
        thread: thread.to_owned(),
        path: path.to_owned(),
        title: None,
        project: description.project.clone(),
        version: description.version.clone(),
        entry_point: description.entry_point.clone(),
        modified_at: stat.modified,
        size: stat.size,
    })
}

fn refused(path: &Path, reason: &str) -> UpstreamError {
    UpstreamError::Unsuitable { path: path.to_owned(), reason: reason.to_owned() }
}

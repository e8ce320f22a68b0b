//! The sessions of this machine: walks `projects/*/*.jsonl`, following no link.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{DirEntry, File};
use std::io;
use std::path::{Path, PathBuf};

use super::classify::FileKind;
use super::describe::{Description, describe};
use super::marker::Marker;
use super::place::kind_of;
use super::{CATALOG, HOST, KIND, facts};
use crate::upstream::files::described::Described;
use crate::upstream::files::place::{Stat, open, unsuitable};
use crate::upstream::files::reader::{last_row_end, slice};
use crate::upstream::{Baseline, CatalogEntry, Listing, UpstreamError};

/// How much of a transcript's end is looked at for where the session goes on, in bytes.
const TAIL: u64 = 64 * 1024;

/// Files that may be sessions, and what was passed over and why.
#[derive(Default)]
struct Walk {
    files: Vec<PathBuf>,
    skipped: Vec<(PathBuf, String)>,
}

/// Lists the sessions below `projects`, newest first. Without the folder there are none.
pub(super) fn list(
    projects: &Path,
    described: &Described<Description>,
) -> Result<Listing, UpstreamError> {
    let Walk { files, mut skipped } = walk(projects)?;
    let mut entries = Vec::with_capacity(files.len());
    let mut known = HashMap::with_capacity(files.len());
    for path in files {
        let found = described_at(&path, |stat| described.get(&path, stat));
        let listed = found.and_then(|found| {
            let entry = entry(&path, &found);
            known.insert(path.clone(), found);
            entry
        });
        match listed {
            Ok(entry) => entries.push(entry),
            Err(UpstreamError::Unsuitable { reason, .. }) => skipped.push((path, reason)),
            Err(UpstreamError::Io { source, .. }) => skipped.push((path, source.to_string())),
            Err(error) => skipped.push((path, error.to_string())),
        }
    }
    described.replace(known);
    entries.sort_by(|a, b| b.modified_at.cmp(&a.modified_at).then_with(|| a.path.cmp(&b.path)));
    Ok(Listing { entries, skipped })
}

/// Finds what `wanted` names: a file by its path, wherever it lies, or a session of the catalog by its id or the
/// beginning of it. An id that is whole wins over those that it begins.
pub(super) fn baseline(projects: &Path, wanted: &str) -> Result<Baseline, UpstreamError> {
    let is_path =
        wanted.contains('/') || Path::new(wanted).extension() == Some(OsStr::new("jsonl"));
    let path = if is_path { given(Path::new(wanted))? } else { by_id(projects, wanted)? };
    let entry = entry(&path, &described_at(&path, |_| None)?)?;
    let io = |source| UpstreamError::Io { path: path.clone(), source };
    let (file, stat) = open(&path).map_err(|closed| unsuitable(path.clone(), closed))?;
    let end = last_row_end(&file, stat.size).map_err(io)?;
    let mut marker = Marker::at(end, false, &file, &stat).map_err(io)?;
    // One that ended before is followed to where it says that it goes on.
    marker.continued_in = facts::ends_continued(&last_rows(&file, end).map_err(io)?);
    let Some(text) = path.to_str() else {
        let reason = "its path is not UTF-8, and could not be kept; move it".to_owned();
        return Err(UpstreamError::Unsuitable { path, reason });
    };
    Ok(Baseline {
        entry,
        host: HOST.to_owned(),
        kind: KIND.to_owned(),
        reference: serde_json::json!({ "filePath": text }),
        marker: marker.to_json(),
    })
}

/// The whole rows before `end`, itself the end of one, as far as the last bytes hold them.
fn last_rows(file: &File, end: u64) -> io::Result<Vec<u8>> {
    let start = end.saturating_sub(TAIL);
    let mut bytes = slice(file, start, end - start)?;
    if start > 0 {
        let first = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
        bytes.drain(..first);
    }
    Ok(bytes)
}

fn given(path: &Path) -> Result<PathBuf, UpstreamError> {
    refuse_by_path(path)?;
    path.canonicalize().map_err(|source| UpstreamError::Io { path: path.to_owned(), source })
}

fn by_id(projects: &Path, wanted: &str) -> Result<PathBuf, UpstreamError> {
    let Walk { files, skipped } = walk(projects)?;
    let matching = |is_match: &dyn Fn(&str) -> bool| -> Vec<&PathBuf> {
        files.iter().filter(|path| is_match(&thread_of(path))).collect()
    };
    let mut found = matching(&|thread| thread == wanted);
    if found.is_empty() && !wanted.is_empty() {
        found = matching(&|thread| thread.starts_with(wanted));
    }
    match found[..] {
        [path] => Ok(path.clone()),
        [] => Err(skipped
            .into_iter()
            .find(|(path, _)| !wanted.is_empty() && thread_of(path).starts_with(wanted))
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
            count: found.len(),
        }),
    }
}

fn thread_of(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn described_at(
    path: &Path,
    known: impl FnOnce(&Stat) -> Option<Description>,
) -> Result<(Stat, Description), UpstreamError> {
    refuse_by_path(path)?;
    let io = |source| UpstreamError::Io { path: path.to_owned(), source };
    let meta = path.symlink_metadata().map_err(io)?;
    if let Some(description) = known(&Stat::of(&meta)) {
        return Ok((Stat::of(&meta), description));
    }
    let (file, stat) = open(path).map_err(|closed| unsuitable(path.to_owned(), closed))?;
    Ok((stat, describe(&file, stat.size).map_err(io)?))
}

fn entry(
    path: &Path,
    (stat, description): &(Stat, Description),
) -> Result<CatalogEntry, UpstreamError> {
    if description.is_foreign {
        return Err(refused(path, "it is not a Claude Code transcript"));
    }
    Ok(CatalogEntry {
        catalog: CATALOG.to_owned(),
        thread: thread_of(path),
        path: path.to_owned(),
        title: description.title.clone(),
        project: description.project.clone(),
        version: description.version.clone(),
        entry_point: description.entry_point.clone(),
        modified_at: stat.modified,
        size: stat.size,
    })
}

fn refuse_by_path(path: &Path) -> Result<(), UpstreamError> {
    match kind_of(path) {
        FileKind::Session => Ok(()),
        FileKind::Agent => Err(refused(
            path,
            "it is a sub-agent's file; adopt the session that started the sub-agent",
        )),
        FileKind::History => {
            Err(refused(path, "it is the log of typed input over all projects, not a transcript"))
        }
    }
}

fn refused(path: &Path, reason: &str) -> UpstreamError {
    UpstreamError::Unsuitable { path: path.to_owned(), reason: reason.to_owned() }
}

fn walk(projects: &Path) -> Result<Walk, UpstreamError> {
    let mut walk = Walk::default();
    let root = match projects.canonicalize() {
        Ok(root) => root,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(walk),
        Err(source) => return Err(UpstreamError::Io { path: projects.to_owned(), source }),
    };
    let folders =
        children(&root).map_err(|source| UpstreamError::Io { path: root.clone(), source })?;
    for folder in folders {
        let path = folder.path();
        match folder.file_type() {
            Ok(kind) if kind.is_dir() => walk.folder(&root, &path),
            Ok(kind) if kind.is_symlink() && path.is_dir() => walk.link(&root, path),
            Ok(_) => {}
            Err(error) => walk.skipped.push((path, error.to_string())),
        }
    }
    Ok(walk)
}

fn children(folder: &Path) -> io::Result<Vec<DirEntry>> {
    folder.read_dir()?.collect()
}

impl Walk {
    fn folder(&mut self, root: &Path, folder: &Path) {
        let files = match children(folder) {
            Ok(files) => files,
            Err(error) => return self.skipped.push((folder.to_owned(), error.to_string())),
        };
        for file in files {
            let path = file.path();
            // Sub-agents' files may be a hundred thousand; they are no sessions, and naming each would help nobody.
            if path.extension() != Some(OsStr::new("jsonl")) || kind_of(&path) == FileKind::Agent {
                continue;
            }
            match file.file_type() {
                Ok(kind) if kind.is_file() => self.files.push(path),
                Ok(kind) if kind.is_symlink() => self.link(root, path),
                Ok(_) => self.skipped.push((path, "it is not a regular file".to_owned())),
                Err(error) => self.skipped.push((path, error.to_string())),
            }
        }
    }

    fn link(&mut self, root: &Path, path: PathBuf) {
        let reason = match path.canonicalize() {
            Ok(real) if real.starts_with(root) => {
                "it is a link to something that is listed where it lies".to_owned()
            }
            Ok(_) => "it is a link that leaves the folder of transcripts".to_owned(),
            Err(error) => error.to_string(),
        };
        self.skipped.push((path, reason));
    }
}

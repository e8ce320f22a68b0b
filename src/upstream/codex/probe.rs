//! Answers one probe: finds the file that the thread is in now, reads one window of it and counts its human turns.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::marker::Marker;
use super::name::{Name, Segment};
use super::place::Place;
use super::reading::Reading;
use super::rebuild::state_at;
use super::source::{Opened, Rollout};
use super::state::State;
use super::tree::{ThreadFiles, Trees};
use super::{HOST, KIND};
use crate::upstream::files::frontier::Frontiers;
use crate::upstream::files::place::{Closed, Stat, look};
use crate::upstream::files::reader::{Stretch, read_rows};
use crate::upstream::files::window::{Count, dedupe_id};
use crate::upstream::{ARCHIVED, Absence, Finding, Held, Probe, Window};

/// How often a thread is looked for before it counts as gone: it may be moving from folder to folder meanwhile.
const LOOKS: usize = 3;

/// How many compressed files are kept open where their last window ended.
const STREAMS: usize = 2;

/// What is kept between probes. It only saves work.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub(super) trees: Trees,
    frontiers: Frontiers,
    streams: Mutex<Vec<(PathBuf, Stat, Rollout)>>,
}

/// Answers `probe`; rows longer than `max_row_bytes` block.
pub(super) fn answer(probe: &Probe, max_row_bytes: u64, kept: &Kept) -> Finding {
    let link = &probe.link;
    if link.kind != KIND || link.host != HOST {
        return Finding::Invalid(format!("a {KIND} link lies at {HOST}; adopt the session again"));
    }
    let marker = Marker::parse(&link.marker_json().unwrap_or_default());
    let (place, marker) = match (Place::parse(link.reference_json().as_ref()), marker) {
        (Ok(place), Ok(marker)) => (place, marker),
        (Err(reason), _) | (_, Err(reason)) => return Finding::Invalid(reason),
    };
    let follower = Follower { probe, place: &place, max_row_bytes, kept };
    for _ in 0..LOOKS {
        match follower.follow(&marker) {
            Ok(finding) => return finding,
            Err(Closed::Missing(_)) => {}
            Err(Closed::Unreadable(error)) => {
                return Finding::Unreadable(format!("reading {}: {error}", marker.path.display()));
            }
        }
    }
    match follower.rest_of_deleted(&marker) {
        Ok(Some(rest)) => Finding::Read(*rest),
        // A program that has it open goes on with it, which nobody else sees (`observed.md` 1, trap 1).
        Ok(None) => marker.file.as_ref().map_or(Finding::Missing, |file| {
            let (last_written, read_to) = (file.modified, Some(marker.offset));
            Finding::Gone(Absence { last_written, kept: None, read_to })
        }),
        Err(error) => Finding::Unreadable(format!("reading {}: {error}", marker.path.display())),
    }
}

struct Follower<'a> {
    probe: &'a Probe,
    place: &'a Place,
    max_row_bytes: u64,
    kept: &'a Kept,
}

/// What one file holds behind a marker.
enum Behind {
    /// Whole rows.
    Read(Box<Window>),
    /// A row over the limit.
    Blocked {
        /// Bytes known of it so far.
        bytes: u64,
        /// Where it begins.
        offset: u64,
    },
    /// No whole row.
    Nothing {
        /// What to tell all the same: it is another file than before.
        moved: Option<Box<Window>>,
        /// Whether a half row at its end has grown since it was last seen.
        grows: bool,
    },
}

/// Where one read begins and by which rules.
struct Start {
    offset: u64,
    reread: bool,
    undated_to: Option<u64>,
    replaced: Option<&'static str>,
    state: State,
}

impl Follower<'_> {
    fn follow(&self, marker: &Marker) -> Result<Finding, Closed> {
        let link = &self.probe.link;
        let segment = segment_of(&marker.path);
        let looked = look(&marker.path);
        let known = self.kept.trees.files(self.place, &format!("{}\n{}", link.session, link.agent));
        match looked {
            Ok(stat) => {
                let files = known.unwrap_or_default();
                let path = unpacked(marker, &files, &segment);
                let is_quiet = path == marker.path && marker.is_quiet(&stat);
                if is_quiet && files.after(&segment).is_none() {
                    return Ok(self.nothing_new(&path));
                }
                self.read_on(&path, marker, &files)
            }
            Err(Closed::Missing(error)) => self.find(marker, &segment, error),
            Err(unreadable) => Err(unreadable),
        }
    }

    /// The file is no longer where it was.
    fn find(
        &self,
        marker: &Marker,
        segment: &Segment,
        error: io::Error,
    ) -> Result<Finding, Closed> {
        let other = twin(&marker.path);
        if look(&other).is_ok() {
            return self.read_on(&other, marker, &ThreadFiles::default());
        }
        let files = self.kept.trees.files_now(self.place).map_err(Closed::Unreadable)?;
        if let Some(file) = files.holding(segment) {
            return self.read_on(&file.path, marker, &files);
        }
        if let Some(next) = files.after(segment) {
            return self.read_on(&next.path, &Marker::start(next.path.clone()), &files);
        }
        if let Some(older) = files.newest() {
            return Err(Closed::Unreadable(io::Error::other(format!(
                "it is gone, and only an earlier file of the thread is left, {}",
                older.path.display()
            ))));
        }
        Err(Closed::Missing(error))
    }

    /// What the file held behind `marker` when it was touched, when it was deleted since.
    fn rest_of_deleted(&self, marker: &Marker) -> io::Result<Option<Box<Window>>> {
        let (Some(Held(file)), Some(identity)) = (&self.probe.held, &marker.file) else {
            return Ok(None);
        };
        let stat = Stat::of(&file.metadata()?);
        let is_packed = marker.path.extension().is_some_and(|extension| extension == "zst");
        if is_packed || !identity.is_file(&stat) {
            return Ok(None);
        }
        let rollout = Rollout::held(file)?;
        let opened = Opened { path: &marker.path, rollout: &rollout, stat: &stat };
        Ok(match self.read_open(&opened, marker)? {
            Behind::Read(window) => Some(window),
            Behind::Blocked { .. } | Behind::Nothing { .. } => None,
        })
    }

    /// Reads the file at `path` from `marker` on, and where nothing is left of it, the one that the thread went on in.
    fn read_on(
        &self,
        path: &Path,
        marker: &Marker,
        files: &ThreadFiles,
    ) -> Result<Finding, Closed> {
        let next = files.after(&segment_of(path));
        match self.read_file(path, marker, next.is_some())? {
            Behind::Read(window) => Ok(Finding::Read(*window)),
            Behind::Blocked { bytes, offset } => Ok(Finding::Blocked { bytes, offset }),
            Behind::Nothing { moved, grows } => {
                // The earlier file never grows again; but what is half written there now may have been written before the rewind.
                if let Some(next) = next.filter(|_| !grows) {
                    let start = Marker::start(next.path.clone());
                    let further = self.read_on(&next.path, &start, files)?;
                    if matches!(further, Finding::Read(_) | Finding::Blocked { .. }) {
                        return Ok(further);
                    }
                }
                Ok(moved.map_or_else(|| self.nothing_new(path), |window| Finding::Read(*window)))
            }
        }
    }

    fn nothing_new(&self, path: &Path) -> Finding {
        if self.place.root.is_away(path) { Finding::Archived } else { Finding::Quiet }
    }

    fn read_file(&self, path: &Path, marker: &Marker, goes_on: bool) -> Result<Behind, Closed> {
        let (rollout, stat) = self.kept.open(path)?;
        let held = self.read_open(&Opened { path, rollout: &rollout, stat: &stat }, marker);
        self.kept.keep_open(path, stat, rollout);
        Ok(match held? {
            Behind::Read(window) => {
                Behind::Read(Box::new(Window { more: window.more || goes_on, ..*window }))
            }
            held => held,
        })
    }

    fn read_open(&self, opened: &Opened<'_>, marker: &Marker) -> io::Result<Behind> {
        let Opened { path, rollout, stat } = *opened;
        let from = self.start(opened, marker)?;
        let frontiers = &self.kept.frontiers;
        let known = frontiers.known(path, stat, from.offset);
        let stretch = read_rows(rollout, from.offset, known, self.max_row_bytes)?;
        let unfinished = match stretch {
            Stretch::Partial { bytes } | Stretch::Blocked { bytes } => Some(from.offset + bytes),
            Stretch::Nothing | Stretch::Rows { .. } => None,
        };
        frontiers.keep(path, stat, from.offset, unfinished);
        Ok(match stretch {
            Stretch::Blocked { bytes } => Behind::Blocked { bytes, offset: from.offset },
            Stretch::Rows { bytes, more } => {
                Behind::Read(Box::new(self.window(opened, from, &bytes, more)?))
            }
            Stretch::Nothing | Stretch::Partial { .. } => {
                let is_other = from.replaced.is_some() || marker.is_elsewhere(opened);
                let moved = is_other.then(|| self.window(opened, from, &[], false)).transpose()?;
                let grows = unfinished.is_some_and(|end| end != known);
                Behind::Nothing { moved: moved.map(Box::new), grows }
            }
        })
    }

    fn start(&self, opened: &Opened<'_>, marker: &Marker) -> io::Result<Start> {
        let replaced = marker.change(opened)?;
        if replaced.is_some() {
            let undated_to = Some(opened.rollout.size()?);
            let state = State::default();
            return Ok(Start { offset: 0, reread: true, undated_to, replaced, state });
        }
        let state = match &marker.state {
            Some(state) => state.clone(),
            None => state_at(opened.rollout, marker.offset, self.max_row_bytes)?,
        };
        let is_put_away = opened.path != marker.path && self.place.root.is_away(opened.path);
        Ok(Start {
            offset: marker.offset,
            reread: marker.reread,
            undated_to: marker.undated_to.filter(|end| marker.offset < *end),
            replaced: is_put_away.then_some(ARCHIVED),
            state,
        })
    }

    /// What `bytes`, whole rows from the start on, hold; `more` may lie behind them.
    fn window(
        &self,
        opened: &Opened<'_>,
        from: Start,
        bytes: &[u8],
        more: bool,
    ) -> io::Result<Window> {
        let Opened { path, rollout, .. } = *opened;
        let next = from.offset + bytes.len() as u64;
        // Looked at after reading: a change that was read must not look like one that was not.
        let stat = rollout.stat()?;
        let mut count = Count::new(self.probe, stat.modified, from.reread);
        if from.undated_to.is_some() {
            count.pass_undated();
        }
        let mut reading = Reading::resume(from.state);
        count.rows(bytes, from.offset, &mut reading);
        let mut facts = reading.take_facts();
        if from.reread {
            facts.retain(|fact| fact.at >= self.probe.link.created_at);
        }
        let state = reading.pause(&self.probe.own_texts, &mut |row, ()| count.row(&row));
        let (echoes, malformed, undated) = (count.echoes, count.malformed, count.undated);
        let turns = count.into_turns();
        let end = dedupe_id(next, from.reread, &stat, &turns);
        let mut marker = Marker::at(next, &Opened { stat: &stat, ..*opened }, bytes, state)?;
        marker.reread = from.reread;
        marker.undated_to = from.undated_to;
        if more {
            marker.packed_size = None;
        }
        Ok(Window {
            turns,
            echoes,
            malformed,
            next_marker: marker.to_json(),
            // Offsets in different files of a thread may be equal.
            dedupe_id: match segment_of(path).id() {
                Some(segment) => format!("{segment}:{end}"),
                None => end,
            },
            replaced: from.replaced.map(str::to_owned),
            more: more && (rollout.is_packed() || stat.size > next),
            facts,
            note: (undated > 0).then(|| {
                format!("{undated} prompts tell neither who they are nor their time, may be old and were not counted")
            }),
            ..Window::default()
        })
    }
}

impl Kept {
    fn open(&self, path: &Path) -> Result<(Rollout, Stat), Closed> {
        let stat = look(path)?;
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let known = streams.iter().position(|(other, then, _)| other == path && *then == stat);
        if let Some(at) = known {
            let (_, stat, rollout) = streams.remove(at);
            return Ok((rollout, stat));
        }
        drop(streams);
        Rollout::open_real(path)
    }

    /// Keeps a compressed file where it was read to: the next window would cost all that lies before it.
    fn keep_open(&self, path: &Path, stat: Stat, rollout: Rollout) {
        if rollout.is_packed() {
            let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
            streams.retain(|(other, ..)| other != path);
            streams.push((path.to_owned(), stat, rollout));
            if streams.len() > STREAMS {
                streams.remove(0);
            }
        }
    }
}

/// Where what `marker` names is read: when that is compressed and lies there plain as well, the plain file wins, unless it is
/// only being unpacked.
fn unpacked(marker: &Marker, files: &ThreadFiles, segment: &Segment) -> PathBuf {
    let path = &marker.path;
    if path.extension().is_none_or(|extension| extension != "zst") {
        return path.clone();
    }
    let other = files.holding(segment).filter(|file| !file.name.is_packed);
    [Some(twin(path)), other.map(|file| file.path.clone())]
        .into_iter()
        .flatten()
        .find(|plain| look(plain).is_ok_and(|stat| stat.size >= marker.offset))
        .unwrap_or_else(|| path.clone())
}

/// The compressed file beside a plain one, and the plain one beside a compressed one.
fn twin(path: &Path) -> PathBuf {
    if path.extension().is_some_and(|extension| extension == "zst") {
        return path.with_extension("");
    }
    let mut packed = path.as_os_str().to_owned();
    packed.push(".zst");
    packed.into()
}

fn segment_of(path: &Path) -> Segment {
    Name::of(path).map(|name| name.segment).unwrap_or_default()
}

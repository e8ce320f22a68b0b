//! The model: all state of the screen, as plain data.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use jiff::tz::TimeZone;
use ratatui::layout::{Rect, Size};
use tui_input::Input;

use super::filter::Filter;
use super::graph::GraphView;
use super::index::{PairId, Picture, SessionId};
use super::keymap::{Context, Key, Keymap};
use super::message::Ticket;
use super::rows::Rows;
use super::selection::Selection;
use super::sheet::{Sheet, Sort};
use super::theme::Theme;
use crate::clock::Millis;
use crate::engine::snapshot::Snapshot;
use crate::event::{Changes, Sequence};
use crate::session_key::{AgentId, SessionKey};
use crate::upstream::Listing;

/// The smallest terminal that the screen works on, in columns and rows.
pub(crate) const SMALLEST: Size = Size { width: 40, height: 10 };

/// A pane of the main view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Pane {
    Sessions,
    Watches,
    Notices,
    Events,
}

impl Pane {
    /// Every pane, in the order of the screen and of Tab.
    pub(crate) const ALL: [Self; 4] = [Self::Sessions, Self::Watches, Self::Notices, Self::Events];
}

/// What the screen is told once.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Colours.
    pub theme: Theme,
    /// Keys.
    pub keymap: Keymap,
    /// A word beside the program's name, for example `demo`.
    pub title: Option<String>,
    /// Whether a notice for the operator rings the bell.
    pub bell: bool,
    /// Whether a notice for the operator is shown as a message of the desktop.
    pub desktop: bool,
    /// Whether the screen keeps to ASCII.
    pub ascii: bool,
    /// In which zone times of day are shown.
    pub zone: TimeZone,
    /// The present time, in milliseconds since the epoch.
    pub now: Millis,
}

/// All state of the screen. [`update`](super::update::update) changes it, [`view`](super::view::view) draws it.
#[derive(Debug)]
pub struct Model {
    pub(crate) setup: Setup,
    pub(crate) now: Millis,
    pub(crate) size: Size,
    /// The newest snapshot; `None` until the first one arrives.
    pub(crate) live: Option<Arc<Snapshot>>,
    /// What is shown: older than `live` while paused.
    pub(crate) picture: Picture,
    /// When the picture was held, while it is.
    pub(crate) paused_at: Option<Millis>,
    /// The event of the past that is shown as if it were the newest, while one is.
    pub(crate) past: Option<PastShown>,
    pub(crate) engine_gone: bool,
    pub(crate) main: Main,
    /// The view in place of the main view.
    pub(crate) over: Option<Over>,
    /// The views from which it was opened, the main view not counted.
    pub(crate) under: Vec<Over>,
    pub(crate) page: Option<Page>,
    pub(crate) palette: Option<Palette>,
    /// What is to be saved, while its path is asked for.
    pub(crate) saving: Option<Saving>,
    /// Keys that begin a sequence.
    pub(crate) pressed: Vec<Key>,
    /// Whether the filter or the version is being typed.
    pub(crate) typing: bool,
    pub(crate) toast: Option<Toast>,
    pub(crate) asked: HashMap<Ticket, Asked>,
    pub(crate) tickets: u64,
    pub(crate) toasts: u64,
    pub(crate) revision: u64,
}

/// The main view.
#[derive(Debug)]
pub(crate) struct Main {
    pub(crate) focus: Pane,
    pub(crate) sessions: Selection<SessionId>,
    /// By pair and by whether the selected session is the one watched.
    pub(crate) watches: Selection<(PairId, bool)>,
    pub(crate) notices: Selection<PairId>,
    pub(crate) events: Selection<Sequence>,
    filters: [Filter; 4],
    pub(crate) folded: HashSet<SessionId>,
    /// By pane.
    pub(crate) sorts: [Sort; 4],
    /// Whether the pane with the keyboard has the whole screen.
    pub(crate) is_zoomed: bool,
    pub(crate) out_of_step: bool,
    pub(crate) follow: bool,
    pub(crate) rows: Rows,
    pub(crate) flash: Flash,
    /// A session to select as soon as the picture has it.
    pub(crate) awaited: Option<SessionKey>,
}

/// Rows that have just changed.
#[derive(Debug, Default)]
pub(crate) struct Flash {
    pub(crate) sessions: HashSet<SessionId>,
    pub(crate) pairs: HashSet<PairId>,
    /// Events after this number are new; `None` when none is.
    pub(crate) events_after: Option<Sequence>,
    pub(crate) generation: u64,
}

/// A view in place of the main view.
#[derive(Debug)]
pub(crate) enum Over {
    Delta(Box<Delta>),
    Adopt(Box<Adopt>),
    Sheet(Box<Sheet>),
    Graph(Box<GraphView>),
}

impl Over {
    /// Which view it is.
    pub(crate) fn context(&self) -> Context {
        match self {
            Self::Delta(_) => Context::Delta,
            Self::Adopt(_) => Context::Adopt,
            Self::Sheet(sheet) => sheet.kind.context(),
            Self::Graph(_) => Context::Graph,
        }
    }

    /// What it waits for, if it is a view that asks.
    fn ticket(&mut self) -> Option<&mut Option<Ticket>> {
        match self {
            Self::Delta(delta) => Some(&mut delta.ticket),
            Self::Adopt(adopt) => Some(&mut adopt.ticket),
            Self::Sheet(sheet) => Some(&mut sheet.ticket),
            Self::Graph(_) => None,
        }
    }
}

/// All actions by name.
#[derive(Debug, Default)]
pub(crate) struct Palette {
    pub(crate) filter: Filter,
    /// Places in [`ACTIONS`](super::keymap::ACTIONS), the best match first.
    pub(crate) rows: Vec<usize>,
    pub(crate) selection: Selection<usize>,
}

/// An export, and the path that is being typed for it.
#[derive(Debug)]
pub(crate) struct Saving {
    pub(crate) text: String,
    pub(crate) input: Input,
}

/// A picture of the past on the screen.
#[derive(Debug)]
pub(crate) struct PastShown {
    /// The event that is shown as the newest.
    pub(crate) sequence: Sequence,
    /// Watches of which nobody kept where they stood.
    pub(crate) not_kept: HashSet<PairId>,
}

/// Up to where changes are told that are looked at in the past.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AsOf {
    /// The newest event of then.
    pub(crate) newest: Sequence,
    /// The version that the session had then.
    pub(crate) version: Sequence,
}

/// The changes of one session.
#[derive(Debug)]
pub(crate) struct Delta {
    /// `None` in the present.
    pub(crate) past: Option<AsOf>,
    pub(crate) session: SessionKey,
    pub(crate) agent: AgentId,
    /// The version the person asked from.
    pub(crate) since: Sequence,
    /// Where that version comes from, in words.
    pub(crate) origin: String,
    /// The version this page begins after.
    pub(crate) after: Sequence,
    /// Where the pages before this one began.
    pub(crate) pages: Vec<Sequence>,
    pub(crate) input: Input,
    pub(crate) changes: Option<Changes>,
    pub(crate) error: Option<String>,
    pub(crate) ticket: Option<Ticket>,
    pub(crate) events: Selection<Sequence>,
}

/// The foreign sessions that can be adopted.
#[derive(Debug, Default)]
pub(crate) struct Adopt {
    pub(crate) listing: Option<Listing>,
    pub(crate) error: Option<String>,
    pub(crate) ticket: Option<Ticket>,
    pub(crate) filter: Filter,
    /// Places in the listing.
    pub(crate) rows: Vec<usize>,
    /// By catalog and thread.
    pub(crate) entries: Selection<(String, String)>,
    pub(crate) adopted: HashSet<(String, String)>,
}

/// A page over the view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) kind: PageKind,
    /// Lines scrolled off at the top.
    pub(crate) top: usize,
}

/// Which page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageKind {
    Help,
    Problems,
}

/// A line at the bottom that says what happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Toast {
    pub(crate) tone: Tone,
    pub(crate) text: String,
    pub(crate) number: u64,
}

/// How a toast is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Done,
    Note,
    Error,
}

/// What the keyboard is on in the main view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Selected {
    /// The session, or the target of the pair.
    pub(crate) session: SessionKey,
    pub(crate) agent: AgentId,
    pub(crate) pair: Option<PairId>,
    pub(crate) event: Option<Sequence>,
}

/// What an answer is to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Asked {
    Changes,
    Catalog,
    Adopt {
        catalog: String,
        thread: String,
        is_watched: bool,
    },
    /// Something for the sheet on the screen.
    Sheet,
    Past,
    Tick,
    Other,
}

impl Model {
    /// The screen before the first snapshot.
    pub fn new(setup: Setup) -> Self {
        Self {
            now: setup.now,
            setup,
            size: Size { width: 80, height: 24 },
            live: None,
            picture: Picture::default(),
            paused_at: None,
            past: None,
            engine_gone: false,
            main: Main::default(),
            over: None,
            under: Vec::new(),
            page: None,
            palette: None,
            saving: None,
            pressed: Vec::new(),
            typing: false,
            toast: None,
            asked: HashMap::new(),
            tickets: 0,
            toasts: 0,
            revision: 1,
        }
    }

    /// Rises whenever there is something new to draw.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Whether ages or the clock are on the screen, so that it has to be drawn each second.
    pub fn shows_ages(&self) -> bool {
        !is_too_small(self.size)
    }

    /// The area of the whole screen.
    pub(crate) fn area(&self) -> Rect {
        Rect::from(self.size)
    }

    /// The time by which ages are reckoned: it stands still with a held picture.
    pub(crate) fn reckoned_now(&self) -> Millis {
        self.paused_at.unwrap_or(self.now)
    }

    /// Where keys go.
    pub(crate) fn context(&self) -> Context {
        if self.page.is_some() {
            Context::Page
        } else if self.is_typing() {
            Context::Field
        } else {
            self.view_context()
        }
    }

    /// The view below any page or field.
    pub(crate) fn view_context(&self) -> Context {
        self.over.as_ref().map_or(Context::Main, Over::context)
    }

    /// The views that lead to the present one, from the main view on: Esc goes back through them.
    pub(crate) fn trail(&self) -> impl DoubleEndedIterator<Item = Context> {
        let views = self.under.iter().chain(&self.over).map(Over::context);
        std::iter::once(Context::Main).chain(views)
    }

    /// Opens a view over the present one. A view of the whole state stands in the trail once: opened again, it takes the place of
    /// itself and of what was opened from it.
    pub(crate) fn open(&mut self, over: Over) {
        self.leave();
        let context = over.context();
        self.under.extend(self.over.replace(over));
        let is_of_one = matches!(context, Context::Delta | Context::Explain);
        let earlier = self.under.iter().position(|view| view.context() == context);
        if let Some(earlier) = earlier.filter(|_| !is_of_one) {
            self.under.truncate(earlier);
        }
    }

    /// The view that asked with this ticket, even if another lies over it. It waits for the answer no longer.
    pub(crate) fn asker(&mut self, ticket: Ticket) -> Option<&mut Over> {
        let mut views = self.over.iter_mut().chain(&mut self.under);
        views.find_map(|over| {
            let asked = over.ticket()?;
            if *asked != Some(ticket) {
                return None;
            }
            *asked = None;
            Some(over)
        })
    }

    /// Goes back to the view from which the present one was opened.
    pub(crate) fn close(&mut self) {
        self.leave();
        self.over = self.under.pop();
    }

    /// What was typed and what was just done belong to the view that is left: the line at the bottom is for the keys of the other.
    fn leave(&mut self) {
        self.typing = false;
        self.toast.take_if(|toast| toast.tone == Tone::Done);
    }

    /// Whether characters go into a field.
    pub(crate) fn is_typing(&self) -> bool {
        self.typing || self.palette.is_some() || self.saving.is_some()
    }

    /// Whether the person looks at the present: neither held nor rewound.
    pub(crate) fn is_live(&self) -> bool {
        self.paused_at.is_none()
    }

    /// The snapshot that is shown.
    pub(crate) fn shown(&self) -> &Snapshot {
        &self.picture.snapshot
    }
}

/// Whether `size` is below what the screen works on.
pub(crate) fn is_too_small(size: Size) -> bool {
    size.width < SMALLEST.width || size.height < SMALLEST.height
}

impl Default for Main {
    fn default() -> Self {
        Self {
            focus: Pane::Sessions,
            sessions: Selection::default(),
            watches: Selection::default(),
            notices: Selection::default(),
            events: Selection::default(),
            filters: Default::default(),
            folded: HashSet::new(),
            sorts: [Sort::default(); 4],
            is_zoomed: false,
            out_of_step: false,
            follow: true,
            rows: Rows::default(),
            flash: Flash::default(),
            awaited: None,
        }
    }
}

impl Main {
    /// The filter of a pane.
    pub(crate) fn filter(&self, pane: Pane) -> &Filter {
        &self.filters[pane as usize]
    }

    /// The filter of a pane, to change it.
    pub(crate) fn filter_mut(&mut self, pane: Pane) -> &mut Filter {
        &mut self.filters[pane as usize]
    }

    /// Whether a pane leaves out rows.
    pub(crate) fn is_narrowed(&self, pane: Pane) -> bool {
        let by_step = self.out_of_step && matches!(pane, Pane::Sessions | Pane::Watches);
        by_step || self.filter(pane).is_active()
    }

    /// How a pane is sorted.
    pub(crate) fn sort(&self, pane: Pane) -> Sort {
        self.sorts[pane as usize]
    }

    /// How many rows a pane has.
    pub(crate) fn len(&self, pane: Pane) -> usize {
        match pane {
            Pane::Sessions => self.rows.sessions.len(),
            Pane::Watches => self.rows.watches.len(),
            Pane::Notices => self.rows.notices.len(),
            Pane::Events => self.rows.events.len(),
        }
    }

    /// Which row of a pane is selected.
    pub(crate) fn index(&self, pane: Pane) -> usize {
        match pane {
            Pane::Sessions => self.sessions.index(),
            Pane::Watches => self.watches.index(),
            Pane::Notices => self.notices.index(),
            Pane::Events => self.events.index(),
        }
    }
}

impl Delta {
    /// The version that is on the screen: what an acknowledgement covers. `None` until the answer is there.
    pub(crate) fn shown(&self) -> Option<Sequence> {
        let changes = self.changes.as_ref()?;
        match changes.events.last() {
            Some(last) if changes.truncated => Some(last.sequence),
            _ => Some(changes.version),
        }
    }
}

impl Adopt {
    /// The selected entry.
    pub(crate) fn selected(&self) -> Option<&crate::upstream::CatalogEntry> {
        self.listing.as_ref()?.entries.get(*self.rows.get(self.entries.index())?)
    }
}

//! Which rows the panes of the main view have: made anew when the picture, a filter, the order or the selected session
//! changes, and never while drawing.

use super::filter::Filter;
use super::index::{Picture, SessionId};
use super::model::{Main, Pane};
use super::sheet::Sort;
use super::sorting;
use super::words;
use crate::engine::snapshot::{EventRow, SessionRow, WatchRow};
use crate::session_key::SessionKey;
use crate::watch::Condition;

/// The rows of the main view, as places in the snapshot.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) sessions: Vec<TreeRow>,
    pub(crate) watches: Vec<WatchLine>,
    pub(crate) notices: Vec<usize>,
    pub(crate) events: Vec<usize>,
}

/// A session in the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TreeRow {
    /// Its place in the snapshot.
    pub(crate) session: usize,
    /// The row of its parent.
    pub(crate) parent: Option<usize>,
    /// Whether no sibling follows.
    pub(crate) is_last: bool,
    /// What stands below it.
    pub(crate) branch: Branch,
    /// Whether it is there only because of its children: it does not pass the filter itself.
    pub(crate) is_context: bool,
}

/// What stands below a session in the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Branch {
    /// Nothing.
    Leaf,
    /// Its children.
    Open,
    /// Its children, folded away.
    Folded,
}

/// A watch of the selected session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WatchLine {
    /// Its place in the snapshot.
    pub(crate) watch: usize,
    /// Whether the selected session is the one watched.
    pub(crate) is_incoming: bool,
}

/// Rebuilds every pane's rows and finds the selections again.
pub(crate) fn rebuild(main: &mut Main, picture: &Picture) {
    main.rows.sessions = sessions(main, picture);
    main.rows.notices = notices(main.filter(Pane::Notices), picture);
    let sort = main.sort(Pane::Notices);
    sorting::notices(&mut main.rows.notices, sort, picture);
    main.rows.events = events(main.filter(Pane::Events), picture);
    let sort = main.sort(Pane::Events);
    sorting::events(&mut main.rows.events, sort, picture);
    let rows = &main.rows;
    let all = &picture.snapshot;
    main.sessions.rejoin(rows.sessions.len(), |at| {
        Some(SessionId::of(all.sessions.get(rows.sessions.get(at)?.session)?))
    });
    main.notices.rejoin(rows.notices.len(), |at| {
        let notice = all.notices.get(*rows.notices.get(at)?)?;
        Some(super::index::PairId::of(all.watches.get(notice.watch)?))
    });
    let last = rows.events.len().saturating_sub(1);
    let sequence = |at: usize| Some(all.events.get(*rows.events.get(at)?)?.event.sequence);
    if main.follow {
        main.events.go(last, rows.events.len(), sequence);
    } else {
        main.events.rejoin(rows.events.len(), sequence);
    }
    rebuild_watches(main, picture);
}

/// Rebuilds the rows that depend on the selected session.
pub(crate) fn rebuild_watches(main: &mut Main, picture: &Picture) {
    main.rows.watches = watches(main, picture);
    let sort = main.sort(Pane::Watches);
    sorting::watches(&mut main.rows.watches, sort, picture);
    let rows = &main.rows.watches;
    let all = &picture.snapshot.watches;
    main.watches.rejoin(rows.len(), |at| {
        let line = rows.get(at)?;
        Some((super::index::PairId::of(all.get(line.watch)?), line.is_incoming))
    });
}

fn sessions(main: &Main, picture: &Picture) -> Vec<TreeRow> {
    let filter = main.filter(Pane::Sessions);
    let all = &picture.snapshot.sessions;
    let is_narrowed = main.is_narrowed(Pane::Sessions);
    let passes: Vec<bool> = all
        .iter()
        .map(|session| {
            (!main.out_of_step || picture.is_out_of_step(&session.key))
                && (!filter.is_active() || filter.matches(&session_text(session)))
        })
        .collect();
    let shows = if is_narrowed { with_ancestors(picture, &passes) } else { vec![true; all.len()] };

    let mut rows: Vec<TreeRow> = Vec::new();
    let mut waiting: Vec<(usize, Option<usize>, bool)> = Vec::new();
    let sort = main.sort(Pane::Sessions);
    push_siblings(&mut waiting, picture.roots(), None, sort, picture, &shows);
    while let Some((session, parent, is_last)) = waiting.pop() {
        let children = picture.children(session);
        let is_folded = !is_narrowed && main.folded.contains(&SessionId::of(&all[session]));
        rows.push(TreeRow {
            session,
            parent,
            is_last,
            branch: match (children.iter().any(|child| shows[*child]), is_folded) {
                (false, _) => Branch::Leaf,
                (true, false) => Branch::Open,
                (true, true) => Branch::Folded,
            },
            is_context: !passes[session],
        });
        if !is_folded {
            push_siblings(&mut waiting, children, Some(rows.len() - 1), sort, picture, &shows);
        }
    }
    rows
}

/// Puts the siblings that show on the stack, the last one first.
fn push_siblings(
    waiting: &mut Vec<(usize, Option<usize>, bool)>,
    siblings: &[usize],
    parent: Option<usize>,
    sort: Sort,
    picture: &Picture,
    shows: &[bool],
) {
    let mut siblings: Vec<usize> = siblings.iter().copied().filter(|at| shows[*at]).collect();
    sorting::sessions(&mut siblings, sort, picture);
    let last = siblings.len().saturating_sub(1);
    waiting.extend(siblings.iter().enumerate().rev().map(|(n, at)| (*at, parent, n == last)));
}

/// Adds the ancestors of all that pass.
fn with_ancestors(picture: &Picture, passes: &[bool]) -> Vec<bool> {
    let mut order = picture.roots().to_vec();
    let mut at = 0;
    while at < order.len() {
        order.extend_from_slice(picture.children(order[at]));
        at += 1;
    }
    let mut shows = passes.to_vec();
    for session in order.into_iter().rev() {
        shows[session] =
            shows[session] || picture.children(session).iter().any(|child| shows[*child]);
    }
    shows
}

fn watches(main: &Main, picture: &Picture) -> Vec<WatchLine> {
    let Some(selected) = main.sessions.key().filter(|_| !main.rows.sessions.is_empty()) else {
        return Vec::new();
    };
    let filter = main.filter(Pane::Watches);
    let line = |is_incoming| move |at: &usize| WatchLine { watch: *at, is_incoming };
    let outgoing = picture.watching(&selected.key).iter().map(line(false));
    let incoming = picture.watched_by(&selected.key).iter().map(line(true));
    outgoing
        .chain(incoming)
        .filter(|line| {
            let watch = &picture.snapshot.watches[line.watch];
            (!main.out_of_step || watch.condition != Condition::InStep)
                && (!filter.is_active()
                    || filter.matches(&watch_text(watch, line.is_incoming, picture)))
        })
        .collect()
}

fn notices(filter: &Filter, picture: &Picture) -> Vec<usize> {
    let all = &picture.snapshot;
    (0..all.notices.len())
        .filter(|at| {
            all.watches.get(all.notices[*at].watch).is_some_and(|watch| {
                !filter.is_active()
                    || filter.matches(&words::whole_key(&watch.cursor.watcher))
                    || filter.matches(&words::whole_key(&watch.cursor.target))
            })
        })
        .collect()
}

fn events(filter: &Filter, picture: &Picture) -> Vec<usize> {
    let all = &picture.snapshot.events;
    (0..all.len())
        .filter(|at| !filter.is_active() || filter.matches(&event_text(&all[*at])))
        .collect()
}

/// What the filter of the sessions looks at, which is what the row shows while it is active.
pub(crate) fn session_text(session: &SessionRow) -> String {
    label_text(&session.key, session.title.as_deref())
}

/// The session at the other end, as for [`session_text`].
pub(crate) fn watch_text(watch: &WatchRow, is_incoming: bool, picture: &Picture) -> String {
    let other = if is_incoming { &watch.cursor.watcher } else { &watch.cursor.target };
    label_text(other, picture.session(other).and_then(|session| session.title.as_deref()))
}

/// What the filter of the events looks at.
pub(crate) fn event_text(row: &EventRow) -> String {
    let event = &row.event;
    format!(
        "{} {} {} {}",
        words::whole_key(&event.session),
        crate::visible::clean(event.kind.as_str()),
        crate::visible::clean(event.actor_type.as_str()),
        crate::visible::clean(&event.summary),
    )
}

/// Key and title, whole.
pub(crate) fn label_text(key: &SessionKey, title: Option<&str>) -> String {
    let whole = words::whole_key(key);
    match words::title(title) {
        Some(title) => format!("{whole}  {title}"),
        None => whole,
    }
}

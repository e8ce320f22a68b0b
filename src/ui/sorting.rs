//! Sorting the panes of the main view by any of their columns.

use std::cmp::Reverse;

use super::index::Picture;
use super::model::Pane;
use super::rows::WatchLine;
use super::sheet::Sort;
use super::words;
use crate::engine::snapshot::WakeState;

/// The columns of a pane that it can be sorted by, as the title words them.
pub(crate) fn columns(pane: Pane) -> &'static [&'static str] {
    match pane {
        Pane::Sessions => &[
            "activity",
            "owed",
            "version",
            "messages",
            "events of the last hour",
            "state",
            "title",
        ],
        Pane::Watches => &["session", "last seen", "owed", "history", "condition", "how"],
        Pane::Notices => &["watcher", "target", "since", "frozen", "now", "delivery"],
        Pane::Events => &["session", "kind", "actor", "summary", "outcome"],
    }
}

/// How a pane is sorted, in words; empty when it stands in its own order.
pub(crate) fn words(pane: Pane, sort: Sort) -> String {
    let turned = if sort.is_reversed { " ↑" } else { "" };
    match sort.column {
        Some(column) => {
            format!("by {}{turned}", columns(pane).get(column).copied().unwrap_or_default())
        }
        None if sort.is_reversed => "turned round".to_owned(),
        None => String::new(),
    }
}

/// Sorts siblings: what is most, newest or first of its kind stands first.
pub(super) fn sessions(rows: &mut [usize], sort: Sort, picture: &Picture) {
    let all = &picture.snapshot.sessions;
    let title = |at: &usize| words::title(all[*at].title.as_deref());
    match sort.column {
        Some(0) => rows.sort_by_key(|at| Reverse(picture.newest(*at))),
        Some(1) => rows.sort_by_key(|at| Reverse(picture.owed(*at))),
        Some(2) => rows.sort_by_key(|at| Reverse(all[*at].version)),
        Some(3) => rows.sort_by_key(|at| Reverse(all[*at].messages)),
        Some(4) => rows.sort_by_key(|at| {
            Reverse(all[*at].activity.iter().map(|n| u64::from(*n)).sum::<u64>())
        }),
        Some(5) => rows.sort_by_key(|at| {
            let session = &all[*at];
            (session.ended_at.is_some(), session.upstream.as_ref().map(words::outcome))
        }),
        Some(6) => rows.sort_by_key(|at| (title(at).is_none(), title(at))),
        _ => {}
    }
    turn(rows, sort);
}

/// Sorts the watches of a session.
pub(super) fn watches(rows: &mut [WatchLine], sort: Sort, picture: &Picture) {
    let all = &picture.snapshot.watches;
    let watch = |line: &WatchLine| &all[line.watch];
    match sort.column {
        Some(0) => rows.sort_by_key(|line| {
            let cursor = &watch(line).cursor;
            words::short_key(if line.is_incoming { &cursor.watcher } else { &cursor.target })
        }),
        Some(1) => rows.sort_by_key(|line| watch(line).cursor.seen),
        Some(2) => rows.sort_by_key(|line| Reverse(watch(line).actionable_lag())),
        Some(3) => rows.sort_by_key(|line| Reverse(watch(line).history_lag())),
        Some(4) => rows.sort_by_key(|line| {
            let condition = watch(line).condition;
            super::panes::header::URGENCY.iter().position(|other| *other == condition).unwrap_or(99)
        }),
        Some(5) => rows.sort_by_key(|line| watch(line).cursor.provenance.as_str()),
        _ => {}
    }
    turn(rows, sort);
}

/// Sorts pending notices; their own order is the oldest first.
pub(super) fn notices(rows: &mut [usize], sort: Sort, picture: &Picture) {
    let all = &picture.snapshot;
    let cursor = |at: &usize| &all.watches[all.notices[*at].watch].cursor;
    match sort.column {
        Some(0) => rows.sort_by_key(|at| words::short_key(&cursor(at).watcher)),
        Some(1) => rows.sort_by_key(|at| words::short_key(&cursor(at).target)),
        Some(2) => rows.sort_by_key(|at| cursor(at).seen),
        Some(3) => rows.sort_by_key(|at| cursor(at).notified),
        Some(4) => rows.sort_by_key(|at| Reverse(cursor(at).material)),
        Some(5) => rows.sort_by_key(|at| match &all.watches[all.notices[*at].watch].wake {
            WakeState::Coalescing(due) => (0, *due),
            WakeState::Skipped(ended, _) => (1, *ended),
            WakeState::Fired(ended) => (2, *ended),
            WakeState::NotDue | WakeState::Never | WakeState::Unknown => (3, 0),
        }),
        _ => {}
    }
    turn(rows, sort);
}

/// Sorts events; their own order is the order of the journal.
pub(super) fn events(rows: &mut [usize], sort: Sort, picture: &Picture) {
    let all = &picture.snapshot.events;
    match sort.column {
        Some(0) => rows.sort_by_key(|at| words::short_key(&all[*at].event.session)),
        Some(1) => rows.sort_by(|a, b| all[*a].event.kind.cmp(&all[*b].event.kind)),
        Some(2) => rows.sort_by(|a, b| {
            all[*a].event.actor_type.as_str().cmp(all[*b].event.actor_type.as_str())
        }),
        Some(3) => rows.sort_by(|a, b| all[*a].event.summary.cmp(&all[*b].event.summary)),
        Some(4) => rows.sort_by_key(|at| {
            let row = &all[*at];
            Reverse((row.notified, row.coalesced, row.suppressed))
        }),
        _ => {}
    }
    turn(rows, sort);
}

fn turn<T>(rows: &mut [T], sort: Sort) {
    if sort.is_reversed {
        rows.reverse();
    }
}

//! From rows to types.

use rusqlite::Row;
use serde_json::Value;

use crate::clock::Millis;
use crate::event::{ActorType, Event, EventKind, Sequence};
use crate::session_key::{AgentId, SessionKey};
use crate::upstream_link::UpstreamLink;
use crate::watch::{Cursor, Provenance};

/// The columns that [`event`] reads, in its order.
pub(super) const EVENT: &str = "sequence, session_key, session_id, agent_id, kind, actor_type, actor_id, run_id, occurred_at, \
                                summary, payload_json";

/// The columns that [`cursor`] reads, in its order.
pub(super) const CURSOR: &str = "watcher_session_key, target_session_key, last_seen_sequence, notified_sequence, \
                                 material_sequence, provenance, updated_at";

/// The columns that [`link`] reads, in its order.
pub(super) const LINK: &str = "session_key, agent_id, catalog_id, host_id, thread_id, upstream_kind, upstream_ref_json, \
                               last_marker_json, last_scanned_at, created_at, updated_at";

/// A session key from a text column.
pub(super) fn key(row: &Row<'_>, column: usize) -> rusqlite::Result<SessionKey> {
    Ok(SessionKey::new(row.get_ref(column)?.as_str()?))
}

/// An agent id from a text column.
pub(super) fn agent(row: &Row<'_>, column: usize) -> rusqlite::Result<AgentId> {
    Ok(AgentId::verbatim(row.get_ref(column)?.as_str()?))
}

/// Beyond this no number is a time or a sequence: a caller's number ends here, too (`engine.md` 5.1). Whatever is made of two
/// numbers within it overflows nothing.
const FARTHEST: i64 = 1 << 53;

/// A sequence from an integer column.
pub(super) fn sequence(row: &Row<'_>, column: usize) -> rusqlite::Result<Sequence> {
    within(column, row.get(column)?).map(Sequence)
}

/// A time from an integer column.
pub(super) fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Millis> {
    within(column, row.get(column)?)
}

/// A time from an integer column that may be empty.
pub(super) fn some_time(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Millis>> {
    row.get::<_, Option<i64>>(column)?.map(|time| within(column, time)).transpose()
}

fn within(column: usize, number: i64) -> rusqlite::Result<i64> {
    if (-FARTHEST..=FARTHEST).contains(&number) {
        return Ok(number);
    }
    Err(rusqlite::Error::IntegralValueOutOfRange(column, number))
}

/// An event from the columns of [`EVENT`], starting at `first`.
pub(super) fn event_at(row: &Row<'_>, first: usize) -> rusqlite::Result<Event> {
    let column = |column| first + column;
    let columns = [0, 2, 4, 5, 6, 7, 8, 9, 10].map(column);
    event_from(row, key(row, first + 1)?, agent(row, first + 3)?, columns)
}

/// An event from the columns of [`EVENT`] but for `session_key` and `agent_id`, for a reader that knows these.
pub(super) fn event_of(
    row: &Row<'_>,
    session: SessionKey,
    agent: AgentId,
) -> rusqlite::Result<Event> {
    event_from(row, session, agent, [0, 1, 2, 3, 4, 5, 6, 7, 8])
}

/// An event whose other columns are, in the order of [`EVENT`], `columns`. Empty ids count as absent; a payload that is not an
/// object counts as none.
fn event_from(
    row: &Row<'_>,
    session: SessionKey,
    agent: AgentId,
    columns: [usize; 9],
) -> rusqlite::Result<Event> {
    let filled = |column: usize| {
        let text = row.get_ref(columns[column])?.as_str_or_null()?;
        Ok::<_, rusqlite::Error>(text.filter(|text| !text.is_empty()).map(str::to_owned))
    };
    let payload: Option<Value> = row
        .get_ref(columns[8])?
        .as_str_or_null()?
        .and_then(|text| serde_json::from_str(text).ok())
        .filter(Value::is_object);
    Ok(Event {
        sequence: sequence(row, columns[0])?,
        session,
        session_id: filled(1)?,
        agent,
        kind: EventKind::from_name(row.get_ref(columns[2])?.as_str()?),
        actor_type: ActorType::from_name(row.get_ref(columns[3])?.as_str()?),
        actor: filled(4)?,
        run: filled(5)?,
        occurred_at: time(row, columns[6])?,
        summary: row.get_ref(columns[7])?.as_str()?.to_owned(),
        payload,
    })
}

/// An event from the columns of [`EVENT`].
pub(super) fn event(row: &Row<'_>) -> rusqlite::Result<Event> {
    event_at(row, 0)
}

/// A cursor from the columns of [`CURSOR`].
pub(super) fn cursor(row: &Row<'_>) -> rusqlite::Result<Cursor> {
    cursor_between(row, key(row, 0)?, key(row, 1)?)
}

/// A cursor from the columns of [`CURSOR`] but for the two keys, for a reader that knows these.
pub(super) fn cursor_between(
    row: &Row<'_>,
    watcher: SessionKey,
    target: SessionKey,
) -> rusqlite::Result<Cursor> {
    Ok(Cursor {
        watcher,
        target,
        seen: sequence(row, 2)?,
        notified: sequence(row, 3)?,
        material: sequence(row, 4)?,
        provenance: Provenance::from_name(row.get_ref(5)?.as_str()?),
        updated_at: time(row, 6)?,
    })
}

/// A link from the columns of [`LINK`].
pub(super) fn link(row: &Row<'_>) -> rusqlite::Result<UpstreamLink> {
    Ok(UpstreamLink {
        session: key(row, 0)?,
        agent: agent(row, 1)?,
        catalog: row.get(2)?,
        host: row.get(3)?,
        thread: row.get(4)?,
        kind: row.get(5)?,
        reference: row.get(6)?,
        marker: row.get(7)?,
        scanned_at: some_time(row, 8)?,
        created_at: time(row, 9)?,
        updated_at: time(row, 10)?,
    })
}

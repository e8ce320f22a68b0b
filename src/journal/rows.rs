//! From rows to types.

use rusqlite::Row;
use serde_json::Value;

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

/// A sequence from an integer column.
pub(super) fn sequence(row: &Row<'_>, column: usize) -> rusqlite::Result<Sequence> {
    row.get(column).map(Sequence)
}

/// An event from the columns of [`EVENT`], starting at `first`. Empty ids count as absent; a payload that is not an object
/// counts as none.
pub(super) fn event_at(row: &Row<'_>, first: usize) -> rusqlite::Result<Event> {
    event_of(row, first, key(row, first + 1)?, agent(row, first + 3)?)
}

/// Like [`event_at`], for a reader that knows whose event it is and need not make the names again.
pub(super) fn event_of(
    row: &Row<'_>,
    first: usize,
    session: SessionKey,
    agent: AgentId,
) -> rusqlite::Result<Event> {
    let filled = |column| {
        let text = row.get_ref(first + column)?.as_str_or_null()?;
        Ok::<_, rusqlite::Error>(text.filter(|text| !text.is_empty()).map(str::to_owned))
    };
    let payload: Option<Value> = row
        .get_ref(first + 10)?
        .as_str_or_null()?
        .and_then(|text| serde_json::from_str(text).ok())
        .filter(Value::is_object);
    Ok(Event {
        sequence: sequence(row, first)?,
        session,
        session_id: filled(2)?,
        agent,
        kind: EventKind::from_name(row.get_ref(first + 4)?.as_str()?),
        actor_type: ActorType::from_name(row.get_ref(first + 5)?.as_str()?),
        actor: filled(6)?,
        run: filled(7)?,
        occurred_at: row.get(first + 8)?,
        summary: row.get_ref(first + 9)?.as_str()?.to_owned(),
        payload,
    })
}

/// An event from the columns of [`EVENT`].
pub(super) fn event(row: &Row<'_>) -> rusqlite::Result<Event> {
    event_at(row, 0)
}

/// A cursor from the columns of [`CURSOR`].
pub(super) fn cursor(row: &Row<'_>) -> rusqlite::Result<Cursor> {
    Ok(Cursor {
        watcher: key(row, 0)?,
        target: key(row, 1)?,
        seen: sequence(row, 2)?,
        notified: sequence(row, 3)?,
        material: sequence(row, 4)?,
        provenance: Provenance::from_name(row.get_ref(5)?.as_str()?),
        updated_at: row.get(6)?,
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
        scanned_at: row.get(8)?,
        created_at: row.get(9)?,
        updated_at: row.get(10)?,
    })
}

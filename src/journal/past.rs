//! What a snapshot is made of, as it was when an earlier event was the newest: the screen steps back and forth through these.
//!
//! Events and versions are exact, since the journal holds them. Where a cursor stood follows from the ledger: its last entry up
//! to then, and the deliveries for what only joined an open notice. The ledger of a pair may begin later than the journal; then
//! the cursor is said not to be kept, and nothing is made up.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, OptionalExtension as _, params};

use super::error::{JournalError, Tried};
use super::overview::{Head, Overview, Registered, collect, newest_up_to};
use super::pairs::{NumberedCursor, PairHistories, PairHistory};
use super::sessions::SessionFacts;
use super::{Reader, rows};
use crate::clock::Millis;
use crate::event::{Event, Sequence};
use crate::session_key::{AgentId, SessionKey};
use crate::watch::{Cursor, Provenance};

/// The state when an event was the newest.
#[derive(Debug)]
pub struct PastOverview {
    /// What the snapshot is made of. Without links, wakes, messages and goals, which nothing keeps.
    pub overview: Overview,
    /// What the ledger told about pairs by then.
    pub histories: PairHistories,
    /// Watches that existed then, of which nobody kept where they stood.
    pub not_kept: HashSet<(SessionKey, SessionKey)>,
    /// When that event happened.
    pub at: Millis,
}

type Pair = (SessionKey, SessionKey);
/// Where each pair stood.
type Standings = HashMap<Pair, Standing>;
/// Of pairs of which the ledger tells only later things, whether it tells how they began.
type Beginnings = HashMap<Pair, bool>;

/// Where a pair stood, as far as the ledger was read.
#[derive(Debug, Default)]
struct Standing {
    marks: Option<[Sequence; 3]>,
    is_over: bool,
    at: Millis,
    opened_at: Option<Millis>,
    furthest_seen: Sequence,
    suppressed: HashSet<Sequence>,
    ambient: bool,
}

impl Reader {
    /// The event `steps` events before (negative) or after `from`; the first or the last one if there are fewer. `None` without
    /// any.
    pub fn neighbour(&self, from: Sequence, steps: i64) -> Result<Option<Sequence>, JournalError> {
        let is_back = steps < 0;
        let skip = steps.unsigned_abs().saturating_sub(1);
        let sql = if is_back {
            "SELECT min(sequence) FROM (SELECT sequence FROM session_state_events WHERE sequence < ?1 ORDER BY sequence DESC LIMIT ?2)"
        } else {
            "SELECT max(sequence) FROM (SELECT sequence FROM session_state_events WHERE sequence > ?1 ORDER BY sequence LIMIT ?2)"
        };
        let limit = i64::try_from(skip.saturating_add(1)).unwrap_or(i64::MAX);
        self.connection
            .query_row(sql, params![from.0, limit], |row| row.get::<_, Option<i64>>(0))
            .map(|found| found.map(Sequence))
            .tried("find an event of the journal")
    }

    /// The state when the event `sequence` was the newest, with the newest `events` events of then, and activity since
    /// `activity` milliseconds before.
    pub fn overview_at(
        &mut self,
        sequence: Sequence,
        events: usize,
        activity: Millis,
    ) -> Result<Option<PastOverview>, JournalError> {
        let transaction = self.read()?;
        let Some(at) = occurred_at(&transaction, sequence)? else { return Ok(None) };
        let last_events = last_events(&transaction, sequence)?;
        let (standings, later) = standings(&transaction, sequence, at)?;
        let now_there: HashMap<Pair, Cursor> = collect(
            &transaction,
            &format!("SELECT {} FROM session_watch_cursors ORDER BY rowid", rows::CURSOR),
            [],
            rows::cursor,
        )?
        .into_iter()
        .map(|cursor| ((cursor.watcher.clone(), cursor.target.clone()), cursor))
        .collect();
        let coalesced = coalesced(&transaction, sequence)?;
        let mut histories = PairHistories::default();
        let mut cursors = Vec::new();
        for (pair, standing) in &standings {
            let (watcher, target) = (histories.id(&pair.0), histories.id(&pair.1));
            *histories.entry(watcher, target) = PairHistory {
                furthest_seen: standing.furthest_seen,
                opened_at: standing.opened_at,
            };
            if let Some(cursor) = standing.cursor(pair, now_there.get(pair), &coalesced) {
                cursors.push(cursor);
            }
        }
        let mut not_kept = HashSet::new();
        for (pair, cursor) in &now_there {
            let began_later = later.get(pair).copied();
            if !standings.contains_key(pair) && began_later != Some(true) {
                let nothing = Sequence(0);
                cursors.push(Cursor {
                    seen: nothing,
                    notified: nothing,
                    material: nothing,
                    ..cursor.clone()
                });
                not_kept.insert(pair.clone());
            }
        }
        let cursors = cursors.into_iter().map(|cursor| {
            let (watcher, target) = (histories.id(&cursor.watcher), histories.id(&cursor.target));
            NumberedCursor { cursor, watcher, target }
        });
        let cursors = cursors.collect();
        let (rows, min) = transaction
            .query_row(
                "SELECT count(*), min(sequence) FROM session_state_events WHERE sequence <= ?1",
                [sequence.0],
                |row| Ok((row.get(0)?, row.get::<_, Option<i64>>(1)?.map(Sequence))),
            )
            .tried("measure the journal")?;
        let overview = Overview {
            rows,
            min,
            max: Some(sequence),
            registered: registered(&transaction, at)?,
            heads: heads(&transaction, sequence, &last_events)?,
            cursors,
            links: Vec::new(),
            last_events,
            events: newest_up_to(&transaction, sequence, events)?,
            activity: collect(
                &transaction,
                "SELECT session_key, agent_id, occurred_at FROM session_state_events \
                 WHERE occurred_at >= ?1 AND occurred_at <= ?2 AND sequence <= ?3",
                params![at - activity, at, sequence.0],
                |row| Ok((rows::key(row, 0)?, rows::agent(row, 1)?, rows::time(row, 2)?)),
            )?,
            messages: HashMap::new(),
            goals: Vec::new(),
            wakes: Vec::new(),
            pulse: None,
            owner: None,
        };
        transaction.finish().tried("read the past")?;
        Ok(Some(PastOverview { overview, histories, not_kept, at }))
    }
}

impl Standing {
    /// The cursor, unless the watch had ended. What joined the open notice since its last entry raised the material mark.
    fn cursor(
        &self,
        (watcher, target): &Pair,
        present: Option<&Cursor>,
        coalesced: &HashMap<SessionKey, Vec<Sequence>>,
    ) -> Option<Cursor> {
        let [seen, notified, mut material] = self.marks.filter(|_| !self.is_over)?;
        if material > seen
            && let Some(joined) = coalesced.get(target)
        {
            let last = joined.iter().rev().find(|event| !self.suppressed.contains(event));
            material = material.max(last.copied().unwrap_or_default());
        }
        let provenance = match present {
            Some(cursor) => cursor.provenance,
            None if self.ambient => Provenance::AmbientGroup,
            None => Provenance::Explicit,
        };
        Some(Cursor {
            watcher: watcher.clone(),
            target: target.clone(),
            seen,
            notified,
            material,
            provenance,
            updated_at: self.at,
        })
    }
}

fn occurred_at(
    connection: &Connection,
    sequence: Sequence,
) -> Result<Option<Millis>, JournalError> {
    connection
        .query_row(
            "SELECT occurred_at FROM session_state_events WHERE sequence = ?1",
            [sequence.0],
            |row| rows::time(row, 0),
        )
        .optional()
        .tried("find an event of the journal")
}

/// What the ledger says of each pair up to the event, and of the others whether they began after it.
fn standings(
    connection: &Connection,
    sequence: Sequence,
    at: Millis,
) -> Result<(Standings, Beginnings), JournalError> {
    let next: Option<Millis> = connection
        .query_row(
            "SELECT occurred_at FROM session_state_events WHERE sequence > ?1 ORDER BY sequence LIMIT 1",
            [sequence.0],
            |row| rows::time(row, 0),
        )
        .optional()
        .tried("find an event of the journal")?;
    // Entries of an event have its number. The others lie between two events: an event that was dated back says nothing about
    // when it was written, and then the order of the entries has to do.
    let until = next.filter(|next| *next > at).unwrap_or(Millis::MAX);
    let boundary: i64 = connection
        .query_row(
            "SELECT coalesce(min(id), 9223372036854775807) FROM tidings_ledger WHERE sequence > ?1",
            [sequence.0],
            |row| row.get(0),
        )
        .tried("read the ledger")?;
    let mut standings = Standings::new();
    let mut later = Beginnings::new();
    let mut statement = connection
        .prepare_cached(
            "SELECT watcher_key, target_key, step, at, sequence, last_seen, notified, material, id, note FROM tidings_ledger \
             WHERE watcher_key IS NOT NULL AND target_key IS NOT NULL ORDER BY id",
        )
        .tried("read the ledger")?;
    let mut found = statement.query([]).tried("read the ledger")?;
    while let Some(row) = found.next().tried("read the ledger")? {
        let step = row.get_ref(2).and_then(|step| Ok(step.as_str()?.to_owned()));
        let entry = step.and_then(|step| {
            Ok(Entry {
                pair: (rows::key(row, 0)?, rows::key(row, 1)?),
                step,
                at: row.get(3)?,
                sequence: row.get::<_, Option<i64>>(4)?.map(Sequence),
                marks: match row.get::<_, Option<i64>>(5)? {
                    Some(_) => Some([
                        rows::sequence(row, 5)?,
                        rows::sequence(row, 6)?,
                        rows::sequence(row, 7)?,
                    ]),
                    None => None,
                },
                id: row.get(8)?,
                is_ambient: row.get::<_, Option<String>>(9)?.as_deref() == Some("ambient-group"),
            })
        });
        let entry = entry.tried("read the ledger")?;
        let is_past = match entry.sequence {
            Some(of) => of <= sequence,
            None => entry.id < boundary && entry.at < until,
        };
        if is_past {
            standings.entry(entry.pair.clone()).or_default().take(&entry);
        } else {
            let begins = matches!(entry.step.as_str(), "registered" | "seeded");
            later.entry(entry.pair).or_insert(begins);
        }
    }
    Ok((standings, later))
}

/// A row of the ledger.
struct Entry {
    pair: Pair,
    step: String,
    at: Millis,
    sequence: Option<Sequence>,
    marks: Option<[Sequence; 3]>,
    id: i64,
    is_ambient: bool,
}

impl Standing {
    fn take(&mut self, entry: &Entry) {
        let step = entry.step.as_str();
        self.at = entry.at;
        if step == "suppressed" {
            self.suppressed.extend(entry.sequence);
        }
        if matches!(step, "queued" | "follow-up")
            || (step == "registered" && entry.marks.is_some_and(|marks| marks[2] > marks[0]))
        {
            self.opened_at = Some(entry.at);
        }
        if step == "registered" {
            self.ambient = entry.is_ambient;
        }
        if let Some(marks) = entry.marks {
            self.is_over = matches!(step, "expired" | "reset" | "deleted" | "unwatched");
            self.furthest_seen = self.furthest_seen.max(marks[0]);
            self.marks = Some(marks);
        }
    }
}

/// The events that joined open notices, by session, ascending.
fn coalesced(
    connection: &Connection,
    sequence: Sequence,
) -> Result<HashMap<SessionKey, Vec<Sequence>>, JournalError> {
    let found = collect(
        connection,
        "SELECT e.session_key, d.sequence FROM tidings_deliveries d JOIN session_state_events e ON e.sequence = d.sequence \
         WHERE d.coalesced > 0 AND d.sequence <= ?1 ORDER BY d.sequence",
        [sequence.0],
        |row| Ok((rows::key(row, 0)?, rows::sequence(row, 1)?)),
    )?;
    let mut by_session: HashMap<SessionKey, Vec<Sequence>> = HashMap::new();
    for (session, event) in found {
        by_session.entry(session).or_default().push(event);
    }
    Ok(by_session)
}

fn last_events(
    connection: &Connection,
    sequence: Sequence,
) -> Result<HashMap<(SessionKey, AgentId), Event>, JournalError> {
    let sql = format!(
        "SELECT {} FROM session_state_events WHERE sequence IN (SELECT max(sequence) FROM session_state_events \
         WHERE sequence <= ?1 GROUP BY session_key, agent_id)",
        rows::EVENT
    );
    Ok(collect(connection, &sql, [sequence.0], rows::event)?
        .into_iter()
        .map(|event| ((event.session.clone(), event.agent.clone()), event))
        .collect())
}

/// The version of each session: its newest event, or where it was pruned when all of its events by then are gone.
fn heads(
    connection: &Connection,
    sequence: Sequence,
    last_events: &HashMap<(SessionKey, AgentId), Event>,
) -> Result<Vec<Head>, JournalError> {
    let mut heads = collect(
        connection,
        "SELECT session_key, agent_id, pruned_max_sequence, updated_at FROM session_state_heads",
        [],
        |row| {
            let pruned = rows::sequence(row, 2)?;
            Ok(Head {
                key: rows::key(row, 0)?,
                agent: rows::agent(row, 1)?,
                last: pruned,
                pruned,
                updated_at: rows::time(row, 3)?,
            })
        },
    )?;
    for head in &mut heads {
        if let Some(event) = last_events.get(&(head.key.clone(), head.agent.clone())) {
            head.last = event.sequence;
        }
        head.pruned = head.pruned.min(sequence);
    }
    heads.retain(|head| head.last > Sequence(0) && head.last <= sequence);
    heads.sort_by(|a, b| (&a.key, &a.agent).cmp(&(&b.key, &b.agent)));
    Ok(heads)
}

fn registered(connection: &Connection, at: Millis) -> Result<Vec<Registered>, JournalError> {
    collect(
        connection,
        "SELECT session_key, agent_id, parent_key, title, harness, session_id, iif(last_turn_at <= ?1, last_turn_at, NULL), \
         iif(ended_at <= ?1, ended_at, NULL) FROM tidings_sessions WHERE created_at <= ?1 ORDER BY session_key",
        [at],
        |row| {
            Ok(Registered {
                key: rows::key(row, 0)?,
                agent: rows::agent(row, 1)?,
                facts: SessionFacts {
                    parent: row.get::<_, Option<String>>(2)?.map(SessionKey::new),
                    title: row.get(3)?,
                    harness: row.get(4)?,
                    session_id: row.get(5)?,
                },
                last_turn_at: row.get(6)?,
                ended_at: row.get(7)?,
            })
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{ActorType, EventKind, NewEvent};
    use crate::journal::Journal;
    use crate::journal::append::Gate;

    #[test]
    fn a_watch_whose_ledger_is_gone_is_said_not_to_be_kept() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(&folder.path().join("state.sqlite"), 1_000).unwrap();
        let (watcher, target) = (SessionKey::new("agent:main:w"), SessionKey::new("agent:main:t"));
        for n in 0..2 {
            let event = NewEvent {
                watchers: vec![watcher.clone()],
                ..NewEvent::new(
                    target.clone(),
                    AgentId::main(),
                    EventKind::HumanDirectMessage,
                    ActorType::Human,
                )
            };
            journal.append(&event, Gate::Open, 1_000 + n).unwrap();
        }
        let at = |journal: &mut Journal| journal.overview_at(Sequence(1), 10, 0).unwrap().unwrap();
        let known = at(&mut journal);
        assert!(known.not_kept.is_empty());
        assert_eq!(known.overview.cursors[0].cursor.material, Sequence(1));
        journal.connection.execute("DELETE FROM tidings_ledger", []).unwrap();
        let lost = at(&mut journal);
        assert!(lost.not_kept.contains(&(watcher, target)));
        assert_eq!(lost.overview.cursors[0].cursor.material, Sequence(0));
    }
}

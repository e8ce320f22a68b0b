//! The sessions of a snapshot: every session that the registry, a head, a link or a cursor knows.

use super::snapshot::{ACTIVITY_SLOT, ACTIVITY_SLOTS, LinkRow, SessionRow};
use crate::clock::Millis;
use crate::event::Sequence;
use crate::journal::overview::{LinkState, Overview};
use crate::journal::pairs::{KeyId, PairHistories};
use crate::session_key::{AgentId, SessionKey};
use crate::upstream_link::UpstreamLink;

/// The rows being made.
struct Rows<'a> {
    histories: &'a mut PairHistories,
    made: Vec<SessionRow>,
    /// Where the rows of each key stand, one for each agent.
    places: Vec<Vec<usize>>,
}

impl Rows<'_> {
    fn of(&mut self, key: &SessionKey, agent: &AgentId) -> &mut SessionRow {
        let id = self.histories.id(key);
        self.make_room(id);
        let known = &self.places[id.place()];
        let place = known.iter().copied().find(|place| self.made[*place].agent == *agent);
        let place = place.unwrap_or_else(|| self.add(id, agent));
        &mut self.made[place]
    }

    /// Changes the rows of a key under whatever agent; a cursor or a message knows no agent. One is made when there is none.
    fn each_of(&mut self, id: KeyId, change: impl Fn(&mut SessionRow)) {
        self.make_room(id);
        if self.places[id.place()].is_empty() {
            let agent = self.histories.keys()[id.place()].agent();
            self.add(id, &agent.unwrap_or_else(AgentId::main));
        }
        for place in &self.places[id.place()] {
            change(&mut self.made[*place]);
        }
    }

    fn make_room(&mut self, id: KeyId) {
        if self.places.len() <= id.place() {
            self.places.resize_with(id.place() + 1, Vec::new);
        }
    }

    fn add(&mut self, id: KeyId, agent: &AgentId) -> usize {
        let place = self.made.len();
        self.made.push(blank(&self.histories.keys()[id.place()], agent));
        self.places[id.place()].push(place);
        place
    }
}

/// The session rows of a picture taken at `now`, by key and agent; the newest events move out of `overview` into them.
/// `is_foreign` says that another system's monitor looks at the sources.
pub(super) fn session_rows(
    overview: &mut Overview,
    histories: &mut PairHistories,
    is_foreign: bool,
    now: Millis,
) -> Vec<SessionRow> {
    let mut rows = Rows { histories, made: Vec::new(), places: Vec::new() };
    for session in &overview.registered {
        let row = rows.of(&session.key, &session.agent);
        row.parent.clone_from(&session.facts.parent);
        row.title.clone_from(&session.facts.title);
        row.harness.clone_from(&session.facts.harness);
        row.last_turn_at = session.last_turn_at;
        row.ended_at = session.ended_at;
    }
    for head in &overview.heads {
        let row = rows.of(&head.key, &head.agent);
        row.version = Some(head.last);
        row.pruned = head.pruned;
        row.last_event = overview.last_events.remove(&(head.key.clone(), head.agent.clone()));
    }
    for (link, state) in &overview.links {
        rows.of(&link.session, &link.agent).upstream =
            Some(link_row(link, state.as_ref(), is_foreign));
    }
    for (key, agent, at) in &overview.activity {
        if let Some(slot) = slot(now, *at) {
            let count = &mut rows.of(key, agent).activity[slot];
            *count = count.saturating_add(1);
        }
    }
    for (key, agent) in &overview.goals {
        rows.of(key, agent).has_goal = true;
    }
    for (key, count) in &overview.messages {
        let id = rows.histories.id(key);
        rows.each_of(id, |row| row.messages = *count);
    }
    for watch in &overview.cursors {
        rows.each_of(watch.target, |row| row.watchers += 1);
        let is_pending = watch.cursor.is_pending();
        rows.each_of(watch.watcher, |row| {
            row.watching += 1;
            row.pending_notices += usize::from(is_pending);
        });
    }
    let mut rows = rows.made;
    rows.sort_unstable_by(|a, b| (&a.key, &a.agent).cmp(&(&b.key, &b.agent)));
    rows
}

fn blank(key: &SessionKey, agent: &AgentId) -> SessionRow {
    SessionRow {
        key: key.clone(),
        agent: agent.clone(),
        parent: None,
        title: None,
        harness: None,
        version: None,
        pruned: Sequence(0),
        last_event: None,
        activity: [0; ACTIVITY_SLOTS],
        watchers: 0,
        watching: 0,
        pending_notices: 0,
        messages: 0,
        has_goal: false,
        last_turn_at: None,
        ended_at: None,
        upstream: None,
    }
}

/// In which slot of the activity `at` falls; the last slot is under way.
fn slot(now: Millis, at: Millis) -> Option<usize> {
    let number = |time: Millis| time.div_euclid(ACTIVITY_SLOT);
    let back = usize::try_from((number(now) - number(at)).max(0)).ok()?;
    (ACTIVITY_SLOTS - 1).checked_sub(back)
}

fn link_row(link: &UpstreamLink, state: Option<&LinkState>, is_foreign: bool) -> LinkRow {
    let marker = link.marker_json().unwrap_or_default();
    let reference = link.reference_json().unwrap_or_default();
    LinkRow {
        catalog: link.catalog.clone(),
        host: link.host.clone(),
        thread: link.thread.clone(),
        kind: link.kind.clone(),
        // Where a source may move, the ref names only what it is, and the marker says where it lies.
        path: reference["filePath"]
            .as_str()
            .or_else(|| reference["path"].as_str())
            .or_else(|| marker["path"].as_str())
            .map(str::to_owned),
        offset: marker["offset"].as_u64().or_else(|| marker["size"].as_u64()),
        outcome: state.map_or_else(|| "unknown".to_owned(), |state| state.outcome.clone()),
        detail: match state {
            Some(state) => state.detail.clone(),
            None if is_foreign => Some("only the system that owns this database knows".into()),
            None => Some("not scanned yet".into()),
        },
        outcome_at: state.map(|state| state.outcome_at),
        missing_streak: state.map_or(0, |state| state.missing_streak),
        scanned_at: link.scanned_at,
        created_at: link.created_at,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn activity_falls_into_slots_of_the_clock() {
        let begin = 5_000 * ACTIVITY_SLOT;
        let now = begin + 100;
        assert_eq!(slot(now, now), Some(ACTIVITY_SLOTS - 1));
        assert_eq!(slot(now, begin), Some(ACTIVITY_SLOTS - 1));
        assert_eq!(
            slot(now, now + ACTIVITY_SLOT),
            Some(ACTIVITY_SLOTS - 1),
            "a clock that was put back"
        );
        assert_eq!(slot(now, begin - 1), Some(ACTIVITY_SLOTS - 2));
        assert_eq!(slot(now, begin - 11 * ACTIVITY_SLOT), Some(0));
        assert_eq!(slot(now, begin - 11 * ACTIVITY_SLOT - 1), None);
    }
}

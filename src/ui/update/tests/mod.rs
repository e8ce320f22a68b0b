//! What each action and each message does, on a small world.

mod actions;
mod adopt;
mod delta;
mod help;
mod main_view;
mod news;
mod views;

use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use jiff::tz::TimeZone;

use super::*;
use crate::engine::reason::Reason;
use crate::engine::snapshot::{
    EventRow, JournalRow, NoticeRow, Problem, SessionRow, Snapshot, WakeState, WatchRow,
};
use crate::event::{ActorType, Changes, Event, EventKind, Sequence};
use crate::session_key::{AgentId, SessionKey};
use crate::ui::keymap::{Keymap, Overrides};
use crate::ui::model::Setup;
use crate::ui::theme::Theme;
use crate::upstream::{CatalogEntry, Listing};
use crate::watch::{Condition, Cursor, PairState, Provenance};

const NOW: i64 = 1_784_203_424_000;
const YOU: &str = "agent:operator:main";

pub(super) fn session(key: &str, parent: Option<&str>, version: i64) -> SessionRow {
    SessionRow {
        key: key.into(),
        agent: AgentId::main(),
        parent: parent.map(SessionKey::from),
        title: None,
        harness: None,
        version: Some(Sequence(version)),
        pruned: Sequence(0),
        last_event: None,
        activity: [0; 12],
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

pub(super) fn watch(watcher: &str, target: &str, seen: i64, material: i64) -> WatchRow {
    let is_pending = material > seen;
    WatchRow {
        cursor: Cursor {
            watcher: watcher.into(),
            target: target.into(),
            seen: Sequence(seen),
            notified: Sequence(material),
            material: Sequence(material),
            provenance: Provenance::Explicit,
            updated_at: NOW,
        },
        head: Sequence(material),
        state: if is_pending { PairState::Pending } else { PairState::Synced },
        condition: if is_pending { Condition::Pending } else { Condition::InStep },
        reason: Reason::Covers,
        pending_since: is_pending.then_some(NOW),
        wake: WakeState::NotDue,
        expires_at: NOW,
    }
}

pub(super) fn event(sequence: i64, session: &str) -> EventRow {
    let event = Event {
        sequence: Sequence(sequence),
        session: session.into(),
        session_id: None,
        agent: AgentId::main(),
        kind: EventKind::GoalChanged,
        actor_type: ActorType::Human,
        actor: None,
        run: None,
        occurred_at: NOW,
        summary: "goal updated".into(),
        payload: None,
    };
    EventRow { event, notified: 0, coalesced: 0, suppressed: 0 }
}

pub(super) fn snapshot(
    sessions: Vec<SessionRow>,
    watches: Vec<WatchRow>,
    events: Vec<EventRow>,
) -> Arc<Snapshot> {
    let notices = (0..watches.len())
        .filter(|at| watches[*at].cursor.is_pending())
        .map(|watch| NoticeRow { watch, queued: Some(true) })
        .collect();
    let journal = JournalRow {
        rows: events.len() as u64,
        max: events.last().map(|row| row.event.sequence),
        ..JournalRow::default()
    };
    Arc::new(Snapshot {
        revision: 1,
        at: NOW,
        journal,
        sessions: Arc::new(sessions),
        watches: Arc::new(watches),
        notices,
        events,
        ..Snapshot::default()
    })
}

/// a, its child b, and c; a watches b and is owed a notice, the operator watches c.
pub(super) fn world() -> Arc<Snapshot> {
    snapshot(
        vec![
            session("agent:main:a", None, 5),
            session("agent:main:b", Some("agent:main:a"), 9),
            session("agent:main:c", None, 7),
        ],
        vec![watch("agent:main:a", "agent:main:b", 6, 9), watch(YOU, "agent:main:c", 7, 7)],
        vec![event(5, "agent:main:a"), event(7, "agent:main:c"), event(9, "agent:main:b")],
    )
}

pub(super) struct Bench {
    pub(super) model: Model,
    pub(super) effects: Vec<Effect>,
}

impl Bench {
    pub(super) fn new() -> Self {
        let model = Model::new(Setup {
            theme: Theme::dark(),
            keymap: Keymap::new(&Overrides::new()).unwrap(),
            title: None,
            bell: true,
            desktop: true,
            ascii: false,
            zone: TimeZone::UTC,
            now: NOW,
        });
        let mut bench = Self { model, effects: Vec::new() };
        bench.send(Message::Resize(80, 24));
        bench.send(Message::Snapshot(world()));
        bench
    }

    pub(super) fn send(&mut self, message: Message) -> &mut Self {
        self.effects = update(&mut self.model, message);
        self
    }

    pub(super) fn key(&mut self, code: KeyCode) -> &mut Self {
        self.send(Message::Key(KeyEvent::new(code, KeyModifiers::NONE)))
    }

    pub(super) fn keys(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            self.key(match c {
                '\n' => KeyCode::Enter,
                '\t' => KeyCode::Tab,
                '\u{1b}' => KeyCode::Esc,
                c => KeyCode::Char(c),
            });
        }
        self
    }

    pub(super) fn ctrl(&mut self, c: char) -> &mut Self {
        self.send(Message::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL)))
    }

    /// The one request among the effects.
    pub(super) fn request(&self) -> Request {
        self.asked().1
    }

    pub(super) fn asked(&self) -> (Ticket, Request) {
        let asked: Vec<_> = self
            .effects
            .iter()
            .filter_map(|effect| match effect {
                Effect::Ask(ticket, request) => Some((*ticket, request.clone())),
                _ => None,
            })
            .collect();
        assert_eq!(asked.len(), 1, "{:?}", self.effects);
        asked[0].clone()
    }

    pub(super) fn answer(&mut self, result: Result<Reply, String>) -> &mut Self {
        let (ticket, _) = self.asked();
        self.send(Message::Answer(ticket, result))
    }

    pub(super) fn toast(&self) -> (Tone, &str) {
        self.model.toast.as_ref().map_or((Tone::Done, ""), |toast| (toast.tone, &toast.text))
    }

    pub(super) fn selected_session(&self) -> &str {
        self.model.main.sessions.key().map_or("", |id| id.key.as_str())
    }

    pub(super) fn delta(&self) -> &crate::ui::model::Delta {
        match &self.model.over {
            Some(Over::Delta(delta)) => delta,
            other => panic!("no delta: {other:?}"),
        }
    }
}

pub(super) fn changes(sequences: &[i64], truncated: bool, version: i64) -> Changes {
    Changes {
        events: sequences.iter().map(|n| event(*n, "agent:main:b").event).collect(),
        truncated,
        earliest: Sequence(1),
        history_gap: false,
        version: Sequence(version),
    }
}

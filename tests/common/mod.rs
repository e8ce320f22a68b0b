//! A state database in a temporary folder, an engine over it and a clock that the test moves.

#![allow(dead_code, reason = "each test program uses its own part of this")]

use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::Connection;
use tempfile::TempDir;
use tidings::clock::ManualClock;
use tidings::engine::commands::Address;
use tidings::engine::commands::DirectMessage;
use tidings::engine::{Discipline, Engine, Settings};
use tidings::event::{ActorType, Changes, EventKind, NewEvent, Sequence};
use tidings::journal::append::{Appended, Gate};
use tidings::journal::sessions::SessionFacts;
use tidings::session_key::{AgentId, SessionKey};
use tidings::watch::Cursor;

pub(crate) mod child;

/// Where the clock of each test starts.
pub(crate) const START: i64 = 1_800_000_000_000;

/// The main session of the agent `main`.
pub(crate) const W: &str = "agent:main:main";
/// A watcher that is itself a sub-agent, so that it is never woken.
pub(crate) const NW: &str = "agent:main:subagent:parent";
/// The session that is watched.
pub(crate) const T: &str = "agent:main:subagent:child";
/// A group session.
pub(crate) const G: &str = "agent:main:telegram:group:room-1";
/// A session that nobody watches, which takes numbers of the journal.
pub(crate) const FILLER: &str = "agent:filler:main";

pub(crate) fn key(text: &str) -> SessionKey {
    SessionKey::new(text)
}

/// A key and the agent that it names, `main` for a bare one.
pub(crate) fn address(text: &str) -> Address {
    let key = key(text);
    let agent = key.agent().unwrap_or_else(AgentId::main);
    (key, agent)
}

/// A plain event: no ids, no watchers named.
pub(crate) fn event(session: &str, kind: EventKind) -> NewEvent {
    let (session, agent) = address(session);
    NewEvent::new(session, agent, kind, ActorType::Human)
}

/// The event of a human turn.
pub(crate) fn human_turn(session: &str) -> NewEvent {
    event(session, EventKind::HumanDirectMessage)
}

/// `event` with watchers that its producer names.
pub(crate) fn naming(event: NewEvent, watchers: &[&str]) -> NewEvent {
    NewEvent { watchers: watchers.iter().map(|watcher| key(watcher)).collect(), ..event }
}

/// `event` caused by `actor`.
pub(crate) fn by(event: NewEvent, actor: &str) -> NewEvent {
    NewEvent { actor: Some(actor.to_owned()), ..event }
}

/// `event` with a dedupe key.
pub(crate) fn once(event: NewEvent, dedupe: &str) -> NewEvent {
    NewEvent { dedupe: Some(dedupe.to_owned()), ..event }
}

/// A human turn as its producer reports it.
pub(crate) fn message(session: &str, parent: Option<&str>) -> DirectMessage {
    let (session, agent) = address(session);
    DirectMessage {
        session,
        agent,
        actor_type: ActorType::Human,
        actor: None,
        channel: "telegram".into(),
        parent: parent.map(SessionKey::new),
        run: None,
        dedupe: None,
        payload: None,
        occurred_at: None,
    }
}

/// The three watermarks of a cursor: last seen, notified, material.
pub(crate) type Marks = (i64, i64, i64);

pub(crate) fn marks(cursor: &Cursor) -> Marks {
    (cursor.seen.0, cursor.notified.0, cursor.material.0)
}

/// The notice for `target` since `since`, as the text is fixed.
pub(crate) fn notice(target: &str, since: i64) -> String {
    format!(
        "Session \"{target}\" changed (other actor). Reconcile before acting: session_status sessionKey \"{target}\" changesSince \
         {since}."
    )
}

/// An engine over a state database that goes with the test.
pub(crate) struct World {
    folder: TempDir,
    pub(crate) clock: Arc<ManualClock>,
    discipline: Discipline,
    /// `None` only while a restart has closed the database.
    engine: Option<Engine>,
}

impl World {
    pub(crate) fn new(discipline: Discipline) -> Self {
        let mut world = Self {
            folder: tempfile::tempdir().unwrap(),
            clock: Arc::new(ManualClock::at(START)),
            discipline,
            engine: None,
        };
        world.engine = Some(world.another());
        world
    }

    /// A world whose queues and cursors may part, as in the original.
    pub(crate) fn loose() -> Self {
        Self::new(Discipline::Loose)
    }

    /// A world as it runs live: one line a pending cursor.
    pub(crate) fn in_step() -> Self {
        Self::new(Discipline::InStep)
    }

    pub(crate) fn db(&self) -> PathBuf {
        self.folder.path().join("state").join("tidings.sqlite")
    }

    pub(crate) fn engine(&mut self) -> &mut Engine {
        self.engine.as_mut().unwrap()
    }

    /// One more engine over the same database, as another process would have it.
    pub(crate) fn another(&self) -> Engine {
        Engine::open(&self.db(), self.clock.clone(), Settings::default(), self.discipline).unwrap()
    }

    /// A connection of the test's own, to look at and to damage what the engine relies on.
    pub(crate) fn sql(&self) -> Connection {
        Connection::open(self.db()).unwrap()
    }

    /// One number that a query finds.
    pub(crate) fn count(&self, sql: &str) -> i64 {
        self.sql().query_row(sql, [], |row| row.get(0)).unwrap()
    }

    /// Closes the database.
    pub(crate) fn stop(&mut self) {
        self.engine = None;
    }

    /// Opens the database again, as another process of ours does: memory is lost.
    pub(crate) fn open(&mut self) {
        self.engine = Some(self.another());
    }

    /// Opens the database again, as a new process of the original does: the prune clock is lost too. No sweep.
    pub(crate) fn start(&mut self) {
        self.open();
        self.engine().journal_mut().forget_last_prune().unwrap();
    }

    pub(crate) fn restart(&mut self) {
        self.stop();
        self.start();
    }

    pub(crate) fn exists(&mut self, session: &str) {
        self.engine().register(&address(session), &SessionFacts::default()).unwrap();
    }

    pub(crate) fn record(&mut self, event: &NewEvent) -> Appended {
        self.engine().record(event, Gate::Open).unwrap()
    }

    /// Records events of a session that nobody watches until the next number is `next`.
    pub(crate) fn next_is(&mut self, next: i64) {
        let filler = event(FILLER, EventKind::Compacted);
        let mut last = self.engine().journal().extent().unwrap().2.unwrap_or_default().0;
        assert!(last < next, "the journal is at {last} already");
        while last < next - 1 {
            last = self.record(&filler).event.unwrap().sequence.0;
        }
    }

    /// Records an event that must get the number `sequence`.
    pub(crate) fn record_at(&mut self, sequence: i64, event: &NewEvent) -> Appended {
        self.next_is(sequence);
        let appended = self.record(event);
        assert_eq!(appended.event.as_ref().unwrap().sequence, Sequence(sequence));
        appended
    }

    /// A human turn in `session` with the number `sequence`.
    pub(crate) fn material_at(&mut self, sequence: i64, session: &str) -> Appended {
        self.record_at(sequence, &human_turn(session))
    }

    pub(crate) fn watch(&mut self, watcher: &str, target: &str) {
        let (target, agent) = address(target);
        self.engine().watch(&key(watcher), &target, Some(&agent)).unwrap();
    }

    pub(crate) fn drain(&mut self, watcher: &str) -> Vec<String> {
        let drained = self.engine().drain(&key(watcher), None).unwrap();
        drained.lines.iter().map(|line| line.text().into_owned()).collect()
    }

    pub(crate) fn cursor(&mut self, watcher: &str, target: &str) -> Option<Marks> {
        self.whole_cursor(watcher, target).as_ref().map(marks)
    }

    pub(crate) fn whole_cursor(&mut self, watcher: &str, target: &str) -> Option<Cursor> {
        self.engine().journal().cursor(&key(watcher), &key(target)).unwrap()
    }

    pub(crate) fn cursors(&mut self) -> Vec<Cursor> {
        self.engine().journal().cursors().unwrap()
    }

    pub(crate) fn lines(&mut self, watcher: &str) -> Vec<String> {
        self.engine()
            .queues()
            .lines(&key(watcher))
            .iter()
            .map(|line| line.text().into_owned())
            .collect()
    }

    /// Who was asked to be woken since this was last read, in order.
    pub(crate) fn wakes(&mut self) -> Vec<String> {
        self.engine().take_asked().into_iter().map(|asked| asked.watcher.to_string()).collect()
    }

    pub(crate) fn head(&mut self, session: &str) -> i64 {
        let (session, agent) = address(session);
        self.engine().journal().version(&session, &agent).unwrap().0
    }

    pub(crate) fn pruned(&mut self, session: &str) -> Option<i64> {
        let heads = self.engine().journal().heads().unwrap();
        heads.iter().find(|head| head.key.as_str() == session).map(|head| head.pruned.0)
    }

    pub(crate) fn rows(&mut self) -> u64 {
        self.engine().journal().extent().unwrap().0
    }

    pub(crate) fn changes(&mut self, session: &str, after: i64) -> Changes {
        self.engine().changes(&address(session), Sequence(after), 200).unwrap()
    }

    /// The numbers of the events of `session` after `after`.
    pub(crate) fn numbers(&mut self, session: &str, after: i64) -> Vec<i64> {
        self.changes(session, after).events.iter().map(|event| event.sequence.0).collect()
    }
}

/// Runs a story in both disciplines: what it says holds in either.
pub(crate) fn either(story: impl Fn(World)) {
    story(World::loose());
    story(World::in_step());
}

//! Stories for two processes on one database, made up at random, told to the engine and to a plain model, which must agree
//! after each step. `PROPTEST_CASES` says how many.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "../common/mod.rs"]
mod common;
mod model;
mod operation;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use tidings::engine::commands::Drained;
use tidings::engine::queue::Line as QueuedLine;
use tidings::engine::{Discipline, Engine, EngineError};
use tidings::event::{ActorType, NewEvent, Sequence};
use tidings::journal::append::{Appended, Gate};
use tidings::journal::cursors::Registration;
use tidings::journal::sessions::SessionFacts;
use tidings::session_key::{AgentId, SessionKey};
use tidings::watch::Provenance;

use common::{START, World, address, event, key, message};
use model::{Head, Line, Model, Outcome, Watch};
use operation::{GROUP, Operation, SESSIONS, Session, Step, story};

/// Stories of each discipline, unless `PROPTEST_CASES` says otherwise.
const CASES: u32 = 120;
/// The most steps of a story.
const STEPS: usize = 70;

fn config() -> ProptestConfig {
    let persistence = FileFailurePersistence::WithSource("proptest-regressions");
    let mut config = ProptestConfig {
        failure_persistence: Some(Box::new(persistence)),
        ..ProptestConfig::default()
    };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = CASES;
    }
    config
}

fn session(index: Session) -> SessionKey {
    key(SESSIONS[index])
}

fn agent(index: Session) -> AgentId {
    address(SESSIONS[index]).1
}

fn index(key: &SessionKey) -> Session {
    SESSIONS.iter().position(|session| *session == key.as_str()).unwrap()
}

fn indices(keys: &[SessionKey]) -> Vec<Session> {
    let mut found: Vec<_> = keys.iter().map(index).collect();
    found.sort_unstable();
    found
}

/// What a line says, read back from its text.
fn line(text: &str, target: Option<&SessionKey>) -> Line {
    let Some(target) = target else { return Line::Other(text.to_owned()) };
    let since: i64 = text.trim_end_matches('.').rsplit(' ').next().unwrap().parse().unwrap();
    assert_eq!(text, common::notice(target.as_str(), since));
    Line::Notice(index(target), since)
}

fn queued(lines: &[QueuedLine]) -> Vec<Line> {
    lines.iter().map(|queued| line(&queued.text(), queued.target())).collect()
}

fn sorted(mut lines: Vec<Line>) -> Vec<Line> {
    lines.sort_unstable();
    lines
}

/// Two engines on one database, and the model that they must agree with.
struct Pair {
    world: World,
    second: Engine,
    discipline: Discipline,
    model: Model,
}

impl Pair {
    fn new(discipline: Discipline) -> Self {
        let world = World::new(discipline);
        let second = world.another();
        Self { world, second, discipline, model: Model::new(discipline, START) }
    }

    fn engine(&mut self, process: usize) -> &mut Engine {
        if process == 0 { self.world.engine() } else { &mut self.second }
    }

    fn step(&mut self, step: &Step) {
        let Step { process, looks, operation } = step;
        let process = *process;
        if *looks {
            self.look(process);
        }
        let heads_before = self.heads();
        let found = self.run(process, operation);
        let wanted = self.model.apply(process, operation);
        assert_eq!(found, wanted, "{operation:?}");
        self.check_asked(process);
        self.check_queues(process);
        if *looks && self.discipline == Discipline::InStep {
            self.check_one_line_a_pending_pair(process);
        }
        self.check_cursors();
        self.check_heads(&heads_before, operation);
    }

    /// A process looks what the other one did, and is in step with it then.
    fn look(&mut self, process: usize) {
        self.model.look(process);
        self.engine(process).keep_in_step().unwrap();
        self.check_asked(process);
        self.check_queues(process);
        if self.discipline == Discipline::InStep {
            self.check_one_line_a_pending_pair(process);
        }
    }

    /// The wakes that were asked for: in order as in the original, or, live, for the same watchers.
    fn check_asked(&mut self, process: usize) {
        let found: Vec<_> = self
            .engine(process)
            .take_asked()
            .iter()
            .map(|asked| {
                let target = asked.reason.strip_prefix("session-state:").unwrap();
                (index(&asked.watcher), index(&key(target)))
            })
            .collect();
        if self.discipline == Discipline::Loose {
            assert_eq!(found, self.model.asked);
        } else {
            let watchers = |asked: &[(Session, Session)]| -> BTreeSet<Session> {
                asked.iter().map(|(watcher, _)| *watcher).collect()
            };
            assert_eq!(watchers(&found), watchers(&self.model.asked));
        }
    }

    fn check_queues(&mut self, process: usize) {
        let in_order = self.discipline == Discipline::Loose;
        let order = |lines: Vec<Line>| if in_order { lines } else { sorted(lines) };
        let found: BTreeMap<_, _> = self
            .engine(process)
            .queues()
            .sessions()
            .map(|(session, lines)| (index(session), order(queued(lines))))
            .collect();
        let wanted: BTreeMap<_, _> = self.model.memories[process]
            .queues
            .iter()
            .map(|(session, lines)| (*session, order(lines.clone())))
            .collect();
        assert_eq!(found, wanted);
    }

    /// Live: exactly one line a pending pair, carrying its last seen, and no other notice.
    fn check_one_line_a_pending_pair(&mut self, process: usize) {
        let engine = self.engine(process);
        let mut wanted: Vec<_> = engine
            .journal()
            .pending_cursors()
            .unwrap()
            .iter()
            .map(|cursor| {
                (index(&cursor.watcher), Line::Notice(index(&cursor.target), cursor.seen.0))
            })
            .collect();
        let mut found: Vec<_> = engine
            .queues()
            .sessions()
            .flat_map(|(session, lines)| {
                queued(lines).into_iter().map(|line| (index(session), line))
            })
            .filter(|(_, line)| matches!(line, Line::Notice(..)))
            .collect();
        wanted.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, wanted);
    }

    fn check_cursors(&mut self) {
        let cursors = self.world.cursors();
        for cursor in &cursors {
            let (seen, notified, material) = common::marks(cursor);
            assert!(0 <= seen && seen <= notified && notified <= material, "{cursor:?}");
            assert!(notified != seen || material == notified, "{cursor:?}");
        }
        let found: Vec<_> = cursors
            .iter()
            .map(|cursor| Watch {
                watcher: index(&cursor.watcher),
                target: index(&cursor.target),
                seen: cursor.seen.0,
                notified: cursor.notified.0,
                material: cursor.material.0,
                ambient: cursor.provenance == Provenance::AmbientGroup,
                updated_at: cursor.updated_at,
            })
            .collect();
        assert_eq!(found, self.model.watches);
    }

    fn heads(&mut self) -> BTreeMap<Session, Head> {
        let heads = self.world.engine().journal().heads().unwrap();
        heads
            .iter()
            .map(|head| {
                let found =
                    Head { last: head.last.0, pruned: head.pruned.0, updated_at: head.updated_at };
                (index(&head.key), found)
            })
            .collect()
    }

    /// A head falls only by a delete, after which an older version is answered with a gap.
    fn check_heads(&mut self, before: &BTreeMap<Session, Head>, operation: &Operation) {
        let heads = self.heads();
        assert_eq!(heads, self.model.heads);
        for (session, head) in before {
            if heads.get(session).is_some_and(|now| now.last >= head.last) {
                continue;
            }
            assert!(matches!(operation, Operation::Delete { session: gone } if gone == session));
            let gap = self.world.changes(SESSIONS[*session], head.last - 1).history_gap;
            assert!(gap, "the deleted history of {} left no tombstone", SESSIONS[*session]);
        }
    }

    /// Does the operation to the real engine.
    fn run(&mut self, process: usize, operation: &Operation) -> Outcome {
        match operation {
            Operation::Restart => {
                if process == 0 {
                    self.world.stop();
                    self.world.open();
                } else {
                    self.second = self.world.another();
                }
                return Outcome::Nothing;
            }
            Operation::Advance(span) => {
                self.world.clock.advance(*span);
                return Outcome::Nothing;
            }
            _ => {}
        }
        let now = self.model.now;
        let other = self.model.next_other();
        let after = match operation {
            Operation::Changes { session, back, .. } => self.model.version_before(*session, *back),
            _ => 0,
        };
        run_on(self.engine(process), operation, now, &other, Sequence(after))
    }
}

fn run_on(
    engine: &mut Engine,
    operation: &Operation,
    now: i64,
    other: &str,
    after: Sequence,
) -> Outcome {
    match operation {
        Operation::Record { session: target, kind, actor, named, dedupe, age } => {
            let new = NewEvent {
                actor: actor.map(|actor| SESSIONS[actor].to_owned()),
                dedupe: dedupe.map(|n| if n == 0 { String::new() } else { format!("key {n}") }),
                occurred_at: (*age != 0).then_some(now - age),
                watchers: named.iter().map(|watcher| session(*watcher)).collect(),
                ..event(SESSIONS[*target], kind.clone())
            };
            recorded(&engine.record(&new, Gate::Open).unwrap())
        }
        Operation::DirectMessage { session, human, parent } => {
            let actor_type = if *human { ActorType::Human } else { ActorType::Agent };
            let mut turn = message(SESSIONS[*session], parent.map(|parent| SESSIONS[parent]));
            turn.actor_type = actor_type;
            recorded(&engine.direct_message(turn).unwrap())
        }
        Operation::Watch { watcher, target } => {
            match engine.watch(&session(*watcher), &session(*target), Some(&agent(*target))) {
                Ok(Registration::Made) => Outcome::Watching("made"),
                Ok(Registration::Promoted) => Outcome::Watching("promoted"),
                Ok(Registration::Unchanged) => Outcome::Watching("unchanged"),
                Err(EngineError::Refused(_)) => Outcome::Refused,
                Err(error) => panic!("{error}"),
            }
        }
        Operation::WatchGroup => {
            assert!(engine.watch_ambient(&address(SESSIONS[GROUP.0]), None, None).unwrap());
            Outcome::Nothing
        }
        Operation::Unwatch { watcher, target } => {
            match engine.unwatch(&session(*watcher), &session(*target)) {
                Ok(()) => Outcome::Nothing,
                Err(EngineError::Unknown(_)) => Outcome::Refused,
                Err(error) => panic!("{error}"),
            }
        }
        Operation::Drain { watcher } => taken(&engine.drain(&session(*watcher), None).unwrap()),
        Operation::DrainAbout { watcher, target } => {
            let lines = engine.queues().lines(&session(*watcher));
            let about = |line: &&QueuedLine| line.target() == Some(&session(*target));
            let only: Vec<_> = lines.iter().filter(about).map(|line| line.id).collect();
            taken(&engine.drain(&session(*watcher), Some(&only)).unwrap())
        }
        Operation::Turn { watcher } => {
            let turn = engine.turn(&(session(*watcher), agent(*watcher))).unwrap();
            let notices = &turn.lines[..turn.lines.len() - turn.messages];
            let lines = notices.iter().zip(&turn.acknowledged);
            Outcome::Taken {
                lines: sorted(lines.map(|(text, target)| line(text, Some(target))).collect()),
                acknowledged: indices(&turn.acknowledged),
                follow_ups: indices(&turn.follow_ups),
                messages: turn.messages,
            }
        }
        Operation::Acknowledge { watcher, targets } => {
            let targets: Vec<_> = targets.iter().map(|target| session(*target)).collect();
            taken(&engine.acknowledge(&session(*watcher), &targets).unwrap())
        }
        Operation::Sweep => {
            let swept = engine.sweep().unwrap();
            Outcome::Swept { requeued: swept.requeued, passed_over: swept.passed_over }
        }
        Operation::Reset { session: gone } => {
            Outcome::Ended(engine.reset(&session(*gone)).unwrap())
        }
        Operation::Delete { session: gone } => {
            let deleted = engine.delete(&session(*gone), &agent(*gone)).unwrap();
            Outcome::Deleted {
                events: deleted.events,
                cursors: deleted.cursors,
                messages: deleted.messages,
            }
        }
        Operation::Changes { session: asked, limit, .. } => {
            let changes = engine.changes(&address(SESSIONS[*asked]), after, *limit).unwrap();
            Outcome::Changes {
                events: changes.events.iter().map(|event| event.sequence.0).collect(),
                truncated: changes.truncated,
                earliest: changes.earliest.0,
                history_gap: changes.history_gap,
                version: changes.version.0,
            }
        }
        quiet => {
            run_quietly(engine, quiet, other);
            Outcome::Nothing
        }
    }
}

/// The operations that return nothing.
fn run_quietly(engine: &mut Engine, operation: &Operation, other: &str) {
    match operation {
        Operation::Take { watcher } => {
            engine.queues_mut().take(&session(*watcher), None);
            engine.keep_in_step().unwrap();
        }
        Operation::AddOther { session: receiver } => {
            assert!(engine.queues_mut().add_other(&session(*receiver), other, None));
        }
        Operation::Send { from, to } => {
            let (from, to) = (address(SESSIONS[*from]), address(SESSIONS[*to]));
            engine.send(&from, &to, "hello", false).unwrap();
        }
        Operation::Register { session } => {
            engine.register(&address(SESSIONS[*session]), &SessionFacts::default()).unwrap();
        }
        Operation::Leave { session: gone } => {
            engine.journal_mut().drop_session(&session(*gone)).unwrap();
        }
        Operation::Prune => engine.prune().unwrap(),
        other => unreachable!("{other:?}"),
    }
}

fn recorded(appended: &Appended) -> Outcome {
    Outcome::Recorded {
        sequence: appended.event.as_ref().map(|event| event.sequence.0),
        deduped: appended.deduped,
        notices: appended
            .notices
            .iter()
            .map(|notice| (index(&notice.watcher), notice.since.0, notice.opened, notice.ambient))
            .collect(),
        suppressed: appended.suppressed.iter().map(index).collect(),
    }
}

fn taken(drained: &Drained) -> Outcome {
    Outcome::Taken {
        lines: sorted(queued(&drained.lines)),
        acknowledged: indices(&drained.acknowledged),
        follow_ups: indices(&drained.follow_ups),
        messages: 0,
    }
}

fn tell(discipline: Discipline, steps: &[Step]) {
    let mut pair = Pair::new(discipline);
    for step in steps {
        pair.step(step);
    }
    for process in 0..2 {
        pair.look(process);
    }
    assert_eq!(pair.world.engine().journal().integrity_check().unwrap(), "ok");
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn live_engines_agree_with_the_model(steps in story(STEPS)) {
        tell(Discipline::InStep, &steps);
    }

    #[test]
    fn engines_as_the_original_agree_with_the_model(steps in story(STEPS)) {
        tell(Discipline::Loose, &steps);
    }
}

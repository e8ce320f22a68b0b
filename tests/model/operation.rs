//! What the property test does to the engines, and how such stories are made up.

use proptest::prelude::*;
use tidings::clock::{DAY, HOUR, MINUTE};
use tidings::event::EventKind;

/// All sessions: each may watch and be watched. A main session, a sub-agent, another agent's main session, a child, a group,
/// and a bare key, which can be watched only.
pub(crate) const SESSIONS: [&str; 6] = [
    "agent:main:main",
    "agent:main:subagent:parent",
    "agent:ops:main",
    "agent:main:subagent:child",
    "agent:main:telegram:group:room",
    "global",
];

/// The group among [`SESSIONS`], and the main session that watches it ambiently.
pub(crate) const GROUP: (usize, usize) = (4, 0);

/// An index into [`SESSIONS`].
pub(crate) type Session = usize;

/// One thing that is done.
#[derive(Debug, Clone)]
pub(crate) enum Operation {
    /// An event is recorded.
    Record {
        session: Session,
        kind: EventKind,
        actor: Option<Session>,
        named: Vec<Session>,
        dedupe: Option<u8>,
        /// How long ago it happened.
        age: i64,
    },
    /// A human turn, or one that is none.
    DirectMessage {
        session: Session,
        human: bool,
        parent: Option<Session>,
    },
    Watch {
        watcher: Session,
        target: Session,
    },
    WatchGroup,
    Unwatch {
        watcher: Session,
        target: Session,
    },
    /// A turn takes the queue.
    Drain {
        watcher: Session,
    },
    /// A turn takes the lines about one target only.
    DrainAbout {
        watcher: Session,
        target: Session,
    },
    /// A turn takes what the cursors owe, and the messages.
    Turn {
        watcher: Session,
    },
    Acknowledge {
        watcher: Session,
        targets: Vec<Session>,
    },
    /// The queue is taken and nothing acknowledged.
    Take {
        watcher: Session,
    },
    /// A line that is no notice.
    AddOther {
        session: Session,
    },
    Send {
        from: Session,
        to: Session,
    },
    Register {
        session: Session,
    },
    /// The session leaves the registry.
    Leave {
        session: Session,
    },
    Restart,
    Sweep,
    Prune,
    Advance(i64),
    Reset {
        session: Session,
    },
    Delete {
        session: Session,
    },
    /// What changed since `back` before the head?
    Changes {
        session: Session,
        back: i64,
        limit: usize,
    },
}

/// What one of the two processes does.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) process: usize,
    /// Whether it looks first what the other one did.
    pub(crate) looks: bool,
    pub(crate) operation: Operation,
}

fn session() -> impl Strategy<Value = Session> {
    0..SESSIONS.len()
}

fn kind() -> impl Strategy<Value = EventKind> {
    prop_oneof![
        5 => Just(EventKind::HumanDirectMessage),
        2 => Just(EventKind::GoalChanged),
        1 => Just(EventKind::UpstreamMissing),
        2 => Just(EventKind::ChildSpawned),
        1 => Just(EventKind::RunCompleted),
        1 => Just(EventKind::Other("odd".into())),
    ]
}

fn record() -> impl Strategy<Value = Operation> {
    let age = prop_oneof![4 => Just(0), 1 => Just(HOUR), 1 => Just(2 * DAY), 1 => Just(-HOUR)];
    let actor = proptest::option::weighted(0.3, session());
    let named = proptest::collection::vec(session(), 0..3);
    let dedupe = proptest::option::weighted(0.2, 0..4_u8);
    (session(), kind(), actor, named, dedupe, age).prop_map(
        |(session, kind, actor, named, dedupe, age)| Operation::Record {
            session,
            kind,
            actor,
            named,
            dedupe,
            age,
        },
    )
}

fn operation() -> impl Strategy<Value = Operation> {
    let pair = || (session(), session());
    let span = prop_oneof![
        3 => Just(1),
        3 => Just(MINUTE),
        2 => Just(HOUR),
        2 => Just(HOUR + 1),
        2 => Just(10 * DAY),
        1 => Just(30 * DAY),
        1 => Just(30 * DAY + 1),
    ];
    let message = (session(), proptest::bool::weighted(0.8), proptest::option::of(session()));
    let several = (session(), proptest::collection::vec(session(), 0..4));
    let since = (session(), -2..40_i64, prop_oneof![Just(200_usize), 0..4_usize]);
    prop_oneof![
        12 => record(),
        3 => message.prop_map(|(session, human, parent)| Operation::DirectMessage { session, human, parent }),
        6 => pair().prop_map(|(watcher, target)| Operation::Watch { watcher, target }),
        2 => Just(Operation::WatchGroup),
        1 => pair().prop_map(|(watcher, target)| Operation::Unwatch { watcher, target }),
        4 => session().prop_map(|watcher| Operation::Drain { watcher }),
        1 => pair().prop_map(|(watcher, target)| Operation::DrainAbout { watcher, target }),
        3 => session().prop_map(|watcher| Operation::Turn { watcher }),
        2 => several.prop_map(|(watcher, targets)| Operation::Acknowledge { watcher, targets }),
        1 => session().prop_map(|watcher| Operation::Take { watcher }),
        2 => session().prop_map(|session| Operation::AddOther { session }),
        1 => pair().prop_map(|(from, to)| Operation::Send { from, to }),
        2 => session().prop_map(|session| Operation::Register { session }),
        1 => session().prop_map(|session| Operation::Leave { session }),
        1 => Just(Operation::Restart),
        1 => Just(Operation::Sweep),
        1 => Just(Operation::Prune),
        4 => span.prop_map(Operation::Advance),
        1 => session().prop_map(|session| Operation::Reset { session }),
        1 => session().prop_map(|session| Operation::Delete { session }),
        3 => since.prop_map(|(session, back, limit)| Operation::Changes { session, back, limit }),
    ]
}

/// A story for two processes.
pub(crate) fn story(length: usize) -> impl Strategy<Value = Vec<Step>> {
    let step = (0..2_usize, proptest::bool::weighted(0.6), operation())
        .prop_map(|(process, looks, operation)| Step { process, looks, operation });
    proptest::collection::vec(step, 1..length)
}

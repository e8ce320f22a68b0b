//! Turns: what waits for a session, and what taking it acknowledges (`engine.md` 4.7, `decisions.md` 19, 20).

use super::Address;
use crate::engine::notices::{self, Language};
use crate::engine::queue::Line;
use crate::engine::{Engine, EngineError};
use crate::event::{ActorType, EventKind, NewEvent, Sequence};
use crate::journal::append::Gate;
use crate::journal::cursors::Acknowledged;
use crate::journal::inbox::Taken;
use crate::journal::ledger::{Entry, NOT_ACKNOWLEDGED, Step};
use crate::journal::sessions::SessionFacts;
use crate::session_key::SessionKey;
use crate::upstream::echo::{OWN_TEXTS, TextHash};

/// What a drain took.
#[derive(Debug, Clone, Default)]
pub struct Drained {
    /// The lines.
    pub lines: Vec<Line>,
    /// The targets whose notices were acknowledged.
    pub acknowledged: Vec<SessionKey>,
    /// Those of them on which exactly one more notice opened.
    pub follow_ups: Vec<SessionKey>,
}

/// What a turn takes into its prompt.
#[derive(Debug, Clone, Default)]
pub struct Turn {
    /// The lines: notices first, then messages.
    pub lines: Vec<String>,
    /// The targets whose notices were acknowledged.
    pub acknowledged: Vec<SessionKey>,
    /// Those of them on which exactly one more notice opened, for the next turn.
    pub follow_ups: Vec<SessionKey>,
    /// How many of the lines are messages.
    pub messages: usize,
}

/// What sending did.
#[derive(Debug, Clone)]
pub struct Sent {
    /// The receiver.
    pub delivered_to: SessionKey,
    /// Whether the sender watches the receiver now; absent when that was not asked for.
    pub watched: Option<bool>,
}

impl Engine {
    /// Delivers a message to a session, and watches it when asked. What the operator sends is recorded as a human turn, also
    /// when nobody watches yet.
    pub fn send(
        &mut self,
        from: &Address,
        to: &Address,
        text: &str,
        watch: bool,
    ) -> Result<Sent, EngineError> {
        let now = self.now();
        self.register(from, &SessionFacts::default())?;
        self.register(to, &SessionFacts::default())?;
        self.journal.send(&from.0, &to.0, text, now)?;
        if from.0 == SessionKey::operator() {
            let event = NewEvent {
                actor: Some(from.0.to_string()),
                summary: Some("human message via tidings".into()),
                watchers: self.journal.parent_of(&to.0)?.into_iter().collect(),
                ..NewEvent::new(
                    to.0.clone(),
                    to.1.clone(),
                    EventKind::HumanDirectMessage,
                    ActorType::Human,
                )
            };
            self.record(&event, Gate::Open)?;
        }
        let watched =
            (watch && from.0 != to.0).then(|| match self.watch(&from.0, &to.0, Some(&to.1)) {
                Ok(_) => true,
                Err(error) => {
                    tracing::warn!(%error, "the message was delivered, the watch was not made");
                    false
                }
            });
        Ok(Sent { delivered_to: to.0.clone(), watched })
    }

    /// Begins a turn of a session: takes its messages and acknowledges its open notices in one transaction. What it hands out
    /// is remembered as the session's own text. Follow-ups belong to the next turn.
    pub fn turn(&mut self, session: &Address) -> Result<Turn, EngineError> {
        self.register(session, &SessionFacts::default())?;
        let now = self.now();
        let language = self.settings.language;
        let taken = self.journal.take_turn(
            &session.0,
            |taken| own_texts(language, taken),
            OWN_TEXTS,
            now,
        )?;
        self.queues.take(&session.0, None);
        let Drained { acknowledged, follow_ups, .. } =
            self.follow_acknowledged(&taken.acknowledged);
        Ok(Turn {
            lines: lines(language, &taken),
            acknowledged,
            follow_ups,
            messages: taken.messages.len(),
        })
    }

    /// A turn takes the queue of `watcher`, or those of `only` that still wait, and acknowledges the notices among them, each
    /// target once. Follow-ups come after that, for the next turn.
    pub fn drain(
        &mut self,
        watcher: &SessionKey,
        only: Option<&[u64]>,
    ) -> Result<Drained, EngineError> {
        let lines = self.queues.take(watcher, only);
        let targets: Vec<_> = lines.iter().filter_map(Line::target).cloned().collect();
        if targets.is_empty() {
            self.look_around();
            return Ok(Drained { lines, ..Drained::default() });
        }
        let now = self.now();
        let acknowledged = self.journal.drain(watcher, &targets, now)?;
        Ok(Drained { lines, ..self.follow_acknowledged(&acknowledged) })
    }

    /// Takes the queue of `watcher` and acknowledges nothing: what a turn does that shows its lines to nobody.
    pub fn take_lines(&mut self, watcher: &SessionKey) -> Result<Vec<Line>, EngineError> {
        let lines = self.queues.take(watcher, None);
        let entries: Vec<_> = lines
            .iter()
            .filter_map(Line::target)
            .map(|target| Entry::pair(Step::Drained, watcher, target).note(NOT_ACKNOWLEDGED))
            .collect();
        let now = self.now();
        self.journal.write_ledger(&entries, now)?;
        Ok(lines)
    }

    /// Queues a line that is no notice. Returns whether it was added.
    pub fn enqueue_other(
        &mut self,
        session: &SessionKey,
        text: &str,
        context: Option<&str>,
    ) -> Result<bool, EngineError> {
        let evicted = self.queues.evicted(session);
        let added = self.queues.add_other(session, text, context);
        if self.queues.evicted(session) > evicted {
            let entry =
                Entry::watcher(Step::Evicted, session).note("the oldest line that is no notice");
            let now = self.now();
            self.journal.write_ledger(&[entry], now)?;
        }
        Ok(added)
    }

    /// Acknowledges the open notices of `watcher` on `targets`, each once, whatever the queue holds.
    pub fn acknowledge(
        &mut self,
        watcher: &SessionKey,
        targets: &[SessionKey],
    ) -> Result<Drained, EngineError> {
        if targets.is_empty() {
            self.look_around();
            return Ok(Drained::default());
        }
        let now = self.now();
        let acknowledged = self.journal.acknowledge(watcher, targets, now)?;
        Ok(self.follow_acknowledged(&acknowledged))
    }

    /// What follows an acknowledgement: the notices that opened by it, for the next turn.
    fn follow_acknowledged(&mut self, acknowledged: &[Acknowledged]) -> Drained {
        let mut drained = Drained::default();
        for ack in acknowledged {
            if ack.follow_up {
                self.deliver_cursor(&ack.cursor);
                drained.follow_ups.push(ack.cursor.target.clone());
            }
            drained.acknowledged.push(ack.cursor.target.clone());
        }
        self.follow_moved(acknowledged.iter().map(|ack| &ack.cursor));
        drained
    }

    /// The operator has read a session's changes up to `shown`.
    pub fn acknowledge_shown(
        &mut self,
        target: &SessionKey,
        shown: Sequence,
    ) -> Result<bool, EngineError> {
        let now = self.now();
        let acknowledged =
            self.journal.acknowledge_up_to(&SessionKey::operator(), target, shown, now)?;
        self.follow_moved(acknowledged.iter().map(|ack| &ack.cursor));
        Ok(acknowledged.is_some())
    }
}

/// The lines of a turn: notices, then messages.
fn lines(language: Language, taken: &Taken) -> Vec<String> {
    let notices =
        taken.notices.iter().map(|cursor| notices::text(language, &cursor.target, cursor.seen));
    let messages = taken
        .messages
        .iter()
        .map(|message| format!("Message from {}: {}", message.sender, message.body));
    notices.chain(messages).collect()
}

/// The hashes of what a turn puts into its session: each message alone, each line, and all lines together as they are printed.
fn own_texts(language: Language, taken: &Taken) -> Vec<[u8; 32]> {
    let lines = lines(language, taken);
    let whole = lines.join("\n");
    let bodies = taken.messages.iter().map(|message| message.body.clone());
    let mut hashes: Vec<_> = bodies
        .chain(lines)
        .chain([whole])
        .filter_map(|text| TextHash::of(&text))
        .map(|hash| hash.0)
        .collect();
    hashes.dedup();
    hashes
}

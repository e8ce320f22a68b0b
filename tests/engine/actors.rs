//! 11.7: keys and actors.

use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;

use serde_json::json;
use tidings::clock::MINUTE;
use tidings::engine::commands::DirectMessage;
use tidings::event::{EventKind, TurnOrigin};
use tidings::session_key::AgentId;
use tidings::upstream::echo::{OWN_TEXTS, TextHash};
use tidings::upstream::{
    Baseline, Finding, Listing, Probe, Provider, RecordId, Turn, UpstreamError, Window,
};
use tidings::upstream_link::NewLink;

use crate::common::{START, T, W, World, address, either, human_turn, key, message, notice};

#[test]
fn case_115_a_key_is_stored_queued_and_matched_verbatim() {
    let shouted = "AGENT:Main:Main";
    either(|mut world| {
        world.watch(shouted, T);
        world.record(&human_turn(T));
        assert_eq!(world.cursors()[0].watcher, key(shouted));
        assert_eq!(world.lines(shouted), [notice(T, 0)]);
        assert!(world.lines(W).is_empty());
    });
}

#[test]
fn case_122_a_turn_that_the_parent_dispatches_is_no_human_turn() {
    either(|mut world| {
        world.watch(W, T);
        let dispatched = TurnOrigin { inter_session: Some(Some(W)), internal: true, human: None };
        let (actor_type, actor) = dispatched.actor();
        let turn =
            DirectMessage { actor_type, actor: actor.map(str::to_owned), ..message(T, Some(W)) };
        assert!(world.engine().direct_message(turn).unwrap().event.is_none());
        assert_eq!(world.rows(), 0);
    });
}

#[test]
fn case_123_a_blank_channel_is_unknown() {
    either(|mut world| {
        for (channel, shown) in [("  ", "unknown"), ("", "unknown"), (" webchat ", "webchat")] {
            let turn = DirectMessage { channel: channel.into(), ..message(T, Some(W)) };
            let event = world.engine().direct_message(turn).unwrap().event.unwrap();
            assert_eq!(event.summary, format!("human message via {shown}"));
        }
    });
}

/// A catalog in which somebody typed `typed`, or whose source is gone while `present` says so.
#[derive(Debug, Default)]
struct Typing {
    typed: Mutex<Option<String>>,
    present: Mutex<bool>,
}

impl Typing {
    fn types(&self, text: &str) {
        *self.present.lock().unwrap() = true;
        *self.typed.lock().unwrap() = Some(text.to_owned());
    }

    fn goes(&self) {
        *self.present.lock().unwrap() = false;
    }

    fn comes_back(&self) {
        *self.present.lock().unwrap() = true;
    }
}

impl Provider for Typing {
    fn catalog(&self) -> &'static str {
        "typing"
    }

    fn probe(&self, probe: &Probe) -> Finding {
        if !*self.present.lock().unwrap() {
            return Finding::Missing;
        }
        let Some(text) = self.typed.lock().unwrap().take() else { return Finding::Quiet };
        let echo = probe.own_texts.contains(&text);
        let turn = Turn { id: Some(RecordId::of(&text)), at: START };
        Finding::Read(Window {
            turns: if echo { Vec::new() } else { vec![turn] },
            echoes: u32::from(echo),
            malformed: 0,
            next_marker: json!({ "after": text.len() }),
            dedupe_id: text,
            replaced: None,
            more: false,
            ..Window::default()
        })
    }

    fn list(&self) -> Result<Listing, UpstreamError> {
        Ok(Listing::default())
    }

    fn baseline(&self, wanted: &str) -> Result<Baseline, UpstreamError> {
        Err(UpstreamError::NotFound { catalog: "typing".into(), wanted: wanted.into() })
    }

    fn root(&self) -> &Path {
        Path::new("/nowhere")
    }
}

const ADOPTED: &str = "agent:main:typing:1";

/// A world with an adopted session that W watches.
fn adopted(mut world: World) -> (World, Arc<Typing>) {
    let link = NewLink {
        session: key(ADOPTED),
        agent: AgentId::main(),
        catalog: "typing".into(),
        host: "gateway:local".into(),
        thread: "1".into(),
        kind: "typing".into(),
        reference: Some(json!({ "path": "1" })),
        marker: None,
    };
    world.engine().journal_mut().put_link(&link, START).unwrap();
    world.watch(W, ADOPTED);
    (world, Arc::new(Typing::default()))
}

/// Ticks a minute later and says what was found.
fn tick(world: &mut World, typing: &Arc<Typing>) -> String {
    world.clock.advance(MINUTE);
    let providers: [Arc<dyn Provider>; 1] = [typing.clone()];
    let mut outcomes = world.engine().tick(&providers, None).unwrap();
    outcomes.pop().map(|outcome| outcome.outcome).unwrap_or_default()
}

#[test]
fn case_124_the_last_ten_own_texts_are_echoes_and_older_ones_are_not() {
    either(|world| {
        let (mut world, typing) = adopted(world);
        for n in 0..=OWN_TEXTS {
            let hash = TextHash::of(&format!("own text {n}")).unwrap().0;
            world
                .engine()
                .journal_mut()
                .add_own_texts(&key(ADOPTED), &[hash], OWN_TEXTS, START)
                .unwrap();
        }
        typing.types("own  text 1");
        assert_eq!(tick(&mut world, &typing), "echo", "the tenth-latest");
        assert_eq!(world.rows(), 0);
        typing.types("own text 0");
        assert_eq!(tick(&mut world, &typing), "activity", "the eleventh-latest");
        assert_eq!(world.numbers(ADOPTED, 0), [1]);
        assert_eq!(world.lines(W), [notice(ADOPTED, 0)]);
    });
}

#[test]
fn case_124_what_each_of_the_last_ten_turns_handed_out_is_remembered() {
    either(|world| {
        let (mut world, typing) = adopted(world);
        for n in 0..=OWN_TEXTS {
            let text = format!("please look at {n}");
            world.engine().send(&address(W), &address(ADOPTED), &text, false).unwrap();
            world.engine().turn(&address(ADOPTED)).unwrap();
        }
        for (n, outcome) in [(1, "echo"), (0, "activity")] {
            typing.types(&format!("please look at {n}"));
            assert_eq!(tick(&mut world, &typing), outcome, "message {n}");
        }
        typing.types(&format!("Message from {W}: please look at 1"));
        assert_eq!(tick(&mut world, &typing), "echo", "as the turn printed it");
    });
}

#[test]
fn case_125_three_misses_in_a_row_end_the_link_and_a_sighting_starts_over() {
    either(|world| {
        let (mut world, typing) = adopted(world);
        typing.goes();
        for _ in 0..2 {
            assert_eq!(tick(&mut world, &typing), "missing");
        }
        typing.comes_back();
        assert_eq!(tick(&mut world, &typing), "quiet");
        typing.goes();
        tick(&mut world, &typing);
        world.restart();
        tick(&mut world, &typing);
        assert_eq!(world.rows(), 0, "two, one, two: never three in a row");
        assert_eq!(world.engine().journal().links().unwrap().len(), 1);
        tick(&mut world, &typing);
        let events = world.changes(ADOPTED, 0).events;
        assert_eq!(events.len(), 1);
        assert_eq!(events[0].kind, EventKind::UpstreamMissing);
        assert_eq!(events[0].summary, "upstream missing via typing");
        assert_eq!(world.lines(W), [notice(ADOPTED, 0)]);
        assert!(world.engine().journal().links().unwrap().is_empty());
        assert_eq!(tick(&mut world, &typing), "", "nothing is left to look at");
    });
}

//! The stage: plays the story line by line, beside the live engine.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use super::DemoError;
use super::cast::Cast;
use super::line::{Action, Ended, Line};
use super::transcripts::Transcripts;
use crate::clock::{Clock, MINUTE, ManualClock, Millis};
use crate::engine::commands::{DirectMessage, RunOutcome};
use crate::engine::{Discipline, Engine, EngineError, Settings};
use crate::event::ActorType;
use crate::journal::sessions::SessionFacts;
use crate::script::player::perform;
use crate::session_key::SessionKey;
use crate::upstream::Provider;

const STORY: &str = include_str!("../../assets/demo.jsonl");
/// The simulated clock moves in steps of this wall time.
const STEP: Duration = Duration::from_millis(50);
/// After the story, something small happens about this often, in milliseconds.
const EPILOGUE: Millis = 5_000;

/// Everything that the story needs.
#[derive(Debug)]
pub(super) struct Stage {
    db: PathBuf,
    clock: Arc<ManualClock>,
    engine: Engine,
    providers: Vec<Arc<dyn Provider>>,
    transcripts: Transcripts,
    cast: Cast,
    speed: f64,
    story: Vec<Line>,
}

impl Stage {
    /// Reads the story and opens the database a second time.
    pub(super) fn set(
        db: &Path,
        home: &Path,
        clock: Arc<ManualClock>,
        providers: Vec<Arc<dyn Provider>>,
        cast: Cast,
        speed: f64,
    ) -> Result<Self, DemoError> {
        let mut story = Vec::new();
        for (number, line) in STORY.lines().enumerate().filter(|(_, line)| !line.trim().is_empty())
        {
            let parsed = Line::parse(&cast.name(line))
                .map_err(|reason| DemoError::Story { line: number + 1, reason })?;
            story.extend(parsed);
        }
        let engine = open(db, &clock)?;
        Ok(Self {
            db: db.to_owned(),
            clock,
            engine,
            providers,
            transcripts: Transcripts::new(home)?,
            cast,
            speed: speed.clamp(0.1, 100.0),
            story,
        })
    }

    /// Plays until the story ends, and small things after that until it is stopped.
    pub(super) fn play(&mut self, stopped: &Receiver<()>) -> Result<(), DemoError> {
        for line in std::mem::take(&mut self.story) {
            if self.wait(line.wait, stopped) {
                return Ok(());
            }
            self.act(&line.action)?;
        }
        loop {
            if self.wait(EPILOGUE, stopped) {
                return Ok(());
            }
            self.improvise()?;
        }
    }

    /// Plays the first `lines` lines, with the clock moved in place of waiting, and leaves two sessions that nobody has adopted.
    pub(super) fn play_at_once(&mut self, lines: usize) -> Result<(), DemoError> {
        for line in std::mem::take(&mut self.story).into_iter().take(lines) {
            self.clock.advance(line.wait);
            self.act(&line.action)?;
        }
        let now = self.clock.now();
        for (thread, title) in [
            ("4c1d7a52-0000-4000-8000-000000000001", "flaky-tests"),
            ("4c1d7a52-0000-4000-8000-000000000002", "release-notes-draft"),
        ] {
            self.transcripts.begin(thread, title)?;
            self.transcripts.prompt(thread, now)?;
            self.transcripts.date(thread, now - 7 * MINUTE)?;
        }
        Ok(())
    }

    /// Lets the simulated clock run for `span` at speed 1, a little more or less; true when it was stopped.
    fn wait(&mut self, span: Millis, stopped: &Receiver<()>) -> bool {
        let jitter = 90 + i64::try_from(self.cast.below(21)).unwrap_or(10);
        let mut left = Duration::from_millis(u64::try_from(span * jitter / 100).unwrap_or(0))
            .div_f64(self.speed);
        while !left.is_zero() {
            let step = left.min(STEP);
            if !matches!(stopped.recv_timeout(step), Err(RecvTimeoutError::Timeout)) {
                return true;
            }
            left -= step;
            let simulated = step.mul_f64(self.speed).as_millis();
            self.clock.advance(Millis::try_from(simulated).unwrap_or(0));
        }
        false
    }

    fn act(&mut self, action: &Action) -> Result<(), DemoError> {
        match action {
            Action::Spawn { spawn, parent } => {
                let parent =
                    self.engine.address(parent.as_deref().unwrap_or("agent:main:main"), None)?;
                let child = self.engine.address(spawn, None)?;
                self.engine.spawn(&parent, &child, &run_of(spawn))?;
            }
            Action::Finish { finish, outcome } => {
                let child = self.engine.address(finish, None)?;
                let outcome = match outcome {
                    Ended::Ok => RunOutcome::Ok,
                    Ended::Cancelled => RunOutcome::Cancelled,
                };
                self.engine.finish(&child, &run_of(finish), outcome)?;
            }
            Action::Adopt { adopt, title, watched_by } => self.adopt(adopt, title, watched_by)?,
            Action::Prompt { prompt, times } => {
                for _ in 0..times.unwrap_or(1) {
                    self.transcripts.prompt(prompt, self.clock.now())?;
                }
                self.tick()?;
            }
            Action::Turn { turn } => {
                let session = self.engine.address(turn, None)?;
                self.engine.turn(&session)?;
            }
            Action::Break { r#break } => {
                self.transcripts.hide(r#break)?;
                self.tick()?;
            }
            Action::Mend { mend } => {
                self.transcripts.show(mend)?;
                self.tick()?;
            }
            Action::Restart { restart: true } => {
                self.engine = open(&self.db, &self.clock)?;
                self.engine.sweep()?;
            }
            Action::Restart { restart: false } => {}
            Action::Skip { skip_minutes } => self.clock.advance(skip_minutes * MINUTE),
            Action::Operation(operation) => {
                perform(&mut self.engine, operation)?;
            }
        }
        Ok(())
    }

    fn adopt(&mut self, thread: &str, title: &str, watched_by: &str) -> Result<(), DemoError> {
        self.transcripts.begin(thread, title)?;
        let path = self.transcripts.path(thread);
        for provider in self.providers.clone() {
            let adopted = self.engine.adopt(&*provider, &path.to_string_lossy(), None)?;
            let watcher = self.engine.address(watched_by, None)?;
            self.engine.register(&watcher, &SessionFacts::default())?;
            self.engine.watch(&watcher.0, &adopted.session, Some(&adopted.agent))?;
        }
        Ok(())
    }

    fn tick(&mut self) -> Result<(), EngineError> {
        self.engine.tick(&self.providers, None).map(drop)
    }

    /// Somebody writes to somebody, or takes a turn.
    fn improvise(&mut self) -> Result<(), DemoError> {
        let child = self.cast.name(["$child-a", "$child-b"][self.cast.clone().below(2)]);
        match self.cast.below(4) {
            0 => self.act(&Action::Turn { turn: "agent:main:main".into() }),
            1 => self.act(&Action::Turn { turn: "agent:coordinator:main".into() }),
            2 => self.act(&Action::Prompt { prompt: self.cast.name("$adopted"), times: None }),
            _ => {
                let (session, agent) = self.engine.address(&child, None)?;
                self.engine.direct_message(DirectMessage {
                    session,
                    agent,
                    actor_type: ActorType::Human,
                    actor: Some("user-7".into()),
                    channel: "telegram".into(),
                    parent: Some(SessionKey::new("agent:main:main")),
                    run: None,
                    dedupe: None,
                    payload: None,
                    occurred_at: None,
                })?;
                Ok(())
            }
        }
    }
}

fn open(db: &Path, clock: &Arc<ManualClock>) -> Result<Engine, EngineError> {
    Engine::open(db, clock.clone(), Settings::default(), Discipline::InStep)
}

fn run_of(session: &str) -> String {
    format!("run-{session}")
}

//! The demo: a simulated team on a throw-away database, with a clock that may jump days.
//!
//! The screen runs over a real live engine, and the story in `assets/demo.jsonl` is played beside it by a stage that writes to
//! the same database as another process would, and to transcripts of its own in a temporary folder.

mod cast;
mod line;
mod stage;
mod transcripts;

use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread::JoinHandle;

use tempfile::TempDir;

use crate::clock::{Clock, ManualClock, Millis};
use crate::engine::live::{Handle, Live, LiveOptions, Schedule};
use crate::engine::{EngineError, Settings};
use crate::upstream::Provider;
use crate::upstream::claude::{ClaudeProvider, MAX_ROW_BYTES};
use cast::Cast;
use stage::Stage;

/// The simulated present when the demo begins: 16 July 2026, noon UTC.
const BEGIN: Millis = 1_784_203_200_000;

/// How the demo plays.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DemoOptions {
    /// Chooses names and small delays.
    pub seed: u64,
    /// How many times faster than written; from 0.1 to 100.
    pub speed: f64,
}

impl Default for DemoOptions {
    fn default() -> Self {
        Self { seed: 1, speed: 1.0 }
    }
}

/// Why the demo can't be played.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A file of the demo could not be written.
    #[error("could not write the demo's files in a temporary folder: {0}")]
    Io(#[from] std::io::Error),
    /// The story has a line that is none.
    #[error("line {line} of the demo's story is wrong: {reason}")]
    Story {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
}

/// A running demo. It ends, and its files go, when it is dropped.
#[derive(Debug)]
pub struct Demo {
    live: Live,
    clock: Arc<ManualClock>,
    stop: Option<Sender<()>>,
    stage: Option<JoinHandle<()>>,
    _folder: TempDir,
}

impl Demo {
    /// Sets the stage and begins to play.
    pub fn start(options: DemoOptions) -> Result<Self, DemoError> {
        let folder = tempfile::Builder::new().prefix("tidings-demo-").tempdir()?;
        let clock = Arc::new(ManualClock::at(BEGIN));
        let db = folder.path().join("state.sqlite");
        let home = folder.path().join("claude");
        let providers: Vec<Arc<dyn Provider>> =
            vec![Arc::new(ClaudeProvider::new(home.clone(), MAX_ROW_BYTES))];
        let mut live = Live::start(LiveOptions {
            db: db.clone(),
            clock: clock.clone(),
            settings: Settings::default(),
            providers: providers.clone(),
            wake_command: vec!["true".into()],
            screen: true,
            file_events: false,
            schedule: Schedule::default(),
            alerts: Vec::new(),
        })?;
        drop(live.feed());
        let mut stage = Stage::set(
            &db,
            &home,
            clock.clone(),
            providers,
            Cast::new(options.seed),
            options.speed,
        )?;
        let (stop, stopped) = mpsc::channel();
        let thread = std::thread::Builder::new().name("stage".into()).spawn(move || {
            if let Err(error) = stage.play(&stopped) {
                tracing::warn!(%error, "the demo stopped playing");
            }
        })?;
        Ok(Self { live, clock, stop: Some(stop), stage: Some(thread), _folder: folder })
    }

    /// How the screen talks to the demo's engine.
    pub fn handle(&self) -> Handle {
        self.live.handle()
    }

    /// The simulated clock.
    pub fn clock(&self) -> Arc<dyn Clock> {
        self.clock.clone()
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(stage) = self.stage.take() {
            let _ = stage.join();
        }
    }
}

//! The options of every verb, made into what the verbs use: the state database, the config, the catalogs, the clock.

use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use etcetera::BaseStrategy as _;
use etcetera::base_strategy::Xdg;
use tempfile::TempDir;

use super::{CliError, Options};
use crate::clock::{Clock, SystemClock};
use crate::config::Config;
use crate::engine::commands::Address;
use crate::engine::live::{LiveOptions, Schedule};
use crate::engine::snapshot::{Role, Snapshot};
use crate::engine::{Discipline, Engine, EngineError, lock};
use crate::session_key::SessionKey;
use crate::upstream::Provider;
use crate::upstream::claude::{self, ClaudeProvider};

/// What the verbs use.
#[derive(Debug)]
pub struct Context {
    /// The options as they were given.
    pub options: Options,
    /// The config.
    pub config: Config,
    /// The state database. It may not exist yet.
    pub db: PathBuf,
    /// Where time comes from.
    pub clock: Arc<dyn Clock>,
}

impl Context {
    /// Reads the config and finds the state database; opens nothing.
    ///
    /// # Errors
    /// The config is wrong, or there is no home folder to look in.
    pub fn new(options: &Options) -> Result<Self, CliError> {
        Ok(Self {
            config: config(options)?,
            db: match &options.db {
                Some(db) => db.clone(),
                None => state_folder()?.join("state.sqlite"),
            },
            options: options.clone(),
            clock: Arc::new(SystemClock),
        })
    }

    /// The engine over the state database, which is made when it is not there.
    pub(super) fn engine(&self) -> Result<Engine, CliError> {
        Ok(open(&self.db, self)?)
    }

    /// The engine, to read from. Nothing is made: a state database that is not there yet reads like a new one.
    pub(super) fn reader(&self) -> Result<Reader, CliError> {
        let is_missing = match self.db.metadata() {
            Ok(file) => file.is_file() && file.len() == 0,
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        };
        if !is_missing {
            let is_owned = lock::is_owned(&self.db);
            return Ok(Reader { engine: self.engine()?, is_owned, _stand_in: None });
        }
        let folder = tempfile::Builder::new().prefix("tidings-").tempdir().map_err(|error| {
            CliError::Failed(format!("could not make a temporary folder: {error}"))
        })?;
        let engine = open(&folder.path().join("state.sqlite"), self)?;
        Ok(Reader { engine, is_owned: false, _stand_in: Some(folder) })
    }

    /// The session that a key names; `--agent` says whose a bare key is, and may not contradict one that says so itself.
    pub(super) fn address(&self, engine: &Engine, key: &str) -> Result<Address, CliError> {
        Ok(engine.address(key, self.options.agent.as_deref())?)
    }

    /// The same for the other session of a verb that names two, such as the watcher beside its target: `--agent` is about the
    /// first, and says of this one only whose it is when its key doesn't.
    pub(super) fn other_address(&self, engine: &Engine, key: &str) -> Result<Address, CliError> {
        let is_bare = SessionKey::new(key).qualified().is_none();
        let agent = self.options.agent.as_deref().filter(|_| is_bare);
        Ok(engine.address(key, agent)?)
    }

    /// The session that a key names.
    ///
    /// # Errors
    /// Nothing knows it (exit code 3), or `--agent` contradicts it (2).
    pub(super) fn known_address(&self, engine: &Engine, key: &str) -> Result<Address, CliError> {
        Ok(engine.known_address(key, self.options.agent.as_deref())?)
    }

    /// The catalog of Claude Code's sessions on this machine.
    pub(super) fn claude(&self) -> Result<ClaudeProvider, CliError> {
        let home = std::env::var_os("HOME");
        let configured = match &self.config.upstream.claude_config_dir {
            Some(folder) => match (folder.strip_prefix("~"), &home) {
                (Ok(rest), Some(home)) => Some(Path::new(home).join(rest)),
                _ => Some(folder.clone()),
            },
            None => claude::config_dir(
                std::env::var_os("CLAUDE_CONFIG_DIR").as_deref(),
                home.as_deref(),
            ),
        };
        let folder = configured.ok_or_else(|| {
            CliError::Failed(
                "no home folder is known, so Claude Code's files can't be found; set upstream.claude_config_dir".into(),
            )
        })?;
        Ok(ClaudeProvider::new(folder, self.config.upstream.max_row_bytes))
    }

    /// All catalogs that can be found on this machine.
    pub(super) fn providers(&self) -> Vec<Arc<dyn Provider>> {
        match self.claude() {
            Ok(provider) => vec![Arc::new(provider)],
            Err(error) => {
                tracing::warn!(%error, "a catalog is left out");
                Vec::new()
            }
        }
    }

    /// How the live engine runs; `screen` says whether a person sees the notices.
    pub fn live_options(&self, screen: bool) -> LiveOptions {
        LiveOptions {
            db: self.db.clone(),
            clock: Arc::clone(&self.clock),
            settings: self.config.settings(),
            providers: self.providers(),
            wake_command: self.config.wake.command.clone(),
            screen,
            file_events: self.config.upstream.file_events,
            schedule: Schedule::default(),
        }
    }
}

/// An engine that is only read from.
#[derive(Debug)]
pub(super) struct Reader {
    engine: Engine,
    is_owned: bool,
    /// Where the state lies that stands in for a missing one; it goes with the reader.
    _stand_in: Option<TempDir>,
}

impl Reader {
    /// The picture that every surface renders.
    pub(super) fn snapshot(&mut self) -> Result<Snapshot, EngineError> {
        self.engine.snapshot(1, Role::Visitor, self.is_owned, &[])
    }
}

impl Deref for Reader {
    type Target = Engine;

    fn deref(&self) -> &Engine {
        &self.engine
    }
}

impl DerefMut for Reader {
    fn deref_mut(&mut self) -> &mut Engine {
        &mut self.engine
    }
}

fn open(db: &Path, context: &Context) -> Result<Engine, EngineError> {
    Engine::open(db, Arc::clone(&context.clock), context.config.settings(), Discipline::InStep)
}

/// The config that the options name; one that was asked for has to be there.
fn config(options: &Options) -> Result<Config, CliError> {
    if let Some(path) = &options.config {
        return Config::load(path)?
            .ok_or_else(|| CliError::Usage(format!("there is no config {}", path.display())));
    }
    let path = folders()?.config_dir().join("tidings").join("config.toml");
    Ok(Config::load(&path)?.unwrap_or_default())
}

/// Where state and logs lie by default: `$XDG_STATE_HOME/tidings`.
pub(super) fn state_folder() -> Result<PathBuf, CliError> {
    let state = folders()?.state_dir().ok_or_else(|| {
        CliError::Failed("no folder for state is known; name a state database with --db".into())
    })?;
    Ok(state.join("tidings"))
}

fn folders() -> Result<Xdg, CliError> {
    Xdg::new()
        .map_err(|error| CliError::Failed(format!("{error}; set HOME, or give --db and --config")))
}

//! The options of every verb, made into what the verbs use: the state database, the config, the catalogs, the clock.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use etcetera::BaseStrategy as _;
use etcetera::base_strategy::Xdg;
use tempfile::TempDir;

use super::arguments::Harness;
use super::{CliError, Options};
use crate::clock::{Clock, Millis, SystemClock};
use crate::config::Config;
use crate::engine::attached::{AttachOptions, Attached, READ_ONLY};
use crate::engine::check::Readings;
use crate::engine::commands::{self, Address};
use crate::engine::explain::{Explanation, Question};
use crate::engine::live::{LiveOptions, Schedule};
use crate::engine::snapshot::{Role, Snapshot};
use crate::engine::{Discipline, Engine, EngineError, lock};
use crate::event::{Changes, Sequence};
use crate::journal;
use crate::journal::attached::usual_place;
use crate::session_key::SessionKey;
use crate::upstream::Provider;
use crate::upstream::claude::{self, ClaudeProvider};
use crate::upstream::codex::{self, CodexProvider};
use crate::upstream_link::UpstreamLink;

/// What the verbs use.
#[derive(Debug)]
pub struct Context {
    /// The options as they were given.
    pub options: Options,
    /// The config.
    pub config: Config,
    /// The state database. It may not exist yet.
    pub db: PathBuf,
    /// Another system's state database, to be read in place of ours.
    pub attach: Option<PathBuf>,
    /// Where time comes from.
    pub clock: Arc<dyn Clock>,
}

impl Context {
    /// Reads the config and finds the state database; opens nothing.
    ///
    /// # Errors
    /// The config is wrong, or there is no home folder to look in.
    pub fn new(options: &Options) -> Result<Self, CliError> {
        let config = config(options)?;
        Ok(Self {
            attach: attach(options, &config)?,
            config,
            db: match &options.db {
                Some(db) => db.clone(),
                None => state_folder()?.join("state.sqlite"),
            },
            options: options.clone(),
            clock: Arc::new(SystemClock),
        })
    }

    /// The engine over the state database, which is made when it is not there.
    ///
    /// # Errors
    /// It can't be opened, or another system's is attached, to which nothing is written.
    pub(super) fn engine(&self) -> Result<Engine, CliError> {
        self.refuse_attached()?;
        Ok(open(&self.db, self)?)
    }

    /// Refuses what would write while another system's state database is attached.
    pub(super) fn refuse_attached(&self) -> Result<(), CliError> {
        match &self.attach {
            Some(_) => Err(EngineError::Refused(READ_ONLY.into()).into()),
            None => Ok(()),
        }
    }

    /// The engine, to read from. Nothing is made: a state database that is not there yet reads like a new one.
    pub(super) fn reader(&self) -> Result<Reader, CliError> {
        if let Some(options) = self.attach_options() {
            let attached = Attached::open(&options.path, options.clock, options.settings)?;
            return Ok(Reader::Attached(Box::new(attached)));
        }
        let is_missing = match self.db.metadata() {
            Ok(file) => file.is_file() && file.len() == 0,
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        };
        if !is_missing {
            let is_owned = lock::is_owned(&self.db);
            let engine = Box::new(self.engine()?);
            return Ok(Reader::Own { engine, is_owned, stand_in: None });
        }
        let folder = tempfile::Builder::new().prefix("tidings-").tempdir().map_err(|error| {
            CliError::Failed(format!("could not make a temporary folder: {error}"))
        })?;
        let engine = Box::new(open(&folder.path().join("state.sqlite"), self)?);
        Ok(Reader::Own { engine, is_owned: false, stand_in: Some(folder) })
    }

    /// The session that a key names, to read about.
    pub(super) fn named(&self, key: &str) -> Result<Address, CliError> {
        Ok(commands::address(key, self.options.agent.as_deref())?)
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

    /// Where Claude Code and Codex keep their files, as far as that is known, by catalog.
    pub(super) fn homes(&self) -> Vec<(&'static str, PathBuf)> {
        let home = std::env::var_os("HOME");
        let upstream = &self.config.upstream;
        let set = |name: &str| std::env::var_os(name);
        let claude = configured(upstream.claude_config_dir.as_deref(), home.as_deref())
            .or_else(|| claude::config_dir(set("CLAUDE_CONFIG_DIR").as_deref(), home.as_deref()));
        let codex = configured(upstream.codex_home.as_deref(), home.as_deref())
            .or_else(|| codex::codex_home(set("CODEX_HOME").as_deref(), home.as_deref()));
        let named = |catalog, folder: Option<PathBuf>| folder.map(|folder| (catalog, folder));
        [named(claude::CATALOG, claude), named(codex::CATALOG, codex)]
            .into_iter()
            .flatten()
            .collect()
    }

    /// The catalogs of this machine, or the one of `only`.
    pub(super) fn providers(&self, only: Option<Harness>) -> Vec<Arc<dyn Provider>> {
        let limit = self.config.upstream.max_row_bytes;
        let homes = self.homes();
        if homes.is_empty() {
            tracing::warn!(
                "no home folder is known, so no foreign session can be found; set upstream.claude_config_dir or codex_home"
            );
        }
        let cache = cache_folder();
        let wanted = |catalog: &str| only.is_none_or(|harness| harness.catalog() == catalog);
        homes
            .into_iter()
            .filter(|(catalog, _)| wanted(catalog))
            .map(|(catalog, folder)| -> Arc<dyn Provider> {
                if catalog == codex::CATALOG {
                    let provider = CodexProvider::new(folder, limit);
                    match &cache {
                        Some(cache) => Arc::new(provider.remembering_in(cache)),
                        None => Arc::new(provider),
                    }
                } else {
                    let provider = ClaudeProvider::new(folder, limit);
                    match &cache {
                        Some(cache) => Arc::new(provider.remembering_in(cache)),
                        None => Arc::new(provider),
                    }
                }
            })
            .collect()
    }

    /// How another system's state database is looked at live, when one is attached.
    pub fn attach_options(&self) -> Option<AttachOptions> {
        Some(AttachOptions {
            path: self.attach.clone()?,
            clock: Arc::clone(&self.clock),
            settings: self.config.settings(),
            alerts: self.config.alert_rules(),
            remember_in: state_folder().ok().map(|folder| folder.join("attached")),
        })
    }

    /// Where themes of one's own lie: the folder `themes` beside the config.
    pub fn themes_folder(&self) -> Option<PathBuf> {
        match &self.options.config {
            Some(config) => config.parent().map(|folder| folder.join("themes")),
            None => Some(folders().ok()?.config_dir().join("tidings").join("themes")),
        }
    }

    /// How the live engine runs; `screen` says whether a person sees the notices.
    pub fn live_options(&self, screen: bool) -> LiveOptions {
        LiveOptions {
            db: self.db.clone(),
            clock: Arc::clone(&self.clock),
            settings: self.config.settings(),
            providers: self.providers(None),
            wake_command: self.config.wake.command.clone(),
            screen,
            file_events: self.config.upstream.file_events,
            schedule: Schedule::default(),
            alerts: self.config.alert_rules(),
        }
    }
}

/// A folder from the config, in which `~/` means the home folder.
fn configured(folder: Option<&Path>, home: Option<&OsStr>) -> Option<PathBuf> {
    let folder = folder?;
    match (folder.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => Some(Path::new(home).join(rest)),
        _ => Some(folder.to_owned()),
    }
}

/// A state database that is only read from: ours, or another system's.
#[derive(Debug)]
pub(super) enum Reader {
    Own {
        engine: Box<Engine>,
        is_owned: bool,
        /// Where the state lies that stands in for a missing one; it goes with the reader.
        stand_in: Option<TempDir>,
    },
    Attached(Box<Attached>),
}

impl Reader {
    /// The picture that every surface renders.
    pub(super) fn snapshot(&mut self) -> Result<Snapshot, EngineError> {
        match self {
            Self::Own { engine, is_owned, .. } => engine.snapshot(1, Role::Visitor, *is_owned, &[]),
            Self::Attached(attached) => attached.snapshot(1, &[]),
        }
    }

    /// What changed in a session after a version.
    pub(super) fn changes(
        &mut self,
        session: &Address,
        after: Sequence,
        limit: usize,
    ) -> Result<Changes, EngineError> {
        match self {
            Self::Own { engine, .. } => engine.changes(session, after, limit),
            Self::Attached(attached) => attached.changes(session, after, limit),
        }
    }

    /// The session that a key names, if anything knows it.
    pub(super) fn known_address(
        &mut self,
        key: &str,
        agent: Option<&str>,
    ) -> Result<Address, EngineError> {
        match self {
            Self::Own { engine, .. } => engine.known_address(key, agent),
            Self::Attached(attached) => attached.known_address(key, agent),
        }
    }

    /// The newest number of the journal.
    pub(super) fn newest_number(&mut self) -> Result<Sequence, EngineError> {
        self.read(|journal| Ok(journal.newest_number()?))
    }

    /// The links of adopted sessions.
    pub(super) fn links(&mut self) -> Result<Vec<UpstreamLink>, EngineError> {
        self.read(|journal| Ok(journal.links()?))
    }

    fn read<T>(
        &mut self,
        read: impl Fn(&journal::Reader) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        match self {
            Self::Own { engine, .. } => read(engine.journal()),
            Self::Attached(attached) => attached.steadily(|attached| read(attached.reader())),
        }
    }

    /// The state database.
    pub(super) fn journal(&self) -> &journal::Reader {
        match self {
            Self::Own { engine, .. } => engine.journal(),
            Self::Attached(attached) => attached.reader(),
        }
    }

    /// Explains a pair.
    pub(super) fn explain(&mut self, question: &Question) -> Result<Explanation, EngineError> {
        match self {
            Self::Own { engine, is_owned, .. } => engine.explain(question, *is_owned),
            Self::Attached(attached) => {
                attached.steadily(|attached| attached.observer().explain(question))
            }
        }
    }

    /// What a picture does not hold: appends that failed since `since`, and how long the write lock takes.
    pub(super) fn readings(&mut self, since: Millis) -> Result<Readings, CliError> {
        Ok(match self {
            Self::Attached(_) => Readings::default(),
            Self::Own { engine, .. } => Readings {
                append_failures: i64::try_from(engine.journal().append_failures_since(since)?).ok(),
                lock_wait: Some(engine.journal_mut().lock_wait()?),
            },
        })
    }

    /// Whether what it reads is no longer the state: it stood in for a database that was not there yet, or an attached file that
    /// nobody wrote is written by now.
    pub(super) fn is_outdated(&self) -> bool {
        match self {
            Self::Own { stand_in, .. } => stand_in.is_some(),
            Self::Attached(attached) => !attached.reader().is_steady(),
        }
    }

    /// The engine over our own state; `None` over another system's.
    pub(super) fn engine(&self) -> Option<&Engine> {
        match self {
            Self::Own { engine, .. } => Some(engine),
            Self::Attached(_) => None,
        }
    }
}

/// The state database to attach to: the option wins, then an own state database that was named, then the config. `auto` looks
/// where the original keeps it.
fn attach(options: &Options, config: &Config) -> Result<Option<PathBuf>, CliError> {
    let wanted = match (&options.attach, &options.db) {
        (Some(path), _) => path,
        (None, Some(_)) => return Ok(None),
        (None, None) => match &config.attach {
            Some(path) => path,
            None => return Ok(None),
        },
    };
    if wanted.as_os_str() != "auto" {
        return Ok(Some(below_home(wanted)));
    }
    let variable = std::env::var_os("OPENCLAW_STATE_DIR");
    let place = usual_place(variable.as_deref(), std::env::var_os("HOME").as_deref());
    let place = place.ok_or_else(|| {
        CliError::Failed(
            "no home folder is known to look in; name the database with --attach PATH".into(),
        )
    })?;
    if !place.exists() {
        return Err(CliError::Failed(format!(
            "there is no state database at {}; name it with --attach PATH, or set OPENCLAW_STATE_DIR",
            place.display()
        )));
    }
    Ok(Some(place))
}

/// A path from the config or the command line; `~/` at its beginning means the home folder.
fn below_home(path: &Path) -> PathBuf {
    match (path.strip_prefix("~"), std::env::var_os("HOME")) {
        (Ok(rest), Some(home)) => Path::new(&home).join(rest),
        _ => path.to_owned(),
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

/// Where what can be made anew lies: `$XDG_CACHE_HOME/tidings`. Without one nothing is kept.
fn cache_folder() -> Option<PathBuf> {
    Some(folders().ok()?.cache_dir().join("tidings"))
}

fn folders() -> Result<Xdg, CliError> {
    Xdg::new()
        .map_err(|error| CliError::Failed(format!("{error}; set HOME, or give --db and --config")))
}

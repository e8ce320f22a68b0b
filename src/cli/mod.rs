//! The command line: parse, call the engine, print.
//!
//! One file a verb, named like it. Beside them:
//!
//! | file | holds |
//! | --- | --- |
//! | `context` | the options of every verb: state database, config, catalogs |
//! | `parse` | reading the command line; its errors in one line |
//! | `arguments` | values of options that several verbs read |
//! | `output` | JSON documents and lines, text, closed pipes |
//! | `error` | what can fail, exit codes, error documents |
//! | `json` | shapes of JSON that several verbs print |
//! | `human` | tables and ages |
//! | `log` | where diagnostics go |
//!
//! Nothing here knows the screen: `main` opens it when no verb is given.

mod adopt;
mod alerts;
mod arguments;
mod catalog;
mod check;
mod compacted;
mod completions;
pub mod context;
mod delete;
pub mod demo;
mod doctor;
pub mod error;
mod explain;
mod findings;
mod finish;
mod follow;
mod following;
mod goal;
mod human;
mod json;
pub mod log;
mod man;
mod metrics;
mod notices;
mod output;
mod parse;
mod queue;
mod record;
mod reset;
mod run;
mod scan;
mod schema;
mod script;
mod send;
mod sessions;
mod spawn;
mod status;
mod tick;
mod turn;
mod unwatch;
mod wait;
mod watch;
mod watches;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

pub use context::Context;
pub use error::CliError;
pub use parse::parse;

use output::Output;

/// The command line of `tidings`.
#[derive(Debug, Parser)]
#[command(
    name = "tidings",
    version,
    max_term_width = 100,
    about = "Keeps agent sessions abreast of what others did to the sessions they depend on",
    long_about = "Keeps every agent session abreast of what other people and agents did to the sessions it depends on, \
                  and lets a person watch that happen. Without a verb, tidings opens the live monitor.",
    after_long_help = "Exit codes: 0 done; 1 it failed, stderr says why; 2 the command line or the config is wrong; \
                       3 no such session, watch or catalog entry; 130 interrupted."
)]
pub struct Cli {
    /// The options of every verb.
    #[command(flatten)]
    pub options: Options,
    /// What to do; without one, the live monitor.
    #[command(subcommand)]
    pub verb: Option<Verb>,
}

/// The options of every verb.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Options of every verb")]
#[expect(clippy::doc_markdown, reason = "the help prints these comments as they stand")]
pub struct Options {
    /// The state database [default: $XDG_STATE_HOME/tidings/state.sqlite]
    #[arg(long, global = true, value_name = "PATH", env = "TIDINGS_DB", hide_env_values = true)]
    pub db: Option<PathBuf>,
    /// Read another system's state database in place of ours, strictly read-only; auto looks where OpenClaw keeps it
    #[arg(long, global = true, value_name = "PATH|auto")]
    pub attach: Option<PathBuf>,
    /// The config [default: $XDG_CONFIG_HOME/tidings/config.toml]
    #[arg(
        long,
        global = true,
        value_name = "PATH",
        env = "TIDINGS_CONFIG",
        hide_env_values = true
    )]
    pub config: Option<PathBuf>,
    /// Print JSON: one document, or one document a line where the verb streams
    #[arg(long, global = true)]
    pub json: bool,
    /// Which agent a bare key belongs to; by default the agent in the key, else main
    #[arg(long, global = true, value_name = "ID")]
    pub agent: Option<String>,
    /// No colour (NO_COLOR does the same)
    #[arg(long, global = true)]
    pub no_color: bool,
    /// Say more: warnings on stderr, more in the log
    #[arg(short, long, global = true)]
    pub verbose: bool,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// The live monitor over a simulated team, in a state of its own that is thrown away
    Demo(demo::Arguments),
    /// The engine without the screen: monitor, wakes and sweep, until interrupted
    Run(run::Arguments),
    /// List sessions with their versions
    Sessions(sessions::Arguments),
    /// The version of a session, and what changed since an earlier one
    Status(status::Arguments),
    /// List watches: who watches whom, and what is owed
    Watches(watches::Arguments),
    /// List pending notices
    Notices(notices::Arguments),
    /// What waits for each session's next turn, and its wake
    Queue(queue::Arguments),
    /// Why a watcher was, or was not, told
    Explain(explain::Arguments),
    /// What needs a look, by rule, and what can't be judged yet
    Findings(findings::Arguments),
    /// Print events as they come, one a line, until interrupted
    Follow(follow::Arguments),
    /// Block until something after a version matches, print it, exit
    Wait(wait::Arguments),
    /// One line and an exit code for monitoring
    Check(Box<check::Arguments>),
    /// The state as Prometheus text
    Metrics(metrics::Arguments),
    /// What is wrong with the state, the lock, the clock, the catalogs and the terminal, and how to mend it
    Doctor(doctor::Arguments),
    /// The configured alerts
    Alerts(alerts::Arguments),
    /// Print the JSON Schema of what a verb prints with --json
    Schema(schema::Arguments),
    /// Append one event
    Record(Box<record::Arguments>),
    /// Record that a parent is about to launch a child
    Spawn(spawn::Arguments),
    /// Record how a child's run ended
    Finish(finish::Arguments),
    /// Set a goal, change its status or clear it
    Goal(goal::Arguments),
    /// Record that a session's history was compacted
    Compacted(compacted::Arguments),
    /// Watch a session
    Watch(watch::Arguments),
    /// Stop watching a session
    Unwatch(unwatch::Arguments),
    /// Deliver a message, for the receiver's next turn
    Send(send::Arguments),
    /// Begin a turn: print the lines that wait, acknowledge the notices among them
    Turn(turn::Arguments),
    /// Reset a session: the watches that it holds end
    Reset(reset::Arguments),
    /// Delete a session: its events, its watches on both sides, its link, its messages
    Delete(delete::Arguments),
    /// List the sessions of other programs on this machine that are not adopted
    Catalog(catalog::Arguments),
    /// Adopt a session of another program that runs on this machine
    Adopt(adopt::Arguments),
    /// Look at all watched adopted sessions now
    Tick(tick::Arguments),
    /// Classify a transcript row by row: what counts as a human turn, and why
    Scan(scan::Arguments),
    /// Run scripted checks: one operation a line in, one observation a line out
    Script(script::Arguments),
    /// Print completions for a shell
    Completions(completions::Arguments),
    /// Print a man page
    Man(man::Arguments),
}

/// Does what `verb` says and prints it. Only for verbs without a screen.
pub fn run(options: &Options, verb: &Verb) -> ExitCode {
    error::finish(options, dispatch(options, verb))
}

fn dispatch(options: &Options, verb: &Verb) -> Result<(), CliError> {
    let output = &mut Output::new(options);
    match verb {
        Verb::Completions(arguments) => completions::run(arguments, output)?,
        Verb::Man(arguments) => man::run(arguments, output)?,
        Verb::Schema(arguments) => schema::run(arguments, output)?,
        _ => {
            let context = Context::new(options)?;
            match verb {
                Verb::Run(_) => log::to_files(&context)?,
                _ => log::to_stderr(options),
            }
            with_context(verb, &context, output)?;
        }
    }
    output.flush()
}

fn with_context(verb: &Verb, context: &Context, output: &mut Output) -> Result<(), CliError> {
    match verb {
        Verb::Run(arguments) => run::run(arguments, context, output),
        Verb::Sessions(_) => sessions::run(context, output),
        Verb::Status(arguments) => status::run(arguments, context, output),
        Verb::Watches(arguments) => watches::run(arguments, context, output),
        Verb::Notices(arguments) => notices::run(arguments, context, output),
        Verb::Queue(_) => queue::run(context, output),
        Verb::Explain(arguments) => explain::run(arguments, context, output),
        Verb::Findings(_) => findings::run(context, output),
        Verb::Follow(arguments) => follow::run(arguments, context, output),
        Verb::Wait(arguments) => wait::run(arguments, context, output),
        Verb::Check(arguments) => check::run(arguments, context, output),
        Verb::Metrics(_) => metrics::run(context, output),
        Verb::Doctor(_) => doctor::run(context, output),
        Verb::Alerts(arguments) => alerts::run(arguments, context, output),
        Verb::Record(arguments) => record::run(arguments, context, output),
        Verb::Spawn(arguments) => spawn::run(arguments, context, output),
        Verb::Finish(arguments) => finish::run(arguments, context, output),
        Verb::Goal(arguments) => goal::run(arguments, context, output),
        Verb::Compacted(arguments) => compacted::run(arguments, context, output),
        Verb::Watch(arguments) => watch::run(arguments, context, output),
        Verb::Unwatch(arguments) => unwatch::run(arguments, context, output),
        Verb::Send(arguments) => send::run(arguments, context, output),
        Verb::Turn(arguments) => turn::run(arguments, context, output),
        Verb::Reset(arguments) => reset::run(arguments, context, output),
        Verb::Delete(arguments) => delete::run(arguments, context, output),
        Verb::Catalog(arguments) => catalog::run(arguments, context, output),
        Verb::Adopt(arguments) => adopt::run(arguments, context, output),
        Verb::Tick(_) => tick::run(context, output),
        Verb::Scan(arguments) => scan::run(arguments, context, output),
        Verb::Script(arguments) => script::run(arguments, context, output),
        Verb::Demo(_) | Verb::Completions(_) | Verb::Man(_) | Verb::Schema(_) => Ok(()),
    }
}

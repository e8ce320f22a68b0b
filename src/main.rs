//! `tidings`: parses the command line, and opens the screen or runs a verb.

use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::sync::Arc;

use tidings::cli::{self, CliError, Context, Options};
use tidings::clock::Clock;
use tidings::config::Theme;
use tidings::demo::{self, Demo, DemoOptions};
use tidings::engine::live::{Handle, Live};
use tidings::ui::{self, theme::ThemeName};

fn main() -> ExitCode {
    let cli = match cli::parse() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    match &cli.verb {
        None => cli::error::finish(&cli.options, monitor(&cli.options)),
        Some(cli::Verb::Demo(arguments)) => {
            cli::error::finish(&cli.options, demo(&cli.options, arguments))
        }
        Some(verb) => cli::run(&cli.options, verb),
    }
}

/// The live monitor on the state database of this machine.
fn monitor(options: &Options) -> Result<(), CliError> {
    if !has_terminal() {
        return Err(CliError::Usage(
            "the monitor needs a terminal; `tidings run` does the same without one, and --help lists the verbs".into(),
        ));
    }
    let context = Context::new(options)?;
    cli::log::to_files(&context)?;
    let mut live = Live::start(context.live_options(true))?;
    drop(live.feed());
    let shown = show(live.handle(), screen(&context, &context.clock, None));
    live.stop();
    shown
}

/// The live monitor over a simulated team.
fn demo(options: &Options, arguments: &cli::demo::Arguments) -> Result<(), CliError> {
    if !has_terminal() {
        return Err(CliError::Usage(
            "the demo needs a terminal; `tidings script` plays operations without one".into(),
        ));
    }
    let context = Context::new(options)?;
    let failed = |error: demo::DemoError| CliError::Failed(error.to_string());
    let demo = Demo::start(DemoOptions { seed: arguments.seed, speed: arguments.speed })
        .map_err(failed)?;
    show(demo.handle(), screen(&context, &demo.clock(), Some("demo")))
}

fn has_terminal() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// Shows the screen over a live engine until it is left.
fn show(handle: Handle, screen: ui::Options) -> Result<(), CliError> {
    let failed = |error: &dyn std::fmt::Display| CliError::Failed(error.to_string());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| failed(&error))?;
    match runtime.block_on(ui::run(handle, screen)) {
        Ok(ui::Exit::Quit | ui::Exit::Terminated) => Ok(()),
        Ok(ui::Exit::HungUp) => Err(CliError::HungUp),
        Err(ui::UiError::Keys(error)) => Err(CliError::Usage(error.to_string())),
        Err(error) => Err(failed(&error)),
    }
}

fn screen(context: &Context, clock: &Arc<dyn Clock>, title: Option<&str>) -> ui::Options {
    let config = &context.config.ui;
    ui::Options {
        theme: match config.theme {
            Theme::Dark => ThemeName::Dark,
            Theme::Light => ThemeName::Light,
            Theme::Mono => ThemeName::Mono,
        },
        keys: config.keys.clone(),
        no_color: context.options.no_color
            || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()),
        clock: Arc::clone(clock),
        zone: jiff::tz::TimeZone::system(),
        title: title.map(str::to_owned),
        bell: config.bell,
    }
}

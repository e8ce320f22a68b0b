//! `tidings`: parses the command line, and opens the screen or runs a verb.

use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::sync::Arc;

use tidings::cli::{self, CliError, Context, Options};
use tidings::clock::Clock;
use tidings::config::{Colours, Glyphs};
use tidings::demo::{self, Demo, DemoOptions};
use tidings::engine::live::{Handle, Live};
use tidings::ui;
use tidings::ui::theme::{Depth, Theme};

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
    let screen = screen(&context, &context.clock, None)?;
    let mut live = match context.attach_options() {
        Some(options) => Live::attach(options)?,
        None => Live::start(context.live_options(true))?,
    };
    drop(live.feed());
    let shown = show(live.handle(), screen);
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
    show(demo.handle(), screen(&context, &demo.clock(), Some("demo"))?)
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

fn screen(
    context: &Context,
    clock: &Arc<dyn Clock>,
    title: Option<&str>,
) -> Result<ui::Options, CliError> {
    let config = &context.config.ui;
    let no_color = context.options.no_color
        || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let variable = |name: &str| std::env::var(name).ok();
    let depth = match config.colours {
        Colours::Auto => {
            Depth::of_terminal(variable("COLORTERM").as_deref(), variable("TERM").as_deref())
        }
        Colours::Sixteen => Depth::Sixteen,
        Colours::Indexed => Depth::Indexed,
        Colours::True => Depth::True,
    };
    let theme = if no_color {
        Ok(Theme::mono())
    } else {
        Theme::load(&config.theme, context.themes_folder().as_deref(), depth)
    };
    Ok(ui::Options {
        theme: theme.map_err(|error| CliError::Usage(error.to_string()))?,
        keys: config.keys.clone(),
        clock: Arc::clone(clock),
        zone: jiff::tz::TimeZone::system(),
        title: title.map(str::to_owned),
        bell: config.bell,
        desktop: config.desktop,
        mouse: config.mouse,
        ascii: match config.glyphs {
            Glyphs::Auto => ui::ascii::is_asked_for(variable),
            Glyphs::Unicode => false,
            Glyphs::Ascii => true,
        },
    })
}

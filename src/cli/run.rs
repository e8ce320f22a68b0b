//! `run`: the live engine without a screen. Everything that is decided is printed, one line each; over another system's state
//! database, every event that it records.

use std::fmt::Write as _;
use std::time::Duration;

use clap::Args;
use serde_json::Value;
use tokio::signal::unix::{SignalKind, signal};

use super::human::{shown, time_of_day};
use super::output::Output;
use super::{CliError, Context, arguments, error, following};
use crate::clock::Millis;
use crate::engine::feed::FeedItem;
use crate::engine::live::Live;
use crate::engine::monitor::LinkOutcome;
use crate::engine::snapshot::{EventRow, Role};
use crate::journal::ledger::Written;
use crate::visible;

/// The arguments of `run`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// End after this long, such as 10s or 5m
    #[arg(long = "for", value_name = "DURATION", value_parser = arguments::duration)]
    duration: Option<Duration>,
}

pub(super) fn run(
    arguments: &Arguments,
    context: &Context,
    output: &mut Output,
) -> Result<(), CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::Failed(format!("could not start the runtime: {error}")))?;
    let mut live = match context.attach_options() {
        Some(options) => Live::attach(options)?,
        None => Live::start(context.live_options(false))?,
    };
    say_when_viewer(&live.handle().snapshots().borrow().role);
    let result = runtime.block_on(follow(&mut live, arguments.duration, output));
    live.stop();
    result
}

/// Prints what is decided, until time is up or a signal comes.
async fn follow(
    live: &mut Live,
    duration: Option<Duration>,
    output: &mut Output,
) -> Result<(), CliError> {
    let listen = |kind| {
        signal(kind)
            .map_err(|error| CliError::Failed(format!("could not wait for signals: {error}")))
    };
    let mut interrupted = listen(SignalKind::interrupt())?;
    let mut terminated = listen(SignalKind::terminate())?;
    let mut hung_up = listen(SignalKind::hangup())?;
    let mut feed = live.feed().ok_or_else(|| {
        CliError::Failed("what the engine decides is read elsewhere already".into())
    })?;
    let time_is_up = async {
        match duration {
            Some(duration) => tokio::time::sleep(duration).await,
            None => std::future::pending().await,
        }
    };
    tokio::pin!(time_is_up);
    loop {
        tokio::select! {
            biased;
            _ = interrupted.recv() => return Err(CliError::Interrupted),
            _ = terminated.recv() => return Ok(()),
            _ = hung_up.recv() => return Err(CliError::HungUp),
            () = &mut time_is_up => return Ok(()),
            item = feed.recv() => match item {
                Some((at, item)) => print(&item, at, output)?,
                None => return Err(CliError::Failed("the engine has stopped; the log says why".into())),
            },
        }
    }
}

fn say_when_viewer(role: &Role) {
    if let Role::Viewer { owner } = role {
        let who = owner.map_or_else(|| "another process".to_owned(), |id| format!("process {id}"));
        error::note(&format!(
            "{who} runs the monitor on this state already; this one is a viewer and takes over when that one ends"
        ));
    }
}

fn print(item: &FeedItem, at: Millis, output: &mut Output) -> Result<(), CliError> {
    if output.is_json() {
        for line in item.to_json(at) {
            let Value::Object(line) = line else { continue };
            output.document(&line)?;
        }
    } else {
        output.text(&text(item, at))?;
    }
    output.flush()
}

fn text(item: &FeedItem, at: Millis) -> String {
    match item {
        FeedItem::Recorded(row) => recorded(row),
        FeedItem::Foreign(event) => following::line(event),
        FeedItem::Step(written) => step(written),
        FeedItem::Owner(Role::Owner) => {
            format!("{}  owner: this process runs the monitor", time_of_day(at))
        }
        FeedItem::Owner(Role::Visitor) => {
            format!("{}  visitor: another system's state is looked at, read-only", time_of_day(at))
        }
        FeedItem::Owner(Role::Viewer { .. }) => {
            format!("{}  viewer: another process runs the monitor", time_of_day(at))
        }
        FeedItem::Tick(outcomes) => tick(outcomes, at),
        FeedItem::Error(message) => {
            format!("{}  error: {}", time_of_day(at), visible::clean(message))
        }
    }
}

fn recorded(row: &EventRow) -> String {
    let mut line = following::line(&row.event);
    for (number, word) in
        [(row.notified, "notified"), (row.coalesced, "coalesced"), (row.suppressed, "suppressed")]
    {
        if number > 0 {
            let _ = write!(line, "  {word} {number}");
        }
    }
    line
}

fn step(written: &Written) -> String {
    let entry = &written.entry;
    let mut line = format!("{}  {}", time_of_day(written.at), entry.step.as_str());
    if let Some(watcher) = &entry.watcher {
        let _ = write!(line, "  {}", shown(watcher));
    }
    if let Some(target) = &entry.target {
        let _ = write!(line, " -> {}", shown(target));
    }
    if let Some(sequence) = entry.sequence {
        let _ = write!(line, "  #{sequence}");
    }
    if let Some(note) = &entry.note {
        let _ = write!(line, "  {}", visible::clean(note));
    }
    line
}

fn tick(outcomes: &[LinkOutcome], at: Millis) -> String {
    let told: Vec<_> = outcomes
        .iter()
        .filter(|link| link.outcome != "quiet")
        .map(|link| format!("{} {}", shown(&link.session), link.outcome))
        .collect();
    let said = if told.is_empty() { "quiet".to_owned() } else { told.join(", ") };
    format!("{}  tick: {} looked at, {said}", time_of_day(at), outcomes.len())
}

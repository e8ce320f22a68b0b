//! Waiting for events: what `follow` and `wait` share.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use tokio::signal::unix::{SignalKind, signal};

use super::context::Reader;
use super::human::{shown, time_of_day};
use super::json::EventJson;
use super::output::Output;
use super::{CliError, Context};
use crate::event::{Event, EventKind, Sequence};
use crate::session_key::SessionKey;
use crate::visible;

/// How often the state database is asked whether somebody wrote.
const POLL: Duration = Duration::from_millis(100);
/// Events that are read at once.
const BATCH: usize = 1_000;

/// An event with the session that it is about.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Followed<'a> {
    session_key: &'a SessionKey,
    agent_id: &'a str,
    #[serde(flatten)]
    event: EventJson<'a>,
}

/// What is waited for.
pub(super) struct Following {
    session: Option<SessionKey>,
    kinds: Vec<EventKind>,
    after: Sequence,
    reader: Reader,
    data_version: Option<i64>,
}

impl Following {
    /// Events after `since`, without it from now on; of the session that `key` names, of these kinds when there are any.
    ///
    /// # Errors
    /// `since` lies beyond the newest number: nothing can come after what never was.
    pub(super) fn new(
        context: &Context,
        key: Option<&str>,
        since: Option<Sequence>,
        kinds: &[EventKind],
    ) -> Result<Self, CliError> {
        let session = key.map(|key| context.named(key)).transpose()?.map(|(session, _)| session);
        let mut reader = context.reader()?;
        let newest = reader.newest_number()?;
        let after = since.unwrap_or(newest);
        if after > newest {
            return Err(CliError::Failed(format!(
                "version {after} lies beyond the journal, whose newest number is {newest}"
            )));
        }
        Ok(Self { session, kinds: kinds.to_vec(), after, reader, data_version: None })
    }

    /// The events that came since this was last asked, oldest first.
    pub(super) fn next(&mut self, context: &Context) -> Result<Vec<Event>, CliError> {
        if self.reader.is_outdated() {
            self.reader = context.reader()?;
            self.data_version = None;
        }
        let version = Some(self.reader.journal().data_version()?);
        if version == self.data_version {
            return Ok(Vec::new());
        }
        let session = self.session.as_ref();
        let found = self.reader.journal().events_after(self.after, session, &self.kinds, BATCH)?;
        if self.reader.is_outdated() && !found.is_empty() {
            // It was written while it was read; the next look takes another reader.
            return Ok(Vec::new());
        }
        match found.last() {
            Some(last) => self.after = last.sequence,
            None => self.data_version = version,
        }
        Ok(found)
    }
}

/// Asks `step` again and again until it is done, time is up (`None`), or a signal comes.
pub(super) fn until<T>(
    timeout: Option<Duration>,
    mut step: impl FnMut() -> Result<Option<T>, CliError>,
) -> Result<Option<T>, CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::Failed(format!("could not start the runtime: {error}")))?;
    runtime.block_on(async {
        let listen = |kind| {
            signal(kind)
                .map_err(|error| CliError::Failed(format!("could not wait for signals: {error}")))
        };
        let mut interrupted = listen(SignalKind::interrupt())?;
        let mut terminated = listen(SignalKind::terminate())?;
        let time_is_up = async {
            match timeout {
                Some(timeout) => tokio::time::sleep(timeout).await,
                None => std::future::pending().await,
            }
        };
        tokio::pin!(time_is_up);
        let mut poll = tokio::time::interval(POLL);
        poll.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                _ = interrupted.recv() => return Err(CliError::Interrupted),
                _ = terminated.recv() => return Ok(None),
                _ = poll.tick() => if let Some(done) = step()? {
                    return Ok(Some(done));
                },
                () = &mut time_is_up => return Ok(None),
            }
        }
    })
}

/// Prints an event on a line of its own, at once.
pub(super) fn print(event: &Event, output: &mut Output) -> Result<(), CliError> {
    let followed = Followed {
        session_key: &event.session,
        agent_id: event.agent.as_str(),
        event: EventJson::from(event),
    };
    output.show(&followed, || line(event))?;
    output.flush()
}

/// An event as a line of text.
pub(super) fn line(event: &Event) -> String {
    format!(
        "{}  #{} {}  {}  {}  {}",
        time_of_day(event.occurred_at),
        event.sequence,
        shown(&event.session),
        visible::clean(event.kind.as_str()),
        visible::clean(event.actor_type.as_str()),
        visible::clean(&event.summary)
    )
}

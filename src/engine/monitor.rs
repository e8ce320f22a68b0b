//! The upstream monitor: one tick probes every watched link and settles what was found (`upstream.md` 2).
//!
//! A tick has three parts, so that the engine is never held up by a file: [`Engine::begin_tick`] lists the probes,
//! [`probe_all`] asks the providers on threads of their own, and [`Engine::settle`] writes each answer in one transaction.

use std::sync::Arc;
use std::time::Instant;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::continuing;
use super::facts::recorded;
use super::probing::{InFlight, PROBE_LIMIT, probe_all};
use super::{Engine, EngineError};
use crate::clock::{DAY, Millis};
use crate::event::{ActorType, EventKind, NewEvent};
use crate::journal::owner::StoredPulse;
use crate::journal::upstream_links::{MISSING_THRESHOLD, Settled, Settlement};
use crate::session_key::{AgentId, SessionKey};
use crate::upstream::echo::{OWN_TEXTS, OwnTexts, TextHash};
use crate::upstream::{ARCHIVED, Absence, Cause, Finding, GoesOn, Probe, Provider, Window};
use crate::upstream_link::UpstreamLink;

/// Windows of one source that one tick reads at the most: 1 GiB, so that no source holds a tick for ever.
pub(super) const MAX_WINDOWS: usize = 1_024;

/// What a tick found behind one link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LinkOutcome {
    /// The adopted session.
    #[serde(rename = "sessionKey")]
    pub session: SessionKey,
    /// Which catalog was asked.
    #[serde(rename = "catalogId")]
    pub catalog: String,
    /// The foreign session's own id.
    #[serde(rename = "threadId")]
    pub thread: String,
    /// In a word: `quiet`, `activity`, `echo`, `missing`, `blocked`, `ambiguous`, `unreadable`, `replaced`, `archived`,
    /// `moved`, `continued elsewhere`, `unknown`.
    pub outcome: String,
    /// Human turns that were recorded.
    pub human_turns: u32,
    /// More about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

impl Engine {
    /// Lists the probes of a tick, and the outcome of links that can't be probed because two agents hold their key.
    pub fn begin_tick(&mut self) -> Result<(Vec<Probe>, Vec<LinkOutcome>), EngineError> {
        self.journal.clear_unwatched_streaks()?;
        let (links, ambiguous) = self.journal.watched_links()?;
        let now = self.now();
        let mut outcomes = Vec::new();
        for link in &ambiguous {
            let detail = "the key is linked under two agents, and a cursor knows only the key";
            self.journal.write_outcome(link, "ambiguous", Some(detail), true, now)?;
            outcomes.push(outcome(link, "ambiguous", 0, Some(detail.into())));
        }
        let mut probes = Vec::with_capacity(links.len());
        for link in links {
            match self.probe_of(link.clone()) {
                Ok(probe) => probes.push(probe),
                Err(error) => {
                    tracing::warn!(%error, session = %link.session, "an upstream link was skipped");
                    let detail = format!("not probed, it is tried again: {error}");
                    outcomes.push(outcome(&link, "unknown", 0, Some(detail)));
                }
            }
        }
        Ok((probes, outcomes))
    }

    /// The probes of these links, as far as they are watched and can be probed.
    pub(super) fn probes_of(
        &self,
        wanted: &[(SessionKey, AgentId)],
    ) -> Result<Vec<Probe>, EngineError> {
        let (links, _) = self.journal.watched_links()?;
        links
            .into_iter()
            .filter(|link| {
                wanted.iter().any(|(key, agent)| (key, agent) == (&link.session, &link.agent))
            })
            .map(|link| self.probe_of(link))
            .collect()
    }

    pub(super) fn probe_of(&self, link: UpstreamLink) -> Result<Probe, EngineError> {
        let hashes = self.journal.own_texts(&link.session, OWN_TEXTS)?;
        let own_texts = OwnTexts::new(hashes.into_iter().map(TextHash).collect());
        Ok(Probe { link, own_texts, cause: Cause::Tick, held: None })
    }

    /// Settles one answer. Returns the outcome, and the next probe when more lies behind what was read.
    pub fn settle(
        &mut self,
        probe: &Probe,
        finding: Finding,
    ) -> Result<(LinkOutcome, Option<Probe>), EngineError> {
        let link = &probe.link;
        let now = self.now();
        let told = |word: &str, detail: Option<String>| outcome(link, word, 0, detail);
        let settled = match finding {
            // Most links are quiet at most ticks: they are written down together when the tick ends.
            Finding::Quiet => {
                self.quiet.push(link.clone());
                told("quiet", None)
            }
            Finding::QuietBut(detail) => {
                self.journal.write_outcome(link, "quiet", Some(&detail), true, now)?;
                told("quiet", Some(detail))
            }
            Finding::Archived => {
                self.journal.write_outcome(link, ARCHIVED, None, true, now)?;
                told(ARCHIVED, None)
            }
            Finding::Blocked { bytes, offset } => {
                let detail = format!(
                    "row of at least {bytes} bytes at offset {offset}; raise upstream.max_row_bytes"
                );
                self.journal.write_outcome(link, "blocked", Some(&detail), true, now)?;
                told("blocked", Some(detail))
            }
            Finding::Unreadable(reason) => {
                self.journal.write_outcome(link, "unreadable", Some(&reason), false, now)?;
                told("unreadable", Some(reason))
            }
            Finding::Invalid(reason) => {
                self.journal.write_outcome(link, "unknown", Some(&reason), true, now)?;
                told("unknown", Some(reason))
            }
            Finding::Missing => self.settle_missing(link, None)?,
            Finding::Gone(absence) => self.settle_missing(link, Some(absence))?,
            Finding::Elsewhere(detail) => {
                self.journal.write_outcome(link, ELSEWHERE, Some(&detail), true, now)?;
                told(ELSEWHERE, Some(detail))
            }
            Finding::Read(window) => return self.settle_window(probe, &window),
        };
        Ok((settled, None))
    }

    fn settle_window(
        &mut self,
        probe: &Probe,
        window: &Window,
    ) -> Result<(LinkOutcome, Option<Probe>), EngineError> {
        let link = &probe.link;
        let now = self.now();
        if let Some(thread) = self.taken_thread(link, window)? {
            let detail =
                format!("it goes on as {thread}, which is adopted as a session of its own");
            self.journal.write_outcome(link, ELSEWHERE, Some(&detail), true, now)?;
            return Ok((outcome(link, ELSEWHERE, 0, Some(detail)), None));
        }
        if let Some(reason) = self.doubt(probe, window)? {
            return Ok((outcome(link, "unknown", 0, Some(reason.into())), None));
        }
        let word = match window {
            Window { turns, .. } if !turns.is_empty() => "activity",
            Window { replaced: Some(word), .. } if word == ARCHIVED => ARCHIVED,
            Window { replaced: Some(_), .. } => "replaced",
            Window { goes_on: Some(to), .. } => match **to {
                GoesOn::Moved { .. } => "moved",
                GoesOn::Elsewhere(_) => ELSEWHERE,
            },
            Window { echoes: 1.., .. } => "echo",
            _ => "quiet",
        };
        let detail = detail_of(window);
        let records: Vec<_> = window.turns.iter().map(|turn| turn.id.map(|id| id.0)).collect();
        let facts: Vec<_> = window.facts.iter().map(|fact| recorded(link, fact)).collect();
        let settlement = Settlement {
            link,
            marker: &window.next_marker,
            moved_to: moved_to(window),
            turns: &records,
            facts: &facts,
            outcome: (word, detail.clone()),
        };
        let newest = window.turns.iter().map(|turn| turn.at).max();
        let event = |turns: u32| NewEvent {
            summary: Some(format!("human message via {}", link.catalog)),
            dedupe: Some(format!(
                "upstream:{}:{}:{}",
                link.session,
                link.source16(),
                window.dedupe_id
            )),
            payload: (turns > 1).then(|| json!({ "turns": turns })),
            occurred_at: newest,
            ..NewEvent::new(
                link.session.clone(),
                link.agent.clone(),
                EventKind::HumanDirectMessage,
                ActorType::Human,
            )
        };
        let tried = Instant::now();
        let settled = self.journal.settle_read(&settlement, event, now).inspect_err(|error| {
            self.note_failure(&link.session, &EventKind::HumanDirectMessage, error, tried);
        })?;
        match settled {
            Settled::Moved(appended, facts) => {
                for appended in std::iter::once(&appended).chain(&facts) {
                    self.follow(appended);
                }
                let turns =
                    appended.event.as_ref().filter(|_| !appended.deduped).map_or(0, |event| {
                        event
                            .payload
                            .as_ref()
                            .and_then(|payload| payload["turns"].as_u64())
                            .unwrap_or(1)
                    });
                let word = if word == "activity" && turns == 0 { "quiet" } else { word };
                let outcome = outcome(link, word, u32::try_from(turns).unwrap_or(u32::MAX), detail);
                let next =
                    if window.more { self.journal.link(&link.session, &link.agent)? } else { None };
                let next = next.map(|link| self.probe_of(link)).transpose()?;
                let Probe { cause, held, .. } = probe.clone();
                Ok((outcome, next.map(|next| Probe { cause, held, ..next })))
            }
            Settled::Unwatched => Ok((
                outcome(
                    link,
                    "unknown",
                    0,
                    Some("its last watcher left during the scan; it is read again".into()),
                ),
                None,
            )),
            Settled::LinkChanged | Settled::Missing(..) => {
                Ok((outcome(link, "unknown", 0, Some(CHANGED.into())), None))
            }
        }
    }

    /// The thread that a link would follow to, when another session is linked to it: following would count its turns twice.
    fn taken_thread<'a>(
        &self,
        link: &UpstreamLink,
        window: &'a Window,
    ) -> Result<Option<&'a str>, EngineError> {
        let Some((to, _)) = moved_to(window).filter(|(to, _)| *to != link.thread) else {
            return Ok(None);
        };
        let is_taken = self.journal.links()?.iter().any(|other| {
            other.catalog == link.catalog && other.thread == to && other.session != link.session
        });
        Ok(is_taken.then_some(to))
    }

    /// Why a window can't be settled, so that it has to be read again. A text that a turn put into the session during the scan
    /// may be among the rows that were taken for a person's.
    fn doubt(&self, probe: &Probe, window: &Window) -> Result<Option<&'static str>, EngineError> {
        if window.dedupe_id.is_empty() && !window.turns.is_empty() {
            return Ok(Some("the provider named no end of what it read; this is a fault of it"));
        }
        let own_texts = self.probe_of(probe.link.clone())?.own_texts;
        Ok((own_texts != probe.own_texts).then_some(OWN_TEXTS_CHANGED))
    }

    fn settle_missing(
        &mut self,
        link: &UpstreamLink,
        absence: Option<Absence>,
    ) -> Result<LinkOutcome, EngineError> {
        let now = self.now();
        let event = NewEvent {
            summary: Some(format!("upstream missing via {}", link.catalog)),
            dedupe: Some(format!(
                "upstream-missing:{}:{}:{}",
                link.session,
                link.source16(),
                link.updated_at
            )),
            payload: Some(json!({ "channel": link.catalog })),
            ..NewEvent::new(
                link.session.clone(),
                link.agent.clone(),
                EventKind::UpstreamMissing,
                ActorType::System,
            )
        };
        let reason = absence.map(|absence| how_it_went(absence, now));
        let tried = Instant::now();
        let settled = self
            .journal
            .settle_missing(link, &event, reason.as_deref(), now)
            .inspect_err(|error| {
                self.note_failure(&link.session, &EventKind::UpstreamMissing, error, tried);
            })?;
        let Settled::Missing(streak, appended) = settled else {
            return Ok(outcome(link, "unknown", 0, Some(CHANGED.into())));
        };
        self.follow(&appended);
        let mut detail = format!("{streak}/{MISSING_THRESHOLD}");
        if let Some(reason) = reason {
            detail.push_str("; ");
            detail.push_str(&reason);
        }
        if streak == MISSING_THRESHOLD {
            detail.push_str("; the link is removed, adopt again when the source is back");
        }
        Ok(outcome(link, "missing", 0, Some(detail)))
    }

    /// Writes down that a tick ended, and which links were quiet.
    pub fn end_tick(
        &mut self,
        began: i64,
        next: Option<i64>,
        outcomes: &[LinkOutcome],
    ) -> Result<(), EngineError> {
        let now = self.now();
        let pulse = StoredPulse {
            last_tick_at: now,
            took: (now - began).max(0),
            next_tick_at: next,
            links: i64::try_from(outcomes.len()).unwrap_or(i64::MAX),
        };
        let quiet = std::mem::take(&mut self.quiet);
        Ok(self.journal.end_tick(&pulse, &quiet, now)?)
    }

    /// A whole tick, here and now. A link that fails is said and holds up no other.
    pub fn tick(
        &mut self,
        providers: &[Arc<dyn Provider>],
        next: Option<i64>,
    ) -> Result<Vec<LinkOutcome>, EngineError> {
        let began = self.now();
        let last_tick = self.journal.pulse()?.map(|pulse| pulse.last_tick_at);
        let (mut probes, mut outcomes) = self.begin_tick()?;
        continuing::say(&mut probes, providers, last_tick);
        let in_flight = InFlight::default();
        for _ in 0..MAX_WINDOWS {
            let asked = std::mem::take(&mut probes);
            let mut continued = Vec::new();
            probe_all(providers, &asked, &in_flight, PROBE_LIMIT, |probe, finding| {
                continued.extend(continuing::said_by(probe, &finding));
                probes.extend(self.settle_into(probe, finding, &mut outcomes));
            });
            self.ask_again(&mut probes, &continued)?;
            if probes.is_empty() {
                break;
            }
        }
        self.end_tick(began, next, &outcomes)?;
        Ok(outcomes)
    }

    /// Settles one answer into the outcomes of a tick, joined with what the tick found behind the same link before. Returns the
    /// next probe of that link.
    pub fn settle_into(
        &mut self,
        probe: &Probe,
        finding: Finding,
        outcomes: &mut Vec<LinkOutcome>,
    ) -> Option<Probe> {
        let (found, next) = self.settle(probe, finding).unwrap_or_else(|error| {
            tracing::warn!(%error, session = %probe.link.session, "an upstream outcome was not written");
            (outcome(&probe.link, "unknown", 0, Some(format!("not written, it is tried again: {error}"))), None)
        });
        match outcomes.iter_mut().find(|earlier| earlier.session == found.session) {
            Some(earlier) => {
                earlier.human_turns += found.human_turns;
                if found.outcome != "quiet" {
                    earlier.outcome = found.outcome;
                    earlier.detail = found.detail.or(earlier.detail.take());
                }
            }
            None => outcomes.push(found),
        }
        next
    }
}

/// The outcome of a session that goes on somewhere else.
const ELSEWHERE: &str = "continued elsewhere";
const OWN_TEXTS_CHANGED: &str =
    "the session took a turn during the scan; the next tick reads it again";
const CHANGED: &str = "the link changed during the scan; the next tick reads the new one";

fn outcome(
    link: &UpstreamLink,
    word: &str,
    human_turns: u32,
    detail: Option<String>,
) -> LinkOutcome {
    LinkOutcome {
        session: link.session.clone(),
        catalog: link.catalog.clone(),
        thread: link.thread.clone(),
        outcome: word.to_owned(),
        human_turns,
        detail,
    }
}

/// The thread and the ref that a link follows to.
fn moved_to(window: &Window) -> Option<(&str, &Value)> {
    match window.goes_on.as_deref()? {
        GoesOn::Moved { thread, reference } => Some((thread, reference)),
        GoesOn::Elsewhere(_) => None,
    }
}

/// What can be known of how a source went: whether its harness may have deleted it by its own rule, which goes by the time of
/// the last write. Whether it did, or somebody else was faster, nobody wrote down.
fn how_it_went(Absence { last_written, kept, read_to }: Absence, now: Millis) -> String {
    let silent = (now - last_written).max(0);
    let days = silent / DAY;
    let mut told = match kept.map(|kept| kept.max(0)) {
        None => format!("it was written {days} days ago"),
        Some(kept) => {
            let rule = format!("its harness deletes what was not written for {} days", kept / DAY);
            if silent >= kept {
                format!("it was not written for {days} days, and {rule}")
            } else {
                format!(
                    "it was written {days} days ago, and {rule}: somebody else removed or moved it"
                )
            }
        }
    };
    if let Some(read_to) = read_to {
        told.push_str(&format!(
            "; what was written behind byte {read_to} since it was last read is not known"
        ));
    }
    told
}

/// What is worth saying about a window beside its turns.
fn detail_of(window: &Window) -> Option<String> {
    let mut parts: Vec<String> = window.replaced.iter().cloned().collect();
    match window.goes_on.as_deref() {
        Some(GoesOn::Moved { .. }) => parts.push("it was moved, and is followed".into()),
        Some(GoesOn::Elsewhere(detail)) => parts.push(detail.clone()),
        None => {}
    }
    parts.extend(window.note.clone());
    if window.echoes > 0 {
        parts.push(format!("{} own texts passed over", window.echoes));
    }
    if window.malformed > 0 {
        parts.push(format!("{} rows were no records and were passed over", window.malformed));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

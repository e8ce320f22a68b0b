//! What surfaces ask of the live engine.

use std::sync::Arc;

use super::{Answer, Internal, Runner};
use crate::engine::EngineError;
use crate::engine::live::{Reply, Request};
use crate::journal::changes::PAGE;
use crate::session_key::{AgentId, SessionKey};
use crate::upstream::{Baseline, Listing, UpstreamError};
use crate::upstream_link::UpstreamLink;

impl Runner {
    pub(super) fn answer(&mut self, request: Request, answer: Answer) {
        let done = match request {
            Request::Tick => return self.begin_tick(Some(answer)),
            Request::Catalog => return self.list(answer),
            Request::Adopt { catalog, wanted } => {
                return self.find(&catalog, wanted, true, answer);
            }
            Request::AdoptOnly { catalog, wanted } => {
                return self.find(&catalog, wanted, false, answer);
            }
            Request::Sizes => return self.measure(answer),
            Request::Wakes => return send(answer, self.engine.wake_rows().map(Reply::Wakes)),
            Request::Storage => {
                let storage = self.engine.storage();
                return send(answer, storage.map(|storage| Reply::Storage(Box::new(storage))));
            }
            Request::Past { from, steps } => {
                let past = self.engine.past(from, steps);
                return send(answer, past.map(|past| Reply::Past(past.map(Arc::new))));
            }
            Request::Changes { session, agent, after } => {
                self.engine.changes(&(session, agent), after, PAGE).map(Reply::Changes)
            }
            Request::Watch(target) => self.watch(&target),
            Request::Unwatch(target) => self.unwatch(&target),
            Request::Forget { session, agent } => self.forget(&session, &agent),
            Request::Acknowledge { target, shown } => {
                self.engine.acknowledge_shown(&target, shown).map(|changed| {
                    let said = if changed {
                        format!("read up to #{shown}")
                    } else {
                        "nothing was open".to_owned()
                    };
                    Reply::Done(said)
                })
            }
        };
        self.dirty = true;
        send(answer, done);
    }

    fn forget(&mut self, session: &SessionKey, agent: &AgentId) -> Result<Reply, EngineError> {
        let said = if self.engine.journal_mut().delete_link(session, agent)? {
            format!("{session} is no longer looked at; adopting it again starts from its end")
        } else {
            format!("{session} has no foreign source")
        };
        Ok(Reply::Done(said))
    }

    /// Asks how long the files are, on a thread of its own: a folder on a network may take its time.
    fn measure(&mut self, answer: Answer) {
        let links = self.engine.journal().links();
        std::thread::spawn(move || {
            let sizes = links.map(|links| {
                let size = |link: &UpstreamLink| {
                    let reference = link.reference_json()?;
                    let file = std::fs::symlink_metadata(reference["filePath"].as_str()?).ok()?;
                    file.is_file().then_some(file.len())
                };
                links
                    .iter()
                    .filter_map(|link| {
                        Some((link.session.clone(), link.agent.clone(), size(link)?))
                    })
                    .collect()
            });
            send(answer, sizes.map(Reply::Sizes));
        });
    }

    pub(super) fn watch(&mut self, target: &SessionKey) -> Result<Reply, EngineError> {
        let agent = target.agent().unwrap_or_else(AgentId::main);
        self.engine.watch(&SessionKey::operator(), target, Some(&agent))?;
        self.follow_folders();
        Ok(Reply::Done(format!("you watch {target}")))
    }

    fn unwatch(&mut self, target: &SessionKey) -> Result<Reply, EngineError> {
        self.engine.unwatch(&SessionKey::operator(), target)?;
        self.follow_folders();
        Ok(Reply::Done(format!("you no longer watch {target}")))
    }

    pub(super) fn list(&mut self, answer: Answer) {
        let (providers, back) = (self.options.providers.clone(), self.internal.clone());
        std::thread::spawn(move || {
            let listed = providers.iter().try_fold(Listing::default(), |mut all, provider| {
                let listing = provider.list()?;
                all.entries.extend(listing.entries);
                all.skipped.extend(listing.skipped);
                Ok(all)
            });
            let _ = back.send(Internal::Listed(listed, answer));
        });
    }

    fn find(&mut self, catalog: &str, wanted: String, watch: bool, answer: Answer) {
        let Some(provider) =
            self.options.providers.iter().find(|provider| provider.catalog() == catalog).cloned()
        else {
            let _ = answer
                .send(Err(format!("this program has no provider for the catalog {catalog:?}")));
            return;
        };
        let back = self.internal.clone();
        std::thread::spawn(move || {
            let found = provider.baseline(&wanted).map(Box::new);
            let _ = back.send(Internal::Baseline(found, watch, answer));
        });
    }

    pub(super) fn not_adopted(
        &self,
        listed: Result<Listing, UpstreamError>,
    ) -> Result<Reply, String> {
        let mut listing = listed.map_err(|error| error.to_string())?;
        let links = self.engine.journal().links().map_err(|error| error.to_string())?;
        listing.entries.retain(|entry| {
            !links.iter().any(|link| link.catalog == entry.catalog && link.thread == entry.thread)
        });
        listing.entries.sort_by_key(|entry| std::cmp::Reverse(entry.modified_at));
        Ok(Reply::Catalog(listing))
    }

    pub(super) fn adopt(
        &mut self,
        found: Result<Box<Baseline>, UpstreamError>,
        watch: bool,
    ) -> Result<Reply, EngineError> {
        let adopted = self.engine.adopt_from(*found?, None)?;
        if watch {
            self.engine.watch(&SessionKey::operator(), &adopted.session, Some(&adopted.agent))?;
        }
        Ok(Reply::Adopted(adopted.session))
    }
}

/// Answers; a surface that no longer waits is no failure.
fn send<E: std::fmt::Display>(answer: Answer, result: Result<Reply, E>) {
    let _ = answer.send(result.map_err(|error| error.to_string()));
}

//! The live engine: a thread that owns the [`Engine`](super), and the handle by which surfaces talk to it.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot, watch};

use super::snapshot::Snapshot;
use crate::event::{Changes, Sequence};
use crate::session_key::{AgentId, SessionKey};
use crate::upstream::Listing;

/// What a surface may ask of the live engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// What changed in a session after a version: one page, at most 200 events.
    Changes {
        /// The session.
        session: SessionKey,
        /// Its owner.
        agent: AgentId,
        /// The version, 0 or more.
        after: Sequence,
    },
    /// The operator watches a session.
    Watch(SessionKey),
    /// The operator no longer watches a session.
    Unwatch(SessionKey),
    /// The operator has read a session's changes up to the version shown.
    Acknowledge {
        /// The session.
        target: SessionKey,
        /// The version shown.
        shown: Sequence,
    },
    /// One monitor pass now.
    Tick,
    /// The foreign sessions of this machine that are not adopted.
    Catalog,
    /// Adopt the foreign session with this thread id or path, and watch it as the operator.
    Adopt {
        /// The catalog.
        catalog: String,
        /// Thread id or path.
        wanted: String,
    },
}

/// What the live engine answers.
#[derive(Debug, Clone)]
pub enum Reply {
    /// To [`Request::Changes`].
    Changes(Changes),
    /// To [`Request::Catalog`].
    Catalog(Listing),
    /// To [`Request::Adopt`]: the session's key.
    Adopted(SessionKey),
    /// To the others: a sentence about what was done.
    Done(String),
}

/// A request with the place for its answer: a reply, or one line that says what failed and what to do.
pub type Asked = (Request, oneshot::Sender<Result<Reply, String>>);

/// How a surface talks to the live engine. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Handle {
    requests: mpsc::Sender<Asked>,
    snapshots: watch::Receiver<Arc<Snapshot>>,
}

impl Handle {
    /// A handle over the two ends. Tests put their own engine behind it.
    pub fn new(requests: mpsc::Sender<Asked>, snapshots: watch::Receiver<Arc<Snapshot>>) -> Self {
        Self { requests, snapshots }
    }

    /// The snapshots, newest only.
    pub fn snapshots(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.snapshots.clone()
    }

    /// Asks, and waits for the answer. The error is one line for people.
    pub async fn ask(&self, request: Request) -> Result<Reply, String> {
        let gone = || "the engine has stopped; quit and start again".to_owned();
        let (answer, answered) = oneshot::channel();
        self.requests.send((request, answer)).await.map_err(|_| gone())?;
        answered.await.map_err(|_| gone())?
    }
}

//! What can go wrong with a command.

use crate::journal::JournalError;
use crate::upstream::UpstreamError;

/// Why a command was not done. Each message is one line for people.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The state database failed.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A foreign session could not be read.
    #[error(transparent)]
    Upstream(#[from] UpstreamError),
    /// Nothing has this name.
    #[error("{0}")]
    Unknown(String),
    /// The command makes no sense as given.
    #[error("{0}")]
    Usage(String),
    /// The command makes sense, and a rule forbids it.
    #[error("{0}")]
    Refused(String),
}

impl EngineError {
    /// A word for scripts, as in the JSON of errors.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Journal(error) if error.is_busy() => "busy",
            Self::Journal(JournalError::Refused(_)) | Self::Refused(_) => "refused",
            Self::Journal(_) => "database",
            Self::Upstream(UpstreamError::NotFound { .. }) | Self::Unknown(_) => "unknown",
            Self::Upstream(UpstreamError::Ambiguous { .. }) => "ambiguous",
            Self::Upstream(_) => "upstream",
            Self::Usage(_) => "usage",
        }
    }
}

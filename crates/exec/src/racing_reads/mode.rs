//! The treatment of racing reads in a run.

use super::conflict_words::{ConflictWords, PoisonedReads};
use super::history::History;
use std::sync::Arc;

/// The treatment of racing reads in a run.
#[derive(Clone, Debug, Default)]
pub(crate) enum RacingReadMode {
    /// Record their words.
    #[default]
    Locate,
    /// Identify them.
    Observe(Arc<ConflictWords>),
    /// Make them return poison.
    Poison(Arc<PoisonedReads>),
}

impl RacingReadMode {
    /// Creates the record for identifying them.
    pub(crate) fn history(&self) -> Option<History> {
        match self {
            Self::Observe(conflict_words) => Some(History::new(conflict_words)),
            Self::Locate | Self::Poison(_) => None,
        }
    }
}

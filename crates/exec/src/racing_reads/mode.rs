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
    /// Make them return poison, and search for uses of it only.
    FindUses(Arc<PoisonedReads>),
    /// Make them return poison.
    Poison(Arc<PoisonedReads>),
}

impl RacingReadMode {
    /// Creates the record for identifying them.
    pub(crate) fn history(&self) -> Option<History> {
        match self {
            Self::Observe(conflict_words) => Some(History::new(conflict_words)),
            Self::Locate | Self::FindUses(_) | Self::Poison(_) => None,
        }
    }

    /// The reads that return poison.
    pub(crate) fn poisoned(&self) -> Option<&PoisonedReads> {
        match self {
            Self::FindUses(reads) | Self::Poison(reads) => Some(reads),
            Self::Locate | Self::Observe(_) => None,
        }
    }

    /// Returns `true` if only uses of poison are needed, and no accesses are.
    pub(crate) fn finds_uses(&self) -> bool {
        matches!(self, Self::FindUses(_))
    }

    /// Returns `true` if the races of the run are not needed.
    pub(crate) fn ignores_conflicts(&self) -> bool {
        matches!(self, Self::Observe(_) | Self::FindUses(_))
    }
}

//! The treatment of racing reads in a run.

use super::history::History;
use super::suspects::{Distrusted, Suspects};
use std::sync::Arc;

/// The treatment of racing reads in a run.
#[derive(Clone, Debug, Default)]
pub(crate) enum Suspicion {
    /// Record their words.
    #[default]
    Locate,
    /// Identify them.
    Observe(Arc<Suspects>),
    /// Make them return poison.
    Distrust(Arc<Distrusted>),
}

impl Suspicion {
    /// Creates the record for identifying them.
    pub(crate) fn history(&self) -> Option<History> {
        match self {
            Self::Observe(suspects) => Some(History::new(suspects)),
            Self::Locate | Self::Distrust(_) => None,
        }
    }
}

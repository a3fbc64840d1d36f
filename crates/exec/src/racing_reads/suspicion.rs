//! What a run does about racing reads.

use super::history::History;
use super::suspects::{Distrusted, Suspects};
use std::sync::Arc;

/// What a run is to do about racing reads.
#[derive(Clone, Debug, Default)]
pub(crate) enum Suspicion {
    /// Keep where they are.
    #[default]
    Locate,
    /// Find out which they are.
    Observe(Arc<Suspects>),
    /// Let them give poison.
    Distrust(Arc<Distrusted>),
}

impl Suspicion {
    /// Room for what is to be observed.
    pub(crate) fn history(&self) -> Option<History> {
        match self {
            Self::Observe(suspects) => Some(History::new(suspects)),
            Self::Locate | Self::Distrust(_) => None,
        }
    }
}

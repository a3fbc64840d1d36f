//! Pairs of accesses of which it is open whether they race, and what would settle it.

use crate::race::Race;

/// Two accesses of which it is open whether they race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undecided {
    /// The accesses.
    pub race: Race,
    /// Why it is open, as a sentence without a full stop.
    pub reason: &'static str,
    /// The values that could not be told apart or shown equal, earlier first, if that is why.
    pub values: Option<[String; 2]>,
}

/// Why a pair of writes is open that values would settle.
pub(crate) const VALUES_OPEN: &str =
    "nothing orders them, and whether they write the same is not known";

/// Why a pair of accesses is open of which one need not happen.
pub(crate) const CONDITION_OPEN: &str = "one of them happens under a condition that is not decided";

impl Undecided {
    /// Tells whether it would be settled by contents for which both happen.
    #[must_use]
    pub fn asks_for_contents(&self) -> bool {
        self.reason == CONDITION_OPEN
    }

    /// Tells whether it would be settled by knowing which values are written.
    #[must_use]
    pub fn asks_for_values(&self) -> bool {
        self.reason == VALUES_OPEN
    }
}

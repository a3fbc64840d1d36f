//! Pairs of accesses that may race, and the information that would decide them.

use crate::race::Race;

/// Two accesses that may race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undecided {
    /// The accesses.
    pub race: Race,
    /// The reason why it is undecided, as a sentence without a full stop.
    pub reason: &'static str,
    /// The values that could be proved neither equal nor different, the earlier first, if that is the reason.
    pub values: Option<[String; 2]>,
}

/// The reason for pairs of writes that values would decide.
pub(crate) const VALUES_OPEN: &str =
    "nothing orders them, and it is not proved that they write the same value";

/// The reason for pairs with an access that may not happen.
pub(crate) const CONDITION_OPEN: &str = "one of them happens under a condition that is not decided";

impl Undecided {
    /// Returns `true` if the pair would be decided by contents for which both accesses happen.
    #[must_use]
    pub fn depends_on_contents(&self) -> bool {
        self.reason == CONDITION_OPEN
    }

    /// Returns `true` if the pair would be decided by the written values.
    #[must_use]
    pub fn depends_on_values(&self) -> bool {
        self.reason == VALUES_OPEN
    }
}

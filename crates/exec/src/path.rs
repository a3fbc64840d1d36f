//! Path conditions: the conditions under which the lanes of a group run.
//!
//! An undecided branch is followed on both sides ([`crate::undecided`]). On a side, the actions of a lane
//! happen only if the conditions of all enclosing branches hold. Their conjunction is the path condition, one
//! handle of the domain. A predicated instruction with an undecided guard is a branch around itself.

use crate::domain::{Value, Values};
use crate::lanes::Mask;

/// The path conditions of lanes.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    /// The condition of each lane.
    pub(crate) words: Values,
    /// Set if the path condition of a lane is the negation of its word.
    pub(crate) negated: bool,
    /// Lanes with a condition; the others act unconditionally.
    pub(crate) lanes: Mask,
}

impl Path {
    /// Returns the results of both sides in the order of a choice on the word: first the one for a true word.
    pub(crate) fn ordered<T>(&self, with: T, without: T) -> [T; 2] {
        if self.negated { [without, with] } else { [with, without] }
    }
}

/// A truth in one lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Truth {
    Known(bool),
    Handle(Value),
    /// The domain does not track it.
    Lost,
}

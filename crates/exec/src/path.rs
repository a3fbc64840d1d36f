//! Path conditions: under which condition the lanes of a group run.
//!
//! A branch that the domain does not decide is followed both ways ([`crate::undecided`]). While a lane is on one of them, what it does
//! happens only if the conditions of all such branches around it hold: that is its path condition, one handle
//! of the domain. A predicated instruction whose guard is not decided is a branch around itself.

use crate::domain::{Value, Values};
use crate::lanes::Mask;

/// Conditions under which lanes do what they do.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    /// The condition of each lane.
    pub(crate) words: Values,
    /// Set if their opposites are meant.
    pub(crate) negated: bool,
    /// Lanes that have one; the others act in any case.
    pub(crate) lanes: Mask,
}

impl Path {
    /// Orders what is there with and without the condition as its word does.
    pub(crate) fn ordered<T>(&self, with: T, without: T) -> [T; 2] {
        if self.negated { [without, with] } else { [with, without] }
    }
}

/// A truth in one lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Truth {
    Known(bool),
    Handle(Value),
    /// The domain does not know it.
    Lost,
}

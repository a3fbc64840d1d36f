//! Integers that depend on inputs: the numbers they lie between, and places in memory made of them.
//!
//! A domain computes these, and errs towards more: wider bounds, a difference that may be zero. What it marks as *met* is
//! exact, because reports of a mistake rest on it.

use ir::Relation;

/// Numbers that an integer lies between, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The smallest.
    pub low: i128,
    /// The largest.
    pub high: i128,
    /// Set if some inputs make it the smallest, and some the largest.
    pub are_met: bool,
    /// Set if the user stated a range of every input it is made of; of others only the type is known.
    pub are_told: bool,
}

impl Bounds {
    /// Returns the truth of a relation between two integers, if the numbers they lie between settle it.
    #[must_use]
    pub fn settle(self, relation: Relation, other: Self) -> Option<bool> {
        let (below, above) = (self.high < other.low, self.low > other.high);
        let (at_most, at_least) = (self.high <= other.low, self.low >= other.high);
        match relation {
            Relation::Lt => (below || at_least).then_some(below),
            Relation::Ge => (below || at_least).then_some(at_least),
            Relation::Gt => (above || at_most).then_some(above),
            Relation::Le => (above || at_most).then_some(at_most),
            Relation::Eq => (below || above).then_some(false),
            Relation::Ne => (below || above).then_some(true),
        }
    }
}

/// A place that is data: a sum of multiples of integers, and a number. Places with equal multiples are a fixed number of bytes apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataPlace {
    /// Integers of the domain, in its own numbers, each with its factor, which is not zero; in ascending order.
    pub multiples: Vec<(u32, i128)>,
    /// The number.
    pub constant: i128,
    /// Orders places in the same way in all runs on the same inputs, as far as the domain can.
    pub rank: Vec<i128>,
}

/// The difference of two places, for all inputs: a multiple of `step`, whose factor is between two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaceDifference {
    /// Positive.
    pub step: i128,
    /// The smallest factor.
    pub low: i128,
    /// The largest factor.
    pub high: i128,
    /// Set if the factor is not zero.
    pub is_never_zero: bool,
    /// Set if there are inputs for every factor.
    pub is_met: bool,
}

//! Integers that depend on inputs: their bounds, and places in memory made of them.
//!
//! A domain computes these and may over-approximate: wider bounds, a difference that may be zero. Anything marked
//! as *attained* is exact, because error reports rely on it.

use ir::Relation;

/// Bounds of an integer, inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The smallest.
    pub low: i128,
    /// The largest.
    pub high: i128,
    /// Set if some inputs attain the smallest value, and some the largest.
    pub are_attained: bool,
    /// Set if the user declared a range for every input it is made of; of other inputs only the type is
    /// known.
    pub are_declared: bool,
}

impl Bounds {
    /// Decides a relation between two integers, if their bounds suffice.
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

/// A data-dependent place: a sum of multiples of integers, plus a constant. Places with equal multiples are a
/// fixed number of bytes apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataPlace {
    /// Integers of the domain, in its own numbering, with their nonzero factors, in ascending order.
    pub multiples: Vec<(u32, i128)>,
    /// The constant.
    pub constant: i128,
    /// A sort key for places, the same in all runs on the same inputs as far as the domain can provide it.
    pub rank: Vec<i128>,
}

/// The difference of two places, for all inputs: a multiple of `step`, with a factor between two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaceDifference {
    /// Positive.
    pub step: i128,
    /// The smallest factor.
    pub low: i128,
    /// The largest factor.
    pub high: i128,
    /// Set if the factor is never zero.
    pub is_never_zero: bool,
    /// Set if every factor is attained for some inputs.
    pub is_attained: bool,
}

//! The input of the decision procedure: two stores of terms, assumptions, and the limits of the search for an answer.

use crate::deadline::Deadline;
use term::{Term, Terms};

/// Limits, all in steps: the same input gives the same answer on every machine, unless a deadline passes.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Steps for the normal forms of one pair.
    pub normalise: u64,
    /// Steps for each rung above them.
    pub rung: u64,
    /// Cases the last rung may open.
    pub cases: u32,
    /// Points tried before the expensive rungs, each by intervals.
    pub quick_points: u64,
    /// Points tried at the end, by floats first.
    pub points: u64,
    /// Bits of the values at those points: 3 fits every float format, 11 is f16, 24 f32.
    pub significand_bits: u32,
    /// Stop after this many differences; the pairs after them are [`crate::Reason::Skipped`].
    pub differences: usize,
    /// The deadline, however many steps are left.
    pub deadline: Deadline,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            normalise: 200_000_000,
            rung: 3_000_000,
            cases: 2_000,
            quick_points: 8,
            points: 96,
            significand_bits: 3,
            differences: usize::MAX,
            deadline: Deadline::default(),
        }
    }
}

/// Two stores of terms over the same inputs, and conditions on the inputs.
#[derive(Clone, Copy, Debug)]
pub struct Problem<'t> {
    /// The store of the reference terms.
    pub reference: &'t Terms,
    /// The store of the optimised terms; may be the same.
    pub optimised: &'t Terms,
    /// Conditions the inputs satisfy, in the reference's store.
    pub assumptions: &'t [Term],
}

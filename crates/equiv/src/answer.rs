//! What a comparison answers.

use crate::difference::Difference;
use crate::exact::Otherwise;
use crate::hidden::Hidden;
use crate::marks::Unshown;
use crate::mismatch::Mismatch;
use crate::overflow::Overflow;
use crate::position::Unsettled;
use crate::recheck::Rechecked;
use crate::relied::SignRead;
use crate::rounding::Stands;
use exec::Outcome;
use std::collections::{BTreeMap, BTreeSet};

/// What is known of the outputs.
#[derive(Debug)]
pub enum Answer {
    /// All are equal.
    Equal,
    /// One is not.
    Different(Box<Difference>),
    /// Some are not settled; the first of them, and how many there are.
    Unknown(Box<Unsettled>, usize),
    /// All are equal if the arguments of a function are in a range, which does not follow.
    Unshown(Box<Unshown>),
    /// All are equal with the numbers that constants stand for, and differ with the constants as they are.
    Constants(Hidden),
    /// All are equal, but the floats nearest to exact scalars decide something otherwise.
    Scalars(Box<Otherwise>),
    /// All are equal by the algebra, and another look at the proof saw this element differ: a bug of ours.
    Contradicted(Box<Unsettled>),
    /// The sides do not fit together, or with the assumptions.
    Mismatch(Mismatch),
}

/// What came of a comparison.
#[derive(Debug)]
pub struct Compared {
    /// What the runs found, reference first; of each launch that was run.
    pub outcomes: [Vec<Outcome>; 2],
    /// What is known of the outputs; `None` if a run did not come to its end.
    pub answer: Option<Answer>,
    /// Output elements that were compared.
    pub elements: usize,
    /// How many each rung decided.
    pub rungs: BTreeMap<String, usize>,
    /// Conditions under which the optimised side is defined, which do not follow from the reference.
    pub conditions: BTreeSet<String>,
    /// Constants taken for transcendental numbers.
    pub snapped: BTreeSet<String>,
    /// Constants taken for numbers that the other side computes, the reference's first.
    pub stands: Vec<Stands>,
    /// Tensors that a launch of one side leaves for a later one, which the other side does not have.
    pub inner: BTreeSet<String>,
    /// Where each side takes the sign of a number that can be zero and that reaches an output.
    pub signs: [BTreeSet<SignRead>; 2],
    /// Where each side tests for NaN what is not defined everywhere, and goes on as if it were a number.
    pub nan_tests: [BTreeSet<SignRead>; 2],
    /// Where each side compares data with an infinity, as if they were finite.
    pub finite: [BTreeSet<SignRead>; 2],
    /// Formats to which numbers are converted with `.satfinite`, and their largest numbers, if the
    /// answer holds only where the conversions do not clamp.
    pub ranges: BTreeSet<(String, u32)>,
    /// What another look at the proof saw.
    pub rechecked: Option<Rechecked>,
    /// Where floats of the optimised side are not finite though the reference's are.
    pub overflow: Option<Overflow>,
}

impl Compared {
    /// Nothing is compared yet.
    pub(crate) fn of(outcomes: [Vec<Outcome>; 2]) -> Self {
        Self {
            outcomes,
            answer: None,
            elements: 0,
            rungs: BTreeMap::new(),
            conditions: BTreeSet::new(),
            snapped: BTreeSet::new(),
            stands: Vec::new(),
            inner: BTreeSet::new(),
            signs: [BTreeSet::new(), BTreeSet::new()],
            nan_tests: [BTreeSet::new(), BTreeSet::new()],
            finite: [BTreeSet::new(), BTreeSet::new()],
            ranges: BTreeSet::new(),
            rechecked: None,
            overflow: None,
        }
    }
}

//! The answers of a comparison.

use crate::assumed_properties::Instruction;
use crate::difference::Difference;
use crate::exact::ScalarDecision;
use crate::hidden::HiddenDifference;
use crate::marks::UnprovedRange;
use crate::mismatch::Mismatch;
use crate::overflow::Overflow;
use crate::position::OpenElement;
use crate::recheck::Rechecked;
use crate::rounding::ConstantMeaning;
use exec::Outcome;
use std::collections::{BTreeMap, BTreeSet};

/// Verdict on the outputs.
#[derive(Debug)]
pub enum Answer {
    /// All outputs are equal.
    Equal,
    /// An output differs.
    Different(Box<Difference>),
    /// Some outputs are open: the first of them, and their number.
    Unknown(Box<OpenElement>, usize),
    /// All outputs are equal if the arguments of a function stay in a range, but this range was not proved.
    UnprovedRange(Box<UnprovedRange>),
    /// All outputs are equal if constants are replaced by the numbers they stand for. They differ with the
    /// written constants.
    Constants(HiddenDifference),
    /// All outputs are equal, but a decision changes if exact scalars are rounded to floats.
    Scalars(Box<ScalarDecision>),
    /// All outputs are equal by the algebra, but the recheck of the proof saw this element differ: a bug in
    /// Warpproof.
    Contradicted(Box<OpenElement>),
    /// The sides do not fit each other or the assumptions.
    Mismatch(Mismatch),
}

/// Result of a comparison, with the assumptions it rests on.
#[derive(Debug)]
pub struct Compared {
    /// Outcomes of every launch that ran, reference first.
    pub outcomes: [Vec<Outcome>; 2],
    /// Verdict on the outputs; `None` if a run did not complete.
    pub answer: Option<Answer>,
    /// The number of compared output elements.
    pub elements: usize,
    /// The number of elements decided by each step (*rung*) of the decision procedure.
    pub rungs: BTreeMap<String, usize>,
    /// Conditions under which the optimised side is defined that do not follow from the reference.
    pub conditions: BTreeSet<String>,
    /// Constants taken for transcendental numbers.
    pub snapped: BTreeSet<String>,
    /// Constants taken for other numbers, such as `0.1f` for a tenth; those of the reference come first.
    pub meanings: Vec<ConstantMeaning>,
    /// Tensors that hand data from one launch of a side to a later one and that the other side lacks.
    pub internal_tensors: BTreeSet<String>,
    /// Instructions of each side that read the sign of a number that may be zero, if the sign can reach an output.
    pub signs: [BTreeSet<Instruction>; 2],
    /// Instructions of each side that test a possibly undefined value for NaN and continue as if it were a
    /// number.
    pub nan_tests: [BTreeSet<Instruction>; 2],
    /// Instructions of each side that compare data with an infinity, on the assumption that data are finite.
    pub infinity_tests: [BTreeSet<Instruction>; 2],
    /// Formats of `.satfinite` conversions and their largest numbers, if the answer holds only where these
    /// conversions do not clamp.
    pub unclamped_formats: BTreeSet<(String, u32)>,
    /// Result of the recheck.
    pub rechecked: Option<Rechecked>,
    /// An input for which floats of the optimised side are not finite though those of the reference are.
    pub overflow: Option<Overflow>,
}

impl Compared {
    /// Returns a result with these outcomes, before anything is compared.
    pub(crate) fn of(outcomes: [Vec<Outcome>; 2]) -> Self {
        Self {
            outcomes,
            answer: None,
            elements: 0,
            rungs: BTreeMap::new(),
            conditions: BTreeSet::new(),
            snapped: BTreeSet::new(),
            meanings: Vec::new(),
            internal_tensors: BTreeSet::new(),
            signs: [BTreeSet::new(), BTreeSet::new()],
            nan_tests: [BTreeSet::new(), BTreeSet::new()],
            infinity_tests: [BTreeSet::new(), BTreeSet::new()],
            unclamped_formats: BTreeSet::new(),
            rechecked: None,
            overflow: None,
        }
    }
}

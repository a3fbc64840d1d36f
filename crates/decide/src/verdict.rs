//! The answers of the decision procedure: equal, different at a point, or unknown, with the rung that decided or the
//! reason.

use crate::algebra::Obstacle;
use crate::definedness::Definedness;
use crate::witness::{Discrepancy, Point};
use std::fmt;

/// The step of the ladder that settled the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rung {
    /// Both sides are sums of the same products of inputs.
    Products,
    /// Both sides are the same operations, up to the order of operands that commute.
    Structure,
    /// Both sides have the same normal form, with quotients and roots of sums kept as composite atoms.
    Composite,
    /// The difference is zero once composites are multiplied out and denominators cleared.
    Inline,
    /// As before, with the signs that definedness and assumptions give, and equal arguments merged.
    Facts,
    /// Zero in every case of the orderings involved.
    Cases,
    /// A point where the values differ.
    Point,
}

impl fmt::Display for Rung {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Products => "products",
            Self::Structure => "structure",
            Self::Composite => "composite",
            Self::Inline => "inline",
            Self::Facts => "facts",
            Self::Cases => "cases",
            Self::Point => "point",
        })
    }
}

/// The answer for one pair of terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Equal at every input where the reference is defined and the conditions hold.
    Equal {
        /// The rung that decided it.
        rung: Rung,
        /// Conditions for the optimised term to be defined that do not follow from the reference's. Empty: equal
        /// wherever the reference is defined.
        conditions: Vec<Assumed>,
    },
    /// Different at a point where the reference is defined.
    Different {
        /// The point.
        point: Point,
        /// The difference there.
        discrepancy: Discrepancy,
    },
    /// Not decided.
    Unknown(Reason),
}

impl Decision {
    /// Returns `true` if equal wherever the reference is defined, without assumptions.
    #[must_use]
    pub fn is_equal(&self) -> bool {
        matches!(self, Self::Equal { conditions, .. } if conditions.is_empty())
    }

    /// Returns `true` if they differ by more than rounding to floats hides: terms that differ as real numbers may be
    /// the same float.
    #[must_use]
    pub fn is_visibly_different(&self) -> bool {
        match self {
            Self::Different { discrepancy, .. } => discrepancy.is_visible(),
            Self::Equal { .. } | Self::Unknown(_) => false,
        }
    }

    /// Returns the rung that decided; `None` if none did.
    #[must_use]
    pub fn rung(&self) -> Option<Rung> {
        match self {
            Self::Equal { rung, .. } => Some(*rung),
            Self::Different { .. } => Some(Rung::Point),
            Self::Unknown(_) => None,
        }
    }
}

impl From<(Point, Discrepancy)> for Decision {
    fn from((point, discrepancy): (Point, Discrepancy)) -> Self {
        Self::Different { point, discrepancy }
    }
}

/// A condition of an equality.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assumed {
    /// The condition; its nodes belong to the optimised term's store.
    pub condition: Definedness,
    /// A point where the reference is defined and the optimised term is not, if one was found:
    /// then the condition can fail, and the terms are not equal without it. The point may violate
    /// another condition of the same list.
    pub fails_at: Option<Point>,
}

/// The reason why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// No rung proved equality and no point showed a difference.
    Undecided,
    /// A denominator is zero at every input.
    ZeroDenominator,
    /// An operation combines an infinity with a symbolic value.
    Infinite,
    /// An operation is defined at no input.
    Undefined,
    /// The steps ran out.
    Budget,
    /// The deadline passed, or the answer is no longer needed.
    Time,
    /// A number outgrew its representation.
    TooLarge,
    /// No point was found where the reference is defined and the assumptions hold: an equality
    /// would claim nothing.
    NoPointInDomain,
    /// Enough differences were found before this pair was examined.
    Skipped,
}

impl From<Obstacle> for Reason {
    fn from(obstacle: Obstacle) -> Self {
        match obstacle {
            Obstacle::ZeroDenominator => Self::ZeroDenominator,
            Obstacle::Infinite => Self::Infinite,
            Obstacle::Undefined => Self::Undefined,
            Obstacle::Budget => Self::Budget,
            Obstacle::Time => Self::Time,
            Obstacle::TooLarge => Self::TooLarge,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Undecided => "no proof and no difference found",
            Self::ZeroDenominator => "a denominator is zero at every input",
            Self::Infinite => "an infinity meets a symbolic value",
            Self::Undefined => "an operation is defined nowhere",
            Self::Budget => "the budget of steps is spent",
            Self::Time => "the time was up, or the run interrupted, before it was decided",
            Self::TooLarge => "a number is too large",
            Self::Skipped => "not examined, enough differences found",
            Self::NoPointInDomain => "no input found where the reference is defined",
        })
    }
}

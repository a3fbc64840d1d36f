//! What is known of one thread at one place of the kernel.

use super::Property;
use super::meetings::Meets;
use crate::interp::AccessKind;
use crate::kir::{ArrayId, Type, VarId};
use crate::logic::formula::Formula;
use crate::logic::poly::{Poly, Sym};
use crate::logic::symbols::{Copies, Level, Symbols};
use base::Span;

/// A value. An integer stands for itself modulo 2^bits: the machine has the number of its type that is
/// congruent to it. Where that matters there is an obligation that the two are the same.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Val {
    Int(Poly),
    Bool(Formula),
    /// A float, or nothing; who has it in common.
    Other(Level),
}

impl Val {
    /// What another thread has in its place.
    pub(super) fn copied(&self, copies: &mut Copies, symbols: &mut Symbols) -> Self {
        match self {
            Self::Int(poly) => Self::Int(copies.poly(symbols, poly)),
            Self::Bool(formula) => Self::Bool(copies.formula(symbols, formula)),
            Self::Other(level) => Self::Other(*level),
        }
    }
}

/// A thread at a place.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) vars: Vec<Val>,
    /// What the thread has tested to get here.
    pub(super) path: Vec<Formula>,
    /// Barriers with claims that it has passed.
    pub(super) meets: Meets,
}

/// An access that a thread may do.
#[derive(Clone, Debug)]
pub(super) struct Site {
    pub(super) array: ArrayId,
    pub(super) index: Vec<Poly>,
    pub(super) kind: AccessKind,
    /// The integer that is stored.
    pub(super) value: Option<Poly>,
    pub(super) path: Vec<Formula>,
    /// Barriers with claims that were passed before.
    pub(super) passed: Vec<Sym>,
    pub(super) span: Span,
}

/// A barrier that a thread may reach: where it is in the tree of statements, and with what.
#[derive(Clone, Debug)]
pub(super) struct Stop {
    pub(super) span: Span,
    pub(super) position: Vec<usize>,
    pub(super) state: State,
}

/// What must hold for each thread, or for each pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Claim {
    Bounds(ArrayId),
    Overflow(Type),
    /// What a loop's iteration hands to the next is in its type.
    Carried(VarId),
    Division,
    /// An operation of a clause has a value.
    Defined(Defined),
    /// The contract allows this array to be written (or else read) here.
    Footprint(ArrayId, bool),
    Assertion,
    Invariant,
    /// All threads of a block come here or none.
    Uniform,
    /// All threads of a warp come here or none.
    Converged,
}

/// What gives an operation of a clause a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Defined {
    /// It does not divide by 0.
    Divisor,
    /// It shifts by less than the width.
    Shift,
    /// The exponent is not negative.
    Power,
    /// The element is inside its array.
    Element(ArrayId),
}

impl Claim {
    /// What it belongs to.
    pub(super) fn property(self) -> Property {
        match self {
            Self::Bounds(_) => Property::Bounds,
            Self::Overflow(_) | Self::Carried(_) => Property::Overflow,
            Self::Division => Property::Division,
            Self::Defined(_) => Property::Clauses,
            Self::Footprint(..) => Property::Postcondition,
            Self::Assertion | Self::Invariant => Property::Invariant,
            Self::Uniform | Self::Converged => Property::Barriers,
        }
    }

    /// Whether later obligations may use it: if it fails, it is reported where it is.
    pub(super) fn may_be_used(self) -> bool {
        matches!(self, Self::Overflow(_) | Self::Division | Self::Defined(_))
    }
}

/// Something to prove.
#[derive(Clone, Debug)]
pub(super) struct Obligation {
    pub(super) claim: Claim,
    pub(super) path: Vec<Formula>,
    pub(super) goal: Formula,
    pub(super) span: Span,
}

/// What is done with what is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Everything is noted, barriers are passed.
    Full,
    /// Nothing is noted, barriers are passed.
    Probe,
    /// Accesses are noted, a barrier ends the path.
    Interval,
}

//! What is known of one thread at one place of the kernel, and what must hold there: the data of the passes, without the passes.

use super::proof::Property;
use crate::interp::AccessKind;
use crate::kir::{self, ArrayId, Compare, Expr, Type, VarId, When};
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

impl State {
    /// Puts a value in the place of a symbol in what variables are.
    pub(super) fn substitute(&mut self, sym: Sym, value: &Poly) {
        for one in &mut self.vars {
            if let Val::Int(poly) = one
                && let Some(mapped) = poly.substituted(sym, value)
            {
                *poly = mapped;
            }
        }
    }
}

/// A barrier that a thread has come to.
#[derive(Debug)]
pub(super) struct Meeting {
    pub(super) claims: Vec<kir::Claim>,
    pub(super) state: State,
}

/// Barriers with claims that a thread has passed.
#[derive(Clone, Debug, Default)]
pub(super) struct Meets {
    pub(super) passed: Vec<Sym>,
    /// Which arrays hold what they held there.
    pub(super) versions: Vec<(ArrayId, Sym)>,
}

impl Meets {
    /// The barrier at which an array held what it holds now.
    pub(super) fn version(&self, array: ArrayId) -> Option<Sym> {
        self.versions.iter().find(|(one, _)| *one == array).map(|(_, version)| *version)
    }

    pub(super) fn passed(&self) -> Vec<Sym> {
        self.passed.clone()
    }

    /// Somebody may have stored to an array.
    pub(super) fn forget(&mut self, array: ArrayId) {
        self.versions.retain(|(one, _)| *one != array);
    }

    /// What holds whichever of two ways was gone.
    pub(super) fn common(&self, other: &Self) -> Self {
        let passed = self.passed.iter().filter(|one| other.passed.contains(one));
        let versions = self.versions.iter().filter(|one| other.versions.contains(one));
        Self { passed: passed.copied().collect(), versions: versions.copied().collect() }
    }
}

/// When elements that annotations name are looked at.
#[derive(Debug)]
pub(super) enum Looks {
    Nowhere,
    /// At a barrier.
    Barrier(Sym),
    /// At the place at hand: they are listed.
    Listed(Vec<Listed>),
}

/// An element that was looked at, and its symbol.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    pub(super) array: ArrayId,
    pub(super) when: When,
    pub(super) index: Vec<Poly>,
    pub(super) ty: Type,
    pub(super) sym: Sym,
    /// What is known where it is named.
    pub(super) path: Vec<Formula>,
}

/// What the other thread of a pair has.
#[derive(Debug)]
pub(super) struct Second {
    pub(super) state: State,
    pub(super) builtins: [[Poly; 3]; 4],
    /// Variables of quantifiers, which both have in common.
    pub(super) bound: Vec<VarId>,
}

/// States that leave a loop's body early.
#[derive(Default)]
pub(super) struct Flow {
    pub(super) breaks: Vec<State>,
    pub(super) continues: Vec<State>,
}

/// A comparison of real numbers, and the symbol of its truth.
#[derive(Clone, Debug)]
pub(super) struct Coin {
    pub(super) sym: Sym,
    pub(super) compare: Compare,
    pub(super) left: Expr,
    pub(super) right: Expr,
}

/// Operations whose result is a symbol with facts; equal operands give the same symbol.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Operation {
    /// Division that truncates.
    Div(Poly, Poly),
    /// Division that rounds down.
    Floor(Poly, i128),
    Min(Poly, Poly),
    Max(Poly, Poly),
    /// Something of which only the operands are known.
    Opaque(&'static str, Poly, Poly),
    /// 1 or 0.
    Truth(Formula),
    /// What a monoid makes of two machine integers.
    Combine(String, Poly, Poly),
    /// The sum of so many first elements of the array with this number.
    Prefix(usize, Poly),
}

impl Operation {
    /// Tells whether an operand mentions a symbol.
    pub(super) fn mentions(&self, sym: Sym) -> bool {
        match self {
            Self::Div(a, b)
            | Self::Min(a, b)
            | Self::Max(a, b)
            | Self::Opaque(_, a, b)
            | Self::Combine(_, a, b) => a.mentions(sym) || b.mentions(sym),
            Self::Floor(a, _) | Self::Prefix(_, a) => a.mentions(sym),
            Self::Truth(formula) => formula.symbols().contains(&sym),
        }
    }
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

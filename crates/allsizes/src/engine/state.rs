//! The data of the engine's passes: the symbolic state of one thread at one point of the kernel, its accesses, the
//! barriers that it passed, and proof obligations.

use super::proof::Property;
use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use arith::symbols::{Copies, Level, Symbols};
use base::Span;
use interp::AccessKind;
use kir::{self, ArrayId, Compare, Expr, Type, VarId, When};

/// A symbolic value. An integer polynomial stands for the machine integer of its type that is congruent to it modulo
/// 2^bits. Where the difference matters there is an obligation that the two are equal.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum SymbolicValue {
    Int(Poly),
    Bool(Formula),
    /// An untracked value, such as a float: the level at which it is shared, and a number that distinguishes it from
    /// others. Two values on the same level need not be equal.
    Untracked(Level, u64),
}

impl SymbolicValue {
    /// The corresponding value of another thread.
    pub(super) fn copied(&self, copies: &mut Copies, symbols: &mut Symbols) -> Self {
        match self {
            Self::Int(poly) => Self::Int(copies.poly(symbols, poly)),
            Self::Bool(formula) => Self::Bool(copies.formula(symbols, formula)),
            Self::Untracked(..) => self.clone(),
        }
    }
}

/// A symbolic thread at a point of the kernel: its variables, its path condition, the barriers that it has passed.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) vars: Vec<SymbolicValue>,
    /// The path condition.
    pub(super) path: Vec<Formula>,
    /// Barriers with claims that it has passed.
    pub(super) passed_barriers: PassedBarriers,
}

impl State {
    /// Replaces a symbol by a value in all variables.
    pub(super) fn substitute(&mut self, sym: Sym, value: &Poly) {
        for one in &mut self.vars {
            if let SymbolicValue::Int(poly) = one
                && let Some(mapped) = poly.substituted(sym, value)
            {
                *poly = mapped;
            }
        }
    }
}

/// A barrier with claims that a thread has reached.
#[derive(Debug)]
pub(super) struct BarrierInstance {
    pub(super) claims: Vec<kir::Claim>,
    /// The thread's state at the barrier.
    pub(super) state: State,
}

/// Barriers with claims that a thread has passed.
#[derive(Clone, Debug, Default)]
pub(super) struct PassedBarriers {
    /// The barriers' symbols.
    pub(super) passed: Vec<Sym>,
    /// Arrays, each with the barrier since which it is unchanged.
    pub(super) versions: Vec<(ArrayId, Sym)>,
}

impl PassedBarriers {
    /// The barrier since which an array is unchanged.
    pub(super) fn version(&self, array: ArrayId) -> Option<Sym> {
        self.versions.iter().find(|(one, _)| *one == array).map(|(_, version)| *version)
    }

    pub(super) fn passed(&self) -> Vec<Sym> {
        self.passed.clone()
    }

    /// Records that an array may have been stored to.
    pub(super) fn forget(&mut self, array: ArrayId) {
        self.versions.retain(|(one, _)| *one != array);
    }

    /// The facts that hold on both of two paths.
    pub(super) fn common(&self, other: &Self) -> Self {
        let passed = self.passed.iter().filter(|one| other.passed.contains(one));
        let versions = self.versions.iter().filter(|one| other.versions.contains(one));
        Self { passed: passed.copied().collect(), versions: versions.copied().collect() }
    }
}

/// The point at which elements named by annotations are looked up.
#[derive(Debug)]
pub(super) enum ElementLookup {
    Nowhere,
    /// At a barrier.
    Barrier(Sym),
    /// At the current point: they are listed.
    Listed(Vec<Listed>),
}

/// A looked-up element, and its symbol.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    pub(super) array: ArrayId,
    pub(super) when: When,
    pub(super) index: Vec<Poly>,
    pub(super) ty: Type,
    pub(super) sym: Sym,
    /// The path condition where it is named.
    pub(super) path: Vec<Formula>,
}

/// State of the other thread of a pair.
#[derive(Debug)]
pub(super) struct Second {
    pub(super) state: State,
    pub(super) builtins: [[Poly; 3]; 4],
    /// Variables of quantifiers, which both threads share.
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
pub(super) struct OpaqueComparison {
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
    /// An uninterpreted operation: only its name and its operands are known.
    Opaque(&'static str, Poly, Poly),
    /// The truth of a condition as a number, 1 or 0.
    Truth(Formula),
    /// A monoid applied to two machine integers.
    Combine(String, Poly, Poly),
    /// The prefix sum of that length of the array with this number.
    Prefix(usize, Poly),
}

impl Operation {
    /// Returns `true` if an operand mentions a symbol.
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

/// A possible access of a thread.
#[derive(Clone, Debug)]
pub(super) struct Site {
    pub(super) array: ArrayId,
    pub(super) index: Vec<Poly>,
    pub(super) kind: AccessKind,
    /// The stored integer, if it is known.
    pub(super) value: Option<Poly>,
    /// The condition under which the thread gets here.
    pub(super) path: Vec<Formula>,
    /// Barriers with claims that were passed before.
    pub(super) passed: Vec<Sym>,
    pub(super) span: Span,
}

/// A barrier at which a pass ended: its place in the tree of statements, and the thread's state there.
#[derive(Clone, Debug)]
pub(super) struct BarrierPoint {
    pub(super) span: Span,
    pub(super) position: Vec<usize>,
    pub(super) state: State,
}

/// A condition that must hold for each thread, or for each pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Claim {
    /// An access is inside its array.
    Bounds(ArrayId),
    /// A result is in its type.
    Overflow(Type),
    /// A value carried to the next iteration is in its type.
    Carried(VarId),
    /// A divisor is not 0.
    Division,
    /// An operation of a clause has a value.
    Defined(Defined),
    /// The contract allows this array to be written (or else read) here.
    Footprint(ArrayId, bool),
    /// An `assert` holds.
    Assertion,
    /// A loop invariant about integer variables holds.
    Invariant,
    /// All threads of a block reach this point or none.
    Uniform,
    /// All threads of a warp reach this point or none.
    Converged,
}

/// The condition for an operation of a clause to have a value.
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
    /// The property it belongs to.
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

    /// Returns `true` if later obligations may assume it. If it fails, it is reported at its own place.
    pub(super) fn may_be_used(self) -> bool {
        matches!(self, Self::Overflow(_) | Self::Division | Self::Defined(_))
    }
}

/// A proof obligation.
#[derive(Clone, Debug)]
pub(super) struct Obligation {
    pub(super) claim: Claim,
    /// The condition under which the thread gets here.
    pub(super) path: Vec<Formula>,
    /// The formula to prove under that condition.
    pub(super) goal: Formula,
    pub(super) span: Span,
}

/// The kind of pass: record everything, dry run, or one barrier interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Everything is recorded, barriers are passed.
    Full,
    /// Nothing is recorded, barriers are passed.
    Probe,
    /// Accesses are recorded, a barrier ends the path.
    Interval,
}

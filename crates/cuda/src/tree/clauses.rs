//! Annotations, resolved and typed at their place (docs/contracts.md has their meaning).

use super::{Expr, FunctionId, LocalId};
use base::Span;

/// A clause.
#[derive(Clone, Debug)]
pub struct Clause {
    /// Its kind.
    pub kind: ClauseKind,
    /// Its span.
    pub span: Span,
}

/// The kind of a clause.
#[derive(Clone, Debug)]
pub enum ClauseKind {
    /// `requires P`.
    Requires(Expr),
    /// `ensures P`.
    Ensures(Expr),
    /// `extent a\[n\]`: the array (a place: a pointer variable, an array, or a pointer in a struct) and its number of
    /// elements.
    Extent(Expr, Expr),
    /// `assert P`.
    Assert(Expr),
    /// `assume P`.
    Assume(Expr),
    /// `loop invariant [name:] P`.
    LoopInvariant(Option<String>, Expr),
    /// `loop variant e`.
    LoopVariant(Expr),
    /// `barrier invariant [name:] P`, before a barrier.
    BarrierInvariant(Option<String>, Expr),
    /// `instantiate …`: a hint that is not needed.
    Instantiate,
    /// `reads a[lo .. hi]` or `writes a[lo .. hi]`: array, first, last.
    Footprint {
        /// `writes`.
        writes: bool,
        /// A pointer or array.
        array: Expr,
        /// First index.
        low: Expr,
        /// Last index.
        high: Expr,
    },
    /// `ghost int x = e`.
    GhostDeclare(LocalId, Option<Expr>),
    /// `ghost x = e`.
    GhostAssign(LocalId, Expr),
    /// `use name(…)`: a lemma, by its position in `Program::lemmas`, for these numbers.
    Use(usize, Vec<Expr>),
    /// `alias a, b`: arrays that may overlap.
    Alias(Vec<Expr>),
    /// A well-formed clause with an unsupported meaning; the reason.
    Unfollowed {
        /// Set if it is an `ensures`.
        is_postcondition: bool,
        /// The reason.
        why: String,
    },
}

/// The kind of a quantifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum Quantifier {
    Forall,
    Exists,
}

/// A combination over `low ≤ variable < high`.
#[derive(Clone, Debug)]
pub struct Fold {
    /// `+`, `*`, `|`, `&`, `^`, `max`, `min`, or the name of a function with a `monoid` clause.
    pub op: String,
    /// The variable, a ghost of type `Whole`.
    pub variable: LocalId,
    /// First value.
    pub low: Expr,
    /// One past the last value.
    pub high: Expr,
    /// The combined expression.
    pub body: Expr,
}

/// An earlier moment that a clause refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// `\old(e)`, `\at(e, Pre)`: before the launch, or before the call of the function.
    Old,
    /// `\at(e, Here)`.
    Here,
    /// `\at(e, LoopEntry)`.
    LoopEntry,
}

/// `predicate NAME(int x) = body`. Parameters are ghosts in `scope`, a function of their own.
#[derive(Clone, Debug)]
pub struct Predicate {
    /// Its name.
    pub name: String,
    /// The pseudo-function with the body's locals.
    pub scope: FunctionId,
    /// Parameters, among the locals of `scope`.
    pub parameters: Vec<LocalId>,
    /// Its body.
    pub body: Expr,
    /// Its span.
    pub span: Span,
}

/// `lemma NAME(int x) by induction(x): body`.
#[derive(Clone, Debug)]
pub struct Lemma {
    /// Its name.
    pub name: String,
    /// The pseudo-function with the body's locals.
    pub scope: FunctionId,
    /// Parameters, among the locals of `scope`.
    pub parameters: Vec<LocalId>,
    /// The induction variable, if there is one.
    pub induction: Option<LocalId>,
    /// Its statement.
    pub body: Expr,
    /// Its span.
    pub span: Span,
}

/// `monoid FUNCTION, unit e, commutative`.
#[derive(Clone, Debug)]
pub struct Monoid {
    /// The function, which takes and returns two values of one type.
    pub function: FunctionId,
    /// Its unit.
    pub unit: Expr,
    /// Set if it is claimed to be commutative.
    pub is_commutative: bool,
    /// Its span.
    pub span: Span,
}

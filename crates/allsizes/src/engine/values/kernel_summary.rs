//! The data that one pass over a kernel collects (`collect_stores.rs`): its stores with their values, its reads, its
//! loops with invariant clauses, obligations of annotations, and comparisons of real numbers.

use super::not_followed::NotFollowed;
use super::value::{Point, Value};
use crate::clause::Monoid;
use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use base::Span;
use kir::{ArrayId, Compare, Space, Type};
use std::collections::BTreeMap;

/// A kernel as a list of stores.
pub(super) struct KernelSummary {
    pub(super) sites: Vec<StoreSite>,
    /// Loads and atomic operations on shared and local arrays.
    pub(super) reads: Vec<Read>,
    /// The symbols of `threadIdx` and `blockIdx`.
    pub(super) threads: Vec<Sym>,
    pub(super) blocks: Vec<Sym>,
    pub(super) spaces: Vec<Space>,
    pub(super) names: Vec<String>,
    /// Arrays with atomic operations.
    pub(super) atomics: Vec<ArrayId>,
    /// Loops with clauses.
    pub(super) loops: Vec<LoopRecord>,
    /// Obligations of annotations in the kernel's body.
    pub(super) claims: Vec<ClaimCase>,
    /// Numbers of iterations that are quotients: `top / stride`, rounded up.
    pub(super) lengths: BTreeMap<Sym, (Poly, Poly)>,
    /// Comparisons of real numbers.
    pub(super) tests: Vec<Test>,
}

/// A store of an arbitrary thread, over the symbols of the pass.
#[derive(Clone, Debug)]
pub(super) struct StoreSite {
    pub(super) array: ArrayId,
    pub(super) index: Vec<Poly>,
    /// The condition under which the thread gets here.
    pub(super) path: Vec<Formula>,
    pub(super) point: Point,
    /// The stored value.
    pub(super) value: Value,
    pub(super) span: Span,
    /// Per enclosing loop: is the condition monotone (iteration k implies all earlier ones)?
    pub(super) monotone: Vec<bool>,
}

/// A read of memory that belongs to a block or a thread.
#[derive(Clone, Debug)]
pub(super) struct Read {
    pub(super) array: ArrayId,
    pub(super) index: Vec<Poly>,
    pub(super) path: Vec<Formula>,
    pub(super) point: Point,
    pub(super) span: Span,
}

/// A clause `\forall digits; when ==> array[index] == value` at a point of the kernel.
#[derive(Clone, Debug)]
pub(super) struct ClauseAtPoint {
    /// Its bound variables.
    pub(super) digits: Vec<Sym>,
    /// Those of them that are powers of two.
    pub(super) levels: Vec<Sym>,
    pub(super) when: Vec<Formula>,
    pub(super) index: Poly,
    pub(super) value: Value,
}

/// A clause at the points of its loop that matter.
#[derive(Clone, Debug)]
pub(super) struct RecordedClause {
    pub(super) array: ArrayId,
    /// Its number among the given clauses.
    pub(super) number: usize,
    /// The operation of a total. Then `index` is the number of elements.
    pub(super) total: Option<Monoid>,
    /// Before the loop.
    pub(super) entry: ClauseAtPoint,
    /// At the head of an arbitrary iteration.
    pub(super) head: ClauseAtPoint,
    /// At the end of that iteration; `None` if none ends.
    pub(super) end: Option<ClauseAtPoint>,
    /// After the loop.
    pub(super) exit: Option<ClauseAtPoint>,
}

/// A loop with clauses.
#[derive(Clone, Debug)]
pub(super) struct LoopRecord {
    /// The loop's path, as in [`Point`].
    pub(super) position: Vec<usize>,
    /// The enclosing loops, as in [`Point`].
    pub(super) outer: Vec<(usize, Sym)>,
    /// The symbol that counts its iterations.
    pub(super) count: Sym,
    /// Facts that all threads of a block share before the loop.
    pub(super) before: Vec<Formula>,
    /// Facts that they share at the end of an iteration.
    pub(super) within: Vec<Formula>,
    /// Variables of an iteration expressed by others of the same iteration.
    pub(super) rewrites: Vec<(Sym, Poly)>,
    pub(super) clauses: Vec<RecordedClause>,
}

/// The goal of a case of a claim.
#[derive(Clone, Debug)]
pub(super) enum CaseGoal {
    /// Two values of a type are equal.
    Equal(Value, Value, Type),
    /// A formula over integers holds.
    Holds(Formula),
    /// A condition on the contents of elements.
    Relates(Formula, Vec<MachineNumber>),
    /// One of these.
    Either(Vec<CaseGoal>),
    /// An unsupported claim, and why.
    Nothing(NotFollowed),
}

/// A machine number in a condition: its symbol, its value and its type.
#[derive(Clone, Debug)]
pub(super) struct MachineNumber {
    pub(super) sym: Sym,
    pub(super) value: Value,
    pub(super) ty: Type,
    /// Set if the other thread loaded it.
    pub(super) of_other: bool,
}

/// A case of a claim: the goal, and everything that may be assumed.
#[derive(Clone, Debug)]
pub(super) struct ClaimCase {
    /// The path condition and the assumptions of the claim.
    pub(super) known: Vec<Formula>,
    pub(super) wanted: CaseGoal,
    /// Conditions that named elements exist: assumptions, condition, name of the array.
    pub(super) inside: Vec<(Vec<Formula>, Formula, String)>,
    pub(super) span: Span,
    pub(super) side: usize,
    /// Set for a claim about an arbitrary thread, with these counts of loops.
    pub(super) counts: Option<Vec<Sym>>,
    /// Set for a claim about two threads: symbols, each with the other thread's.
    pub(super) second: Vec<(Sym, Sym)>,
    /// Comparisons of real numbers that are assumed.
    pub(super) tests: Vec<Test>,
    /// Set if other values depend on it.
    pub(super) is_used: bool,
}

/// A comparison of real numbers and the symbol of its truth.
#[derive(Clone, Debug)]
pub(super) struct Test {
    pub(super) sym: Sym,
    pub(super) compare: Compare,
    pub(super) left: Value,
    pub(super) right: Value,
}

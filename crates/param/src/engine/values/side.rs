//! What one pass over a kernel gathers: its stores, its loops with clauses, what annotations claim, comparisons of real numbers.

use super::not_followed::NotFollowed;
use super::value::{Point, Value};
use crate::kir::{ArrayId, Compare, Space, Type};
use crate::logic::formula::Formula;
use crate::logic::poly::{Poly, Sym};
use base::Span;
use std::collections::BTreeMap;

/// A kernel as a list of stores.
pub(super) struct Side {
    pub(super) sites: Vec<Site>,
    /// The symbols of `threadIdx` and `blockIdx`.
    pub(super) threads: Vec<Sym>,
    pub(super) blocks: Vec<Sym>,
    pub(super) spaces: Vec<Space>,
    pub(super) names: Vec<String>,
    /// Arrays with atomic operations.
    pub(super) atomics: Vec<ArrayId>,
    /// Loops with clauses.
    pub(super) loops: Vec<LoopRecord>,
    /// What annotations claim on the way.
    pub(super) claims: Vec<Obliged>,
    /// Numbers of iterations that are quotients: `top / stride`, rounded up.
    pub(super) lengths: BTreeMap<Sym, (Poly, Poly)>,
    /// Comparisons of real numbers.
    pub(super) tests: Vec<Test>,
}

/// A store that a thread may do.
#[derive(Clone, Debug)]
pub(super) struct Site {
    pub(super) array: ArrayId,
    pub(super) index: Vec<Poly>,
    pub(super) path: Vec<Formula>,
    pub(super) point: Point,
    pub(super) value: Value,
    pub(super) span: Span,
    /// For each loop around it, whether an iteration that is done tells that those before it are, too.
    pub(super) regular: Vec<bool>,
}

/// A clause at a place.
#[derive(Clone, Debug)]
pub(super) struct At {
    /// Its variables, and those of them that are powers of two.
    pub(super) digits: Vec<Sym>,
    pub(super) levels: Vec<Sym>,
    pub(super) when: Vec<Formula>,
    pub(super) index: Poly,
    pub(super) value: Value,
}

/// A clause at all places of its loop that matter.
#[derive(Clone, Debug)]
pub(super) struct RecordedClause {
    pub(super) array: ArrayId,
    /// Its number among the clauses that were asked for.
    pub(super) number: usize,
    pub(super) entry: At,
    pub(super) head: At,
    pub(super) end: Option<At>,
    pub(super) exit: Option<At>,
}

/// A loop with clauses.
#[derive(Clone, Debug)]
pub(super) struct LoopRecord {
    pub(super) position: Vec<usize>,
    /// The loops around.
    pub(super) outer: Vec<(usize, Sym)>,
    pub(super) count: Sym,
    /// What is known of all threads of a block before the loop, and at the end of an iteration.
    pub(super) before: Vec<Formula>,
    pub(super) within: Vec<Formula>,
    /// What variables of an iteration are in terms of others of the same iteration.
    pub(super) rewrites: Vec<(Sym, Poly)>,
    pub(super) clauses: Vec<RecordedClause>,
}

/// What is to be shown.
#[derive(Clone, Debug)]
pub(super) enum Wanted {
    /// Two values of a type are equal.
    Equal(Value, Value, Type),
    Holds(Formula),
    /// A condition on numbers that elements hold.
    Relates(Formula, Vec<Named>),
    /// One of these.
    Either(Vec<Wanted>),
    /// It is not followed, and why.
    Nothing(NotFollowed),
}

/// A number of the machine in a condition: its symbol, its value and its type.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) sym: Sym,
    pub(super) value: Value,
    pub(super) ty: Type,
    /// Whether the other thread has loaded it.
    pub(super) of_other: bool,
}

/// One case of a claim.
#[derive(Clone, Debug)]
pub(super) struct Obliged {
    pub(super) known: Vec<Formula>,
    pub(super) wanted: Wanted,
    /// Elements that are named must be there: what is known, what must hold, which array.
    pub(super) inside: Vec<(Vec<Formula>, Formula, String)>,
    pub(super) span: Span,
    pub(super) side: usize,
    /// It is about an arbitrary thread, with these counts of loops.
    pub(super) counts: Option<Vec<Sym>>,
    /// If it is about two threads: symbols, each with the other thread's.
    pub(super) second: Vec<(Sym, Sym)>,
    /// Comparisons of real numbers that are assumed.
    pub(super) tests: Vec<Test>,
    /// Other values rest on it.
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

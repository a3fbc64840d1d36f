//! Records where a symbolic run assumes more than real arithmetic, so that the report can list it: zeros are +0, no
//! value that is tested for NaN is one, and `.satfinite` conversions stay within the range of their format.
//!
//! - `copysign` takes the sign of a real number. For zero that is +, although hardware may have −0. The report lists
//!   the instruction if the number can be zero and its sign can reach an output.
//! - Conversions with `.satfinite` are clamps. If two kernels are equal only without the clamps, the report lists the
//!   ranges.
//!
//! Errs towards listing an assumption that is not needed.

use crate::operations;
use decide::{Problem, evaluate, is_never_zero};
use exec::Place;
use exec::domain::{LARGEST, Unary};
use ir::Format;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use term::{Function, Node, NodeId, Number, Term, Terms, evaluation_order};

/// An instruction that relies on an assumption, with the number of its launch.
pub type Instruction = (usize, Place);

/// The assumptions of a run so far.
#[derive(Debug)]
pub(crate) struct RunAssumptions {
    /// Set if `.satfinite` clamps; otherwise the operand is assumed to be in range.
    pub(crate) clamps: bool,
    /// The number of launches begun.
    launches: usize,
    /// Terms whose sign was taken, with the instructions.
    signs: FxHashMap<Term, BTreeSet<Instruction>>,
    /// For each term, the condition that decides its sign.
    conditions: FxHashMap<Term, Term>,
    /// Terms tested for NaN, with the instructions.
    tests: FxHashMap<Term, BTreeSet<Instruction>>,
    /// Instructions that compare data with an infinity as if they were finite.
    infinity_tests: BTreeSet<Instruction>,
    /// Terms converted with `.satfinite`, with the format.
    converted: FxHashSet<(Term, Format)>,
}

impl RunAssumptions {
    pub(crate) fn new() -> Self {
        Self {
            clamps: true,
            launches: 0,
            signs: FxHashMap::default(),
            conditions: FxHashMap::default(),
            tests: FxHashMap::default(),
            infinity_tests: BTreeSet::new(),
            converted: FxHashSet::default(),
        }
    }

    /// Starts another launch.
    pub(crate) fn begin(&mut self) {
        self.launches += 1;
    }

    /// Records that an instruction takes the sign of a term.
    pub(crate) fn reads_sign(&mut self, term: Term, place: Place) {
        let launch = self.launches.saturating_sub(1);
        self.signs.entry(term).or_default().insert((launch, place));
    }

    /// Records that an instruction tests a term for NaN.
    pub(crate) fn tests_number(&mut self, term: Term, place: Place) {
        let launch = self.launches.saturating_sub(1);
        self.tests.entry(term).or_default().insert((launch, place));
    }

    /// Records that an instruction compares data with an infinity.
    pub(crate) fn assumes_finite(&mut self, place: Place) {
        self.infinity_tests.insert((self.launches.saturating_sub(1), place));
    }

    /// Returns `true` if anything was tested for NaN or compared with an infinity.
    pub(crate) fn assumes_numbers(&self) -> bool {
        !self.tests.is_empty() || !self.infinity_tests.is_empty()
    }

    /// Returns the instructions that compare data with an infinity.
    pub(crate) fn assumed_finite(&self) -> BTreeSet<Instruction> {
        self.infinity_tests.clone()
    }

    /// Returns the instructions that test a possibly undefined term for NaN. Inputs are assumed to be numbers; then
    /// their sums and products are numbers too.
    pub(crate) fn tests_for_nan(&self, terms: &Terms) -> BTreeSet<Instruction> {
        let may_be_partial = |roots: Vec<Term>| {
            let order = evaluation_order(terms, roots, |_| true);
            order.nodes.iter().any(|node| may_be_undefined(terms, *node))
        };
        let mut found = BTreeSet::new();
        if self.tests.is_empty() || !may_be_partial(self.tests.keys().copied().collect()) {
            return found;
        }
        let mut tests: Vec<_> = self.tests.iter().collect();
        tests.sort_unstable();
        for (term, places) in tests {
            if !places.is_subset(&found) && may_be_partial(vec![*term]) {
                found.extend(places);
            }
        }
        found
    }

    /// Builds the magnitude of one term with the sign of another.
    pub(crate) fn copy_sign(&mut self, terms: &mut Terms, sign: Term, size: Term) -> Term {
        let (negative, result) = operations::copy_sign(terms, sign, size);
        self.conditions.insert(sign, negative);
        result
    }

    /// Builds a conversion with `.satfinite`.
    pub(crate) fn satfinite(&mut self, terms: &mut Terms, a: Term, format: Format) -> Term {
        if terms.as_number(a).is_none() {
            self.converted.insert((a, format));
            if !self.clamps {
                return a;
            }
        }
        operations::unary(terms, Unary::Finite(format), a)
    }

    /// Returns `true` if anything was converted with `.satfinite`.
    pub(crate) fn has_clamped_conversions(&self) -> bool {
        !self.converted.is_empty()
    }

    /// Returns `true` if any sign was taken.
    pub(crate) fn has_read_signs(&self) -> bool {
        !self.signs.is_empty()
    }

    /// Returns the formats of `.satfinite` conversions, and their largest numbers.
    pub(crate) fn ranges(&self) -> BTreeSet<(String, u32)> {
        let formats: FxHashSet<Format> = self.converted.iter().map(|(_, format)| *format).collect();
        let named = |format: Format| {
            let name = format!("{format:?}").to_lowercase();
            Some((name, largest(format)? as u32))
        };
        formats.into_iter().filter_map(named).collect()
    }

    /// Returns `true` if every converted term is in range at a point.
    pub(crate) fn is_in_range(&self, terms: &Terms, at: &dyn Fn(term::Input) -> Number) -> bool {
        let all: Vec<(Term, Format)> = self.converted.iter().copied().collect();
        let roots: Vec<Term> = all.iter().map(|(term, _)| *term).collect();
        let values = evaluate(terms, &roots, at);
        all.iter().zip(values).all(|((_, format), value)| match value {
            decide::Value::Real(value) => {
                let (low, high) = value.to_f64_bounds();
                largest(*format).is_some_and(|most| -most <= low && high <= most)
            }
            _ => false,
        })
    }

    /// Returns the instructions that take the sign of a number that may be zero, if that sign can reach one of the
    /// `roots`. `about` returns the assumptions relevant to a term.
    pub(crate) fn signs_of_zero(
        &self,
        [reference, other]: [&Terms; 2],
        optimised: bool,
        roots: Vec<Term>,
        about: impl Fn(&Terms, Term) -> Vec<Term>,
    ) -> BTreeSet<Instruction> {
        let mut found = BTreeSet::new();
        if self.signs.is_empty() {
            return found;
        }
        let terms = if optimised { other } else { reference };
        let order = evaluation_order(terms, roots, |_| true);
        let reached: FxHashSet<NodeId> = order.nodes.into_iter().collect();
        let mut signs: Vec<_> = self.signs.iter().collect();
        signs.sort_unstable();
        for (term, places) in signs {
            let condition = self.conditions.get(term).copied();
            let reaches = condition.is_none_or(|condition| match terms.node(condition) {
                // The condition was folded, so the result has no node for it.
                Node::Truth(_) => true,
                _ => terms.node_of(condition).is_none_or(|node| reached.contains(&node)),
            });
            if !reaches || places.is_subset(&found) {
                continue;
            }
            let assumptions = &about(terms, *term);
            let problem = Problem { reference, optimised: other, assumptions };
            if !is_never_zero(&problem, optimised, *term) {
                found.extend(places);
            }
        }
        found
    }
}

/// Returns `true` if an operation may be undefined for some operands. Errs on the side of `true`.
fn may_be_undefined(terms: &Terms, node: NodeId) -> bool {
    match terms.at(node) {
        Node::Apply(Function::Element(_) | Function::Rounded, _) => false,
        Node::Infinity { .. }
        | Node::Undefined
        | Node::Quotient(..)
        | Node::Power(..)
        | Node::Log(_)
        | Node::Apply(..) => true,
        Node::Input(_)
        | Node::Constant(_)
        | Node::Pi
        | Node::Sum(_)
        | Node::Product(..)
        | Node::Negation(_)
        | Node::Exp(_)
        | Node::Maximum(..)
        | Node::Minimum(..)
        | Node::Absolute(_)
        | Node::Select(..)
        | Node::Truth(_)
        | Node::Compare(..)
        | Node::Not(_)
        | Node::And(..)
        | Node::Or(..) => false,
    }
}

/// Returns the largest number of a format that `.satfinite` clamps to.
fn largest(format: Format) -> Option<f64> {
    LARGEST.iter().find(|(one, _)| *one == format).map(|(_, largest)| *largest)
}

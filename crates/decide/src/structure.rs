//! The second rung: terms with the same structure, compared without normal forms.
//!
//! Terms with the same [value number](crate::numbering) are the same partial function, so nothing needs to be
//! assumed. It remains to show that the claim is about some input.

use crate::definedness::{Collector, Definedness};
use crate::numbering::Numbering;
use crate::points::Points;
use crate::problem::{Budget, Problem};
use crate::verdict::{Decision, Rung};
use crate::witness::Search;
use rustc_hash::FxHashSet;
use term::Term;

/// Answers open pairs whose sides have the same number.
pub(crate) fn same_structure(
    problem: &Problem<'_>,
    pairs: &[(Term, Term)],
    points: &Points<'_>,
    budget: &Budget,
    answers: &mut [Option<Decision>],
) {
    let one_store = std::ptr::eq(problem.reference, problem.optimised);
    let mut numbering = Numbering::default();
    let mut domains = Domains::new(problem, points, budget);
    for (pair, answer) in pairs.iter().zip(answers).filter(|(_, answer)| answer.is_none()) {
        if budget.deadline.has_passed() {
            return;
        }
        let reference = numbering.number(0, problem.reference, pair.0);
        let optimised = numbering.number(usize::from(!one_store), problem.optimised, pair.1);
        // An infinity is not a real number. If one occurs, equal structure proves nothing unless some point has a real
        // value.
        let real = numbering.met_infinity;
        if reference.is_some() && reference == optimised && domains.has(*pair, real) {
            *answer = Some(Decision::Equal { rung: Rung::Structure, conditions: Vec::new() });
        }
    }
}

/// Finds out which references are defined somewhere.
struct Domains<'t> {
    problem: &'t Problem<'t>,
    points: &'t Points<'t>,
    budget: &'t Budget,
    collector: Collector<'t>,
    /// Conditions that some input is known to satisfy together.
    known: FxHashSet<Vec<Definedness>>,
}

impl<'t> Domains<'t> {
    fn new(problem: &'t Problem<'t>, points: &'t Points<'t>, budget: &'t Budget) -> Self {
        let collector = Collector::new(problem.reference);
        Self { problem, points, budget, collector, known: FxHashSet::default() }
    }

    /// Returns `true` if some input satisfies the assumptions and the reference of a pair is defined there.
    /// If `real`, it must have a real value.
    fn has(&mut self, pair: (Term, Term), real: bool) -> bool {
        if real {
            let search = Search::new(self.problem, pair, self.points);
            return search.reference_is_real(self.budget.points);
        }
        let Ok(conditions) = self.collector.conditions(pair.0) else { return false };
        let is_total = conditions.is_empty() && !self.problem.reference.is_partial(pair.0);
        if is_total && self.problem.assumptions.is_empty() || self.known.contains(&conditions) {
            return true;
        }
        let search = Search::new(self.problem, pair, self.points);
        let found = search.reference_has_domain(self.budget.points);
        if found {
            self.known.insert(conditions);
        }
        found
    }
}

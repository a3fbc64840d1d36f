//! Decides equality of two values for all inputs.

use super::Symbolic;
use decide::{Budget, Decision, Problem, decide};
use exec::domain::Value;
use term::Term;

/// The largest number of algebra steps for one equality query: there may be thousands of queries.
const MAX_STEPS: u64 = 1_000_000;

impl Symbolic {
    /// Returns `true` if two values seem to differ.
    pub(super) fn are_suspicious(&mut self, a: Value, b: Value) -> bool {
        let pair = [self.term(a), self.term(b)];
        pair[0] != pair[1] && self.suspicion.differ(&self.terms, pair)
    }

    /// Decides whether two values are equal; `None` if undecided.
    pub(super) fn are_same(&mut self, a: Value, b: Value) -> Option<bool> {
        // Outside its range a recognised function is something else, and the range has not been proved here.
        if self.has_ranges && self.marks.is_none() {
            return None;
        }
        let mut pair = [self.term(a), self.term(b)];
        pair.sort_unstable();
        if pair[0] == pair[1] {
            return Some(true);
        }
        if let Some(&known) = self.equalities.get(&pair) {
            return known;
        }
        // The same operations on the same values: equal wherever they are defined.
        let numbers = pair.map(|term| self.numbering.number(0, &self.terms, term));
        if numbers[0].is_some() && numbers[0] == numbers[1] {
            return Some(true);
        }
        // Most queries are about different values, and one order of the two shows it.
        let differ = self.suspicion.differ(&self.terms, pair);
        let same = match differ && self.decide(&[(pair[0], pair[1])]) == Some(false) {
            true => Some(false),
            // Each must be defined where the other is, so decide both orders.
            false => self.decide(&[(pair[0], pair[1]), (pair[1], pair[0])]),
        };
        self.equalities.insert(pair, same);
        same
    }

    /// Returns `Some(true)` if all of these pairs are equal, and `Some(false)` if one is visibly different.
    fn decide(&self, pairs: &[(Term, Term)]) -> Option<bool> {
        let problem = Problem { reference: &self.terms, optimised: &self.terms, assumptions: &[] };
        let budget = Budget { normalise: MAX_STEPS, deadline: self.deadline, ..Budget::default() };
        let decisions = decide(&problem, pairs, &budget);
        match decisions.iter().any(Decision::is_visibly_different) {
            true => Some(false),
            false => decisions.iter().all(Decision::is_equal).then_some(true),
        }
    }
}

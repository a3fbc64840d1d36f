//! Decides whether two values are the same for all inputs.

use super::Symbolic;
use decide::{Budget, Decision, Problem, decide};
use exec::domain::Value;
use term::Term;

/// Steps of algebra for one question whether two values are the same: there may be thousands.
const SAME: u64 = 1_000_000;

impl Symbolic {
    /// Tells whether two values seem to be different.
    pub(super) fn are_suspicious(&mut self, a: Value, b: Value) -> bool {
        let pair = [self.term(a), self.term(b)];
        pair[0] != pair[1] && self.suspicion.differ(&self.terms, pair)
    }

    /// Decides whether two values are the same; `None` if that is not known.
    pub(super) fn are_same(&mut self, a: Value, b: Value) -> Option<bool> {
        // Out of its range a function is something else, and nobody has shown the range here.
        if self.has_ranges && self.marks.is_none() {
            return None;
        }
        let mut pair = [self.term(a), self.term(b)];
        pair.sort_unstable();
        if pair[0] == pair[1] {
            return Some(true);
        }
        if let Some(&known) = self.same.get(&pair) {
            return known;
        }
        // The same operations on the same values: the same wherever they are defined.
        let numbers = pair.map(|term| self.numbering.number(0, &self.terms, term));
        if numbers[0].is_some() && numbers[0] == numbers[1] {
            return Some(true);
        }
        // Most questions are about values that differ, and one order of the two shows it.
        let differ = self.suspicion.differ(&self.terms, pair);
        let same = match differ && self.decide(&[(pair[0], pair[1])]) == Some(false) {
            true => Some(false),
            // Each must be defined where the other is.
            false => self.decide(&[(pair[0], pair[1]), (pair[1], pair[0])]),
        };
        self.same.insert(pair, same);
        same
    }

    /// Decides whether all of these pairs are equal, or some visibly different.
    fn decide(&self, pairs: &[(Term, Term)]) -> Option<bool> {
        let problem = Problem { reference: &self.terms, optimised: &self.terms, assumptions: &[] };
        let budget = Budget { normalise: SAME, deadline: self.deadline, ..Budget::default() };
        let decisions = decide(&problem, pairs, &budget);
        match decisions.iter().any(Decision::is_visibly_different) {
            true => Some(false),
            false => decisions.iter().all(Decision::is_equal).then_some(true),
        }
    }
}

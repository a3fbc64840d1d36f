//! The parts of an expansion beside its steps: slow paths for large arguments, and selects of infinity.

use super::{Candidate, Planner};
use crate::math::graph::{Code, Edge, Node};
use crate::math::matching::Match;
use crate::math::template::Template;
use std::collections::BTreeSet;

impl Planner<'_, '_> {
    /// Are the paths that are missing in the template those of the library? Each select must be between the value of
    /// the template and the result of such a path, and the path must get the arguments of the function.
    pub(super) fn is_whole(&self, found: &Match) -> bool {
        let is_slow = |at: usize, condition: Edge, value: Edge| {
            self.regions.iter().any(|region| {
                let own = self.values.conditions[region.branch];
                let result = region.results.get(at).copied();
                let merged = self.values.merges.iter().any(|&(block, register, merged)| {
                    let here = block == region.meets && Some(register) == result;
                    here && (merged == value
                        || self.is_only(condition) && self.holds(merged, value))
                });
                let arguments = [Some(region.argument), region.other];
                let same = arguments.iter().flatten().eq(&found.arguments);
                own.is_some_and(|own| own.node() == condition.node()) && merged && same
            })
        };
        let mut fast = found.fast.iter().enumerate();
        fast.all(|(at, &(condition, value))| is_slow(at, condition, value))
    }

    /// Restricts a match to the selects of infinity that belong to it, if its template needs one. Those select
    /// between infinity and something computed from the candidate; others are the program's own.
    pub(super) fn with_its_choices(
        &self,
        template: &Template,
        mut found: Match,
        candidate: Candidate,
    ) -> Option<Match> {
        if template.infinite.is_none() {
            return Some(found);
        }
        found.finite.retain(|at| self.is_computed_of(self.choices[*at].rest, candidate.value));
        (!found.finite.is_empty()).then_some(found)
    }

    /// Is `value` computed from `other` without a select? Then it is undefined wherever `other` is.
    pub(super) fn is_computed_of(&self, value: Edge, other: Edge) -> bool {
        let mut seen = BTreeSet::new();
        let mut work = vec![value.node()];
        while let Some(node) = work.pop() {
            if node == other.node() {
                return true;
            }
            if let Node::Op(code, operands) = self.values.graph.node(node)
                && code != Code::Select
                && seen.insert(node)
            {
                work.extend(operands.as_slice().iter().map(|edge| edge.node()));
            }
        }
        false
    }

    /// Does only one branch use this condition?
    pub(super) fn is_only(&self, condition: Edge) -> bool {
        let all = self.values.conditions.iter().flatten();
        all.filter(|one| one.node() == condition.node()).count() == 1
    }

    /// Is the value one of the arms of nested selects?
    pub(super) fn holds(&self, choice: Edge, value: Edge) -> bool {
        let mut work = vec![choice];
        while let Some(edge) = work.pop() {
            if edge == value {
                return true;
            }
            if let Node::Op(Code::Select, operands) = self.values.graph.node(edge.node()) {
                let arms = operands.as_slice().iter().skip(1);
                work.extend(arms.map(|arm| arm.flipped(edge.is_negated())));
            }
        }
        false
    }
}

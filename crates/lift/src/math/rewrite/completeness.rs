//! The parts of an expansion that its steps do not show: slow paths for large arguments, and selects of infinity.

use super::{Candidate, Planner};
use crate::math::graph::{Code, Edge, Node};
use crate::math::matching::Match;
use crate::math::template::Template;
use std::collections::BTreeSet;

impl Planner<'_, '_> {
    /// Returns `true` if the slow paths of a match, which its template lacks, are those of the library. Each select
    /// must choose between the template's value and the result of a slow path, and the slow path must get the arguments
    /// of the function.
    pub(super) fn is_complete(&self, found: &Match) -> bool {
        let is_slow = |at: usize, condition: Edge, value: Edge| {
            self.plan.regions.iter().any(|region| {
                let branch_condition = self.values.conditions[region.branch];
                let result = region.results.get(at).copied();
                let merged = self.values.merges.iter().any(|&(block, register, merged)| {
                    let here = block == region.join && Some(register) == result;
                    here && (merged == value
                        || self.has_one_branch(condition) && self.has_arm(merged, value))
                });
                let arguments = [Some(region.argument), region.other];
                let same = arguments.iter().flatten().eq(&found.arguments);
                branch_condition.is_some_and(|one| one.node() == condition.node()) && merged && same
            })
        };
        let mut fast = found.fast.iter().enumerate();
        fast.all(|(at, &(condition, value))| is_slow(at, condition, value))
    }

    /// Restricts a match to the selects of infinity that belong to it, if its template needs one. Such a select chooses
    /// between infinity and a value computed from the candidate. All others belong to the program.
    pub(super) fn with_own_choices(
        &self,
        template: &Template,
        mut found: Match,
        candidate: Candidate,
    ) -> Option<Match> {
        if template.infinite.is_none() {
            return Some(found);
        }
        found.finite.retain(|at| self.is_computed_from(self.choices[*at].rest, candidate.value));
        (!found.finite.is_empty()).then_some(found)
    }

    /// Returns `true` if `value` is computed from `other` without a select. Then it is undefined wherever `other` is.
    pub(super) fn is_computed_from(&self, value: Edge, other: Edge) -> bool {
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

    /// Returns `true` if only one branch uses this condition.
    pub(super) fn has_one_branch(&self, condition: Edge) -> bool {
        let all = self.values.conditions.iter().flatten();
        all.filter(|one| one.node() == condition.node()).count() == 1
    }

    /// Returns `true` if the value is one of the arms of nested selects.
    pub(super) fn has_arm(&self, choice: Edge, value: Edge) -> bool {
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

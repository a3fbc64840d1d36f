//! Conditions as propositional formulas: comparisons are atoms, and only the connectives are interpreted.
//!
//! Sound but incomplete: `x > 1` and `x > 2` are unrelated here.

use exec::formulas::{Formula, Formulas};
use rustc_hash::FxHashMap;
use term::{Node, NodeId, Terms};

/// The formulas of a run's conditions.
#[derive(Debug, Default)]
pub(crate) struct Conditions {
    pub(crate) formulas: Formulas,
    known: FxHashMap<NodeId, Formula>,
}

impl Conditions {
    /// Returns the formula of a condition.
    pub(crate) fn of(&mut self, terms: &Terms, root: NodeId) -> Formula {
        let mut stack = vec![root];
        while let Some(&node) = stack.last() {
            if self.known.contains_key(&node) {
                stack.pop();
                continue;
            }
            let parts: Vec<NodeId> = match terms.at(node) {
                Node::Not(a) => vec![a],
                Node::And(a, b) | Node::Or(a, b) => vec![a, b],
                _ => Vec::new(),
            };
            let missing = parts.iter().filter(|part| !self.known.contains_key(part));
            let before = stack.len();
            stack.extend(missing.copied().collect::<Vec<_>>());
            if stack.len() > before {
                continue;
            }
            let part = |at: usize| self.known[&parts[at]];
            let formula = match terms.at(node) {
                Node::Truth(true) => Formula::TRUE,
                Node::Truth(false) => Formula::FALSE,
                Node::Not(_) => {
                    let a = part(0);
                    self.formulas.not(a)
                }
                Node::And(..) => {
                    let (a, b) = (part(0), part(1));
                    self.formulas.and(a, b)
                }
                Node::Or(..) => {
                    let (a, b) = (part(0), part(1));
                    self.formulas.or(a, b)
                }
                _ => self.formulas.atom(),
            };
            self.known.insert(node, formula);
        }
        self.known[&root]
    }

    /// Returns `Some(true)` if the condition follows from the facts, `Some(false)` if its opposite does, else
    /// `None`.
    pub(crate) fn follows(&mut self, facts: Formula, condition: Formula) -> Option<bool> {
        if self.formulas.and(facts, condition) == Formula::FALSE {
            return Some(false);
        }
        let opposite = self.formulas.not(condition);
        (self.formulas.and(facts, opposite) == Formula::FALSE).then_some(true)
    }
}

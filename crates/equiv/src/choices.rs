//! Choices inside choices: what a condition that is settled further up leaves of them.
//!
//! An element that is written in every one of several branches is, as a term, a choice with an
//! undefined side that is never taken: `if(p ∧ q, a, if(p ∧ ¬q, b, if(¬p, c, undefined)))`. Each side of
//! a choice is simplified under what the condition says about it, by propositional reasoning alone.
//! Comparisons are atoms, so this finds out less than there is to know and nothing wrong.

use term::{Node, NodeId, Term, Terms};

/// Conditions that are settled.
#[derive(Clone, Debug, Default)]
struct Facts {
    known: Vec<(NodeId, bool)>,
}

/// Deeper choices are left as they are.
const DEEPEST: usize = 16;

/// `if(condition, a, b)`, both sides simplified.
pub(crate) fn select(terms: &mut Terms, condition: Term, a: Term, b: Term) -> Term {
    let settled = terms.seal(condition);
    let [a, b] = [(a, true), (b, false)].map(|(side, holds)| {
        let node = terms.seal(side);
        simplify(terms, node, &Facts::default().with(terms, settled, holds), DEEPEST)
    });
    terms.select(condition, a, b)
}

fn simplify(terms: &mut Terms, node: NodeId, facts: &Facts, depth: usize) -> Term {
    let Node::Select(condition, a, b) = terms.at(node) else { return node.into() };
    if depth == 0 {
        return node.into();
    }
    match facts.truth(terms, condition) {
        Some(true) => simplify(terms, a, facts, depth - 1),
        Some(false) => simplify(terms, b, facts, depth - 1),
        None => {
            let [x, y] = [(a, true), (b, false)].map(|(side, holds)| {
                let facts = facts.clone().with(terms, condition, holds);
                simplify(terms, side, &facts, depth - 1)
            });
            match x == a.into() && y == b.into() {
                true => node.into(),
                false => terms.select(condition.into(), x, y),
            }
        }
    }
}

impl Facts {
    /// These and one more, with what follows from it at once.
    fn with(mut self, terms: &Terms, condition: NodeId, holds: bool) -> Self {
        let mut work = vec![(condition, holds)];
        while let Some((condition, holds)) = work.pop() {
            if self.known.contains(&(condition, holds)) {
                continue;
            }
            self.known.push((condition, holds));
            match (terms.at(condition), holds) {
                (Node::Not(a), holds) => work.push((a, !holds)),
                (Node::And(a, b), true) => work.extend([(a, true), (b, true)]),
                (Node::Or(a, b), false) => work.extend([(a, false), (b, false)]),
                _ => {}
            }
            // What is left of an alternative, one side of which is settled.
            for &(known, holds) in &self.known {
                let ((Node::And(a, b), false) | (Node::Or(a, b), true)) = (terms.at(known), holds)
                else {
                    continue;
                };
                for (one, other) in [(a, b), (b, a)] {
                    if self.truth(terms, one) == Some(!holds) {
                        work.push((other, holds));
                    }
                }
            }
        }
        self
    }

    fn truth(&self, terms: &Terms, condition: NodeId) -> Option<bool> {
        if let Some((_, holds)) = self.known.iter().find(|(known, _)| *known == condition) {
            return Some(*holds);
        }
        match terms.at(condition) {
            Node::Truth(holds) => Some(holds),
            Node::Not(a) => self.truth(terms, a).map(|holds| !holds),
            Node::And(a, b) => match (self.truth(terms, a), self.truth(terms, b)) {
                (Some(true), Some(true)) => Some(true),
                (Some(false), _) | (_, Some(false)) => Some(false),
                _ => None,
            },
            Node::Or(a, b) => match (self.truth(terms, a), self.truth(terms, b)) {
                (Some(false), Some(false)) => Some(false),
                (Some(true), _) | (_, Some(true)) => Some(true),
                _ => None,
            },
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use term::{Inputs, Relation};

    #[test]
    fn sides_that_are_never_taken_disappear() {
        let mut inputs = Inputs::new();
        let [x, y, z] = ["x", "y", "z"].map(|name| inputs.scalar(name).unwrap());
        let mut terms = Terms::new(Arc::new(inputs));
        let [x, y, z] = [x, y, z].map(|input| terms.input(input));
        let zero = terms.zero();
        let p = terms.compare(Relation::Less, x, zero);
        let q = terms.compare(Relation::Less, y, zero);
        let (not_p, not_q) = (terms.not(p), terms.not(q));
        let (both, first) = (terms.and(p, q), terms.and(p, not_q));
        let undefined = terms.undefined();
        let one = select(&mut terms, both, x, undefined);
        let two = select(&mut terms, first, y, one);
        assert!(terms.is_partial(two));
        let all = select(&mut terms, not_p, z, two);
        assert!(!terms.is_partial(all), "{}", terms.print(all));
        // Without the last one there is a way left.
        let some = select(&mut terms, q, z, two);
        assert!(terms.is_partial(some));
    }
}

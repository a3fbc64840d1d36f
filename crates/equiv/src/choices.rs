//! Simplifies nested choices under the conditions of the enclosing ones.
//!
//! An element that every one of several branches writes is, as a term, a choice with an undefined side that
//! is never taken: `if(p ∧ q, a, if(p ∧ ¬q, b, if(¬p, c, undefined)))`. Each side of a choice is simplified
//! under the truth of its condition, by propositional reasoning alone ([`crate::conditions`]).

use crate::conditions::Conditions;
use exec::formulas::Formula;
use term::{Node, NodeId, Term, Terms};

/// The largest nesting of choices; deeper ones are left unchanged.
const MAX_DEPTH: usize = 160;

/// Builds `if(condition, a, b)` and simplifies both sides. Examines at most `budget` choices.
pub(crate) fn select(
    terms: &mut Terms,
    conditions: &mut Conditions,
    condition: Term,
    [a, b]: [Term; 2],
    mut budget: usize,
) -> Term {
    if conditions.formulas.is_full() {
        return terms.select(condition, a, b);
    }
    let sealed = terms.seal(condition);
    let holds = conditions.of(terms, sealed);
    let fails = conditions.formulas.not(holds);
    let [a, b] = [(a, holds), (b, fails)].map(|(side, facts)| {
        let node = terms.seal(side);
        let mut state = Simplifier { terms, conditions, budget: &mut budget };
        state.simplify(node, facts, MAX_DEPTH)
    });
    terms.select(condition, a, b)
}

/// The state of a simplification.
struct Simplifier<'s> {
    terms: &'s mut Terms,
    conditions: &'s mut Conditions,
    /// The number of choices that may still be examined.
    budget: &'s mut usize,
}

impl Simplifier<'_> {
    /// Simplifies a term where `facts` hold.
    fn simplify(&mut self, node: NodeId, facts: Formula, depth: usize) -> Term {
        let Node::Select(condition, a, b) = self.terms.at(node) else { return node.into() };
        if depth == 0 || *self.budget == 0 {
            return node.into();
        }
        *self.budget -= 1;
        let formula = self.conditions.of(self.terms, condition);
        match self.conditions.follows(facts, formula) {
            Some(true) => self.simplify(a, facts, depth - 1),
            Some(false) => self.simplify(b, facts, depth - 1),
            None => {
                let opposite = self.conditions.formulas.not(formula);
                let [x, y] = [(a, formula), (b, opposite)].map(|(side, more)| {
                    let facts = self.conditions.formulas.and(facts, more);
                    self.simplify(side, facts, depth - 1)
                });
                if x == a.into() && y == b.into() {
                    return node.into();
                }
                self.terms.select(condition.into(), x, y)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use term::{Inputs, Relation};

    fn choose(terms: &mut Terms, condition: Term, a: Term, b: Term) -> Term {
        select(terms, &mut Conditions::default(), condition, [a, b], 64)
    }

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
        let one = choose(&mut terms, both, x, undefined);
        let two = choose(&mut terms, first, y, one);
        assert!(terms.is_partial(two));
        let all = choose(&mut terms, not_p, z, two);
        assert!(!terms.is_partial(all), "{}", terms.print(all));
        // Without the last branch the undefined side remains reachable.
        let some = choose(&mut terms, q, z, two);
        assert!(terms.is_partial(some));
    }
}

//! Simplifies nested choices under the conditions of the enclosing ones.
//!
//! An element that every one of several branches writes is, as a term, a choice with an undefined side that
//! is never taken: `if(p ∧ q, a, if(p ∧ ¬q, b, if(¬p, c, undefined)))`. Each side of a choice is simplified
//! under the truth of its condition, by propositional reasoning alone ([`crate::conditions`]).

use crate::conditions::Conditions;
use exec::formulas::Formula;
use term::{Node, NodeId, Term, Terms};

/// Choices nested deeper are left unchanged.
const DEEPEST: usize = 160;

/// Builds `if(condition, a, b)` and simplifies both sides. Examines at most `most` choices.
pub(crate) fn select(
    (terms, conditions): (&mut Terms, &mut Conditions),
    condition: Term,
    [a, b]: [Term; 2],
    mut most: usize,
) -> Term {
    if conditions.formulas.is_full() {
        return terms.select(condition, a, b);
    }
    let settled = terms.seal(condition);
    let holds = conditions.of(terms, settled);
    let fails = conditions.formulas.not(holds);
    let [a, b] = [(a, holds), (b, fails)].map(|(side, facts)| {
        let node = terms.seal(side);
        simplify((&mut *terms, &mut *conditions), node, facts, (DEEPEST, &mut most))
    });
    terms.select(condition, a, b)
}

fn simplify(
    (terms, conditions): (&mut Terms, &mut Conditions),
    node: NodeId,
    facts: Formula,
    (depth, most): (usize, &mut usize),
) -> Term {
    let Node::Select(condition, a, b) = terms.at(node) else { return node.into() };
    if depth == 0 || *most == 0 {
        return node.into();
    }
    *most -= 1;
    let formula = conditions.of(terms, condition);
    match conditions.follows(facts, formula) {
        Some(true) => simplify((terms, conditions), a, facts, (depth - 1, most)),
        Some(false) => simplify((terms, conditions), b, facts, (depth - 1, most)),
        None => {
            let opposite = conditions.formulas.not(formula);
            let [x, y] = [(a, formula), (b, opposite)].map(|(side, more)| {
                let facts = conditions.formulas.and(facts, more);
                simplify((&mut *terms, &mut *conditions), side, facts, (depth - 1, &mut *most))
            });
            match x == a.into() && y == b.into() {
                true => node.into(),
                false => terms.select(condition.into(), x, y),
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
        select((terms, &mut Conditions::default()), condition, [a, b], 64)
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

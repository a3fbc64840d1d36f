//! Terms where an integer is known to be one number.
//!
//! An access at a possible place happens if the place is this one: `x[0] == 3`. Under such an equation all
//! comparisons of the same integer with numbers are settled. `acc[x[0]] += v` stores a sum of a choice between
//! all elements; at element 3 it is a sum of that element. The equal form matters: otherwise each store nests
//! the choices of the one before it.

use super::Symbolic;
use crate::ranges::Range;
use std::collections::BTreeMap;
use term::{Function, Input, Node, NodeId, Relation, Term};

/// The largest number of products of an examined sum.
const MAX_PRODUCTS: u32 = 8;

/// Largest nesting of sums and products that is examined.
const MAX_DEPTH: usize = 3;

/// The largest number of choices in a row that are examined.
const MAX_CHOICES: usize = 1 << 12;

type Known = BTreeMap<NodeId, Range>;

impl Symbolic {
    /// Simplifies a term that counts only where a condition holds, if an equation is part of the condition.
    pub(super) fn simplified_under(&mut self, condition: Term, term: Term) -> Term {
        // Floats of machines are compared by their form.
        if self.machine_floats || !self.has_equation(condition) || !self.has_choice(term) {
            return term;
        }
        let condition = self.terms.seal(condition);
        match self.known_if((condition, true), &Known::new(), 0) {
            Some(known) => self.simplified(term, &known, MAX_DEPTH).unwrap_or(term),
            None => term,
        }
    }

    /// Decides a condition where another one holds, an equation: `x != 2` where `x` is 3.
    pub(super) fn decide_under(&mut self, equation: Term, condition: Term) -> Option<bool> {
        let is_equation = matches!(self.terms.node(equation), Node::Compare(Relation::Equal, ..));
        if !is_equation || !self.is_equation(condition) || self.terms.is_partial(condition) {
            return None;
        }
        let [equation, condition] = [equation, condition].map(|one| self.terms.seal(one));
        let known = self.known_if((equation, true), &Known::new(), 0)?;
        self.decide_within(condition, &known)
    }

    /// Returns `true` for an equation with a number, or its negation.
    fn is_equation(&self, condition: Term) -> bool {
        match self.terms.node(condition) {
            Node::Not(inner) => self.is_equation(inner.into()),
            Node::Compare(Relation::Equal, a, b) => {
                [a, b].into_iter().any(|side| matches!(self.terms.at(side), Node::Constant(_)))
            }
            _ => false,
        }
    }

    /// Returns `true` if an equation is the condition, or one of two that must hold.
    fn has_equation(&self, condition: Term) -> bool {
        let is_positive = |node: Term| {
            self.is_equation(node) && matches!(self.terms.node(node), Node::Compare(..))
        };
        match self.terms.node(condition) {
            Node::And(a, b) => is_positive(a.into()) || is_positive(b.into()),
            _ => is_positive(condition),
        }
    }

    /// Returns `true` if a term is a choice by an equation, an element at a place, or a short sum with one.
    fn has_choice(&self, term: Term) -> bool {
        let is_choice = |node: Node| match node {
            Node::Select(condition, ..) => self.is_equation(condition.into()),
            Node::Apply(Function::Element(_), _) => true,
            _ => false,
        };
        match self.terms.node(term) {
            Node::Sum(sum) if sum.length <= MAX_PRODUCTS => {
                let mut factors = self.terms.products(sum).flatten();
                let at = |side: NodeId| self.terms.at(side);
                factors.any(|factor| is_choice(at(factor.left())) || is_choice(at(factor.right())))
            }
            node => is_choice(node),
        }
    }

    /// Simplifies a term, given ranges of integers. `None` if it stays the same.
    fn simplified(&mut self, term: Term, known: &Known, depth: usize) -> Option<Term> {
        match self.terms.node(term) {
            Node::Select(..) => self.chosen(term, known),
            Node::Apply(Function::Element(first), index) => self.element_under(first, index, known),
            Node::Sum(sum) if sum.length <= MAX_PRODUCTS => {
                let depth = depth.checked_sub(1)?;
                let products: Vec<_> = self.terms.products(sum).flatten().copied().collect();
                let (mut total, mut has_changed) = (self.terms.zero(), false);
                for one in products {
                    let [mut left, right] = [one.left(), one.right()].map(|side| {
                        let simpler = self.simplified(side.into(), known, depth);
                        has_changed |= simpler.is_some();
                        simpler.unwrap_or(side.into())
                    });
                    if one.is_negative() {
                        left = self.terms.negate(left);
                    }
                    total = self.terms.fused_multiply_add(left, right, total);
                }
                has_changed.then_some(total)
            }
            _ => None,
        }
    }

    /// Returns the element of a tensor at a place, if that is one number.
    fn element_under(&mut self, first: Input, index: NodeId, known: &Known) -> Option<Term> {
        let index = self.linear_of(index.into())?;
        let bounds = self.bounds_within(&index, known)?;
        let number = i64::try_from(bounds.low).ok().filter(|_| bounds.low == bounds.high)?;
        let input = self.terms.inputs().behind(first, number)?;
        Some(self.terms.input(input))
    }

    /// Follows choices as long as their conditions are decided.
    fn chosen(&mut self, term: Term, known: &Known) -> Option<Term> {
        let mut rest = term;
        for _ in 0..MAX_CHOICES {
            let Node::Select(condition, a, b) = self.terms.node(rest) else { break };
            if self.terms.is_partial(condition.into()) {
                break;
            }
            let Some(holds) = self.decide_within(condition, known) else { break };
            rest = if holds { a } else { b }.into();
        }
        (rest != term).then_some(rest)
    }
}

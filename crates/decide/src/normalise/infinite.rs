//! Operations on infinities, which the constructors of terms keep if an operand may be undefined.

use super::{Form, Normaliser};
use crate::algebra::{Algebra, Obstacle, Outcome, Polynomial, SignSet};
use term::{Node, NodeId, Sum, Term};

impl Normaliser<'_> {
    /// Normalises operations on infinities that have a value; `None` for all other operations. The finite operand's
    /// own conditions were collected from the term and are not lost here.
    pub(super) fn with_infinity(
        &mut self,
        algebra: &mut Algebra,
        node: Node,
    ) -> Outcome<Option<Form>> {
        Ok(match node {
            Node::Infinity { negative } => Some(Form::Infinite(negative)),
            Node::Negation(a) => self.infinite(a).map(|negative| Form::Infinite(!negative)),
            Node::Exp(a) => match self.infinite(a) {
                Some(true) => Some(Form::Real(Polynomial::zero())),
                Some(false) => Some(Form::Infinite(false)),
                None => None,
            },
            Node::Maximum(a, b) => self.infinite_extremum(a, b, true)?,
            Node::Minimum(a, b) => self.infinite_extremum(a, b, false)?,
            Node::Product(a, b) => match (self.infinite(a), self.infinite(b)) {
                (None, None) => None,
                (Some(negative), None) => self.scaled_infinity(algebra, negative, b)?,
                (None, Some(negative)) => self.scaled_infinity(algebra, negative, a)?,
                (Some(x), Some(y)) => Some(Form::Infinite(x != y)),
            },
            Node::Sum(sum) => self.infinite_sum(algebra, sum)?,
            _ => None,
        })
    }

    /// Returns the sign of a normalised root that is −∞ (true) or +∞ at every input.
    pub(crate) fn infinite_root(&self, root: Term) -> Option<bool> {
        match self.terms.node(root) {
            Node::Infinity { negative } => Some(negative),
            _ => self.terms.node_of(root).and_then(|node| self.infinite(node)),
        }
    }

    fn infinite(&self, node: NodeId) -> Option<bool> {
        match self.forms[node].as_deref() {
            Some(Form::Infinite(negative)) => Some(*negative),
            _ => None,
        }
    }

    fn infinite_extremum(&mut self, a: NodeId, b: NodeId, largest: bool) -> Outcome<Option<Form>> {
        let (absorbed, other) = match (self.infinite(a), self.infinite(b)) {
            (Some(negative), _) => (negative, b),
            (_, Some(negative)) => (negative, a),
            (None, None) => return Ok(None),
        };
        // A maximum with +∞ is +∞, and a minimum with −∞ is −∞. Otherwise the result is the other operand.
        match self.infinite(other) {
            Some(negative) if absorbed == largest => Ok(Some(Form::Infinite(negative))),
            None if absorbed == largest => Ok(Some(Form::Real(self.take(other)?))),
            Some(_) => Ok(Some(Form::Infinite(absorbed))),
            None => {
                self.absorb(other)?;
                Ok(Some(Form::Infinite(absorbed)))
            }
        }
    }

    /// Drops a finite operand. It must have a form: without one it may be infinite, or undefined, at some input.
    fn absorb(&mut self, operand: NodeId) -> Outcome<()> {
        if self.leaf(operand).is_some() {
            return Ok(());
        }
        match self.forms[operand].as_deref() {
            Some(Form::Real(_)) => self.release(operand),
            Some(Form::Infinite(_)) => return Err(Obstacle::Infinite),
            Some(Form::Failed(obstacle)) => return Err(*obstacle),
            Some(Form::Condition(_)) | None => return Err(Obstacle::Undefined),
        }
        Ok(())
    }

    /// `±∞ · f`, if the sign of `f` is the same at every input.
    fn scaled_infinity(
        &mut self,
        algebra: &mut Algebra,
        negative: bool,
        factor: NodeId,
    ) -> Outcome<Option<Form>> {
        let factor = self.take(factor)?;
        let form = algebra.intern(factor)?;
        let sign = algebra.sign(form)?;
        if sign.within(SignSet::POSITIVE) {
            Ok(Some(Form::Infinite(negative)))
        } else if sign.within(SignSet::NEGATIVE) {
            Ok(Some(Form::Infinite(!negative)))
        } else {
            Err(Obstacle::Infinite)
        }
    }

    /// Returns the infinity that a sum with infinite products is; `None` if no product is infinite.
    fn infinite_sum(&mut self, algebra: &mut Algebra, sum: Sum) -> Outcome<Option<Form>> {
        let mut total = None;
        for factors in self.terms.products(sum).flatten() {
            let (a, b) = (factors.left(), factors.right());
            let infinity = match (self.infinite(a), self.infinite(b)) {
                (None, None) => continue,
                (Some(negative), None) => self.scaled_infinity(algebra, negative, b)?,
                (None, Some(negative)) => self.scaled_infinity(algebra, negative, a)?,
                (Some(x), Some(y)) => Some(Form::Infinite(x != y)),
            };
            let Some(Form::Infinite(negative)) = infinity else { return Err(Obstacle::Infinite) };
            let negative = negative != factors.is_negative();
            if total.is_some_and(|before| before != negative) {
                return Err(Obstacle::Undefined);
            }
            total = Some(negative);
        }
        let Some(negative) = total else { return Ok(None) };
        for factors in self.terms.products(sum).flatten() {
            let pair = [factors.left(), factors.right()];
            if pair.iter().all(|factor| self.infinite(*factor).is_none()) {
                pair.into_iter().try_for_each(|factor| self.absorb(factor))?;
            }
        }
        Ok(Some(Form::Infinite(negative)))
    }
}

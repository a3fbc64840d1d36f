//! Computes the normal forms of terms, in a loop over the nodes in evaluation order.
//!
//! The terms to be compared are announced together ([`Normaliser::new`]). So the number of uses of each node is
//! known, and its form is moved out at the last use instead of copied. That keeps a chain of running rescales linear,
//! and frees the forms of an output once it is compared.

mod gathered;
mod infinite;

use crate::algebra::{
    Algebra, Atom, AtomId, ConditionId, Monomial, Obstacle, Outcome, Polynomial, Power, Summand,
    times,
};
use gathered::Gathering;
use rustc_hash::FxHashMap;
use term::{Factors, Function, Node, NodeId, NodeTable, Number, Sum, Term, Terms, Walker};

/// Sums treated as unknowns. The value is the number of the sum's atom, and `true` for a sum of squares, which is never
/// negative.
pub(crate) type Opaque = FxHashMap<NodeId, (u32, bool)>;

/// The form of a visited node.
#[derive(Clone, Debug)]
enum Form {
    Real(Polynomial),
    Condition(ConditionId),
    /// −∞ (true) or +∞: the constructors keep infinities that are combined with a partial operand.
    Infinite(bool),
    Failed(Obstacle),
}

/// Normal forms for the terms of one store.
#[derive(Debug)]
pub(crate) struct Normaliser<'t> {
    terms: &'t Terms,
    walker: Walker,
    /// By node; inputs and constants have none.
    forms: NodeTable<Option<Box<Form>>>,
    uses_left: NodeTable<u32>,
    /// By divisor: the outputs of a row share theirs. Only those that are a single product.
    inverses: FxHashMap<NodeId, Polynomial>,
    /// By factor: divisor sums, as a base.
    bases: FxHashMap<NodeId, Polynomial>,
    /// The common number of each named function of the store.
    functions: Vec<Option<u16>>,
    /// Sums that are first computed on the two sides of a condition.
    gathered: FxHashMap<Sum, Gathering>,
}

impl<'t> Normaliser<'t> {
    /// Prepares for these roots, each to be normalised once.
    pub(crate) fn new(terms: &'t Terms, roots: impl IntoIterator<Item = Term>) -> Self {
        Self::with_opaque(terms, roots, &Opaque::default())
    }

    /// Like [`Normaliser::new`], but leaves out the nodes below these sums. Call [`Normaliser::set_opaque`] next.
    pub(crate) fn with_opaque(
        terms: &'t Terms,
        roots: impl IntoIterator<Item = Term>,
        opaque: &Opaque,
    ) -> Self {
        let mut walker = Walker::default();
        let roots: Vec<Term> = roots.into_iter().collect();
        let order = walker.operations(terms, roots.iter().copied(), |node| match terms.at(node) {
            Node::Sum(_) => !opaque.contains_key(&node),
            _ => !is_leaf(terms, node),
        });
        let mut uses_left = NodeTable::new(0);
        for (node, uses) in order.nodes.iter().zip(&order.uses) {
            uses_left[*node] = *uses;
        }
        let forms = NodeTable::new(None);
        let functions =
            (0..terms.named_functions().len()).map(|at| u16::try_from(at).ok()).collect();
        let (inverses, bases) = (FxHashMap::default(), FxHashMap::default());
        let gathered = FxHashMap::default();
        let nodes = order.nodes;
        let mut normaliser =
            Self { terms, walker, forms, uses_left, inverses, bases, functions, gathered };
        normaliser.gather(&nodes, &roots);
        normaliser
    }

    /// Treats these sums as unknowns.
    pub(crate) fn set_opaque(&mut self, algebra: &mut Algebra, opaque: &Opaque) {
        let mut nodes: Vec<_> = opaque.iter().collect();
        nodes.sort_unstable();
        for (node, (number, squares)) in nodes {
            let atom = Atom::Opaque { number: *number, squares: *squares };
            let form = Form::Real(algebra.atom_polynomial(atom));
            self.forms[*node] = Some(Box::new(form));
            // Never the last use: the form is not moved out.
            self.uses_left[*node] = u32::MAX;
        }
    }

    /// Numbers named functions as another store does; names that only this store has come after them.
    pub(crate) fn share_functions(&mut self, with: &Terms) {
        let (own, other) = (self.terms.named_functions(), with.named_functions());
        let number = |(at, name): (usize, &String)| {
            let found = other.iter().position(|known| known == name);
            u16::try_from(found.unwrap_or(other.len() + at)).ok()
        };
        self.functions = own.iter().enumerate().map(number).collect();
    }

    /// Returns the function by its common number.
    pub(crate) fn common(&self, function: Function) -> Outcome<Function> {
        let Function::Named(at) = function else { return Ok(function) };
        let common = self.functions.get(usize::from(at)).copied().flatten();
        common.map(Function::Named).ok_or(Obstacle::TooLarge)
    }

    /// Returns the normal form of a root.
    pub(crate) fn real(&mut self, algebra: &mut Algebra, root: Term) -> Outcome<Polynomial> {
        self.compute_below(algebra, root);
        match (self.terms.node_of(root), self.terms.node(root)) {
            (Some(node), _) => self.take(node),
            (None, Node::Sum(sum)) => {
                let form = self.sum(algebra, sum)?;
                algebra.with_definitions(form)
            }
            // A term without a node is a sum.
            (None, _) => Err(Obstacle::Undefined),
        }
    }

    /// Returns the canonical condition of a root.
    pub(crate) fn condition(&mut self, algebra: &mut Algebra, root: Term) -> Outcome<ConditionId> {
        self.compute_below(algebra, root);
        // A sum is not a condition.
        let node = self.terms.node_of(root).ok_or(Obstacle::Undefined)?;
        self.take_condition(node)
    }

    /// Normalises all nodes below a root.
    fn compute_below(&mut self, algebra: &mut Algebra, root: Term) {
        let (terms, forms) = (self.terms, &self.forms);
        let order = self
            .walker
            .operations(terms, [root], |node| forms[node].is_none() && !is_leaf(terms, node));
        for node in order.nodes {
            let mut form = self.operation(algebra, node).unwrap_or_else(Form::Failed);
            if let Form::Real(polynomial) = &mut form {
                polynomial.settle();
            }
            self.forms[node] = Some(Box::new(form));
        }
    }

    fn operation(&mut self, algebra: &mut Algebra, node: NodeId) -> Outcome<Form> {
        algebra.spend(1)?;
        Ok(match self.terms.at(node) {
            Node::Truth(value) => {
                Form::Condition(algebra.intern_condition(crate::algebra::Condition::Truth(value)))
            }
            Node::Compare(relation, a, b) => {
                let (a, b) = (self.take(a)?, self.take(b)?);
                Form::Condition(algebra.comparison(relation, a, b)?)
            }
            Node::Not(a) => {
                let a = self.take_condition(a)?;
                Form::Condition(algebra.negate_condition(a))
            }
            Node::And(a, b) => self.connective(algebra, a, b, true)?,
            Node::Or(a, b) => self.connective(algebra, a, b, false)?,
            other => match self.with_infinity(algebra, other)? {
                Some(form) => form,
                None => {
                    let form = self.arithmetic(algebra, other)?;
                    Form::Real(algebra.with_definitions(form)?)
                }
            },
        })
    }

    /// Normalises an arithmetic node, whose operands are normalised.
    fn arithmetic(&mut self, algebra: &mut Algebra, node: Node) -> Outcome<Polynomial> {
        match node {
            Node::Input(_) | Node::Constant(_) => Err(Obstacle::Undefined),
            Node::Pi => Ok(algebra.atom_polynomial(Atom::Pi)),
            Node::Infinity { .. } => Err(Obstacle::Infinite),
            Node::Undefined => Err(Obstacle::Undefined),
            Node::Sum(sum) => self.sum(algebra, sum),
            Node::Product(a, b) => self.product(algebra, a, b),
            Node::Negation(a) => Ok(self.take(a)?.negated()),
            Node::Quotient(a, b) => {
                let inverse = self.inverse(algebra, b)?;
                let dividend = self.take(a)?;
                algebra.product(dividend, inverse)
            }
            Node::Power(a, exponent) => {
                let power = Power::from_number(self.terms.number(exponent))?;
                let base = self.take(a)?;
                algebra.power(base, power)
            }
            Node::Exp(a) => {
                let exponent = self.take(a)?;
                algebra.exp(exponent)
            }
            Node::Log(a) => {
                let argument = self.take(a)?;
                algebra.log(argument)
            }
            Node::Maximum(a, b) => {
                let operands = vec![self.take(a)?, self.take(b)?];
                algebra.maximum(operands)
            }
            Node::Minimum(a, b) => {
                let operands = vec![self.take(a)?.negated(), self.take(b)?.negated()];
                Ok(algebra.maximum(operands)?.negated())
            }
            Node::Absolute(a) => {
                let argument = self.take(a)?;
                algebra.absolute(argument)
            }
            Node::Select(c, a, b) => self.select(algebra, c, a, b),
            Node::Apply(Function::Rounded, a) => self.take(a),
            Node::Apply(function, a) => {
                let argument = self.take(a)?;
                algebra.apply(self.common(function)?, argument)
            }
            Node::Truth(_) | Node::Compare(..) | Node::Not(_) | Node::And(..) | Node::Or(..) => {
                Err(Obstacle::Undefined)
            }
        }
    }

    /// `1 / node`, remembered.
    fn inverse(&mut self, algebra: &mut Algebra, node: NodeId) -> Outcome<Polynomial> {
        if let Some(inverse) = self.inverses.get(&node) {
            let inverse = inverse.clone();
            self.release(node);
            return Ok(inverse);
        }
        let divisor = self.take(node)?;
        let inverse = algebra.power(divisor, Power::integer(-1))?;
        if inverse.length() == 1 {
            self.inverses.insert(node, inverse.clone());
        }
        Ok(inverse)
    }

    /// `a · b`
    fn product(&mut self, algebra: &mut Algebra, a: NodeId, b: NodeId) -> Outcome<Polynomial> {
        for (sum, other) in [(a, b), (b, a)] {
            if let Some(base) = self.cancelling(algebra, sum, other)? {
                self.release(sum);
                let other = self.take(other)?;
                return algebra.product(other, base);
            }
        }
        let (a, b) = (self.take(a)?, self.take(b)?);
        algebra.product(a, b)
    }

    /// Returns a sum as a multiple of an existing base, if the other factor may be divided by that base. The outputs
    /// of a row share the result, so no sum is copied.
    fn cancelling(
        &mut self,
        algebra: &mut Algebra,
        sum: NodeId,
        other: NodeId,
    ) -> Outcome<Option<Polynomial>> {
        if sum == other || self.uses_left[sum] <= 1 {
            return Ok(None);
        }
        for node in [sum, other] {
            match self.forms[node].as_deref_mut() {
                Some(Form::Real(form)) if form.length() > 1 => form.tidy(),
                _ => return Ok(None),
            }
        }
        let [Some(Form::Real(form)), Some(Form::Real(divided))] =
            [sum, other].map(|node| self.forms[node].as_deref())
        else {
            return Ok(None);
        };
        if !algebra.may_cancel(divided, form) {
            return Ok(None);
        }
        if let Some(base) = self.bases.get(&sum) {
            return Ok(Some(base.clone()));
        }
        let base = algebra.as_known_base(form)?;
        if let Some(base) = &base {
            self.bases.insert(sum, base.clone());
        }
        Ok(base)
    }

    fn connective(
        &mut self,
        algebra: &mut Algebra,
        a: NodeId,
        b: NodeId,
        both: bool,
    ) -> Outcome<Form> {
        let (a, b) = (self.take_condition(a)?, self.take_condition(b)?);
        Ok(Form::Condition(algebra.connective(a, b, both)))
    }

    /// Normalises a select. A branch that cannot be normalised matters only if the condition may choose it.
    fn select(
        &mut self,
        algebra: &mut Algebra,
        c: NodeId,
        a: NodeId,
        b: NodeId,
    ) -> Outcome<Polynomial> {
        let condition = self.take_condition(c)?;
        let (a, b) = (self.take(a), self.take(b));
        match algebra.condition(condition) {
            crate::algebra::Condition::Truth(true) => a,
            crate::algebra::Condition::Truth(false) => b,
            _ => algebra.select(condition, a?, b?),
        }
    }

    /// Normalises a sum.
    fn sum(&mut self, algebra: &mut Algebra, sum: Sum) -> Outcome<Polynomial> {
        if let Some(rescaled) = self.rescaling(algebra, sum)? {
            return Ok(rescaled);
        }
        let terms = self.terms;
        let inputs = terms.inputs().len();
        let is_input = |node: NodeId| node.position() < inputs;
        let mut total = Polynomial::zero();
        if sum.length > 2 {
            total.reserve(sum.length as usize);
        }
        for run in terms.products(sum) {
            let mut rest = run;
            while !rest.is_empty() {
                let simple =
                    |factors: &&Factors| is_input(factors.left()) && is_input(factors.right());
                let plain =
                    if total.is_plain() { rest.iter().take_while(simple).count() } else { 0 };
                let (products, others) = rest.split_at(plain);
                if plain > 0 {
                    algebra.spend(plain)?;
                    total.extend_plain(products.iter().map(of_inputs));
                }
                let Some((factors, after)) = others.split_first() else { break };
                self.summand(algebra, &mut total, *factors, sum.length)?;
                rest = after;
            }
        }
        Ok(total)
    }

    /// Adds a product to a sum under construction.
    fn summand(
        &mut self,
        algebra: &mut Algebra,
        total: &mut Polynomial,
        factors: Factors,
        length: u32,
    ) -> Outcome<()> {
        let (left, right) = (factors.left(), factors.right());
        if let (Some((m, c)), Some((n, d))) = (self.single(left), self.single(right)) {
            let mut coefficient = times(c, d);
            if factors.is_negative() {
                coefficient = -&coefficient;
            }
            self.release(left);
            self.release(right);
            if length > 2 && total.length() == 0 {
                algebra.divide_by_divisor_of(total, [m, n])?;
            }
            return algebra.accumulate_product(total, [m, n], coefficient);
        }
        let product = self.product(algebra, left, right)?;
        let product = if factors.is_negative() { product.negated() } else { product };
        algebra.accumulate(total, product)
    }

    /// Borrows a node's form if it is one summand: no list is copied.
    fn single(&self, node: NodeId) -> Option<(Monomial, &Number)> {
        if let Some(Form::Real(polynomial)) = self.forms[node].as_deref() {
            return polynomial.as_settled_single();
        }
        match self.terms.at(node) {
            Node::Input(input) => {
                Some((Monomial::of_atom(AtomId::of_input(input.position())), &Number::ONE))
            }
            Node::Constant(constant) => {
                let value = self.terms.number(constant);
                (!value.is_zero()).then_some((Monomial::ONE, value))
            }
            _ => None,
        }
    }

    /// Returns the form of an input or a constant.
    fn leaf(&self, node: NodeId) -> Option<Polynomial> {
        match self.terms.at(node) {
            Node::Input(input) => {
                let atom = AtomId::of_input(input.position());
                Some(Polynomial::single(Monomial::of_atom(atom)))
            }
            Node::Constant(constant) => {
                Some(Polynomial::constant(self.terms.number(constant).clone()))
            }
            _ => None,
        }
    }

    /// Returns a node's form, moved out at its last use.
    fn take(&mut self, node: NodeId) -> Outcome<Polynomial> {
        if let Some(leaf) = self.leaf(node) {
            return Ok(leaf);
        }
        let last = self.uses_left[node] <= 1;
        self.uses_left[node] = self.uses_left[node].saturating_sub(1);
        let slot = &mut self.forms[node];
        let form = if last { slot.take().map(|form| *form) } else { slot.as_deref().cloned() };
        match form {
            Some(Form::Real(polynomial)) => Ok(polynomial),
            Some(Form::Failed(obstacle)) => {
                // Keep the failure: other uses must see it too.
                self.forms[node] = Some(Box::new(Form::Failed(obstacle)));
                Err(obstacle)
            }
            Some(Form::Infinite(negative)) => {
                self.forms[node] = Some(Box::new(Form::Infinite(negative)));
                Err(Obstacle::Infinite)
            }
            // A condition where a real is expected, or a root that was taken before.
            Some(Form::Condition(_)) | None => Err(Obstacle::Undefined),
        }
    }

    fn take_condition(&mut self, node: NodeId) -> Outcome<ConditionId> {
        self.uses_left[node] = self.uses_left[node].saturating_sub(1);
        match self.forms[node].as_deref() {
            Some(Form::Condition(condition)) => Ok(*condition),
            Some(Form::Failed(obstacle)) => Err(*obstacle),
            Some(Form::Real(_) | Form::Infinite(_)) | None => Err(Obstacle::Undefined),
        }
    }

    /// Counts a use that needed no form.
    fn release(&mut self, node: NodeId) {
        if !is_leaf(self.terms, node) {
            let left = &mut self.uses_left[node];
            *left = left.saturating_sub(1);
            if *left == 0 {
                self.forms[node] = None;
            }
        }
    }
}

fn is_leaf(terms: &Terms, node: NodeId) -> bool {
    matches!(terms.at(node), Node::Input(_) | Node::Constant(_))
}

/// Returns a product of two inputs as a summand.
fn of_inputs(factors: &Factors) -> Summand {
    let monomial = Monomial::of_inputs(factors.left().position(), factors.right().position());
    (monomial, if factors.is_negative() { Number::MINUS_ONE } else { Number::ONE })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::Condition;
    use std::sync::Arc;
    use term::{Inputs, Relation};

    /// Signs of normal forms settle comparisons, without case splits.
    #[test]
    fn conditions_are_settled_by_signs() {
        let mut inputs = Inputs::new();
        let x = inputs.scalar("x").unwrap();
        let mut terms = Terms::new(Arc::new(inputs));
        let (x, zero) = (terms.input(x), terms.integer(0));
        let square = terms.multiply(x, x);
        let exponential = terms.exp(x);
        let positive = terms.add(square, exponential);
        let always = terms.compare(Relation::Less, zero, positive);
        let never = terms.compare(Relation::Less, positive, zero);
        let sometimes = terms.compare(Relation::Less, zero, x);
        let truth = |condition: Term| {
            let mut algebra = Algebra::new(terms.inputs().len());
            let mut normaliser = Normaliser::new(&terms, [condition]);
            let canonical = normaliser.condition(&mut algebra, condition).unwrap();
            match algebra.condition(canonical) {
                Condition::Truth(value) => Some(value),
                _ => None,
            }
        };
        assert_eq!([always, never, sometimes].map(truth), [Some(true), Some(false), None]);
    }
}

//! Recognises sums of selects on one condition that form the combining step of an online softmax.
//!
//! `s = c ? a : b; t = c ? b : a; s + t·e^(c ? n − m : m − n)`, with `c` for `m > n`, combines two partial softmaxes
//! without `fmaxf`. As a sum of products of selects it has no useful normal form. As one select between two sums it
//! is a rescaling ([`Algebra::select_as_rescaling`]), without any select. Therefore some sums are computed once for
//! each side of a condition: those with at least two selects on it, one of them in an exponent, and those with a
//! minimum in an exponent. If the result is not a rescaling, the sum is computed like any other.
//!
//! A side needs only the chosen operands, as the sum does under that condition, so the two are defined for the same
//! inputs.

use super::{Form, Normaliser, is_leaf};
use crate::algebra::{Algebra, Condition, Obstacle, Outcome, Polynomial};
use term::{Node, NodeId, Relation, Sum, Term, Terms};

/// Longest sum considered: a rescaling has two products.
const MAX_PRODUCTS: u32 = 4;

/// Limit on the nodes searched below a sum.
const MAX_NODES: usize = 32;

/// A condition that splits a sum into two cases.
#[derive(Clone, Copy, Debug)]
enum Chooser {
    /// A condition.
    Condition(NodeId),
    /// The first is less than the second. Partial softmaxes of one element each have equal sums, and only the minimum
    /// depends on the comparison.
    Less(NodeId, NodeId),
}

impl Chooser {
    /// Returns the smaller of two numbers where the condition holds, if it compares them.
    fn decides(self, terms: &Terms, [a, b]: [NodeId; 2]) -> Option<NodeId> {
        let (x, y) = match self {
            Self::Less(x, y) => (x, y),
            Self::Condition(condition) => match terms.at(condition) {
                Node::Compare(Relation::Less | Relation::LessEqual, x, y) => (x, y),
                _ => return None,
            },
        };
        ([x, y] == [a, b] || [x, y] == [b, a]).then_some(x)
    }
}

/// A sum to be computed in both cases.
#[derive(Clone, Debug)]
pub(super) struct Gathering {
    condition: Chooser,
    /// Nodes on the path from the sum to selects.
    touched: Vec<NodeId>,
    /// Nodes whose forms are needed once more.
    kept: Vec<NodeId>,
}

/// Returns a condition without its negations, and `true` if their number is odd.
fn strip_negations(terms: &Terms, condition: NodeId) -> (NodeId, bool) {
    match terms.at(condition) {
        Node::Not(inner) => {
            let (inner, negated) = strip_negations(terms, inner);
            (inner, !negated)
        }
        _ => (condition, false),
    }
}

/// Finds the condition to split a sum by.
pub(super) fn find(terms: &Terms, sum: Sum) -> Option<Gathering> {
    if sum.length > MAX_PRODUCTS {
        return None;
    }
    let mut waiting: Vec<(NodeId, bool)> = factors(terms, sum).map(|node| (node, false)).collect();
    let mut seen = Vec::new();
    // Selects: the condition, and whether it is in an exponent. The larger or smaller of two numbers is a select on
    // their comparison.
    let mut choices: Vec<(NodeId, bool)> = Vec::new();
    let mut extrema: Vec<([NodeId; 2], bool)> = Vec::new();
    while let Some((node, in_exponent)) = waiting.pop() {
        if seen.contains(&(node, in_exponent)) {
            continue;
        }
        if seen.len() == MAX_NODES {
            return None;
        }
        seen.push((node, in_exponent));
        match terms.at(node) {
            Node::Select(condition, ..) => {
                choices.push((strip_negations(terms, condition).0, in_exponent));
            }
            Node::Maximum(a, b) if in_exponent => extrema.push(([a, b], false)),
            Node::Minimum(a, b) if in_exponent => extrema.push(([a, b], true)),
            Node::Exp(inner) => waiting.push((inner, true)),
            Node::Negation(inner) => waiting.push((inner, in_exponent)),
            Node::Product(a, b) => waiting.extend([(a, in_exponent), (b, in_exponent)]),
            Node::Sum(sum) if sum.length <= MAX_PRODUCTS => {
                waiting.extend(factors(terms, sum).map(|node| (node, in_exponent)));
            }
            _ => {}
        }
    }
    let is_inside = |condition: NodeId| {
        choices.iter().any(|choice| choice.1 && terms.at(choice.0) == terms.at(condition))
            || extrema
                .iter()
                .any(|one| Chooser::Condition(condition).decides(terms, one.0).is_some())
    };
    let outside = choices.iter().filter(|choice| !choice.1).map(|choice| choice.0);
    let by_condition = outside.into_iter().find(|&one| is_inside(one)).map(Chooser::Condition);
    let by_minimum = || {
        let minimum = extrema.iter().find(|one| one.1)?;
        Some(Chooser::Less(minimum.0[0], minimum.0[1]))
    };
    Some(touched(terms, sum, by_condition.or_else(by_minimum)?))
}

/// Collects the nodes that differ on the two sides of a condition, and those that both sides use.
fn touched(terms: &Terms, sum: Sum, condition: Chooser) -> Gathering {
    let mut found = Gathering { condition, touched: Vec::new(), kept: Vec::new() };
    let mut plain = Vec::new();
    for node in factors(terms, sum) {
        found.visit(terms, node, &mut plain);
    }
    plain.into_iter().for_each(|node| found.keep(terms, node));
    found
}

impl Gathering {
    /// Returns `true` if a node differs on the two sides. It walks like [`find`]; nodes that are the same on both
    /// sides are added to `plain`.
    fn visit(&mut self, terms: &Terms, node: NodeId, plain: &mut Vec<NodeId>) -> bool {
        if self.touched.contains(&node) || plain.contains(&node) {
            return self.touched.contains(&node);
        }
        let inner: Vec<NodeId> = match terms.at(node) {
            Node::Select(condition, a, b) if self.chooses(terms, condition) => {
                self.keep(terms, a);
                self.keep(terms, b);
                self.touched.push(node);
                return true;
            }
            Node::Maximum(a, b) | Node::Minimum(a, b)
                if self.condition.decides(terms, [a, b]).is_some() =>
            {
                self.keep(terms, a);
                self.keep(terms, b);
                self.touched.push(node);
                return true;
            }
            Node::Exp(inner) | Node::Negation(inner) => vec![inner],
            Node::Product(a, b) => vec![a, b],
            Node::Sum(sum) if sum.length <= MAX_PRODUCTS => factors(terms, sum).collect(),
            _ => Vec::new(),
        };
        let mut differs = false;
        for node in inner {
            differs |= self.visit(terms, node, plain);
        }
        if differs {
            self.touched.push(node)
        } else {
            plain.push(node)
        }
        differs
    }

    /// Returns `true` if a condition is this one, or its negation. Equal comparisons may be different nodes.
    fn chooses(&self, terms: &Terms, condition: NodeId) -> bool {
        match self.condition {
            Chooser::Condition(own) => {
                terms.at(strip_negations(terms, condition).0) == terms.at(own)
            }
            Chooser::Less(..) => false,
        }
    }

    fn keep(&mut self, terms: &Terms, node: NodeId) {
        if !is_leaf(terms, node) {
            self.kept.push(node);
        }
    }
}

impl Normaliser<'_> {
    /// Prepares for sums of selects: the operands of both sides get one more use.
    pub(super) fn gather(&mut self, nodes: &[NodeId], roots: &[Term]) {
        let terms = self.terms;
        let sum = |node: Node| match node {
            Node::Sum(sum) => Some(sum),
            _ => None,
        };
        let inner = nodes.iter().filter_map(|node| sum(terms.at(*node)));
        let outer = roots.iter().filter(|root| terms.node_of(**root).is_none());
        let outer = outer.filter_map(|root| sum(terms.node(*root)));
        for sum in inner.chain(outer) {
            if self.gathered.contains_key(&sum) {
                continue;
            }
            if let Some(found) = find(terms, sum) {
                for node in &found.kept {
                    self.uses_left[*node] = self.uses_left[*node].saturating_add(1);
                }
                self.gathered.insert(sum, found);
            }
        }
    }

    /// Returns the form of a sum of selects, if it is a rescaling.
    pub(super) fn rescaling(
        &mut self,
        algebra: &mut Algebra,
        sum: Sum,
    ) -> Outcome<Option<Polynomial>> {
        let Some(found) = self.gathered.remove(&sum) else { return Ok(None) };
        let rescaled = self.rescaled(algebra, sum, &found);
        found.kept.iter().for_each(|node| self.release(*node));
        let Some(rescaled) = rescaled? else { return Ok(None) };
        let terms = self.terms;
        factors(terms, sum).for_each(|node| self.release(node));
        Ok(Some(rescaled))
    }

    /// Computes a sum on both sides of its condition, and combines the sides to a rescaling, if they form one.
    fn rescaled(
        &self,
        algebra: &mut Algebra,
        sum: Sum,
        found: &Gathering,
    ) -> Outcome<Option<Polynomial>> {
        let condition = match found.condition {
            Chooser::Condition(condition) => match self.forms[condition].as_deref() {
                Some(Form::Condition(condition)) => *condition,
                _ => return Ok(None),
            },
            Chooser::Less(a, b) => match (self.peek(a), self.peek(b)) {
                (Ok(a), Ok(b)) => algebra.comparison(Relation::Less, a, b)?,
                _ => return Ok(None),
            },
        };
        if matches!(algebra.condition(condition), Condition::Truth(_)) {
            return Ok(None);
        }
        let mut sides = Vec::with_capacity(2);
        for holds in [true, false] {
            // Without the form of a side the sum is computed like any other, which may succeed.
            let Ok(side) = self.side_of_sum(algebra, sum, found, holds) else { return Ok(None) };
            sides.push(algebra.intern(side)?);
        }
        algebra.select_as_rescaling(condition, sides[0], sides[1])
    }

    fn side_of_sum(
        &self,
        algebra: &mut Algebra,
        sum: Sum,
        found: &Gathering,
        holds: bool,
    ) -> Outcome<Polynomial> {
        let mut total = Polynomial::zero();
        for product in self.terms.products(sum).flatten() {
            let a = self.side(algebra, product.left(), found, holds)?;
            let b = self.side(algebra, product.right(), found, holds)?;
            let product_form = algebra.product(a, b)?;
            let negative = product.is_negative();
            let summand = if negative { product_form.negated() } else { product_form };
            algebra.accumulate(&mut total, summand)?;
        }
        Ok(total)
    }

    /// Returns the form of a node on a side of the condition.
    fn side(
        &self,
        algebra: &mut Algebra,
        node: NodeId,
        found: &Gathering,
        holds: bool,
    ) -> Outcome<Polynomial> {
        algebra.spend(1)?;
        if !found.touched.contains(&node) {
            return self.peek(node);
        }
        match self.terms.at(node) {
            Node::Select(condition, a, b) => {
                let (_, negated) = strip_negations(self.terms, condition);
                let takes_first = holds != negated;
                self.peek(if takes_first { a } else { b })
            }
            extremum @ (Node::Maximum(a, b) | Node::Minimum(a, b)) => {
                let smaller = found.condition.decides(self.terms, [a, b]);
                let wants_smaller = matches!(extremum, Node::Minimum(..)) == holds;
                self.peek(if wants_smaller == (smaller == Some(a)) { a } else { b })
            }
            Node::Exp(inner) => {
                let inner = self.side(algebra, inner, found, holds)?;
                algebra.exp(inner)
            }
            Node::Negation(inner) => Ok(self.side(algebra, inner, found, holds)?.negated()),
            Node::Product(a, b) => {
                let a = self.side(algebra, a, found, holds)?;
                let b = self.side(algebra, b, found, holds)?;
                algebra.product(a, b)
            }
            Node::Sum(sum) => self.side_of_sum(algebra, sum, found, holds),
            _ => Err(Obstacle::Undefined),
        }
    }

    /// Returns a node's form, copied.
    fn peek(&self, node: NodeId) -> Outcome<Polynomial> {
        if let Some(leaf) = self.leaf(node) {
            return Ok(leaf);
        }
        match self.forms[node].as_deref() {
            Some(Form::Real(polynomial)) => Ok(polynomial.clone()),
            Some(Form::Failed(obstacle)) => Err(*obstacle),
            Some(Form::Infinite(_)) => Err(Obstacle::Infinite),
            Some(Form::Condition(_)) | None => Err(Obstacle::Undefined),
        }
    }
}

/// Returns the factors of the products of a sum.
fn factors(terms: &Terms, sum: Sum) -> impl Iterator<Item = NodeId> + '_ {
    terms.products(sum).flatten().flat_map(|one| [one.left(), one.right()])
}

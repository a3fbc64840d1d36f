//! Terms at several points at once, as doubles: the cheapest check for differences.
//!
//! The nodes below all roots are found once and evaluated once for each group of points. So shared parts of outputs
//! cost nothing more, and a node is decoded once for all points of the group. The arithmetic is that of
//! [`float`](super::float): no error bounds, NaN if a value is undefined or not evaluable. It suggests where to look
//! and never decides.

use super::float::{apply_float, element, power};
use crate::deadline::{Countdown, Deadline};
use term::{Function, Input, Node, NodeId, Relation, Sum, Term, Terms, evaluation_order};

/// Points of a group: four doubles are one AVX register.
pub const LANES: usize = 4;

/// A value at each point of a group.
pub type Lanes = [f64; LANES];

/// Cost of a function of a double, in products of a sum.
const FUNCTION: u64 = 16;

/// Terms to be evaluated at groups of points.
#[derive(Debug)]
pub(crate) struct Evaluator<'t> {
    terms: &'t Terms,
    roots: Vec<Term>,
    /// Nodes below the roots, children first.
    nodes: Vec<NodeId>,
    /// By node; allocated with the first group.
    values: Vec<Lanes>,
    cost: u64,
    deadline: Deadline,
}

impl<'t> Evaluator<'t> {
    /// Collects the nodes below some roots.
    pub(crate) fn new(terms: &'t Terms, roots: Vec<Term>) -> Self {
        let nodes = evaluation_order(terms, roots.iter().copied(), |_| true).nodes;
        let unsealed = roots.iter().filter(|root| terms.node_of(**root).is_none());
        let unsealed_cost: u64 = unsealed.map(|root| u64::from(root.products())).sum();
        let cost = unsealed_cost + nodes.iter().map(|node| cost(terms.at(*node))).sum::<u64>();
        Self { terms, roots, nodes, values: Vec::new(), cost, deadline: Deadline::default() }
    }

    /// Sets a deadline; once it has passed, no root has a value.
    pub(crate) fn until(self, deadline: Deadline) -> Self {
        Self { deadline, ..self }
    }

    /// Returns `true` if the deadline has passed.
    pub(crate) fn is_over(&self) -> bool {
        self.deadline.has_passed()
    }

    /// Returns the store of the terms.
    pub(crate) fn terms(&self) -> &'t Terms {
        self.terms
    }

    /// Returns the nodes below the roots.
    pub(crate) fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    /// Estimates the work of one group, in products of a sum.
    pub(crate) fn cost(&self) -> u64 {
        self.cost
    }

    /// Returns the values of the roots where each input has the values `point` gives it.
    pub(crate) fn run(&mut self, point: &dyn Fn(Input) -> Lanes) -> Vec<Lanes> {
        // Only nodes below a root are read and written: the zeroed memory of the others is never touched.
        if self.values.is_empty() {
            self.values = vec![[0.0; LANES]; self.terms.node_count()];
        }
        let mut countdown = Countdown::new(self.deadline);
        for node in &self.nodes {
            if countdown.is_over() {
                return vec![[f64::NAN; LANES]; self.roots.len()];
            }
            let value = operation(self.terms, self.terms.at(*node), point, &self.values);
            self.values[node.position()] = value;
        }
        let root = |root: &Term| match self.terms.node_of(*root) {
            Some(node) => self.values[node.position()],
            None => operation(self.terms, self.terms.node(*root), point, &self.values),
        };
        self.roots.iter().map(root).collect()
    }
}

fn cost(node: Node) -> u64 {
    match node {
        Node::Sum(sum) => u64::from(sum.length),
        Node::Exp(_) | Node::Log(_) | Node::Power(..) | Node::Apply(..) | Node::Input(_) => {
            FUNCTION
        }
        _ => 2,
    }
}

fn operation(terms: &Terms, node: Node, point: &dyn Fn(Input) -> Lanes, values: &[Lanes]) -> Lanes {
    let at = |id: NodeId| &values[id.position()];
    match node {
        Node::Input(input) => point(input),
        Node::Constant(constant) => [terms.number(constant).to_f64_lossy(); LANES],
        Node::Pi => [std::f64::consts::PI; LANES],
        Node::Infinity { negative: true } => [f64::NEG_INFINITY; LANES],
        Node::Infinity { negative: false } => [f64::INFINITY; LANES],
        Node::Undefined => [f64::NAN; LANES],
        Node::Sum(sum) => total(terms, sum, values),
        Node::Product(a, b) => zip_lanes(at(a), at(b), |a, b| a * b),
        Node::Negation(a) => at(a).map(|a| -a),
        Node::Quotient(a, b) => {
            zip_lanes(at(a), at(b), |a, b| if b == 0.0 { f64::NAN } else { a / b })
        }
        Node::Power(a, exponent) => {
            let exponent = terms.number(exponent);
            at(a).map(|a| power(a, exponent))
        }
        Node::Exp(a) => at(a).map(f64::exp),
        Node::Log(a) => at(a).map(|a| if a <= 0.0 { f64::NAN } else { a.ln() }),
        Node::Maximum(a, b) => strict(at(a), at(b), f64::max),
        Node::Minimum(a, b) => strict(at(a), at(b), f64::min),
        Node::Absolute(a) => at(a).map(f64::abs),
        Node::Select(c, a, b) => select(at(c), at(a), at(b)),
        Node::Apply(Function::Element(first), a) => std::array::from_fn(|lane| {
            element(terms, first, at(a)[lane]).map_or(f64::NAN, |input| point(input)[lane])
        }),
        Node::Apply(function, a) => at(a).map(|a| apply_float(function, a)),
        Node::Truth(value) => [f64::from(u8::from(value)); LANES],
        Node::Compare(relation, a, b) => strict(at(a), at(b), |x, y| {
            f64::from(u8::from(match relation {
                Relation::Less => x < y,
                Relation::LessEqual => x <= y,
                Relation::Equal => x == y,
            }))
        }),
        Node::Not(a) => at(a).map(|a| 1.0 - a),
        Node::And(a, b) => strict(at(a), at(b), f64::min),
        Node::Or(a, b) => strict(at(a), at(b), f64::max),
    }
}

/// Adds up a sum in each lane.
fn total(terms: &Terms, sum: Sum, values: &[Lanes]) -> Lanes {
    let mut total = [0.0; LANES];
    for factors in terms.products(sum).flatten() {
        let (a, b) = (&values[factors.left().position()], &values[factors.right().position()]);
        let sign = if factors.is_negative() { -1.0 } else { 1.0 };
        for lane in 0..LANES {
            total[lane] += sign * a[lane] * b[lane];
        }
    }
    total
}

#[inline]
fn zip_lanes(a: &Lanes, b: &Lanes, f: impl Fn(f64, f64) -> f64) -> Lanes {
    std::array::from_fn(|lane| f(a[lane], b[lane]))
}

/// Applies `f`, with NaN if either operand is.
#[inline]
fn strict(a: &Lanes, b: &Lanes, f: impl Fn(f64, f64) -> f64) -> Lanes {
    zip_lanes(a, b, |a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { f(a, b) })
}

fn select(condition: &Lanes, a: &Lanes, b: &Lanes) -> Lanes {
    std::array::from_fn(|lane| match condition[lane] {
        1.0 => a[lane],
        0.0 => b[lane],
        _ => f64::NAN,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::evaluate_floats;
    use std::sync::Arc;
    use term::Number;
    use term::text::{Scope, parse_expression, parse_script};

    #[test]
    fn lanes_agree_with_single_points() {
        let script = parse_script("input x, y, z").unwrap();
        let (mut scope, inputs) = Scope::declare(&script, &[]).unwrap();
        let mut terms = Terms::new(Arc::new(inputs));
        let texts = [
            "(x + y)^2 - z*x + 3",
            "exp(x) / (exp(x) + exp(y)) - sqrt(abs(z))",
            "if(x < y, max(x, z), min(y, z) - log(y))",
            "1 / (x - x) + tanh(z)",
            "max(x, y) - floor(z) * cos(x)",
        ];
        let roots = texts.map(|text| {
            let expression = parse_expression(text).unwrap();
            scope.term(&mut terms, &expression).unwrap()
        });
        let value = |input: Input, lane: usize| {
            f64::from((input.position() * 7 + lane * 5) as u32 % 9) / 4.0 - 1.0
        };
        let mut evaluator = Evaluator::new(&terms, roots.to_vec());
        let found = evaluator.run(&|input| std::array::from_fn(|lane| value(input, lane)));
        for lane in 0..LANES {
            let point = |input: Input| Number::from_f64(value(input, lane)).unwrap();
            let single = evaluate_floats(&terms, &roots, &point);
            for (text, (one, all)) in texts.iter().zip(single.iter().zip(&found)) {
                let near = (one - all[lane]).abs() <= 1e-12 * one.abs();
                assert!(near || (one.is_nan() && all[lane].is_nan()), "{text}: {one} {all:?}");
            }
        }
    }
}

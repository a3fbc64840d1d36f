//! Terms at a point, as floats: fingerprints that suggest where a difference may be. Never a verdict.

use term::{
    Function, Input, Node, NodeId, NodeTable, Number, Relation, Term, Terms, evaluation_order,
};

/// Returns approximate values; NaN where undefined or not evaluable. Conditions are 1 and 0.
pub(crate) fn evaluate_floats(
    terms: &Terms,
    roots: &[Term],
    point: &dyn Fn(Input) -> Number,
) -> Vec<f64> {
    let order = evaluation_order(terms, roots.iter().copied(), |_| true);
    // A node that is used has been visited.
    let mut values = NodeTable::new(f64::NAN);
    for &node in &order.nodes {
        values[node] = float_operation(terms, terms.at(node), point, |node| values[node]);
    }
    let value = |root: &Term| float_operation(terms, terms.node(*root), point, |node| values[node]);
    roots.iter().map(value).collect()
}

/// Evaluates one operation given its operands' values.
pub(super) fn float_operation(
    terms: &Terms,
    node: Node,
    point: &dyn Fn(Input) -> Number,
    at: impl Fn(NodeId) -> f64,
) -> f64 {
    match node {
        Node::Input(input) => point(input).to_f64_lossy(),
        Node::Constant(constant) => terms.number(constant).to_f64_lossy(),
        Node::Pi => std::f64::consts::PI,
        Node::Infinity { negative: true } => f64::NEG_INFINITY,
        Node::Infinity { negative: false } => f64::INFINITY,
        Node::Undefined => f64::NAN,
        Node::Sum(sum) => {
            let mut total = 0.0;
            for factors in terms.products(sum).flatten() {
                let product = at(factors.left()) * at(factors.right());
                total += if factors.is_negative() { -product } else { product };
            }
            total
        }
        Node::Product(a, b) => at(a) * at(b),
        Node::Negation(a) => -at(a),
        Node::Quotient(_, b) if at(b) == 0.0 => f64::NAN,
        Node::Quotient(a, b) => at(a) / at(b),
        Node::Power(a, exponent) => power(at(a), terms.number(exponent)),
        Node::Exp(a) => at(a).exp(),
        Node::Log(a) if at(a) <= 0.0 => f64::NAN,
        Node::Log(a) => at(a).ln(),
        Node::Maximum(a, b) => strict(at(a), at(b), f64::max),
        Node::Minimum(a, b) => strict(at(a), at(b), f64::min),
        Node::Absolute(a) => at(a).abs(),
        Node::Select(c, a, b) => choose(at(c), at(a), at(b)),
        Node::Apply(Function::Element(first), a) => match element(terms, first, at(a)) {
            Some(input) => point(input).to_f64_lossy(),
            None => f64::NAN,
        },
        Node::Apply(function, a) => apply_float(function, at(a)),
        Node::Truth(value) => f64::from(u8::from(value)),
        Node::Compare(relation, a, b) => strict(at(a), at(b), |x, y| {
            f64::from(u8::from(match relation {
                Relation::Less => x < y,
                Relation::LessEqual => x <= y,
                Relation::Equal => x == y,
            }))
        }),
        Node::Not(a) => 1.0 - at(a),
        Node::And(a, b) => strict(at(a), at(b), f64::min),
        Node::Or(a, b) => strict(at(a), at(b), f64::max),
    }
}

/// Returns the element of a tensor with this number.
pub(super) fn element(terms: &Terms, first: Input, index: f64) -> Option<Input> {
    let integer = index as i64;
    (integer as f64 == index).then(|| terms.inputs().behind(first, integer)).flatten()
}

/// Applies `f`, with NaN if either operand is: `f64::max` would drop it.
fn strict(a: f64, b: f64, f: impl Fn(f64, f64) -> f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { f(a, b) }
}

fn choose(condition: f64, a: f64, b: f64) -> f64 {
    match condition {
        1.0 => a,
        0.0 => b,
        _ => f64::NAN,
    }
}

pub(super) fn power(base: f64, exponent: &Number) -> f64 {
    match exponent.to_i64() {
        Some(integer) if base != 0.0 || integer >= 0 => base.powf(integer as f64),
        None if base > 0.0 || (base == 0.0 && !exponent.is_negative()) => {
            base.powf(exponent.to_f64_lossy())
        }
        _ => f64::NAN,
    }
}

/// Applies a named function to a float.
pub(super) fn apply_float(function: Function, x: f64) -> f64 {
    match function {
        Function::Tanh => x.tanh(),
        Function::Erf => erf(x),
        Function::Sin => x.sin(),
        Function::Cos => x.cos(),
        Function::Atan => x.atan(),
        Function::Cbrt => x.cbrt(),
        Function::Floor => x.floor(),
        Function::Ceil => x.ceil(),
        Function::Trunc => x.trunc(),
        Function::Round => x.round_ties_even(),
        Function::Rounded => x,
        Function::Named(_) | Function::Element(_) => f64::NAN,
    }
}

/// Computes the error function to about 1e-13, by the series of the interval version.
fn erf(x: f64) -> f64 {
    if x.abs() > 6.0 {
        return x.signum();
    }
    let (mut term, mut sum, mut index) = (x, x, 3.0);
    while term.abs() > 1e-18 * sum.abs() {
        term *= 2.0 * x * x / index;
        sum += term;
        index += 2.0;
    }
    sum * (-x * x).exp() * std::f64::consts::FRAC_2_SQRT_PI
}

//! Shows that a term is a real number at a point, in intervals of doubles: a quick test before [`super::evaluate`].
//!
//! Bounds are rounded outward, so the exact value of each operation is between them. Exponentials are bounded by powers
//! of two, and logarithms by exponents: where only the sign of a denominator matters, as in softmax, that is enough.
//! Whatever these bounds do not decide is left to 256 bits.

use super::float;
use crate::deadline::{Countdown, Deadline};
use term::{Function, Input, Node, NodeTable, Number, Relation, Term, Terms, evaluation_order};

/// A value at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Bounded {
    /// A real number from the first to the second, both finite.
    Real(f64, f64),
    /// An infinity: negative if `true`.
    Infinity(bool),
    Truth(bool),
    /// Not decided here.
    Unsure,
}

use Bounded::{Infinity, Real, Truth, Unsure};

/// Returns `true` if a term is certainly a real number at a point, and all `assumptions` hold there. Where it
/// returns `false`, nothing is known.
pub(crate) fn is_certainly_real(
    terms: &Terms,
    (root, assumptions): (Term, &[Term]),
    point: &dyn Fn(Input) -> Number,
    deadline: Deadline,
) -> bool {
    let roots = || assumptions.iter().copied().chain([root]);
    let order = evaluation_order(terms, roots(), |_| true);
    let mut values = NodeTable::new(Unsure);
    let mut countdown = Countdown::new(deadline);
    for &node in &order.nodes {
        if countdown.is_over() {
            return false;
        }
        values[node] = operation(terms, terms.at(node), point, &values, &mut countdown);
    }
    roots().enumerate().all(|(index, root)| {
        let value = operation(terms, terms.node(root), point, &values, &mut countdown);
        match index == assumptions.len() {
            true => matches!(value, Real(..)),
            false => value == Truth(true),
        }
    })
}

/// Evaluates an operation on the values of its operands.
fn operation(
    terms: &Terms,
    node: Node,
    point: &dyn Fn(Input) -> Number,
    values: &NodeTable<Bounded>,
    countdown: &mut Countdown,
) -> Bounded {
    match node {
        Node::Input(input) => exact(&point(input)),
        Node::Constant(constant) => of_number(terms.number(constant)),
        Node::Pi => Real(std::f64::consts::PI, std::f64::consts::PI.next_up()),
        Node::Infinity { negative } => Infinity(negative),
        Node::Sum(sum) => {
            let mut total = Real(0.0, 0.0);
            for factors in terms.products(sum).flatten() {
                if countdown.is_over() {
                    return Unsure;
                }
                let product = multiply(values[factors.left()], values[factors.right()]);
                total = add(total, if factors.is_negative() { negate(product) } else { product });
            }
            total
        }
        Node::Product(a, b) => multiply(values[a], values[b]),
        Node::Negation(a) => negate(values[a]),
        Node::Quotient(a, b) => multiply(values[a], reciprocal(values[b])),
        Node::Power(a, exponent) => power(values[a], terms.number(exponent)),
        Node::Exp(a) => exponential(values[a]),
        Node::Log(a) => logarithm(values[a]),
        Node::Maximum(a, b) => maximum(values[a], values[b]),
        Node::Minimum(a, b) => negate(maximum(negate(values[a]), negate(values[b]))),
        Node::Absolute(a) => maximum(values[a], negate(values[a])),
        Node::Select(c, a, b) => match values[c] {
            Truth(true) => values[a],
            Truth(false) => values[b],
            _ => Unsure,
        },
        Node::Apply(Function::Element(first), a) => match values[a] {
            Real(low, high) if low == high => {
                float::element(terms, first, low).map_or(Unsure, |input| exact(&point(input)))
            }
            _ => Unsure,
        },
        Node::Truth(value) => Truth(value),
        Node::Compare(relation, a, b) => compare(relation, values[a], values[b]),
        Node::Not(a) => match values[a] {
            Truth(value) => Truth(!value),
            _ => Unsure,
        },
        Node::And(a, b) => match (values[a], values[b]) {
            (Truth(x), Truth(y)) => Truth(x && y),
            _ => Unsure,
        },
        Node::Or(a, b) => match (values[a], values[b]) {
            (Truth(x), Truth(y)) => Truth(x || y),
            _ => Unsure,
        },
        Node::Undefined | Node::Apply(..) => Unsure,
    }
}

/// Returns a finite interval.
fn real(low: f64, high: f64) -> Bounded {
    if low.is_finite() && high.is_finite() && low <= high { Real(low, high) } else { Unsure }
}

/// Encloses a number that doubles hold exactly, as most inputs of points.
fn exact(number: &Number) -> Bounded {
    match number.to_i64() {
        Some(whole) if whole.unsigned_abs() < 1 << 53 => Real(whole as f64, whole as f64),
        _ => of_number(number),
    }
}

fn of_number(number: &Number) -> Bounded {
    let near = number.to_f64_lossy();
    if Number::from_f64(near).as_ref() == Some(number) {
        return real(near, near);
    }
    let (low, high) = super::Interval::of_number(number).to_f64_bounds();
    real(low, high)
}

/// Adds the lower bounds and the upper bounds. The rounding error of a sum is computed exactly (two-sum).
fn add(a: Bounded, b: Bounded) -> Bounded {
    let sum = |a: f64, b: f64| {
        let sum = a + b;
        let rest = sum - a;
        (sum, (a - (sum - rest)) + (b - rest))
    };
    match (a, b) {
        (Real(a, b), Real(c, d)) => {
            let ((low, below), (high, above)) = (sum(a, c), sum(b, d));
            real(
                if below < 0.0 { low.next_down() } else { low },
                if above > 0.0 { high.next_up() } else { high },
            )
        }
        _ => Unsure,
    }
}

/// The low bits of a double. If they are zero in both factors, the product has at most 53 bits.
const LOW_HALF: u64 = (1 << 27) - 1;

/// Returns bounds of a product.
fn product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    let is_short = (a.to_bits() | b.to_bits()) & LOW_HALF == 0;
    if a == 0.0 || b == 0.0 || is_short && product.is_normal() {
        return (product, product);
    }
    (product.next_down(), product.next_up())
}

fn multiply(a: Bounded, b: Bounded) -> Bounded {
    let (Real(a, b), Real(c, d)) = (a, b) else { return Unsure };
    if a == b && c == d {
        let (low, high) = product(a, c);
        return real(low, high);
    }
    let corners = [product(a, c), product(a, d), product(b, c), product(b, d)];
    let low = corners.iter().fold(f64::INFINITY, |low, corner| low.min(corner.0));
    let high = corners.iter().fold(f64::NEG_INFINITY, |high, corner| high.max(corner.1));
    // A corner that overflowed to a NaN would be skipped; factors are finite, so there is none.
    real(low, high)
}

/// Returns the reciprocal of a number that is certainly not zero.
fn reciprocal(a: Bounded) -> Bounded {
    match a {
        Real(low, high) if low > 0.0 || high < 0.0 => {
            let bound = |value: f64| 1.0 / value;
            // Powers of two have exact reciprocals.
            if low == high && low.to_bits() << 12 == 0 && bound(low).is_normal() {
                return real(bound(low), bound(low));
            }
            real(bound(high).next_down(), bound(low).next_up())
        }
        Infinity(_) => Real(0.0, 0.0),
        _ => Unsure,
    }
}

fn negate(a: Bounded) -> Bounded {
    match a {
        Real(low, high) => Real(-high, -low),
        Infinity(negative) => Infinity(!negative),
        Truth(_) | Unsure => Unsure,
    }
}

fn maximum(a: Bounded, b: Bounded) -> Bounded {
    match (a, b) {
        (Real(a, b), Real(c, d)) => Real(a.max(c), b.max(d)),
        (Infinity(true), other @ (Real(..) | Infinity(_))) | (other @ Real(..), Infinity(true)) => {
            other
        }
        (Infinity(false), Real(..) | Infinity(_)) | (Real(..), Infinity(false)) => Infinity(false),
        _ => Unsure,
    }
}

/// Largest integer power computed here.
const MAX_POWER: i64 = 16;

fn power(base: Bounded, exponent: &Number) -> Bounded {
    if let Some(count) = exponent.to_i64().filter(|count| count.abs() <= MAX_POWER) {
        let factor = if count < 0 { reciprocal(base) } else { base };
        return match factor {
            Real(..) => (0..count.abs()).fold(Real(1.0, 1.0), |all, _| multiply(all, factor)),
            _ => Unsure,
        };
    }
    let root = match base {
        Real(low, high) if low >= 0.0 => {
            real(low.sqrt().next_down().max(0.0), high.sqrt().next_up())
        }
        _ => return Unsure,
    };
    match () {
        () if *exponent == Number::dyadic(1, -1) => root,
        () if *exponent == Number::dyadic(-1, -1) => reciprocal(root),
        () => Unsure,
    }
}

/// Exponents of the powers of two that bound an exponential.
const EXPONENTS: std::ops::RangeInclusive<f64> = -1022.0..=1000.0;

/// Encloses an exponential between powers of two.
fn exponential(a: Bounded) -> Bounded {
    // Bounds of `x·log2(e)`: the constant and the product are rounded by less than 2^-51 together.
    let scaled = |x: f64| {
        let near = x * std::f64::consts::LOG2_E;
        let error = near.abs() * f64::EPSILON * 2.0 + f64::MIN_POSITIVE;
        ((near - error).next_down(), (near + error).next_up())
    };
    let power = |exponent: f64| f64::from_bits(((exponent as i64 + 1023) as u64) << 52);
    match a {
        Real(0.0, 0.0) => Real(1.0, 1.0),
        Real(low, high) => {
            let (least, most) = (scaled(low).0.floor(), scaled(high).1.ceil());
            if most > *EXPONENTS.end() {
                return Unsure;
            }
            let below = if EXPONENTS.contains(&least) { power(least) } else { 0.0 };
            real(below, power(most.max(*EXPONENTS.start())))
        }
        Infinity(true) => Real(0.0, 0.0),
        Infinity(false) | Truth(_) | Unsure => Unsure,
    }
}

/// Encloses a logarithm by the exponents of its argument, which is certainly positive.
fn logarithm(a: Bounded) -> Bounded {
    let exponent = |x: f64| (x.to_bits() >> 52) as f64 - 1023.0;
    match a {
        Real(low, high) if low >= f64::MIN_POSITIVE => {
            let (least, most) = (exponent(low), exponent(high) + 1.0);
            let ln2 = (std::f64::consts::LN_2.next_down(), std::f64::consts::LN_2.next_up());
            multiply(Real(least, most), Real(ln2.0, ln2.1))
        }
        _ => Unsure,
    }
}

fn compare(relation: Relation, a: Bounded, b: Bounded) -> Bounded {
    let (a, b) = match (a, b) {
        (Real(..) | Infinity(_), Real(..) | Infinity(_)) => (bounds(a), bounds(b)),
        _ => return Unsure,
    };
    let equal = a.0 == a.1 && b.0 == b.1 && a.0 == b.0;
    match relation {
        Relation::Less if a.1 < b.0 => Truth(true),
        Relation::Less if a.0 >= b.1 => Truth(false),
        Relation::LessEqual if a.1 <= b.0 => Truth(true),
        Relation::LessEqual if a.0 > b.1 => Truth(false),
        Relation::Equal if equal => Truth(true),
        Relation::Equal if a.1 < b.0 || a.0 > b.1 => Truth(false),
        _ => Unsure,
    }
}

/// The bounds of a real number or an infinity.
fn bounds(a: Bounded) -> (f64, f64) {
    match a {
        Real(low, high) => (low, high),
        Infinity(true) => (f64::NEG_INFINITY, f64::NEG_INFINITY),
        Infinity(false) | Truth(_) | Unsure => (f64::INFINITY, f64::INFINITY),
    }
}

#[cfg(test)]
#[path = "certain_tests.rs"]
mod tests;

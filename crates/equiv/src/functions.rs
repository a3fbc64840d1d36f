//! Functions that no instruction computes, as terms: each is defined by the few functions of the term
//! language, so that the algebra relates them.

use ir::RealFunction;
use term::{Function, Number, Relation, Term, Terms};

/// Applies a function of one or two terms; a function of one uses the first.
///
/// Long: a table with one arm for each function.
pub(crate) fn apply(terms: &mut Terms, function: RealFunction, a: Term, b: Term) -> Term {
    let one = terms.one();
    match function {
        RealFunction::Exp => terms.exp(a),
        RealFunction::Exp2 => terms.exp2(a),
        RealFunction::Exp10 => {
            let ln_10 = log_of(terms, 10);
            let scaled = terms.multiply(a, ln_10);
            terms.exp(scaled)
        }
        RealFunction::Expm1 => {
            let exp = terms.exp(a);
            terms.subtract(exp, one)
        }
        RealFunction::Log => terms.log(a),
        RealFunction::Log2 => terms.log2(a),
        RealFunction::Log10 => {
            let (log, ln_10) = (terms.log(a), log_of(terms, 10));
            terms.divide(log, ln_10)
        }
        RealFunction::Log1p => {
            let sum = terms.add(a, one);
            terms.log(sum)
        }
        RealFunction::Tanh => terms.apply(Function::Tanh, a),
        RealFunction::Sinh => sinh(terms, a),
        RealFunction::Cosh => cosh(terms, a),
        RealFunction::Erf => terms.apply(Function::Erf, a),
        RealFunction::Erfc => {
            let erf = terms.apply(Function::Erf, a);
            terms.subtract(one, erf)
        }
        RealFunction::Sin => terms.apply(Function::Sin, a),
        RealFunction::Cos => terms.apply(Function::Cos, a),
        RealFunction::Tan => {
            let (sin, cos) = (terms.apply(Function::Sin, a), terms.apply(Function::Cos, a));
            terms.divide(sin, cos)
        }
        RealFunction::Cbrt => terms.apply(Function::Cbrt, a),
        RealFunction::Pow => pow(terms, a, b),
        RealFunction::Hypot => hypot(terms, a, b),
        RealFunction::Fmod => fmod(terms, a, b),
        RealFunction::RoundAway => named(terms, "round_away", a),
        RealFunction::ErfInv => named(terms, "erfinv", a),
        RealFunction::Lgamma => named(terms, "lgamma", a),
        RealFunction::TimesPi => {
            let pi = terms.pi();
            terms.multiply(pi, a)
        }
        RealFunction::Named(name, 2..) => named_of_two(terms, name, [a, b]),
        RealFunction::Named(name, _) => named(terms, name, a),
        RealFunction::Atan => terms.apply(Function::Atan, a),
        RealFunction::Asin => asin(terms, a),
        RealFunction::Acos => {
            let (asin, quarter) = (asin(terms, a), half_pi(terms));
            terms.subtract(quarter, asin)
        }
        RealFunction::Atan2 => atan2(terms, a, b),
        RealFunction::Asinh => inverse_hyperbolic(terms, a, 1),
        RealFunction::Acosh => inverse_hyperbolic(terms, a, -1),
        RealFunction::Atanh => atanh(terms, a),
        RealFunction::NormCdf => norm_cdf(terms, a),
    }
}

fn half(terms: &mut Terms, a: Term) -> Term {
    let half = terms.constant(Number::dyadic(1, -1));
    terms.multiply(a, half)
}

/// Builds `(eˣ − e⁻ˣ) / 2`.
fn sinh(terms: &mut Terms, a: Term) -> Term {
    let opposite = terms.negate(a);
    let (up, down) = (terms.exp(a), terms.exp(opposite));
    let difference = terms.subtract(up, down);
    half(terms, difference)
}

/// Builds `(eˣ + e⁻ˣ) / 2`.
fn cosh(terms: &mut Terms, a: Term) -> Term {
    let opposite = terms.negate(a);
    let (up, down) = (terms.exp(a), terms.exp(opposite));
    let sum = terms.add(up, down);
    half(terms, sum)
}

/// Builds `(log(1 + x) − log(1 − x)) / 2`.
fn atanh(terms: &mut Terms, a: Term) -> Term {
    let one = terms.one();
    let (up, down) = (terms.add(one, a), terms.subtract(one, a));
    let (up, down) = (terms.log(up), terms.log(down));
    let difference = terms.subtract(up, down);
    half(terms, difference)
}

/// Builds the distribution function of the standard normal distribution: `(1 + erf(x/√2)) / 2`.
fn norm_cdf(terms: &mut Terms, a: Term) -> Term {
    let (one, two) = (terms.one(), terms.integer(2));
    let root = terms.square_root(two);
    let scaled = terms.divide(a, root);
    let erf = terms.apply(Function::Erf, scaled);
    let sum = terms.add(one, erf);
    half(terms, sum)
}

/// Builds `√(x² + y²)`.
fn hypot(terms: &mut Terms, a: Term, b: Term) -> Term {
    let (x, y) = (terms.multiply(a, a), terms.multiply(b, b));
    let sum = terms.add(x, y);
    terms.square_root(sum)
}

/// Builds `x − y·trunc(x/y)`.
fn fmod(terms: &mut Terms, a: Term, b: Term) -> Term {
    let quotient = terms.divide(a, b);
    let truncated = terms.apply(Function::Trunc, quotient);
    let product = terms.multiply(b, truncated);
    terms.subtract(a, product)
}

/// Applies an uninterpreted function: equal arguments give equal values.
fn named(terms: &mut Terms, name: &str, a: Term) -> Term {
    match terms.function(name) {
        Some(function) => terms.apply(function, a),
        None => terms.undefined(),
    }
}

/// Applies an uninterpreted function of two numbers, as g(h(x) + k(y)). Every function of two numbers has
/// this form for some g, h and k: h and k can spread digits so that the sum determines both numbers. So a
/// statement that holds for all g, h and k holds for the function.
fn named_of_two(terms: &mut Terms, name: &str, [a, b]: [Term; 2]) -> Term {
    let first = named(terms, &format!("{name}_first"), a);
    let second = named(terms, &format!("{name}_second"), b);
    let both = terms.add(first, second);
    named(terms, name, both)
}

/// Builds `log(x + √(x² + c))`.
fn inverse_hyperbolic(terms: &mut Terms, a: Term, constant: i64) -> Term {
    let (square, constant) = (terms.multiply(a, a), terms.integer(constant));
    let sum = terms.add(square, constant);
    let root = terms.square_root(sum);
    let sum = terms.add(a, root);
    terms.log(sum)
}

fn half_pi(terms: &mut Terms) -> Term {
    let (pi, half) = (terms.pi(), terms.constant(Number::dyadic(1, -1)));
    terms.multiply(pi, half)
}

/// Builds `2 atan(x / (1 + √(1 − x²)))`, which has the domain of the arc sine.
fn asin(terms: &mut Terms, a: Term) -> Term {
    let (one, square) = (terms.one(), terms.multiply(a, a));
    let rest = terms.subtract(one, square);
    let root = terms.square_root(rest);
    let below = terms.add(one, root);
    let tangent = terms.divide(a, below);
    let half = terms.apply(Function::Atan, tangent);
    let two = terms.integer(2);
    terms.multiply(two, half)
}

/// Builds the angle of the point (`width`, `height`) by quadrants; a height of zero counts as positive.
fn atan2(terms: &mut Terms, height: Term, width: Term) -> Term {
    let (zero, pi, quarter) = (terms.zero(), terms.pi(), half_pi(terms));
    let slope = terms.divide(height, width);
    let right = terms.apply(Function::Atan, slope);
    let is_below = terms.compare(Relation::Less, height, zero);
    let left = {
        let (up, down) = (terms.add(right, pi), terms.subtract(right, pi));
        terms.select(is_below, down, up)
    };
    let upright = {
        let down = terms.negate(quarter);
        let is_above = terms.compare(Relation::Less, zero, height);
        let below = terms.select(is_below, down, zero);
        terms.select(is_above, quarter, below)
    };
    let is_left = terms.compare(Relation::Less, width, zero);
    let is_right = terms.compare(Relation::Less, zero, width);
    let rest = terms.select(is_left, left, upright);
    terms.select(is_right, right, rest)
}

fn log_of(terms: &mut Terms, number: i64) -> Term {
    let number = terms.integer(number);
    terms.log(number)
}

/// Builds `x^y` with the domain of `powf`: positive bases; zero with positive exponents; negative bases with
/// integers; and everything to the power of 0. Elsewhere it is e^(y log x), which is defined for positive
/// bases alone.
fn pow(terms: &mut Terms, base: Term, exponent: Term) -> Term {
    if let Some(number) = terms.as_number(exponent).cloned() {
        // A rational power is defined for non-negative bases, which agrees with the domain here.
        return terms.power(base, &number);
    }
    let positive = |terms: &mut Terms, base: Term| {
        let log = terms.log(base);
        let product = terms.multiply(exponent, log);
        terms.exp(product)
    };
    let zero = terms.zero();
    let above = terms.compare(Relation::Less, zero, base);
    let power = positive(terms, base);
    if matches!(terms.node(above), term::Node::Truth(true)) {
        return power;
    }
    let negative = {
        let opposite = terms.negate(base);
        let magnitude = positive(terms, opposite);
        let pi = terms.pi();
        let turns = terms.multiply(pi, exponent);
        // ±1 at integers.
        let sign = terms.apply(Function::Cos, turns);
        let value = terms.multiply(sign, magnitude);
        let floor = terms.apply(Function::Floor, exponent);
        let is_integer = terms.compare(Relation::Equal, floor, exponent);
        terms.select(is_integer, value, power)
    };
    let at_zero = {
        let grows = terms.compare(Relation::Less, zero, exponent);
        terms.select(grows, zero, power)
    };
    let is_zero = terms.compare(Relation::Equal, base, zero);
    let not_positive = terms.select(is_zero, at_zero, negative);
    let value = terms.select(above, power, not_positive);
    let is_constant = terms.compare(Relation::Equal, exponent, zero);
    let one = terms.one();
    terms.select(is_constant, one, value)
}

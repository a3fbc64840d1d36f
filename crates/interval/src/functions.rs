//! Enclosures of functions without an instruction of their own, composed from the operations of intervals.

use crate::Enclosure;
use crate::comparison::compare;
use crate::domain::{
    AbstractValue, LOGARITHM, MAYBE_LOGARITHM, TOO_LARGE, add, div, max, min, mul, neg, number,
    propagate_undefined, real, unary,
};
use AbstractValue::{Infinite, Real, Undefined, Unsure};
use exec::domain::{LARGEST, Unary};
use ir::{ArgumentRange, Format, RealFunction, Relation, Rounding};
use std::cmp::Ordering;

const POWER: &str = "a power of a number that is not positive";
const MAYBE_POWER: &str = "a power of a number that may not be positive";

/// Applies a function of one or two numbers; those of one ignore the second.
fn apply<E: Enclosure>(
    function: RealFunction,
    a: &AbstractValue<E>,
    b: &AbstractValue<E>,
) -> AbstractValue<E> {
    let one = || number::<E>(1.0);
    let two = || number::<E>(2.0);
    match function {
        RealFunction::Exp => exp(a),
        RealFunction::Exp2 => unary(Unary::Exp2, a),
        RealFunction::Exp10 => exp(&mul(a, &log(&number(10.0)))),
        RealFunction::Expm1 => add(&exp(a), &number(-1.0)),
        RealFunction::Log => log(a),
        RealFunction::Log2 => unary(Unary::Log2, a),
        RealFunction::Log10 => div(&log(a), &log(&number(10.0))),
        RealFunction::Log1p => log(&add(a, &one())),
        RealFunction::Tanh => unary(Unary::Tanh, a),
        RealFunction::Sinh => div(&add(&exp(a), &neg(&exp(&neg(a)))), &two()),
        RealFunction::Cosh => div(&add(&exp(a), &exp(&neg(a))), &two()),
        RealFunction::Erf => erf(a),
        RealFunction::Erfc => add(&one(), &neg(&erf(a))),
        RealFunction::Sin => unary(Unary::Sin, a),
        RealFunction::Cos => unary(Unary::Cos, a),
        RealFunction::Tan => div(&unary(Unary::Sin, a), &unary(Unary::Cos, a)),
        RealFunction::Cbrt => cbrt(a),
        RealFunction::Pow => pow(a, b),
        RealFunction::Hypot => unary(Unary::Sqrt, &add(&mul(a, a), &mul(b, b))),
        RealFunction::Fmod => {
            let quotient = unary(Unary::Round(Rounding::Zero), &div(a, b));
            add(a, &neg(&mul(b, &quotient)))
        }
        RealFunction::RoundAway => unary(Unary::Round(Rounding::NearestAway), a),
        RealFunction::Asin => asin(a),
        RealFunction::Acos => add(&half_pi(), &neg(&asin(a))),
        RealFunction::Atan => atan(a),
        RealFunction::Atan2 => atan2(a, b),
        RealFunction::Asinh => match a {
            // Use the magnitude, so that the sum does not vanish.
            Real(x) if x.sign() == Some(Ordering::Less) => neg(&area(&neg(a), &one())),
            _ => area(a, &one()),
        },
        RealFunction::Acosh => area(a, &number(-1.0)),
        RealFunction::Atanh => {
            let (up, down) = (log(&add(&one(), a)), log(&add(&one(), &neg(a))));
            div(&add(&up, &neg(&down)), &two())
        }
        RealFunction::NormCdf => {
            let scaled = div(a, &unary(Unary::Sqrt, &two()));
            div(&add(&one(), &erf(&scaled)), &two())
        }
        RealFunction::TimesPi => mul(a, &mul(&number(2.0), &half_pi())),
        RealFunction::ErfInv | RealFunction::Lgamma | RealFunction::Named(..) => {
            propagate_undefined([a, b]).unwrap_or(Unsure("a function without a known enclosure"))
        }
    }
}

/// `log(x + √(x² + c))`
fn area<E: Enclosure>(a: &AbstractValue<E>, constant: &AbstractValue<E>) -> AbstractValue<E> {
    log(&add(a, &unary(Unary::Sqrt, &add(&mul(a, a), constant))))
}

fn atan<E: Enclosure>(a: &AbstractValue<E>) -> AbstractValue<E> {
    match a {
        Real(x) => real(x.atan(), TOO_LARGE),
        Infinite { negative: true } => neg(&half_pi()),
        Infinite { negative: false } => half_pi(),
        other => other.clone(),
    }
}

/// `2 atan 1`
fn half_pi<E: Enclosure>() -> AbstractValue<E> {
    mul(&number(2.0), &atan(&number(1.0)))
}

/// `2 atan(x / (1 + √(1 − x²)))`
fn asin<E: Enclosure>(a: &AbstractValue<E>) -> AbstractValue<E> {
    let one = number::<E>(1.0);
    let root = unary(Unary::Sqrt, &add(&one, &neg(&mul(a, a))));
    mul(&number(2.0), &atan(&div(a, &add(&one, &root))))
}

/// By quadrants; a height of zero is positive.
fn atan2<E: Enclosure>(height: &AbstractValue<E>, width: &AbstractValue<E>) -> AbstractValue<E> {
    let (Real(y), Real(x)) = (height, width) else {
        return propagate_undefined([height, width]).unwrap_or(Unsure(TOO_LARGE));
    };
    let pi = || mul(&number::<E>(2.0), &half_pi());
    let angle = || atan(&div(height, width));
    match (x.sign(), y.sign()) {
        (Some(Ordering::Greater), _) => angle(),
        (Some(Ordering::Less), Some(Ordering::Less)) => add(&angle(), &neg(&pi())),
        (Some(Ordering::Less), Some(_)) => add(&angle(), &pi()),
        (Some(Ordering::Equal), Some(Ordering::Greater)) => half_pi(),
        (Some(Ordering::Equal), Some(Ordering::Less)) => neg(&half_pi()),
        (Some(Ordering::Equal), Some(Ordering::Equal)) => number(0.0),
        _ => Unsure(TOO_LARGE),
    }
}

const OUT_OF_RANGE: &str = "a function argument that the code does not handle";

/// Applies a function that may be known in a range only; outside of it, nothing is known.
pub(crate) fn apply_in_range<E: Enclosure>(
    (function, range): (RealFunction, Option<ArgumentRange>),
    a: &AbstractValue<E>,
    b: &AbstractValue<E>,
) -> AbstractValue<E> {
    match range {
        Some(range) if !is_in_range(range, a, b) => Unsure(OUT_OF_RANGE),
        _ => apply(function, a, b),
    }
}

/// Returns `true` if the arguments are certainly in the range.
fn is_in_range<E: Enclosure>(
    range: ArgumentRange,
    a: &AbstractValue<E>,
    b: &AbstractValue<E>,
) -> bool {
    let holds =
        |relation, a: &AbstractValue<E>, b: &AbstractValue<E>| compare(relation, a, b) == Ok(true);
    let magnitude = |a: &AbstractValue<E>| unary(Unary::Abs, a);
    match range {
        ArgumentRange::NotZero => holds(Relation::Ne, a, &number(0.0)),
        ArgumentRange::NotNegative => holds(Relation::Ge, a, &number(0.0)),
        ArgumentRange::Normal => {
            let least = 2_f64.powi(ArgumentRange::LEAST_NORMAL_EXPONENT);
            holds(Relation::Ge, a, &number(least))
        }
        ArgumentRange::Small => {
            holds(Relation::Lt, &magnitude(a), &number(ArgumentRange::SMALL as f64))
        }
        ArgumentRange::SmallQuotient => {
            let largest = number(ArgumentRange::LARGEST_QUOTIENT as f64);
            holds(Relation::Le, &magnitude(a), &mul(&largest, &magnitude(b)))
        }
    }
}

fn exp<E: Enclosure>(a: &AbstractValue<E>) -> AbstractValue<E> {
    match a {
        Real(x) => real(x.exp(), TOO_LARGE),
        Infinite { negative: true } => number(0.0),
        other => other.clone(),
    }
}

fn log<E: Enclosure>(a: &AbstractValue<E>) -> AbstractValue<E> {
    match a {
        Real(x) if matches!(x.sign(), Some(Ordering::Less | Ordering::Equal)) => {
            Undefined(LOGARITHM)
        }
        Real(x) if x.sign().is_none() => Unsure(MAYBE_LOGARITHM),
        Real(x) => real(x.log(), TOO_LARGE),
        Infinite { negative: true } => Undefined(LOGARITHM),
        other => other.clone(),
    }
}

fn erf<E: Enclosure>(a: &AbstractValue<E>) -> AbstractValue<E> {
    match a {
        Real(x) => real(x.erf(), TOO_LARGE),
        Infinite { negative } => number(if *negative { -1.0 } else { 1.0 }),
        other => other.clone(),
    }
}

/// `±e^(log|x| / 3)`
fn cbrt<E: Enclosure>(a: &AbstractValue<E>) -> AbstractValue<E> {
    let root = |x: &AbstractValue<E>| exp(&div(&log(x), &number(3.0)));
    match a {
        Real(x) => match x.sign() {
            Some(Ordering::Greater) => root(a),
            Some(Ordering::Less) => neg(&root(&neg(a))),
            Some(Ordering::Equal) => a.clone(),
            None => Unsure(TOO_LARGE),
        },
        other => other.clone(),
    }
}

/// `x^y`: for positive bases, for zero and positive exponents, and for negative bases and integers.
fn pow<E: Enclosure>(base: &AbstractValue<E>, exponent: &AbstractValue<E>) -> AbstractValue<E> {
    let positive = |x: &AbstractValue<E>| exp(&mul(exponent, &log(x)));
    let (Real(x), Real(y)) = (base, exponent) else {
        return propagate_undefined([base, exponent]).unwrap_or(Unsure(TOO_LARGE));
    };
    if y.sign() == Some(Ordering::Equal) {
        return number(1.0);
    }
    match x.sign() {
        Some(Ordering::Greater) => positive(base),
        Some(Ordering::Equal) => match compare(Relation::Gt, exponent, &number(0.0)) {
            Ok(true) => number(0.0),
            Ok(false) => Undefined(POWER),
            Err(_) => Unsure(MAYBE_POWER),
        },
        Some(Ordering::Less) => match y.to_integer() {
            Some(whole) if whole % 2 == 0 => positive(&neg(base)),
            Some(_) => neg(&positive(&neg(base))),
            None => match y.round(Rounding::Down) {
                // Strictly between two integers.
                Some(below) if below.to_integer().is_some() && below.order(y).is_some() => {
                    Undefined(POWER)
                }
                _ => Unsure(MAYBE_POWER),
            },
        },
        None => Unsure(MAYBE_POWER),
    }
}

/// Combines the sign of one with the magnitude of another; the sign of zero is +.
pub(crate) fn copy_sign<E: Enclosure>(
    sign: &AbstractValue<E>,
    magnitude: &AbstractValue<E>,
) -> AbstractValue<E> {
    let magnitude = max(magnitude, &neg(magnitude));
    let negative = match sign {
        Real(x) => x.sign().map(Ordering::is_lt),
        Infinite { negative } => Some(*negative),
        _ => return propagate_undefined([sign, &magnitude]).unwrap_or(Unsure(TOO_LARGE)),
    };
    match (negative, &magnitude) {
        (Some(true), _) => neg(&magnitude),
        (Some(false), _) => magnitude,
        (None, Real(x)) => Real(x.hull(&x.neg())),
        (None, _) => propagate_undefined([&magnitude]).unwrap_or(Unsure(TOO_LARGE)),
    }
}

/// Clamps to the range of a small format.
pub(crate) fn finite<E: Enclosure>(a: &AbstractValue<E>, format: Format) -> AbstractValue<E> {
    match LARGEST.iter().find(|(one, _)| *one == format) {
        Some((_, largest)) => min(&max(a, &number(-largest)), &number(*largest)),
        None => a.clone(),
    }
}

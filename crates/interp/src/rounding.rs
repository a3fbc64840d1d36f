//! Computes floats with their enclosures, and notes decisions that depend on rounding.
//!
//! An exact result of numbers that the kernel's narrowest float type has is exact on every machine. To any other
//! result belongs an error of [`SLACK`] units of that type, which covers one operation in any rounding mode, a
//! conversion to a narrower type and back, division without full precision and the fusion of a product with a sum. A
//! result beyond the type's range may be infinite, one below it may be zero. `functions.rs` has the errors of
//! functions. Arithmetic of annotations has no such errors: there the precision is that of doubles, and only their own
//! rounding counts.
//!
//! If a comparison or a conversion to an integer is not decided, the run goes on as the doubles say. Events after such
//! a decision of any thread refute nothing, and neither do values after it.

use crate::enclosure::{Interval, add, contains, divide, multiply, negate, widen};
use crate::functions;
use crate::real::Real;
use kir::{Binary, Precision, Type, significant_bits};
use std::cell::Cell;

/// Relative error of an operation, in halves of a unit in the last place.
const SLACK: f64 = 4.0;
/// Literals with more significant bits may stand for other numbers than their doubles.
const SHORT: u32 = 20;
/// Relative errors of literals that were rounded to `float` and to `double`.
const FLOAT_ERROR: f64 = 1.0 / (1_u64 << 24) as f64;
const DOUBLE_ERROR: f64 = 1.0 / (1_u64 << 52) as f64;

/// The notes of a run.
#[derive(Debug, Default)]
pub struct Rounding {
    decides: Cell<bool>,
}

impl Rounding {
    /// Returns `true` if rounding may have decided which way the run took.
    pub(crate) fn decides(&self) -> bool {
        self.decides.get()
    }

    /// Notes that rounding may decide.
    pub(crate) fn note_decision(&self) {
        self.decides.set(true);
    }
}

/// The number of a literal. One with many digits may stand for another number: the decimal one, or its `float`.
pub(crate) fn literal(value: f64, precision: Precision) -> Real {
    let (bits, size) = (significant_bits(value), value.abs());
    let is_whole = value.fract() == 0.0 && size <= f64::from(1 << 24);
    // Names of limits, such as `FLT_MAX`.
    let is_limit = size == f64::from(f32::MAX) || size == f64::MAX || size.is_infinite();
    if value.is_nan() || bits <= SHORT || is_whole || is_limit {
        return rounded(Real::exact(value), precision);
    }
    let relative = if bits <= 24 { FLOAT_ERROR } else { DOUBLE_ERROR };
    rounded(Real::within(value, widen([value; 2], relative, 0.0)), precision)
}

/// The float of an integer.
pub(crate) fn of_integer(number: i128, precision: Precision) -> Real {
    #[expect(clippy::cast_precision_loss, reason = "below")]
    let value = number as f64;
    let is_exact = number.unsigned_abs() <= 1 << 53;
    let bounds = if is_exact { [value; 2] } else { [value.next_down(), value.next_up()] };
    rounded(Real::within(value, bounds), precision)
}

/// A result of the reals as the machine may round it.
pub(crate) fn rounded(real: Real, precision: Precision) -> Real {
    let [low, high] = real.bounds();
    let is_kept = real.is_exact() && precision.holds(low);
    if is_kept || real.is_nan() || real.is_unknown() || precision == Precision::DOUBLE {
        return real;
    }
    let relative = SLACK / (1_u64 << precision.significand) as f64;
    let (keeps_positive, keeps_negative) = (low >= 0.0, high <= 0.0);
    let [mut low, mut high] = widen([low, high], relative, 0.0);
    let Precision { least, most, .. } = precision;
    // A small number may become a neighbouring subnormal one, or zero.
    if low < least && high > -least {
        low = low.min(0.0) - relative * least;
        high = high.max(0.0) + relative * least;
    }
    // No rounding changes a sign.
    low = if keeps_positive { low.max(0.0) } else { low };
    high = if keeps_negative { high.min(0.0) } else { high };
    // A large one may become infinite.
    if high > most {
        (low, high) = (low.min(most), f64::INFINITY);
    }
    if low < -most {
        (low, high) = (f64::NEG_INFINITY, high.max(-most));
    }
    Real::within(real.value(), [low, high])
}

/// Applies an operator to floats; `value` is the result of the doubles.
pub(crate) fn binary(operator: Binary, x: Real, y: Real, value: f64, precision: Precision) -> Real {
    match operator {
        // They give one of their operands, and the other one if that is not a number.
        Binary::Min => extreme(x, y, value, f64::min),
        Binary::Max => extreme(x, y, value, f64::max),
        _ if x.is_nan() || y.is_nan() => Real::exact(f64::NAN),
        _ if x.is_unknown() || y.is_unknown() => Real::unknown(value),
        Binary::Add => result(x, y, value, add(x.bounds(), y.bounds()), precision),
        Binary::Sub => result(x, y, value, add(x.bounds(), negate(y.bounds())), precision),
        Binary::Mul => result(x, y, value, multiply(x.bounds(), y.bounds()), precision),
        Binary::Div if contains(y.bounds(), 0.0) => by_zero(x, y, value),
        Binary::Div => result(x, y, value, divide(x.bounds(), y.bounds()), precision),
        _ => Real::unknown(value),
    }
}

/// The result of an operation that has a value for all operands, except where infinities meet.
fn result(x: Real, y: Real, value: f64, bounds: Interval, precision: Precision) -> Real {
    match bounds[0].is_nan() || bounds[1].is_nan() {
        true if x.is_exact() && y.is_exact() => Real::exact(f64::NAN),
        true => Real::unknown(value),
        false => rounded(Real::within(value, bounds), precision),
    }
}

/// A quotient whose divisor may be zero.
fn by_zero(x: Real, y: Real, value: f64) -> Real {
    match (y.is_exact(), contains(x.bounds(), 0.0)) {
        (true, false) if value.is_infinite() => Real::exact(value),
        (true, true) if x.is_exact() => Real::exact(f64::NAN),
        _ => Real::unknown(value),
    }
}

pub(crate) fn extreme(x: Real, y: Real, value: f64, choose: fn(f64, f64) -> f64) -> Real {
    let ([a, b], [c, d]) = (x.bounds(), y.bounds());
    let bounds = [choose(a, c), choose(b, d)];
    match x.is_nan() && y.is_nan() {
        true => Real::exact(f64::NAN),
        false => Real::within(value, bounds),
    }
}

pub(crate) fn negated(x: Real) -> Real {
    let value = -x.value();
    if x.is_nan() { Real::exact(f64::NAN) } else { Real::within(value, negate(x.bounds())) }
}

/// The result of a mathematical function; `value` is that of the doubles.
pub(crate) fn function(name: &str, values: [Real; 3], value: f64, precision: Precision) -> Real {
    rounded(functions::enclose(name, values, value, precision), precision)
}

/// A float as an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Truncated {
    Number(i128),
    /// Its type does not have the number: C++ leaves that undefined.
    OutOfRange,
    /// Rounding may decide; what the doubles give, if the type has it.
    Undecided(Option<i128>),
}

/// Converts a float to an integer, towards zero.
pub(crate) fn truncate(real: Real, ty: Type) -> Truncated {
    let [low, high] = real.bounds().map(f64::trunc);
    let number = |value: f64| {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "numbers this large are not represented"
        )]
        let number = value as i128;
        (value.abs() < 1e36 && ty.holds(number)).then_some(number)
    };
    if low.is_nan() {
        return Truncated::OutOfRange;
    }
    if low == high {
        return number(low).map_or(Truncated::OutOfRange, Truncated::Number);
    }
    let (least, most) = ty.range().unwrap_or((i128::MIN, i128::MAX));
    #[expect(clippy::cast_precision_loss, reason = "rounded to powers of two, which are outside")]
    let is_outside = !real.is_unknown() && (low > most as f64 || high < least as f64);
    match is_outside {
        true => Truncated::OutOfRange,
        false => Truncated::Undecided(number(real.value().trunc())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::mix64;

    /// The machine's numbers, rounded to `float` after each operation or at the end, lie in the enclosures.
    #[test]
    fn floats_are_enclosed() {
        let mut state = 3;
        let mut exact = 0;
        for round in 0..20_000 {
            let mut number = Real::exact(1.0);
            let (mut real, mut float) = (1.0_f64, 1.0_f32);
            for _ in 0..round % 7 {
                state = mix64(state);
                let operator =
                    [Binary::Add, Binary::Sub, Binary::Mul, Binary::Div][state as usize % 4];
                let operand = ((state >> 20) % 2001) as f64 / 64.0 + 0.5;
                let operand = if state >> 40 & 3 == 0 { operand / 3.0 } else { operand };
                let apply = |x: f64, y: f64| match operator {
                    Binary::Add => x + y,
                    Binary::Sub => x - y,
                    Binary::Mul => x * y,
                    _ => x / y,
                };
                let literal = literal(operand, Precision::FLOAT);
                number = binary(
                    operator,
                    number,
                    literal,
                    apply(number.value(), operand),
                    Precision::FLOAT,
                );
                real = apply(real, operand);
                float = apply(f64::from(float), f64::from(operand as f32)) as f32;
            }
            exact += usize::from(number.is_exact());
            if number.is_unknown() {
                continue;
            }
            let [low, high] = number.bounds();
            // The doubles themselves are rounded.
            let slack = 1e-9 * (1.0 + real.abs());
            assert!(low - slack <= real && real <= high + slack, "{real}: {number:?}");
            assert!(low <= f64::from(float) && f64::from(float) <= high, "{float}: {number:?}");
        }
        assert!(exact > 3_000, "{exact}");
    }

    #[test]
    fn conversions_to_integers() {
        let cases = [
            (Real::exact(2.5), Type::INT, Truncated::Number(2)),
            (Real::exact(-0.5), Type::UNSIGNED, Truncated::Number(0)),
            (Real::exact(3e9), Type::INT, Truncated::OutOfRange),
            (Real::exact(f64::NAN), Type::INT, Truncated::OutOfRange),
            (Real::within(2.5, [2.4, 2.6]), Type::INT, Truncated::Number(2)),
            (Real::within(3.0, [2.9, 3.1]), Type::INT, Truncated::Undecided(Some(3))),
            (Real::within(4e9, [3e9, 5e9]), Type::INT, Truncated::OutOfRange),
            (Real::unknown(1e30), Type::INT, Truncated::Undecided(None)),
        ];
        for (real, ty, found) in cases {
            assert_eq!(truncate(real, ty), found, "{real:?}");
        }
    }
}

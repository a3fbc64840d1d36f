//! Enclosures of mathematical functions.
//!
//! Bounds come from where a function is monotone, or from how steep it is. A function of a double is off by less than
//! 2^-48 of its value, on the word of the mathematical library. On the machine, errors are those that the manuals state
//! for the fast functions, which the option `--use_fast_math` puts in place of the accurate ones (PTX ISA, "Floating
//! Point Instructions"; programming guide, "Intrinsic Functions"), times two or more. Where no error is stated, as for
//! sines of large numbers, only the range is known.
//!
//! It errs towards wide intervals: operands are taken to be independent.

use crate::enclosure::{Interval, add, contains, divide, magnitude, multiply, widen};
use crate::operations;
use crate::real::Real;
use crate::rounding::{binary, extreme};
use kir::{Binary, Precision};
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// Errors of the mathematical library.
const LIBRARY: [f64; 2] = [1.0 / (1_u64 << 48) as f64, 1e-300];
/// The limit of quotients without full precision: 2^126.
const DIVISORS: f64 = (1_u128 << 126) as f64;

/// A power of 1/2.
fn half_to(power: u32) -> f64 {
    1.0 / (1_u64 << power) as f64
}

/// An enclosure of a function's value.
pub(crate) fn enclose(name: &str, values: [Real; 3], value: f64, precision: Precision) -> Real {
    let [x, y, z] = values;
    let is_fast = precision != Precision::DOUBLE;
    match name {
        "fmin" => return extreme(x, y, value, f64::min),
        "fmax" => return extreme(x, y, value, f64::max),
        "pow" if is_one(x) || y.is_exact() && y.value() == 0.0 => return Real::exact(1.0),
        _ if values.iter().any(|one| one.is_nan()) => return Real::exact(f64::NAN),
        _ if values.iter().any(|one| one.is_unknown()) => return Real::unknown(value),
        "fdivide" if is_fast && magnitude(y.bounds())[1] > DIVISORS => return Real::unknown(value),
        "fdivide" => return binary(Binary::Div, x, y, value, precision),
        _ => {}
    }
    let (x, y, z) = (x.bounds(), y.bounds(), z.bounds());
    let found = match name {
        "fma" => Found::Bounds(add(multiply(x, y), z)),
        "fabs" => Found::Bounds(magnitude(x)),
        "floor" | "ceil" | "round" | "rint" | "trunc" => {
            Found::Bounds(x.map(|one| operations::function(name, [one, 0.0, 0.0])))
        }
        "fmod" => remainder(x, y),
        "sqrt" => square_root(x),
        _ => return with_errors(name, [x, y], value, is_fast),
    };
    // Infinities without a value, as in infinity minus infinity.
    let is_exact = values.iter().all(|one| one.is_exact());
    match found {
        Found::Bounds([low, _]) if low.is_nan() && is_exact => Real::exact(f64::NAN),
        found => found.real(value),
    }
}

fn is_one(x: Real) -> bool {
    x.is_exact() && x.value() == 1.0
}

/// The values of a function on intervals.
enum Found {
    Bounds(Interval),
    /// It has no value anywhere.
    Nothing,
    /// It may have no value, or its bounds are not known.
    Unknown,
}

impl Found {
    fn real(self, value: f64) -> Real {
        match self {
            Self::Bounds(bounds) => Real::within(value, bounds),
            Self::Nothing => Real::exact(f64::NAN),
            Self::Unknown => Real::unknown(value),
        }
    }
}

/// A function that is not exact, with its errors.
fn with_errors(name: &str, [x, y]: [Interval; 2], value: f64, is_fast: bool) -> Real {
    let bounds = match values(name, x, y) {
        Found::Bounds(bounds) if !bounds[0].is_nan() && !bounds[1].is_nan() => bounds,
        Found::Bounds(_) => return Real::unknown(value),
        other => return other.real(value),
    };
    // Zeros and infinities at the ends of a domain are exact.
    let is_end = x[0] == x[1] && (x[0] == 0.0 || x[0].is_infinite());
    if is_end && (bounds[0].is_infinite() || x[0].is_infinite() && bounds[0] == 0.0) {
        return Real::exact(value);
    }
    let mut found = widen(bounds, LIBRARY[0], LIBRARY[1]);
    if is_fast {
        let [relative, absolute] = machine_errors(name, [x, y], bounds);
        found = widen(found, relative, absolute);
    }
    let [least, most] = range(name);
    Real::within(value, [found[0].max(least), found[1].min(most)])
}

/// The range of a function, in every implementation.
fn range(name: &str) -> Interval {
    match name {
        "sin" | "cos" | "tanh" | "erf" => [-1.0, 1.0],
        "exp" | "exp2" | "exp10" | "cosh" | "hypot" | "rsqrt" => [0.0, f64::INFINITY],
        _ => [f64::NEG_INFINITY, f64::INFINITY],
    }
}

/// Relative and absolute errors on the machine.
fn machine_errors(name: &str, [x, y]: [Interval; 2], bounds: Interval) -> [f64; 2] {
    let size = magnitude(x)[1];
    match name {
        "sin" | "cos" => [0.0, angle_error(size)],
        "tan" => {
            let most = magnitude(bounds)[1];
            [0.0, (1.0 + most * most) * 4.0 * angle_error(size)]
        }
        "exp" | "exp2" | "exp10" => [(1.0 + size) * half_to(19), 0.0],
        "pow" => {
            let logarithm = x[0].abs().ln().abs().max(x[1].abs().ln().abs());
            // The error of a logarithm near 1 is absolute.
            [(1.0 + magnitude(y)[1] * (1.0 + logarithm)) * half_to(18), 0.0]
        }
        "log" | "log2" | "log10" => [half_to(20), half_to(20)],
        "tanh" => [half_to(10), 0.0],
        _ => [half_to(19), 0.0],
    }
}

/// The absolute error of a fast sine.
fn angle_error(size: f64) -> f64 {
    if size <= TAU {
        half_to(19)
    } else if size <= 50.0 * TAU {
        half_to(13)
    } else {
        2.0
    }
}

fn values(name: &str, x: Interval, y: Interval) -> Found {
    // Bounds have no negative zeros: only a double has the sign of its zero.
    let x = if name == "atan2" { x } else { x.map(|one| one + 0.0) };
    let [low, high] = x;
    let at = |one: f64| operations::function(name, [one, 0.0, 0.0]);
    let monotone = || Found::Bounds([at(low), at(high)]);
    let falling = || Found::Bounds([at(high), at(low)]);
    match name {
        "exp" | "exp2" | "exp10" | "expm1" | "tanh" | "sinh" | "atan" | "erf" | "cbrt" => {
            monotone()
        }
        "log" | "log2" | "log10" => on([0.0, f64::INFINITY], x, monotone),
        "log1p" => on([-1.0, f64::INFINITY], x, monotone),
        "rsqrt" => on([0.0, f64::INFINITY], x, falling),
        "asin" => on([-1.0, 1.0], x, monotone),
        "acos" => on([-1.0, 1.0], x, falling),
        "cosh" => Found::Bounds(magnitude(x).map(at)),
        "sin" | "cos" => wave(x, at),
        "tan" => tangent(x),
        "pow" => power(x, y),
        "hypot" => {
            let (x, y) = (magnitude(x), magnitude(y));
            Found::Bounds([x[0].hypot(y[0]), x[1].hypot(y[1])])
        }
        "atan2" => angle(x, y),
        _ => Found::Unknown,
    }
}

/// The values of a function that is defined between two numbers.
fn on([least, most]: Interval, [low, high]: Interval, values: impl Fn() -> Found) -> Found {
    if high < least || low > most {
        Found::Nothing
    } else if low < least || high > most {
        Found::Unknown
    } else {
        values()
    }
}

fn square_root(x: Interval) -> Found {
    let root = |one: f64| -> Interval {
        let root = one.sqrt();
        match root.mul_add(root, -one) == 0.0 || one.is_infinite() || one == 0.0 {
            true => [root; 2],
            false => [root.next_down(), root.next_up()],
        }
    };
    on([0.0, f64::INFINITY], x, || Found::Bounds([root(x[0])[0], root(x[1])[1]]))
}

/// A function whose values change at most as fast as its operand.
fn wave([low, high]: Interval, at: impl Fn(f64) -> f64) -> Found {
    if low == high && low.is_infinite() {
        return Found::Nothing;
    }
    if low.is_infinite() || high.is_infinite() {
        return Found::Unknown;
    }
    let middle = low.midpoint(high);
    let radius = (high - middle).max(middle - low);
    let value = at(middle);
    Found::Bounds([(value - radius).max(-1.0), (value + radius).min(1.0)])
}

fn tangent([low, high]: Interval) -> Found {
    // Number of poles below; operands near one count on both sides.
    let branch = |one: f64| ((one + FRAC_PI_2) / PI).floor();
    let is_one_branch = branch(low - 1e-6) == branch(high + 1e-6) && high - low < 3.0;
    match is_one_branch && magnitude([low, high])[1] < 1e6 {
        true => Found::Bounds([low.tan(), high.tan()]),
        false => Found::Unknown,
    }
}

/// Powers: for bases that are not negative, and for whole exponents.
fn power([low, high]: Interval, y: Interval) -> Found {
    let corners = |low: f64, high: f64| {
        let all = [low.powf(y[0]), low.powf(y[1]), high.powf(y[0]), high.powf(y[1])];
        let least = all.into_iter().fold(f64::INFINITY, f64::min);
        let most = all.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let is_nan = all.iter().any(|one| one.is_nan());
        if is_nan { Found::Unknown } else { Found::Bounds([least, most]) }
    };
    if low > 0.0 || low == 0.0 && y[0] > 0.0 {
        return corners(low, high);
    }
    let is_whole = y[0] == y[1] && y[0].fract() == 0.0 && y[0].abs() < 1e9;
    if is_whole && (y[0] > 0.0 || high < 0.0) {
        if y[0] % 2.0 == 0.0 {
            let [least, most] = magnitude([low, high]);
            return corners(least, most);
        }
        return corners(low, high);
    }
    // Between two whole numbers no exponent has a value for a negative base.
    match high < 0.0 && y[0].floor() == y[1].floor() && y[0].fract() != 0.0 {
        true => Found::Nothing,
        false => Found::Unknown,
    }
}

/// The angle of a point; `y` is its first coordinate. A box that does not cross the negative axis has its extremes at
/// its corners.
fn angle(x: Interval, y: Interval) -> Found {
    let is_point = x[0] == x[1] && y[0] == y[1];
    if !is_point && y[0] <= 0.0 && contains(x, 0.0) {
        return Found::Unknown;
    }
    let all = [x[0].atan2(y[0]), x[0].atan2(y[1]), x[1].atan2(y[0]), x[1].atan2(y[1])];
    let least = all.into_iter().fold(f64::INFINITY, f64::min);
    Found::Bounds([least, all.into_iter().fold(f64::NEG_INFINITY, f64::max)])
}

/// The remainder of a division, which is exact for numbers. It jumps where the quotient is a whole number.
fn remainder(x: Interval, y: Interval) -> Found {
    if y[0] != y[1] {
        return Found::Unknown;
    }
    if y[0] == 0.0 || x[0] == x[1] && x[0].is_infinite() {
        return Found::Nothing;
    }
    let [low, high] = [x[0] % y[0], x[1] % y[0]];
    if x[0] == x[1] {
        return Found::Bounds([low; 2]);
    }
    let quotients = divide(x, y).map(f64::trunc);
    match quotients[0] == quotients[1] {
        true => Found::Bounds([low, high]),
        false => Found::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounding;
    use base::mix64;

    const NAMES: [&str; 35] = [
        "sqrt", "rsqrt", "exp", "exp2", "log", "log2", "sin", "cos", "tanh", "fabs", "floor",
        "ceil", "round", "rint", "pow", "fmin", "fmax", "fma", "fdivide", "cbrt", "exp10", "expm1",
        "log10", "log1p", "tan", "asin", "acos", "atan", "sinh", "cosh", "trunc", "atan2", "hypot",
        "fmod", "erf",
    ];

    /// Numbers of many sizes, and often small ones.
    fn drawn(state: &mut u64) -> f64 {
        *state = mix64(*state);
        let number = (*state >> 40) as f64 / f64::from(1 << 22) - 2.0;
        match *state % 5 {
            0 => number * 1e3,
            1 => number * 1e-6,
            2 => (number * 4.0).round(),
            _ => number,
        }
    }

    /// Values at numbers between the bounds of operands are between the bounds of the result.
    #[test]
    fn values_are_enclosed() {
        let mut state = 5;
        let mut known = 0;
        for round in 0..40_000 {
            let name = NAMES[round % NAMES.len()];
            let operands = [(); 3].map(|()| {
                let low = drawn(&mut state);
                let width = [0.0, 1e-7, 0.1, 3.0][(state >> 7) as usize % 4];
                Real::within(low, [low, low + width])
            });
            let value_at = |at: [f64; 3]| operations::function(name, at);
            let value = value_at(operands.map(Real::value));
            let precision = [Precision::DOUBLE, Precision::FLOAT, Precision::HALF][round % 3];
            let found = rounding::function(name, operands, value, precision);
            if found.is_unknown() {
                continue;
            }
            known += 1;
            for _ in 0..4 {
                let at = operands.map(|one| {
                    let [low, high] = one.bounds();
                    state = mix64(state);
                    (low + (high - low) * (state % 5) as f64 / 4.0).min(high)
                });
                let value = value_at(at);
                let [low, high] = found.bounds();
                let has_no_value = found.is_exact() && low.is_infinite() && value.is_infinite();
                let is_inside = low <= value && value <= high
                    || found.is_nan() && value.is_nan()
                    || has_no_value;
                assert!(is_inside, "{name}{operands:?} at {at:?}: {value}, {found:?}");
            }
        }
        assert!(known > 25_000, "{known}");
    }
}

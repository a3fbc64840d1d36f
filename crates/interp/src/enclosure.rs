//! Arithmetic of intervals of doubles, rounded outward.
//!
//! A bound is moved to the neighbouring double only if it was rounded, and to the wrong side. The error of a sum is
//! Knuth's exact one, those of products and quotients come from a fused multiplication. So numbers that doubles
//! compute exactly stay numbers. A bound is NaN if a corner has no value, such as infinity minus infinity.

/// The least and the greatest number.
pub(crate) type Interval = [f64; 2];

/// Results below this may have lost digits that the error terms do not show.
const TINY: f64 = 1e-280;

/// Bounds of a rounded result. The exact one is larger if `error` is positive.
fn around(rounded: f64, error: f64) -> Interval {
    let low = if error < 0.0 { rounded.next_down() } else { rounded };
    let high = if error > 0.0 { rounded.next_up() } else { rounded };
    [low, high]
}

/// Bounds of a result that is infinite although its operands are not.
fn beyond(rounded: f64) -> Interval {
    if rounded > 0.0 { [f64::MAX, f64::INFINITY] } else { [f64::NEG_INFINITY, f64::MIN] }
}

fn both_sides(rounded: f64) -> Interval {
    [rounded.next_down(), rounded.next_up()]
}

fn sum(x: f64, y: f64) -> Interval {
    let sum = x + y;
    if !(x.is_finite() && y.is_finite()) {
        return [sum; 2];
    }
    if sum.is_infinite() {
        return beyond(sum);
    }
    let part = sum - x;
    around(sum, (x - (sum - part)) + (y - part))
}

fn product(x: f64, y: f64) -> Interval {
    let product = x * y;
    if !(x.is_finite() && y.is_finite()) || x == 0.0 || y == 0.0 {
        return [product; 2];
    }
    match product.abs() {
        f64::INFINITY => beyond(product),
        size if size < TINY => both_sides(product),
        _ => around(product, x.mul_add(y, -product)),
    }
}

/// The quotient by a number that is not zero.
fn quotient(x: f64, y: f64) -> Interval {
    let quotient = x / y;
    if !(x.is_finite() && y.is_finite()) || x == 0.0 {
        return [quotient; 2];
    }
    match quotient.abs() {
        f64::INFINITY => beyond(quotient),
        size if size < TINY || x.abs() < TINY => both_sides(quotient),
        _ => around(quotient, -quotient.mul_add(y, -x) * y.signum()),
    }
}

/// The least interval around all corners; NaN if one of them has no value.
fn hull(corners: [Interval; 4]) -> Interval {
    let is_nan = corners.iter().flatten().any(|one| one.is_nan());
    if is_nan {
        return [f64::NAN; 2];
    }
    corners
        .into_iter()
        .reduce(|[low, high], [least, most]| [low.min(least), high.max(most)])
        .unwrap_or([f64::NAN; 2])
}

pub(crate) fn add(x: Interval, y: Interval) -> Interval {
    [sum(x[0], y[0])[0], sum(x[1], y[1])[1]]
}

pub(crate) fn negate(x: Interval) -> Interval {
    [-x[1], -x[0]]
}

pub(crate) fn multiply(x: Interval, y: Interval) -> Interval {
    corners(x, y, product)
}

/// The quotient by an interval without zero.
pub(crate) fn divide(x: Interval, y: Interval) -> Interval {
    corners(x, y, quotient)
}

fn corners(x: Interval, y: Interval, operation: fn(f64, f64) -> Interval) -> Interval {
    if x[0] == x[1] && y[0] == y[1] {
        return operation(x[0], y[0]);
    }
    let [a, b] = x;
    hull([operation(a, y[0]), operation(a, y[1]), operation(b, y[0]), operation(b, y[1])])
}

/// The bounds with a relative and an absolute error.
pub(crate) fn widen([low, high]: Interval, relative: f64, absolute: f64) -> Interval {
    let error = |bound: f64| match bound.is_finite() {
        true => (bound.abs() * relative + absolute).next_up(),
        false => 0.0,
    };
    [(low - error(low)).next_down(), (high + error(high)).next_up()]
}

/// The absolute values.
pub(crate) fn magnitude([low, high]: Interval) -> Interval {
    match (low >= 0.0, high <= 0.0) {
        (true, _) => [low, high],
        (_, true) => [-high, -low],
        _ => [0.0, high.max(-low)],
    }
}

pub(crate) fn contains([low, high]: Interval, number: f64) -> bool {
    low <= number && number <= high
}

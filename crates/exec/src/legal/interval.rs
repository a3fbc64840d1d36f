//! Real arithmetic on doubles with directed rounding: each function returns a number not below the exact result
//! (`up`), or else not above it, and the exact result if that is a double.

/// Below this size, the error terms may miss lost bits.
const TINY: f64 = 1e-280;

/// Moves a rounded result to the next double if its error shows that the exact result lies beyond it.
fn outward(value: f64, error: f64, up: bool) -> f64 {
    if !value.is_finite() {
        // An overflow of finite operands: the exact result is on the near side of infinity.
        return value;
    }
    let small = value.abs() < TINY && (value != 0.0 || error != 0.0);
    match up {
        true if error > 0.0 || small => value.next_up(),
        false if error < 0.0 || small => value.next_down(),
        _ => value,
    }
}

/// Computes `a + b`.
pub(super) fn sum(a: f64, b: f64, up: bool) -> f64 {
    let value = a + b;
    let other = value - a;
    let error = (a - (value - other)) + (b - other);
    outward(value, if error.is_nan() { 0.0 } else { error }, up)
}

/// Computes `a · b`.
pub(super) fn product(a: f64, b: f64, up: bool) -> f64 {
    let value = a * b;
    let lost = value == 0.0 && a != 0.0 && b != 0.0;
    let error = if lost { a.signum() * b.signum() } else { a.mul_add(b, -value) };
    outward(value, if error.is_nan() { 0.0 } else { error }, up)
}

/// Computes `a / b`, for a nonzero divisor.
pub(super) fn quotient(a: f64, b: f64, up: bool) -> f64 {
    let value = a / b;
    let rest = (-value).mul_add(b, a);
    let lost = value == 0.0 && a != 0.0;
    let error = if lost { a.signum() * b.signum() } else { rest * b.signum() };
    outward(value, if error.is_nan() { 0.0 } else { error }, up)
}

/// Computes the square root of a non-negative number.
pub(super) fn square_root(a: f64, up: bool) -> f64 {
    let value = a.sqrt();
    let error = (-value).mul_add(value, a);
    outward(value, if error.is_nan() { 0.0 } else { error }, up)
}

/// Returns the least and the greatest of some numbers; `None` if one is NaN.
pub(super) fn hull(numbers: &[f64]) -> Option<[f64; 2]> {
    if numbers.iter().any(|number| number.is_nan()) {
        return None;
    }
    let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Some([low, high])
}

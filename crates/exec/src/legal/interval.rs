//! Real arithmetic on doubles with directed rounding: each function returns a number not below the exact result
//! (`up`), or else not above it, and the exact result if that is a double.

/// Below this size, the error terms may miss lost bits.
const TINY: f64 = 1e-280;

/// Moves the rounded result of some operands to the next double if its error shows that the exact result lies beyond it.
fn outward(value: f64, error: f64, operands: [f64; 2], up: bool) -> f64 {
    if value.is_infinite()
        && up != (value > 0.0)
        && operands.iter().all(|operand| operand.is_finite())
    {
        // An overflow: the exact result is finite, and at least as large as the largest double.
        return f64::MAX.copysign(value);
    }
    if !value.is_finite() {
        return value;
    }
    let error = if error.is_nan() { 0.0 } else { error };
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
    outward(value, error, [a, b], up)
}

/// Computes `a · b`.
pub(super) fn product(a: f64, b: f64, up: bool) -> f64 {
    let value = a * b;
    let underflows = value == 0.0 && a != 0.0 && b != 0.0;
    let error = if underflows { a.signum() * b.signum() } else { a.mul_add(b, -value) };
    outward(value, error, [a, b], up)
}

/// Computes `a / b`, for a nonzero divisor.
pub(super) fn quotient(a: f64, b: f64, up: bool) -> f64 {
    let value = a / b;
    let rest = (-value).mul_add(b, a);
    let underflows = value == 0.0 && a != 0.0;
    let error = if underflows { a.signum() * b.signum() } else { rest * b.signum() };
    outward(value, error, [a, b], up)
}

/// Computes the square root of a non-negative number.
pub(super) fn square_root(a: f64, up: bool) -> f64 {
    let value = a.sqrt();
    let error = (-value).mul_add(value, a);
    outward(value, error, [a, a], up)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overflow_of_finite_operands_is_finite() {
        let large = 2f64.powi(512);
        assert_eq!(
            [product(large, large, false), product(large, large, true)],
            [f64::MAX, f64::INFINITY]
        );
        assert_eq!(
            [product(-large, large, false), product(-large, large, true)],
            [f64::NEG_INFINITY, f64::MIN]
        );
        assert_eq!(
            [sum(f64::MAX, f64::MAX, false), sum(f64::MAX, f64::MAX, true)],
            [f64::MAX, f64::INFINITY]
        );
        assert_eq!(
            [quotient(large, 1.0 / large, false), quotient(-large, 1.0 / large, true)],
            [f64::MAX, f64::MIN]
        );
    }

    #[test]
    fn infinite_operands_have_infinite_results() {
        assert_eq!(product(f64::INFINITY, 2.0, false), f64::INFINITY);
        assert_eq!(sum(f64::NEG_INFINITY, 2.0, true), f64::NEG_INFINITY);
        assert_eq!(square_root(f64::INFINITY, false), f64::INFINITY);
    }
}

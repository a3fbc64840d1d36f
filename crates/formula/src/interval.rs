//! Bounds of integer expressions from the bounds of their indices, in unbounded arithmetic.
//!
//! Conditions are ignored, so the bounds may be wider than the values. `None`: unknown.

use crate::resolve::floor_divide;
use crate::typed::{Arithmetic, Function, Node, NodeKind, Range, Reduction, Typed};
use ir::{Scalar, Width};
use term::Number;

/// Returns the least and the largest possible value of an integer.
pub(crate) fn interval(typed: &Typed, node: &Node) -> Option<(i128, i128)> {
    let interval_of = |node: &Node| interval(typed, node);
    match &node.kind {
        NodeKind::Number(number) => exact(number).map(|value| (value, value)),
        NodeKind::Index(index) => Some(typed.indices[*index].bounds),
        NodeKind::Negate(a) => interval_of(a).map(|(low, high)| (-high, -low)),
        NodeKind::Arithmetic(op, a, b) => arithmetic(*op, interval_of(a)?, interval_of(b)?),
        NodeKind::Element { array, outside, .. } => {
            let bounds = typed.arrays[*array].bounds?;
            match outside {
                Some(outside) => interval_of(outside).map(|outside| hull(bounds, outside)),
                None => Some(bounds),
            }
        }
        NodeKind::If { value, otherwise, .. } => {
            Some(hull(interval_of(value)?, interval_of(otherwise)?))
        }
        NodeKind::Power(a, exponent) => {
            let power = u32::try_from(exponent.to_i64()?).ok()?;
            let (low, high) = interval_of(a)?;
            let most = low.abs().max(high.abs()).checked_pow(power)?;
            Some(if low >= 0 { (0, most.max(1)) } else { (-most, most.max(1)) })
        }
        NodeKind::IntegerPower(a, b) => {
            let (low, high) = interval_of(a)?;
            let power = u32::try_from(interval_of(b)?.1).ok()?;
            let most = low.abs().max(high.abs()).max(1).checked_pow(power)?;
            Some((if low < 0 { -most } else { 0 }, most))
        }
        NodeKind::Function(Function::Round(_), arguments) => {
            Some(rounded_interval(typed, arguments.first()?))
        }
        NodeKind::Function(function, arguments) => {
            let all: Option<Vec<(i128, i128)>> = arguments.iter().map(interval_of).collect();
            match (function, all?.as_slice()) {
                (Function::Max, [a, b]) => Some((a.0.max(b.0), a.1.max(b.1))),
                (Function::Min, [a, b]) => Some((a.0.min(b.0), a.1.min(b.1))),
                (Function::Abs, [a]) => Some((0, a.0.abs().max(a.1.abs()))),
                (Function::Sign, [a]) => Some((a.0.signum(), a.1.signum())),
                (Function::Relu, [a]) => Some((a.0.max(0), a.1.max(0))),
                (Function::Clamp, [a, low, high]) => {
                    let above = (a.0.max(low.0), a.1.max(low.1));
                    Some((above.0.min(high.0), above.1.min(high.1)))
                }
                _ => None,
            }
        }
        NodeKind::Reduce(reduce) => {
            let bounds = |range: &Range| typed.indices[range.index].bounds;
            let sizes = reduce.ranges.iter().map(bounds).map(|(low, high)| (high - low + 1).max(0));
            let count = sizes.fold(1, i128::saturating_mul);
            match reduce.reduction {
                Reduction::Count => Some((0, count)),
                Reduction::ArgMax | Reduction::ArgMin => reduce.ranges.first().map(bounds),
                Reduction::Max | Reduction::Min => {
                    interval_of(&reduce.body).map(|body| hull(body, (0, 0)))
                }
                Reduction::Sum => {
                    let (low, high) = interval_of(&reduce.body)?;
                    Some((low.min(0).checked_mul(count)?, high.max(0).checked_mul(count)?))
                }
                Reduction::Product => {
                    let (low, high) = interval_of(&reduce.body)?;
                    let most = low.abs().max(high.abs()).max(1);
                    let most = most.checked_pow(u32::try_from(count).ok()?)?;
                    Some((if low < 0 { -most } else { 0 }, most))
                }
                Reduction::Mean | Reduction::Any | Reduction::All => None,
            }
        }
        _ => None,
    }
}

/// Bounds of a real rounded to an integer, which saturates at 64 bits.
fn rounded_interval(typed: &Typed, real: &Node) -> (i128, i128) {
    let least_and_largest = (i128::from(i64::MIN), i128::from(i64::MAX));
    match real_interval(typed, real) {
        Some((low, high)) if low > -1e15 && high < 1e15 => {
            (low.floor() as i128, high.ceil() as i128)
        }
        _ => least_and_largest,
    }
}

/// Widens bounds by the error of one rounding to doubles; a NaN becomes no bound.
fn outward((low, high): (f64, f64)) -> (f64, f64) {
    let bound = |value: f64, none: f64| if value.is_nan() { none } else { value };
    (bound(low, f64::NEG_INFINITY).next_down(), bound(high, f64::INFINITY).next_up())
}

/// Returns doubles around a number, compared with it exactly.
fn enclosing_doubles(number: &Number) -> Option<(f64, f64)> {
    let nearest = number.to_f64_lossy();
    let slack = nearest.abs() * 1e-15 + f64::MIN_POSITIVE;
    let (low, high) = (nearest - slack, nearest + slack);
    let encloses = Number::from_f64(low)? <= *number && *number <= Number::from_f64(high)?;
    encloses.then_some((low, high))
}

/// Bounds, in doubles rounded outward, of a real that depends on indices alone.
fn real_interval(typed: &Typed, node: &Node) -> Option<(f64, f64)> {
    let corners = |a: (f64, f64), b: (f64, f64), of: fn(f64, f64) -> f64| {
        let all = [of(a.0, b.0), of(a.0, b.1), of(a.1, b.0), of(a.1, b.1)];
        let is_number = all.iter().all(|corner| !corner.is_nan());
        is_number.then(|| {
            outward((
                all.into_iter().fold(f64::INFINITY, f64::min),
                all.into_iter().fold(f64::NEG_INFINITY, f64::max),
            ))
        })
    };
    match &node.kind {
        NodeKind::Number(number) => enclosing_doubles(number),
        NodeKind::ToReal(inner) if !inner.is_data => {
            interval(typed, inner).map(|(low, high)| outward((low as f64, high as f64)))
        }
        NodeKind::Negate(a) => real_interval(typed, a).map(|(low, high)| (-high, -low)),
        NodeKind::Arithmetic(op, a, b) => {
            let (a, b) = (real_interval(typed, a)?, real_interval(typed, b)?);
            match op {
                Arithmetic::Add => Some(outward((a.0 + b.0, a.1 + b.1))),
                Arithmetic::Subtract => Some(outward((a.0 - b.1, a.1 - b.0))),
                Arithmetic::Multiply => corners(a, b, |a, b| a * b),
                Arithmetic::Divide if b.0 > 0.0 || b.1 < 0.0 => corners(a, b, |a, b| a / b),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns a number that fits 64 bits.
fn exact(number: &Number) -> Option<i128> {
    number.to_i64().map(i128::from)
}

/// Returns the smallest interval around two.
fn hull(a: (i128, i128), b: (i128, i128)) -> (i128, i128) {
    (a.0.min(b.0), a.1.max(b.1))
}

/// Returns the range of a type of at most 32 bits; `None` for wider ones.
pub(crate) fn of_type(scalar: Scalar) -> Option<(i128, i128)> {
    let Scalar::Integer { width, signed } = scalar else { return None };
    if width == Width::B64 {
        return None;
    }
    let size = 1_i128 << width.bits();
    Some(if signed { (-size / 2, size / 2 - 1) } else { (0, size - 1) })
}

fn arithmetic(op: Arithmetic, a: (i128, i128), b: (i128, i128)) -> Option<(i128, i128)> {
    let corners = |of: fn(i128, i128) -> Option<i128>| {
        let all = [of(a.0, b.0), of(a.0, b.1), of(a.1, b.0), of(a.1, b.1)];
        let all: Option<Vec<i128>> = all.into_iter().collect();
        let all = all?;
        Some((*all.iter().min()?, *all.iter().max()?))
    };
    match op {
        Arithmetic::Add => Some((a.0.checked_add(b.0)?, a.1.checked_add(b.1)?)),
        Arithmetic::Subtract => Some((a.0.checked_sub(b.1)?, a.1.checked_sub(b.0)?)),
        Arithmetic::Multiply => corners(i128::checked_mul),
        // A quotient is monotone in both operands if the divisor keeps its sign.
        Arithmetic::FloorDivide if b.0 > 0 || b.1 < 0 => corners(floor_divide),
        Arithmetic::Remainder if b.0 > 0 => Some((0, b.1 - 1)),
        Arithmetic::Remainder if b.1 < 0 => Some((b.0 + 1, 0)),
        // Divisors of both signs: no quotient exceeds the dividend, no remainder the divisor.
        Arithmetic::FloorDivide => {
            let most = a.0.abs().max(a.1.abs());
            Some((-most, most))
        }
        Arithmetic::Remainder => Some((b.0, b.1)),
        Arithmetic::Divide => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::resolve;
    use crate::{Environment, Tensor, parse};
    use ir::Format;

    /// Bounds of `round(REAL)` for i in 0..9.
    fn bounds_of(real: &str) -> (i128, i128) {
        let tensor = Tensor {
            name: "y".to_owned(),
            scalar: Scalar::Float(Format::F32),
            shape: vec![9],
            range: None,
            is_input: false,
            is_output: true,
            is_required: true,
        };
        let environment = Environment { tensors: vec![tensor], ..Environment::default() };
        let formula = parse(&format!("let n[i in 0..9] = round({real}); y[i] = n[i]")).unwrap();
        let typed = resolve(&formula, &environment).unwrap();
        interval(&typed, &typed.steps.first().unwrap().value).unwrap()
    }

    #[test]
    fn reals_are_rounded_outward() {
        for (real, value) in [
            ("1.0*i", (|i| i) as fn(i128) -> i128),
            // Doubles lose the index beside the large number.
            ("(1e20 + i) - 1e20", |i| i),
            ("((1e16 + i) - 1e16)*1000", |i| 1000 * i),
            ("9007199254740993.0 - 9007199254740992.0 + 0*i", |_| 1),
        ] {
            let (low, high) = bounds_of(real);
            assert!((0..9).all(|i| (low..=high).contains(&value(i))), "{real}: {low}..={high}");
        }
        let (low, high) = bounds_of("i / 2");
        assert!((-1..=0).contains(&low) && (4..=5).contains(&high), "{low}..={high}");
        // Infinities of doubles are no bounds.
        let large = vec!["1e20"; 16].join("*");
        assert_eq!(bounds_of(&format!("{large}*i")), (i64::MIN.into(), i64::MAX.into()));
    }
}

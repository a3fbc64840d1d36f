//! Bounds of integer expressions from the bounds of their indices, in unbounded arithmetic.
//!
//! Conditions are not looked at, so the bounds may be wider than the values. `None` says that nothing is known.

use crate::resolve::floor_divide;
use crate::typed::{Arithmetic, Function, Node, NodeKind, Typed};
use ir::{Scalar, Width};
use term::Number;

/// The least and the largest value that an integer can have.
pub(crate) fn interval(typed: &Typed, node: &Node) -> Option<(i128, i128)> {
    let of = |node: &Node| interval(typed, node);
    match &node.kind {
        NodeKind::Number(number) => exact(number).map(|value| (value, value)),
        NodeKind::Index(index) => Some(typed.indices[*index].bounds),
        NodeKind::Negate(a) => of(a).map(|(low, high)| (-high, -low)),
        NodeKind::Arithmetic(op, a, b) => arithmetic(*op, of(a)?, of(b)?),
        NodeKind::Element { array, outside, .. } => {
            let own = of_type(typed.arrays[*array].scalar)?;
            match outside {
                Some(outside) => of(outside).map(|outside| hull(own, outside)),
                None => Some(own),
            }
        }
        NodeKind::If { value, otherwise, .. } => Some(hull(of(value)?, of(otherwise)?)),
        NodeKind::Function(function, arguments) => {
            let all: Option<Vec<(i128, i128)>> = arguments.iter().map(of).collect();
            match (function, all?.as_slice()) {
                (Function::Max, [a, b]) => Some((a.0.max(b.0), a.1.max(b.1))),
                (Function::Min, [a, b]) => Some((a.0.min(b.0), a.1.min(b.1))),
                (Function::Relu, [a]) => Some((a.0.max(0), a.1.max(0))),
                (Function::Clamp, [a, low, high]) => {
                    let above = (a.0.max(low.0), a.1.max(low.1));
                    Some((above.0.min(high.0), above.1.min(high.1)))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

fn exact(number: &Number) -> Option<i128> {
    number.to_i64().map(i128::from)
}

fn hull(a: (i128, i128), b: (i128, i128)) -> (i128, i128) {
    (a.0.min(b.0), a.1.max(b.1))
}

/// The numbers of a type of at most 32 bits; of wider ones nothing is known.
fn of_type(scalar: Scalar) -> Option<(i128, i128)> {
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
        // A quotient is monotone in both where the divisor keeps its sign.
        Arithmetic::FloorDivide if b.0 > 0 || b.1 < 0 => corners(floor_divide),
        Arithmetic::Remainder if b.0 > 0 => Some((0, b.1 - 1)),
        Arithmetic::Remainder if b.1 < 0 => Some((b.0 + 1, 0)),
        Arithmetic::FloorDivide | Arithmetic::Remainder | Arithmetic::Divide => None,
    }
}

//! Arithmetic of constants in their types (\[expr.const\], \[basic.fundamental\]).

use super::evaluate::{NoValue, Number};
use crate::tree::{Binary, Compare, FloatKind, Type};
use base::Span;

type Outcome<T> = Result<T, NoValue>;

/// Returns both values, or the first error. `Symbolic` gives way to other errors: they hold for any symbols.
pub(super) fn both(left: Outcome<Number>, right: Outcome<Number>) -> Outcome<(Number, Number)> {
    match (left, right) {
        (Ok(left), Ok(right)) => Ok((left, right)),
        (Err(NoValue::Symbolic), Err(other)) => Err(other),
        (Err(why), _) | (_, Err(why)) => Err(why),
    }
}

/// Compares two numbers. A comparison with NaN is false, except `!=`.
pub(super) fn compare_numbers(compare: Compare, left: Number, right: Number) -> bool {
    let order = match (left, right) {
        (Number::Int(left), Number::Int(right)) => Some(left.cmp(&right)),
        (Number::Float(left), Number::Float(right)) => left.partial_cmp(&right),
        _ => None,
    };
    match compare {
        Compare::Eq => order.is_some_and(|one| one.is_eq()),
        Compare::Ne => order.is_none_or(|one| one.is_ne()),
        Compare::Lt => order.is_some_and(|one| one.is_lt()),
        Compare::Le => order.is_some_and(|one| one.is_le()),
        Compare::Gt => order.is_some_and(|one| one.is_gt()),
        Compare::Ge => order.is_some_and(|one| one.is_ge()),
    }
}

/// Rounds a result to the type of its operation.
pub(super) fn round_to_kind(wide: f64, kind: FloatKind, span: Span) -> Outcome<f64> {
    match kind {
        #[expect(clippy::cast_possible_truncation, reason = "rounding is what is meant")]
        FloatKind::Float => Ok(f64::from(wide as f32)),
        FloatKind::Double => Ok(wide),
        FloatKind::Half | FloatKind::Bfloat16 => {
            Err(NoValue::Unknown(span, "constants of 16-bit floats are not computed"))
        }
    }
}

/// Fits a number to its type: signed overflow has no value, unsigned numbers wrap.
pub(super) fn fit(number: i128, ty: &Type, span: Span) -> Outcome<Number> {
    match ty {
        Type::Int(kind) if !kind.is_signed() => Ok(Number::Int(kind.wrap(number))),
        Type::Int(kind) if kind.wrap(number) == number => Ok(Number::Int(number)),
        Type::Int(_) => Err(NoValue::Undefined(span, "this constant overflows its type")),
        _ => Err(NoValue::Unknown(span, "this is not a constant")),
    }
}

/// Fits a number to its type: signed and unsigned numbers wrap.
pub(super) fn fit_wrapped(number: i128, ty: &Type, span: Span) -> Outcome<Number> {
    match ty {
        Type::Int(kind) => Ok(Number::Int(kind.wrap(number))),
        _ => Err(NoValue::Unknown(span, "this is not a constant")),
    }
}

/// The result of an operator on two integers of type `ty`.
pub(super) fn integer_operation(
    op: Binary,
    left: i128,
    right: i128,
    ty: &Type,
    span: Span,
) -> Outcome<Number> {
    let Type::Int(kind) = ty else {
        return Err(NoValue::Unknown(span, "this is not a constant"));
    };
    let bits = i128::from(kind.bits());
    let made = match op {
        Binary::Add => left + right,
        Binary::Sub => left - right,
        Binary::Mul => match left.checked_mul(right) {
            Some(product) => product,
            // Only unsigned factors of 64 bits reach this; the result is their product modulo 2^64.
            None => left.wrapping_mul(right),
        },
        Binary::Div | Binary::Rem if right == 0 => {
            return Err(NoValue::Undefined(span, "this constant is divided by zero"));
        }
        Binary::Div => left / right,
        Binary::Rem => left % right,
        Binary::Shl | Binary::Shr if !(0..bits).contains(&right) => {
            return Err(NoValue::Undefined(span, "this shift is as wide as its type or wider"));
        }
        Binary::Shl if kind.is_signed() && left < 0 => {
            return Err(NoValue::Undefined(span, "a negative constant is shifted to the left"));
        }
        // C++17 lets a signed shift reach the sign bit ([expr.shift]/2).
        Binary::Shl if kind.is_signed() && left << right < 1 << bits => {
            return Ok(Number::Int(kind.wrap(left << right)));
        }
        Binary::Shl => left << right,
        Binary::Shr => left >> right,
        Binary::BitAnd => left & right,
        Binary::BitOr => left | right,
        Binary::BitXor => left ^ right,
    };
    fit(made, ty, span)
}

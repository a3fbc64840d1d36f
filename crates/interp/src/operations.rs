//! Operations on values: integers with their exactness, floats as doubles, and both as compiled code computes them.

use crate::arithmetic::Arithmetic;
use crate::real::Real;
use crate::rounding;
use crate::value::{EvaluationError, Value, used_integer};
use kir::{Binary, Compare, Expr, Precision, Type};
use std::cmp::Ordering::{Equal, Greater, Less};

/// Applies an operator to integers. A number that has wrapped may be added, subtracted and multiplied; any other use of
/// it is an overflow if it feeds an index or a condition (`strict`).
pub(crate) fn integer_binary(
    operator: Binary,
    left: Value,
    right: Value,
    expr: &Expr,
    strict: bool,
) -> Result<Value, EvaluationError> {
    let (Value::Int { value: a, exact: ea }, Value::Int { value: b, exact: eb }) = (left, right)
    else {
        return Err(EvaluationError::Undefined);
    };
    let ty = expr.ty;
    if matches!(operator, Binary::BitAnd | Binary::BitOr | Binary::BitXor) {
        // Bits of the machine's value; its exact value no longer matters.
        let value = exact_result(operator, a, b, expr)?.unwrap_or(0);
        return Ok(Value::int(ty.wrap(value)));
    }
    // A sum, difference or product is right modulo the width even if its operands have wrapped. Other operations
    // use their operands.
    let is_ring_operation = matches!(operator, Binary::Add | Binary::Sub | Binary::Mul);
    let constant_shift = operator == Binary::Shl;
    // A number that feeds only data may wrap: then the machine's value is used. A divisor that wraps to zero is
    // still reported as a number that has wrapped.
    let divides = matches!(operator, Binary::Div | Binary::Rem);
    let ea = if !is_ring_operation && !strict && !constant_shift { Some(a) } else { ea };
    let keeps_exact = is_ring_operation || strict || divides && b == 0;
    let eb = if keeps_exact { eb } else { Some(b) };
    if !is_ring_operation && (ea != Some(a) && !constant_shift || eb != Some(b)) {
        let exact = if ea == Some(a) { eb } else { ea };
        return Err(EvaluationError::Overflow { span: expr.span, ty, exact });
    }
    let (Some(x), Some(y)) = (ea, eb) else {
        let value = ty.wrap(ring_wrapped(operator, a, b));
        return Ok(Value::Int { value, exact: None });
    };
    let exact = exact_result(operator, x, y, expr)?;
    let fits = match exact {
        Some(exact) => ty.holds(exact),
        None => ty.range().is_none(),
    };
    // C++17 defines `1 << 31` and the like, if the unsigned type holds the result ([expr.shift]/2).
    if let (Binary::Shl, Type::Int { bits, signed: true }, Some(result)) = (operator, ty, exact)
        && (x >= 0 && !fits && result < 1 << bits)
    {
        return Ok(Value::int(ty.wrap(result)));
    }
    let signed = matches!(ty, Type::Int { signed: true, .. });
    if strict && signed && !fits {
        return Err(EvaluationError::Overflow { span: expr.span, ty, exact });
    }
    let value = match exact {
        Some(exact) => ty.wrap(exact),
        None => ty.wrap(ring_wrapped(operator, a, b)),
    };
    Ok(Value::Int { value, exact })
}

/// The sum, difference or product modulo 2^128.
fn ring_wrapped(operator: Binary, a: i128, b: i128) -> i128 {
    match operator {
        Binary::Add => a.wrapping_add(b),
        Binary::Sub => a.wrapping_sub(b),
        _ => a.wrapping_mul(b),
    }
}

/// The exact result; `None` if it is too large to represent.
fn exact_result(
    operator: Binary,
    x: i128,
    y: i128,
    expr: &Expr,
) -> Result<Option<i128>, EvaluationError> {
    let width = match expr.ty {
        Type::Int { bits, .. } => i128::from(bits),
        _ => 120,
    };
    let shifts = matches!(operator, Binary::Shl | Binary::Shr);
    if shifts && !(0..width).contains(&y) {
        return Err(EvaluationError::Shift(expr.span));
    }
    Ok(match operator {
        Binary::Add => x.checked_add(y),
        Binary::Sub => x.checked_sub(y),
        Binary::Mul => x.checked_mul(y),
        Binary::Div | Binary::Rem if y == 0 => {
            return Err(EvaluationError::DivisionByZero(expr.span));
        }
        Binary::Div => x.checked_div(y),
        Binary::Rem => x.checked_rem(y),
        Binary::Shl => x.checked_mul(1 << y),
        Binary::Shr => Some(x >> y),
        Binary::BitAnd => Some(x & y),
        Binary::BitOr => Some(x | y),
        Binary::BitXor => Some(x ^ y),
        Binary::Min => Some(x.min(y)),
        Binary::Max => Some(x.max(y)),
    })
}

pub(crate) fn float_binary(operator: Binary, x: Real, y: Real, precision: Precision) -> Real {
    let (one, other) = (x.value(), y.value());
    let value = match operator {
        Binary::Add => one + other,
        Binary::Sub => one - other,
        Binary::Mul => one * other,
        Binary::Div => one / other,
        Binary::Min => one.min(other),
        Binary::Max => one.max(other),
        _ => f64::NAN,
    };
    rounding::binary(operator, x, y, value, precision)
}

/// Returns `true` if a comparison holds for operands in this order. `None` is the order of a NaN.
pub(crate) fn holds_for_order(operator: Compare, order: Option<std::cmp::Ordering>) -> bool {
    match operator {
        Compare::Eq => order == Some(Equal),
        Compare::Ne => order != Some(Equal),
        Compare::Lt => order == Some(Less),
        Compare::Le => matches!(order, Some(Less | Equal)),
        Compare::Gt => order == Some(Greater),
        Compare::Ge => matches!(order, Some(Greater | Equal)),
    }
}

pub(crate) fn function(name: &str, [x, y, z]: [f64; 3]) -> f64 {
    match name {
        "sqrt" => x.sqrt(),
        "rsqrt" => 1.0 / x.sqrt(),
        "exp" => x.exp(),
        "exp2" => x.exp2(),
        "log" => x.ln(),
        "log2" => x.log2(),
        "sin" => x.sin(),
        "cos" => x.cos(),
        "tanh" => x.tanh(),
        "fabs" => x.abs(),
        "floor" => x.floor(),
        "ceil" => x.ceil(),
        "round" => x.round(),
        "rint" => x.round_ties_even(),
        "pow" => x.powf(y),
        "fmin" => x.min(y),
        "fmax" => x.max(y),
        "fma" => x.mul_add(y, z),
        "fdivide" => x / y,
        "cbrt" => x.cbrt(),
        "exp10" => 10_f64.powf(x),
        "expm1" => x.exp_m1(),
        "log10" => x.log10(),
        "log1p" => x.ln_1p(),
        "tan" => x.tan(),
        "asin" => x.asin(),
        "acos" => x.acos(),
        "atan" => x.atan(),
        "sinh" => x.sinh(),
        "cosh" => x.cosh(),
        "trunc" => x.trunc(),
        "atan2" => x.atan2(y),
        "hypot" => x.hypot(y),
        "fmod" => x % y,
        "erf" => libm::erf(x),
        _ => f64::NAN,
    }
}

/// A conversion in C++: integers wrap into their type.
pub(crate) fn compiled_conversion(
    value: Value,
    (from, ty): (Type, Type),
    (arithmetic, precision): (&Arithmetic, Precision),
    inner: &Expr,
) -> Result<Value, EvaluationError> {
    match (value, ty) {
        // A signed sum that wrapped may be narrowed; widening uses its value.
        (Value::Int { value, exact }, Type::Int { bits: to, .. }) => {
            let narrows = matches!(from, Type::Int { bits, .. } if bits >= to);
            if exact != Some(value) && !narrows {
                return Err(EvaluationError::Undefined);
            }
            Ok(Value::int(ty.wrap(value)))
        }
        (Value::Int { value, exact }, Type::Float) if exact == Some(value) => {
            let real = rounding::of_integer(value, precision);
            Ok(Value::Float(real.moved_to(arithmetic.constant(real.value()))))
        }
        (Value::Int { .. }, Type::Whole | Type::Bool) => {
            Ok(Value::int(used_integer(value, inner)?))
        }
        (Value::Float(_), _) => Ok(value),
        (Value::Int { .. }, Type::Float) | (Value::Undefined, _) => Err(EvaluationError::Undefined),
    }
}

/// An integer operation in C++: a signed number that wrapped can only be an operand of additions and multiplications.
pub(crate) fn compiled_integer_binary(
    operator: Binary,
    left: Value,
    right: Value,
    expr: &Expr,
    strict: bool,
) -> Result<Value, EvaluationError> {
    let is_ring_operation =
        matches!(operator, Binary::Add | Binary::Sub | Binary::Mul | Binary::Shl);
    let has_wrapped =
        |value: Value| matches!(value, Value::Int { value, exact } if exact != Some(value));
    if !strict
        && (!is_ring_operation && has_wrapped(left)
            || operator == Binary::Shl && has_wrapped(right)
            || !is_ring_operation && has_wrapped(right))
    {
        return Err(EvaluationError::Undefined);
    }
    let result = integer_binary(operator, left, right, expr, strict)?;
    // The minimum divided by −1 is undefined, and compilers differ on it.
    if operator == Binary::Div && has_wrapped(result) {
        return Err(EvaluationError::Undefined);
    }
    Ok(keep_unsigned_wrap(result, expr.ty))
}

/// Makes the wrapped value of an unsigned number its exact value, because C++ defines it.
pub(crate) fn keep_unsigned_wrap(value: Value, ty: Type) -> Value {
    match (value, ty) {
        (Value::Int { value, .. }, Type::Int { signed: false, .. }) => Value::int(value),
        _ => value,
    }
}

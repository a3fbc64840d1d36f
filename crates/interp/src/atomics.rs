//! Updates of memory by atomic operations.

use crate::operations::float_binary;
use crate::value::Value;
use kir::{AtomicOp, Binary, Compare, Precision, Type};

/// Returns a value as memory stores it: the machine's integer, without the exact one beside it.
pub(crate) fn as_stored(value: Value) -> Value {
    value.number().map_or(value, Value::int)
}

/// The new value of an element, with the operands of CUDA's function.
pub(crate) fn updated_value(
    op: AtomicOp,
    old: Value,
    operands: &[Value],
    (ty, precision): (Type, Precision),
) -> Value {
    let fit = |value: i128| Value::int(ty.wrap(value));
    match (op, old, operands) {
        (AtomicOp::Exchange, _, [new]) => as_stored(*new),
        // The operation compares bits. The bits of a NaN and the sign of a zero are unknown.
        (AtomicOp::CompareAndSwap, Value::Undefined, _)
        | (AtomicOp::CompareAndSwap, _, [Value::Undefined, _]) => Value::Undefined,
        (AtomicOp::CompareAndSwap, Value::Float(old), [Value::Float(expected), new]) => {
            let is_nan = old.is_nan() || expected.is_nan();
            let [one, other] = [old, *expected].map(|one| one.value().is_sign_negative());
            match old.compare(Compare::Eq, *expected).filter(|_| !is_nan) {
                Some(true) if one == other => *new,
                Some(false) => Value::Float(old),
                Some(true) | None => Value::Undefined,
            }
        }
        (AtomicOp::CompareAndSwap, old, [expected, new]) => {
            if as_stored(*expected) == old {
                as_stored(*new)
            } else {
                old
            }
        }
        (AtomicOp::Add, Value::Float(x), [Value::Float(y)]) => {
            Value::Float(float_binary(Binary::Add, x, *y, precision))
        }
        (_, Value::Int { value: x, .. }, [Value::Int { value: y, .. }]) => fit(match op {
            AtomicOp::Add => x.wrapping_add(*y),
            AtomicOp::Sub => x.wrapping_sub(*y),
            AtomicOp::Min => x.min(*y),
            AtomicOp::Max => x.max(*y),
            AtomicOp::And => x & y,
            AtomicOp::Or => x | y,
            AtomicOp::Increment if x >= *y => 0,
            AtomicOp::Increment => x + 1,
            AtomicOp::Decrement if x == 0 || x > *y => *y,
            AtomicOp::Decrement => x - 1,
            _ => x ^ y,
        }),
        _ => Value::Undefined,
    }
}

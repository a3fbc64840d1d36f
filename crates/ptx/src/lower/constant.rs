//! Evaluates constant expressions (manual §4.5.4–4.5.6), and encodes their values where they are used.

use crate::isa::Type;
use crate::syntax::Value;
use crate::syntax::ast::{BinaryOp, Expr, UnaryOp};
use base::{Code, Diagnostic, Span};
use ir::{Format, Width};

/// `WARP_SZ`: 32 on every architecture so far.
const WARP_SIZE: i64 = 32;

/// Evaluates an expression without symbols.
pub(crate) fn evaluate(expr: &Expr<'_>) -> Result<Value, Diagnostic> {
    match expr {
        Expr::Number(number) => Ok(number.value),
        Expr::Name(name) if name.text == "WARP_SZ" => Ok(Value::Signed(WARP_SIZE)),
        Expr::Name(name) => {
            let message = format!("`{}` is not a constant", name.text);
            Err(Diagnostic::error(Code::Constant, name.span(), message))
        }
        Expr::Parenthesized(inner) => evaluate(inner),
        Expr::Unary(op, inner) => {
            unary(*op, evaluate(inner)?).ok_or_else(|| mixed_operands(inner.span()))
        }
        Expr::Cast(ty, inner) => {
            let bits = integer(evaluate(inner)?).ok_or_else(|| mixed_operands(inner.span()))?;
            Ok(if ty.text == "u64" { Value::Unsigned(bits) } else { signed(bits) })
        }
        Expr::Binary(op, sides) => {
            let (left, right) = (evaluate(&sides.0)?, evaluate(&sides.1)?);
            if matches!(op, BinaryOp::Div | BinaryOp::Rem) && integer(right) == Some(0) {
                let message = "division by zero in a constant expression";
                return Err(Diagnostic::error(Code::Constant, expr.span(), message));
            }
            binary(*op, left, right).ok_or_else(|| mixed_operands(expr.span()))
        }
        Expr::Conditional(parts) => {
            let condition =
                integer(evaluate(&parts.0)?).ok_or_else(|| mixed_operands(parts.0.span()))?;
            evaluate(if condition != 0 { &parts.1 } else { &parts.2 })
        }
        Expr::Generic(_) | Expr::Mask(..) => {
            let message = "an address is not a constant here";
            Err(Diagnostic::error(Code::Constant, expr.span(), message))
        }
    }
}

/// Evaluates to a non-negative integer: sizes, counts, alignments.
pub(crate) fn evaluate_size(expr: &Expr<'_>) -> Result<u64, Diagnostic> {
    match evaluate(expr)? {
        Value::Signed(value) if value >= 0 => Ok(value.cast_unsigned()),
        Value::Unsigned(value) => Ok(value),
        _ => {
            let message = "a size must be a non-negative integer";
            Err(Diagnostic::error(Code::Constant, expr.span(), message))
        }
    }
}

fn mixed_operands(span: Span) -> Diagnostic {
    let message = "this operator does not take these operands: integers and floats cannot be mixed";
    Diagnostic::error(Code::Constant, span, message)
}

/// Returns the bits of an integer; `None` for a float.
pub(crate) fn integer(value: Value) -> Option<u64> {
    match value {
        Value::Signed(value) => Some(value.cast_unsigned()),
        Value::Unsigned(value) => Some(value),
        Value::F32(_) | Value::F64(_) => None,
    }
}

fn signed(bits: u64) -> Value {
    Value::Signed(bits.cast_signed())
}

fn unary(op: UnaryOp, value: Value) -> Option<Value> {
    Some(match (op, value) {
        (UnaryOp::Plus, value) => value,
        (UnaryOp::Minus, Value::Signed(value)) => Value::Signed(value.wrapping_neg()),
        (UnaryOp::Minus, Value::Unsigned(value)) => Value::Unsigned(value.wrapping_neg()),
        (UnaryOp::Minus, Value::F64(bits)) => Value::F64(bits ^ (1 << 63)),
        // Single-precision literals are not allowed in expressions, except with a sign.
        (UnaryOp::Minus, Value::F32(bits)) => Value::F32(bits ^ (1 << 31)),
        (UnaryOp::Not, value) => Value::Signed(i64::from(integer(value)? == 0)),
        (UnaryOp::Complement, value) => Value::Unsigned(!integer(value)?),
    })
}

fn binary(op: BinaryOp, left: Value, right: Value) -> Option<Value> {
    if let (Value::F64(left), Value::F64(right)) = (left, right) {
        return float_binary(op, f64::from_bits(left), f64::from_bits(right));
    }
    let (a, b) = (integer(left)?, integer(right)?);
    // The "usual conversions" of the manual: unsigned if either side is.
    let is_signed = matches!((left, right), (Value::Signed(_), Value::Signed(_)));
    let typed = |bits| if is_signed { signed(bits) } else { Value::Unsigned(bits) };
    let (sa, sb) = (a.cast_signed(), b.cast_signed());
    let truth = |holds: bool| Value::Signed(i64::from(holds));
    let compare = if is_signed { sa.cmp(&sb) } else { a.cmp(&b) };
    Some(match op {
        BinaryOp::Mul => typed(a.wrapping_mul(b)),
        BinaryOp::Div if is_signed => Value::Signed(sa.wrapping_div(sb)),
        BinaryOp::Div => Value::Unsigned(a.checked_div(b)?),
        // The manual reads both operands of % as unsigned and calls the result signed.
        BinaryOp::Rem => signed(a.checked_rem(b)?),
        BinaryOp::Add => typed(a.wrapping_add(b)),
        BinaryOp::Sub => typed(a.wrapping_sub(b)),
        BinaryOp::Shl => like_left(left, a << (b & 63)),
        BinaryOp::Shr => shift_right(left, b),
        BinaryOp::Lt => truth(compare.is_lt()),
        BinaryOp::Gt => truth(compare.is_gt()),
        BinaryOp::Le => truth(compare.is_le()),
        BinaryOp::Ge => truth(compare.is_ge()),
        BinaryOp::Eq => truth(a == b),
        BinaryOp::Ne => truth(a != b),
        // §4.5.5 and the assembler convert as usual; the table of §4.5.6 says unsigned.
        BinaryOp::BitAnd => typed(a & b),
        BinaryOp::BitXor => typed(a ^ b),
        BinaryOp::BitOr => typed(a | b),
        BinaryOp::And => truth(a != 0 && b != 0),
        BinaryOp::Or => truth(a != 0 || b != 0),
    })
}

/// Gives the result of a shift the type of its left operand.
fn like_left(left: Value, bits: u64) -> Value {
    if matches!(left, Value::Signed(_)) { signed(bits) } else { Value::Unsigned(bits) }
}

/// Shifts right. The manual does not define a shift by 64 or more; the assembler takes the amount modulo 64.
fn shift_right(left: Value, amount: u64) -> Value {
    let amount = amount & 63;
    match left {
        Value::Signed(value) => Value::Signed(value >> amount),
        Value::Unsigned(value) => Value::Unsigned(value >> amount),
        other => other,
    }
}

fn float_binary(op: BinaryOp, a: f64, b: f64) -> Option<Value> {
    let truth = |holds: bool| Value::Signed(i64::from(holds));
    let number = |value: f64| Value::F64(value.to_bits());
    Some(match op {
        BinaryOp::Add => number(a + b),
        BinaryOp::Sub => number(a - b),
        BinaryOp::Mul => number(a * b),
        BinaryOp::Div => number(a / b),
        BinaryOp::Lt => truth(a < b),
        BinaryOp::Gt => truth(a > b),
        BinaryOp::Le => truth(a <= b),
        BinaryOp::Ge => truth(a >= b),
        BinaryOp::Eq => truth(a == b),
        BinaryOp::Ne => truth(a != b),
        _ => return None,
    })
}

/// Returns the bits of a constant used as an operand or initialiser of type `ty`; `None` if they do not match.
pub(crate) fn bits(value: Value, ty: Type) -> Option<u64> {
    match ty {
        // A constant has 64 bits; the manual does not say how it fills 128.
        Type::Bits(Width::B128) => None,
        Type::Pred => Some(u64::from(integer(value)? != 0)),
        Type::Float(Format::F64) => match value {
            Value::F64(bits) => Some(bits),
            _ => None,
        },
        Type::Float(Format::F32) => match value {
            Value::F32(bits) => Some(u64::from(bits)),
            #[expect(clippy::cast_possible_truncation, reason = "rounding is what PTX asks for")]
            Value::F64(bits) => Some(u64::from((f64::from_bits(bits) as f32).to_bits())),
            _ => None,
        },
        Type::Bits(_) | Type::Unsigned(_) | Type::Signed(_) => match (value, ty.width()) {
            (Value::F32(bits), Width::B32) => Some(u64::from(bits)),
            (Value::F64(bits), Width::B64) => Some(bits),
            (value, width) => Some(integer(value)? & width.mask()),
        },
        // Halves, packs and narrower formats are written as the integer of their bits.
        Type::Float(_) | Type::FloatPair(_) | Type::IntPair { .. } => {
            Some(integer(value)? & ty.width().mask())
        }
    }
}

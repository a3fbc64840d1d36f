//! Types and conversions (ISO C++17 [conv.prom], [expr.arith.conv]).

use crate::cfront::ast::Scalar;
use crate::kir::{Binary, Compare, Expr, ExprKind, Type, Unary};

/// The type of values of a scalar type.
pub(super) fn kir_type(scalar: Scalar) -> Option<Type> {
    match scalar {
        Scalar::Void | Scalar::Struct(_) | Scalar::Auto => None,
        Scalar::Bool => Some(Type::Bool),
        Scalar::Int { bits, signed } => Some(Type::Int { bits, signed }),
        Scalar::Float { .. } => Some(Type::Float),
    }
}

/// The same value in another type.
pub(super) fn convert(expr: Expr, ty: Type) -> Expr {
    if expr.ty == ty {
        return expr;
    }
    let span = expr.span;
    if let (ExprKind::Int(value), Type::Int { .. } | Type::Whole) = (&expr.kind, ty)
        && ty.range().is_none_or(|(least, most)| (least..=most).contains(value))
    {
        return Expr { kind: ExprKind::Int(*value), ty, span };
    }
    if let (ExprKind::Int(value), Type::Float) = (&expr.kind, ty) {
        #[expect(clippy::cast_precision_loss, reason = "that is what the conversion does")]
        return Expr { kind: ExprKind::Float(*value as f64), ty, span };
    }
    if ty == Type::Bool {
        return truth(expr);
    }
    Expr { kind: ExprKind::Convert(Box::new(expr)), ty, span }
}

/// Whether a value is not zero.
pub(super) fn truth(expr: Expr) -> Expr {
    if expr.ty == Type::Bool {
        return expr;
    }
    let (span, ty) = (expr.span, expr.ty);
    let zero = match ty {
        Type::Float => ExprKind::Float(0.0),
        _ => ExprKind::Int(0),
    };
    let zero = Expr { kind: zero, ty, span };
    let kind = ExprKind::Compare(Compare::Ne, Box::new(expr), Box::new(zero));
    Expr { kind, ty: Type::Bool, span }
}

/// The value as an integer without bounds.
pub(super) fn whole(expr: Expr) -> Expr {
    convert(expr, Type::Whole)
}

/// Small integers and truth values are computed with as `int`.
pub(super) fn promoted(expr: Expr) -> Expr {
    match expr.ty {
        Type::Bool | Type::Int { bits: 8 | 16, .. } => convert(expr, Type::INT),
        _ => expr,
    }
}

/// Both values in the type that arithmetic on them has.
pub(super) fn usual(one: Expr, other: Expr, annotation: bool) -> (Expr, Expr) {
    let (one, other) = (promoted(one), promoted(other));
    let ty = match (one.ty, other.ty) {
        (Type::Float, _) | (_, Type::Float) => Type::Float,
        _ if annotation => Type::Whole,
        (Type::Whole, _) | (_, Type::Whole) => Type::Whole,
        (Type::Int { bits: a, signed: sa }, Type::Int { bits: b, signed: sb }) => {
            let signed = if a == b {
                sa && sb
            } else if a > b {
                sa
            } else {
                sb
            };
            Type::Int { bits: a.max(b), signed }
        }
        (ty, _) => ty,
    };
    (convert(one, ty), convert(other, ty))
}

/// The value of an expression of constants, if it has one and stays in its type.
pub(super) fn fold(expr: &Expr) -> Option<i128> {
    let value = match &expr.kind {
        ExprKind::Int(value) => *value,
        ExprKind::Convert(inner) if inner.ty != Type::Float => fold(inner)?,
        ExprKind::Unary(Unary::Neg, inner) => fold(inner)?.checked_neg()?,
        ExprKind::Unary(Unary::Complement, inner) => match (expr.ty, -1 - fold(inner)?) {
            (Type::Int { bits, signed: false }, value) => value.rem_euclid(1 << bits),
            (_, value) => value,
        },
        ExprKind::Binary(operator, left, right) => binary(*operator, fold(left)?, fold(right)?)?,
        ExprKind::Select(condition, then, otherwise) => {
            if fold(condition)? != 0 {
                fold(then)?
            } else {
                fold(otherwise)?
            }
        }
        ExprKind::Compare(operator, left, right) => {
            i128::from(compare(*operator, fold(left)?, fold(right)?))
        }
        _ => return None,
    };
    expr.ty.range().is_none_or(|(least, most)| (least..=most).contains(&value)).then_some(value)
}

fn binary(operator: Binary, left: i128, right: i128) -> Option<i128> {
    match operator {
        Binary::Add => left.checked_add(right),
        Binary::Sub => left.checked_sub(right),
        Binary::Mul => left.checked_mul(right),
        Binary::Div => left.checked_div(right),
        Binary::Rem => left.checked_rem(right),
        Binary::Shl if (0..64).contains(&right) => left.checked_mul(1 << right),
        Binary::Shr if (0..64).contains(&right) => Some(left >> right),
        Binary::BitAnd => Some(left & right),
        Binary::BitOr => Some(left | right),
        Binary::BitXor => Some(left ^ right),
        Binary::Min => Some(left.min(right)),
        Binary::Max => Some(left.max(right)),
        Binary::Shl | Binary::Shr => None,
    }
}

fn compare(operator: Compare, left: i128, right: i128) -> bool {
    match operator {
        Compare::Eq => left == right,
        Compare::Ne => left != right,
        Compare::Lt => left < right,
        Compare::Le => left <= right,
        Compare::Gt => left > right,
        Compare::Ge => left >= right,
    }
}

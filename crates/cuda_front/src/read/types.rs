//! Types and conversions of values (ISO C++17 `[conv]`): the scalars of a type, and the types in which a kernel
//! computes.

use super::diagnostics::{Result, unsupported};
use super::lowerer::Lowerer;
use base::Span;
use cuda::tree::{self, Extent, FloatKind, IntKind};
use kir::{Binary, Compare, Expr, ExprKind, Precision, Type, Unary};

/// A scalar or pointer inside of a type.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    /// Names of the fields on the path.
    pub(super) path: String,
    /// Sizes of the arrays on the path, outermost first.
    pub(super) dimensions: Vec<Extent>,
    /// The element types of these arrays.
    pub(super) element_types: Vec<tree::Type>,
    /// Its own type.
    pub(super) ty: tree::Type,
}

/// The representation of a scalar in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    Bool,
    Int(u8),
    Float(FloatKind),
}

impl Lowerer<'_> {
    /// The type of values of a scalar type.
    pub(super) fn scalar(&self, ty: &tree::Type) -> Option<Type> {
        let integer = |kind: IntKind| Type::Int { bits: kind.bits(), signed: kind.is_signed() };
        match ty {
            tree::Type::Bool => Some(Type::Bool),
            tree::Type::Int(kind) => Some(integer(*kind)),
            tree::Type::Float(kind) => {
                let seen = match kind {
                    FloatKind::Half => Precision::HALF,
                    FloatKind::Bfloat16 => Precision::BFLOAT16,
                    FloatKind::Float | FloatKind::Double => Precision::FLOAT,
                };
                self.precision.set(self.precision.get().and(seen));
                Some(Type::Float)
            }
            tree::Type::Real => Some(Type::Float),
            tree::Type::Enum(id) => self.program.enums.get(*id).map(|one| integer(one.underlying)),
            tree::Type::Whole => Some(Type::Whole),
            tree::Type::Void
            | tree::Type::Pointer(_)
            | tree::Type::Array(..)
            | tree::Type::Record(_)
            | tree::Type::Function(_) => None,
        }
    }

    /// The representation of a scalar in memory.
    pub(super) fn layout(&self, ty: &tree::Type) -> Option<Layout> {
        match ty {
            tree::Type::Bool => Some(Layout::Bool),
            tree::Type::Int(kind) => Some(Layout::Int(kind.bits())),
            tree::Type::Enum(id) => {
                self.program.enums.get(*id).map(|one| Layout::Int(one.underlying.bits()))
            }
            tree::Type::Float(kind) => Some(Layout::Float(*kind)),
            _ => None,
        }
    }

    /// The size of a scalar, a pointer or a struct in bytes.
    pub(super) fn size(&self, ty: &tree::Type) -> Option<u64> {
        match ty {
            tree::Type::Pointer(_) => Some(8),
            tree::Type::Record(id) => self.program.records.get(*id).map(|one| one.size),
            tree::Type::Array(inner, Extent::Known(count)) => self.size(inner)?.checked_mul(*count),
            _ => self.layout(ty).map(|layout| match layout {
                Layout::Bool => 1,
                Layout::Int(bits) => u64::from(bits / 8),
                Layout::Float(FloatKind::Half | FloatKind::Bfloat16) => 2,
                Layout::Float(FloatKind::Float) => 4,
                Layout::Float(FloatKind::Double) => 8,
            }),
        }
    }

    /// The scalars and pointers of a type, in order.
    pub(super) fn leaves(&self, ty: &tree::Type, span: Span) -> Result<Vec<Leaf>> {
        match ty {
            tree::Type::Array(inner, extent) => {
                let mut all = self.leaves(inner, span)?;
                for leaf in &mut all {
                    leaf.dimensions.insert(0, extent.clone());
                    leaf.element_types.insert(0, (**inner).clone());
                }
                Ok(all)
            }
            tree::Type::Record(id) => {
                let Some(record) = self.program.records.get(*id) else {
                    return Err(unsupported(span, "this type is not supported"));
                };
                if record.is_union {
                    return Err(unsupported(span, "unions are not supported"));
                }
                let mut all = Vec::new();
                for field in &record.fields {
                    for mut leaf in self.leaves(&field.ty, span)? {
                        leaf.path = match leaf.path.is_empty() {
                            true => field.name.clone(),
                            false => format!("{}.{}", field.name, leaf.path),
                        };
                        all.push(leaf);
                    }
                }
                Ok(all)
            }
            tree::Type::Pointer(_) => Ok(vec![Leaf::plain(ty)]),
            _ if self.scalar(ty).is_some() => Ok(vec![Leaf::plain(ty)]),
            _ => Err(unsupported(span, "a variable of this type is not supported")),
        }
    }

    /// The position of a field's first scalar or pointer in its struct, and their number.
    pub(super) fn field_range(
        &self,
        ty: &tree::Type,
        field: usize,
        span: Span,
    ) -> Result<(usize, usize)> {
        let tree::Type::Record(id) = ty else {
            return Err(unsupported(span, "members of this type are not supported"));
        };
        let Some(record) = self.program.records.get(*id).filter(|one| !one.is_union) else {
            return Err(unsupported(span, "unions are not supported"));
        };
        let mut first = 0;
        for (number, one) in record.fields.iter().enumerate() {
            let count = self.leaves(&one.ty, span)?.len();
            if number == field {
                return Ok((first, count));
            }
            first += count;
        }
        Err(unsupported(span, "members of this type are not supported"))
    }
}

impl Leaf {
    fn plain(ty: &tree::Type) -> Self {
        let (path, dimensions, element_types) = (String::new(), Vec::new(), Vec::new());
        Leaf { path, dimensions, element_types, ty: ty.clone() }
    }

    /// The name of a variable for it.
    pub(super) fn named(&self, name: &str) -> String {
        match self.path.is_empty() {
            true => name.to_owned(),
            false => format!("{name}.{}", self.path),
        }
    }
}

/// Converts a value to another type.
pub(super) fn convert(expr: Expr, ty: Type) -> Expr {
    if expr.ty == ty {
        return expr;
    }
    let span = expr.span;
    if let (ExprKind::Int(value), Type::Int { .. } | Type::Whole) = (&expr.kind, ty)
        && ty.holds(*value)
    {
        return Expr { kind: ExprKind::Int(*value), ty, span };
    }
    // Constants of the machine's types are converted as C++ says, modulo 2^bits.
    if let (ExprKind::Int(value), Type::Int { .. }, Type::Int { .. }) = (&expr.kind, expr.ty, ty) {
        return Expr { kind: ExprKind::Int(ty.wrap(*value)), ty, span };
    }
    if let (ExprKind::Int(value), Type::Float) = (&expr.kind, ty) {
        #[expect(clippy::cast_precision_loss, reason = "that is what the conversion does")]
        return Expr { kind: ExprKind::Float(*value as f64), ty, span };
    }
    if ty == Type::Bool {
        return truth(expr);
    }
    // A machine number that was widened to an unbounded one.
    if let (ExprKind::Convert(inner), Type::Whole, Type::Int { .. }) = (&expr.kind, expr.ty, ty)
        && matches!(inner.ty, Type::Int { .. } | Type::Bool)
    {
        return convert((**inner).clone(), ty);
    }
    Expr { kind: ExprKind::Convert(Box::new(expr)), ty, span }
}

/// Returns the condition that a value is not zero.
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
    compare(Compare::Ne, expr, zero)
}

/// Converts a value to an unbounded integer.
pub(super) fn whole(expr: Expr) -> Expr {
    convert(expr, Type::Whole)
}

/// Converts two values to one type. In annotations integers are unbounded.
pub(super) fn to_common_type(one: Expr, other: Expr, annotation: bool) -> (Expr, Expr) {
    let ty = match (one.ty, other.ty) {
        (Type::Float, _) | (_, Type::Float) => Type::Float,
        (Type::Bool, Type::Bool) => Type::Bool,
        _ if annotation => Type::Whole,
        (Type::Whole, _) | (_, Type::Whole) => Type::Whole,
        (ty, _) => ty,
    };
    (convert(one, ty), convert(other, ty))
}

/// The type in which annotations compute with values of this type: integers are unbounded.
pub(super) fn annotation_type(ty: Type) -> Type {
    match ty {
        Type::Int { .. } => Type::Whole,
        _ => ty,
    }
}

pub(super) fn int(value: i128, ty: Type, span: Span) -> Expr {
    Expr { kind: ExprKind::Int(value), ty, span }
}

pub(super) fn boolean(value: bool, span: Span) -> Expr {
    int(i128::from(value), Type::Bool, span)
}

pub(super) fn not(inner: Expr) -> Expr {
    let span = inner.span;
    Expr { kind: ExprKind::Unary(Unary::Not, Box::new(inner)), ty: Type::Bool, span }
}

pub(super) fn compare(operator: Compare, left: Expr, right: Expr) -> Expr {
    let span = left.span.to(right.span);
    let kind = ExprKind::Compare(operator, Box::new(left), Box::new(right));
    Expr { kind, ty: Type::Bool, span }
}

/// An operation on two values of one type.
pub(super) fn binary(operator: Binary, left: Expr, right: Expr, span: Span) -> Expr {
    let ty = left.ty;
    Expr { kind: ExprKind::Binary(operator, Box::new(left), Box::new(right)), ty, span }
}

pub(super) fn select(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
    let (ty, span) = (then.ty, condition.span);
    let parts = (Box::new(condition), Box::new(then), Box::new(otherwise));
    Expr { kind: ExprKind::Select(parts.0, parts.1, parts.2), ty, span }
}

/// Builds an index expression, without additions of 0 and multiplications by 1.
pub(super) fn offset(operator: Binary, left: Expr, right: Expr) -> Expr {
    match (operator, &left.kind, &right.kind) {
        (Binary::Add, ExprKind::Int(0), _) => return right,
        (Binary::Add | Binary::Sub, _, ExprKind::Int(0)) => return left,
        (Binary::Mul, ExprKind::Int(1), _) => return right,
        _ => {}
    }
    let span = left.span.to(right.span);
    binary(operator, left, right, span)
}

/// The value of a constant expression, if it has one and stays in its type.
pub(super) fn fold(expr: &Expr) -> Option<i128> {
    let value = match &expr.kind {
        ExprKind::Int(value) => *value,
        ExprKind::Convert(inner) if inner.ty != Type::Float => fold(inner)?,
        ExprKind::Unary(Unary::Neg, inner) => fold(inner)?.checked_neg()?,
        ExprKind::Unary(Unary::Complement, inner) => match (expr.ty, -1 - fold(inner)?) {
            (ty @ Type::Int { signed: false, .. }, value) => ty.wrap(value),
            (_, value) => value,
        },
        ExprKind::Binary(operator, left, right) => {
            fold_binary(*operator, fold(left)?, fold(right)?)?
        }
        ExprKind::Select(condition, then, otherwise) => {
            if fold(condition)? != 0 {
                fold(then)?
            } else {
                fold(otherwise)?
            }
        }
        ExprKind::Compare(operator, left, right) => {
            i128::from(fold_comparison(*operator, fold(left)?, fold(right)?))
        }
        _ => return None,
    };
    expr.ty.holds(value).then_some(value)
}

fn fold_binary(operator: Binary, left: i128, right: i128) -> Option<i128> {
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

fn fold_comparison(operator: Compare, left: i128, right: i128) -> bool {
    match operator {
        Compare::Eq => left == right,
        Compare::Ne => left != right,
        Compare::Lt => left < right,
        Compare::Le => left <= right,
        Compare::Gt => left > right,
        Compare::Ge => left >= right,
    }
}

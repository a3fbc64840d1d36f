//! Operands: expressions with data that only analysis needs, and constructors of expressions.

use super::types::{INT, QType, Reference};
use crate::tree::{Category, Expr, ExprKind, Type};
use base::Span;

/// An expression with data that the tree omits: qualifiers, value category, and the value if it names a constant.
#[derive(Clone, Debug)]
pub(crate) struct Operand {
    pub expr: Expr,
    pub is_const: bool,
    pub is_volatile: bool,
    /// A place that may be moved from.
    pub is_xvalue: bool,
    /// The literal 0 or `nullptr`, which converts to any pointer (\[conv.ptr\]).
    pub is_null: bool,
    /// The result of reading it, if known.
    pub constant: Option<Box<Expr>>,
}

impl Operand {
    pub(super) fn new(expr: Expr) -> Self {
        Self {
            expr,
            is_const: false,
            is_volatile: false,
            is_xvalue: false,
            is_null: false,
            constant: None,
        }
    }

    pub(super) fn is_place(&self) -> bool {
        self.expr.category == Category::Place
    }

    pub(super) fn span(&self) -> Span {
        self.expr.span
    }

    /// The operand's type, with qualifiers if it is a place.
    pub(super) fn qtype(&self) -> QType {
        QType {
            ty: self.expr.ty.clone(),
            is_const: self.is_const,
            is_volatile: self.is_volatile,
            reference: Reference::None,
        }
    }

    /// A stand-in of a type, for uses that only need the type.
    pub(super) fn of_type(ty: &QType, span: Span) -> Self {
        let category = match ty.reference {
            Reference::None => Category::Value,
            _ => Category::Place,
        };
        let expr = Expr { kind: ExprKind::Int(0), ty: ty.ty.clone(), category, span };
        Self {
            is_const: ty.is_const,
            is_volatile: ty.is_volatile,
            is_xvalue: ty.reference == Reference::Rvalue,
            ..Self::new(expr)
        }
    }
}

pub(crate) fn value(kind: ExprKind, ty: Type, span: Span) -> Expr {
    Expr { kind, ty, category: Category::Value, span }
}

pub(crate) fn place(kind: ExprKind, ty: Type, span: Span) -> Expr {
    Expr { kind, ty, category: Category::Place, span }
}

pub(crate) fn literal(number: i128, ty: Type, span: Span) -> Expr {
    value(ExprKind::Int(number), ty, span)
}

/// `int`, where C has truth values.
pub(crate) fn int(value_: i128, span: Span) -> Expr {
    literal(value_, INT, span)
}

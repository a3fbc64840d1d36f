//! Operators on numbers, and assignments: the right side is computed before the left one (ISO C++17 [expr.ass]).

use super::diagnostics::{Result, error, unsupported};
use super::lowerer::Lowerer;
use super::memory_model::{Item, Place, Spot, Value};
use super::types::{annotation_type, binary, convert, fold, int, to_common_type};
use base::Span;
use cuda::tree;
use kir::{Binary, Compare, Expr, ExprKind, Stmt, Type};

impl Lowerer<'_> {
    /// `left ∘ right`, with both converted to one type; the right side of a shift keeps its own.
    pub(super) fn combine(
        &self,
        operator: tree::Binary,
        left: Expr,
        right: Expr,
        span: Span,
    ) -> Result<Expr> {
        self.operate(arithmetic(operator), left, right, span)
    }

    pub(super) fn operate(
        &self,
        operator: Binary,
        left: Expr,
        right: Expr,
        span: Span,
    ) -> Result<Expr> {
        let shifts = matches!(operator, Binary::Shl | Binary::Shr);
        let (left, right) = match shifts && !self.in_annotation {
            true => {
                let ty = left.ty;
                (left, shift_amount(right, ty))
            }
            false => to_common_type(left, right, self.in_annotation),
        };
        // Truth values are computed with as integers.
        let (left, right) = match left.ty {
            Type::Bool => {
                let ty = if self.in_annotation { Type::Whole } else { Type::INT };
                (convert(left, ty), convert(right, ty))
            }
            _ => (left, right),
        };
        let of_floats = matches!(
            operator,
            Binary::Add | Binary::Sub | Binary::Mul | Binary::Div | Binary::Min | Binary::Max
        );
        if left.ty == Type::Float && !of_floats {
            return Err(error(span, "this operator needs integers"));
        }
        Ok(binary(operator, left, right, span))
    }

    /// `target = value`; returns the stored value.
    pub(super) fn assign(
        &mut self,
        target: &tree::Expr,
        value: &tree::Expr,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Value> {
        self.assign_to_place(target, value, span, out).map(|(_, stored)| stored)
    }

    /// `target = value`; returns the target and the stored value.
    pub(super) fn assign_to_place(
        &mut self,
        target: &tree::Expr,
        value: &tree::Expr,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<(Place, Value)> {
        let value = self.value(value, out)?;
        let at = out.len();
        let place = self.place(target, out)?;
        let value = self.value_before(value, at, out);
        let stored = self.assign_value(&place, value, span, out)?;
        Ok((place, stored))
    }

    /// Assigns an already computed value to an object.
    pub(super) fn assign_value(
        &mut self,
        place: &Place,
        value: Value,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Value> {
        let is_variable =
            matches!(&place.choices[..], [spots] if matches!(spots[..], [Spot::Var(_)]));
        if is_variable {
            self.write(place, value, span, out)?;
            return self.read(place, span, out);
        }
        let is_record = matches!(place.ty, tree::Type::Record(_));
        let name = if is_record { "part" } else { "stored" };
        let leaves = self.leaves(&place.ty, span)?;
        let mut kept = Vec::new();
        for (item, leaf) in value.into_iter().zip(leaves) {
            kept.push(match (item, self.scalar(&leaf.ty)) {
                (Item::Scalar(value), Some(ty)) => {
                    let var = self.keep(name, convert(value, ty), out);
                    Item::Scalar(self.var(var, span))
                }
                (Item::Pointer(pointer), _) if is_record => {
                    Item::Pointer(self.freeze_pointer(pointer, out))
                }
                (item, _) => item,
            });
        }
        let is_pointer = matches!(kept[..], [Item::Pointer(_)]);
        self.write(place, kept.clone(), span, out)?;
        match is_pointer {
            // The value may read the variable itself (`p = p + 1`), so the stored pointer is read back.
            true => self.read(place, span, out),
            false => Ok(kept),
        }
    }

    /// `place op= value`; returns the stored value.
    pub(super) fn assign_with(
        &mut self,
        operator: tree::Binary,
        ty: &tree::Type,
        sides: [&tree::Expr; 2],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Value> {
        self.compound_assign(operator, ty, sides, span, out).map(|(_, stored)| stored)
    }

    /// `place op= value`; returns the place and the stored value.
    pub(super) fn compound_assign(
        &mut self,
        operator: tree::Binary,
        ty: &tree::Type,
        [target, value]: [&tree::Expr; 2],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<(Place, Value)> {
        let value = self.value(value, out)?;
        let at = out.len();
        let place = self.place(target, out)?;
        let mut value = self.value_before(value, at, out).into_iter();
        let old = self.read(&place, target.span, out)?.into_iter().next();
        let new = match (old, value.next()) {
            (Some(Item::Scalar(old)), Some(Item::Scalar(value))) => {
                let Some(ty) = self.scalar(ty) else {
                    return Err(unsupported(span, "this operator is not supported here"));
                };
                let ty = if self.in_annotation { annotation_type(ty) } else { ty };
                Item::Scalar(self.combine(operator, convert(old, ty), value, span)?)
            }
            (Some(Item::Pointer(old)), Some(Item::Scalar(by))) => {
                Item::Pointer(self.advance(arithmetic(operator), old, by, span)?)
            }
            _ => return Err(unsupported(span, "operators on structs are not supported")),
        };
        let stored = self.assign_value(&place, vec![new], span, out)?;
        Ok((place, stored))
    }

    /// `++x` and `x++`.
    pub(super) fn step(
        &mut self,
        add: bool,
        is_prefix: bool,
        place: &Place,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Value> {
        let old = self.read(place, span, out)?.into_iter().next();
        let operator = if add { Binary::Add } else { Binary::Sub };
        let (kept, new) = match old {
            Some(Item::Scalar(old)) => {
                let old = match is_prefix {
                    true => old,
                    false => {
                        let kept = self.keep("before", old, out);
                        self.var(kept, span)
                    }
                };
                let ty = step_type(old.ty);
                let one = convert(int(1, Type::INT, span), ty);
                let new = self.operate(operator, convert(old.clone(), ty), one, span)?;
                (Item::Scalar(old), Item::Scalar(new))
            }
            Some(Item::Pointer(old)) => {
                let old = match is_prefix {
                    true => old,
                    false => self.freeze_pointer(old, out),
                };
                let one = int(1, Type::LONG, span);
                let new = self.advance(operator, old.clone(), one, span)?;
                (Item::Pointer(old), Item::Pointer(new))
            }
            _ => return Err(unsupported(span, "this step is not supported")),
        };
        let stored = self.assign_value(place, vec![new], span, out)?;
        Ok(if is_prefix { stored } else { vec![kept] })
    }
}

/// The type in which `++` is computed: small integers are promoted to `int`.
fn step_type(ty: Type) -> Type {
    match ty {
        Type::Bool | Type::Int { bits: 8 | 16, .. } => Type::INT,
        _ => ty,
    }
}

pub(super) fn arithmetic(operator: tree::Binary) -> Binary {
    match operator {
        tree::Binary::Add => Binary::Add,
        tree::Binary::Sub => Binary::Sub,
        tree::Binary::Mul => Binary::Mul,
        tree::Binary::Div => Binary::Div,
        tree::Binary::Rem => Binary::Rem,
        tree::Binary::Shl => Binary::Shl,
        tree::Binary::Shr => Binary::Shr,
        tree::Binary::BitAnd => Binary::BitAnd,
        tree::Binary::BitOr => Binary::BitOr,
        tree::Binary::BitXor => Binary::BitXor,
    }
}

pub(super) fn comparison(operator: tree::Compare) -> Compare {
    match operator {
        tree::Compare::Eq => Compare::Eq,
        tree::Compare::Ne => Compare::Ne,
        tree::Compare::Lt => Compare::Lt,
        tree::Compare::Le => Compare::Le,
        tree::Compare::Gt => Compare::Gt,
        tree::Compare::Ge => Compare::Ge,
    }
}

/// Converts the amount of a shift to the type of the shifted number. The width is an amount that no shift may have; it
/// stands for a constant out of range, which a conversion could wrap into the range.
fn shift_amount(amount: Expr, ty: Type) -> Expr {
    let (Some(constant), Type::Int { bits, .. }) = (fold(&amount), ty) else {
        return convert(amount, ty);
    };
    let bits = i128::from(bits);
    let constant = if (0..bits).contains(&constant) { constant } else { bits };
    Expr { kind: ExprKind::Int(constant), ty, span: amount.span }
}

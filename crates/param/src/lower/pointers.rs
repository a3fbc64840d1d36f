//! Pointers to structs and vectors, and views of scalars as vectors.

use super::access::Place;
use super::convert::kir_type;
use super::records::{Leaf, Places};
use super::{Binding, Lowerer, unsupported};
use crate::cfront::ast::{Expr as Ast, ExprKind as AstKind, Scalar, TypeName};
use crate::cfront::token::Result;
use crate::kir::{Binary, Element, Expr, ExprKind, Stmt, Type, VarId};
use base::Span;

/// A pointer to structs: `base` counts scalars, `offset` structs.
pub(super) struct RecordPointer {
    leaves: Vec<Leaf>,
    offset: Expr,
    base: Option<Expr>,
}

fn whole_number(value: i128, span: Span) -> Expr {
    Expr { kind: ExprKind::Int(value), ty: Type::LONG, span }
}

fn combined(operator: Binary, left: Expr, right: Expr) -> Expr {
    match (operator, &left.kind, &right.kind) {
        (Binary::Add, ExprKind::Int(0), _) => return right,
        (Binary::Add | Binary::Sub, _, ExprKind::Int(0)) => return left,
        (Binary::Mul, ExprKind::Int(1), _) => return right,
        _ => {}
    }
    let span = left.span.to(right.span);
    let kind = ExprKind::Binary(operator, Box::new(left), Box::new(right));
    Expr { kind, ty: Type::LONG, span }
}

impl Lowerer<'_> {
    /// What a pointer to structs stands for; `None` if this is none.
    pub(super) fn record_pointer(
        &mut self,
        expr: &Ast,
        out: &mut Vec<Stmt>,
    ) -> Result<Option<RecordPointer>> {
        let span = expr.span;
        match &expr.kind {
            AstKind::Name(name) => Ok(match self.lookup(name).cloned() {
                Some(Binding::Records(leaves, offset, base)) => {
                    let base = base.map(|base| self.var(base, span));
                    Some(RecordPointer { leaves, offset: self.var(offset, span), base })
                }
                Some(Binding::RecordArray(leaves))
                    if leaves.iter().all(|one| self.arrays[one.array].dimensions.len() == 1) =>
                {
                    Some(RecordPointer { leaves, offset: whole_number(0, span), base: None })
                }
                _ => None,
            }),
            AstKind::Binary(operator @ ("+" | "-"), left, right) => {
                let Some(mut pointer) = self.record_pointer(left, out)? else { return Ok(None) };
                let index = self.index(right, out)?;
                let operator = if *operator == "+" { Binary::Add } else { Binary::Sub };
                pointer.offset = combined(operator, pointer.offset, index);
                Ok(Some(pointer))
            }
            AstKind::Unary("&", inner) => match &inner.kind {
                AstKind::Index(base, index) => {
                    let Some(mut pointer) = self.record_pointer(base, out)? else {
                        return Ok(None);
                    };
                    let index = self.index(index, out)?;
                    pointer.offset = combined(Binary::Add, pointer.offset, index);
                    Ok(Some(pointer))
                }
                _ => Ok(None),
            },
            AstKind::Cast(TypeName { scalar: Scalar::Struct(number), pointers: 1, .. }, inner) => {
                let (number, inner) = (*number, &**inner);
                if let Some(pointer) = self.record_pointer(inner, out)? {
                    return self.same_record(pointer, number, span).map(Some);
                }
                self.view(number, inner, span, out).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// A pointer to structs of which one is cast to another must be to the same.
    fn same_record(
        &self,
        pointer: RecordPointer,
        number: u16,
        span: Span,
    ) -> Result<RecordPointer> {
        let wanted = self.scalars_of(number, span)?;
        let same = wanted.len() == pointer.leaves.len()
            && wanted.iter().zip(&pointer.leaves).all(|((path, ty), leaf)| {
                *path == leaf.path && kir_type(ty.scalar) == Some(self.arrays[leaf.array].element)
            });
        match same {
            true => Ok(pointer),
            false => {
                Err(unsupported(span, "a pointer to structs of another type is not supported"))
            }
        }
    }

    /// Scalars of an array as vectors.
    fn view(
        &mut self,
        number: u16,
        inner: &Ast,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<RecordPointer> {
        let (array, base) = self.pointer(inner, out)?;
        let wanted = self.scalars_of(number, span)?;
        let element = self.arrays[array].element;
        if wanted.iter().any(|(_, ty)| kir_type(ty.scalar) != Some(element) || ty.pointers > 0) {
            let message = "a pointer to elements of another type is not supported";
            return Err(unsupported(span, message));
        }
        let stride = i128::try_from(wanted.len()).unwrap_or(1);
        let leaves = (0..).zip(wanted);
        let leaves = leaves.map(|(at, (path, _))| Leaf { path, array, stride, at }).collect();
        Ok(RecordPointer { leaves, offset: whole_number(0, span), base: Some(base) })
    }

    /// A variable that holds a pointer to structs.
    pub(super) fn bind_pointer(
        &mut self,
        name: &str,
        pointer: RecordPointer,
        out: &mut Vec<Stmt>,
    ) -> Binding {
        let mut keep = |lowerer: &mut Self, value: Expr| {
            let var = lowerer.new_var(name, Type::LONG);
            out.push(Stmt::Assign(var, value));
            var
        };
        let offset = keep(self, pointer.offset);
        let base = pointer.base.map(|base| keep(self, base));
        Binding::Records(pointer.leaves, offset, base)
    }

    /// `p += i` for a pointer to structs.
    pub(super) fn move_pointer(
        &mut self,
        offset: VarId,
        operator: &str,
        value: &Ast,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Expr> {
        let binary = match operator {
            "+=" => Binary::Add,
            "-=" => Binary::Sub,
            _ => return Err(unsupported(span, "assigning to this pointer is not supported")),
        };
        let index = self.index(value, out)?;
        let moved = combined(binary, self.var(offset, span), index);
        out.push(Stmt::Assign(offset, moved));
        Ok(self.var(offset, span))
    }
}

/// The scalars of the struct at `pointer[index]`.
pub(super) fn pointed(pointer: &RecordPointer, index: Expr, span: Span) -> Places {
    let record = combined(Binary::Add, pointer.offset.clone(), index);
    let place = |leaf: &Leaf| {
        let stride = whole_number(leaf.stride, span);
        let scaled = combined(Binary::Mul, stride, record.clone());
        let within = combined(Binary::Add, scaled, whole_number(leaf.at, span));
        let at = match &pointer.base {
            Some(base) => combined(Binary::Add, base.clone(), within),
            None => within,
        };
        (leaf.path.clone(), Place::Element(Element { array: leaf.array, index: vec![at], span }))
    };
    pointer.leaves.iter().map(place).collect()
}

//! Elements and pointers: what `a[i]`, `*p`, `p + i` and `&a[i]` stand for.

use super::convert::convert;
use super::{Binding, Lowerer, error, unsupported};
use crate::cfront::ast::{Expr as Ast, ExprKind as AstKind};
use crate::cfront::token::Result;
use crate::kir::{ArrayId, Binary, Element, Expr, ExprKind, Stmt, Type, VarId};
use base::Span;

/// What can be assigned to.
#[derive(Clone, Debug)]
pub(super) enum Place {
    Var(VarId),
    Element(Element),
    /// A variable of pointer type: its array and its offset.
    Pointer(ArrayId, VarId),
}

impl Lowerer<'_> {
    /// What an expression on the left of `=` stands for.
    pub(super) fn place(&mut self, expr: &Ast, out: &mut Vec<Stmt>) -> Result<Place> {
        if let Some(places) = self.places(expr, out)? {
            return match &places[..] {
                [(path, place)] if path.is_empty() => Ok(place.clone()),
                _ => Err(unsupported(expr.span, "a struct here is not supported")),
            };
        }
        match &expr.kind {
            AstKind::Name(name) => match self.lookup(name).cloned() {
                Some(Binding::Refused(message)) => Err(unsupported(expr.span, message)),
                Some(Binding::Var(var)) => Ok(Place::Var(var)),
                Some(Binding::Pointer(array, offset)) => Ok(Place::Pointer(array, offset)),
                Some(Binding::Array(array)) if self.arrays[array].dimensions.is_empty() => {
                    Ok(Place::Element(Element { array, index: Vec::new(), span: expr.span }))
                }
                Some(_) => Err(error(expr.span, format!("`{name}` cannot be assigned"))),
                None => Err(error(expr.span, format!("`{name}` is not declared"))),
            },
            AstKind::Index(..) | AstKind::Unary("*", _) => {
                Ok(Place::Element(self.element(expr, out)?))
            }
            _ => Err(unsupported(expr.span, "assigning to this is not supported")),
        }
    }

    /// The element `a[i][j]`, `p[i]` or `*p`.
    pub(super) fn element(&mut self, expr: &Ast, out: &mut Vec<Stmt>) -> Result<Element> {
        let span = expr.span;
        if let Some(places) = self.places(expr, out)? {
            return match places.into_iter().next() {
                Some((path, Place::Element(element))) if path.is_empty() => Ok(element),
                _ => Err(unsupported(span, "this access is not supported")),
            };
        }
        let mut indices = Vec::new();
        let mut base = expr;
        while let AstKind::Index(inner, index) = &base.kind {
            indices.push(index);
            base = inner;
        }
        indices.reverse();
        if let AstKind::Name(name) = &base.kind
            && let Some(Binding::Array(array)) = self.lookup(name).cloned()
            && (!indices.is_empty() || self.arrays[array].dimensions.is_empty())
        {
            if indices.len() != self.arrays[array].dimensions.len() {
                let message = format!("`{name}` with fewer or more indices is not supported");
                return Err(unsupported(span, message));
            }
            let mut index = Vec::new();
            for one in indices {
                index.push(self.index(one, out)?);
            }
            return Ok(Element { array, index, span });
        }
        let (array, offset) = match (&expr.kind, &indices[..]) {
            (AstKind::Unary("*", pointer), _) => self.pointer(pointer, out)?,
            (_, [index]) => {
                let (array, offset) = self.pointer(base, out)?;
                let index = self.index(index, out)?;
                (array, sum(offset, index, span))
            }
            _ => return Err(unsupported(span, "this access is not supported")),
        };
        Ok(Element { array, index: vec![offset], span })
    }

    /// Whether a name is that of a shared variable, which is an array without dimensions.
    pub(super) fn is_shared_variable(&self, name: &str) -> bool {
        matches!(self.lookup(name), Some(Binding::Array(array))
            if self.arrays[*array].dimensions.is_empty())
    }

    pub(super) fn index(&mut self, expr: &Ast, out: &mut Vec<Stmt>) -> Result<Expr> {
        let value = self.value(expr, out)?;
        if value.ty == Type::Float {
            return Err(error(expr.span, "an index must be an integer"));
        }
        Ok(convert(value, Type::LONG))
    }

    /// The array and offset that a pointer expression stands for.
    pub(super) fn pointer(&mut self, expr: &Ast, out: &mut Vec<Stmt>) -> Result<(ArrayId, Expr)> {
        let span = expr.span;
        let zero = Expr { kind: ExprKind::Int(0), ty: Type::LONG, span };
        match &expr.kind {
            AstKind::Member(..) => match self.place(expr, out)? {
                Place::Pointer(array, offset) => Ok((array, self.var(offset, span))),
                _ => Err(error(span, "this member is no pointer")),
            },
            AstKind::Name(name) => match self.lookup(name).cloned() {
                Some(Binding::Refused(message)) => Err(unsupported(span, message)),
                Some(Binding::Pointer(array, offset)) => Ok((array, self.var(offset, span))),
                Some(Binding::Array(array)) => self.decayed(array, zero, span),
                Some(_) => Err(error(span, format!("`{name}` is no pointer"))),
                None => Err(error(span, format!("`{name}` is not declared"))),
            },
            AstKind::Binary(operator @ ("+" | "-"), left, right) => {
                let left_is_pointer = self.is_pointer(left);
                let (pointer, index) = if left_is_pointer { (left, right) } else { (right, left) };
                if *operator == "-" && !left_is_pointer {
                    return Err(unsupported(span, "this pointer arithmetic is not supported"));
                }
                let (array, offset) = self.pointer(pointer, out)?;
                let index = self.index(index, out)?;
                let binary = if *operator == "+" { Binary::Add } else { Binary::Sub };
                let kind = ExprKind::Binary(binary, Box::new(offset), Box::new(index));
                Ok((array, Expr { kind, ty: Type::LONG, span }))
            }
            AstKind::Unary("&", inner) => {
                let Element { array, mut index, .. } = self.element(inner, out)?;
                match index.pop() {
                    Some(last) if index.is_empty() => Ok((array, last)),
                    _ => Err(unsupported(span, "pointers into arrays of arrays are not supported")),
                }
            }
            AstKind::Cast(ty, inner) if ty.pointers == 1 => {
                let (array, offset) = self.pointer(inner, out)?;
                if super::convert::kir_type(ty.scalar) != Some(self.arrays[array].element) {
                    let message = "a pointer to elements of another type is not supported";
                    return Err(unsupported(span, message));
                }
                Ok((array, offset))
            }
            _ => Err(unsupported(span, "this pointer is not supported")),
        }
    }

    fn decayed(&self, array: ArrayId, zero: Expr, span: Span) -> Result<(ArrayId, Expr)> {
        if self.arrays[array].dimensions.len() > 1 {
            return Err(unsupported(span, "pointers into arrays of arrays are not supported"));
        }
        Ok((array, zero))
    }

    /// Whether a member of a struct is a pointer.
    fn is_pointer_member(&self, expr: &Ast) -> bool {
        let mut path = Vec::new();
        let mut base = expr;
        while let AstKind::Member(inner, field) = &base.kind {
            path.insert(0, field.clone());
            base = inner;
        }
        let AstKind::Name(name) = &base.kind else { return false };
        let Some(Binding::Places(places)) = self.lookup(name) else { return false };
        places.iter().any(|(own, place)| *own == path && matches!(place, Place::Pointer(..)))
    }

    /// Whether an expression is of pointer type, by its shape.
    pub(super) fn is_pointer(&self, expr: &Ast) -> bool {
        match &expr.kind {
            AstKind::Name(name) => {
                matches!(self.lookup(name), Some(Binding::Pointer(..) | Binding::Array(_)))
            }
            AstKind::Binary("+" | "-", left, right) => {
                self.is_pointer(left) || self.is_pointer(right)
            }
            AstKind::Unary("&", _) => true,
            AstKind::Member(..) => self.is_pointer_member(expr),
            AstKind::Cast(ty, _) => ty.pointers > 0,
            _ => false,
        }
    }
}

/// `offset + index`, without adding zero.
fn sum(offset: Expr, index: Expr, span: Span) -> Expr {
    if matches!(offset.kind, ExprKind::Int(0)) {
        return index;
    }
    let kind = ExprKind::Binary(Binary::Add, Box::new(offset), Box::new(index));
    Expr { kind, ty: Type::LONG, span }
}

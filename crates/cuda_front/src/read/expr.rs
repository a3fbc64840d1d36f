//! Lowers expressions: side effects become statements before, and the value is pure. `scalars.rs` has those of scalar
//! type, except calls, selects and assignments.

use super::diagnostics::{Result, error, unsupported};
use super::lowerer::Lowerer;
use super::memory_model::{Item, Place, Pointer, Spot, Target, Value};
use super::types::{not, select, to_common_type, truth};
use base::Span;
use cuda::tree::{self, ExprKind as Kind};
use kir::{Binary, Expr, ExprKind, Stmt};

impl Lowerer<'_> {
    /// The value of an expression; its side effects are appended to `out`.
    pub(super) fn value(&mut self, expr: &tree::Expr, out: &mut Vec<Stmt>) -> Result<Value> {
        let span = expr.span;
        match &expr.kind {
            Kind::Read(inner) => self.read_value(inner, span, out),
            Kind::Field(inner, field) if expr.category == tree::Category::Value => {
                let value = self.value(inner, out)?;
                let (first, count) = self.field_range(&inner.ty, *field, span)?;
                Ok(value.into_iter().skip(first).take(count).collect())
            }
            Kind::Select(condition, then, otherwise) => {
                self.select(condition, [then, otherwise], &expr.ty, out)
            }
            Kind::Comma(left, right) => {
                self.effect(left, out)?;
                self.value(right, out)
            }
            Kind::Call(function, arguments) => self.call(*function, arguments, &expr.ty, span, out),
            Kind::CallPointer(callee, arguments) => self.call_through(callee, arguments, expr, out),
            Kind::Construct(parts) => {
                let parts = self.values(parts, out)?;
                Ok(parts.into_iter().flatten().collect())
            }
            Kind::Intrinsic(name, arguments) => self.intrinsic(name, arguments, expr, out),
            Kind::Convert(inner) if matches!(expr.ty, tree::Type::Record(_)) => {
                self.value(inner, out)
            }
            Kind::Step { add, is_prefix: false, place } => {
                let place = self.place(place, out)?;
                self.step(*add, false, &place, span, out)
            }
            Kind::Assign(..) | Kind::AssignOp { .. } | Kind::Step { .. } => {
                self.read_value(expr, span, out)
            }
            _ if matches!(expr.ty, tree::Type::Pointer(_)) => {
                Ok(vec![Item::Pointer(self.pointer_value(expr, out)?)])
            }
            _ => Ok(vec![Item::Scalar(self.scalar_value(expr, out)?)]),
        }
    }

    /// The value of an expression of scalar type.
    pub(super) fn number(&mut self, expr: &tree::Expr, out: &mut Vec<Stmt>) -> Result<Expr> {
        let mut value = self.value(expr, out)?.into_iter();
        match (value.next(), value.next()) {
            (Some(Item::Scalar(value)), None) => Ok(value),
            _ => Err(unsupported(expr.span, "a struct here is not supported")),
        }
    }

    /// The value of an expression of pointer type.
    pub(super) fn pointer(&mut self, expr: &tree::Expr, out: &mut Vec<Stmt>) -> Result<Pointer> {
        match self.value(expr, out)?.into_iter().next() {
            Some(Item::Pointer(pointer)) => Ok(pointer),
            _ => Err(unsupported(expr.span, "this pointer is not supported")),
        }
    }

    /// The truth of an expression.
    pub(super) fn condition(&mut self, expr: &tree::Expr, out: &mut Vec<Stmt>) -> Result<Expr> {
        match self.value(expr, out)?.into_iter().next() {
            Some(Item::Scalar(value)) => Ok(truth(value)),
            Some(Item::Pointer(pointer)) => Ok(not(self.is_null(&pointer, expr.span)?)),
            _ => Err(unsupported(expr.span, "a struct here is not supported")),
        }
    }

    /// The value in a place. Of an assignment it is the assigned value.
    fn read_value(&mut self, place: &tree::Expr, span: Span, out: &mut Vec<Stmt>) -> Result<Value> {
        match &place.kind {
            Kind::Assign(target, value) => self.assign(target, value, span, out),
            Kind::AssignOp { op, ty, place, value } => {
                self.assign_with(*op, ty, [place, value], span, out)
            }
            Kind::Step { add, is_prefix: true, place } => {
                let place = self.place(place, out)?;
                self.step(*add, true, &place, span, out)
            }
            Kind::Comma(left, right) => {
                self.effect(left, out)?;
                self.read_value(right, span, out)
            }
            Kind::Temporary(value) => self.value(value, out),
            Kind::Select(condition, then, otherwise) => {
                let read = |inner: &tree::Expr| tree::Expr {
                    kind: Kind::Read(Box::new(inner.clone())),
                    ty: inner.ty.clone(),
                    category: tree::Category::Value,
                    span: inner.span,
                };
                self.select(condition, [&read(then), &read(otherwise)], &place.ty, out)
            }
            _ => {
                let place = self.place(place, out)?;
                self.read(&place, span, out)
            }
        }
    }

    /// The object that an expression names.
    pub(super) fn place(&mut self, expr: &tree::Expr, out: &mut Vec<Stmt>) -> Result<Place> {
        let span = expr.span;
        match &expr.kind {
            Kind::Local(id) => self.local_place(*id, span),
            Kind::Global(id) => self.global_place(*id, span),
            Kind::Deref(pointer) => {
                let pointer = self.pointer(pointer, out)?;
                self.deref(&pointer, &expr.ty, span)
            }
            Kind::Field(inner, field) => {
                let inner = self.place(inner, out)?;
                self.field_of(&inner, *field, &expr.ty, span)
            }
            Kind::Comma(left, right) => {
                self.effect(left, out)?;
                self.place(right, out)
            }
            Kind::Assign(target, value) => {
                let (place, _) = self.assign_to_place(target, value, span, out)?;
                Ok(place)
            }
            Kind::AssignOp { op, ty, place, value } => {
                let (place, _) = self.compound_assign(*op, ty, [place, value], span, out)?;
                Ok(place)
            }
            Kind::Step { add, is_prefix: true, place } => {
                let place = self.place(place, out)?;
                let place = self.freeze_place(place, out);
                self.step(*add, true, &place, span, out)?;
                Ok(place)
            }
            Kind::Temporary(value) => {
                let value = self.value(value, out)?;
                let place = self.temporary("copy", &expr.ty, span)?;
                self.write(&place, value, span, out)?;
                Ok(place)
            }
            Kind::Select(condition, then, otherwise) => {
                let address = |inner: &tree::Expr| self.address_expr(inner);
                let (then, otherwise) = (address(then), address(otherwise));
                let ty = then.ty.clone();
                let chosen = self.select(condition, [&then, &otherwise], &ty, out)?;
                match chosen.into_iter().next() {
                    Some(Item::Pointer(pointer)) => self.deref(&pointer, &expr.ty, span),
                    _ => Err(unsupported(span, "this place is not supported")),
                }
            }
            Kind::Call(function, arguments) => self.call_place(*function, arguments, expr, out),
            Kind::Text(_) => Err(unsupported(span, "strings are not supported here")),
            _ => Err(unsupported(span, "assigning to this expression is not supported")),
        }
    }

    /// `&inner`.
    pub(super) fn address_expr(&self, inner: &tree::Expr) -> tree::Expr {
        let pointee = tree::Qualified { ty: inner.ty.clone(), is_const: false, is_volatile: false };
        tree::Expr {
            kind: Kind::AddressOf(Box::new(inner.clone())),
            ty: tree::Type::Pointer(std::sync::Arc::new(pointee)),
            category: tree::Category::Value,
            span: inner.span,
        }
    }

    fn pointer_value(&mut self, expr: &tree::Expr, out: &mut Vec<Stmt>) -> Result<Pointer> {
        let span = expr.span;
        match &expr.kind {
            Kind::Null => Ok(Pointer::to(Target::Null, Vec::new())),
            Kind::Function(id) => Ok(Pointer::to(Target::Function(*id), Vec::new())),
            Kind::AddressOf(inner) => {
                let place = self.place(inner, out)?;
                self.address(&place, span)
            }
            Kind::Decay(inner) => {
                let place = self.place(inner, out)?;
                self.check_declared(&place, span)?;
                self.decay(&place, span)
            }
            Kind::PointerAdd(pointer, index) | Kind::PointerSub(pointer, index) => {
                let is_sum = matches!(expr.kind, Kind::PointerAdd(..));
                let operator = if is_sum { Binary::Add } else { Binary::Sub };
                let (pointer, index) = self.in_order([pointer, index], out)?;
                match (pointer.into_iter().next(), index.into_iter().next()) {
                    (Some(Item::Pointer(pointer)), Some(Item::Scalar(index))) => {
                        self.advance(operator, pointer, index, span)
                    }
                    // `i + p`.
                    (Some(Item::Scalar(index)), Some(Item::Pointer(pointer))) => {
                        self.advance(operator, pointer, index, span)
                    }
                    _ => Err(unsupported(span, "this pointer arithmetic is not supported")),
                }
            }
            Kind::Convert(inner) => {
                let tree::Type::Pointer(pointee) = &expr.ty else {
                    return Err(unsupported(span, "this cast is not supported"));
                };
                match &inner.ty {
                    tree::Type::Pointer(_) => {
                        let cast_pointer = self.cast_of_dynamic(inner, &pointee.ty, span, out)?;
                        if let Some(pointer) = cast_pointer {
                            return Ok(pointer);
                        }
                        let pointer = self.pointer(inner, out)?;
                        self.cast(pointer, &pointee.ty, span)
                    }
                    _ => match self.number(inner, out)?.kind {
                        ExprKind::Int(0) => Ok(Pointer::to(Target::Null, Vec::new())),
                        _ => {
                            Err(unsupported(span, "casting integers to pointers is not supported"))
                        }
                    },
                }
            }
            _ => Err(unsupported(span, "this pointer is not supported")),
        }
    }

    /// `c ? a : b`.
    pub(super) fn select(
        &mut self,
        condition: &tree::Expr,
        [then, otherwise]: [&tree::Expr; 2],
        ty: &tree::Type,
        out: &mut Vec<Stmt>,
    ) -> Result<Value> {
        let span = condition.span.to(otherwise.span);
        let condition = self.condition(condition, out)?;
        let (mut first, mut second) = (Vec::new(), Vec::new());
        if matches!(ty, tree::Type::Void) {
            self.effect(then, &mut first)?;
            self.effect(otherwise, &mut second)?;
            out.push(Stmt::If(condition, first, second));
            return Ok(Vec::new());
        }
        let then = self.value(then, &mut first)?;
        let otherwise = self.value(otherwise, &mut second)?;
        if let ([Item::Scalar(one)], [Item::Scalar(other)]) = (&then[..], &otherwise[..])
            && first.is_empty()
            && second.is_empty()
        {
            let (one, other) = to_common_type(one.clone(), other.clone(), self.in_annotation);
            return Ok(vec![Item::Scalar(Expr { span, ..select(condition, one, other) })]);
        }
        if self.in_annotation {
            return Err(error(span, "an annotation must not have side effects"));
        }
        let target = self.temporary("chosen", ty, span)?;
        self.write(&target, then, span, &mut first)?;
        self.write(&target, otherwise, span, &mut second)?;
        out.push(Stmt::If(condition, first, second));
        self.read(&target, span, out)
    }

    /// The place of a variable of the current function.
    fn local_place(&mut self, id: tree::LocalId, span: Span) -> Result<Place> {
        let frame = self.frames.last();
        let known = frame.and_then(|frame| frame.bindings.get(&id)).cloned();
        match known {
            Some(place) => Ok(place),
            None => self.undeclared(id, span),
        }
    }
}

/// A spot that is a value without a place.
pub(super) fn value_spot(item: Item) -> Spot {
    match item {
        Item::Scalar(value) => Spot::Value(value),
        Item::Pointer(pointer) => Spot::Pointer(Box::new(pointer)),
        Item::Copy(array) => Spot::Cell(array, Vec::new()),
    }
}

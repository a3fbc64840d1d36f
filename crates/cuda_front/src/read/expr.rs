//! Lowers expressions: side effects become statements before, and the value is pure.
//!
//! Long: one case for each kind of expression.

use super::diagnostics::{Result, error, unsupported};
use super::intrinsics::is_text;
use super::lowerer::Lowerer;
use super::memory_model::{Item, Place, Pointer, Spot, Target, Value};
use super::types::{alike, boolean, compare, convert, int, not, of_annotation, select, truth};
use base::Span;
use cuda::tree::{self, ExprKind as Kind};
use kir::{Binary, Builtin, Compare, Expr, ExprKind, Stmt, Type, Unary};

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
                let (place, _) = self.assigned_place(target, value, span, out)?;
                Ok(place)
            }
            Kind::AssignOp { op, ty, place, value } => {
                let (place, _) = self.combined_place(*op, ty, [place, value], span, out)?;
                Ok(place)
            }
            Kind::Step { add, is_prefix: true, place } => {
                let place = self.place(place, out)?;
                let place = self.frozen_place(place, out);
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
            _ => Err(unsupported(span, "assigning to this is not supported")),
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
                        self.moved(operator, pointer, index, span)
                    }
                    // `i + p`.
                    (Some(Item::Scalar(index)), Some(Item::Pointer(pointer))) => {
                        self.moved(operator, pointer, index, span)
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
                        let done = self.cast_of_dynamic(inner, &pointee.ty, span, out)?;
                        if let Some(pointer) = done {
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

    fn scalar_value(&mut self, expr: &tree::Expr, out: &mut Vec<Stmt>) -> Result<Expr> {
        let span = expr.span;
        // `assert(c && "text")`: the address of a string is not null.
        if matches!((&expr.kind, &expr.ty), (Kind::Convert(inner), tree::Type::Bool) if is_text(inner))
        {
            return Ok(boolean(true, span));
        }
        match &expr.kind {
            Kind::Int(value) => {
                let ty = self.scalar(&expr.ty).unwrap_or(Type::INT);
                let ty = if self.annotation { of_annotation(ty) } else { ty };
                Ok(int(*value, ty, span))
            }
            Kind::Float(value) => {
                let value = written(*value, &expr.ty);
                Ok(Expr { kind: ExprKind::Float(value), ty: Type::Float, span })
            }
            Kind::Symbol(id) => self.symbol(*id, span),
            Kind::Special(special, axis) => {
                let builtin = builtin(*special);
                // Expressions without a span come from headers (such as a thread's rank in its block), not from the
                // user.
                if expr.span != Span::default() {
                    self.mention(builtin, *axis);
                }
                let kind = ExprKind::Builtin(builtin, *axis);
                Ok(Expr { kind, ty: Type::UNSIGNED, span })
            }
            Kind::PointerDiff(left, right) => {
                let (left, right) = (self.pointer(left, out)?, self.pointer(right, out)?);
                self.difference(&left, &right, span)
            }
            Kind::Convert(inner) => self.converted(inner, &expr.ty, span, out),
            Kind::Unary(operator, inner) => self.unary(*operator, inner, span, out),
            Kind::Binary(operator, left, right) => {
                let (left, right) = self.numbers([left, right], out)?;
                self.combine(*operator, left, right, span)
            }
            Kind::Compare(operator, left, right) => {
                self.comparison(*operator, [left, right], span, out)
            }
            Kind::And(left, right) => self.logical(true, [left, right], span, out),
            Kind::Or(left, right) => self.logical(false, [left, right], span, out),
            Kind::Spec(spec) if self.annotation => self.spec_expr(spec, span),
            Kind::Spec(_) => Err(error(span, "this belongs in an annotation")),
            Kind::Null | Kind::Text(_) => Err(unsupported(span, "this value is not supported")),
            _ => Err(unsupported(span, "this expression is not supported")),
        }
    }

    /// Two numbers in order of evaluation.
    pub(super) fn numbers(
        &mut self,
        [left, right]: [&tree::Expr; 2],
        out: &mut Vec<Stmt>,
    ) -> Result<(Expr, Expr)> {
        let spans = [left.span, right.span];
        let (mut left, mut right) = self.in_order([left, right], out)?;
        // Not copied: a sum of thousands of summands would be copied once for each of them.
        match (left.pop().filter(|_| left.is_empty()), right.pop().filter(|_| right.is_empty())) {
            (Some(Item::Scalar(left)), Some(Item::Scalar(right))) => Ok((left, right)),
            (Some(Item::Scalar(_)), _) => {
                Err(unsupported(spans[1], "this value is not supported here"))
            }
            _ => Err(unsupported(spans[0], "this value is not supported here")),
        }
    }

    fn converted(
        &mut self,
        inner: &tree::Expr,
        ty: &tree::Type,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Expr> {
        if matches!(inner.ty, tree::Type::Pointer(_)) {
            return match ty {
                tree::Type::Bool => self.condition(inner, out),
                _ => Err(unsupported(span, "casting pointers to integers is not supported")),
            };
        }
        let Some(wanted) = self.scalar(ty) else {
            return Err(unsupported(span, "this cast is not supported"));
        };
        let value = self.number(inner, out)?;
        if self.annotation && wanted == Type::Bool {
            return Ok(truth(value));
        }
        Ok(Expr { span, ..convert(value, wanted) })
    }

    fn unary(
        &mut self,
        operator: tree::Unary,
        inner: &tree::Expr,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Expr> {
        if operator == tree::Unary::Not {
            return Ok(Expr { span, ..not(self.condition(inner, out)?) });
        }
        let value = self.number(inner, out)?;
        let ty = if self.annotation { of_annotation(value.ty) } else { value.ty };
        let value = convert(value, ty);
        let kind = match (operator, &value.kind) {
            (tree::Unary::Neg, ExprKind::Int(number)) => ExprKind::Int(-number),
            (tree::Unary::Neg, _) => ExprKind::Unary(Unary::Neg, Box::new(value)),
            _ => ExprKind::Unary(Unary::Complement, Box::new(value)),
        };
        // The negative of an unsigned literal wraps to its width.
        if let (ExprKind::Int(number), Type::Int { signed: false, .. }) = (&kind, ty) {
            return Ok(int(ty.wrap(*number), ty, span));
        }
        Ok(Expr { kind, ty, span })
    }

    /// `&&` and `||`: the right side is evaluated only if needed.
    fn logical(
        &mut self,
        is_and: bool,
        [left, right]: [&tree::Expr; 2],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Expr> {
        let left = self.condition(left, out)?;
        let mut effects = Vec::new();
        let right = self.condition(right, &mut effects)?;
        if effects.is_empty() {
            let kind = match is_and {
                true => ExprKind::And(Box::new(left), Box::new(right)),
                false => ExprKind::Or(Box::new(left), Box::new(right)),
            };
            return Ok(Expr { kind, ty: Type::Bool, span });
        }
        let result = self.keep("condition", left, out);
        effects.push(Stmt::Assign(result, right));
        let tested = self.var(result, span);
        out.push(match is_and {
            true => Stmt::If(tested, effects, Vec::new()),
            false => Stmt::If(tested, Vec::new(), effects),
        });
        Ok(self.var(result, span))
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
            let (one, other) = alike(one.clone(), other.clone(), self.annotation);
            return Ok(vec![Item::Scalar(Expr { span, ..select(condition, one, other) })]);
        }
        if self.annotation {
            return Err(error(span, "an annotation must not have side effects"));
        }
        let target = self.temporary("chosen", ty, span)?;
        self.write(&target, then, span, &mut first)?;
        self.write(&target, otherwise, span, &mut second)?;
        out.push(Stmt::If(condition, first, second));
        self.read(&target, span, out)
    }

    /// A comparison of numbers or pointers.
    fn comparison(
        &mut self,
        operator: tree::Compare,
        [left, right]: [&tree::Expr; 2],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Expr> {
        let operator = super::arithmetic::comparison(operator);
        let (left, right) = self.in_order([left, right], out)?;
        match (&left[..], &right[..]) {
            ([Item::Pointer(one)], [Item::Pointer(other)]) => {
                self.compared(operator, one, other, span)
            }
            ([Item::Scalar(one)], [Item::Scalar(other)]) => {
                let (one, other) = self.compared_sides(operator, one.clone(), other.clone());
                Ok(Expr { span, ..compare(operator, one, other) })
            }
            _ => Err(unsupported(span, "comparing these is not supported")),
        }
    }

    /// Both sides of a comparison in one type; in a claim, an equation with an integer element has the element's
    /// type.
    fn compared_sides(&self, operator: Compare, left: Expr, right: Expr) -> (Expr, Expr) {
        if !self.claiming || !matches!(operator, Compare::Eq | Compare::Ne) {
            return alike(left, right, self.annotation);
        }
        let (left, right) = (bare(left), bare(right));
        let of_element = |one: &Expr| {
            let is_element = matches!(one.kind, ExprKind::Element(..));
            Some(one.ty).filter(|ty| is_element && matches!(ty, Type::Int { .. }))
        };
        match (of_element(&left), of_element(&right)) {
            (Some(one), Some(other)) if one == other => (left, right),
            (Some(ty), None) if right.ty != Type::Float => (left, convert(right, ty)),
            (None, Some(ty)) if left.ty != Type::Float => (convert(left, ty), right),
            _ => alike(left, right, true),
        }
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

/// An element without the conversion that annotations add.
fn bare(expr: Expr) -> Expr {
    match expr.kind {
        ExprKind::Convert(inner)
            if expr.ty == Type::Whole && matches!(inner.kind, ExprKind::Element(..)) =>
        {
            *inner
        }
        _ => expr,
    }
}

/// A literal as written: over the reals, `0.1f` is a tenth. A float that is an integer stays that integer: most of
/// those are written with all their digits, and the shortest decimal may differ.
fn written(value: f64, ty: &tree::Type) -> f64 {
    #[expect(clippy::cast_possible_truncation, reason = "it was rounded to this type already")]
    let single = value as f32;
    match ty {
        tree::Type::Float(tree::FloatKind::Float)
            if single.is_finite() && single.fract() != 0.0 =>
        {
            single.to_string().parse().unwrap_or(value)
        }
        _ => value,
    }
}

fn builtin(special: tree::Special) -> Builtin {
    match special {
        tree::Special::ThreadIdx => Builtin::Thread,
        tree::Special::BlockIdx => Builtin::Block,
        tree::Special::BlockDim => Builtin::BlockDim,
        tree::Special::GridDim => Builtin::GridDim,
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

//! Inlines calls of `__device__` functions: binds parameters, lowers the body, and asserts the function's contract.
//!
//! A call through a pointer becomes a test and an inlined call for each function that the pointer may hold. Calls
//! nested deeper than [`MAX_CALLS`], and so recursion, are refused.

use super::claims::About;
use super::contracts::InitialParameters;
use super::diagnostics::{Result, error, unsupported};
use super::lowerer::{Exit, Lowerer};
use super::memory_model::{Item, Place, Spot, Target, Value};
use super::returns::has_loop_exit;
use super::switch;
use super::types::{boolean, convert};
use base::Span;
use cuda::tree::{self, ClauseKind, Function, FunctionId, StmtKind};
use kir::{Stmt, Type};
use std::rc::Rc;

/// Calls nested deeper than this are refused.
const MAX_CALLS: usize = 32;
/// Limit on all inlined calls; functions that call each other twice grow exponentially.
const MAX_INLINED: usize = 20_000;

impl Lowerer<'_> {
    /// A call for its value.
    pub(super) fn call(
        &mut self,
        id: FunctionId,
        arguments: &[tree::Expr],
        ty: &tree::Type,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Value> {
        if self.in_annotation {
            return self.definition(id, arguments, span).map(|value| vec![Item::Scalar(value)]);
        }
        if let Some(call) = self.monoid_call(id, arguments, span, out)? {
            return Ok(vec![Item::Scalar(call)]);
        }
        if let Some(value) = self.inline_expression(id, arguments, span, out)? {
            return Ok(value);
        }
        match self.inline(id, arguments, span, out)? {
            (Some(place), false) => self.read(&place, span, out),
            (Some(place), true) => {
                let place = self.referenced_place(&place, ty, span, out)?;
                self.read(&place, span, out)
            }
            (None, _) => Ok(super::memory::nothing(span)),
        }
    }

    /// Lowers a call of a function that only returns an expression of its parameters, without changing them. The
    /// arguments are substituted in it, so that constants stay constants.
    fn inline_expression(
        &mut self,
        id: FunctionId,
        arguments: &[tree::Expr],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Option<Value>> {
        let function = self.function(id, span)?;
        let [tree::Stmt { kind: StmtKind::Return(Some(value)), .. }] = &function.body[..] else {
            return Ok(None);
        };
        let mut refers = false;
        value.walk(&mut |inner| {
            if let tree::ExprKind::Local(id) = inner.kind {
                refers |= function.locals.get(id).is_none_or(|one| one.is_reference);
            }
        });
        if refers || function.returns_reference || !function.clauses.is_empty() {
            return Ok(None);
        }
        let places = self.checked_arguments(id, &function, arguments, span, out)?;
        let exit = Exit { returned: None, is_reference: false, flag: None };
        self.push_frame(id, &function, Some(exit));
        for (parameter, place) in function.parameters.iter().zip(places) {
            self.bind(*parameter, place);
        }
        let first = out.len();
        let value = self.value(value, out);
        self.frames.pop();
        let value = self.with_call_span(&function, first, value, span, out)?;
        Ok(Some(value.into_iter().map(|item| item_with_call_span(&function, item, span)).collect()))
    }

    /// A call through a pointer: a test and a call for each function that it may hold.
    pub(super) fn call_through(
        &mut self,
        callee: &tree::Expr,
        arguments: &[tree::Expr],
        expr: &tree::Expr,
        out: &mut Vec<Stmt>,
    ) -> Result<Value> {
        let span = expr.span;
        let pointer = self.pointer(callee, out)?;
        if pointer.targets.is_empty() {
            self.use_without_target.get_or_insert(span);
            return match expr.ty {
                tree::Type::Void => Ok(super::memory::nothing(span)),
                _ => self.unknown_value(&expr.ty, span, out),
            };
        }
        if let [Target::Function(id)] = pointer.targets[..] {
            return self.call(id, arguments, &expr.ty, span, out);
        }
        let Some(tag) = &pointer.tag else {
            return Err(unsupported(span, "not supported here: a call through this pointer"));
        };
        let result = match expr.ty {
            tree::Type::Void => None,
            _ => Some(self.temporary("called", &expr.ty, span)?),
        };
        let mut parts = Vec::new();
        for target in &pointer.targets {
            let mut part = Vec::new();
            match target {
                Target::Function(id) => {
                    let value = self.call(*id, arguments, &expr.ty, span, &mut part)?;
                    if let Some(result) = &result {
                        self.write(result, value, span, &mut part)?;
                    }
                }
                // A call of a null pointer must not happen, and nothing is executed after it.
                Target::Null => {
                    part.extend([Stmt::Assert(boolean(false, span)), Stmt::Return]);
                }
                _ => {
                    return Err(unsupported(
                        span,
                        "not supported here: a call through this pointer",
                    ));
                }
            }
            parts.push(part);
        }
        out.extend(super::memory::chain(tag, parts));
        match result {
            Some(result) => self.read(&result, span, out),
            None => Ok(super::memory::nothing(span)),
        }
    }

    /// A call of a function that returns a reference.
    pub(super) fn call_place(
        &mut self,
        id: FunctionId,
        arguments: &[tree::Expr],
        expr: &tree::Expr,
        out: &mut Vec<Stmt>,
    ) -> Result<Place> {
        let span = expr.span;
        match self.inline(id, arguments, span, out)? {
            (Some(place), true) => self.referenced_place(&place, &expr.ty, span, out),
            (Some(place), false) => Ok(place),
            (None, _) => Err(unsupported(span, "this call is not supported here")),
        }
    }

    /// The place behind a reference, which is stored as a pointer.
    fn referenced_place(
        &mut self,
        place: &Place,
        ty: &tree::Type,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Place> {
        match self.read(place, span, out)?.into_iter().next() {
            Some(Item::Pointer(pointer)) => self.deref(&pointer, ty, span),
            _ => Err(unsupported(span, "this reference is not supported")),
        }
    }

    /// Assigns the span of the call to a header function's statements and errors.
    fn with_call_span<T>(
        &self,
        function: &Function,
        first: usize,
        result: Result<T>,
        span: Span,
        out: &mut [Stmt],
    ) -> Result<T> {
        if function.span == Span::default() {
            super::spans::set_missing_spans(out.get_mut(first..).unwrap_or_default(), span);
        }
        result.map_err(|mut refusal| {
            if refusal.primary.span == Span::default() {
                refusal.primary.span = span;
            }
            refusal
        })
    }

    /// A function without `switch`.
    pub(super) fn function(&mut self, id: FunctionId, span: Span) -> Result<Rc<Function>> {
        if let Some(known) = self.functions.get(&id) {
            return Ok(Rc::clone(known));
        }
        let Some(function) = self.program.functions.get(id) else {
            return Err(unsupported(span, "this function is not supported"));
        };
        let function = Rc::new(switch::without_switch(function)?);
        self.functions.insert(id, Rc::clone(&function));
        Ok(function)
    }

    /// Inlines the body of a function. Returns the place of its value, and `true` if that holds a pointer to the value.
    fn inline(
        &mut self,
        id: FunctionId,
        arguments: &[tree::Expr],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<(Option<Place>, bool)> {
        let function = self.function(id, span)?;
        let places = self.checked_arguments(id, &function, arguments, span, out)?;
        let exit = self.new_exit(&function, span, out)?;
        let (returned, is_reference) = (exit.returned.clone(), exit.is_reference);
        self.push_frame(id, &function, Some(exit));
        for (parameter, place) in function.parameters.iter().zip(places) {
            self.bind(*parameter, place);
        }
        let first = out.len();
        let result = self.body(id, &function, returned.as_ref(), span, out);
        self.frames.pop();
        self.with_call_span(&function, first, result, span, out)?;
        Ok((returned, is_reference))
    }

    /// Binds the parameters of a function to arguments, if it can be called here.
    fn checked_arguments(
        &mut self,
        id: FunctionId,
        function: &Function,
        arguments: &[tree::Expr],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Vec<Place>> {
        let name = &function.name;
        if self.frames.iter().any(|frame| frame.id == id) || self.frames.len() > MAX_CALLS {
            return Err(unsupported(span, format!("recursion in `{name}` is not supported")));
        }
        self.inlined_calls += 1;
        if self.inlined_calls > MAX_INLINED || deadline::is_over() {
            return Err(unsupported(span, "this many nested calls are not supported"));
        }
        if function.parameters.len() != arguments.len() {
            return Err(error(span, format!("`{name}` takes other arguments")));
        }
        self.arguments(function, arguments, out)
    }

    fn body(
        &mut self,
        id: FunctionId,
        function: &Rc<Function>,
        returned: Option<&Place>,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let before = self.assert_preconditions(function, out)?;
        self.inlined_body(&function.body, out)?;
        match self.is_modular(function, &before, out) {
            true => self.assume_contract(id, function, before, span, out),
            false => self.assert_postconditions(function, returned, before, out),
        }
    }

    /// The destination of a function's value.
    fn new_exit(&mut self, function: &Function, span: Span, out: &mut Vec<Stmt>) -> Result<Exit> {
        let flag = match has_loop_exit(&function.body) {
            true => Some(self.keep("returned", boolean(false, span), out)),
            false => None,
        };
        let is_reference = function.returns_reference;
        let returned = match (is_reference, &function.returns) {
            (true, ty) => {
                let pointee =
                    tree::Qualified { ty: ty.clone(), is_const: false, is_volatile: false };
                let ty = tree::Type::Pointer(std::sync::Arc::new(pointee));
                Some(self.temporary(&function.name, &ty, span)?)
            }
            (false, tree::Type::Void) => None,
            (false, ty) => Some(self.temporary(&function.name, ty, span)?),
        };
        Ok(Exit { returned, is_reference, flag })
    }

    /// Binds the parameters of a function. All arguments are computed before any of them is assigned.
    fn arguments(
        &mut self,
        function: &Function,
        arguments: &[tree::Expr],
        out: &mut Vec<Stmt>,
    ) -> Result<Vec<Place>> {
        let mut places = Vec::new();
        for (id, argument) in function.parameters.iter().zip(arguments) {
            let Some(parameter) = function.locals.get(*id) else {
                return Err(unsupported(argument.span, "this parameter is not supported"));
            };
            if parameter.is_reference {
                places.push(self.reference(argument, &parameter.ty, out)?);
                continue;
            }
            let value = self.value(argument, out)?;
            let place = self.temporary(&parameter.name, &parameter.ty, argument.span)?;
            self.write(&place, value, argument.span, out)?;
            places.push(place);
        }
        Ok(places)
    }

    /// Asserts the preconditions of an inlined function before it. If it has claims, the parameters' current values
    /// are kept.
    fn assert_preconditions(
        &mut self,
        function: &Function,
        out: &mut Vec<Stmt>,
    ) -> Result<InitialParameters> {
        for clause in &function.clauses {
            match &clause.kind {
                ClauseKind::Requires(condition) => {
                    let stated = self.scalar_claims(condition, clause.span)?;
                    out.extend(stated.into_iter().map(Stmt::Assert));
                }
                ClauseKind::Ensures(_) | ClauseKind::Extent(..) => {}
                ClauseKind::Footprint { .. } => {
                    let why = "`reads` and `writes` are not supported here".to_owned();
                    self.leave_open(About::Body, clause.span, why);
                }
                ClauseKind::Unfollowed { is_postcondition, why } => {
                    let about = super::claims::about(*is_postcondition);
                    self.leave_open(about, clause.span, why.clone());
                }
                _ => return Err(error(clause.span, "this clause belongs to no function")),
            }
        }
        let mut before = InitialParameters::default();
        if !function.clauses.iter().any(|clause| matches!(clause.kind, ClauseKind::Ensures(_))) {
            return Ok(before);
        }
        for id in &function.parameters {
            let frame = self.frames.last();
            let place = frame.and_then(|frame| frame.bindings.get(id)).cloned();
            let Some(parameter) = function.locals.get(*id) else { continue };
            let Some(place) = place.filter(|_| !parameter.is_reference) else { continue };
            let is_scalar = matches!(&place.choices[..], [spots] if matches!(spots[..], [Spot::Var(_) | Spot::Slot(_)]));
            if is_scalar {
                let value = self.read(&place, parameter.span, out)?;
                let kept = self.temporary(&parameter.name, &parameter.ty, parameter.span)?;
                self.write(&kept, value, parameter.span, out)?;
                before.insert(*id, kept);
            }
        }
        Ok(before)
    }

    /// Asserts the claims of an inlined function after it, with the parameters' values of `before`.
    fn assert_postconditions(
        &mut self,
        function: &Function,
        returned: Option<&Place>,
        before: InitialParameters,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let var = returned.and_then(|place| match &place.choices[..] {
            [spots] => match spots[..] {
                [Spot::Var(var)] => Some(var),
                _ => None,
            },
            _ => None,
        });
        for (id, place) in before {
            self.bind(id, place);
        }
        for clause in &function.clauses {
            let ClauseKind::Ensures(condition) = &clause.kind else { continue };
            self.results.extend(var);
            let stated = self.scalar_claims(condition, clause.span);
            self.results.clear();
            out.extend(stated?.into_iter().map(Stmt::Assert));
        }
        Ok(())
    }

    /// Lowers a call of a declared monoid to [`kir::ExprKind::Combine`], so that proofs can use its laws. `None` if the
    /// function is no monoid, or if evaluating it could fail.
    fn monoid_call(
        &mut self,
        id: FunctionId,
        arguments: &[tree::Expr],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Option<kir::Expr>> {
        let monoid =
            self.monoids.iter().find(|(one, monoid)| *one == id && is_total(&monoid.result));
        let Some((_, monoid)) = monoid.cloned().filter(|_| arguments.len() == 2) else {
            return Ok(None);
        };
        let ty = monoid.result.ty;
        let mut values = Vec::new();
        for value in self.values(arguments, out)? {
            match value.into_iter().next() {
                Some(Item::Scalar(value)) => values.push(convert(value, ty)),
                _ => return Ok(None),
            }
        }
        let kind = kir::ExprKind::Combine(std::sync::Arc::new(monoid), values);
        Ok(Some(kir::Expr { kind, ty, span }))
    }
}

/// Assigns the span of the call to the value of a header function.
fn item_with_call_span(function: &Function, item: Item, span: Span) -> Item {
    match item {
        Item::Scalar(mut value) if function.span == Span::default() => {
            super::spans::set_in_expr(&mut value, span);
            Item::Scalar(value)
        }
        other => other,
    }
}

/// Returns `true` if an expression has a value for all values of its variables.
fn is_total(expr: &kir::Expr) -> bool {
    use kir::{Binary, ExprKind};
    let mut total = true;
    kir::visit(expr, &mut |inner| {
        total &= match &inner.kind {
            ExprKind::Binary(operator, ..) => {
                !matches!(operator, Binary::Div | Binary::Rem | Binary::Shl | Binary::Shr)
            }
            ExprKind::Element(..) | ExprKind::Quantified(..) | ExprKind::Fold(_) => false,
            _ => true,
        };
    });
    total
}

/// Returns `true` for types that a function called in an annotation may take and return: reals and truth values.
pub(super) fn is_real(ty: Option<Type>) -> bool {
    matches!(ty, Some(Type::Float | Type::Bool))
}

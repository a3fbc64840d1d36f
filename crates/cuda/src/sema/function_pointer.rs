//! Pointers to functions (\[conv.func\], \[expr.call\]/1): made from names, and calls through them.
//!
//! The function in a pointer is found when calls are inlined; only types are checked here. A function with references
//! among its parameters, and an overloaded one, is refused as a value.

use super::analyser::Analyser;
use super::operand::{Operand, value};
use super::scope::{DeclId, Entity};
use super::types::{QType, pointer};
use crate::tree::{Expr, ExprKind, Type};
use crate::{Result, error, unsupported};
use base::Span;
use std::sync::Arc;

impl<'a> Analyser<'a> {
    /// The name of a function that is not called.
    pub(super) fn function_value(
        &mut self,
        decl: DeclId,
        word: &str,
        span: Span,
    ) -> Result<Operand> {
        let refused = |why: &str| {
            Err(unsupported(
                span,
                format!("not supported here: the function `{word}` as a value{why}"),
            ))
        };
        let Some(known) = self.decls.get(decl) else { return refused("") };
        if known.ast.specifiers.is_global {
            return refused(", which is a kernel");
        }
        if known.member.is_some() {
            return refused(", which is a member");
        }
        let signature = match known.signature.clone() {
            Some(signature) => signature?,
            None => return refused(", which is a template"),
        };
        let Some(returns) = signature.returns.clone() else { return refused("") };
        let is_plain = |ty: &QType| !ty.is_reference();
        if !signature.parameters.iter().all(is_plain) || !is_plain(&returns) {
            return refused(", which takes or returns references");
        }
        let parameters =
            signature.parameters.iter().map(|parameter| parameter.ty.clone()).collect();
        let ty = pointer(Type::Function(Arc::new((returns.ty, parameters))), false, false);
        let function = self.function_of(decl, None, span)?;
        self.remember_call(function);
        Ok(Operand::new(value(ExprKind::Function(function), ty, span)))
    }

    /// Returns `true` if a function name that is not called is overloaded.
    pub(super) fn is_overloaded(found: &[Entity]) -> bool {
        found.iter().filter(|one| matches!(one, Entity::Function(_))).count() > 1
    }

    /// A call through a pointer; a call of a known function becomes a plain call.
    pub(super) fn call_pointer(
        &mut self,
        callee: Operand,
        arguments: Vec<Operand>,
        span: Span,
    ) -> Result<Operand> {
        let callee = self.rvalue(callee)?;
        let signature = match &callee.ty {
            Type::Pointer(to) => match &to.ty {
                Type::Function(signature) => Arc::clone(signature),
                _ => return Err(error(span, "this is not a function")),
            },
            _ => return Err(error(span, "this is not a function")),
        };
        let (returns, parameters) = signature.as_ref();
        if parameters.len() != arguments.len() {
            return Err(error(span, format!("expected {} arguments", parameters.len())));
        }
        let mut made = Vec::new();
        for (argument, ty) in arguments.into_iter().zip(parameters) {
            let at = argument.span();
            made.push(self.implicit(argument, &QType::plain(ty.clone()), at)?);
        }
        match callee.kind {
            ExprKind::Function(function) => self.make_call(function, made, span),
            _ => {
                let kind = ExprKind::CallPointer(Box::new(callee), made);
                Ok(Operand::new(value(kind, returns.clone(), span)))
            }
        }
    }

    /// The function named by a template argument, if the parameter is a pointer to one.
    pub(super) fn function_argument(&mut self, found: Operand, ty: &Type) -> Result<Expr> {
        let span = found.span();
        let found = self.rvalue(found)?;
        match found.kind {
            ExprKind::Function(_) if found.ty == *ty => Ok(found),
            ExprKind::Function(_) => Err(error(span, "this function has another type")),
            _ => Err(unsupported(span, "not supported here: this argument of a template")),
        }
    }
}

/// Returns `true` if values of a type are addresses of functions.
pub(super) fn is_function_pointer(ty: &Type) -> bool {
    matches!(ty, Type::Pointer(to) if matches!(to.ty, Type::Function(_)))
}

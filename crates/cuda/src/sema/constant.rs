//! Constant expressions (\[expr.const\]) and variables that are constants (\[dcl.constexpr\]).

use super::analyser::Analyser;
use super::declarations::Variable;
use super::evaluate::{Evaluator, NoValue, Number};
use super::operand::value;
use super::scope::Entity;
use super::types::{QType, is_arithmetic};
use crate::syntax::ast;
use crate::tree::{Expr, ExprKind, Type};
use crate::{Result, error, unsupported};
use base::Span;

impl<'a> Analyser<'a> {
    /// The value of an expression that must be constant: a literal, or made of symbols.
    pub(super) fn constant_operand(&mut self, expr: &'a ast::Expr) -> Result<Expr> {
        let found = self.value_of(expr)?;
        self.fold_known(found)
    }

    /// A literal for an expression with a known value; other expressions stay.
    pub(super) fn fold_known(&mut self, expr: Expr) -> Result<Expr> {
        if matches!(expr.kind, ExprKind::Int(_) | ExprKind::Float(_)) {
            return Ok(expr);
        }
        let (ty, span) = (expr.ty.clone(), expr.span);
        Ok(match self.evaluate(&expr)? {
            Ok(Number::Int(number)) => value(ExprKind::Int(number), ty, span),
            Ok(Number::Float(number)) => value(ExprKind::Float(number), ty, span),
            Err(_) => expr,
        })
    }

    /// The number an expression evaluates to; `None` if it depends on symbols.
    pub(super) fn integer_constant(&mut self, expr: &Expr) -> Result<Option<i128>> {
        match self.evaluate(expr)? {
            Ok(Number::Int(number)) => Ok(Some(number)),
            Ok(Number::Float(_)) => Err(error(expr.span, "expected an integer")),
            Err(NoValue::Symbolic) => Ok(None),
            Err(NoValue::Unknown(span, why)) => Err(unsupported(span, why)),
            Err(NoValue::Undefined(span, why)) => Err(error(span, why)),
            Err(NoValue::Needs(_)) => Err(unsupported(expr.span, "this is not a constant")),
        }
    }

    /// A number that must be known.
    pub(super) fn required_constant(&mut self, expr: &'a ast::Expr) -> Result<i128> {
        let found = self.constant_operand(expr)?;
        match self.integer_constant(&found)? {
            Some(number) => Ok(number),
            None => Err(unsupported(expr.span, "this constant depends on a symbolic size")),
        }
    }

    /// Evaluates; reads bodies of called functions on demand.
    pub(super) fn evaluate(&mut self, expr: &Expr) -> Result<std::result::Result<Number, NoValue>> {
        for _ in 0..super::analyser::MAX_INSTANCE_DEPTH {
            let mut evaluator = Evaluator::new(&self.program, &self.bodies, &self.constexpr);
            match evaluator.value(expr) {
                Err(NoValue::Needs(function)) => {
                    let span = expr.span;
                    self.with_instance_limit(span, |one| {
                        one.read_now(function);
                        Ok(())
                    })?;
                }
                other => return Ok(other),
            }
        }
        Ok(Err(NoValue::Unknown(expr.span, "this is not a constant")))
    }

    /// A variable of file or class scope that is `const` or `constexpr` and not in device memory: its value, or the
    /// reason why it has none.
    pub(super) fn constant_variable(
        &mut self,
        variables: &'a ast::Variables,
        declarator: &'a ast::Declarator,
    ) -> Result<Entity> {
        let span = declarator.name.parts.last().map_or(Span::default(), |one| one.name.span);
        let ty = self.variable_type(declarator)?;
        let is_constant = ty.is_const || variables.specifiers.is_constexpr;
        let value = self.constant_value(&ty, declarator, span);
        let value = match (value, is_constant) {
            (Err(why), _) => Err(why),
            (_, false) => Err(unsupported(span, "this variable belongs to the host")),
            (Ok(value), true) => Ok(value),
        };
        Ok(Entity::Variable(self.variables.push(Variable { value })))
    }

    fn constant_value(
        &mut self,
        ty: &QType,
        declarator: &'a ast::Declarator,
        span: Span,
    ) -> Result<Expr> {
        let Some(init) = &declarator.init else {
            return Err(unsupported(span, "this variable belongs to the host"));
        };
        let is_number = is_arithmetic(&ty.ty) || matches!(ty.ty, Type::Enum(_));
        if !is_number || ty.is_reference() {
            let message = "constants of the host that are not numbers are not supported";
            return Err(unsupported(span, message));
        }
        let made = self.scalar_init(&ty.ty, init, span)?;
        self.known_value(made, span)
    }

    /// A literal or an expression of symbols; an error for anything else.
    pub(super) fn known_value(&mut self, made: Expr, span: Span) -> Result<Expr> {
        let ty = made.ty.clone();
        match self.evaluate(&made)? {
            Ok(Number::Int(number)) => Ok(value(ExprKind::Int(number), ty, span)),
            Ok(Number::Float(number)) => Ok(value(ExprKind::Float(number), ty, span)),
            Err(NoValue::Symbolic) => Ok(made),
            Err(NoValue::Unknown(span, why)) => Err(unsupported(span, why)),
            Err(NoValue::Undefined(span, why)) => Err(error(span, why)),
            Err(NoValue::Needs(_)) => Err(unsupported(span, "this is not a constant")),
        }
    }
}

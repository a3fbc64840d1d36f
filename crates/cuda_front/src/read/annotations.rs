//! Lowers expressions that only annotations have: quantifiers, folds, references to other moments and other threads,
//! predicates.

use super::diagnostics::{Result, error, unsupported};
use super::expr::value_spot;
use super::inline::is_real;
use super::lowerer::Lowerer;
use super::memory_model::{Item, Place};
use super::types::{convert, not, truth, whole};
use base::Span;
use cuda::tree::{self, FunctionId, Label, LocalId, SpecExpr, StmtKind};
use kir::{Binary, Expr, ExprKind, Fold, FoldOp, Quantifier, Type, Unary, When, visit};
use std::sync::Arc;

impl Lowerer<'_> {
    /// Lowers an expression that only annotations have.
    pub(super) fn annotation_expr(&mut self, spec: &SpecExpr, span: Span) -> Result<Expr> {
        match spec {
            SpecExpr::Quantified(quantifier, names, body) => {
                self.quantified(*quantifier, names, body, span)
            }
            SpecExpr::Fold(fold) => self.lower_fold(fold, span),
            SpecExpr::Result => self.function_result(span),
            SpecExpr::At(inner, label) => self.at_moment(inner, *label, span),
            SpecExpr::Other(inner) => self.other_thread_value(inner, span),
            SpecExpr::Implies(left, right) => {
                let left = self.annotation_condition(left)?;
                let right = self.annotation_condition(right)?;
                Ok(or(Expr { span, ..not(left) }, right, span))
            }
            SpecExpr::Iff(left, right) => {
                let left = self.annotation_condition(left)?;
                let right = self.annotation_condition(right)?;
                // Both sides occur twice.
                refuse_large([&left, &right], span)?;
                let both = and(left.clone(), right.clone(), span);
                let none = and(Expr { span, ..not(left) }, Expr { span, ..not(right) }, span);
                Ok(or(both, none, span))
            }
            SpecExpr::Function(name, arguments) => self.annotation_function(name, arguments, span),
            SpecExpr::Predicate(number, arguments) => self.predicate(*number, arguments, span),
            SpecExpr::Access(word, array) => self.access_word(word, array, span),
        }
    }

    fn quantified(
        &mut self,
        quantifier: tree::Quantifier,
        names: &[LocalId],
        body: &tree::Expr,
        span: Span,
    ) -> Result<Expr> {
        let vars = self.bind_quantified(names);
        let body = Box::new(self.annotation_condition(body)?);
        let quantifier = match quantifier {
            tree::Quantifier::Forall => Quantifier::Forall,
            tree::Quantifier::Exists => Quantifier::Exists,
        };
        let kind = ExprKind::Quantified(quantifier, vars, body);
        Ok(Expr { kind, ty: Type::Bool, span })
    }

    /// `\result`.
    fn function_result(&self, span: Span) -> Result<Expr> {
        let message = "only a `__device__` function that returns a value has a result";
        let var = self.results.last().ok_or_else(|| error(span, message))?;
        Ok(self.var(*var, span))
    }

    /// `\old(e)` and `\at(e, Label)`: elements in `e` are those at another moment.
    fn at_moment(&mut self, inner: &tree::Expr, label: Label, span: Span) -> Result<Expr> {
        let when = match label {
            Label::Old => When::Before,
            Label::Here => When::Here,
            Label::LoopEntry if self.in_loop_clause => When::LoopEntry,
            Label::LoopEntry => {
                return Err(error(span, "`LoopEntry` belongs in a loop invariant"));
            }
        };
        let outer = std::mem::replace(&mut self.when, when);
        let value = self.lower_annotation(|lowerer, out| lowerer.number(inner, out));
        self.when = outer;
        value
    }

    /// The body of a predicate, for these arguments.
    fn predicate(&mut self, number: usize, arguments: &[tree::Expr], span: Span) -> Result<Expr> {
        let program = self.program;
        let Some(predicate) = program.predicates.get(number) else {
            return Err(error(span, "there is no such predicate"));
        };
        let (scope, parameters) = (predicate.scope, &predicate.parameters);
        let value = self.instantiate(scope, parameters, &predicate.body, arguments, span)?;
        refuse_large([&value], span)?;
        Ok(truth(value))
    }

    /// An expression evaluated by the other thread.
    fn other_thread_value(&mut self, inner: &tree::Expr, span: Span) -> Result<Expr> {
        if !self.may_name_other {
            return Err(error(inner.span, "only clauses of barriers can name another thread"));
        }
        // The other thread's other thread would be a third one.
        self.may_name_other = false;
        let inner = self.lower_annotation(|lowerer, out| lowerer.number(inner, out));
        self.may_name_other = true;
        let inner = inner?;
        // `\other` takes the value in its machine type; a conversion to an unbounded integer is applied outside.
        let (inner, wanted) = match inner.kind {
            ExprKind::Convert(own) if inner.ty == Type::Whole => (*own, Some(Type::Whole)),
            _ => (inner, None),
        };
        let ty = inner.ty;
        let other = Expr { kind: ExprKind::Other(Box::new(inner)), ty, span };
        Ok(wanted.map_or(other.clone(), |wanted| convert(other, wanted)))
    }

    /// `\sum`, `\fold` and their like.
    fn lower_fold(&mut self, fold: &tree::Fold, span: Span) -> Result<Expr> {
        let op = match fold.op.as_str() {
            "+" => FoldOp::Add,
            "*" => FoldOp::Mul,
            "max" => FoldOp::Max,
            "min" => FoldOp::Min,
            "|" => FoldOp::Or,
            "&" => FoldOp::And,
            "^" => FoldOp::Xor,
            name => match self.monoids.iter().position(|(_, one)| one.name == name) {
                Some(position) => FoldOp::Monoid(position),
                None => {
                    let message = format!("`{name}` is not declared as a monoid by a clause");
                    return Err(error(span, message));
                }
            },
        };
        let monoid = match op {
            FoldOp::Monoid(number) => {
                self.monoids.get(number).map(|(_, one)| Arc::new(one.clone()))
            }
            _ => None,
        };
        let (low, high) =
            (self.annotation_integer(&fold.low)?, self.annotation_integer(&fold.high)?);
        if low.ty != Type::Whole || high.ty != Type::Whole {
            return Err(error(span, "the bounds of a fold must be integers"));
        }
        let var = self.bind_quantified(&[fold.variable]);
        let Some(var) = var.first().copied() else {
            return Err(error(span, "a fold needs a variable"));
        };
        let body = self.lower_annotation(|lowerer, out| lowerer.number(&fold.body, out))?;
        let body = if body.ty == Type::Float { body } else { whole(body) };
        if body.ty == Type::Float && matches!(op, FoldOp::Or | FoldOp::And | FoldOp::Xor) {
            return Err(error(span, "this operator needs integers"));
        }
        let ty = body.ty;
        let kind = ExprKind::Fold(Box::new(Fold { op, var, low, high, body, monoid }));
        Ok(Expr { kind, ty, span })
    }

    /// Functions of the annotation language.
    pub(super) fn annotation_function(
        &mut self,
        name: &str,
        arguments: &[tree::Expr],
        span: Span,
    ) -> Result<Expr> {
        let plain = name.trim_start_matches('\\').trim_start_matches("__");
        match (plain, arguments) {
            ("is_pow2" | "pow2" | "lowbit", [inner]) => {
                let inner = Box::new(self.annotation_integer(inner)?);
                let (operator, ty) = match plain {
                    "pow2" => (Unary::Pow2, Type::Whole),
                    "lowbit" => (Unary::LowBit, Type::Whole),
                    _ => (Unary::IsPow2, Type::Bool),
                };
                Ok(Expr { kind: ExprKind::Unary(operator, inner), ty, span })
            }
            ("min" | "max", [left, right]) => {
                let operator = if plain == "min" { Binary::Min } else { Binary::Max };
                let (left, right) = self.annotated_pair(left, right)?;
                self.operate(operator, left, right, span)
            }
            ("abs", [inner]) => {
                let inner = self.lower_annotation(|lowerer, out| lowerer.number(inner, out))?;
                self.absolute(inner, span)
            }
            _ => Err(unsupported(span, format!("the function `{name}` is not supported"))),
        }
    }

    fn annotated_pair(&mut self, left: &tree::Expr, right: &tree::Expr) -> Result<(Expr, Expr)> {
        let left = self.lower_annotation(|lowerer, out| lowerer.number(left, out))?;
        let right = self.lower_annotation(|lowerer, out| lowerer.number(right, out))?;
        Ok((left, right))
    }

    /// Inlines the call of a function whose body is one `return` of an expression on real numbers.
    pub(super) fn definition(
        &mut self,
        id: FunctionId,
        arguments: &[tree::Expr],
        span: Span,
    ) -> Result<Expr> {
        let function = self.function(id, span)?;
        let refused =
            || unsupported(span, format!("the function `{}` is not supported here", function.name));
        let real = |local: &LocalId| {
            let local = function.locals.get(*local);
            local.is_some_and(|one| !one.is_reference && is_real(self.scalar(&one.ty)))
        };
        let returns = self.scalar(&function.returns).filter(|_| !function.returns_reference);
        let is_plain = is_real(returns) && function.parameters.iter().all(real);
        let [last] = &function.body[..] else { return Err(refused()) };
        let StmtKind::Return(Some(body)) = &last.kind else { return Err(refused()) };
        if !is_plain {
            return Err(refused());
        }
        let value = self.instantiate(id, &function.parameters, body, arguments, span)?;
        Ok(convert(value, returns.unwrap_or(Type::Float)))
    }

    /// The body of a function, lemma or predicate for these arguments.
    pub(super) fn instantiate(
        &mut self,
        scope: FunctionId,
        parameters: &[LocalId],
        body: &tree::Expr,
        arguments: &[tree::Expr],
        span: Span,
    ) -> Result<Expr> {
        let function = self.function(scope, span)?;
        if self.frames.iter().any(|frame| frame.id == scope) {
            let name = &function.name;
            return Err(unsupported(span, format!("recursion in `{name}` is not supported")));
        }
        if parameters.len() != arguments.len() {
            return Err(error(span, format!("`{}` takes other arguments", function.name)));
        }
        let mut places = Vec::new();
        for (id, argument) in parameters.iter().zip(arguments) {
            let Some(parameter) = function.locals.get(*id) else {
                return Err(unsupported(span, "this parameter is not supported"));
            };
            places.push(self.annotation_argument(&parameter.ty, argument)?);
        }
        self.push_frame(scope, &function, None);
        for (id, place) in parameters.iter().zip(places) {
            self.bind(*id, place);
        }
        let value = self.lower_annotation(|lowerer, out| lowerer.number(body, out));
        self.frames.pop();
        value
    }

    fn annotation_argument(&mut self, ty: &tree::Type, argument: &tree::Expr) -> Result<Place> {
        let before = std::mem::replace(&mut self.in_annotation, true);
        let mut effects = Vec::new();
        let value = self.value(argument, &mut effects);
        self.in_annotation = before;
        let value = value?;
        if !effects.is_empty() {
            return Err(error(argument.span, "an annotation must not have side effects"));
        }
        let wanted = self.scalar(ty);
        let item = |item| match (item, wanted) {
            (Item::Scalar(value), Some(Type::Bool)) => Item::Scalar(truth(value)),
            (Item::Scalar(value), Some(Type::Float)) => Item::Scalar(convert(value, Type::Float)),
            (Item::Scalar(value), _) => Item::Scalar(whole(value)),
            (other, _) => other,
        };
        let spots = value.into_iter().map(item).map(value_spot).collect();
        Ok(Place::new(ty, spots))
    }
}

/// Limit on the size of a condition after inlining predicates.
const MAX_OPERATIONS: usize = 4096;

/// Refuses conditions that grow too large: predicates of predicates, and `<==>` of `<==>`, double with each level.
fn refuse_large<const N: usize>(parts: [&Expr; N], span: Span) -> Result<()> {
    let mut count = 0;
    parts.iter().for_each(|part| visit(part, &mut |_| count += 1));
    match count > MAX_OPERATIONS {
        true => Err(unsupported(span, "a condition this large is not supported")),
        false => Ok(()),
    }
}

fn and(left: Expr, right: Expr, span: Span) -> Expr {
    let kind = ExprKind::And(Box::new(left), Box::new(right));
    Expr { kind, ty: Type::Bool, span }
}

fn or(left: Expr, right: Expr, span: Span) -> Expr {
    let kind = ExprKind::Or(Box::new(left), Box::new(right));
    Expr { kind, ty: Type::Bool, span }
}

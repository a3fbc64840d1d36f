//! GPUVerify's specification functions (`__enabled`, `__uniform_int`, `__read` and others) inside clauses.
//!
//! A clause is about the threads that reach it, so `__enabled()` is true. `__read`, `__write` and similar are about
//! the thread's accesses since the last barrier; the lowering records them. `__uniform_int` and similar compare a
//! thread with any other thread of the block at the same barrier, so they are refused elsewhere. Functions and
//! argument counts that are not listed in [`Analyser::spec_gpuverify`] are refused.

use super::analyser::Analyser;
use super::operand::{literal, value};
use super::spec::unify_kinds;
use crate::syntax::ast;
use crate::tree::{Binary, Compare, Expr, ExprKind, Label, SpecExpr, Type, Unary};
use crate::{Result, unsupported};
use base::Span;

impl<'a> Analyser<'a> {
    /// Translates a call of a GPUVerify function in a clause; `None` if `word` is not one.
    pub(super) fn spec_gpuverify(
        &mut self,
        word: &str,
        arguments: &'a [ast::Expr],
        span: Span,
    ) -> Result<Option<Expr>> {
        if !self.is_gpuverify(word) || !self.lookup(word).1.is_empty() {
            return Ok(None);
        }
        let expr = match (word, arguments) {
            ("__enabled", []) => bool_literal(true, span),
            ("__uniform_int" | "__uniform_bool", [one]) => {
                self.compare_threads(Compare::Eq, one, word, span)?
            }
            ("__distinct_int" | "__distinct_bool", [one]) => {
                self.compare_threads(Compare::Ne, one, word, span)?
            }
            ("__all", [one]) => self.both_threads(one, word, span)?,
            ("__exclusive", [one]) => not(self.both_threads(one, word, span)?),
            ("__read" | "__write", [array]) => self.access_fact(word, array, span)?,
            ("__no_read", [array]) => not(self.access_fact("__read", array, span)?),
            ("__no_write", [array]) => not(self.access_fact("__write", array, span)?),
            ("__read_implies", [array, then]) => {
                self.access_implies("__read", array, then, span)?
            }
            ("__write_implies", [array, then]) => {
                self.access_implies("__write", array, then, span)?
            }
            ("__read_offset_bytes" | "__write_offset_bytes" | "__ptr_offset_bytes", [array]) => {
                self.access_fact(word, array, span)?
            }
            ("__return_val_int" | "__return_val_bool", []) => self.returned_value(span)?,
            ("__old_int" | "__old_bool", [one]) => {
                let one = self.spec(one)?;
                let ty = one.ty.clone();
                spec(SpecExpr::At(one, Label::Old), ty, span)
            }
            ("__is_pow2", [one]) => self.is_power_of_two_or_zero(one, span)?,
            ("__mod_pow2", [one, modulus]) => {
                let (one, modulus) = (self.spec_whole(one)?, self.spec_whole(modulus)?);
                let less = binary(Binary::Sub, modulus, literal(1, Type::Whole, span), span);
                binary(Binary::BitAnd, less, one, span)
            }
            (_, [one, other]) if word.starts_with("__add_noovfl") => {
                let (one, other) = (self.spec_whole(one)?, self.spec_whole(other)?);
                binary(Binary::Add, one, other, span)
            }
            (_, [condition, one, other]) if word.starts_with("__ite") => {
                let condition = self.spec_condition(condition)?;
                let (one, other) = (self.spec(one)?, self.spec(other)?);
                let (one, other) = unify_kinds(one, other, span)?;
                let ty = one.ty.clone();
                let parts = (Box::new(condition), Box::new(one), Box::new(other));
                value(ExprKind::Select(parts.0, parts.1, parts.2), ty, span)
            }
            _ => return Err(unsupported(span, format!("not supported here: `{word}`"))),
        };
        Ok(Some(expr))
    }

    /// Translates `__same_group`, which is used without parentheses. It is true: threads at one barrier are of one
    /// block.
    pub(super) fn same_group(&mut self, span: Span) -> Result<Expr> {
        self.require_pair("__same_group", span)?;
        Ok(bool_literal(true, span))
    }

    /// Refuses `word` unless the clause is at a barrier, where there is another thread.
    fn require_pair(&self, word: &str, span: Span) -> Result<()> {
        match self.body.spec.may_name_other {
            true => Ok(()),
            false => {
                let message = format!(
                    "not supported here: `{word}` names another thread, which only a barrier clause may"
                );
                Err(unsupported(span, message))
            }
        }
    }

    /// Translates an expression twice: its value in this thread, and in the other thread at the barrier.
    fn in_both_threads(
        &mut self,
        one: &'a ast::Expr,
        word: &str,
        span: Span,
    ) -> Result<(Expr, Expr)> {
        self.require_pair(word, span)?;
        // Nested, "the other thread" would be a third thread: refused while the operand is translated.
        self.body.spec.may_name_other = false;
        let expr = match word {
            "__all" | "__exclusive" | "__uniform_bool" | "__distinct_bool" => {
                self.spec_condition(one)
            }
            _ => self.spec(one),
        };
        self.body.spec.may_name_other = true;
        let expr = expr?;
        let ty = expr.ty.clone();
        let other = spec(SpecExpr::Other(expr.clone()), ty, span);
        Ok((expr, other))
    }

    /// Compares an expression's values in the two threads.
    fn compare_threads(
        &mut self,
        compare: Compare,
        one: &'a ast::Expr,
        word: &str,
        span: Span,
    ) -> Result<Expr> {
        let (expr, other) = self.in_both_threads(one, word, span)?;
        let kind = ExprKind::Compare(compare, Box::new(expr), Box::new(other));
        Ok(value(kind, Type::Bool, span))
    }

    /// States that a condition holds in both threads.
    fn both_threads(&mut self, one: &'a ast::Expr, word: &str, span: Span) -> Result<Expr> {
        let (expr, other) = self.in_both_threads(one, word, span)?;
        Ok(value(ExprKind::And(Box::new(expr), Box::new(other)), Type::Bool, span))
    }

    /// Translates `__read(a)` and `__write(a)` (true if the thread accessed `a` since the last barrier), and
    /// `__read_offset_bytes(a)` and similar (the place of that access).
    fn access_fact(&mut self, word: &str, array: &'a ast::Expr, span: Span) -> Result<Expr> {
        let array = self.spec(array)?;
        if !matches!(array.ty, Type::Pointer(_)) {
            return Err(unsupported(
                span,
                format!("not supported here: `{word}` without an array"),
            ));
        }
        let (name, ty) = match word {
            "__read" => ("__read", Type::Bool),
            "__write" => ("__write", Type::Bool),
            "__read_offset_bytes" => ("__read_offset_bytes", Type::Whole),
            "__ptr_offset_bytes" => ("__ptr_offset_bytes", Type::Whole),
            _ => ("__write_offset_bytes", Type::Whole),
        };
        Ok(spec(SpecExpr::Access(name, array), ty, span))
    }

    fn access_implies(
        &mut self,
        word: &str,
        array: &'a ast::Expr,
        then: &'a ast::Expr,
        span: Span,
    ) -> Result<Expr> {
        let accessed = self.access_fact(word, array, span)?;
        let then = self.spec_condition(then)?;
        Ok(spec(SpecExpr::Implies(accessed, then), Type::Bool, span))
    }

    fn returned_value(&mut self, span: Span) -> Result<Expr> {
        let operand = self.spec_result(span)?;
        let plain = self.rvalue(operand)?;
        Ok(self.spec_value(plain))
    }

    /// Translates `__is_pow2(x)`, in GPUVerify `(x & (x - 1)) == 0`: true for powers of two and for 0. `blockDim` and
    /// `gridDim` are never 0, so for them that case is left out.
    fn is_power_of_two_or_zero(&mut self, one: &'a ast::Expr, span: Span) -> Result<Expr> {
        use crate::tree::Special;
        let one = self.spec_whole(one)?;
        let mut inner = &one;
        while let ExprKind::Convert(from) = &inner.kind {
            inner = from;
        }
        let is_size =
            matches!(inner.kind, ExprKind::Special(Special::BlockDim | Special::GridDim, _));
        let power = spec(SpecExpr::Function("is_pow2", vec![one.clone()]), Type::Bool, span);
        if is_size {
            return Ok(power);
        }
        let zero = Box::new(literal(0, Type::Whole, span));
        let is_zero = value(ExprKind::Compare(Compare::Eq, Box::new(one), zero), Type::Bool, span);
        Ok(value(ExprKind::Or(Box::new(is_zero), Box::new(power)), Type::Bool, span))
    }
}

fn bool_literal(holds: bool, span: Span) -> Expr {
    literal(i128::from(holds), Type::Bool, span)
}

fn not(inner: Expr) -> Expr {
    let span = inner.span;
    value(ExprKind::Unary(Unary::Not, Box::new(inner)), Type::Bool, span)
}

fn spec(inner: SpecExpr, ty: Type, span: Span) -> Expr {
    value(ExprKind::Spec(Box::new(inner)), ty, span)
}

fn binary(op: Binary, left: Expr, right: Expr, span: Span) -> Expr {
    value(ExprKind::Binary(op, Box::new(left), Box::new(right)), Type::Whole, span)
}

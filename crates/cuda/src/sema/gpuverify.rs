//! Words of GPUVerify that annotate CUDA kernels: those with a counterpart become clauses, others are refused.

use super::expr::Operand;
use super::spec::SpecContext;
use super::{Analyser, error, unsupported};
use crate::Result;
use crate::syntax::ast::{self, ExprKind as Ast};
use crate::tree::{Clause, ClauseKind, Expr, ExprKind, Stmt, StmtKind};
use base::{Severity, Span};

/// Words whose meaning is not followed.
const REFUSED: &[&str] = &[
    "__global_invariant",
    "__function_wide_invariant",
    "__function_wide_candidate_invariant",
    "__candidate_invariant",
    "__candidate_global_invariant",
    "__invariant",
    "__global_requires",
    "__global_ensures",
    "__global_assert",
    "__return_val_int",
    "__return_val_bool",
    "__old_int",
    "__read",
    "__write",
    "__read_implies",
    "__write_implies",
    "__no_read",
    "__no_write",
    "__read_offset",
    "__write_offset",
    "__read_offset_bytes",
    "__write_offset_bytes",
    "__uniform_int",
    "__uniform_bool",
    "__distinct_int",
    "__distinct_bool",
    "__all",
    "__exclusive",
    "__enabled",
    "__axiom",
    "__add_noovfl_unsigned",
    "__ptr_base",
    "__ptr_offset",
    "__non_temporal_loads_begin",
    "__non_temporal_loads_end",
    "__reads_from",
    "__writes_to",
    "__modifies",
];

impl<'a> Analyser<'a> {
    /// A word of GPUVerify in an expression of the program.
    pub(super) fn annotation_call(
        &mut self,
        word: &str,
        _arguments: &'a [ast::Expr],
        span: Span,
    ) -> Result<Option<Operand>> {
        if word.starts_with('\\') {
            return Err(error(span, "this belongs into an annotation"));
        }
        match self.is_gpuverify(word) {
            true => Err(unsupported(span, format!("`{word}` is not supported here"))),
            false => Ok(None),
        }
    }

    fn is_gpuverify(&self, word: &str) -> bool {
        let stated = matches!(
            word,
            "__requires"
                | "__ensures"
                | "__assert"
                | "__assume"
                | "__implies"
                | "__other_int"
                | "__other_bool"
        );
        stated
            || REFUSED.contains(&word)
            || word.starts_with("__barrier_invariant")
            || word.starts_with("__non_temporal")
    }

    /// A word of GPUVerify in a clause.
    pub(super) fn spec_gpuverify(&mut self, word: &str, span: Span) -> Result<Option<Expr>> {
        match self.is_gpuverify(word) && self.lookup(word).1.is_empty() {
            true => Err(unsupported(span, format!("`{word}` is not followed"))),
            false => Ok(None),
        }
    }

    /// The word and arguments of a call of a name that the file does not declare.
    fn annotation_word(&self, expr: &'a ast::Expr) -> Option<(&'a str, &'a [ast::Expr])> {
        let Ast::Call(callee, arguments) = &expr.kind else { return None };
        let Ast::Name(name) = &callee.kind else { return None };
        let [part] = &name.parts[..] else { return None };
        let word: &'a str = &part.name.text;
        (self.is_gpuverify(word) && self.lookup(word).1.is_empty()).then_some((word, arguments))
    }

    /// A statement that is one of GPUVerify's.
    pub(super) fn annotation_stmt(&mut self, expr: &'a ast::Expr) -> Result<Option<Vec<Stmt>>> {
        let Some((word, arguments)) = self.annotation_word(expr) else { return Ok(None) };
        let span = expr.span;
        let plain = SpecContext::default();
        match (word, arguments) {
            ("__requires", [condition]) => {
                let made = self.in_spec(plain, |one| one.spec_condition(condition))?;
                self.check_contract(&made)?;
                self.body.clauses.push(Clause { kind: ClauseKind::Requires(made), span });
                Ok(Some(Vec::new()))
            }
            ("__ensures", [condition]) => {
                let context = SpecContext { has_result: true, ..plain };
                let made = self.in_spec(context, |one| one.spec_condition(condition));
                let kind = match made {
                    Ok(made) => {
                        self.check_contract(&made)?;
                        ClauseKind::Ensures(made)
                    }
                    Err(why) if why.severity == Severity::Unsupported => {
                        let why = why.message.to_string();
                        ClauseKind::Unfollowed { is_postcondition: true, why }
                    }
                    Err(why) => return Err(why),
                };
                self.body.clauses.push(Clause { kind, span });
                Ok(Some(Vec::new()))
            }
            ("__assert" | "__assume", [condition]) => {
                let made = self.in_spec(plain, |one| one.spec_condition(condition))?;
                let kind = match word {
                    "__assert" => ClauseKind::Assert(made),
                    _ => ClauseKind::Assume(made),
                };
                Ok(Some(clause_stmt(kind, span)))
            }
            (_, [condition, ..]) if word.starts_with("__barrier_invariant") => {
                let pair = SpecContext { in_pair: true, ..plain };
                let made = self.in_spec(pair, |one| one.spec_condition(condition));
                let kind = followed(made, |made| ClauseKind::BarrierInvariant(None, made))?;
                Ok(Some(clause_stmt(kind, span)))
            }
            _ => Err(unsupported(span, format!("`{word}` is not supported here"))),
        }
    }

    /// A contract speaks of parameters alone.
    fn check_contract(&self, made: &Expr) -> Result<()> {
        let mut found = None;
        made.walk(&mut |inner| {
            if let ExprKind::Local(id) = inner.kind
                && let Some(local) = self.body.locals.get(id)
                && !local.is_ghost
                && !self.body.parameters.contains(&id)
            {
                found.get_or_insert(inner.span);
            }
        });
        match found {
            Some(span) => Err(unsupported(span, "a contract speaks of parameters alone")),
            None => Ok(()),
        }
    }

    /// Takes `__invariant(…), …` off the front of a loop's condition; nothing is left if that is all.
    pub(super) fn split_invariants(
        &mut self,
        expr: &'a ast::Expr,
        invariants: &mut Vec<Clause>,
    ) -> Result<Option<&'a ast::Expr>> {
        let mut at = expr;
        let mut parts = Vec::new();
        while let Ast::Comma(left, right) = &at.kind {
            parts.push(right.as_ref());
            at = left;
        }
        parts.push(at);
        parts.reverse();
        let Some((last, before)) = parts.split_last() else { return Ok(Some(expr)) };
        let is_invariant = |one: &&'a ast::Expr| {
            matches!(self.annotation_word(one), Some(("__invariant" | "__global_invariant", [_])))
        };
        if before.is_empty() && is_invariant(last) {
            let message = "a loop's condition is missing behind this invariant";
            return Err(unsupported(last.span, message));
        }
        if before.is_empty() || !before.iter().all(is_invariant) {
            return Ok(Some(expr));
        }
        for one in before {
            let Some((_, [condition])) = self.annotation_word(one) else { continue };
            let context = SpecContext { of_loop: true, ..SpecContext::default() };
            let made = self.in_spec(context, |one| one.spec_condition(condition));
            let kind = followed(made, |made| ClauseKind::LoopInvariant(None, made))?;
            invariants.push(Clause { kind, span: one.span });
        }
        Ok(Some(last))
    }
}

fn clause_stmt(kind: ClauseKind, span: Span) -> Vec<Stmt> {
    vec![Stmt { kind: StmtKind::Clauses(vec![Clause { kind, span }]), span }]
}

fn followed(made: Result<Expr>, kind: impl FnOnce(Expr) -> ClauseKind) -> Result<ClauseKind> {
    match made {
        Ok(made) => Ok(kind(made)),
        Err(why) if why.severity == Severity::Unsupported => {
            let why = why.message.to_string();
            Ok(ClauseKind::Unfollowed { is_postcondition: false, why })
        }
        Err(why) => Err(why),
    }
}

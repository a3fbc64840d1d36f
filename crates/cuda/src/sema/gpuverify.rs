//! GPUVerify's annotations in CUDA kernels: those with a counterpart become clauses, others are refused.

use super::analyser::{Analyser, SpecContext};
use super::operand::Operand;
use crate::syntax::ast::{self, ExprKind as Ast};
use crate::tree::{Clause, ClauseKind, Expr, ExprKind, Stmt, StmtKind};
use crate::{Result, error, unsupported};
use base::{Severity, Span};

/// Words that denote a value in clauses, or claim something; `gpuverify_functions.rs` has the meaning of the supported
/// ones.
const WORDS: &[&str] = &[
    "__requires",
    "__global_requires",
    "__ensures",
    "__global_ensures",
    "__assert",
    "__global_assert",
    "__assume",
    "__invariant",
    "__global_invariant",
    "__function_wide_invariant",
    "__requires_fresh_array",
    "__axiom",
    "__implies",
    "__enabled",
    "__other_int",
    "__other_bool",
    "__uniform_int",
    "__uniform_bool",
    "__distinct_int",
    "__distinct_bool",
    "__all",
    "__exclusive",
    "__same_group",
    "__return_val_int",
    "__return_val_bool",
    "__old_int",
    "__old_bool",
    "__read",
    "__write",
    "__read_implies",
    "__write_implies",
    "__no_read",
    "__no_write",
    "__read_offset_bytes",
    "__write_offset_bytes",
    "__read_offset",
    "__write_offset",
    "__reads_from",
    "__writes_to",
    "__modifies",
    "__accessed",
    "__not_accessed",
    "__array_snapshot",
    "__atomic_has_taken_value",
    "__mod_pow2",
    "__is_pow2",
];

/// Prefixes of words with several types.
const STEMS: &[&str] = &[
    "__barrier_invariant",
    "__non_temporal",
    "__candidate_",
    "__function_wide_candidate",
    "__return_val_",
    "__ptr_",
    "__other_ptr_",
    "__uniform_ptr_",
    "__distinct_ptr_",
    "__ite",
    "__add_noovfl",
    "__reads_from_",
    "__writes_to_",
    "__unsafe_",
];

impl<'a> Analyser<'a> {
    /// A GPUVerify word in an expression of the program.
    pub(super) fn annotation_call(
        &mut self,
        word: &str,
        _arguments: &'a [ast::Expr],
        span: Span,
    ) -> Result<Option<Operand>> {
        if word.starts_with('\\') {
            return Err(error(span, "this belongs in an annotation"));
        }
        match self.is_gpuverify(word) {
            true => Err(unsupported(span, format!("not supported here: `{word}`"))),
            false => Ok(None),
        }
    }

    pub(super) fn is_gpuverify(&self, word: &str) -> bool {
        WORDS.contains(&word) || STEMS.iter().any(|stem| word.starts_with(stem))
    }

    /// The word and arguments of a call of a name that the file does not declare.
    fn annotation_word(&self, expr: &'a ast::Expr) -> Option<(&'a str, &'a [ast::Expr])> {
        let Ast::Call(callee, arguments) = &expr.kind else { return None };
        let Ast::Name(name) = &callee.kind else { return None };
        let [part] = &name.parts[..] else { return None };
        let word: &'a str = &part.name.text;
        (self.is_gpuverify(word) && self.lookup(word).1.is_empty()).then_some((word, arguments))
    }

    /// A statement that is a GPUVerify annotation.
    pub(super) fn annotation_stmt(&mut self, expr: &'a ast::Expr) -> Result<Option<Vec<Stmt>>> {
        let Some((word, arguments)) = self.annotation_word(expr) else { return Ok(None) };
        let span = expr.span;
        let plain = SpecContext::default();
        match (word, arguments) {
            ("__requires" | "__global_requires", [condition]) => {
                let made = self.in_spec(plain, |one| one.spec_condition(condition))?;
                self.check_contract(&made)?;
                self.body.clauses.push(Clause { kind: ClauseKind::Requires(made), span });
                Ok(Some(Vec::new()))
            }
            ("__ensures" | "__global_ensures", [condition]) => {
                let context = SpecContext { has_result: true, ..plain };
                let made = self.in_spec(context, |one| one.spec_condition(condition));
                let made = made.and_then(|made| self.check_contract(&made).map(|()| made));
                let kind = supported_or_unfollowed(made, true, ClauseKind::Ensures)?;
                self.body.clauses.push(Clause { kind, span });
                Ok(Some(Vec::new()))
            }
            // Outside of the head of a loop, an invariant is an assertion.
            (
                "__assert" | "__global_assert" | "__invariant" | "__global_invariant",
                [condition],
            ) => {
                let condition = self.strip_all(condition);
                let made = self.in_spec(plain, |one| one.spec_condition(condition));
                let kind = supported_or_unfollowed(made, false, ClauseKind::Assert)?;
                Ok(Some(clause_stmt(kind, span)))
            }
            ("__assume", [condition]) => {
                let made = self.in_spec(plain, |one| one.spec_condition(condition))?;
                Ok(Some(clause_stmt(ClauseKind::Assume(made), span)))
            }
            ("__function_wide_invariant", [_]) => {
                let why = format!("`{word}` is not followed");
                let kind = ClauseKind::Unfollowed { is_postcondition: false, why };
                Ok(Some(clause_stmt(kind, span)))
            }
            // Arrays of different pointers are always assumed to be disjoint. `__non_temporal` exempts loads from
            // GPUVerify's checks; here they are checked all the same. A candidate is another tool's guess, and claims
            // nothing.
            ("__requires_fresh_array", [array]) => {
                self.operand(array)?;
                Ok(Some(Vec::new()))
            }
            (_, []) if word.starts_with("__non_temporal") => Ok(Some(Vec::new())),
            (_, [_]) if is_candidate(word) => Ok(Some(Vec::new())),
            (_, [condition, ..]) if word.starts_with("__barrier_invariant") => {
                let pair = SpecContext { may_name_other: true, ..plain };
                let made = self.in_spec(pair, |one| one.spec_condition(condition));
                let kind = supported_or_unfollowed(made, false, |made| {
                    ClauseKind::BarrierInvariant(None, made)
                })?;
                Ok(Some(clause_stmt(kind, span)))
            }
            _ => Err(unsupported(span, format!("not supported here: `{word}`"))),
        }
    }

    /// Strips `__all`: `__all(P)` is about every two threads at this point, and `P` about each of them.
    fn strip_all(&self, condition: &'a ast::Expr) -> &'a ast::Expr {
        match self.annotation_word(condition) {
            Some(("__all", [inner])) => self.strip_all(inner),
            _ => condition,
        }
    }

    /// `__axiom(P);` outside of functions is assumed of every thread, at the start of kernels.
    pub(super) fn assume_axioms(&mut self, out: &mut Vec<Stmt>) -> Result<()> {
        for (clause, order) in self.axioms.clone() {
            let ast::ClauseKind::Assume(condition) = &clause.kind else { continue };
            let made = self.at_place(self.global, order, |one| {
                one.in_spec(SpecContext::default(), |one| one.spec_condition(condition))
            })?;
            out.extend(clause_stmt(ClauseKind::Assume(made), clause.span));
        }
        Ok(())
    }

    /// Checks that a contract uses only parameters.
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
            Some(span) => Err(unsupported(span, "a contract may use only parameters")),
            None => Ok(()),
        }
    }

    /// Splits `__invariant(…), …` off the front of a loop's condition; returns `None` if nothing else remains.
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
        let is_invariant = |expr: &&'a ast::Expr| match self.annotation_word(expr) {
            Some(("__invariant" | "__global_invariant" | "__assert" | "__global_assert", [_])) => {
                true
            }
            Some((word, [_])) => is_candidate(word),
            Some((word, [])) => word.starts_with("__non_temporal"),
            _ => false,
        };
        if before.is_empty() && is_invariant(last) {
            let message = "a loop condition is missing after this invariant";
            return Err(unsupported(last.span, message));
        }
        if before.is_empty() || !before.iter().all(is_invariant) {
            return Ok(Some(expr));
        }
        for one in before {
            let Some((word, arguments)) = self.annotation_word(one) else { continue };
            let [condition] = arguments else { continue };
            if is_candidate(word) {
                continue;
            }
            let condition = self.strip_all(condition);
            let context = SpecContext { in_loop_clause: true, ..SpecContext::default() };
            let made = self.in_spec(context, |one| one.spec_condition(condition));
            let kind =
                supported_or_unfollowed(made, false, |made| ClauseKind::LoopInvariant(None, made))?;
            invariants.push(Clause { kind, span: one.span });
        }
        Ok(Some(last))
    }
}

fn clause_stmt(kind: ClauseKind, span: Span) -> Vec<Stmt> {
    vec![Stmt { kind: StmtKind::Clauses(vec![Clause { kind, span }]), span }]
}

/// Makes a clause of an expression; an unsupported one becomes [`ClauseKind::Unfollowed`] with the reason.
fn supported_or_unfollowed(
    made: Result<Expr>,
    is_postcondition: bool,
    kind: impl FnOnce(Expr) -> ClauseKind,
) -> Result<ClauseKind> {
    match made {
        Ok(made) => Ok(kind(made)),
        Err(why) if why.severity == Severity::Unsupported => {
            let why = why.message.to_string();
            Ok(ClauseKind::Unfollowed { is_postcondition, why })
        }
        Err(why) => Err(why),
    }
}

/// Returns `true` for the word of a candidate, which another tool is to check and which claims nothing here.
fn is_candidate(word: &str) -> bool {
    word.starts_with("__candidate_") || word.starts_with("__function_wide_candidate")
}

/// Takes assertions at the start of a loop's body as invariants. They hold whenever control reaches the loop, if the
/// loop tests nothing before them.
pub(super) fn leading_invariants(body: &mut Vec<Stmt>, invariants: &mut Vec<Clause>) {
    while let Some(first) = body.first_mut() {
        match &mut first.kind {
            StmtKind::Block(inner) => {
                leading_invariants(inner, invariants);
                return;
            }
            StmtKind::Clauses(clauses)
                if clauses.iter().all(|clause| matches!(clause.kind, ClauseKind::Assert(_))) =>
            {
                for clause in std::mem::take(clauses) {
                    if let ClauseKind::Assert(made) = clause.kind {
                        let kind = ClauseKind::LoopInvariant(None, made);
                        invariants.push(Clause { kind, span: clause.span });
                    }
                }
                body.remove(0);
            }
            _ => return,
        }
    }
}

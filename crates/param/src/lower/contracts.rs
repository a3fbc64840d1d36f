//! Contracts of `__device__` functions that say what a block of threads leaves in arrays, and uses of lemmas.
//!
//! Such a function is called by all threads of a block and ends with a barrier. Its contract is shown once, for the function as a
//! kernel of one block (`kir::Contract`), and used at each call at the last barrier. What the function accesses, and where
//! threads meet in it, is looked at where it is called.

use super::inline::ends_with_barrier;
use super::{Binding, Lowerer, error};
use crate::cfront::ast::{ClauseKind, Expr as Ast, Function, Scalar};
use crate::cfront::token::Result;
use crate::kir::{ArrayId, Builtin, Claim, Contract, Given, Stmt};
use crate::spec;
use base::Span;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Lowerer<'_> {
    /// Whether the contract of a function that was just inlined is used by itself.
    pub(super) fn is_modular(
        &mut self,
        function: &Function,
        before: &BTreeMap<String, Binding>,
        out: &[Stmt],
    ) -> bool {
        let ends = matches!(out.last(), Some(Stmt::Barrier(_))) && ends_with_barrier(function);
        let plain = function.template.is_empty()
            && function.types.is_empty()
            && function.returns.scalar == Scalar::Void
            && function.returns.pointers == 0;
        let speaks = function.clauses.iter().any(|clause| match &clause.kind {
            ClauseKind::Ensures(condition) => {
                self.scopes.push(before.clone());
                let claims = self.claims(None, condition, clause.span);
                self.scopes.pop();
                let of_elements =
                    |one: &Claim| !one.forall.is_empty() || !spec::is_scalar(&one.condition);
                claims.is_ok_and(|claims| claims.iter().any(of_elements))
            }
            _ => false,
        });
        ends && plain && speaks && self.are_apart(function, before)
    }

    /// Whether arguments are arrays of their own, as the contract presumes.
    fn are_apart(&self, function: &Function, before: &BTreeMap<String, Binding>) -> bool {
        let mut seen: Vec<ArrayId> = Vec::new();
        function.parameters.iter().all(|parameter| {
            if parameter.ty.reference || parameter.ty.pointers > 1 {
                return false;
            }
            match before.get(&parameter.name) {
                Some(Binding::Pointer(array, _)) => {
                    let new = !seen.contains(array);
                    seen.push(*array);
                    // The function may know an array of the file by its own name, too.
                    let of_file = self.scopes.first().is_some_and(|scope| {
                        scope.values().any(|one| matches!(one, Binding::Array(own) if own == array))
                    });
                    new && !of_file
                }
                Some(Binding::Var(_)) => true,
                _ => false,
            }
        })
    }

    /// What the contract says, at the barrier that the function ends with.
    pub(super) fn given_at_end(
        &mut self,
        function: &Function,
        before: BTreeMap<String, Binding>,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let mut relies = vec![span];
        let Some(kernel) = self.by_itself(function) else {
            let why =
                format!("the contract of `{}` is not one of a block by itself", function.name);
            self.unfollow(super::claims::About::Body, span, why);
            return Ok(());
        };
        let mut claims = Vec::new();
        let parameters = before.values().filter_map(|one| match one {
            Binding::Var(var) | Binding::Pointer(_, var) => Some(*var),
            _ => None,
        });
        let parameters = parameters.collect();
        self.scopes.push(before);
        for clause in &function.clauses {
            match &clause.kind {
                ClauseKind::Ensures(condition) => {
                    claims.extend(self.claims(None, condition, clause.span)?);
                }
                ClauseKind::Requires(condition) => {
                    relies.push(clause.span);
                    let stated = self.claims(None, condition, clause.span)?;
                    relies.extend(stated.iter().map(|one| one.condition.span));
                }
                _ => {}
            }
        }
        self.scopes.pop();
        let axes = [0, 1, 2].map(|axis| kernel.has_axis(axis));
        let name = function.name.clone();
        let given = Given { name: name.clone(), claims, parameters, axes, span };
        let at = out.len().saturating_sub(1);
        out.insert(at, Stmt::Given(Box::new(given)));
        match self.contracts.iter_mut().find(|one| one.name == name) {
            Some(known) => known.relies.extend(relies),
            None => {
                let (kernel, span) = (Arc::new(kernel), function.span);
                self.contracts.push(Contract { name, kernel, span, relies });
            }
        }
        Ok(())
    }

    /// A function as a kernel; nothing if it looks at more than its block.
    fn by_itself(&self, function: &Function) -> Option<crate::kir::Kernel> {
        let alone = Function { is_kernel: true, ..function.clone() };
        let mut kernel = super::kernel(self.unit, &alone).ok()?;
        let of_grid = |one: &(Builtin, usize)| matches!(one.0, Builtin::Block | Builtin::GridDim);
        let whole = !kernel.mentioned.iter().any(of_grid) && kernel.unfollowed.is_empty();
        // It is called by one block; others have shared arrays of their own.
        for axis in 0..3 {
            kernel.requires.push(one_block(axis, function.span));
        }
        whole.then_some(kernel)
    }

    /// `use name(…);`: what a lemma says of these numbers.
    pub(super) fn used_lemma(&mut self, name: &str, arguments: &[Ast], span: Span) -> Result<Stmt> {
        let unit = self.unit;
        let Some(lemma) = unit.lemmas.iter().find(|one| one.name == name) else {
            return Err(error(span, format!("there is no lemma `{name}`")));
        };
        let parts = (&lemma.parameters[..], &lemma.body);
        let value = super::convert::truth(self.substituted(name, parts, arguments, span)?);
        Ok(Stmt::Used(value, lemma.span))
    }
}

/// `gridDim == 1` on an axis.
fn one_block(axis: usize, span: Span) -> crate::kir::Requirement {
    use crate::kir::{Compare, Expr, ExprKind, Requirement, Type};
    let of = |kind: ExprKind, ty: Type| Box::new(Expr { kind, ty, span });
    let grid = of(ExprKind::Builtin(Builtin::GridDim, axis), Type::UNSIGNED);
    let kind = ExprKind::Compare(
        Compare::Eq,
        of(ExprKind::Convert(grid), Type::Whole),
        of(ExprKind::Int(1), Type::Whole),
    );
    Requirement { forall: Vec::new(), condition: Expr { kind, ty: Type::Bool, span } }
}

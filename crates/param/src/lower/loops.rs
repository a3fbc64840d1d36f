//! What annotations say of loops.

use super::claims::About;
use super::{Lowerer, error, unsupported};
use crate::cfront::ast::{Clause, ClauseKind, Expr as Ast, ExprKind as AstKind};
use crate::cfront::token::Result;
use crate::kir::{Claim, Compare, Expr, ExprKind, Stmt, Type};
use crate::spec;

impl Lowerer<'_> {
    /// Invariants; those of a `for` may speak of the variables it declares.
    pub(super) fn invariants(&mut self, clauses: &[&Clause]) -> Result<(Vec<Expr>, Vec<Claim>)> {
        let (mut invariants, mut others) = (Vec::new(), Vec::new());
        for clause in clauses {
            let ClauseKind::LoopInvariant(name, condition) = &clause.kind else { continue };
            let mut condition = condition.clone();
            let mut name = name.clone();
            match (&name, &condition.kind) {
                (Some(name), _) => {
                    self.named.insert(name.clone(), condition.clone());
                }
                // A name alone is that of a clause, if no variable has it.
                (None, AstKind::Name(word)) if self.lookup(word).is_none() => {
                    let Some(known) = self.named.get(word).cloned() else {
                        return Err(error(clause.span, format!("no invariant is called `{word}`")));
                    };
                    name = Some(word.clone());
                    condition = known;
                }
                _ => {}
            }
            let outer = std::mem::replace(&mut self.of_loop, true);
            let claims = self.claims(name.as_deref(), &condition, clause.span);
            self.of_loop = outer;
            for claim in self.followed(claims, About::Body)?.into_iter().flatten() {
                match claim.forall.is_empty() && spec::is_scalar(&claim.condition) {
                    true => invariants.push(claim.condition),
                    false => others.push(claim),
                }
            }
        }
        Ok((invariants, others))
    }

    /// What `loop variant e` asks of an iteration: `e` is not negative before it and less after it.
    pub(super) fn variants(
        &mut self,
        clauses: &[&Clause],
        body: &mut Vec<Stmt>,
        step: &mut Vec<Stmt>,
    ) -> Result<()> {
        for clause in clauses {
            let ClauseKind::LoopVariant(variant) = &clause.kind else { continue };
            let (span, variant) = (clause.span, self.spec(variant)?);
            if !spec::is_scalar(&variant) {
                return Err(unsupported(span, "a variant is made of integer variables"));
            }
            let var = self.new_var("variant", Type::Whole);
            let before = self.var(var, span);
            let zero = Expr { kind: ExprKind::Int(0), ty: Type::Whole, span };
            let compare = |compare, one: &Expr, other: &Expr| {
                let kind =
                    ExprKind::Compare(compare, Box::new(one.clone()), Box::new(other.clone()));
                Stmt::Assert(Expr { kind, ty: Type::Bool, span })
            };
            let first = [Stmt::Assign(var, variant.clone()), compare(Compare::Ge, &before, &zero)];
            body.splice(0..0, first);
            step.push(compare(Compare::Lt, &variant, &before));
        }
        Ok(())
    }
}

/// The condition of a loop without what GPUVerify's kernels state before it, `__invariant(i % 2 == 0), i < n`.
pub(super) fn without_invariants<'e>(condition: &'e Ast, stated: &mut Vec<&'e Ast>) -> &'e Ast {
    fn collect<'e>(expr: &'e Ast, stated: &mut Vec<&'e Ast>) -> bool {
        match &expr.kind {
            AstKind::Comma(left, right) => collect(left, stated) && collect(right, stated),
            AstKind::Call(name, arguments) => match (name.as_str(), arguments.as_slice()) {
                ("__invariant" | "__global_invariant", [invariant]) => {
                    stated.push(invariant);
                    true
                }
                _ => false,
            },
            _ => false,
        }
    }
    let AstKind::Comma(left, right) = &condition.kind else { return condition };
    let mut found = Vec::new();
    if !collect(left, &mut found) {
        return condition;
    }
    stated.append(&mut found);
    right
}

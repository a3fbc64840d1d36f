//! Lowers the annotations of loops: invariants, and variants as assertions.

use super::claims::About;
use super::diagnostics::{Result, unsupported};
use super::lowerer::Lowerer;
use super::types::{compare, int};
use cuda::tree::{Clause, ClauseKind};
use kir::spec;
use kir::{Claim, Compare, Expr, Stmt, Type};

impl Lowerer<'_> {
    /// Invariants; those of a `for` may mention the variables it declares.
    pub(super) fn invariants(&mut self, clauses: &[&Clause]) -> Result<(Vec<Expr>, Vec<Claim>)> {
        let (mut invariants, mut others) = (Vec::new(), Vec::new());
        for clause in clauses {
            match &clause.kind {
                ClauseKind::LoopInvariant(name, condition) => {
                    let outer = std::mem::replace(&mut self.in_loop_clause, true);
                    let claims = self.claims(name.as_deref(), condition, clause.span);
                    self.in_loop_clause = outer;
                    for claim in self.supported_or_open(claims, About::Body)?.into_iter().flatten()
                    {
                        match claim.forall.is_empty() && spec::is_scalar(&claim.condition) {
                            true => invariants.push(claim.condition),
                            false => others.push(claim),
                        }
                    }
                }
                ClauseKind::Unfollowed { is_postcondition, why } => {
                    let about = super::claims::about(*is_postcondition);
                    self.leave_open(about, clause.span, why.clone());
                }
                _ => {}
            }
        }
        Ok((invariants, others))
    }

    /// The obligations of `loop variant e` in an iteration: `e` is not negative before it and less after it.
    pub(super) fn variants(
        &mut self,
        clauses: &[&Clause],
        body: &mut Vec<Stmt>,
        step: &mut Vec<Stmt>,
    ) -> Result<()> {
        for clause in clauses {
            let ClauseKind::LoopVariant(variant) = &clause.kind else { continue };
            let (span, variant) = (clause.span, self.annotation_integer(variant)?);
            if !spec::is_scalar(&variant) {
                return Err(unsupported(span, "a variant uses only integer variables"));
            }
            let var = self.new_var("variant", Type::Whole);
            let before = self.var(var, span);
            let zero = int(0, Type::Whole, span);
            let stated = |condition: Expr| Stmt::Assert(Expr { span, ..condition });
            let first = [
                Stmt::Assign(var, variant.clone()),
                stated(compare(Compare::Ge, before.clone(), zero)),
            ];
            body.splice(0..0, first);
            step.push(stated(compare(Compare::Lt, variant, before)));
        }
        Ok(())
    }
}

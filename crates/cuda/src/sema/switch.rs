//! Types `switch` (\[stmt.switch\]): arms in the order of the text, each falling through to the next.
//!
//! Refused: a body without braces, a statement before the first label, labels inside nested statements, and labels
//! that depend on a symbol.

use super::analyser::Analyser;
use super::scope::ScopeKind;
use super::stmt::is_loop_clause;
use crate::syntax::ast::{self, Condition, StmtKind as Ast};
use crate::tree::{Arm, Stmt, StmtKind, Switch, Type};
use crate::{Result, error, unsupported};
use base::Span;

impl<'a> Analyser<'a> {
    pub(super) fn switch(
        &mut self,
        condition: &'a Condition,
        body: &'a ast::Stmt,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let operand = match condition {
            Condition::Expr(expr) => self.operand(expr)?,
            Condition::Declaration(declarator) => self.condition_variable(declarator, out)?,
        };
        let from = self.rvalue(operand)?;
        let of_enum = self.is_scoped_enum(&from.ty);
        if !self.is_integer_like(&from.ty) && !of_enum {
            return Err(error(span, "`switch` needs an integer"));
        }
        let ty = if of_enum { from.ty.clone() } else { self.promoted(&from.ty) };
        let from = self.converted(from, &ty, span)?;
        let Ast::Block(inner) = &body.kind else {
            return Err(unsupported(body.span, "a `switch` without braces is not supported"));
        };
        self.body.switches += 1;
        let arms = self.in_scope(ScopeKind::Block, |one| one.arms(inner, &ty));
        self.body.switches -= 1;
        let kind = StmtKind::Switch(Box::new(Switch { value: from, arms: arms? }));
        out.push(Stmt { kind, span });
        Ok(())
    }

    /// Groups the statements of a body into arms, one for each run of labels.
    fn arms(&mut self, stmts: &'a [ast::Stmt], ty: &Type) -> Result<Vec<Arm>> {
        let mut arms: Vec<Arm> = Vec::new();
        let mut loop_clauses: Vec<&'a ast::Clause> = Vec::new();
        let mut seen = Vec::new();
        for stmt in stmts {
            let mut at = stmt;
            // Labels before a statement open an arm, or join the previous one if nothing is between.
            while let Ast::Case(_, next) | Ast::Default(next) = &at.kind {
                if arms.last().is_none_or(|one| !one.body.is_empty()) {
                    arms.push(Arm { values: Vec::new(), is_default: false, body: Vec::new() });
                }
                if let (Ast::Case(label, _), Some(arm)) = (&at.kind, arms.last_mut()) {
                    let found = self.constant_operand(label)?;
                    let found = self.converted_argument(found, ty)?;
                    let Some(number) = self.integer_constant(&found)? else {
                        return Err(unsupported(
                            label.span,
                            "this label depends on a symbolic size",
                        ));
                    };
                    if seen.contains(&number) {
                        return Err(error(label.span, "two labels have this value"));
                    }
                    seen.push(number);
                    arm.values.push(number);
                } else if let Some(arm) = arms.last_mut() {
                    arm.is_default = true;
                }
                at = next;
            }
            let Some(arm) = arms.last_mut() else {
                return Err(unsupported(
                    stmt.span,
                    "a statement before the first label is not supported",
                ));
            };
            let mut body = std::mem::take(&mut arm.body);
            if let Ast::Clauses(clauses) = &at.kind {
                let (loops, others): (Vec<_>, Vec<_>) =
                    clauses.iter().partition(|clause| is_loop_clause(clause));
                loop_clauses.extend(loops);
                let made = self.body_clauses(&others)?;
                body.push(Stmt { kind: StmtKind::Clauses(made), span: at.span });
            } else {
                let clauses = std::mem::take(&mut loop_clauses);
                self.stmt(at, &clauses, &mut body)?;
            }
            if body.is_empty() {
                // Even an empty statement separates labels.
                body.push(Stmt { kind: StmtKind::Block(Vec::new()), span: at.span });
            }
            if let Some(arm) = arms.last_mut() {
                arm.body = body;
            }
        }
        Ok(arms)
    }
}

//! Statements.

use super::convert::{convert, fold, kir_type};
use super::{Binding, Lowerer, error, unsupported};
use crate::cfront::ast::{
    Clause, ClauseKind, Declaration, Declarator, Expr as Ast, ExprKind as AstKind, Stmt as AstStmt,
    StmtKind,
};
use crate::cfront::token::Result;
use crate::kir::{Expr, ExprKind, Loop, Space, Stmt, Type, Unary};
use base::Span;
use std::collections::BTreeMap;

/// What a loop is made of: what is done first, its condition, what is done after its body, its body.
struct Parts<'a> {
    condition: Option<&'a Ast>,
    step: Option<&'a Ast>,
    body: &'a [AstStmt],
    /// The condition is tested after the body.
    after: bool,
}

impl Lowerer<'_> {
    /// Statements in a row; clauses before a loop belong to it.
    pub(super) fn statements(&mut self, statements: &[AstStmt], out: &mut Vec<Stmt>) -> Result<()> {
        let mut waiting: Vec<&Clause> = Vec::new();
        for statement in statements {
            if let StmtKind::Annotation(clauses) = &statement.kind {
                for clause in clauses {
                    self.clause(clause, &mut waiting, out)?;
                }
                continue;
            }
            let given = std::mem::take(&mut waiting);
            if let Some(first) = given.first()
                && !is_loop(statement)
            {
                return Err(error(first.span, "a loop clause stands before no loop"));
            }
            self.statement(statement, &given, out)?;
        }
        match waiting.first() {
            Some(first) => Err(error(first.span, "a loop clause stands before no loop")),
            None => Ok(()),
        }
    }

    fn clause<'c>(
        &mut self,
        clause: &'c Clause,
        waiting: &mut Vec<&'c Clause>,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        match &clause.kind {
            ClauseKind::Assert(condition) => {
                out.push(Stmt::Assert(self.spec_condition(condition)?))
            }
            ClauseKind::Assume(condition) => {
                out.push(Stmt::Assume(self.spec_condition(condition)?))
            }
            ClauseKind::LoopInvariant(_) => waiting.push(clause),
            _ => return Err(error(clause.span, "this clause belongs to no statement")),
        }
        Ok(())
    }

    /// Invariants; those of a `for` may speak of the variables it declares.
    fn invariants(&mut self, clauses: &[&Clause]) -> Result<Vec<Expr>> {
        let mut invariants = Vec::new();
        for clause in clauses {
            if let ClauseKind::LoopInvariant(condition) = &clause.kind {
                if matches!(condition.kind, AstKind::Forall(..)) {
                    let message = "invariants about arrays are not supported";
                    return Err(unsupported(clause.span, message));
                }
                invariants.push(self.spec_condition(condition)?);
            }
        }
        Ok(invariants)
    }

    fn scoped(&mut self, statements: &[AstStmt], out: &mut Vec<Stmt>) -> Result<()> {
        self.scopes.push(BTreeMap::new());
        let result = self.statements(statements, out);
        self.scopes.pop();
        result
    }

    fn statement(
        &mut self,
        statement: &AstStmt,
        clauses: &[&Clause],
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let span = statement.span;
        match &statement.kind {
            StmtKind::Declaration(declaration) => self.declare(declaration, out),
            StmtKind::Expr(expr) => self.effect(expr, out),
            StmtKind::If(condition, then, otherwise) => {
                let condition = self.condition(condition, out)?;
                let (mut first, mut second) = (Vec::new(), Vec::new());
                self.scoped(then, &mut first)?;
                self.scoped(otherwise, &mut second)?;
                out.push(Stmt::If(condition, first, second));
                Ok(())
            }
            StmtKind::Block(inner) => self.scoped(inner, out),
            StmtKind::For { init, condition, step, body } => {
                self.scopes.push(BTreeMap::new());
                let (condition, step) = (condition.as_ref(), step.as_ref());
                let parts = Parts { condition, step, body, after: false };
                let result = self
                    .statements(init, out)
                    .and_then(|()| self.looped(&parts, clauses, span, out));
                self.scopes.pop();
                result
            }
            StmtKind::While(condition, body) => {
                let parts = Parts { condition: Some(condition), step: None, body, after: false };
                self.looped(&parts, clauses, span, out)
            }
            StmtKind::DoWhile(body, condition) => {
                let parts = Parts { condition: Some(condition), step: None, body, after: true };
                self.looped(&parts, clauses, span, out)
            }
            StmtKind::Return(value) => {
                if !self.calls.is_empty() {
                    return Err(unsupported(span, "a return here is not supported"));
                }
                if value.is_some() {
                    return Err(error(span, "a kernel returns nothing"));
                }
                out.push(Stmt::Return);
                Ok(())
            }
            StmtKind::Break => {
                out.push(Stmt::Break);
                Ok(())
            }
            StmtKind::Continue => {
                out.push(Stmt::Continue);
                Ok(())
            }
            StmtKind::Annotation(_) => Ok(()),
        }
    }

    /// An expression for what it does.
    pub(super) fn effect(&mut self, expr: &Ast, out: &mut Vec<Stmt>) -> Result<()> {
        match &expr.kind {
            AstKind::Comma(left, right) => {
                self.effect(left, out)?;
                self.effect(right, out)
            }
            // As a statement `x++` and `++x` are the same.
            AstKind::Step { add, target, .. } => {
                let kind = AstKind::Step { add: *add, prefix: true, target: target.clone() };
                self.value(&Ast { kind, span: expr.span }, out).map(|_| ())
            }
            AstKind::Cast(ty, inner) if super::is_void(ty.scalar) => self.effect(inner, out),
            AstKind::Name(_) => Ok(()),
            _ => self.value(expr, out).map(|_| ()),
        }
    }

    fn looped(
        &mut self,
        parts: &Parts<'_>,
        clauses: &[&Clause],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let truth = Expr { kind: ExprKind::Int(1), ty: Type::Bool, span };
        let (mut head, mut body, mut step) = (Vec::new(), Vec::new(), Vec::new());
        let mut condition = truth;
        let invariants = self.invariants(clauses)?;
        if let Some(written) = parts.condition.filter(|_| !parts.after) {
            condition = self.condition(written, &mut head)?;
        }
        self.scoped(parts.body, &mut body)?;
        if let Some(written) = parts.step {
            self.effect(written, &mut step)?;
        }
        if let Some(written) = parts.condition.filter(|_| parts.after) {
            let goes_on = self.condition(written, &mut step)?;
            let span = goes_on.span;
            let kind = ExprKind::Unary(Unary::Not, Box::new(goes_on));
            let ends = Expr { kind, ty: Type::Bool, span };
            step.push(Stmt::If(ends, vec![Stmt::Break], Vec::new()));
        }
        out.push(Stmt::Loop(Box::new(Loop { head, condition, body, step, invariants, span })));
        Ok(())
    }

    fn declare(&mut self, declaration: &Declaration, out: &mut Vec<Stmt>) -> Result<()> {
        for declarator in &declaration.declarators {
            if declaration.shared && declaration.external {
                // All of them begin at the same address.
                if std::mem::replace(&mut self.has_dynamic, true) {
                    let message = "a second `extern __shared__` array lies over the first, which is not supported";
                    return Err(unsupported(declarator.span, message));
                }
            }
            if declaration.shared {
                self.array(declarator, Space::Shared)?;
            } else if !declarator.dimensions.is_empty() {
                self.array(declarator, Space::Local)?;
            } else {
                self.declare_one(declarator, out)?;
            }
        }
        Ok(())
    }

    fn declare_one(&mut self, declarator: &Declarator, out: &mut Vec<Stmt>) -> Result<()> {
        let (name, span) = (&declarator.name, declarator.span);
        if declarator.ty.pointers == 1 {
            let Some(init) = &declarator.init else {
                return Err(unsupported(span, "a pointer without a value is not supported"));
            };
            let (array, offset) = self.pointer(init, out)?;
            if kir_type(declarator.ty.scalar) != Some(self.arrays[array].element) {
                let message = "a pointer to elements of another type is not supported";
                return Err(unsupported(span, message));
            }
            let var = self.new_var(name, Type::LONG);
            out.push(Stmt::Assign(var, offset));
            self.bind(name, Binding::Pointer(array, var));
            return Ok(());
        }
        let ty = kir_type(declarator.ty.scalar).filter(|_| declarator.ty.pointers == 0);
        let Some(ty) = ty else {
            return Err(unsupported(span, "a variable of this type is not supported"));
        };
        let mut constant = None;
        let value = match &declarator.init {
            Some(init) => Some(convert(self.value(init, out)?, ty)),
            None => None,
        };
        if declarator.ty.constant && ty != Type::Float {
            constant = value.as_ref().and_then(fold);
        }
        let binding = match constant {
            Some(number) => Binding::Constant(number, ty),
            None => {
                let var = self.new_var(name, ty);
                if let Some(value) = value {
                    out.push(Stmt::Assign(var, value));
                }
                Binding::Var(var)
            }
        };
        self.bind(name, binding);
        Ok(())
    }
}

fn is_loop(statement: &AstStmt) -> bool {
    matches!(statement.kind, StmtKind::For { .. } | StmtKind::While(..) | StmtKind::DoWhile(..))
}

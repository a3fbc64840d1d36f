//! Statements (\[stmt.stmt\]).

use super::analyser::Analyser;
use super::gpuverify::leading_invariants;
use super::operand::{Operand, place, value};
use super::scope::{Entity, ScopeKind};
use super::types::{QType, SIZE};
use crate::syntax::ast::{self, Condition, DeclarationKind, StmtKind as Ast};
use crate::tree::{
    Clause, ClauseKind, Compare, Expr, ExprKind, Extent, Init, Loop, Stmt, StmtKind, Type,
};
use crate::{Result, error, unsupported};
use base::Span;

impl<'a> Analyser<'a> {
    /// Statements in order. Clauses of a loop come before their loop.
    pub(super) fn stmts(&mut self, stmts: &'a [ast::Stmt]) -> Result<Vec<Stmt>> {
        let mut out = Vec::new();
        let mut loop_clauses: Vec<&'a ast::Clause> = Vec::new();
        for stmt in stmts {
            if let Ast::Clauses(clauses) = &stmt.kind {
                let (loops, others): (Vec<_>, Vec<_>) =
                    clauses.iter().partition(|clause| is_loop_clause(clause));
                loop_clauses.extend(loops);
                let made = self.body_clauses(&others)?;
                if !made.is_empty() {
                    out.push(Stmt { kind: StmtKind::Clauses(made), span: stmt.span });
                }
                continue;
            }
            let clauses = std::mem::take(&mut loop_clauses);
            self.stmt(stmt, &clauses, &mut out)?;
        }
        match loop_clauses.first() {
            Some(clause) => Err(error(clause.span, "this clause belongs before a loop")),
            None => Ok(out),
        }
    }

    /// A statement in a scope of its own (\[stmt.select\]/2).
    fn substatement(&mut self, stmt: &'a ast::Stmt) -> Result<Vec<Stmt>> {
        self.in_scope(ScopeKind::Block, |one| match &stmt.kind {
            Ast::Block(inner) => one.stmts(inner),
            _ => one.stmts(std::slice::from_ref(stmt)),
        })
    }

    /// Types a statement, and appends the result to `out`.
    pub(super) fn stmt(
        &mut self,
        stmt: &'a ast::Stmt,
        clauses: &[&'a ast::Clause],
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let span = stmt.span;
        let is_loop = matches!(
            stmt.kind,
            Ast::For { .. } | Ast::RangeFor { .. } | Ast::While(..) | Ast::DoWhile(..)
        );
        if let (Some(clause), false) = (clauses.first(), is_loop) {
            return Err(error(clause.span, "this clause belongs before a loop"));
        }
        match &stmt.kind {
            Ast::Declaration(declaration) => self.local_declaration(declaration, out),
            Ast::Expr(None) => Ok(()),
            Ast::Expr(Some(expr)) => {
                if let Some(made) = self.annotation_stmt(expr)? {
                    out.extend(made);
                    return Ok(());
                }
                let made = self.discarded(expr)?;
                out.push(Stmt { kind: StmtKind::Expr(made), span });
                Ok(())
            }
            Ast::If { init, is_constexpr, condition, then, otherwise } => {
                self.with_init(init.as_deref(), span, out, |one, inner| {
                    let condition = one.condition(condition, inner)?;
                    let otherwise = otherwise.as_deref();
                    one.branch((condition, *is_constexpr), then, otherwise, span, inner)
                })
            }
            Ast::For { init, condition, step, body } => {
                let parts = (init.as_deref(), condition.as_ref(), step.as_ref());
                self.for_loop(parts, body, clauses, span, out)
            }
            Ast::RangeFor { variable, range, body } => {
                self.range_for((variable, range), body, clauses, span, out)
            }
            Ast::While(condition, body) => {
                self.for_loop((None, Some(condition), None), body, clauses, span, out)
            }
            Ast::DoWhile(body, condition) => self.do_loop(body, condition, clauses, span, out),
            Ast::Switch(init, condition, body) => {
                self.with_init(init.as_deref(), span, out, |one, inner| {
                    one.switch(condition, body, span, inner)
                })
            }
            Ast::Case(..) | Ast::Default(_) => {
                Err(unsupported(span, "a label inside of another statement is not supported"))
            }
            Ast::Block(inner) => {
                let made = self.in_scope(ScopeKind::Block, |one| one.stmts(inner))?;
                out.push(Stmt { kind: StmtKind::Block(made), span });
                Ok(())
            }
            Ast::Return(result) => self.return_stmt(result.as_ref(), span, out),
            Ast::Break => {
                if self.body.loops == 0 && self.body.switches == 0 {
                    return Err(error(span, "`break` outside a loop or `switch`"));
                }
                out.push(Stmt { kind: StmtKind::Break, span });
                Ok(())
            }
            Ast::Continue => {
                if self.body.loops == 0 {
                    return Err(error(span, "`continue` outside a loop"));
                }
                out.push(Stmt { kind: StmtKind::Continue, span });
                Ok(())
            }
            Ast::Unread(what) => Err(unsupported(span, format!("{what} is not supported"))),
            Ast::Clauses(_) => Ok(()),
        }
    }

    /// Types a statement with an init-statement (`if (init; …)`): both are in one scope.
    fn with_init(
        &mut self,
        init: Option<&'a ast::Stmt>,
        span: Span,
        out: &mut Vec<Stmt>,
        statement: impl FnOnce(&mut Self, &mut Vec<Stmt>) -> Result<()>,
    ) -> Result<()> {
        let made = self.in_scope(ScopeKind::Block, |one| {
            let mut inner = Vec::new();
            if let Some(init) = init {
                one.stmt(init, &[], &mut inner)?;
            }
            statement(one, &mut inner)?;
            Ok(inner)
        })?;
        append_block(made, span, out);
        Ok(())
    }

    fn local_declaration(
        &mut self,
        declaration: &'a ast::Declaration,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let span = declaration.span;
        match &declaration.kind {
            DeclarationKind::Variables(variables) => self.declare_locals(variables, span, out),
            DeclarationKind::StaticAssert(condition) => {
                // An instance with a false assertion does not compile, so the condition holds in all instances.
                if let Some(condition) = self.static_assert(condition)? {
                    let kind = ClauseKind::Assume(condition);
                    let kind = StmtKind::Clauses(vec![Clause { kind, span }]);
                    out.push(Stmt { kind, span });
                }
                Ok(())
            }
            DeclarationKind::Function(_) => {
                Err(unsupported(span, "functions declared in functions are not supported"))
            }
            _ => self.declare(declaration),
        }
    }

    /// A condition, or a variable declared in its place.
    fn condition(&mut self, condition: &'a Condition, out: &mut Vec<Stmt>) -> Result<Expr> {
        match condition {
            Condition::Expr(expr) => {
                let operand = self.operand(expr)?;
                self.truth(operand)
            }
            Condition::Declaration(declarator) => {
                let operand = self.condition_variable(declarator, out)?;
                self.truth(operand)
            }
        }
    }

    pub(super) fn condition_variable(
        &mut self,
        declarator: &'a ast::Declarator,
        out: &mut Vec<Stmt>,
    ) -> Result<Operand> {
        let Some(part) = declarator.name.parts.last() else {
            return Err(error(declarator.ty.span, "a name is missing here"));
        };
        let ty = self.variable_type(declarator)?;
        let local = self.new_local(&part.name.text, &ty, part.name.span);
        self.enter_local(&part.name, Entity::Local(local))?;
        let init = self.variable_init(&ty, declarator.init.as_ref(), part.name.span)?;
        let span = part.name.span;
        out.push(Stmt { kind: StmtKind::Declare(local, init), span });
        self.local_operand(local, span)
    }

    fn branch(
        &mut self,
        (condition, is_constexpr): (Expr, bool),
        then: &'a ast::Stmt,
        otherwise: Option<&'a ast::Stmt>,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        if is_constexpr && let Some(truth) = self.integer_constant(&condition)? {
            // The other side is not read at all ([stmt.if]/2).
            let chosen = if truth != 0 { Some(then) } else { otherwise };
            if let Some(chosen) = chosen {
                let made = self.substatement(chosen)?;
                out.push(Stmt { kind: StmtKind::Block(made), span });
            }
            return Ok(());
        }
        let then = self.substatement(then)?;
        let otherwise = match otherwise {
            Some(otherwise) => self.substatement(otherwise)?,
            None => Vec::new(),
        };
        out.push(Stmt { kind: StmtKind::If(condition, then, otherwise), span });
        Ok(())
    }

    fn loop_body(&mut self, body: &'a ast::Stmt) -> Result<Vec<Stmt>> {
        self.body.loops += 1;
        let made = self.substatement(body);
        self.body.loops -= 1;
        made
    }

    fn for_loop(
        &mut self,
        (init, condition, step): (
            Option<&'a ast::Stmt>,
            Option<&'a Condition>,
            Option<&'a ast::Expr>,
        ),
        body: &'a ast::Stmt,
        clauses: &[&'a ast::Clause],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let made = self.in_scope(ScopeKind::Block, |one| {
            let mut first = Vec::new();
            if let Some(init) = init {
                one.stmt(init, &[], &mut first)?;
            }
            let mut invariants = one.loop_clauses(clauses)?;
            let condition = match condition {
                None => None,
                Some(Condition::Declaration(declarator)) => {
                    let message = "a variable declared in the condition of a loop is not supported";
                    return Err(unsupported(declarator.ty.span, message));
                }
                Some(Condition::Expr(expr)) => one.loop_condition(expr, &mut invariants)?,
            };
            let step = match step {
                Some(step) => Some(one.discarded(step)?),
                None => None,
            };
            let mut body = one.loop_body(body)?;
            if condition.is_none() {
                leading_invariants(&mut body, &mut invariants);
            }
            Ok(Loop { init: first, condition, step, body, tests_after: false, clauses: invariants })
        })?;
        out.push(Stmt { kind: StmtKind::Loop(Box::new(made)), span });
        Ok(())
    }

    /// The condition of a loop; GPUVerify's invariants before it are split off.
    fn loop_condition(
        &mut self,
        expr: &'a ast::Expr,
        invariants: &mut Vec<Clause>,
    ) -> Result<Option<Expr>> {
        let rest = self.split_invariants(expr, invariants)?;
        let Some(rest) = rest else { return Ok(None) };
        let operand = self.operand(rest)?;
        self.truth(operand).map(Some)
    }

    fn do_loop(
        &mut self,
        body: &'a ast::Stmt,
        condition: &'a ast::Expr,
        clauses: &[&'a ast::Clause],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let mut invariants = self.loop_clauses(clauses)?;
        let mut body = self.loop_body(body)?;
        leading_invariants(&mut body, &mut invariants);
        let condition = self.loop_condition(condition, &mut invariants)?;
        let made = Loop {
            init: Vec::new(),
            condition,
            step: None,
            body,
            tests_after: true,
            clauses: invariants,
        };
        out.push(Stmt { kind: StmtKind::Loop(Box::new(made)), span });
        Ok(())
    }

    /// `for (T x : array)` (\[stmt.ranged\]): an index runs over the elements.
    fn range_for(
        &mut self,
        (variable, range): (&'a ast::Declarator, &'a ast::Expr),
        body: &'a ast::Stmt,
        clauses: &[&'a ast::Clause],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let range = self.operand(range)?;
        let Type::Array(_, Extent::Known(count)) = range.expr.ty.clone() else {
            return Err(unsupported(span, "a range that is not an array is not supported"));
        };
        if !matches!(
            range.expr.kind,
            ExprKind::Local(_) | ExprKind::Global(_) | ExprKind::Field(..)
        ) {
            return Err(unsupported(span, "a range that is computed is not supported"));
        }
        let made = self.in_scope(ScopeKind::Block, |one| {
            let index = one.new_local("", &QType::plain(SIZE), span);
            let zero = super::operand::literal(0, SIZE, span);
            let first = vec![Stmt { kind: StmtKind::Declare(index, Some(Init::Expr(zero))), span }];
            let invariants = one.loop_clauses(clauses)?;
            let at = one.local_operand(index, span)?;
            let read = one.rvalue(at.clone())?;
            let end = super::operand::literal(i128::from(count), SIZE, span);
            let kind = ExprKind::Compare(Compare::Lt, Box::new(read.clone()), Box::new(end));
            let condition = Some(value(kind, Type::Bool, span));
            let kind = ExprKind::Step { add: true, is_prefix: true, place: Box::new(at.expr) };
            let step = Some(place(kind, SIZE, span));
            let body = one.in_scope(ScopeKind::Block, |one| {
                let base = one.rvalue(range)?;
                let sum = one.pointer_sum(true, base, read, span)?;
                let current = one.dereferenced(sum, span)?;
                let declared = one.range_variable(variable, current)?;
                let mut inner = vec![declared];
                inner.extend(one.loop_body(body)?);
                Ok(inner)
            })?;
            Ok(Loop { init: first, condition, step, body, tests_after: false, clauses: invariants })
        })?;
        out.push(Stmt { kind: StmtKind::Loop(Box::new(made)), span });
        Ok(())
    }

    fn range_variable(&mut self, variable: &'a ast::Declarator, current: Operand) -> Result<Stmt> {
        let Some(part) = variable.name.parts.last() else {
            return Err(error(variable.ty.span, "a name is missing here"));
        };
        let span = part.name.span;
        let ty = match super::declare::is_auto(&variable.ty) {
            true => self.deduce_auto(&variable.ty, &current)?,
            false => self.resolve_type(&variable.ty)?,
        };
        let local = self.new_local(&part.name.text, &ty, span);
        self.enter_local(&part.name, Entity::Local(local))?;
        let made = self.implicit(current, &ty, span)?;
        Ok(Stmt { kind: StmtKind::Declare(local, Some(Init::Expr(made))), span })
    }

    fn return_stmt(
        &mut self,
        result: Option<&'a ast::Expr>,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        if self.body.is_constructor {
            let Some((this, _)) = self.body.this else { return Ok(()) };
            let object = self.local_operand(this, span)?;
            let object = self.rvalue(object)?;
            out.push(Stmt { kind: StmtKind::Return(Some(object)), span });
            return Ok(());
        }
        let Some(result) = result else {
            self.body.returns.get_or_insert(QType::plain(Type::Void));
            if self.body.returns.as_ref().is_some_and(|one| one.ty != Type::Void) {
                return Err(error(span, "expected a value to return"));
            }
            out.push(Stmt { kind: StmtKind::Return(None), span });
            return Ok(());
        };
        let wanted = self.body.returns.clone();
        if let (ast::ExprKind::Braces(parts), Some(wanted)) = (&result.kind, &wanted) {
            let made = self.list_value(&wanted.ty, parts, result.span)?;
            out.push(Stmt { kind: StmtKind::Return(Some(made)), span });
            return Ok(());
        }
        let operand = self.operand(result)?;
        let wanted = match (wanted, self.body.returns_auto) {
            (Some(wanted), _) => wanted,
            (None, _) => {
                let deduced = QType::plain(super::types::decayed(&operand.qtype()));
                self.body.returns = Some(deduced.clone());
                deduced
            }
        };
        if wanted.ty == Type::Void {
            if operand.expr.ty != Type::Void {
                return Err(error(span, "this function returns no value"));
            }
            out.push(Stmt { kind: StmtKind::Expr(operand.expr), span });
            out.push(Stmt { kind: StmtKind::Return(None), span });
            return Ok(());
        }
        if self.body.returns_auto && super::types::decayed(&operand.qtype()) != wanted.ty {
            return Err(error(span, "results of one function have different types"));
        }
        let made = self.implicit(operand, &wanted, result.span)?;
        if wanted.is_reference() && matches!(made.kind, ExprKind::Temporary(_)) {
            return Err(unsupported(span, "a reference to a temporary is returned here"));
        }
        out.push(Stmt { kind: StmtKind::Return(Some(made)), span });
        Ok(())
    }
}

pub(super) fn is_loop_clause(clause: &ast::Clause) -> bool {
    matches!(clause.kind, ast::ClauseKind::LoopInvariant(..) | ast::ClauseKind::LoopVariant(_))
}

/// Appends the contents of a scope; a single statement needs no block.
fn append_block(made: Vec<Stmt>, span: Span, out: &mut Vec<Stmt>) {
    match made.len() {
        0 => {}
        1 => out.extend(made),
        _ => out.push(Stmt { kind: StmtKind::Block(made), span }),
    }
}

//! Lowers statements: blocks, branches, loops, barriers with their clauses, and expressions evaluated for their effect.

use super::diagnostics::{Result, error, unsupported};
use super::lowerer::Lowerer;
use super::memory_model::{Item, Value};
use super::rotated::rotated;
use super::types::{not, truth};
use base::Span;
use cuda::tree::{self, Clause, ClauseKind, ExprKind as Kind, StmtKind};
use deadline::tick;
use kir::{Expr, ExprKind, Loop, Stmt, Type};

const STRAY_BARRIER: &str = "this barrier clause is not followed by a barrier";

/// Limit on nested loops: the analysis of each runs the iterations of the others.
const MAX_LOOPS: usize = 10;

impl Lowerer<'_> {
    /// Lowers a list of statements; clauses before a barrier belong to it.
    pub(super) fn statements(
        &mut self,
        statements: &[tree::Stmt],
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let mut waiting: Vec<&Clause> = Vec::new();
        for (position, statement) in statements.iter().enumerate() {
            if let StmtKind::Clauses(clauses) = &statement.kind {
                for clause in clauses {
                    self.clause(clause, &mut waiting, out)?;
                }
                continue;
            }
            let given = std::mem::take(&mut waiting);
            match barrier(statement) {
                Some(_) => self.at_barrier(&given, out)?,
                None => {
                    if let Some(first) = given.first() {
                        return Err(stray_clause(first));
                    }
                    if let Some(first) = self.pending.first().filter(|_| !is_pending(statement)) {
                        return Err(error(first.span, STRAY_BARRIER));
                    }
                }
            }
            let rest = statements.get(position + 1..).unwrap_or_default();
            if self.statement_and_rest(statement, rest, out)? {
                return Ok(());
            }
        }
        if let Some(first) = self.pending.first() {
            return Err(error(first.span, STRAY_BARRIER));
        }
        waiting.first().map_or(Ok(()), |first| Err(stray_clause(first)))
    }

    fn clause<'c>(
        &mut self,
        clause: &'c Clause,
        waiting: &mut Vec<&'c Clause>,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        match &clause.kind {
            ClauseKind::Assert(condition) => {
                out.extend(
                    self.scalar_claims(condition, clause.span)?.into_iter().map(Stmt::Assert),
                );
            }
            ClauseKind::Assume(condition) => {
                // A condition on elements cannot be tested, so no run continues past it.
                out.push(Stmt::Assume(self.annotation_condition(condition)?));
            }
            ClauseKind::LoopInvariant(..)
            | ClauseKind::LoopVariant(_)
            | ClauseKind::BarrierInvariant(..)
            | ClauseKind::Instantiate => waiting.push(clause),
            ClauseKind::GhostDeclare(id, value) => {
                self.ghost_declare(*id, value.as_ref(), clause.span, out)?
            }
            ClauseKind::GhostAssign(id, value) => {
                self.ghost_assign(*id, value, clause.span, out)?
            }
            ClauseKind::Use(lemma, arguments) => {
                let used = self.lemma_instance(*lemma, arguments, clause.span)?;
                out.push(used);
            }
            // GPUVerify's clauses stand in the body.
            ClauseKind::Requires(condition) if self.frames.len() == 1 => {
                let condition = self.annotation_condition(condition)?;
                self.requires.push(kir::Requirement { forall: Vec::new(), condition });
            }
            ClauseKind::Requires(condition) => {
                out.push(Stmt::Assume(self.annotation_condition(condition)?));
            }
            ClauseKind::Ensures(condition) if self.frames.len() == 1 => {
                self.postcondition(condition, clause.span)?;
            }
            ClauseKind::Unfollowed { is_postcondition, why } => {
                let about = super::claims::about(*is_postcondition);
                self.leave_open(about, clause.span, why.clone());
            }
            _ => return Err(error(clause.span, "this clause belongs to no statement")),
        }
        Ok(())
    }

    pub(super) fn statement(&mut self, statement: &tree::Stmt, out: &mut Vec<Stmt>) -> Result<()> {
        tick();
        let span = statement.span;
        match &statement.kind {
            StmtKind::Declare(id, init) => self.declare(*id, init.as_ref(), span, out),
            StmtKind::Expr(expr) => self.effect(expr, out),
            StmtKind::If(condition, then, otherwise) => {
                if let Some(turned) = rotated(condition, then).filter(|_| otherwise.is_empty()) {
                    return self.statement(&turned, out);
                }
                let condition = self.condition(condition, out)?;
                let (mut first, mut second) = (Vec::new(), Vec::new());
                self.statements(then, &mut first)?;
                self.statements(otherwise, &mut second)?;
                out.push(Stmt::If(condition, first, second));
                Ok(())
            }
            StmtKind::Block(inner) => self.statements(inner, out),
            StmtKind::Loop(_)
                if self.frames.iter().map(|frame| frame.loops).sum::<usize>() >= MAX_LOOPS =>
            {
                Err(unsupported(span, "loops nested this deeply are not supported"))
            }
            StmtKind::Loop(inner) => self.lower_loop(inner, span, out),
            StmtKind::Switch(_) => Err(unsupported(span, "this `switch` is not supported")),
            StmtKind::Return(value) => self.return_from(value.as_ref(), span, out),
            StmtKind::Break | StmtKind::Continue
                if self.frames.last().is_none_or(|frame| frame.loops == 0) =>
            {
                Err(error(span, "this is not in a loop"))
            }
            StmtKind::Break => {
                out.push(Stmt::Break);
                Ok(())
            }
            StmtKind::Continue => {
                out.push(Stmt::Continue);
                Ok(())
            }
            StmtKind::Clauses(_) => Ok(()),
        }
    }

    /// An expression statement, evaluated for its side effects.
    pub(super) fn effect(&mut self, expr: &tree::Expr, out: &mut Vec<Stmt>) -> Result<()> {
        match &expr.kind {
            Kind::Comma(left, right) => {
                self.effect(left, out)?;
                self.effect(right, out)
            }
            // As a statement `x++` and `++x` are the same.
            Kind::Step { add, place, .. } => {
                let place = self.place(place, out)?;
                self.step(*add, true, &place, expr.span, out).map(|_| ())
            }
            Kind::Assign(target, value) => self.assign(target, value, expr.span, out).map(|_| ()),
            Kind::AssignOp { op, ty, place, value } => {
                self.assign_with(*op, ty, [place, value], expr.span, out).map(|_| ())
            }
            Kind::Convert(inner) if matches!(expr.ty, tree::Type::Void) => self.effect(inner, out),
            Kind::Read(inner) if matches!(inner.kind, Kind::Local(_)) => Ok(()),
            Kind::Local(_) | Kind::Global(_) => Ok(()),
            Kind::Call(..) | Kind::CallPointer(..) | Kind::Intrinsic(..) => self.discard(expr, out),
            _ if expr.category == tree::Category::Place => self.place(expr, out).map(|_| ()),
            _ => self.discard(expr, out),
        }
    }

    /// Evaluates an expression whose value is not used. Divisions and shifts in it stay: they must be defined.
    pub(super) fn discard(&mut self, expr: &tree::Expr, out: &mut Vec<Stmt>) -> Result<()> {
        let value = self.value(expr, out)?;
        self.keep_partial(value, out);
        Ok(())
    }

    /// Keeps those scalars of an unused value whose operations may be undefined.
    pub(super) fn keep_partial(&mut self, value: Value, out: &mut Vec<Stmt>) {
        for item in value {
            if let Item::Scalar(value) = item
                && kir::spec::is_partial_integer(&value)
            {
                self.keep("unused", value, out);
            }
        }
    }

    fn lower_loop(&mut self, parts: &tree::Loop, span: Span, out: &mut Vec<Stmt>) -> Result<()> {
        self.statements(&parts.init, out)?;
        let clauses: Vec<&Clause> = parts.clauses.iter().collect();
        let (mut head, mut body, mut step) = (Vec::new(), Vec::new(), Vec::new());
        let mut condition = Expr { kind: ExprKind::Int(1), ty: Type::Bool, span };
        let (invariants, claims) = self.invariants(&clauses)?;
        if let Some(written) = parts.condition.as_ref().filter(|_| !parts.tests_after) {
            condition = self.condition(written, &mut head)?;
        }
        self.count_loops(true);
        let result = self.statements(&parts.body, &mut body);
        self.count_loops(false);
        result?;
        if let Some(written) = &parts.step {
            self.effect(written, &mut step)?;
        }
        self.variants(&clauses, &mut body, &mut step)?;
        if let Some(written) = parts.condition.as_ref().filter(|_| parts.tests_after) {
            let continues = truth(self.condition(written, &mut step)?);
            step.push(Stmt::If(not(continues), vec![Stmt::Break], Vec::new()));
        }
        let inner = Loop { head, condition, body, step, invariants, claims, span };
        out.push(Stmt::Loop(Box::new(inner)));
        Ok(())
    }

    fn count_loops(&mut self, enters: bool) {
        if let Some(frame) = self.frames.last_mut() {
            frame.loops = if enters { frame.loops + 1 } else { frame.loops.saturating_sub(1) };
        }
    }
}

/// The span of a statement that is a barrier.
pub(super) fn barrier(statement: &tree::Stmt) -> Option<Span> {
    let StmtKind::Expr(expr) = &statement.kind else { return None };
    match &expr.kind {
        Kind::Intrinsic("__syncthreads", _) => Some(expr.span),
        _ => None,
    }
}

/// Returns `true` for a call that states a claim for the next barrier.
fn is_pending(statement: &tree::Stmt) -> bool {
    let StmtKind::Expr(expr) = &statement.kind else { return false };
    matches!(&expr.kind, Kind::Intrinsic(name, _) if name.starts_with("__barrier_invariant"))
}

fn stray_clause(clause: &Clause) -> Box<base::Diagnostic> {
    match clause.kind {
        ClauseKind::BarrierInvariant(..) | ClauseKind::Instantiate => {
            error(clause.span, STRAY_BARRIER)
        }
        _ => error(clause.span, "this loop clause is not followed by a loop"),
    }
}

//! Statements.

use super::access::Place;
use super::convert::{convert, fold, kir_type};
use super::loops::without_invariants;
use super::{Binding, Lowerer, error, unsupported};
use crate::cfront::ast::{
    Clause, ClauseKind, Declaration, Declarator, Expr as Ast, ExprKind as AstKind, Scalar,
    Stmt as AstStmt, StmtKind,
};
use crate::cfront::token::Result;
use crate::kir::{Element, Expr, ExprKind, Loop, Space, Stmt, Type, Unary};
use base::Span;
use std::collections::BTreeMap;

/// Elements of an array that is initialised.
const MAX_INITIALISED: usize = 64;

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
            let barrier = barrier(statement);
            let misplaced = given.iter().find(|clause| match is_at_barrier(clause) {
                true => barrier.is_none(),
                false => !is_loop(statement),
            });
            if let Some(misplaced) = misplaced {
                return Err(stray(misplaced));
            }
            match barrier {
                Some(_) => self.at_barrier(&given, out)?,
                None if !self.pending.is_empty() && !is_pending(statement) => {
                    return Err(error(self.pending[0].span, STRAY_BARRIER));
                }
                None => {}
            }
            self.statement(statement, &given, out)?;
        }
        if let Some(first) = self.pending.first() {
            return Err(error(first.span, STRAY_BARRIER));
        }
        waiting.first().map_or(Ok(()), |first| Err(stray(first)))
    }

    fn clause<'c>(
        &mut self,
        clause: &'c Clause,
        waiting: &mut Vec<&'c Clause>,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        match &clause.kind {
            ClauseKind::Assert(condition) => {
                out.extend(self.stated(condition, clause.span)?.into_iter().map(Stmt::Assert));
            }
            ClauseKind::Assume(condition) => {
                // Of elements it cannot be tested, and no run goes on past it.
                out.push(Stmt::Assume(self.spec_condition(condition)?));
            }
            ClauseKind::LoopInvariant(..)
            | ClauseKind::LoopVariant(_)
            | ClauseKind::BarrierInvariant(..)
            | ClauseKind::Instantiate => waiting.push(clause),
            ClauseKind::GhostVar(declaration) => {
                self.ghost_var(declaration, clause.span, out)?;
            }
            ClauseKind::Use(name, arguments) => {
                let used = self.used_lemma(name, arguments, clause.span)?;
                out.push(used);
            }
            ClauseKind::GhostAssign(target, value) => self.ghost_assign(target, value, out)?,
            _ => return Err(error(clause.span, "this clause belongs to no statement")),
        }
        Ok(())
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
            StmtKind::Break | StmtKind::Continue if self.loops == 0 => {
                Err(error(span, "this stands in no loop"))
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
            AstKind::Cast(ty, inner) if ty.scalar == Scalar::Void => self.effect(inner, out),
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
        let (mut invariants, claims) = self.invariants(clauses)?;
        if let Some(written) = parts.condition.filter(|_| !parts.after) {
            let mut stated = Vec::new();
            let written = without_invariants(written, &mut stated);
            for invariant in stated {
                invariants.push(self.spec_condition(invariant)?);
            }
            condition = self.condition(written, &mut head)?;
        }
        self.loops += 1;
        let done = self.scoped(parts.body, &mut body);
        self.loops -= 1;
        done?;
        if let Some(written) = parts.step {
            self.effect(written, &mut step)?;
        }
        self.variants(clauses, &mut body, &mut step)?;
        if let Some(written) = parts.condition.filter(|_| parts.after) {
            let goes_on = self.condition(written, &mut step)?;
            let span = goes_on.span;
            let kind = ExprKind::Unary(Unary::Not, Box::new(goes_on));
            let ends = Expr { kind, ty: Type::Bool, span };
            step.push(Stmt::If(ends, vec![Stmt::Break], Vec::new()));
        }
        let inner = Loop { head, condition, body, step, invariants, claims, span };
        out.push(Stmt::Loop(Box::new(inner)));
        Ok(())
    }

    fn declare(&mut self, declaration: &Declaration, out: &mut Vec<Stmt>) -> Result<()> {
        for declarator in &declaration.declarators {
            if declaration.shared {
                self.declare_shared(declaration, declarator)?;
            } else if !declarator.dimensions.is_empty() {
                self.array(declarator, Space::Local)?;
                self.initialise(declarator, out)?;
            } else {
                self.declare_one(declarator, out)?;
            }
        }
        Ok(())
    }

    fn declare_shared(&mut self, declaration: &Declaration, declarator: &Declarator) -> Result<()> {
        let (name, span) = (&declarator.name, declarator.span);
        if let Some(known) = self.shared.get(&span).cloned() {
            self.bind(name, known);
            return Ok(());
        }
        // All of them begin at the same address.
        if declaration.external && std::mem::replace(&mut self.has_dynamic, true) {
            let message =
                "a second `extern __shared__` array lies over the first, which is not supported";
            return Err(unsupported(span, message));
        }
        if declarator.init.is_some() {
            return Err(unsupported(span, "initialised shared variables are not supported"));
        }
        self.array(declarator, Space::Shared)?;
        if let Some(binding) = self.lookup(name).cloned() {
            if declaration.external {
                self.dynamic = Some((declarator.clone(), binding.clone()));
            }
            self.shared.insert(span, binding);
        }
        Ok(())
    }

    /// `int a[3] = {1, 2}`: elements that are not given are 0.
    fn initialise(&mut self, declarator: &Declarator, out: &mut Vec<Stmt>) -> Result<()> {
        let span = declarator.span;
        let Some(init) = &declarator.init else { return Ok(()) };
        let Some(Binding::Array(array)) = self.lookup(&declarator.name).cloned() else {
            return Err(unsupported(span, "this initialiser is not supported"));
        };
        let sizes = self.arrays[array].dimensions.iter();
        let sizes: Option<Vec<i128>> = sizes.map(|size| size.as_ref().and_then(fold)).collect();
        let (AstKind::Braces(parts), Some([size])) = (&init.kind, sizes.as_deref()) else {
            return Err(unsupported(span, "this initialiser is not supported"));
        };
        let size = usize::try_from(*size).unwrap_or(0);
        if size > MAX_INITIALISED || parts.len() > size {
            return Err(unsupported(span, "this initialiser is not supported"));
        }
        let ty = self.arrays[array].element;
        for position in 0..size {
            let value = match parts.get(position) {
                Some(part) => self.value(part, out)?,
                None => Expr { kind: ExprKind::Int(0), ty: Type::INT, span },
            };
            let at = i128::try_from(position).unwrap_or(0);
            let index = vec![Expr { kind: ExprKind::Int(at), ty: Type::LONG, span }];
            out.push(Stmt::Store(Element { array, index, span }, convert(value, ty)));
        }
        Ok(())
    }

    fn declare_one(&mut self, declarator: &Declarator, out: &mut Vec<Stmt>) -> Result<()> {
        let (name, span) = (&declarator.name, declarator.span);
        let mut declarator = declarator.clone();
        if declarator.ty.scalar == Scalar::Auto && !declarator.ty.reference {
            self.settle_auto(&mut declarator)?;
        }
        let declarator = &declarator;
        if declarator.ty.reference {
            let Some(init) = &declarator.init else {
                return Err(error(span, "a reference needs what it refers to"));
            };
            let binding = self.reference(init, out)?;
            self.bind(name, binding);
            return Ok(());
        }
        if let (Scalar::Struct(number), 0) = (declarator.ty.scalar, declarator.ty.pointers) {
            let binding = self.declare_record(declarator, number, out)?;
            self.bind(name, binding);
            return Ok(());
        }
        if let (Scalar::Struct(_), 1, Some(init)) =
            (declarator.ty.scalar, declarator.ty.pointers, &declarator.init)
        {
            let Some(pointer) = self.record_pointer(init, out)? else {
                return Err(unsupported(span, "this pointer is not supported"));
            };
            let binding = self.bind_pointer(name, pointer, out);
            self.bind(name, binding);
            return Ok(());
        }
        if declarator.ty.pointers == 1 {
            let Some(init) = &declarator.init else {
                return Err(unsupported(span, "a pointer without a value is not supported"));
            };
            let (array, offset) = self.pointer(init, out)?;
            let wanted = kir_type(declarator.ty.scalar);
            let any = declarator.ty.scalar == Scalar::Auto;
            if !any && wanted != Some(self.arrays[array].element) {
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

impl Lowerer<'_> {
    /// The type of `auto` from what it is initialised with.
    fn settle_auto(&mut self, declarator: &mut Declarator) -> Result<()> {
        let Some(init) = &declarator.init else {
            return Err(error(declarator.span, "`auto` needs a value"));
        };
        if let Some(number) = self.record_type(init) {
            declarator.ty.scalar = Scalar::Struct(number);
            return Ok(());
        }
        if self.is_pointer(init) {
            declarator.ty.pointers = 1;
            return Ok(());
        }
        declarator.ty.scalar = match self.value(init, &mut Vec::new())?.ty {
            Type::Bool => Scalar::Bool,
            Type::Int { bits, signed } => Scalar::Int { bits, signed },
            Type::Whole => Scalar::Int { bits: 64, signed: true },
            Type::Float => Scalar::Float { bits: 32 },
        };
        Ok(())
    }

    /// What another name for this expression stands for: the same variable or the same element.
    pub(super) fn reference(&mut self, expr: &Ast, out: &mut Vec<Stmt>) -> Result<Binding> {
        if let AstKind::Name(name) = &expr.kind
            && let Some(known) = self.lookup(name)
        {
            return Ok(known.clone());
        }
        let mut places = match self.places(expr, out)? {
            Some(places) => places,
            None => match &expr.kind {
                AstKind::Index(..) | AstKind::Unary("*", _) => {
                    vec![(Vec::new(), Place::Element(self.element(expr, out)?))]
                }
                _ => {
                    let value = self.value(expr, out)?;
                    let var = self.new_var("copy", value.ty);
                    out.push(Stmt::Assign(var, value));
                    return Ok(Binding::Var(var));
                }
            },
        };
        // The element is chosen here, whatever its index is later.
        for (_, place) in &mut places {
            if let Place::Element(element) = place {
                for index in &mut element.index {
                    let var = self.new_var("at", index.ty);
                    out.push(Stmt::Assign(var, index.clone()));
                    *index = self.var(var, index.span);
                }
            }
        }
        Ok(Binding::Places(places))
    }
}

/// The place of a barrier that stands for itself.
pub(super) fn barrier(statement: &AstStmt) -> Option<Span> {
    let StmtKind::Expr(expr) = &statement.kind else { return None };
    match &expr.kind {
        AstKind::Call(name, _) if matches!(name.as_str(), "__syncthreads" | "__barrier_sync") => {
            Some(expr.span)
        }
        _ => None,
    }
}

/// Whether a statement is a call that claims something of the next barrier.
fn is_pending(statement: &AstStmt) -> bool {
    let StmtKind::Expr(expr) = &statement.kind else { return false };
    matches!(&expr.kind, AstKind::Call(name, _) if name.starts_with("__barrier_invariant_"))
}

const STRAY_BARRIER: &str = "a barrier clause stands before no barrier";

fn is_at_barrier(clause: &Clause) -> bool {
    matches!(clause.kind, ClauseKind::BarrierInvariant(..) | ClauseKind::Instantiate)
}

fn stray(clause: &Clause) -> Box<base::Diagnostic> {
    match is_at_barrier(clause) {
        true => error(clause.span, STRAY_BARRIER),
        false => error(clause.span, "a loop clause stands before no loop"),
    }
}

fn is_loop(statement: &AstStmt) -> bool {
    matches!(statement.kind, StmtKind::For { .. } | StmtKind::While(..) | StmtKind::DoWhile(..))
}

//! Early exits: `return` of an inlined function, and `break` of a `switch`.
//!
//! Statements are rewritten so that an exit is the last statement of its path: if one branch of an `if` exits, the code
//! after the `if` moves into the other branch. A `return` in a loop sets a flag and leaves the loop, and the code after
//! the loop runs only if the flag is not set.

use super::diagnostics::{Result, error, unsupported};
use super::lowerer::Lowerer;
use super::types::not;
use base::Span;
use cuda::tree::{Expr, Stmt, StmtKind};

/// Limit on statements that are duplicated because both branches of an `if` may continue.
const MAX_REPEATED: usize = 400;

/// The construct that is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExitKind {
    /// By `return`.
    Function,
    /// By `break`.
    Switch,
}

/// Returns `true` if one of these statements may exit.
pub(super) fn may_exit(statements: &[Stmt], exit: ExitKind) -> bool {
    statements.iter().any(|statement| match &statement.kind {
        StmtKind::Return(_) => exit == ExitKind::Function,
        StmtKind::Break => exit == ExitKind::Switch,
        StmtKind::If(_, then, otherwise) => may_exit(then, exit) || may_exit(otherwise, exit),
        StmtKind::Block(inner) => may_exit(inner, exit),
        // A `break` inside belongs to the inner loop.
        StmtKind::Loop(inner) => exit == ExitKind::Function && may_exit(&inner.body, exit),
        StmtKind::Switch(inner) => {
            exit == ExitKind::Function && inner.arms.iter().any(|arm| may_exit(&arm.body, exit))
        }
        _ => false,
    })
}

/// Returns `true` if control never passes a statement.
pub(super) fn always_exits(statement: &Stmt, exit: ExitKind) -> bool {
    let all = |list: &[Stmt]| list.iter().any(|one| always_exits(one, exit));
    match &statement.kind {
        // `return` leaves a `switch`, too.
        StmtKind::Return(_) => true,
        StmtKind::Break => exit == ExitKind::Switch,
        StmtKind::Continue => exit == ExitKind::Switch,
        StmtKind::If(_, then, otherwise) => all(then) && all(otherwise),
        StmtKind::Block(inner) => all(inner),
        _ => false,
    }
}

/// Rewrites statements so that every exit is at an end.
pub(super) fn normalise_exits(body: &[Stmt], exit: ExitKind) -> Result<Vec<Stmt>> {
    let mut out = Vec::new();
    for (position, statement) in body.iter().enumerate() {
        let rest = body.get(position + 1..).unwrap_or_default();
        if always_exits(statement, exit)
            && !matches!(statement.kind, StmtKind::If(..) | StmtKind::Block(_))
        {
            out.push(statement.clone());
            return Ok(out);
        }
        match &statement.kind {
            StmtKind::If(condition, then, otherwise)
                if may_exit(std::slice::from_ref(statement), exit) =>
            {
                let complete = |part: &[Stmt]| -> Result<Vec<Stmt>> {
                    let mut branch = part.to_vec();
                    if !part.iter().any(|one| always_exits(one, exit)) {
                        branch.extend(rest.iter().cloned());
                    }
                    if count(&branch) > MAX_REPEATED * 16 {
                        return Err(unsupported(
                            statement.span,
                            "this many exits are not supported",
                        ));
                    }
                    normalise_exits(&branch, exit)
                };
                let kind = StmtKind::If(condition.clone(), complete(then)?, complete(otherwise)?);
                out.push(Stmt { kind, span: statement.span });
                return Ok(out);
            }
            StmtKind::Block(inner) if may_exit(inner, exit) => {
                let mut branch = inner.clone();
                branch.extend(rest.iter().cloned());
                out.extend(normalise_exits(&branch, exit)?);
                return Ok(out);
            }
            _ => out.push(statement.clone()),
        }
    }
    Ok(out)
}

/// Counts statements, at any depth.
fn count(statements: &[Stmt]) -> usize {
    let one = |statement: &Stmt| match &statement.kind {
        StmtKind::If(_, then, otherwise) => count(then) + count(otherwise),
        StmtKind::Block(inner) => count(inner),
        StmtKind::Loop(inner) => count(&inner.init) + count(&inner.body),
        _ => 0,
    };
    statements.iter().map(|statement| 1 + one(statement)).sum()
}

/// Returns `true` if much code follows an `if` of which both branches may continue, so that it would be duplicated.
fn repeats(body: &[Stmt]) -> bool {
    body.iter().enumerate().any(|(position, statement)| match &statement.kind {
        StmtKind::If(_, then, otherwise)
            if may_exit(std::slice::from_ref(statement), ExitKind::Function) =>
        {
            let ends = |part: &[Stmt]| part.iter().any(|one| always_exits(one, ExitKind::Function));
            let rest = count(body.get(position + 1..).unwrap_or_default());
            (!ends(then) && !ends(otherwise) && rest > MAX_REPEATED)
                || repeats(then)
                || repeats(otherwise)
        }
        StmtKind::Block(inner) => repeats(inner),
        _ => false,
    })
}

impl Lowerer<'_> {
    /// Lowers the statements of an inlined function.
    pub(super) fn inlined_body(&mut self, body: &[Stmt], out: &mut Vec<kir::Stmt>) -> Result<()> {
        if repeats(body) {
            let message = "a function with this many `return` statements is not supported";
            return Err(unsupported(body.first().map_or(Span::default(), |one| one.span), message));
        }
        let body = normalise_exits(body, ExitKind::Function)?;
        self.statements(&body, out)
    }

    /// Lowers a statement. If a loop in it may return from the function, the rest of the list is lowered under a test
    /// of the flag, and the result is `true`.
    pub(super) fn statement_and_rest(
        &mut self,
        statement: &Stmt,
        rest: &[Stmt],
        out: &mut Vec<kir::Stmt>,
    ) -> Result<bool> {
        self.statement(statement, out)?;
        let is_call = self.frames.last().is_some_and(|frame| frame.exit.is_some());
        if !is_call || !is_returning_loop(statement) {
            return Ok(false);
        }
        // The flag is set if a loop in the statement returned.
        let Some(flag) = self.return_flag() else { return Ok(false) };
        let tested = self.var(flag, statement.span);
        if self.frames.last().is_some_and(|frame| frame.loops > 0) {
            out.push(kir::Stmt::If(tested, vec![kir::Stmt::Break], Vec::new()));
            return Ok(false);
        }
        let mut following = Vec::new();
        self.statements(rest, &mut following)?;
        if !following.is_empty() {
            out.push(kir::Stmt::If(not(tested), following, Vec::new()));
        }
        Ok(true)
    }

    /// `return`.
    pub(super) fn return_from(
        &mut self,
        value: Option<&Expr>,
        span: Span,
        out: &mut Vec<kir::Stmt>,
    ) -> Result<()> {
        let (target, in_loop) = match self.frames.last() {
            Some(frame) => (frame.exit.clone(), frame.loops > 0),
            None => (None, false),
        };
        let Some(exit) = target else {
            if value.is_some() {
                return Err(error(span, "a kernel returns nothing"));
            }
            out.push(kir::Stmt::Return);
            return Ok(());
        };
        match (value, &exit.returned) {
            (Some(value), Some(place)) if exit.is_reference => {
                let address = self.address_expr(value);
                let pointer = self.value(&address, out)?;
                self.write(place, pointer, span, out)?;
            }
            (Some(value), Some(place)) => {
                let value = self.value(value, out)?;
                self.write(place, value, span, out)?;
            }
            (Some(value), None) => self.effect(value, out)?,
            (None, None) => {}
            (None, Some(_)) => return Err(error(span, "this return does not fit the function")),
        }
        if in_loop {
            let Some(flag) = self.return_flag() else {
                return Err(unsupported(span, "a return here is not supported"));
            };
            let truth = super::types::boolean(true, span);
            out.push(kir::Stmt::Assign(flag, truth));
            out.push(kir::Stmt::Break);
        }
        Ok(())
    }

    fn return_flag(&self) -> Option<kir::VarId> {
        self.frames.last().and_then(|frame| frame.exit.as_ref()).and_then(|exit| exit.flag)
    }
}

/// Returns `true` for a loop that may return from the function.
fn is_returning_loop(statement: &Stmt) -> bool {
    matches!(&statement.kind, StmtKind::Loop(inner) if may_exit(&inner.body, ExitKind::Function))
}

/// Returns `true` if a loop among these statements may return from the function.
pub(super) fn has_loop_exit(statements: &[Stmt]) -> bool {
    statements.iter().any(|statement| match &statement.kind {
        StmtKind::Loop(_) => is_returning_loop(statement),
        StmtKind::If(_, then, otherwise) => has_loop_exit(then) || has_loop_exit(otherwise),
        StmtKind::Block(inner) => has_loop_exit(inner),
        _ => false,
    })
}

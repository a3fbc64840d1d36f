//! Finds the variables that a loop carries from one iteration to the next.
//!
//! A variable that is assigned on every path to its reads, and read nowhere but in the loop, is fresh in each
//! iteration: nothing needs to be known about it at the loop's head. May err towards "carried" for a variable that is
//! fresh, never the other way round.

use crate::{Element, Expr, ExprKind, Loop, Stmt, VarId, each_expr, visit};
use base::Index;
use std::collections::BTreeSet;

/// Number of reads of each variable.
pub fn reads(statements: &[Stmt], vars: usize) -> Vec<usize> {
    let mut counts = vec![0; vars];
    each_expr(statements, &mut |expr| {
        visit(expr, &mut |inner| {
            if let ExprKind::Var(var) = inner.kind {
                counts[var.position()] += 1;
            }
        });
    });
    counts
}

/// Variables that are fresh in each iteration; `all` has the number of reads in the whole kernel.
pub fn fresh(inner: &Loop, assigned: &[VarId], all: &[usize]) -> Vec<VarId> {
    let mut reads_inside = vec![0; all.len()];
    for part in [&inner.head, &inner.body, &inner.step] {
        for (sum, count) in reads_inside.iter_mut().zip(reads(part, all.len())) {
            *sum += count;
        }
    }
    let claims = inner.claims.iter().map(|claim| &claim.condition);
    for expr in inner.invariants.iter().chain([&inner.condition]).chain(claims) {
        visit(expr, &mut |inner| {
            if let ExprKind::Var(var) = inner.kind {
                reads_inside[var.position()] += 1;
            }
        });
    }
    let mut exposed = Exposed::default();
    exposed.iteration(inner, &mut BTreeSet::new());
    let is_fresh = |var: &&VarId| {
        !exposed.vars.contains(var) && reads_inside[var.position()] == all[var.position()]
    };
    assigned.iter().filter(is_fresh).copied().collect()
}

/// Variables that may be read before they are assigned.
#[derive(Default)]
struct Exposed {
    vars: BTreeSet<VarId>,
}

type Assigned = BTreeSet<VarId>;

impl Exposed {
    fn iteration(&mut self, inner: &Loop, assigned: &mut Assigned) {
        // Annotations read variables at the head.
        let claims = inner.claims.iter().map(|claim| &claim.condition);
        inner.invariants.iter().chain(claims).for_each(|one| self.read(one, assigned));
        self.statements(&inner.head, assigned);
        self.read(&inner.condition, assigned);
        let mut body = assigned.clone();
        self.statements(&inner.body, &mut body);
        // `continue` reaches the step from anywhere in the body.
        let mut step = if continues(&inner.body) { assigned.clone() } else { body };
        self.statements(&inner.step, &mut step);
    }

    fn read(&mut self, expr: &Expr, assigned: &Assigned) {
        visit(expr, &mut |inner| {
            if let ExprKind::Var(var) = inner.kind
                && !assigned.contains(&var)
            {
                self.vars.insert(var);
            }
        });
    }

    fn element(&mut self, element: &Element, assigned: &Assigned) {
        element.index.iter().for_each(|index| self.read(index, assigned));
    }

    /// Follows statements: reads of variables that are not assigned yet, and assignments.
    fn statements(&mut self, statements: &[Stmt], assigned: &mut Assigned) {
        for statement in statements {
            match statement {
                Stmt::Assign(var, value) => {
                    self.read(value, assigned);
                    assigned.insert(*var);
                }
                Stmt::Unknown(var) => {
                    assigned.insert(*var);
                }
                Stmt::Bits(var, _, arguments) => {
                    arguments.iter().for_each(|argument| self.read(argument, assigned));
                    assigned.insert(*var);
                }
                Stmt::Load(var, element) => {
                    self.element(element, assigned);
                    assigned.insert(*var);
                }
                Stmt::Store(element, value) => {
                    self.element(element, assigned);
                    self.read(value, assigned);
                }
                Stmt::Atomic { result, element, operands, .. } => {
                    self.element(element, assigned);
                    operands.iter().for_each(|operand| self.read(operand, assigned));
                    assigned.insert(*result);
                }
                Stmt::If(condition, then, otherwise) => {
                    self.read(condition, assigned);
                    let mut other = assigned.clone();
                    self.statements(then, assigned);
                    self.statements(otherwise, &mut other);
                    assigned.retain(|var| other.contains(var));
                }
                Stmt::Loop(inner) => {
                    self.iteration(inner, &mut assigned.clone());
                }
                Stmt::Assert(condition) | Stmt::Assume(condition) | Stmt::Used(condition, _) => {
                    self.read(condition, assigned);
                }
                Stmt::Given(given) => {
                    given.claims.iter().for_each(|claim| self.read(&claim.condition, assigned));
                }
                Stmt::Claims(claims) => {
                    claims.iter().for_each(|claim| self.read(&claim.condition, assigned));
                }
                Stmt::Barrier(_) | Stmt::Warp(_) | Stmt::Return | Stmt::Break | Stmt::Continue => {}
            }
        }
    }
}

fn continues(statements: &[Stmt]) -> bool {
    statements.iter().any(|statement| match statement {
        Stmt::Continue => true,
        Stmt::If(_, then, otherwise) => continues(then) || continues(otherwise),
        _ => false,
    })
}

//! Finds values that depend on the order of atomic operations: the result of an operation, and everything computed
//! from it.
//!
//! Two runs with different schedules may differ in such values and both be right. Errs towards dependence:
//! variables and arrays are treated as wholes, and statements as unordered.

use base::Index;
use kir::{ArrayId, AtomicOp, Element, Expr, ExprKind, Kernel, Stmt, visit};

/// The parts of a kernel that depend on the order of atomics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderDependence {
    arrays: Vec<bool>,
    /// Set if a condition or an index depends on the order of atomics.
    pub control: bool,
}

impl OrderDependence {
    /// Returns `true` if an array's contents depend on the order of atomics.
    #[must_use]
    pub fn has(&self, array: ArrayId) -> bool {
        self.arrays.get(array.position()).copied().unwrap_or(true)
    }
}

/// Finds the parts of a kernel that depend on the order of atomics.
#[must_use]
pub fn order_dependence(kernel: &Kernel) -> OrderDependence {
    let mut flow = Flow {
        vars: vec![false; kernel.vars.len()],
        arrays: vec![false; kernel.arrays.len()],
        operations: vec![None; kernel.arrays.len()],
        control: false,
    };
    loop {
        let before = flow.clone();
        flow.statements(&kernel.body, false);
        if flow == before {
            return OrderDependence { arrays: flow.arrays, control: flow.control };
        }
    }
}

#[derive(Clone, PartialEq)]
struct Flow {
    vars: Vec<bool>,
    arrays: Vec<bool>,
    /// The only operation that updates an array.
    operations: Vec<Option<AtomicOp>>,
    control: bool,
}

impl Flow {
    fn depends(&self, expr: &Expr) -> bool {
        let mut found = false;
        visit(expr, &mut |inner| {
            if let ExprKind::Var(var) = inner.kind {
                found |= self.vars.get(var.position()).copied().unwrap_or(false);
            }
        });
        found
    }

    fn index_depends(&mut self, element: &Element) -> bool {
        let depends = element.index.iter().any(|index| self.depends(index));
        self.control |= depends;
        depends
    }

    fn array_depends(&self, array: ArrayId) -> bool {
        self.arrays.get(array.position()).copied().unwrap_or(true)
    }

    fn mark(marks: &mut [bool], at: usize, depends: bool) {
        if let Some(mark) = marks.get_mut(at) {
            *mark |= depends;
        }
    }

    /// Marks the variables and arrays that statements make depend on the order; `order_decides` as for `statement`.
    fn statements(&mut self, list: &[Stmt], order_decides: bool) {
        for statement in list {
            // After an exit that depends on the order, everything depends on it.
            let order_decides = order_decides || self.control && has_exit(list);
            self.statement(statement, order_decides);
        }
    }

    /// Marks the variables and arrays that a statement makes depend on the order. `order_decides` is set if the
    /// order decides whether the statement is executed.
    fn statement(&mut self, statement: &Stmt, order_decides: bool) {
        match statement {
            Stmt::Assign(var, value) => {
                let depends = order_decides || self.depends(value);
                Self::mark(&mut self.vars, var.position(), depends);
            }
            Stmt::Load(var, element) => {
                let depends = self.index_depends(element)
                    || order_decides
                    || self.array_depends(element.array);
                Self::mark(&mut self.vars, var.position(), depends);
            }
            Stmt::Store(element, value) => {
                let depends = self.index_depends(element) || order_decides || self.depends(value);
                Self::mark(&mut self.arrays, element.array.position(), depends);
            }
            Stmt::Atomic { result, op, element, operands } => {
                let depends = self.index_depends(element)
                    || order_decides
                    || operands.iter().any(|one| self.depends(one))
                    || !self.commutes(element.array, *op);
                Self::mark(&mut self.arrays, element.array.position(), depends);
                Self::mark(&mut self.vars, result.position(), true);
            }
            Stmt::If(condition, then, otherwise) => {
                let depends = self.depends(condition);
                self.control |= depends;
                self.statements(then, order_decides || depends);
                self.statements(otherwise, order_decides || depends);
            }
            Stmt::Loop(inner) => {
                let depends = self.depends(&inner.condition);
                self.control |= depends;
                for part in [&inner.head, &inner.body, &inner.step] {
                    self.statements(part, order_decides || depends);
                }
            }
            Stmt::Bits(var, _, arguments) => {
                let depends = order_decides || arguments.iter().any(|one| self.depends(one));
                Self::mark(&mut self.vars, var.position(), depends);
            }
            // A run gives `Unknown` no value, and undefined values are not compared. The others write nothing.
            Stmt::Unknown(_)
            | Stmt::Claims(_)
            | Stmt::Given(_)
            | Stmt::Barrier(_)
            | Stmt::Warp(_)
            | Stmt::Return
            | Stmt::Break
            | Stmt::Continue
            | Stmt::Assert(_)
            | Stmt::Used(..)
            | Stmt::Assume(_) => {}
        }
    }

    /// Returns `true` if updates of an array give the same result in any order.
    fn commutes(&mut self, array: ArrayId, op: AtomicOp) -> bool {
        let op = if op == AtomicOp::Sub { AtomicOp::Add } else { op };
        let Some(known) = self.operations.get_mut(array.position()) else { return false };
        let first = *known.get_or_insert(op);
        first == op && !matches!(op, AtomicOp::Exchange | AtomicOp::CompareAndSwap)
    }
}

/// Returns `true` if there is an exit among these statements, at any depth.
fn has_exit(list: &[Stmt]) -> bool {
    list.iter().any(|statement| match statement {
        Stmt::Return | Stmt::Break | Stmt::Continue => true,
        Stmt::If(_, then, otherwise) => has_exit(then) || has_exit(otherwise),
        Stmt::Loop(inner) => {
            has_exit(&inner.head) || has_exit(&inner.body) || has_exit(&inner.step)
        }
        _ => false,
    })
}

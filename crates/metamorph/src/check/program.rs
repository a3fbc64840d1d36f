//! Translates statements into a list with jumps, so that a thread can stop at a barrier and resume later.

use crate::expr::{Access, Cond, Int, Local, Val, Var};
use crate::nest::{Kernel, Stmt};

/// A step of a thread.
#[derive(Clone, Debug)]
pub(super) enum Op {
    Int(Var, Int),
    Float(Local, Val),
    Store(Access, Val),
    /// Jumps if the condition does not hold.
    Unless(Cond, usize),
    Jump(usize),
    Barrier,
    End,
}

/// A kernel's statements as a list.
#[derive(Clone, Debug)]
pub struct Program {
    pub(super) ops: Vec<Op>,
}

impl Program {
    /// Translates a kernel.
    #[must_use]
    pub fn new(kernel: &Kernel) -> Self {
        let mut program = Self { ops: Vec::new() };
        program.stmts(&kernel.body);
        program.ops.push(Op::End);
        program
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Int(var, int) | Stmt::Assign(var, int) => {
                self.ops.push(Op::Int(*var, int.clone()));
            }
            Stmt::Float(local, val) | Stmt::Set(local, val) => {
                self.ops.push(Op::Float(*local, val.clone()));
            }
            Stmt::Combine(local, op, val) => {
                let value = Val::bin(*op, Val::Local(*local), val.clone());
                self.ops.push(Op::Float(*local, value));
            }
            Stmt::Store(access, val) => self.ops.push(Op::Store(access.clone(), val.clone())),
            Stmt::If(cond, yes, no) => self.branch(cond, yes, no),
            Stmt::For(inner) => {
                if let Some(from) = &inner.from {
                    self.ops.push(Op::Int(inner.var, from.clone()));
                }
                let test = self.ops.len();
                self.ops.push(Op::Unless(inner.test.clone(), 0));
                self.stmts(&inner.body);
                self.ops.push(Op::Int(inner.var, inner.next.clone()));
                self.ops.push(Op::Jump(test));
                self.set_target(test);
            }
            Stmt::Barrier => self.ops.push(Op::Barrier),
            Stmt::Return => self.ops.push(Op::End),
        }
    }

    fn branch(&mut self, cond: &Cond, yes: &[Stmt], no: &[Stmt]) {
        let test = self.ops.len();
        self.ops.push(Op::Unless(cond.clone(), 0));
        self.stmts(yes);
        if no.is_empty() {
            self.set_target(test);
            return;
        }
        let jump = self.ops.len();
        self.ops.push(Op::Jump(0));
        self.set_target(test);
        self.stmts(no);
        self.set_target(jump);
    }

    /// Sets the target of a jump to the current end of the list.
    fn set_target(&mut self, jump: usize) {
        let here = self.ops.len();
        match &mut self.ops[jump] {
            Op::Unless(_, target) | Op::Jump(target) => *target = here,
            _ => {}
        }
    }
}

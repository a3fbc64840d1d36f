//! Compiles the statements of a kernel to a list of instructions with jumps, so that a thread can stop at a barrier
//! and resume later.

use base::Span;
use kir::{AtomicOp, Claim, Element, Expr, Kernel, Loop, Stmt, VarId};

/// An instruction of a compiled kernel, one step of a thread.
pub(crate) enum Insn<'k> {
    Assign(VarId, &'k Expr),
    Load(VarId, &'k Element),
    Store(&'k Element, &'k Expr),
    Atomic(VarId, AtomicOp, &'k Element, &'k [Expr]),
    /// Assigns a value that the run does not know.
    Unknown(VarId),
    /// Assigns the result of a bit function.
    Bits(VarId, &'static str, &'k [Expr]),
    /// Jumps to the target if the condition is false.
    Unless(&'k Expr, usize),
    Jump(usize),
    /// The claims of the next barrier.
    Claims(&'k [Claim]),
    Barrier(Span),
    /// Waits for the other threads of the warp.
    Warp,
    Return,
    Assert(&'k Expr),
    Assume(&'k Expr),
    /// A loop is entered: its count is 0.
    Enter(usize),
    /// A loop begins another iteration.
    Next(usize),
}

/// A kernel's instructions and the number of its loops.
pub(crate) struct Code<'k> {
    pub(crate) insns: Vec<Insn<'k>>,
    pub(crate) loops: usize,
    /// Start and end of each loop.
    extents: Vec<(usize, usize)>,
}

/// Jumps of `break` and `continue`, to be patched at the end of their loop.
#[derive(Default)]
struct Pending {
    breaks: Vec<usize>,
    continues: Vec<usize>,
}

impl<'k> Code<'k> {
    pub(crate) fn new(kernel: &'k Kernel) -> Self {
        let mut code = Self { insns: Vec::new(), loops: 0, extents: Vec::new() };
        code.compile_all(&kernel.body, &mut Pending::default());
        code.insns.push(Insn::Return);
        code
    }

    /// The loops around the instruction before `pc`.
    pub(crate) fn enclosing_loops(&self, pc: usize) -> Vec<usize> {
        let at = pc.saturating_sub(1);
        let extents = self.extents.iter().enumerate();
        extents.filter(|(_, (start, end))| (*start..*end).contains(&at)).map(|(n, _)| n).collect()
    }

    /// Start of a loop.
    pub(crate) fn start(&self, number: usize) -> u64 {
        self.extents.get(number).map_or(0, |(start, _)| *start as u64)
    }

    fn compile_all(&mut self, statements: &'k [Stmt], pending: &mut Pending) {
        for statement in statements {
            self.compile(statement, pending);
        }
    }

    fn compile(&mut self, statement: &'k Stmt, pending: &mut Pending) {
        let insn = match statement {
            Stmt::Assign(var, value) => Insn::Assign(*var, value),
            Stmt::Load(var, element) => Insn::Load(*var, element),
            Stmt::Store(element, value) => Insn::Store(element, value),
            Stmt::Unknown(var) => Insn::Unknown(*var),
            Stmt::Bits(var, name, arguments) => Insn::Bits(*var, name, arguments),
            Stmt::Atomic { result, op, element, operands } => {
                Insn::Atomic(*result, *op, element, operands)
            }
            Stmt::Claims(claims) => Insn::Claims(claims),
            Stmt::Given(given) => Insn::Claims(&given.claims),
            Stmt::Barrier(span) => Insn::Barrier(*span),
            Stmt::Warp(_) => Insn::Warp,
            Stmt::Return => Insn::Return,
            // An instance of a lemma is tested like an assertion: if it fails in a run, the lemma is wrong.
            Stmt::Assert(condition) | Stmt::Used(condition, _) => Insn::Assert(condition),
            Stmt::Assume(condition) => Insn::Assume(condition),
            Stmt::Break => {
                pending.breaks.push(self.insns.len());
                Insn::Jump(usize::MAX)
            }
            Stmt::Continue => {
                pending.continues.push(self.insns.len());
                Insn::Jump(usize::MAX)
            }
            Stmt::If(condition, then, otherwise) => {
                return self.compile_if(condition, then, otherwise, pending);
            }
            Stmt::Loop(inner) => return self.compile_loop(inner),
        };
        self.insns.push(insn);
    }

    fn compile_if(
        &mut self,
        condition: &'k Expr,
        then: &'k [Stmt],
        otherwise: &'k [Stmt],
        pending: &mut Pending,
    ) {
        let test = self.insns.len();
        self.insns.push(Insn::Unless(condition, usize::MAX));
        self.compile_all(then, pending);
        let end = self.insns.len();
        self.insns.push(Insn::Jump(usize::MAX));
        self.insns[test] = Insn::Unless(condition, self.insns.len());
        self.compile_all(otherwise, pending);
        self.insns[end] = Insn::Jump(self.insns.len());
    }

    /// Compiles a loop: `Enter; head; Unless end; body; step; Next; Jump head`.
    fn compile_loop(&mut self, inner: &'k Loop) {
        let number = self.loops;
        self.loops += 1;
        self.extents.push((self.insns.len(), self.insns.len()));
        self.insns.push(Insn::Enter(number));
        let head = self.insns.len();
        let mut pending = Pending::default();
        self.compile_all(&inner.head, &mut pending);
        let test = self.insns.len();
        self.insns.push(Insn::Unless(&inner.condition, usize::MAX));
        self.compile_all(&inner.body, &mut pending);
        let step = self.insns.len();
        self.compile_all(&inner.step, &mut pending);
        self.insns.push(Insn::Next(number));
        self.insns.push(Insn::Jump(head));
        let end = self.insns.len();
        self.extents[number].1 = end;
        self.insns[test] = Insn::Unless(&inner.condition, end);
        for jump in pending.breaks {
            self.insns[jump] = Insn::Jump(end);
        }
        for jump in pending.continues {
            self.insns[jump] = Insn::Jump(step);
        }
    }
}

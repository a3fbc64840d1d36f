//! Checks the invariants that engines rely on, in every build. All code that makes a program calls [`assert_valid`].
//! A program that breaks an invariant is a bug of ours, and ends the run. Each invariant is broken once in
//! `tests/validate.rs`.
//!
//! - Registers, blocks, variables and functions that are mentioned exist.
//! - A guard, a condition, a carry and a comparison's result are one bit wide.
//! - An operation's result has exactly the width the operation produces; its register operands are
//!   at least as wide as it reads.
//! - The parts of a `Concat` or `Split` have equal widths that add up to the whole.
//! - Floats come in formats and lane counts that fit a register.
//! - A load's elements fit their registers; a variable is accessed in its own space.
//! - A call passes as many arguments and takes as many results as the callee has.
//! - Blocks end in targets of the same function.
//!
//! The shapes of matrix instructions are not checked: their lowering has one place that knows them.

mod widths;

use crate::{
    Access, AddressBase, FuncId, Function, Op, Operand, Program, Reg, Symbol, Terminator, Width,
};

/// Every violation, as a sentence that names the function and the operation; empty if the program
/// is well formed.
#[must_use]
pub fn validate(program: &Program) -> Vec<String> {
    violations(program, &mut program.functions.iter())
}

fn violations(program: &Program, functions: &mut dyn Iterator<Item = &Function>) -> Vec<String> {
    let mut problems = Vec::new();
    for function in functions {
        let mut check = Check { program, function, problems: &mut problems };
        check.function();
    }
    problems
}

/// Panics if a program is not well formed: the result of an engine would be meaningless.
///
/// # Panics
/// With the first violations, if there are any.
#[inline(never)]
pub fn assert_valid(program: &Program) {
    refuse(&validate(program));
}

/// Like [`assert_valid`], for some functions of a program; the others are unchanged.
///
/// # Panics
/// With the first violations, if there are any.
#[inline(never)]
pub fn assert_valid_in(program: &Program, functions: &[FuncId]) {
    let mut functions = functions.iter().map(|&function| &program.functions[function]);
    refuse(&violations(program, &mut functions));
}

fn refuse(problems: &[String]) {
    let first = &problems[..problems.len().min(3)];
    assert!(problems.is_empty(), "a program that is not well formed: {}", first.join("; "));
}

struct Check<'p> {
    program: &'p Program,
    function: &'p Function,
    problems: &'p mut Vec<String>,
}

impl Check<'_> {
    fn function(&mut self) {
        for block in &self.function.blocks {
            for instruction in &block.instructions {
                if let Some(guard) = instruction.guard {
                    self.exact(guard.register, Width::B1, &"a guard");
                }
                self.mentions(&instruction.op);
                self.widths(&instruction.op);
            }
            self.terminator(&block.terminator);
        }
    }

    fn problem(&mut self, what: &dyn std::fmt::Debug, message: &str) {
        self.problems.push(format!("{}: {message}: {what:?}", self.function.name));
    }

    fn width_of(&self, register: Reg) -> Option<Width> {
        self.function.registers.get(register).map(|register| register.width)
    }

    /// Checks that `register` has `width`.
    fn exact(&mut self, register: Reg, width: Width, what: &dyn std::fmt::Debug) {
        if self.width_of(register) != Some(width) {
            self.problem(what, &format!("{register:?} is not {width} wide"));
        }
    }

    /// Checks that `operand`, if a register, has at least `width`, and that a constant fits `width`.
    fn reads(&mut self, operand: Operand, width: Width, what: &dyn std::fmt::Debug) {
        match operand {
            Operand::Register(register) => {
                if self.width_of(register).is_none_or(|found| found < width) {
                    self.problem(what, &format!("{register:?} is narrower than {width}"));
                }
            }
            Operand::Constant(bits) => {
                if bits & !width.mask() != 0 {
                    self.problem(what, &format!("constant {bits:#x} exceeds {width}"));
                }
            }
        }
    }

    /// Checks that everything mentioned by an operation exists.
    fn mentions(&mut self, op: &Op) {
        op.visit(&mut |access| {
            if !self.exists(access) {
                self.problem(op, &format!("{access:?} does not exist or does not fit"));
            }
        });
    }

    fn exists(&self, access: Access) -> bool {
        match access {
            Access::Write(register) | Access::Read(Operand::Register(register)) => {
                self.width_of(register).is_some()
            }
            Access::Read(Operand::Constant(_)) | Access::Sink => true,
            Access::Address(address) => match address.base {
                AddressBase::Register(register) => {
                    matches!(self.width_of(register), Some(Width::B32 | Width::B64))
                }
                AddressBase::Variable(variable) => self.program.variables.get(variable).is_some(),
                AddressBase::Absolute => true,
            },
            Access::Symbol(Symbol::Variable(variable), _) | Access::Argument(variable) => {
                self.program.variables.get(variable).is_some()
            }
            Access::Symbol(Symbol::Function(function), _) => {
                self.program.functions.get(function).is_some()
            }
        }
    }

    fn terminator(&mut self, terminator: &Terminator) {
        let missing = |target| self.function.blocks.get(target).is_none();
        if terminator.successors().any(missing) {
            self.problem(terminator, "a target does not exist");
        }
        match terminator {
            Terminator::Branch { guard, .. } => self.exact(guard.register, Width::B1, terminator),
            Terminator::Table { index, .. } => self.reads(*index, Width::B32, terminator),
            Terminator::Jump(_) | Terminator::Return | Terminator::Exit | Terminator::Trap => {}
        }
    }
}

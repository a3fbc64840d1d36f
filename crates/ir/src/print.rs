//! The text form of a program, for people and tests.
//!
//! One line for each instruction: `results = operation operands`. It shows everything an engine could act on.
//! Registers of different scopes may have the same name; variables carry a number.

mod mnemonic;

use crate::{
    Access, Address, AddressBase, BlockId, Function, Guard, Instr, Operand, Program, Reg, Symbol,
    Terminator, VarId,
};
use base::Index;
use mnemonic::mnemonic;
use std::fmt::{self, Display, Formatter};

/// A function of a program, ready to be written.
pub struct Printed<'p> {
    /// The program, with the names of variables and functions.
    pub program: &'p Program,
    /// The function to print.
    pub function: &'p Function,
}

impl Display for Printed<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let kind = if self.function.is_kernel { "kernel" } else { "function" };
        writeln!(f, "{kind} {} {{", self.function.name)?;
        for (id, block) in self.function.blocks.enumerate() {
            writeln!(f, "{}:", block_name(id))?;
            for instruction in &block.instructions {
                writeln!(f, "    {}", self.instruction(instruction))?;
            }
            writeln!(f, "    {}", self.terminator(&block.terminator))?;
        }
        f.write_str("}\n")
    }
}

impl Printed<'_> {
    /// Formats an instruction.
    #[must_use]
    pub fn instruction(&self, instruction: &Instr) -> String {
        let guard = instruction.guard.map(|guard| self.guard(guard)).unwrap_or_default();
        let (mut results, mut operands) = (Vec::new(), Vec::new());
        instruction.op.visit(&mut |access| match access {
            Access::Write(register) => results.push(self.register(register)),
            Access::Sink => results.push("_".to_owned()),
            Access::Read(operand) => operands.push(self.operand(operand)),
            Access::Address(address) => operands.push(self.address(address)),
            Access::Symbol(symbol, offset) => operands.push(self.symbol(symbol, offset)),
            Access::Argument(variable) => operands.push(self.variable(variable)),
        });
        let equals = if results.is_empty() { "" } else { " = " };
        let space = if operands.is_empty() { "" } else { " " };
        let name = mnemonic(&instruction.op);
        format!("{guard}{}{equals}{name}{space}{}", results.join(", "), operands.join(", "))
    }

    fn terminator(&self, terminator: &Terminator) -> String {
        match terminator {
            Terminator::Jump(target) => format!("jump {}", block_name(*target)),
            Terminator::Branch { guard, then, otherwise, uniform } => {
                let uniform = if *uniform { ".uni" } else { "" };
                let (then, otherwise) = (block_name(*then), block_name(*otherwise));
                format!("{}branch{uniform} {then} else {otherwise}", self.guard(*guard))
            }
            Terminator::Table { index, targets, uniform } => {
                let uniform = if *uniform { ".uni" } else { "" };
                let targets: Vec<_> = targets.iter().map(|&target| block_name(target)).collect();
                format!("table{uniform} {} [{}]", self.operand(*index), targets.join(", "))
            }
            Terminator::Return => "return".to_owned(),
            Terminator::Exit => "exit".to_owned(),
            Terminator::Trap => "trap".to_owned(),
        }
    }

    fn guard(&self, guard: Guard) -> String {
        let not = if guard.negated { "!" } else { "" };
        format!("@{not}{} ", self.register(guard.register))
    }

    fn register(&self, register: Reg) -> String {
        self.function.registers[register].name.clone()
    }

    fn operand(&self, operand: Operand) -> String {
        match operand {
            Operand::Register(register) => self.register(register),
            Operand::Constant(bits) if bits < 10 => format!("{bits}"),
            Operand::Constant(bits) => format!("{bits:#x}"),
        }
    }

    fn address(&self, address: Address) -> String {
        let base = match address.base {
            AddressBase::Register(register) => self.register(register),
            AddressBase::Variable(variable) => self.variable(variable),
            AddressBase::Absolute => "0".to_owned(),
        };
        match address.offset {
            0 => format!("[{base}]"),
            offset => format!("[{base}{offset:+}]"),
        }
    }

    fn symbol(&self, symbol: Symbol, offset: i64) -> String {
        let name = match symbol {
            Symbol::Variable(variable) => self.variable(variable),
            Symbol::Function(function) => self.program.functions[function].name.clone(),
        };
        if offset == 0 { name } else { format!("{name}{offset:+}") }
    }

    /// Variables and registers may have the same name, so variables get a mark. Names may repeat in different scopes,
    /// so they get their number, too.
    fn variable(&self, variable: VarId) -> String {
        format!("@{}#{}", self.program.variables[variable].name, variable.position())
    }
}

fn block_name(block: BlockId) -> String {
    format!("b{}", block.position())
}

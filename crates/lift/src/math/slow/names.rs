//! Names for the registers and variables of a slow path, by their first appearance in it.

use ir::{Access, AddressBase, Function, Operand, Program, Reg, Symbol, VarId};
use std::collections::BTreeMap;

/// Names of registers and variables by their first appearance.
#[derive(Default)]
pub(super) struct Names {
    pub(super) numbers: BTreeMap<Reg, usize>,
    pub(super) variables: Vec<VarId>,
}

impl Names {
    /// Names the registers and variables of an access.
    pub(super) fn note(&mut self, access: Access) {
        match access {
            Access::Write(register) | Access::Read(Operand::Register(register)) => {
                self.note_register(register);
            }
            Access::Address(address) => match address.base {
                AddressBase::Register(register) => self.note_register(register),
                AddressBase::Variable(variable) => self.note_variable(variable),
                AddressBase::Absolute => {}
            },
            Access::Symbol(Symbol::Variable(variable), _) => self.note_variable(variable),
            _ => {}
        }
    }

    pub(super) fn note_guard(&mut self, register: Option<Reg>) {
        register.into_iter().for_each(|register| self.note_register(register));
    }

    pub(super) fn note_register(&mut self, register: Reg) {
        let next = self.numbers.len();
        self.numbers.entry(register).or_insert(next);
    }

    pub(super) fn note_variable(&mut self, variable: VarId) {
        if !self.variables.contains(&variable) {
            self.variables.push(variable);
        }
    }

    pub(super) fn name(&self, register: Reg) -> Option<String> {
        self.numbers.get(&register).map(|number| format!("r{number}"))
    }

    pub(super) fn variable(&self, variable: VarId) -> Option<String> {
        let at = self.variables.iter().position(|one| *one == variable)?;
        Some(format!("@v{at}"))
    }

    /// Returns the function with its registers under these names, for printing.
    pub(super) fn renamed(&self, function: &Function) -> Function {
        let mut registers = function.registers.clone();
        for (register, number) in &self.numbers {
            registers[*register].name = format!("r{number}");
        }
        Function { registers, blocks: base::IndexVec::new(), ..function.clone() }
    }

    /// Replaces the names of variables in a printed instruction.
    pub(super) fn variables(&self, program: &Program, text: String) -> String {
        self.variables.iter().fold(text, |text, variable| {
            let position = base::Index::position(*variable);
            let placeholder = format!("@{}#{position}", program.variables[*variable].name);
            text.replace(&placeholder, &self.variable(*variable).unwrap_or_default())
        })
    }
}

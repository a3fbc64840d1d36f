//! Live registers, by the usual backward iteration over blocks.

use base::Index;
use ir::{Access, Block, BlockId, Function, Instr, Operand, Reg, Terminator};

/// Registers that may be read from the start of each block on.
pub(crate) struct Liveness {
    starts: Vec<Vec<bool>>,
}

impl Liveness {
    /// Computes the live registers of a function.
    pub(crate) fn of(function: &Function) -> Self {
        let registers = function.registers.len();
        let mut starts = vec![vec![false; registers]; function.blocks.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for position in (0..starts.len()).rev() {
                let block = &function.blocks[BlockId::from_position(position)];
                let mut live = vec![false; registers];
                for next in block.terminator.successors() {
                    let after = &starts[next.position()];
                    live.iter_mut().zip(after).for_each(|(live, after)| *live |= after);
                }
                backwards(function, block, &mut live);
                if live != starts[position] {
                    starts[position] = live;
                    changed = true;
                }
            }
        }
        Self { starts }
    }

    /// Returns `true` if a register is live at the start of a block. Registers created after this table are
    /// live nowhere.
    pub(crate) fn at(&self, block: BlockId, register: Reg) -> bool {
        self.starts[block.position()].get(register.position()).is_some_and(|live| *live)
    }
}

/// Steps from the end of a block to its start.
fn backwards(function: &Function, block: &Block, live: &mut [bool]) {
    match &block.terminator {
        Terminator::Branch { guard, .. } => live[guard.register.position()] = true,
        Terminator::Table { index: Operand::Register(index), .. } => live[index.position()] = true,
        // The caller reads the returned registers.
        Terminator::Return => {
            for result in &function.returns {
                if let ir::Param::Register(register, _) = result {
                    live[register.position()] = true;
                }
            }
        }
        _ => {}
    }
    for instruction in block.instructions.iter().rev() {
        let (writes, reads) = writes_and_reads(instruction);
        // Under a guard the old contents may remain.
        if instruction.guard.is_none() {
            writes.iter().for_each(|register| live[register.position()] = false);
        }
        reads.iter().for_each(|register| live[register.position()] = true);
    }
}

/// Returns the registers that an instruction writes, and those it reads.
pub(super) fn writes_and_reads(instruction: &Instr) -> (Vec<Reg>, Vec<Reg>) {
    let (mut writes, mut reads) = (Vec::new(), Vec::new());
    reads.extend(instruction.guard.map(|guard| guard.register));
    instruction.op.visit(&mut |access| match access {
        Access::Write(register) => writes.push(register),
        Access::Read(Operand::Register(register)) => reads.push(register),
        Access::Address(address) => {
            if let ir::AddressBase::Register(register) = address.base {
                reads.push(register);
            }
        }
        _ => {}
    });
    (writes, reads)
}

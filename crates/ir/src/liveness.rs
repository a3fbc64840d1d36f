//! Live registers at the beginning of each block: those that some path from there reads before it writes them.
//!
//! Backward data flow to the least fixed point (Appel, "Modern Compiler Implementation", §10.1). A guarded write ends
//! no lifetime, so the answer may contain a register too many and never one too few.

use crate::{
    Access, Address, AddressBase, BlockId, Function, Instr, Operand, Param, Reg, Terminator,
};
use base::{Index, IndexVec};

/// A set of registers, one bit each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegisterSet(Vec<u64>);

impl RegisterSet {
    pub(crate) fn insert(&mut self, register: Reg) {
        let (word, bit) = word_and_mask(register);
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= bit;
    }

    pub(crate) fn remove(&mut self, register: Reg) {
        let (word, bit) = word_and_mask(register);
        if let Some(bits) = self.0.get_mut(word) {
            *bits &= !bit;
        }
    }

    /// Returns `true` if a register is in the set.
    #[must_use]
    pub fn has(&self, register: Reg) -> bool {
        let (word, bit) = word_and_mask(register);
        self.0.get(word).is_some_and(|bits| bits & bit != 0)
    }

    /// Returns `true` if the sets have a register in common.
    pub(crate) fn intersects(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(one, other)| one & other != 0)
    }

    fn extend(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(one, other)| *one |= other);
    }
}

fn word_and_mask(register: Reg) -> (usize, u64) {
    let position = register.position();
    (position / 64, 1 << (position % 64))
}

/// Returns the registers that an instruction writes, and those that it reads, its guard among them.
pub fn registers(instruction: &Instr) -> (Vec<Reg>, Vec<Reg>) {
    let (mut written, mut read) = (Vec::new(), Vec::new());
    read.extend(instruction.guard.map(|guard| guard.register));
    instruction.op.visit(&mut |access| match access {
        Access::Write(register) => written.push(register),
        Access::Read(Operand::Register(register))
        | Access::Address(Address { base: AddressBase::Register(register), .. }) => {
            read.push(register);
        }
        _ => {}
    });
    (written, read)
}

/// The register that decides the target of a terminator; `None` if no register does.
pub(crate) fn decider(terminator: &Terminator) -> Option<Reg> {
    match terminator {
        Terminator::Branch { guard, .. } => Some(guard.register),
        Terminator::Table { index: Operand::Register(register), .. } => Some(*register),
        Terminator::Table { .. }
        | Terminator::Jump(_)
        | Terminator::Return
        | Terminator::Exit
        | Terminator::Trap => None,
    }
}

/// Registers that are live at the beginning of each block.
#[must_use]
pub fn live(function: &Function) -> IndexVec<BlockId, RegisterSet> {
    let mut predecessors = vec![Vec::new(); function.blocks.len()];
    for (id, block) in function.blocks.enumerate() {
        block.terminator.successors().for_each(|next| predecessors[next.position()].push(id));
    }
    let mut live: IndexVec<BlockId, RegisterSet> =
        function.blocks.iter().map(|_| RegisterSet::default()).collect();
    let mut work: Vec<BlockId> = function.blocks.indices().collect();
    while let Some(id) = work.pop() {
        let found = live_before(function, id, &live);
        if found != live[id] {
            live[id] = found;
            work.extend(&predecessors[id.position()]);
        }
    }
    live
}

/// Returns the registers live before a block, given those live before its successors.
fn live_before(
    function: &Function,
    id: BlockId,
    live: &IndexVec<BlockId, RegisterSet>,
) -> RegisterSet {
    let block = &function.blocks[id];
    let mut set = RegisterSet::default();
    block.terminator.successors().for_each(|next| set.extend(&live[next]));
    if block.terminator == Terminator::Return {
        for returned in &function.returns {
            if let Param::Register(register, _) = returned {
                set.insert(*register);
            }
        }
    }
    decider(&block.terminator).into_iter().for_each(|register| set.insert(register));
    for instruction in block.instructions.iter().rev() {
        let (written, read) = registers(instruction);
        if instruction.guard.is_none() {
            written.into_iter().for_each(|register| set.remove(register));
        }
        read.into_iter().for_each(|register| set.insert(register));
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_what_was_inserted_and_not_removed() {
        let [a, b] = [3, 200].map(Reg::from_position);
        let mut set = RegisterSet::default();
        set.insert(b);
        set.insert(a);
        set.remove(b);
        assert!(set.has(a) && !set.has(b));
        let mut other = RegisterSet::default();
        other.insert(b);
        assert!(!set.intersects(&other));
        other.insert(a);
        assert!(set.intersects(&other));
    }
}

//! Dead code elimination: removes operations with unread results, and branches with identical sides.
//!
//! Only operations on registers are removed. Anything that touches memory, waits, or may be reported (a division by
//! zero) stays.

use crate::flow::Flow;
use base::Index;
use ir::{Access, AddressBase, BlockId, Function, IntBinary, Op, Operand, Param, Reg, Terminator};

/// Cleans a function until nothing changes.
pub(crate) fn clean(function: &mut Function) {
    loop {
        let removed = remove_dead(function);
        let joined = join_branches(function);
        if !removed && !joined {
            break;
        }
    }
}

/// Returns `true` if an operation does nothing but write registers.
pub(crate) fn is_pure(op: &Op) -> bool {
    match op {
        Op::IntBinary { op, .. } => !matches!(op, IntBinary::Div { .. } | IntBinary::Rem { .. }),
        Op::Copy { .. }
        | Op::Select { .. }
        | Op::Concat { .. }
        | Op::Split { .. }
        | Op::Resize { .. }
        | Op::IntUnary { .. }
        | Op::IntTernary { .. }
        | Op::InsertBits { .. }
        | Op::AddCarry { .. }
        | Op::IntCompare { .. }
        | Op::FloatUnary { .. }
        | Op::FloatBinary { .. }
        | Op::Fma { .. }
        | Op::Real { .. }
        | Op::FloatCompare { .. }
        | Op::FloatTest { .. }
        | Op::Convert { .. } => true,
        _ => false,
    }
}

/// A set of registers, one bit each.
#[derive(Clone, PartialEq, Eq)]
struct RegisterSet(Vec<u64>);

impl RegisterSet {
    fn new(count: usize) -> Self {
        Self(vec![0; count.div_ceil(64)])
    }

    fn insert(&mut self, register: Reg) {
        let at = register.position();
        self.0[at / 64] |= 1 << (at % 64);
    }

    fn remove(&mut self, register: Reg) {
        let at = register.position();
        self.0[at / 64] &= !(1 << (at % 64));
    }

    fn has(&self, register: Reg) -> bool {
        let at = register.position();
        self.0[at / 64] >> (at % 64) & 1 == 1
    }

    fn extend(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }
}

/// Removes pure operations with unread results. Returns `true` if there were any.
fn remove_dead(function: &mut Function) -> bool {
    let flow = Flow::new(function);
    let live = live_at_start(function, &flow);
    let mut changed = false;
    for &block in &flow.order {
        let mut now = live_at_end(function, block, &live);
        let data = &mut function.blocks[block];
        let mut kept = Vec::with_capacity(data.instructions.len());
        for instruction in data.instructions.drain(..).rev() {
            let mut is_needed = !is_pure(&instruction.op);
            instruction.op.visit(&mut |access| {
                is_needed |= matches!(access, Access::Write(register) if now.has(register));
            });
            if !is_needed {
                changed = true;
                continue;
            }
            step_back(&instruction, &mut now);
            kept.push(instruction);
        }
        kept.reverse();
        data.instructions = kept;
    }
    changed
}

/// Computes the registers live before an instruction from those live after it.
fn step_back(instruction: &ir::Instr, live: &mut RegisterSet) {
    let guarded = instruction.guard.is_some();
    instruction.op.visit(&mut |access| match access {
        Access::Write(register) if !guarded => live.remove(register),
        _ => {}
    });
    instruction.op.visit(&mut |access| match access {
        Access::Read(Operand::Register(register)) => live.insert(register),
        Access::Address(address) => {
            if let AddressBase::Register(register) = address.base {
                live.insert(register);
            }
        }
        _ => {}
    });
    instruction.guard.iter().for_each(|guard| live.insert(guard.register));
}

/// Returns the registers live at the end of a block, given those at the start of each.
fn live_at_end(function: &Function, block: BlockId, live: &[RegisterSet]) -> RegisterSet {
    let mut now = RegisterSet::new(function.registers.len());
    let terminator = &function.blocks[block].terminator;
    terminator.successors().for_each(|next| now.extend(&live[next.position()]));
    match terminator {
        Terminator::Branch { guard, .. } => now.insert(guard.register),
        Terminator::Table { index: Operand::Register(register), .. } => now.insert(*register),
        Terminator::Return => {
            for result in &function.returns {
                if let Param::Register(register, _) = result {
                    now.insert(*register);
                }
            }
        }
        _ => {}
    }
    now
}

/// Computes the registers live at the start of each block.
fn live_at_start(function: &Function, flow: &Flow) -> Vec<RegisterSet> {
    let empty = RegisterSet::new(function.registers.len());
    let mut live = vec![empty; function.blocks.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for &block in flow.order.iter().rev() {
            let mut now = live_at_end(function, block, &live);
            function.blocks[block].instructions.iter().rev().for_each(|i| step_back(i, &mut now));
            if now != live[block.position()] {
                live[block.position()] = now;
                changed = true;
            }
        }
    }
    live
}

/// Replaces a branch by a jump if both targets lead to one block with nothing in between. Returns `true` if
/// there was one.
fn join_branches(function: &mut Function) -> bool {
    let mut changed = false;
    let blocks: Vec<BlockId> = function.blocks.indices().collect();
    for block in blocks {
        let Terminator::Branch { then, otherwise, .. } = function.blocks[block].terminator else {
            continue;
        };
        let target = skip_empty_blocks(function, then);
        if target == skip_empty_blocks(function, otherwise) {
            function.blocks[block].terminator = Terminator::Jump(target);
            changed = true;
        }
    }
    changed
}

/// Follows jumps from blocks without instructions.
fn skip_empty_blocks(function: &Function, mut block: BlockId) -> BlockId {
    for _ in 0..function.blocks.len() {
        match &function.blocks[block] {
            data if data.instructions.is_empty() => match data.terminator {
                Terminator::Jump(next) => block = next,
                _ => return block,
            },
            _ => return block,
        }
    }
    block
}

//! Loops that compare before they swap, and leave if the new value is no better: a maximum or a minimum.

use super::operation::Update;
use super::{RegisterValue, SwapLoop, follow_copies, value};
use crate::liveness::{live, registers};
use crate::{
    AtomicOp, Block, BlockId, Function, Instr, Op, Operand, Ordering, Reg, Relation, Scalar, Skips,
    Terminator, Width,
};
use std::collections::BTreeMap;

impl SwapLoop {
    /// Returns the maximum or minimum performed by a loop that compares before it swaps. The comparison leaves the loop
    /// if `predicate` is `outcome`.
    pub(super) fn extremum(
        &self,
        function: &Function,
        (predicate, outcome): (Reg, bool),
    ) -> Option<Update> {
        let RegisterValue::Result(position) = value(&self.values, Operand::Register(predicate))
        else {
            return None;
        };
        let Op::IntCompare { relation, signed, width, a, b, .. } = &self.instructions[position].op
        else {
            return None;
        };
        // Values at the time of the comparison, which may use the guess's own register.
        let mut before = BTreeMap::new();
        for (position, instruction) in self.instructions.iter().enumerate().take(position) {
            follow_copies(&mut before, position, instruction, self.swap_at)?;
        }
        let (guess, new) = (RegisterValue::Entry(self.guess), value(&self.values, self.swap.b?));
        // `new relation guess` is what the predicate tests.
        let relation = match [value(&before, *a), value(&before, *b)] {
            sides if sides == [new, guess] => *relation,
            sides if sides == [guess, new] => relation.swapped(),
            _ => return None,
        };
        let (op, skips) = match if outcome { relation.negated() } else { relation } {
            Relation::Gt => (AtomicOp::Max, Skips::UnlessBetter),
            Relation::Ge => (AtomicOp::Max, Skips::IfWorse),
            Relation::Lt => (AtomicOp::Min, Skips::UnlessBetter),
            Relation::Le => (AtomicOp::Min, Skips::IfWorse),
            Relation::Eq | Relation::Ne => return None,
        };
        // The value from before the loop: `dependent_instructions` excludes registers that are carried.
        let operand = match new {
            RegisterValue::Entry(register) if register != self.guess => Operand::Register(register),
            RegisterValue::Constant(bits) => Operand::Constant(bits),
            _ => return None,
        };
        let (from, at) = self.first_guess(function)?;
        let Op::Load(load) = &function.blocks[from].instructions[at].op else { return None };
        let relaxed = matches!(self.swap.ordering, Ordering::Relaxed(_))
            && matches!(load.ordering, Ordering::Weak | Ordering::Volatile | Ordering::Relaxed(_));
        let after = &live(function)[self.exit];
        let is_used =
            |instr: &Instr| registers(instr).0.iter().any(|&register| after.has(register));
        let of_registers = (self.instructions.iter().enumerate())
            .all(|(position, one)| position == self.swap_at || one.op.is_of_registers());
        let sized = *width == self.swap.scalar.width() && *width >= Width::B32;
        let has_no_other_use = of_registers && !self.instructions.iter().any(is_used);
        let scalar = Scalar::Integer { width: *width, signed: *signed };
        (relaxed && sized && has_no_other_use && !after.has(self.guess)).then_some(Update {
            op,
            scalar,
            packed: 1,
            operand,
            negated: false,
            keeps_subnormals: false,
            skips,
        })
    }
}

/// Returns `true` if a block branches to `swap` or elsewhere, and no other block leads to `swap`.
pub(super) fn is_comparison(function: &Function, block: BlockId, swap: BlockId) -> bool {
    let Terminator::Branch { then, otherwise, .. } = function.blocks[block].terminator else {
        return false;
    };
    let leads = |data: &Block| data.terminator.successors().any(|next| next == swap);
    (then == swap) != (otherwise == swap)
        && function.blocks.enumerate().all(|(id, data)| id == block || !leads(data))
}

/// The block that control comes to from this one, past empty blocks.
pub(super) fn skip_empty_blocks(function: &Function, mut block: BlockId) -> BlockId {
    // A circle of empty blocks has no end.
    for _ in 0..function.blocks.len() {
        match &function.blocks[block] {
            Block { instructions, terminator: Terminator::Jump(next), .. }
                if instructions.is_empty() =>
            {
                block = *next;
            }
            _ => break,
        }
    }
    block
}

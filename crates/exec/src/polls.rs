//! Loops that wait for memory to change: recognition of polling reads, and their consequences.
//!
//! A read polls if all of the following hold:
//! - it is a strong load (volatile, relaxed or stronger), or an atomic operation that only reads (adds zero)
//!   or tries to acquire (exchange, compare-and-swap with fixed operands);
//! - its address is constant in an enclosing loop;
//! - nothing else in that loop may change global memory;
//! - the value read decides a branch out of the loop, and nothing else that changes in the loop does.
//!
//! So `while (!*flag)` and the loop of `grid.sync()` poll. `i < *n`, lists, queues and compare-and-swap loops
//! that retry with the value read do not.
//!
//! Blocks may run one after the other. So if a launch has several blocks and one polls global memory, the
//! further behaviour is unknown. Mistaking another loop for a waiting one costs an answer but never makes a
//! wrong one. Missing one leaves the usual treatment of unordered accesses.

use crate::fast::decode::Code;
use base::IndexVec;
use ir::cfg::loops_around;
use ir::{
    Address, AtomicOp, BlockId, FuncId, Function, Instr, Op, Operand, Ordering, Program, Reg,
    Space, TensorCopyKind, Terminator, registers,
};
use rustc_hash::{FxHashMap, FxHashSet};
use sync::Site;

/// The reason for a gap at a polling block.
pub(crate) const WAITS: &str = "this block waits for another block (grid.sync() or a flag in global \
                                memory); waits between blocks are not modelled";

/// Returns the polling instructions of a program, ascending.
pub(crate) fn polls(program: &Program, codes: &IndexVec<FuncId, Code>) -> Vec<Site> {
    let mut found = Vec::new();
    for (id, function) in program.functions.enumerate() {
        let mut other_reads = Vec::new();
        let mut polled = Vec::new();
        for (block, data) in function.blocks.enumerate() {
            let instructions = data.instructions.iter().enumerate();
            let here: Vec<_> = instructions.filter(|(_, one)| may_poll(&one.op)).collect();
            if here.is_empty() {
                continue;
            }
            let loops = loops_around(function, block);
            let bodies: Vec<LoopBody<'_>> =
                loops.iter().map(|body| LoopBody::new(function, body)).collect();
            for (index, one) in here {
                let site = codes[id].first[block] + index as Site;
                if bodies.iter().any(|body| body.is_polled_by(one)) {
                    polled.push(target(&one.op));
                    found.push(site);
                } else if only_reads(&one.op) {
                    other_reads.push((site, target(&one.op)));
                }
            }
        }
        // Compilers move the first read out of the loop, so a read before it of the same memory polls as well.
        other_reads.retain(|(_, target)| polled.contains(target));
        found.extend(other_reads.into_iter().map(|(site, _)| site));
    }
    found.sort_unstable();
    found
}

/// The target of an operation that may poll.
pub(crate) fn target(op: &Op) -> Option<(Address, Space)> {
    match op {
        Op::Load(load) => Some((load.address, load.space)),
        Op::Atomic(atomic) => Some((atomic.address, atomic.space)),
        _ => None,
    }
}

/// Returns `true` if an operation is of a kind that may poll.
fn may_poll(op: &Op) -> bool {
    match op {
        Op::Load(load) => load.ordering != Ordering::Weak && is_global(load.space),
        Op::Atomic(atomic) => {
            let tries = matches!(atomic.op, AtomicOp::Exchange | AtomicOp::CompareSwap);
            is_global(atomic.space) && !atomic.dsts.is_empty() && (tries || only_reads(op))
        }
        _ => false,
    }
}

fn is_global(space: Space) -> bool {
    matches!(space, Space::Global | Space::Generic)
}

/// Returns `true` if an operation leaves memory unchanged.
fn only_reads(op: &Op) -> bool {
    match op {
        Op::Load(_) => true,
        Op::Atomic(atomic) => {
            matches!(atomic.op, AtomicOp::Add | AtomicOp::Or | AtomicOp::Xor)
                && atomic.a.iter().all(|a| *a == Operand::Constant(0))
        }
        _ => false,
    }
}

/// Returns `true` if an operation may change global memory, or has effects that are not inspected.
fn may_change(op: &Op) -> bool {
    match op {
        Op::Store(store) => is_global(store.space),
        Op::Atomic(atomic) => is_global(atomic.space),
        Op::BulkCopy(copy) => is_global(copy.dst_space),
        Op::TensorCopy(copy) => !matches!(copy.kind, TensorCopyKind::Load { .. }),
        Op::TensorMap(_) => true,
        Op::Discard { .. } | Op::Call { .. } | Op::Unsupported { .. } | Op::WmmaStore(_) => true,
        _ => false,
    }
}

/// The blocks of a loop.
struct LoopBody<'f> {
    function: &'f Function,
    inside: &'f [bool],
    instructions: Vec<&'f Instr>,
    /// For each register written in the loop: the registers it is computed from, and `true` if anything but
    /// arithmetic computes it.
    sources: FxHashMap<Reg, (FxHashSet<Reg>, bool)>,
}

impl<'f> LoopBody<'f> {
    fn new(function: &'f Function, inside: &'f [bool]) -> Self {
        let blocks = function.blocks.iter().zip(inside).filter(|(_, inside)| **inside);
        let instructions: Vec<&Instr> =
            blocks.flat_map(|(block, _)| block.instructions.iter()).collect();
        let mut sources: FxHashMap<Reg, (FxHashSet<Reg>, bool)> = FxHashMap::default();
        for instruction in &instructions {
            let (written, read) = registers(instruction);
            for register in written {
                let entry = sources.entry(register).or_default();
                entry.0.extend(read.iter().copied());
                entry.1 |= !instruction.op.is_of_registers();
            }
        }
        Self { function, inside, instructions, sources }
    }

    fn is_polled_by(&self, poll: &Instr) -> bool {
        let others = self.instructions.iter().filter(|other| !std::ptr::eq(**other, poll));
        if others.into_iter().any(|other| may_change(&other.op)) {
            return false;
        }
        let (written, read) = registers(poll);
        if !read.iter().all(|&register| self.is_fixed(register, &written)) {
            return false;
        }
        let mut exits = self.exits();
        exits.any(|decider| self.is_decided_by(decider, &written))
    }

    /// Registers that decide about leaving the loop.
    fn exits(&self) -> impl Iterator<Item = Reg> {
        let blocks = self.function.blocks.iter().zip(self.inside).filter(|(_, inside)| **inside);
        blocks.filter_map(|(block, _)| match &block.terminator {
            Terminator::Branch { guard, then, otherwise, .. }
                if !self.has(*then) || !self.has(*otherwise) =>
            {
                Some(guard.register)
            }
            _ => None,
        })
    }

    fn has(&self, block: BlockId) -> bool {
        self.inside[base::Index::position(block)]
    }

    /// Returns `true` if a register is computed in the loop from the polled registers and otherwise from
    /// constants.
    fn is_decided_by(&self, decider: Reg, polled: &[Reg]) -> bool {
        let Some(needed) = self.needed(decider, polled) else { return false };
        needed.iter().any(|register| polled.contains(register))
    }

    /// Returns `true` if a register has the same value in every iteration.
    fn is_fixed(&self, register: Reg, polled: &[Reg]) -> bool {
        self.needed(register, polled)
            .is_some_and(|needed| !needed.iter().any(|register| polled.contains(register)))
    }

    /// Returns all registers from which `register` is computed in the loop, up to the polled ones. `None` if one of
    /// them is carried between iterations or is not computed by arithmetic.
    fn needed(&self, register: Reg, polled: &[Reg]) -> Option<FxHashSet<Reg>> {
        let mut needed = FxHashSet::default();
        self.visit(register, polled, &mut Vec::new(), &mut needed).then_some(needed)
    }

    fn visit(
        &self,
        register: Reg,
        polled: &[Reg],
        path: &mut Vec<Reg>,
        needed: &mut FxHashSet<Reg>,
    ) -> bool {
        // Waiting loops have no long chains of arithmetic.
        const LONGEST: usize = 64;
        if path.contains(&register) || path.len() > LONGEST {
            return false;
        }
        if !needed.insert(register) || polled.contains(&register) {
            return true;
        }
        let Some((sources, other)) = self.sources.get(&register) else { return true };
        path.push(register);
        let is_arithmetic =
            !other && sources.iter().all(|&one| self.visit(one, polled, path, needed));
        path.pop();
        is_arithmetic
    }
}

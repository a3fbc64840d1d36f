//! Finds branches that can become straight-line code. Each side of such a branch is a single short block. It is entered
//! only from the branch, and other threads cannot wait for its instructions. Both sides continue at the same block, or
//! both end the function. If the condition of a branch may be undefined, the branch is left alone: the conversion would
//! hide that error.

use super::liveness::{Liveness, writes_and_reads};
use base::Index;
use ir::{BlockId, Function, Guard, Instr, IntBinary, Op, Param, Reg, Space, Terminator};

/// The longest side that is converted, in instructions: both sides are computed afterwards.
const MAX_SIDE_LENGTH: usize = 256;

/// A branch around one or two blocks.
pub(super) struct Branch {
    /// The block that ends in the branch.
    pub(super) from: BlockId,
    pub(super) guard: Guard,
    /// The sides: guard true, guard false.
    pub(super) sides: [Option<BlockId>; 2],
    /// The continuation of both sides.
    pub(super) to: After,
}

/// The continuation of a branch after both sides.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    Block(BlockId),
    /// Both sides return, or end the thread.
    End(End),
}

/// The way in which both sides end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Return,
    Exit,
}

/// Counts the edges into each block from reachable blocks.
fn in_edges(function: &Function) -> Vec<usize> {
    let mut in_edges = vec![0; function.blocks.len()];
    let mut work = Vec::new();
    if let Some(first) = in_edges.first_mut() {
        *first = 1;
        work.push(BlockId::from_position(0));
    }
    while let Some(block) = work.pop() {
        for next in function.blocks[block].terminator.successors() {
            in_edges[next.position()] += 1;
            if in_edges[next.position()] == 1 {
                work.push(next);
            }
        }
    }
    in_edges
}

/// Merges a block into its predecessor if they are each other's only successor and predecessor.
pub(super) fn merge_chains(function: &mut Function) {
    let in_edges = in_edges(function);
    for position in 0..function.blocks.len() {
        let block = BlockId::from_position(position);
        while let Terminator::Jump(next) = function.blocks[block].terminator {
            if in_edges[position] == 0 || in_edges[next.position()] != 1 || next == block {
                break;
            }
            let emptied = &mut function.blocks[next];
            let more = std::mem::take(&mut emptied.instructions);
            let (span, location) = (emptied.span, emptied.location);
            // The emptied block is unreachable now; its successors must not count.
            let terminator = std::mem::replace(&mut emptied.terminator, Terminator::Exit);
            let merged = &mut function.blocks[block];
            merged.instructions.extend(more);
            (merged.terminator, merged.span, merged.location) = (terminator, span, location);
        }
    }
}

/// Finds the branches that can be converted now; no two share a block.
pub(super) fn find(function: &Function) -> Vec<Branch> {
    let in_edges = in_edges(function);
    let data = depends_on_data(function);
    let undefined = may_be_undefined(function);
    let mut is_in_shape = vec![false; function.blocks.len()];
    let mut found = Vec::new();
    for (block, content) in function.blocks.enumerate() {
        let Terminator::Branch { guard, then, otherwise, .. } = content.terminator else {
            continue;
        };
        let register = guard.register.position();
        // A branch on an undefined value is an error, and straight-line code may hide it.
        if in_edges[block.position()] == 0 || !data[register] || undefined[register] {
            continue;
        }
        let is_side = |side: BlockId| {
            side != block && in_edges[side.position()] == 1 && is_simple(&function.blocks[side])
        };
        let after = |side: BlockId| match function.blocks[side].terminator {
            Terminator::Jump(next) => Some(After::Block(next)),
            Terminator::Return => Some(After::End(End::Return)),
            Terminator::Exit => Some(After::End(End::Exit)),
            _ => None,
        };
        let (sides, to) = match (is_side(then), is_side(otherwise)) {
            (true, _) if after(then) == Some(After::Block(otherwise)) => {
                ([Some(then), None], After::Block(otherwise))
            }
            (_, true) if after(otherwise) == Some(After::Block(then)) => {
                ([None, Some(otherwise)], After::Block(then))
            }
            (true, true) if after(then) == after(otherwise) => match after(then) {
                Some(to) => ([Some(then), Some(otherwise)], to),
                None => continue,
            },
            _ => continue,
        };
        let blocks = sides.iter().flatten().chain([&block]);
        if blocks.clone().any(|block| is_in_shape[block.position()]) || to == After::Block(block) {
            continue;
        }
        blocks.for_each(|block| is_in_shape[block.position()] = true);
        found.push(Branch { from: block, guard, sides, to });
    }
    found
}

/// Returns `true` if a block is short and has no instruction that others could wait for.
fn is_simple(block: &ir::Block) -> bool {
    block.instructions.len() <= MAX_SIDE_LENGTH
        && block.instructions.iter().all(is_simple_instruction)
}

fn is_simple_instruction(instruction: &Instr) -> bool {
    match &instruction.op {
        Op::Load(load) => load.ordering == ir::Ordering::Weak,
        Op::Store(store) => store.ordering == ir::Ordering::Weak,
        Op::Hint { .. } => true,
        op => op.is_of_registers(),
    }
}

/// Returns `true` if an instruction must not run where its side is not taken. It could fault, be seen by other
/// threads, or use a condition that need not be computed there.
pub(super) fn keeps_condition(op: &Op) -> bool {
    match op {
        Op::Load(load) => !matches!(load.space, Space::ParamEntry | Space::ParamFunc),
        Op::Store(_) | Op::Hint { .. } => true,
        Op::IntBinary { op, .. } => matches!(op, IntBinary::Div { .. } | IntBinary::Rem { .. }),
        _ => false,
    }
}

/// Returns the registers that depend on loaded data, through any instructions.
fn depends_on_data(function: &Function) -> Vec<bool> {
    let loads = |op: &Op| match op {
        Op::Load(load) => !matches!(load.space, Space::ParamEntry | Space::ParamFunc),
        // Float scalars come from parameters; the operands of a float comparison count as data.
        Op::FloatCompare { .. } | Op::FloatTest { .. } => true,
        _ => false,
    };
    propagate(function, vec![false; function.registers.len()], loads)
}

/// Returns the registers that depend on a register that some path reads before writing it.
pub(super) fn may_be_undefined(function: &Function) -> Vec<bool> {
    let live = Liveness::of(function);
    let given = |register: Reg| {
        function
            .params
            .iter()
            .any(|parameter| matches!(parameter, Param::Register(of, _) if *of == register))
    };
    let entry = BlockId::from_position(0);
    let unwritten = |register: Reg| live.at(entry, register) && !given(register);
    let from = function.registers.indices().map(unwritten).collect();
    propagate(function, from, |_| false)
}

/// Propagates taint from some operations and some registers to the registers computed from them.
fn propagate(function: &Function, mut from: Vec<bool>, starts: impl Fn(&Op) -> bool) -> Vec<bool> {
    let mut changed = true;
    while changed {
        changed = false;
        for instruction in function.instructions() {
            let (writes, reads) = writes_and_reads(instruction);
            let propagates = starts(&instruction.op)
                || !matches!(instruction.op, Op::Load(_))
                    && reads.iter().any(|register| from[register.position()]);
            for register in writes.into_iter().filter(|_| propagates) {
                changed |= !std::mem::replace(&mut from[register.position()], true);
            }
        }
    }
    from
}

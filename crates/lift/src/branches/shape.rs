//! Which branches can become straight code.

use super::liveness::{Liveness, touched};
use base::Index;
use ir::{BlockId, Function, Guard, Instr, IntBinary, Op, Param, Reg, Space, Terminator};

/// Longer sides are left alone: both would be computed.
const LONGEST: usize = 256;

/// A branch around one or two blocks.
pub(super) struct Branch {
    /// The block that ends in it.
    pub(super) from: BlockId,
    pub(super) guard: Guard,
    /// What is done where the guard holds, and where it does not.
    pub(super) sides: [Option<BlockId>; 2],
    /// Where both go then.
    pub(super) to: After,
}

/// Where control goes after both sides.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    Block(BlockId),
    /// Both return, or end the thread.
    End(End),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Return,
    Exit,
}

/// How many ways lead to each block from blocks that can be reached.
fn ways(function: &Function) -> Vec<usize> {
    let mut ways = vec![0; function.blocks.len()];
    let mut work = Vec::new();
    if let Some(first) = ways.first_mut() {
        *first = 1;
        work.push(BlockId::from_position(0));
    }
    while let Some(block) = work.pop() {
        for next in function.blocks[block].terminator.successors() {
            ways[next.position()] += 1;
            if ways[next.position()] == 1 {
                work.push(next);
            }
        }
    }
    ways
}

/// Joins blocks of which the first goes nowhere but to the second, and nobody else goes there.
pub(super) fn merge_chains(function: &mut Function) {
    let ways = ways(function);
    for position in 0..function.blocks.len() {
        let block = BlockId::from_position(position);
        while let Terminator::Jump(next) = function.blocks[block].terminator {
            if ways[position] == 0 || ways[next.position()] != 1 || next == block {
                break;
            }
            let emptied = &mut function.blocks[next];
            let more = std::mem::take(&mut emptied.instructions);
            let (span, location) = (emptied.span, emptied.location);
            // Nobody comes here any more; wherever it leads, it counts for nothing.
            let terminator = std::mem::replace(&mut emptied.terminator, Terminator::Exit);
            let joined = &mut function.blocks[block];
            joined.instructions.extend(more);
            (joined.terminator, joined.span, joined.location) = (terminator, span, location);
        }
    }
}

/// Branches that can be changed now, each with blocks of its own.
pub(super) fn find(function: &Function) -> Vec<Branch> {
    let ways = ways(function);
    let data = depends_on_data(function);
    let undefined = may_be_undefined(function);
    let mut taken = vec![false; function.blocks.len()];
    let mut found = Vec::new();
    for (block, content) in function.blocks.enumerate() {
        let Terminator::Branch { guard, then, otherwise, .. } = content.terminator else {
            continue;
        };
        let register = guard.register.position();
        // A branch on an undefined value is an error, and straight code may not show it.
        if ways[block.position()] == 0 || !data[register] || undefined[register] {
            continue;
        }
        let own = |side: BlockId| {
            side != block && ways[side.position()] == 1 && is_simple(&function.blocks[side])
        };
        let after = |side: BlockId| match function.blocks[side].terminator {
            Terminator::Jump(next) => Some(After::Block(next)),
            Terminator::Return => Some(After::End(End::Return)),
            Terminator::Exit => Some(After::End(End::Exit)),
            _ => None,
        };
        let (sides, to) = match (own(then), own(otherwise)) {
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
        if blocks.clone().any(|block| taken[block.position()]) || to == After::Block(block) {
            continue;
        }
        blocks.for_each(|block| taken[block.position()] = true);
        found.push(Branch { from: block, guard, sides, to });
    }
    found
}

/// Whether a block is short and does nothing that others could wait for.
fn is_simple(block: &ir::Block) -> bool {
    block.instructions.len() <= LONGEST && block.instructions.iter().all(is_simple_instruction)
}

fn is_simple_instruction(instruction: &Instr) -> bool {
    match &instruction.op {
        Op::Load(load) => load.ordering == ir::Ordering::Weak,
        Op::Store(store) => store.ordering == ir::Ordering::Weak,
        Op::Hint { .. } => true,
        op => op.is_of_registers(),
    }
}

/// Tells whether an instruction must not happen where its side is not taken: it could fault, or others
/// could see it; or it looks at a condition that need not be computed there.
pub(super) fn keeps_condition(op: &Op) -> bool {
    match op {
        Op::Load(load) => !matches!(load.space, Space::ParamEntry | Space::ParamFunc),
        Op::Store(_) | Op::Hint { .. } => true,
        Op::IntBinary { op, .. } => matches!(op, IntBinary::Div { .. } | IntBinary::Rem { .. }),
        _ => false,
    }
}

/// The registers that something loaded goes into, by any instruction whatsoever.
fn depends_on_data(function: &Function) -> Vec<bool> {
    let loads = |op: &Op| match op {
        Op::Load(load) => !matches!(load.space, Space::ParamEntry | Space::ParamFunc),
        // Float scalars come from parameters; what is compared as a float is data.
        Op::FloatCompare { .. } | Op::FloatTest { .. } => true,
        _ => false,
    };
    reached(function, vec![false; function.registers.len()], loads)
}

/// The registers that something goes into which some way through the function reads before it is written.
pub(super) fn may_be_undefined(function: &Function) -> Vec<bool> {
    let live = Liveness::of(function);
    let given = |register: Reg| {
        function.params.iter().any(|one| matches!(one, Param::Register(of, _) if *of == register))
    };
    let entry = BlockId::from_position(0);
    let unwritten = |register: Reg| live.at(entry, register) && !given(register);
    let from = function.registers.indices().map(unwritten).collect();
    reached(function, from, |_| false)
}

/// The registers that results of some operations, or contents of some registers, go into.
fn reached(function: &Function, mut from: Vec<bool>, starts: impl Fn(&Op) -> bool) -> Vec<bool> {
    let mut changed = true;
    while changed {
        changed = false;
        for instruction in function.instructions() {
            let (writes, reads) = touched(instruction);
            let goes_on = starts(&instruction.op)
                || !matches!(instruction.op, Op::Load(_))
                    && reads.iter().any(|register| from[register.position()]);
            for register in writes.into_iter().filter(|_| goes_on) {
                changed |= !std::mem::replace(&mut from[register.position()], true);
            }
        }
    }
    from
}

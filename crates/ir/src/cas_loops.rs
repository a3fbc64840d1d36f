//! Replaces loops of compare-and-swap that update memory by one atomic operation.
//!
//! If the hardware has no instruction for an update, libraries and kernels write
//!
//! ```text
//! old = *p;
//! do { guess = old; old = atomicCAS(p, guess, f(guess, v)); } while (old != guess);
//! ```
//!
//! (CUDA C++ Programming Guide, atomic functions; `cuda_bf16.hpp`). The loop ends when the swap succeeds, so it has
//! done `*p = f(*p, v)` in one step, independent of earlier guesses. It becomes that step ([`AtomicOp`]) if
//!
//! 1. one block is the loop. Besides one compare-and-swap it has only register operations, and before the swap weak
//!    loads that do not depend on the guess. All are without guards and write each register once;
//! 2. the loop continues as long as guess and old value differ, and the old value is the next guess; no other
//!    register is carried from iteration to iteration;
//! 3. `f` is a sum, a difference, a product, a minimum or maximum or a bitwise operation, to the bit.
//!
//! A load that the loop repeats is done once: nothing in the loop orders writes of other threads before a later
//! iteration, so a write that changes the value meanwhile races with the load in the original program, too. Registers
//! read after the loop keep their values: operations on the guess are placed after the update and take the old value.
//!
//! The load of the first guess is removed if it reads the same bytes, has no other use, and only register operations
//! and loads separate it from the loop. It may return any value, because the swap checks it. If `f` is another
//! function, the loop stays and that load becomes a relaxed one: an outdated guess is harmless.
//!
//! A loop that stops early is a maximum or a minimum, too:
//!
//! ```text
//! old = *p;
//! while (v > old) { guess = old; old = atomicCAS(p, guess, v); if (old == guess) break; }
//! ```
//!
//! Its first block compares integers, the guess and `v`. It leaves the loop or jumps to the second block, which swaps.
//! If it leaves, memory held a value of at least `v` when the guess was read, and a maximum at that time would have
//! changed nothing. So the first guess must be a load of the same bytes as above; no register of the loop may be read
//! after it; and the swap must be relaxed, since it may not happen. If any of this fails, the loop stays and that
//! load becomes a relaxed one.
//!
//! Loops of other forms, floats that are compared among them, are recognised by their paths ([`several_blocks`]).
//!
//! Errs towards "not such a loop". A sum that the assembler may fuse with the product it adds
//! ([`crate::FloatMode::contract`]) is an update of its own, [`AtomicOp::AddProduct`].

mod early_exit;
mod judge;
mod operation;
mod paths;
mod several_blocks;

use crate::liveness::{RegisterSet, live, registers};
use crate::{
    Address, AddressBase, Atomic, AtomicOp, BlockId, Function, Instr, Load, Op, Operand, Ordering,
    Program, Reg, Relation, Terminator, Width,
};
use early_exit::{is_comparison, skip_empty_blocks};
use operation::{Update, function_of};
use several_blocks::Loop;
use std::collections::BTreeMap;

/// Replaces loops of compare-and-swap in all functions by atomic updates.
pub fn find_updates(program: &mut Program) {
    for function in program.functions.iter_mut() {
        let blocks: Vec<BlockId> = function.blocks.indices().collect();
        for block in blocks {
            if let Some(found) = SwapLoop::recognise(function, block)
                && let Some(update) = found.update(function)
            {
                found.replace(function, update);
            } else if let Some(at) = swap_in(function, block)
                && let Some(found) = Loop::around(function, (block, at))
                && !found.replace(function)
            {
                found.relax_guesses(function);
            }
        }
    }
}

/// The first compare-and-swap of one value in a block.
fn swap_in(function: &Function, block: BlockId) -> Option<usize> {
    let is_swap = |one: &Instr| match &one.op {
        Op::Atomic(swap) => {
            let one = swap.op == AtomicOp::CompareSwap && swap.a.len() == 1 && swap.packed == 1;
            one && swap.scalar.width() <= Width::B64
        }
        _ => false,
    };
    function.blocks[block].instructions.iter().position(is_swap)
}

/// The value of a register in the loop's block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum RegisterValue {
    /// The value of the register at the beginning of the block.
    Entry(Reg),
    Constant(u64),
    /// The old value that the swap returns.
    Old,
    /// The result of the instruction at this position.
    Result(usize),
}

/// A loop that swaps until no other thread interferes.
struct SwapLoop {
    /// The block with the swap and the branch back.
    block: BlockId,
    /// The first block of the loop: `block` itself, or the block that compares before the swap.
    entry: BlockId,
    /// For a loop that stops early: the predicate of the comparison before the swap, and its outcome that ends the
    /// loop.
    early_exit: Option<(Reg, bool)>,
    /// The block that control goes to after it.
    exit: BlockId,
    /// The instructions of an iteration.
    instructions: Vec<Instr>,
    /// The position of the swap, and a copy of it.
    swap_at: usize,
    swap: Atomic,
    /// The register that carries the guess, and the one that gets the old value.
    guess: Reg,
    old: Reg,
    /// The value of each register at the swap.
    values: BTreeMap<Reg, RegisterValue>,
    /// For each instruction, `true` if it depends on the guess or the old value.
    depends: Vec<bool>,
}

impl SwapLoop {
    /// Recognises the loop that a block forms, if it is one.
    fn recognise(function: &Function, block: BlockId) -> Option<Self> {
        let data = &function.blocks[block];
        let Terminator::Branch { guard, then, otherwise, .. } = data.terminator else {
            return None;
        };
        let is_entry = |next: BlockId| next == block || is_comparison(function, next, block);
        let (entry, exit, on_true) = match (is_entry(then), is_entry(otherwise)) {
            (true, false) => (then, otherwise, true),
            (false, true) => (otherwise, then, false),
            _ => return None,
        };
        let mut instructions = Vec::new();
        let mut early_exit = None;
        if entry != block {
            let before = &function.blocks[entry];
            let Terminator::Branch { guard, then, otherwise, .. } = before.terminator else {
                return None;
            };
            let other = if then == block { otherwise } else { then };
            if skip_empty_blocks(function, other) != skip_empty_blocks(function, exit) {
                return None;
            }
            early_exit = Some((guard.register, (otherwise == block) != guard.negated));
            instructions.clone_from(&before.instructions);
        }
        instructions.extend_from_slice(&data.instructions);
        let (at, swap) = only_swap(&instructions)?;
        let old = *swap.dsts.first()?.as_ref()?;
        let Operand::Register(compared) = *swap.a.first()? else { return None };
        let mut values = BTreeMap::new();
        let mut before = BTreeMap::new();
        for (position, instruction) in instructions.iter().enumerate() {
            if position == at {
                before = values.clone();
            }
            follow_copies(&mut values, position, instruction, at)?;
        }
        let RegisterValue::Entry(guess) = value(&before, Operand::Register(compared)) else {
            return None;
        };
        let carried = value(&values, Operand::Register(guess)) == RegisterValue::Old;
        let continues_on = comparison_outcome(&instructions, &values, guard.register, guess, swap)?;
        if !carried || continues_on != (on_true != guard.negated) {
            return None;
        }
        let depends = dependent_instructions(&instructions, (guess, at))?;
        let (swap, values) = (swap.clone(), before);
        Some(Self {
            block,
            entry,
            early_exit,
            exit,
            instructions,
            swap_at: at,
            swap,
            guess,
            old,
            values,
            depends,
        })
    }

    /// The update that the loop performs, if an atomic operation exists for it.
    fn update(&self, function: &Function) -> Option<Update> {
        let mut each = self.instructions.iter().zip(&self.depends);
        if each.any(|(one, depends)| *depends && one.op.may_divide_by_zero()) {
            // An iteration of the loop may divide by zero on a value that another thread wrote. The update has no such
            // iterations, so it would hide the error.
            return None;
        }
        if let Some(early_exit) = self.early_exit {
            return self.extremum(function, early_exit);
        }
        let RegisterValue::Result(last) = value(&self.values, self.swap.b?) else { return None };
        let is_guess = |operand| value(&self.values, operand) == RegisterValue::Entry(self.guess);
        let constant = |operand| match value(&self.values, operand) {
            RegisterValue::Constant(bits) => Some(bits),
            _ => None,
        };
        let op = &self.instructions[last].op;
        let update = function_of(function, &self.swap, op, &is_guess, &constant)?;
        let independent = match update.operand {
            Operand::Constant(_) => true,
            Operand::Register(register) => match self.values.get(&register) {
                Some(RegisterValue::Result(position)) => !self.depends[*position],
                Some(RegisterValue::Old) => false,
                // A copy of a value from before the loop.
                Some(RegisterValue::Entry(_) | RegisterValue::Constant(_)) | None => {
                    register != self.guess
                }
            },
        };
        independent.then_some(update)
    }

    /// Replaces the loop by the update.
    fn replace(&self, function: &mut Function, update: Update) {
        let after = live(function)[self.exit].clone();
        self.remove_first_guess(function);
        let instructions = &self.instructions;
        let swap = instructions[self.swap_at].clone();
        let rest: Vec<&Instr> = (instructions.iter().enumerate())
            .filter(|(position, _)| self.depends[*position] && *position != self.swap_at)
            .map(|(_, instruction)| instruction)
            .collect();
        let written = |instr: &Instr| registers(instr).0;
        let of_old = rest.iter().flat_map(|one| written(one)).chain([self.old, self.guess]);
        let is_used = of_old.into_iter().any(|register| after.has(register));
        let mut replaced: Vec<Instr> = (instructions.iter().zip(&self.depends))
            .filter(|(_, depends)| !**depends)
            .map(|(instruction, _)| instruction.clone())
            .collect();
        let dsts = if is_used { vec![Some(self.old)] } else { Vec::new() };
        replaced.extend(update.instructions(function, &self.swap, &swap, dsts));
        if is_used {
            let src = Operand::Register(self.old);
            if self.old != self.guess {
                replaced.push(Instr { op: Op::Copy { dst: self.guess, src }, ..swap });
            }
            replaced.extend(rest.into_iter().cloned());
        }
        if self.entry != self.block {
            let unreachable = &mut function.blocks[self.block];
            (unreachable.instructions, unreachable.terminator) =
                (Vec::new(), Terminator::Jump(self.exit));
            unreachable.span = instructions[self.swap_at].span;
        }
        let block = &mut function.blocks[self.entry];
        (block.instructions, block.terminator) = (replaced, Terminator::Jump(self.exit));
        // The branch back becomes a part of the update, so it gets the span of the swap.
        block.span = instructions[self.swap_at].span;
    }

    /// Removes the load of the first guess, now unused, if the update always follows it.
    fn remove_first_guess(&self, function: &mut Function) {
        let Some((from, at)) = self.first_guess(function) else { return };
        let leads_here = function.blocks[from].terminator == Terminator::Jump(self.entry);
        let Op::Load(load) = &function.blocks[from].instructions[at].op else { return };
        if leads_here && !matches!(load.ordering, Ordering::Acquire(_) | Ordering::Mmio) {
            function.blocks[from].instructions.remove(at);
        } else if let (Op::Load(load), Some(scope)) =
            (&mut function.blocks[from].instructions[at].op, self.swap.ordering.scope())
            && load.ordering == Ordering::Weak
        {
            load.ordering = Ordering::Relaxed(scope);
        }
    }

    /// The load of the first guess: the last instruction to write that register in the only block that leads to the
    /// loop. It reads the bytes of the swap, and its value has no other use.
    fn first_guess(&self, function: &Function) -> Option<(BlockId, usize)> {
        let mut leading = function
            .blocks
            .enumerate()
            .filter(|(id, data)| {
                ![self.block, self.entry].contains(id)
                    && data.terminator.successors().any(|next| next == self.entry)
            })
            .map(|(id, _)| id);
        let (from, None) = (leading.next()?, leading.next()) else { return None };
        let instructions = &function.blocks[from].instructions;
        let at = instructions
            .iter()
            .rposition(|instruction| registers(instruction).0.contains(&self.guess))?;
        let Op::Load(load) = &instructions[at].op else { return None };
        let behind = &instructions[at + 1..];
        // After a barrier or a wait, the load may not be replaced by the swap's read: the two are ordered differently.
        if !behind.iter().all(|one| one.op.is_of_registers() || is_weak_load(&one.op)) {
            return None;
        }
        let base = match self.swap.address.base {
            AddressBase::Register(register) => Some(register),
            _ => None,
        };
        let touches = |instr: &Instr| {
            let (written, read) = registers(instr);
            read.contains(&self.guess) || base.is_some_and(|base| written.contains(&base))
        };
        let others = live(function);
        let elsewhere = function.blocks[from]
            .terminator
            .successors()
            .any(|next| next != self.entry && others[next].has(self.guess));
        let same = instructions[at].guard.is_none()
            && self.reads_swapped_bytes(load)
            && base.is_none_or(|base| !self.values.contains_key(&base));
        (same && !elsewhere && !behind.iter().any(touches)).then_some((from, at))
    }

    fn reads_swapped_bytes(&self, load: &Load) -> bool {
        let Atomic { address, space, scalar, .. } = &self.swap;
        let one = matches!(load.dsts.as_slice(), [Some(dst)] if *dst == self.guess);
        one && !load.non_coherent
            && (load.address, load.space) == (*address, *space)
            && load.width == scalar.width()
    }
}

/// The only instruction of an iteration that is neither a register operation nor a weak load, if it is a
/// compare-and-swap of one value.
fn only_swap(instructions: &[Instr]) -> Option<(usize, &Atomic)> {
    let plain = |op: &Op| op.is_of_registers() || is_weak_load(op);
    let mut others = instructions.iter().enumerate().filter(|(_, one)| !plain(&one.op));
    let (at, instruction) = others.next()?;
    let Op::Atomic(swap) = &instruction.op else { return None };
    let one = swap.op == AtomicOp::CompareSwap && swap.a.len() == 1 && swap.packed == 1;
    let plain = instructions.iter().all(|instruction| instruction.guard.is_none());
    (one && plain && others.next().is_none() && swap.scalar.width() <= Width::B64)
        .then_some((at, swap))
}

fn is_weak_load(op: &Op) -> bool {
    matches!(op, Op::Load(Load { ordering: Ordering::Weak, .. }))
}

/// Follows copies through an instruction; `None` if it writes a register a second time.
fn follow_copies(
    values: &mut BTreeMap<Reg, RegisterValue>,
    position: usize,
    instruction: &Instr,
    swap: usize,
) -> Option<()> {
    let result = match &instruction.op {
        _ if position == swap => RegisterValue::Old,
        Op::Copy { src, .. } => value(values, *src),
        _ => RegisterValue::Result(position),
    };
    for written in registers(instruction).0 {
        if values.insert(written, result).is_some() {
            return None;
        }
    }
    Some(())
}

fn value(values: &BTreeMap<Reg, RegisterValue>, operand: Operand) -> RegisterValue {
    match operand {
        Operand::Constant(bits) => RegisterValue::Constant(bits),
        Operand::Register(register) => {
            values.get(&register).copied().unwrap_or(RegisterValue::Entry(register))
        }
    }
}

/// Reads a predicate as a comparison of the guess with the old value: `true` if it holds when they differ, `false` if
/// it holds when they are equal. `None` if it is about anything else.
fn comparison_outcome(
    instructions: &[Instr],
    values: &BTreeMap<Reg, RegisterValue>,
    predicate: Reg,
    guess: Reg,
    swap: &Atomic,
) -> Option<bool> {
    let RegisterValue::Result(position) = value(values, Operand::Register(predicate)) else {
        return None;
    };
    let Op::IntCompare { relation, width, a, b, .. } = &instructions[position].op else {
        return None;
    };
    // Values at the time of the comparison: the guess's own register may hold the old value later.
    let mut before = BTreeMap::new();
    let at = instructions.iter().position(|instruction| matches!(instruction.op, Op::Atomic(_)))?;
    for (position, instruction) in instructions.iter().enumerate().take(position) {
        follow_copies(&mut before, position, instruction, at)?;
    }
    let sides = [value(&before, *a), value(&before, *b)];
    let both = sides == [RegisterValue::Entry(guess), RegisterValue::Old]
        || sides == [RegisterValue::Old, RegisterValue::Entry(guess)];
    match relation {
        Relation::Ne if both && *width == swap.scalar.width() => Some(true),
        Relation::Eq if both && *width == swap.scalar.width() => Some(false),
        _ => None,
    }
}

/// Returns for each instruction if it depends on the guess or on the swap at `at`. `None` if the swap's address or a
/// load depends on them, or if another register is carried from iteration to iteration.
fn dependent_instructions(instructions: &[Instr], (guess, at): (Reg, usize)) -> Option<Vec<bool>> {
    let mut written = RegisterSet::default();
    for instruction in instructions {
        registers(instruction).0.into_iter().for_each(|register| written.insert(register));
    }
    let (mut tainted, mut seen) = (RegisterSet::default(), RegisterSet::default());
    tainted.insert(guess);
    let mut depends = Vec::new();
    for (position, instruction) in instructions.iter().enumerate() {
        let (writes, reads) = registers(instruction);
        let carried = |reg: &&Reg| written.has(**reg) && !seen.has(**reg) && **reg != guess;
        if reads.iter().any(|read| carried(&read)) {
            return None;
        }
        if let (Op::Atomic(swap), true) = (&instruction.op, position == at)
            && let Address { base: AddressBase::Register(base), .. } = swap.address
            && tainted.has(base)
        {
            return None;
        }
        let tainted_here = position >= at || reads.iter().any(|&register| tainted.has(register));
        if tainted_here && is_weak_load(&instruction.op) {
            return None;
        }
        for register in writes {
            seen.insert(register);
            if tainted_here {
                tainted.insert(register);
            }
        }
        depends.push(tainted_here);
    }
    Some(depends)
}

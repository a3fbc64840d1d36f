//! Replaces loops that wait for a phase of an mbarrier by one blocking operation.
//!
//! `test_wait` and `try_wait` may answer no at any time (PTX manual §9.7.13.15.16), so kernels test in a loop. A test
//! becomes [`MbarrierOp::Wait`] if the only effect of a no is testing again until the answer is yes:
//!
//! 1. After the test, with the answer no, every path returns to the same test on the same operands. It has only
//!    register operations and hints (counters, clocks, `nanosleep`), no division that may be by zero, and no loop of
//!    its own.
//! 2. Those paths do not write the operands of the test. Or the test's own block recomputes the operands before each
//!    test, from constants and registers that the paths do not write (`mov.u32 %r1, 0` for a constant phase).
//! 3. After the test, with the answer yes, nothing depends on a register that those paths write.
//!
//! Then the number of no answers is never visible, and a thread that blocks at the test until the answer is yes does
//! the same. The walks for 1 and 3 follow constants that come from the answer (`selp`, `setp` and similar). Loops of
//! other shapes keep the test, and engines do not follow its answer: this errs towards "not a wait loop".

use crate::liveness::{RegisterSet, decider, live, registers};
use crate::peeks::find_peeks;
use crate::{
    AddressBase, BlockId, Function, Guard, Instr, IntBinary, IntUnary, Mbarrier, MbarrierOp,
    MbarrierPhase, Op, Operand, Param, Program, Reg, Relation, SyncOp, Terminator, Width,
};
use base::{IndexVec, Span};
use std::collections::BTreeMap;

/// The most instructions that a walk follows.
const MAX_INSTRUCTIONS: usize = 4096;
/// The most blocks in a row that a walk follows.
const MAX_DEPTH: usize = 64;

/// Replaces wait loops of all functions by blocking operations, and marks tests that only skip one.
pub fn find_waits(program: &mut Program) {
    for function in program.functions.iter_mut() {
        let waits = waits(function);
        for (block, index) in waits {
            let op = &mut function.blocks[block].instructions[index].op;
            if let Op::Sync(SyncOp::Mbarrier(mbarrier)) = op
                && let MbarrierOp::Test(test) = &mbarrier.op
            {
                mbarrier.op = MbarrierOp::Wait(test.clone());
            }
        }
        find_peeks(function);
    }
}

/// Returns, for each wait that [`find_waits`] made of a loop, the test and the instructions from there back to it. These
/// are no longer executed.
#[must_use]
pub fn retry_instructions(function: &Function) -> Vec<(Span, Vec<Span>)> {
    let mut found = Vec::new();
    for (block, data) in function.blocks.enumerate() {
        for (index, instruction) in data.instructions.iter().enumerate() {
            if let Op::Sync(SyncOp::Mbarrier(mbarrier)) = &instruction.op
                && let MbarrierOp::Wait(test) = &mbarrier.op
            {
                let (live, written) = (&IndexVec::default(), RegisterSet::default());
                let (test_at, retry, budget) = ((block, index), Vec::new(), MAX_INSTRUCTIONS);
                let mut walk = Walk { function, live, test_at, written, retry, budget };
                let no = BTreeMap::from([(test.dst, 0)]);
                walk.always_returns((block, index + 1), no, &mut Vec::new());
                found.push((instruction.span, walk.retry));
            }
        }
    }
    found
}

/// The tests of a function that are repeated until the answer is yes.
fn waits(function: &Function) -> Vec<(BlockId, usize)> {
    let mut tests = Vec::new();
    for (block, data) in function.blocks.enumerate() {
        for (index, instruction) in data.instructions.iter().enumerate() {
            if let Some(mbarrier) = unguarded_test(instruction) {
                tests.push((block, index, mbarrier));
            }
        }
    }
    if tests.is_empty() {
        return Vec::new();
    }
    let live = live(function);
    let is_wait = |&(block, index, mbarrier): &(BlockId, usize, &Mbarrier)| {
        is_wait(function, &live, (block, index), mbarrier)
    };
    tests.iter().filter(|test| is_wait(test)).map(|&(block, index, _)| (block, index)).collect()
}

/// An unguarded test for the completion of a phase.
fn unguarded_test(instruction: &Instr) -> Option<&Mbarrier> {
    match &instruction.op {
        Op::Sync(SyncOp::Mbarrier(mbarrier))
            if matches!(mbarrier.op, MbarrierOp::Test(_)) && instruction.guard.is_none() =>
        {
            Some(mbarrier)
        }
        _ => None,
    }
}

fn is_wait(
    function: &Function,
    live: &IndexVec<BlockId, RegisterSet>,
    (block, index): (BlockId, usize),
    mbarrier: &Mbarrier,
) -> bool {
    let Some(test) = mbarrier.test() else { return false };
    let written = RegisterSet::default();
    let (test_at, retry, budget) = ((block, index), Vec::new(), MAX_INSTRUCTIONS);
    let mut walk = Walk { function, live, test_at, written, retry, budget };
    let behind = (block, index + 1);
    let known = |answer: u64| BTreeMap::from([(test.dst, answer)]);
    if !walk.always_returns(behind, known(0), &mut Vec::new()) {
        return false;
    }
    let mut seen = BTreeMap::new();
    let mut is_same_each_time = |register: Reg| walk.is_same_each_time(register, index, &mut seen);
    if !operands(mbarrier).all(&mut is_same_each_time) {
        return false;
    }
    let mut differing = walk.written.clone();
    differing.remove(test.dst);
    for register in function.registers.indices().filter(|register| walk.written.has(*register)) {
        if is_same_each_time(register) {
            differing.remove(register);
        }
    }
    walk.budget = MAX_INSTRUCTIONS;
    walk.is_independent(behind, known(1), differing, &mut Vec::new())
}

/// Registers that a test reads.
fn operands(mbarrier: &Mbarrier) -> impl Iterator<Item = Reg> {
    let base = match mbarrier.address.base {
        AddressBase::Register(register) => Some(register),
        AddressBase::Variable(_) | AddressBase::Absolute => None,
    };
    let phase = match mbarrier.test().map(|test| test.phase) {
        Some(
            MbarrierPhase::State(Operand::Register(register))
            | MbarrierPhase::Parity(Operand::Register(register)),
        ) => Some(register),
        _ => None,
    };
    base.into_iter().chain(phase)
}

/// Registers whose value follows from the answer.
pub(crate) type KnownRegisters = BTreeMap<Reg, u64>;

/// A walk that starts after a test.
struct Walk<'f> {
    function: &'f Function,
    live: &'f IndexVec<BlockId, RegisterSet>,
    /// The place of the test.
    test_at: (BlockId, usize),
    /// Registers written on the paths back to the test.
    written: RegisterSet,
    /// The instructions on those paths, and the ends of their blocks.
    retry: Vec<Span>,
    /// The number of instructions that may still be followed.
    budget: usize,
}

impl Walk<'_> {
    /// Returns `true` if a register has the same value before an instruction of the test's block at every repetition of
    /// the test. `seen` has the answers so far, by register and by the instruction that wrote it.
    fn is_same_each_time(
        &self,
        register: Reg,
        before: usize,
        seen: &mut BTreeMap<(Reg, usize), bool>,
    ) -> bool {
        let instructions = &self.function.blocks[self.test_at.0].instructions[..before];
        let writes = |instr: &Instr| registers(instr).0.contains(&register);
        let Some(at) = instructions.iter().rposition(writes) else {
            return !self.written.has(register);
        };
        if let Some(&known) = seen.get(&(register, at)) {
            return known;
        }
        let Instr { guard: None, op, .. } = &instructions[at] else { return false };
        let is_function = matches!(
            op,
            Op::Copy { .. }
                | Op::AddressOf { .. }
                | Op::ConvertAddress { .. }
                | Op::Resize { .. }
                | Op::IntUnary { .. }
                | Op::IntBinary { .. }
                | Op::IntTernary { .. }
        );
        let reads = registers(&instructions[at]).1;
        let is_same_each_time =
            is_function && reads.into_iter().all(|read| self.is_same_each_time(read, at, seen));
        seen.insert((register, at), is_same_each_time);
        is_same_each_time
    }

    /// Returns `true` if every path from instruction `index` of `block` returns to the test and has no other effect.
    fn always_returns(
        &mut self,
        (block, index): (BlockId, usize),
        mut known: KnownRegisters,
        path: &mut Vec<BlockId>,
    ) -> bool {
        if path.len() > MAX_DEPTH {
            return false;
        }
        let function = self.function;
        let instructions = function.blocks[block].instructions.iter().enumerate();
        for (at, instruction) in instructions.skip(index) {
            if (block, at) == self.test_at {
                return true;
            }
            let op = &instruction.op;
            // A division by zero that is no longer executed would not be found.
            let of_registers = op.is_of_registers() && !op.may_divide_by_zero();
            let harmless = of_registers || matches!(op, Op::Hint { .. });
            if !harmless || !self.spend_one() {
                return false;
            }
            self.retry.push(instruction.span);
            registers(instruction).0.into_iter().for_each(|register| self.written.insert(register));
            evaluate(instruction, &mut known);
        }
        self.retry.push(function.blocks[block].span);
        let targets = targets(&function.blocks[block].terminator, &known);
        !targets.is_empty()
            && targets.into_iter().all(|next| {
                if path.contains(&next) {
                    return false;
                }
                path.push(next);
                let returns = self.always_returns((next, 0), known.clone(), path);
                path.pop();
                returns
            })
    }

    /// Returns `true` if no path from instruction `index` of `block` depends on the registers in `differing`.
    fn is_independent(
        &mut self,
        (block, index): (BlockId, usize),
        mut known: KnownRegisters,
        mut differing: RegisterSet,
        path: &mut Vec<BlockId>,
    ) -> bool {
        if path.len() > MAX_DEPTH {
            return false;
        }
        let function = self.function;
        for instruction in &function.blocks[block].instructions[index..] {
            if !self.spend_one() {
                return false;
            }
            let (written, read) = registers(instruction);
            let effect = evaluate(instruction, &mut known);
            let depends = read.iter().any(|&register| differing.has(register));
            if effect == Effect::Unknown && depends && !instruction.op.is_of_registers() {
                return false;
            }
            let replaces = effect == Effect::Known || instruction.guard.is_none() && !depends;
            for register in written.into_iter().filter(|_| effect != Effect::Nothing) {
                match replaces {
                    true => differing.remove(register),
                    false if depends => differing.insert(register),
                    false => {}
                }
            }
        }
        let end = &function.blocks[block].terminator;
        let targets = targets(end, &known);
        let decided = match end {
            Terminator::Return => !self.returned().any(|register| differing.has(register)),
            Terminator::Table { .. } => false,
            _ => targets.len() == 1 || decider(end).is_none_or(|one| !differing.has(one)),
        };
        decided
            && targets.into_iter().all(|next| {
                if !differing.intersects(&self.live[next]) {
                    return true;
                }
                if path.contains(&next) {
                    return false;
                }
                path.push(next);
                let independent =
                    self.is_independent((next, 0), known.clone(), differing.clone(), path);
                path.pop();
                independent
            })
    }

    fn spend_one(&mut self) -> bool {
        self.budget = self.budget.saturating_sub(1);
        self.budget > 0
    }

    /// Registers that the function returns.
    fn returned(&self) -> impl Iterator<Item = Reg> {
        self.function.returns.iter().filter_map(|returned| match returned {
            Param::Register(register, _) => Some(*register),
            Param::Variable(_) => None,
        })
    }
}

/// The possible next blocks; none if the thread or call ends, or if a table has the targets.
fn targets(end: &Terminator, known: &KnownRegisters) -> Vec<BlockId> {
    match end {
        Terminator::Jump(target) => vec![*target],
        Terminator::Branch { guard, then, otherwise, .. } => match guard_holds(*guard, known) {
            Some(true) => vec![*then],
            Some(false) => vec![*otherwise],
            None => vec![*then, *otherwise],
        },
        Terminator::Table { .. } | Terminator::Return | Terminator::Exit | Terminator::Trap => {
            Vec::new()
        }
    }
}

pub(crate) fn guard_holds(guard: Guard, known: &KnownRegisters) -> Option<bool> {
    known.get(&guard.register).map(|&bit| (bit != 0) != guard.negated)
}

/// The effect of an instruction on its results.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// Its guard is known to be false.
    Nothing,
    /// It writes a value that follows from the answer.
    Known,
    /// Anything else.
    Unknown,
}

/// Propagates the constants through an instruction.
fn evaluate(instruction: &Instr, known: &mut KnownRegisters) -> Effect {
    let guard = instruction.guard.map(|guard| guard_holds(guard, known));
    if guard == Some(Some(false)) {
        return Effect::Nothing;
    }
    let result = (guard != Some(None)).then(|| value(&instruction.op, known)).flatten();
    if let Some((dst, value)) = result {
        known.insert(dst, value);
        return Effect::Known;
    }
    let (written, _) = registers(instruction);
    written.iter().for_each(|register| {
        known.remove(register);
    });
    Effect::Unknown
}

/// The register that an operation writes and its value, if that is known.
pub(crate) fn value(op: &Op, known: &KnownRegisters) -> Option<(Reg, u64)> {
    let read = |operand: Operand| match operand {
        Operand::Constant(bits) => Some(bits),
        Operand::Register(register) => known.get(&register).copied(),
    };
    match op {
        Op::Copy { dst, src } => Some((*dst, read(*src)?)),
        Op::Select { dst, condition, if_true, if_false } => {
            let chosen = if read(*condition)? != 0 { if_true } else { if_false };
            Some((*dst, read(*chosen)?))
        }
        Op::Resize { dst, src, from, signed: false } => Some((*dst, read(*src)? & from.mask())),
        Op::IntUnary { op: IntUnary::Not, width, dst, a } => {
            Some((*dst, !read(*a)? & width.mask()))
        }
        Op::IntBinary { op, width, dst, a, b } => {
            let (a, b) = (read(*a)? & width.mask(), read(*b)? & width.mask());
            let value = match op {
                IntBinary::And => a & b,
                IntBinary::Or => a | b,
                IntBinary::Xor => a ^ b,
                _ => return None,
            };
            Some((*dst, value))
        }
        Op::IntCompare { relation, signed, width, dst, a, b } => {
            let order = |bits: u64| number(bits, *width, *signed);
            let (a, b) = (order(read(*a)?), order(read(*b)?));
            let holds = match relation {
                Relation::Eq => a == b,
                Relation::Ne => a != b,
                Relation::Lt => a < b,
                Relation::Le => a <= b,
                Relation::Gt => a > b,
                Relation::Ge => a >= b,
            };
            Some((*dst, u64::from(holds)))
        }
        _ => None,
    }
}

/// Interprets bits of a width as a number.
fn number(bits: u64, width: Width, signed: bool) -> i128 {
    let bits = bits & width.mask();
    let negative = signed && width.bits() <= 64 && bits >> (width.bits() - 1) & 1 != 0;
    i128::from(bits) - if negative { 1 << width.bits() } else { 0 }
}

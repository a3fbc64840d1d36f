//! Recognises tests of a phase that may only skip a wait ("peek, then wait").
//!
//! A kernel may test a phase, do something else, and wait later only if the answer was no. Such a test becomes
//! [`MbarrierOp::Peek`] if its answer decides branches and has no other effect. The answer may pass through copies,
//! selections and comparisons with constants; one register alone carries it from block to block, so that this register
//! always holds the last answer. At each of the branches
//!
//! 1. the target for *no* leads through register operations to a wait with the same ordering, and from there to the
//!    target for *yes*;
//! 2. registers written on that path are dead at the target for *yes*.
//!
//! An engine then answers no. The wait follows, and nothing after it can tell the two answers apart, provided that
//! wait and test are about the same phase of the same barrier; the engine must check this. Tests and waits that
//! belong together share a number. Data flow is flow-insensitive, which errs towards "not a peek".

use crate::liveness::{RegisterSet, decider, live, registers};
use crate::waits::{KnownRegisters, guard_holds, value};
use crate::{BlockId, Function, Instr, MbarrierOp, Op, Ordering, Param, Reg, SyncOp, Terminator};
use base::IndexVec;
use std::collections::BTreeMap;

/// A place in a function: a block, and the position of an instruction in it.
type Place = (BlockId, usize);

/// The most blocks in a row that are followed to a wait.
const MAX_DEPTH: usize = 16;

/// Marks tests that only skip waits, and those waits. The function's wait loops must have been found already.
pub(crate) fn find_peeks(function: &mut Function) {
    let mut found: Vec<(Place, Vec<Place>)> = Vec::new();
    if !function.instructions().any(|instruction| unguarded_test(instruction).is_some()) {
        return;
    }
    let live = live(function);
    for (block, data) in function.blocks.enumerate() {
        for (index, instruction) in data.instructions.iter().enumerate() {
            if let Some((dst, ordering)) = unguarded_test(instruction)
                && let Some(waits) = skipped_waits(function, &live, dst, ordering)
            {
                found.push(((block, index), waits));
            }
        }
    }
    for (at, group) in groups(&found) {
        let Op::Sync(SyncOp::Mbarrier(mbarrier)) = &mut function.blocks[at.0].instructions[at.1].op
        else {
            continue;
        };
        match &mut mbarrier.op {
            MbarrierOp::Test(test) => {
                test.group = Some(group);
                mbarrier.op = MbarrierOp::Peek(test.clone());
            }
            MbarrierOp::Wait(test) => test.group = Some(group),
            _ => {}
        }
    }
}

/// Numbers for tests and waits, the same for those that belong together.
fn groups(found: &[(Place, Vec<Place>)]) -> BTreeMap<Place, u32> {
    let mut groups: BTreeMap<Place, u32> = BTreeMap::new();
    for (number, (peek, waits)) in (0u32..).zip(found) {
        let members = || waits.iter().chain([peek]);
        let known: Vec<u32> = members().filter_map(|at| groups.get(at).copied()).collect();
        groups.values_mut().filter(|group| known.contains(group)).for_each(|group| *group = number);
        members().for_each(|at| {
            groups.insert(*at, number);
        });
    }
    groups
}

/// Returns the answer register and the ordering of an unguarded test outside of a wait loop.
fn unguarded_test(instruction: &Instr) -> Option<(Reg, Ordering)> {
    match &instruction.op {
        Op::Sync(SyncOp::Mbarrier(mbarrier)) if instruction.guard.is_none() => match &mbarrier.op {
            MbarrierOp::Test(test) => Some((test.dst, test.ordering)),
            _ => None,
        },
        _ => None,
    }
}

/// The waits that the answer *yes* skips, if that is its only effect.
fn skipped_waits(
    function: &Function,
    live: &IndexVec<BlockId, RegisterSet>,
    answer: Reg,
    ordering: Ordering,
) -> Option<Vec<Place>> {
    let reached_registers = reached_registers(function, answer)?;
    let crosses = |register: &&Reg| live.iter().any(|live| live.has(**register));
    if reached_registers.keys().filter(crosses).count() > 1 {
        return None;
    }
    let mut waits = Vec::new();
    for (_, data) in function.blocks.enumerate() {
        let Some(decider) = decider(&data.terminator) else { continue };
        let Some([no, yes]) = reached_registers.get(&decider) else { continue };
        let Terminator::Branch { guard, then, otherwise, .. } = &data.terminator else {
            return None;
        };
        let target = |bit: u64| {
            let known = KnownRegisters::from([(guard.register, bit)]);
            if guard_holds(*guard, &known) == Some(true) { *then } else { *otherwise }
        };
        let (waiting, skipping) = (target(*no), target(*yes));
        waits.push(wait_between(function, live, (waiting, skipping), ordering)?);
    }
    (!waits.is_empty()).then_some(waits)
}

/// The registers that an answer reaches, with their values for no and yes; `None` if it reaches anything but
/// registers and branches.
fn reached_registers(function: &Function, answer: Reg) -> Option<BTreeMap<Reg, [u64; 2]>> {
    let mut values = BTreeMap::from([(answer, [0, 1])]);
    loop {
        let before = values.len();
        for instruction in function.instructions() {
            let (written, read) = registers(instruction);
            if !read.iter().any(|register| values.contains_key(register)) {
                continue;
            }
            if instruction.guard.is_some() {
                return None;
            }
            let result = [0, 1].map(|case: usize| {
                let known: KnownRegisters =
                    values.iter().map(|(&reg, each)| (reg, each[case])).collect();
                value(&instruction.op, &known)
            });
            let [Some((dst, no)), Some((_, yes))] = result else { return None };
            if written != [dst] || *values.entry(dst).or_insert([no, yes]) != [no, yes] {
                return None;
            }
        }
        if values.len() == before {
            break;
        }
    }
    let returned = function
        .returns
        .iter()
        .any(|one| matches!(one, Param::Register(register, _) if values.contains_key(register)));
    (!returned).then_some(values)
}

/// The only wait on the path from `from` to `to`, if nothing else on the path has an effect visible at its end.
fn wait_between(
    function: &Function,
    live: &IndexVec<BlockId, RegisterSet>,
    (from, to): (BlockId, BlockId),
    ordering: Ordering,
) -> Option<Place> {
    let (mut block, mut known) = (from, KnownRegisters::new());
    let (mut found, mut written) = (None, RegisterSet::default());
    for _ in 0..MAX_DEPTH {
        if block == to {
            return found.filter(|_| !written.intersects(&live[to]));
        }
        let data = &function.blocks[block];
        for (index, instruction) in data.instructions.iter().enumerate() {
            registers(instruction).0.into_iter().for_each(|register| written.insert(register));
            if let Op::Sync(SyncOp::Mbarrier(mbarrier)) = &instruction.op
                && let MbarrierOp::Wait(test) = &mbarrier.op
                && instruction.guard.is_none()
                && test.ordering == ordering
                && found.is_none()
            {
                found = Some((block, index));
                known.insert(test.dst, 1);
                continue;
            }
            let op = &instruction.op;
            if !op.is_of_registers() && !matches!(op, Op::Hint { .. }) {
                return None;
            }
            match value(op, &known).filter(|_| instruction.guard.is_none()) {
                Some((dst, bits)) => {
                    known.insert(dst, bits);
                }
                None => registers(instruction).0.iter().for_each(|register| {
                    known.remove(register);
                }),
            }
        }
        block = match &data.terminator {
            Terminator::Jump(target) => *target,
            Terminator::Branch { guard, then, otherwise, .. } => match guard_holds(*guard, &known)?
            {
                true => *then,
                false => *otherwise,
            },
            Terminator::Table { .. } | Terminator::Return | Terminator::Exit | Terminator::Trap => {
                return None;
            }
        };
    }
    None
}

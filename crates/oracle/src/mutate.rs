//! Small random changes to a program.

use crate::program::{
    Access, Barrier, BarrierKind, LaneMask, MAX_COPIES, MAX_STEPS, Op, Program, Space, Step, Value,
};
use testing::Random;

/// Changes a step: drops, doubles, moves or replaces it, or changes an operand. Changes that would leave the
/// language are not made.
pub(crate) fn mutate(program: &mut Program, random: &mut Random) {
    let mut changed = program.clone();
    let thread = random.below(changed.threads.len());
    let lane = changed.threads[thread].lane;
    let steps = &mut changed.threads[thread].steps;
    let position = random.below(steps.len());
    match random.below(9) {
        _ if steps.is_empty() => steps.push(random_step(random, lane)),
        0 | 1 => drop(steps.remove(position)),
        2 => steps.insert(position, steps[position]),
        3 if position > 0 => steps.swap(position - 1, position),
        4 => steps.truncate(position),
        5 => steps.insert(position, random_step(random, lane)),
        6 => steps[position].joint ^= true,
        _ => steps[position].op = alter(steps[position].op, random),
    }
    changed.separate_unequal();
    if changed.validate().is_ok() && changed.len() <= MAX_STEPS {
        *program = changed;
    }
}

fn random_step(random: &mut Random, lane: u8) -> Step {
    Step { op: random_op(random, lane), joint: random.chance(30) }
}

/// Draws an operation that this lane may execute.
pub(crate) fn random_op(random: &mut Random, lane: u8) -> Op {
    match random.below(12) {
        0 => Op::Read(access(random)),
        1 => Op::UnusedRead(access(random)),
        2 | 3 => Op::Write(access(random), Value::Own),
        4 => Op::Add(space(random), cell(random)),
        5..=7 => Op::Barrier(barrier(random)),
        8 => Op::WarpSync(mask(random, lane)),
        9 => match mask(random, lane) {
            3 => Op::Shuffle { mask: 3, from: random.below(2) as u8 },
            mask => Op::Shuffle { mask, from: lane },
        },
        10 => Op::Vote { mask: mask(random, lane), predicate: random.chance(50) },
        _ => random.pick(&[
            Op::Copy { to: 0, from: 0 },
            Op::Commit,
            Op::WaitGroup(0),
            Op::WaitGroup(1),
            Op::WaitAll,
        ]),
    }
}

/// Changes an operand of an operation, or replaces the operation by a similar one.
fn alter(op: Op, random: &mut Random) -> Op {
    match op {
        Op::Read(_) => Op::Read(access(random)),
        Op::UnusedRead(_) => Op::UnusedRead(access(random)),
        Op::Write(Access { space: Space::Shared, .. }, _) if random.chance(20) => {
            Op::Write(Access { space: Space::Shared, ..access(random) }, Value::Common)
        }
        Op::Write(..) => Op::Write(access(random), Value::Own),
        Op::Add(..) => Op::Add(space(random), cell(random)),
        Op::Barrier(old) => Op::Barrier(alter_barrier(old, random)),
        Op::WarpSync(mask) => random.pick(&[
            Op::Shuffle { mask, from: mask.trailing_zeros() as u8 },
            Op::Vote { mask, predicate: true },
        ]),
        Op::Shuffle { mask, .. } | Op::Vote { mask, .. } => Op::WarpSync(mask),
        Op::Copy { .. } => Op::Copy { to: cell(random), from: cell(random) },
        Op::Commit => Op::WaitAll,
        Op::WaitGroup(pending) => Op::WaitGroup(pending ^ 1),
        Op::WaitAll => Op::WaitGroup(0),
    }
}

fn alter_barrier(old: Barrier, random: &mut Random) -> Barrier {
    let new = barrier(random);
    match random.below(5) {
        0 => Barrier { id: new.id, ..old },
        1 => Barrier { count: new.count, ..old },
        2 => Barrier { aligned: new.aligned, ..old },
        3 if old.count.is_some() => Barrier { kind: new.kind, ..old },
        _ => new,
    }
}

fn barrier(random: &mut Random) -> Barrier {
    let kind = random.pick(&[
        BarrierKind::Sync,
        BarrierKind::Sync,
        BarrierKind::Arrive,
        BarrierKind::Popc(true),
    ]);
    let counts = [Some(64), Some(64), Some(64), Some(32), Some(96), None, None];
    let count = match kind {
        BarrierKind::Arrive => Some(random.pick(&[64, 64, 32, 96])),
        BarrierKind::Sync | BarrierKind::Popc(_) => random.pick(&counts),
    };
    let count = if random.chance(1) { Some(40) } else { count };
    Barrier { kind, id: random.pick(&[0, 0, 1, 2]), count, aligned: random.chance(70) }
}

fn access(random: &mut Random) -> Access {
    let width = random.pick(&[4, 4, 4, 1, 2, 8]);
    let places = if width == 8 { 1 } else { 8 / usize::from(width) };
    Access { space: space(random), offset: random.below(places) as u8 * width, width }
}

fn space(random: &mut Random) -> Space {
    random.pick(&[Space::Shared, Space::Shared, Space::Global])
}

fn cell(random: &mut Random) -> u8 {
    random.below(2) as u8
}

fn mask(random: &mut Random, lane: u8) -> LaneMask {
    random.pick(&[3, 3, 1 << lane])
}

const _: () = assert!(MAX_STEPS + MAX_COPIES <= 32, "events are bits of a word");

//! Generates random programs with mbarriers: threads that hand a cell back and forth, most with small mutations, and
//! some of random steps.

use super::{CELLS, MAX_STEPS, MAX_THREADS, MBARRIERS, PhaseArrival, PhaseOp, PhaseProgram};
use testing::Random;

/// Generates the program of a seed.
#[must_use]
pub fn generate_phases(seed: u64) -> PhaseProgram {
    let mut random = Random::new(seed);
    let mut program = match random.below(19usize) {
        16.. => replicated(&mut random),
        13..16 => ring(&mut random),
        10 | 11 => bulk_loads(&mut random),
        12 => bulk_stores(&mut random),
        0..3 => random_program(&mut random, false),
        3 => random_program(&mut random, true),
        4 => copies(&mut random),
        5 => announced_bytes(&mut random),
        6 => all_arrive_and_wait(&mut random),
        _ => pipeline(&mut random),
    };
    if random.chance(15) {
        add_peek(&mut program, &mut random);
    }
    if random.chance(20) {
        replicate(&mut program, &mut random);
    }
    if random.chance(60) {
        for _ in 0..=random.below(2usize) {
            mutate(&mut program, &mut random);
        }
    }
    let longest = MAX_STEPS / program.threads.len();
    program.threads.iter_mut().for_each(|steps| steps.truncate(longest));
    debug_assert!(program.len() <= MAX_STEPS);
    program
}

/// Counts of mbarriers for programs that use the first two.
fn counts([one, other]: [u8; 2]) -> [u8; MBARRIERS] {
    [one, other, 1, 1]
}

/// Random steps.
fn random_program(random: &mut Random, with_memory: bool) -> PhaseProgram {
    let threads = 2 + random.below(2usize);
    let steps = |random: &mut Random| {
        (0..1 + random.below(5usize)).map(|_| random_op(random, with_memory)).collect()
    };
    PhaseProgram {
        counts: counts([1 + random.below(3u8), 1 + random.below(3u8)]),
        threads: (0..threads).map(|_| steps(random)).collect(),
        share_warp: random.chance(30),
    }
}

fn random_op(random: &mut Random, with_memory: bool) -> PhaseOp {
    let mbarrier = if random.chance(75) { 0 } else { random.below(2u8) };
    let cell = random.below(CELLS as u8);
    match random.below(if with_memory { 24u8 } else { 12 }) {
        0..3 => PhaseOp::Arrive(PhaseArrival {
            count: random.pick(&[1, 1, 1, 2]),
            drops: random.chance(8),
            relaxed: random.chance(20),
            ..PhaseArrival::at(mbarrier)
        }),
        3 => {
            let (expects, no_complete) = match random.chance(70) {
                true => (Some(random.below(3u8)), false),
                false => (None, true),
            };
            PhaseOp::Arrive(PhaseArrival { expects, no_complete, ..PhaseArrival::at(mbarrier) })
        }
        4 => PhaseOp::Expect(mbarrier, 1 + random.below(2u8)),
        5 => PhaseOp::Deliver(mbarrier, 1 + random.below(2u8)),
        6..10 => PhaseOp::Wait(mbarrier, random.chance(50), random.chance(15)),
        10 => PhaseOp::Block,
        11 => PhaseOp::Warp(random.chance(50)),
        12 => PhaseOp::Write(cell),
        13 => PhaseOp::Read(cell),
        14 => PhaseOp::Copy(cell),
        15 => PhaseOp::CopyArrive(mbarrier, random.chance(60)),
        16 | 17 => PhaseOp::Load(cell, mbarrier),
        18 => PhaseOp::Store(cell),
        19 => PhaseOp::StoreWait(random.chance(50)),
        20 => PhaseOp::ProxyFence,
        21 => PhaseOp::Peek(mbarrier, random.chance(50)),
        22 => PhaseOp::WaitUnless(mbarrier, random.chance(50)),
        _ => PhaseOp::Fence,
    }
}

/// Generates a pipeline: one thread fills a cell; the others read it and hand it back.
fn pipeline(random: &mut Random) -> PhaseProgram {
    let readers = 1 + random.below(MAX_THREADS - 1);
    let rounds = 1 + random.below(3usize);
    let [full, empty] = [0, 1];
    let relaxed = random.chance(20);
    let arrival = |mbarrier| PhaseArrival { relaxed, ..PhaseArrival::at(mbarrier) };
    let mut writer = Vec::new();
    for round in 0..rounds {
        // The cell is empty at first: the phase before the first is over.
        if round > 0 || random.chance(50) {
            writer.push(PhaseOp::Wait(empty, round % 2 == 0, false));
        }
        writer.push(PhaseOp::Write(0));
        if relaxed {
            writer.push(PhaseOp::Fence);
        }
        writer.push(PhaseOp::Arrive(arrival(full)));
    }
    let reader = |random: &mut Random| {
        let mut steps = Vec::new();
        for round in 0..rounds {
            steps.push(PhaseOp::Wait(full, round % 2 == 1, false));
            steps.push(PhaseOp::Read(0));
            if round + 1 < rounds || random.chance(30) {
                steps.push(PhaseOp::Arrive(PhaseArrival::at(empty)));
            }
        }
        steps
    };
    let mut threads = vec![writer];
    (0..readers).for_each(|_| threads.push(reader(random)));
    PhaseProgram { counts: counts([1, readers as u8]), threads, share_warp: random.chance(30) }
}

/// A ring of two cells: one thread fills them in turn, by stores or bulk loads, and another reads them in
/// turn.
fn ring(random: &mut Random) -> PhaseProgram {
    let (rounds, loads) = (2 + random.below(3usize), random.chance(50));
    let mut threads = vec![Vec::new(), Vec::new()];
    for round in 0..rounds {
        let (stage, odd) = ((round % 2) as u8, round / 2 % 2 == 1);
        let [full, empty] = [stage, stage + 2];
        if round >= 2 || random.chance(50) {
            threads[0].push(PhaseOp::Wait(empty, !odd, false));
        }
        let announced = PhaseArrival { expects: Some(1), ..PhaseArrival::at(full) };
        threads[0].extend(match loads {
            true => [PhaseOp::Arrive(announced), PhaseOp::Load(stage, full)],
            false => [PhaseOp::Write(stage), PhaseOp::Arrive(PhaseArrival::at(full))],
        });
        threads[1].extend([PhaseOp::Wait(full, odd, false), PhaseOp::Read(stage)]);
        if round + 2 < rounds || random.chance(50) {
            threads[1].push(PhaseOp::Arrive(PhaseArrival::at(empty)));
        }
    }
    PhaseProgram { counts: [1; MBARRIERS], threads, share_warp: random.chance(20) }
}

/// Generates a pipeline of bulk loads: one thread loads a cell; the others read it and hand it back.
fn bulk_loads(random: &mut Random) -> PhaseProgram {
    let readers = 1 + random.below(MAX_THREADS - 1);
    let rounds = 1 + random.below(2usize);
    let [full, empty] = [0, 1];
    let mut first = Vec::new();
    if random.chance(30) {
        first.extend([PhaseOp::Write(0), PhaseOp::ProxyFence]);
    }
    for round in 0..rounds {
        if round > 0 || random.chance(40) {
            first.push(PhaseOp::Wait(empty, round % 2 == 0, false));
        }
        let announced = PhaseArrival { expects: Some(1), ..PhaseArrival::at(full) };
        first.extend([PhaseOp::Arrive(announced), PhaseOp::Load(0, full)]);
    }
    let reader = |random: &mut Random| {
        let mut steps = Vec::new();
        for round in 0..rounds {
            steps.extend([PhaseOp::Wait(full, round % 2 == 1, false), PhaseOp::Read(0)]);
            if round + 1 < rounds || random.chance(30) {
                steps.push(PhaseOp::Arrive(PhaseArrival::at(empty)));
            }
        }
        steps
    };
    let mut threads = vec![first];
    (0..readers).for_each(|_| threads.push(reader(random)));
    PhaseProgram { counts: counts([1, readers as u8]), threads, share_warp: random.chance(30) }
}

/// Threads write; one of them stores the written cells in bulk and uses them again.
fn bulk_stores(random: &mut Random) -> PhaseProgram {
    let writer = random.below(2usize);
    let by_issuer = random.chance(40);
    let mut threads = vec![Vec::new(), Vec::new()];
    threads[writer].push(PhaseOp::Write(0));
    if !by_issuer {
        threads[writer].push(PhaseOp::ProxyFence);
    }
    match random.chance(50) {
        true => threads.iter_mut().for_each(|steps| steps.push(PhaseOp::Block)),
        false => {
            threads[writer].push(PhaseOp::Arrive(PhaseArrival::at(0)));
            threads[0].push(PhaseOp::Wait(0, false, false));
        }
    }
    if by_issuer {
        threads[0].push(PhaseOp::ProxyFence);
    }
    threads[0].extend([PhaseOp::Store(0), PhaseOp::StoreWait(random.chance(50))]);
    if random.chance(60) {
        threads.iter_mut().for_each(|steps| steps.push(PhaseOp::Block));
        threads[random.below(2usize)].push(PhaseOp::Write(0));
    }
    PhaseProgram { counts: counts([1, 1]), threads, share_warp: random.chance(20) }
}

/// Threads store a common value to one cell, or update it, and meet at a barrier. Then they read the cell, or one
/// of them copies it in bulk. Then they meet again, for the next value.
fn replicated(random: &mut Random) -> PhaseProgram {
    let threads = 2 + random.below(2usize);
    let (at_block, fences, moves) = (random.chance(25), random.chance(60), random.below(3u8));
    let updates = random.chance(25);
    let meet = |steps: &mut Vec<PhaseOp>, odd: bool| match at_block {
        true => steps.push(PhaseOp::Block),
        false => {
            steps.push(PhaseOp::Arrive(PhaseArrival::at(0)));
            steps.push(PhaseOp::Wait(0, odd, false));
        }
    };
    let mut all = vec![Vec::new(); threads];
    let mut phase = 0;
    for round in 0..2 {
        for (thread, steps) in all.iter_mut().enumerate() {
            steps.push(match updates && round == 0 {
                true => PhaseOp::Update(0),
                false => {
                    PhaseOp::WriteCommon(0, if random.chance(90) { round } else { thread as u8 })
                }
            });
            if fences {
                steps.push(PhaseOp::ProxyFence);
            }
            meet(steps, phase % 2 == 1);
            match (moves, thread) {
                (0, _) => steps.push(PhaseOp::Read(0)),
                (1, 0) => steps.extend([PhaseOp::Store(0), PhaseOp::StoreWait(true)]),
                _ => {}
            }
            if round == 0 && random.chance(95) {
                meet(steps, phase % 2 == 0);
            }
        }
        phase += 2;
    }
    if moves == 2 {
        let announced = PhaseArrival { expects: Some(1), ..PhaseArrival::at(1) };
        all[0].extend([PhaseOp::Arrive(announced), PhaseOp::Load(0, 1)]);
        let last = all.len() - 1;
        all[last].extend([PhaseOp::Wait(1, false, false), PhaseOp::Read(0)]);
    }
    PhaseProgram { counts: counts([threads as u8, 1]), threads: all, share_warp: random.chance(20) }
}

/// Turns some stores of unique values into stores of common ones, or updates.
fn replicate(program: &mut PhaseProgram, random: &mut Random) {
    for op in program.threads.iter_mut().flatten() {
        if let PhaseOp::Write(cell) = *op {
            *op = match random.below(8u8) {
                0..4 => PhaseOp::WriteCommon(cell, u8::from(random.chance(20))),
                4 => PhaseOp::Update(cell),
                _ => *op,
            };
        }
    }
    for _ in 0..random.below(3usize) {
        let changes = program.threads.iter().flatten();
        let changes =
            changes.filter(|op| matches!(op, PhaseOp::WriteCommon(..) | PhaseOp::Update(_)));
        let changes: Vec<PhaseOp> = changes.copied().collect();
        if changes.is_empty() {
            return;
        }
        let thread = random.below(program.threads.len());
        let at = random.below(program.threads[thread].len() + 1);
        program.threads[thread].insert(at, random.pick(&changes));
    }
}

/// All threads arrive and wait, for a few rounds.
fn all_arrive_and_wait(random: &mut Random) -> PhaseProgram {
    let threads = 2 + random.below(2usize);
    let rounds = 1 + random.below(2usize);
    let steps = |number: usize| {
        let mut steps = vec![PhaseOp::Write(number as u8)];
        for round in 0..rounds {
            steps.push(PhaseOp::Arrive(PhaseArrival::at(0)));
            steps.push(PhaseOp::Wait(0, round % 2 == 1, false));
            steps.push(PhaseOp::Read(((number + 1) % threads) as u8));
        }
        steps
    };
    PhaseProgram {
        counts: counts([threads as u8, 1]),
        threads: (0..threads).map(steps).collect(),
        share_warp: random.chance(30),
    }
}

/// Copies that arrive at an mbarrier, and threads that read the copied data.
fn copies(random: &mut Random) -> PhaseProgram {
    let increments = random.chance(60);
    let mut first = vec![PhaseOp::Copy(0)];
    if random.chance(30) {
        first.push(PhaseOp::Copy(1));
    }
    first.push(PhaseOp::CopyArrive(0, increments));
    first.push(PhaseOp::Arrive(PhaseArrival::at(0)));
    if random.chance(50) {
        first.extend([PhaseOp::Wait(0, false, false), PhaseOp::Read(0)]);
    }
    let mut second = Vec::new();
    if random.chance(50) {
        second.push(PhaseOp::Arrive(PhaseArrival::at(0)));
    }
    let arrivals = 1 + second.len() as u8 + u8::from(!increments);
    second.extend([PhaseOp::Wait(0, false, false), PhaseOp::Read(0)]);
    if random.chance(40) {
        let back = PhaseOp::Arrive(PhaseArrival::at(1));
        second.push(back);
        let again = [PhaseOp::Wait(1, false, false), PhaseOp::Copy(0)];
        first.extend(again);
    }
    let share_warp = random.chance(30);
    PhaseProgram { counts: counts([arrivals, 1]), threads: vec![first, second], share_warp }
}

/// Bytes announced and delivered.
fn announced_bytes(random: &mut Random) -> PhaseProgram {
    let announce = |random: &mut Random| match random.chance(50) {
        true => vec![PhaseOp::Arrive(PhaseArrival { expects: Some(2), ..PhaseArrival::at(0) })],
        false => vec![PhaseOp::Expect(0, 2), PhaseOp::Arrive(PhaseArrival::at(0))],
    };
    let rounds = 1 + random.below(2usize);
    let mut threads = vec![Vec::new(), Vec::new()];
    for round in 0..rounds {
        let parity = round % 2 == 1;
        threads[0].extend(announce(random));
        threads[0].push(PhaseOp::Wait(0, parity, false));
        let delivered = match random.chance(50) {
            true => vec![PhaseOp::Deliver(0, 2)],
            false => vec![PhaseOp::Deliver(0, 1), PhaseOp::Deliver(0, 1)],
        };
        threads[1].extend(delivered);
        threads[1].push(PhaseOp::Wait(0, parity, false));
    }
    if random.chance(30) {
        threads.push(vec![PhaseOp::Wait(0, false, false)]);
    }
    PhaseProgram { counts: counts([1, 1]), threads, share_warp: random.chance(30) }
}

/// Adds a peek before a wait, which is then skipped if the answer was true.
fn add_peek(program: &mut PhaseProgram, random: &mut Random) {
    let thread = random.below(program.threads.len());
    let steps = &mut program.threads[thread];
    let is_wait = |op: &PhaseOp| matches!(op, PhaseOp::Wait(_, _, false));
    let waits = steps.iter().enumerate().filter(|(_, op)| is_wait(op));
    let waits: Vec<usize> = waits.map(|(at, _)| at).collect();
    if waits.is_empty() {
        return;
    }
    let at = random.pick(&waits);
    if let PhaseOp::Wait(mbarrier, parity, _) = steps[at] {
        steps[at] = PhaseOp::WaitUnless(mbarrier, parity);
        let before = at - random.below(at.min(2) + 1);
        steps.insert(before, PhaseOp::Peek(mbarrier, parity));
    }
}

/// Changes a step.
fn mutate(program: &mut PhaseProgram, random: &mut Random) {
    let thread = random.below(program.threads.len());
    let steps = &mut program.threads[thread];
    if steps.is_empty() {
        return;
    }
    let at = random.below(steps.len());
    match random.below(8usize) {
        0 => {
            steps.remove(at);
        }
        1 => steps.insert(at, random_op(random, true)),
        2 if at > 0 => steps.swap(at, at - 1),
        3 => program.counts[random.below(2usize)] = 1 + random.below(3u8),
        4 => program.share_warp = !program.share_warp,
        _ => change_op(&mut steps[at], random),
    }
}

fn change_op(op: &mut PhaseOp, random: &mut Random) {
    *op = match *op {
        PhaseOp::Arrive(arrival) => PhaseOp::Arrive(match random.below(4u8) {
            0 => PhaseArrival { relaxed: !arrival.relaxed, ..arrival },
            1 => PhaseArrival { mbarrier: arrival.mbarrier ^ 1, ..arrival },
            2 => PhaseArrival { drops: !arrival.drops, ..arrival },
            _ => PhaseArrival { count: 3 - arrival.count.min(2), ..arrival },
        }),
        PhaseOp::Expect(mbarrier, units) => PhaseOp::Expect(mbarrier, 3 - units.min(2)),
        PhaseOp::Deliver(mbarrier, units) => PhaseOp::Deliver(mbarrier, 3 - units.min(2)),
        PhaseOp::Wait(mbarrier, parity, relaxed) => match random.below(3u8) {
            0 => PhaseOp::Wait(mbarrier, parity, !relaxed),
            1 => PhaseOp::Wait(mbarrier ^ random.pick(&[1, 2]), parity, relaxed),
            _ => PhaseOp::Wait(mbarrier, !parity, relaxed),
        },
        PhaseOp::Peek(mbarrier, parity) => PhaseOp::Peek(mbarrier, !parity),
        PhaseOp::WaitUnless(mbarrier, parity) => PhaseOp::WaitUnless(mbarrier, !parity),
        PhaseOp::CopyArrive(mbarrier, increments) => PhaseOp::CopyArrive(mbarrier, !increments),
        PhaseOp::Warp(orders) => PhaseOp::Warp(!orders),
        PhaseOp::Block => PhaseOp::Fence,
        PhaseOp::Fence => PhaseOp::Block,
        PhaseOp::Write(cell) => PhaseOp::Read(cell),
        PhaseOp::WriteCommon(cell, which) => PhaseOp::WriteCommon(cell, which ^ 1),
        PhaseOp::Update(cell) => PhaseOp::WriteCommon(cell, 0),
        PhaseOp::Read(cell) => PhaseOp::Write(cell),
        PhaseOp::Copy(cell) => PhaseOp::Copy((cell + 1) % CELLS as u8),
        PhaseOp::Load(cell, mbarrier) => match random.chance(50) {
            true => PhaseOp::Load((cell + 1) % CELLS as u8, mbarrier),
            false => PhaseOp::Load(cell, mbarrier ^ 1),
        },
        PhaseOp::Store(cell) => PhaseOp::Read(cell),
        PhaseOp::StoreWait(read) => PhaseOp::StoreWait(!read),
        PhaseOp::ProxyFence => PhaseOp::Fence,
    };
}

//! Generates random programs of two blocks: exchanges and handovers between them, most with small mutations, and some
//! of random steps.

use super::{
    BLOCKS, CELLS, ClusterOp, ClusterProgram, MAX_STEPS, MBARRIERS, Scope, Start, THREADS,
};
use testing::Random;

/// Generates the program of a seed.
#[must_use]
pub fn generate_clusters(seed: u64) -> ClusterProgram {
    let mut random = Random::new(seed);
    let random = &mut random;
    let mut program = match random.below(16usize) {
        12 | 13 => replicated(random),
        14 | 15 => sums(random),
        0 | 1 => random_program(random),
        2..5 => exchange(random),
        5..8 => handover(random),
        8 | 9 => asynchronous(random),
        _ => multicast(random),
    };
    if random.chance(60) {
        meet_at_end(&mut program, random);
    }
    if random.chance(55) {
        for _ in 0..=random.below(2usize) {
            mutate(&mut program, random);
        }
    }
    for steps in &mut program.threads {
        steps.truncate(MAX_STEPS / THREADS + 4);
    }
    while program.len() > MAX_STEPS {
        let longest = program.threads.iter_mut().max_by_key(|steps| steps.len());
        longest.map(Vec::pop);
    }
    program
}

fn empty(random: &mut Random) -> ClusterProgram {
    let start = match random.below(20usize) {
        0 => Start::Apart,
        1 => Start::Relaxed,
        2 | 3 => Start::FencedInits,
        _ => Start::Released,
    };
    ClusterProgram { counts: [[1; MBARRIERS]; BLOCKS], start, threads: Default::default() }
}

/// Picks a scope, most often a wide one.
fn scope(random: &mut Random) -> Scope {
    random.pick(&[Scope::Cluster, Scope::Cluster, Scope::Unwritten, Scope::Unwritten, Scope::Block])
}

fn arrive(block: u8, mbarrier: u8, random: &mut Random) -> ClusterOp {
    let scope = if random.chance(85) { Scope::Cluster } else { scope(random) };
    ClusterOp::Arrive { block, mbarrier, expects: None, relaxed: false, scope }
}

fn wait(mbarrier: u8, parity: bool, random: &mut Random) -> ClusterOp {
    let scope = if random.chance(85) { Scope::Unwritten } else { scope(random) };
    ClusterOp::Wait { mbarrier, parity, relaxed: false, scope }
}

fn random_op(random: &mut Random) -> ClusterOp {
    let (block, mbarrier) = (random.below(BLOCKS as u8), random.below(MBARRIERS as u8));
    let cell = random.below(CELLS as u8 - 1);
    match random.below(20u8) {
        16 | 17 => ClusterOp::WriteCommon(block, cell, random.below(2u8)),
        18 => ClusterOp::Add(block, cell, random.chance(75)),
        19 => ClusterOp::AsyncAdd(block, cell, mbarrier),
        0 | 1 => ClusterOp::Write(block, cell),
        2 | 3 => ClusterOp::Read(block, random.below(CELLS as u8)),
        4 | 5 => ClusterOp::Arrive {
            block,
            mbarrier,
            expects: random.chance(25).then(|| random.pick(&[1, 1, 4])),
            relaxed: random.chance(20),
            scope: scope(random),
        },
        6 | 7 => ClusterOp::Wait {
            mbarrier,
            parity: random.chance(40),
            relaxed: random.chance(20),
            scope: scope(random),
        },
        8 | 9 => ClusterOp::ClusterArrive(random.chance(30)),
        10 | 11 => ClusterOp::ClusterWait,
        12 => ClusterOp::Fence(random.chance(70)),
        13 => ClusterOp::Block,
        14 => ClusterOp::Async(block, cell, mbarrier),
        _ => ClusterOp::Multicast(1 + random.below(3u8), mbarrier),
    }
}

/// Generates a program of random steps.
fn random_program(random: &mut Random) -> ClusterProgram {
    let mut program = empty(random);
    for steps in &mut program.threads {
        if random.chance(70) {
            (0..1 + random.below(4usize)).for_each(|_| steps.push(random_op(random)));
        }
    }
    program
}

/// Chooses threads: the first of each block, and perhaps others.
fn chosen_threads(random: &mut Random) -> Vec<usize> {
    let mut chosen_threads = vec![0, 2];
    chosen_threads.extend([1, 3].into_iter().filter(|_| random.chance(30)));
    chosen_threads
}

/// Both blocks write, meet at the cluster barrier, and read the other's values, perhaps twice.
fn exchange(random: &mut Random) -> ClusterProgram {
    let mut program = empty(random);
    let relaxed = random.chance(25);
    let chosen_threads = chosen_threads(random);
    let rounds = 1 + random.below(2usize);
    for &thread in &chosen_threads {
        let own_block = (thread / 2) as u8;
        let other_block = 1 - own_block;
        let cell = (thread % 2) as u8;
        let remote = random.chance(40);
        let steps = &mut program.threads[thread];
        for round in 0..rounds {
            if round > 0 {
                steps.extend([ClusterOp::ClusterArrive(false), ClusterOp::ClusterWait]);
            }
            steps.push(ClusterOp::Write(if remote { other_block } else { own_block }, cell));
            if relaxed {
                steps.push(ClusterOp::Fence(true));
            }
            steps.push(ClusterOp::ClusterArrive(relaxed));
            steps.push(ClusterOp::ClusterWait);
            steps.push(ClusterOp::Read(if remote { own_block } else { other_block }, cell));
        }
    }
    program
}

/// Generates a handover: one block writes into the other and arrives there; the other waits, reads, and hands back.
fn handover(random: &mut Random) -> ClusterProgram {
    let mut program = empty(random);
    let rounds = 1 + random.below(2usize);
    let relaxed = random.chance(20);
    for round in 0..rounds {
        let odd = round % 2 == 1;
        let writer = &mut program.threads[0];
        if round > 0 {
            writer.push(wait(1, !odd, random));
        }
        writer.push(ClusterOp::Write(1, 0));
        let mut arrival = arrive(1, 0, random);
        if let ClusterOp::Arrive { relaxed: is_relaxed, .. } = &mut arrival
            && relaxed
        {
            *is_relaxed = true;
            writer.push(ClusterOp::Fence(random.chance(80)));
        }
        writer.push(arrival);
        let reader = &mut program.threads[2];
        reader.extend([wait(0, odd, random), ClusterOp::Read(1, 0)]);
        if round + 1 < rounds || random.chance(30) {
            reader.push(arrive(0, 1, random));
        }
    }
    if random.chance(40) {
        // A second reader: both hand back.
        let second: Vec<ClusterOp> = program.threads[2].clone();
        program.threads[3] = second;
        program.counts[0][1] = 2;
    }
    if random.chance(30) {
        program.threads[0].push(wait(1, rounds.is_multiple_of(2), random));
    }
    program
}

/// A store that completes at an mbarrier of the other block.
fn asynchronous(random: &mut Random) -> ClusterProgram {
    let mut program = empty(random);
    let stores = 1 + random.below(2u8);
    let expects = Some(stores);
    for cell in 0..stores {
        program.threads[0].push(ClusterOp::Async(1, cell, 0));
    }
    let scope = Scope::Unwritten;
    let announce = ClusterOp::Arrive { block: 1, mbarrier: 0, expects, relaxed: false, scope };
    let announcer = random.pick(&[0, 2, 2]);
    program.threads[announcer].insert(0, announce);
    for thread in [2, 3].into_iter().take(1 + random.below(2usize)) {
        program.threads[thread].push(wait(0, false, random));
        program.threads[thread].push(ClusterOp::Read(1, random.below(stores)));
    }
    program
}

/// Threads store a common value to one cell, meet at a barrier, read the cell and meet again, for another value.
fn replicated(random: &mut Random) -> ClusterProgram {
    let mut program = empty(random);
    let at_block = random.chance(60);
    let threads = if at_block { [0, 1] } else { random.pick(&[[0, 1], [0, 2], [1, 2]]) };
    let meet: &[ClusterOp] = match at_block {
        true => &[ClusterOp::Block],
        false => &[ClusterOp::ClusterArrive(false), ClusterOp::ClusterWait],
    };
    for thread in threads {
        let steps = &mut program.threads[thread];
        for round in 0..2 {
            steps.push(ClusterOp::WriteCommon(0, 0, round));
            steps.extend(meet);
            if random.chance(80) {
                steps.push(ClusterOp::Read(0, 0));
            }
            if round == 0 && random.chance(90) {
                steps.extend(meet);
            }
        }
    }
    if random.chance(20) {
        let which = random.below(2u8);
        let steps = &mut program.threads[3];
        steps.push(ClusterOp::WriteCommon(0, 0, which));
    }
    program
}

/// Threads of both blocks add to one cell, asynchronously or directly. Then the threads of the cell's block wait
/// for the asynchronous ones and read the cell.
fn sums(random: &mut Random) -> ClusterProgram {
    let mut program = empty(random);
    let asynchronous = 1 + random.below(2u8);
    let (expects, scope) = (Some(asynchronous), Scope::Unwritten);
    for _ in 0..asynchronous {
        program.threads[0].push(ClusterOp::AsyncAdd(1, 0, 0));
    }
    for thread in 0..THREADS {
        let wide = random.chance(if thread < 2 { 90 } else { 80 });
        if random.chance(60) {
            program.threads[thread].push(ClusterOp::Add(1, 0, wide));
        }
    }
    let announce = ClusterOp::Arrive { block: 1, mbarrier: 0, expects, relaxed: false, scope };
    program.threads[2].insert(0, announce);
    let meets = random.chance(80);
    for thread in 0..THREADS {
        if thread >= 2 {
            let step = wait(0, false, random);
            program.threads[thread].push(step);
        }
        if meets {
            program.threads[thread]
                .extend([ClusterOp::ClusterArrive(false), ClusterOp::ClusterWait]);
        }
    }
    program.threads[2].push(ClusterOp::Read(1, 0));
    program
}

/// A copy to both blocks, which wait for it.
fn multicast(random: &mut Random) -> ClusterProgram {
    let mut program = empty(random);
    let rounds = 1 + random.below(2usize);
    program.counts[0][1] = 2;
    for round in 0..rounds {
        let odd = round % 2 == 1;
        for thread in [0, 2] {
            let block = (thread / 2) as u8;
            let (expects, scope) = (Some(4), Scope::Unwritten);
            let steps = &mut program.threads[thread];
            steps.push(ClusterOp::Arrive { block, mbarrier: 0, expects, relaxed: false, scope });
            if thread == 0 {
                if round > 0 {
                    steps.push(wait(1, !odd, random));
                }
                steps.push(ClusterOp::Multicast(3, 0));
            }
            steps.extend([wait(0, odd, random), ClusterOp::Read(block, CELLS as u8 - 1)]);
            if round + 1 < rounds {
                steps.push(arrive(0, 1, random));
            }
        }
    }
    program
}

/// Lets all threads that have steps meet at the cluster barrier at the end.
fn meet_at_end(program: &mut ClusterProgram, random: &mut Random) {
    for steps in program.threads.iter_mut().filter(|steps| !steps.is_empty()) {
        steps.extend([ClusterOp::ClusterArrive(random.chance(50)), ClusterOp::ClusterWait]);
    }
}

/// Changes a step.
fn mutate(program: &mut ClusterProgram, random: &mut Random) {
    let thread = random.below(THREADS);
    let steps = &mut program.threads[thread];
    if steps.is_empty() {
        return;
    }
    let at = random.below(steps.len());
    match random.below(8usize) {
        0 | 1 => {
            steps.remove(at);
        }
        2 => steps.insert(at, random_op(random)),
        3 if at > 0 => steps.swap(at, at - 1),
        4 => program.counts[random.below(BLOCKS)][random.below(MBARRIERS)] = 1 + random.below(2u8),
        5 => program.start = random.pick(&[Start::Apart, Start::Relaxed, Start::FencedInits]),
        _ => change_op(&mut steps[at], random),
    }
}

fn change_op(op: &mut ClusterOp, random: &mut Random) {
    *op = match *op {
        ClusterOp::Write(block, cell) => match random.chance(50) {
            true => ClusterOp::Read(block, cell),
            false => ClusterOp::Write(1 - block, cell),
        },
        ClusterOp::WriteCommon(block, cell, which) => match random.chance(50) {
            true => ClusterOp::WriteCommon(block, cell, which ^ 1),
            false => ClusterOp::Write(block, cell),
        },
        ClusterOp::Add(block, cell, wide) => match random.chance(70) {
            true => ClusterOp::Add(block, cell, !wide),
            false => ClusterOp::Write(block, cell),
        },
        ClusterOp::AsyncAdd(block, cell, mbarrier) => match random.chance(50) {
            true => ClusterOp::Async(block, cell, mbarrier),
            false => ClusterOp::AsyncAdd(block, 1 - cell.min(1), mbarrier),
        },
        ClusterOp::Read(block, cell) if cell + 1 < CELLS as u8 => match random.chance(50) {
            true => ClusterOp::Write(block, cell),
            false => ClusterOp::Read(1 - block, cell),
        },
        ClusterOp::Read(block, cell) => ClusterOp::Read(1 - block, cell),
        ClusterOp::Arrive { block, mbarrier, expects, relaxed, scope } => match random.below(4u8) {
            0 => ClusterOp::Arrive { block: 1 - block, mbarrier, expects, relaxed, scope },
            1 => ClusterOp::Arrive { block, mbarrier, expects, relaxed: !relaxed, scope },
            2 => {
                ClusterOp::Arrive { block, mbarrier, expects, relaxed, scope: self::scope(random) }
            }
            _ => ClusterOp::Arrive { block, mbarrier: 1 - mbarrier, expects, relaxed, scope },
        },
        ClusterOp::Wait { mbarrier, parity, relaxed, scope } => match random.below(4u8) {
            0 => ClusterOp::Wait { mbarrier, parity: !parity, relaxed, scope },
            1 => ClusterOp::Wait { mbarrier, parity, relaxed: !relaxed, scope },
            2 => ClusterOp::Wait { mbarrier, parity, relaxed, scope: self::scope(random) },
            _ => ClusterOp::Wait { mbarrier: 1 - mbarrier, parity, relaxed, scope },
        },
        ClusterOp::ClusterArrive(relaxed) => ClusterOp::ClusterArrive(!relaxed),
        ClusterOp::ClusterWait => ClusterOp::Block,
        ClusterOp::Fence(wide) => ClusterOp::Fence(!wide),
        ClusterOp::Block => ClusterOp::ClusterWait,
        ClusterOp::Async(block, cell, mbarrier) => ClusterOp::Async(1 - block, cell, mbarrier),
        ClusterOp::Multicast(mask, mbarrier) => ClusterOp::Multicast(mask % 3 + 1, mbarrier),
    };
}

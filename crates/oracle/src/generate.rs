//! Generates random tiny programs for the oracle: mostly correct ones, and correct ones with a few mutated steps.
//!
//! A program is built to complete without races by an ownership discipline: threads *hold* cells, use only cells they
//! hold, and pass cells on when they synchronise with the next holder. Two of three are then mutated
//! ([`mutate`](crate::mutate)). One in twelve is completely random.

use crate::mutate::{mutate, random_op};
use crate::program::{
    Access, Barrier, BarrierKind, MAX_COPIES, MEMORY_BYTES, Op, Program, Space, Step, Thread, Value,
};
use testing::Random;

/// The largest number of steps of a generated program.
const MAX_STEPS: usize = 16;
/// The largest number of steps of a thread of a generated program.
const LONGEST_THREAD: usize = 6;
/// Cells of both memories.
const CELLS: usize = 2 * MEMORY_BYTES / 4;

/// Generates the program of a seed.
#[must_use]
pub fn generate(seed: u64) -> Program {
    let mut random = Random::new(seed);
    let mut program = match random.chance(8) {
        true => random_program(&mut random),
        false => Builder::new(&mut random).build(),
    };
    if random.chance(65) {
        for _ in 0..=random.below(2) {
            mutate(&mut program, &mut random);
        }
    }
    program.separate_unequal();
    program
}

/// Draws the warps and threads of a program without steps.
fn empty(random: &mut Random) -> Program {
    let warps = random.pick(&[1, 2, 2, 2, 3, 3]);
    let wanted = random.pick(&[2, 2, 3, 3, 4]).min(warps * 2);
    let mut places: Vec<(u8, u8)> =
        (0..warps as u8).flat_map(|warp| [(warp, 0), (warp, 1)]).collect();
    while places.len() > wanted {
        places.remove(random.below(places.len()));
    }
    let threads = places.into_iter().map(|(warp, lane)| Thread { warp, lane, steps: Vec::new() });
    Program { warps: warps as u8, threads: threads.collect() }
}

/// Draws a program of random operations, without any discipline.
fn random_program(random: &mut Random) -> Program {
    let mut program = empty(random);
    for number in 0..program.threads.len() {
        for _ in 0..1 + random.below(3) {
            let op = random_op(random, program.threads[number].lane);
            let joint = random.chance(30);
            let copies = program.ops().filter(|op| matches!(op, Op::Copy { .. })).count();
            if copies < MAX_COPIES || !matches!(op, Op::Copy { .. }) {
                program.threads[number].steps.push(Step { op, joint });
            }
        }
    }
    program
}

/// Threads, one bit each.
type Threads = u8;

/// Ownership of a cell: the permitted uses, and the threads that may use it so.
#[derive(Clone, Copy)]
enum Ownership {
    /// This thread may do anything.
    Alone(usize),
    /// Reads.
    Read(Threads),
    /// Additions.
    Add(Threads),
}

impl Ownership {
    fn holders(self) -> Threads {
        match self {
            Self::Alone(thread) => 1 << thread,
            Self::Read(threads) | Self::Add(threads) => threads,
        }
    }
}

struct Builder<'r> {
    random: &'r mut Random,
    program: Program,
    /// Cells of shared memory, then of global memory.
    cells: [Ownership; CELLS],
    /// The cells that the program uses: few, so that threads meet.
    used: Vec<usize>,
    /// Threads that have not exited.
    alive: Threads,
    /// Unused barriers.
    unused_barriers: Vec<u8>,
    copies: usize,
}

impl<'r> Builder<'r> {
    fn new(random: &'r mut Random) -> Self {
        let program = empty(random);
        let alive = (1 << program.threads.len()) - 1;
        let cells = [Ownership::Alone(0); CELLS];
        let [shared, global] = [0, 1].map(|_| random.pick(&[1, 1, 2, 2, 3]));
        let used = (0..shared).chain(CELLS / 2..CELLS / 2 + global).collect();
        let unused_barriers = vec![0, 1, 2, 3];
        let mut builder = Self { random, program, cells, used, alive, unused_barriers, copies: 0 };
        builder.pass_on(alive, alive);
        builder
    }

    fn build(mut self) -> Program {
        for phase in 0..1 + self.random.below(3) {
            if phase > 0 && self.random.chance(12) {
                let leaving = self.random.below(self.program.threads.len());
                self.alive &= !(1 << leaving);
            }
            self.use_cells();
            self.synchronise();
        }
        match self.random.chance(40) {
            true => self.final_reads(),
            false => self.use_cells(),
        }
        self.program
    }

    /// Ends the program with a barrier of all remaining threads, after which the holders of shared cells read them.
    fn final_reads(&mut self) {
        self.barrier_of_block();
        for number in self.used.clone() {
            let (space, cell) = place(number);
            let reader = match self.cells[number] {
                Ownership::Alone(thread) => thread,
                Ownership::Read(threads) => threads.trailing_zeros() as usize,
                Ownership::Add(_) => continue,
            };
            if space == Space::Shared && self.alive >> reader & 1 != 0 {
                self.push(reader, Op::Read(Access { space, offset: cell * 4, width: 4 }), false);
            }
        }
    }

    fn alive(&self) -> Vec<usize> {
        (0..self.program.threads.len()).filter(|thread| self.alive >> thread & 1 != 0).collect()
    }

    fn push(&mut self, thread: usize, op: Op, joint: bool) {
        let has_room = self.program.len() < MAX_STEPS
            && self.program.threads[thread].steps.len() < LONGEST_THREAD;
        if has_room {
            self.program.threads[thread].steps.push(Step { op, joint });
        }
    }

    fn use_cells(&mut self) {
        for thread in self.alive() {
            for _ in 0..self.random.pick(&[0, 1, 1, 1, 2]) {
                self.use_cell(thread);
            }
        }
    }

    fn use_cell(&mut self, thread: usize) {
        let held = |cell: &usize| self.cells[*cell].holders() >> thread & 1 != 0;
        let mine: Vec<usize> = self.used.iter().copied().filter(held).collect();
        if mine.is_empty() {
            return;
        }
        let number = self.random.pick(&mine);
        let (space, cell) = place(number);
        let access = self.access_within(thread, number);
        let op = match (self.cells[number], self.random.below(10)) {
            (Ownership::Add(_), _) | (Ownership::Alone(_), 0) => Op::Add(space, cell),
            (Ownership::Read(_), 0..=1) | (Ownership::Alone(_), 1) => Op::UnusedRead(access),
            (Ownership::Read(_), _) | (Ownership::Alone(_), 2..=3) => Op::Read(access),
            (Ownership::Alone(_), 4..=6) if space == Space::Shared => {
                return self.copy(thread, cell);
            }
            (Ownership::Alone(_), 7) if space == Space::Shared => Op::Write(access, Value::Common),
            (Ownership::Alone(_), _) => Op::Write(access, Value::Own),
        };
        self.push(thread, op, false);
    }

    /// Picks some bytes of a cell, or two cells if the thread holds both in the same way.
    fn access_within(&mut self, thread: usize, number: usize) -> Access {
        let (space, cell) = place(number);
        let width = self.random.pick(&[4, 4, 4, 4, 1, 2, 8]);
        let alone = |cell: usize| matches!(self.cells[cell], Ownership::Alone(t) if t == thread);
        match width {
            8 if alone(number) && alone(number ^ 1) => {
                Access { space, offset: cell / 2 * 8, width }
            }
            1 | 2 => {
                let within = self.random.below(4 / usize::from(width)) as u8 * width;
                Access { space, offset: cell * 4 + within, width }
            }
            _ => Access { space, offset: cell * 4, width: 4 },
        }
    }

    /// Copies, waits, and uses the copied data.
    fn copy(&mut self, thread: usize, to: u8) {
        let sources: Vec<usize> = (CELLS / 2..CELLS)
            .filter(|&cell| match self.cells[cell] {
                Ownership::Alone(holder) => holder == thread,
                Ownership::Read(holders) => holders >> thread & 1 != 0,
                Ownership::Add(_) => false,
            })
            .collect();
        if sources.is_empty() || self.copies == MAX_COPIES {
            return;
        }
        self.copies += 1;
        let (_, from) = place(self.random.pick(&sources));
        self.push(thread, Op::Copy { to, from }, false);
        match self.random.below(4) {
            0 => self.push(thread, Op::WaitAll, false),
            1 => {
                self.push(thread, Op::Commit, false);
                self.push(thread, Op::Commit, false);
                self.push(thread, Op::WaitGroup(1), false);
            }
            _ => {
                self.push(thread, Op::Commit, false);
                self.push(thread, Op::WaitGroup(0), false);
            }
        }
    }

    fn synchronise(&mut self) {
        if self.alive == 0 {
            return;
        }
        match self.random.below(10) {
            0..=2 => self.barrier_of_block(),
            3..=6 => self.barrier_of_some_warps(),
            7 => self.warp_sync(),
            _ => self.shuffle_or_vote(),
        }
    }

    /// Adds a barrier without a count.
    fn barrier_of_block(&mut self) {
        let id = self.random.below(4) as u8;
        let reduces = self.random.chance(25);
        let form = self.barrier_form();
        for thread in self.alive() {
            let kind = self.barrier_kind(reduces, false);
            let barrier = Barrier { kind, id, count: None, aligned: form.aligned };
            self.push(thread, Op::Barrier(barrier), form.joint);
        }
        self.pass_on(self.alive, self.alive);
    }

    /// Adds a barrier of some warps, with a count. Some warps only arrive, and may then arrive or wait again at it.
    fn barrier_of_some_warps(&mut self) {
        let alive = self.alive();
        let mut warps: Vec<u8> = alive.iter().map(|&t| self.program.threads[t].warp).collect();
        warps.dedup();
        while warps.len() > 1 && self.random.chance(20) {
            warps.remove(self.random.below(warps.len()));
        }
        let id = match self.unused_barriers.pop() {
            Some(id) if self.random.chance(50) => id,
            _ => self.random.below(4) as u8,
        };
        let reduces = self.random.chance(15);
        let arriving = self.random.below(warps.len() + 1).min(warps.len() - 1);
        let second_actions: Vec<Option<BarrierKind>> =
            warps.iter().map(|_| self.second_action().filter(|_| !reduces)).collect();
        let count = Some(32 * (warps.len() + second_actions.iter().flatten().count()) as u16);
        let forms: Vec<BarrierForm> = warps.iter().map(|_| self.barrier_form()).collect();
        let (mut released, mut acquired) = (0, 0);
        for thread in alive {
            let warp = self.program.threads[thread].warp;
            let Some(position) = warps.iter().position(|&other| other == warp) else { continue };
            let form = forms[position];
            // Lanes that execute separate instructions may play different roles.
            let lane_arrives = !form.aligned && !form.joint && self.random.chance(25);
            let arrives = !reduces
                && (position < arriving || lane_arrives || second_actions[position].is_some());
            let kind = self.barrier_kind(reduces, arrives);
            let barrier = Barrier { kind, id, count, aligned: form.aligned };
            self.push(thread, Op::Barrier(barrier), form.joint);
            if let Some(kind) = second_actions[position] {
                self.push(thread, Op::Barrier(Barrier { kind, ..barrier }), form.joint);
            }
            let acquires = !arrives || second_actions[position] == Some(BarrierKind::Sync);
            released |= 1 << thread;
            acquired |= if acquires { 1 << thread } else { 0 };
        }
        self.pass_on(released, acquired);
    }

    /// Draws the second action of a warp at the same barrier.
    fn second_action(&mut self) -> Option<BarrierKind> {
        match self.random.below(10) {
            0..=1 => Some(BarrierKind::Sync),
            2 => Some(BarrierKind::Arrive),
            _ => None,
        }
    }

    fn barrier_kind(&mut self, reduces: bool, arrives: bool) -> BarrierKind {
        match (reduces, arrives) {
            (true, _) => BarrierKind::Popc(self.random.chance(60)),
            (false, true) => BarrierKind::Arrive,
            (false, false) => BarrierKind::Sync,
        }
    }

    fn barrier_form(&mut self) -> BarrierForm {
        match self.random.below(20) {
            0..=13 => BarrierForm { aligned: true, joint: true },
            14..=15 => BarrierForm { aligned: false, joint: true },
            16..=18 => BarrierForm { aligned: false, joint: false },
            _ => BarrierForm { aligned: true, joint: false },
        }
    }

    /// The running lanes of some warp.
    fn lanes_of_some_warp(&mut self) -> (Vec<usize>, u8) {
        let alive = self.alive();
        let warp = self.program.threads[self.random.pick(&alive)].warp;
        let lanes: Vec<usize> =
            alive.into_iter().filter(|&t| self.program.threads[t].warp == warp).collect();
        let mask = lanes.iter().fold(0, |mask, &t| mask | 1 << self.program.threads[t].lane);
        // The mask may name lanes that exited or never ran.
        (lanes, if self.random.chance(80) { mask } else { 3 })
    }

    fn warp_sync(&mut self) {
        let (lanes, mask) = self.lanes_of_some_warp();
        let joint = self.random.chance(60);
        lanes.iter().for_each(|&lane| self.push(lane, Op::WarpSync(mask), joint));
        let threads = lanes.iter().fold(0, |threads, lane| threads | 1 << lane);
        self.pass_on(threads, threads);
    }

    /// Adds a shuffle or a vote: all lanes wait, and no memory is ordered.
    fn shuffle_or_vote(&mut self) {
        let (lanes, mask) = self.lanes_of_some_warp();
        let shuffles = self.random.chance(50);
        for &lane in &lanes {
            let op = match shuffles {
                true => {
                    let partner = lanes[self.random.below(lanes.len())];
                    Op::Shuffle { mask, from: self.program.threads[partner].lane }
                }
                false => Op::Vote { mask, predicate: self.random.chance(60) },
            };
            self.push(lane, op, true);
        }
    }

    /// Redistributes cells at a synchronisation: a cell whose holders have all released (`released`) may go to threads
    /// that have acquired (`acquired`).
    fn pass_on(&mut self, released: Threads, acquired: Threads) {
        let takers: Vec<usize> = (0..8).filter(|taker| acquired >> taker & 1 != 0).collect();
        if takers.is_empty() {
            return;
        }
        for cell in 0..CELLS {
            if self.cells[cell].holders() & !released != 0 || self.random.chance(25) {
                continue;
            }
            self.cells[cell] = match self.random.below(5) {
                0 => Ownership::Read(acquired),
                1 => Ownership::Add(acquired),
                _ => Ownership::Alone(self.random.pick(&takers)),
            };
        }
    }
}

/// The form of a barrier in the code: `aligned`, and if the lanes of a warp share one instruction (`joint`).
#[derive(Clone, Copy)]
struct BarrierForm {
    aligned: bool,
    joint: bool,
}

/// Returns the memory and the position in it of a cell number.
fn place(number: usize) -> (Space, u8) {
    match number < CELLS / 2 {
        true => (Space::Shared, number as u8),
        false => (Space::Global, (number - CELLS / 2) as u8),
    }
}

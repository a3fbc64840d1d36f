//! The operational semantics of programs of two blocks: states of a running cluster, the possible next moves, and their
//! effects. Written to be obviously right, not fast.

use super::access::accesses;
use super::{
    BLOCK_THREADS, BLOCKS, CELLS, ClusterOp, ClusterProgram, MBARRIERS, MOST_STEPS, Scope, Start,
    THREADS, block_of,
};

/// A set of events: accesses of steps (a copy to the second block has a bit of its own), and initialisations
/// of the cells and the mbarriers of each block.
pub(super) type Events = u64;

/// The event of a step's access in a block.
pub(super) fn event(step: usize, block: usize) -> Events {
    1 << (step + MOST_STEPS * block)
}

/// The event that initialises the cells or the mbarriers of a block.
fn init(block: usize, mbarriers: bool) -> Events {
    1 << (2 * MOST_STEPS + 2 * block + usize::from(mbarriers))
}

/// The reason to abandon a schedule.
pub(super) enum Stopped {
    /// A barrier is misused.
    Misused,
    /// An access to a block before its start or after its end.
    NotThere,
}

/// A possible next move.
#[derive(Clone, Copy)]
pub(super) enum Move {
    /// A block starts.
    Start(usize),
    Step(usize),
    /// The copy of a step takes effect in a block.
    Copy(usize, usize),
}

/// The state of an mbarrier.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Counts {
    phase: u8,
    expected: i16,
    pending: i16,
    bytes: i16,
    /// Events passed on by arrivals of this phase and of the previous one, by the arriving thread's block: to
    /// that block, and to all.
    released: [[Events; 2]; BLOCKS],
    past: [[Events; 2]; BLOCKS],
    /// Events of copies, by the block of the thread that started them.
    copied: [Events; BLOCKS],
    past_copied: [Events; BLOCKS],
}

#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct State {
    started: [bool; BLOCKS],
    next: [u8; THREADS],
    /// The generation of the cluster barrier, and for each thread the one in which it has arrived, plus one.
    generation: u8,
    arrived: [u8; THREADS],
    released: Events,
    past: Events,
    mbarriers: [[Counts; MBARRIERS]; BLOCKS],
    /// The phase of each step at an mbarrier plus one, in both blocks.
    phase: [[u8; MOST_STEPS]; BLOCKS],
    known: [Events; THREADS],
    /// Each thread's knowledge at its last fence, and at its last one of cluster scope.
    fenced: [[Events; 2]; THREADS],
    pending: [[Events; 2]; THREADS],
    flying: Events,
    before: [Events; MOST_STEPS],
    done: Events,
    cells: [[u32; CELLS]; BLOCKS],
    results: [u32; MOST_STEPS],
}

/// The initial value of a cell.
pub(super) fn initial(block: usize, cell: usize) -> u32 {
    (1000 + 100 * block + cell) as u32
}

/// The value that a step stores.
pub(super) fn stored(step: usize) -> u32 {
    step as u32 + 1
}

/// A value common to several steps.
pub(super) fn shared(which: u8) -> u32 {
    3000 + u32::from(which)
}

/// The value of copied cells.
pub(super) const COPIED: u32 = 2000;

impl State {
    pub(super) fn start(program: &ClusterProgram) -> Self {
        let counts = |count: u8| Counts {
            expected: count.into(),
            pending: count.into(),
            ..Counts::default()
        };
        let known = |thread: usize| {
            let own = block_of(thread);
            let first = thread.is_multiple_of(BLOCK_THREADS);
            (0..BLOCKS).fold(0, |all, block| {
                let (cells, mbarriers) = match program.start {
                    Start::Released => (true, true),
                    Start::FencedInits => (first && block == own, true),
                    Start::Relaxed => (first && block == own, first && block == own),
                    Start::Apart => (block == own, block == own),
                };
                let of = |known: bool, mbarriers| if known { init(block, mbarriers) } else { 0 };
                all | of(cells, false) | of(mbarriers, true)
            })
        };
        Self {
            started: [program.start != Start::Apart; BLOCKS],
            next: [0; THREADS],
            generation: 0,
            arrived: [0; THREADS],
            released: 0,
            past: 0,
            mbarriers: program.counts.map(|block| block.map(counts)),
            phase: [[0; MOST_STEPS]; BLOCKS],
            known: std::array::from_fn(known),
            fenced: [[0; 2]; THREADS],
            pending: [[0; 2]; THREADS],
            flying: 0,
            before: [0; MOST_STEPS],
            done: 0,
            cells: std::array::from_fn(|block| std::array::from_fn(|cell| initial(block, cell))),
            results: [0; MOST_STEPS],
        }
    }

    /// The next step of a thread.
    pub(super) fn op(&self, program: &ClusterProgram, thread: usize) -> Option<ClusterOp> {
        program.threads[thread].get(usize::from(self.next[thread])).copied()
    }

    /// The possible next moves.
    pub(super) fn moves(&self, program: &ClusterProgram) -> Vec<Move> {
        let starts = (0..BLOCKS).filter(|&block| !self.started[block]).map(Move::Start);
        let steps = (0..THREADS).filter(|&thread| self.can_step(program, thread)).map(Move::Step);
        let flying =
            (0..program.len()).flat_map(|step| (0..BLOCKS).map(move |block| (step, block)));
        let flying = flying.filter(|&(step, block)| self.flying & event(step, block) != 0);
        starts.chain(steps).chain(flying.map(|(step, block)| Move::Copy(step, block))).collect()
    }

    fn can_step(&self, program: &ClusterProgram, thread: usize) -> bool {
        let block = block_of(thread);
        self.started[block]
            && match self.op(program, thread) {
                None => false,
                Some(ClusterOp::Wait { mbarrier, parity, .. }) => {
                    let phase = self.mbarriers[block][usize::from(mbarrier)].phase;
                    (phase % 2 == 1) != parity
                }
                // A thread that has not arrived proceeds, so that the misuse is found.
                Some(ClusterOp::ClusterWait) => self.arrived[thread] <= self.generation,
                Some(ClusterOp::Block) => {
                    let mut all = (block * BLOCK_THREADS..(block + 1) * BLOCK_THREADS)
                        .map(|one| self.op(program, one));
                    all.all(|op| op == Some(ClusterOp::Block))
                }
                Some(_) => true,
            }
    }

    pub(super) fn is_over(&self, program: &ClusterProgram) -> bool {
        (0..THREADS).all(|thread| self.op(program, thread).is_none())
    }

    pub(super) fn is_unbalanced(&self) -> bool {
        self.mbarriers.iter().flatten().any(|counts| counts.bytes != 0)
    }

    pub(super) fn phases(&self) -> Vec<u8> {
        self.phase.concat()
    }

    pub(super) fn results(&self, program: &ClusterProgram) -> Vec<u32> {
        self.results[..program.len().max(1)].to_vec()
    }

    /// Checks that a block exists for a thread of `from`, or for a copy started there.
    fn reach(&self, program: &ClusterProgram, from: usize, block: usize) -> Result<(), Stopped> {
        let threads = block * BLOCK_THREADS..(block + 1) * BLOCK_THREADS;
        let lives = threads.into_iter().any(|thread| self.op(program, thread).is_some());
        match from == block || self.started[block] && lives {
            true => Ok(()),
            false => Err(Stopped::NotThere),
        }
    }

    /// Performs a move.
    pub(super) fn take(
        &mut self,
        program: &ClusterProgram,
        next: Move,
        race: &mut bool,
    ) -> Result<(), Stopped> {
        let taken = match next {
            Move::Start(block) => {
                self.started[block] = true;
                Ok(())
            }
            Move::Step(thread) => self.step(program, thread, race),
            Move::Copy(step, block) => self.copy(program, step, block, race),
        };
        // A thread that ends counts at the cluster barrier.
        self.settle(program);
        taken
    }

    fn step(
        &mut self,
        program: &ClusterProgram,
        thread: usize,
        race: &mut bool,
    ) -> Result<(), Stopped> {
        let Some(op) = self.op(program, thread) else { return Ok(()) };
        let (own, number) =
            (block_of(thread), program.first(thread) + usize::from(self.next[thread]));
        match op {
            ClusterOp::Block => {
                self.meet_at_block(own);
                return Ok(());
            }
            ClusterOp::Write(block, cell) => {
                let (block, cell) = (usize::from(block), usize::from(cell));
                self.reach(program, own, block)?;
                self.access(program, (number, block, cell, true), self.known[thread], race);
                self.cells[block][cell] = stored(number);
                self.known[thread] |= event(number, 0);
            }
            ClusterOp::Same(block, cell, which) => {
                let (block, cell) = (usize::from(block), usize::from(cell));
                self.reach(program, own, block)?;
                self.access(program, (number, block, cell, true), self.known[thread], race);
                self.cells[block][cell] = shared(which);
                self.known[thread] |= event(number, 0);
            }
            ClusterOp::Add(block, cell, _) => {
                let (block, cell) = (usize::from(block), usize::from(cell));
                self.reach(program, own, block)?;
                self.access(program, (number, block, cell, true), self.known[thread], race);
                self.cells[block][cell] += 1;
                self.known[thread] |= event(number, 0);
            }
            ClusterOp::Read(block, cell) => {
                let (block, cell) = (usize::from(block), usize::from(cell));
                self.reach(program, own, block)?;
                self.access(program, (number, block, cell, false), self.known[thread], race);
                self.results[number] = self.cells[block][cell];
                self.known[thread] |= event(number, 0);
            }
            ClusterOp::Arrive { block, mbarrier, expects, relaxed, scope } => {
                let block = usize::from(block);
                self.reach(program, own, block)?;
                *race |= self.known[thread] & init(block, true) == 0;
                self.phase[0][number] = self.mbarriers[block][usize::from(mbarrier)].phase + 1;
                let [near, wide] = match relaxed {
                    false => [self.known[thread]; 2],
                    true => self.fenced[thread],
                };
                let counts = &mut self.mbarriers[block][usize::from(mbarrier)];
                counts.released[own][0] |= near;
                counts.released[own][1] |= if scope.is_wide() { wide } else { 0 };
                counts.bytes += i16::from(expects.unwrap_or(0));
                counts.count(1)?;
            }
            ClusterOp::Wait { mbarrier, relaxed, scope, .. } => {
                *race |= self.known[thread] & init(own, true) == 0;
                let counts = &self.mbarriers[own][usize::from(mbarrier)];
                self.phase[0][number] = counts.phase + 1;
                let [near, wide] = [Scope::Block, scope].map(|scope| counts.learned(own, scope));
                match relaxed {
                    false => self.known[thread] |= wide,
                    true => {
                        self.pending[thread][0] |= near;
                        self.pending[thread][1] |= wide;
                    }
                }
            }
            ClusterOp::ClusterArrive(relaxed) => {
                if self.arrived[thread] > 0 {
                    return Err(Stopped::Misused);
                }
                self.arrived[thread] = self.generation + 1;
                self.released |= if relaxed { self.fenced[thread][1] } else { self.known[thread] };
            }
            ClusterOp::ClusterWait => {
                if self.arrived[thread] == 0 {
                    return Err(Stopped::Misused);
                }
                self.arrived[thread] = 0;
                self.known[thread] |= self.past;
            }
            ClusterOp::Fence(wide) => {
                for scope in 0..=usize::from(wide) {
                    self.known[thread] |= std::mem::take(&mut self.pending[thread][scope]);
                }
                for scope in 0..=usize::from(wide) {
                    self.fenced[thread][scope] = self.known[thread];
                }
            }
            ClusterOp::AsyncAdd(block, ..) if usize::from(block) == own => {
                return Err(Stopped::Misused);
            }
            ClusterOp::Async(block, ..) | ClusterOp::AsyncAdd(block, ..) => {
                let block = usize::from(block);
                // The block's lifetime is checked when the store happens.
                self.flying |= event(number, block);
                self.before[number] = self.known[thread];
                *race |= self.known[thread] & init(block, true) == 0;
            }
            ClusterOp::Multicast(mask, _) => {
                for block in (0..BLOCKS).filter(|block| mask >> block & 1 == 1) {
                    self.flying |= event(number, block);
                    *race |= self.known[thread] & init(block, true) == 0;
                }
                self.before[number] = self.known[thread];
            }
        }
        self.next[thread] += 1;
        Ok(())
    }

    /// Performs the copy or asynchronous store of a step in a block.
    fn copy(
        &mut self,
        program: &ClusterProgram,
        step: usize,
        block: usize,
        race: &mut bool,
    ) -> Result<(), Stopped> {
        let Some((thread, op)) = program.op(step) else { return Ok(()) };
        let own = block_of(thread);
        let (cell, mbarrier, bytes, value) = match op {
            ClusterOp::Async(_, cell, mbarrier) => {
                (usize::from(cell), mbarrier, 1, Some(stored(step)))
            }
            ClusterOp::AsyncAdd(_, cell, mbarrier) => (usize::from(cell), mbarrier, 1, None),
            ClusterOp::Multicast(_, mbarrier) => (CELLS - 1, mbarrier, 4, Some(COPIED)),
            _ => return Ok(()),
        };
        self.reach(program, own, block)?;
        self.flying &= !event(step, block);
        let before = self.before[step];
        self.access_by(program, (event(step, block), block, cell, true), before, race);
        self.cells[block][cell] = value.unwrap_or(self.cells[block][cell] + 1);
        let told = match value {
            Some(_) => self.passed_on(program, (step, block, cell), before),
            // An update overwrites nothing.
            None => event(step, block),
        };
        let counts = &mut self.mbarriers[block][usize::from(mbarrier)];
        self.phase[block][step] = counts.phase + 1;
        counts.copied[own] |= told;
        counts.bytes -= bytes;
        counts.count(0)
    }

    /// Returns the events that a wait for a copy acquires: the copy, and earlier events of the same cell,
    /// which it overwrote.
    fn passed_on(
        &self,
        program: &ClusterProgram,
        (step, block, cell): (usize, usize, usize),
        before: Events,
    ) -> Events {
        let same = accesses(program).filter(|one| (one.block, one.cell) == (block, cell));
        let overwritten = same.fold(init(block, false), |all, one| all | one.event);
        event(step, block) | before & overwritten
    }

    fn access(
        &mut self,
        program: &ClusterProgram,
        (number, block, cell, writes): (usize, usize, usize, bool),
        known: Events,
        race: &mut bool,
    ) {
        self.access_by(program, (event(number, 0), block, cell, writes), known, race);
    }

    /// Records an access to a cell. It races if it conflicts with an unknown event.
    fn access_by(
        &mut self,
        program: &ClusterProgram,
        (event, block, cell, writes): (Events, usize, usize, bool),
        known: Events,
        race: &mut bool,
    ) {
        // Every cell was initialised.
        *race |= known & init(block, false) == 0;
        let change = accesses(program).find(|one| one.event == event).map(|one| one.change);
        for other in accesses(program).filter(|other| self.done & other.event != 0) {
            let conflict = (other.block, other.cell) == (block, cell) && (writes || other.writes);
            let commute = change.is_some_and(|change| change.commutes(other.change));
            *race |= conflict && !commute && other.event != event && known & other.event == 0;
        }
        self.done |= event;
    }

    fn meet_at_block(&mut self, block: usize) {
        let threads = block * BLOCK_THREADS..(block + 1) * BLOCK_THREADS;
        let all = threads.clone().fold(0, |all, thread| all | self.known[thread]);
        for thread in threads {
            self.known[thread] |= all;
            self.next[thread] += 1;
        }
    }

    /// Completes the generation of the cluster barrier once every thread has arrived or ended, and at least
    /// one has arrived.
    fn settle(&mut self, program: &ClusterProgram) {
        let current = self.generation + 1;
        // A block that has not started has not ended.
        let ended =
            |thread: usize| self.started[block_of(thread)] && self.op(program, thread).is_none();
        let come = |thread: usize| ended(thread) || self.arrived[thread] == current;
        let some = (0..THREADS).any(|thread| self.arrived[thread] == current);
        if some && (0..THREADS).all(come) {
            self.generation = current;
            self.past = std::mem::take(&mut self.released);
        }
    }
}

impl Counts {
    /// Counts arrivals, and ends the phase if nothing is pending.
    fn count(&mut self, arrivals: i16) -> Result<(), Stopped> {
        if arrivals > self.pending {
            return Err(Stopped::Misused);
        }
        self.pending -= arrivals;
        if self.pending > 0 || self.bytes > 0 {
            return Ok(());
        }
        if self.bytes < 0 {
            return Err(Stopped::Misused);
        }
        self.phase += 1;
        self.pending = self.expected;
        self.past = std::mem::take(&mut self.released);
        self.past_copied = std::mem::take(&mut self.copied);
        Ok(())
    }

    /// Events that a wait of a thread in a block acquires at a scope. If the scope excludes a copy of another
    /// block, all copies of the phase are left out.
    fn learned(&self, block: usize, scope: Scope) -> Events {
        let mut all = 0;
        for (from, [near, wide]) in self.past.iter().enumerate() {
            all |= if from == block { near | wide } else { 0 };
            all |= if scope.is_wide() { *wide } else { 0 };
        }
        let far = (0..BLOCKS).any(|from| from != block && self.past_copied[from] != 0);
        if scope.is_wide() || !far {
            all |= self.past_copied.iter().fold(0, |all, one| all | one);
        }
        all
    }
}

//! The operational semantics of programs of two blocks: states of a running cluster, the possible next moves, and their
//! effects. Written to be obviously right, not fast.

mod copies;

use super::access::accesses;
use super::{
    BLOCK_THREADS, BLOCKS, CELLS, ClusterOp, ClusterProgram, MAX_STEPS, MBARRIERS, Scope, Start,
    THREADS, block_of,
};

/// A set of events: accesses of steps (a copy to the second block has a bit of its own), and initialisations
/// of the cells and the mbarriers of each block.
pub(super) type Events = u64;

/// The event of a step's access in a block.
pub(super) fn event(step: usize, block: usize) -> Events {
    1 << (step + MAX_STEPS * block)
}

/// The event that initialises the cells or the mbarriers of a block.
fn init(block: usize, mbarriers: bool) -> Events {
    1 << (2 * MAX_STEPS + 2 * block + usize::from(mbarriers))
}

/// The reason to abandon a schedule.
pub(super) enum Stopped {
    /// A barrier is misused.
    Misused,
    /// An access to a block before its start or after its end.
    OutsideLifetime,
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
    /// The position of each thread's next step.
    next: [u8; THREADS],
    /// The generation of the cluster barrier, and for each thread the one in which it has arrived, plus one.
    generation: u8,
    arrived: [u8; THREADS],
    /// Events passed on by the arrivals of this generation, and of the previous one.
    released: Events,
    past: Events,
    mbarriers: [[Counts; MBARRIERS]; BLOCKS],
    /// The phase of each step at an mbarrier plus one, in both blocks.
    phase: [[u8; MAX_STEPS]; BLOCKS],
    /// The events that each thread knows of.
    known: [Events; THREADS],
    /// Each thread's knowledge at its last fence, and at its last one of cluster scope.
    known_at_fence: [[Events; 2]; THREADS],
    /// Events that each thread's next fence acquires, and its next one of cluster scope.
    deferred: [[Events; 2]; THREADS],
    /// Copies and asynchronous stores that have started and not happened.
    in_flight: Events,
    /// For each copy, the knowledge of its thread when the copy started.
    known_at_start: [Events; MAX_STEPS],
    /// Accesses that have happened.
    happened: Events,
    cells: [[u32; CELLS]; BLOCKS],
    results: [u32; MAX_STEPS],
}

/// The initial value of a cell.
pub(super) fn initial_value(block: usize, cell: usize) -> u32 {
    (1000 + 100 * block + cell) as u32
}

/// The value that a step stores.
pub(super) fn stored_value(step: usize) -> u32 {
    step as u32 + 1
}

/// A value common to several steps.
pub(super) fn common_value(which: u8) -> u32 {
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
            let own_block = block_of(thread);
            let first = thread.is_multiple_of(BLOCK_THREADS);
            (0..BLOCKS).fold(0, |all, block| {
                let (cells, mbarriers) = match program.start {
                    Start::Released => (true, true),
                    Start::FencedInits => (first && block == own_block, true),
                    Start::Relaxed => (first && block == own_block, first && block == own_block),
                    Start::Apart => (block == own_block, block == own_block),
                };
                let bits_of =
                    |known: bool, mbarriers| if known { init(block, mbarriers) } else { 0 };
                all | bits_of(cells, false) | bits_of(mbarriers, true)
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
            phase: [[0; MAX_STEPS]; BLOCKS],
            known: std::array::from_fn(known),
            known_at_fence: [[0; 2]; THREADS],
            deferred: [[0; 2]; THREADS],
            in_flight: 0,
            known_at_start: [0; MAX_STEPS],
            happened: 0,
            cells: std::array::from_fn(|block| {
                std::array::from_fn(|cell| initial_value(block, cell))
            }),
            results: [0; MAX_STEPS],
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
        let in_flight =
            (0..program.len()).flat_map(|step| (0..BLOCKS).map(move |block| (step, block)));
        let in_flight = in_flight.filter(|&(step, block)| self.in_flight & event(step, block) != 0);
        starts.chain(steps).chain(in_flight.map(|(step, block)| Move::Copy(step, block))).collect()
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
                        .map(|thread| self.op(program, thread));
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
    fn check_lifetime(
        &self,
        program: &ClusterProgram,
        from: usize,
        block: usize,
    ) -> Result<(), Stopped> {
        let threads = block * BLOCK_THREADS..(block + 1) * BLOCK_THREADS;
        let is_running = threads.into_iter().any(|thread| self.op(program, thread).is_some());
        match from == block || self.started[block] && is_running {
            true => Ok(()),
            false => Err(Stopped::OutsideLifetime),
        }
    }

    /// Performs a move.
    pub(super) fn perform_move(
        &mut self,
        program: &ClusterProgram,
        next: Move,
        race: &mut bool,
    ) -> Result<(), Stopped> {
        let outcome = match next {
            Move::Start(block) => {
                self.started[block] = true;
                Ok(())
            }
            Move::Step(thread) => self.step(program, thread, race),
            Move::Copy(step, block) => self.copy(program, step, block, race),
        };
        // A thread that has ended counts as arrived at the cluster barrier.
        self.complete_generation_if_due(program);
        outcome
    }

    fn step(
        &mut self,
        program: &ClusterProgram,
        thread: usize,
        race: &mut bool,
    ) -> Result<(), Stopped> {
        let Some(op) = self.op(program, thread) else { return Ok(()) };
        let (own_block, number) =
            (block_of(thread), program.first(thread) + usize::from(self.next[thread]));
        match op {
            ClusterOp::Block => {
                self.meet_at_block(own_block);
                return Ok(());
            }
            ClusterOp::Write(block, cell)
            | ClusterOp::WriteCommon(block, cell, _)
            | ClusterOp::Add(block, cell, _)
            | ClusterOp::Read(block, cell) => {
                let place = (usize::from(block), usize::from(cell));
                self.access_cell(program, (thread, number), op, place, race)?;
            }
            ClusterOp::Arrive { block, .. } => {
                self.check_lifetime(program, own_block, block.into())?;
                self.arrive(thread, number, op, race)?;
            }
            ClusterOp::Wait { mbarrier, relaxed, scope, .. } => {
                self.finish_wait((thread, number), mbarrier, relaxed, scope, race);
            }
            ClusterOp::ClusterArrive(relaxed) => self.arrive_at_cluster(thread, relaxed)?,
            ClusterOp::ClusterWait => {
                if self.arrived[thread] == 0 {
                    return Err(Stopped::Misused);
                }
                self.arrived[thread] = 0;
                self.known[thread] |= self.past;
            }
            ClusterOp::Fence(wide) => self.fence(thread, wide),
            ClusterOp::AsyncAdd(block, ..) if usize::from(block) == own_block => {
                return Err(Stopped::Misused);
            }
            // The lifetime of a block is checked when the store or the copy happens.
            ClusterOp::Async(block, ..) | ClusterOp::AsyncAdd(block, ..) => {
                self.start_copy(thread, number, 1 << block, race);
            }
            ClusterOp::Multicast(mask, _) => self.start_copy(thread, number, mask, race),
        }
        self.next[thread] += 1;
        Ok(())
    }

    /// Performs a load, store or addition.
    fn access_cell(
        &mut self,
        program: &ClusterProgram,
        (thread, number): (usize, usize),
        op: ClusterOp,
        (block, cell): (usize, usize),
        race: &mut bool,
    ) -> Result<(), Stopped> {
        self.check_lifetime(program, block_of(thread), block)?;
        let writes = !matches!(op, ClusterOp::Read(..));
        self.access(program, (number, block, cell, writes), self.known[thread], race);
        let content = &mut self.cells[block][cell];
        match op {
            ClusterOp::WriteCommon(_, _, which) => *content = common_value(which),
            ClusterOp::Add(..) => *content += 1,
            ClusterOp::Read(..) => self.results[number] = *content,
            _ => *content = stored_value(number),
        }
        self.known[thread] |= event(number, 0);
        Ok(())
    }

    /// Performs an arrival at an mbarrier.
    fn arrive(
        &mut self,
        thread: usize,
        number: usize,
        op: ClusterOp,
        race: &mut bool,
    ) -> Result<(), Stopped> {
        let ClusterOp::Arrive { block, mbarrier, expects, relaxed, scope } = op else {
            return Ok(());
        };
        let (own_block, block) = (block_of(thread), usize::from(block));
        *race |= self.known[thread] & init(block, true) == 0;
        let [near, wide] =
            if relaxed { self.known_at_fence[thread] } else { [self.known[thread]; 2] };
        let counts = &mut self.mbarriers[block][usize::from(mbarrier)];
        self.phase[0][number] = counts.phase + 1;
        counts.released[own_block][0] |= near;
        counts.released[own_block][1] |= if scope.is_wide() { wide } else { 0 };
        counts.bytes += i16::from(expects.unwrap_or(0));
        counts.count(1)
    }

    /// Lets a thread continue after a wait for a phase that is over.
    fn finish_wait(
        &mut self,
        (thread, number): (usize, usize),
        mbarrier: u8,
        relaxed: bool,
        scope: Scope,
        race: &mut bool,
    ) {
        let own_block = block_of(thread);
        *race |= self.known[thread] & init(own_block, true) == 0;
        let counts = &self.mbarriers[own_block][usize::from(mbarrier)];
        self.phase[0][number] = counts.phase + 1;
        let [near, wide] =
            [Scope::Block, scope].map(|scope| counts.acquired_events(own_block, scope));
        if relaxed {
            self.deferred[thread][0] |= near;
            self.deferred[thread][1] |= wide;
        } else {
            self.known[thread] |= wide;
        }
    }

    fn arrive_at_cluster(&mut self, thread: usize, relaxed: bool) -> Result<(), Stopped> {
        if self.arrived[thread] > 0 {
            return Err(Stopped::Misused);
        }
        self.arrived[thread] = self.generation + 1;
        self.released |= if relaxed { self.known_at_fence[thread][1] } else { self.known[thread] };
        Ok(())
    }

    fn fence(&mut self, thread: usize, wide: bool) {
        for scope in 0..=usize::from(wide) {
            self.known[thread] |= std::mem::take(&mut self.deferred[thread][scope]);
        }
        for scope in 0..=usize::from(wide) {
            self.known_at_fence[thread][scope] = self.known[thread];
        }
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

    /// Records an access to a cell. It races if it conflicts with an earlier access that is not in `known`.
    fn access_by(
        &mut self,
        program: &ClusterProgram,
        (event, block, cell, writes): (Events, usize, usize, bool),
        known: Events,
        race: &mut bool,
    ) {
        // Every cell was initialised.
        *race |= known & init(block, false) == 0;
        let change = accesses(program).find(|access| access.event == event).map(|one| one.change);
        for other in accesses(program).filter(|other| self.happened & other.event != 0) {
            let conflict = (other.block, other.cell) == (block, cell) && (writes || other.writes);
            let commute = change.is_some_and(|change| change.commutes(other.change));
            *race |= conflict && !commute && other.event != event && known & other.event == 0;
        }
        self.happened |= event;
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
    fn complete_generation_if_due(&mut self, program: &ClusterProgram) {
        let current = self.generation + 1;
        // A block that has not started has not ended.
        let ended =
            |thread: usize| self.started[block_of(thread)] && self.op(program, thread).is_none();
        let has_arrived_or_ended = |thread: usize| ended(thread) || self.arrived[thread] == current;
        let any_arrived = (0..THREADS).any(|thread| self.arrived[thread] == current);
        if any_arrived && (0..THREADS).all(has_arrived_or_ended) {
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
    fn acquired_events(&self, block: usize, scope: Scope) -> Events {
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

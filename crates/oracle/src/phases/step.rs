//! The operational semantics of programs with mbarriers: states of a running program, the possible next moves, and
//! their effects. Written to be obviously right, not fast.

mod copies;

use super::{CELLS, MAX_STEPS, MAX_THREADS, MBARRIERS, PhaseArrival, PhaseOp, PhaseProgram};

/// A set of steps, one bit each; the transfer of a copy belongs to the step that starts it.
type Steps = u32;

/// Abandons a schedule because of misuse.
pub(super) struct Misused;

/// A possible next move.
#[derive(Clone, Copy)]
pub(super) enum Move {
    Step(usize),
    /// A thread's test is answered with true.
    TestTrue(usize),
    /// The copy of a step transfers its bytes.
    Copy(usize),
    /// The arrival that a step started for its copies.
    CopyArrival(usize),
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct Counts {
    pub(super) phase: u8,
    expected: i16,
    pending: i16,
    dropped: i16,
    bytes: i16,
    /// Knowledge passed on by arrivals of this phase and of the previous one.
    released: Knowledge,
    past: Knowledge,
}

/// Events ordered before something, and the writes among them visible to bulk copies.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Knowledge {
    known: Steps,
    seen: Steps,
}

impl Knowledge {
    fn add(&mut self, other: Self) {
        self.known |= other.known;
        self.seen |= other.seen;
    }
}

#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct State {
    /// The position of each thread's next step.
    next: [u8; MAX_THREADS],
    pub(super) mbarriers: [Counts; MBARRIERS],
    /// The phase of each step at an mbarrier, plus one.
    phase: [u8; MAX_STEPS],
    /// Events ordered before each thread's next step.
    known: [Knowledge; MAX_THREADS],
    /// Each thread's knowledge at its last fence.
    known_at_fence: [Knowledge; MAX_THREADS],
    /// Knowledge that each thread acquires at its next fence.
    deferred: [Knowledge; MAX_THREADS],
    /// Copies in flight.
    pub(super) in_flight: Steps,
    /// The phase of a test answered with true, plus one, until it is used.
    true_answer: [u8; MAX_THREADS],
    /// Bulk loads that have delivered half of their bytes.
    half_delivered: Steps,
    /// For each copy, the events known to its thread when it started.
    known_at_start: [Steps; MAX_STEPS],
    /// Pending arrivals of copies.
    pending_arrivals: Steps,
    /// For each of them, the copies that it waits for.
    awaited_copies: [Steps; MAX_STEPS],
    /// Accesses that have happened.
    happened: Steps,
    cells: [u32; CELLS],
    results: [u32; MAX_STEPS],
}

/// The initial value of a cell.
pub(super) fn initial_value(cell: usize) -> u32 {
    1000 + cell as u32
}

/// The value that a step stores or copies.
pub(super) fn stored_value(step: usize) -> u32 {
    step as u32 + 1
}

/// A value common to several steps.
pub(super) fn common_value(cell: u8, which: u8) -> u32 {
    3000 + 8 * u32::from(cell) + u32::from(which)
}

/// The value of a copied cell: every copy takes the same source element.
pub(super) fn copied_value(cell: u8) -> u32 {
    2000 + u32::from(cell)
}

impl State {
    pub(super) fn start(program: &PhaseProgram) -> Self {
        let counts = |count: u8| {
            let (expected, pending) = (i16::from(count), i16::from(count));
            Counts { expected, pending, ..Counts::default() }
        };
        Self {
            next: [0; MAX_THREADS],
            mbarriers: program.counts.map(counts),
            phase: [0; MAX_STEPS],
            known: [Knowledge::default(); MAX_THREADS],
            known_at_fence: [Knowledge::default(); MAX_THREADS],
            deferred: [Knowledge::default(); MAX_THREADS],
            in_flight: 0,
            true_answer: [0; MAX_THREADS],
            half_delivered: 0,
            known_at_start: [0; MAX_STEPS],
            pending_arrivals: 0,
            awaited_copies: [0; MAX_STEPS],
            happened: 0,
            cells: std::array::from_fn(initial_value),
            results: [0; MAX_STEPS],
        }
    }

    pub(super) fn op(&self, program: &PhaseProgram, thread: usize) -> Option<PhaseOp> {
        program.threads[thread].get(usize::from(self.next[thread])).copied()
    }

    /// Returns `true` if the last test of a thread was answered with true.
    pub(super) fn was_answered_true(&self, thread: usize) -> bool {
        self.true_answer[thread] > 0
    }

    /// Returns `true` if a pending arrival of copies can happen.
    pub(super) fn is_due(&self, step: usize) -> bool {
        self.pending_arrivals >> step & 1 != 0 && self.awaited_copies[step] & self.in_flight == 0
    }

    pub(super) fn is_unbalanced(&self) -> bool {
        self.mbarriers.iter().any(|counts| counts.bytes != 0)
    }

    pub(super) fn phases(&self) -> Vec<Option<u8>> {
        self.phase.iter().map(|phase| phase.checked_sub(1)).collect()
    }

    pub(super) fn results(&self, program: &PhaseProgram) -> Vec<u32> {
        self.results[..program.len()].to_vec()
    }

    /// Returns `true` if every warp, with all its lanes that have not exited, is at the block's barrier.
    pub(super) fn all_at_block(&self, program: &PhaseProgram, _: usize) -> bool {
        (0..program.warps()).all(|warp| {
            let lanes = (0..program.threads.len()).filter(|&one| program.place(one).0 == warp);
            let mut ops = lanes.filter_map(|lane| self.op(program, lane)).peekable();
            ops.peek().is_some() && ops.all(|op| op == PhaseOp::Block)
        })
    }

    pub(super) fn both_at_warp(&self, program: &PhaseProgram, thread: usize, orders: bool) -> bool {
        if !program.share_warp || thread > 1 {
            return true;
        }
        let other = self.op(program, 1 - thread);
        other.is_none() || other == Some(PhaseOp::Warp(orders))
    }

    /// Performs a move.
    pub(super) fn perform_move(
        &mut self,
        program: &PhaseProgram,
        next: Move,
        race: &mut bool,
    ) -> Result<(), Misused> {
        match next {
            Move::Step(thread) => self.step(program, thread, race),
            Move::TestTrue(thread) => {
                if let Some(PhaseOp::Peek(mbarrier, _)) = self.op(program, thread) {
                    self.next[thread] += 1;
                    self.true_answer[thread] = self.current(mbarrier) + 1;
                    let past = self.mbarriers[usize::from(mbarrier)].past;
                    self.known[thread].add(past);
                }
                Ok(())
            }
            Move::Copy(step) => self.copy(program, step, race),
            Move::CopyArrival(step) => {
                let PhaseOp::CopyArrive(mbarrier, _) = op_of(program, step) else { return Ok(()) };
                self.pending_arrivals &= !(1 << step);
                // Counts in the phase in which it arrives rather than the one in which it was started.
                self.phase[step] = self.phase[step].max(1) * 16 + self.current(mbarrier) + 1;
                let copies =
                    (0..program.len()).filter(|copy| self.awaited_copies[step] >> copy & 1 != 0);
                let passed_on_events =
                    copies.fold(0, |all, copy| all | self.passed_on(program, copy));
                self.mbarriers[usize::from(mbarrier)].released.known |= passed_on_events;
                self.count(mbarrier, 1, false)
            }
        }
    }

    fn current(&self, mbarrier: u8) -> u8 {
        self.mbarriers[usize::from(mbarrier)].phase
    }

    fn step(
        &mut self,
        program: &PhaseProgram,
        thread: usize,
        race: &mut bool,
    ) -> Result<(), Misused> {
        let Some(op) = self.op(program, thread) else { return Ok(()) };
        let number = program.first(thread) + usize::from(self.next[thread]);
        if let PhaseOp::Block = op {
            self.meet_at_block(program);
            return Ok(());
        }
        if let PhaseOp::Warp(orders) = op {
            self.meet_in_warp(program, thread, orders);
            return Ok(());
        }
        self.next[thread] += 1;
        let before = self.known[thread];
        match op {
            PhaseOp::Arrive(arrival) => self.arrive(thread, number, arrival)?,
            PhaseOp::Expect(mbarrier, units) => {
                self.change_bytes(number, mbarrier, 2 * i16::from(units))?;
            }
            PhaseOp::Deliver(mbarrier, units) => {
                self.change_bytes(number, mbarrier, -2 * i16::from(units))?;
            }
            PhaseOp::Wait(mbarrier, _, relaxed) => {
                self.phase[number] = self.current(mbarrier) + 1;
                let past = self.mbarriers[usize::from(mbarrier)].past;
                match relaxed {
                    true => self.deferred[thread].add(past),
                    false => self.known[thread].add(past),
                }
            }
            PhaseOp::Peek(..) => self.true_answer[thread] = 0,
            PhaseOp::WaitUnless(mbarrier, _) => {
                if self.true_answer[thread] > 0 {
                    self.phase[number] = self.true_answer[thread];
                } else {
                    self.phase[number] = self.current(mbarrier) + 1;
                    let past = self.mbarriers[usize::from(mbarrier)].past;
                    self.known[thread].add(past);
                }
            }
            PhaseOp::Copy(_) => {
                self.in_flight |= 1 << number;
                self.known_at_start[number] = before.known;
            }
            PhaseOp::Load(cell, _) | PhaseOp::Store(cell) => {
                self.start_bulk_copy(program, (number, cell), before, race);
            }
            PhaseOp::StoreWait(_) => {
                let stores = self.own_stores(program, thread);
                self.known[thread].known |= stores;
            }
            PhaseOp::ProxyFence => self.known[thread].seen = before.known,
            PhaseOp::CopyArrive(mbarrier, increments) => {
                self.start_copy_arrival(program, (thread, number), mbarrier, increments);
            }
            PhaseOp::Write(cell)
            | PhaseOp::WriteCommon(cell, _)
            | PhaseOp::Update(cell)
            | PhaseOp::Read(cell) => {
                self.access_cell(program, (thread, number), op, cell.into(), race);
            }
            PhaseOp::Fence => {
                let pending = std::mem::take(&mut self.deferred[thread]);
                self.known[thread].add(pending);
                self.known_at_fence[thread] = self.known[thread];
            }
            PhaseOp::Block | PhaseOp::Warp(_) => {}
        }
        Ok(())
    }

    /// Performs a load, store or update of a cell.
    fn access_cell(
        &mut self,
        program: &PhaseProgram,
        (thread, number): (usize, usize),
        op: PhaseOp,
        cell: usize,
        race: &mut bool,
    ) {
        let writes = !matches!(op, PhaseOp::Read(_));
        self.access(program, (number, cell, writes), self.known[thread].known, race);
        match op {
            PhaseOp::WriteCommon(at, which) => self.cells[cell] = common_value(at, which),
            PhaseOp::Update(_) => self.cells[cell] += 1,
            PhaseOp::Read(_) => self.results[number] = self.cells[cell],
            _ => self.cells[cell] = stored_value(number),
        }
        self.known[thread].known |= 1 << number;
    }

    /// Announces bytes, or delivers them if the number is negative.
    fn change_bytes(&mut self, number: usize, mbarrier: u8, bytes: i16) -> Result<(), Misused> {
        self.phase[number] = self.current(mbarrier) + 1;
        self.mbarriers[usize::from(mbarrier)].bytes += bytes;
        self.count(mbarrier, 0, false)
    }

    fn arrive(
        &mut self,
        thread: usize,
        number: usize,
        arrival: PhaseArrival,
    ) -> Result<(), Misused> {
        let PhaseArrival { mbarrier, expects, drops, no_complete, relaxed, .. } = arrival;
        let count = arrival.arrivals();
        self.phase[number] = self.current(mbarrier) + 1;
        // A relaxed arrival cannot have `noComplete`.
        let no_complete = no_complete && expects.is_none();
        let passed_on_events =
            if relaxed && !no_complete { self.known_at_fence[thread] } else { self.known[thread] };
        let counts = &mut self.mbarriers[usize::from(mbarrier)];
        counts.released.add(passed_on_events);
        counts.bytes += 2 * i16::from(expects.unwrap_or(0));
        counts.dropped += if drops { i16::from(count) } else { 0 };
        self.count(mbarrier, count, no_complete)
    }

    /// Counts arrivals, and ends the phase if nothing is pending.
    fn count(&mut self, mbarrier: u8, arrivals: u8, no_complete: bool) -> Result<(), Misused> {
        let counts = &mut self.mbarriers[usize::from(mbarrier)];
        if i16::from(arrivals) > counts.pending || counts.expected == 0 {
            return Err(Misused);
        }
        counts.pending -= i16::from(arrivals);
        if counts.pending > 0 || counts.bytes > 0 {
            return Ok(());
        }
        if counts.bytes < 0 || no_complete {
            return Err(Misused);
        }
        counts.phase += 1;
        counts.expected -= std::mem::take(&mut counts.dropped);
        counts.pending = counts.expected;
        counts.past = std::mem::take(&mut counts.released);
        Ok(())
    }

    /// Records an access of a step to a cell. It races if it conflicts with an earlier step that is not in `known`.
    fn access(
        &mut self,
        program: &PhaseProgram,
        (number, cell, writes): (usize, usize, bool),
        known: Steps,
        race: &mut bool,
    ) {
        for other in (0..program.len()).filter(|&other| self.happened >> other & 1 != 0) {
            let (at, other_writes) = match op_of(program, other) {
                PhaseOp::Write(at)
                | PhaseOp::WriteCommon(at, _)
                | PhaseOp::Update(at)
                | PhaseOp::Copy(at)
                | PhaseOp::Load(at, _) => (at, true),
                PhaseOp::Read(at) | PhaseOp::Store(at) => (at, false),
                _ => continue,
            };
            let conflict = usize::from(at) == cell && (writes || other_writes) && other != number;
            let commute = match (op_of(program, other), op_of(program, number)) {
                (PhaseOp::WriteCommon(_, one), PhaseOp::WriteCommon(_, other)) => one == other,
                (PhaseOp::Update(_), PhaseOp::Update(_)) => true,
                _ => false,
            };
            *race |= conflict && !commute && known >> other & 1 == 0;
        }
        self.happened |= 1 << number;
    }

    fn meet_at_block(&mut self, program: &PhaseProgram) {
        let present: Vec<usize> =
            (0..program.threads.len()).filter(|&one| self.op(program, one).is_some()).collect();
        let mut all = Knowledge::default();
        present.iter().for_each(|&thread| all.add(self.known[thread]));
        for thread in present {
            self.known[thread].add(all);
            self.next[thread] += 1;
        }
    }

    fn meet_in_warp(&mut self, program: &PhaseProgram, thread: usize, orders: bool) {
        let pair = program.share_warp && thread <= 1;
        let present: Vec<usize> = match pair {
            true => (0..2).filter(|&thread| self.op(program, thread).is_some()).collect(),
            false => vec![thread],
        };
        let mut all = Knowledge::default();
        present.iter().filter(|_| orders).for_each(|&thread| all.add(self.known[thread]));
        for thread in present {
            self.known[thread].add(all);
            self.next[thread] += 1;
        }
    }
}

/// The operation of a step.
fn op_of(program: &PhaseProgram, step: usize) -> PhaseOp {
    let mut steps = program.threads.iter().flatten();
    *steps.nth(step).expect("a step of the program")
}

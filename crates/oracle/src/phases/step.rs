//! The operational semantics of programs with mbarriers: states of a running program, the possible next moves, and
//! their effects. Written to be obviously right, not fast.

use super::{CELLS, MBARRIERS, MOST_STEPS, MOST_THREADS, PhaseArrival, PhaseOp, PhaseProgram};

/// A set of steps, one bit each; the transfer of a copy belongs to the step that starts it.
type Steps = u32;

/// Abandons a schedule because of misuse.
pub(super) struct Misused;

/// A possible next move.
#[derive(Clone, Copy)]
pub(super) enum Move {
    Step(usize),
    /// A thread's test is answered with true.
    Yes(usize),
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
    next: [u8; MOST_THREADS],
    pub(super) mbarriers: [Counts; MBARRIERS],
    /// The phase of each step at an mbarrier, plus one.
    phase: [u8; MOST_STEPS],
    /// Events ordered before each thread's next step.
    known: [Knowledge; MOST_THREADS],
    fenced: [Knowledge; MOST_THREADS],
    pending: [Knowledge; MOST_THREADS],
    /// Copies in flight, and the knowledge at the start of each.
    pub(super) flying: Steps,
    /// The phase of a test answered with true, plus one, until it is used.
    yes: [u8; MOST_THREADS],
    /// Bulk loads that have delivered half of their bytes.
    half: Steps,
    before: [Steps; MOST_STEPS],
    /// Pending arrivals of copies, the copies each one waits for, and all copies it stands for.
    promised: Steps,
    awaits: [Steps; MOST_STEPS],
    /// Accesses that have happened.
    done: Steps,
    cells: [u32; CELLS],
    results: [u32; MOST_STEPS],
}

/// The initial value of a cell.
pub(super) fn initial(cell: usize) -> u32 {
    1000 + cell as u32
}

/// The value that a step stores or copies.
pub(super) fn stored(step: usize) -> u32 {
    step as u32 + 1
}

/// A value common to several steps.
pub(super) fn shared(cell: u8, which: u8) -> u32 {
    3000 + 8 * u32::from(cell) + u32::from(which)
}

/// The value of a copied cell: every copy takes the same source element.
pub(super) fn copied(cell: u8) -> u32 {
    2000 + u32::from(cell)
}

impl State {
    pub(super) fn start(program: &PhaseProgram) -> Self {
        let counts = |count: u8| {
            let (expected, pending) = (i16::from(count), i16::from(count));
            Counts { expected, pending, ..Counts::default() }
        };
        Self {
            next: [0; MOST_THREADS],
            mbarriers: program.counts.map(counts),
            phase: [0; MOST_STEPS],
            known: [Knowledge::default(); MOST_THREADS],
            fenced: [Knowledge::default(); MOST_THREADS],
            pending: [Knowledge::default(); MOST_THREADS],
            flying: 0,
            yes: [0; MOST_THREADS],
            half: 0,
            before: [0; MOST_STEPS],
            promised: 0,
            awaits: [0; MOST_STEPS],
            done: 0,
            cells: std::array::from_fn(initial),
            results: [0; MOST_STEPS],
        }
    }

    pub(super) fn op(&self, program: &PhaseProgram, thread: usize) -> Option<PhaseOp> {
        program.threads[thread].get(usize::from(self.next[thread])).copied()
    }

    /// Returns `true` if the last test of a thread was answered with true.
    pub(super) fn said_yes(&self, thread: usize) -> bool {
        self.yes[thread] > 0
    }

    /// Returns `true` if a pending arrival of copies can happen.
    pub(super) fn is_due(&self, step: usize) -> bool {
        self.promised >> step & 1 != 0 && self.awaits[step] & self.flying == 0
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
            let mut ops = lanes.filter_map(|one| self.op(program, one)).peekable();
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
    pub(super) fn take(
        &mut self,
        program: &PhaseProgram,
        next: Move,
        race: &mut bool,
    ) -> Result<(), Misused> {
        match next {
            Move::Step(thread) => self.step(program, thread, race),
            Move::Yes(thread) => {
                if let Some(PhaseOp::Peek(mbarrier, _)) = self.op(program, thread) {
                    self.next[thread] += 1;
                    self.yes[thread] = self.current(mbarrier) + 1;
                    let past = self.mbarriers[usize::from(mbarrier)].past;
                    self.known[thread].add(past);
                }
                Ok(())
            }
            Move::Copy(step) => self.copy(program, step, race),
            Move::CopyArrival(step) => {
                let PhaseOp::CopyArrive(mbarrier, _) = op_of(program, step) else { return Ok(()) };
                self.promised &= !(1 << step);
                // Counts in the phase in which it arrives rather than the one in which it was started.
                self.phase[step] = self.phase[step].max(1) * 16 + self.current(mbarrier) + 1;
                let copies = (0..program.len()).filter(|copy| self.awaits[step] >> copy & 1 != 0);
                let told = copies.fold(0, |all, copy| all | self.passed_on(program, copy));
                self.mbarriers[usize::from(mbarrier)].released.known |= told;
                self.count(mbarrier, 1, false)
            }
        }
    }

    /// Transfers a copy's bytes. A bulk load delivers them in two halves, the second one once all bytes are
    /// there.
    fn copy(
        &mut self,
        program: &PhaseProgram,
        step: usize,
        race: &mut bool,
    ) -> Result<(), Misused> {
        let before = self.before[step];
        match op_of(program, step) {
            PhaseOp::Copy(cell) => {
                self.flying &= !(1 << step);
                self.access(program, (step, usize::from(cell), true), before, race);
                self.cells[usize::from(cell)] = copied(cell);
            }
            PhaseOp::Store(cell) => {
                self.flying &= !(1 << step);
                self.access(program, (step, usize::from(cell), false), before, race);
                self.results[step] = self.cells[usize::from(cell)];
            }
            PhaseOp::Load(cell, mbarrier) => {
                // The phases of both halves count.
                self.phase[step] = self.phase[step] * 8 + self.current(mbarrier) + 1;
                if self.half >> step & 1 == 0 {
                    self.half |= 1 << step;
                } else {
                    self.flying &= !(1 << step);
                    self.access(program, (step, usize::from(cell), true), before, race);
                    self.cells[usize::from(cell)] = copied(cell);
                    // Other bulk copies no longer need to see the overwritten writes.
                    let told = self.passed_on(program, step);
                    self.mbarriers[usize::from(mbarrier)]
                        .released
                        .add(Knowledge { known: told, seen: told });
                }
                self.mbarriers[usize::from(mbarrier)].bytes -= 1;
                return self.count(mbarrier, 0, false);
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the events that a wait for a copy acquires: the copy, and earlier events of the same cell,
    /// which it overwrote. Other events of its thread are not passed on.
    fn passed_on(&self, program: &PhaseProgram, copy: usize) -> Steps {
        let cell = |step: usize| match op_of(program, step) {
            PhaseOp::Write(at)
            | PhaseOp::Same(at, _)
            | PhaseOp::Update(at)
            | PhaseOp::Read(at)
            | PhaseOp::Copy(at)
            | PhaseOp::Load(at, _)
            | PhaseOp::Store(at) => Some(at),
            _ => None,
        };
        let same = (0..program.len()).filter(|&step| cell(step) == cell(copy));
        let before = self.before[copy];
        same.fold(1 << copy, |all, step| all | before & 1 << step)
    }

    /// Returns `true` if a thread's bulk stores have read their cells.
    pub(super) fn stores_are_done(&self, program: &PhaseProgram, thread: usize) -> bool {
        self.own_stores(program, thread) & self.flying == 0
    }

    fn own_stores(&self, program: &PhaseProgram, thread: usize) -> Steps {
        let first = program.first(thread);
        let before = first..first + usize::from(self.next[thread]);
        let stores = before.filter(|&step| matches!(op_of(program, step), PhaseOp::Store(_)));
        stores.fold(0, |all, step| all | 1 << step)
    }

    /// Issues a bulk copy. It races if a write ordered before it is not visible to it.
    fn issue(
        &mut self,
        program: &PhaseProgram,
        (number, cell): (usize, u8),
        own: Knowledge,
        race: &mut bool,
    ) {
        for other in (0..program.len()).filter(|&other| own.known & self.done & 1 << other != 0) {
            let writes = match op_of(program, other) {
                PhaseOp::Write(at)
                | PhaseOp::Same(at, _)
                | PhaseOp::Update(at)
                | PhaseOp::Copy(at) => at == cell,
                _ => false,
            };
            *race |= writes && own.seen & 1 << other == 0;
        }
        self.flying |= 1 << number;
        self.before[number] = own.known;
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
        let own = self.known[thread];
        match op {
            PhaseOp::Arrive(arrival) => self.arrive(thread, number, arrival)?,
            PhaseOp::Expect(mbarrier, units) => {
                self.phase[number] = self.current(mbarrier) + 1;
                self.mbarriers[usize::from(mbarrier)].bytes += 2 * i16::from(units);
                self.count(mbarrier, 0, false)?;
            }
            PhaseOp::Deliver(mbarrier, units) => {
                self.phase[number] = self.current(mbarrier) + 1;
                self.mbarriers[usize::from(mbarrier)].bytes -= 2 * i16::from(units);
                self.count(mbarrier, 0, false)?;
            }
            PhaseOp::Wait(mbarrier, _, relaxed) => {
                self.phase[number] = self.current(mbarrier) + 1;
                let past = self.mbarriers[usize::from(mbarrier)].past;
                match relaxed {
                    true => self.pending[thread].add(past),
                    false => self.known[thread].add(past),
                }
            }
            PhaseOp::Peek(..) => self.yes[thread] = 0,
            PhaseOp::WaitUnless(mbarrier, _) => {
                if self.yes[thread] > 0 {
                    self.phase[number] = self.yes[thread];
                } else {
                    self.phase[number] = self.current(mbarrier) + 1;
                    let past = self.mbarriers[usize::from(mbarrier)].past;
                    self.known[thread].add(past);
                }
            }
            PhaseOp::Copy(_) => {
                self.flying |= 1 << number;
                self.before[number] = own.known;
            }
            PhaseOp::Load(cell, _) | PhaseOp::Store(cell) => {
                self.issue(program, (number, cell), own, race);
            }
            PhaseOp::StoreWait(_) => {
                let stores = self.own_stores(program, thread);
                self.known[thread].known |= stores;
            }
            PhaseOp::ProxyFence => self.known[thread].seen = own.known,
            PhaseOp::CopyArrive(mbarrier, increments) => {
                self.phase[number] = self.current(mbarrier) + 1;
                let first = program.first(thread);
                let copies = (first..number)
                    .filter(|&step| matches!(op_of(program, step), PhaseOp::Copy(_)));
                self.awaits[number] = copies.fold(0, |all, step| all | 1 << step);
                self.promised |= 1 << number;
                if increments {
                    self.mbarriers[usize::from(mbarrier)].pending += 1;
                }
            }
            PhaseOp::Write(cell) => {
                self.access(program, (number, usize::from(cell), true), own.known, race);
                self.cells[usize::from(cell)] = stored(number);
            }
            PhaseOp::Same(cell, which) => {
                self.access(program, (number, usize::from(cell), true), own.known, race);
                self.cells[usize::from(cell)] = shared(cell, which);
            }
            PhaseOp::Update(cell) => {
                self.access(program, (number, usize::from(cell), true), own.known, race);
                self.cells[usize::from(cell)] += 1;
            }
            PhaseOp::Read(cell) => {
                self.access(program, (number, usize::from(cell), false), own.known, race);
                self.results[number] = self.cells[usize::from(cell)];
            }
            PhaseOp::Fence => {
                let pending = std::mem::take(&mut self.pending[thread]);
                self.known[thread].add(pending);
                self.fenced[thread] = self.known[thread];
            }
            PhaseOp::Block | PhaseOp::Warp(_) => {}
        }
        let accesses = matches!(
            op,
            PhaseOp::Write(_) | PhaseOp::Same(..) | PhaseOp::Update(_) | PhaseOp::Read(_)
        );
        if accesses {
            self.known[thread].known |= 1 << number;
        }
        Ok(())
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
        let told = if relaxed && !no_complete { self.fenced[thread] } else { self.known[thread] };
        let counts = &mut self.mbarriers[usize::from(mbarrier)];
        counts.released.add(told);
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

    /// Records an access of a step to a cell. It races if it conflicts with an unknown event.
    fn access(
        &mut self,
        program: &PhaseProgram,
        (number, cell, writes): (usize, usize, bool),
        known: Steps,
        race: &mut bool,
    ) {
        for other in (0..program.len()).filter(|&other| self.done >> other & 1 != 0) {
            let (at, other_writes) = match op_of(program, other) {
                PhaseOp::Write(at)
                | PhaseOp::Same(at, _)
                | PhaseOp::Update(at)
                | PhaseOp::Copy(at)
                | PhaseOp::Load(at, _) => (at, true),
                PhaseOp::Read(at) | PhaseOp::Store(at) => (at, false),
                _ => continue,
            };
            let conflict = usize::from(at) == cell && (writes || other_writes) && other != number;
            let commute = match (op_of(program, other), op_of(program, number)) {
                (PhaseOp::Same(_, one), PhaseOp::Same(_, other)) => one == other,
                (PhaseOp::Update(_), PhaseOp::Update(_)) => true,
                _ => false,
            };
            *race |= conflict && !commute && known >> other & 1 == 0;
        }
        self.done |= 1 << number;
    }

    fn meet_at_block(&mut self, program: &PhaseProgram) {
        let here: Vec<usize> =
            (0..program.threads.len()).filter(|&one| self.op(program, one).is_some()).collect();
        let mut all = Knowledge::default();
        here.iter().for_each(|&thread| all.add(self.known[thread]));
        for thread in here {
            self.known[thread].add(all);
            self.next[thread] += 1;
        }
    }

    fn meet_in_warp(&mut self, program: &PhaseProgram, thread: usize, orders: bool) {
        let pair = program.share_warp && thread <= 1;
        let here: Vec<usize> = match pair {
            true => (0..2).filter(|&one| self.op(program, one).is_some()).collect(),
            false => vec![thread],
        };
        let mut all = Knowledge::default();
        here.iter().filter(|_| orders).for_each(|&one| all.add(self.known[one]));
        for one in here {
            self.known[one].add(all);
            self.next[one] += 1;
        }
    }
}

/// The operation of a step.
fn op_of(program: &PhaseProgram, step: usize) -> PhaseOp {
    let mut steps = program.threads.iter().flatten();
    *steps.nth(step).expect("a step of the program")
}

//! Runs blocks speculatively in parallel, with the same result as in ascending order.
//!
//! Each worker has a copy of global memory with the writes of its own blocks. A block commits when all
//! earlier blocks have. If no other worker's block changed the memory it touched, it behaved as it would have
//! in its turn, and its writes and findings are committed. Otherwise all workers stop, the block and some
//! later ones run alone on the current memory, and then speculation starts again, after a longer delay each
//! time.
//!
//! A write counts as touching the bytes it overwrites, because races depend on its changing them. So a block
//! is rerun too often, never too rarely.

use crate::block::BlockRun;
use crate::budget::Budget;
use crate::finding::StopReason;
use crate::machine::Machine;
use crate::memory::Allocation;
use crate::options::Checks;
use crate::tally::{BlockFindings, Tally};
use crate::tracker::Shadows;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::scope;
use sync::BlockAccesses;

/// The largest number of bytes of all copies of global memory. A byte takes two, one of them for its state.
const MAX_COPIED: usize = 1 << 30;
/// Blocks queued for a worker: with two it need not wait for the next.
const QUEUED: usize = 2;
/// Blocks for each worker that may run ahead of the first uncommitted one.
const AHEAD: usize = 4;

/// The remaining blocks, ascending.
pub(crate) struct Queue<I> {
    /// Blocks that were returned.
    returned: VecDeque<u64>,
    rest: I,
}

impl<I: Iterator<Item = u64>> Queue<I> {
    pub(crate) fn new(rest: I) -> Self {
        Self { returned: VecDeque::new(), rest }
    }

    /// Takes back blocks, to be run before all others.
    fn put_back(&mut self, mut blocks: VecDeque<u64>) {
        blocks.append(&mut self.returned);
        self.returned = blocks;
    }

    /// Returns `true` if there are at least two blocks.
    fn has_two(&mut self) -> bool {
        while self.returned.len() < 2 {
            let Some(next) = self.rest.next() else { return false };
            self.returned.push_back(next);
        }
        true
    }
}

impl<I: Iterator<Item = u64>> Iterator for Queue<I> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.returned.pop_front().or_else(|| self.rest.next())
    }
}

/// Runs blocks on up to `jobs` workers, until the run is over or few blocks are left.
pub(crate) fn run(
    tally: &mut Tally<'_, '_>,
    global: &mut [Allocation],
    budget: &mut Budget,
    queue: &mut Queue<impl Iterator<Item = u64>>,
    jobs: usize,
) {
    let size: usize = global.iter().map(|memory| memory.bytes.len()).sum();
    let workers = jobs.min(MAX_COPIED / size.max(1));
    let mut sequential = workers;
    while workers > 1 && !tally.is_over() && queue.has_two() {
        SpeculativeRun::new(tally, global, budget).run(queue, workers);
        tally.run(global, budget, &mut queue.take(sequential), None);
        sequential = sequential.saturating_mul(2);
    }
}

/// A block that ran speculatively.
struct SpeculativeBlock {
    worker: usize,
    found: BlockFindings,
    touched: Vec<Option<BlockAccesses>>,
    writes: Writes,
    /// For each allocation, `true` if it was read.
    read: Vec<bool>,
}

/// A message of a worker.
enum WorkerMessage {
    Ran(Box<SpeculativeBlock>),
    /// The worker has ended, perhaps in a panic.
    Ended,
}

/// The final contents of bytes that a block wrote.
#[derive(Default)]
struct Writes {
    /// Allocation, first byte and number of bytes.
    pieces: Vec<(usize, usize, usize)>,
    bytes: Vec<u8>,
    states: Vec<u8>,
}

impl Writes {
    fn new(touched: &[Option<BlockAccesses>], global: &[Allocation]) -> Self {
        let mut writes = Self::default();
        for (number, (touched, memory)) in touched.iter().zip(global).enumerate() {
            for (offset, count) in touched.iter().flat_map(BlockAccesses::changed) {
                // A buffer without bounds has no bytes.
                let Some(start) = u32::try_from(count).ok().and_then(|n| memory.inside(offset, n))
                else {
                    continue;
                };
                let count = count as usize;
                writes.pieces.push((number, start, count));
                writes.bytes.extend_from_slice(&memory.bytes[start..start + count]);
                writes.states.extend_from_slice(&memory.states[start..start + count]);
            }
        }
        writes
    }

    fn apply(&self, global: &mut [Allocation]) {
        let mut at = 0;
        for &(number, start, count) in &self.pieces {
            let memory = &mut global[number];
            memory.bytes[start..start + count].copy_from_slice(&self.bytes[at..at + count]);
            memory.states.copy(start, &self.states[at..at + count]);
            at += count;
        }
    }
}

/// Reports the end of a worker, however it ends.
struct NotifyOnDrop(Sender<WorkerMessage>);

impl Drop for NotifyOnDrop {
    fn drop(&mut self) {
        // Send fails only if the coordinator has stopped; nothing to do.
        let _ = self.0.send(WorkerMessage::Ended);
    }
}

/// Runs the received blocks on a copy of global memory.
fn work(
    machine: &Machine<'_>,
    (worker, budget, before): (usize, &Budget, u64),
    checks: Option<Checks>,
    mut global: Vec<Allocation>,
    (blocks, messages): (&Receiver<u64>, Sender<WorkerMessage>),
) {
    let notify = NotifyOnDrop(messages);
    let shadows = Shadows::new(checks, &machine.shared_memory(), &global);
    let mut block = BlockRun::new(machine, &mut global, budget.clone(), shadows);
    for number in blocks {
        block.budget = budget.clone();
        block.report.before = before;
        block.global.iter_mut().for_each(|memory| memory.read = false);
        let found = BlockFindings::run(&mut block, number);
        let shadows = block.tracker.shadows().global.iter();
        let touched: Vec<_> =
            shadows.map(|shadow| shadow.as_ref().map(BlockAccesses::new)).collect();
        let writes = Writes::new(&touched, block.global);
        let read = block.global.iter().map(|memory| memory.read).collect();
        let ran = SpeculativeBlock { worker, found, touched, writes, read };
        if notify.0.send(WorkerMessage::Ran(Box::new(ran))).is_err() {
            return;
        }
    }
}

/// Speculative blocks, starting from one state of memory.
struct SpeculativeRun<'f, 'm, 'p> {
    tally: &'f mut Tally<'m, 'p>,
    global: &'f mut [Allocation],
    budget: &'f mut Budget,
    /// The worker of each committed block.
    owners: FxHashMap<u64, usize>,
    /// Issued but uncommitted blocks, ascending.
    issued: VecDeque<u64>,
    finished: FxHashMap<u64, Box<SpeculativeBlock>>,
    /// The number of queued blocks of each worker.
    queued: Vec<usize>,
}

impl<'f, 'm, 'p> SpeculativeRun<'f, 'm, 'p> {
    fn new(
        tally: &'f mut Tally<'m, 'p>,
        global: &'f mut [Allocation],
        budget: &'f mut Budget,
    ) -> Self {
        let (owners, finished) = (FxHashMap::default(), FxHashMap::default());
        Self {
            tally,
            global,
            budget,
            owners,
            issued: VecDeque::new(),
            finished,
            queued: Vec::new(),
        }
    }

    /// Runs blocks until there are none, or one could not be committed: that one is returned to the queue.
    fn run(mut self, queue: &mut Queue<impl Iterator<Item = u64>>, workers: usize) {
        let Tally { machine, checks, .. } = *self.tally;
        let before = self.tally.lane_instructions();
        let cancelled = Arc::new(AtomicBool::new(false));
        let budget = &self.budget.cancelled_by(&cancelled);
        self.queued = vec![0; workers];
        scope(|scope| {
            let (sender, messages) = channel();
            let mut tasks = Vec::new();
            for worker in 0..workers {
                let ((task, blocks), sender) = (channel(), sender.clone());
                let (who, global) = ((worker, budget, before), self.global.to_vec());
                scope.spawn(move || work(machine, who, checks, global, (&blocks, sender)));
                tasks.push(task);
            }
            drop(sender);
            self.coordinate(queue, &tasks, &messages);
            cancelled.store(true, Ordering::Relaxed);
        });
        queue.put_back(self.issued);
    }

    /// Issues blocks and commits results.
    fn coordinate(
        &mut self,
        queue: &mut Queue<impl Iterator<Item = u64>>,
        tasks: &[Sender<u64>],
        messages: &Receiver<WorkerMessage>,
    ) {
        loop {
            self.issue_blocks(queue, tasks);
            // If the time is up, the next block that runs reports it.
            if self.issued.is_empty() || self.budget.is_out_of_time() {
                return;
            }
            let Ok(WorkerMessage::Ran(ran)) = messages.recv() else { return };
            self.queued[ran.worker] -= 1;
            self.finished.insert(ran.found.number, ran);
            while let Some(ran) = self.issued.front().and_then(|first| self.finished.remove(first))
            {
                if !self.is_as_in_turn(&ran) {
                    return;
                }
                self.issued.pop_front();
                self.commit(*ran);
                if self.tally.is_over() {
                    return self.issued.clear();
                }
            }
        }
    }

    fn issue_blocks(
        &mut self,
        queue: &mut Queue<impl Iterator<Item = u64>>,
        tasks: &[Sender<u64>],
    ) {
        while self.issued.len() < AHEAD * tasks.len() {
            let least = self.queued.iter().enumerate().min_by_key(|(_, load)| **load);
            let Some((worker, _)) = least.filter(|(_, load)| **load < QUEUED) else { return };
            let Some(number) = queue.next() else { return };
            self.issued.push_back(number);
            self.queued[worker] += 1;
            // Send fails only if the worker has ended, which it has reported then.
            let _ = tasks[worker].send(number);
        }
    }

    /// Returns `true` if the next block behaved as it would have after all earlier ones.
    fn is_as_in_turn(&self, ran: &SpeculativeBlock) -> bool {
        let gave_up = ran.found.gap.as_ref().is_some_and(|gap| {
            matches!(gap.stop, StopReason::Budget { .. } | StopReason::Time { .. })
        });
        // The first one had the same budget as in its turn.
        if gave_up {
            return self.owners.is_empty();
        }
        let is_other = |block| self.owners.get(&block).is_some_and(|&owner| owner != ran.worker);
        self.budget.suffices(ran.found.report.spent)
            && !self.tally.between.touches_changes(&ran.touched, &is_other)
    }

    fn commit(&mut self, ran: SpeculativeBlock) {
        ran.writes.apply(self.global);
        for (memory, read) in self.global.iter_mut().zip(ran.read) {
            memory.read |= read;
        }
        let number = ran.found.number;
        self.budget.subtract(ran.found.report.spent);
        self.tally.between.add_finished_block(self.tally.machine, number, &ran.touched);
        self.tally.absorb(ran.found, self.global);
        self.owners.insert(number, ran.worker);
    }
}

//! Combines the findings of a launch's blocks in ascending order, compares the accesses of different blocks, and stops
//! at the first block that cannot complete.

use crate::block::BlockRun;
use crate::budget::Budget;
use crate::early_end::EarlyEnd;
use crate::finding::{Fault, Gap, Place, StopReason};
use crate::machine::Machine;
use crate::memory::Allocation;
use crate::options::{Checks, Limits};
use crate::position::Position;
use crate::races::{Between, ReportContext, Reported};
use crate::report::Report;
use crate::scatter::{self, LaunchContext};
use crate::tickets::Counter;
use crate::tracker::{CountedConflict, Shadows};
use crate::value::Valued;
use sync::{LaneId, Site};

/// The findings of a single block.
pub(crate) struct BlockFindings {
    pub(crate) number: u64,
    pub(crate) report: Report,
    pub(crate) conflicts: Vec<CountedConflict>,
    pub(crate) gap: Option<Gap>,
}

impl BlockFindings {
    /// Runs a block and leaves its accesses in the shadows.
    pub(crate) fn run(block: &mut BlockRun<'_, '_>, number: u64) -> Self {
        let gap = block.run(number).err();
        block.record_open_uses();
        let (conflicts, conflict_words) = block.tracker.take_conflicts();
        let mut report = std::mem::take(&mut block.report);
        report.conflict_words = conflict_words;
        if let Some(racing) = block.tracker.take_racing() {
            report.racing = racing;
        }
        Self { number, report, conflicts, gap }
    }
}

/// The results of the blocks so far.
pub(crate) struct Tally<'m, 'p> {
    pub(crate) machine: &'m Machine<'p>,
    pub(crate) checks: Option<Checks>,
    /// Shared memory, for its names.
    shared: Vec<Allocation>,
    report: Report,
    reported: Reported,
    pub(crate) between: Between,
    blocks: u64,
    gap: Option<Gap>,
    limits: Limits,
    /// Set in runs that may end early.
    pub(crate) early_end: Option<EarlyEnd<'m>>,
    /// An access of the last block without a fence after the ticket.
    unacquired: Option<(Site, LaneId)>,
}

/// Blocks differ in cost. So a launch is given up after its first block only if its estimated cost exceeds
/// the budget by this factor.
const MARGIN: u64 = 4;

impl<'m, 'p> Tally<'m, 'p> {
    /// Creates a tally of no blocks.
    pub(crate) fn new(
        machine: &'m Machine<'p>,
        checks: Option<Checks>,
        global: &[Allocation],
        limits: Limits,
    ) -> Self {
        Self {
            machine,
            checks,
            shared: machine.shared_memory(),
            report: Report::default(),
            reported: Reported::default(),
            between: Between::new(global, &Shadows::new(checks, &[], global)),
            blocks: 0,
            gap: None,
            limits,
            early_end: None,
            unacquired: None,
        }
    }

    /// Returns `true` if no further block will run, because one could not complete.
    pub(crate) fn is_over(&self) -> bool {
        self.gap.is_some()
    }

    /// The number of executed instructions.
    pub(crate) fn lane_instructions(&self) -> u64 {
        self.report.lane_instructions
    }

    /// Runs blocks one after another.
    pub(crate) fn run(
        &mut self,
        global: &mut [Allocation],
        budget: &mut Budget,
        numbers: &mut dyn Iterator<Item = u64>,
        mut valued: Option<Valued<'_>>,
    ) {
        if self.is_over() {
            return;
        }
        let machine = self.machine;
        let shadows = Shadows::new(self.checks, &self.shared, global);
        let mut block = BlockRun::new(machine, global, budget.clone(), shadows);
        block.valued = valued.as_mut().map(Valued::reborrow);
        block.early_end = self.early_end;
        for number in numbers {
            block.report.before = self.report.lane_instructions;
            if machine.tickets.last().is_some() {
                block.tracker.watch_tickets();
            }
            let found = BlockFindings::run(&mut block, number);
            block.tracker.shadows_mut().records_uses = false;
            let watch = block.tracker.take_tickets();
            let mut obstacle = None;
            match &watch {
                Some(watch) => {
                    let is_last = machine.tickets.last() == Some(number);
                    let counter = block.valued.as_ref().and_then(|one| one.store.tickets.counter);
                    let counter = counter.as_ref().map(|(counter, ..)| counter);
                    let shadows = block.tracker.shadows();
                    let unacquired = watch.unacquired.filter(|_| is_last);
                    self.unacquired = (self.unacquired)
                        .or(unacquired.filter(|_| self.between.needs_order(shadows, counter)));
                    self.between.add_ticketed(machine, number, shadows, watch);
                    obstacle = watch.obstacle(is_last);
                }
                None => self.between.add(machine, number, block.tracker.shadows()),
            }
            self.absorb(found, block.global);
            if let (Some(reason), None) = (obstacle, &self.gap) {
                let start = Position::start(machine.launch.kernel, base::Index::from_position(0));
                self.stop(machine.place(start), reason.to_owned());
            }
            if self.is_over() {
                break;
            }
        }
        *budget = block.budget;
    }

    /// Adds the findings of the next block. The caller adds its accesses.
    pub(crate) fn absorb(&mut self, found: BlockFindings, global: &[Allocation]) {
        self.report.absorb(found.report);
        let Self { machine, shared, .. } = self;
        let context = ReportContext { machine, shared, global, number: found.number };
        self.reported.add_block(&mut self.report, &context, &found.conflicts);
        let blocks = machine.blocks as u64;
        self.blocks += if found.gap.is_none() { blocks } else { 0 };
        if let (None, Some(watch)) = (&found.gap, self.limits.watch) {
            watch.advance(blocks);
        }
        let unwanted = || self.early_end.as_ref().and_then(|one| one.examine(&self.report));
        self.gap = found.gap.or_else(unwanted).or_else(|| self.estimate());
    }

    /// Estimates from the first block whether the launch exceeds the budget.
    fn estimate(&self) -> Option<Gap> {
        if self.blocks != self.machine.blocks as u64 {
            return None;
        }
        let launch = self.machine.launch;
        let (each, most) = (self.report.lane_instructions.max(1), self.limits.lane_instructions);
        let blocks = launch.unit_count();
        let needed = each.saturating_mul(blocks);
        if needed / MARGIN <= most {
            return None;
        }
        let unit = if self.machine.blocks > 1 { "cluster" } else { "block" };
        let reason = format!(
            "the first {unit} took {each} instructions; all {blocks} would take about {needed}, but the \
            limit is {most}"
        );
        let start = Position::start(launch.kernel, base::Index::from_position(0));
        let fitting = most / each * self.machine.blocks as u64;
        let stop = StopReason::Estimate { needed, fitting };
        Some(Gap { place: self.machine.place(start), thread: None, reason, stop })
    }

    fn stop(&mut self, place: Place, reason: String) {
        self.gap = Some(Gap { place, thread: None, reason, stop: StopReason::NotFollowed });
    }

    /// Judges writes at data-dependent places, after all blocks have run.
    pub(crate) fn close_scatters(&mut self, global: &[Allocation], valued: Option<Valued<'_>>) {
        let Some(valued) = valued.filter(|one| !one.store.scatters.is_empty()) else { return };
        if self.is_over() {
            return;
        }
        if let Some((_, _, place)) = valued.store.tickets.counter {
            let reason =
                "data-dependent writes are not supported in kernels whose blocks take tickets";
            self.stop(place, reason.to_owned());
            return;
        }
        let launched = LaunchContext { machine: self.machine, global };
        let accessed = |number: usize| self.between.any_access(number);
        self.gap = scatter::judge(launched, &mut self.report, valued, &accessed);
    }

    /// Checks the tickets of a run in which blocks take them. Returns the place of the first one, and its
    /// counter.
    pub(crate) fn close_tickets(
        &mut self,
        global: &[Allocation],
        valued: Option<Valued<'_>>,
    ) -> Option<(Place, Counter)> {
        let tickets = &valued?.store.tickets;
        let (counter, first, place) = tickets.counter?;
        if let Some(sequence) = self.machine.tickets.sequence() {
            let is_counted = tickets.taken_in_sequence == sequence.len()
                && counter.value(global) == Some(first + tickets.taken);
            if !self.is_over() && !is_counted {
                let reason = "the counter that blocks take tickets from is changed in another way";
                self.stop(place, reason.to_owned());
            }
            return Some((place, counter));
        }
        let blocks = self.machine.launch.blocks();
        if !self.is_over() && tickets.taken != blocks {
            self.stop(
                place,
                format!("only {} of {blocks} blocks take a ticket here", tickets.taken),
            );
        }
        if !self.is_over() && tickets.other_increments {
            let reason = "blocks take tickets here, and also use `atom.inc` on other counters";
            self.stop(place, reason.to_owned());
        }
        if let (Some((site, who)), Some(last)) = (self.unacquired, self.machine.tickets.last()) {
            let thread = self.machine.launch.thread(last, who.warp.into(), who.lane.into());
            let at = self.machine.site_place(site);
            self.report.record_fault(Fault::NoAcquire { ticket: place }, at, thread);
        }
        Some((place, counter))
    }

    /// Returns the findings of all blocks, the place where the run stopped, and the number of completed
    /// blocks.
    pub(crate) fn finish(mut self, global: &[Allocation]) -> (Report, Option<Gap>, u64) {
        self.reported.count(&mut self.report);
        let context = ReportContext { machine: self.machine, shared: &[], global, number: 0 };
        self.reported.add_between(&mut self.report, &context, &self.between.conflicts);
        for (area, conflicts) in &self.between.conflicts {
            let words = conflicts.words.iter().map(|&(_, word)| (*area, word));
            self.report.conflict_words.between.extend(words);
            self.report.conflict_words.incomplete |= conflicts.more_words;
        }
        self.report.racing.check_sites(|site| self.machine.op(site));
        (self.report, self.gap, self.blocks)
    }
}

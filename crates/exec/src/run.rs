//! Runs all blocks of a launch.

use crate::block::BlockRun;
use crate::finding::{BarrierUse, Finding, Gap, Place, Undecided};
use crate::launch::Launch;
use crate::machine::Machine;
use crate::memory::state;
use crate::races::{Between, Told};
use crate::report::Report;
use crate::tracker::Shadows;
use ir::Program;

/// How much a run may do.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Instructions, counted for each lane.
    pub lane_instructions: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { lane_instructions: 20_000_000_000 }
    }
}

/// How a kernel is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// Lanes that run together stay together: every instruction orders what they did before it with
    /// what they do after it. No GPU since sm_70 promises that.
    pub lock_step: bool,
    /// Keep the uses of barriers in the first block.
    pub barrier_uses: bool,
}

/// What a run found.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Faults, in the order in which they were met.
    pub findings: Vec<Finding>,
    /// Faults that were only counted, because there were too many.
    pub dropped_findings: u64,
    /// Where the run could not go on, if it did not end; nothing is known about what follows.
    pub gap: Option<Gap>,
    /// Contents of the launch's buffers afterwards.
    pub buffers: Vec<Vec<u8>>,
    /// For each byte of each buffer, whether somebody gave it a value.
    pub written: Vec<Vec<bool>>,
    /// Places whose results the manual does not fix to the bit.
    pub approximate: Vec<Place>,
    /// Accesses that are aligned only if an allocation lies better than its declaration promises.
    pub alignments: Vec<Place>,
    /// Accesses of which it is open whether they race; only if they were looked for.
    pub undecided: Vec<Undecided>,
    /// Uses of barriers in the first block, in the order of their ends; only if asked for.
    pub barrier_uses: Vec<BarrierUse>,
    /// Places where the kernel prints.
    pub prints: Vec<Place>,
    /// Instructions executed, counted for each lane.
    pub lane_instructions: u64,
    /// Blocks that ran to their end.
    pub blocks: u64,
}

/// Runs every block, in ascending order, on the schedule that is easiest for us.
#[must_use]
pub fn run(program: &Program, launch: &Launch, limits: Limits) -> Outcome {
    execute(program, launch, limits, None)
}

/// As [`run`], and looks for what could be different on another schedule: races, and values that
/// depend on the schedule.
#[must_use]
pub fn check(program: &Program, launch: &Launch, limits: Limits) -> Outcome {
    check_with(program, launch, limits, Checks::default())
}

/// As [`check`], in a manner of one's choice.
#[must_use]
pub fn check_with(program: &Program, launch: &Launch, limits: Limits, checks: Checks) -> Outcome {
    execute(program, launch, limits, Some(checks))
}

fn execute(program: &Program, launch: &Launch, limits: Limits, checks: Option<Checks>) -> Outcome {
    let mut report = Report::default();
    let (machine, mut global) = match Machine::new(program, launch) {
        Ok(prepared) => prepared,
        Err(gap) => return outcome(report, Some(gap), &[], 0),
    };
    let mut budget = limits.lane_instructions;
    let mut gap = None;
    let mut blocks = 0;
    let mut shadows = Shadows::new(checks, &machine.shared_memory(), &global);
    let mut between = Between::new(&global, &shadows);
    let mut told = Told::default();
    for number in 0..launch.blocks() {
        let mut block = BlockRun::new(&machine, &mut global, &mut report, budget, number, shadows);
        let result = block.run();
        budget = block.budget;
        block.keep_open_uses();
        told.tell(&mut block, number);
        shadows = block.tracker.into_shadows();
        shadows.keeps_uses = false;
        between.add(&machine, number, &shadows);
        if let Err(found) = result {
            gap = Some(found);
            break;
        }
        blocks += 1;
    }
    told.count(&shadows.met, &mut report);
    told.tell_between(&machine, &global, &mut report, &between.met);
    let count = launch.buffers.len();
    outcome(report, gap, &global[..count], blocks)
}

fn outcome(
    report: Report,
    gap: Option<Gap>,
    buffers: &[crate::memory::Allocation],
    blocks: u64,
) -> Outcome {
    let mut alignments: Vec<Place> = report.alignments.into_iter().collect();
    alignments.sort_unstable();
    let written = |states: &[u8]| states.iter().map(|&s| s != state::UNDEFINED).collect();
    Outcome {
        findings: report.findings,
        dropped_findings: report.dropped,
        gap,
        buffers: buffers.iter().map(|memory| memory.bytes.clone()).collect(),
        written: buffers.iter().map(|memory| written(&memory.states)).collect(),
        approximate: report.approximate.into_iter().collect(),
        alignments,
        undecided: report.undecided,
        barrier_uses: report.barrier_uses,
        prints: report.prints.into_iter().collect(),
        lane_instructions: report.lane_instructions,
        blocks,
    }
}

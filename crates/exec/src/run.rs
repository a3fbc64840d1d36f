//! Runs all blocks of a launch.

use crate::block::BlockRun;
use crate::domain::Domain;
use crate::finding::{Finding, Gap, Place};
use crate::launch::Launch;
use crate::machine::Machine;
use crate::memory::{Allocation, state};
use crate::report::Report;
use crate::results::Results;
use crate::value::{Store, Valued};
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
    /// Places where the kernel prints.
    pub prints: Vec<Place>,
    /// Instructions executed, counted for each lane.
    pub lane_instructions: u64,
    /// Blocks that ran to their end.
    pub blocks: u64,
}

/// Runs every block, in ascending order.
#[must_use]
pub fn run(program: &Program, launch: &Launch, limits: Limits) -> Outcome {
    let (outcome, _) = run_blocks(program, launch, limits, None);
    outcome
}

/// As [`run`], with values of a domain in opaque buffers and arguments. The second result says what
/// the buffers hold afterwards.
#[must_use]
pub fn run_in(
    program: &Program,
    launch: &Launch,
    limits: Limits,
    domain: &mut dyn Domain,
) -> (Outcome, Results) {
    let mut store = Store::default();
    let valued = Valued { domain, store: &mut store };
    let (outcome, buffers) = run_blocks(program, launch, limits, Some(valued));
    (outcome, Results::new(buffers, store))
}

fn run_blocks(
    program: &Program,
    launch: &Launch,
    limits: Limits,
    mut valued: Option<Valued<'_>>,
) -> (Outcome, Vec<Allocation>) {
    let mut report = Report::default();
    let prepared = Machine::new(program, launch, valued.as_mut().map(Valued::reborrow));
    let (machine, mut global) = match prepared {
        Ok(prepared) => prepared,
        Err(gap) => return (outcome(report, Some(gap), &[], 0), Vec::new()),
    };
    let mut budget = limits.lane_instructions;
    let mut gap = None;
    let mut blocks = 0;
    for number in 0..launch.blocks() {
        let mut block = BlockRun::new(&machine, &mut global, &mut report, budget, number);
        block.valued = valued.as_mut().map(Valued::reborrow);
        let result = block.run();
        budget = block.budget;
        if let Err(found) = result {
            gap = Some(found);
            break;
        }
        blocks += 1;
    }
    global.truncate(launch.buffers.len());
    (outcome(report, gap, &global, blocks), global)
}

fn outcome(report: Report, gap: Option<Gap>, buffers: &[Allocation], blocks: u64) -> Outcome {
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
        prints: report.prints.into_iter().collect(),
        lane_instructions: report.lane_instructions,
        blocks,
    }
}

//! Runs all blocks of a launch.

use crate::ahead::{self, Queue};
use crate::budget::Budget;
use crate::domain::Domain;
use crate::doubt::Doubt;
use crate::finding::{BarrierUse, Finding, Gap, Place, Undecided};
use crate::launch::Launch;
use crate::legal::Enclosed;
use crate::legal::alias::Aliases;
use crate::machine::Machine;
use crate::memory::{Allocation, States};
use crate::report::Report;
use crate::results::Results;
use crate::suspects::{Racing, Suspects, Suspicion};
use crate::tally::Tally;
use crate::value::{Store, Valued};
use crate::watch::Watch;
use base::Span;
use ir::{FuncId, Program, VarId};
use rustc_hash::FxHashSet;
use std::time::Duration;

/// How much a run may do.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Instructions, counted for each lane.
    pub lane_instructions: u64,
    /// Time. What a run comes to then depends on the machine.
    pub time: Option<Duration>,
    /// Blocks that [`check`] runs at the same time. What a run finds does not depend on it.
    pub jobs: usize,
    /// Who watches it, and may want it to end.
    pub watch: Option<&'static Watch>,
    /// Which code executes instructions. What a run finds does not depend on it.
    pub paths: Paths,
}

/// Which code executes instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Paths {
    /// Common cases by code of their own, which promises the answer of [`Paths::General`].
    #[default]
    Fast,
    /// Everything by the code for all cases. Slow; tests compare the two.
    General,
}

impl Default for Limits {
    fn default() -> Self {
        let (lane_instructions, paths) = (20_000_000_000, Paths::Fast);
        Self { lane_instructions, time: None, jobs: 1, watch: None, paths }
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

/// How often threads synchronised, counted for each of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Syncs {
    /// Arrivals at barriers of a block.
    pub block: u64,
    /// Instructions that the lanes of a warp execute together: `bar.warp.sync`, shuffles, votes, matrix
    /// instructions.
    pub warp: u64,
}

/// What a run found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Faults, in the order in which they were met.
    pub findings: Vec<Finding>,
    /// Faults that were only counted, because there were too many.
    pub dropped_findings: u64,
    /// What the run went past without knowing, in the order in which it was met.
    pub doubts: Vec<Doubt>,
    /// Module variables that were read and hold what the module says only if the host has not
    /// changed them.
    pub initialisers: Vec<VarId>,
    /// Where the run could not go on, if it did not end; nothing is known about what follows.
    pub gap: Option<Gap>,
    /// Contents of the launch's buffers afterwards; zero where they are undefined or not looked at.
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
    /// Whether something was executed under a condition that is not decided, so that what it wrote may
    /// not be written.
    pub conditional: bool,
    /// Whether known numbers became unknown because the manual does not fix their bits: a run in the
    /// domain [`crate::Enclosed`] knows more of them.
    pub unfixed: bool,
    /// Places where the kernel prints.
    pub prints: Vec<Place>,
    /// Instructions executed, counted for each lane.
    pub lane_instructions: u64,
    /// How often threads synchronised.
    pub syncs: Syncs,
    /// Where reads conflict with writes, and which they are.
    pub(crate) suspects: Suspects,
    pub(crate) racing: Racing,
    /// Blocks that ran to their end.
    pub blocks: u64,
    /// Instructions that some thread executed, by their place in the text, ascending.
    pub executed: Vec<(FuncId, Span)>,
}

/// Runs the blocks of a launch, in ascending order, on the schedule that is easiest for us.
#[must_use]
pub fn run(program: &Program, launch: &Launch, limits: Limits) -> Outcome {
    let (outcome, _) = run_blocks(program, launch, limits, None, None);
    outcome
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
    let (outcome, _) = run_blocks(program, launch, limits, Some(checks), None);
    outcome
}

/// Uses of barriers in the first block of a launch: that block is run by itself, for a picture.
#[must_use]
pub fn barrier_uses(
    program: &Program,
    launch: &Launch,
    limits: Limits,
    checks: Checks,
) -> Vec<BarrierUse> {
    let first = launch.numbers().next().map(|number| number..number + 1);
    let launch = Launch { selected: first.into_iter().collect(), ..launch.clone() };
    check_with(program, &launch, limits, Checks { barrier_uses: true, ..checks }).barrier_uses
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
    in_domain(program, launch, limits, None, domain, FxHashSet::default())
}

/// As [`check`], with values of a domain.
#[must_use]
pub fn check_in(
    program: &Program,
    launch: &Launch,
    limits: Limits,
    domain: &mut dyn Domain,
) -> (Outcome, Results) {
    let checks = Some(Checks::default());
    in_domain(program, launch, limits, checks, domain, FxHashSet::default())
}

/// As [`check_with`], and knows of floats whose bits the manual does not fix all that they may be.
#[must_use]
pub fn check_enclosed(
    program: &Program,
    launch: &Launch,
    limits: Limits,
    checks: Checks,
) -> Outcome {
    let mut domain = Enclosed::default();
    in_domain(program, launch, limits, Some(checks), &mut domain, FxHashSet::default()).0
}

/// What a check by value numbering says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbered {
    /// The check.
    pub outcome: Outcome,
    /// Whether values counted as the same because the assembler fuses an instruction alike wherever it copies it to.
    pub relies_on_alike_fusion: bool,
}

/// As [`check_enclosed`]; at these places it is found out, by value numbering, whether a store leaves in place
/// what is there, bit for bit.
#[must_use]
pub fn check_numbered(
    program: &Program,
    launch: &Launch,
    limits: Limits,
    checks: Checks,
    places: impl IntoIterator<Item = Place>,
) -> Numbered {
    let mut domain = Enclosed::numbering();
    let asked = places.into_iter().collect();
    let (outcome, _) = in_domain(program, launch, limits, Some(checks), &mut domain, asked);
    Numbered { outcome, relies_on_alike_fusion: domain.relies_on_alike_fusion() }
}

/// As [`check_in`]; at these places the domain is asked whether a store leaves in place what is there.
#[must_use]
pub fn check_asking(
    program: &Program,
    launch: &Launch,
    (limits, checks): (Limits, Checks),
    domain: &mut dyn Domain,
    places: impl IntoIterator<Item = Place>,
) -> (Outcome, Results) {
    let asked = places.into_iter().collect();
    in_domain(program, launch, limits, Some(checks), domain, asked)
}

fn in_domain(
    program: &Program,
    launch: &Launch,
    limits: Limits,
    checks: Option<Checks>,
    domain: &mut dyn Domain,
    asked: FxHashSet<Place>,
) -> (Outcome, Results) {
    let mut store = Store::default();
    let mut aliases = Aliases::default();
    let mut domain = aliases.wrap(domain);
    let valued = Valued { domain: &mut domain, store: &mut store, aliases: &mut aliases };
    let particulars = Particulars { asked, ..Particulars::default() };
    let (outcome, buffers) =
        run_particular(program, launch, limits, checks, Some(valued), particulars);
    (outcome, Results::new(buffers, store, &aliases))
}

fn run_blocks(
    program: &Program,
    launch: &Launch,
    limits: Limits,
    checks: Option<Checks>,
    valued: Option<Valued<'_>>,
) -> (Outcome, Vec<Allocation>) {
    run_particular(program, launch, limits, checks, valued, Particulars::default())
}

/// As [`check_with`], with something done about racing reads.
pub(crate) fn check_suspecting(
    program: &Program,
    launch: &Launch,
    limits: Limits,
    checks: Checks,
    suspicion: Suspicion,
) -> Outcome {
    let particulars = Particulars { suspicion, ..Particulars::default() };
    let (outcome, _) = run_particular(program, launch, limits, Some(checks), None, particulars);
    outcome
}

/// What some runs do beside others.
#[derive(Default)]
struct Particulars {
    /// Places of stores at which the domain is asked whether they leave in place what is there.
    asked: FxHashSet<Place>,
    suspicion: Suspicion,
}

fn run_particular(
    program: &Program,
    launch: &Launch,
    limits: Limits,
    checks: Option<Checks>,
    mut valued: Option<Valued<'_>>,
    Particulars { asked, suspicion }: Particulars,
) -> (Outcome, Vec<Allocation>) {
    let checking = checks.is_some();
    let given = valued.as_mut().map(Valued::reborrow);
    let prepared = Machine::new(program, launch, limits.paths, checking, given);
    let (mut machine, mut global) = match prepared {
        Ok(prepared) => prepared,
        Err(gap) => return (outcome(Report::default(), Some(gap), Vec::new(), 0), Vec::new()),
    };
    machine.asked = asked;
    machine.suspicion = suspicion;
    machine.simulates = checks.is_none() && valued.is_none();
    let mut budget = Budget::new(limits);
    let mut tally = Tally::new(&machine, checks, &global, limits);
    // Who runs in a domain needs the buffers as they are.
    let keeps = valued.is_some();
    let mut queue = Queue::new(launch.numbers());
    if checks.is_some_and(|checks| !checks.barrier_uses) && !keeps {
        ahead::run(&mut tally, &mut global, &mut budget, &mut queue, limits.jobs);
    }
    tally.run(&mut global, &mut budget, &mut queue, valued.as_mut().map(Valued::reborrow));
    let (report, gap, blocks) = tally.finish(&global);
    let initialisers = machine.initialisers(&global);
    let executed = report.coverage.executed(&machine);
    global.truncate(launch.buffers.len());
    let buffers = if keeps { global.clone() } else { Vec::new() };
    (Outcome { initialisers, executed, ..outcome(report, gap, global, blocks) }, buffers)
}

fn outcome(report: Report, gap: Option<Gap>, buffers: Vec<Allocation>, blocks: u64) -> Outcome {
    let mut alignments: Vec<Place> = report.alignments.into_iter().collect();
    alignments.sort_unstable();
    // Buffers may be large: what the run used becomes the result.
    let (mut bytes, states): (Vec<Vec<u8>>, Vec<States>) =
        buffers.into_iter().map(|memory| (memory.bytes, memory.states)).unzip();
    for (bytes, states) in bytes.iter_mut().zip(&states) {
        states.clear_meaningless(bytes);
    }
    Outcome {
        findings: report.findings,
        dropped_findings: report.dropped,
        doubts: report.doubts,
        initialisers: Vec::new(),
        gap,
        buffers: bytes,
        written: states.into_iter().map(States::written).collect(),
        approximate: report.approximate.into_iter().collect(),
        alignments,
        undecided: report.undecided,
        conditional: !report.conditional.is_empty(),
        barrier_uses: report.barrier_uses,
        unfixed: report.unfixed,
        prints: report.prints.into_iter().collect(),
        lane_instructions: report.lane_instructions,
        syncs: report.syncs,
        suspects: report.suspects,
        racing: report.racing,
        blocks,
        executed: Vec::new(),
    }
}

//! The entry points of the crate: run all blocks of a launch, with or without checks for races, with or without a
//! domain. They differ only in the options of one common run.

use crate::address::Area;
use crate::arrival::BarrierUse;
use crate::budget::Budget;
use crate::determined_stores;
use crate::domain::Domain;
use crate::early_end::{EarlyEnd, IsUnwanted};
use crate::finding::{Gap, Place};
use crate::interpret::symbolic::merge::may_be_unwritten;
use crate::launch::Launch;
use crate::legal::Enclosed;
use crate::legal::alias::Aliases;
use crate::machine::Machine;
use crate::memory::{Allocation, state};
use crate::options::{Checks, Limits};
use crate::outcome::{Outcome, Ticket, WrittenBytes};
use crate::pipeline::MbarrierUse;
use crate::placement::Placement;
use crate::racing_reads::RacingReadMode;
use crate::report::Report;
use crate::results::Results;
use crate::snapshot::Snapshot;
use crate::speculative_blocks::{self, Queue};
use crate::tally::Tally;
use crate::tickets::{Counter, TicketMode};
use crate::value::{Store, Valued};
use ir::{AtomicOp, Op, Program, Scalar, Space, VarId};
use rustc_hash::FxHashSet;
use std::cell::Cell;

/// Runs the blocks of a launch in ascending order, on the simplest schedule.
#[must_use]
pub fn run(program: &Program, launch: &Launch, limits: Limits) -> Outcome {
    let (outcome, _) = run_blocks(program, launch, limits, None, None);
    outcome
}

/// Like [`run`], and checks for dependence on the schedule: races, and schedule-dependent values.
#[must_use]
pub fn check(program: &Program, launch: &Launch, limits: Limits) -> Outcome {
    check_with(program, launch, limits, Checks::default())
}

/// Like [`check`], with options.
#[must_use]
pub fn check_with(program: &Program, launch: &Launch, limits: Limits, checks: Checks) -> Outcome {
    let (outcome, _) = run_blocks(program, launch, limits, Some(checks), None);
    outcome
}

/// Like [`check_with`]; ends at the first finding that is unwanted, and then returns `None`. Findings of accesses in
/// different blocks are not examined.
#[must_use]
pub fn check_until(
    program: &Program,
    launch: &Launch,
    limits: Limits,
    checks: Checks,
    is_unwanted: IsUnwanted<'_>,
) -> Option<Outcome> {
    let racing_reads = RacingReadMode::default();
    check_racing_reads(program, launch, (limits, checks), racing_reads, Some(is_unwanted))
}

/// Uses of barriers in a block.
#[derive(Clone, Debug, Default)]
pub struct SyncUses {
    /// Uses of the barriers of the block.
    pub barriers: Vec<BarrierUse>,
    /// Mbarriers and their phases.
    pub mbarriers: Vec<MbarrierUse>,
}

/// Records the uses of barriers in the first block of a launch, for a diagram. That block runs alone with its
/// cluster.
#[must_use]
pub fn sync_uses(program: &Program, launch: &Launch, limits: Limits, checks: Checks) -> SyncUses {
    let first = launch.first_block().map(|number| number..number + 1);
    let launch = Launch { selected: first.into_iter().collect(), ..launch.clone() };
    let checks = Checks { barrier_uses: true, ..checks };
    let outcome = check_with(program, &launch, limits, checks);
    SyncUses { barriers: outcome.barrier_uses, mbarriers: outcome.mbarrier_uses }
}

/// Like [`run`], with domain values in opaque buffers and arguments. The second result has the final contents
/// of the buffers.
#[must_use]
pub fn run_in(
    program: &Program,
    launch: &Launch,
    limits: Limits,
    domain: &mut dyn Domain,
) -> (Outcome, Results) {
    run_in_domain(program, launch, limits, None, domain, FxHashSet::default())
}

/// Like [`check`], with domain values.
#[must_use]
pub fn check_in(
    program: &Program,
    launch: &Launch,
    limits: Limits,
    domain: &mut dyn Domain,
) -> (Outcome, Results) {
    let checks = Some(Checks::default());
    run_in_domain(program, launch, limits, checks, domain, FxHashSet::default())
}

/// Like [`check_with`], and encloses floats whose bits the manual does not fix ([`Enclosed`]).
#[must_use]
pub fn check_enclosed(
    program: &Program,
    launch: &Launch,
    limits: Limits,
    checks: Checks,
) -> Outcome {
    let mut domain = Enclosed::default();
    run_in_domain(program, launch, limits, Some(checks), &mut domain, FxHashSet::default()).0
}

/// Like [`check_enclosed`], and follows both sides of data-dependent branches on which threads may disagree.
/// Findings hold for all data, and accesses that may not happen are left open.
#[must_use]
pub fn check_conditional(
    program: &Program,
    launch: &Launch,
    limits: Limits,
    checks: Checks,
) -> Outcome {
    let mut domain = Enclosed::conditional();
    run_in_domain(program, launch, limits, Some(checks), &mut domain, FxHashSet::default()).0
}

/// The result of a check with value numbering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberedOutcome {
    /// The outcome of the check.
    pub outcome: Outcome,
    /// Set if values counted as equal on the assumption that the assembler treats all copies of an instruction
    /// alike: it fuses their multiplications and additions in all of them or in none.
    pub relies_on_alike_fusion: bool,
}

/// Like [`check_enclosed`]. For the stores at `places`, value numbering decides if the stored value equals the
/// present one, bit for bit.
#[must_use]
pub fn check_numbered(
    program: &Program,
    launch: &Launch,
    limits: Limits,
    checks: Checks,
    places: impl IntoIterator<Item = Place>,
) -> NumberedOutcome {
    let mut domain = Enclosed::numbering();
    let compared_stores = places.into_iter().collect();
    let (outcome, _) =
        run_in_domain(program, launch, limits, Some(checks), &mut domain, compared_stores);
    NumberedOutcome { outcome, relies_on_alike_fusion: domain.relies_on_alike_fusion() }
}

/// Like [`check_in`]. For the stores at `places`, the domain decides if the stored value equals the present one.
#[must_use]
pub fn check_with_equal_writes(
    program: &Program,
    launch: &Launch,
    (limits, checks): (Limits, Checks),
    domain: &mut dyn Domain,
    places: impl IntoIterator<Item = Place>,
) -> (Outcome, Results) {
    let compared_stores = places.into_iter().collect();
    run_in_domain(program, launch, limits, Some(checks), domain, compared_stores)
}

/// Like [`check_in`], for a launch whose blocks take tickets: the given block takes the last one
/// (`tickets.rs`). If none takes a ticket the outcome says so, and the run is an ordinary one.
#[must_use]
pub fn check_last(
    program: &Program,
    launch: &Launch,
    (limits, checks): (Limits, Checks),
    domain: &mut dyn Domain,
    last: u64,
) -> (Outcome, Results) {
    let is_whole_grid = launch.selected.is_empty() && launch.cluster.is_none();
    let tickets = if is_whole_grid { TicketMode::Last(last) } else { TicketMode::None };
    let special = SpecialRun { tickets, ..SpecialRun::default() };
    run_in_domain_with(program, launch, limits, Some(checks), domain, special)
}

/// Like [`check_in`], for a launch whose blocks take tickets again and again (`tickets.rs`): the given blocks take
/// the first ones, in this order. The results have the block of each ticket.
#[must_use]
pub fn check_in_order(
    program: &Program,
    launch: &Launch,
    (limits, checks): (Limits, Checks),
    domain: &mut dyn Domain,
    takers: &[u64],
) -> (Outcome, Results) {
    let is_whole_grid = launch.selected.is_empty() && launch.cluster.is_none();
    let tickets =
        if is_whole_grid { TicketMode::Sequence(takers.to_vec()) } else { TicketMode::None };
    let special = SpecialRun { tickets, ..SpecialRun::default() };
    run_in_domain_with(program, launch, limits, Some(checks), domain, special)
}

/// Returns `true` if a program may take tickets: an atomic operation adds one to global memory, and its
/// result is used.
#[must_use]
pub fn may_take_tickets(program: &Program) -> bool {
    let mut all = program.functions.iter().flat_map(|function| function.instructions());
    all.any(|one| match &one.op {
        Op::Atomic(atomic) => {
            let adds = matches!(atomic.op, AtomicOp::Add | AtomicOp::Inc);
            let global = matches!(atomic.space, Space::Global | Space::Generic);
            let integer = matches!(atomic.scalar, Scalar::Integer { .. });
            adds && global && integer && atomic.dsts.iter().any(Option::is_some)
        }
        _ => false,
    })
}

fn run_in_domain(
    program: &Program,
    launch: &Launch,
    limits: Limits,
    checks: Option<Checks>,
    domain: &mut dyn Domain,
    compared_stores: FxHashSet<Place>,
) -> (Outcome, Results) {
    let special = SpecialRun { compared_stores, ..SpecialRun::default() };
    run_in_domain_with(program, launch, limits, checks, domain, special)
}

fn run_in_domain_with(
    program: &Program,
    launch: &Launch,
    limits: Limits,
    checks: Option<Checks>,
    domain: &mut dyn Domain,
    special: SpecialRun<'_>,
) -> (Outcome, Results) {
    let mut store = Store::default();
    let mut aliases = Aliases::default();
    let mut domain = aliases.wrap(domain);
    let valued = Valued { domain: &mut domain, store: &mut store, aliases: &mut aliases };
    let (mut outcome, buffers) = run_launch(program, launch, limits, checks, Some(valued), special);
    if outcome.maybe_undefined {
        let open = |number: &usize| may_be_unwritten(&store, &buffers[*number]);
        outcome.maybe_unwritten = (0..buffers.len()).filter(open).collect();
    }
    (outcome, Results::new(buffers, store, &aliases))
}

fn run_blocks(
    program: &Program,
    launch: &Launch,
    limits: Limits,
    checks: Option<Checks>,
    valued: Option<Valued<'_>>,
) -> (Outcome, Vec<Allocation>) {
    run_launch(program, launch, limits, checks, valued, SpecialRun::default())
}

/// Like [`check_with`], with a treatment of racing reads. Returns `None` if the run ended at an unwanted finding.
pub(crate) fn check_racing_reads(
    program: &Program,
    launch: &Launch,
    (limits, checks): (Limits, Checks),
    racing_reads: RacingReadMode,
    is_unwanted: Option<IsUnwanted<'_>>,
) -> Option<Outcome> {
    let ended = Cell::new(false);
    let early_end = is_unwanted.map(|is_unwanted| EarlyEnd { is_unwanted, ended: &ended });
    let special = SpecialRun { racing_reads, early_end, ..SpecialRun::default() };
    let (outcome, _) = run_launch(program, launch, limits, Some(checks), None, special);
    (!ended.get()).then_some(outcome)
}

/// Options of special runs.
#[derive(Default)]
struct SpecialRun<'u> {
    /// Places of stores for which the domain decides if the stored value equals the present one.
    compared_stores: FxHashSet<Place>,
    racing_reads: RacingReadMode,
    tickets: TicketMode,
    early_end: Option<EarlyEnd<'u>>,
}

/// Runs a launch. All entry points of this module end here.
fn run_launch(
    program: &Program,
    launch: &Launch,
    limits: Limits,
    checks: Option<Checks>,
    mut valued: Option<Valued<'_>>,
    SpecialRun { compared_stores, racing_reads, tickets, early_end }: SpecialRun<'_>,
) -> (Outcome, Vec<Allocation>) {
    let checking = checks.is_some();
    let given = valued.as_mut().map(Valued::reborrow);
    let prepared = Machine::new(program, launch, limits.paths, checking, given);
    let (mut machine, mut global) = match prepared {
        Ok(prepared) => prepared,
        Err(gap) => return (outcome(Report::default(), Some(gap), 0), Vec::new()),
    };
    machine.compared_stores = compared_stores;
    if checking {
        machine.determined_stores = determined_stores::find(&machine);
    }
    machine.racing_reads = racing_reads;
    let last = tickets.last();
    machine.tickets = tickets;
    machine.simulates = checks.is_none() && valued.is_none();
    if let Some(watch) = limits.watch {
        watch.begin_run(launch.selected_blocks());
    }
    let before = Snapshot::of(&global[launch.buffers.len()..]);
    let memory = valued.as_ref().and_then(|valued| valued.domain.memory_flag());
    let mut budget = Budget::new(limits).with_memory(memory);
    let mut tally = Tally::new(&machine, checks, &global, limits);
    tally.early_end = early_end;
    // A caller with a domain gets the allocations themselves, because [`Results`] reads domain values from them.
    let has_domain = valued.is_some();
    // The last block runs after all others.
    let units = launch.units().filter(|unit| Some(*unit) != last).chain(last);
    let mut queue = Queue::new(units);
    if checks.is_some_and(|checks| !checks.barrier_uses) && !has_domain {
        speculative_blocks::run(&mut tally, &mut global, &mut budget, &mut queue, limits.jobs);
    }
    tally.run(&mut global, &mut budget, &mut queue, valued.as_mut().map(Valued::reborrow));
    tally.close_scatters(&global, valued.as_mut().map(Valued::reborrow));
    let ticket = tally.close_tickets(&global, valued.as_mut().map(Valued::reborrow));
    let (report, gap, blocks) = tally.finish(&global);
    let initialisers = machine.initialisers(&global);
    let changed = before.changed(&machine, &global);
    let ticket = ticket.map(|ticket| ticket_outcome(&machine, ticket, &global, &changed));
    let executed = report.coverage.executed(&machine);
    let [assumed_scopes, assumed_parities] = [&report.assumed_scopes, &report.assumed_parities]
        .map(|sites| sites.iter().map(|&site| machine.site_place(site)).collect::<Vec<Place>>());
    global.truncate(launch.buffers.len());
    let written = written_bytes(&global, valued.as_ref());
    let found = outcome(report, gap, blocks);
    let (buffers, kept) =
        if has_domain { (Vec::new(), global) } else { (contents(global), Vec::new()) };
    (
        Outcome {
            initialisers,
            changed,
            executed,
            before_dynamic: machine.before_dynamic.filter(|&bytes| bytes > 0),
            buffers,
            written,
            assumed_scopes,
            assumed_parities,
            ticket,
            ..found
        },
        kept,
    )
}

/// Describes the tickets that blocks took from a counter: the place of the first, and the changes of variables.
fn ticket_outcome(
    machine: &Machine<'_>,
    (place, counter): (Place, Counter),
    global: &[Allocation],
    changed: &[VarId],
) -> Ticket {
    let is_counter = |variable: &VarId| {
        machine.areas.get(variable) == Some(&Area::Global(counter.number))
            && machine.program.variables[*variable].size == Some(counter.bytes.into())
    };
    let left = counter_value(&counter, global, machine.launch.buffers.len());
    let is_known = |variable: &VarId| is_counter(variable) && left.is_some();
    let leaves_variables = changed.iter().any(|variable| !is_known(variable));
    Ticket { place, leaves_variables, left }
}

/// Returns the bytes of each buffer that were given a value. Where writes at data-dependent places leave some
/// unwritten, the data decide which.
fn written_bytes(buffers: &[Allocation], valued: Option<&Valued<'_>>) -> Vec<WrittenBytes> {
    let scatters = valued.map(|valued| &valued.store.scatters);
    let is_scattered = |number: usize| scatters.is_some_and(|all| all.contains_key(&number));
    let written = |(number, memory): (usize, &Allocation)| match is_scattered(number) {
        true if memory.states.contains(&state::UNDEFINED) => {
            WrittenBytes::Depends(memory.bytes.len())
        }
        _ => memory.states.written(),
    };
    buffers.iter().enumerate().map(written).collect()
}

/// Returns the number in a counter that is a module variable.
fn counter_value(counter: &Counter, global: &[Allocation], buffers: usize) -> Option<u64> {
    if counter.number >= buffers { counter.value(global) } else { None }
}

/// Takes the contents of buffers. They may be large, so the memory of the run becomes the result.
fn contents(buffers: Vec<Allocation>) -> Vec<Vec<u8>> {
    let contents = |mut memory: Allocation| {
        memory.states.clear_meaningless(&mut memory.bytes);
        memory.bytes
    };
    buffers.into_iter().map(contents).collect()
}

/// Builds the outcome of a run, without memory contents.
fn outcome(report: Report, gap: Option<Gap>, blocks: u64) -> Outcome {
    let mut alignments: Vec<Placement> = report.alignments.into_iter().collect();
    alignments.sort_unstable_by(|a, b| {
        (a.place, &a.name, a.assumption).cmp(&(b.place, &b.name, b.assumption))
    });
    Outcome {
        findings: report.findings,
        dropped_findings: report.dropped,
        doubts: report.doubts,
        initialisers: Vec::new(),
        changed: Vec::new(),
        gap,
        buffers: Vec::new(),
        written: Vec::new(),
        approximate: report.approximate.into_iter().collect(),
        alignments,
        shared_alignment: report.shared_alignment,
        before_dynamic: None,
        shared_window: report.shared_window,
        acquires_null_map: report.acquires_null_map,
        assumed_scopes: Vec::new(),
        assumed_parities: Vec::new(),
        undecided: report.undecided,
        conditional: report.has_choices,
        maybe_undefined: report.maybe_undefined,
        maybe_unwritten: Vec::new(),
        barrier_uses: report.barrier_uses,
        mbarrier_uses: report.mbarrier_uses,
        unfixed: report.unfixed,
        follows_error: report.follows_error,
        prints: report.prints.into_iter().collect(),
        lane_instructions: report.lane_instructions,
        syncs: report.syncs,
        conflict_words: report.conflict_words,
        racing: report.racing,
        blocks,
        executed: Vec::new(),
        ticket: None,
    }
}

//! Hints for races: finds by trial where a barrier or a proxy fence would help.
//!
//! A barrier is put between the two accesses of a race, at one of a few likely places, and the kernel is checked
//! again (for a race on shared memory, its blocks alone). A hint is given only if the race is then gone and nothing
//! new is found. The order of execution does not tell which access should come first, so both orders are tried, that
//! of the source lines first.

use crate::grouping::Group;
use crate::source_lines::outermost_line;
use exec::{AccessKind, Checks, EarlyFinding, Fault, Launch, Limits, Outcome, Place, Race, Thread};
use ir::{BarrierKind, BlockId, FuncId, Instr, Op, Operand, Program, Space, SyncOp};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The budget of all trials in instructions, counted for each lane.
const MAX_INSTRUCTIONS: u64 = 20_000_000;

/// Hints are for the first races; the others often are the same mistake.
const MAX_HINTS: usize = 3;

/// A place for a barrier: before the instruction with this index, or at the end of the block.
type Point = (FuncId, BlockId, usize);

/// Instructions of a program, each as the point before it.
type Sites = BTreeSet<Point>;

/// A run that found races, and the budget left for trials.
pub(crate) struct HintSearch<'t> {
    program: &'t Program,
    launch: &'t Launch,
    found: &'t Outcome,
    /// The keys of all its findings.
    known: BTreeSet<Key>,
    checks: Checks,
    /// The user's limits: time and cancellation.
    limits: Limits,
    /// Instructions that trials may still execute.
    budget: u64,
    /// The number of groups that may still get a hint.
    groups: usize,
}

impl<'t> HintSearch<'t> {
    pub(crate) fn new(
        program: &'t Program,
        launch: &'t Launch,
        found: &'t Outcome,
        (limits, checks): (Limits, Checks),
    ) -> Self {
        let checks = Checks { barrier_uses: false, ..checks };
        let (budget, groups) = (MAX_INSTRUCTIONS, MAX_HINTS);
        let known = keys(found);
        Self { program, launch, found, known, checks, limits, budget, groups }
    }

    /// Returns a remedy that orders the accesses of a group of races, as a sentence.
    pub(crate) fn hint(&mut self, group: &Group<'_>) -> Option<String> {
        let races: Vec<&Race> = group.races().collect();
        let could_help = |race: &&Race| {
            let [earlier, later] = &race.sides;
            let same_block = earlier.thread.block == later.thread.block;
            let in_flight = earlier.in_flight || later.in_flight;
            same_block && !in_flight && !race.non_coherent && !race.unseen && !race.is_harmless()
        };
        // A conflict with a bulk copy needs a proxy fence. Notes of the two excluded cases already name its place.
        let unseen =
            |race: &&Race| race.unseen && !race.unseen_map && !race.lacks_fence_after_read();
        let fences = races.iter().all(unseen);
        if races.is_empty() || !(fences || races.iter().all(could_help)) || self.groups == 0 {
            return None;
        }
        self.groups -= 1;
        if fences {
            return self.proxy_fence(&races);
        }
        let launch = Launch { selected: self.blocks(&races), ..self.launch.clone() };
        let orders = self.orders(&races);
        let one_warp = self.races_within_warps_only();
        let barriers = [(warp_barrier(), "__syncwarp"), (block_barrier(), "__syncthreads")];
        for (barrier, name) in barriers.into_iter().skip(usize::from(!one_warp)) {
            for order in &orders {
                for points in self.candidate_points(order) {
                    if self.helps((&races, &launch), &points, &barrier)? {
                        let place = order.describe();
                        return Some(format!("a `{name}()` {place} would order them"));
                    }
                }
            }
        }
        None
    }

    /// Finds the place where a proxy fence makes writes of threads visible to a bulk copy: after the writes, or else
    /// before the copy.
    fn proxy_fence(&mut self, races: &[&Race]) -> Option<String> {
        let launch = Launch { selected: self.blocks(races), ..self.launch.clone() };
        let places = |side: usize| races.iter().map(move |race| race.sides[side].place);
        let [writes, copies] = [0, 1].map(|side| self.sites(&places(side).collect::<Vec<_>>()));
        let line = |place: Place| outermost_line(place, self.program).map(|(_, line)| line);
        let lines = [places(0).next().and_then(line), places(1).next().and_then(line)];
        let order = Order { lines: (None, None), first: writes, second: Sites::new() };
        let (behind, before) = (self.after(&order), copies);
        let is_product = races.iter().all(|race| race.sides[1].product.is_some());
        let reader = if is_product { "product" } else { "copy" };
        for (points, line, is_writer) in [(behind, lines[0], true), (before, lines[1], false)] {
            if !self.helps((races, &launch), &points, &SyncOp::ProxyFence(None))? {
                continue;
            }
            let place = match (is_writer, line) {
                (true, Some(line)) => format!("after line {line}"),
                (true, None) => "right after the write".to_owned(),
                (false, Some(line)) => format!("before line {line}"),
                (false, None) => format!("right before the {reader}"),
            };
            return Some(format!(
                "a `fence.proxy.async` {place} would make the write visible to the {reader}"
            ));
        }
        None
    }

    /// Returns `true` if all races are between lanes of one warp.
    fn races_within_warps_only(&self) -> bool {
        let races = self.found.findings.iter().filter_map(|finding| match &finding.fault {
            Fault::Race(race) if !race.is_harmless() => Some(race),
            _ => None,
        });
        let races = races.map(|race| &**race);
        let races = races.chain(self.found.undecided.iter().map(|open| &open.race));
        let mut sides = races.map(|race| race.sides.each_ref().map(|side| side.thread));
        sides.all(|[one, other]| one.block == other.block && self.warp(one) == self.warp(other))
    }

    /// Selects the blocks to run again. For races on shared memory these are the blocks of the races. A race on global
    /// memory may involve any block, so all are run.
    fn blocks(&self, races: &[&Race]) -> Vec<Range<u64>> {
        if races.iter().any(|race| race.target.space != Space::Shared) {
            return self.launch.selected.clone();
        }
        let [width, height, _] = self.launch.grid.map(u64::from);
        let number =
            |[x, y, z]: [u32; 3]| u64::from(x) + width * (u64::from(y) + height * u64::from(z));
        let sides = races.iter().flat_map(|race| &race.sides);
        let blocks: BTreeSet<u64> = sides.map(|side| number(side.thread.block)).collect();
        blocks.into_iter().map(|block| block..block + 1).collect()
    }

    /// The number of a thread's warp in its block.
    fn warp(&self, Thread { thread: [x, y, z], .. }: Thread) -> u64 {
        let [width, height, _] = self.launch.block.map(u64::from);
        (u64::from(x) + width * (u64::from(y) + height * u64::from(z))) / 32
    }

    /// The two possible intended orders of the accesses.
    fn orders(&self, races: &[&Race]) -> Vec<Order> {
        // The line distinguishes the two sides; on one line, the kind of access does.
        let side = |side: &exec::RaceSide| {
            let line = outermost_line(side.place, self.program).map(|(_, line)| line);
            (line, side.kind == AccessKind::Read)
        };
        let mut sides: BTreeMap<_, Vec<Place>> = BTreeMap::new();
        for one in races.iter().flat_map(|race| &race.sides) {
            sides.entry(side(one)).or_default().push(one.place);
        }
        let sides: Vec<_> = sides.into_iter().map(|((line, _), all)| (line, all)).collect();
        let order = |(first, second): (usize, usize)| {
            let ((first_line, first), (second_line, second)) =
                (sides.get(first)?, sides.get(second)?);
            let (first, second) = (self.sites(first), self.sites(second));
            Some(Order { lines: (*first_line, *second_line), first, second })
        };
        match sides.len() {
            1 => order((0, 0)).into_iter().collect(),
            _ => [(0, 1), (1, 0)].into_iter().filter_map(order).collect(),
        }
    }

    /// Finds the first core operation of each PTX instruction at these places.
    fn sites(&self, places: &[Place]) -> Sites {
        let mut sites = Sites::new();
        for (function, data) in self.program.functions.enumerate() {
            for (block, data) in data.blocks.enumerate() {
                let mut last = None;
                for (index, instruction) in data.instructions.iter().enumerate() {
                    let wanted = places.iter().any(|place| place.span == instruction.span);
                    if wanted && last != Some(instruction.span) {
                        sites.insert((function, block, index));
                    }
                    last = Some(instruction.span);
                }
            }
        }
        sites
    }

    /// Returns candidate sets of points for barriers that separate the accesses in this order: directly between them,
    /// after the first ones, or at the following reconvergence points.
    fn candidate_points(&self, order: &Order) -> Vec<BTreeSet<Point>> {
        let mut plans = vec![between(order), self.after(order)];
        let mut joins = plans[1].clone();
        for _ in 0..3 {
            joins = self.reconvergence_points(&joins);
            plans.push(joins.clone());
        }
        let mut known = Vec::new();
        for plan in plans {
            if !plan.is_empty() && !known.contains(&plan) {
                known.push(plan);
            }
        }
        known
    }

    /// Points after the last of the first instructions in each block.
    fn after(&self, order: &Order) -> BTreeSet<Point> {
        let mut last = BTreeMap::new();
        for &(function, block, index) in &order.first {
            last.insert((function, block), index);
        }
        let behind = |((function, block), index): ((FuncId, BlockId), usize)| {
            let instructions = &self.program.functions[function].blocks[block].instructions;
            let span = instructions[index].span;
            let more = instructions[index..].iter().take_while(|other| other.span == span);
            (function, block, index + more.count())
        };
        last.into_iter().map(behind).collect()
    }

    /// Reconvergence points of the blocks of these points.
    fn reconvergence_points(&self, points: &BTreeSet<Point>) -> BTreeSet<Point> {
        let join = |&(function, block, _): &Point| {
            let joins = ir::cfg::reconvergence(&self.program.functions[function]);
            joins[block].map(|join| (function, join, 0))
        };
        points.iter().filter_map(join).collect()
    }

    /// Checks the kernel with barriers at these points. Returns `true` if the races are gone and nothing new is found;
    /// `None` if the trial would exceed the budget.
    fn helps(
        &mut self,
        (races, launch): (&[&Race], &Launch),
        points: &BTreeSet<Point>,
        barrier: &SyncOp,
    ) -> Option<bool> {
        // With the barrier, a run that stopped early may continue.
        let limit = self.found.lane_instructions.saturating_mul(2).saturating_add(10_000);
        self.budget = self.budget.checked_sub(limit)?;
        let program = with_barriers(self.program, points, barrier);
        let limits = Limits { lane_instructions: limit, ..self.limits };
        let gone: BTreeSet<Key> = races.iter().map(|race| race_key(race)).collect();
        let is_unwanted = |key: &Key| gone.contains(key) || !self.known.contains(key);
        let ends_trial = |found: EarlyFinding<'_>| {
            is_unwanted(&match found {
                EarlyFinding::Race(places) => key_of_places(places),
                EarlyFinding::Fault(fault, place) => (fault_name(fault), place, None),
            })
        };
        let outcome = exec::check_until(&program, launch, limits, self.checks, &ends_trial);
        Some(outcome.is_some_and(|outcome| {
            let runs_as_far = outcome.gap.is_none() || self.found.gap.is_some();
            runs_as_far && !keys(&outcome).iter().any(is_unwanted)
        }))
    }
}

/// The accesses of a race, in the order that a barrier could enforce.
struct Order {
    /// The source lines of the first and the second accesses.
    lines: (Option<u32>, Option<u32>),
    first: Sites,
    second: Sites,
}

impl Order {
    fn describe(&self) -> String {
        match self.lines {
            (Some(first), Some(second)) if first < second => {
                format!("between lines {first} and {second}")
            }
            (Some(first), _) => format!("after line {first}"),
            (None, _) => "between the two".to_owned(),
        }
    }
}

/// Points before each of the second instructions that follows one of the first, or begins its block.
fn between(order: &Order) -> BTreeSet<Point> {
    let mut points = BTreeSet::new();
    let mut blocks: BTreeMap<(FuncId, BlockId), Vec<(usize, bool)>> = BTreeMap::new();
    for (sites, is_second) in [(&order.first, false), (&order.second, true)] {
        for &(function, block, index) in sites {
            blocks.entry((function, block)).or_default().push((index, is_second));
        }
    }
    for ((function, block), mut sites) in blocks {
        sites.sort_unstable();
        let mut wanted = true;
        for (index, is_second) in sites {
            if is_second && wanted {
                points.insert((function, block, index));
                wanted = false;
            }
            wanted |= !is_second;
        }
    }
    points
}

fn block_barrier() -> SyncOp {
    let id = Operand::Constant(0);
    SyncOp::Barrier { kind: BarrierKind::Sync, id, count: None, aligned: true }
}

fn warp_barrier() -> SyncOp {
    SyncOp::WarpBarrier { mask: Operand::Constant(u64::from(u32::MAX)) }
}

/// Inserts a barrier at each of these places.
fn with_barriers(program: &Program, points: &BTreeSet<Point>, barrier: &SyncOp) -> Program {
    let mut program = program.clone();
    // From the end, so that the other places stay valid.
    for &(function, block, index) in points.iter().rev() {
        let block = &mut program.functions[function].blocks[block];
        let (span, location) = match block.instructions.get(index) {
            Some(next) => (next.span, next.location),
            None => (block.span, block.location),
        };
        let op = Op::Sync(barrier.clone());
        block.instructions.insert(index, Instr { guard: None, op, span, location });
    }
    program
}

/// Identity of a finding, for comparing two runs: kind and places.
type Key = (String, Place, Option<Place>);

fn keys(outcome: &Outcome) -> BTreeSet<Key> {
    let finding = |finding: &exec::Finding| match &finding.fault {
        Fault::Race(race) => race_key(race),
        fault => (fault_name(fault), finding.place, None),
    };
    let open = outcome.undecided.iter().map(|open| race_key(&open.race));
    outcome.findings.iter().map(finding).chain(open).collect()
}

fn race_key(race: &Race) -> Key {
    key_of_places(race.sides.each_ref().map(|side| side.place))
}

fn key_of_places([a, b]: [Place; 2]) -> Key {
    ("Race".to_owned(), a.min(b), Some(a.max(b)))
}

/// The name of a fault without its details.
fn fault_name(fault: &Fault) -> String {
    let text = format!("{fault:?}");
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '(').collect()
}

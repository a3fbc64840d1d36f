//! Proves properties of every thread and every pair of threads, for every launch the contract allows.
//!
//! An arbitrary thread passes the kernel once (`exec.rs`, `loops.rs`), and required conditions become obligations.
//! Then, from the kernel's beginning and from each barrier, an arbitrary thread runs to the next barriers: its
//! accesses are those of an *interval*. Two threads of a block race only inside an interval, two blocks anywhere
//! (`pairs.rs`). Two threads suffice: a race is between two (Betts et al. 2012, Theorem 3.1; Kojima and Igarashi
//! 2017, Theorem 1).

mod barrier_invariants;
mod candidate_launches;
mod claim_instances;
mod claims;
mod conversions;
mod defined;
mod eval;
mod exec;
mod exits;
mod guarded;
mod infer;
mod input_contents;
mod lemmas;
mod loops;
mod monoids;
mod orbits;
mod pairs;
mod proof;
mod select;
mod setup;
mod shifts;
mod site_digits;
mod state;
mod textures;
mod trips;
mod uninterpreted;
pub(crate) mod values;

pub(crate) use proof::SAFETY;
pub use proof::{OpenClaim, Proof, Property};

use crate::prover::Prover;
use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use arith::symbols::{Copies, Level};
use base::Span;
use deadline::tick;
use interp::reach;
use kir::{self, ArrayId, Builtin, Kernel, Type, Var};
use kir::{liveness, relevance};
use smt::Solver;
use state::{
    BarrierInstance, BarrierPoint, Claim, ElementLookup, Flow, Mode, Obligation, OpaqueComparison,
    Operation, PassedBarriers, Second, Site, State,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Threads of a warp.
const WARP: i128 = 32;

/// The proof of a kernel: the state of its passes, and what they collected.
pub(crate) struct Engine<'k> {
    kernel: &'k Kernel,
    prover: Prover,
    /// The kind of the current pass.
    mode: Mode,
    /// Set if facts about loops are inferred.
    infers: bool,
    /// Per variable: set if it feeds an index or a condition.
    relevant: Vec<bool>,
    /// Number of reads of each variable.
    reads: Vec<usize>,
    /// Per array: set if the kernel writes it.
    written: Vec<bool>,
    /// Variables that the kernel assigns.
    assigned: Vec<kir::VarId>,
    /// `threadIdx`, `blockIdx` and the dimensions, by axis.
    builtins: [[Poly; 3]; 4],
    /// The sizes of each array's dimensions, if stated.
    sizes: Vec<Vec<Option<Poly>>>,
    /// Results of operations that are not polynomials.
    operations: BTreeMap<Operation, Poly>,
    /// Minima and maxima: the operands, and `true` for a minimum.
    extremes: BTreeMap<Sym, (Poly, Poly, bool)>,
    /// The state before the first statement.
    entry: State,
    /// Values of scalars supplied from outside, by name.
    given: BTreeMap<String, state::SymbolicValue>,
    /// Dimensions of the launch supplied from outside.
    launch: Option<[[Poly; 3]; 4]>,
    /// Symbols whose value the contract determines.
    replaced: Vec<(Sym, Poly)>,
    /// Elements that annotations may name, and their values.
    named: Vec<(ArrayId, Poly, Poly)>,
    /// Set if the contract mentions powers of two.
    has_powers: bool,
    /// Set if elements that annotations name have symbols of their own.
    elements: bool,
    /// Proved lemmas, by their spans.
    lemmas: Vec<Span>,
    /// Comparisons of real numbers, if they are to be recorded.
    opaque_comparisons: Option<Vec<OpaqueComparison>>,
    /// Barriers with claims, by their symbols.
    barrier_instances: BTreeMap<Sym, Arc<BarrierInstance>>,
    /// The point at which elements named by annotations are looked up.
    lookup: ElementLookup,
    /// State of the other thread of a pair.
    second: Option<Second>,
    /// Symbols of elements at barriers: by array, index and the barrier's symbol.
    cells: BTreeMap<(ArrayId, Vec<Poly>, Sym), Sym>,
    /// The path down the tree of statements to the current one.
    position: Vec<usize>,
    /// The enclosing loops, each with the level at which its iterations are in step.
    loops: Vec<(Span, Level)>,
    /// The accesses of the current pass.
    sites: Vec<Site>,
    /// Obligations that are not examined yet.
    obligations: Vec<Obligation>,
    /// The barriers at which the current interval ends.
    barrier_points: Vec<BarrierPoint>,
    /// Loops of which a thread may execute an iteration without reaching a barrier.
    open_intervals: Vec<Span>,
    /// The claims that could not be proved.
    open: Vec<OpenClaim>,
    /// Queries that the solver could not refute, for each open property.
    questions: Vec<(Property, Vec<Formula>)>,
    /// Axes on which the number of threads was limited by assumption.
    limited: [bool; 3],
    /// Operations without a value in requirements of the contract.
    undefined: Vec<(Span, state::Defined)>,
    /// The only requested property, if there is one.
    only: Option<Property>,
    /// The number of the last untracked value.
    last_untracked: u64,
    /// Set if an infeasible path was skipped since the interval began.
    pruned: bool,
}

/// Options of a proof.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Set if facts about loops are inferred.
    pub(crate) infers: bool,
    /// If set, only this property is proved, quickly.
    pub(crate) only: Option<Property>,
}

/// Tries to prove all properties of a kernel.
pub(crate) fn prove(
    kernel: &Kernel,
    solver: Option<Solver>,
    effort: Effort,
) -> (Proof, Option<Solver>) {
    let Effort { infers, only } = effort;
    let mut engine = Engine::new(kernel, Prover::new(solver), infers);
    engine.only = only;
    let state = engine.set_up();
    if only.is_none() {
        // Lemmas first: the rest of the pass may use them.
        engine.lemmas = engine.proved_lemmas(&state);
    }
    engine.mode = Mode::Full;
    engine.contract_defined(&state);
    engine.run(&kernel.body, 0, state.clone(), &mut Flow::default());
    let everywhere = std::mem::take(&mut engine.sites);
    engine.prover.short_queries = only.is_some();
    engine.discharge();
    if engine.is_requested(Property::Races) {
        engine.check_intervals(&state);
        engine.between_blocks(&everywhere);
    }
    let has_claims = engine
        .obligations
        .iter()
        .any(|one| matches!(one.claim, Claim::Assertion | Claim::Invariant))
        || claims::has_invariants(kernel);
    if only.is_none() {
        let mut proved = engine.proved_monoids();
        proved.extend(engine.lemmas.clone());
        engine.leave_claims(&proved);
    }
    let mut unsized_arrays = Vec::new();
    for site in &everywhere {
        let unknown = engine.sizes[base::Index::position(site.array)].iter().any(Option::is_none);
        if unknown && !unsized_arrays.contains(&site.array) {
            unsized_arrays.push(site.array);
        }
    }
    unsized_arrays.sort();
    let candidate_launches = if only.is_none() { engine.candidate_launches() } else { Vec::new() };
    let (prover, limited) = (engine.prover, engine.limited);
    let proof = Proof {
        limited,
        open: engine.open,
        unsized_arrays,
        checks_initialised: false,
        has_claims,
        has_postconditions: claims::has_postconditions(kernel),
        learnt: Vec::new(),
        stats: prover.stats,
        missed_solver: prover.missed_solver,
        solver_died: prover.solver.as_ref().is_some_and(Solver::is_dead),
        candidate_launches,
    };
    (proof, prover.solver)
}

/// Returns `true` if annotations of loops have claims about elements or real numbers.
pub(crate) fn has_loop_claims(kernel: &Kernel) -> bool {
    !claims::loops_with_claims(&kernel.body).is_empty()
}

impl<'k> Engine<'k> {
    /// Creates an engine without facts.
    fn new(kernel: &'k Kernel, prover: Prover, infers: bool) -> Self {
        let nothing = State {
            vars: Vec::new(),
            path: Vec::new(),
            passed_barriers: PassedBarriers::default(),
        };
        Self {
            kernel,
            prover,
            mode: Mode::Full,
            infers,
            relevant: relevance::relevant(kernel),
            reads: liveness::reads(&kernel.body, kernel.vars.len()),
            written: relevance::written(kernel),
            assigned: kir::assigned(&kernel.body).into_iter().collect(),
            builtins: Default::default(),
            sizes: Vec::new(),
            operations: BTreeMap::new(),
            extremes: BTreeMap::new(),
            entry: nothing,
            given: BTreeMap::new(),
            launch: None,
            replaced: Vec::new(),
            named: Vec::new(),
            has_powers: false,
            elements: false,
            lemmas: Vec::new(),
            opaque_comparisons: None,
            barrier_instances: BTreeMap::new(),
            lookup: ElementLookup::Nowhere,
            second: None,
            cells: BTreeMap::new(),
            position: Vec::new(),
            loops: Vec::new(),
            sites: Vec::new(),
            obligations: Vec::new(),
            barrier_points: Vec::new(),
            open_intervals: Vec::new(),
            open: Vec::new(),
            questions: Vec::new(),
            limited: [false; 3],
            undefined: Vec::new(),
            only: None,
            last_untracked: 0,
            pruned: false,
        }
    }
}

impl Engine<'_> {
    /// Returns `true` if obligations about a property must be examined: if only one property is requested, those on
    /// which it depends, and only until it is open.
    fn is_requested(&self, about: Property) -> bool {
        let Some(only) = self.only else { return true };
        let rests_on =
            |one: Property| one == only || only == Property::Races && one != Property::Overflow;
        rests_on(about) && !self.open.iter().any(|open| open.property == only)
    }

    /// Proves obligations of single threads and of barriers.
    fn discharge(&mut self) {
        // Earlier obligations of a thread may be assumed: if one fails, it is reported at its own place.
        let mut before: Vec<(Vec<Formula>, Formula)> = Vec::new();
        // Proved bounds that later obligations may use, such as `i < n` before an `i++`.
        let mut bounds: Vec<(Vec<Formula>, Formula)> = Vec::new();
        for obligation in self.obligations.clone() {
            if !self.is_requested(obligation.claim.property()) {
                let goal = (obligation.path.clone(), obligation.goal.clone());
                before.extend(Some(goal).filter(|_| obligation.claim.may_be_used()));
                continue;
            }
            let path = &obligation.path;
            let earlier = before.iter().filter(|(other, _)| {
                tick();
                path.starts_with(other)
            });
            let mut assumed: Vec<Formula> = path.clone();
            assumed.extend(earlier.map(|(_, goal)| goal.clone()));
            let mut query = assumed.clone();
            query.push(obligation.goal.clone());
            assumed.extend(self.facts_at_barriers(&query, &[], None));
            let proved = match obligation.claim {
                Claim::Uniform => self.is_uniform(path, Level::Warp),
                Claim::Converged => self.is_uniform(path, Level::Thread),
                _ if assumed.contains(&obligation.goal) => true,
                Claim::Overflow(_) | Claim::Carried(_) => {
                    let within = bounds.iter().filter(|(other, _)| path.starts_with(other));
                    let within: Vec<Formula> = within.map(|(_, goal)| goal.clone()).collect();
                    self.proves_with_bounds(&assumed, &within, &obligation.goal)
                }
                _ => self.prover.proves(&assumed, &obligation.goal),
            };
            if proved && matches!(obligation.claim, Claim::Bounds(_)) {
                bounds.push((path.clone(), obligation.goal.clone()));
            }
            if obligation.claim.may_be_used() {
                let known = (path.clone(), obligation.goal.clone());
                if !before.contains(&known) {
                    before.push(known);
                }
            }
            if !proved {
                if let Claim::Bounds(array) = obligation.claim
                    && self.kernel.arrays[array].dimensions.len() > 1
                {
                    // Outside its row an element may be one of another row.
                    let name = &self.kernel.arrays[array].name;
                    let message =
                        format!("that there is no race on `{name}`: this index may leave its row");
                    self.leave_open(Property::Races, obligation.span, None, message);
                }
                self.leave_obligation_open(obligation);
            }
        }
    }

    /// Proves a goal, if need be with the bounds of earlier accesses.
    fn proves_with_bounds(
        &mut self,
        assumed: &[Formula],
        bounds: &[Formula],
        goal: &Formula,
    ) -> bool {
        if bounds.is_empty() || self.prover.proves_quickly(assumed, goal) {
            return self.prover.proves(assumed, goal);
        }
        let all: Vec<Formula> = assumed.iter().chain(bounds).cloned().collect();
        self.prover.proves_lightly(&all, goal) || self.prover.proves(assumed, goal)
    }

    fn leave_obligation_open(&mut self, obligation: Obligation) {
        let (property, message) = match obligation.claim {
            Claim::Bounds(array) => {
                let name = &self.kernel.arrays[array].name;
                (Property::Bounds, format!("that this index of `{name}` is in bounds"))
            }
            Claim::Overflow(ty @ Type::Int { signed: false, .. }) => {
                let name = ty.name();
                let message = format!(
                    "that this fits into `{name}` (wrap-around is defined, but not modelled)"
                );
                (Property::Overflow, message)
            }
            Claim::Overflow(ty) => {
                (Property::Overflow, format!("that this fits into `{}`", ty.name()))
            }
            Claim::Carried(var) => {
                let Var { name, ty } = &self.kernel.vars[var];
                let message =
                    format!("that `{name}` still fits into `{}` after an iteration", ty.name());
                (Property::Overflow, message)
            }
            Claim::Footprint(array, writes) => {
                let name = &self.kernel.arrays[array].name;
                let what = if writes { "written" } else { "read" };
                let message =
                    format!("that the contract allows this element of `{name}` to be {what}");
                (Property::Postcondition, message)
            }
            Claim::Division => (Property::Division, "that this divisor is not 0".to_owned()),
            Claim::Defined(kind) => (Property::Clauses, self.undefined_message(kind)),
            Claim::Assertion => (Property::Invariant, "this claim".to_owned()),
            Claim::Invariant => (Property::Invariant, "this invariant".to_owned()),
            Claim::Uniform => (
                Property::Barriers,
                "that all threads of a block reach this point together".to_owned(),
            ),
            Claim::Converged => (
                Property::Barriers,
                "that all threads of a warp reach this point together".to_owned(),
            ),
        };
        self.leave_open(property, obligation.span, None, message);
    }

    /// Records a claim that was not proved. The query that the solver left open, if there is one, is kept for the
    /// search of a failing launch.
    fn leave_open(&mut self, property: Property, span: Span, other: Option<Span>, message: String) {
        let disputed = std::mem::take(&mut self.prover.disputed);
        let message = if disputed { format!("{message}: the solvers disagree") } else { message };
        let question = self.prover.last_open_query.take();
        self.questions.extend(question.map(|question| (property, question)));
        let open = OpenClaim { property, span, other, message };
        if !self.open.contains(&open) {
            self.open.push(open);
        }
    }

    /// Returns `true` if all threads of a group reach this point whenever one does. The group is the block if
    /// `unshared` is `Level::Warp`, and the warp if it is `Level::Thread`: symbols of level `unshared` or above may
    /// differ between two of its threads.
    fn is_uniform(&mut self, path: &[Formula], unshared: Level) -> bool {
        let mut copies = Copies::new(unshared);
        let mut assumed = path.to_vec();
        if unshared == Level::Thread {
            let warp = self.warp_number();
            let other = copies.poly(&mut self.prover.symbols, &warp);
            assumed.extend(warp.minus(&other).map(Formula::eq));
        }
        for condition in path {
            if self.prover.symbols.formula_level(condition) < unshared {
                continue;
            }
            let other = copies.formula(&mut self.prover.symbols, condition);
            if !self.prover.proves(&assumed, &other) {
                return false;
            }
            assumed.push(other);
        }
        true
    }

    /// Checks for races between threads of a block, interval by interval.
    fn check_intervals(&mut self, entry: &State) {
        self.mode = Mode::Interval;
        let kernel = self.kernel;
        let mut flow = reach::intervals(kernel);
        self.pruned = false;
        self.run(&kernel.body, 0, entry.clone(), &mut Flow::default());
        self.check_interval(None, &mut flow);
        for barrier in std::mem::take(&mut self.barrier_points) {
            self.pruned = false;
            self.resume(&kernel.body, &barrier.position, barrier.state, &mut Flow::default());
            self.check_interval(Some(barrier.span), &mut flow);
        }
        for span in std::mem::take(&mut self.open_intervals) {
            let message = "the effect of a loop iteration without a barrier".to_owned();
            self.leave_open(Property::Races, span, None, message);
        }
    }

    /// The number of a thread's warp in its block.
    fn warp_number(&mut self) -> Poly {
        let [x, y, z] = [0, 1, 2].map(|axis| self.builtin(Builtin::Thread, axis));
        let [width, height, _] = [0, 1, 2].map(|axis| self.builtin(Builtin::BlockDim, axis));
        let rows = height.times(&z).and_then(|before| before.plus(&y));
        let number = rows.and_then(|rows| width.times(&rows)).and_then(|rows| rows.plus(&x));
        let threads = Poly::constant(WARP);
        match number {
            Some(number) => self.operation(Operation::Div(number, threads), Type::UNSIGNED),
            None => self.unknown("warp", Level::Warp, Type::UNSIGNED),
        }
    }

    /// Compares the accesses of an interval with those that the control-flow graph predicts, then checks them for
    /// races.
    fn check_interval(&mut self, start: Option<Span>, flow: &mut Vec<reach::Interval>) {
        let sites = std::mem::take(&mut self.sites);
        // A function that is inlined twice gives two barriers the same span. Both analyses have them in the same
        // order.
        if let Some(position) = flow.iter().position(|one| one.start == start) {
            let expected = flow.remove(position);
            let reached: BTreeSet<reach::Place> =
                sites.iter().map(|one| reach::place(one.array, one.span, one.kind)).collect();
            // If a condition is false for every launch, the control-flow graph has accesses that the pass did not
            // reach.
            let same = if self.pruned {
                reached.is_subset(&expected.places)
            } else {
                reached == expected.places
            };
            self.prover.stats.intervals += u64::from(same && !self.pruned);
            if !same {
                let message = "which accesses lie between two barriers: two analyses disagree";
                let span = start.unwrap_or(self.kernel.span);
                self.leave_open(Property::Races, span, None, message.to_owned());
            }
        }
        self.within_block(&sites);
    }
}

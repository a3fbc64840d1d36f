//! Proves that two kernels with the same parameters, each with a launch of its own, leave the same contents in every
//! array.

use super::collect_stores;
use super::instance::Instance;
use super::kernel_summary::{ClaimCase, KernelSummary};
use super::resolve::{Moment, Resolver, Unresolved};
use super::size_cases::{Attempt, Case, divisors, in_each_case};
use super::value::{Point, Value};
use crate::clause::{self, Clause};
use crate::engine::state::SymbolicValue;
use crate::engine::{Engine, OpenClaim};
use crate::learn;
use crate::prover::{Prover, Stats};
use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use base::{Index, Span};
use kir::{ArrayId, Kernel, Space};
use smt::Solver;

/// Limit on the cases of one element.
pub(super) const MAX_CASES: usize = 32;

/// Result for two kernels.
#[derive(Clone, Debug, Default)]
pub(crate) struct Equality {
    /// Open claims, each with its kernel.
    pub(crate) open: Vec<(usize, OpenClaim)>,
    /// Arrays that were compared.
    pub(crate) outputs: Vec<ArrayId>,
    /// Invariants that were inferred and proved, each with its kernel and the place of its loop.
    pub(crate) learnt: Vec<(usize, Span, String)>,
    pub(crate) stats: Stats,
    pub(crate) missed_solver: bool,
    pub(crate) solver_died: bool,
}

/// Proves that two kernels leave the same contents in every array. Their arrays are numbered alike, and each kernel by
/// itself is proved to be free of races, divergence, overflow and accesses out of bounds.
pub(crate) fn equal(
    kernels: [&Kernel; 2],
    same_launch: bool,
    solver: Option<Solver>,
    infers: bool,
) -> (Equality, Option<Solver>) {
    let given = kernels.map(|kernel| clause::given_clauses(kernel).clauses);
    let (first, solver) =
        equal_with_clauses(kernels, [&given[0], &given[1]], same_launch, solver, infers);
    if first.open.is_empty() || first.solver_died || !infers {
        return (first, solver);
    }
    // Invariants about arrays are only inferred if the simpler attempt fails.
    let [mut one, mut two] = kernels.map(Kernel::clone);
    let learnt = [learn::with_given(&mut one, &given[0]), learn::with_given(&mut two, &given[1])];
    if learnt.iter().zip(&given).all(|(learnt, given)| learnt.len() == given.len()) {
        return (first, solver);
    }
    let clauses = [&learnt[0][..], &learnt[1][..]];
    let (mut second, solver) =
        equal_with_clauses([&one, &two], clauses, same_launch, solver, infers);
    second.stats.add(first.stats);
    second.missed_solver &= !second.open.is_empty();
    (second, solver)
}

/// Like `equal`, with invariant clauses of loops, each with the number of its loop.
fn equal_with_clauses(
    kernels: [&Kernel; 2],
    clauses: [&[(usize, Clause)]; 2],
    same_launch: bool,
    solver: Option<Solver>,
    infers: bool,
) -> (Equality, Option<Solver>) {
    let mut all: Option<Equality> = None;
    let solver = in_each_case(solver, |solver, case| {
        let (result, solver) = in_case(kernels, clauses, same_launch, solver, infers, case);
        let next = match result {
            Ok(next) => next,
            Err(cases) => return (Attempt::Cases(cases), solver),
        };
        let attempt = Attempt::ended(next.open.is_empty());
        all = Some(match all.take() {
            None => next,
            Some(mut all) => {
                all.open.extend(next.open);
                for one in next.learnt {
                    if !all.learnt.contains(&one) {
                        all.learnt.push(one);
                    }
                }
                all.stats.add(next.stats);
                all.missed_solver |= next.missed_solver;
                all.solver_died |= next.solver_died;
                all
            }
        });
        (attempt, solver)
    });
    (all.unwrap_or_default(), solver)
}

/// A proof attempt in one case; on failure it returns the side that failed.
type ProveCase<'s> =
    &'s mut dyn FnMut(&mut Resolver, &[Formula]) -> Result<(), (usize, Unresolved)>;

/// Proves one case of sizes, or returns the cases to distinguish.
fn in_case(
    kernels: [&Kernel; 2],
    clauses: [&[(usize, Clause)]; 2],
    same_launch: bool,
    solver: Option<Solver>,
    infers: bool,
    case: Option<Case>,
) -> (Result<Equality, Vec<Case>>, Option<Solver>) {
    let mut one = Engine::new(kernels[0], Prover::new(solver), infers);
    let first = one.set_up();
    let mut two = Engine::new(kernels[1], take(&mut one), infers);
    for var in kernels[0].scalars.iter().skip(kernels[0].macros) {
        let value = first.vars[var.position()].clone();
        two.given.insert(kernels[0].vars[*var].name.clone(), value);
    }
    two.launch = same_launch.then(|| one.builtins.clone());
    let mut second = two.set_up();
    for (sym, value) in case.into_iter().flatten() {
        two.replace(sym, &Poly::constant(value), &mut second);
    }
    if let (None, Some(cases)) = (case, divisors(&mut two.prover)) {
        return (Err(cases), take(&mut two).solver);
    }
    // The second contract's facts about sizes hold for the first kernel as well.
    let mut first = first;
    for (sym, value) in two.replaced.clone() {
        one.adopt_value(sym, &value, &mut first);
    }
    one.prover = take(&mut two);
    let mut open = Vec::new();
    let left = collect_stores::run(&mut one, first, 0, clauses[0]);
    two.operations = std::mem::take(&mut one.operations);
    two.extremes = std::mem::take(&mut one.extremes);
    two.prover = take(&mut one);
    let right = collect_stores::run(&mut two, second, 1, clauses[1]);
    let mut sides = Vec::new();
    for (number, side) in [left, right].into_iter().enumerate() {
        match side {
            Ok(side) => sides.push(side),
            Err((span, message)) => {
                open.push((number, OpenClaim::of_values(span, message)));
            }
        }
    }
    let sizes = [&one, &two].map(|engine| engine.sizes.clone());
    let mut resolver = Resolver::new(take(&mut two), sides, &two.operations);
    let mut learnt = Vec::new();
    // Clauses of loops first: claims that other values depend on are proved with the remaining clauses.
    resolver.proves_before_splitting = clauses.iter().any(|one| !one.is_empty());
    for (side, clauses) in clauses.into_iter().enumerate().filter(|_| open.is_empty()) {
        let results = resolver.prove_loop_clauses(side, clauses.len());
        for (_, clause) in results.kept.iter().filter_map(|number| clauses.get(*number)) {
            learnt.extend(clause.text.clone().map(|text| (side, clause.span, text)));
        }
    }
    let mut outputs = Vec::new();
    let claims: Vec<ClaimCase> =
        resolver.sides.iter().flat_map(|side| side.claims.iter().cloned()).collect();
    for claim in claims.iter().filter(|claim| claim.is_used) {
        let engine = if claim.side == 0 { &mut one } else { &mut two };
        if let Err((span, message)) = resolver.prove_case(claim, engine) {
            open.push((claim.side, OpenClaim::of_values(span.unwrap_or(claim.span), message)));
        }
    }
    if open.is_empty() {
        for array in stored_arrays(&resolver.sides) {
            outputs.push(array);
            let extents = [&sizes[0], &sizes[1]].map(|sizes| &sizes[array.position()][..]);
            open.extend(resolver.compare_output(array, extents, kernels.map(|kernel| kernel.span)));
        }
    }
    let prover = resolver.prover;
    let equality = Equality {
        open,
        outputs,
        learnt,
        stats: prover.stats,
        missed_solver: prover.missed_solver,
        solver_died: prover.solver.as_ref().is_some_and(Solver::is_dead),
    };
    (Ok(equality), prover.solver)
}

pub(super) fn take(engine: &mut Engine<'_>) -> Prover {
    std::mem::replace(&mut engine.prover, Prover::new(None))
}

/// Returns the global arrays that a side stores to.
fn stored_arrays(sides: &[KernelSummary]) -> Vec<ArrayId> {
    let mut arrays: Vec<ArrayId> = Vec::new();
    for side in sides {
        let stored = side.sites.iter().map(|site| site.array).chain(side.atomics.iter().copied());
        arrays.extend(stored.filter(|array| side.spaces[array.position()] == Space::Global));
    }
    arrays.sort();
    arrays.dedup();
    arrays
}

impl Resolver {
    /// Compares the final contents of an array on both sides.
    fn compare_output(
        &mut self,
        array: ArrayId,
        extents: [&[Option<Poly>]; 2],
        spans: [Span; 2],
    ) -> Vec<(usize, OpenClaim)> {
        let name = self.sides[0].names[array.position()].clone();
        let Some((index, known)) = self.arbitrary_element(array, extents) else {
            let message = format!("that the two contracts give `{name}` the same size");
            return vec![(1, OpenClaim::of_values(spans[1], message))];
        };
        let mut cases = MAX_CASES;
        let prove = &mut |resolver: &mut Self, known: &[Formula]| {
            resolver.compare_element(array, &index, known)
        };
        match self.in_cases(&known, &mut cases, prove) {
            Ok(()) => Vec::new(),
            Err((side, span, message)) => {
                let span = span.unwrap_or(spans[side]);
                vec![(side, OpenClaim::of_values(span, message))]
            }
        }
    }

    /// Proves a claim, splitting it into cases.
    pub(super) fn in_cases(
        &mut self,
        known: &[Formula],
        cases: &mut usize,
        prove: ProveCase<'_>,
    ) -> Result<(), (usize, Option<Span>, String)> {
        let split = match prove(self, known) {
            Ok(()) => return Ok(()),
            Err((_, Unresolved::Split(condition))) => condition,
            Err((side, Unresolved::Open(span, message))) => {
                // A contradictory case needs no proof.
                if self.prover.proves(known, &Formula::False) {
                    return Ok(());
                }
                return Err((side, span, message));
            }
        };
        *cases = cases.saturating_sub(1);
        if *cases == 0 {
            return Err((0, None, "that a value is the same: there are too many cases".to_owned()));
        }
        for condition in [split.clone(), split.not()] {
            let mut known = self.with_fact(known, &condition);
            known.extend(self.facts_from_tests(&condition, &known));
            if condition != Formula::False && !self.prover.proves_quickly(&known, &Formula::False) {
                self.in_cases(&known, cases, prove)?;
            }
        }
        Ok(())
    }

    fn compare_element(
        &mut self,
        array: ArrayId,
        index: &[Poly],
        known: &[Formula],
    ) -> Result<(), (usize, Unresolved)> {
        let mut values: Vec<Value> = Vec::new();
        for side in 0..2 {
            let value = self.final_value(side, array, index, known);
            let value = value.map_err(|stop| (side, stop))?;
            let canonical = self.canonical(&value, 0);
            values.push(canonical.ok_or((side, super::resolve::too_large()))?);
        }
        if self.equal(&values[0], &values[1], known) {
            return Ok(());
        }
        let name = &self.sides[0].names[array.position()];
        let place: String = index.iter().map(|one| format!("[{}]", self.poly_text(one))).collect();
        let (one, other) = (self.short_text(&values[0]), self.short_text(&values[1]));
        let message = format!(
            "that `{name}{place}` is the same: the first kernel has {one}, the second has {other}"
        );
        Err((1, Unresolved::Open(None, message)))
    }

    /// Returns the final value of an element on a side.
    pub(super) fn final_value(
        &mut self,
        side: usize,
        array: ArrayId,
        index: &[Poly],
        known: &[Formula],
    ) -> Result<Value, Unresolved> {
        let point = Point { position: vec![usize::MAX], loops: Vec::new() };
        let who = Instance::default();
        let moment = Moment { side, point, counts: Vec::new(), who, span: None };
        self.element(array, index, &moment, known, 0)
    }
}

impl Engine<'_> {
    /// Uses a symbol's value that the other kernel's contract states.
    fn adopt_value(&mut self, sym: Sym, value: &Poly, state: &mut crate::engine::state::State) {
        let mut map = |poly: &mut Poly| {
            if let Some(mapped) = poly.substituted(sym, value) {
                *poly = mapped;
            }
        };
        self.builtins.iter_mut().flatten().for_each(&mut map);
        self.sizes.iter_mut().flatten().flatten().for_each(&mut map);
        for vars in [&mut state.vars, &mut self.entry.vars] {
            for one in vars {
                if let SymbolicValue::Int(poly) = one {
                    map(poly);
                }
            }
        }
    }
}

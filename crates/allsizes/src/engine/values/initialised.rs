//! Proves that reads of shared and local memory are initialised: some store to the element comes before.
//!
//! Shared and local arrays have undefined contents when a block begins. A read is proved to be *initialised* if, for
//! every thread that executes it, an earlier store in the order of `resolve.rs` hits the element: a store by any thread
//! of the block, or for local arrays by the thread itself. Races are proved absent first, so that this order is the
//! order in time of any two accesses to one element.
//!
//! Which store came last does not matter here. So for all stores before a read, in any order, the conditions are
//! collected under which they hit (`hits.rs`), and in every case one of them must hold. The cases of several stores
//! add up; they do not multiply.
//!
//! A store in a loop counts only in an iteration that is known to be executed. Either the loop's condition is monotone
//! (an executed iteration implies all earlier ones), or all threads of the block execute its iterations together, and
//! the reading thread has reached this one. Errs towards leaving a read open.

use super::collect_stores;
use super::hits::{Candidate, Group};
use super::instance::Instance;
use super::kernel_equivalence::take;
use super::kernel_summary::Read;
use super::resolve::{Moment, Resolver};
use super::size_cases::{Attempt, Case, in_each_case, start};
use crate::engine::{OpenClaim, Property};
use crate::prover::Stats;
use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use arith::symbols::Level;
use base::{Index, Span};
use kir::{ArrayId, Kernel, Space, Stmt};
use smt::Solver;

/// Limit on the cases of one read.
const MAX_CASES: u32 = 64;

/// The result: the reads that stay open, and the prover's statistics.
#[derive(Debug, Default)]
pub(crate) struct Initialised {
    pub(crate) open: Vec<OpenClaim>,
    pub(crate) stats: Stats,
    pub(crate) missed_solver: bool,
    pub(crate) solver_died: bool,
}

/// Returns `true` if a kernel reads shared or local memory.
pub(crate) fn has_reads(kernel: &Kernel) -> bool {
    fn any(kernel: &Kernel, statements: &[Stmt]) -> bool {
        let has_contents = |array: ArrayId| kernel.arrays[array].space == Space::Global;
        statements.iter().any(|statement| match statement {
            Stmt::Load(_, element) | Stmt::Atomic { element, .. } => !has_contents(element.array),
            Stmt::If(_, then, otherwise) => any(kernel, then) || any(kernel, otherwise),
            Stmt::Loop(inner) => {
                [&inner.head, &inner.body, &inner.step].into_iter().any(|part| any(kernel, part))
            }
            _ => false,
        })
    }
    any(kernel, &kernel.body)
}

/// Tries to prove that every element of shared and local memory is stored before it is read. The caller has proved that
/// races, divergence, overflow and accesses out of bounds are absent.
pub(crate) fn initialised(
    kernel: &Kernel,
    solver: Option<Solver>,
    infers: bool,
) -> (Initialised, Option<Solver>) {
    let mut all = Initialised::default();
    let solver =
        in_each_case(solver, |solver, case| in_case(kernel, solver, infers, case, &mut all));
    (all, solver)
}

/// Examines the reads for one case of sizes. Without a case, returns the cases to examine, if sizes must be split.
fn in_case(
    kernel: &Kernel,
    solver: Option<Solver>,
    infers: bool,
    case: Option<Case>,
    all: &mut Initialised,
) -> (Attempt, Option<Solver>) {
    let (mut engine, entry) = match start(kernel, solver, infers, case) {
        Ok(started) => started,
        Err(split) => {
            let (cases, solver) = *split;
            return (Attempt::Cases(cases), solver);
        }
    };
    let mut side = match collect_stores::run(&mut engine, entry, 0, &[]) {
        Ok(side) => side,
        Err((span, message)) => {
            all.open.push(open(span, message));
            return (Attempt::Open, take(&mut engine).solver);
        }
    };
    let reads = std::mem::take(&mut side.reads);
    let sizes = engine.sizes.clone();
    let mut resolver = Resolver::new(take(&mut engine), vec![side], &engine.operations);
    for read in reads {
        let inside = read.index.iter().zip(&sizes[read.array.position()]).map(within);
        let inside: Vec<Formula> = inside.collect();
        if !resolver.is_initialised(&read, inside) {
            let name = &resolver.sides[0].names[read.array.position()];
            let message =
                format!("that a thread has stored to the element of `{name}` that is read here");
            all.open.push(open(read.span, message));
        }
    }
    let prover = resolver.prover;
    all.stats.add(prover.stats);
    all.missed_solver |= prover.missed_solver;
    all.solver_died |= prover.solver.as_ref().is_some_and(Solver::is_dead);
    (Attempt::ended(all.open.is_empty()), prover.solver)
}

fn open(span: Span, message: String) -> OpenClaim {
    OpenClaim { property: Property::Initialised, span, other: None, message }
}

/// Builds the condition that an index is inside its array. It holds: bounds are proved elsewhere.
fn within((at, size): (&Poly, &Option<Poly>)) -> Formula {
    let below = size.as_ref().and_then(|size| size.minus(at)?.offset(-1));
    Formula::and([Formula::ge(at.clone()), below.map_or(Formula::True, Formula::ge)])
}

impl Resolver {
    /// Returns `true` if, for an arbitrary reading thread, some store before the read is proved to hit the element.
    fn is_initialised(&mut self, read: &Read, inside: Vec<Formula>) -> bool {
        let side = &self.sides[0];
        let counts = read.point.loops.iter().map(|(_, count)| count);
        let digits: Vec<Sym> =
            side.blocks.iter().chain(&side.threads).chain(counts.clone()).copied().collect();
        let who = Instance {
            digits: digits.into_iter().map(|digit| (digit, Poly::symbol(digit))).collect(),
        };
        let counts = counts.map(|count| Poly::symbol(*count)).collect();
        let (point, span) = (read.point.clone(), Some(read.span));
        let moment = Moment { side: 0, point, counts, who, span };
        let mut known: Vec<Formula> = Vec::new();
        for condition in read.path.iter().chain(&inside) {
            known = self.with_fact(&known, condition);
        }
        let mut hits: Vec<Vec<Formula>> = Vec::new();
        for group in self.candidates(read.array, &moment) {
            let Group::Stores(stores) = group else { continue };
            for candidate in stores {
                if !self.is_reached(candidate) {
                    continue;
                }
                let site = self.sides[0].sites[candidate.site].clone();
                let query = self.query(candidate, &site, &read.index, &moment, &known);
                for conditions in self.conditions_of_hits(&query) {
                    if conditions.iter().all(|one| self.prover.proves_lightly(&known, one)) {
                        return true;
                    }
                    hits.push(conditions);
                }
            }
        }
        let mut left = MAX_CASES;
        self.is_hit(&hits, &known, &mut left)
    }

    /// Returns `true` if every iteration in which a store's conditions hold is executed before the read.
    fn is_reached(&self, candidate: Candidate) -> bool {
        let side = &self.sides[0];
        let site = &side.sites[candidate.site];
        let is_local = side.spaces[site.array.position()] == Space::Local;
        let together = candidate.fixed + usize::from(candidate.earlier);
        let loops = site.point.loops.iter().zip(&site.monotone).enumerate();
        loops.into_iter().all(|(number, ((_, count), monotone))| {
            let is_shared = self.prover.symbols.get(*count).level <= Level::Block;
            *monotone || number < together && (is_shared || is_local)
        })
    }
}

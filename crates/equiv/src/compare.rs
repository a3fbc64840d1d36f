//! Runs both kernels symbolically and compares their outputs.

mod checks;
mod constant_meanings;
mod early;
mod elements;
mod judge;
mod runs;
mod visible;

use crate::answer::{Answer, Compared};
use crate::assumed::Assumed;
use crate::clock::Clock;
use crate::difference::Difference;
use crate::mismatch::{DifferingProperty, Mismatch};
use crate::options::Options;
use crate::position::OpenElement;
use crate::side::Side;
use crate::side_run::SideRun;
use crate::symbolic::Symbolic;
use crate::table::Table;
use checks::run_and_compare;
use decide::{Budget, Decision, Problem, Rung, decide_other_than_products, equal_products};
use elements::{Elements, SideElement, find};
use exec::Limits;
use std::collections::BTreeSet;
use term::Term;
use visible::Replays;

/// The number of outputs decided at once: outputs share subterms. Batches are decided in parallel. Their size does
/// not depend on the number of processors, and so neither does the answer.
const BATCH: usize = 512;

/// The batch size if many conditions are assumed: a batch takes the conditions of all its outputs.
const SMALL_BATCH: usize = 64;

/// Runs both sides and compares their outputs.
#[must_use]
pub fn compare(sides: [&Side<'_>; 2], options: &Options<'_>) -> Compared {
    let compare_with_clamps = |clamps: bool| match prepare(sides, options, clamps) {
        Ok((table, domains, assumed)) => run_and_compare(sides, options, &table, domains, &assumed),
        Err(reason) => (mismatch(sides, options.limits, reason), false),
    };
    let (compared, converts) = compare_with_clamps(true);
    let open = matches!(compared.answer, Some(Answer::Different(_) | Answer::Unknown(..)));
    if !converts || !open {
        return compared;
    }
    // They may still be equal where `.satfinite` does not clamp.
    let (again, in_range) = compare_with_clamps(false);
    let equal = matches!(again.answer, Some(Answer::Equal));
    if equal && in_range { again } else { compared }
}

/// The inputs of both sides, a domain for each, and the assumptions.
type PreparedDomains = (Table, [Symbolic; 2], Assumed);

/// Numbers the inputs of both sides and creates their domains.
fn prepare(
    sides: [&Side<'_>; 2],
    options: &Options<'_>,
    clamps: bool,
) -> Result<PreparedDomains, Mismatch> {
    let table = Table::new(sides)?.with_ranges(options.assumptions)?;
    let table = table.with_conditions(options.assumptions)?;
    let mut reference = table.domain(sides[0], 0, options.snap)?;
    let mut optimised = table.domain(sides[1], 1, options.snap)?;
    (reference.assumed_properties.clamps, optimised.assumed_properties.clamps) = (clamps, clamps);
    let assumed = Assumed::new(&table, &reference.terms)?;
    Ok((table, [reference, optimised], assumed))
}

/// Collects the facts known from the runs alone, before any comparison.
fn compare_runs(ran: &[SideRun; 2]) -> Compared {
    let unclamped = ran.iter().filter(|ran| !ran.domain.assumed_properties.clamps);
    Compared {
        unclamped_formats: unclamped
            .flat_map(|ran| ran.domain.assumed_properties.ranges())
            .collect(),
        snapped: &ran[0].domain.snapped() | &ran[1].domain.snapped(),
        ..Compared::of(ran.each_ref().map(|ran| ran.outcomes.clone()))
    }
}

/// Returns the answer for sides that cannot be compared, each checked separately.
fn mismatch(sides: [&Side<'_>; 2], limits: Limits, reason: Mismatch) -> Compared {
    // A launch after others depends on their results, so only the first one can be checked separately.
    let outcomes = sides.map(|side| {
        let side = side.before.first().unwrap_or(side);
        vec![exec::check(side.program, side.launch, limits)]
    });
    Compared { answer: Some(Answer::Mismatch(reason)), ..Compared::of(outcomes) }
}

/// The comparison of all outputs of both sides.
struct Outputs<'o, 's> {
    sides: [&'o Side<'s>; 2],
    table: &'o Table,
    assumed: &'o Assumed,
    clock: Clock,
    ran: &'o mut [SideRun; 2],
    compared: &'o mut Compared,
    replays: Replays,
    /// The terms of the outputs of each side, if the side has read signs (see [`Outputs::signs_of_zero`]).
    roots: [Vec<Term>; 2],
}

/// Result for the elements of a tensor: the first open one and their number, or a difference.
type TensorResult = Result<Option<(Box<OpenElement>, usize)>, Box<Difference>>;

/// An element with a term on both sides, by its index.
type Pair = (usize, (Term, Term));

impl<'o, 's> Outputs<'o, 's> {
    fn new(
        sides: [&'o Side<'s>; 2],
        table: &'o Table,
        assumed: &'o Assumed,
        clock: Clock,
        ran: &'o mut [SideRun; 2],
        compared: &'o mut Compared,
    ) -> Self {
        let (replays, roots) = (Replays::default(), [Vec::new(), Vec::new()]);
        Self { sides, table, assumed, clock, ran, compared, replays, roots }
    }

    /// Compares the outputs of both sides, after checking that they have the same ones.
    fn compare(&mut self) -> Answer {
        if self.ran.iter().any(|ran| ran.domain.is_exhausted()) {
            return Answer::Mismatch(Mismatch::TooManyValues);
        }
        let names = self.sides.map(|side| {
            side.written().into_keys().map(str::to_owned).collect::<BTreeSet<String>>()
        });
        // A tensor of one side alone is fine if it only hands data to its own launches.
        let is_unused = |name: &&String| !self.sides.iter().any(|side| side.hands_on(name));
        if let Some(name) = names[0].symmetric_difference(&names[1]).find(is_unused) {
            return Answer::Mismatch(Mismatch::OneSided { name: name.clone() });
        }
        self.compared.internal_tensors = &names[0] ^ &names[1];
        let mut all = Vec::new();
        for name in names[0].intersection(&names[1]) {
            let last = |side: &Side<'_>| side.writer(side.count(), name).map(|one| one.1.clone());
            let [Some(one), Some(other)] = self.sides.map(last) else { continue };
            if one.starts.len() != other.starts.len() {
                let (name, property) = (name.clone(), DifferingProperty::Size);
                return Answer::Mismatch(Mismatch::Different { name, property });
            }
            match self.elements([&one, &other]) {
                Ok(elements) => all.push(elements),
                Err(difference) => return Answer::Different(difference),
            }
        }
        self.settle_products(&mut all);
        if let Some(difference) = self.refuted_at_points(&all) {
            return Answer::Different(difference);
        }
        if let Some(watch) = self.clock.limits().watch {
            watch.begin_comparison(all.iter().map(|elements| elements.pairs.len() as u64).sum());
        }
        let mut open: Option<(Box<OpenElement>, usize)> = None;
        for elements in all {
            match self.decide_elements(elements) {
                Ok(None) => {}
                Ok(Some((first, count))) => match &mut open {
                    Some((_, total)) => *total += count,
                    None => open = Some((first, count)),
                },
                Err(difference) => return Answer::Different(difference),
            }
        }
        match open {
            Some((first, count)) => Answer::Unknown(first, count),
            // Without compared elements nothing is proved.
            None if self.compared.elements == 0 => Answer::Mismatch(Mismatch::NoOutput),
            None => {
                self.compared.signs = self.signs_of_zero();
                self.record_reliance();
                self.check_reliance()
                    .map_or(Answer::Equal, |open| Answer::Unknown(Box::new(open), 1))
            }
        }
    }

    /// Returns the number of outputs decided at once.
    fn batch(&self) -> usize {
        if self.assumed.is_large() { SMALL_BATCH } else { BATCH }
    }

    /// Settles the elements whose sums have the same products: counts them as equal and removes them.
    fn settle_products(&mut self, all: &mut [Elements]) {
        let batch = self.batch();
        for elements in all {
            let portions = elements.pairs.chunks(batch * self.clock.limits().jobs.max(1));
            let decisions = portions.flat_map(|portion| {
                self.in_batches(portion.chunks(batch), |pairs| self.equal_products(pairs))
            });
            let settled: Vec<bool> = decisions.flatten().map(|one| one.is_some()).collect();
            let count = settled.iter().filter(|settled| **settled).count();
            if count > 0 {
                *self.compared.rungs.entry(Rung::Products.to_string()).or_default() += count;
                let mut settled = settled.into_iter();
                elements.pairs.retain(|_| !settled.next().unwrap_or(false));
            }
        }
    }

    /// Decides elements whose sums have the same products.
    fn equal_products(&self, pairs: &[Pair]) -> Vec<Option<Decision>> {
        let terms = terms(pairs);
        self.with_problem(&terms, |problem, budget| equal_products(problem, &terms, budget))
    }

    /// Decides elements, in parallel batches.
    fn decide_elements(&mut self, elements: Elements) -> TensorResult {
        let Elements { name, pairs, mut open } = elements;
        let batch = self.batch();
        for portion in pairs.chunks(batch * self.clock.limits().jobs.max(1)) {
            let decided = self.in_batches(portion.chunks(batch), |pairs| self.decide(pairs));
            for (pairs, decisions) in portion.chunks(batch).zip(&decided) {
                self.judge(&name, pairs, decisions, &mut open)?;
            }
            if let Some(watch) = self.clock.limits().watch {
                watch.advance(portion.len() as u64);
            }
        }
        let count = open.len();
        Ok(open.into_iter().next().map(|first| (Box::new(first), count)))
    }

    /// Applies `decide` to batches of elements, on as many processors as permitted.
    fn in_batches<T: Send>(
        &self,
        mut batches: std::slice::Chunks<'_, Pair>,
        decide: impl Fn(&[Pair]) -> T + Sync,
    ) -> Vec<T> {
        if batches.len() < 2 || self.clock.limits().jobs < 2 {
            return batches.map(decide).collect();
        }
        let decide = &decide;
        std::thread::scope(|scope| {
            let first = batches.next();
            let start = |batch| {
                let thread = std::thread::Builder::new();
                (batch, thread.spawn_scoped(scope, move || decide(batch)))
            };
            let others: Vec<_> = batches.map(start).collect();
            let first = first.map(decide);
            let others = others.into_iter().map(|(batch, handle)| {
                match handle.map(|handle| handle.join()) {
                    Ok(Ok(found)) => found,
                    Ok(Err(panic)) => std::panic::resume_unwind(panic),
                    // No more threads are available.
                    Err(_) => decide(batch),
                }
            });
            first.into_iter().chain(others).collect()
        })
    }

    /// Decides a batch of elements.
    fn decide(&self, pairs: &[Pair]) -> Vec<Decision> {
        let terms = terms(pairs);
        self.with_problem(&terms, |problem, budget| {
            decide_other_than_products(problem, &terms, budget)
        })
    }

    /// Calls `action` with the problem of deciding these pairs, under the assumptions about their inputs.
    fn with_problem<T>(
        &self,
        pairs: &[(Term, Term)],
        action: impl FnOnce(&Problem<'_>, &Budget) -> T,
    ) -> T {
        let [reference, optimised] = &*self.ran;
        let (reference, optimised) = (&reference.domain.terms, &optimised.domain.terms);
        let assumptions = self.assumed.about([reference, optimised], pairs);
        let problem = Problem { reference, optimised, assumptions: &assumptions };
        let deadline = self.clock.deadline();
        action(&problem, &Budget { differences: 1, deadline, ..Budget::default() })
    }
}

fn terms(pairs: &[Pair]) -> Vec<(Term, Term)> {
    pairs.iter().map(|(_, pair)| *pair).collect()
}

//! Early refutation: evaluates all elements at a few dozen points before any algebra.
//!
//! The terms of all outputs are evaluated in doubles, one group of points at a time ([`decide::Probe`]).
//! Elements that clearly differ are evaluated in intervals of 256 bits. Then both kernels run again at that
//! point, as for any other difference. If a step fails, the algebra decides, so only time can be lost. This time
//! is bounded by the cost of the symbolic runs: large problems get fewer points, then fewer elements.

use super::elements::Elements;
use super::visible::VisibleFloats;
use super::{Outputs, Pair, terms};
use crate::approximation::Reported;
use crate::difference::{Difference, Point};
use crate::position::Position;
use crate::sample::{GROUPS, Sample};
use crate::side_run::SideRun;
use decide::{Budget, Discrepancy, Lanes, Probe, Problem, tell_apart};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use term::{Input, Number, Term};

/// Number of products that may always be evaluated, however short the runs were. A product takes 60 to 300
/// processor instructions, including its inputs; a small proof takes 10⁸.
const FREE_PRODUCTS: u64 = 3 << 14;

/// One more product may be evaluated for each so many instructions of the runs, counted in all lanes. Such an
/// instruction takes 30 to 250 processor instructions.
const INSTRUCTIONS_PER_PRODUCT: u64 = 8;

/// The largest number of suspects of a group of points that are evaluated in intervals.
const MAX_SUSPECTS: usize = 3;

/// The largest number of suspects that turn out to be due to rounding; then the search ends.
const MAX_FAILURES: usize = 8;

/// Relative distances that rounded constants may cause. They begin above the rounding of doubles.
const ROUNDING_DISTANCES: std::ops::Range<f64> = 1e-12..1e-4;

/// The largest number of differences that are checked by running the kernels.
const MAX_CANDIDATES: usize = 2;

/// An element that differs at a point, by its position among the evaluated ones.
struct Candidate {
    element: usize,
    point: Point,
    discrepancy: Discrepancy,
}

impl Outputs<'_, '_> {
    /// Returns a difference shown by some points and by both kernels.
    #[inline(never)]
    pub(super) fn refuted_at_points(&mut self, all: &[Elements]) -> Option<Box<Difference>> {
        let (names, pairs) = self.select_affordable(all);
        if pairs.is_empty() {
            return None;
        }
        for Candidate { element, point, discrepancy } in self.candidates(&pairs) {
            let (index, pair) = pairs[element];
            // At extreme inputs an approximated function or a rounded constant can make equal kernels differ much.
            // The algebra must judge these.
            if self.has_unrecognised_polynomial(pair) || self.differs_by_rounding(pair) {
                continue;
            }
            let position = Position { name: names[element].to_owned(), index };
            let Reported::At(point, discrepancy) =
                self.judge_difference(pair, (&point, &discrepancy))
            else {
                continue;
            };
            let result = self.difference(&position, pair, &point, &discrepancy);
            if let Ok(VisibleFloats::Apart(difference)) = result
                && difference.is_confirmed()
            {
                return Some(difference);
            }
        }
        None
    }

    /// Returns `true` if a pair is nearly but not quite equal at ordinary points.
    fn differs_by_rounding(&self, pair: (Term, Term)) -> bool {
        self.with_problem(&[pair], |problem, _| {
            let assumed = (problem.reference, problem.assumptions);
            let sample = Sample::new(self.sides, self.table, assumed, Default::default());
            let mut probe = Probe::new(problem, &[pair]);
            let ordinary = probe.distances(&|input| sample.values(0, input));
            ordinary.iter().flatten().any(|distance| ROUNDING_DISTANCES.contains(distance))
        })
    }

    /// Returns the number of products that may be evaluated.
    fn affordable_products(&self) -> u64 {
        let outcomes = self.ran.iter().flat_map(|ran| &ran.outcomes);
        let instructions: u64 = outcomes.map(|outcome| outcome.lane_instructions).sum();
        FREE_PRODUCTS + instructions / INSTRUCTIONS_PER_PRODUCT
    }

    /// Selects elements that are affordable to evaluate, with the names of their outputs: all elements, or every
    /// second one, every third one, and so on.
    fn select_affordable<'a>(&self, all: &'a [Elements]) -> (Vec<&'a str>, Vec<Pair>) {
        let [reference, optimised] = self.ran.each_ref().map(|ran: &SideRun| &ran.domain.terms);
        let pairs = all.iter().flat_map(|one| one.pairs.iter().map(|pair| (&*one.name, *pair)));
        let products = |(_, (_, (a, b))): (&str, Pair)| u64::from(a.products() + b.products());
        let nodes = (reference.node_count() + optimised.node_count()) as u64;
        let inputs = 2 * reference.inputs().len() as u64;
        let estimate = pairs.clone().map(products).sum::<u64>() + 2 * nodes.saturating_sub(inputs);
        let stride = estimate.div_ceil(self.affordable_products().max(1)).max(1);
        pairs.step_by(stride as usize).unzip()
    }

    /// Returns the first differences confirmed by intervals.
    fn candidates(&self, pairs: &[Pair]) -> Vec<Candidate> {
        let terms = terms(pairs);
        self.with_problem(&terms, |problem, budget| {
            let mut probe = Probe::new(problem, &terms).until(budget.deadline);
            let assumed = (problem.reference, problem.assumptions);
            let sample = Sample::new(self.sides, self.table, assumed, probe.constants());
            let groups =
                (self.affordable_products() / probe.cost().max(1)).clamp(1, GROUPS as u64) as usize;
            let mut search = Search { problem, budget, sample: &sample, failures: 0 };
            let mut found = Vec::new();
            for group in 0..groups {
                search.search_group(group, &mut probe, &terms, &mut found);
                if found.len() >= MAX_CANDIDATES || search.is_over() {
                    break;
                }
            }
            found
        })
    }
}

/// A search through groups of points.
struct Search<'s> {
    problem: &'s Problem<'s>,
    budget: &'s Budget,
    sample: &'s Sample<'s>,
    failures: usize,
}

impl Search<'_> {
    fn is_over(&self) -> bool {
        self.failures >= MAX_FAILURES || self.budget.deadline.has_passed()
    }

    /// Searches the points of one group.
    fn search_group(
        &mut self,
        group: usize,
        probe: &mut Probe<'_>,
        terms: &[(Term, Term)],
        found: &mut Vec<Candidate>,
    ) {
        // Both sides read the same inputs, so cache them.
        let known: RefCell<FxHashMap<usize, Lanes>> = RefCell::default();
        let suspects = probe.run(&|input| {
            let mut known = known.borrow_mut();
            *known.entry(input.position()).or_insert_with(|| self.sample.values(group, input))
        });
        for suspect in suspects.into_iter().take(MAX_SUSPECTS) {
            let number = group * decide::LANES + suspect.lane;
            let value = |input: Input| {
                Number::from_f64(self.sample.value(number, input)).unwrap_or(Number::ZERO)
            };
            match tell_apart(self.problem, terms[suspect.pair], &value, self.budget.deadline) {
                Some((point, discrepancy)) => {
                    found.push(Candidate { element: suspect.pair, point, discrepancy });
                }
                None => self.failures += 1,
            }
            if found.len() >= MAX_CANDIDATES || self.is_over() {
                return;
            }
        }
    }
}

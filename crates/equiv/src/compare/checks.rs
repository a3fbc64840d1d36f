//! From two symbolic runs to an answer: compares the outputs, then checks the assumptions behind the result.
//!
//! Terms alone say "equal" or "different". The checks here change such an answer if it rests on the number that a
//! constant stands for, on a function that is known in a range only, on an exact scalar, or on finite numbers. Each
//! step takes the answer of the one before. A check without a result leaves the answer as it is, or open.

use super::constant_meanings::{self, Search};
use super::elements::terms_of;
use super::runs::{rerun_for_equal_writes, run_both};
use super::{Outputs, compare_runs};
use crate::answer::{Answer, Compared};
use crate::assumed::Assumed;
use crate::clock::Clock;
use crate::exact;
use crate::hidden::{self, HiddenDifference};
use crate::magnitude::Magnitudes;
use crate::marks::{self, Marks};
use crate::mismatch::Mismatch;
use crate::numeric;
use crate::options::Options;
use crate::ordinary::OrdinaryInputs;
use crate::overflow::{self, OverflowSearch};
use crate::position::Position;
use crate::recheck::Recheck;
use crate::rounding::unit;
use crate::sequence::Launches;
use crate::side::Side;
use crate::side_run::SideRun;
use crate::symbolic::Symbolic;
use crate::table::Table;
use decide::Budget;
use exec::{Limits, Outcome, Place, Thread};
use term::Number;

/// Runs both sides and compares them. With clamps, also returns `true` if any conversion may clamp; without,
/// if an input was found at which none does.
pub(super) fn run_and_compare(
    sides: [&Side<'_>; 2],
    options: &Options<'_>,
    table: &Table,
    domains: [Symbolic; 2],
    assumed: &Assumed,
) -> (Compared, bool) {
    let clock = Clock::start(options.limits);
    let launches = [0, 1].map(|number| Launches { side: sides[number], number, table, clock });
    let mut ran = run_both(&launches, domains, options.limits.jobs);
    for (launches, ran) in launches.iter().zip(&mut ran) {
        rerun_for_equal_writes(launches, ran, options);
    }
    let may_clamp = ran.iter().any(|ran| ran.domain.assumed_properties.has_clamped_conversions());
    let clamps = ran.iter().all(|ran| ran.domain.assumed_properties.clamps);
    let clamp_result = if clamps { may_clamp } else { is_in_range(&ran, assumed) };
    let compared = compare_runs(&ran);
    (Comparison { options, assumed, launches, ran, compared }.finish(), clamp_result)
}

/// Both sides after their runs, and the result so far.
struct Comparison<'c, 's> {
    options: &'c Options<'c>,
    assumed: &'c Assumed,
    launches: [Launches<'c, 's>; 2],
    ran: [SideRun; 2],
    compared: Compared,
}

impl<'c, 's> Comparison<'c, 's> {
    fn sides(&self) -> [&'c Side<'s>; 2] {
        self.launches.each_ref().map(|one| one.side)
    }

    fn table(&self) -> &'c Table {
        self.launches[0].table
    }

    fn clock(&self) -> Clock {
        self.launches[0].clock
    }

    /// Returns the comparison with its answer. There is none if a run did not complete and runs on plain numbers
    /// ([`numeric`]) show no difference.
    fn finish(mut self) -> Compared {
        if let Some(obstacle) = self.ran.iter().find_map(|ran| ran.obstacle.clone()) {
            self.compared.answer = Some(Answer::Mismatch(obstacle));
        } else if self.ran.iter().all(SideRun::ended) {
            let answer = self.compare_outputs();
            let answer = self.try_constant_meanings(answer);
            let answer = self.check_equality(answer);
            let answer = self.check_floats(answer);
            return self.with_evidence(answer);
        } else if !self.ran.iter().any(SideRun::was_interrupted) {
            let found = numeric::refute(&self.ordinary_inputs(), self.clock().limits());
            self.compared.answer = found.map(Answer::Different);
        }
        self.compared
    }

    fn ordinary_inputs(&self) -> OrdinaryInputs<'_> {
        let (sides, table, assumed) = (self.sides(), self.table(), self.assumed);
        OrdinaryInputs { sides, table, terms: &self.ran[0].domain.terms, assumed }
    }

    fn compare_outputs(&mut self) -> Answer {
        let (sides, table, clock) = (self.sides(), self.table(), self.clock());
        Outputs::new(sides, table, self.assumed, clock, &mut self.ran, &mut self.compared).compare()
    }

    /// If rounded constants may explain the answer, tries the numbers that they may stand for.
    fn try_constant_meanings(&mut self, answer: Answer) -> Answer {
        let has_literals =
            self.options.snap && constant_meanings::has_literals(self.sides(), &answer, &self.ran);
        if !has_literals && !constant_meanings::is_likely(&answer, &self.ran) {
            return answer;
        }
        match constant_meanings::find(&self.launches, self.options, self.assumed, &self.ran) {
            Search::Found(found) if self.find_hidden_difference(&found.ran).is_none() => {
                let outcomes = std::mem::take(&mut self.compared.outcomes);
                self.compared = Compared { outcomes, ..found.compared };
                self.ran = found.ran;
                Answer::Equal
            }
            Search::Open => constant_meanings::open(answer),
            Search::Found(_) | Search::Nothing => answer,
        }
    }

    /// Checks the assumptions of an equality: ranges of functions, meanings of constants, exact scalars.
    fn check_equality(&self, answer: Answer) -> Answer {
        if !matches!(answer, Answer::Equal) {
            return answer;
        }
        if let Some(open) = self.unproved_range() {
            return open;
        }
        // If constants stand for closed forms, `try_constant_meanings` has made this check already.
        if self.compared.meanings.is_empty()
            && !self.compared.snapped.is_empty()
            && let Some(hidden) = self.find_hidden_difference(&self.ran)
        {
            return Answer::Constants(hidden);
        }
        match exact::find(&self.launches, self.options, &self.ran) {
            Some(decision) => Answer::Scalars(Box::new(decision)),
            None => answer,
        }
    }

    /// Runs both sides in floats at ordinary inputs: notes an overflow, and opens an equality if infinities or NaNs
    /// steer a kernel into a fault.
    fn check_floats(&mut self, answer: Answer) -> Answer {
        if matches!(answer, Answer::Different(_) | Answer::Mismatch(_)) {
            return answer;
        }
        // Without a NaN test or a comparison with an infinity, non-finite numbers cannot steer a kernel.
        let can_steer = self.ran.iter().any(|ran| ran.domain.assumed_properties.assumes_numbers());
        let fault = can_steer && matches!(answer, Answer::Equal);
        let search = OverflowSearch { overflow: is_for_every_schedule(&self.ran), fault };
        let limits = self.clock().limits();
        let optimised = self.sides()[1];
        let outputs = terms_of(optimised, &mut self.ran[1]);
        let magnitudes = Magnitudes::of(optimised, outputs, &self.ran[1].domain.terms);
        let inputs = self.ordinary_inputs();
        let found = overflow::find(&inputs, limits, cost(&self.ran), search, &magnitudes);
        self.compared.overflow = found.overflow;
        match found.fault {
            Some(fault) => Answer::Unknown(Box::new(fault), 1),
            None => answer,
        }
    }

    /// Rechecks an equality, or describes a difference.
    fn with_evidence(self, mut answer: Answer) -> Compared {
        let (sides, table, limits) = (self.sides(), self.table(), self.clock().limits());
        let Self { options, assumed, launches, ran, mut compared } = self;
        match &mut answer {
            Answer::Equal if options.recheck => {
                let (terms, snap) = (&ran[0].domain.terms, options.snap);
                let meanings = &compared.meanings;
                match (Recheck { sides, table, terms, assumed, limits, snap, meanings }).run() {
                    Ok(rechecked) => compared.rechecked = Some(rechecked),
                    Err(element) => answer = Answer::Contradicted(Box::new(element)),
                }
            }
            Answer::Different(difference) => {
                difference.stores =
                    sides.map(|side| last_store(side, &difference.position, limits));
                difference.near = constant_meanings::near(&ran, difference.values);
                difference.rounding = rounding_pairs(&launches, options, assumed, ran);
            }
            Answer::Equal
            | Answer::Unknown(..)
            | Answer::UnprovedRange(_)
            | Answer::Constants(_)
            | Answer::Scalars(_)
            | Answer::Contradicted(_)
            | Answer::Mismatch(_) => {}
        }
        compared.answer = Some(answer);
        compared
    }

    /// Looks for a difference that is too large for rounding once the constants have their written values.
    fn find_hidden_difference(&self, ran: &[SideRun; 2]) -> Option<HiddenDifference> {
        let (sides, table, limits) = (self.sides(), self.table(), self.clock().limits());
        let (terms, snap, meanings) = (&ran[0].domain.terms, false, &[][..]);
        let assumed = self.assumed;
        let constants: Vec<f64> = ran.iter().flat_map(|ran| ran.domain.snapped_numbers()).collect();
        let kernels = &Recheck { sides, table, terms, assumed, limits, snap, meanings };
        let replaced = ran.iter().flat_map(|ran| ran.domain.constants.meanings());
        let units = replaced.map(|meaning| unit(meaning.constant.format()));
        let may_jump = ran.iter().any(|ran| hidden::may_jump(&ran.domain.terms));
        hidden::find(kernels, cost(ran), &constants, units.fold(0.0, f64::max), may_jump)
    }

    /// Returns the reason why equality does not follow, if functions are known only in ranges that are not proved.
    fn unproved_range(&self) -> Option<Answer> {
        let unfollowed = || Some(Answer::Mismatch(Mismatch::Unfollowed));
        let ranged = self.launches.iter().zip(&self.ran).filter(|(_, ran)| ran.domain.has_ranges);
        for (launches, _) in ranged {
            let number = launches.number;
            let Ok(mut domain) = launches.table.domain(launches.side, number, self.options.snap)
            else {
                return unfollowed();
            };
            domain.marks = Some(Marks::default());
            let mut marked = launches.run(domain, None);
            if !marked.ended() || marked.domain.is_exhausted() {
                return unfollowed();
            }
            let Some(outputs) = terms_of(launches.side, &mut marked) else { return unfollowed() };
            let budget = Budget { deadline: launches.clock.deadline(), ..Budget::default() };
            let marks = std::mem::take(&mut marked.domain.marks).unwrap_or_default();
            let store = (&mut marked.domain.terms, &marks);
            if let Some(unproved) = marks::find_unproved_range(
                number,
                store,
                &outputs,
                &launches.table.conditions,
                &budget,
            ) {
                return Some(Answer::UnprovedRange(Box::new(unproved)));
            }
        }
        None
    }
}

/// Counts the instructions of all threads of both sides.
fn cost(ran: &[SideRun; 2]) -> u64 {
    ran.iter().flat_map(|ran| &ran.outcomes).map(|outcome| outcome.lane_instructions).sum()
}

/// Returns `true` if the runs found no fault and left nothing open: then they hold for every schedule.
fn is_for_every_schedule(ran: &[SideRun; 2]) -> bool {
    let faulty = |outcome: &Outcome| {
        !outcome.findings.is_empty() || !outcome.undecided.is_empty() || !outcome.doubts.is_empty()
    };
    !ran.iter().flat_map(|ran| &ran.outcomes).any(faulty)
}

/// Returns `true` if an input is found at which every `.satfinite` conversion is in range.
fn is_in_range(ran: &[SideRun; 2], assumed: &Assumed) -> bool {
    [1, 0].into_iter().any(|usual| {
        let at = |input: term::Input| {
            let known = assumed.point.iter().find(|(other, _)| *other == input);
            known.map_or(Number::from(usual), |(_, number)| number.clone())
        };
        ran.iter().all(|ran| ran.domain.assumed_properties.is_in_range(&ran.domain.terms, &at))
    })
}

/// Returns the last store of a side to an element.
fn last_store(side: &Side<'_>, position: &Position, limits: Limits) -> Option<(Place, Thread)> {
    let (number, output) = side.writer(side.count(), &position.name)?;
    let one = side.launches().nth(number)?;
    let start = *output.starts.get(position.index)?;
    exec::last_store(one.program, one.launch, limits, (output.buffer, start))
}

/// Returns pairs of constants that are equal up to rounding and account for the whole difference.
fn rounding_pairs(
    launches: &[Launches<'_, '_>; 2],
    options: &Options<'_>,
    assumed: &Assumed,
    [reference, optimised]: [SideRun; 2],
) -> Vec<[f64; 2]> {
    let near = reference.domain.constants.near(&optimised.domain.constants);
    let pairs = near.pairs();
    let sides = launches.each_ref().map(|one| one.side);
    let (table, clock) = (launches[0].table, launches[0].clock);
    let Ok(mut domain) = table.domain(sides[1], 1, options.snap) else { return Vec::new() };
    if pairs.is_empty() {
        return pairs;
    }
    domain.constants = near;
    let again = launches[1].run(domain, None);
    if !again.ended() {
        return Vec::new();
    }
    let mut compared = Compared::of([reference.outcomes.clone(), again.outcomes.clone()]);
    let (ran, compared) = (&mut [reference, again], &mut compared);
    match Outputs::new(sides, table, assumed, clock, ran, compared).compare() {
        Answer::Equal => pairs,
        _ => Vec::new(),
    }
}

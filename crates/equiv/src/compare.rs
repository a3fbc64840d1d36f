//! Runs both kernels symbolically and compares their outputs.

mod early;
mod elements;
mod judge;
mod runs;
mod standing;
mod visible;

use crate::answer::{Answer, Compared};
use crate::assumed::Assumed;
use crate::clock::Clock;
use crate::difference::Difference;
use crate::exact;
use crate::hidden::{self, Hidden};
use crate::magnitude::Magnitudes;
use crate::marks::{self, Marks};
use crate::mismatch::{Mismatch, Unlike};
use crate::numeric;
use crate::options::Options;
use crate::ordinary::OrdinaryInputs;
use crate::overflow::{self, OverflowSearch};
use crate::position::{Position, Unsettled};
use crate::recheck::Recheck;
use crate::rounding::unit;
use crate::sequence::Launches;
use crate::side::Side;
use crate::side_run::SideRun;
use crate::symbolic::Symbolic;
use crate::table::Table;
use decide::{Budget, Decision, Problem, Rung, decide_other_than_products, equal_products};
use elements::{Elements, SideElement, find, terms_of};
use exec::{Limits, Outcome, Place, Thread};
use runs::{ask, run_both};
use standing::Search;
use std::collections::BTreeSet;
use term::{Number, Term};
use visible::Replays;

/// Outputs decided at once, since they share subterms. Batches are decided in parallel. Their size does not
/// depend on the number of processors, and so neither does the answer.
const BATCH: usize = 512;

/// The batch size if many conditions are assumed: a batch takes the conditions of all its outputs.
const SMALL_BATCH: usize = 64;

/// Runs both sides and compares their outputs.
#[must_use]
pub fn compare(sides: [&Side<'_>; 2], options: &Options<'_>) -> Compared {
    let with = |clamps: bool| match prepared(sides, options, clamps) {
        Ok((table, domains, assumed)) => run_and_compare(sides, options, &table, domains, &assumed),
        Err(reason) => (mismatch(sides, options.limits, reason), false),
    };
    let (compared, converts) = with(true);
    let open = matches!(compared.answer, Some(Answer::Different(_) | Answer::Unknown(..)));
    if !converts || !open {
        return compared;
    }
    // They may still be equal where `.satfinite` does not clamp.
    let (again, in_range) = with(false);
    let equal = matches!(again.answer, Some(Answer::Equal));
    if equal && in_range { again } else { compared }
}

type PreparedDomains = (Table, [Symbolic; 2], Assumed);

fn prepared(
    sides: [&Side<'_>; 2],
    options: &Options<'_>,
    clamps: bool,
) -> Result<PreparedDomains, Mismatch> {
    let table = Table::new(sides)?.assuming(options.assumptions)?;
    let table = table.comparing_under(options.assumptions)?;
    let mut reference = table.domain(sides[0], 0, options.snap)?;
    let mut optimised = table.domain(sides[1], 1, options.snap)?;
    (reference.assumed_properties.clamps, optimised.assumed_properties.clamps) = (clamps, clamps);
    let assumed = Assumed::new(&table, &reference.terms)?;
    Ok((table, [reference, optimised], assumed))
}

/// Runs both sides and compares them. With clamps, also returns `true` if any conversion may clamp; without,
/// if an input was found at which none does.
fn run_and_compare(
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
        ask(launches, ran, options);
    }
    let converts = ran.iter().any(|ran| ran.domain.assumed_properties.has_converted());
    let clamps = ran.iter().all(|ran| ran.domain.assumed_properties.clamps);
    let noted = if clamps { converts } else { is_in_range(&ran, assumed) };
    let mut compared = compare_runs(&ran);
    if let Some(obstacle) = ran.iter().find_map(|ran| ran.obstacle.clone()) {
        compared.answer = Some(Answer::Mismatch(obstacle));
    } else if ran.iter().all(SideRun::ended) {
        let compared = &mut compared;
        let mut answer = Outputs::new(sides, table, assumed, clock, &mut ran, compared).compare();
        let limits = clock.limits();
        let may_stand = options.snap && standing::has_literals(sides, &answer, &ran);
        if may_stand || standing::is_likely(&answer, &ran) {
            match standing::find(&launches, options, assumed, &ran) {
                Search::Found(found) if hidden_by(&launches, assumed, &found.ran).is_none() => {
                    let outcomes = std::mem::take(&mut compared.outcomes);
                    *compared = Compared { outcomes, ..found.compared };
                    ran = found.ran;
                    answer = Answer::Equal;
                }
                Search::Open => answer = standing::open(answer),
                Search::Found(_) | Search::Nothing => {}
            }
        }
        if matches!(answer, Answer::Equal)
            && let Some(unshown) = ranges(&launches, options, &ran)
        {
            answer = unshown;
        }
        // With constants that stand for closed forms this check has been made already.
        if matches!(answer, Answer::Equal)
            && compared.stands.is_empty()
            && !compared.snapped.is_empty()
            && let Some(hidden) = hidden_by(&launches, assumed, &ran)
        {
            answer = Answer::Constants(hidden);
        }
        if matches!(answer, Answer::Equal)
            && let Some(otherwise) = exact::find(&launches, options, &ran)
        {
            answer = Answer::Scalars(Box::new(otherwise));
        }
        if !matches!(answer, Answer::Different(_) | Answer::Mismatch(_)) {
            let outputs = terms_of(sides[1], &mut ran[1]);
            let terms = &ran[0].domain.terms;
            let chosen = &OrdinaryInputs { sides, table, terms, assumed };
            let magnitudes = Magnitudes::of(sides[1], outputs, &ran[1].domain.terms);
            // Without a NaN test or a comparison with an infinity, non-finite numbers cannot steer a kernel.
            let steers = ran.iter().any(|ran| ran.domain.assumed_properties.assumes_numbers());
            let fault = steers && matches!(answer, Answer::Equal);
            let sought = OverflowSearch { overflow: is_for_every_schedule(&ran), fault };
            let shown = overflow::find(chosen, limits, cost(&ran), sought, &magnitudes);
            compared.overflow = shown.overflow;
            if let Some(fault) = shown.fault {
                answer = Answer::Unknown(Box::new(fault), 1);
            }
        }
        match &mut answer {
            Answer::Equal if options.recheck => {
                let (terms, snap) = (&ran[0].domain.terms, options.snap);
                let stands = &compared.stands;
                match (Recheck { sides, table, terms, assumed, limits, snap, stands }).run() {
                    Ok(rechecked) => compared.rechecked = Some(rechecked),
                    Err(unsettled) => answer = Answer::Contradicted(Box::new(unsettled)),
                }
            }
            Answer::Different(difference) => {
                difference.stores = sides.map(|side| stored(side, &difference.position, limits));
                difference.near = standing::near(&ran, difference.values);
                difference.rounding = rounding(&launches, options, assumed, ran);
            }
            Answer::Equal
            | Answer::Unknown(..)
            | Answer::Unshown(_)
            | Answer::Constants(_)
            | Answer::Scalars(_)
            | Answer::Contradicted(_)
            | Answer::Mismatch(_) => {}
        }
        compared.answer = Some(answer);
    } else if !ran.iter().any(SideRun::was_interrupted) {
        let terms = &ran[0].domain.terms;
        let found =
            numeric::refute(&OrdinaryInputs { sides, table, terms, assumed }, clock.limits());
        compared.answer = found.map(Answer::Different);
    }
    (compared, noted)
}

/// Looks for a difference that is too large for rounding once the constants have their written values.
fn hidden_by(
    launches: &[Launches<'_, '_>; 2],
    assumed: &Assumed,
    ran: &[SideRun; 2],
) -> Option<Hidden> {
    let sides = launches.each_ref().map(|one| one.side);
    let (table, limits) = (launches[0].table, launches[0].clock.limits());
    let (terms, snap, stands) = (&ran[0].domain.terms, false, &[][..]);
    let constants: Vec<f64> = ran.iter().flat_map(|ran| ran.domain.snapped_numbers()).collect();
    let kernels = &Recheck { sides, table, terms, assumed, limits, snap, stands };
    let replaced = ran.iter().flat_map(|ran| ran.domain.constants.meanings());
    let units = replaced.map(|stands| unit(stands.constant.format()));
    let may_jump = ran.iter().any(|ran| hidden::may_jump(&ran.domain.terms));
    hidden::find(kernels, cost(ran), &constants, units.fold(0.0, f64::max), may_jump)
}

/// Counts the instructions of all threads of both sides.
fn cost(ran: &[SideRun; 2]) -> u64 {
    ran.iter().flat_map(|ran| &ran.outcomes).map(|outcome| outcome.lane_instructions).sum()
}

/// Collects the facts known from the runs alone, before any comparison.
fn compare_runs(ran: &[SideRun; 2]) -> Compared {
    let unclamped = ran.iter().filter(|ran| !ran.domain.assumed_properties.clamps);
    Compared {
        ranges: unclamped.flat_map(|ran| ran.domain.assumed_properties.ranges()).collect(),
        snapped: &ran[0].domain.snapped() | &ran[1].domain.snapped(),
        ..Compared::of(ran.each_ref().map(|ran| ran.outcomes.clone()))
    }
}

/// Returns `true` if the runs found no fault and left nothing open: then they hold for every schedule.
fn is_for_every_schedule(ran: &[SideRun; 2]) -> bool {
    let faulty = |outcome: &Outcome| {
        !outcome.findings.is_empty() || !outcome.undecided.is_empty() || !outcome.doubts.is_empty()
    };
    !ran.iter().flat_map(|ran| &ran.outcomes).any(faulty)
}

/// Returns the last store of a side to an element.
fn stored(side: &Side<'_>, position: &Position, limits: Limits) -> Option<(Place, Thread)> {
    let (number, output) = side.writer(side.count(), &position.name)?;
    let one = side.launches().nth(number)?;
    let start = *output.starts.get(position.index)?;
    exec::last_store(one.program, one.launch, limits, (output.buffer, start))
}

/// Returns pairs of constants that are equal up to rounding and account for the whole difference.
fn rounding(
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

/// Returns the reason why equality does not follow, if functions are known only in ranges that are not shown.
fn ranges(
    launches: &[Launches<'_, '_>; 2],
    options: &Options<'_>,
    ran: &[SideRun; 2],
) -> Option<Answer> {
    let lost = || Some(Answer::Mismatch(Mismatch::Unfollowed));
    for (number, one) in launches.iter().enumerate().filter(|(at, _)| ran[*at].domain.has_ranges) {
        let Ok(mut domain) = one.table.domain(one.side, number, options.snap) else {
            return lost();
        };
        domain.marks = Some(Marks::default());
        let mut marked = one.run(domain, None);
        if !marked.ended() || marked.domain.is_exhausted() {
            return lost();
        }
        let Some(outputs) = terms_of(one.side, &mut marked) else { return lost() };
        let budget = Budget { deadline: one.clock.deadline(), ..Budget::default() };
        let marks = std::mem::take(&mut marked.domain.marks).unwrap_or_default();
        let store = (&mut marked.domain.terms, &marks);
        if let Some(unshown) =
            marks::unshown(number, store, &outputs, &one.table.conditions, &budget)
        {
            return Some(Answer::Unshown(Box::new(unshown)));
        }
    }
    None
}

fn mismatch(sides: [&Side<'_>; 2], limits: Limits, reason: Mismatch) -> Compared {
    // A launch after others depends on their results, so only the first one can be checked by itself.
    let outcomes = sides.map(|side| {
        let side = side.before.first().unwrap_or(side);
        vec![exec::check(side.program, side.launch, limits)]
    });
    Compared { answer: Some(Answer::Mismatch(reason)), ..Compared::of(outcomes) }
}

/// The outputs of both sides on their way to an answer.
struct Outputs<'o, 's> {
    sides: [&'o Side<'s>; 2],
    table: &'o Table,
    assumed: &'o Assumed,
    clock: Clock,
    ran: &'o mut [SideRun; 2],
    compared: &'o mut Compared,
    replays: Replays,
    /// Outputs of the sides whose values may depend on signs.
    roots: [Vec<Term>; 2],
}

/// Result for some elements: the undecided ones, or a difference.
type Portion = Result<Option<(Box<Unsettled>, usize)>, Box<Difference>>;

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
        let needless = |name: &&String| !self.sides.iter().any(|side| side.hands_on(name));
        if let Some(name) = names[0].symmetric_difference(&names[1]).find(needless) {
            return Answer::Mismatch(Mismatch::OneSided { name: name.clone() });
        }
        self.compared.inner = &names[0] ^ &names[1];
        let mut all = Vec::new();
        for name in names[0].intersection(&names[1]) {
            let last = |side: &Side<'_>| side.writer(side.count(), name).map(|one| one.1.clone());
            let [Some(one), Some(other)] = self.sides.map(last) else { continue };
            if one.starts.len() != other.starts.len() {
                let (name, how) = (name.clone(), Unlike::Size);
                return Answer::Mismatch(Mismatch::Unlike { name, how });
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
        let mut open: Option<(Box<Unsettled>, usize)> = None;
        for elements in all {
            match self.decide_elements(elements) {
                Ok(None) => {}
                Ok(Some((unsettled, count))) => match &mut open {
                    Some((_, total)) => *total += count,
                    None => open = Some((unsettled, count)),
                },
                Err(difference) => return Answer::Different(difference),
            }
        }
        match open {
            Some((unsettled, count)) => Answer::Unknown(unsettled, count),
            // Without compared elements nothing is proved.
            None if self.compared.elements == 0 => Answer::Mismatch(Mismatch::NoOutput),
            None => {
                self.compared.signs = self.signs_of_zero();
                self.note_reliance();
                self.show_reliance()
                    .map_or(Answer::Equal, |open| Answer::Unknown(Box::new(open), 1))
            }
        }
    }

    /// Number of outputs decided at once.
    fn batch(&self) -> usize {
        if self.assumed.is_large() { SMALL_BATCH } else { BATCH }
    }

    /// Counts the elements whose sums have the same products, and keeps the others.
    fn settle_products(&mut self, all: &mut [Elements]) {
        let batch = self.batch();
        for elements in all {
            let portions = elements.pairs.chunks(batch * self.clock.limits().jobs.max(1));
            let decisions = portions.flat_map(|one| {
                self.in_batches(one.chunks(batch), |pairs| self.equal_products(pairs))
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

    fn equal_products(&self, pairs: &[Pair]) -> Vec<Option<Decision>> {
        let terms = terms(pairs);
        self.with_problem(&terms, |problem, budget| equal_products(problem, &terms, budget))
    }

    /// Decides elements, in parallel batches.
    fn decide_elements(&mut self, elements: Elements) -> Portion {
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

    /// Applies `look` to batches of elements, each on one of the permitted processors.
    fn in_batches<T: Send>(
        &self,
        mut batches: std::slice::Chunks<'_, Pair>,
        look: impl Fn(&[Pair]) -> T + Sync,
    ) -> Vec<T> {
        if batches.len() < 2 || self.clock.limits().jobs < 2 {
            return batches.map(look).collect();
        }
        let look = &look;
        std::thread::scope(|scope| {
            let own = batches.next();
            let start = |batch| {
                let thread = std::thread::Builder::new();
                (batch, thread.spawn_scoped(scope, move || look(batch)))
            };
            let others: Vec<_> = batches.map(start).collect();
            let own = own.map(look);
            let others =
                others.into_iter().map(|(batch, other)| match other.map(|one| one.join()) {
                    Ok(Ok(found)) => found,
                    Ok(Err(panic)) => std::panic::resume_unwind(panic),
                    // No more threads are available.
                    Err(_) => look(batch),
                });
            own.into_iter().chain(others).collect()
        })
    }

    /// Decides a batch of elements.
    fn decide(&self, pairs: &[Pair]) -> Vec<Decision> {
        let terms = terms(pairs);
        self.with_problem(&terms, |problem, budget| {
            decide_other_than_products(problem, &terms, budget)
        })
    }

    fn with_problem<T>(
        &self,
        pairs: &[(Term, Term)],
        ask: impl FnOnce(&Problem<'_>, &Budget) -> T,
    ) -> T {
        let [reference, optimised] = &*self.ran;
        let (reference, optimised) = (&reference.domain.terms, &optimised.domain.terms);
        let assumptions = self.assumed.about([reference, optimised], pairs);
        let problem = Problem { reference, optimised, assumptions: &assumptions };
        let deadline = self.clock.deadline();
        ask(&problem, &Budget { differences: 1, deadline, ..Budget::default() })
    }
}

fn terms(pairs: &[Pair]) -> Vec<(Term, Term)> {
    pairs.iter().map(|(_, pair)| *pair).collect()
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

//! The ladder: cheap rungs first, each sound on its own, budgets in steps.
//!
//! Products → composite normal forms → a quick search for a difference → inlining → facts → case splits → a longer
//! search. An answer says which rung gave it; when all fail it is `Unknown`.

mod side_condition;

use crate::algebra::{
    Algebra, Atom, Facts, FormId, Monomial, Obstacle, Outcome, Polynomial, Pull, SignSet,
};
use crate::blocks::Blocks;
use crate::definedness::{Collector, Definedness, Requirement};
use crate::normalise::Normaliser;
use crate::points::Points;
use crate::problem::{Budget, Problem};
use crate::rewrite::{Rewriter, clear_denominators};
use crate::split::is_zero_in_all_cases;
use crate::verdict::{Assumed, Decision, Reason, Rung};
use crate::witness::{Search, SearchResult};
use rustc_hash::{FxHashMap, FxHashSet};
use side_condition::SideCondition;
use term::{NodeId, Term};

/// After this many failures in a row, sums are no longer treated as unknowns.
const MAX_FAILURES: usize = 64;

/// Normal forms of reference and optimised side, conditions of reference and optimised side.
type Forms = (Polynomial, Polynomial, Vec<SideCondition>, Vec<SideCondition>);

/// The conditions of a side, or the obstacle.
type Conditions = Outcome<Vec<Definedness>>;

/// The pairs of a problem on the ladder.
pub(crate) struct Ladder<'t> {
    problem: Problem<'t>,
    points: &'t Points<'t>,
    budget: Budget,
    algebra: Algebra,
    reference: Normaliser<'t>,
    optimised: Normaliser<'t>,
    /// For each pair, the conditions of both sides.
    conditions: Vec<(Conditions, Conditions)>,
    /// Conditions known to hold everywhere: proved once, not once an output.
    always: FxHashMap<(Side, NodeId, SignSet), bool>,
    /// Arguments of conditions that are sums of exponentials.
    positive: FxHashSet<(Side, NodeId)>,
    /// Forms of arguments of conditions without guards: outputs of a row share them.
    arguments: FxHashMap<(Side, NodeId), Option<FormId>>,
    /// Conditions of the reference that some input is known to satisfy together.
    domains: FxHashSet<Vec<Definedness>>,
    /// For conditions of the reference and one of the optimised side: `true` if the latter follows from the former.
    consequences: FxHashMap<(Vec<Definedness>, Definedness), bool>,
    /// The assumptions of the problem, as signs of forms.
    assumptions: Vec<(FormId, SignSet)>,
}

/// A side of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Side {
    Reference,
    Optimised,
}

impl<'t> Ladder<'t> {
    pub(crate) fn new(
        problem: &Problem<'t>,
        points: &'t Points<'t>,
        pairs: &[(Term, Term)],
        blocks: &Blocks,
        budget: &Budget,
    ) -> Self {
        let [mut left, mut right] = [problem.reference, problem.optimised].map(Collector::new);
        // There may be as many as outputs times divisions, so the deadline is checked for each pair.
        let conditions_of = |(a, b): &(Term, Term)| match budget.deadline.has_passed() {
            true => (Err(Obstacle::Time), Err(Obstacle::Time)),
            false => (left.conditions(*a), right.conditions(*b)),
        };
        let conditions: Vec<(Conditions, Conditions)> = pairs.iter().map(conditions_of).collect();
        let arguments = |side: fn(&(Conditions, Conditions)) -> &Conditions| {
            let lists = conditions.iter().filter_map(move |pair| side(pair).as_ref().ok());
            lists.flatten().flat_map(|one| {
                let guard = one.guard.iter().map(|(condition, _)| Term::from(*condition));
                guard.chain([Term::from(one.argument)])
            })
        };
        let mut reference = Normaliser::with_opaque(
            problem.reference,
            pairs
                .iter()
                .map(|(a, _)| *a)
                .chain(arguments(|pair| &pair.0))
                .chain(problem.assumptions.iter().copied()),
            &blocks.reference,
        );
        let mut optimised = Normaliser::with_opaque(
            problem.optimised,
            pairs.iter().map(|(_, b)| *b).chain(arguments(|pair| &pair.1)),
            &blocks.optimised,
        );
        optimised.share_functions(problem.reference);
        let mut algebra = Algebra::new(problem.reference.inputs().len());
        algebra.set_deadline(budget.deadline);
        reference.set_opaque(&mut algebra, &blocks.reference);
        optimised.set_opaque(&mut algebra, &blocks.optimised);
        blocks.define(&mut algebra, problem.reference, budget.normalise);
        Self {
            problem: *problem,
            points,
            budget: *budget,
            algebra,
            reference,
            optimised,
            conditions,
            always: FxHashMap::default(),
            positive: FxHashSet::default(),
            arguments: FxHashMap::default(),
            domains: FxHashSet::default(),
            consequences: FxHashMap::default(),
            assumptions: Vec::new(),
        }
    }

    /// Answers pairs that have equal normal forms and need no assumptions; the others get no answer. Gives up after
    /// many pairs without success.
    pub(crate) fn run_composite(mut self, pairs: &[(Term, Term)]) -> Vec<Option<Decision>> {
        self.take_assumptions();
        let mut failures = 0;
        let mut answers = vec![None; pairs.len()];
        for (index, pair) in pairs.iter().enumerate() {
            answers[index] = self.decide_by_normal_forms(index, *pair).ok().flatten();
            failures = if answers[index].is_some() { 0 } else { failures + 1 };
            if failures > MAX_FAILURES || self.budget.deadline.has_passed() {
                break;
            }
        }
        answers
    }

    /// Answers a pair that has equal normal forms and needs no assumptions.
    fn decide_by_normal_forms(
        &mut self,
        index: usize,
        pair: (Term, Term),
    ) -> Outcome<Option<Decision>> {
        let (reference, optimised, reference_conditions, optimised_conditions) =
            self.forms(index, pair)?;
        if self.algebra.difference_if_unequal(reference, optimised)?.is_some() {
            return Ok(None);
        }
        self.algebra.steps = self.budget.rung;
        let (open, given) =
            self.conditions_that_do_not_follow(&reference_conditions, optimised_conditions)?;
        let settled =
            open.is_empty() && self.is_about_some_input(pair, &reference_conditions, given);
        let equal = Decision::Equal { rung: Rung::Composite, conditions: Vec::new() };
        Ok(settled.then_some(equal))
    }

    /// Answers the pairs; `differences` is the number of differences found before.
    pub(crate) fn run(mut self, pairs: &[(Term, Term)], mut differences: usize) -> Vec<Decision> {
        self.take_assumptions();
        let mut answers = Vec::with_capacity(pairs.len());
        for (index, pair) in pairs.iter().enumerate() {
            let skipped = differences >= self.budget.differences;
            if skipped || self.budget.deadline.has_passed() {
                let reason = if skipped { Reason::Skipped } else { Reason::Time };
                answers.push(Decision::Unknown(reason));
                continue;
            }
            answers.push(self.decide_pair(index, *pair).unwrap_or_else(|obstacle| {
                // No normal form: a point may still show a difference.
                let found = self.search(*pair).run(0..self.budget.quick_points, u64::MAX);
                let difference = found.values.or(found.undefined);
                difference.map_or(Decision::Unknown(obstacle.into()), Decision::from)
            }));
            let last = answers.last();
            differences += usize::from(matches!(last, Some(Decision::Different { .. })));
        }
        answers
    }

    /// Normalises the assumptions of the problem.
    fn take_assumptions(&mut self) {
        self.algebra.steps = self.budget.normalise;
        for assumption in self.problem.assumptions {
            let condition = self.reference.condition(&mut self.algebra, *assumption);
            if let Ok(condition) = condition {
                let comparisons = self.algebra.comparisons(condition);
                self.assumptions.extend(comparisons);
            }
        }
    }

    /// Builds the normal forms of a pair and the conditions of both sides.
    fn forms(&mut self, index: usize, pair: (Term, Term)) -> Outcome<Forms> {
        self.algebra.steps = self.budget.normalise;
        let reference = self.reference.real(&mut self.algebra, pair.0);
        let optimised = self.optimised.real(&mut self.algebra, pair.1);
        let conditions = std::mem::replace(&mut self.conditions[index], (Ok(vec![]), Ok(vec![])));
        let reference_conditions = self.side_conditions(Side::Reference, conditions.0)?;
        let optimised_conditions = self.side_conditions(Side::Optimised, conditions.1)?;
        let infinite = (self.reference.infinite_root(pair.0), self.optimised.infinite_root(pair.1));
        if let (Some(one), Some(other)) = infinite
            && one == other
        {
            // The same infinity on both sides: only the conditions remain.
            return Ok((
                Polynomial::zero(),
                Polynomial::zero(),
                reference_conditions,
                optimised_conditions,
            ));
        }
        Ok((reference?, optimised?, reference_conditions, optimised_conditions))
    }

    /// Climbs the ladder for one pair.
    fn decide_pair(&mut self, index: usize, pair: (Term, Term)) -> Outcome<Decision> {
        let (reference, optimised, reference_conditions, optimised_conditions) =
            self.forms(index, pair)?;
        let mut found = SearchResult::default();
        let equal = match self.algebra.difference_if_unequal(reference, optimised)? {
            None => Some(Rung::Composite),
            Some(gap) => {
                found = self.search(pair).run(0..self.budget.quick_points, 0);
                if let Some(difference) = found.values {
                    return Ok(difference.into());
                }
                self.climb(gap, &reference_conditions, &optimised_conditions)
            }
        };
        let Some(rung) = equal else {
            let points = self.budget.quick_points..self.budget.points;
            let found = self.search(pair).run(points, 0).or(found);
            let difference = found.values.or(found.undefined);
            return Ok(difference.map_or(Decision::Unknown(Reason::Undecided), Decision::from));
        };
        self.algebra.steps = self.budget.rung;
        self.equality(pair, rung, &reference_conditions, optimised_conditions)
    }

    /// Climbs the rungs above the composite normal form.
    fn climb(
        &mut self,
        gap: Polynomial,
        reference_conditions: &[SideCondition],
        optimised_conditions: &[SideCondition],
    ) -> Option<Rung> {
        let steps = self.budget.rung;
        self.algebra.steps = steps;
        let inline = clear_denominators(&mut self.algebra, gap.clone());
        if inline.is_ok_and(|gap| self.is_zero(gap)) {
            return Some(Rung::Inline);
        }
        self.algebra.steps = steps;
        let consistent = self.assume_all(reference_conditions.iter().chain(optimised_conditions));
        let rung = if consistent.is_ok_and(|consistent| consistent) {
            self.climb_with_facts(&gap)
        } else {
            None
        };
        self.algebra.facts = Facts::default();
        rung
    }

    /// Returns `true` if a sum without denominators is zero. Also tries `sin² + cos² = 1`.
    fn is_zero(&mut self, mut gap: Polynomial) -> bool {
        if gap.is_zero() {
            return true;
        }
        let circle = self.algebra.without_squares_of_sines(gap);
        circle.is_ok_and(|gap| gap.is_some_and(|mut gap| gap.is_zero()))
    }

    fn climb_with_facts(&mut self, gap: &Polynomial) -> Option<Rung> {
        let merged = Rewriter::merging().rebuild(&mut self.algebra, gap);
        let merged = merged.and_then(|gap| clear_denominators(&mut self.algebra, gap));
        if merged.is_ok_and(|mut gap| gap.is_zero()) {
            return Some(Rung::Facts);
        }
        self.algebra.steps = self.budget.rung;
        let mut cases = self.budget.cases;
        let zero = is_zero_in_all_cases(&mut self.algebra, gap, &mut cases);
        zero.is_ok_and(|zero| zero).then_some(Rung::Cases)
    }

    /// Adds the unguarded conditions and the assumptions to the facts.
    fn assume_all<'a>(
        &mut self,
        requirements: impl Iterator<Item = &'a SideCondition>,
    ) -> Outcome<bool> {
        let mut consistent = true;
        for (form, signs) in self.assumptions.clone() {
            consistent &= self.algebra.assume(form, signs)?;
        }
        for requirement in requirements {
            if let Some((form, signs)) = requirement.unguarded() {
                consistent &= self.assume_with_factors(form, signs)?;
            }
        }
        Ok(consistent)
    }

    /// Assumes a sign. The factors of a nonzero product are nonzero, too; the primitive part counts as a factor.
    fn assume_with_factors(&mut self, form: FormId, signs: SignSet) -> Outcome<bool> {
        let mut consistent = self.algebra.assume(form, signs)?;
        if !signs.within(SignSet::NOT_ZERO) {
            return Ok(consistent);
        }
        let full_form = self.algebra.polynomial(form);
        let (content, _, base) = self.algebra.primitive(full_form, Pull::Everything)?;
        for (atom, _) in self.algebra.factors(content) {
            let factor_form = match self.algebra.atom_ref(atom) {
                Some(Atom::Base(form)) => *form,
                _ => {
                    let single = Monomial::of_atom(atom);
                    self.algebra.intern(Polynomial::single(single))?
                }
            };
            consistent &= self.algebra.assume(factor_form, SignSet::NOT_ZERO)?;
        }
        consistent &= self.algebra.assume(base, SignSet::NOT_ZERO)?;
        Ok(consistent)
    }

    /// Builds the answer for equal terms: finds the remaining assumptions, and checks that the claim is about some
    /// input.
    fn equality(
        &mut self,
        pair: (Term, Term),
        rung: Rung,
        reference_conditions: &[SideCondition],
        optimised_conditions: Vec<SideCondition>,
    ) -> Outcome<Decision> {
        let (open, given) =
            self.conditions_that_do_not_follow(reference_conditions, optimised_conditions)?;
        if open.is_empty() {
            return Ok(if self.is_about_some_input(pair, reference_conditions, given) {
                Decision::Equal { rung, conditions: Vec::new() }
            } else {
                Decision::Unknown(Reason::NoPointInDomain)
            });
        }
        let found = self.search(pair).run(0..self.budget.points, u64::MAX);
        if let Some(difference) = found.values {
            // Trust the evaluation of the original terms: it is the simpler code.
            debug_assert!(false, "equal by {rung}, but different at {:?}", difference.0);
            return Ok(difference.into());
        }
        if !found.reference_defined {
            return Ok(Decision::Unknown(Reason::NoPointInDomain));
        }
        let fails_at = found.undefined.map(|(point, _)| point);
        let conditions = open
            .into_iter()
            .map(|condition| Assumed { condition, fails_at: fails_at.clone() })
            .collect();
        Ok(Decision::Equal { rung, conditions })
    }

    /// Returns the optimised side's conditions that do not follow from the reference's, and all those of the
    /// reference.
    fn conditions_that_do_not_follow(
        &mut self,
        reference_conditions: &[SideCondition],
        optimised_conditions: Vec<SideCondition>,
    ) -> Outcome<(Vec<Definedness>, Vec<Definedness>)> {
        let given: Vec<Definedness> = reference_conditions
            .iter()
            .map(|reference_condition| reference_condition.condition.clone())
            .collect();
        let mut open = Vec::new();
        for requirement in optimised_conditions {
            let key = (given.clone(), requirement.condition.clone());
            let follows = match self.consequences.get(&key) {
                Some(follows) => *follows,
                None => self.follows(reference_conditions, &requirement)?,
            };
            self.consequences.insert(key, follows);
            if !follows && requirement.requirement == Requirement::Never {
                // No input is known at which the optimised side is defined: that cannot be assumed.
                return Err(Obstacle::Undefined);
            }
            if !follows {
                open.push(requirement.condition);
            }
        }
        Ok((open, given))
    }

    /// Returns `true` if an equality is about some input.
    fn is_about_some_input(
        &mut self,
        pair: (Term, Term),
        reference_conditions: &[SideCondition],
        given: Vec<Definedness>,
    ) -> bool {
        (reference_conditions.is_empty() && self.problem.assumptions.is_empty())
            || self.has_domain(pair, given)
    }

    /// Returns `true` if some input satisfies the conditions of a pair's reference, and the assumptions.
    fn has_domain(&mut self, pair: (Term, Term), given: Vec<Definedness>) -> bool {
        if self.domains.contains(&given) {
            return true;
        }
        let found = self.search(pair).reference_has_domain(self.budget.points);
        if found {
            self.domains.insert(given);
        }
        found
    }

    /// Returns `true` if a condition of the optimised side holds wherever the reference is defined.
    fn follows(
        &mut self,
        reference_conditions: &[SideCondition],
        wanted: &SideCondition,
    ) -> Outcome<bool> {
        let identical = reference_conditions.iter().any(|other| {
            let same_argument = other.form.is_some() && other.form == wanted.form;
            other.requirement == wanted.requirement
                && (same_argument || wanted.requirement == Requirement::Never)
                && other.guard.iter().all(|one| wanted.guard.contains(one))
        });
        if identical {
            return Ok(true);
        }
        let (Some(form), Some(signs)) = (wanted.form, wanted.signs) else { return Ok(false) };
        let outcome = self.follows_by_signs(reference_conditions, wanted, form, signs);
        self.algebra.facts = Facts::default();
        match outcome {
            Ok(follows) => Ok(follows),
            // Not proved within the budget: listed as an assumption.
            Err(Obstacle::Budget | Obstacle::TooLarge) => Ok(false),
            Err(other) => Err(other),
        }
    }

    fn follows_by_signs(
        &mut self,
        reference_conditions: &[SideCondition],
        wanted: &SideCondition,
        form: FormId,
        signs: SignSet,
    ) -> Outcome<bool> {
        let mut possible = self.assume_all(reference_conditions.iter())?;
        self.algebra.facts.combine = true;
        for guard in &wanted.guard {
            for (compared, side) in self.algebra.comparisons(*guard) {
                possible &= self.algebra.assume(compared, side)?;
            }
        }
        if !possible || self.algebra.sign(form)?.within(signs) {
            return Ok(true);
        }
        // The sign of a product follows from those of its content and its primitive part.
        let full_form = self.algebra.polynomial(form);
        let (content, coefficient, base) = self.algebra.primitive(full_form, Pull::Everything)?;
        let mut sign = self.algebra.sign(base)?.times(SignSet::of(coefficient.signum()));
        for (atom, power) in self.algebra.factors(content) {
            sign = sign.times(self.algebra.sign_of_atom(atom).to_power(power));
        }
        Ok(sign.within(signs))
    }

    fn search(&self, pair: (Term, Term)) -> Search<'t> {
        Search::new(&self.problem, pair, self.points)
    }
}

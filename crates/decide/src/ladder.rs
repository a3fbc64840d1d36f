//! The ladder: cheap rungs first, each sound on its own, budgets in steps.
//!
//! Products → composite normal forms → a quick look for a difference → inlining → facts → case
//! splits → a longer look. An answer says which rung gave it; when all fail it is `Unknown`.

use crate::algebra::{
    Algebra, Atom, Condition, ConditionId, Facts, FormId, Monomial, Obstacle, Outcome, Polynomial,
    Pull, SignSet,
};
use crate::definedness::{Definedness, conditions};
use crate::normalise::Normaliser;
use crate::products::Products;
use crate::rewrite::{Rewriter, clear_denominators};
use crate::split::is_zero_in_all_cases;
use crate::verdict::{Assumed, Decision, Reason, Rung};
use crate::witness::{Found, Search};
use rustc_hash::FxHashMap;
use term::{NodeId, Term, Terms};

/// Limits, all in steps: the same input gives the same answer on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Steps for the normal forms of one pair.
    pub normalise: u64,
    /// Steps for each rung above them.
    pub rung: u64,
    /// Cases the last rung may open.
    pub cases: u32,
    /// Points tried before the expensive rungs, each by intervals.
    pub quick_points: u64,
    /// Points tried at the end, by floats first.
    pub points: u64,
    /// Bits of the values at those points: 3 fits every float format, 11 is f16, 24 f32.
    pub significand_bits: u32,
    /// Stop after this many differences; the pairs after them are [`Reason::Skipped`].
    pub differences: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            normalise: 200_000_000,
            rung: 3_000_000,
            cases: 2_000,
            quick_points: 8,
            points: 96,
            significand_bits: 3,
            differences: usize::MAX,
        }
    }
}

/// Two stores of terms over the same inputs, and conditions on the inputs.
#[derive(Clone, Copy, Debug)]
pub struct Problem<'t> {
    /// The store of the reference terms.
    pub reference: &'t Terms,
    /// The store of the optimised terms; may be the same.
    pub optimised: &'t Terms,
    /// Conditions the inputs satisfy, in the reference's store.
    pub assumptions: &'t [Term],
}

/// Decides pairs one after another.
///
/// ```
/// use decide::{Budget, Problem, decide};
/// use std::sync::Arc;
/// use term::{Inputs, Terms};
/// let mut inputs = Inputs::new();
/// let x = inputs.scalar("x").unwrap();
/// let mut terms = Terms::new(Arc::new(inputs));
/// let x = terms.input(x);
/// let square = terms.multiply(x, x);
/// let root = terms.square_root(square);
/// let absolute = terms.absolute(x);
/// let problem = Problem { reference: &terms, optimised: &terms, assumptions: &[] };
/// let answers = decide(&problem, &[(root, absolute), (root, x)], &Budget::default());
/// assert!(answers[0].is_equal());
/// assert!(matches!(answers[1], decide::Decision::Different { .. }));
/// ```
///
/// # Panics
/// If the two stores have different inputs.
#[must_use]
pub fn decide(problem: &Problem<'_>, pairs: &[(Term, Term)], budget: &Budget) -> Vec<Decision> {
    assert!(
        problem.reference.inputs() == problem.optimised.inputs(),
        "both stores of a problem range over the same inputs"
    );
    let mut answers: Vec<Option<Decision>> = Vec::with_capacity(pairs.len());
    let mut products = Products::default();
    for (reference, optimised) in pairs {
        let pair = ((problem.reference, *reference), (problem.optimised, *optimised));
        // These sums are total: assumptions on the inputs only have to leave some input.
        let same = products.equal(pair.0, pair.1)
            && (problem.assumptions.is_empty()
                || search(problem, (*reference, *optimised), budget)
                    .reference_has_domain(budget.points));
        answers
            .push(same.then_some(Decision::Equal { rung: Rung::Products, conditions: Vec::new() }));
    }
    if answers.iter().any(Option::is_none) {
        let open: Vec<(Term, Term)> = answers
            .iter()
            .zip(pairs)
            .filter(|(answer, _)| answer.is_none())
            .map(|(_, pair)| *pair)
            .collect();
        let mut decided = Ladder::new(problem, &open, budget).run(&open).into_iter();
        for answer in &mut answers {
            if answer.is_none() {
                *answer = decided.next();
            }
        }
    }
    answers.into_iter().map(|answer| answer.unwrap_or(Decision::Unknown(Reason::Budget))).collect()
}

/// A side's conditions, or why there are none.
type Conditions = Outcome<Vec<Definedness>>;

struct Ladder<'t> {
    problem: Problem<'t>,
    budget: Budget,
    algebra: Algebra,
    reference: Normaliser<'t>,
    optimised: Normaliser<'t>,
    /// For each pair, the conditions of both sides.
    conditions: Vec<(Conditions, Conditions)>,
    /// Conditions of the reference known to hold everywhere: asked once, not once an output.
    always: FxHashMap<(Side, NodeId, SignSet), bool>,
    assumptions: Vec<(FormId, SignSet)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Side {
    Reference,
    Optimised,
}

impl<'t> Ladder<'t> {
    fn new(problem: &Problem<'t>, pairs: &[(Term, Term)], budget: &Budget) -> Self {
        let conditions: Vec<(Conditions, Conditions)> = pairs
            .iter()
            .map(|(a, b)| (conditions(problem.reference, *a), conditions(problem.optimised, *b)))
            .collect();
        let arguments = |side: fn(&(Conditions, Conditions)) -> &Conditions| {
            let lists = conditions.iter().filter_map(move |pair| side(pair).as_ref().ok());
            lists.flatten().flat_map(|one| {
                let guard = one.guard.iter().map(|(condition, _)| Term::from(*condition));
                guard.chain([Term::from(one.argument)])
            })
        };
        let reference = Normaliser::new(
            problem.reference,
            pairs
                .iter()
                .map(|(a, _)| *a)
                .chain(arguments(|pair| &pair.0))
                .chain(problem.assumptions.iter().copied()),
        );
        let optimised = Normaliser::new(
            problem.optimised,
            pairs.iter().map(|(_, b)| *b).chain(arguments(|pair| &pair.1)),
        );
        Self {
            problem: *problem,
            budget: *budget,
            algebra: Algebra::new(problem.reference.inputs().len()),
            reference,
            optimised,
            conditions,
            always: FxHashMap::default(),
            assumptions: Vec::new(),
        }
    }

    fn run(mut self, pairs: &[(Term, Term)]) -> Vec<Decision> {
        self.algebra.steps = self.budget.normalise;
        for assumption in self.problem.assumptions {
            let condition = self.reference.condition(&mut self.algebra, *assumption);
            if let Ok(condition) = condition {
                let comparisons = comparisons(&self.algebra, condition);
                self.assumptions.extend(comparisons);
            }
        }
        let mut answers = Vec::with_capacity(pairs.len());
        let mut differences = 0;
        for (index, pair) in pairs.iter().enumerate() {
            if differences >= self.budget.differences {
                answers.push(Decision::Unknown(Reason::Skipped));
                continue;
            }
            answers.push(self.pair(index, *pair).unwrap_or_else(|obstacle| {
                // No normal form: a point may still tell them apart.
                let found = self.search(*pair, 0..self.budget.quick_points, u64::MAX);
                let difference = found.values.or(found.undefined);
                difference.map_or(Decision::Unknown(obstacle.into()), different)
            }));
            let last = answers.last();
            differences += usize::from(matches!(last, Some(Decision::Different { .. })));
        }
        answers
    }

    fn pair(&mut self, index: usize, pair: (Term, Term)) -> Outcome<Decision> {
        self.algebra.steps = self.budget.normalise;
        let reference = self.reference.real(&mut self.algebra, pair.0);
        let optimised = self.optimised.real(&mut self.algebra, pair.1);
        let conditions = std::mem::replace(&mut self.conditions[index], (Ok(vec![]), Ok(vec![])));
        let required = self.signs_of(Side::Reference, conditions.0)?;
        let own = self.signs_of(Side::Optimised, conditions.1)?;
        let (reference, optimised) = (reference?, optimised?);
        let mut found = Found::default();
        let equal = match self.algebra.unequal(reference, optimised)? {
            None => Some(Rung::Composite),
            Some(gap) => {
                found = self.search(pair, 0..self.budget.quick_points, u64::MAX);
                if let Some(difference) = found.values {
                    return Ok(different(difference));
                }
                self.climb(gap, &required, &own)
            }
        };
        let Some(rung) = equal else {
            let points = self.budget.quick_points..self.budget.points;
            let found = self.search(pair, points, 0).or(found);
            let difference = found.values.or(found.undefined);
            return Ok(difference.map_or(Decision::Unknown(Reason::Undecided), different));
        };
        self.algebra.steps = self.budget.rung;
        self.equal(pair, rung, &required, own)
    }

    /// The rungs above the composite normal form.
    fn climb(
        &mut self,
        gap: Polynomial,
        required: &[Requirement],
        own: &[Requirement],
    ) -> Option<Rung> {
        let steps = self.budget.rung;
        self.algebra.steps = steps;
        if clear_denominators(&mut self.algebra, gap.clone()).is_ok_and(|mut gap| gap.is_zero()) {
            return Some(Rung::Inline);
        }
        self.algebra.steps = steps;
        let consistent = self.assume_all(required.iter().chain(own));
        let rung = if consistent.is_ok_and(|consistent| consistent) {
            self.climb_with_facts(&gap)
        } else {
            None
        };
        self.algebra.facts = Facts::default();
        rung
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

    /// Puts the unguarded conditions and the assumptions among the facts.
    fn assume_all<'a>(
        &mut self,
        requirements: impl Iterator<Item = &'a Requirement>,
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

    /// A product that is not zero has no factor that is; the primitive part counts as a factor.
    fn assume_with_factors(&mut self, form: FormId, signs: SignSet) -> Outcome<bool> {
        let mut consistent = self.algebra.assume(form, signs)?;
        if !signs.within(SignSet::NOT_ZERO) {
            return Ok(consistent);
        }
        let whole = self.algebra.polynomial(form);
        let (content, _, base) = self.algebra.primitive(whole, Pull::Everything)?;
        for (atom, _) in self.algebra.factors(content) {
            let alone = match self.algebra.atom_ref(atom) {
                Some(Atom::Base(form)) => *form,
                _ => {
                    let single = Monomial::of_atom(atom);
                    self.algebra.intern(Polynomial::single(single))?
                }
            };
            consistent &= self.algebra.assume(alone, SignSet::NOT_ZERO)?;
        }
        consistent &= self.algebra.assume(base, SignSet::NOT_ZERO)?;
        Ok(consistent)
    }

    /// The forms the conditions are about; those that hold everywhere are left out.
    fn signs_of(&mut self, side: Side, conditions: Conditions) -> Outcome<Vec<Requirement>> {
        let mut result = Vec::new();
        for condition in conditions? {
            let signs = condition.requirement.signs();
            if let Some(signs) = signs
                && condition.guard.is_empty()
                && self.always.get(&(side, condition.argument, signs)) == Some(&true)
            {
                continue;
            }
            let normaliser = match side {
                Side::Reference => &mut self.reference,
                Side::Optimised => &mut self.optimised,
            };
            let form = normaliser.real(&mut self.algebra, condition.argument.into());
            let mut guard = Vec::new();
            for (node, holds) in &condition.guard {
                let id = normaliser.condition(&mut self.algebra, (*node).into())?;
                guard.push(if *holds { id } else { self.algebra.negate_condition(id) });
            }
            // A condition nobody can normalise is still a condition: it stays, without a form.
            let form = form.and_then(|form| self.comparable(form)).ok();
            if let (Some(form), Some(signs)) = (form, signs) {
                let holds = self.algebra.sign(form)?.within(signs);
                if condition.guard.is_empty() {
                    self.always.insert((side, condition.argument, signs), holds);
                }
                if holds {
                    continue;
                }
            }
            result.push(Requirement { condition, form, signs, guard });
        }
        Ok(result)
    }

    /// The form with composites multiplied out if that is affordable, so that the two sides'
    /// conditions can be recognised in each other.
    fn comparable(&mut self, form: Polynomial) -> Outcome<FormId> {
        let steps = std::mem::replace(&mut self.algebra.steps, self.budget.rung);
        let expanded = self.algebra.expand_bases(form.clone());
        self.algebra.steps = steps;
        self.algebra.intern(expanded.unwrap_or(form))
    }

    /// Equal; now what remains to be assumed, and is the claim about anything?
    fn equal(
        &mut self,
        pair: (Term, Term),
        rung: Rung,
        required: &[Requirement],
        own: Vec<Requirement>,
    ) -> Outcome<Decision> {
        let mut open = Vec::new();
        for requirement in own {
            if !self.follows(required, &requirement)? {
                open.push(requirement.condition);
            }
        }
        if required.is_empty() && open.is_empty() && self.problem.assumptions.is_empty() {
            return Ok(Decision::Equal { rung, conditions: Vec::new() });
        }
        if open.is_empty() {
            let search = search(&self.problem, pair, &self.budget);
            return Ok(if search.reference_has_domain(self.budget.points) {
                Decision::Equal { rung, conditions: Vec::new() }
            } else {
                Decision::Unknown(Reason::NoPointInDomain)
            });
        }
        let found = self.search(pair, 0..self.budget.points, u64::MAX);
        if let Some(difference) = found.values {
            // The evaluation of the original terms is the simpler code: believe it.
            debug_assert!(false, "equal by {rung}, but different at {:?}", difference.0);
            return Ok(different(difference));
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

    /// Whether a condition of the optimised side holds wherever the reference is defined.
    fn follows(&mut self, required: &[Requirement], wanted: &Requirement) -> Outcome<bool> {
        let identical = required.iter().any(|other| {
            other.condition.requirement == wanted.condition.requirement
                && other.form.is_some()
                && other.form == wanted.form
                && other.guard.iter().all(|one| wanted.guard.contains(one))
        });
        if identical {
            return Ok(true);
        }
        let (Some(form), Some(signs)) = (wanted.form, wanted.signs) else { return Ok(false) };
        let outcome = self.follows_by_signs(required, wanted, form, signs);
        self.algebra.facts = Facts::default();
        match outcome {
            Ok(follows) => Ok(follows),
            // Not shown within the budget: listed as an assumption.
            Err(Obstacle::Budget | Obstacle::TooLarge) => Ok(false),
            Err(other) => Err(other),
        }
    }

    fn follows_by_signs(
        &mut self,
        required: &[Requirement],
        wanted: &Requirement,
        form: FormId,
        signs: SignSet,
    ) -> Outcome<bool> {
        let mut possible = self.assume_all(required.iter())?;
        self.algebra.facts.combine = true;
        for guard in &wanted.guard {
            for (compared, side) in comparisons(&self.algebra, *guard) {
                possible &= self.algebra.assume(compared, side)?;
            }
        }
        if !possible || self.algebra.sign(form)?.within(signs) {
            return Ok(true);
        }
        // The sign of a product follows from those of its content and its primitive part.
        let whole = self.algebra.polynomial(form);
        let (content, coefficient, base) = self.algebra.primitive(whole, Pull::Everything)?;
        let mut sign = self.algebra.sign(base)?.times(SignSet::of(coefficient.signum()));
        for (atom, power) in self.algebra.factors(content) {
            sign = sign.times(self.algebra.sign_of_atom(atom).to_power(power));
        }
        Ok(sign.within(signs))
    }

    fn search(&self, pair: (Term, Term), points: std::ops::Range<u64>, always: u64) -> Found {
        search(&self.problem, pair, &self.budget).run(points, always)
    }
}

/// The comparisons that must hold for a condition to hold.
fn comparisons(algebra: &Algebra, condition: ConditionId) -> Vec<(FormId, SignSet)> {
    let mut found = Vec::new();
    let mut waiting = vec![condition];
    while let Some(condition) = waiting.pop() {
        match algebra.condition(condition) {
            Condition::Sign(form, signs) => found.push((form, signs)),
            Condition::And(a, b) => waiting.extend([a, b]),
            Condition::Truth(_) | Condition::Or(..) | Condition::Not(_) => {}
        }
    }
    found
}

fn search<'t>(problem: &Problem<'t>, pair: (Term, Term), budget: &Budget) -> Search<'t> {
    Search {
        reference: (problem.reference, pair.0),
        optimised: (problem.optimised, pair.1),
        assumptions: problem.assumptions,
        significand_bits: budget.significand_bits,
    }
}

/// A condition with the forms it is about.
struct Requirement {
    condition: Definedness,
    /// None if the argument has no normal form.
    form: Option<FormId>,
    signs: Option<SignSet>,
    guard: Vec<ConditionId>,
}

impl Requirement {
    fn unguarded(&self) -> Option<(FormId, SignSet)> {
        if self.guard.is_empty() { self.form.zip(self.signs) } else { None }
    }
}

fn different(
    (point, discrepancy): (crate::witness::Point, crate::witness::Discrepancy),
) -> Decision {
    Decision::Different { point, discrepancy }
}

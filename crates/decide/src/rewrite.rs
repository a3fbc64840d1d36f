//! Rewriting normal forms: rebuilding them under facts, merging equal arguments, and multiplying
//! out denominators.
//!
//! Rebuilding applies the constructors of the algebra to every atom again, innermost first, so that newer facts
//! (signs, equalities of a case) take effect everywhere. Merging replaces one argument of a function by another if
//! their difference can be proved to be zero. A float value at one point chooses the pairs worth trying.

use crate::algebra::{
    Algebra, Atom, AtomId, Condition, ConditionId, Exponent, FormId, Monomial, Obstacle, Outcome,
    Polynomial, Power, SignSet,
};
use crate::evaluate::FormValues;
use rustc_hash::FxHashMap;
use term::Number;

/// Conditions nested deeper than this are not rebuilt.
const MAX_CONDITION_DEPTH: u32 = 64;

/// Rebuilds forms under the algebra's present facts.
#[derive(Debug, Default)]
pub(crate) struct Rewriter {
    atoms: FxHashMap<AtomId, Polynomial>,
    /// `e^form`, rebuilt.
    exponentials: FxHashMap<Exponent, Polynomial>,
    /// Equalities of the present case: an atom and the form that it equals.
    substitutions: FxHashMap<AtomId, FormId>,
    /// Arguments seen so far with a float value, if equal ones are to be merged.
    classes: Option<Vec<(f64, FormId)>>,
}

impl Rewriter {
    /// Creates a rewriter that merges arguments proved to be equal.
    pub(crate) fn merging() -> Self {
        Self { classes: Some(vec![(0.0, FormId::ZERO)]), ..Self::default() }
    }

    /// Solves one equation among the facts (a form that is zero) for an atom: the first for which this is possible.
    pub(crate) fn solve_equalities(&mut self, algebra: &mut Algebra) {
        for form in algebra.facts.forms().to_vec() {
            // Ask for the sign instead of reading the recorded one: two inequalities together may imply zero.
            if !algebra.sign(form).is_ok_and(|sign| sign == SignSet::ZERO) {
                continue;
            }
            if let Some((atom, value)) = self.solve_for_atom(algebra, form) {
                self.substitutions.insert(atom, value);
                return;
            }
        }
    }

    /// Solves `form = 0` for an atom that the solution does not contain.
    fn solve_for_atom(&self, algebra: &mut Algebra, form: FormId) -> Option<(AtomId, FormId)> {
        let terms = algebra.form(form).to_vec();
        for (index, (monomial, coefficient)) in terms.iter().enumerate() {
            let Some(atom) = monomial.as_atom() else { continue };
            let mut rest = terms.clone();
            rest.remove(index);
            let mut value = Polynomial::from_sorted(rest);
            value.scale_by(&-&coefficient.reciprocal()?);
            let value = algebra.intern(value).ok()?;
            let (below, _) = reachable(algebra, &algebra.polynomial(value));
            if !below.contains(&atom) {
                return Some((atom, value));
            }
        }
        None
    }

    /// Rebuilds the form under the present facts.
    pub(crate) fn rebuild(
        &mut self,
        algebra: &mut Algebra,
        polynomial: &Polynomial,
    ) -> Outcome<Polynomial> {
        // Expand first: exponents are compared as they stand in the sum, not relative to a scale.
        let terms = algebra.expanded(polynomial.clone())?;
        let (atoms, exponents) = reachable(algebra, &Polynomial::from_sorted(terms.clone()));
        let mut items: Vec<(u32, Item)> = Vec::with_capacity(atoms.len() + exponents.len());
        items.extend(atoms.iter().map(|atom| (algebra.atom_stamp(*atom), Item::Atom(*atom))));
        let stamp = |exponent: &Exponent| {
            let [plain, rest] = exponent.parts().map(|form| algebra.form_stamp(form));
            (plain.max(rest), Item::Exponent(*exponent))
        };
        items.extend(exponents.iter().map(stamp));
        items.sort_unstable();
        for (_, item) in items {
            algebra.spend(1)?;
            match item {
                Item::Atom(atom) if !self.atoms.contains_key(&atom) => {
                    let rebuilt = self.rebuild_atom(algebra, atom)?;
                    self.atoms.insert(atom, rebuilt);
                }
                Item::Exponent(exponent) if !self.exponentials.contains_key(&exponent) => {
                    // Rebuild the exponent as a whole, so that exponents with equal values are merged.
                    let exponent_form = algebra.intern(algebra.exponent_polynomial(exponent))?;
                    let inner = self.rebuild_argument(algebra, exponent_form)?;
                    let rebuilt = algebra.exp(inner)?;
                    self.exponentials.insert(exponent, rebuilt);
                }
                Item::Atom(_) | Item::Exponent(_) => {}
            }
        }
        self.rebuild_terms(algebra, &terms)
    }

    /// Rebuilds an atom from its rewritten parts, under the facts of the rewriter.
    fn rebuild_atom(&mut self, algebra: &mut Algebra, id: AtomId) -> Outcome<Polynomial> {
        if let Some(value) = self.substitutions.get(&id) {
            return Ok(algebra.polynomial(*value));
        }
        match algebra.atom(id) {
            Atom::Input(_)
            | Atom::Pi
            | Atom::Integer(_)
            | Atom::LogInteger(_)
            | Atom::Opaque { .. } => Ok(Polynomial::single(Monomial::of_atom(id))),
            Atom::Log(form) => {
                let inner = self.rebuild_argument(algebra, form)?;
                algebra.log(inner)
            }
            Atom::Base(form) => {
                let inner = self.rebuild_form(algebra, form)?;
                let rebuilt = algebra.intern(inner)?;
                if rebuilt == form {
                    return Ok(Polynomial::single(Monomial::of_atom(id)));
                }
                Ok(algebra.polynomial(rebuilt))
            }
            Atom::Maximum(forms) => {
                let mut operands = Vec::with_capacity(forms.len());
                for form in forms {
                    let operand = self.rebuild_argument(algebra, form)?;
                    operands.push(algebra.intern(operand)?);
                }
                algebra.maximum_of_forms(operands)
            }
            Atom::Select(condition, a, b) => {
                let condition = self.rebuild_condition(algebra, condition, MAX_CONDITION_DEPTH)?;
                match algebra.condition(condition) {
                    // The branch not taken may not even have a form here.
                    Condition::Truth(true) => self.rebuild_form(algebra, a),
                    Condition::Truth(false) => self.rebuild_form(algebra, b),
                    _ => {
                        let (a, b) = (
                            self.rebuild_argument(algebra, a)?,
                            self.rebuild_argument(algebra, b)?,
                        );
                        algebra.select(condition, a, b)
                    }
                }
            }
            Atom::Apply(function, form) => {
                let inner = self.rebuild_argument(algebra, form)?;
                algebra.apply(function, inner)
            }
        }
    }

    fn rebuild_condition(
        &mut self,
        algebra: &mut Algebra,
        id: ConditionId,
        depth: u32,
    ) -> Outcome<ConditionId> {
        let depth = depth.checked_sub(1).ok_or(Obstacle::Budget)?;
        match algebra.condition(id) {
            Condition::Truth(_) => Ok(id),
            Condition::Sign(form, wanted) => {
                let form = self.rebuild_argument(algebra, form)?;
                let form = algebra.intern(form)?;
                algebra.sign_condition(form, wanted)
            }
            Condition::And(a, b) => {
                let a = self.rebuild_condition(algebra, a, depth)?;
                let b = self.rebuild_condition(algebra, b, depth)?;
                Ok(algebra.connective(a, b, true))
            }
            Condition::Or(a, b) => {
                let a = self.rebuild_condition(algebra, a, depth)?;
                let b = self.rebuild_condition(algebra, b, depth)?;
                Ok(algebra.connective(a, b, false))
            }
            Condition::Not(inner) => {
                let inner = self.rebuild_condition(algebra, inner, depth)?;
                Ok(algebra.negate_condition(inner))
            }
        }
    }

    /// Rebuilds an argument, and replaces it by an equal one seen before.
    fn rebuild_argument(&mut self, algebra: &mut Algebra, form: FormId) -> Outcome<Polynomial> {
        let rebuilt = self.rebuild_form(algebra, form)?;
        if self.classes.is_none() {
            return Ok(rebuilt);
        }
        let form = algebra.intern(rebuilt)?;
        let value = FormValues::new(algebra, guess_point).form(form);
        if !value.is_finite() {
            return Ok(algebra.polynomial(form));
        }
        let candidates: Vec<FormId> = self
            .classes
            .iter()
            .flatten()
            .filter(|(other, _)| is_close(*other, value))
            .map(|(_, form)| *form)
            .collect();
        for candidate in candidates {
            if candidate == form {
                return Ok(algebra.polynomial(form));
            }
            let (a, b) = (algebra.polynomial(candidate), algebra.polynomial(form));
            let gap = algebra.difference(a, b)?;
            if clear_denominators(algebra, gap)?.is_zero() {
                return Ok(algebra.polynomial(candidate));
            }
        }
        if let Some(classes) = &mut self.classes {
            classes.push((value, form));
        }
        Ok(algebra.polynomial(form))
    }

    fn rebuild_form(&mut self, algebra: &mut Algebra, form: FormId) -> Outcome<Polynomial> {
        let terms = algebra.form(form).to_vec();
        self.rebuild_terms(algebra, &terms)
    }

    fn rebuild_terms(
        &mut self,
        algebra: &mut Algebra,
        terms: &[(Monomial, Number)],
    ) -> Outcome<Polynomial> {
        let mut sum = Polynomial::zero();
        for (monomial, coefficient) in terms {
            let mut product = Polynomial::constant(coefficient.clone());
            for (atom, power) in algebra.factors(*monomial) {
                let factor = self.power_of_atom(algebra, atom, power)?;
                product = algebra.product(product, factor)?;
            }
            if monomial.exponent() != Exponent::ZERO {
                let exponential = self.exponentials.get(&monomial.exponent()).cloned();
                let exponential = exponential.unwrap_or_else(|| {
                    Polynomial::single(Monomial::of_exponent(monomial.exponent()))
                });
                product = algebra.product(product, exponential)?;
            }
            algebra.accumulate(&mut sum, product)?;
        }
        sum.tidy();
        Ok(sum)
    }

    /// Returns a power of a rebuilt atom.
    fn power_of_atom(
        &self,
        algebra: &mut Algebra,
        atom: AtomId,
        power: Power,
    ) -> Outcome<Polynomial> {
        let rebuilt = self.atoms.get(&atom);
        let same = rebuilt
            .is_none_or(|new| new.as_single() == Some((Monomial::of_atom(atom), Number::ONE)));
        // Facts may let factors leave a root that they could not leave before.
        if same
            && power.as_integer().is_none()
            && let Some(Atom::Base(form)) = algebra.atom_ref(atom)
        {
            let inside = algebra.polynomial(*form);
            return algebra.power(inside, power);
        }
        if same {
            let (monomial, shed) =
                algebra.monomial_from([(atom, power)].into_iter().collect(), Exponent::ZERO)?;
            return Ok(Algebra::monomial_polynomial(monomial, shed.unwrap_or(Number::ONE)));
        }
        // `same` was tested above, so the atom was rebuilt.
        let rebuilt = rebuilt.cloned().unwrap_or_else(Polynomial::zero);
        algebra.power(rebuilt, power)
    }
}

/// A part of a form that is rebuilt before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Item {
    Exponent(Exponent),
    Atom(AtomId),
}

/// Collects all atoms and exponents at any depth below a polynomial, without repetition.
pub(crate) fn reachable(
    algebra: &Algebra,
    polynomial: &Polynomial,
) -> (Vec<AtomId>, Vec<Exponent>) {
    let mut found = Reachable::default();
    found.monomial(algebra, polynomial.scale());
    for (monomial, _) in polynomial.raw_terms() {
        found.monomial(algebra, *monomial);
    }
    while let Some(form) = found.waiting.pop() {
        for (monomial, _) in algebra.form(form) {
            found.monomial(algebra, *monomial);
        }
    }
    (found.atoms, found.exponents)
}

#[derive(Default)]
struct Reachable {
    atoms: Vec<AtomId>,
    exponents: Vec<Exponent>,
    seen_atoms: rustc_hash::FxHashSet<AtomId>,
    seen_exponents: rustc_hash::FxHashSet<Exponent>,
    waiting: Vec<FormId>,
}

impl Reachable {
    fn monomial(&mut self, algebra: &Algebra, monomial: Monomial) {
        for (atom, _) in algebra.factors(monomial) {
            if self.seen_atoms.insert(atom) {
                self.atoms.push(atom);
                self.waiting.extend(algebra.forms_inside(atom));
            }
        }
        let exponent = monomial.exponent();
        if exponent != Exponent::ZERO && self.seen_exponents.insert(exponent) {
            self.exponents.push(exponent);
            self.waiting.extend(exponent.parts());
        }
    }
}

/// Multiplies a polynomial by all of its denominators, multiplied out. Bases are not zero where the original is
/// defined, so one is zero there if and only if the other is.
pub(crate) fn clear_denominators(
    algebra: &mut Algebra,
    polynomial: Polynomial,
) -> Outcome<Polynomial> {
    let mut polynomial = algebra.expand_bases(polynomial)?;
    while let Some((base, power)) = outermost_denominator(algebra, &polynomial) {
        let (factor, _) = algebra
            .monomial_from([(base, power.negated()?)].into_iter().collect(), Exponent::ZERO)?;
        algebra.shift(&mut polynomial, factor, &Number::ONE)?;
        polynomial = algebra.expand_bases(polynomial)?;
    }
    Ok(polynomial)
}

/// Finds the base with the latest stamp among those with a negative whole part of their power, and its least power.
fn outermost_denominator(algebra: &Algebra, polynomial: &Polynomial) -> Option<(AtomId, Power)> {
    let mut best: Option<(u32, AtomId, i32)> = None;
    for (monomial, _) in polynomial.raw_terms() {
        for (atom, power) in algebra.factors(*monomial) {
            if power.floor() >= 0 || !algebra.is_base(atom) {
                continue;
            }
            let stamp = algebra.atom_stamp(atom);
            best = match best {
                Some((other, found, least)) if found == atom => {
                    Some((other, found, least.min(power.floor())))
                }
                Some((other, ..)) if other > stamp => best,
                _ => Some((stamp, atom, power.floor())),
            };
        }
    }
    best.map(|(_, atom, power)| (atom, Power::integer(power)))
}

/// Values for guesses: distinct and positive, so that most logarithms and roots are defined.
fn guess_point(position: u32) -> f64 {
    0.3 + f64::from(position.wrapping_mul(2_654_435_761) >> 16) / 65536.0
}

fn is_close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (a.abs() + b.abs()) + 1e-12
}

//! Known signs: structural ones (exponentials are positive, squares are not negative) and those from facts collected
//! before a rewrite.
//!
//! Errs towards "any sign". A fact about a form is a statement about every input under consideration; the code that
//! adds one is responsible for its truth.

use super::sign_set::largest;
use super::{
    Algebra, Atom, AtomId, Exponent, FormId, Monomial, Outcome, Polynomial, SignSet, Summand,
};
use crate::evaluate::constant_sign;
use term::{Function, Number};

impl Algebra {
    /// Returns the known sign of a form.
    pub(crate) fn sign(&mut self, form: FormId) -> Outcome<SignSet> {
        let structural = self.sign_of_terms(form);
        if self.facts.is_empty() || structural.within(SignSet::ZERO) {
            return Ok(structural);
        }
        let known = self.sign_by_fact(form)?;
        let sign = structural.and(known);
        if self.facts.combine { Ok(sign.and(self.sign_by_one_fact(form)?)) } else { Ok(sign) }
    }

    pub(crate) fn sign_of(&mut self, polynomial: Polynomial) -> Outcome<SignSet> {
        let form = self.intern(polynomial)?;
        self.sign(form)
    }

    /// Adds a fact. Returns `false` if it contradicts known signs, so that no input satisfies all facts.
    pub(crate) fn assume(&mut self, form: FormId, sign: SignSet) -> Outcome<bool> {
        if let Some((gap, flipped)) = self.exponent_gap(form)? {
            return self.assume(gap, if flipped { sign.negated() } else { sign });
        }
        let structural = self.sign_of_terms(form);
        let (key, flipped) = self.fact_key(form)?;
        let Some(key) = key else { return Ok(!structural.and(sign).within(SignSet::NONE)) };
        let sign = sign.and(structural);
        let sign = if flipped { sign.negated() } else { sign };
        let known = self.facts.get(key);
        let both = known.and(sign);
        if both != known {
            if !self.facts.order.contains(&key) {
                self.facts.order.push(key);
            }
            self.facts.signs.insert(key, both);
        }
        Ok(!both.within(SignSet::NONE))
    }

    fn sign_by_fact(&mut self, form: FormId) -> Outcome<SignSet> {
        let (key, flipped) = self.fact_key(form)?;
        let sign = key.map_or(SignSet::ANY, |key| self.facts.get(key));
        Ok(if flipped { sign.negated() } else { sign })
    }

    /// Returns the sign that follows from single facts: writes `form = λ·fact + rest`, with `λ` such that a component
    /// cancels, and adds the signs of both parts.
    fn sign_by_one_fact(&mut self, form: FormId) -> Outcome<SignSet> {
        let mut possible = SignSet::ANY;
        for index in 0..self.facts.order.len() {
            let fact = self.facts.order[index];
            let known = self.facts.get(fact);
            if !known.within(SignSet::NOT_NEGATIVE) && !known.within(SignSet::NOT_POSITIVE) {
                continue;
            }
            let Some(factor) = self.cancelling_factor(form, fact) else { continue };
            let sign = known.times(SignSet::of(factor.signum()));
            let mut multiple = self.polynomial(fact);
            multiple.scale_by(&-&factor);
            let full_form = self.polynomial(form);
            let rest = self.sum(full_form, multiple)?;
            let rest = self.intern(rest)?;
            let rest_sign = self.sign_of_terms(rest).and(self.sign_by_fact(rest)?);
            possible = possible.and(sign.plus(rest_sign));
        }
        Ok(possible)
    }

    /// Finds a factor by which the fact gets the same coefficient as the form at some monomial other than 1, so that
    /// the two cancel there.
    fn cancelling_factor(&self, form: FormId, fact: FormId) -> Option<Number> {
        let terms = self.form(form);
        self.form(fact).iter().filter(|(monomial, _)| *monomial != Monomial::ONE).find_map(
            |(monomial, coefficient)| {
                let index = terms.binary_search_by_key(monomial, |(own, _)| *own).ok()?;
                Some(&terms[index].1 * &coefficient.reciprocal()?)
            },
        )
    }

    /// Returns the canonical number under which a form's sign is recorded, and whether it was negated; `None`
    /// for a constant.
    fn fact_key(&mut self, form: FormId) -> Outcome<(Option<FormId>, bool)> {
        let terms = self.form(form);
        let Some((_, leading)) = terms.first() else { return Ok((None, false)) };
        if terms.len() == 1 && !terms[0].0.has_atoms() && terms[0].0.exponent() == Exponent::ZERO {
            return Ok((None, false));
        }
        let flipped = leading.is_negative();
        if leading.is_one() {
            return Ok((Some(form), false));
        }
        let mut scaled = self.polynomial(form);
        // A leading coefficient is not zero.
        scaled.scale_by(&leading.clone().reciprocal().unwrap_or(Number::ONE));
        Ok((Some(self.intern(scaled)?), flipped))
    }

    /// Returns the sign without facts about the whole form, with facts about single atoms.
    fn sign_of_terms(&mut self, form: FormId) -> SignSet {
        if self.form_is_constant(form) {
            return constant_sign(self, form);
        }
        let terms = self.form(form);
        let mut sign = SignSet::ZERO;
        for (monomial, coefficient) in terms {
            sign = sign.plus(self.sign_of_summand(*monomial, coefficient));
            if sign == SignSet::ANY {
                break;
            }
        }
        if sign == SignSet::ANY && terms.len() == 2 {
            return self.sign_of_exponential_difference(form);
        }
        sign
    }

    fn sign_of_exponential_difference(&mut self, form: FormId) -> SignSet {
        let gap = self.exponent_gap(form).ok().flatten();
        let Some((gap, flipped)) = gap else { return SignSet::ANY };
        // Not `sign`, which combines facts: their remainders may be such differences again, without end.
        let known = self.sign_by_fact(gap).unwrap_or(SignSet::ANY);
        let sign = self.sign_of_terms(gap).and(known);
        if flipped { sign.negated() } else { sign }
    }

    /// `c·e^a − c·e^b` has the sign of `a − b`, or the opposite one if `c` is negative.
    fn exponent_gap(&mut self, form: FormId) -> Outcome<Option<(FormId, bool)>> {
        let [(m, c), (n, d)] = self.form(form) else { return Ok(None) };
        let (m, n, negative) = (*m, *n, c.is_negative());
        if m.has_atoms() || n.has_atoms() || !(c + d).is_zero() {
            return Ok(None);
        }
        let [a, b] = [m, n].map(|monomial| self.exponent_polynomial(monomial.exponent()));
        let gap = self.difference(a, b)?;
        Ok(Some((self.intern(gap)?, negative)))
    }

    fn sign_of_summand(&self, monomial: Monomial, coefficient: &Number) -> SignSet {
        let mut sign = SignSet::of(coefficient.signum());
        for (atom, power) in self.factors(monomial) {
            sign = sign.times(self.sign_of_atom(atom).to_power(power));
        }
        sign
    }

    /// Returns an atom's sign, with facts about it.
    pub(crate) fn sign_of_atom(&self, atom: AtomId) -> SignSet {
        let structural = self.atom_sign(atom);
        if self.facts.is_empty() {
            return structural;
        }
        let atom_form = [(Monomial::of_atom(atom), Number::ONE)];
        let fact = self.find_sorted(&atom_form).map_or(SignSet::ANY, |form| self.facts.get(form));
        let inside = match self.atom_ref(atom) {
            // The fact may be about the polynomial rather than the atom that carries it.
            Some(Atom::Base(form)) => self.facts.get(*form),
            _ => SignSet::ANY,
        };
        structural.and(fact).and(inside)
    }

    fn find_sorted(&self, terms: &[Summand]) -> Option<FormId> {
        self.facts.order.iter().copied().find(|form| self.form(*form) == terms)
    }

    /// Returns the sign of an atom about to be entered in the table, from what is inside it.
    pub(super) fn sign_of_new_atom(&mut self, atom: &Atom) -> SignSet {
        let facts = std::mem::take(&mut self.facts);
        let sign = self.structural_sign(atom);
        self.facts = facts;
        sign
    }

    /// Returns the sign of the larger of a value with sign `sign` and a form, without facts.
    pub(super) fn sign_of_larger(&mut self, sign: SignSet, form: FormId) -> SignSet {
        let facts = std::mem::take(&mut self.facts);
        let other = self.sign_of_terms(form);
        self.facts = facts;
        largest(sign, other)
    }

    fn structural_sign(&mut self, atom: &Atom) -> SignSet {
        match atom {
            Atom::Input(_) | Atom::Opaque { squares: false, .. } => SignSet::ANY,
            Atom::Opaque { squares: true, .. } => SignSet::NOT_NEGATIVE,
            Atom::Pi | Atom::Integer(_) | Atom::LogInteger(_) => SignSet::POSITIVE,
            Atom::Base(form) => self.sign_of_terms(*form),
            Atom::Log(form) if self.form_is_constant(*form) => SignSet::ANY,
            Atom::Log(_) => SignSet::ANY,
            Atom::Maximum(forms) => {
                let signs: Vec<SignSet> =
                    forms.iter().map(|form| self.sign_of_terms(*form)).collect();
                signs.into_iter().reduce(largest).unwrap_or(SignSet::ANY)
            }
            Atom::Select(_, a, b) => self.sign_of_terms(*a).or(self.sign_of_terms(*b)),
            Atom::Apply(Function::Erf | Function::Atan | Function::Cbrt, form) => {
                self.sign_of_terms(*form)
            }
            Atom::Apply(Function::Floor | Function::Trunc | Function::Round, form)
                if self.sign_of_terms(*form).within(SignSet::NOT_NEGATIVE) =>
            {
                SignSet::NOT_NEGATIVE
            }
            Atom::Apply(Function::Ceil, form)
                if self.sign_of_terms(*form).within(SignSet::POSITIVE) =>
            {
                SignSet::POSITIVE
            }
            Atom::Apply(..) => SignSet::ANY,
        }
    }
}

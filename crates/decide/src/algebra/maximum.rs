//! Maxima as sets.
//!
//! The canonical set is flat, has the common addends and the common positive factor pulled out,
//! and no element that another one is known to dominate. "Common addend" is the component-wise
//! minimum, as for exponents: `max(x, −x) = 2·max(x, 0) − x`, and `min(a, b) = a + b − max(a, b)`
//! needs no rule of its own. Every step is an identity at all inputs, ties included.

use super::SignSet;
use super::{Algebra, Atom, AtomId, FormId, Monomial, Outcome, Polynomial};
use term::Number;

/// Nested maxima are flattened into sets up to this size.
const MAX_FLATTENED_SET: usize = 64;

/// The elements of sets up to this size are compared in pairs; a larger set only grows.
const MAX_PAIRWISE_SET: usize = 8;
/// The size up to which elements are compared in pairs if there are facts about signs.
const MAX_PAIRWISE_SET_WITH_FACTS: usize = 24;
/// Longer elements are compared in pairs only if there are facts about them.
const MAX_PAIRWISE_FORM: usize = 16;

impl Algebra {
    /// Returns the largest of some polynomials; there must be at least one.
    pub(crate) fn maximum(&mut self, operands: Vec<Polynomial>) -> Outcome<Polynomial> {
        if let [a, b] = operands.as_slice() {
            if let Some(both) = self.unite(a, b)? {
                return Ok(both);
            }
            for (many, one) in [(a, b), (b, a)] {
                if let Some(grown) = self.grow(many, one)? {
                    return Ok(grown);
                }
            }
        }
        let mut forms = Vec::with_capacity(operands.len());
        for operand in operands {
            forms.push(self.intern(operand)?);
        }
        self.maximum_of_forms(forms)
    }

    /// `max(f, 0)`, as `max(p, n) − n` for the summands of `f` with positive and with negative coefficients. If these
    /// are maxima of many, the set is their union.
    pub(crate) fn ramp(&mut self, form: FormId) -> Outcome<Polynomial> {
        let (mut above, mut below) = (Vec::new(), Vec::new());
        for (monomial, coefficient) in self.form(form) {
            match coefficient.is_negative() {
                false => above.push((*monomial, coefficient.clone())),
                true => below.push((*monomial, -coefficient)),
            }
        }
        let [above, below] = [above, below].map(Polynomial::from_sorted);
        let larger = self.maximum(vec![above, below.clone()])?;
        self.difference(larger, below)
    }

    /// Returns the largest of some forms, with common addends and a common factor outside the canonical set.
    pub(crate) fn maximum_of_forms(&mut self, forms: Vec<FormId>) -> Outcome<Polynomial> {
        let forms = self.flatten(forms)?;
        let forms = self.without_dominated(forms)?;
        if let [only] = forms.as_slice() {
            return Ok(self.polynomial(*only));
        }
        let common = self.component_minimum(&forms);
        let mut shifted = Vec::with_capacity(forms.len());
        for form in forms {
            let rest = self.subtract_sorted(form, &common)?;
            shifted.push(rest);
        }
        if !common.is_empty() {
            // After `−M` is pulled out, a maximum `M` may be an operand of its own, which can be flattened.
            let forms = shifted.into_iter().map(|terms| self.intern_sorted(terms)).collect();
            let rest = self.maximum_of_forms(forms)?;
            return self.sum(rest, Polynomial::from_sorted(common));
        }
        let scale = self.common_scale(&shifted);
        let inverse = scale.reciprocal().unwrap_or(Number::ONE);
        let mut elements = Vec::with_capacity(shifted.len());
        for mut terms in shifted {
            if !inverse.is_one() {
                for (_, coefficient) in &mut terms {
                    *coefficient = &*coefficient * &inverse;
                }
            }
            elements.push(self.intern_sorted(terms));
        }
        elements.sort_unstable();
        elements.dedup();
        let mut result = self.atom_polynomial(Atom::Maximum(elements.into()));
        result.scale_by(&scale);
        Ok(result)
    }

    /// `max(c·M, c·N)` for canonical maxima whose elements are too many or too long to be compared in pairs: the set
    /// is their union. Neither has a common addend or factor, so the union has none.
    fn unite(&mut self, a: &Polynomial, b: &Polynomial) -> Outcome<Option<Polynomial>> {
        let single = |polynomial: &Polynomial| {
            let (monomial, scale) = polynomial.as_single()?;
            let atom = monomial.as_atom().filter(|_| !scale.is_negative())?;
            match self.atom_ref(atom) {
                Some(Atom::Maximum(elements)) => Some((atom, elements.to_vec(), scale.clone())),
                _ => None,
            }
        };
        let (Some((first, mut elements, scale)), Some((second, more, other))) =
            (single(a), single(b))
        else {
            return Ok(None);
        };
        // Small sets of short elements are compared in pairs, which may remove some.
        let few = elements.len().max(more.len()) < MAX_PAIRWISE_SET;
        let long = |form: &FormId| self.form(*form).len() > MAX_PAIRWISE_FORM;
        let compared = few && !elements.iter().chain(&more).all(long);
        if scale != other || compared || few && !self.facts.is_empty() {
            return Ok(None);
        }
        self.spend(elements.len() + more.len())?;
        elements.extend(more);
        elements.sort_unstable();
        elements.dedup();
        let second_form = self.intern(Polynomial::single(Monomial::of_atom(second)))?;
        let sign = self.sign_of_larger(self.atom_sign(first), second_form);
        let atom = self.intern_maximum(elements.into(), sign);
        let mut result = Polynomial::single(Monomial::of_atom(atom));
        result.scale_by(&scale);
        Ok(Some(result))
    }

    /// `max(c·M, g)` for a canonical maximum `M` of many elements. If `g/c` has whole, non-negative coefficients, the
    /// new set is the old one with `g/c` in it, and nothing old is touched. A running maximum costs one copy of the
    /// set a step instead of a renormalisation.
    fn grow(&mut self, many: &Polynomial, one: &Polynomial) -> Outcome<Option<Polynomial>> {
        let Some((monomial, scale)) = many.as_single() else { return Ok(None) };
        let atom = monomial.as_atom().filter(|_| !scale.is_negative());
        let Some(atom) = atom else { return Ok(None) };
        let Some(Atom::Maximum(old)) = self.atom_ref(atom) else { return Ok(None) };
        if old.len() < MAX_PAIRWISE_SET && one.length() <= MAX_PAIRWISE_FORM {
            return Ok(None);
        }
        let (old, old_sign) = (old.clone(), self.atom_sign(atom));
        let Some(terms) = self.whole_multiples(one, &scale) else { return Ok(None) };
        self.spend(old.len())?;
        let added = self.intern_sorted(terms);
        let mut elements = old.into_vec();
        if let Err(position) = elements.binary_search(&added) {
            elements.insert(position, added);
        }
        let sign = self.sign_of_larger(old_sign, added);
        let atom = self.intern_maximum(elements.into(), sign);
        let mut result = Polynomial::single(Monomial::of_atom(atom));
        result.scale_by(&scale);
        Ok(Some(result))
    }

    /// Returns the summands of `one / scale`, if their coefficients are whole and not negative and none is
    /// a maximum itself.
    fn whole_multiples(&self, one: &Polynomial, scale: &Number) -> Option<Vec<super::Summand>> {
        if one.scale() != Monomial::ONE {
            return None;
        }
        let mut one = one.clone();
        one.tidy();
        let factor = one.factor() * &scale.reciprocal()?;
        let mut terms = one.into_raw_terms();
        for (monomial, coefficient) in &mut terms {
            if !factor.is_one() {
                *coefficient = &*coefficient * &factor;
            }
            let atom = monomial.as_atom().and_then(|atom| self.atom_ref(atom));
            if matches!(atom, Some(Atom::Maximum(_))) || coefficient.to_i64()? < 0 {
                return None;
            }
        }
        Some(terms)
    }

    /// Flattens nested maxima: an operand `c·max(S) + r` becomes `c·s + r` for each `s` of `S`, for positive `c`.
    fn flatten(&mut self, forms: Vec<FormId>) -> Outcome<Vec<FormId>> {
        let mut flat = Vec::new();
        let mut waiting = forms;
        while let Some(form) = waiting.pop() {
            match self.inner_maximum(form) {
                Some((index, atom))
                    if flat.len() + waiting.len() + self.forms_inside(atom).len()
                        <= MAX_FLATTENED_SET =>
                {
                    let mut rest = self.form(form).to_vec();
                    let (_, coefficient) = rest.remove(index);
                    for element in self.forms_inside(atom) {
                        let mut scaled = self.polynomial(element);
                        scaled.scale_by(&coefficient);
                        let sum = self.sum(scaled, Polynomial::from_sorted(rest.clone()))?;
                        waiting.push(self.intern(sum)?);
                    }
                }
                _ => flat.push(form),
            }
            self.spend(1)?;
        }
        flat.sort_unstable();
        flat.dedup();
        Ok(flat)
    }

    /// Finds a summand that is a maximum with positive coefficient.
    fn inner_maximum(&self, form: FormId) -> Option<(usize, AtomId)> {
        self.form(form).iter().enumerate().find_map(|(index, (monomial, coefficient))| {
            let atom = monomial.as_atom()?;
            let is_maximum = matches!(self.atom_ref(atom), Some(Atom::Maximum(_)));
            (is_maximum && !coefficient.is_negative()).then_some((index, atom))
        })
    }

    /// Drops elements that are never the only largest.
    fn without_dominated(&mut self, forms: Vec<FormId>) -> Outcome<Vec<FormId>> {
        let mut kept = self.largest_of_each_shape(forms);
        let limit =
            if self.facts.is_empty() { MAX_PAIRWISE_SET } else { MAX_PAIRWISE_SET_WITH_FACTS };
        let long = |form: &FormId| self.form(*form).len() > MAX_PAIRWISE_FORM;
        if kept.len() > limit || (self.facts.is_empty() && kept.iter().any(long)) {
            return Ok(kept);
        }
        let mut index = 0;
        while index < kept.len() {
            let mut dominated = false;
            for other in 0..kept.len() {
                if other == index {
                    continue;
                }
                let (a, b) = (self.polynomial(kept[other]), self.polynomial(kept[index]));
                let gap = self.difference(a, b)?;
                if self.sign_of(gap)?.within(SignSet::NOT_NEGATIVE) {
                    dominated = true;
                    break;
                }
            }
            if dominated {
                kept.remove(index);
            } else {
                index += 1;
            }
        }
        Ok(kept)
    }

    /// Keeps only the largest of the elements that differ by a rational constant.
    fn largest_of_each_shape(&mut self, forms: Vec<FormId>) -> Vec<FormId> {
        let mut shapes: Vec<(FormId, Number, FormId)> = Vec::with_capacity(forms.len());
        for form in forms {
            let (constant, shape) = match self.form(form) {
                // The constant term has the smallest monomial.
                [(Monomial::ONE, constant), rest @ ..] => (constant.clone(), Some(rest.to_vec())),
                _ => (Number::ZERO, None),
            };
            let shape = shape.map_or(form, |rest| self.intern_sorted(rest));
            shapes.push((shape, constant, form));
        }
        shapes.sort();
        shapes.reverse();
        shapes.dedup_by_key(|(shape, ..)| *shape);
        let mut kept: Vec<FormId> = shapes.into_iter().map(|(.., form)| form).collect();
        kept.sort_unstable();
        kept
    }

    fn subtract_sorted(
        &mut self,
        form: FormId,
        common: &[super::Summand],
    ) -> Outcome<Vec<super::Summand>> {
        if common.is_empty() {
            return Ok(self.form(form).to_vec());
        }
        self.spend(self.form(form).len() + common.len())?;
        let negated: Vec<_> = common.iter().map(|(m, c)| (*m, -c)).collect();
        Ok(super::monomial_product::merge(self.form(form), &negated))
    }

    /// Returns the positive rational that makes all coefficients whole and coprime.
    fn common_scale(&self, elements: &[Vec<super::Summand>]) -> Number {
        let (mut numerator, mut denominator) = (0_i64, 1_i64);
        for (_, coefficient) in elements.iter().flatten() {
            let Some((top, bottom)) = coefficient.to_small_ratio() else { return Number::ONE };
            numerator = gcd(numerator, top);
            match denominator.checked_mul(bottom / gcd(denominator, bottom)) {
                Some(lcm) => denominator = lcm,
                None => return Number::ONE,
            }
        }
        Number::ratio(numerator.max(1), denominator).unwrap_or(Number::ONE)
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).unwrap_or(1)
}

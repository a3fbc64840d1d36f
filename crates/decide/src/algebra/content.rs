//! Common factors: a sum as *content* times a *primitive* sum that has none left.
//!
//! The content takes, for every atom, the least power of any summand (absent counts as 0), and for the exponentials
//! the component-wise least exponent: `Σ e^(xⱼ−m) = e^−m · Σ e^xⱼ`. So a safe softmax and a naive one get the same
//! normal form without cross terms, in time linear in the sum. Two sums that differ by a monomial factor get the same
//! primitive sum.
//!
//! Pulling an atom out of an integer power is right wherever the original is defined. Under a root
//! only factors known to be positive may leave: `√(x²y)` is 0 at x=0, y=−1, where `|x|·√y` is not
//! defined at all.

use super::SignSet;
use super::monomial::Factors;
use super::{
    Algebra, AtomId, Exponent, FormId, Monomial, Obstacle, Outcome, Polynomial, Power, Summand,
};
use rustc_hash::FxHasher;
use std::collections::BTreeMap;
use std::hash::Hasher;
use term::Number;

/// A sum, its content's monomial and coefficient, and its primitive.
pub(super) type Primitive = (Vec<Summand>, (Monomial, Number, FormId));

/// Number of remembered primitives, a power of two.
pub(super) const RECENT_PRIMITIVES: usize = 256;

/// Returns the slot in which the primitive of a sum is remembered.
fn slot_of(terms: &[Summand]) -> usize {
    let (Some(first), Some(last)) = (terms.first(), terms.last()) else { return 0 };
    let mut hasher = FxHasher::default();
    for word in [first.0.bits().0, first.0.bits().1, last.0.bits().0, last.0.bits().1] {
        hasher.write_u64(word);
    }
    hasher.write_usize(terms.len());
    hasher.finish() as usize % RECENT_PRIMITIVES
}

/// The factors that may be pulled out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pull {
    /// All factors: the sum is raised to an integer power, or its absolute value is taken.
    Everything,
    /// Factors that are positive at every input: the sum is under a root.
    Positive,
}

impl Algebra {
    /// Returns monomial and coefficient of the content, and the primitive sum. The polynomial must not be zero.
    ///
    /// With [`Pull::Everything`] the primitive sum begins with coefficient 1, with
    /// [`Pull::Positive`] with 1 or −1.
    pub(crate) fn primitive(
        &mut self,
        polynomial: Polynomial,
        pull: Pull,
    ) -> Outcome<(Monomial, Number, FormId)> {
        if pull == Pull::Positive {
            let terms = self.expanded(polynomial)?;
            return self.primitive_of(terms, pull);
        }
        let mut polynomial = polynomial;
        polynomial.tidy();
        let (scale, factor) = (polynomial.scale(), polynomial.factor().clone());
        let (content, coefficient, base) = self.known_primitive(polynomial.into_raw_terms())?;
        let (content, shed) = self.monomial_product(scale, content)?;
        let coefficient = &(&coefficient * &factor) * &shed.unwrap_or(Number::ONE);
        Ok((content, coefficient, base))
    }

    /// Returns the primitive of a sum without a scale. Recent sums are remembered: the outputs of a row are
    /// divided by the same ones, tile after tile.
    fn known_primitive(&mut self, terms: Vec<Summand>) -> Outcome<(Monomial, Number, FormId)> {
        let slot = slot_of(&terms);
        if let Some((known, primitive)) = &self.recent_primitives[slot]
            && *known == terms
        {
            return Ok(primitive.clone());
        }
        let primitive = self.primitive_of(terms.clone(), Pull::Everything)?;
        self.recent_primitives[slot] = Some((terms, primitive.clone()));
        Ok(primitive)
    }

    /// Computes monomial and coefficient of the content of sorted summands, and their primitive sum.
    fn primitive_of(
        &mut self,
        terms: Vec<Summand>,
        pull: Pull,
    ) -> Outcome<(Monomial, Number, FormId)> {
        let (mut content, mut coefficient) = (Monomial::ONE, Number::ONE);
        let mut terms = terms;
        loop {
            let common = self.common_factor(&terms, pull)?;
            if common != Monomial::ONE {
                terms = self.divide(terms, common)?;
                let (product, shed) = self.monomial_product(content, common)?;
                content = product;
                coefficient = &coefficient * &shed.unwrap_or(Number::ONE);
            }
            if !self.has_whole_base(&terms) {
                break;
            }
            // `b^-1 + x` became `b^-1 · (1 + x·b)`; multiply the inner base out and look again.
            let expanded = self.expand_bases(Polynomial::from_sorted(terms))?;
            terms = self.expanded(expanded)?;
        }
        let leading = terms.first().ok_or(Obstacle::ZeroDenominator)?.1.clone();
        let leading = if pull == Pull::Everything { leading } else { leading.abs() };
        if !leading.is_one() {
            let inverse = leading.reciprocal().ok_or(Obstacle::ZeroDenominator)?;
            for (_, own) in &mut terms {
                *own = &*own * &inverse;
            }
            coefficient = &coefficient * &leading;
        }
        Ok((content, coefficient, self.intern_sorted(terms)))
    }

    /// Divides every summand by a monomial.
    pub(crate) fn divide(&mut self, terms: Vec<Summand>, by: Monomial) -> Outcome<Vec<Summand>> {
        let (inverse, shed) = self.monomial_inverse(by)?;
        let mut quotient = Polynomial::from_sorted(terms);
        self.shift(&mut quotient, inverse, &shed.unwrap_or(Number::ONE))?;
        self.expanded(quotient)
    }

    fn has_whole_base(&self, terms: &[Summand]) -> bool {
        terms.iter().any(|(monomial, _)| {
            !self.has_only_inputs(*monomial)
                && self
                    .factors(*monomial)
                    .iter()
                    .any(|(atom, power)| power.floor() > 0 && self.is_base(*atom))
        })
    }

    fn common_factor(&mut self, terms: &[Summand], pull: Pull) -> Outcome<Monomial> {
        let exponent = self.least_exponent(terms);
        let mut factors = self.least_powers(terms);
        if pull == Pull::Positive {
            factors.retain(|(atom, _)| self.sign_of_atom(*atom) == SignSet::POSITIVE);
        }
        // No number splits off here: powers of integer atoms are below 1.
        Ok(self.monomial_from(factors, exponent)?.0)
    }

    /// Returns each atom's least power over all summands, where that is not 0.
    fn least_powers(&self, terms: &[Summand]) -> Factors {
        // A positive least power needs the atom in the first summand; a negative one can come
        // from any. All other atoms have least power 0 and need no bookkeeping.
        let mut least: BTreeMap<AtomId, (Power, usize)> = BTreeMap::new();
        for (index, (monomial, _)) in terms.iter().enumerate() {
            if !monomial.has_atoms() {
                continue;
            }
            for (atom, power) in self.factors(*monomial) {
                if index == 0 || power.is_negative() || least.contains_key(&atom) {
                    // Summands before this one did not have the atom: power 0 there.
                    let entry = least.entry(atom).or_insert((power, 0));
                    entry.0 = entry.0.smaller(power);
                    entry.1 += 1;
                }
            }
        }
        let count_all = terms.len();
        let mut factors = Factors::new();
        for (atom, (power, seen)) in least {
            let power = if seen == count_all { power } else { power.smaller(Power::ZERO) };
            if !power.is_zero() {
                factors.push((atom, power));
            }
        }
        factors
    }

    /// Returns the component-wise least exponent, absent components counting as 0.
    fn least_exponent(&mut self, terms: &[Summand]) -> Exponent {
        Exponent {
            plain: self.least_form(terms.iter().map(|(m, _)| m.exponent().plain)),
            rest: self.least_form(terms.iter().map(|(m, _)| m.exponent().rest)),
        }
    }

    fn least_form(&mut self, mut forms: impl Iterator<Item = FormId> + Clone) -> FormId {
        let all = forms.clone();
        let Some(first) = forms.next() else { return FormId::ZERO };
        if forms.all(|form| form == first) {
            return first;
        }
        let least = self.component_minimum(&all.collect::<Vec<_>>());
        self.intern_sorted(least)
    }

    /// Returns each monomial's least coefficient over the forms (0 where absent), if not 0.
    pub(crate) fn component_minimum(&self, forms: &[FormId]) -> Vec<Summand> {
        // Only a component of every form, or a negative one, can have a minimum other than 0.
        let Some(shortest) = forms.iter().min_by_key(|form| self.form(**form).len()) else {
            return Vec::new();
        };
        let mut negative: Vec<Monomial> = Vec::new();
        for form in forms {
            let negative_terms = self.form(*form).iter().filter(|(_, c)| c.is_negative());
            negative.extend(negative_terms.map(|(monomial, _)| *monomial));
        }
        negative.sort_unstable();
        negative.dedup();
        let mut least: Vec<Summand> =
            negative.iter().map(|m| (*m, self.least_coefficient(forms, *m))).collect();
        for (monomial, _) in self.form(*shortest) {
            let everywhere =
                || forms.iter().all(|form| self.coefficient(*form, *monomial).is_some());
            if negative.binary_search(monomial).is_err() && everywhere() {
                least.push((*monomial, self.least_coefficient(forms, *monomial)));
            }
        }
        least.sort_unstable_by_key(|(monomial, _)| *monomial);
        least
    }

    fn coefficient(&self, form: FormId, monomial: Monomial) -> Option<&Number> {
        let terms = self.form(form);
        let index = terms.binary_search_by_key(&monomial, |(own, _)| *own).ok()?;
        Some(&terms[index].1)
    }

    fn least_coefficient(&self, forms: &[FormId], monomial: Monomial) -> Number {
        let coefficient =
            |form: &FormId| self.coefficient(*form, monomial).unwrap_or(&Number::ZERO);
        forms.iter().map(coefficient).min().cloned().unwrap_or(Number::ZERO)
    }
}

//! Products, powers and inverses of monomials, and sums of exponents.
//!
//! Recent sums of exponents are remembered: the outputs of a row need the same ones.

use super::monomial::{Factors, IN_TABLE};
use super::{
    Algebra, Atom, AtomId, Exponent, FormId, Monomial, Obstacle, Outcome, Polynomial, Power,
    Summand,
};
use term::Number;

/// Number of factors from which a new monomial costs more steps.
const LONG: usize = 9;

impl Algebra {
    /// Returns `true` if nothing in the monomial could leave an exponent or be multiplied out: no base, no power but
    /// 1 and 2, and not a logarithm alone.
    pub(crate) fn is_inert(&self, monomial: Monomial) -> bool {
        let is_single_factor = monomial.second == 0;
        let inert = |atom: u32| {
            atom <= self.inputs
                || match self.atom_ref(AtomId(atom)) {
                    None | Some(Atom::Base(_) | Atom::Integer(_)) => false,
                    Some(Atom::Log(_) | Atom::LogInteger(_)) => !is_single_factor,
                    Some(_) => true,
                }
        };
        monomial.second != IN_TABLE && inert(monomial.first) && inert(monomial.second)
    }

    /// Returns the atoms and powers of a monomial.
    pub(crate) fn factors(&self, monomial: Monomial) -> Factors {
        let mut factors = Factors::new();
        match (monomial.first, monomial.second) {
            (index, IN_TABLE) => factors.extend_from_slice(&self.powers[index as usize]),
            (0, _) => {}
            (atom, 0) => factors.push((AtomId(atom), Power::ONE)),
            (a, b) if a == b => factors.push((AtomId(a), Power::integer(2))),
            (a, b) => {
                factors.push((AtomId(a), Power::ONE));
                factors.push((AtomId(b), Power::ONE));
            }
        }
        factors
    }

    /// Returns `true` for a product of inputs and an exponential. Decided without a table lookup.
    pub(crate) fn has_only_inputs(&self, monomial: Monomial) -> bool {
        monomial.first <= self.inputs && monomial.second <= self.inputs
    }

    /// Computes the product of two monomials, and the coefficient it sheds (`√2 · √2 = 2`), if any.
    #[inline]
    pub(crate) fn monomial_product(
        &mut self,
        a: Monomial,
        b: Monomial,
    ) -> Outcome<(Monomial, Option<Number>)> {
        let exponent = self.exponents_added(a.exponent, b.exponent)?;
        let (left, right) = (a.without_exponent(), b.without_exponent());
        let in_place = match ((left.first, left.second), (right.first, right.second)) {
            (_, (0, 0)) => Some((left.first, left.second)),
            ((0, 0), _) => Some((right.first, right.second)),
            ((x, 0), (y, 0)) => Some((x.min(y), x.max(y))),
            _ => None,
        };
        if let Some((first, second)) = in_place {
            return Ok((Monomial { exponent, first, second }, None));
        }
        self.merged_product(left, right, exponent)
    }

    /// Multiplies monomials whose product does not fit in place, by merging their sorted factors.
    fn merged_product(
        &mut self,
        left: Monomial,
        right: Monomial,
        exponent: Exponent,
    ) -> Outcome<(Monomial, Option<Number>)> {
        let (left, right) = (self.factors(left), self.factors(right));
        let mut merged = Factors::new();
        let (mut i, mut j) = (0, 0);
        while i < left.len() || j < right.len() {
            match (left.get(i), right.get(j)) {
                (Some(x), Some(y)) if x.0 == y.0 => {
                    merged.push((x.0, x.1.plus(y.1)?));
                    (i, j) = (i + 1, j + 1);
                }
                (Some(x), y) if y.is_none_or(|y| x.0 < y.0) => {
                    merged.push(*x);
                    i += 1;
                }
                (_, Some(y)) => {
                    merged.push(*y);
                    j += 1;
                }
                // Unreachable: the first arm took equal atoms, the loop guard the empty case.
                (_, None) => break,
            }
        }
        self.monomial_from(merged, exponent)
    }

    /// Builds a monomial from ascending factors; zero powers and whole powers of integers are removed.
    pub(crate) fn monomial_from(
        &mut self,
        mut factors: Factors,
        exponent: Exponent,
    ) -> Outcome<(Monomial, Option<Number>)> {
        let mut shed: Option<Number> = None;
        for (atom, power) in &mut factors {
            if let Some(Atom::Integer(base)) = self.atom_ref(*atom)
                && power.floor() != 0
            {
                let base = Number::from(i64::try_from(*base).map_err(|_| Obstacle::TooLarge)?);
                // The base is not zero.
                let integer_part = base.integer_power(power.floor()).unwrap_or(Number::ONE);
                shed = Some(
                    shed.map_or_else(|| integer_part.clone(), |before| &before * &integer_part),
                );
                *power = power.plus(Power::integer(power.floor()).negated()?)?;
            }
        }
        factors.retain(|(_, power)| !power.is_zero());
        Ok((self.encode(&factors, exponent)?, shed))
    }

    /// Holds up to two atoms to the power 1, or a square, in place, and enters other factors in the table of powers.
    ///
    /// A new long product takes steps by the square of its length. The parity of n bits has `2^n` products of up to n
    /// factors, and one step for each would let the table fill the memory.
    fn encode(&mut self, factors: &[(AtomId, Power)], exponent: Exponent) -> Outcome<Monomial> {
        let (first, second) = match factors {
            [] => (0, 0),
            [(a, Power::ONE)] => (a.0, 0),
            [(a, power)] if *power == Power::integer(2) => (a.0, a.0),
            [(a, Power::ONE), (b, Power::ONE)] => (a.0, b.0),
            _ => {
                let next = self.powers.len() as u32;
                let index = match self.power_ids.get(factors) {
                    Some(index) => *index,
                    None => {
                        if factors.len() >= LONG {
                            self.spend(factors.len() * factors.len())?;
                        }
                        self.powers.push(factors.into());
                        self.power_ids.insert(factors.into(), next);
                        next
                    }
                };
                (index, IN_TABLE)
            }
        };
        Ok(Monomial { exponent, first, second })
    }

    /// `monomial^power`. The caller is responsible for signs if the power is not an integer.
    pub(crate) fn monomial_power(
        &mut self,
        monomial: Monomial,
        power: Power,
    ) -> Outcome<(Monomial, Option<Number>)> {
        let mut factors = self.factors(monomial);
        for (_, own) in &mut factors {
            *own = own.times(power)?;
        }
        let factor = power.to_number();
        let exponent = Exponent {
            plain: self.exponent_multiple(monomial.exponent.plain, &factor)?,
            rest: self.exponent_multiple(monomial.exponent.rest, &factor)?,
        };
        self.monomial_from(factors, exponent)
    }

    /// `1 / monomial`.
    pub(crate) fn monomial_inverse(
        &mut self,
        monomial: Monomial,
    ) -> Outcome<(Monomial, Option<Number>)> {
        if monomial == Monomial::ONE {
            return Ok((monomial, None));
        }
        // A running sum asks for the inverse of its scale at every summand.
        if let Some((last, inverse)) = &self.last_inverse
            && *last == monomial
        {
            return Ok(inverse.clone());
        }
        let inverse = self.monomial_power(monomial, Power::integer(-1))?;
        self.last_inverse = Some((monomial, inverse.clone()));
        Ok(inverse)
    }

    pub(crate) fn monomial_is_constant(&self, monomial: Monomial) -> bool {
        self.factors(monomial).iter().all(|(atom, _)| self.atom_is_constant(*atom))
            && monomial.exponent.parts().iter().all(|form| self.form_is_constant(*form))
    }

    /// Builds the exponent with these sorted summands.
    pub(crate) fn exponent_of(&mut self, terms: Vec<Summand>) -> Exponent {
        let mut plain = terms;
        let is_plain = |(monomial, _): &Summand| {
            self.has_only_inputs(*monomial) && monomial.exponent == Exponent::ZERO
        };
        let rest: Vec<_> = plain.iter().filter(|term| !is_plain(term)).cloned().collect();
        if !rest.is_empty() {
            plain.retain(is_plain);
        }
        Exponent { plain: self.intern_sorted(plain), rest: self.intern_sorted(rest) }
    }

    /// Returns an exponent as one polynomial.
    pub(crate) fn exponent_polynomial(&self, exponent: Exponent) -> Polynomial {
        Polynomial::from_sorted(merge(self.form(exponent.plain), self.form(exponent.rest)))
    }

    #[inline]
    fn exponents_added(&mut self, a: Exponent, b: Exponent) -> Outcome<Exponent> {
        Ok(Exponent {
            plain: self.exponent_sum(a.plain, b.plain)?,
            rest: self.exponent_sum(a.rest, b.rest)?,
        })
    }

    /// Computes the exponent of `e^a · e^b`, remembered: the outputs of a row need the same sums.
    #[inline]
    fn exponent_sum(&mut self, a: FormId, b: FormId) -> Outcome<FormId> {
        if a == FormId::ZERO {
            return Ok(b);
        }
        if b == FormId::ZERO {
            return Ok(a);
        }
        let key = (a.min(b), a.max(b));
        let place = (key.0.0 ^ key.1.0.wrapping_mul(5)) as usize & (super::RECENT_SUMS - 1);
        let recent = self.recent_sums[place];
        if (recent.0, recent.1) == key {
            return Ok(recent.2);
        }
        let sum = self.exponent_sum_from_table(key)?;
        self.recent_sums[place] = (key.0, key.1, sum);
        Ok(sum)
    }

    fn exponent_sum_from_table(&mut self, key: (FormId, FormId)) -> Outcome<FormId> {
        if let Some(sum) = self.exponent_sums.get(&key) {
            return Ok(*sum);
        }
        self.spend(self.form(key.0).len() + self.form(key.1).len())?;
        let merged = merge(self.form(key.0), self.form(key.1));
        let sum = self.intern_sorted(merged);
        self.exponent_sums.insert(key, sum);
        Ok(sum)
    }

    fn exponent_multiple(&mut self, exponent: FormId, factor: &Number) -> Outcome<FormId> {
        if exponent == FormId::ZERO || factor.is_one() {
            return Ok(exponent);
        }
        let negation = *factor == Number::MINUS_ONE;
        if negation && let Some(known) = self.exponent_negations.get(&exponent) {
            return Ok(*known);
        }
        self.spend(self.form(exponent).len())?;
        let scaled = self.form(exponent).iter().map(|(m, c)| (*m, c * factor)).collect();
        let result = self.intern_sorted(scaled);
        if negation {
            self.exponent_negations.insert(exponent, result);
            self.exponent_negations.insert(result, exponent);
        }
        Ok(result)
    }

    /// Returns a monomial as a polynomial.
    pub(crate) fn monomial_polynomial(monomial: Monomial, coefficient: Number) -> Polynomial {
        let mut result = Polynomial::single(monomial);
        result.scale_by(&coefficient);
        result
    }
}

/// Adds two sorted lists of summands.
pub(crate) fn merge(a: &[Summand], b: &[Summand]) -> Vec<Summand> {
    let mut merged = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        match a[i].0.cmp(&b[j].0) {
            std::cmp::Ordering::Less => {
                merged.push(a[i].clone());
                i += 1;
            }
            std::cmp::Ordering::Greater => {
                merged.push(b[j].clone());
                j += 1;
            }
            std::cmp::Ordering::Equal => {
                let sum = &a[i].1 + &b[j].1;
                if !sum.is_zero() {
                    merged.push((a[i].0, sum));
                }
                (i, j) = (i + 1, j + 1);
            }
        }
    }
    merged.extend_from_slice(&a[i..]);
    merged.extend_from_slice(&b[j..]);
    merged
}

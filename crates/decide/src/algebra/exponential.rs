//! `e^f` and `log f`.
//!
//! `e^f` keeps `f` as the exponent of a monomial, so products of exponentials add exponents. The
//! parts of `f` that are rational multiples of logarithms leave it: `e^(q·ln|g|) = |g|^q`. The
//! absolute value stays unless `g` is known not to be negative or `q` is even; a logarithm's own
//! condition (`g > 0`) is a fact, collected before the rung that uses facts.
//!
//! `log f` is `ln|f|`, right wherever it is defined (`f > 0`), and `ln|f|` splits over products
//! whatever their signs.

use super::{Algebra, Atom, AtomId, Monomial, Obstacle, Outcome, Polynomial, Power, Pull, Summand};
use dashu_base::UnsignedAbs;
use dashu_int::UBig;
use term::Number;

/// Factors below this are split off integers; what remains is an atom.
const MAX_TRIAL_DIVISOR: u64 = 1000;

impl Algebra {
    /// `e^f`
    pub(crate) fn exp(&mut self, exponent: Polynomial) -> Outcome<Polynomial> {
        let mut terms = self.expanded(exponent)?;
        if !terms.iter().all(|(monomial, _)| self.is_inert(*monomial)) {
            let expanded = self.expand_bases(Polynomial::from_sorted(terms))?;
            terms = self.expanded(expanded)?;
        }
        if terms.iter().all(|(monomial, _)| self.is_inert(*monomial)) {
            let exponent = self.exponent_of(terms);
            return Ok(Polynomial::single(Monomial::of_exponent(exponent)));
        }
        let terms = self.reduce_fractions(terms)?;
        let mut rest: Vec<Summand> = Vec::with_capacity(terms.len());
        let mut result = Polynomial::integer(1);
        for (monomial, coefficient) in terms {
            match monomial.as_atom().and_then(|atom| self.atom_ref(atom)) {
                Some(Atom::Log(form)) => {
                    let (form, power) = (*form, Power::from_number(&coefficient)?);
                    let power = self.absolute_power(form, power)?;
                    result = self.product(result, power)?;
                }
                Some(Atom::LogInteger(base)) => {
                    let (base, power) = (*base, Power::from_number(&coefficient)?);
                    let power = self.integer_to_power(base, power)?;
                    result = self.product(result, power)?;
                }
                _ => rest.push((monomial, coefficient)),
            }
        }
        let exponent = self.exponent_of(rest);
        self.shift(&mut result, Monomial::of_exponent(exponent), &Number::ONE)?;
        Ok(result)
    }

    /// `log f`
    pub(crate) fn log(&mut self, argument: Polynomial) -> Outcome<Polynomial> {
        let mut argument = argument;
        if argument.is_zero() {
            return Err(Obstacle::Undefined);
        }
        let (content, coefficient, base) = self.primitive(argument, Pull::Everything)?;
        let mut result = self.log_of_number(&coefficient.abs())?;
        let exponent = self.exponent_polynomial(content.exponent());
        self.accumulate(&mut result, exponent)?;
        for (atom, power) in self.factors(content) {
            let mut log = self.log_of_atom(atom);
            log.scale_by(&power.to_number());
            self.accumulate(&mut result, log)?;
        }
        if self.form(base).len() > 1 {
            let log = self.atom_polynomial(Atom::Log(base));
            self.accumulate(&mut result, log)?;
        }
        Ok(result)
    }

    /// `|c|^q` for a rational: whole powers in the coefficient, the rest as powers of integers.
    pub(crate) fn number_to_power(&mut self, value: &Number, power: Power) -> Outcome<Polynomial> {
        if let Some(integer) = power.as_integer() {
            let cost = value.bits().saturating_mul(integer.unsigned_abs() as usize);
            if cost > 1 << 16 {
                return Err(Obstacle::TooLarge);
            }
            let value = value.abs().integer_power(integer).ok_or(Obstacle::ZeroDenominator)?;
            return Ok(Polynomial::constant(value));
        }
        let mut result = Polynomial::integer(1);
        for (base, count) in split(value)? {
            let factor_power = power.times(Power::integer(count))?;
            let factor = self.integer_to_power(base, factor_power)?;
            result = self.product(result, factor)?;
        }
        Ok(result)
    }

    /// `|f|^q`, for a primitive form.
    fn absolute_power(&mut self, form: super::FormId, power: Power) -> Outcome<Polynomial> {
        let argument = self.polynomial(form);
        if power.is_even_integer() {
            return self.power(argument, power);
        }
        let absolute = self.absolute(argument)?;
        self.power(absolute, power)
    }

    fn log_of_atom(&mut self, atom: AtomId) -> Polynomial {
        match self.atom(atom) {
            Atom::Integer(value) => self.atom_polynomial(Atom::LogInteger(value)),
            Atom::Base(form) => self.atom_polynomial(Atom::Log(form)),
            _ => {
                let atom_form = self.intern_sorted(vec![(Monomial::of_atom(atom), Number::ONE)]);
                self.atom_polynomial(Atom::Log(atom_form))
            }
        }
    }

    fn log_of_number(&mut self, value: &Number) -> Outcome<Polynomial> {
        let mut result = Polynomial::zero();
        for (base, count) in split(value)? {
            let mut log = self.atom_polynomial(Atom::LogInteger(base));
            log.scale_by(&Number::from(i64::from(count)));
            self.accumulate(&mut result, log)?;
        }
        Ok(result)
    }

    fn integer_to_power(&mut self, base: u64, power: Power) -> Outcome<Polynomial> {
        let atom = self.intern_atom(Atom::Integer(base));
        if power.floor().unsigned_abs() > 1 << 14 {
            return Err(Obstacle::TooLarge);
        }
        let (monomial, shed) =
            self.monomial_from([(atom, power)].into_iter().collect(), super::Exponent::ZERO)?;
        Ok(Algebra::monomial_polynomial(monomial, shed.unwrap_or(Number::ONE)))
    }
}

/// Writes a positive rational as a product of powers of small primes and unsplit integers.
fn split(value: &Number) -> Outcome<Vec<(u64, i32)>> {
    let big = value.to_big();
    let mut factors = Vec::new();
    split_integer(big.numerator().unsigned_abs(), 1, &mut factors)?;
    split_integer(big.denominator().clone(), -1, &mut factors)?;
    Ok(factors)
}

/// Appends the factors of a positive integer, each with `sign` times its multiplicity.
fn split_integer(mut value: UBig, sign: i32, factors: &mut Vec<(u64, i32)>) -> Outcome<()> {
    let twos = value.trailing_zeros().ok_or(Obstacle::Undefined)?;
    if twos > 0 {
        value >>= twos;
        factors.push((2, sign * i32::try_from(twos).map_err(|_| Obstacle::TooLarge)?));
    }
    let mut value = u64::try_from(value).map_err(|_| Obstacle::TooLarge)?;
    let mut trial = 3;
    while trial < MAX_TRIAL_DIVISOR && trial * trial <= value {
        let mut count = 0;
        while value.is_multiple_of(trial) {
            value /= trial;
            count += 1;
        }
        if count > 0 {
            factors.push((trial, sign * count));
        }
        trial += 2;
    }
    // A perfect square left over would otherwise hide that its root is rational.
    let root = value.isqrt();
    if value > 1 && root * root == value {
        factors.push((root, 2 * sign));
    } else if value > 1 {
        factors.push((value, sign));
    }
    Ok(())
}

//! Named functions over canonical arguments.
//!
//! `tanh` is rewritten with `exp`, so that it can cancel with logistic functions. Odd and even functions have the
//! sign of their argument's first coefficient pulled out. Roundings of rationals are folded. Others are atoms: equal
//! arguments, equal values.

use super::{Algebra, Atom, FormId, Monomial, Outcome, Polynomial, Power};
use dashu_int::IBig;
use dashu_ratio::RBig;
use term::{Function, Number};

impl Algebra {
    /// `function(argument)`
    pub(crate) fn apply(
        &mut self,
        function: Function,
        argument: Polynomial,
    ) -> Outcome<Polynomial> {
        let argument = self.expand_bases(argument)?;
        let terms = self.expanded(argument)?;
        let terms = self.reduce_fractions(terms)?;
        let form = self.intern_sorted(terms);
        self.apply_to_form(function, form)
    }

    fn apply_to_form(&mut self, function: Function, form: FormId) -> Outcome<Polynomial> {
        let terms = self.form(form);
        let rational = match terms {
            [] => Some(Number::ZERO),
            [(Monomial::ONE, value)] => Some(value.clone()),
            _ => None,
        };
        if let Some(value) = rational.and_then(|value| fold(function, &value)) {
            return Ok(Polynomial::constant(value));
        }
        if function == Function::Rounded {
            return Ok(self.polynomial(form));
        }
        let negative = self.form(form).first().is_some_and(|(_, c)| c.is_negative());
        let odd = matches!(
            function,
            Function::Tanh
                | Function::Erf
                | Function::Sin
                | Function::Atan
                | Function::Cbrt
                | Function::Trunc
                | Function::Round
        );
        if negative && (odd || function == Function::Cos) {
            let positive = self.polynomial(form).negated();
            let positive = self.intern(positive)?;
            let value = self.apply_to_form(function, positive)?;
            return Ok(if odd { value.negated() } else { value });
        }
        if function == Function::Tanh {
            let argument = self.polynomial(form);
            return self.tanh(argument);
        }
        Ok(self.atom_polynomial(Atom::Apply(function, form)))
    }

    /// `1 − 2 / (e^(2x) + 1)`
    fn tanh(&mut self, argument: Polynomial) -> Outcome<Polynomial> {
        let mut double = argument;
        double.scale_by(&Number::from(2));
        let exponential = self.exp(double)?;
        let denominator = self.sum(exponential, Polynomial::integer(1))?;
        let mut quotient = self.power(denominator, Power::integer(-1))?;
        quotient.scale_by(&Number::from(-2));
        self.sum(Polynomial::integer(1), quotient)
    }
}

/// Computes the value at a rational, where it is a known rational.
fn fold(function: Function, value: &Number) -> Option<Number> {
    let rounded = |integer: IBig| Number::from_big(RBig::from(integer));
    match function {
        Function::Floor => Some(rounded(value.to_big().floor())),
        Function::Ceil => Some(rounded(value.to_big().ceil())),
        Function::Trunc => Some(rounded(value.to_big().trunc())),
        Function::Round => Some(round_to_even(value)),
        Function::Rounded => Some(value.clone()),
        Function::Tanh | Function::Erf | Function::Sin | Function::Atan | Function::Cbrt
            if value.is_zero() =>
        {
            Some(Number::ZERO)
        }
        Function::Cos if value.is_zero() => Some(Number::ONE),
        Function::Cbrt if value.abs().is_one() => Some(value.clone()),
        Function::Tanh
        | Function::Erf
        | Function::Sin
        | Function::Cos
        | Function::Atan
        | Function::Cbrt
        | Function::Element(_)
        | Function::Named(_) => None,
    }
}

/// Rounds to the nearest integer, ties to even.
pub(crate) fn round_to_even(value: &Number) -> Number {
    let half = Number::dyadic(1, -1);
    let rounded_down = |number: &Number| Number::from_big(RBig::from(number.to_big().floor()));
    let up = rounded_down(&(value + &half));
    let is_tie = &up - &half == *value;
    let is_odd = rounded_down(&(&up * &half)) != &up * &half;
    if is_tie && is_odd { &up - &Number::ONE } else { up }
}

//! Translates arithmetic. In a formula, `/` of integers is a real quotient, and `//` and `%` round down; in C, division
//! rounds towards zero.

use super::definitions::Translator;
use super::numbers::quotient;
use super::term::{Term, Ty};
use crate::ast::{Binary, Expression};
use crate::error::Error;
use term::Number;

/// The largest power that is written as a product.
const MAX_POWER: i64 = 16;

impl<'f> Translator<'f> {
    /// Translates `-a`.
    pub(super) fn negation(&mut self, a: &'f Expression) -> Result<Term, Error> {
        let a = self.number(a)?;
        if let Some(value) = a.to_i64().and_then(i64::checked_neg) {
            return Ok(Term::integer(value));
        }
        if let (Ty::Real, Some(number)) = (a.ty, &a.number)
            && let Some(term) = quotient(&(&Number::ZERO - number))
        {
            return Ok(term);
        }
        Ok(Term::of(format!("(-{})", a.text), a.ty, &[&a]))
    }

    /// Translates a sum, product or quotient.
    pub(super) fn arithmetic(
        &mut self,
        operator: Binary,
        a: &'f Expression,
        b: &'f Expression,
    ) -> Result<Term, Error> {
        if matches!(operator, Binary::FloorDivide | Binary::Remainder) {
            return self.floor_division(operator == Binary::Remainder, a, b);
        }
        let (a, b) = (self.number(a)?, self.number(b)?);
        let (a, b) = match operator {
            Binary::Divide => (to_real(a), to_real(b)),
            _ => to_common_type(a, b),
        };
        Ok(combine(operator, &a, &b))
    }

    /// Translates `a // b` or `a % b`.
    fn floor_division(
        &mut self,
        is_remainder: bool,
        a: &'f Expression,
        b: &'f Expression,
    ) -> Result<Term, Error> {
        let span = b.span;
        let (a, b) = (self.integer(a)?, self.integer(b)?);
        let is_positive = b.to_i64().is_some_and(|value| value > 0);
        let is_size = b.is_unsigned && b.number.is_none();
        if !is_positive && !is_size {
            let message =
                "for every size, the divisor of `//` and `%` is a positive number or a size";
            return Err(Error::new(span, message));
        }
        if let (Some(a), Some(b)) = (a.to_i64(), b.to_i64()) {
            let value = if is_remainder { a.rem_euclid(b) } else { a.div_euclid(b) };
            return Ok(Term::integer(value));
        }
        let (x, y) = (&a.text, &b.text);
        // The remainder of a negative number is negative in C.
        let remainder = match a.is_unsigned {
            true => format!("({x} % {y})"),
            false => format!("((({x} % {y}) + {y}) % {y})"),
        };
        let text = match (is_remainder, a.is_unsigned) {
            (true, _) => remainder,
            (false, true) => format!("({x} / {y})"),
            (false, false) => format!("(({x} - {remainder}) / {y})"),
        };
        let is_unsigned = is_remainder || a.is_unsigned;
        Ok(Term { is_unsigned, ..Term::of(text, Ty::Integer, &[&a, &b]) })
    }

    /// Translates `a^b`; small powers are products.
    pub(super) fn power(&mut self, a: &'f Expression, b: &'f Expression) -> Result<Term, Error> {
        let (a, b) = (self.number(a)?, self.number(b)?);
        if let Some(power) = b.to_i64().filter(|power| (1..=MAX_POWER).contains(power)) {
            let mut product = a.clone();
            for _ in 1..power {
                product = combine(Binary::Multiply, &product, &a);
            }
            return Ok(product);
        }
        if b.to_i64() == Some(0) {
            return Ok(Term::integer(1));
        }
        let (a, b) = (to_real(a), to_real(b));
        Ok(Term::of(format!("::pow({}, {})", a.text, b.text), Ty::Real, &[&a, &b]))
    }
}

/// Combines two numbers of one type by an operator.
pub(super) fn combine(operator: Binary, a: &Term, b: &Term) -> Term {
    if let Some(term) = fold_constants(operator, a, b) {
        return term;
    }
    let sign = match operator {
        Binary::Add => "+",
        Binary::Subtract => "-",
        Binary::Multiply => "*",
        _ => "/",
    };
    let is_unsigned = a.is_unsigned && b.is_unsigned && operator != Binary::Subtract;
    let text = format!("({} {sign} {})", a.text, b.text);
    Term { is_unsigned, ..Term::of(text, a.ty, &[a, b]) }
}

/// Folds an operation on constants.
fn fold_constants(operator: Binary, a: &Term, b: &Term) -> Option<Term> {
    let (x, y) = (a.number.as_ref()?, b.number.as_ref()?);
    let number: Number = match operator {
        Binary::Add => x + y,
        Binary::Subtract => x - y,
        Binary::Multiply => x * y,
        Binary::Divide => x * &y.reciprocal()?,
        _ => return None,
    };
    match a.ty {
        Ty::Integer => number.to_i64().map(Term::integer),
        _ => quotient(&number),
    }
}

/// Converts both to reals if one of them is.
pub(super) fn to_common_type(a: Term, b: Term) -> (Term, Term) {
    match (a.ty, b.ty) {
        (Ty::Truth, Ty::Truth) => (a, b),
        _ => {
            let (a, b) = (as_number(a), as_number(b));
            let is_real = a.ty == Ty::Real || b.ty == Ty::Real;
            if is_real { (to_real(a), to_real(b)) } else { (a, b) }
        }
    }
}

/// Converts a condition to 0 or 1.
pub(super) fn as_number(term: Term) -> Term {
    match term.ty {
        Ty::Truth => {
            let text = format!("({} ? 1 : 0)", term.text);
            Term { is_unsigned: true, ..Term::of(text, Ty::Integer, &[&term]) }
        }
        Ty::Integer | Ty::Real => term,
    }
}

/// Converts an integer to a real.
pub(super) fn to_real(term: Term) -> Term {
    if term.ty != Ty::Integer {
        return term;
    }
    if let Some(real) = term.number.as_ref().and_then(quotient) {
        return real;
    }
    if let Some(value) = term.to_i64() {
        // A literal of so many digits may not be a double, so write the sum of two that are.
        let (high, low) = (value >> 32, value & 0xffff_ffff);
        return Term::of(format!("({high}.0*4294967296.0 + {low}.0)"), Ty::Real, &[]);
    }
    let text = format!("(double)({})", term.text);
    Term::of(format!("({text})"), Ty::Real, &[&term])
}

//! The float nearest to an exact scalar.

use crate::formula::Formula;
use crate::side::{Input, InputKind};
use decide::{Value, evaluate};
use exec::concrete::{self, Conversion};
use ir::{Format, Scalar};
use term::{Inputs, Number, Relation, Term, Terms};

/// The float nearest to an expression without names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// The float; infinite if the value is beyond its format.
    pub number: f64,
    /// Set if the expression has exactly that value.
    pub is_exact: bool,
    /// Set if the value is nonzero and the float is zero.
    pub vanishes: bool,
}

impl Formula {
    /// Returns the float of a format nearest to the formula's value; `None` if it has names or no value.
    #[must_use]
    pub fn nearest(&self, format: Format) -> Option<Nearest> {
        let mut terms = Terms::new(Inputs::new().into());
        let term = self.term(&mut terms, &|_| None).ok()?;
        let Value::Real(value) = evaluate(&terms, &[term], &|_| Number::ZERO).pop()? else {
            return None;
        };
        let (low, high) = value.to_f64_bounds();
        let [low, high] = [low, high].map(|bound| rounded(format, bound));
        let number = match () {
            () if low == high => low,
            () if !low.is_finite() || !high.is_finite() => f64::INFINITY,
            () if is_nearer_to_first(&mut terms, term, [low, high]) => low,
            () => high,
        };
        let is_exact = match terms.as_number(term) {
            Some(exact) => Number::from_f64(number).as_ref() == Some(exact),
            None => false,
        };
        let vanishes = number == 0.0 && value.sign().is_some_and(|sign| sign != 0);
        Some(Nearest { number, is_exact, vanishes })
    }
}

/// Rounds to the nearest float of a format.
pub(crate) fn rounded(format: Format, number: f64) -> f64 {
    let conversion = Conversion::nearest(Scalar::Float(Format::F64), Scalar::Float(format));
    concrete::to_double(format, concrete::convert(conversion, number.to_bits()))
}

/// Returns `true` if a value between two floats is at most half way.
fn is_nearer_to_first(terms: &mut Terms, value: Term, floats: [f64; 2]) -> bool {
    let [low, high] = floats.map(|number| terms.float(number));
    let (sum, twice) = (terms.add(low, high), terms.add(value, value));
    let nearer = terms.compare(Relation::LessEqual, twice, sum);
    evaluate(terms, &[nearer], &|_| Number::ZERO).pop() == Some(Value::Truth(true))
}

/// Returns the nearest float for an input defined by an expression without names that is not itself a float.
pub(crate) fn rounded_scalar(input: &Input) -> Option<f64> {
    let (InputKind::Related(formula), Scalar::Float(format)) = (&input.kind, input.scalar) else {
        return None;
    };
    let nearest = formula.nearest(format).filter(|nearest| !nearest.is_exact)?;
    Some(nearest.number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nearest(text: &str, format: Format) -> Nearest {
        Formula::expression(text).unwrap().nearest(format).unwrap()
    }

    #[test]
    fn the_nearest_float_is_found() {
        let root = 0.125_f64.sqrt();
        for (format, expected) in [(Format::F32, f64::from(root as f32)), (Format::F64, root)] {
            let found = nearest("1/sqrt(8)", format);
            assert_eq!((found.number, found.is_exact, found.vanishes), (expected, false, false));
        }
        assert_eq!(nearest("1/3", Format::F16).number, 0.333_251_953_125);
        assert_eq!(nearest("1/3", Format::Bf16).number, 0.333_984_375);
        // A tie of singles, and neighbours of it that are closer than any double.
        for (text, expected) in [
            ("1+2^-24", 1.0),
            ("1+2^-24+2^-90", 1.0 + f64::from(f32::EPSILON)),
            ("1+2^-24-2^-90", 1.0),
        ] {
            assert_eq!(nearest(text, Format::F32).number, expected, "{text}");
        }
        assert!(nearest("sqrt(4)/8", Format::F16).is_exact);
        assert!(
            nearest("log(1)", Format::F32).is_exact && !nearest("log(1)", Format::F32).vanishes
        );
        assert_eq!(Formula::expression("x/2").unwrap().nearest(Format::F32), None);
    }

    #[test]
    fn the_ends_of_formats_are_known() {
        let too_large = [
            ("exp(1000)", Format::F64),
            ("exp(89)", Format::F32),
            ("-exp(89)", Format::F32),
            ("exp(12)", Format::F16),
            ("exp(89)", Format::Bf16),
        ];
        for (text, format) in too_large {
            assert!(!nearest(text, format).number.is_finite(), "{text} {format:?}");
        }
        let too_small = [
            ("exp(-1000)", Format::F64),
            ("exp(-200)", Format::F32),
            ("-exp(-20)", Format::F16),
            ("exp(-100)", Format::Bf16),
        ];
        for (text, format) in too_small {
            assert!(nearest(text, format).vanishes, "{text} {format:?}");
        }
        assert!(nearest("exp(88)", Format::F32).number.is_finite());
        assert!(!nearest("exp(-100)", Format::F32).vanishes);
    }
}

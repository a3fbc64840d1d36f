//! Literals. In a contract, as in the kernel, a float that is not an integer stands for the shortest decimal that
//! rounds to it: `0.1f` is a tenth.
//!
//! So a literal of the formula is written as that decimal of the nearest float of the tensors' format. If that is a
//! different number (`0.12345678901` in single precision, `pi`), it is listed.

use super::definitions::Translator;
use super::term::{Term, Ty};
use crate::ast::ExpressionKind;
use crate::error::Error;
use crate::parse::parse_expression;
use crate::resolve::nearest_single;
use base::Span;
use ir::Format;
use term::Number;

/// Limit on numerators and denominators that stay exact in sums and products of constants.
const MAX_NUMBER: i64 = 1 << 40;

impl Translator<'_> {
    /// Translates a literal of the formula.
    pub(super) fn literal(
        &mut self,
        number: &Number,
        is_real: bool,
        notation: &str,
        span: Span,
    ) -> Result<Term, Error> {
        if let (false, Some(value)) = (is_real, number.to_i64()) {
            return Ok(Term::integer(value));
        }
        self.nearest_float(number, self.sizes.format(), notation).ok_or_else(|| {
            Error::new(span, "this number is too large or too small for a float of the tensors")
        })
    }

    /// Writes the nearest float of a format, and lists it if it is not the number itself.
    pub(super) fn nearest_float(
        &mut self,
        number: &Number,
        format: Format,
        notation: &str,
    ) -> Option<Term> {
        if let Some(term) = exact_number(number) {
            return Some(term);
        }
        let double = number.to_f64_lossy();
        let double: f64 = match format {
            Format::F64 => double,
            _ => match nearest_single(number, double) {
                single if single.fract() == 0.0 => single.into(),
                single => single.to_string().parse().ok()?,
            },
        };
        let least =
            if format == Format::F64 { f64::MIN_POSITIVE } else { f64::from(f32::MIN_POSITIVE) };
        if double.abs() < least {
            return None;
        }
        let decimal = double.is_finite().then(|| format!("{double:?}"))?;
        let is_same = parse_expression(&decimal).is_ok_and(
            |one| matches!(one.kind, ExpressionKind::Number(meant, _) if meant == *number),
        );
        let entry = (notation.to_owned(), decimal.clone());
        if !is_same && !self.contract.rounded.contains(&entry) {
            self.contract.rounded.push(entry);
        }
        let text = if double < 0.0 { format!("({decimal})") } else { decimal };
        Some(Term::of(text, Ty::Real, &[]))
    }

    /// Translates `pi` and other named constants, as the nearest float.
    pub(super) fn constant(&mut self, name: &str) -> Option<Term> {
        let double = match name {
            "pi" => std::f64::consts::PI,
            "e" => std::f64::consts::E,
            "log2e" => std::f64::consts::LOG2_E,
            "ln2" => std::f64::consts::LN_2,
            _ => return None,
        };
        let number = Number::from_f64(double)?;
        // The double is exact, but it is not the constant.
        let term = self.nearest_float(&number, self.sizes.format(), name)?;
        let entry = (name.to_owned(), term.text.clone());
        if !self.contract.rounded.contains(&entry) {
            self.contract.rounded.push(entry);
        }
        Some(term)
    }
}

/// Writes a constant exactly, if it is a small number over a power of two.
pub(super) fn exact_number(number: &Number) -> Option<Term> {
    let (above, below) = number.to_small_ratio()?;
    if above.unsigned_abs() > MAX_NUMBER.unsigned_abs() || below > MAX_NUMBER {
        return None;
    }
    let text = match below.count_ones() {
        // Both are below 2^53.
        #[expect(clippy::cast_precision_loss, reason = "exact")]
        1 => format!("{:?}", above as f64 / below as f64),
        _ => return None,
    };
    let text = if above < 0 { format!("({text})") } else { text };
    Some(Term { number: Some(number.clone()), ..Term::of(text, Ty::Real, &[]) })
}

/// Writes a constant exactly, if it is a quotient of small numbers.
pub(super) fn quotient(number: &Number) -> Option<Term> {
    exact_number(number).or_else(|| {
        let (above, below) = number.to_small_ratio()?;
        let fits = above.unsigned_abs() <= MAX_NUMBER.unsigned_abs() && below <= MAX_NUMBER;
        let text = format!("({above}.0/{below}.0)");
        fits.then(|| Term { number: Some(number.clone()), ..Term::of(text, Ty::Real, &[]) })
    })
}

//! Closed forms near a float: `1/sqrt(32)` near 0.17677669.
//!
//! The candidates are `t·p/q` and `t·√(p/q)` for the numbers `t` of [`MULTIPLES`], each with the simplest fraction
//! close enough (the first one of the Stern–Brocot tree in an interval). About one in a hundred of all
//! single-precision numbers is near such a form by chance. No answer relies on a form until both kernels are
//! proved equal with it.

use crate::{Formula, nearest};
use decide::{Value, evaluate};
use exec::concrete;
use ir::Format;
use term::{Inputs, Number, Relation, Terms};

/// The factors `t`, as text and value.
const MULTIPLES: [(&str, f64); 6] = [
    ("", 1.0),
    ("log2e", std::f64::consts::LOG2_E),
    ("ln2", std::f64::consts::LN_2),
    ("pi", std::f64::consts::PI),
    ("sqrt(pi)", 1.772_453_850_905_516),
    ("log10e", std::f64::consts::LOG10_E),
];

/// Bound on the product of numerator and denominator for formats of 16 bits: attention heads have up to 512
/// elements, and their scale is 1/√512.
const MAX_COARSE_COMPLEXITY: f64 = 512.0;

/// A form with its complexity: the product of its numerator and denominator.
type Form = (u64, String);

/// Returns the forms within one unit in the last place of a positive float, simplest first. Empty if the
/// simplest is itself a float of the format: then the constant stands for itself.
pub(crate) fn forms(format: Format, bits: u64) -> Vec<String> {
    forms_within(format, bits, 1)
}

/// Returns the forms within some units in the last place.
pub(crate) fn forms_within(format: Format, bits: u64, units: u64) -> Vec<String> {
    let Some((number, unit)) = number_and_unit(format, bits) else { return Vec::new() };
    // Computations in doubles have an error of their own; candidates are checked exactly below.
    let slack = if format == Format::F64 { 4.0 } else { 0.0 };
    let tolerance = unit * (units as f64 + slack) / number;
    // With 16 bits most numbers are near some form. No answer relies on one until the kernels are equal with
    // it.
    let largest = (0.01 / tolerance).clamp(MAX_COARSE_COMPLEXITY, 1e9) as u64;
    let mut found: Vec<Form> = Vec::new();
    for (name, value) in MULTIPLES {
        let ratio = number / value;
        let plain =
            simplest(ratio, tolerance).map(|(p, q)| (p.saturating_mul(q), multiple(name, p, q)));
        let squared = simplest(ratio * ratio, 2.0 * tolerance);
        let root = squared.map(|(p, q)| (p.saturating_mul(q), multiple_of_root(name, p, q)));
        found.extend([plain, root].into_iter().flatten().filter(|(size, _)| *size <= largest));
    }
    found.sort();
    found.dedup();
    let near = |(_, text): Form| is_near(&text, number, unit * units as f64).then_some(text);
    let found: Vec<String> = found.into_iter().filter_map(near).collect();
    match found.first() {
        Some(first) if is_float(first, format) => Vec::new(),
        _ => found,
    }
}

/// Returns `true` if a positive float is `number` rounded to its format, but not equal to it.
pub(crate) fn is_rounded(format: Format, bits: u64, number: &Number) -> bool {
    let Some((float, unit)) = number_and_unit(format, bits) else { return false };
    let Some(distance) = Number::from_f64(float).map(|float| (&float - number).abs()) else {
        return false;
    };
    let (distance, nearest) = (distance.to_f64_lossy(), number.to_f64_lossy());
    let is_nearest = match format {
        Format::F32 => f64::from(nearest as f32) == float,
        Format::F64 => nearest == float,
        _ => distance <= unit / 2.0,
    };
    distance > 0.0 && is_nearest
}

/// Returns the value of a positive normal float and the distance to the next one.
fn number_and_unit(format: Format, bits: u64) -> Option<(f64, f64)> {
    let number = concrete::to_double(format, bits);
    let is_usual = number.is_normal() && number > 0.0 && number < f64::MAX / 2.0;
    let next = concrete::to_double(format, bits.checked_add(1)?);
    (is_usual && next.is_finite()).then_some((number, next - number))
}

/// Returns the simplest fraction within a relative tolerance.
fn simplest(ratio: f64, tolerance: f64) -> Option<(u64, u64)> {
    const STEPS: usize = 64;
    let (low, high) = (ratio * (1.0 - tolerance), ratio * (1.0 + tolerance));
    if !(low > 1e-9 && high < 1e9) {
        return None;
    }
    // Follow the continued fractions of both ends while they agree.
    let (mut a, mut b) = (low, high);
    let (mut p, mut q) = ((1_u64, 0_u64), (0_u64, 1_u64));
    for _ in 0..STEPS {
        let floor = a.floor();
        let is_last = b.floor() > floor || a == floor;
        let next = if a == floor { floor } else { floor + 1.0 };
        let digit = if is_last { next } else { floor };
        if digit > 1e12 {
            return None;
        }
        let digit = digit as u64;
        p = (digit.checked_mul(p.0)?.checked_add(p.1)?, p.0);
        q = (digit.checked_mul(q.0)?.checked_add(q.1)?, q.0);
        if is_last {
            return (p.0 > 0 && q.0 > 0).then_some((p.0, q.0));
        }
        (a, b) = (1.0 / (b - floor), 1.0 / (a - floor));
    }
    None
}

/// Writes `p·t/q`.
fn multiple(name: &str, p: u64, q: u64) -> String {
    let above = match (name, p) {
        ("", p) => p.to_string(),
        (name, 1) => name.to_owned(),
        (name, p) => format!("{p}*{name}"),
    };
    if q == 1 { above } else { format!("{above}/{q}") }
}

/// Writes `t·√(p/q)`.
fn multiple_of_root(name: &str, p: u64, q: u64) -> String {
    match (name, p, q) {
        ("", p, 1) => format!("sqrt({p})"),
        ("", 1, q) => format!("1/sqrt({q})"),
        ("", p, q) => format!("sqrt({p}/{q})"),
        (name, p, 1) => format!("{name}*sqrt({p})"),
        (name, 1, q) => format!("{name}/sqrt({q})"),
        (name, p, q) => format!("{name}*sqrt({p}/{q})"),
    }
}

/// Returns `true` if a form is at most `distance` from a number, computed exactly.
fn is_near(text: &str, number: f64, distance: f64) -> bool {
    let mut terms = Terms::new(Inputs::new().into());
    let Ok(form) = Formula::expression(text) else { return false };
    let Ok(form) = form.term(&mut terms, &|_| None) else { return false };
    let (number, distance) = (terms.float(number), terms.float(distance));
    let gap = terms.subtract(form, number);
    let gap = terms.absolute(gap);
    let near = terms.compare(Relation::LessEqual, gap, distance);
    evaluate(&terms, &[near], &|_| Number::ZERO).pop() == Some(Value::Truth(true))
}

/// Returns `true` if a form is a number of a format.
fn is_float(text: &str, format: Format) -> bool {
    let Some(number) = Formula::expression(text).ok().and_then(|form| form.value()) else {
        return false;
    };
    let nearest = nearest::rounded(format, number.to_f64_lossy());
    Number::from_f64(nearest).as_ref() == Some(&number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::Scalar;

    fn single(number: f32) -> Option<String> {
        forms(Format::F32, number.to_bits().into()).into_iter().next()
    }

    #[test]
    fn scales_of_attention_are_found() {
        for width in [3, 5, 8, 24, 32, 40, 80, 96, 128, 192, 288] {
            let root = f64::from(width).sqrt();
            assert_eq!(single((1.0 / root) as f32), Some(format!("1/sqrt({width})")));
            let scaled = std::f64::consts::LOG2_E / root;
            assert_eq!(single(scaled as f32), Some(format!("log2e/sqrt({width})")));
        }
        // For others the quotient of doubles may be off by more than one unit.
        for width in [3, 5, 8] {
            let double = forms(Format::F64, (1.0 / f64::from(width).sqrt()).to_bits());
            assert_eq!(double.first(), Some(&format!("1/sqrt({width})")));
        }
        assert_eq!(single(0.1).as_deref(), Some("1/10"));
        assert_eq!(single(std::f32::consts::LOG2_E / 8.0).as_deref(), Some("log2e/8"));
        assert_eq!(single(std::f32::consts::PI / 3.0).as_deref(), Some("pi/3"));
    }

    /// Both neighbours are within one unit, too; the floats beyond them are not.
    #[test]
    fn one_unit_in_the_last_place_and_no_more() {
        let near = 0.176_776_69_f32;
        assert!(single(near.next_up()).is_some() || single(near.next_down()).is_some());
        assert_ne!(single(near.next_up().next_up()).as_deref(), Some("1/sqrt(32)"));
        assert_ne!(single(near.next_down().next_down()).as_deref(), Some("1/sqrt(32)"));
        assert_ne!(single(0.1767).as_deref(), Some("1/sqrt(32)"));
    }

    #[test]
    fn scales_of_16_bits_are_found() {
        // In bf16, 1/sqrt(128) and 1/sqrt(127) round to the same value, and 127 is preferred.
        for (format, widths) in [(Format::F16, &[8, 32, 128][..]), (Format::Bf16, &[8, 32])] {
            for &width in widths {
                let scale = 1.0 / f64::from(width).sqrt();
                let bits = concrete::convert(
                    concrete::Conversion::nearest(
                        Scalar::Float(Format::F64),
                        Scalar::Float(format),
                    ),
                    scale.to_bits(),
                );
                let found = forms(format, bits);
                assert!(found.contains(&format!("1/sqrt({width})")), "{format:?} {found:?}");
                // Two units away the form is not found.
                assert!(!forms(format, bits + 2).contains(&format!("1/sqrt({width})")));
                assert!(!forms(format, bits - 2).contains(&format!("1/sqrt({width})")));
            }
        }
    }

    /// A float equal to a simple number stands for itself.
    #[test]
    fn floats_stand_for_themselves() {
        for number in [0.25_f32, 0.5, 3.0, 0.375, 1.0] {
            assert_eq!(single(number), None);
            assert_eq!(single(number.next_up()), None);
            assert_eq!(single(number.next_down()), None);
        }
    }

    #[test]
    fn few_are_near_by_chance() {
        let number = |at: u32| f32::from_bits(0x3d00_0000 + at * 104_729);
        let found = (0..300).filter(|&at| single(number(at)).is_some()).count();
        assert!(found < 60, "{found}");
    }
}

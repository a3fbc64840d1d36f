//! Transcendental numbers that kernels write as constants.
//!
//! A constant that is the correctly rounded value of such a number in its own format is taken for that
//! number. So is the single that the usual expression for the number gives when it is computed in singles.
//! This is an assumption about the author's intent, and it is listed.
//!
//! The same holds for a single that is the rounded binary logarithm of a decimal with few digits, itself a
//! single: compilers fold `lg2(0.9)` when they expand powf(0.9, t). About one single in 100 000 is such a
//! logarithm by chance.

use ir::Format;
use std::fmt;
use term::{Term, Terms};

/// The number that a constant stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MeantNumber {
    /// A number of the table.
    Named(&'static str),
    /// The binary logarithm of a single with these bits.
    Log2(u32),
}

impl MeantNumber {
    /// Returns the nearest double.
    pub(crate) fn number(&self) -> f64 {
        match self {
            Self::Named(name) => {
                KNOWN.iter().find(|(one, _)| one == name).map_or(f64::NAN, |(_, value)| *value)
            }
            Self::Log2(base) => f64::from(f32::from_bits(*base)).log2(),
        }
    }
}

impl fmt::Display for MeantNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => f.write_str(name),
            Self::Log2(base) => write!(f, "log2 {}", f32::from_bits(*base)),
        }
    }
}

/// Names, and values to double precision.
const KNOWN: [(&str, f64); 14] = [
    ("log2 e", std::f64::consts::LOG2_E),
    ("2 log2 e", 2.0 * std::f64::consts::LOG2_E),
    ("ln 2", std::f64::consts::LN_2),
    ("pi", std::f64::consts::PI),
    ("pi/2", std::f64::consts::FRAC_PI_2),
    ("1/sqrt 2", std::f64::consts::FRAC_1_SQRT_2),
    ("sqrt 2", std::f64::consts::SQRT_2),
    ("sqrt(2/pi)", 0.797_884_560_802_865_4),
    ("2 sqrt(2/pi)", 1.595_769_121_605_730_8),
    ("e", std::f64::consts::E),
    ("log2 10", std::f64::consts::LOG2_10),
    ("log10 2", std::f64::consts::LOG10_2),
    ("1/sqrt(2 pi)", 0.398_942_280_401_432_7),
    ("2/sqrt pi", std::f64::consts::FRAC_2_SQRT_PI),
];

/// Returns the single that the usual expression for a number gives, computed in singles step by step.
///
/// Compilers fold `sqrtf(2.0f / 3.14159265f)` this way. The result is a neighbour of the correctly rounded single.
/// If it were not recognised, such a kernel would differ from every correct one in its constant alone.
fn folded(name: &str) -> Option<f32> {
    use std::f32::consts::PI;
    match name {
        "sqrt(2/pi)" => Some((2.0 / PI).sqrt()),
        "2 sqrt(2/pi)" => Some(2.0 * (2.0 / PI).sqrt()),
        "1/sqrt(2 pi)" => Some((1.0 / (2.0 * PI)).sqrt()),
        "2/sqrt pi" => Some(2.0 / PI.sqrt()),
        _ => None,
    }
}

/// Returns the number that bits stand for, and `true` if it is negated.
pub(crate) fn recognise(format: Format, bits: u64) -> Option<(MeantNumber, bool)> {
    let negative = bits >> (format.width().bits() - 1) & 1 == 1;
    let magnitude = bits & (format.width().mask() >> 1);
    let named = KNOWN.into_iter().find(|(name, value)| match format {
        Format::F32 => [Some(*value as f32), folded(name)]
            .into_iter()
            .flatten()
            .any(|single| u64::from(single.to_bits()) == magnitude),
        Format::F64 => value.to_bits() == magnitude,
        // With so few bits, too many other numbers look the same.
        _ => false,
    });
    match named {
        Some((name, _)) => Some((MeantNumber::Named(name), negative)),
        None if format == Format::F32 => {
            let number = f32::from_bits(u32::try_from(bits).ok()?);
            Some((MeantNumber::Log2(logarithm_of(number)?.to_bits()), false))
        }
        None => None,
    }
}

/// Returns the decimal with at most three digits, as a single, of which `number` is the binary logarithm.
fn logarithm_of(number: f32) -> Option<f32> {
    const DIGITS: i32 = 3;
    // The decimal is from about a millionth to a million. Integers are exact logarithms of powers of two.
    if !number.is_normal() || number.abs() > 20.0 || number.fract() == 0.0 {
        return None;
    }
    let power = f64::from(number).exp2();
    let unit = power.log10().floor() as i32 + 1 - DIGITS;
    let digits = (power / 10f64.powi(unit)).round();
    if (digits * 10f64.powi(unit) / power - 1.0).abs() > 1e-5 {
        return None;
    }
    // Parsed as text, so that it is the single of a literal.
    let decimal: f32 = format!("{digits}e{unit}").parse().ok()?;
    (f64::from(decimal).log2() as f32 == number).then_some(decimal)
}

/// Builds the number as a term.
pub(crate) fn term(terms: &mut Terms, known: MeantNumber) -> Term {
    let (one, two) = (terms.one(), terms.integer(2));
    let name = match known {
        MeantNumber::Named(name) => name,
        MeantNumber::Log2(base) => {
            let base = terms.float(f32::from_bits(base).into());
            let (base, two) = (terms.log(base), terms.log(two));
            return terms.divide(base, two);
        }
    };
    match name {
        "log2 e" => {
            let ln2 = terms.log(two);
            terms.divide(one, ln2)
        }
        "2 log2 e" => {
            let ln2 = terms.log(two);
            terms.divide(two, ln2)
        }
        "ln 2" => terms.log(two),
        "pi" => terms.pi(),
        "pi/2" => {
            let pi = terms.pi();
            terms.divide(pi, two)
        }
        "1/sqrt 2" => terms.reciprocal_square_root(two),
        "sqrt 2" => terms.square_root(two),
        "sqrt(2/pi)" | "2 sqrt(2/pi)" => {
            let pi = terms.pi();
            let ratio = terms.divide(two, pi);
            let root = terms.square_root(ratio);
            if name.starts_with('2') { terms.multiply(two, root) } else { root }
        }
        "log2 10" | "log10 2" => {
            let ten = terms.integer(10);
            let (ln2, ln10) = (terms.log(two), terms.log(ten));
            if name == "log2 10" { terms.divide(ln10, ln2) } else { terms.divide(ln2, ln10) }
        }
        "1/sqrt(2 pi)" => {
            let pi = terms.pi();
            let product = terms.multiply(two, pi);
            terms.reciprocal_square_root(product)
        }
        "2/sqrt pi" => {
            let pi = terms.pi();
            let root = terms.reciprocal_square_root(pi);
            terms.multiply(two, root)
        }
        _ => terms.exp(one),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As nvcc 13.4 emits it.
    const LOG2_OF_0_9: f32 = f32::from_bits(0xbe1b_a6b5);

    fn recognised(number: f32) -> Option<String> {
        let (known, negative) = recognise(Format::F32, number.to_bits().into())?;
        Some(format!("{}{known}", if negative { "-" } else { "" }))
    }

    #[test]
    fn logarithms_of_short_decimals_are_known() {
        assert_eq!(recognised(LOG2_OF_0_9).as_deref(), Some("log2 0.9"));
        assert_eq!(recognised(13.287_712).as_deref(), Some("log2 10000"));
        assert_eq!(recognised(std::f32::consts::LOG2_E).as_deref(), Some("log2 e"));
        assert_eq!(recognised(-std::f32::consts::LN_2).as_deref(), Some("-ln 2"));
    }

    #[test]
    fn other_numbers_are_not() {
        for number in [1.0, 2.0, 0.5, 0.1, 0.044_715, 0.9, 10_000.0, 1e-5, 1e-8, 0.125, 3.3] {
            assert_eq!(recognised(number), None, "{number}");
        }
        // The float after a logarithm.
        assert_eq!(recognised(LOG2_OF_0_9.next_up()), None);
    }

    #[test]
    fn folded_expressions_are_known() {
        use std::f32::consts::PI;
        for (number, name) in [
            ((2.0 / PI).sqrt(), "sqrt(2/pi)"),
            (-2.0 * (2.0 / PI).sqrt(), "-2 sqrt(2/pi)"),
            ((1.0 / (2.0 * PI)).sqrt(), "1/sqrt(2 pi)"),
            (2.0 / PI.sqrt(), "2/sqrt pi"),
        ] {
            assert_eq!(recognised(number).as_deref(), Some(name));
            // One step further from the number there is nothing.
            let beyond = if number < 0.0 { number.next_up() } else { number.next_down() };
            assert_eq!(recognised(beyond), None, "{name}");
        }
    }

    #[test]
    fn few_are_by_chance() {
        let number = |at: u32| f32::from_bits(0x3c00_0000 + at * 7919);
        let found = (0..10_000).filter(|&at| recognised(number(at)).is_some()).count();
        assert!(found < 3, "{found}");
    }
}

//! Transcendental numbers that kernels write as constants.
//!
//! A constant that is the correctly rounded value of one of these in its own format is taken for
//! it. That is an assumption about what the author meant, and listed as such.

use ir::Format;
use term::{Term, Terms};

/// Names, and values to double precision.
const KNOWN: [(&str, f64); 13] = [
    ("log2 e", std::f64::consts::LOG2_E),
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

/// The name of the number that bits stand for, and whether it is negated.
pub(crate) fn recognise(format: Format, bits: u64) -> Option<(&'static str, bool)> {
    let negative = bits >> (format.width().bits() - 1) & 1 == 1;
    let magnitude = bits & (format.width().mask() >> 1);
    let (name, _) = KNOWN.into_iter().find(|(_, value)| match format {
        Format::F32 => u64::from((*value as f32).to_bits()) == magnitude,
        Format::F64 => value.to_bits() == magnitude,
        // Few bits: too many other numbers look the same.
        _ => false,
    })?;
    Some((name, negative))
}

/// The number of this name as a term.
pub(crate) fn term(terms: &mut Terms, name: &str) -> Term {
    let (one, two) = (terms.one(), terms.integer(2));
    match name {
        "log2 e" => {
            let ln2 = terms.log(two);
            terms.divide(one, ln2)
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

//! The sets of numbers that inputs can have, by type.

use crate::side::Side;
use ir::{Format, Scalar};
use term::{FloatNumbers, Numbers};

/// Returns the set of numbers that an input can have on both sides.
pub(crate) fn numbers_of(sides: [&Side<'_>; 2], name: &str) -> Numbers {
    let inputs = sides.iter().flat_map(|side| side.own_inputs());
    let kinds = inputs.filter(|input| input.name == name).map(|input| numbers(input.scalar));
    let common = |one, other| match (one, other) {
        (Numbers::Floats(a), Numbers::Floats(b)) => Numbers::Floats(a.common(b)),
        (one, _) => one,
    };
    kinds.reduce(common).unwrap_or_default()
}

/// Returns the set of numbers of a type.
fn numbers(scalar: Scalar) -> Numbers {
    match scalar {
        Scalar::Float(format) => Numbers::Floats(floats(format)),
        Scalar::Integer { width, signed } => {
            let bits = width.bits().clamp(1, 64);
            match (signed, bits) {
                (true, 64) => Numbers::Integers(i64::MIN, i64::MAX),
                (true, bits) => Numbers::Integers(-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
                // Only the lower half of u64: the upper half is never drawn, and never called impossible.
                (false, 63..) => Numbers::Integers(0, i64::MAX),
                (false, bits) => Numbers::Integers(0, (1 << bits) - 1),
            }
        }
    }
}

/// Returns the set of numbers of a float format.
fn floats(format: Format) -> FloatNumbers {
    // Bits of the significand, exponent of the smallest step, and the largest number as significand and exponent.
    let (digits, lowest, largest) = match format {
        Format::F64 => (53, -1074, ((1 << 53) - 1, 971)),
        Format::F32 => (24, -149, ((1 << 24) - 1, 104)),
        Format::Tf32 => (11, -136, ((1 << 11) - 1, 117)),
        Format::Bf16 => (8, -133, ((1 << 8) - 1, 120)),
        Format::F16 => (11, -24, ((1 << 11) - 1, 5)),
        Format::E4m3 => (4, -9, (7, 6)),
        Format::E5m2 => (3, -16, (7, 13)),
    };
    FloatNumbers { digits, lowest, largest }
}

//! Draws inputs: edge values of each type, random bits, numbers on or near rounding boundaries, and operands
//! close to each other, so that sums cancel and comparisons meet equality.

use crate::kind::InputKind;
use crate::layout::Layout;
use testing::Random;

/// The values that the operands of one vector are drawn from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueRange {
    /// The few values that every operation treats specially.
    Special,
    /// All edge values.
    Edge,
    /// Any values.
    Free,
}

/// Draws the operands of vector number `index` out of `count`: special values in the first quarter, edge
/// values in the second, any values in the rest.
pub(crate) fn vector(
    random: &mut Random,
    kinds: &[InputKind],
    index: usize,
    count: usize,
) -> Vec<u64> {
    let range = match index * 4 / count {
        0 => ValueRange::Special,
        1 => ValueRange::Edge,
        _ => ValueRange::Free,
    };
    let mut drawn: Vec<u64> = Vec::with_capacity(kinds.len());
    for (position, &kind) in kinds.iter().enumerate() {
        let earlier = kinds[..position].iter().rposition(|&other| other == kind);
        let value = match earlier {
            Some(at) if range == ValueRange::Free && random.once_in(3) => {
                close_value(random, kind, drawn[at])
            }
            _ => value(random, kind, range),
        };
        drawn.push(value);
    }
    if range == ValueRange::Free
        && let [InputKind::Float(a), InputKind::Float(b), InputKind::Float(c)] = *kinds
        && random.once_in(3)
    {
        // The third operand of a fused multiply-add nearly cancels the product.
        let product = -(a.decode(drawn[0]) * b.decode(drawn[1]));
        drawn[2] = close_value(random, kinds[2], c.encode(product));
    }
    drawn
}

fn value(random: &mut Random, kind: InputKind, range: ValueRange) -> u64 {
    match kind {
        InputKind::Predicate | InputKind::WarpPredicate => random.below(2),
        InputKind::Integer { bits } | InputKind::WarpValue { bits } => integer(random, bits, range),
        InputKind::NonZero { bits } => integer(random, bits, range).max(1),
        InputKind::IntegerPair => {
            let (low, high) = (integer(random, 16, range), integer(random, 16, range));
            high << 16 | low
        }
        InputKind::Float(layout) => float(random, layout, range),
        InputKind::FloatPair(layout) => {
            let (low, high) = (float(random, layout, range), float(random, layout, range));
            high << layout.bits() | low
        }
        InputKind::Pack(_) | InputKind::Bits | InputKind::Metadata { .. } => {
            matrix(random, kind, range == ValueRange::Free)
        }
        InputKind::Amount => match random.below(4) {
            0 => random.pick(&[0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256]),
            1 => random.bits() & 0xffff_ffff,
            _ => random.below(70),
        },
        InputKind::Lane | InputKind::ShuffleLane => random.below(32),
        InputKind::Mask | InputKind::ShuffleControl => 0xffff_ffff,
    }
}

/// Draws a register of a matrix. Floats are small integers, for exact sums, or any numbers if `free`.
pub(crate) fn matrix(random: &mut Random, kind: InputKind, free: bool) -> u64 {
    match kind {
        InputKind::Pack(layout) => {
            let count = 32_u32.div_ceil(layout.bits());
            (0..count).fold(0, |word, part| {
                word | part_of_pack(random, layout, free) << (part * layout.bits() % 64)
            })
        }
        InputKind::Metadata { chosen } => {
            // In ascending order, as required by `.sp::ordered_metadata`.
            let valid: &[u64] = if chosen == 1 { &[4, 14] } else { &[4, 8, 9, 12, 13, 14] };
            (0..8).fold(0, |word, part| word | random.pick(valid) << (4 * part))
        }
        _ => random.bits() & 0xffff_ffff,
    }
}

/// Draws a number between -4 and 4: an integer, or a number with any fraction that is not too small.
fn part_of_pack(random: &mut Random, layout: Layout, free: bool) -> u64 {
    if free {
        let exponent = layout.bias() - 3 + random.below(5);
        return layout.compose(random.once_in(2), exponent, random.bits());
    }
    let number = random.below(9) as f64 - 4.0;
    layout.encode(number)
}

// Integers.

/// Limits of smaller types, to which conversions with `.sat` clamp.
const LIMITS: &[u64] =
    &[127, 128, 255, 256, 32767, 32768, 65535, 65536, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];

fn integer(random: &mut Random, bits: u32, range: ValueRange) -> u64 {
    let mask = u64::MAX >> (64 - bits);
    let lowest = 1 << (bits - 1);
    let special = [0, 1, mask, lowest, lowest - 1, 2, mask - 1];
    let value = match range {
        ValueRange::Special => random.pick(&special),
        ValueRange::Edge => match random.below(5) {
            0 => random.pick(&special),
            1 => 1 << random.below(u64::from(bits)),
            2 => (1 << random.below(u64::from(bits))) - 1,
            3 => random.pick(&[0x5555_5555_5555_5555, 0xaaaa_aaaa_aaaa_aaaa, lowest + 1, 3, 7, 10]),
            _ => random.pick(LIMITS),
        },
        ValueRange::Free => {
            let length = random.below(u64::from(bits));
            let value = (random.bits() & mask) >> if random.once_in(2) { 0 } else { length };
            if random.once_in(3) { with_tail(random, value, 1 + length as u32) } else { value }
        }
    };
    let negated = range != ValueRange::Special && random.once_in(4);
    if negated { value.wrapping_neg() & mask } else { value & mask }
}

/// Sets the low `length` bits of `value` to the middle, just below it, just above it, or zero: the rounding
/// boundaries.
fn with_tail(random: &mut Random, value: u64, length: u32) -> u64 {
    let length = length.clamp(1, 63);
    let middle = 1 << (length - 1);
    let tails = [middle, middle - 1, middle + 1, 0];
    (value >> length << length) | (random.pick(&tails) & ((1 << length) - 1))
}

// Floats.

/// Numbers at which some conversion saturates, overflows or changes its rounding.
const THRESHOLDS: &[f64] = &[
    0.25,
    0.75,
    1.5,
    2.5,
    3.5,
    127.5,
    128.0,
    128.5,
    255.5,
    256.0,
    447.0,
    448.0,
    464.0,
    465.0,
    480.0,
    32767.5,
    32768.5,
    57344.0,
    61440.0,
    61441.0,
    65504.0,
    65519.0,
    65520.0,
    65535.5,
    65536.0,
    2147483520.0,
    2147483647.0,
    2147483647.5,
    2147483648.0,
    4294967040.0,
    4294967295.5,
    4294967296.0,
    9223371487098961920.0,
    9223372036854774784.0,
    9223372036854775808.0,
    18446742974197923840.0,
    18446744073709549568.0,
    18446744073709551616.0,
];

fn float(random: &mut Random, layout: Layout, range: ValueRange) -> u64 {
    let negative = random.once_in(2);
    let (top, bias, fractions) = (layout.top(), layout.bias(), layout.fraction_mask());
    let compose = |exponent, fraction| layout.compose(negative, exponent, fraction);
    let quiet = 1 << (layout.fraction - 1);
    match range {
        ValueRange::Special => match random.below(9) {
            0 | 1 => compose(0, 0),
            2 => compose(bias, 0),
            3 => compose(top, 0),
            4 => compose(top, quiet),
            5 => compose(top, 1),
            6 => compose(top - 1, fractions),
            7 => compose(0, 1),
            _ => compose(1, 0),
        },
        ValueRange::Edge => match random.below(10) {
            0 => compose(0, fractions),
            1 => compose(0, random.bits()),
            2 => compose(top, random.bits()),
            3 => compose(bias, 1),
            4 => compose(bias - 1, fractions),
            5 => compose(bias + random.below(3) - 1, 0),
            6 => compose(top - 1, random.bits()),
            _ => threshold(random, layout, negative),
        },
        ValueRange::Free if random.once_in(6) => random.bits() & layout.mask(),
        ValueRange::Free => {
            let (exponent, fraction) = (exponent(random, layout), fraction(random, layout));
            compose(exponent, fraction)
        }
    }
}

fn threshold(random: &mut Random, layout: Layout, negative: bool) -> u64 {
    let index = random.below(THRESHOLDS.len());
    let value = layout.encode(THRESHOLDS.get(index).copied().unwrap_or(1.0));
    let value = value.wrapping_add(random.below(3)).wrapping_sub(1) & (layout.mask() >> 1);
    if negative { value | layout.sign() } else { value }
}

/// Draws an exponent: often near that of 1, so that sums and conversions have something to round, and
/// sometimes where products leave the range.
fn exponent(random: &mut Random, layout: Layout) -> u64 {
    let (top, bias) = (layout.top(), layout.bias());
    let around = |random: &mut Random, middle: u64, reach: u64| {
        (middle + random.below(2 * reach + 1)).saturating_sub(reach).min(top - 1)
    };
    match random.below(8) {
        0 => random.below(top),
        1 | 2 => around(random, bias, 3),
        3 | 4 => around(random, bias, 26),
        5 => around(random, bias / 2, u64::from(layout.fraction) / 2 + 2),
        6 => around(random, bias + bias / 2, 2),
        _ => random.below(3),
    }
}

/// Differences of fraction lengths between formats.
const NARROWINGS: &[u64] = &[2, 3, 4, 5, 7, 8, 13, 16, 20, 21, 29, 42, 45];

fn fraction(random: &mut Random, layout: Layout) -> u64 {
    let bits = random.bits() & layout.fraction_mask();
    match random.below(5) {
        0 => bits,
        1 => {
            bits >> random.below(u64::from(layout.fraction))
                << random.below(u64::from(layout.fraction))
        }
        2 => (u64::MAX << random.below(u64::from(layout.fraction) + 1)) & layout.fraction_mask(),
        3 => {
            let length = random.pick(NARROWINGS).min(layout.fraction.into());
            with_tail(random, bits, length as u32)
        }
        _ => {
            let length = 1 + random.below(u64::from(layout.fraction));
            with_tail(random, bits, length as u32)
        }
    }
}

// Related operands.

/// Draws a value of `kind` equal to `value`, its opposite, or one or two steps away.
fn close_value(random: &mut Random, kind: InputKind, value: u64) -> u64 {
    let step = random.below(5u64).wrapping_sub(2);
    match kind {
        InputKind::Float(layout) => near_float(random, layout, value),
        InputKind::FloatPair(layout) => {
            let bits = layout.bits();
            let low = near_float(random, layout, value & layout.mask());
            let high = near_float(random, layout, value >> bits);
            high << bits | low
        }
        InputKind::Integer { bits } => {
            let value = value & (u64::MAX >> (64 - bits));
            let value = if random.once_in(3) { value.wrapping_neg() } else { value };
            value.wrapping_add(step) & (u64::MAX >> (64 - bits))
        }
        InputKind::IntegerPair => {
            let low = (value & 0xffff).wrapping_add(step) & 0xffff;
            let high = (value >> 16).wrapping_sub(step) & 0xffff;
            high << 16 | low
        }
        InputKind::NonZero { .. } => value,
        other => self::value(random, other, ValueRange::Free),
    }
}

fn near_float(random: &mut Random, layout: Layout, value: u64) -> u64 {
    let step = random.below(5u64).wrapping_sub(2);
    let neighbour =
        if random.once_in(2) { value } else { value.wrapping_add(step) & layout.mask() };
    if random.once_in(2) { neighbour ^ layout.sign() } else { neighbour }
}

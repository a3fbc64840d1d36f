//! Floating-point formats: decoding to numbers and encoding with rounding (PTX manual §5.2.3; IEEE 754).
//!
//! A finite number is an integer times a power of two, so intermediate arithmetic can be exact. Rounding
//! happens in one place, [`encode`]. Formats without infinities (e4m3) overflow to NaN.

use super::nan;
use ir::{Format, Rounding};

/// A decoded number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    /// Any NaN.
    Nan,
    /// An infinity.
    Infinite { negative: bool },
    /// A finite number.
    Finite(Finite),
}

/// `±significand · 2^exponent`. A zero significand is a zero with a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Finite {
    pub(super) negative: bool,
    pub(super) significand: u128,
    pub(super) exponent: i32,
}

impl Finite {
    pub(super) const fn zero(negative: bool) -> Self {
        Self { negative, significand: 0, exponent: 0 }
    }

    pub(super) const fn is_zero(self) -> bool {
        self.significand == 0
    }
}

/// The bit layout of a format.
#[derive(Clone, Copy)]
struct Layout {
    exponent_bits: u32,
    fraction_bits: u32,
    /// Ignored bits below the fraction.
    unused_bits: u32,
    /// Set if the highest exponent is reserved for infinities and NaNs. Otherwise only its largest fraction
    /// is NaN.
    infinities: bool,
}

impl Layout {
    #[inline(always)]
    const fn of(format: Format) -> Self {
        let (exponent_bits, fraction_bits) = match format {
            Format::F64 => (11, 52),
            Format::F32 => (8, 23),
            Format::Tf32 => (8, 10),
            Format::F16 => (5, 10),
            Format::Bf16 => (8, 7),
            Format::E4m3 => (4, 3),
            Format::E5m2 => (5, 2),
        };
        let unused_bits = if let Format::Tf32 = format { 13 } else { 0 };
        let infinities = !matches!(format, Format::E4m3);
        Self { exponent_bits, fraction_bits, unused_bits, infinities }
    }

    /// The exponent of the smallest normal number.
    #[inline(always)]
    const fn lowest(self) -> i32 {
        2 - (1 << (self.exponent_bits - 1))
    }

    /// The largest finite magnitude, without unused bits.
    #[inline(always)]
    const fn largest(self) -> u64 {
        match self.infinities {
            true => self.infinity() - 1,
            false => (1 << (self.exponent_bits + self.fraction_bits)) - 2,
        }
    }

    /// All ones in the exponent, without unused bits.
    #[inline(always)]
    const fn infinity(self) -> u64 {
        ((1 << self.exponent_bits) - 1) << self.fraction_bits
    }
}

/// The sign bit.
#[inline(always)]
pub(super) const fn sign_bit(format: Format) -> u64 {
    1 << (format.width().bits() - 1)
}

/// Returns `true` if the sign is set; zeros and NaNs have one too.
#[inline(always)]
pub(super) const fn is_negative(format: Format, bits: u64) -> bool {
    bits & sign_bit(format) != 0
}

/// Everything but the sign and ignored bits, shifted down to bit 0. Below 32 bits it is compared as an `i32`,
/// because vector units do not compare wider or unsigned integers.
#[inline(always)]
const fn magnitude(format: Format, bits: u64) -> u64 {
    (bits & !sign_bit(format)) >> Layout::of(format).unused_bits
}

#[inline(always)]
pub(super) const fn is_nan(format: Format, bits: u64) -> bool {
    let layout = Layout::of(format);
    let limit = if layout.infinities { layout.infinity() } else { layout.largest() };
    match format {
        Format::F64 => magnitude(format, bits) > limit,
        _ => magnitude(format, bits) as i32 > limit as i32,
    }
}

#[inline(always)]
pub(super) const fn is_infinite(format: Format, bits: u64) -> bool {
    let layout = Layout::of(format);
    layout.infinities && magnitude(format, bits) == layout.infinity()
}

#[inline(always)]
pub(super) const fn is_subnormal(format: Format, bits: u64) -> bool {
    let magnitude = magnitude(format, bits);
    magnitude != 0 && magnitude < (1 << Layout::of(format).fraction_bits)
}

/// Replaces subnormal `bits` by a zero of the same sign if `flush` is set.
#[inline(always)]
pub(super) const fn flushed(format: Format, flush: bool, bits: u64) -> u64 {
    let normal = 1 << Layout::of(format).fraction_bits;
    let small = match format {
        Format::F64 => magnitude(format, bits) < normal,
        _ => (magnitude(format, bits) as i32) < normal as i32,
    };
    if flush && small { bits & sign_bit(format) } else { bits }
}

/// The largest finite number.
pub(super) const fn largest(format: Format, negative: bool) -> u64 {
    let layout = Layout::of(format);
    with_sign(format, negative, layout.largest() << layout.unused_bits)
}

/// Infinity, or NaN in formats without it.
pub(super) const fn infinity(format: Format, negative: bool) -> u64 {
    let layout = Layout::of(format);
    match layout.infinities {
        true => with_sign(format, negative, layout.infinity() << layout.unused_bits),
        false => nan::canonical(format),
    }
}

/// The number 1.
#[inline(always)]
pub(super) const fn one(format: Format) -> u64 {
    let layout = Layout::of(format);
    ((1 - layout.lowest()) as u64) << layout.fraction_bits << layout.unused_bits
}

#[inline(always)]
pub(super) const fn with_sign(format: Format, negative: bool, magnitude: u64) -> u64 {
    if negative { magnitude | sign_bit(format) } else { magnitude }
}

/// Decodes a number.
pub(super) const fn decode(format: Format, bits: u64) -> Number {
    let negative = is_negative(format, bits);
    if is_nan(format, bits) {
        return Number::Nan;
    }
    if is_infinite(format, bits) {
        return Number::Infinite { negative };
    }
    let layout = Layout::of(format);
    let magnitude = magnitude(format, bits);
    let field = (magnitude >> layout.fraction_bits) as i32;
    let fraction = magnitude & ((1 << layout.fraction_bits) - 1);
    let implicit = if field > 0 { 1 << layout.fraction_bits } else { 0 };
    let steps = if field > 0 { field - 1 } else { 0 };
    Number::Finite(Finite {
        negative,
        significand: (fraction | implicit) as u128,
        exponent: layout.lowest() - layout.fraction_bits as i32 + steps,
    })
}

/// Rounds `number` to `format`. In a significand with at least two bits more than the format has, the lowest
/// bit may be sticky.
#[inline]
pub(super) fn encode(format: Format, rounding: Rounding, number: Finite) -> u64 {
    let encoded = encode_finite(format, rounding, number);
    encoded.unwrap_or_else(|| overflow(format, rounding, number.negative))
}

/// Like [`encode`]; `None` if the number is too large for the format.
pub(super) fn encode_finite(format: Format, rounding: Rounding, number: Finite) -> Option<u64> {
    let layout = Layout::of(format);
    let Finite { negative, significand, exponent } = number;
    if significand == 0 {
        return Some(with_sign(format, negative, 0));
    }
    let top = exponent + significand.ilog2() as i32;
    if top > 1 - layout.lowest() + i32::from(!layout.infinities) {
        return None;
    }
    let leading = top.max(layout.lowest());
    let unit = leading - layout.fraction_bits as i32;
    let kept = scale(significand, unit - exponent, rounding, negative) as u64;
    // The leading one of a normal number, or a carry, adds one to the exponent field.
    let field = (leading - layout.lowest()) as u64;
    let magnitude = (field << layout.fraction_bits) + kept;
    let fits = magnitude <= layout.largest();
    fits.then(|| with_sign(format, negative, magnitude << layout.unused_bits))
}

/// The rounded value of a number too large for the format.
fn overflow(format: Format, rounding: Rounding, negative: bool) -> u64 {
    let away = match rounding {
        Rounding::NearestEven | Rounding::NearestAway => true,
        Rounding::Zero => false,
        Rounding::Down => negative,
        Rounding::Up => !negative,
    };
    if away { infinity(format, negative) } else { largest(format, negative) }
}

/// Computes `significand / 2^shift`, rounded to an integer; a negative shift multiplies and must not
/// overflow.
pub(super) fn scale(significand: u128, shift: i32, rounding: Rounding, negative: bool) -> u128 {
    if shift <= 0 {
        return significand << -shift;
    }
    let (significand, shift) = match shift {
        0..=126 => (significand, shift),
        // Far below half a unit, only the sticky bit matters.
        _ => (shift_right_sticky(significand, shift - 64), 64),
    };
    let kept = significand >> shift;
    let rest = significand & ((1 << shift) - 1);
    let half = 1 << (shift - 1);
    let up = match rounding {
        Rounding::NearestEven => rest > half || (rest == half && kept & 1 == 1),
        Rounding::NearestAway => rest >= half,
        Rounding::Zero => false,
        Rounding::Down => negative && rest != 0,
        Rounding::Up => !negative && rest != 0,
    };
    kept + u128::from(up)
}

/// Shifts right. The lowest bit of the result is set if a one is shifted out.
pub(super) fn shift_right_sticky(significand: u128, shift: i32) -> u128 {
    match shift {
        ..=0 => significand,
        1..=127 => {
            let kept = significand >> shift;
            kept | u128::from(kept << shift != significand)
        }
        _ => u128::from(significand != 0),
    }
}

/// Converts a float of any format to a double, exactly.
#[must_use]
pub fn to_double(format: Format, bits: u64) -> f64 {
    to_f64(format, bits)
}

/// Converts to double precision, which has every number of the other formats; a NaN stays a NaN.
#[inline(always)]
pub(super) fn to_f64(format: Format, bits: u64) -> f64 {
    match format {
        Format::F64 => f64::from_bits(bits),
        Format::F32 => f64::from(f32::from_bits(bits as u32)),
        Format::Tf32 => f64::from(f32::from_bits(bits as u32 & !0x1fff)),
        Format::Bf16 => f64::from(f32::from_bits((bits as u32) << 16)),
        Format::F16 | Format::E5m2 | Format::E4m3 => widened(format, bits),
    }
}

/// Moves exponent and fraction to their positions in a double, then corrects the bias by an exact
/// multiplication, which also normalises subnormal numbers.
#[inline(always)]
fn widened(format: Format, bits: u64) -> f64 {
    let layout = Layout::of(format);
    let scaled = f64::from_bits(magnitude(format, bits) << (52 - layout.fraction_bits));
    // The bias of a double minus that of the format.
    let value = scaled * power_of_two(1022 + layout.lowest());
    let value = if is_infinite(format, bits) { f64::INFINITY } else { value };
    let value = if is_nan(format, bits) { f64::NAN } else { value };
    if is_negative(format, bits) { -value } else { value }
}

/// Rounds `value` to the nearest number of `format`, ties to even; every NaN becomes the canonical one.
/// Gives the same result as decoding and encoding, without branches. Not for double precision.
#[inline(always)]
pub(super) fn from_f64(format: Format, value: f64) -> u64 {
    match format {
        Format::F32 => single_or_nan(value as f32),
        Format::F16 | Format::Bf16 | Format::E5m2 => narrowed(format, value),
        Format::F64 | Format::Tf32 | Format::E4m3 => match decode(Format::F64, value.to_bits()) {
            Number::Finite(number) => encode(format, Rounding::NearestEven, number),
            Number::Infinite { negative } => infinity(format, negative),
            Number::Nan => nan::canonical(format),
        },
    }
}

#[inline(always)]
pub(super) const fn single_or_nan(value: f32) -> u64 {
    if value.is_nan() { nan::canonical(Format::F32) } else { value.to_bits() as u64 }
}

/// Like [`from_f64`], for formats with infinities and fewer exponents than double precision.
#[inline(always)]
fn narrowed(format: Format, value: f64) -> u64 {
    let layout = Layout::of(format);
    let dropped = 52 - layout.fraction_bits;
    let magnitude = value.abs();
    // Subnormal numbers: a sum with the format's last place does the rounding.
    let smallest_normal = power_of_two(layout.lowest());
    let aligner = power_of_two(layout.lowest() + dropped as i32);
    let subnormal = (magnitude + aligner).to_bits() - aligner.to_bits();
    // Normal numbers: rebias, add just under half a unit, or half if odd, and truncate. A carry from the
    // largest number gives infinity.
    let bits = magnitude.to_bits();
    let rebias = ((1022 + layout.lowest()) as u64) << 52;
    let odd = (bits >> dropped) & 1;
    let half = (1 << (dropped - 1)) - 1 + odd;
    let normal = bits.wrapping_sub(rebias).wrapping_add(half) >> dropped;
    let normal =
        if magnitude >= power_of_two(2 - layout.lowest()) { layout.infinity() } else { normal };
    let rounded = if magnitude < smallest_normal { subnormal } else { normal };
    let rounded = with_sign(format, value.is_sign_negative(), rounded);
    if value.is_nan() { nan::canonical(format) } else { rounded }
}

/// 2^exponent, for exponents of normal doubles.
#[inline(always)]
const fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

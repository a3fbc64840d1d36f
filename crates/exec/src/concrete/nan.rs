//! NaN results of operations. The manual specifies little: "canonical" NaNs for `.relu` and `.NaN`, one bit
//! pattern for the gross approximations in double precision, "unspecified" otherwise.
//!
//! The choices follow what is known of current hardware. No test compares them with recordings:
//! `tests/hardware.rs` takes all NaNs as equal.
//!
//! - every format except double precision has one NaN for results, all ones without the sign;
//! - double precision passes on its first NaN operand with the quiet bit set, or creates `0xfff8000000000000`
//!   if there is none;
//! - operations that only move or select bits (`copysign`, conversions that change nothing, `bf16` to single
//!   precision) keep a NaN unchanged.
//!
//! This can err either way: a program that inspects NaNs may see other bits on a particular chip.

use super::format::{is_nan, sign_bit};
use ir::Format;

/// The NaN that the manual calls canonical.
#[inline(always)]
#[must_use]
pub const fn canonical(format: Format) -> u64 {
    match format {
        Format::F64 => 0xfff8_0000_0000_0000,
        Format::F32 | Format::Tf32 => 0x7fff_ffff,
        Format::F16 | Format::Bf16 => 0x7fff,
        Format::E4m3 | Format::E5m2 => 0x7f,
    }
}

/// The NaN of the gross approximations in double precision.
pub(super) const GROSS: u64 = 0x7fff_ffff_0000_0000;

/// The NaN result of an operation on `operands`.
#[inline(always)]
pub(super) fn result<const N: usize>(format: Format, operands: [u64; N]) -> u64 {
    if format != Format::F64 {
        return canonical(format);
    }
    let mut nan = canonical(format);
    for &bits in operands.iter().rev() {
        nan = if is_nan(format, bits) { quiet(bits) } else { nan };
    }
    nan
}

/// Sets the quiet bit of a NaN in double precision.
pub(super) const fn quiet(bits: u64) -> u64 {
    bits | 1 << 51
}

/// Converts a NaN of single or half precision to double precision, keeping payload and sign.
pub(super) const fn widened(format: Format, bits: u64) -> u64 {
    let sign = bits & sign_bit(format);
    let payload = bits & (sign_bit(format) - 1);
    let (sign, payload) = match format {
        Format::F64 => (sign, payload),
        Format::F32 | Format::Tf32 => (sign << 32, payload << 29),
        Format::Bf16 => (sign << 48, payload << 45),
        Format::F16 => (sign << 48, payload << 42),
        Format::E4m3 => (sign << 56, payload << 49),
        Format::E5m2 => (sign << 56, payload << 50),
    };
    quiet(sign | payload | 0x7ff0_0000_0000_0000)
}

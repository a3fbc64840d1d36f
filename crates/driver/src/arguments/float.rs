//! Encodes numbers of the command line in a floating-point format, rounded to nearest even.
//!
//! f64 and f32 are read from the decimal text. The narrower formats go through an f64 rounded to odd, whose last bit
//! records that the text was not exact: so rounding twice gives the same as rounding once. Numbers beyond the largest
//! of the format are refused, not made infinite.

use super::{Number, NumberError};
use ir::Format;

/// Appends the bytes of a number in a format.
///
/// # Errors
/// If the format has no such number.
pub(super) fn encode(
    format: Format,
    number: &Number,
    bytes: &mut Vec<u8>,
) -> Result<(), NumberError> {
    let text = number.to_string();
    let too_large = || NumberError::TooLarge { number: text.clone(), format: name(format) };
    let not_a_number = |_| NumberError::NotANumber { number: text.clone() };
    let wide: f64 = text.parse().map_err(not_a_number)?;
    let is_infinity = wide.is_infinite() && !text.contains(|letter: char| letter.is_ascii_digit());
    if wide.is_infinite() && !is_infinity {
        return Err(too_large());
    }
    let layout = match format {
        Format::F64 => {
            bytes.extend_from_slice(&wide.to_le_bytes());
            return Ok(());
        }
        Format::F32 => {
            let narrow: f32 = text.parse().map_err(not_a_number)?;
            if narrow.is_infinite() && !is_infinity {
                return Err(too_large());
            }
            bytes.extend_from_slice(&narrow.to_le_bytes());
            return Ok(());
        }
        Format::Tf32 => &TF32,
        Format::F16 => &F16,
        Format::Bf16 => &BF16,
        Format::E4m3 => &E4M3,
        Format::E5m2 => &E5M2,
    };
    let magnitude = if wide.is_nan() {
        layout.nan
    } else if is_infinity {
        let format = name(format);
        layout.infinity.ok_or_else(|| NumberError::NoInfinity { number: text.clone(), format })?
    } else {
        Some(layout.round(round_to_odd(&text, wide).abs()))
            .filter(|&bits| bits <= layout.largest)
            .ok_or_else(too_large)?
    };
    let sign = u32::from(wide.is_sign_negative() && !wide.is_nan()) << layout.sign_position;
    let bits = (magnitude | sign) << layout.unused_bits;
    bytes.extend_from_slice(&bits.to_le_bytes()[..format.width().bytes() as usize]);
    Ok(())
}

/// Rounds a decimal text to odd: returns `nearest`, the closest float, if the text is exactly that. Otherwise returns
/// the one of the two floats around the text whose last bit is 1.
fn round_to_odd(text: &str, nearest: f64) -> f64 {
    // Fast path: most numbers are small integers, and tensors have many of them.
    if nearest.abs() < (1_u64 << f64::MANTISSA_DIGITS) as f64 && text.parse::<i64>().is_ok() {
        return nearest;
    }
    // Enough for every digit of an f64.
    let exact = format!("{nearest:.1100e}");
    let (Some(text), Some(exact)) = (digits(text), digits(&exact)) else { return nearest };
    let is_even = nearest.to_bits() & 1 == 0;
    // Adding to the bits moves away from zero, for either sign.
    match text.cmp(&exact) {
        std::cmp::Ordering::Less if is_even && nearest != 0.0 => {
            f64::from_bits(nearest.to_bits() - 1)
        }
        std::cmp::Ordering::Greater if is_even => f64::from_bits(nearest.to_bits() + 1),
        _ => nearest,
    }
}

/// The decimal exponent of a number's magnitude, and its digits; the pairs order as the numbers do. `None` for zero
/// and for text that is not a decimal number.
fn digits(text: &str) -> Option<(i64, String)> {
    let (number, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i64 = exponent.parse().ok()?;
    let number = number.trim_start_matches(['-', '+']);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let all = format!("{whole}{fraction}");
    let significant = all.trim_start_matches('0');
    let leading = i64::try_from(all.len() - significant.len()).ok()?;
    let before_point = i64::try_from(whole.len()).ok()? - leading;
    let significant = significant.trim_end_matches('0');
    let is_number = !significant.is_empty() && significant.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| (exponent.saturating_add(before_point), significant.to_owned()))
}

/// Bit layout of a narrow format.
struct Layout {
    mantissa_bits: i32,
    /// Exponent of the smallest normal number.
    least_exponent: i32,
    /// Bits of the largest finite number.
    largest: u32,
    infinity: Option<u32>,
    nan: u32,
    sign_position: u32,
    /// Unused low bits of the container.
    unused_bits: u32,
}

const F16: Layout = Layout {
    mantissa_bits: 10,
    least_exponent: -14,
    largest: 0x7bff,
    infinity: Some(0x7c00),
    nan: 0x7e00,
    sign_position: 15,
    unused_bits: 0,
};

const BF16: Layout = Layout {
    mantissa_bits: 7,
    least_exponent: -126,
    largest: 0x7f7f,
    infinity: Some(0x7f80),
    nan: 0x7fc0,
    sign_position: 15,
    unused_bits: 0,
};

const TF32: Layout = Layout {
    mantissa_bits: 10,
    least_exponent: -126,
    largest: 0x3_fbff,
    infinity: Some(0x3_fc00),
    nan: 0x3_fe00,
    sign_position: 18,
    unused_bits: 13,
};

const E4M3: Layout = Layout {
    mantissa_bits: 3,
    least_exponent: -6,
    largest: 0x7e,
    infinity: None,
    nan: 0x7f,
    sign_position: 7,
    unused_bits: 0,
};

const E5M2: Layout = Layout {
    mantissa_bits: 2,
    least_exponent: -14,
    largest: 0x7b,
    infinity: Some(0x7c),
    nan: 0x7f,
    sign_position: 7,
    unused_bits: 0,
};

impl Layout {
    /// Bits of the nearest number, as if the exponent had no upper end; at least those of `infinity` if the value is
    /// far too large.
    fn round(&self, value: f64) -> u32 {
        const BIAS: i32 = 1023;
        // Subnormal numbers of f64 have exponent field 0. They are far below half of the least number of any narrow
        // format, so taking them for a little larger is harmless.
        let exponent = (value.to_bits() >> 52) as i32 - BIAS;
        if exponent < self.least_exponent - self.mantissa_bits - 1 {
            return 0;
        }
        if exponent > 128 {
            return u32::MAX;
        }
        let quantum = exponent.max(self.least_exponent) - self.mantissa_bits;
        // Exact: a multiplication by a power of two within the range of f64.
        let scaled = (value * 2f64.powi(-quantum)).round_ties_even();
        // At most 2^(mantissa_bits + 1), and not negative.
        #[expect(clippy::cast_possible_truncation, reason = "below 2^12")]
        #[expect(clippy::cast_sign_loss, reason = "a magnitude")]
        let scaled = scaled as u32;
        // A normal number's leading bit counts as 1 in the exponent field, so rounding up carries into the exponent
        // by itself, even from subnormal numbers.
        #[expect(clippy::cast_sign_loss, reason = "not below the least exponent")]
        let steps = (exponent.max(self.least_exponent) - self.least_exponent) as u32;
        (steps << self.mantissa_bits) + scaled
    }
}

fn name(format: Format) -> &'static str {
    match format {
        Format::F64 => "f64",
        Format::F32 => "f32",
        Format::Tf32 => "tf32",
        Format::F16 => "f16",
        Format::Bf16 => "bf16",
        Format::E4m3 => "f8e4m3",
        Format::E5m2 => "f8e5m2",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(format: Format, text: &str) -> Result<u64, NumberError> {
        let number = super::super::parse::number(text).unwrap();
        let mut bytes = Vec::new();
        encode(format, &number, &mut bytes)?;
        bytes.resize(8, 0);
        Ok(u64::from_le_bytes(bytes.try_into().unwrap()))
    }

    #[test]
    fn numbers_are_rounded_to_nearest_even() {
        let table = [
            (Format::F16, "1", 0x3c00),
            (Format::F16, "-0.0", 0x8000),
            (Format::F16, "65504", 0x7bff),
            (Format::F16, "65519.99", 0x7bff),
            (Format::F16, "5.960464477539063e-8", 1),
            (Format::F16, "2.98023223876953125e-8", 0),
            // Above or below a tie, by less than the distance to the next f64.
            (Format::F16, "2.9802322387695314e-8", 1),
            (Format::F16, "0.0000000298023223876953125000000000001", 1),
            (Format::F16, "-2.9802322387695312499999999e-8", 0x8000),
            (Format::F16, "1.0004882812500000000000000001", 0x3c01),
            (Format::F16, "10.014648437499999999999999999E-1", 0x3c01),
            (Format::F16, "65519.99999999999999999999", 0x7bff),
            (Format::F16, "6.1e-5", 0x3ff),
            (Format::F16, "1.00048828125", 0x3c00),
            (Format::F16, "1.00146484375", 0x3c02),
            (Format::F16, "-inf", 0xfc00),
            (Format::F16, "nan", 0x7e00),
            (Format::Bf16, "1", 0x3f80),
            (Format::Bf16, "3.3895313892515355e38", 0x7f7f),
            (Format::Bf16, "9.183549615799121e-41", 1),
            (Format::Tf32, "1", 0x3f80_0000),
            (Format::Tf32, "-1.00048828125", 0xbf80_0000),
            (Format::E4m3, "448", 0x7e),
            (Format::E4m3, "463.9", 0x7e),
            (Format::E4m3, "0.001953125", 1),
            (Format::E4m3, "nan", 0x7f),
            (Format::E5m2, "57344", 0x7b),
            (Format::E5m2, "-1.25", 0xbd),
            (Format::E5m2, "inf", 0x7c),
            (Format::F32, "0.1", 0x3dcc_cccd),
            (Format::F32, "7.038531e-26", 0x15ae_43fd),
            (Format::F64, "0.1", 0x3fb9_9999_9999_999a),
        ];
        for (format, text, expected) in table {
            assert_eq!(bits(format, text), Ok(expected), "{text} as {format:?}");
        }
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        let table = [
            (Format::F16, "65520", "65520 is too large for f16"),
            (Format::E4m3, "465", "465 is too large for f8e4m3"),
            (Format::E4m3, "1e300", "1e300 is too large for f8e4m3"),
            (Format::E4m3, "inf", "inf: f8e4m3 has no infinity"),
            (Format::F32, "1e39", "1e39 is too large for f32"),
            (Format::F64, "1e999", "1e999 is too large for f64"),
        ];
        for (format, text, expected) in table {
            assert_eq!(bits(format, text).unwrap_err().to_string(), expected);
        }
    }

    /// Every number of a format of 16 bits reads back as itself.
    #[test]
    fn numbers_of_the_format_stay_as_they_are() {
        for pattern in 0..0x7f80_u32 {
            let value = f32::from_bits(pattern << 16);
            assert_eq!(bits(Format::Bf16, &format!("{value:e}")), Ok(pattern.into()));
        }
    }
}

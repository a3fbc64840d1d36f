//! Numbers of scalar types: membership and encoding.

use exec::concrete::{Conversion, convert};
use ir::{Format, Scalar};

/// Decodes an integer.
pub(crate) fn integer_of(scalar: Scalar, bits: u64) -> i128 {
    let width = scalar.width().bits();
    let signed = matches!(scalar, Scalar::Integer { signed: true, .. });
    let negative = signed && bits >> (width - 1) & 1 == 1;
    i128::from(bits) - if negative { 1 << width } else { 0 }
}

/// Appends the bytes of a number. A float is rounded to the type, an integer loses the bits beyond its width; always
/// returns `Some`.
pub(crate) fn encode(scalar: Scalar, number: f64, bytes: &mut Vec<u8>) -> Option<()> {
    match scalar {
        Scalar::Float(format) => {
            let nearest = Conversion::nearest(Scalar::Float(Format::F64), scalar);
            let bits = convert(nearest, number.to_bits()).to_le_bytes();
            bytes.extend(&bits[..format.width().bytes() as usize]);
        }
        Scalar::Integer { width, .. } => {
            let all_bytes = (number as i128).to_le_bytes();
            bytes.extend(&all_bytes[..width.bytes() as usize]);
        }
    }
    Some(())
}

/// Returns `true` if the type contains the number.
pub(crate) fn is_of_type(scalar: Scalar, number: f64) -> bool {
    let (bits, least, most) = match scalar {
        Scalar::Float(Format::F64) => return number.is_finite(),
        Scalar::Float(Format::F32) => return f64::from(number as f32) == number,
        // Significand bits, exponent of the smallest step, largest number.
        Scalar::Float(Format::Tf32) => (11, -136, f64::from(f32::MAX)),
        Scalar::Float(Format::Bf16) => (8, -133, 255.0 * 2_f64.powi(120)),
        Scalar::Float(Format::F16) => (11, -24, 65504.0),
        Scalar::Float(Format::E4m3) => (4, -9, 448.0),
        Scalar::Float(Format::E5m2) => (3, -16, 57344.0),
        Scalar::Integer { width, signed } => {
            let limit = 2_f64.powi(width.bits() as i32 - i32::from(signed));
            let low = if signed { -limit } else { 0.0 };
            return number.fract() == 0.0 && number >= low && number < limit;
        }
    };
    // Nothing may remain beyond the bits of the significand.
    let exponent = if number == 0.0 { 0 } else { number.abs().log2().floor() as i32 };
    let step = 2_f64.powi((exponent - bits + 1).max(least));
    number.abs() <= most && (number / step).fract() == 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_their_numbers_and_no_others() {
        let has = |format, number| is_of_type(Scalar::Float(format), number);
        assert!(has(Format::F32, 0.1_f32.into()) && !has(Format::F32, 0.1));
        assert!(has(Format::F16, 2047.0) && !has(Format::F16, 2049.0));
        assert!(has(Format::F16, 2_f64.powi(-24)) && !has(Format::F16, 2_f64.powi(-25)));
        assert!(has(Format::E4m3, 448.0) && !has(Format::E4m3, 480.0) && !has(Format::E4m3, 17.0));
        assert!(has(Format::E5m2, 7.0) && !has(Format::E5m2, 9.0) && has(Format::Bf16, -0.0));
        // The largest one, 0x7f7f, and the next step.
        let largest = f64::from(f32::from_bits(0x7f7f_0000));
        assert!(has(Format::Bf16, largest) && !has(Format::Bf16, 2_f64.powi(128)));
        let byte = Scalar::Integer { width: ir::Width::B8, signed: true };
        assert!(is_of_type(byte, -128.0) && !is_of_type(byte, 128.0) && !is_of_type(byte, 0.5));
    }
}

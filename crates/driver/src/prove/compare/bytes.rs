//! Values as bytes, and back: little endian, IEEE 754.

use interp::Value;
use kir::Scalar;

/// The bytes of a value; zeros if it has none.
pub(super) fn encode(value: Value, scalar: Scalar) -> Vec<u8> {
    let bytes = usize::try_from(scalar.bytes()).unwrap_or(0);
    match (value, scalar) {
        (Value::Int { value, .. }, _) => value.to_le_bytes().into_iter().take(bytes).collect(),
        #[expect(clippy::cast_possible_truncation, reason = "contents are drawn so that it fits")]
        (Value::Float(real), Scalar::Float { bits: 32 }) => {
            (real.value() as f32).to_le_bytes().to_vec()
        }
        (Value::Float(real), Scalar::Float { bits: 16 }) => {
            half(real.value()).to_le_bytes().to_vec()
        }
        (Value::Float(value), Scalar::Bfloat16) => {
            // The upper half of a float. Only for numbers that fit exactly.
            encode(Value::Float(value), Scalar::Float { bits: 32 }).into_iter().skip(2).collect()
        }
        (Value::Float(real), _) => real.value().to_le_bytes().into_iter().take(bytes).collect(),
        (Value::Undefined, _) => vec![0; bytes],
    }
}

/// Decodes a value.
pub(super) fn decode(bytes: &[u8], scalar: Scalar) -> Value {
    let mut wide = [0; 16];
    for (slot, byte) in wide.iter_mut().zip(bytes) {
        *slot = *byte;
    }
    let bits = u128::from_le_bytes(wide);
    #[expect(clippy::cast_possible_truncation, reason = "as many bits as there are bytes")]
    let value = match scalar {
        Scalar::Float { bits: 16 } => return Value::float(of_half(bits as u16)),
        Scalar::Bfloat16 => {
            return Value::float(f64::from(f32::from_bits((bits as u32) << 16)));
        }
        Scalar::Float { bits: 32 } => {
            return Value::float(f64::from(f32::from_bits(bits as u32)));
        }
        Scalar::Float { .. } => return Value::float(f64::from_bits(bits as u64)),
        Scalar::Bool => i128::from(bits != 0),
        Scalar::Int { bits: width, signed } => {
            let value = bits.cast_signed();
            let negative = signed && value >> (width - 1) & 1 == 1;
            if negative { value - (1 << width) } else { value }
        }
    };
    Value::Int { value, exact: Some(value) }
}

/// A number as a half. Only for numbers that fit exactly.
fn half(value: f64) -> u16 {
    if value == 0.0 {
        return 0;
    }
    let bits = value.to_bits();
    let sign = (bits >> 63) << 15;
    let exponent = (bits >> 52 & 0x7ff).saturating_sub(1023 - 15);
    u16::try_from(sign | exponent << 10 | bits >> 42 & 0x3ff).unwrap_or(0)
}

fn of_half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
    match exponent {
        0 => sign * fraction * 2.0_f64.powi(-24),
        31 if fraction == 0.0 => sign * f64::INFINITY,
        31 => f64::NAN,
        _ => sign * (1.0 + fraction / 1024.0) * 2.0_f64.powi(exponent - 15),
    }
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};
    use interp::Value;
    use kir::Scalar;

    #[test]
    fn values_come_back() {
        let int = |value| Value::Int { value, exact: Some(value) };
        for (value, bits, signed) in [(-1, 8, true), (255, 8, false), (-(1 << 31), 32, true)] {
            let scalar = Scalar::Int { bits, signed };
            assert_eq!(decode(&encode(int(value), scalar), scalar), int(value));
        }
        let last = Scalar::Int { bits: 64, signed: false };
        assert_eq!(decode(&encode(int((1 << 64) - 1), last), last), int((1 << 64) - 1));
        let floats = [16, 32, 64].map(|bits| Scalar::Float { bits });
        for scalar in floats.into_iter().chain([Scalar::Bfloat16]) {
            for value in [0.0, 1.0, -2.25, 8.0, 40.5, -0.25] {
                let encoded = encode(Value::float(value), scalar);
                assert_eq!(encoded.len() as u64, scalar.bytes());
                assert_eq!(decode(&encoded, scalar), Value::float(value));
            }
        }
    }
}

//! The value of a literal (manual §4.5.1–4.5.2).

/// The value of a literal. Integers are 64 bits wide; the sign matters only inside constant expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// An integer that fits `.s64`.
    Signed(i64),
    /// An integer written with `U`, or too large for `.s64`.
    Unsigned(u64),
    /// `0f…`: the bits of a single-precision number.
    F32(u32),
    /// `0d…` or a decimal literal with a point or an exponent: the bits of a double-precision number. Bits and not a
    /// number, because a NaN must equal itself.
    F64(u64),
}

impl Value {
    /// Evaluates a literal as cut by the lexer; the error describes it.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        let bytes = text.as_bytes();
        match (bytes.first(), bytes.get(1)) {
            (Some(b'0'), Some(b'x' | b'X')) => integer(&text[2..], 16),
            (Some(b'0'), Some(b'b' | b'B')) => integer(&text[2..], 2),
            (Some(b'0'), Some(b'f' | b'F')) => {
                let bits = exact_hex(
                    &text[2..],
                    8,
                    "does not have exactly 8 hexadecimal digits after `0f`",
                )?;
                Ok(Self::F32(u32::try_from(bits).unwrap_or_default()))
            }
            (Some(b'0'), Some(b'd' | b'D')) => {
                let bits = exact_hex(
                    &text[2..],
                    16,
                    "does not have exactly 16 hexadecimal digits after `0d`",
                )?;
                Ok(Self::F64(bits))
            }
            _ if bytes.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E')) => decimal(text),
            (Some(b'0'), Some(b'0'..=b'9')) => integer(&text[1..], 8),
            _ => integer(text, 10),
        }
    }
}

fn integer(digits: &str, radix: u32) -> Result<Value, &'static str> {
    let (digits, unsigned) = match digits.strip_suffix(['u', 'U']) {
        Some(digits) => (digits, true),
        None => (digits, false),
    };
    // `from_str_radix` would also accept a sign, which must be refused.
    if digits.is_empty() || !digits.bytes().all(|byte| (byte as char).is_digit(radix)) {
        return Err(match radix {
            16 => "is not a hexadecimal number",
            8 => "is not an octal number (a leading 0 means octal)",
            2 => "is not a binary number",
            _ => "is not a number",
        });
    }
    let value = u64::from_str_radix(digits, radix).map_err(|_| "does not fit in 64 bits")?;
    Ok(match i64::try_from(value) {
        Ok(value) if !unsigned => Value::Signed(value),
        _ => Value::Unsigned(value),
    })
}

fn exact_hex(digits: &str, length: usize, message: &'static str) -> Result<u64, &'static str> {
    if digits.len() != length || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(message);
    }
    u64::from_str_radix(digits, 16).map_err(|_| message)
}

fn decimal(text: &str) -> Result<Value, &'static str> {
    // Rust would also accept `inf` and `nan`; the lexer only sends text that starts with a digit or a dot, so those
    // never reach this.
    let value: f64 = text.parse().map_err(|_| "is not a floating-point number")?;
    if value.is_finite() {
        Ok(Value::F64(value.to_bits()))
    } else {
        Err("does not fit in a double")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_literal_form_has_its_value() {
        let cases = [
            ("0", Value::Signed(0)),
            ("017", Value::Signed(15)),
            ("0b101U", Value::Unsigned(5)),
            ("0X1F79U", Value::Unsigned(0x1F79)),
            ("0x7fffffffffffffff", Value::Signed(i64::MAX)),
            ("0x8000000000000000", Value::Unsigned(1 << 63)),
            ("18446744073709551615", Value::Unsigned(u64::MAX)),
            ("0F3f800000", Value::F32(0x3f80_0000)),
            ("0d3FF0000000000000", Value::F64(1.0f64.to_bits())),
            (".05", Value::F64(0.05f64.to_bits())),
            ("1.", Value::F64(1.0f64.to_bits())),
            ("2e-3", Value::F64(0.002f64.to_bits())),
        ];
        for (text, value) in cases {
            assert_eq!(Value::parse(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn broken_literals_are_refused() {
        for text in ["0x", "0xg", "089", "0b2", "0f3f80", "0d0", "12ab", "1.2.3", "1e999", "0U1"] {
            assert!(Value::parse(text).is_err(), "{text}");
        }
        assert!(Value::parse("18446744073709551616").is_err());
    }
}

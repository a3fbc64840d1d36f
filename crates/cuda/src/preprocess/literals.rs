//! Literals: integers, floating numbers, characters and strings (ISO C++17 \[lex.literal\]).
//!
//! Floating literals are rounded once, to the type of their suffix. A literal that is infinite in its type is
//! refused, as are user-defined suffixes, wide characters and characters of several letters.

use thiserror::Error;

/// A number as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Literal {
    Int { value: u128, decimal: bool, unsigned: bool, long: u8 },
    Float { value: f64, single: bool },
}

/// The reason why a literal is not read; displays as a whole message.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum LiteralError {
    #[error("`{0}` is not a number")]
    NotANumber(String),
    #[error("`{0}` is too large for its type")]
    TooLarge(String),
    #[error("this character is empty")]
    Empty,
    #[error("multi-character constants are not supported")]
    SeveralLetters,
    #[error("wide characters are not supported")]
    Wide,
    #[error("the escape `\\{0}` is not supported")]
    Escape(char),
    #[error("the escape `\\x` needs digits")]
    NoDigits,
    #[error("this escape does not fit into a `char`")]
    EscapeTooLarge,
}

/// The value of a preprocessing number.
pub(super) fn number(text: &str) -> Result<Literal, LiteralError> {
    let wrong = || LiteralError::NotANumber(text.to_owned());
    if text.contains("''") || text.ends_with('\'') {
        return Err(wrong());
    }
    let plain = text.replace('\'', "").to_ascii_lowercase();
    let is_hex = plain.starts_with("0x");
    let is_float = if is_hex { plain.contains(['.', 'p']) } else { plain.contains(['.', 'e']) };
    if is_float {
        return float(&plain, is_hex).ok_or_else(wrong)?;
    }
    // The case of `l` matters: `lL` is not a suffix.
    if text.contains("lL") || text.contains("Ll") {
        return Err(wrong());
    }
    integer(&plain).ok_or_else(wrong)
}

fn integer(text: &str) -> Option<Literal> {
    let (base, digits) = match text.get(..2) {
        Some("0x") => (16, text.get(2..)?),
        Some("0b") => (2, text.get(2..)?),
        _ if text.starts_with('0') && text.len() > 1 => (8, text),
        _ => (10, text),
    };
    let length = digits.find(|c: char| !c.is_digit(base.max(10))).unwrap_or(digits.len());
    let (digits, suffix) = digits.split_at(length);
    let (unsigned, long) = match suffix {
        "" => (false, 0),
        "u" => (true, 0),
        "l" => (false, 1),
        "ll" => (false, 2),
        "ul" | "lu" => (true, 1),
        "ull" | "llu" => (true, 2),
        _ => return None,
    };
    let value = u128::from_str_radix(digits, base).ok()?;
    // `0` is octal; this makes no difference, because its value fits every type.
    Some(Literal::Int { value, decimal: base == 10, unsigned, long })
}

fn float(text: &str, is_hex: bool) -> Option<Result<Literal, LiteralError>> {
    let single = text.ends_with('f');
    // `long double` is `double` on the device.
    let digits = text.strip_suffix(['f', 'l']).unwrap_or(text);
    let value = if is_hex {
        hexadecimal(digits, single)?
    } else {
        let is_number = digits.bytes().all(|b| b.is_ascii_digit() || b".e+-".contains(&b));
        if !is_number {
            return None;
        }
        if single { f64::from(digits.parse::<f32>().ok()?) } else { digits.parse().ok()? }
    };
    if value.is_infinite() {
        return Some(Err(LiteralError::TooLarge(text.to_owned())));
    }
    Some(Ok(Literal::Float { value, single }))
}

/// `0x1.8p3`, rounded once to 24 or 53 bits.
fn hexadecimal(text: &str, single: bool) -> Option<f64> {
    let (mantissa, exponent) = text.get(2..)?.split_once('p')?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let is_negative = exponent.starts_with('-');
    let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // Beyond this the value is 0 or infinite for all digits.
    let exponent = digits.parse::<i64>().unwrap_or(1 << 40).min(1 << 40);
    let mut exponent = if is_negative { -exponent } else { exponent };
    let (mut bits, mut is_inexact) = (0u128, false);
    for digit in whole.chars() {
        exponent += 4 * i64::from(push_digit(&mut bits, &mut is_inexact, digit)?);
    }
    for digit in fraction.chars() {
        exponent += 4 * i64::from(push_digit(&mut bits, &mut is_inexact, digit)?) - 4;
    }
    Some(round(bits, is_inexact, exponent, single))
}

/// Appends a digit to the bits; returns `true` if it is lost.
fn push_digit(bits: &mut u128, is_inexact: &mut bool, digit: char) -> Option<bool> {
    let value = digit.to_digit(16)?;
    if *bits >> 120 != 0 {
        *is_inexact |= value != 0;
        return Some(true);
    }
    *bits = *bits << 4 | u128::from(value);
    Some(false)
}

/// `bits · 2^exponent`, and a little more if it is inexact, rounded to the nearest number of the type, halves to
/// even.
fn round(bits: u128, is_inexact: bool, exponent: i64, single: bool) -> f64 {
    if bits == 0 {
        return 0.0;
    }
    let (precision, least, most) = if single { (24, -149, 128) } else { (53, -1074, 1024) };
    let length = i64::from(128 - bits.leading_zeros());
    if exponent + length > most + 1 {
        return f64::INFINITY;
    }
    // The lowest bit of the result.
    let unit = (exponent + length - precision).max(least);
    let drop = unit - exponent;
    let kept = if drop <= 0 {
        bits << u32::try_from(-drop).unwrap_or(0)
    } else if drop > 127 {
        0
    } else {
        let (high, low) = (bits >> drop, bits & ((1 << drop) - 1));
        let half = 1u128 << (drop - 1);
        let is_odd = high & 1 == 1;
        high + u128::from(low > half || low == half && (is_inexact || is_odd))
    };
    // Exact: at most 53 bits, and a power of two split into two factors in range.
    let (one, other) = (unit / 2, unit - unit / 2);
    let power = |exponent: i64| 2f64.powi(i32::try_from(exponent).unwrap_or(0));
    let value = kept as f64 * power(one) * power(other);
    let is_large = single && value > f64::from(f32::MAX);
    if is_large { f64::INFINITY } else { value }
}

/// The value of a character literal, as `char`.
pub(super) fn character(text: &str) -> Result<i8, LiteralError> {
    let bytes = contents(text, '\'')?;
    match bytes.as_slice() {
        [byte] => Ok(byte.cast_signed()),
        [] => Err(LiteralError::Empty),
        _ => Err(LiteralError::SeveralLetters),
    }
}

/// The bytes of a string literal.
pub(super) fn string(text: &str) -> Result<Vec<u8>, LiteralError> {
    if let Some(raw) = text.strip_prefix("u8R").or_else(|| text.strip_prefix('R')) {
        let inside = raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default();
        let open = inside.find('(').unwrap_or(0);
        let end = inside.len().saturating_sub(open + 1);
        return Ok(inside.get(open + 1..end).unwrap_or_default().replace('\r', "").into_bytes());
    }
    contents(text, '"')
}

/// The text between the quotes, with escapes replaced (\[lex.ccon\]).
fn contents(text: &str, quote: char) -> Result<Vec<u8>, LiteralError> {
    let text = text.strip_prefix("u8").unwrap_or(text);
    let Some(inside) = text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote)) else {
        return Err(LiteralError::Wide);
    };
    let mut bytes = Vec::new();
    let mut rest = inside.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\\' {
            bytes.extend(c.encode_utf8(&mut [0; 4]).bytes());
            continue;
        }
        let escaped = rest.next().unwrap_or_default();
        bytes.push(match escaped {
            'n' => b'\n',
            't' => b'\t',
            'r' => b'\r',
            'a' => 7,
            'b' => 8,
            'f' => 12,
            'v' => 11,
            'e' => 27,
            '\\' | '\'' | '"' | '?' => escaped as u8,
            'x' => numeric_escape(&mut rest, 16, usize::MAX, 0)?,
            '0'..='7' => numeric_escape(&mut rest, 8, 2, escaped.to_digit(8).unwrap_or(0))?,
            _ => return Err(LiteralError::Escape(escaped)),
        });
    }
    Ok(bytes)
}

/// The byte of an escape sequence with an octal or hexadecimal number of at most `most` further digits.
fn numeric_escape(
    rest: &mut std::iter::Peekable<std::str::Chars<'_>>,
    base: u32,
    most: usize,
    first: u32,
) -> Result<u8, LiteralError> {
    let (mut value, mut count) = (first, 0);
    while let Some(digit) = rest.peek().and_then(|c| c.to_digit(base)).filter(|_| count < most) {
        value = value.saturating_mul(base).saturating_add(digit);
        count += 1;
        rest.next();
    }
    if base == 16 && count == 0 {
        return Err(LiteralError::NoDigits);
    }
    u8::try_from(value).map_err(|_| LiteralError::EscapeTooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(text: &str) -> Option<(u128, bool, bool, u8)> {
        match number(text) {
            Ok(Literal::Int { value, decimal, unsigned, long }) => {
                Some((value, decimal, unsigned, long))
            }
            _ => None,
        }
    }

    fn real(text: &str) -> Option<(f64, bool)> {
        match number(text) {
            Ok(Literal::Float { value, single }) => Some((value, single)),
            _ => None,
        }
    }

    #[test]
    fn integers_have_bases_and_suffixes() {
        assert_eq!(int("0"), Some((0, true, false, 0)));
        assert_eq!(int("1'000'000ULL"), Some((1_000_000, true, true, 2)));
        assert_eq!(int("0xFFu"), Some((255, false, true, 0)));
        assert_eq!(int("017L"), Some((15, false, false, 1)));
        assert_eq!(int("0b1'01lu"), Some((5, false, true, 1)));
        for wrong in ["08", "1lL", "1uu", "0x", "0b2", "1_km", "1'", "1''0", "12ab", "0xg", "1lul"]
        {
            assert_eq!(number(wrong).ok(), None, "{wrong}");
        }
    }

    #[test]
    fn floats_are_rounded_once() {
        assert_eq!(real("1.5"), Some((1.5, false)));
        assert_eq!(real("0.1f"), Some((f64::from(0.1f32), true)));
        assert_eq!(real(".5e+1F"), Some((5.0, true)));
        assert_eq!(real("1.e2"), Some((100.0, false)));
        assert_eq!(real("1e-45f"), Some((f64::from(f32::from_bits(1)), true)));
        // Rounded to double first, this would be a half, which then rounds down.
        let text = "1.00000005960464477539062500000000000000000001f";
        assert_eq!(real(text), Some((f64::from(1.0f32 + f32::EPSILON), true)));
        for wrong in ["1e", "1.0x", "1e400", "1e39f", "1.0ff", "0x1.8", "1.0_x", "1..2"] {
            assert_eq!(real(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn hexadecimal_floats_are_exact() {
        assert_eq!(real("0x1.8p3"), Some((12.0, false)));
        assert_eq!(real("0x1p-149f"), Some((f64::from(f32::from_bits(1)), true)));
        assert_eq!(real("0x1p-1074"), Some((f64::from_bits(1), false)));
        assert_eq!(real("0x1.fffffep127f"), Some((f64::from(f32::MAX), true)));
        assert_eq!(real("0x1.ffffffp127f"), None, "rounds to infinity");
        assert_eq!(real("0x1.fffffffffffff7p1023"), Some((f64::MAX, false)));
        assert_eq!(real("0x1.fffffffffffff8p1023"), None);
        assert_eq!(real("0x1.000001p0f"), Some((1.0, true)), "half to even");
        assert_eq!(real("0x1.000003p0f"), Some((f64::from(1.0f32 + 2.0 * f32::EPSILON), true)));
        assert_eq!(real("0x0p99999999999999999999"), Some((0.0, false)));
        assert_eq!(real("0x1p-99999999999999999999"), Some((0.0, false)));
        let long = format!("0x1.000001{}1p0f", "0".repeat(60));
        assert_eq!(real(&long), Some((f64::from(1.0f32 + f32::EPSILON), true)));
    }

    #[test]
    fn messages_name_what_is_wrong() {
        let told = |wrong: LiteralError| wrong.to_string();
        assert_eq!(number("12ab").map_err(told), Err("`12ab` is not a number".to_owned()));
        assert_eq!(
            number("1e400").map_err(told),
            Err("`1e400` is too large for its type".to_owned())
        );
        assert_eq!(
            character(r"'\q'").map_err(told),
            Err(r"the escape `\q` is not supported".to_owned())
        );
        assert_eq!(
            character(r"'\x'").map_err(told),
            Err(r"the escape `\x` needs digits".to_owned())
        );
    }

    #[test]
    fn characters_have_escapes() {
        assert_eq!(character("'a'"), Ok(97));
        assert_eq!(character(r"'\''"), Ok(39));
        assert_eq!(character(r"'\xff'"), Ok(-1));
        assert_eq!(character(r"'\177'"), Ok(127));
        assert_eq!(character(r"'\0'"), Ok(0));
        assert!(character("L'a'").is_err() && character("'ab'").is_err());
        assert!(character("'é'").is_err() && character(r"'\400'").is_err());
        assert_eq!(string(r#""a\x41\n""#).unwrap(), b"aA\n");
        assert_eq!(string("R\"x(a\\n)x\"").unwrap(), b"a\\n");
        assert_eq!(string("u8\"b\"").unwrap(), b"b");
    }
}

//! The value of `#if` (\[cpp.cond\]): integers of 64 bits, signed unless one side is unsigned.
//!
//! Compilers disagree about `0xFFFFFFFF` here: for gcc it is a 64-bit number, for NVRTC an unsigned one. Both
//! readings are tried, and a condition on which they differ is refused. So are undefined names, which C++ would take
//! for 0, and arithmetic without a value.

use super::literals::{Literal, character, number};
use super::pp_token::{Kind, PpToken};
use crate::{Result, error, unsupported};
use base::Span;

/// Parentheses deeper than this are refused.
const MAX_DEPTH: usize = 200;

/// A number with its signedness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Value {
    bits: u64,
    is_unsigned: bool,
}

impl Value {
    fn signed(self) -> i64 {
        self.bits.cast_signed()
    }

    fn truth(value: bool) -> Self {
        Self { bits: u64::from(value), is_unsigned: false }
    }
}

/// Evaluates a condition. `refusal` gives the message for a name without a value.
pub(super) fn evaluate(
    tokens: &[PpToken],
    span: Span,
    refusal: &dyn Fn(&str) -> String,
) -> Result<bool> {
    let read = |widens| {
        let mut reader = Reader { tokens, at: 0, span, refusal, widens, depth: 0 };
        let value = reader.ternary(true)?;
        match tokens.get(reader.at) {
            None => Ok(value.bits != 0),
            Some(token) => Err(error(token.span, "expected the end of the condition")),
        }
    };
    let (one, other) = (read(false)?, read(true)?);
    if one != other {
        let message = "compilers differ on this condition: a literal such as 0xFFFFFFFF is signed for some; give it a suffix";
        return Err(unsupported(span, message));
    }
    Ok(one)
}

struct Reader<'r> {
    tokens: &'r [PpToken],
    at: usize,
    span: Span,
    refusal: &'r dyn Fn(&str) -> String,
    /// Hexadecimal literals of 32 bits are unsigned.
    widens: bool,
    depth: usize,
}

/// The precedence of a binary operator; a greater number binds more tightly.
fn precedence(operator: &str) -> Option<u8> {
    Some(match operator {
        "||" => 1,
        "&&" => 2,
        "|" => 3,
        "^" => 4,
        "&" => 5,
        "==" | "!=" => 6,
        "<" | ">" | "<=" | ">=" => 7,
        "<<" | ">>" => 8,
        "+" | "-" => 9,
        "*" | "/" | "%" => 10,
        _ => return None,
    })
}

impl Reader<'_> {
    fn here(&self) -> Span {
        self.tokens.get(self.at).map_or(self.span, |token| token.span)
    }

    fn punct(&self) -> Option<&'static str> {
        let token = self.tokens.get(self.at)?;
        match token.kind {
            Kind::Punct(punct) => Some(punct),
            Kind::Word => super::pp_token::alternative(&token.text),
            _ => None,
        }
    }

    fn take(&mut self, punct: &str) -> bool {
        let found = self.punct() == Some(punct);
        self.at += usize::from(found);
        found
    }

    fn ternary(&mut self, is_used: bool) -> Result<Value> {
        if self.depth > MAX_DEPTH {
            return Err(crate::limit(self.here(), "this condition is nested too deeply"));
        }
        self.depth += 1;
        let value = self.conditional(is_used);
        self.depth -= 1;
        value
    }

    fn conditional(&mut self, is_used: bool) -> Result<Value> {
        let condition = self.binary(0, is_used)?;
        if !self.take("?") {
            return Ok(condition);
        }
        let holds = condition.bits != 0;
        let then = self.ternary(is_used && holds)?;
        if !self.take(":") {
            return Err(error(self.here(), "expected `:`"));
        }
        let otherwise = self.ternary(is_used && !holds)?;
        let is_unsigned = then.is_unsigned || otherwise.is_unsigned;
        Ok(Value { bits: if holds { then.bits } else { otherwise.bits }, is_unsigned })
    }

    fn binary(&mut self, least: u8, is_used: bool) -> Result<Value> {
        let mut left = self.unary(is_used)?;
        while let Some(operator) = self.punct() {
            let Some(level) = precedence(operator).filter(|level| *level > least) else { break };
            let span = self.here();
            self.at += 1;
            let decided = match operator {
                "&&" => left.bits == 0,
                "||" => left.bits != 0,
                _ => false,
            };
            let is_right_used = is_used && !decided;
            let right = self.binary(level, is_right_used)?;
            left = match operator {
                "&&" => Value::truth(left.bits != 0 && right.bits != 0),
                "||" => Value::truth(left.bits != 0 || right.bits != 0),
                _ => match combine(operator, left, right) {
                    Some(value) => value,
                    None if !is_used => Value { bits: 0, is_unsigned: left.is_unsigned },
                    None if matches!(operator, "/" | "%") && right.bits == 0 => {
                        return Err(error(span, "division by zero in a condition"));
                    }
                    None => return Err(error(span, "this has no 64-bit value")),
                },
            };
        }
        Ok(left)
    }

    fn unary(&mut self, is_used: bool) -> Result<Value> {
        let mut operators = Vec::new();
        while let Some(operator @ ("-" | "+" | "!" | "~")) = self.punct() {
            operators.push((operator, self.here()));
            self.at += 1;
        }
        let mut value = self.primary(is_used)?;
        for (operator, span) in operators.into_iter().rev() {
            value = match operator {
                "-" if !value.is_unsigned && value.signed() == i64::MIN && is_used => {
                    return Err(error(span, "this has no 64-bit value"));
                }
                "-" => Value { bits: value.bits.wrapping_neg(), ..value },
                "~" => Value { bits: !value.bits, ..value },
                "!" => Value::truth(value.bits == 0),
                _ => value,
            };
        }
        Ok(value)
    }

    fn primary(&mut self, is_used: bool) -> Result<Value> {
        if self.take("(") {
            let value = self.ternary(is_used)?;
            if !self.take(")") {
                return Err(error(self.here(), "expected `)`"));
            }
            return Ok(value);
        }
        let Some(token) = self.tokens.get(self.at) else {
            return Err(error(self.span, "this condition has no end"));
        };
        self.at += 1;
        match token.kind {
            Kind::Number => match number(&token.text) {
                Ok(Literal::Int { value, decimal, unsigned, .. }) => {
                    self.integer(token, value, decimal, unsigned)
                }
                Ok(Literal::Float { .. }) => {
                    Err(error(token.span, "a condition may have integers only"))
                }
                Err(wrong) => Err(error(token.span, wrong.to_string())),
            },
            Kind::Character => {
                let value = character(&token.text)
                    .map_err(|why| unsupported(token.span, why.to_string()))?;
                Ok(Value { bits: i64::from(value).cast_unsigned(), is_unsigned: false })
            }
            Kind::Word if token.is_word("true") => Ok(Value::truth(true)),
            Kind::Word if token.is_word("false") || !is_used => Ok(Value::truth(false)),
            Kind::Word => Err(unsupported(token.span, (self.refusal)(&token.text))),
            _ => Err(error(token.span, "expected a number")),
        }
    }

    fn integer(
        &self,
        token: &PpToken,
        value: u128,
        decimal: bool,
        unsigned: bool,
    ) -> Result<Value> {
        let Ok(bits) = u64::try_from(value) else {
            return Err(error(token.span, "this number does not fit into 64 bits"));
        };
        let is_large = i64::try_from(bits).is_err();
        if is_large && decimal && !unsigned {
            let message =
                "this number does not fit into a signed 64-bit integer; give it the suffix `u`";
            return Err(unsupported(token.span, message));
        }
        let is_doubtful = self.widens && !decimal && (1 << 31..1 << 32).contains(&bits);
        Ok(Value { bits, is_unsigned: unsigned || is_large || is_doubtful })
    }
}

/// The value of an operator; `None` if it has none.
fn combine(operator: &str, left: Value, right: Value) -> Option<Value> {
    if matches!(operator, "<<" | ">>") {
        return shift(operator, left, right);
    }
    let is_unsigned = left.is_unsigned || right.is_unsigned;
    let make = |bits| Some(Value { bits, is_unsigned });
    let (a, b) = (left.bits, right.bits);
    let (c, d) = (left.signed(), right.signed());
    let truth = |unsigned: bool, signed: bool| {
        Some(Value::truth(if is_unsigned { unsigned } else { signed }))
    };
    match operator {
        "|" => make(a | b),
        "^" => make(a ^ b),
        "&" => make(a & b),
        "==" => Some(Value::truth(a == b)),
        "!=" => Some(Value::truth(a != b)),
        "<" => truth(a < b, c < d),
        ">" => truth(a > b, c > d),
        "<=" => truth(a <= b, c <= d),
        ">=" => truth(a >= b, c >= d),
        _ if is_unsigned => make(match operator {
            "+" => a.wrapping_add(b),
            "-" => a.wrapping_sub(b),
            "*" => a.wrapping_mul(b),
            "/" => a.checked_div(b)?,
            _ => a.checked_rem(b)?,
        }),
        _ => make(
            match operator {
                "+" => c.checked_add(d)?,
                "-" => c.checked_sub(d)?,
                "*" => c.checked_mul(d)?,
                "/" => c.checked_div(d)?,
                _ => c.checked_rem(d)?,
            }
            .cast_unsigned(),
        ),
    }
}

/// A shift has the type of its left side. A shift that loses bits of a signed number has no value.
fn shift(operator: &str, left: Value, right: Value) -> Option<Value> {
    let count = u32::try_from(right.bits).ok().filter(|count| *count < 64)?;
    let bits = match (operator, left.is_unsigned) {
        ("<<", true) => left.bits << count,
        ("<<", false) => {
            let wide = i128::from(left.signed()).checked_mul(1 << count)?;
            (left.signed() >= 0).then_some(())?;
            i64::try_from(wide).ok()?.cast_unsigned()
        }
        (_, true) => left.bits >> count,
        (_, false) => (left.signed() >> count).cast_unsigned(),
    };
    Some(Value { bits, ..left })
}

#[cfg(test)]
mod tests {
    use super::super::lex::lex;
    use super::*;

    fn holds(text: &str) -> Option<bool> {
        let tokens = lex(text, 0).unwrap();
        evaluate(&tokens, Span::default(), &|name| format!("`{name}`")).ok()
    }

    #[test]
    fn arithmetic_is_that_of_64_bits() {
        for text in [
            "1 + 2 * 3 == 7",
            "(1 + 2) * 3 == 9",
            "-1 < 0",
            "-1 > 0u",
            "0 ? 1/0 : 1",
            "1 || 1/0",
            "!(0 && 1/0)",
            "1 || UNKNOWN",
            "(0 ? 0u : -1) > 0",
            "0x7fffffffffffffff > 0",
            "0xffffffffffffffff == -1",
            "-7 / 2 == -3 && -7 % 2 == -1",
            "1 << 62 > 0",
            "'A' == 65 && '\\n' == 10 && '\\xff' < 0",
            "true and not false",
            "0b101 == 5 && 017 == 15 && 1'000 == 1000",
            "1 ? 2 : 3 ? 0 : 0",
            "7 - 2 - 3 == 2",
            "~0 == -1 && - - 1 == 1",
        ] {
            assert_eq!(holds(text), Some(true), "{text}");
        }
    }

    #[test]
    fn conditions_without_a_value_are_refused() {
        for text in [
            "1/0",
            "1 && UNKNOWN",
            "9223372036854775807 + 1",
            "1 << 64",
            "1 << 63",
            "-1 << 1",
            "1 +",
            "(1",
            "1 2",
            "1.0",
            "18446744073709551615",
            "0xFFFFFFFF < -1",
            "x = 1",
            "1, 2",
            "'ab'",
        ] {
            assert_eq!(holds(text), None, "{text}");
        }
        assert_eq!(holds(&"(".repeat(5000)), None);
    }
}

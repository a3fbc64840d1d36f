//! Text to tokens. Line ends matter outside parentheses only.

use super::Error;
use crate::Number;
use std::iter::Peekable;
use std::str::CharIndices;

/// A token of the text form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Number(Number),
    Word(String),
    /// Operators and brackets, as written.
    Symbol(&'static str),
    LineEnd,
}

const SYMBOLS: [&str; 24] = [
    "..", "<=", ">=", "==", "!=", "<", ">", "=", "+", "-", "*", "/", "%", "^", "(", ")", "[", "]",
    "{", "}", ",", ";", ":", "|",
];

/// Splits a text into tokens with their lines.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, u32)>, Error> {
    let mut result = Vec::new();
    let mut depth = 0_u32;
    for (line, content) in (1..).zip(text.lines()) {
        let content = content.split('#').next().unwrap_or_default();
        let mut rest = content.char_indices().peekable();
        while let Some((start, character)) = rest.peek().copied() {
            if character.is_whitespace() {
                rest.next();
            } else if character.is_ascii_digit() {
                result.push((number(content, start, &mut rest, line)?, line));
            } else if character.is_alphabetic() || character == '_' {
                let word = take(content, start, &mut rest, |c| c.is_alphanumeric() || c == '_');
                result.push((Token::Word(word.to_owned()), line));
            } else {
                let symbol = SYMBOLS.iter().find(|symbol| content[start..].starts_with(**symbol));
                let symbol =
                    *symbol.ok_or_else(|| Error::new(line, format!("unexpected `{character}`")))?;
                match symbol {
                    "(" | "[" => depth += 1,
                    ")" | "]" => depth = depth.saturating_sub(1),
                    _ => {}
                }
                result.push((Token::Symbol(symbol), line));
                rest.nth(symbol.len() - 1);
            }
        }
        if depth == 0 {
            result.push((Token::LineEnd, line));
        }
    }
    Ok(result)
}

/// Takes characters from `start` on while they are accepted.
fn take<'a>(
    content: &'a str,
    start: usize,
    rest: &mut Peekable<CharIndices<'_>>,
    accept: impl Fn(char) -> bool,
) -> &'a str {
    let mut end = start;
    while let Some((at, character)) = rest.peek().copied() {
        if !accept(character) {
            break;
        }
        end = at + character.len_utf8();
        rest.next();
    }
    &content[start..end]
}

/// Reads `12`, `0.25` or `1e-5`, exactly. `0..n` is a zero and a range.
fn number(
    content: &str,
    start: usize,
    rest: &mut Peekable<CharIndices<'_>>,
    line: u32,
) -> Result<Token, Error> {
    let integer_digits = take(content, start, rest, |c| c.is_ascii_digit());
    let mut digits = integer_digits.to_owned();
    let mut scale = 0_i64;
    let after = start + integer_digits.len();
    if content[after..].starts_with('.') && !content[after..].starts_with("..") {
        rest.next();
        let fraction = take(content, after + 1, rest, |c| c.is_ascii_digit());
        digits.push_str(fraction);
        scale -= fraction.len() as i64;
    }
    if let Some((at, 'e' | 'E')) = rest.peek().copied() {
        let exponent = &content[at + 1..];
        let signed = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        if signed.starts_with(|c: char| c.is_ascii_digit()) {
            rest.nth(exponent.len() - signed.len());
            let start = at + 1 + exponent.len() - signed.len();
            let magnitude = take(content, start, rest, |c| c.is_ascii_digit());
            let magnitude: i64 = magnitude
                .parse()
                .ok()
                .filter(|magnitude| *magnitude <= 4000)
                .ok_or_else(|| Error::new(line, "exponent out of range"))?;
            scale += if exponent.starts_with('-') { -magnitude } else { magnitude };
        }
    }
    let mut value = Number::ZERO;
    for digit in digits.bytes() {
        value = &(&value * &Number::from(10)) + &Number::from(i64::from(digit - b'0'));
    }
    let power = Number::from(10).integer_power(scale as i32);
    // Ten to any power exists.
    Ok(Token::Number(&value * &power.unwrap_or(Number::ONE)))
}

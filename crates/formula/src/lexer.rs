//! Splits text into tokens with their spans. Blanks, line ends and comments (`# …`) only separate tokens.

use crate::error::Error;
use base::Span;
use term::Number;

/// A token of a formula.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    /// A literal; the flag is set if it has a point or an exponent.
    Number(Number, bool),
    /// A name or a word of the language; with a backslash in front, a word of contracts.
    Word(String),
    /// Operators and brackets, as written.
    Symbol(&'static str),
}

const SYMBOLS: [&str; 22] = [
    "..", "**", "//", "<=", ">=", "==", "!=", "<", ">", "=", "+", "-", "*", "/", "%", "^", "(",
    ")", "[", "]", ",", ";",
];

/// Numerators and denominators are below ten to this power, because they are built from doubles.
pub(crate) const MAX_EXPONENT: i64 = 300;

/// Splits a text into tokens.
pub(crate) fn tokens(text: &str) -> Result<Vec<(Token, Span)>, Error> {
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(letter) = text[at..].chars().next() {
        let rest = &text[at..];
        let (token, length) = match letter {
            _ if letter.is_whitespace() => {
                at += letter.len_utf8();
                continue;
            }
            '#' => {
                at += rest.find('\n').unwrap_or(rest.len());
                continue;
            }
            '0'..='9' => number(rest, at)?,
            '.' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => number(rest, at)?,
            _ if letter.is_alphabetic() || matches!(letter, '_' | '\\') => word(rest),
            _ => symbol(rest, at)?,
        };
        all.push((token, span(at, length)));
        at += length;
    }
    Ok(all)
}

/// Returns a span; readers of formulas reject texts of 4 GiB.
fn span(at: usize, length: usize) -> Span {
    let clamp = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Span::new(clamp(at), clamp(at + length))
}

fn word(rest: &str) -> (Token, usize) {
    let is_inside = |(at, c): (usize, char)| c.is_alphanumeric() || c == '_' || at == 0;
    let end = rest
        .char_indices()
        .find(|char_indice| !is_inside(*char_indice))
        .map_or(rest.len(), |one| one.0);
    (Token::Word(rest[..end].to_owned()), end)
}

fn symbol(rest: &str, at: usize) -> Result<(Token, usize), Error> {
    let wrong = |length: usize, message: String| Err(Error::new(span(at, length), message));
    match SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
        Some(&"**") => wrong(2, "`**` is written `^`".to_owned()),
        Some(symbol) => Ok((Token::Symbol(symbol), symbol.len())),
        None if rest.starts_with("&&") => wrong(2, "`&&` is written `and`".to_owned()),
        None if rest.starts_with("||") => wrong(2, "`||` is written `or`".to_owned()),
        None if rest.starts_with('!') => wrong(1, "`!` is written `not`".to_owned()),
        None if rest.starts_with('?') => {
            wrong(1, "`c ? a : b` is written `a if c else b`".to_owned())
        }
        None if rest.starts_with('@') => {
            wrong(1, "`@` is written as a sum: `sum(k, A[i,k]*B[k,j])`".to_owned())
        }
        None => {
            let letter = rest.chars().next().unwrap_or_default();
            wrong(letter.len_utf8(), format!("`{letter}` means nothing in a formula"))
        }
    }
}

/// Reads `12`, `0.25`, `.5` or `1e-5`, exactly. `0..n` is a zero and a range.
fn number(rest: &str, at: usize) -> Result<(Token, usize), Error> {
    let digits_from = |start: usize| {
        let digits = rest[start..].bytes().take_while(u8::is_ascii_digit).count();
        (&rest[start..start + digits], start + digits)
    };
    let (whole, mut end) = digits_from(0);
    let (mut digits, mut scale) = (whole.to_owned(), 0_i64);
    if rest[end..].starts_with('.') && !rest[end..].starts_with("..") {
        let (fraction, after) = digits_from(end + 1);
        digits.push_str(fraction);
        scale -= fraction.len() as i64;
        end = after;
    }
    let too_large = |end: usize| {
        Error::new(span(at, end), "the number has too many digits or too large an exponent")
    };
    if rest[end..].starts_with(['e', 'E']) {
        let sign = usize::from(rest[end + 1..].starts_with(['-', '+']));
        let (exponent, after) = digits_from(end + 1 + sign);
        if !exponent.is_empty() {
            let exponent: i64 = exponent.parse().map_err(|_| too_large(after))?;
            let is_negative = rest[end + 1..].starts_with('-');
            scale = scale.saturating_add(if is_negative { -exponent } else { exponent });
            end = after;
        }
    }
    let size = i64::try_from(digits.len()).unwrap_or(i64::MAX).saturating_add(scale.max(0));
    if size > MAX_EXPONENT || scale < -MAX_EXPONENT {
        return Err(too_large(end));
    }
    let mut value = Number::ZERO;
    for digit in digits.bytes() {
        value = &(&value * &Number::from(10)) + &Number::from(i64::from(digit - b'0'));
    }
    let power = i32::try_from(scale).ok().and_then(|scale| Number::from(10).integer_power(scale));
    let power = power.ok_or_else(|| too_large(end))?;
    if rest[end..].starts_with(|c: char| c.is_alphabetic() || c == '_') {
        let (Token::Word(word), length) = word(&rest[end..]) else { return Err(too_large(end)) };
        let message =
            format!("`{}{word}` is not a number; a product is written with `*`", &rest[..end]);
        return Err(Error::new(span(at, end + length), message));
    }
    Ok((Token::Number(&value * &power, end > whole.len()), end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let shown = |token: &Token| match token {
            Token::Number(number, _) => number.to_string(),
            Token::Word(word) => word.clone(),
            Token::Symbol(symbol) => (*symbol).to_owned(),
        };
        tokens(text).unwrap().iter().map(|(token, _)| shown(token)).collect()
    }

    #[test]
    fn ranges_are_not_decimals() {
        assert_eq!(words("0..3 0.5 .25 1e-2"), ["0", "..", "3", "1/2", "1/4", "1/100"]);
        assert_eq!(words("a[i] # b\n c"), ["a", "[", "i", "]", "c"]);
    }

    #[test]
    fn other_languages_get_a_hint() {
        for (text, hint) in [
            ("a**2", "`^`"),
            ("a && b", "`and`"),
            ("a ? b", "`a if c else b`"),
            ("2x", "`*`"),
            ("A @ B", "sum(k"),
            ("1e999", "too many digits"),
        ] {
            let error = tokens(text).unwrap_err();
            assert!(error.message.contains(hint), "{text}: {error}");
        }
    }
}

//! The value of `#if` expressions: integers, C's operators, unknown names are 0.

use crate::cfront::token::{Kind, Token};

/// The value, or `None` if this is no such expression.
pub(crate) fn evaluate(tokens: &[Token]) -> Option<i128> {
    let mut at = 0;
    let value = binary(tokens, &mut at, 0)?;
    (at == tokens.len()).then_some(value)
}

fn precedence(operator: &str) -> Option<u8> {
    Some(match operator {
        "||" => 1,
        "&&" => 2,
        "==" | "!=" => 3,
        "<" | ">" | "<=" | ">=" => 4,
        "+" | "-" => 5,
        "*" | "/" | "%" => 6,
        _ => return None,
    })
}

fn binary(tokens: &[Token], at: &mut usize, least: u8) -> Option<i128> {
    let mut left = unary(tokens, at)?;
    while let Some(Token { kind: Kind::Punct(operator), .. }) = tokens.get(*at) {
        let Some(level) = precedence(operator).filter(|level| *level > least) else { break };
        *at += 1;
        let right = binary(tokens, at, level)?;
        left = apply(operator, left, right)?;
    }
    Some(left)
}

fn apply(operator: &str, left: i128, right: i128) -> Option<i128> {
    Some(match operator {
        "||" => i128::from(left != 0 || right != 0),
        "&&" => i128::from(left != 0 && right != 0),
        "==" => i128::from(left == right),
        "!=" => i128::from(left != right),
        "<" => i128::from(left < right),
        ">" => i128::from(left > right),
        "<=" => i128::from(left <= right),
        ">=" => i128::from(left >= right),
        "+" => left.checked_add(right)?,
        "-" => left.checked_sub(right)?,
        "*" => left.checked_mul(right)?,
        "/" => left.checked_div(right)?,
        _ => left.checked_rem(right)?,
    })
}

fn unary(tokens: &[Token], at: &mut usize) -> Option<i128> {
    let token = tokens.get(*at)?;
    *at += 1;
    match &token.kind {
        Kind::Int { value, .. } => i128::try_from(*value).ok(),
        Kind::Word(_) => Some(0),
        Kind::Punct("!") => Some(i128::from(unary(tokens, at)? == 0)),
        Kind::Punct("-") => unary(tokens, at)?.checked_neg(),
        Kind::Punct("+") => unary(tokens, at),
        Kind::Punct("(") => {
            let value = binary(tokens, at, 0)?;
            let closed = tokens.get(*at)?.kind == Kind::Punct(")");
            *at += 1;
            closed.then_some(value)
        }
        _ => None,
    }
}

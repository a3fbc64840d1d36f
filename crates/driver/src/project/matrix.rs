//! Expands an entry with a `matrix` into several: `{C}` and `{(C+127)/128}` in its texts stand for values of the
//! matrix.
//!
//! Only braces with nothing but names, numbers and `+ - * / ( )` are replaced. Those of structure arguments
//! (`p={0:x,8:512}`) contain a colon and stay as they are.

use super::value::{Problem, Raw, Table, scalar};
use crate::arguments::closest;
use thiserror::Error;
use toml::Spanned;
use toml::de::DeValue;

/// Values of one combination, by name.
pub(super) type Values = Vec<(String, String)>;

/// More combinations than this are a mistake.
const MAX_COMBINATIONS: usize = 10_000;

/// Parentheses nested deeper than this are a mistake; each level takes stack.
const MAX_DEPTH: u32 = 100;

/// All combinations: of the lists of a table, or the tables of a list. One without values if there is no matrix.
pub(super) fn combinations(
    matrix: Option<&Spanned<DeValue<'_>>>,
    problems: &mut Vec<Problem>,
) -> Vec<Values> {
    let Some(matrix) = matrix else { return vec![Values::new()] };
    let found = match matrix.get_ref() {
        DeValue::Table(table) => {
            let lists = Table::in_order(table).into_iter().map(|(name, value)| {
                let values = match value.get_ref() {
                    DeValue::Array(items) => items.iter().map(|v| scalar(v.get_ref())).collect(),
                    value => scalar(value).map(|value| vec![value]),
                };
                Some((name.to_owned(), values.filter(|values: &Vec<String>| !values.is_empty())?))
            });
            lists.collect::<Option<Vec<_>>>().map(|lists| product(&lists))
        }
        DeValue::Array(items) => {
            let combination = |item: &Spanned<DeValue<'_>>| -> Option<Values> {
                let table = Table::in_order(item.get_ref().as_table()?);
                let values = table.into_iter();
                values.map(|(name, v)| Some((name.to_owned(), scalar(v.get_ref())?))).collect()
            };
            items.iter().map(combination).collect::<Option<Vec<_>>>().filter(|all| !all.is_empty())
        }
        _ => None,
    };
    match found {
        Some(found) if found.len() <= MAX_COMBINATIONS => return found,
        Some(_) => {
            problems.push(Problem::new(matrix.span(), "the matrix has too many combinations"))
        }
        None => problems.push(Problem::new(
            matrix.span(),
            "`matrix` must be a table of lists, { C = [128, 512] }, or a list of tables, [{ C = 128 }]",
        )),
    }
    Vec::new()
}

fn product(lists: &[(String, Vec<String>)]) -> Vec<Values> {
    let mut found = vec![Values::new()];
    for (name, values) in lists {
        let extended = found.iter().flat_map(|known| {
            values.iter().map(move |value| {
                let mut longer = known.clone();
                longer.push((name.clone(), value.clone()));
                longer
            })
        });
        found = extended.take(MAX_COMBINATIONS + 1).collect();
    }
    found
}

/// The name of an entry with its values: `name[C=128,R=4]`
pub(super) fn entry_name(name: &str, values: &Values) -> String {
    if values.is_empty() {
        return name.to_owned();
    }
    let values: Vec<String> =
        values.iter().map(|(name, value)| format!("{name}={value}")).collect();
    format!("{name}[{}]", values.join(","))
}

/// Substitutes values for braces in a text.
pub(super) fn substitute(raw: &Raw, values: &Values) -> Result<String, Problem> {
    let (mut text, mut rest) = (String::new(), raw.text.as_str());
    while let Some(open) = rest.find('{') {
        let Some(length) = rest[open..].find('}') else { break };
        let inside = &rest[open + 1..open + length];
        text.push_str(&rest[..open]);
        match is_expression(inside) && !values.is_empty() {
            true => text.push_str(
                &evaluate(inside, values)
                    .map_err(|why| Problem::new(raw.span.clone(), why.to_string()))?,
            ),
            false => text.push_str(&rest[open..=open + length]),
        }
        rest = &rest[open + length + 1..];
    }
    text.push_str(rest);
    Ok(text)
}

fn is_expression(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "_+-*/() ".contains(c);
    text.chars().all(allowed) && text.chars().any(|c| c.is_ascii_alphabetic())
}

/// The reason why braces have no value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{{{text}}}`: {why}")]
struct ExpressionError {
    /// The text between them.
    text: String,
    why: ExpressionProblem,
}

/// An error in an expression.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
enum ExpressionProblem {
    #[error("`{0}` is not understood")]
    NotUnderstood(String),
    #[error("is too large")]
    TooLarge,
    #[error("is too large, or divides by zero")]
    Division,
    #[error("a `)` is missing")]
    Unclosed,
    #[error("nested deeper than {MAX_DEPTH}")]
    TooDeep,
    #[error("`{0}` is not an integer")]
    NotAnInteger(String),
    #[error("a number or name is missing")]
    MissingOperand,
    #[error("the matrix has no `{name}`; did you mean `{meant}`?")]
    Misspelt { name: String, meant: String },
    #[error("the matrix has no `{0}`")]
    UnknownName(String),
}

fn evaluate(text: &str, values: &Values) -> Result<String, ExpressionError> {
    if let Some((_, value)) = values.iter().find(|(name, _)| name == text.trim()) {
        return Ok(value.clone());
    }
    let mut parser = Parser { rest: text.trim_start(), values, depth: 0 };
    let value = parser.sum();
    let value = value.and_then(|value| match parser.rest {
        "" => Ok(value.to_string()),
        rest => Err(ExpressionProblem::NotUnderstood(rest.to_owned())),
    });
    value.map_err(|why| ExpressionError { text: text.to_owned(), why })
}

/// Integers with the usual precedence; a division drops the remainder.
struct Parser<'t> {
    rest: &'t str,
    values: &'t Values,
    /// Open parentheses.
    depth: u32,
}

impl Parser<'_> {
    fn sum(&mut self) -> Result<i64, ExpressionProblem> {
        let mut value = self.term()?;
        while let Some(operator) = self.take(&['+', '-']) {
            let other = self.term()?;
            let sum =
                if operator == '+' { value.checked_add(other) } else { value.checked_sub(other) };
            value = sum.ok_or(ExpressionProblem::TooLarge)?;
        }
        Ok(value)
    }

    fn term(&mut self) -> Result<i64, ExpressionProblem> {
        let mut value = self.factor()?;
        while let Some(operator) = self.take(&['*', '/']) {
            let other = self.factor()?;
            let result =
                if operator == '*' { value.checked_mul(other) } else { value.checked_div(other) };
            value = result.ok_or(ExpressionProblem::Division)?;
        }
        Ok(value)
    }

    fn factor(&mut self) -> Result<i64, ExpressionProblem> {
        if self.take(&['(']).is_some() {
            self.depth += 1;
            if self.depth > MAX_DEPTH {
                return Err(ExpressionProblem::TooDeep);
            }
            let value = self.sum()?;
            self.depth -= 1;
            return self.take(&[')']).map(|_| value).ok_or(ExpressionProblem::Unclosed);
        }
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest.trim_start();
        if let Ok(number) = word.parse() {
            return Ok(number);
        }
        let names = self.values.iter().map(|(name, _)| name.as_str());
        match self.values.iter().find(|(name, _)| name == word) {
            Some((_, value)) => {
                value.parse().map_err(|_| ExpressionProblem::NotAnInteger(word.to_owned()))
            }
            None if word.is_empty() => Err(ExpressionProblem::MissingOperand),
            None => Err(match closest(word, names) {
                Some(meant) => {
                    ExpressionProblem::Misspelt { name: word.to_owned(), meant: meant.to_owned() }
                }
                None => ExpressionProblem::UnknownName(word.to_owned()),
            }),
        }
    }

    fn take(&mut self, letters: &[char]) -> Option<char> {
        let letter = self.rest.chars().next().filter(|letter| letters.contains(letter))?;
        self.rest = self.rest[letter.len_utf8()..].trim_start();
        Some(letter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn substituted(text: &str) -> Result<String, String> {
        let values = vec![("C".to_owned(), "300".to_owned()), ("T".to_owned(), "f16".to_owned())];
        let raw = Raw { text: text.to_owned(), span: 0..0 };
        substitute(&raw, &values).map_err(|problem| problem.message)
    }

    #[test]
    fn braces_are_replaced() {
        for (text, expected) in [
            ("x={T}[4,{C}]", "x=f16[4,300]"),
            ("{(C+127)/128},{ C - 2*3 }", "3,294"),
            ("p={0:x,8:512}", "p={0:x,8:512}"),
            ("plain", "plain"),
            ("{C", "{C"),
        ] {
            assert_eq!(substituted(text).as_deref(), Ok(expected));
        }
        for (text, why) in [
            ("{c}", "the matrix has no `c`; did you mean `C`?"),
            ("{C/0}", "divides by zero"),
            ("{T+1}", "`T` is not an integer"),
            ("{(C}", "a `)` is missing"),
            ("{C C}", "`C` is not understood"),
        ] {
            assert!(substituted(text).unwrap_err().contains(why), "{text}");
        }
    }

    #[test]
    fn lists_are_multiplied() {
        let list = |name: &str, values: &[&str]| {
            (name.to_owned(), values.iter().map(|v| (*v).to_owned()).collect::<Vec<_>>())
        };
        let all = product(&[list("R", &["1", "2"]), list("C", &["8", "9"])]);
        let names: Vec<String> = all.iter().map(|values| entry_name("k", values)).collect();
        assert_eq!(names, ["k[R=1,C=8]", "k[R=1,C=9]", "k[R=2,C=8]", "k[R=2,C=9]"]);
        assert_eq!(entry_name("k", &Values::new()), "k");
    }
}

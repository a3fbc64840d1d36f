//! User formulas about inputs: expressions that relate scalars, and conditions on inputs.
//!
//! The syntax is that of [`term::text`]: `+ - * / ^`, comparisons that may be chained (`0 <= p <= 1`), `and`,
//! `or`, `not`, decimals read exactly, `pi`, and the calls `sqrt rsqrt exp exp2 log log2 abs max min`. In
//! addition, some constants have names of their own (`log2e`).

#[cfg(test)]
mod tests;

use decide::{Value, evaluate};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use term::text::{Binary, Expression, Unary, parse_expression};
use term::{Inputs, Number, Relation, Term, Terms};
use thiserror::Error;

/// Names of constants and their definitions.
const CONSTANTS: [(&str, &str); 7] = [
    ("log2e", "1 / log(2)"),
    ("log10e", "1 / log(10)"),
    ("ln2", "log(2)"),
    ("ln10", "log(10)"),
    ("e", "exp(1)"),
    ("sqrt2", "sqrt(2)"),
    ("inv_sqrt2", "rsqrt(2)"),
];

/// `distinct(idx)`: all elements of a tensor are different. It is a condition by itself and not part of
/// another.
const DISTINCT: &str = "distinct";

/// Functions with one argument.
const FUNCTIONS: [&str; 7] = ["sqrt", "rsqrt", "exp", "exp2", "log", "log2", "abs"];

/// An error in an expression or condition; displays as a clause.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FormulaError {
    /// A condition where an expression is expected.
    #[error("expected an expression, found a condition")]
    Condition,
    /// An expression where a condition is expected.
    #[error("expected a condition such as eps > 0 or 0 <= p <= 1")]
    NoCondition,
    /// `a = b`.
    #[error("`=` compares nothing; write `==`")]
    SingleEquals,
    /// A syntax error.
    #[error("{0}")]
    Syntax(String),
    /// `1 + (a < b)`.
    #[error("a condition stands where a number is needed")]
    ConditionAsNumber,
    /// `inf`.
    #[error("inputs are finite")]
    Infinity,
    /// `x[3]`.
    #[error("`{name}[…]`: conditions are about all elements, without an index")]
    Index {
        /// The tensor.
        name: String,
    },
    /// `not a`.
    #[error("`not` needs a condition")]
    Not,
    /// `a % 2`.
    #[error("`%` is not supported")]
    Remainder,
    /// `a and b`.
    #[error("`and` and `or` need conditions")]
    Junction,
    /// `distinct(a + 1)`, `distinct(a) and b > 0`.
    #[error("`distinct` takes the name of a tensor and stands alone: --assume 'distinct(idx)'")]
    Distinct,
    /// A call of an unknown function.
    #[error("`{name}` is not a function; expected one of {}, max, min", FUNCTIONS.join(", "))]
    UnknownFunction {
        /// The called name.
        name: String,
    },
    /// A call with the wrong number of arguments.
    #[error("`{name}` takes {expected} number{}", plural(.expected))]
    Arguments {
        /// The function.
        name: String,
        /// The number of arguments it takes.
        expected: usize,
    },
    /// An unknown name.
    #[error("no input is called `{name}`")]
    UnknownInput {
        /// The name.
        name: String,
    },
    /// `a ^ b`.
    #[error("the exponent of `^` must be a number")]
    Exponent,
}

const fn plural(count: &usize) -> &'static str {
    if *count == 1 { "" } else { "s" }
}

/// An expression or condition over names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    text: String,
    expression: Expression,
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Formula {
    /// Parses a real expression.
    ///
    /// # Errors
    /// The error in the text.
    pub fn expression(text: &str) -> Result<Self, FormulaError> {
        let formula = Self::parse(text)?;
        match is_condition(&formula.expression) {
            true => Err(FormulaError::Condition),
            false => Ok(formula),
        }
    }

    /// Parses a condition.
    ///
    /// # Errors
    /// The error in the text.
    pub fn condition(text: &str) -> Result<Self, FormulaError> {
        let formula = Self::parse(text)?;
        match is_condition(&formula.expression) {
            true => Ok(formula),
            false => Err(FormulaError::NoCondition),
        }
    }

    /// Returns the name of the tensor, if the condition is `distinct(name)`.
    #[must_use]
    pub fn distinct(&self) -> Option<&str> {
        match &self.expression {
            Expression::Call(name, arguments) if name == DISTINCT => match arguments.as_slice() {
                [Expression::Name(name, _)] => Some(name),
                _ => None,
            },
            _ => None,
        }
    }

    fn parse(text: &str) -> Result<Self, FormulaError> {
        if has_single_equals(text) {
            return Err(FormulaError::SingleEquals);
        }
        let expression =
            parse_expression(text).map_err(|error| FormulaError::Syntax(error.message))?;
        let expression = match expression {
            Expression::Call(name, arguments) if name == DISTINCT => distinct(arguments)?,
            other => check(other)?,
        };
        Ok(Self { text: text.trim().to_owned(), expression })
    }

    /// Returns a number as a formula.
    #[must_use]
    pub fn number(number: Number) -> Self {
        Self { text: number.to_string(), expression: Expression::Number(number) }
    }

    /// Returns the names in it other than constants.
    #[must_use]
    pub fn names(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        collect_names(&self.expression, &mut names);
        names
    }

    /// Returns the constants in it, by name: inputs of these names are not meant.
    #[must_use]
    pub fn constants(&self) -> BTreeSet<&'static str> {
        let mut found = BTreeSet::new();
        collect_constants(&self.expression, &mut found);
        found
    }

    /// Replaces names by other expressions; the text stays as written.
    #[must_use]
    pub fn with(&self, meanings: &BTreeMap<String, Self>) -> Self {
        let expression = substitute(&self.expression, meanings);
        Self { text: self.text.clone(), expression }
    }

    /// Returns its value, if it is a rational number without names.
    #[must_use]
    pub fn value(&self) -> Option<Number> {
        let mut terms = Terms::new(Inputs::new().into());
        let term = self.term(&mut terms, &|_| None).ok()?;
        terms.as_number(term).cloned()
    }

    /// Returns `true` if the formula has no names and no value either.
    #[must_use]
    pub fn is_undefined(&self) -> bool {
        let names = !self.names().is_empty();
        !names && !matches!(self.evaluated(), Some(Value::Real(_)))
    }

    /// Evaluates it, if it has no names.
    fn evaluated(&self) -> Option<Value> {
        let mut terms = Terms::new(Inputs::new().into());
        let term = self.term(&mut terms, &|_| None).ok()?;
        evaluate(&terms, &[term], &|_| Number::ZERO).pop()
    }

    /// Builds its term.
    ///
    /// # Errors
    /// If `resolve` does not know a name.
    pub(crate) fn term(
        &self,
        terms: &mut Terms,
        resolve: &dyn Fn(&str) -> Option<Term>,
    ) -> Result<Term, FormulaError> {
        build(terms, &self.expression, resolve)
    }
}

/// Returns `true` if the text has an `=` outside of a comparison operator.
fn has_single_equals(text: &str) -> bool {
    let bytes = text.as_bytes();
    let at = |index: Option<usize>| index.and_then(|index| bytes.get(index)).copied();
    (0..bytes.len()).any(|index| {
        let before = at(index.checked_sub(1));
        bytes[index] == b'='
            && at(Some(index + 1)) != Some(b'=')
            && !before.is_some_and(|byte| b"<>=!".contains(&byte))
    })
}

fn is_comparison(operator: Binary) -> bool {
    use Binary::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    matches!(operator, Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual)
}

fn is_condition(expression: &Expression) -> bool {
    match expression {
        Expression::Unary(Unary::Not, _) => true,
        Expression::Call(name, _) => name == DISTINCT,
        Expression::Binary(operator, ..) => {
            is_comparison(*operator) || matches!(operator, Binary::And | Binary::Or)
        }
        _ => false,
    }
}

/// Checks an expression, and resolves chains of comparisons.
fn check(expression: Expression) -> Result<Expression, FormulaError> {
    let check_real = |inner: Expression| match is_condition(&inner) {
        true => Err(FormulaError::ConditionAsNumber),
        false => check(inner),
    };
    match expression {
        Expression::Infinity => Err(FormulaError::Infinity),
        Expression::Name(name, indices) if !indices.is_empty() => Err(FormulaError::Index { name }),
        Expression::Unary(Unary::Not, a) if !is_condition(&a) => Err(FormulaError::Not),
        Expression::Unary(Unary::Not, a) => Ok(Expression::Unary(Unary::Not, check(*a)?.into())),
        Expression::Unary(Unary::Negate, a) => {
            Ok(Expression::Unary(Unary::Negate, check_real(*a)?.into()))
        }
        Expression::Binary(Binary::Remainder, ..) => Err(FormulaError::Remainder),
        Expression::Binary(operator @ (Binary::And | Binary::Or), a, b) => {
            match is_condition(&a) && is_condition(&b) {
                true => Ok(Expression::Binary(operator, check(*a)?.into(), check(*b)?.into())),
                false => Err(FormulaError::Junction),
            }
        }
        Expression::Binary(operator, a, b) if is_comparison(operator) => match *a {
            // a < b < c: the right side of the first comparison is the left side of the second.
            Expression::Binary(first, low, middle) if is_comparison(first) => {
                let last = Expression::Binary(operator, middle.clone(), check_real(*b)?.into());
                let first = check(Expression::Binary(first, low, middle))?;
                Ok(Expression::Binary(Binary::And, first.into(), last.into()))
            }
            a => Ok(Expression::Binary(operator, check_real(a)?.into(), check_real(*b)?.into())),
        },
        Expression::Binary(operator, a, b) => {
            Ok(Expression::Binary(operator, check_real(*a)?.into(), check_real(*b)?.into()))
        }
        Expression::Call(name, arguments) => check_call(name, arguments),
        other => Ok(other),
    }
}

/// Checks the arguments of `distinct`.
fn distinct(arguments: Vec<Expression>) -> Result<Expression, FormulaError> {
    match arguments.as_slice() {
        [Expression::Name(_, indices)] if indices.is_empty() => {
            Ok(Expression::Call(DISTINCT.to_owned(), arguments))
        }
        _ => Err(FormulaError::Distinct),
    }
}

/// Checks a call: the name, and the number and kind of its arguments.
fn check_call(name: String, arguments: Vec<Expression>) -> Result<Expression, FormulaError> {
    let expected = match name.as_str() {
        "max" | "min" => 2,
        DISTINCT => return Err(FormulaError::Distinct),
        one if FUNCTIONS.contains(&one) => 1,
        _ => return Err(FormulaError::UnknownFunction { name }),
    };
    if arguments.len() != expected || arguments.iter().any(is_condition) {
        return Err(FormulaError::Arguments { name, expected });
    }
    let arguments = arguments.into_iter().map(check).collect::<Result<_, _>>()?;
    Ok(Expression::Call(name, arguments))
}

/// Returns the definition of a named constant.
fn constant(name: &str) -> Option<Expression> {
    let (_, text) = CONSTANTS.iter().find(|(known, _)| *known == name)?;
    parse_expression(text).ok()
}

/// Adds the names in an expression, other than constants.
fn collect_names(expression: &Expression, names: &mut BTreeSet<String>) {
    match expression {
        Expression::Name(name, _) if constant(name).is_none() => {
            names.insert(name.clone());
        }
        Expression::Unary(_, a) => collect_names(a, names),
        Expression::Binary(_, a, b) => [a, b].into_iter().for_each(|one| collect_names(one, names)),
        Expression::Call(_, arguments) => {
            arguments.iter().for_each(|argument| collect_names(argument, names))
        }
        _ => {}
    }
}

/// Adds the constants in an expression.
fn collect_constants(expression: &Expression, found: &mut BTreeSet<&'static str>) {
    match expression {
        Expression::Pi => {
            found.insert("pi");
        }
        Expression::Name(name, _) => {
            found.extend(CONSTANTS.iter().map(|one| one.0).filter(|known| known == name));
        }
        Expression::Unary(_, a) => collect_constants(a, found),
        Expression::Binary(_, a, b) => {
            [a, b].into_iter().for_each(|one| collect_constants(one, found));
        }
        Expression::Call(_, arguments) => {
            arguments.iter().for_each(|argument| collect_constants(argument, found));
        }
        _ => {}
    }
}

fn substitute(expression: &Expression, meanings: &BTreeMap<String, Formula>) -> Expression {
    let inner = |expression: &Expression| Box::new(substitute(expression, meanings));
    match expression {
        Expression::Name(name, indices) => match meanings.get(name) {
            Some(meaning) => meaning.expression.clone(),
            None => Expression::Name(name.clone(), indices.clone()),
        },
        Expression::Unary(operator, a) => Expression::Unary(*operator, inner(a)),
        Expression::Binary(operator, a, b) => Expression::Binary(*operator, inner(a), inner(b)),
        Expression::Call(name, arguments) => {
            let arguments =
                arguments.iter().map(|argument| substitute(argument, meanings)).collect();
            Expression::Call(name.clone(), arguments)
        }
        other => other.clone(),
    }
}

/// Builds the term of a checked expression.
fn build(
    terms: &mut Terms,
    expression: &Expression,
    resolve: &dyn Fn(&str) -> Option<Term>,
) -> Result<Term, FormulaError> {
    match expression {
        Expression::Number(value) => Ok(terms.constant(value.clone())),
        Expression::Pi => Ok(terms.pi()),
        Expression::Infinity => Ok(terms.infinity(false)),
        // A name given by the user shadows a constant.
        Expression::Name(name, _) => match (resolve(name), constant(name)) {
            (Some(term), _) => Ok(term),
            (None, Some(constant)) => build(terms, &constant, resolve),
            (None, None) => Err(FormulaError::UnknownInput { name: name.clone() }),
        },
        Expression::Unary(operator, a) => {
            let a = build(terms, a, resolve)?;
            Ok(match operator {
                Unary::Negate => terms.negate(a),
                Unary::Not => terms.not(a),
            })
        }
        Expression::Binary(operator, a, b) => {
            let (a, b) = (build(terms, a, resolve)?, build(terms, b, resolve)?);
            binary(terms, *operator, a, b)
        }
        Expression::Call(name, arguments) => {
            let arguments: Vec<Term> =
                arguments.iter().map(|one| build(terms, one, resolve)).collect::<Result<_, _>>()?;
            match (name.as_str(), arguments.as_slice()) {
                ("max", [a, b]) => Ok(terms.maximum(*a, *b)),
                ("min", [a, b]) => Ok(terms.minimum(*a, *b)),
                ("sqrt", [a]) => Ok(terms.square_root(*a)),
                ("rsqrt", [a]) => Ok(terms.reciprocal_square_root(*a)),
                ("exp", [a]) => Ok(terms.exp(*a)),
                ("exp2", [a]) => Ok(terms.exp2(*a)),
                ("log", [a]) => Ok(terms.log(*a)),
                ("log2", [a]) => Ok(terms.log2(*a)),
                ("abs", [a]) => Ok(terms.absolute(*a)),
                _ => Err(FormulaError::UnknownFunction { name: name.clone() }),
            }
        }
    }
}

fn binary(terms: &mut Terms, operator: Binary, a: Term, b: Term) -> Result<Term, FormulaError> {
    Ok(match operator {
        Binary::Add => terms.add(a, b),
        Binary::Subtract => terms.subtract(a, b),
        Binary::Multiply => terms.multiply(a, b),
        Binary::Divide => terms.divide(a, b),
        Binary::Power => {
            let exponent = terms.as_number(b).cloned();
            let exponent = exponent.ok_or(FormulaError::Exponent)?;
            terms.power(a, &exponent)
        }
        Binary::Remainder => return Err(FormulaError::Remainder),
        Binary::Less => terms.compare(Relation::Less, a, b),
        Binary::LessEqual => terms.compare(Relation::LessEqual, a, b),
        Binary::Greater => terms.compare(Relation::Less, b, a),
        Binary::GreaterEqual => terms.compare(Relation::LessEqual, b, a),
        Binary::Equal => terms.compare(Relation::Equal, a, b),
        Binary::NotEqual => {
            let equal = terms.compare(Relation::Equal, a, b);
            terms.not(equal)
        }
        Binary::And => terms.and(a, b),
        Binary::Or => terms.or(a, b),
    })
}

//! The syntax tree of a formula. Its printed text parses to the same tree.

use crate::lexer::MAX_EXPONENT;
use base::Span;
use std::fmt::{self, Display, Formatter};
use term::Number;

/// A sequence of definitions.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    /// In the order of the text; a definition may use those above it.
    pub definitions: Vec<Definition>,
}

/// `y[i,j] = …` or `let m[i] = …`.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// Set for an intermediate array (`let`), which no kernel has.
    pub is_let: bool,
    /// The tensor or array.
    pub name: Name,
    /// Its indices; none for a single number.
    pub indices: Vec<Index>,
    /// The element at these indices.
    pub value: Expression,
}

/// A name and its span.
#[derive(Clone, Debug)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Its span.
    pub span: Span,
}

/// `k` or `k in 0..n`.
#[derive(Clone, Debug, PartialEq)]
pub struct Index {
    /// Its name.
    pub name: Name,
    /// The first number, and the one after the last.
    pub range: Option<Box<(Expression, Expression)>>,
}

/// An expression and its span.
#[derive(Clone, Debug)]
pub struct Expression {
    /// Its kind and operands.
    pub kind: ExpressionKind,
    /// Its span.
    pub span: Span,
}

/// An expression without its span.
#[derive(Clone, Debug, PartialEq)]
pub enum ExpressionKind {
    /// A literal, exact. The flag is set if it is written with a point or an exponent, which makes it a real.
    Number(Number, bool),
    /// An index, a scalar, a constant or a definition without indices.
    Name(String),
    /// `x[i, k+1 else 0]`
    Element {
        /// The tensor.
        name: Name,
        /// One for each dimension.
        indices: Vec<Expression>,
        /// The value outside of the tensor.
        outside: Option<Box<Expression>>,
    },
    /// A function or a reduction; its name and the scope determine which.
    Call {
        /// Its name.
        name: Name,
        /// Its arguments.
        arguments: Vec<Argument>,
    },
    /// An operator with one operand.
    Unary(Unary, Box<Expression>),
    /// An operator with two operands.
    Binary(Binary, Box<Expression>, Box<Expression>),
    /// `a < b <= c`
    Comparison(Box<Expression>, Vec<(Relation, Expression)>),
    /// `value if condition else otherwise`
    If {
        /// The value if the condition holds.
        value: Box<Expression>,
        /// The condition.
        condition: Box<Expression>,
        /// The value otherwise; without it a reduction skips the element.
        otherwise: Option<Box<Expression>>,
    },
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// `k in 0..n`
    Index(Index),
    /// Anything else; a name alone may turn out to be an index.
    Expression(Expression),
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `-`
    Negate,
    /// `not`
    Not,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    /// `//`: of integers, rounded down.
    FloorDivide,
    /// `%`: of integers, with the sign of the divisor.
    Remainder,
    Power,
    And,
    Or,
}

/// A comparison of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Relation {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

/// Blanks in the text make no difference to the tree.
impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

impl Binary {
    /// Returns the operator's binding strength and spelling.
    pub(crate) const fn strength_and_spelling(self) -> (u8, &'static str) {
        match self {
            Self::Or => (1, " or "),
            Self::And => (2, " and "),
            Self::Add => (SUM, " + "),
            Self::Subtract => (SUM, " - "),
            Self::Multiply => (PRODUCT, "*"),
            Self::Divide => (PRODUCT, "/"),
            Self::FloorDivide => (PRODUCT, "//"),
            Self::Remainder => (PRODUCT, " % "),
            Self::Power => (8, "^"),
        }
    }
}

impl Relation {
    /// Returns the operator's spelling.
    pub(crate) const fn spelling(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::Equal => "==",
            Self::NotEqual => "!=",
        }
    }
}

/// Binding strengths, from the loosest to the tightest.
const CONDITIONAL: u8 = 0;
const NOT: u8 = 3;
const COMPARISON: u8 = 4;
const SUM: u8 = 5;
const PRODUCT: u8 = 6;
const NEGATION: u8 = 7;
const PRIMARY: u8 = 9;

impl Expression {
    /// Calls `visit` for each expression right below it.
    pub(crate) fn each_child<'e>(&'e self, visit: &mut dyn FnMut(&'e Self)) {
        match &self.kind {
            ExpressionKind::Number(..) | ExpressionKind::Name(_) => {}
            ExpressionKind::Element { indices, outside, .. } => {
                indices.iter().for_each(&mut *visit);
                outside.iter().for_each(|one| visit(one));
            }
            ExpressionKind::Call { arguments, .. } => {
                arguments.iter().for_each(|argument| match argument {
                    Argument::Index(index) => index.range.iter().for_each(|range| {
                        visit(&range.0);
                        visit(&range.1);
                    }),
                    Argument::Expression(one) => visit(one),
                })
            }
            ExpressionKind::Unary(_, a) => visit(a),
            ExpressionKind::Binary(_, a, b) => {
                visit(a);
                visit(b);
            }
            ExpressionKind::Comparison(first, others) => {
                visit(first);
                others.iter().for_each(|(_, one)| visit(one));
            }
            ExpressionKind::If { value, condition, otherwise } => {
                visit(value);
                visit(condition);
                otherwise.iter().for_each(|one| visit(one));
            }
        }
    }

    /// Returns how tightly the expression binds as an operand.
    fn strength(&self) -> u8 {
        match &self.kind {
            ExpressionKind::Number(number, _) if number.is_negative() => NEGATION,
            // A fraction is written as a quotient.
            ExpressionKind::Number(number, is_real) if literal(number, *is_real).is_none() => {
                PRODUCT
            }
            ExpressionKind::Number(..)
            | ExpressionKind::Name(_)
            | ExpressionKind::Element { .. }
            | ExpressionKind::Call { .. } => PRIMARY,
            ExpressionKind::Unary(Unary::Negate, _) => NEGATION,
            ExpressionKind::Unary(Unary::Not, _) => NOT,
            ExpressionKind::Binary(operator, ..) => operator.strength_and_spelling().0,
            ExpressionKind::Comparison(..) => COMPARISON,
            ExpressionKind::If { .. } => CONDITIONAL,
        }
    }

    /// Writes the expression, in parentheses if it binds less tightly than `least`.
    fn write(&self, f: &mut Formatter<'_>, least: u8) -> fmt::Result {
        if self.strength() < least { write!(f, "({self})") } else { write!(f, "{self}") }
    }
}

/// Prints a number as an exact decimal, if that has a reasonable length.
pub(crate) fn decimal(number: &Number) -> Option<String> {
    const MAX_DIGITS: i32 = 40;
    let (mut digits, ten) = (number.abs(), Number::from(10));
    for places in 0..MAX_DIGITS {
        if let Some(whole) = digits.to_i64() {
            let (sign, places) = (if number.is_negative() { "-" } else { "" }, places as usize);
            let text = format!("{whole:0>width$}", width = places + 1);
            let (before, after) = text.split_at(text.len() - places);
            let point = if places == 0 { "" } else { "." };
            return Some(format!("{sign}{before}{point}{after}"));
        }
        digits = &digits * &ten;
    }
    None
}

/// Prints a number so that it is read as the same: as a decimal, or with an exponent if that is too long.
/// `None` if no literal has this value.
fn literal(number: &Number, is_real: bool) -> Option<String> {
    if let Some(text) = decimal(number) {
        let point = if is_real && !text.contains('.') { ".0" } else { "" };
        return Some(format!("{text}{point}"));
    }
    let sign = if number.is_negative() { "-" } else { "" };
    let (mut digits, ten) = (number.abs(), Number::from(10));
    for places in 0..=MAX_EXPONENT {
        let integer = digits.to_big();
        if integer.is_int() {
            let integer = integer.numerator();
            return Some(match places {
                0 if is_real => format!("{sign}{integer}e0"),
                0 => format!("{sign}{integer}"),
                _ => format!("{sign}{integer}e-{places}"),
            });
        }
        digits = &digits * &ten;
    }
    None
}

impl Display for Expression {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExpressionKind::Number(number, is_real) => match literal(number, *is_real) {
                Some(text) => f.write_str(&text),
                None => write!(f, "{number}"),
            },
            ExpressionKind::Name(name) => f.write_str(name),
            ExpressionKind::Element { name, indices, outside } => {
                write!(f, "{}[", name.text)?;
                for (at, index) in indices.iter().enumerate() {
                    f.write_str(if at == 0 { "" } else { ", " })?;
                    index.write(f, SUM)?;
                }
                if let Some(outside) = outside {
                    f.write_str(" else ")?;
                    outside.write(f, SUM)?;
                }
                f.write_str("]")
            }
            ExpressionKind::Call { name, arguments } => {
                write!(f, "{}(", name.text)?;
                separated(f, arguments)?;
                f.write_str(")")
            }
            ExpressionKind::Unary(Unary::Negate, a) => {
                f.write_str("-")?;
                a.write(f, NEGATION)
            }
            ExpressionKind::Unary(Unary::Not, a) => {
                f.write_str("not ")?;
                a.write(f, NOT)
            }
            ExpressionKind::Binary(Binary::Power, a, b) => {
                a.write(f, PRIMARY)?;
                f.write_str("^")?;
                b.write(f, NEGATION)
            }
            ExpressionKind::Binary(operator, a, b) => {
                let (strength, text) = operator.strength_and_spelling();
                a.write(f, strength)?;
                f.write_str(text)?;
                b.write(f, strength + 1)
            }
            ExpressionKind::Comparison(first, others) => {
                first.write(f, COMPARISON + 1)?;
                for (relation, other) in others {
                    write!(f, " {} ", relation.spelling())?;
                    other.write(f, COMPARISON + 1)?;
                }
                Ok(())
            }
            ExpressionKind::If { value, condition, otherwise } => {
                value.write(f, CONDITIONAL + 1)?;
                f.write_str(" if ")?;
                condition.write(f, CONDITIONAL + 1)?;
                match otherwise {
                    Some(otherwise) => write!(f, " else {otherwise}"),
                    None => Ok(()),
                }
            }
        }
    }
}

/// Writes items with commas between them.
fn separated(f: &mut Formatter<'_>, items: &[impl Display]) -> fmt::Result {
    for (at, item) in items.iter().enumerate() {
        write!(f, "{}{item}", if at == 0 { "" } else { ", " })?;
    }
    Ok(())
}

impl Display for Argument {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(index) => index.fmt(f),
            Self::Expression(expression) => expression.fmt(f),
        }
    }
}

impl Display for Index {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name.text)?;
        match &self.range {
            Some(range) => {
                f.write_str(" in ")?;
                range.0.write(f, SUM)?;
                f.write_str("..")?;
                range.1.write(f, SUM)
            }
            None => Ok(()),
        }
    }
}

impl Display for Definition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.is_let { "let " } else { "" }, self.name.text)?;
        if !self.indices.is_empty() {
            f.write_str("[")?;
            separated(f, &self.indices)?;
            f.write_str("]")?;
        }
        write!(f, " = {}", self.value)
    }
}

impl Display for Formula {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (at, definition) in self.definitions.iter().enumerate() {
            write!(f, "{}{definition}", if at == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}

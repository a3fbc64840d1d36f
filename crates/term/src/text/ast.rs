//! The syntax tree of the text form of problems (`super`): sizes, inputs, assumptions, and sections of statements that
//! compute terms. Public so that tests can mutate it.

use crate::Number;

/// An expression, real or Boolean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expression {
    /// A literal, exact.
    Number(Number),
    /// π.
    Pi,
    /// +∞.
    Infinity,
    /// A variable, local, size or loop variable, with its indices.
    Name(String, Vec<Expression>),
    /// One operand.
    Unary(Unary, Box<Expression>),
    /// Two operands.
    Binary(Binary, Box<Expression>, Box<Expression>),
    /// A function.
    Call(String, Vec<Expression>),
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
pub enum Binary {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`; between integers of an index, the quotient rounded down.
    Divide,
    /// `%`, on integers of an index only.
    Remainder,
    /// `^`, the right side a rational constant.
    Power,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `and`
    And,
    /// `or`
    Or,
}

/// A statement of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// `name[indices] = value`
    Assign {
        /// The local.
        name: String,
        /// Its indices, integers.
        indices: Vec<Expression>,
        /// The value.
        value: Expression,
    },
    /// `out value`: the next result.
    Out(Expression),
    /// `for variable in first..end by step { body }`
    For {
        /// The loop variable.
        variable: String,
        /// First value.
        first: Expression,
        /// One past the last value.
        end: Expression,
        /// Step, positive.
        step: Option<Expression>,
        /// Set if the values are taken from the end (`in reverse`).
        reverse: bool,
        /// The loop body.
        body: Vec<Statement>,
    },
}

/// A named block of statements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// `reference`, `optimised`, …
    pub name: String,
    /// Its statements.
    pub body: Vec<Statement>,
}

/// A whole file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// Sizes and the values of each.
    pub sizes: Vec<(String, Vec<i64>)>,
    /// Inputs and their dimensions.
    pub inputs: Vec<(String, Vec<Expression>)>,
    /// Lines `key words…` that the reader of the file interprets (`expect equal`).
    pub directives: Vec<(String, String)>,
    /// Conditions on the inputs.
    pub assumptions: Vec<Expression>,
    /// The programs.
    pub sections: Vec<Section>,
}

//! A small text form: infix expressions, and scripts that build terms like programs.
//!
//! ```text
//! size n in 2 5                    # the script runs once for each value
//! input x[n], scale                # free variables; everything else must be assigned first
//! reference {
//!   m = -inf
//!   for i in 0..n { m = max(m, x[i]) }
//!   out m * scale
//! }
//! ```
//!
//! Expressions have `+ - * / ^`, comparisons, `and or not`, decimal literals (read exactly), `pi`,
//! `inf`, and calls: `exp exp2 log log2 sqrt rsqrt abs max min fma if f32 sigmoid` and the
//! functions of [`Function`](crate::Function); any other name is an uninterpreted function.
//! Assignment to a name or `name[i, j]` makes or replaces a local; loop variables are integers.

mod ast;
mod build;
mod lexer;
mod parse;
mod print;

pub use ast::{Binary, Expression, Script, Section, Statement, Unary};
pub use build::{Scope, run};
pub use parse::{parse_expression, parse_script};

use std::fmt;

/// An error in a text, and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Line, from 1; 0 if there is none.
    pub line: u32,
    /// The message.
    pub message: String,
}

impl Error {
    pub(crate) fn new(line: u32, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for Error {}

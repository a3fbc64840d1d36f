//! Formulas as references: `y[i,j] = exp(x[i,j]) / sum(k, exp(x[i,k]))`.
//!
//! A formula defines the outputs of a kernel element by element, over the reals. [`parse()`] reads it. [`compile`]
//! resolves its names against the tensors of a launch, shows that every element it reads exists, and compiles it to
//! core programs: a kernel for each definition. From there on it is a kernel like any other, and the same analyses
//! apply: terms, intervals, index tensors, budgets, witnesses.
//!
//! The language has integers (indices and elements of integer tensors), reals and conditions. Literals are exact:
//! `1e-5` is 1/100000, and `pi` is π. A formula is defined where its operations are; an unread element need not be.

mod ast;
mod bounds;
pub mod contract;
mod emit;
mod error;
mod hoist;
mod interval;
mod lexer;
mod parse;
mod resolve;
mod typed;

pub use ast::{
    Argument, Binary, Definition, Expression, ExpressionKind, Formula, Index, Name, Relation, Unary,
};
pub use emit::{BLOCK, Compiled, Launch, Parameter, ParameterKind};
pub use error::Error;
pub use parse::{parse, parse_expression};
pub use resolve::{Environment, KnownScalar, ScalarInput, Tensor};

/// Compiles a formula whose names are tensors and scalars of an environment. `text` is its source.
///
/// # Errors
/// The first mistake.
pub fn compile(
    formula: &Formula,
    environment: &Environment,
    text: &str,
) -> Result<Compiled, Error> {
    let mut typed = resolve::resolve(formula, environment)?;
    bounds::check(&typed)?;
    typed.drop_unused();
    let format = environment.format();
    hoist::hoist(&mut typed, format, text);
    typed.add_suffix(&environment.suffix);
    Ok(emit::emit(&typed, format))
}

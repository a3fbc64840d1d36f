//! CUDA C to a syntax tree: tokens, macros, recursive descent.
//!
//! What is not in the subset is refused with its place; nothing is skipped but host code and comments.

pub(crate) mod ast;
mod clauses;
mod constant;
mod expressions;
mod parser;
mod preprocess;
mod statements;
pub(crate) mod token;
mod types;

use token::Result;

/// Reads a file.
pub(crate) fn parse(text: &str) -> Result<ast::Unit> {
    let tokens = token::tokens(text)?;
    let symbolic = preprocess::symbolic_names(&tokens);
    parser::parse(preprocess::expand(tokens, &symbolic)?, symbolic)
}

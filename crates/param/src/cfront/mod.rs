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

use base::Span;
use token::{Kind, Result};

/// Clauses that demand something of launches and are given apart from the file. They take the place `span`, and names
/// in them are replaced.
pub(crate) fn demands(
    conditions: &[String],
    names: &[(String, String)],
    span: Span,
) -> Result<Vec<ast::Clause>> {
    let text: String = conditions.iter().map(|one| format!("//@ requires {one};\n")).collect();
    let mut tokens = token::tokens(&text)?;
    for token in &mut tokens {
        token.span = span;
        if let Kind::Word(word) = &mut token.kind
            && let Some((_, new)) = names.iter().find(|(old, _)| old == word)
        {
            word.clone_from(new);
        }
    }
    parser::clauses(tokens)
}

/// Reads a file.
pub(crate) fn parse(text: &str) -> Result<ast::Unit> {
    let tokens = token::tokens(text)?;
    let symbolic = preprocess::symbolic_names(&tokens);
    parser::parse(preprocess::expand(tokens, &symbolic)?, symbolic)
}
